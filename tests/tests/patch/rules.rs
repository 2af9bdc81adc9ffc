//! The plugin `patch` in real JVMs: each kind of rule, from the start and in a running JVM, and its removal.

use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch, workspace};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout};

const OWN: &str = "1; own; returned 1; java.lang.IllegalStateException: own; hits 0; waited false; sometimes false";
const FAULTY: &str = "42; another; java.lang.UnsupportedOperationException: injected; returned 0; hits 1; waited true; sometimes true";

fn start(
    jdk: &Jdk,
    folder: &Path,
    options: impl Fn(Java) -> Java,
) -> (Child, BufReader<ChildStdout>) {
    let source = workspace::test_file("java/patch/Faulty.java");
    let classes = javac::compile(jdk, &[&source], folder, &["--release", "17"]);
    let java = Java::new(jdk).options(&["-Xverify:all", "-XX:+EnableDynamicAgentLoading"]);
    let mut child = options(java)
        .class_path(&[&classes])
        .folder(folder)
        .main("Faulty")
        .spawn();
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    (child, out)
}

/// Reads until the program prints this line. During a retransformation a rule takes effect method by method.
#[track_caller]
fn await_line(out: &mut BufReader<ChildStdout>, wanted: &str) {
    loop {
        let mut line = String::new();
        let read = out.read_line(&mut line).expect("output");
        assert!(read > 0, "the program ended before it printed {wanted}");
        if line.trim_end() == wanted {
            return;
        }
    }
}

#[track_caller]
fn classhook(child: &Child, folder: &Path, command: &str, arguments: &[&str]) {
    let run = Java::program(workspace::classhook())
        .folder(folder)
        .argument(command)
        .argument(child.id().to_string())
        .arguments(arguments)
        .run();
    run.assert_success();
}

#[test]
fn rules_take_effect_in_real_programs_and_can_be_turned_off() {
    let rules = workspace::test_file("java/patch/faults.toml");
    let rules = rules.to_str().expect("text");
    for jdk in jdks::full()
        .into_iter()
        .filter(|jdk| [17, 25].contains(&jdk.feature))
    {
        let folder = scratch();
        let (mut child, mut out) = start(&jdk, folder.path(), |java| {
            java.agent(Some(&format!("config={rules},output=classhook")))
        });
        await_line(&mut out, FAULTY);
        classhook(&child, folder.path(), "disable", &["patch"]);
        await_line(&mut out, OWN);
        classhook(&child, folder.path(), "enable", &["patch"]);
        await_line(&mut out, FAULTY);
        classhook(&child, folder.path(), "off", &[]);
        await_line(&mut out, OWN);
        child.kill().expect("killed");
        let mut errors = String::new();
        let mut pipe = child.stderr.take().expect("a pipe");
        pipe.read_to_string(&mut errors).expect("text");
        child.wait().expect("an end");
        assert!(errors.contains("logged by a rule"), "{errors}");
    }
}

/// Attaches with rules for `Faulty`, each a method and an action, and detaches. The program is unchanged afterwards.
fn attach_with(jdk: &Jdk, rules: &[(&str, &str)]) -> Run {
    let folder = scratch();
    let (mut child, mut out) = start(jdk, folder.path(), |java| java);
    await_line(&mut out, OWN);
    let rule = |(method, what): &(&str, &str)| {
        format!("[[plugin.config.rule]]\nmethod = {method:?}\nwhat = {what}\n")
    };
    let rules: String = rules.iter().map(rule).collect();
    let file = folder.path().join("rules.toml");
    std::fs::write(&file, format!("[[plugin]]\nuse = \"patch\"\n{rules}")).expect("written");
    let run = Java::program(workspace::classhook())
        .folder(folder.path())
        .arguments(&["attach", &child.id().to_string(), "--config", "rules.toml"])
        .run();
    child.kill().expect("killed");
    child.wait().expect("an end");
    run
}

#[test]
fn rule_without_a_possible_effect_is_reported_by_its_command() {
    let jdk = jdks::newest();
    let right = ("Faulty.constant", "{ return = 42 }");
    let misspelt = (
        "Faulty.thrown",
        "{ throw = \"java.lang.UnsuportedOperationException\" }",
    );
    attach_with(&jdk, &[right, misspelt])
        .assert_exit(2)
        .assert_stderr("H0111")
        .assert_stderr("rule[1].what.throw")
        .assert_stderr("nearest: java.lang.UnsupportedOperationException")
        .assert_stderr("rules.toml");
    attach_with(&jdk, &[right, ("Faulty.replacd", "\"return\"")])
        .assert_exit(3)
        .assert_stderr("rule[1].method: Faulty has no method `replacd`")
        .assert_stderr("nearest: replaced");
    attach_with(&jdk, &[("Faulty.constant", "{ return = \"text\" }")])
        .assert_exit(3)
        .assert_stderr("rule[0].what: expected a constant of the method's type int");
    attach_with(&jdk, &[right, ("Fautly.constant", "\"return\"")])
        .assert_success()
        .assert_stderr("warning[H0652]: plugin patch: no loaded class matches Fautly")
        .assert_stderr("nearest  Faulty");
    attach_with(&jdk, &[right]).assert_success();
}

#[test]
fn rule_without_a_class_is_reported_when_the_program_ends() {
    let jdk = jdks::newest();
    let folder = scratch();
    let source = workspace::test_file("java/patch/Nested.java");
    let classes = javac::compile(&jdk, &[&source], folder.path(), &["--release", "17"]);
    let rules = r#"{"rule":[{"method":"Nested.answer","what":{"log":"here"}},{"method":"com.acme.Bnak.pay","what":"return"}]}"#;
    let run = Java::program(workspace::classhook())
        .folder(folder.path())
        .arguments(&["run", "--plugin", "patch", "--plugin-settings", rules, "--"])
        .argument(jdk.tool("java"))
        .argument("-cp")
        .argument(&classes)
        .argument("Nested")
        .run();
    run.assert_stderr("warning[H0415]")
        .assert_stderr("matched com.acme.Bnak;");
}

#[test]
fn rules_are_added_to_a_running_jvm_and_removed() {
    let rules = workspace::test_file("java/patch/faults.toml");
    let rules = rules.to_str().expect("text");
    for jdk in jdks::full()
        .into_iter()
        .filter(|jdk| [17, 25].contains(&jdk.feature))
    {
        let folder = scratch();
        let (mut child, mut out) = start(&jdk, folder.path(), |java| java);
        await_line(&mut out, OWN);
        classhook(&child, folder.path(), "attach", &["--config", rules]);
        await_line(&mut out, FAULTY);
        classhook(&child, folder.path(), "off", &[]);
        await_line(&mut out, OWN);
        child.kill().expect("killed");
        child.wait().expect("an end");
    }
}
