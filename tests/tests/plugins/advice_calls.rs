//! Advice at calls in the advised methods, and values of places.

use crate::support::advice::{checked, every_release, file};
use crate::support::command::classhook;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch, workspace};
use std::path::{Path, PathBuf};

/// Compiles a program.
fn program(name: &str, release: &str, folder: &Path) -> PathBuf {
    let options = ["-g", "--release", release, "-Xlint:-options"];
    javac::compile(&jdks::newest(), &[&file(name)], folder, &options)
}

fn run_program(jdk: &Jdk, name: &str, release: &str, options: &[&str], advice: &Path) -> Run {
    let folder = scratch();
    let classes = program(name, release, folder.path());
    Java::program(workspace::classhook())
        .variable("CLASSHOOK_AGENT", workspace::agent_library())
        .folder(folder.path())
        .arguments(&["run", "--advice"])
        .argument(advice)
        .arguments(options)
        .argument("--")
        .argument(jdk.tool("java"))
        .arguments(&["-Xverify:all", "-Xcheck:jni", "-cp"])
        .argument(&classes)
        .argument(name)
        .run()
}

fn run(jdk: &Jdk, advice: &str) -> Run {
    run_program(jdk, "Till", "8", &[], &file(advice))
}

/// The lines of `Till.pay`.
const SUM: u32 = 38;

#[test]
fn advice_runs_in_place_of_calls() {
    for jdk in every_release() {
        let run = run(&jdk, "AroundCalls");
        run.assert_success();
        let (of, text) = (SUM, SUM + 1);
        let expected = format!(
            "\
Till$Tax.of of(J)J [10] 20 {of} Till$Tax.of(long)
Till.net net(J)J [10] 9 {of} Till.net(long)
java.lang.Math.max max(DD)D [1.5, 2.5] 2.5 {text} java.lang.Math.max(double,double)
null b4 29 13 2.5 got after 3 0
"
        );
        assert_eq!(run.stdout, expected, "{jdk}: {}", run.report());
        assert_eq!(run.stderr, "", "{jdk}");
    }
}

/// The example of a request that is repeated: the server answers the third one.
#[test]
fn requests_that_fail_are_sent_again() {
    for jdk in every_release().iter().filter(|jdk| jdk.feature >= 11) {
        let advice = file("Retrying");
        let run = run_program(jdk, "Fetching", "11", &[], &advice);
        run.assert_success();
        assert_eq!(run.stdout.trim(), "3", "{jdk}: {}", run.report());
        assert_eq!(run.stderr, "", "{jdk}");
    }
}

#[test]
fn calls_that_reflection_cannot_make_stay_as_they_are_with_a_warning() {
    for jdk in jdks::main_two() {
        let run = run_program(&jdk, "Copied", "8", &[], &file("AroundClone"));
        run.assert_success();
        assert_eq!(run.stdout, "copied 7\n", "{jdk}: {}", run.report());
        let warning = "warning[H0746]: advice around calls of java.lang.Object.clone does not run";
        run.assert_stderr(warning);
    }
}

#[test]
fn exceptions_of_advice_around_calls_leave_the_result_of_the_call() {
    for jdk in every_release() {
        let run = run(&jdk, "FailingAround");
        run.assert_success();
        assert_eq!(
            run.stdout,
            "a3 29 8 3.5 try 1 0\n",
            "{jdk}: {}",
            run.report()
        );
        for part in [
            "FailingAround.before (FailingAround.java:7)",
            "FailingAround.after (FailingAround.java:12)",
            "FailingAround.hides (FailingAround.java:18)",
            "FailingAround.wrong (FailingAround.java:27)",
            "java.lang.IllegalStateException: hides try 1",
            "at FailingAround.before(FailingAround.java:",
            "java.lang.IllegalArgumentException",
        ] {
            run.assert_stderr(part);
        }
        assert!(!run.stderr.contains("$Classhook$"), "{}", run.report());
    }
}

#[test]
fn advice_runs_before_and_behind_calls_and_changes_them() {
    for jdk in every_release() {
        let run = run(&jdk, "BesideCalls");
        run.assert_success();
        let (count, of, text) = (SUM - 1, SUM, SUM + 1);
        let expected = format!(
            "\
seen Till.count(int) null {count} 10
seen Till.net(long) 17 {of} 10
seen Till.label(java.lang.String,int) a13+ {text} 10
a13+ 37 7 2.5 try 1 0
"
        );
        assert_eq!(run.stdout, expected, "{jdk}: {}", run.report());
        run.assert_stderr("BesideCalls.failing (BesideCalls.java:")
            .assert_stderr("in Till.pay(long,Till$Tax)");
    }
}

