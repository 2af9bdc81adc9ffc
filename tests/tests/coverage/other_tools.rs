//! Reports in other tools' formats, read by these tools, which `cargo xtask corpus` fetches.

use e2e_tests::java::{Java, Run};
use e2e_tests::workspace::{classhook, target};
use e2e_tests::{javac, jdks, scratch};
use std::path::{Path, PathBuf};

const SUM: &str = "package com.acme;
public class Sum {
    public static int of(int a, int b) {
        if (a < 0) {
            return -1;
        }
        return a + b;
    }
}
";
const PAGE: &str = "package com.acme.web;
public class Page {
    public static void main(String[] arguments) {
        System.out.println(com.acme.Sum.of(1, 2));
    }
}
";
const MODULES: [(&str, &str, &str); 2] = [
    ("core", "com/acme/Sum.java", SUM),
    ("web", "com/acme/web/Page.java", PAGE),
];

/// Compiles and runs two modules in a folder, and reports on them with their sources.
fn report(folder: &Path) {
    let jdk = jdks::newest();
    let mut class_path: Vec<PathBuf> = Vec::new();
    let mut words = vec!["report".to_owned(), "recorded".to_owned()];
    for (module, file, text) in MODULES {
        let source = folder.join(module).join("src").join(file);
        std::fs::create_dir_all(source.parent().expect("a folder")).expect("writable");
        std::fs::write(&source, text).expect("written");
        let known = std::env::join_paths(&class_path).expect("no colon in a path");
        let options = ["-cp", &known.to_string_lossy()];
        class_path.push(javac::compile(
            &jdk,
            &[&source],
            &folder.join(module),
            &options,
        ));
        words.push(format!("--module={module}={module}/classes,{module}/src"));
    }
    let recorded = folder.join("recorded");
    let java = Java::new(&jdk).coverage(&recorded).class_path(&class_path);
    java.main("com.acme.web.Page").run().assert_success();
    words.extend(["--lcov=lcov.info", "--cobertura=cobertura.xml"].map(str::to_owned));
    let ours = Java::program(classhook()).folder(folder).arguments(&words);
    ours.run().assert_success();
}

fn run(program: &Path, folder: &Path, words: &[&str]) -> Run {
    let run = Java::program(program.to_owned()).folder(folder);
    let run = run.arguments(words).run();
    run.assert_success();
    run
}

#[test]
fn genhtml_and_pycobertura_find_the_sources_of_all_modules() {
    let [genhtml, pycobertura] =
        ["lcov/usr/bin/genhtml", "pycobertura/bin/pycobertura"].map(target);
    if !genhtml.is_file() || !pycobertura.is_file() {
        eprintln!("no genhtml and pycobertura here: `cargo xtask corpus` fetches them");
        return;
    }
    let folder = scratch();
    let folder = folder.path();
    report(folder);
    let words = ["lcov.info", "--branch-coverage", "-o", "pages"];
    let told = run(&genhtml, folder, &words).stdout;
    for line in [
        "lines......: 57.1% (4 of 7 lines)",
        "functions..: 50.0% (2 of 4 functions)",
        "branches...: 50.0% (1 of 2 branches)",
    ] {
        assert!(told.contains(line), "{told}");
    }
    let told = run(&pycobertura, folder, &["show", "cobertura.xml"]).stdout;
    for (module, file, text) in MODULES {
        let source = format!("{module}/src/{file}");
        let page = folder.join("pages").join(format!("{source}.gcov.html"));
        let page = std::fs::read_to_string(&page).expect("a page of genhtml");
        let line = text.lines().nth(2).expect("a line");
        assert!(page.contains(line.trim()), "{page}");
        let has_row = told.lines().any(|row| row.starts_with(&source));
        assert!(has_row, "{told}");
    }
    let words = [
        "show",
        "--format=html",
        "--output=table.html",
        "cobertura.xml",
    ];
    run(&pycobertura, folder, &words);
    let table = std::fs::read_to_string(folder.join("table.html")).expect("a page of pycobertura");
    assert!(table.contains("return -1;"), "{table}");
}

#[test]
fn genhtml_names_the_tests_of_each_line() {
    let genhtml = target("lcov/usr/bin/genhtml");
    if !genhtml.is_file() {
        eprintln!("no genhtml here: `cargo xtask corpus` fetches it");
        return;
    }
    let folder = scratch();
    let folder = folder.path();
    let tested = super::single_tests::junit(folder);
    let words = [
        "report",
        "out",
        "--per-test",
        "--lcov",
        "lcov.info",
        "--sources",
    ];
    let ours = Java::program(classhook()).folder(folder).arguments(&words);
    ours.argument(tested).run().assert_success();
    let run = run(
        &genhtml,
        folder,
        &["lcov.info", "--show-details", "-o", "pages"],
    );
    assert!(
        !run.stderr.to_lowercase().contains("warning"),
        "{}",
        run.report()
    );
    let mut pages = vec![folder.join("pages")];
    let mut named = false;
    while let Some(place) = pages.pop() {
        for entry in std::fs::read_dir(place).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                pages.push(path);
            } else {
                let page = std::fs::read_to_string(path).unwrap_or_default();
                named |= page.contains("com_acme_SumTest__adds");
            }
        }
    }
    assert!(named, "{}", run.report());
}
