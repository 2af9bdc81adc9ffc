//! The agent's life in a JVM: options, all ways to end, and the files afterwards.

use crate::support::agent::{classes, hits, java, noise, snapshot, snapshots};
use e2e_tests::java::Java;
use e2e_tests::jdks;
use e2e_tests::patience::await_value;
use e2e_tests::scratch;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Child;

fn send(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .expect("a pid");
    kill_process(pid, signal).expect("the JVM is there");
}

/// Starts `Life` and reads its output up to the line `started …`.
fn start(java: &Java) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = java.spawn();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    while !line.starts_with("started") {
        line.clear();
        assert!(
            out.read_line(&mut line).expect("output") > 0,
            "the program ended early"
        );
    }
    (child, out)
}

/// Reads the snapshot again and again until `done`; the limit ends a test that waits for ever.
fn wait_for(folder: &Path, done: impl Fn(&probes::Snapshot) -> bool) -> probes::Snapshot {
    await_value("the wanted snapshot", || {
        let files = snapshots(folder);
        let snapshot = probes::Snapshot::read(files.first()?).ok()?;
        done(&snapshot).then_some(snapshot)
    })
}

#[test]
fn every_orderly_end_completes_the_snapshot_and_changes_nothing() {
    for jdk in jdks::main_two() {
        for (way, code) in [
            ("end", 0),
            ("exit", 7),
            ("halt", 9),
            ("throw", 1),
            ("daemon", 0),
        ] {
            let folder = scratch();
            let plain = java(&jdk).main("Life").argument(way).run();
            let run = java(&jdk)
                .coverage(folder.path())
                .main("Life")
                .argument(way)
                .run();
            run.assert_exit(code);
            assert_eq!(run.stdout, plain.stdout, "{way} on {jdk}");
            assert_eq!(noise(&run), noise(&plain), "{way} on {jdk}");
            let snapshot = snapshot(folder.path());
            assert!(snapshot.complete && !snapshot.truncated, "{way} on {jdk}");
            assert_eq!(snapshot.summary.failed, 0, "{way} on {jdk}");
            let (hit, all) = hits(&snapshot, "Life");
            assert!(hit > 0 && hit < all, "{way} on {jdk}: {hit} of {all}");
        }
    }
}

#[test]
fn sigterm_completes_the_snapshot() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let (mut child, _out) = start(
            &java(&jdk)
                .coverage(folder.path())
                .main("Life")
                .argument("wait"),
        );
        send(&child, Signal::TERM);
        assert_eq!(child.wait().expect("an end").code(), Some(143), "{jdk}");
        let snapshot = snapshot(folder.path());
        assert!(snapshot.complete, "{jdk}");
        assert!(hits(&snapshot, "Life").0 > 0, "{jdk}");
    }
}

#[test]
fn sigquit_prints_threads_and_leaves_the_program_running() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let (mut child, mut out) = start(
            &java(&jdk)
                .coverage(folder.path())
                .main("Life")
                .argument("wait"),
        );
        send(&child, Signal::QUIT);
        let mut line = String::new();
        while !line.contains("Full thread dump") {
            line.clear();
            assert!(
                out.read_line(&mut line).expect("output") > 0,
                "no thread dump on {jdk}"
            );
        }
        let before = wait_for(folder.path(), |snapshot| !snapshot.classes.is_empty());
        assert!(!before.complete, "{jdk}");
        send(&child, Signal::TERM);
        assert_eq!(child.wait().expect("an end").code(), Some(143), "{jdk}");
        assert!(snapshot(folder.path()).complete, "{jdk}");
    }
}

#[test]
fn killed_jvm_leaves_its_recording_so_far() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let (mut child, _out) = start(
            &java(&jdk)
                .coverage(folder.path())
                .main("Life")
                .argument("late"),
        );
        // output of the program is on disk while it runs
        wait_for(folder.path(), |snapshot| {
            snapshot
                .classes
                .iter()
                .any(|class| class.name == "Life$Steps" && class.probes.contains(&true))
        });
        child.kill().expect("the JVM is there");
        assert_eq!(child.wait().expect("an end").signal(), Some(9), "{jdk}");
        let snapshot = snapshot(folder.path());
        assert!(!snapshot.complete, "{jdk}");
        let (hit, all) = hits(&snapshot, "Life$Steps");
        assert!(hit > 0 && hit < all, "{jdk}: {hit} of {all}");
        assert!(
            snapshot.classes.iter().all(|class| class.bytes.is_some()),
            "{jdk}"
        );
    }
}

