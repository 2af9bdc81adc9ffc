//! `classhook profile PID`: a running JVM, which is left as it was.

use crate::support::command::{LATE, assert_no_agent, attach, begun, classhook};
use crate::support::leftovers::Leftovers;
use e2e_tests::java::Java;
use e2e_tests::javac;
use e2e_tests::jdks;
use e2e_tests::patience::await_that;
use e2e_tests::scratch;
use e2e_tests::servant::Servant;
use e2e_tests::workspace;
use rustix::process::{Pid, Signal, kill_process};

#[test]
fn running_jvm_is_profiled_and_left_without_an_agent() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut running = Servant::start(&jdk, &LATE);
        let pid = running.pid().to_string();
        assert_eq!(running.ask("spin"), "spinning");
        let run = classhook(&[
            "profile",
            &pid,
            "--cpu",
            "samples",
            "--monitor",
            "--gc",
            "--for",
            "1s",
        ]);
        run.assert_success();
        assert!(
            run.stdout.contains("Servant.lambda$spin$"),
            "{}",
            run.report()
        );
        assert_no_agent(&pid);
        classhook(&["profile", &pid, "--exceptions", "--for", "1s"])
            .assert_exit(2)
            .assert_stderr("error[H0419]")
            .assert_stderr("classhook profile --exceptions -- java");
        assert_no_agent(&pid);
        let threads = classhook(&["profile", &pid, "--threads"]);
        threads.assert_success();
        assert!(threads.stdout.contains("\"main\""), "{}", threads.report());
        let histogram = classhook(&[
            "profile",
            &pid,
            "--heap",
            "histogram",
            "--live",
            "--top",
            "3",
        ]);
        histogram.assert_success();
        assert!(
            histogram.stdout.contains("byte[]"),
            "{}",
            histogram.report()
        );
        let dump = folder.path().join("heap.hprof");
        let option = format!("dump={}", dump.display());
        classhook(&["profile", &pid, "--heap", &option]).assert_success();
        assert_is_heap_dump(&std::fs::read(&dump).expect("the file"));
        assert_eq!(running.ask("rest"), "resting");
        let left: Vec<_> = std::fs::read_dir(folder.path())
            .expect("a folder")
            .collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(running.end().code, Some(0));
    }
}

/// Asserts that there are records from the head to the end of the file, the last of which ends the heap.
fn assert_is_heap_dump(bytes: &[u8]) {
    const HEAP_DUMP_END: u8 = 0x2C;
    assert!(bytes.starts_with(b"JAVA PROFILE 1.0.2\0"));
    let mut rest = &bytes[b"JAVA PROFILE 1.0.2\0".len() + 12..];
    let mut last = 0;
    while let Some((head, body)) = rest.split_at_checked(9) {
        let length = u32::from_be_bytes(head[5..].try_into().expect("4 bytes"));
        last = head[0];
        rest = &body[length as usize..];
    }
    assert_eq!((last, rest.len()), (HEAP_DUMP_END, 0));
}

/// The JVM continues to write for a moment, into a file that is already removed.
#[test]
fn heap_dump_that_is_interrupted_leaves_no_part_of_the_heap() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let running = Servant::start(&jdk, &LATE);
        let pid = running.pid().to_string();
        for heap in ["retainers", "dump=heap.hprof"] {
            let mut command = Java::program(workspace::classhook())
                .folder(folder.path())
                .variable("TMPDIR", folder.path())
                .arguments(&["profile", &pid, "--heap", heap])
                .spawn();
            let left = || {
                let names = std::fs::read_dir(folder.path()).expect("a folder");
                let mut names = names.flatten().map(|entry| entry.file_name());
                names.any(|name| name.to_string_lossy().starts_with("classhook-for-"))
            };
            await_that("a folder for the heap", || {
                left() || command.try_wait().expect("our own child").is_some()
            });
            let _ = kill_process(Pid::from_child(&command), Signal::INT); // it may have ended
            command.wait().expect("an end");
            assert!(!left(), "{heap} on {jdk}");
        }
        assert_eq!(running.end().code, Some(0));
    }
}

