//! The attach protocol against real JVMs: each kind of target works or explains itself.

use attach::{AttachError, Attachment};
use e2e_tests::java::Java;
use e2e_tests::jdks;
use e2e_tests::servant::{EndedServant, Servant};
use e2e_tests::workspace;
use std::io::{BufRead, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Asserts that the program printed only its own lines since it was ready.
fn assert_undisturbed(left: &EndedServant) {
    assert_eq!((left.stdout.as_str(), left.code), ("down\n", Some(0)));
}

#[test]
fn running_jvm_answers_commands_and_is_not_disturbed() {
    for jdk in jdks::all() {
        let servant = Servant::start(jdk, &[]);
        let jvm = Attachment::open(servant.pid()).expect("attached");
        let properties = jvm.properties().expect("properties");
        assert!(properties.contains(&format!("java.version={}", jdk.version)));
        assert!(jvm.jcmd("VM.version").expect("jcmd").contains("JDK"));
        Attachment::open(servant.pid()).expect("a second time, over the socket that is there");
        let listed = attach::jvms("libclasshook.so");
        let entry = listed.iter().find(|jvm| jvm.pid == servant.pid());
        let entry = entry.expect("listed");
        assert_eq!(
            (entry.version.as_str(), entry.main.as_str()),
            (jdk.version.as_str(), "Servant")
        );
        assert_eq!(entry.has_library, Some(false));
        assert_undisturbed(&servant.end());
    }
}

#[test]
fn library_that_does_not_exist_is_refused_in_the_jvms_words() {
    for jdk in jdks::all() {
        let servant = Servant::start(jdk, &[]);
        let jvm = Attachment::open(servant.pid()).expect("attached");
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
        servant.end();
    }
}

#[test]
fn disabled_attach_mechanism_is_seen_before_the_jvm_is_disturbed() {
    for jdk in jdks::all() {
        let servant = Servant::start(jdk, &["-XX:+DisableAttachMechanism"]);
        assert!(matches!(
            Attachment::open(servant.pid()),
            Err(AttachError::Disabled(_))
        ));
        assert_undisturbed(&servant.end()); // a thread dump would go to its output
    }
}

/// HotSpot answers one connection after the other, so an idle one holds all others up.
#[test]
fn command_says_what_it_waits_for_while_the_jvm_is_busy_with_another() {
    let servant = Servant::start(&jdks::newest(), &[]);
    let pid = servant.pid();
    Attachment::open(pid).expect("the listener runs");
    let other = UnixStream::connect(format!("/tmp/.java_pid{pid}")).expect("the JVM listens");
    let pid = pid.to_string();
    let mut child = Java::program(workspace::classhook())
        .arguments(&["profile", &pid, "--threads"])
        .spawn();
    let mut error = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut told = String::new();
    while !told.contains("has not answered") {
        let read = error.read_line(&mut told).expect("text");
        assert!(read > 0, "the command ended: {told}");
    }
    let expected = format!("the JVM {pid} has not answered `threaddump` for ");
    assert!(told.contains(&expected), "{told}");
    drop(other);
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success(), "{told}");
    let threads = String::from_utf8_lossy(&output.stdout);
    assert!(threads.contains("main"), "{threads}");
    servant.end();
}

/// Creates a socket without a listener, as a killed JVM leaves it.
fn leave_socket(pid: i32) -> PathBuf {
    let path = PathBuf::from(format!("/tmp/.java_pid{pid}"));
    // It may exist already, if process ids were reused.
    let _ = std::fs::remove_file(&path);
    drop(UnixListener::bind(&path).expect("bound"));
    path
}

#[test]
fn socket_of_a_killed_jvm_is_not_taken_for_its_successors() {
    for jdk in jdks::all() {
        let servant = Servant::start(jdk, &[]);
        leave_socket(servant.pid());
        let jvm = Attachment::open(servant.pid()).expect("attached");
        assert!(jvm.properties().is_ok());
        assert_undisturbed(&servant.end());

        let servant = Servant::start(jdk, &["-XX:+DisableAttachMechanism"]);
        let socket = leave_socket(servant.pid());
        let opened = Attachment::open(servant.pid());
        assert!(matches!(opened, Err(AttachError::Disabled(_))));
        assert_undisturbed(&servant.end());
        std::fs::remove_file(socket).expect("removed");
    }
}

#[test]
fn process_that_is_no_jvm_is_left_alone() {
    let mut child = Command::new("cat")
        .stdin(Stdio::piped())
        .spawn()
        .expect("cat");
    let pid = i32::try_from(child.id()).expect("a pid");
    // the child may still be a copy of this process for a moment: neither has libjvm.so
    assert!(matches!(Attachment::open(pid), Err(AttachError::NotJvm(_))));
    drop(child.stdin.take());
    assert!(child.wait().expect("an end").success());
    assert!(matches!(
        Attachment::open(pid),
        Err(AttachError::NoProcess(_))
    ));
}
