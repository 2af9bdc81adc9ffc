//! Commands of root on the JVM of a service user, of a user on a JVM with more rights, and on JVMs that cannot be
//! attached to.

use crate::support::command::{LATE, assert_no_agent};
use crate::support::leftovers::Leftovers;
use crate::support::users::{AS_USER, USER, behind, close_to_others, is_root, open_to_all};
use e2e_tests::java::Run;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::patience::await_that;
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use std::cell::RefCell;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// Returns the folder of the service's sources.
fn source() -> PathBuf {
    workspace::test_file("java/attach/Service.java")
}

/// Starts a JVM of the service through other words.
fn service(words: &[&str], jdk: &Jdk, folder: &Path) -> Servant {
    let classes = javac::compile(&jdks::newest(), &[&source()], folder, &["--release", "8"]);
    let java = behind(words, jdk.tool("java"));
    let java = match jdk.feature {
        8 => java,
        _ => java.options(&LATE),
    };
    Servant::of(&java.class_path(&[classes]).main("Service"))
}

/// Runs `classhook` through other words, in a folder.
fn run(before: &[&str], folder: &Path, words: &[&str]) -> Run {
    behind(before, workspace::classhook())
        .variable("CLASSHOOK_AGENT", workspace::agent_library())
        .variable("JAVA_TOOL_OPTIONS", "")
        .folder(folder)
        .arguments(words)
        .run()
}

/// Returns the words that start the JVM of another user, if this process can.
fn other_user() -> &'static [&'static str] {
    match is_root() {
        true => &AS_USER,
        false => &[],
    }
}

fn releases() -> Vec<Jdk> {
    let mut releases = jdks::main_two();
    releases.extend(jdks::eight());
    releases
}

/// A killed JVM leaves its socket, and a process of another user may get the same process id.
#[test]
fn socket_that_a_process_of_root_has_left_is_removed() {
    if !is_root() {
        return; // only root can leave a socket of root
    }
    for jdk in releases() {
        let (program, home) = (scratch(), scratch());
        let service = service(other_user(), &jdk, program.path());
        let pid = service.pid().to_string();
        let socket = format!("/tmp/.java_pid{pid}");
        let _ = std::fs::remove_file(&socket);
        drop(UnixListener::bind(&socket).expect("a socket"));
        run(&[], home.path(), &["profile", &pid, "--threads"]).assert_success();
    }
}

/// The command's folder is accessible to root alone, as root's home.
#[test]
fn every_command_of_root_works_on_the_jvm_of_a_service_user() {
    for jdk in releases() {
        let (program, home) = (scratch(), scratch());
        close_to_others(home.path());
        let service = service(other_user(), &jdk, program.path());
        let pid = service.pid().to_string();
        let home = home.path();
        let commands = RefCell::new(Vec::new());
        let leftovers = Leftovers::before();
        let told = |words: &[&str]| {
            let words: Vec<&str> = words
                .iter()
                .map(|word| if *word == "PID" { &pid } else { *word })
                .collect();
            let run = run(&[], home, &words);
            run.assert_success();
            commands.borrow_mut().push(run.pid);
            run
        };
        let listed = told(&["ps"]);
        assert!(listed.stdout.contains(&pid), "{}", listed.report());
        let doctor = told(&["doctor", "PID"]);
        assert!(!doctor.stdout.contains("bad"), "{}", doctor.report());
        let said = match is_root() {
            true => format!("{USER}; this command's is root"),
            false => "as this command's".to_owned(),
        };
        assert!(doctor.stdout.contains(&said), "{}", doctor.report());

        told(&["profile", "PID", "--threads"]);
        let histogram = told(&[
            "profile",
            "PID",
            "--heap",
            "histogram",
            "--live",
            "--top",
            "1000",
        ]);
        assert!(
            histogram.stdout.contains("Service$Order"),
            "{}",
            histogram.report()
        );
        let dump = home.join("made/app.hprof");
        let option = format!("dump={}", dump.display());
        told(&["profile", "PID", "--heap", &option]);
        let ours = rustix::process::geteuid().as_raw();
        assert_eq!(dump.metadata().expect("a dump").uid(), ours, "{jdk}");
        for of in ["PID", &*dump.to_string_lossy()] {
            let retainers = told(&["profile", of, "--heap", "retainers", "--top", "1000"]);
            assert!(
                retainers.stdout.contains("class Service"),
                "{}",
                retainers.report()
            );
        }
        let paths = told(&["profile", "PID", "--heap", "path=Service$Order"]);
        // A working thread may hold the same list in a local variable.
        let holders = ["static Service.KEPT", "of Service.work("];
        assert!(
            holders.iter().any(|holder| paths.stdout.contains(holder)),
            "{}",
            paths.report()
        );
        told(&[
            "profile", "PID", "--gc", "--cpu", "samples", "--for", "100ms",
        ]);

        visits(&told);
        stays(&told, program.path());
        assert_no_agent(&pid);
        assert_eq!(service.end().code, Some(0), "{jdk}");
        assert_eq!(
            leftovers.of(&commands.borrow()),
            Vec::<PathBuf>::new(),
            "{jdk}"
        );
    }
    let _ = std::fs::remove_dir_all(format!("/tmp/classhook-{USER}")); // without root it does not exist
}

