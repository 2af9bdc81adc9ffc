//! Recordings that are sent to another machine while they are recorded.

use crate::support::command::{LATE, assert_no_agent, classhook};
use e2e_tests::java::Java;
use e2e_tests::jdks;
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Child;

/// `classhook collect`, and its address.
struct Collector {
    child: Child,
    told: BufReader<std::process::ChildStdout>,
    address: String,
    token: PathBuf,
    folder: PathBuf,
}

impl Collector {
    fn start(folder: &Path) -> Self {
        Self::at("tcp://127.0.0.1:0", folder)
    }

    fn at(address: &str, folder: &Path) -> Self {
        let [token, received] = ["token", "received"].map(|name| folder.join(name));
        let words = [&token, &received].map(|path| path.to_string_lossy());
        let [token_file, output] = words.each_ref().map(AsRef::as_ref);
        let words = ["collect", address, "--token-file", token_file, "-o", output];
        let mut child = Java::program(workspace::classhook())
            .arguments(&words)
            .spawn();
        let mut told = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut address = String::new();
        while !address.starts_with("receiving at ") {
            address.clear();
            assert_ne!(
                told.read_line(&mut address).expect("text"),
                0,
                "it has ended"
            );
        }
        Self {
            child,
            told,
            address: address["receiving at ".len()..].trim().to_owned(),
            token,
            folder: received,
        }
    }

    /// Ends it. Returns its output, and whether all files are complete.
    fn end(mut self) -> (String, bool) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("it runs");
        let mut told = String::new();
        self.told.read_to_string(&mut told).expect("text");
        (told, self.child.wait().expect("an end").success())
    }

    fn received(&self, extension: &str) -> Vec<PathBuf> {
        javac::files_with_extension(&self.folder, extension)
    }
}

#[test]
fn received_files_equal_the_recorded_ones() {
    let jdk = jdks::newest();
    let folder = scratch();
    let collector = Collector::start(folder.path());
    let token = collector.token.to_string_lossy().into_owned();
    let to = ["--to", &collector.address, "--token-file", &token];
    // A command, whose recording also stays on this machine.
    let source = workspace::test_file("java/profile/Told.java");
    let classes = javac::compile(&jdk, &[&source], folder.path(), &["--release", "11"]);
    let [program, kept] = [jdk.tool("java"), folder.path().join("kept")];
    let texts = [&program, &classes, &kept].map(|path| path.to_string_lossy());
    let [program, classes, output] = texts.each_ref().map(AsRef::as_ref);
    let words = ["profile", "--exceptions", "--gc", "-o", output];
    let java = ["--", program, "-cp", classes, "Told"];
    let run = classhook(&[&words[..], &to, &java].concat());
    run.assert_success()
        .assert_stderr("sent 1 file to tcp://127.0.0.1:");
    let [here, there] = [
        javac::files_with_extension(&kept, "jvm-events"),
        collector.received("jvm-events"),
    ];
    let read = |files: &[PathBuf]| std::fs::read(&files[0]).expect("the file");
    assert_eq!((here.len(), there.len()), (1, 1));
    assert!(read(&here) == read(&there));
    let shown = classhook(&["profile", &there[0].to_string_lossy()]);
    shown.assert_success();
    assert!(shown.stdout.contains("EXCEPTIONS: "), "{}", shown.report());
    // A running JVM, whose recording does not stay, and at the same time a trace of another JVM.
    let running = Servant::start(&jdk, &LATE);
    let pid = running.pid().to_string();
    let traces = folder.path().join("traces");
    let output = traces.to_string_lossy();
    std::thread::scope(|scope| {
        let visit = scope
            .spawn(|| classhook(&[&["profile", &pid, "--gc", "--for", "1s"][..], &to].concat()));
        let words = ["trace", "--methods", "Told.*", "-o", &output];
        let trace = classhook(&[&words[..], &to, &java].concat());
        trace.assert_success().assert_stderr("sent 1 file to");
        visit
            .join()
            .expect("no panic")
            .assert_success()
            .assert_stderr("sent 1 file to");
    });
    assert_no_agent(&pid);
    assert_eq!(running.end().code, Some(0));
    let [here, there] = [
        javac::files_with_extension(&traces, "events"),
        collector.received("events"),
    ];
    assert_eq!((here.len(), there.len()), (1, 1));
    assert!(read(&here) == read(&there));
    let report = classhook(&["report", &there[0].to_string_lossy()]);
    assert!(
        report.stdout.contains("Told.thrower"),
        "{}",
        report.report()
    );
    assert_eq!(collector.received("jvm-events").len(), 2);
    let (told, is_whole) = collector.end();
    assert!(
        is_whole && told.contains("received: 3 files are whole"),
        "{told}"
    );
}

