//! A plugin that sees classes, observes the JVM and computes tables, all in one component (`tests/plugins/all-roles`).

use crate::support::command::classhook;
use e2e_tests::{javac, jdks, scratch, workspace};

#[test]
fn one_component_counts_observes_and_computes() {
    for jdk in jdks::main_in_turn("roles of plugins") {
        let folder = scratch();
        let source = workspace::test_file("java/raw/Called.java");
        let classes = javac::compile(&jdk, &[&source], folder.path(), &["--release", "11"]);
        let component = workspace::target("bundled/tests/all-roles.wasm");
        let (program, output) = (jdk.tool("java"), folder.path().join("out"));
        let texts = [&component, &output, &program, &classes].map(|path| path.to_string_lossy());
        let [component, output, program, classes] = texts.each_ref().map(AsRef::as_ref);
        let grants = ["--grant", "probes", "--grant", "jvm-events.threads"];
        let java = ["--", program, "-Xcheck:jni", "-cp", classes, "Called"];
        let run = ["plugin", "run", component, "-o", output];
        let run = classhook(&[&run[..], &grants, &java].concat());
        run.assert_success();
        let told = |text: &str| assert!(run.stdout.contains(text), "{text}\n{}", run.report());
        told("all-roles: calls\n");
        told("Called$Target  call        1\n");
        // `main`, `both` and `call`; constructors without a call have no row.
        told("all-roles: total\nmethods  calls\n      3      3\n");
        told("all-roles: threads\nthread");

        // The report of the files has the counts and the events; the component alone computes its tables.
        let report = classhook(&["report", output]);
        let has = |text: &str| report.stdout.contains(text);
        assert!(has("all-roles: calls") && has("all-roles: threads"));
        assert!(!has("all-roles: total"), "{}", report.report());
    }
}