#[test]
fn classes_on_disk_have_advice_at_calls_as_well() {
    let folder = scratch();
    let classes = program("Till", "8", folder.path());
    let out = folder.path().join("advised");
    let text = |path: &Path| path.to_str().expect("text").to_owned();
    let (classes, shown, advice) = (text(&classes), text(&out), text(&file("AroundCalls")));
    classhook(&["instrument", &classes, "-o", &shown, "--advice", &advice]).assert_success();
    for jdk in every_release() {
        let program = Java::new(&jdk).options(&["-Xverify:all"]);
        let run = program.class_path(&[&out]).main("Till").run();
        run.assert_success();
        assert!(
            run.stdout.ends_with("null b4 29 13 2.5 got after 3 0\n"),
            "{jdk}: {}",
            run.report()
        );
    }
}

#[test]
fn places_have_fields_lines_loaders_and_several_values_from_the_entry() {
    for jdk in every_release() {
        let run = run(&jdk, "Places");
        run.assert_success();
        let (entry, exit) = (SUM - 1, SUM + 5);
        let expected = format!(
            "\
made 7 ann
failed 1 0.25 0 1
drawer 7 {} 1.5 8 ann {exit} true
a3 29 8 2.5 try 1 0
",
            10 + entry
        );
        assert_eq!(run.stdout, expected, "{jdk}: {}", run.report());
        assert_eq!(run.stderr, "", "{jdk}");
    }
}

/// Checks a source with one method of an advice, for the program `Till`.
fn check(pattern: &str, method: &str) -> Run {
    let folder = scratch();
    let classes = program("Till", "8", folder.path());
    let source = folder.path().join("A.java");
    let text = format!(
        "import io.github.classhook.advice.*;\n\n@Advice(\"{pattern}\")\nclass A {{\n  {method}\n}}\n"
    );
    std::fs::write(&source, text).expect("written");
    let text = |path: &Path| path.to_str().expect("text").to_owned();
    let (source, classes) = (text(&source), text(&classes));
    classhook(&["advice", "check", &source, "--classes", &classes])
}

