//! Commands for a running JVM: their effects, their permissions, and the protection against clients.

use crate::support::command::{
    LATE, assert_no_agent, attach, channel, classhook, hits, json, socket,
};
use e2e_tests::java::Java;
use e2e_tests::jdks;
use e2e_tests::patience::await_that;
use e2e_tests::scratch;
use e2e_tests::servant::{self, Servant};
use e2e_tests::workspace::{self, agent_library};
use rustix::process::{Signal, kill_process};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const STEPS: &str = "Servant$Steps";

/// Starts a servant with the agent.
fn started(jdk: &jdks::Jdk, output: &Path, more: &str) -> Servant {
    let agent = format!(
        "-agentpath:{}=output={},select=Servant*{more}",
        agent_library().display(),
        output.display()
    );
    Servant::start(jdk, &["-Xcheck:jni", &agent])
}

/// Writes a copy of the recording so far.
fn dump(servant: &Servant, folder: &Path, name: &str) -> PathBuf {
    let (pid, copy) = (servant.pid().to_string(), folder.join(name));
    classhook(&["dump", &pid, "--to", &copy.to_string_lossy()]).assert_success();
    copy
}

#[test]
fn status_shows_the_work_of_the_agent() {
    for jdk in jdks::all() {
        let folder = scratch();
        let mut servant = started(jdk, folder.path(), ",run=r1");
        servant.ask("steps ab");
        let pid = servant.pid().to_string();
        let status = json(&["status", &pid]);
        assert_eq!(status["pid"], servant.pid());
        assert_eq!(status["run"], "r1");
        assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(status["plugins"][0]["name"], "coverage");
        assert_eq!(status["plugins"][0]["state"], "on");
        assert_eq!(status["plugins"][0]["changed"], 2, "Servant and its Steps");
        assert_eq!(status["failures"], serde_json::json!([]));
        let snapshot = status["snapshot"].as_str().expect("a path");
        assert!(
            snapshot.starts_with(&*folder.path().to_string_lossy()),
            "{snapshot}"
        );
        let told = classhook(&["status", &pid]);
        told.assert_success();
        for part in [
            "at work for",
            snapshot,
            "plugin coverage: on, 2 classes changed, Servant*",
        ] {
            assert!(told.stdout.contains(part), "{part} in\n{}", told.report());
        }
        assert_eq!(servant.end().code, Some(0), "{jdk}");
    }
}

#[test]
fn dump_has_the_hits_and_reset_clears_them() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut servant = started(&jdk, folder.path(), "");
        let pid = servant.pid().to_string();
        servant.ask("steps ab");
        assert_eq!(hits(&dump(&servant, folder.path(), "ab"), STEPS), (2, 5));
        let reset = json(&["reset", &pid]);
        assert!(reset["probes"].as_u64() > Some(5), "{reset}");
        assert_eq!(hits(&dump(&servant, folder.path(), "none"), STEPS), (0, 5));
        servant.ask("steps c");
        let copy = dump(&servant, folder.path(), "c");
        assert_eq!(hits(&copy, STEPS), (1, 5), "on {jdk}");
        assert!(probes::Snapshot::read(&copy).expect("readable").complete);
        // Data that a failed dump would lose is kept.
        let full = classhook(&["dump", &pid, "--reset", "--to", "/dev/full"]);
        full.assert_exit(3).assert_stderr("H0620");
        let kept = full
            .stderr
            .lines()
            .find_map(|line| line.split_once("was reset in the JVM is in "));
        let kept = Path::new(kept.expect("a place").1);
        assert_eq!(hits(kept, STEPS), (1, 5), "on {jdk}");
        std::fs::remove_file(kept).expect("ours");
        assert_eq!(hits(&dump(&servant, folder.path(), "full"), STEPS), (0, 5));
        servant.ask("steps a");
        classhook(&["reset", &pid, "--plugin", "coverage"]).assert_success();
        assert_eq!(hits(&dump(&servant, folder.path(), "again"), STEPS), (0, 5));
        classhook(&["reset", &pid, "--plugin", "trace"])
            .assert_exit(2)
            .assert_stderr("H0708");
        assert_eq!(servant.end().code, Some(0));
    }
}