/// Tests the commands whose agent leaves when they end.
fn visits(told: &dyn Fn(&[&str]) -> Run) {
    let watch = ["watch", "PID", "Service$Order.total", "--limit", "2"];
    let watched = told(&watch);
    assert!(watched.stdout.contains("total"), "{}", watched.report());
    let trace = [
        "trace",
        "PID",
        "--methods",
        "Service$Order.*",
        "--for",
        "200ms",
    ];
    let traced = told(&trace);
    assert!(
        traced.stdout.contains("Service$Order.total"),
        "{}",
        traced.report()
    );
    if is_root() {
        let elsewhere = format!("/tmp/classhook-{USER}");
        assert!(traced.stderr.contains(&elsewhere), "{}", traced.report());
    }
    let covered = told(&["coverage", "PID", "--select", "Service*", "--for", "100ms"]);
    assert!(covered.stdout.contains("Service"), "{}", covered.report());
}

/// Tests the agent that stays, and all requests to it.
fn stays(told: &dyn Fn(&[&str]) -> Run, program: &Path) {
    let output = program.join("rec/inner"); // a folder of root's, which others may enter
    let text = output.to_string_lossy();
    let attach = ["attach", "PID", "--select", "Service*", "-o", &text];
    told(&attach);
    let owner = output.metadata().expect("a folder").uid();
    let expected = if is_root() {
        USER.parse().expect("a number")
    } else {
        owner
    };
    assert_eq!(owner, expected);
    told(&["status", "PID"]);
    told(&["classes", "PID"]);
    let copy = program.join("copy.hook");
    told(&["dump", "PID", "--to", &copy.to_string_lossy()]);
    assert!(copy.is_file());
    told(&["reset", "PID"]);
    told(&["disable", "PID", "coverage"]);
    told(&["enable", "PID", "coverage"]);
    told(&["reload", "PID", "--select", "Service*"]);
    let changed = program.join("changed/Service.java");
    std::fs::create_dir_all(changed.parent().expect("a folder")).expect("a folder");
    let text = std::fs::read_to_string(source()).expect("readable");
    std::fs::write(&changed, text.replace("2 * count", "3 * count")).expect("written");
    told(&["patch", "PID", "--source", &changed.to_string_lossy()]);
    told(&["patches", "PID"]);
    told(&["rollback", "PID", "--all"]);
    told(&["off", "PID"]);
}

#[test]
fn folder_that_the_user_of_the_jvm_cannot_write_to_is_reported_with_its_user() {
    if !is_root() {
        return; // only root can start a JVM of another user
    }
    let (program, home) = (scratch(), scratch());
    let service = service(&AS_USER, &jdks::newest(), program.path());
    let pid = service.pid().to_string();
    let folder = program.path().join("recorded");
    std::fs::create_dir(&folder).expect("a folder"); // owned by root
    let text = folder.to_string_lossy();
    for command in ["attach", "coverage"] {
        run(&[], home.path(), &[command, &pid, "-o", &text])
            .assert_exit(2)
            .assert_stderr("error[H0620]")
            .assert_stderr(&format!("user {USER} cannot write to {text}"))
            .assert_stderr("--output");
    }
    let settings = home.path().join("classhook.toml");
    std::fs::write(&settings, "[agent]\nlog = \"info\"\n").expect("written");
    close_to_others(home.path());
    run(
        &[],
        home.path(),
        &["attach", &pid, "--config", &settings.to_string_lossy()],
    )
    .assert_exit(2)
    .assert_stderr("error[H0607]")
    .assert_stderr(&format!("user {USER}"));
    assert_no_agent(&pid);
    assert_eq!(service.end().code, Some(0));
}