#[test]
fn no_options_and_empty_options_are_the_same() {
    for jdk in jdks::main_two() {
        for options in [None, Some("")] {
            let folder = scratch();
            let run = java(&jdk)
                .agent(options)
                .folder(folder.path())
                .main("Life")
                .argument("end")
                .run();
            run.assert_success();
            assert_eq!(noise(&run), Vec::<&str>::new(), "{options:?} on {jdk}");
            assert!(
                hits(&snapshot(&folder.path().join("classhook")), "Life").0 > 0,
                "{options:?} on {jdk}"
            );
        }
    }
}

#[test]
fn help_prints_every_option_and_lets_the_jvm_go_on() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let run = java(&jdk)
            .agent(Some("help"))
            .folder(folder.path())
            .main("Life")
            .argument("end")
            .run();
        run.assert_success();
        for key in [
            "config", "output", "plugin", "select", "grant", "on-error", "run", "log", "help",
        ] {
            run.assert_stderr(key);
        }
        assert!(
            !folder.path().join("classhook").exists(),
            "help records nothing"
        );
    }
}

#[test]
fn bad_options_stop_a_strict_jvm_and_only_warn_otherwise() {
    let jdk = jdks::newest();
    let folder = scratch();
    let file = folder.path().join("bad.toml");
    std::fs::write(&file, "[agent]\non-error = \"strict\"\nno-such-key = 1\n").expect("written");
    let config = format!("config={}", file.display());
    for (options, strict) in [
        ("no-such-key=1", false),
        ("no-such-key=1,on-error=strict", true),
        ("plugin=/no/such/plugin.wasm", false),
        ("on-error=strict,plugin=/no/such/plugin.wasm", true),
        (config.as_str(), true),
    ] {
        let run = java(&jdk)
            .agent(Some(options))
            .folder(folder.path())
            .main("Life")
            .argument("end")
            .run();
        run.assert_stderr("classhook: error[H0");
        match strict {
            true => assert!(
                run.assert_exit(1)
                    .stdout
                    .lines()
                    .all(|line| !line.starts_with("started")),
                "{options}"
            ),
            false => {
                run.assert_success();
                assert_eq!(run.stdout, "started 2\nended\n", "{options}");
                run.assert_stderr("the JVM goes on without Classhook");
            }
        }
        assert_eq!(
            snapshots(folder.path()),
            Vec::<std::path::PathBuf>::new(),
            "{options}"
        );
    }
}

#[test]
fn an_output_folder_that_cannot_be_written_is_named_with_its_cause() {
    let jdk = jdks::newest();
    let folder = scratch();
    let file = folder.path().join("file");
    std::fs::write(&file, "not a folder").expect("written");
    let output = format!("output={}/below", file.display());
    let run = java(&jdk)
        .agent(Some(&output))
        .main("Life")
        .argument("end")
        .run();
    run.assert_success()
        .assert_stderr("classhook: error[H0404]")
        .assert_stderr("Not a directory");
    assert_eq!(run.stdout, "started 2\nended\n");
    let strict = format!("{output},on-error=strict");
    java(&jdk)
        .agent(Some(&strict))
        .main("Life")
        .argument("end")
        .run()
        .assert_exit(1)
        .assert_stderr("H0404");
}

#[test]
fn options_with_commas_spaces_and_equal_signs_arrive_whole() {
    let jdk = jdks::newest();
    let folder = scratch();
    let odd = folder.path().join("a=b, c:d");
    let options = format!(
        "run=id=1 x,output={}",
        odd.display().to_string().replace(',', "\\,")
    );
    java(&jdk)
        .agent(Some(&options))
        .main("Life")
        .argument("end")
        .run()
        .assert_success();
    let snapshot = snapshot(&odd);
    assert_eq!(snapshot.meta.run, "id=1 x");
    assert_eq!(snapshot.meta.java_feature, jdk.feature);
    assert!(
        snapshot.meta.command.contains("Life end"),
        "{}",
        snapshot.meta.command
    );
}