/// Every hit after the answer to a reset is recorded, and none that ended before the reset.
#[test]
fn reset_is_exact_while_other_threads_hit() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut servant = started(&jdk, folder.path(), "");
        let pid = servant.pid().to_string();
        servant.ask("spin");
        for round in 0..20 {
            servant.ask("steps a");
            classhook(&["reset", &pid]).assert_success();
            servant.ask("steps b");
            servant.ask("spun");
            let snapshot = dump(&servant, folder.path(), &round.to_string());
            let snapshot = probes::Snapshot::read(&snapshot).expect("readable");
            let mut classes = snapshot.classes.iter();
            let steps = classes.find(|class| class.name == STEPS).expect("Steps");
            // <init>, a, b, c, d
            assert_eq!(
                steps.probes,
                [false, false, true, false, true],
                "round {round} on {jdk}"
            );
        }
        servant.ask("rest");
        assert_eq!(servant.end().code, Some(0));
    }
}

#[test]
fn plugin_is_taken_out_of_loaded_classes_and_put_back() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut servant = Servant::watching(&jdk, &LATE);
        let (pid, bodies) = (servant.pid().to_string(), format!("bodies {STEPS}"));
        servant.ask("steps a");
        let before = servant.ask(&bodies);
        attach(&servant, folder.path(), &[]).assert_success();
        let measured = servant.ask(&bodies);
        assert_ne!(measured, before);
        let counts = || {
            let classes = &json(&["status", &pid])["classes"];
            ["seen", "selected", "changed"].map(|what| classes[what].clone())
        };
        let counted = counts();
        let told = classhook(&["disable", &pid, "coverage"]);
        told.assert_success();
        assert!(
            told.stdout
                .contains("plugin coverage: off, 0 classes changed"),
            "{}",
            told.report()
        );
        assert_eq!(servant.ask(&bodies), before, "{jdk}");
        servant.ask("steps b");
        assert_eq!(hits(&dump(&servant, folder.path(), "off"), STEPS).0, 0);
        classhook(&["enable", &pid, "coverage"]).assert_success();
        assert_eq!(counts(), counted, "a class counts once: {jdk}");
        assert_eq!(servant.ask(&bodies), measured, "{jdk}");
        servant.ask("steps c");
        assert_eq!(hits(&dump(&servant, folder.path(), "on"), STEPS).0, 1);
        for command in ["enable", "disable"] {
            classhook(&[command, &pid, "no-such-plugin"]).assert_exit(2);
        }
        assert_eq!(servant.end().code, Some(0));
    }
}

/// The agent knows the component behind a name, and the grants that it was attached with. The command runs in a folder
/// with a project of the same name.
#[test]
fn plugin_from_a_file_is_enabled_by_its_name_with_other_settings() {
    let jdk = jdks::newest();
    let folder = scratch();
    let folder = folder.path();
    std::fs::create_dir(folder.join("mine")).expect("made");
    std::fs::write(folder.join("mine/Cargo.toml"), "no project").expect("written");
    let component = folder.join("mine.wasm");
    std::fs::copy(
        workspace::target("bundled/tests/misbehaving.wasm"),
        &component,
    )
    .expect("a copy");
    let servant = Servant::watching(&jdk, &LATE);
    let pid = servant.pid().to_string();
    let run = |words: &[&str]| {
        let command = Java::program(workspace::classhook()).folder(folder);
        let command = command.variable("CLASSHOOK_AGENT", agent_library());
        command.arguments(words).run()
    };
    let deed = r#"{"deed":"loop"}"#;
    let options = ["--grant", "probes", "--plugin-settings", deed];
    let select = ["--select", STEPS, "--output", "out"];
    run(&[
        &["attach", &pid, "--plugin", "mine.wasm"][..],
        &options,
        &select,
    ]
    .concat())
    .assert_success();
    run(&["enable", &pid, "mine", "--select", "Servant"]).assert_success();
    let plugin = || json(&["status", &pid])["plugins"][0].clone();
    assert_eq!(plugin()["state"], "on", "{}", plugin());
    assert_eq!(plugin()["changed"], 1, "{}", plugin());
    run(&[
        "enable",
        &pid,
        "mine",
        "--plugin-settings",
        r#"{"deed":"dance"}"#,
    ])
    .assert_exit(2)
    .assert_stderr("unknown variant `dance`");
    assert_eq!(plugin()["changed"], 1, "as before: {}", plugin());
    assert_eq!(servant.end().code, Some(0));
}

