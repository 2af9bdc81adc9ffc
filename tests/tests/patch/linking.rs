//! Patches of a class that another thread is linking.

use crate::support::command::classhook;
use e2e_tests::java::Java;
use e2e_tests::jdks;
use e2e_tests::{javac, scratch, workspace};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::{BufRead, BufReader};

/// Returns a class with half a megabyte of code, which takes a JVM some time to link.
fn large() -> String {
    let statements = "count += 7;\n".repeat(3_000);
    let mut text = String::from("public class Large {\nstatic int count;\n");
    for number in 0..20 {
        writeln!(text, "static void method{number}() {{\n{statements}}}").expect("memory");
    }
    text + "}\n"
}

/// JDK 17 hands over half of such a class in its internal form, which must not be compared with the patch.
#[test]
fn class_that_is_being_linked_is_compared_in_its_own_form() {
    let Some(jdk) = jdks::full().into_iter().find(|jdk| jdk.feature == 17) else {
        return; // later releases link the class before
    };
    let folder = scratch();
    let source = folder.path().join("Large.java");
    std::fs::write(&source, large()).expect("the test's folder is writable");
    let program = workspace::test_file("java/patch/Linking.java");
    let sources = [&*source, &*program];
    let classes = javac::compile(&jdk, &sources, folder.path(), &["--release", "17"]);
    let java = Java::new(&jdk)
        .class_path(&[&classes])
        .folder(folder.path())
        .agent(Some("plugin=none,output=out"))
        .main("Linking");
    let mut child = java.spawn();
    let mut begun = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    out.read_line(&mut begun).expect("output");
    let (pid, class) = (child.id().to_string(), classes.join("Large.class"));
    let words = ["patch", &pid, &class.to_string_lossy(), "--check", "--json"];
    let mut found = BTreeSet::new();
    for _ in 0..12 {
        let run = classhook(&words);
        let answer: Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|_| panic!("no JSON\n{}", run.report()));
        let classes = answer["classes"].as_array().expect("classes").iter();
        let loaded = classes.filter(|class| class["state"] != "waiting");
        found.extend(loaded.map(|class| format!("{} {}", class["state"], class["before"])));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(found.len(), 1, "{found:#?}");
}