/// `/proc` hides the files of such a JVM from its own user. A systemd unit with AmbientCapabilities starts one.
#[test]
fn user_reaches_an_own_jvm_with_a_capability() {
    let raised = [
        "--inh-caps",
        "+net_bind_service",
        "--ambient-caps",
        "+net_bind_service",
    ];
    let capable = [&AS_USER[..], &raised].concat();
    let (before, started): (&[&str], &[&str]) = match is_root() {
        true => (&AS_USER, &capable),
        false => (&[], &[]),
    };
    for jdk in releases() {
        let (program, here) = (scratch(), scratch());
        open_to_all(here.path());
        let service = service(started, &jdk, program.path());
        let pid = service.pid().to_string();
        let told = |words: &[&str]| {
            let run = run(before, here.path(), words);
            run.assert_success();
            run
        };
        assert!(told(&["ps"]).stdout.contains(&pid), "{jdk}");
        let doctor = told(&["doctor", &pid]);
        assert!(!doctor.stdout.contains("bad "), "{}", doctor.report());
        assert_eq!(
            doctor.stdout.contains("hidden"),
            is_root(),
            "{}",
            doctor.report()
        );
        let histogram = told(&["profile", &pid, "--heap", "histogram", "--top", "1000"]);
        assert!(
            histogram.stdout.contains("Service$Order"),
            "{}",
            histogram.report()
        );
        told(&["profile", &pid, "--threads"]);
        let watch = ["watch", &pid, "Service$Order.total", "--limit", "2"];
        assert!(told(&watch).stdout.contains("total"), "{jdk}");
        let paths = told(&["profile", &pid, "--heap", "path=Service$Order"]);
        // A working thread may hold the same list in a local variable.
        let holders = ["static Service.KEPT", "of Service.work("];
        assert!(
            holders.iter().any(|holder| paths.stdout.contains(holder)),
            "{}",
            paths.report()
        );
        told(&["attach", &pid, "--select", "Service*"]);
        let listed = told(&["ps"]);
        let line = listed.stdout.lines().find(|line| line.contains(&pid));
        assert!(
            line.is_some_and(|line| line.contains("yes")),
            "{}",
            listed.report()
        );
        told(&["off", &pid]);
        assert_no_agent(&pid);
        assert_eq!(service.end().code, Some(0), "{jdk}");
    }
}

/// A JVM without a free file descriptor is distinguished from a stopped one, and no command waits for either.
#[test]
fn jvm_without_a_free_descriptor_is_distinguished_from_a_stopped_one() {
    let limited = ["/bin/sh", "-c", "ulimit -n 120; exec \"$@\"", "sh"];
    for jdk in releases() {
        let program = scratch();
        let mut service = service(&limited, &jdk, program.path());
        let pid = service.pid().to_string();
        let run = |words: &[&str]| run(&[], program.path(), words);
        let refused = |words: &[&str]| {
            run(words)
                .assert_exit(2)
                .assert_stderr("error[H0515]")
                .assert_stderr("file descriptors")
                .assert_stderr("of 120 are open");
        };
        assert_eq!(service.ask("exhaust"), "exhausted");
        refused(&["attach", &pid]);
        refused(&["profile", &pid, "--heap", "histogram"]);
        let doctor = run(&["doctor", &pid]);
        doctor.assert_exit(3);
        let mut lines = doctor.stdout.lines();
        let is_bad = |line: &str| line.starts_with("bad     files") && line.contains("H0515");
        assert!(lines.any(is_bad), "{}", doctor.report());
        service.stop();
        run(&["attach", &pid])
            .assert_exit(2)
            .assert_stderr("error[H0510]")
            .assert_stderr("is stopped");
        service.go_on();
        assert_eq!(service.ask("release"), "released");
        run(&["attach", &pid, "--select", "Service*"]).assert_success();
        // The agent cannot take another connection, once it has closed that of the command before.
        await_that("no file descriptor is free", || {
            assert_eq!(service.ask("exhaust"), "exhausted");
            run(&["status", &pid]).status.code() != Some(0)
        });
        refused(&["status", &pid]);
        assert_eq!(service.ask("release"), "released");
        run(&["status", &pid]).assert_success();
        run(&["off", &pid]).assert_success();
        assert_eq!(service.end().code, Some(0), "{jdk}");
    }
}