#[test]
fn other_selectors_take_the_place_of_the_former() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut servant = Servant::watching(&jdk, &LATE);
        let pid = servant.pid().to_string();
        servant.ask("steps a");
        let of = |servant: &mut Servant, class: &str| servant.ask(&format!("bodies {class}"));
        let before = ["Servant", STEPS].map(|class| of(&mut servant, class));
        let select = |selector: &str| {
            classhook(&["reload", &pid, "--select", selector]).assert_success();
        };
        let words = [
            "attach",
            &pid,
            "--output",
            &folder.path().to_string_lossy(),
            "--select",
            "Servant",
        ];
        classhook(&words).assert_success();
        assert_ne!(of(&mut servant, "Servant"), before[0]);
        assert_eq!(of(&mut servant, STEPS), before[1]);
        select("Servant$Steps");
        assert_eq!(of(&mut servant, "Servant"), before[0]);
        assert_ne!(of(&mut servant, STEPS), before[1]);
        servant.ask("steps ab");
        assert_eq!(hits(&dump(&servant, folder.path(), "steps"), STEPS), (2, 5));
        // A class that is loaded now belongs to the new generation, too.
        select("Servant$Bodies");
        assert_eq!(of(&mut servant, STEPS), before[1], "{jdk}");
        // A second attach is the same as a reload; the command reports impossible changes.
        classhook(&["attach", &pid, "--select", "Servant"])
            .assert_success()
            .assert_stderr("already");
        assert_ne!(of(&mut servant, "Servant"), before[0]);
        classhook(&["reload", &pid, "--select", "loader:"]).assert_exit(2);
        let toml = folder.path().join("bad.toml");
        std::fs::write(&toml, "[[plugin]]\nuse = \"/no/such/plugin.wasm\"\n").expect("written");
        classhook(&["reload", &pid, "--config", &toml.to_string_lossy()])
            .assert_exit(2)
            .assert_stderr("H0106");
        assert_ne!(
            of(&mut servant, "Servant"),
            before[0],
            "the former configuration stays"
        );
        assert_eq!(servant.end().code, Some(0));
    }
}

#[test]
fn classes_are_listed_with_loader_and_the_plugins_that_changed_them() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut servant = started(&jdk, folder.path(), "");
        servant.ask("steps a");
        let pid = servant.pid().to_string();
        let changed = json(&["classes", &pid, "--changed"]);
        let expected = serde_json::json!([
            {"name": "Servant", "loader": "app", "changed_by": ["coverage"]},
            {"name": "Servant$Steps", "loader": "app", "changed_by": ["coverage"]},
        ]);
        assert_eq!(changed["classes"], expected, "{jdk}");
        let strings = json(&["classes", &pid, "java.lang.String"]);
        assert_eq!(strings["total"], 1);
        assert_eq!(strings["classes"][0]["loader"], "boot");
        let page = |skip: &str| {
            let words = [
                "classes",
                &pid,
                "java.lang.*",
                "--limit",
                "7",
                "--skip",
                skip,
            ];
            let answer = json(&words)["classes"].as_array().cloned().expect("a list");
            answer
                .into_iter()
                .map(|class| class["name"].to_string())
                .collect::<Vec<_>>()
        };
        let (first, second) = (page("0"), page("7"));
        assert_eq!((first.len(), second.len()), (7, 7));
        let none = classhook(&["classes", &pid, "Servamt"]);
        none.assert_exit(2)
            .assert_stderr("error[H0671]")
            .assert_stderr("nearest  Servant\n");
        assert_eq!(none.stdout, "");
        let same = classhook(&["classes", &pid, "java.lang.String", "--changed"]);
        same.assert_success()
            .assert_stderr("no changed class among 1 loaded class");
        assert!(first.last() < second.first(), "{first:?} {second:?}");
        assert_eq!(servant.end().code, Some(0));
    }
}

/// A client without the library's code.
struct Raw(UnixStream);

impl Raw {
    fn to(servant: &Servant) -> Self {
        Self(UnixStream::connect(socket(servant.pid())).expect("the agent listens"))
    }

    fn say(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.write_all(bytes).expect("the agent reads");
        self
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(&self.0)
            .read_line(&mut line)
            .expect("an answer");
        line
    }
}

