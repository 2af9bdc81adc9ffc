//! Methods that hold a monitor while they branch. HotSpot compiles only methods of which it can see that they release
//! their monitors.

use e2e_tests::java::Java;
use e2e_tests::{javac, jdks, scratch, workspace};

#[test]
fn covered_and_traced_methods_that_branch_while_they_hold_a_monitor_are_compiled() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let file = workspace::test_file("java/monitors/Held.java");
        let classes = javac::compile(&jdk, &[&file], folder.path(), &["--release", "11"]);
        for plugin in ["coverage", "trace"] {
            let output = folder.path().join(plugin).display().to_string();
            let log = folder.path().join("compilations.log");
            let run = Java::new(&jdk)
                .all_compilers()
                .option("-Xbatch")
                .compilation_log(&log)
                .class_path(&[&classes])
                .agent(Some(&format!(
                    "plugin={plugin},select=Held,output={output}"
                )))
                .main("Held")
                .run();
            run.assert_success();
            let about = format!("{plugin} on {jdk}");
            assert_eq!(run.stdout.trim_end(), "sum 7238220484", "{about}");
            let log = std::fs::read_to_string(&log).expect("HotSpot's log");
            assert!(!log.contains("COMPILE SKIPPED"), "{about}: {log}");
            for method in ["Held::block", "Held::nested"] {
                let by_c2 = |line: &str| line.contains(method) && line.contains("  4  ");
                assert!(log.lines().any(by_c2), "{about}, {method}: {log}");
            }
        }
    }
}
