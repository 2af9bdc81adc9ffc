//! The attach protocol against real JVMs: each kind of target works or explains itself.

use attach::{AttachError, Attachment};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::workspace::test_file;
use e2e_tests::{javac, scratch};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A JVM that waits until it is let go.
struct Idle {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Idle {
    fn start(jdk: &Jdk, options: &[&str], classes: &Path) -> Idle {
        let mut child = Command::new(jdk.tool("java"))
            .args(options)
            .arg("-cp")
            .arg(classes)
            .arg("Idle")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("java starts");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        assert_eq!(line.trim(), "up");
        Idle { child, output }
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid")
    }

    /// Ends the JVM and gives back what it printed since it was up.
    fn end(mut self) -> String {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("text");
        assert!(self.child.wait().expect("an end").success());
        rest
    }
}

fn on_every_jdk(check: impl Fn(&Jdk, &Path)) {
    let folder = scratch();
    let source = test_file("java/Idle.java");
    let classes = javac::compile(
        &jdks::newest(),
        &[&source],
        folder.path(),
        &["--release", "11"],
    );
    for jdk in jdks::all() {
        check(jdk, &classes);
    }
}

#[test]
fn running_jvm_answers_commands_and_is_not_disturbed() {
    on_every_jdk(|jdk, classes| {
        let idle = Idle::start(jdk, &[], classes);
        let jvm = Attachment::open(idle.pid()).expect("attached");
        assert!(
            jvm.properties()
                .expect("properties")
                .contains(&format!("java.version={}", jdk.version))
        );
        assert!(jvm.jcmd("VM.version").expect("jcmd").contains("JDK"));
        Attachment::open(idle.pid()).expect("a second time, over the socket that is there");
        let listed = attach::jvms("libclasshook.so");
        let entry = listed
            .iter()
            .find(|jvm| jvm.pid == idle.pid())
            .expect("listed");
        assert_eq!(
            (entry.version.as_str(), entry.main.as_str()),
            (jdk.version.as_str(), "Idle")
        );
        assert!(!entry.has_library);
        assert_eq!(
            idle.end().trim(),
            "down",
            "attaching printed into the program's output on {jdk}"
        );
    });
}

#[test]
fn library_that_does_not_exist_is_refused_in_the_jvms_words() {
    on_every_jdk(|jdk, classes| {
        let idle = Idle::start(jdk, &[], classes);
        let jvm = Attachment::open(idle.pid()).expect("attached");
        match jvm.load(Path::new("/no/such/libagent.so"), "") {
            Err(AttachError::Refused { command, .. }) => assert_eq!(command, "load"),
            other => panic!("expected a refusal on {jdk}, found {other:?}"),
        }
        let long = "x".repeat(5_000);
        match jvm.load(Path::new("/no/such/libagent.so"), &long) {
            Err(AttachError::Refused { .. }) => {
                assert!(jdk.feature >= 24, "{jdk} took a long argument")
            }
            Err(AttachError::ArgumentTooLong {
                length: 5_000,
                limit: 1024,
            }) => {}
            other => panic!("expected a refusal on {jdk}, found {other:?}"),
        }
        idle.end();
    });
}

#[test]
fn disabled_attach_mechanism_is_seen_before_the_jvm_is_disturbed() {
    on_every_jdk(|jdk, classes| {
        let idle = Idle::start(jdk, &["-XX:+DisableAttachMechanism"], classes);
        assert!(matches!(
            Attachment::open(idle.pid()),
            Err(AttachError::Disabled(_))
        ));
        assert_eq!(idle.end().trim(), "down", "a thread dump on {jdk}");
    });
}

#[test]
fn process_that_is_no_jvm_is_left_alone() {
    let mut child = Command::new("cat")
        .stdin(Stdio::piped())
        .spawn()
        .expect("cat");
    let pid = i32::try_from(child.id()).expect("a pid");
    // the child may still be our own image for a moment: it has no libjvm.so either way
    assert!(matches!(Attachment::open(pid), Err(AttachError::NotJvm(_))));
    drop(child.stdin.take());
    assert!(child.wait().expect("an end").success());
    assert!(matches!(
        Attachment::open(pid),
        Err(AttachError::NoProcess(_))
    ));
}