#[test]
fn clients_can_neither_block_nor_break_the_agent() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut servant = started(&jdk, folder.path(), "");
        let status = b"{\"protocol\":1,\"request\":\"status\"}\n";
        let _silent = Raw::to(&servant);
        let mut half = Raw::to(&servant);
        half.say(&status[..20]);
        assert!(
            Raw::to(&servant)
                .say(b"\xFF\0garbage\n")
                .hear()
                .contains("H0705")
        );
        assert!(
            Raw::to(&servant)
                .say(b"{\"protocol\":9,\"request\":\"off\"}\n")
                .hear()
                .contains("H0703")
        );
        assert!(
            Raw::to(&servant)
                .say(b"{\"protocol\":1,\"request\":\"fly\"}\n")
                .hear()
                .contains("H0702")
        );
        let mut endless = Raw::to(&servant);
        let chunk = vec![b'x'; 1 << 20];
        assert!(
            (0..100).any(|_| endless.0.write_all(&chunk).is_err()),
            "an endless line is read"
        );
        Raw::to(&servant).say(status); // closes before the answer
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut client = Raw::to(&servant);
                    (0..50).for_each(|_| assert!(client.say(status).hear().contains("\"ok\"")));
                });
            }
        });
        assert!(half.say(&status[20..]).hear().contains("\"ok\""));
        assert_eq!(servant.ask("steps a"), "sum 1");
        assert_eq!(
            hits(&dump(&servant, folder.path(), "a"), STEPS).0,
            1,
            "{jdk}"
        );
        assert_eq!(servant.end().code, Some(0));
    }
}

#[test]
fn killed_client_leaves_the_agent_to_the_next_one() {
    let folder = scratch();
    let servant = started(&jdks::newest(), folder.path(), "");
    let pid = servant.pid().to_string();
    for _ in 0..20 {
        let mut client = Command::new(e2e_tests::workspace::classhook())
            .args(["classes", &pid])
            .stdout(Stdio::null())
            .spawn()
            .expect("classhook starts");
        client.kill().expect("it is there");
        client.wait().expect("an end");
    }
    assert_eq!(json(&["status", &pid])["pid"], servant.pid());
    assert_eq!(servant.end().code, Some(0));
}

#[test]
fn socket_is_for_its_user_alone_and_ends_with_the_jvm() {
    for jdk in jdks::all() {
        let folder = scratch();
        let servant = started(jdk, folder.path(), "");
        let (pid, socket) = (servant.pid().to_string(), socket(servant.pid()));
        let parent = std::fs::metadata(socket.parent().expect("a folder")).expect("it is there");
        assert_eq!(parent.mode() & 0o777, 0o700);
        assert!(socket.exists());
        assert_eq!(
            servant.end().code,
            Some(0),
            "the agent keeps no JVM alive: {jdk}"
        );
        assert!(!socket.exists(), "{jdk}");
        classhook(&["status", &pid])
            .assert_exit(2)
            .assert_stderr("H0501");
    }
}

#[test]
fn socket_of_a_killed_jvm_is_removed_by_the_next() {
    let folder = scratch();
    let jdk = jdks::newest();
    let killed = started(&jdk, folder.path(), "");
    let left = socket(killed.pid());
    killed.kill();
    assert!(left.exists(), "nobody could remove it");
    let next = started(&jdk, folder.path(), "");
    assert!(!left.exists());
    assert_eq!(next.end().code, Some(0));
}

#[test]
fn without_an_agent_each_command_names_the_remedy() {
    let folder = scratch();
    let jdk = jdks::newest();
    let servant = Servant::start(&jdk, &LATE);
    let pid = servant.pid().to_string();
    for words in [
        &["status"][..],
        &["dump"],
        &["reset"],
        &["reload"],
        &["classes"],
        &["off"],
        &["enable"],
        &["disable"],
    ] {
        let plugin = matches!(words[0], "enable" | "disable").then_some("coverage");
        let words: Vec<&str> = words
            .iter()
            .copied()
            .chain([pid.as_str()])
            .chain(plugin)
            .collect();
        classhook(&words)
            .assert_exit(2)
            .assert_stderr("H0701")
            .assert_stderr(&format!("classhook attach {pid}"));
    }
    assert_eq!(servant.end().code, Some(0));

    let silent = started(&jdk, folder.path(), ",control=off");
    assert!(!thread_names(silent.pid()).contains("Classhook ctl"));
    assert!(!socket(silent.pid()).exists());
    let pid = silent.pid().to_string();
    classhook(&["status", &pid])
        .assert_exit(2)
        .assert_stderr("control=off");
    classhook(&["attach", &pid])
        .assert_exit(2)
        .assert_stderr("H0608");
    assert_eq!(silent.end().code, Some(0));
}