#[test]
fn agent_named_twice_works_once_with_a_message() {
    for jdk in jdks::main_two() {
        let (first, second) = (scratch(), scratch());
        let run = java(&jdk)
            .coverage(first.path())
            .coverage(second.path())
            .main("Life")
            .argument("end")
            .run();
        run.assert_success().assert_stderr("H0403");
        assert!(snapshot(first.path()).complete, "{jdk}");
        assert!(snapshots(second.path()).is_empty(), "{jdk}");
    }
}

#[test]
fn agent_under_two_paths_works_once_with_a_message() {
    let other = scratch();
    let copy = other.path().join("another.so");
    std::fs::copy(e2e_tests::workspace::agent_library(), &copy).expect("copied");
    for jdk in jdks::main_two() {
        let (first, second) = (scratch(), scratch());
        let second_option = format!(
            "-agentpath:{}=on-error=strict,output={}",
            copy.display(),
            second.path().display()
        );
        let run = java(&jdk)
            .coverage(first.path())
            .option(second_option)
            .main("Life")
            .argument("end")
            .run();
        run.assert_success().assert_stderr(
            "warning[H0403]: another copy of the agent is loaded in this JVM already",
        );
        assert_eq!(noise(&run).len(), 1, "{}", run.report());
        let snapshot = snapshot(first.path());
        assert!(snapshot.complete && hits(&snapshot, "Life").0 > 0, "{jdk}");
        assert!(snapshots(second.path()).is_empty(), "{jdk}");
    }
}

/// A build that measures itself may clean its output folder first.
#[test]
fn snapshot_removed_while_the_program_runs_exists_at_the_end() {
    for jdk in jdks::main_two() {
        let parent = scratch();
        let folder = parent.path().join("recorded");
        let java = java(&jdk).coverage(&folder).main("Life").argument("wait");
        let (mut child, _out) = start(&java);
        wait_for(&folder, |snapshot| {
            snapshot.classes.iter().any(|class| class.name == "Life")
        });
        std::fs::remove_dir_all(&folder).expect("removed");
        send(&child, Signal::TERM);
        let mut errors = String::new();
        let mut pipe = child.stderr.take().expect("a pipe");
        pipe.read_to_string(&mut errors).expect("output");
        assert_eq!(child.wait().expect("an end").code(), Some(143), "{errors}");
        assert!(
            errors.contains("was removed during the run; it was written again"),
            "{errors}"
        );
        let snapshot = snapshot(&folder);
        assert!(snapshot.complete && hits(&snapshot, "Life").0 > 0, "{jdk}");
    }
}

#[test]
fn java_tool_options_start_the_agent_too() {
    let jdk = jdks::newest();
    let folder = scratch();
    let library = e2e_tests::workspace::agent_library();
    let options = format!(
        "-agentpath:{}=output={}",
        library.display(),
        folder.path().display()
    );
    java(&jdk)
        .variable("JAVA_TOOL_OPTIONS", options)
        .main("Life")
        .argument("end")
        .run()
        .assert_success();
    assert!(snapshot(folder.path()).complete);
}

#[test]
fn several_jvms_in_one_folder_never_collide() {
    let jdk = jdks::newest();
    let folder = scratch();
    let java = java(&jdk)
        .coverage(folder.path())
        .main("Life")
        .argument("end");
    let children: Vec<Child> = (0..6).map(|_| java.spawn()).collect();
    for mut child in children {
        let mut out = String::new();
        child
            .stdout
            .take()
            .expect("a pipe")
            .read_to_string(&mut out)
            .expect("output");
        assert!(child.wait().expect("an end").success());
    }
    let files = snapshots(folder.path());
    assert_eq!(files.len(), 6);
    for file in files {
        let snapshot = probes::Snapshot::read(&file).expect("a snapshot");
        assert!(snapshot.complete);
    }
    let _ = classes();
}