#[test]
fn advice_at_calls_that_no_call_can_have_is_refused_with_its_line() {
    for (pattern, method, told) in [
        (
            "Till#pay",
            "@Around(\"Till#flaky\") static Object f() { return null; }",
            "A.java:5: f with @Around needs one parameter of type Call",
        ),
        (
            "Till#pay",
            "@BeforeCall(\"Till#flaky\") static void f(Call call) {}",
            "A.java:5: a parameter of type Call belongs to a method with @Around",
        ),
        (
            "Till#pay",
            "@BeforeCall(\"Till#flaky\") static void f(@Returned Object x) {}",
            "A.java:5: @Returned has no value before a call; only a method with @OnExit or @AfterCall gets it",
        ),
        (
            "Till#pay",
            "@OnEntry static void f(@Operand(0) Object x) {}",
            "A.java:5: @Operand has no value at the entry",
        ),
        (
            "Till#pay",
            "@AfterCall(\"Till#flaky\") static int f() { return 1; }",
            "A.java:5: nobody reads the result of f; a method with @AfterCall is void, or has @ReplaceReturned",
        ),
        (
            "Till#pay",
            "@BeforeCall(\"Till\") static void f() {}",
            "A.java:5: the pattern `Till` names no methods",
        ),
        (
            "Till#pay",
            "@BeforeCall(\"<:Till#net\") static void f() {}",
            "A.java:5: the pattern `<:Till#net` of calls: a call names one class",
        ),
        (
            "Till#main",
            "@Around(\"Till#<init>\") static Object f(Call call) { return null; }",
            "A.java:5: the pattern `Till#<init>`: no advice runs at calls of constructors",
        ),
        (
            "Till#pay",
            "@BeforeCall(\"Till#nett\") static void f() {}",
            "the method has no call of `Till#nett`; it calls Till#count, Till$Tax#of, Till#net, Till#label",
        ),
        (
            "Till#hashCode",
            "@Around(\"java.lang.Object#hashCode\") static Object f(Call call) { return 1; }",
            "A.java:5: A.f does not fit Till.hashCode(): java.lang.Object.hashCode() is a call of the superclass's method",
        ),
        (
            "Till#pay",
            "@Around(\"Till#net\") static Integer f(Call call) { return 1; }",
            "the result of the advice has the type java.lang.Integer, and that of the call long",
        ),
        (
            "Till#pay",
            "@OnEntry static void f(@Field(\"drawr\") int x) {}",
            "@Field(\"drawr\"): Till declares no such field; it has owner, drawer, tries",
        ),
        (
            "Till#pay",
            "@OnEntry static void f(@Field(\"drawer\") long x) {}",
            "@Field(\"drawer\") has the type long, and the value int",
        ),
        (
            "Till#label",
            "@OnEntry static void f(@Field(\"drawer\") int x) {}",
            "@Field(\"drawer\") has no value in a static method",
        ),
        (
            "Till#pay",
            "@OnEntry static void f(@Line long x) {}",
            "A.java:5: the parameter with @Line has the type long; expected int",
        ),
        (
            "Till#pay",
            "@OnEntry static int f() { return 1; } @OnEntry static int g() { return 1; } @OnExit static void h(@FromEntry int x) {}",
            "several methods with @OnEntry have a result (f, g); @FromEntry(\\\"NAME\\\") names one of them",
        ),
        (
            "Till#pay",
            "@OnEntry static int f() { return 1; } @OnEntry static int g() { return 1; } @OnExit static void h(@FromEntry(\"f\") int x) {}",
            "A.java:5: nobody reads the result of g",
        ),
        (
            "Till#pay",
            "@OnEntry static int f() { return 1; } @OnExit static void h(@FromEntry(\"g\") int x) {}",
            "no method with @OnEntry and a result has this name; there are f",
        ),
    ] {
        let run = check(pattern, method);
        run.assert_exit(2)
            .assert_stderr(&told.replace("\\\"", "\""));
    }
}

#[test]
fn results_of_another_type_are_refused_with_their_line() {
    for (method, told) in [
        (
            "@Advice(\"Shop#depth\") class A {\n  @OnExit @ReplaceReturned static Integer f() { return 1; }\n}",
            "A.java:3: A.f does not fit Shop.depth(int): the result of the advice has the type java.lang.Integer, and that of the method int",
        ),
        (
            "@Advice(\"Shop#depth\") class A {\n  @OnExit @ReplaceThrown static String f() { return null; }\n}",
            "A.java:3: f returns java.lang.String; expected an exception",
        ),
        (
            "@Advice(\"Shop#depth\") class A {\n  @OnEntry static void f() { new Helper(); }\n\n  static class Helper extends Shop { Helper() { super(\"x\"); } }\n}",
            "A.java:5: A$Helper has the supertype Shop, a class of the program or of a library",
        ),
        (
            "@Advice(\"Shop\") class A {\n  @OnEntry static void f() {}\n}",
            "A.java:2: the pattern `Shop` names no methods; expected `Shop#*` for those of a class",
        ),
        (
            "@Advice(\"Shop**\") class A {\n  @OnEntry static void f() {}\n}",
            "A.java:2: the pattern `Shop**` names no methods; expected `Shop#*` for those of a class",
        ),
    ] {
        checked(method).assert_exit(2).assert_stderr(told);
    }
}

/// A class by a pattern with wildcards is no mistake, but the methods that the advice leaves out are counted.
#[test]
fn methods_that_advice_leaves_out_are_counted_at_the_end() {
    let folder = scratch();
    let source = folder.path().join("A.java");
    let text = "import io.github.classhook.advice.*;\n@Advice({\"T*l#*\", \"**.Tlil#pay\"})\nclass A {\n  @OnEntry static void f(@This Object self) {}\n}\n";
    std::fs::write(&source, text).expect("written");
    let run = run_program(&jdks::newest(), "Till", "8", &[], &source);
    run.assert_success()
        .assert_stderr("methods left alone: 2; the first is Till.label(Ljava/lang/String;I)Ljava/lang/String;: advice: no call of A.f (A.java:4): @This has no value in a static method")
        .assert_stderr("no loaded class matched **.Tlil");
}