/// Starts a servant with a `/tmp` of its own, prepared by the script, and with these options of the JVM.
fn with_own_tmp(jdk: &jdks::Jdk, script: &str, options: &[&str]) -> Servant {
    let script = format!("{script} && exec \"$@\"");
    let java = Java::program(PathBuf::from("/usr/bin/unshare"))
        .arguments(&["--user", "--map-root-user", "--mount"])
        .arguments(&["/bin/sh", "-c", &script, "sh"])
        .argument(jdk.tool("java"))
        .arguments(&["-XX:-UsePerfData", "-XX:TieredStopAtLevel=1"])
        .arguments(options)
        .argument("-cp")
        .argument(servant::classes())
        .argument("Servant");
    Servant::of(&java)
}

fn agent_option(folder: &Path) -> String {
    format!(
        "-agentpath:{}=output={},select=Servant*",
        agent_library().display(),
        folder.display()
    )
}

/// A broken `/tmp` changes neither the program nor the recording.
#[test]
fn jvm_whose_tmp_is_full_goes_on_without_a_socket() {
    for (jdk, more) in jdks::main_two()
        .into_iter()
        .zip(["", ",later=on,grant=boot"])
    {
        let folder = scratch();
        let script = "mount -t tmpfs -o nr_inodes=1 none /tmp";
        let option = agent_option(folder.path());
        let option = match more {
            "" => option,
            // Classes of the JDK are loaded before the agent can start.
            more => format!("{option};java.lang.Thread{more}"),
        };
        let mut servant = with_own_tmp(&jdk, script, &[&option]);
        assert_eq!(servant.ask("steps a"), "sum 1");
        let left = servant.end();
        assert_eq!(left.code, Some(0), "{}", left.stderr);
        assert!(left.stderr.contains("warning[H0412]"), "{}", left.stderr);
        let snapshots = e2e_tests::javac::files_with_extension(folder.path(), "hook");
        assert_eq!(hits(&snapshots[0], STEPS).0, 1, "{jdk}");
        if !more.is_empty() {
            assert_ne!(hits(&snapshots[0], "java/lang/Thread").0, 0, "{jdk}");
        }
    }
}

#[test]
fn agent_is_reached_although_another_user_took_the_place_of_its_folder() {
    for place in ["ln -s / /tmp/.classhook-0", "touch /tmp/.classhook-0"] {
        let jdk = jdks::newest();
        let folder = scratch();
        let script = format!("mount -t tmpfs none /tmp && {place}");
        let mut servant = with_own_tmp(&jdk, &script, &LATE);
        let pid = servant.pid().to_string();
        attach(&servant, folder.path(), &[]).assert_success();
        servant.ask("steps ab");
        assert_eq!(json(&["status", &pid])["plugins"][0]["changed"], 2);
        classhook(&["off", &pid]).assert_success();
        let left = servant.end();
        assert_eq!(left.code, Some(0), "{}", left.stderr);
        assert!(!left.stderr.contains("classhook:"), "{}", left.stderr);
    }
}

#[test]
fn removed_socket_is_created_anew() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let script = "mount -t tmpfs none /tmp";
        let servant = with_own_tmp(&jdk, script, &[&agent_option(folder.path())]);
        let pid = servant.pid().to_string();
        let tmp = PathBuf::from(format!("/proc/{pid}/root/tmp"));
        let socket = tmp.join(format!(".classhook-0/{pid}.sock"));
        let pid = pid.as_str();
        classhook(&["status", pid]).assert_success();
        for round in 0..2 {
            std::fs::remove_file(&socket).expect("the socket");
            classhook(&["status", pid]).assert_success();
            std::fs::rename(tmp.join(".classhook-0"), tmp.join(format!("moved-{round}")))
                .expect("its folder");
            classhook(&["status", pid]).assert_success();
        }
        classhook(&["off", pid]).assert_success();
        assert_eq!(servant.end().code, Some(0), "{jdk}");
    }
}