/// The command that loaded the agent ends before the recording of another command, or makes a request during it.
#[test]
fn recording_continues_when_the_command_that_loaded_the_agent_ends() {
    for jdk in jdks::main_two() {
        let running = Servant::start(&jdk, &LATE);
        let pid = running.pid().to_string();
        let (mut tracing, _traced) = begun(&["trace", &pid, "--methods", "Servant.*"]);
        let (mut recording, told) = begun(&["profile", &pid, "--gc"]);
        kill_process(Pid::from_child(&tracing), Signal::INT).expect("it runs");
        assert!(tracing.wait().expect("an end").success());
        let _asked = classhook(&["profile", &pid, "--heap", "path=Servant"]);
        let status = classhook(&["status", &pid]);
        let holder = format!("a recording runs for process {}", recording.id());
        assert!(status.stdout.contains(&holder), "{}", status.report());
        kill_process(Pid::from_child(&recording), Signal::INT).expect("it runs");
        let told = std::io::read_to_string(told).expect("text");
        assert!(recording.wait().expect("an end").success(), "{told}");
        assert_no_agent(&pid);
        assert_eq!(running.end().code, Some(0));
    }
}

/// An agent with a task of its own records for a while, keeps no file of the recording, and continues its task. There
/// is one recording at a time, and it ends when the agent is detached.
#[test]
fn agent_of_another_command_records_for_a_while_and_continues() {
    let jdk = jdks::newest();
    let folder = scratch();
    let running = Servant::start(&jdk, &LATE);
    let pid = running.pid().to_string();
    attach(&running, folder.path(), &[]).assert_success();
    let (mut first, _told) = begun(&["profile", &pid, "--monitor"]);
    classhook(&["profile", &pid, "--gc", "--for", "1s"])
        .assert_exit(2)
        .assert_stderr("another recording is under way")
        .assert_stderr("wait for the end of the other");
    classhook(&["profile", &pid, "--gc", "-o", "elsewhere"])
        .assert_exit(2)
        .assert_stderr("error[H0608]");
    kill_process(Pid::from_child(&first), Signal::INT).expect("it runs");
    assert!(first.wait().expect("an end").success());
    classhook(&["profile", &pid, "--gc", "--for", "1s"]).assert_success();
    assert!(javac::files_with_extension(folder.path(), "jvm-events").is_empty());
    classhook(&["status", &pid]).assert_success();
    let (mut last, told) = begun(&["profile", &pid, "--gc"]);
    classhook(&["off", &pid]).assert_success();
    let told = std::io::read_to_string(told).expect("text");
    assert!(told.contains("warning[H0656]"), "{told}");
    assert_eq!(last.wait().expect("an end").code(), Some(3), "{told}");
    assert_eq!(running.end().code, Some(0));
}

/// The command of a recording may be killed.
#[test]
fn recording_of_a_killed_command_ends_by_itself_and_the_agent_leaves() {
    let jdk = jdks::newest();
    let running = Servant::start(&jdk, &LATE);
    let pid = running.pid().to_string();
    let (mut command, _told) = begun(&["profile", &pid, "--cpu", "samples"]);
    command.kill().expect("it runs");
    command.wait().expect("an end");
    while classhook(&["status", &pid]).status.success() {}
    assert_no_agent(&pid);
    assert_eq!(running.end().code, Some(0));
}

/// Checks whether a signal has stopped every thread of a process (`T` in `/proc/PID/task/TID/stat`).
fn has_stopped(pid: i32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it is there");
    threads.flatten().all(|thread| {
        let line = std::fs::read_to_string(thread.path().join("stat"));
        line.is_ok_and(|line| {
            let state = line.rsplit_once(") ");
            state.is_some_and(|(_, fields)| fields.starts_with('T'))
        })
    })
}