#[test]
fn socket_is_accessible_to_its_user_alone() {
    let folder = scratch();
    let socket = folder.path().join("socket");
    let address = format!("unix:{}", socket.display());
    let collector = Collector::at(&address, folder.path());
    assert_eq!(collector.address, address);
    let mode = socket.metadata().expect("it is there").mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    collector.end();
    assert!(!socket.exists());
}

/// The receiver is missing, or has another token: program and tables are as without it, and the command names the
/// cause.
#[test]
fn recording_for_a_missing_receiver_is_made_all_the_same() {
    let jdk = jdks::newest();
    let folder = scratch();
    let collector = Collector::start(folder.path());
    let wrong = scratch();
    let other = Collector::start(wrong.path());
    let source = workspace::test_file("java/profile/Told.java");
    let classes = javac::compile(&jdk, &[&source], folder.path(), &["--release", "11"]);
    let program = jdk.tool("java");
    let token = other.token.clone();
    let texts = [&program, &classes, &token].map(|path| path.to_string_lossy());
    let [program, classes, token] = texts.each_ref().map(AsRef::as_ref);
    let java = ["--", program, "-cp", classes, "Told"];
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("tcp://{}", listener.local_addr().expect("an address"))
    };
    for (to, cause) in [(&nobody, "refused"), (&collector.address, "another token")] {
        let words = ["profile", "--gc", "--to", to, "--token-file", token];
        let run = classhook(&[&words[..], &java].concat());
        run.assert_exit(3)
            .assert_stderr("error[H0666]")
            .assert_stderr(cause)
            .assert_stderr("start `classhook collect` there first");
        assert!(run.stdout.contains("arrays 20000"), "{}", run.report());
        assert!(
            run.stdout.contains("GARBAGE COLLECTIONS: "),
            "{}",
            run.report()
        );
    }
    assert!(collector.received("jvm-events").is_empty());
    let (told, _) = collector.end();
    assert!(told.contains("refused 127.0.0.1:"), "{told}");
    other.end();
    let to = ["profile", "--gc", "--to", &nobody];
    classhook(&[&to[..], &java].concat())
        .assert_exit(2)
        .assert_stderr("error[H0669]");
    classhook(&["collect", "tcp://127.0.0.1:0"])
        .assert_exit(2)
        .assert_stderr("error[H0669]");

    let new = folder.path().join("new");
    let words = ["collect", "unix:/nowhere/socket", "--token-file"];
    classhook(&[&words[..], &[&*new.to_string_lossy()]].concat())
        .assert_exit(2)
        .assert_stderr("nobody can listen at unix:/nowhere/socket");
    assert!(!new.exists(), "a token that nobody waits with");

    let short = folder.path().join("short");
    std::fs::write(&short, "abc").expect("the test's folder is writable");
    let (to, short) = ("tcp://127.0.0.1:1", short.display().to_string());
    let begin = ["profile", "--gc", "--to", to, "--token-file", &short];
    let refused = classhook(&[&begin[..], &java].concat());
    refused.assert_exit(2).assert_stderr("error[H0669]");
    assert_eq!(refused.stdout, "", "the program was not started");
}