#[test]
fn jvm_with_a_read_only_tmp_is_distinguished_from_a_stopped_one() {
    let folder = scratch();
    let script = "mount -t tmpfs -o ro none /tmp";
    let servant = with_own_tmp(&jdks::newest(), script, &LATE);
    let run = attach(&servant, folder.path(), &[]);
    run.assert_exit(2)
        .assert_stderr("H0511")
        .assert_stderr("read-only");
    assert_eq!(servant.end().code, Some(0));
}

#[test]
fn attach_that_cannot_open_its_channel_fails_and_leaves_no_agent() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        // the folder itself, the JVM's own socket, and the file for messages
        let script = "mount -t tmpfs -o nr_inodes=3 none /tmp";
        let mut servant = with_own_tmp(&jdk, script, &LATE);
        let run = attach(&servant, folder.path(), &[]);
        run.assert_exit(2)
            .assert_stderr("H0508")
            .assert_stderr("H0412")
            .assert_stderr("No space left");
        assert!(!thread_names(servant.pid()).contains("Classhook"));
        assert_eq!(servant.ask("steps a"), "sum 1");
        let snapshots = e2e_tests::javac::files_with_extension(folder.path(), "hook");
        assert_eq!(snapshots, Vec::<PathBuf>::new());
        assert_eq!(servant.end().code, Some(0), "{jdk}");
    }
}

#[test]
fn stopped_jvm_is_reported_at_once_and_gets_no_agent() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let servant = Servant::start(&jdk, &LATE);
        servant.stop();
        let number = servant.pid().to_string();
        let output = folder.path().to_string_lossy();
        for words in [
            &["attach", &number][..],
            &["trace", &number, "--methods", "Servant.**", "-o", &output],
            &["coverage", &number, "-o", &output],
            &["status", &number],
            &["off", &number],
        ] {
            classhook(words).assert_exit(2).assert_stderr("H0510");
        }
        servant.go_on();
        assert!(!thread_names(servant.pid()).contains("Classhook"));
        attach(&servant, folder.path(), &[]).assert_success();
        servant.stop();
        classhook(&["status", &number])
            .assert_exit(2)
            .assert_stderr("H0510");
        servant.go_on();
        classhook(&["off", &number]).assert_success();
        assert_eq!(servant.end().code, Some(0), "{jdk}");
    }
}

/// While thousands of classes are instrumented, the agent answers, and stops between two batches on request.
#[test]
fn long_change_reports_progress_and_stops_on_request() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut servant = Servant::start(&jdk, &LATE);
        let pid = servant.pid().to_string();
        let output = folder.path().to_string_lossy();
        classhook(&["attach", &pid, "--plugin", "none", "--output", &output]).assert_success();
        let mut channel = channel(servant.pid());
        let mut interrupted = |words: &[&str], signal| {
            let change = Java::program(e2e_tests::workspace::classhook())
                .arguments(words)
                .arguments(&["--select", "**", "--grant", "probes", "--grant", "boot"])
                .spawn();
            let change_pid = rustix::process::Pid::from_child(&change);
            let mut status = || channel.ask(&control::Request::Status).expect("an answer");
            await_that("progress", || {
                status()["progress"]["done"].as_u64() > Some(0)
            });
            kill_process(change_pid, signal).expect("it runs");
            let ended = change.wait_with_output().expect("an end");
            let errors = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert_eq!(ended.status.code(), Some(130), "{errors}");
            assert!(errors.contains("H0645"), "{errors}");
            let changed = status()["plugins"][0]["changed"].as_u64();
            (errors, changed)
        };
        let (errors, changed) = interrupted(&["coverage", &pid], Signal::TERM);
        assert!(errors.contains("classes had been changed\n"), "{errors}");
        assert!(!errors.contains("measuring"), "{errors}");
        assert_eq!(changed.unwrap_or_default(), 0, "all are restored");
        let (_, changed) = interrupted(&["enable", &pid, "coverage"], Signal::INT);
        assert!(changed > Some(0), "they stay");
        assert_eq!(servant.ask("steps a"), "sum 1");
        let off = json(&["off", &pid]);
        assert!(off["restored"].as_u64() > Some(0), "{off}");
        assert_eq!(off["failed"], serde_json::json!([]));
        assert_eq!(servant.end().code, Some(0), "{jdk}");
    }
}

