//! Small programs in Java, Kotlin and Groovy whose comments state the lines of a report, as JaCoCo's own tests do. They
//! run in one JVM, and both JaCoCo and we report on them.

use super::jacoco_analysis::compile_kotlin;
use e2e_tests::cases::Lines;
use e2e_tests::java::Java;
use e2e_tests::workspace::{self, test_file};
use e2e_tests::{artifacts, jacoco, javac, jdks, scratch};
use jacoco_files::XmlReport;
use std::path::{Path, PathBuf};

/// Fewest programs with expectations.
const PROGRAMS: usize = 60;

/// Programs of one language: their package, their files, and the folder of their classes.
struct Language {
    package: &'static str,
    files: Vec<PathBuf>,
    classes: PathBuf,
}

impl Language {
    fn names(&self) -> impl Iterator<Item = String> {
        let dotted = self.package.replace('/', ".");
        let stems = self
            .files
            .iter()
            .filter_map(|file| file.file_stem()?.to_str());
        stems.map(move |stem| format!("{dotted}.{stem}"))
    }
}

fn java(folder: &Path) -> Language {
    let mut files = javac::sources_in(&test_file("java/targets"));
    let sources: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let classes = javac::compile(&jdks::newest(), &sources, &folder.join("java"), &[]);
    files.retain(|file| !file.ends_with("Targets.java"));
    Language {
        package: "targets",
        files,
        classes,
    }
}

fn kotlin(folder: &Path) -> Language {
    Language {
        package: "targets/kotlin",
        files: javac::files_with_extension(&test_file("kotlin/targets"), "kt"),
        classes: compile_kotlin(folder),
    }
}

fn groovy(folder: &Path) -> Language {
    let files = javac::files_with_extension(&test_file("groovy"), "groovy");
    let classes = folder.join("groovy");
    std::fs::create_dir_all(&classes).expect("a writable folder");
    let compiler = Java::new(&jdks::newest()).class_path(&[artifacts::path("groovy")]);
    let compiler = compiler.main("org.codehaus.groovy.tools.FileSystemCompiler");
    compiler
        .argument("-d")
        .argument(&classes)
        .arguments(&files)
        .run()
        .assert_success();
    Language {
        package: "targets/groovy",
        files,
        classes,
    }
}

/// Returns the reports of both tools, ours first, on all programs in one JVM.
fn reports(folder: &Path, languages: &[Language]) -> (XmlReport, XmlReport) {
    let all = folder.join("all");
    for language in languages {
        javac::copy(&language.classes, &all);
    }
    let libraries = ["groovy", "kotlin-stdlib"].map(artifacts::path);
    let [snapshots, exec, xml] = ["snapshots", "all.exec", "all.xml"].map(|name| folder.join(name));
    let [groovy, stdlib] = &libraries;
    let options = format!("output={},select=targets.**", snapshots.display());
    let run = Java::new(&jdks::newest())
        .agent(Some(&options))
        .option("-ea")
        .class_path(&[&all, groovy, stdlib])
        .main("targets.Targets")
        .arguments(
            &languages
                .iter()
                .flat_map(Language::names)
                .collect::<Vec<_>>(),
        )
        .run();
    run.assert_success();
    let report = Java::program(workspace::classhook())
        .argument("report")
        .argument(&snapshots)
        .argument("--classes")
        .argument(&all)
        .argument("--exec")
        .argument(&exec)
        .argument("--xml")
        .argument(&xml);
    report.run().assert_success();
    let theirs = jacoco::report(&exec, &all, &folder.join("jacoco.xml"));
    (XmlReport::read(&xml), theirs)
}

#[test]
fn lines_of_small_programs_equal_their_comments_and_the_report_of_jacoco() {
    let folder = scratch();
    let languages = [java, kotlin, groovy].map(|compiled| compiled(folder.path()));
    let (ours, theirs) = reports(folder.path(), &languages);
    let differences = ours.numbers().differences(&theirs.numbers());
    assert_eq!(differences, Vec::<String>::new(), "ours against JaCoCo's");
    let ours = XmlReport::read(&folder.path().join("all.xml"));
    let (mut programs, mut wrong) = (0, Vec::new());
    for language in &languages {
        for file in &language.files {
            let text = std::fs::read_to_string(file).expect("a source");
            let lines = Lines::read(&text);
            assert!(lines.count() > 1, "{}", file.display());
            wrong.extend(lines.differences(language.package, file, &ours));
            programs += 1;
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(programs >= PROGRAMS, "{programs} programs");
}
