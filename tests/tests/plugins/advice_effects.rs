//! Advice that replaces arguments, results and exceptions, and skips bodies.

use crate::support::advice::{checked, file, instrumented, oldest_and_main_two, run_from, shop};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::Jdk;
use e2e_tests::{scratch, workspace};

fn expect_replaced(jdk: &Jdk, run: &Run) {
    run.assert_success();
    let expected = "\
recovers from full
depth 1 100
depth 2 101
depth 3 102
given null
1130 7.5 7 another no name 102 skipped ann 3 2
";
    let lines = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(
        lines(&run.stdout),
        lines(expected),
        "{jdk}: {}",
        run.report()
    );
    run.assert_stderr("the advice Replacing.Add.same (Replacing.java:")
        .assert_stderr("java.lang.IllegalStateException: stays as it is");
}

#[test]
fn advice_replaces_values_and_skips_bodies() {
    for jdk in oldest_and_main_two() {
        let folder = scratch();
        let run = Java::program(workspace::classhook())
            .variable("CLASSHOOK_AGENT", workspace::agent_library())
            .folder(folder.path())
            .arguments(&["run", "--advice"])
            .argument(file("Replacing"))
            .argument("--")
            .argument(jdk.tool("java"))
            .arguments(&["-Xverify:all", "-Xcheck:jni", "-cp"])
            .argument(shop(folder.path()))
            .argument("Shop")
            .run();
        expect_replaced(&jdk, &run);
    }
}

#[test]
fn classes_on_disk_have_replaced_values_as_well() {
    let folder = scratch();
    let (run, classes) = instrumented(folder.path(), "Replacing");
    run.assert_success();
    for jdk in oldest_and_main_two() {
        expect_replaced(&jdk, &run_from(&jdk, &classes));
    }
}

/// Checks a source with one method of an advice.
fn check(pattern: &str, method: &str) -> Run {
    checked(&format!(
        "@Advice(\"{pattern}\")\nclass A {{\n  {method}\n}}"
    ))
}

#[test]
fn effects_that_no_method_can_have_are_refused_with_their_line() {
    for (pattern, method, told) in [
        (
            "Shop#half",
            "@OnExit @ReplaceReturned static int f() { return 1; }",
            "the result of the advice has the type int, and that of the method double",
        ),
        (
            "Shop#half",
            "@OnEntry @ReplaceArgument(0) static String f() { return null; }",
            "@ReplaceArgument of the advice has the type java.lang.String, and that of the method double",
        ),
        (
            "Shop#half",
            "@OnEntry @ReplaceArgument(3) static double f() { return 1; }",
            "@ReplaceArgument(3): the method has 1 parameter",
        ),
        (
            "Shop#nothing",
            "@OnExit @ReplaceReturned static Object f() { return null; }",
            "@ReplaceReturned: the method returns nothing",
        ),
        (
            "Shop#<init>",
            "@OnEntry(skipIf = SkipIf.TRUE) static boolean f() { return true; }",
            "a constructor or static initializer runs to its end",
        ),
        (
            "Shop#half",
            "@OnEntry(skipIf = SkipIf.TRUE) static int f() { return 1; }",
            "A.java:4: f returns int; expected boolean",
        ),
        (
            "Shop#half",
            "@OnEntry(skipIf = SkipIf.NOT_NULL) static int f() { return 1; }",
            "A.java:4: f returns int; expected an object",
        ),
        (
            "Shop#half",
            "@OnEntry @ReplaceReturned static double f() { return 1; }",
            "A.java:4: the result of f can be used so with @OnExit and @AfterCall alone",
        ),
        (
            "Shop#half",
            "@OnExit @ReplaceThrown static Throwable f() { return null; } @OnExit @ReplaceReturned static void g() {}",
            "A.java:4: g is void, so it has no value to use",
        ),
        (
            "Shop#half",
            "@OnExit @ReplaceThrown @ReplaceReturned static Throwable f() { return null; }",
            "A.java:4: the result of f is used in two ways",
        ),
        (
            "Shop#half",
            "@OnExit(onReturn = true) @ReplaceThrown static Throwable f() { return null; }",
            "A.java:4: f replaces an exception, so onReturn has to be false",
        ),
    ] {
        let run = check(pattern, method);
        run.assert_exit(2).assert_stderr(told);
    }
}
