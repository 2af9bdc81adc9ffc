//! `-Xcheck:jni` reports no fault of the agent.

use e2e_tests::java::Java;
use e2e_tests::jdks;
use e2e_tests::programs;
use e2e_tests::scratch;

/// The checks print `WARNING in native method`, `FATAL ERROR in native method` or `Warning: … handler modified`.
#[test]
fn checks_print_the_same_with_the_agent_as_without() {
    for name in ["bank", "javac", "jython", "h2"] {
        let program = programs::named(name);
        for jdk in program.jdks() {
            let folder = scratch();
            let workload = program.prepare(&jdk, folder.path());
            let java = |name: &str| workload.java(folder.path(), name).option("-Xcheck:jni");
            let without = java("run").run();
            let mut with = java("run").coverage(&folder.path().join("snapshots")).run();
            without.assert_success();
            with.take_remarks(); // of Jython's methods
            with.assert_same_as(&without);
        }
    }
}

/// Shows that the oracle works: the checks are on, and the option is known.
#[test]
fn checks_are_on() {
    for jdk in jdks::all() {
        let run = Java::new(jdk)
            .options(&["-Xcheck:jni", "-XX:+PrintFlagsFinal", "-version"])
            .run();
        run.assert_success();
        let flag = run
            .stdout
            .lines()
            .find(|line| line.contains("CheckJNICalls"));
        assert!(flag.is_some_and(|line| line.contains("true")), "{flag:?}");
    }
}