#[test]
fn idle_agent_sleeps() {
    let folder = scratch();
    // Sockets of other JVMs that come and go would wake it.
    let script = "mount -t tmpfs none /tmp";
    let options = [agent_option(folder.path())];
    let servant = with_own_tmp(&jdks::newest(), script, &[&options[0]]);
    let ticks = || {
        let tasks = format!("/proc/{}/task", servant.pid());
        let threads = std::fs::read_dir(tasks).expect("threads").flatten();
        let mut paths = threads.map(|thread| thread.path());
        let path = paths
            .find(|path| {
                let name = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
                name.trim() == "Classhook ctl"
            })
            .expect("the control thread");
        let status = std::fs::read_to_string(path.join("status")).expect("its status");
        let switches = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        switches
            .and_then(|text| text.trim().parse::<u64>().ok())
            .expect("a number")
    };
    // Its start takes long on a busy machine. A thread that wakes now and then would never sleep that long.
    let mut before = ticks();
    await_that("two seconds in which the thread does not wake", || {
        std::thread::sleep(Duration::from_secs(2));
        std::mem::replace(&mut before, ticks()) == before
    });
    assert_eq!(servant.end().code, Some(0));
}

/// Every trace of itself that `off` must remove.
#[test]
fn detached_agent_leaves_no_trace_and_can_be_attached_again() {
    for jdk in jdks::all() {
        let folder = scratch();
        let mut servant = Servant::watching(jdk, &LATE);
        let (pid, number) = (servant.pid().to_string(), servant.pid());
        servant.ask("steps a");
        let orders =
            ["Servant", STEPS].map(|class| [format!("bodies {class}"), format!("bytes {class}")]);
        let look = |servant: &mut Servant| {
            orders
                .each_ref()
                .map(|orders| orders.each_ref().map(|order| servant.ask(order)))
        };
        let before = look(&mut servant);
        for round in 0..3 {
            let output = folder.path().join(round.to_string());
            attach(&servant, &output, &[]).assert_success();
            servant.ask("steps ab");
            assert!(thread_names(number).contains("Classhook"));
            assert_ne!(servant.ask(&orders[1][0]), before[1][0]);
            let told = classhook(&["off", &pid]);
            told.assert_success();
            assert!(
                told.stdout.contains(" classes are again as they were"),
                "{}",
                told.report()
            );
            // The thread that answered ends with its answer.
            await_that("the end of the agent's threads", || {
                !thread_names(number).contains("Classhook")
            });
            assert_eq!(look(&mut servant), before, "round {round} on {jdk}");
            assert!(!socket(number).exists());
            assert_eq!(open_files(number, "hook"), Vec::<String>::new());
            // The JVM's own attach listener has one.
            assert_eq!(open_files(number, "socket:").len(), 1);
            servant.ask("steps c"); // no longer recorded
            let snapshots = e2e_tests::javac::files_with_extension(&output, "hook");
            assert_eq!(hits(&snapshots[0], STEPS), (2, 5), "round {round} on {jdk}");
            assert!(
                probes::Snapshot::read(&snapshots[0])
                    .expect("readable")
                    .complete
            );
            assert_no_agent(&pid);
        }
        let left = servant.end();
        assert_eq!(left.code, Some(0));
        assert!(!left.stderr.contains("classhook:"), "{}", left.stderr);
    }
}

/// A thread that loads no class and never returns keeps its old code, and its slots.
#[test]
fn agent_that_was_started_with_the_jvm_can_be_detached_and_attached() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        let agent = format!(
            "-agentpath:{}=output={},select=Servant*",
            agent_library().display(),
            first.display()
        );
        let mut servant = Servant::watching(&jdk, &[LATE[0], &agent]);
        let pid = servant.pid().to_string();
        servant.ask("spin");
        let measured = servant.ask(&format!("bodies {STEPS}"));
        classhook(&["off", &pid]).assert_success();
        assert_ne!(servant.ask(&format!("bodies {STEPS}")), measured);
        attach(&servant, &second, &[]).assert_success();
        assert_eq!(
            servant.ask(&format!("bodies {STEPS}")),
            measured,
            "the same slots on {jdk}"
        );
        servant.ask("steps a");
        servant.ask("rest");
        assert_eq!(servant.end().code, Some(0));
        for (folder, hit) in [(first, 1), (second, 2)] {
            let snapshots = e2e_tests::javac::files_with_extension(&folder, "hook");
            assert_eq!(hits(&snapshots[0], STEPS).0, hit, "{jdk}");
        }
    }
}

