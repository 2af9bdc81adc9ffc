//! Coverage: recordings and reports, compared with JaCoCo.

mod aspectj_weaver;
mod branch_outcomes;
mod browser;
mod changed_files;
mod counted_source;
mod gradle;
mod incomplete_runs;
mod jacoco_analysis;
mod jacoco_tcp;
mod java_cases;
mod large_classes;
mod long_methods;
mod maven;
mod maven_site;
mod modules;
mod other_tools;
mod per_loader;
mod programs;
mod running_jvm;
mod single_tests;
mod targets;
