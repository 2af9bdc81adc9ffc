//! One class in several loaders: on request, the code executed in each is reported separately.

use e2e_tests::java::Java;
use e2e_tests::jdks::Jdk;
use e2e_tests::{javac, jdks, scratch, workspace};
use jacoco_files::XmlReport;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The methods of the class; each runs in the loader of the same number alone.
const METHODS: [&str; 3] = ["ofTheProgram", "ofTheFirst", "ofTheSecond"];
const LOADERS: [&str; 3] = [
    "app",
    "java.net.URLClassLoader#1",
    "java.net.URLClassLoader#2",
];

/// Compiles the program into a folder.
fn compile(jdk: &Jdk, folder: &Path) -> PathBuf {
    let source = workspace::test_file("java/per_loader/p");
    let sources = ["Loaders.java", "Shared.java"].map(|name| source.join(name));
    let sources = sources.each_ref().map(PathBuf::as_path);
    javac::compile(jdk, &sources, folder, &["-g"])
}

/// Runs the command in a folder, which must succeed.
fn classhook(folder: &Path, arguments: &str, command: &[OsString]) {
    let words: Vec<&str> = arguments.split(' ').collect();
    let program = Java::program(workspace::classhook()).folder(folder);
    let run = program.arguments(&words).arguments(command).run();
    run.assert_success();
}

/// Returns the executed methods in JaCoCo's XML, below this group or the report itself.
fn executed(file: &Path, group: &str) -> Vec<&'static str> {
    let report = XmlReport::read(file);
    let covered = |method: &&str| {
        let class = "package p/class p/Shared";
        let place = format!("{group}/{class}/method {method} ()V/counter METHOD");
        report.number(&place, "covered").expect(&place) == 1
    };
    METHODS.into_iter().filter(covered).collect()
}

#[test]
fn class_in_several_loaders_is_reported_separately_on_request() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let folder = folder.path();
        let classes = compile(&jdk, folder);
        let java = Java::new(&jdk)
            .class_path(&[&classes])
            .argument("p.Loaders");
        let apart =
            "coverage --per-loader --exact-lines --output out --xml apart.xml --html html --";
        classhook(folder, apart, &java.words());
        let found = "report out --per-loader --xml found.xml --classes";
        classhook(folder, found, &[classes.into()]);
        classhook(folder, "merge out --to merged.hook", &[]);
        classhook(
            folder,
            "report merged.hook --per-loader --xml merged.xml",
            &[],
        );
        for file in ["apart.xml", "found.xml", "merged.xml"] {
            for (loader, method) in LOADERS.into_iter().zip(METHODS) {
                let group = format!("/group {loader}");
                assert_eq!(executed(&folder.join(file), &group), [method], "{file}");
            }
        }
        let second = folder.join("html/mod-java.net.URLClassLoader_2/index.html");
        assert!(second.is_file(), "{}", second.display());
        // Without the option, the same recording is that of all loaders, as in JaCoCo.
        classhook(
            folder,
            "report out --xml united.xml --exec united.exec",
            &[],
        );
        assert_eq!(executed(&folder.join("united.xml"), ""), METHODS);
    }
}

#[test]
fn plugin_that_may_edit_structure_adds_no_loader() {
    let jdk = jdks::main_two().remove(0);
    let folder = scratch();
    let folder = folder.path();
    let classes = compile(&jdk, folder);
    let both = "[[plugin]]\nuse = \"coverage\"\n[[plugin]]\nuse = \"trace\"\n\
                [plugin.config]\nmethods = [\"p.Shared.*\"]\n";
    std::fs::write(folder.join("both.toml"), both).unwrap();
    let java = Java::new(&jdk)
        .class_path(&[&classes])
        .argument("p.Loaders");
    let apart = "coverage --per-loader --config both.toml --output out --json apart.json --";
    classhook(folder, apart, &java.words());
    let json = std::fs::read(folder.join("apart.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let modules = json["modules"].as_array().unwrap().iter();
    let names: Vec<&str> = modules.filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, LOADERS);
}
