//! The toolbox of the end-to-end tests: JDKs, artifacts, `java` and `javac`, file-driven cases, comparisons with JaCoCo.
//!
//! This is deliberately no test framework: each test in `tests/` is a plain function that starts real JVMs, one per
//! case.
//! Start reading at [`java::Java`], which runs a program, and [`programs`], the workloads measured under two tools.
//!
//! ```no_run
//! let jdk = e2e_tests::jdks::full().pop().expect("a JDK");
//! let scratch = e2e_tests::scratch();
//! let classes = e2e_tests::javac::compile(&jdk, &["Hello.java".as_ref()], scratch.path(), &[]);
//! let run = e2e_tests::java::Java::new(&jdk).class_path(&[&classes]).main("Hello").run();
//! run.assert_success();
//! ```

pub mod artifacts;
pub mod browser;
pub mod caches;
pub mod cases;
pub mod corpus;
pub mod gradle;
pub mod instrumented;
pub mod jacoco;
pub mod java;
pub mod javac;
pub mod jdks;
pub mod maven;
pub mod maven_plugin;
pub mod native;
pub mod patience;
pub mod products;
pub mod programs;
pub mod registry;
pub mod rotation;
pub mod runtime;
pub mod servant;
pub mod time_line;
pub mod tools;
pub mod traced;
pub mod watchdog;
pub mod workspace;

pub use workspace::scratch;