/// A patch belongs to no plugin: other plugins do not remove it, and `off` does.
#[test]
fn patch_outlives_a_reload_and_ends_with_the_agent() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut servant = Servant::watching(&jdk, &LATE);
        let (pid, bodies) = (servant.pid().to_string(), format!("bodies {STEPS}"));
        servant.ask("steps a");
        let before = servant.ask(&bodies);
        attach(&servant, folder.path(), &[]).assert_success();
        let patch = changed_steps(folder.path());
        classhook(&["patch", &pid, &patch]).assert_success();
        assert_eq!(servant.ask("steps ab"), "sum 102");
        for selector in ["Servant", "nothing.**", "Servant*"] {
            classhook(&["reload", &pid, "--select", selector]).assert_success();
            assert_eq!(servant.ask("steps a"), "sum 100", "{selector} on {jdk}");
        }
        classhook(&["disable", &pid, "coverage"]).assert_success();
        assert_eq!(servant.ask("steps a"), "sum 100");
        classhook(&["reload", &pid, "--select", "nothing.**"]).assert_success();
        classhook(&["off", &pid]).assert_success();
        assert_eq!(servant.ask("steps a"), "sum 1");
        assert_eq!(servant.ask(&bodies), before, "{jdk}");
        assert_eq!(servant.end().code, Some(0));
    }
}

/// Two classes with one name, in two loaders of one class, are distinct.
#[test]
fn class_is_not_taken_for_its_namesake_in_another_loader() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut servant = Servant::watching(&jdk, &LATE);
        let pid = servant.pid().to_string();
        let before = servant.ask("namesakes");
        attach(&servant, folder.path(), &["--plugin", "none"]).assert_success();
        let classes = json(&["classes", &pid, STEPS])["classes"].clone();
        let loaders = classes.as_array().expect("a list").iter();
        let loaders: Vec<&str> = loaders
            .filter_map(|class| class["loader"].as_str())
            .filter(|loader| loader.starts_with("java.net.URLClassLoader@"))
            .collect();
        assert_eq!(loaders.len(), 2, "{classes:#}");
        let patch = changed_steps(folder.path());
        for loader in &loaders {
            classhook(&["patch", &pid, &patch, "--loader", loader]).assert_success();
        }
        classhook(&["rollback", &pid, "1"]).assert_success();
        let changed = json(&["classes", &pid, "--changed"])["classes"].clone();
        let changed = changed.as_array().expect("a list");
        assert_eq!(changed.len(), 1, "{changed:#?}");
        assert_eq!(changed[0]["loader"], loaders[1]);
        assert_ne!(servant.ask("namesakes"), before);
        classhook(&["off", &pid]).assert_success();
        assert_eq!(servant.ask("namesakes"), before, "{jdk}");
        assert_eq!(servant.end().code, Some(0));
    }
}

/// Compiles the class file of `Steps` with another `a`.
fn changed_steps(folder: &Path) -> String {
    let source = servant::source().replace("a() { return 1; }", "a() { return 100; }");
    let file = folder.join("Servant.java");
    std::fs::write(&file, source).expect("written");
    let classes =
        e2e_tests::javac::compile(&jdks::newest(), &[&file], folder, &["--release", "11"]);
    let class = classes.join("Servant$Steps.class");
    class.to_string_lossy().into_owned()
}

/// Returns the JVM's own list of its threads, agents' threads among them.
fn thread_names(pid: i32) -> String {
    let jvm = attach::Attachment::open(pid).expect("attached");
    jvm.jcmd("Thread.print").expect("a list")
}

/// Returns the open files and sockets of a process that have this text in their names.
fn open_files(pid: i32, part: &str) -> Vec<String> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("files");
    let targets = entries
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let names = targets.map(|target| target.to_string_lossy().into_owned());
    names
        .filter(|name| name.ends_with(part) || name.starts_with(part))
        .collect()
}