/// A stopped JVM answers nothing, and its recording is not lost.
#[test]
fn recording_of_a_stopped_jvm_is_completed_when_it_goes_on() {
    let running = Servant::start(&jdks::newest(), &LATE);
    let pid = running.pid().to_string();
    let jvm = Pid::from_raw(running.pid()).expect("a process");
    let leftovers = Leftovers::before();
    let (mut command, told) = begun(&["profile", &pid, "--gc"]);
    kill_process(jvm, Signal::STOP).expect("it runs");
    // A thread of the JVM that still runs could complete the recording before it stops.
    await_that("the stop of every thread", || has_stopped(running.pid()));
    kill_process(Pid::from_child(&command), Signal::INT).expect("it runs");
    let told = std::io::read_to_string(told).expect("text");
    assert!(!command.wait().expect("an end").success(), "{told}");
    kill_process(jvm, Signal::CONT).expect("it is stopped");
    let mut words = told.split('`');
    let file = words.find_map(|word| word.strip_prefix("classhook profile "));
    let file = file.unwrap_or_else(|| panic!("{told}"));
    while classhook(&["status", &pid]).status.success() {}
    assert_no_agent(&pid);
    classhook(&["profile", file]).assert_success();
    // A changed digit leaves a JSON document.
    let text = std::fs::read_to_string(file).expect("a recording");
    let damaged = text.replacen("\"turns\":", "\"turns\":1", 1);
    std::fs::write(file, damaged).expect("writable");
    classhook(&["profile", file])
        .assert_exit(2)
        .assert_stderr("error[H0611]")
        .assert_stderr("expected the checksum");
    assert_eq!(running.end().code, Some(0));
    leftovers.delete(command.id());
}

/// A file that can be read only once, or never ends, is not read.
#[test]
fn recording_that_is_no_file_is_refused() {
    let folder = scratch();
    let device = folder.path().join("device.jvm-events");
    std::os::unix::fs::symlink("/dev/null", &device).expect("a link");
    classhook(&["profile", &device.to_string_lossy()])
        .assert_exit(2)
        .assert_stderr("error[H0612]")
        .assert_stderr("a pipe, a device or a socket");
}

/// A recording has no thread that waited before it began; the JVM itself reports such threads.
#[test]
fn deadlocks_from_before_a_recording_are_named() {
    let jdks = jdks::main_three().into_iter().chain(jdks::eight());
    for jdk in jdks.chain(jdks::release(11)) {
        let folder = scratch();
        let source = workspace::test_file("java/profile/Deadlocked.java");
        let newest = jdks::release(17).unwrap_or_else(jdks::newest);
        let classes = javac::compile(&newest, &[&source], folder.path(), &["--release", "8"]);
        let late: &[&str] = if jdk.feature == 8 { &[] } else { &LATE };
        let java = Java::new(&jdk).options(late).class_path(&[&classes]);
        let running = Servant::of(&java.main("Deadlocked"));
        let pid = running.pid().to_string();
        let file = folder.path().join("rows.jsonl");
        let path = file.to_string_lossy();
        let words = ["profile", &pid, "--monitor", "--for", "1s"];
        let run = classhook(&[&words[..], &["--json-lines", &path]].concat());
        run.assert_success();
        for part in [
            "DEADLOCK 2: 2 threads",
            "\"enters-left\" waits to enter a monitor of Deadlocked$Right, which \"enters-right\" owns",
            "\"locks-one\" waits for a lock of java.util.concurrent.locks.ReentrantLock$NonfairSync, which \"locks-other\" owns",
            "  Deadlocked.enter(Deadlocked.java:",
        ] {
            assert!(
                run.stdout.contains(part),
                "{part} on {jdk}: {}",
                run.report()
            );
        }
        let rows = std::fs::read_to_string(&file).expect("the file");
        assert_eq!(rows.matches("\"kind\":\"deadlock\"").count(), 4, "{rows}");
        assert_no_agent(&pid);
        assert_eq!(running.end().code, Some(0));
    }
}
