//! JVMs in containers: another root file system, other users, and missing files.

use crate::support::command::{LATE, classhook, hits, json};
use crate::support::users::{AS_USER, is_root, open_to_all};
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::scratch;
use e2e_tests::servant::{self, Servant};
use e2e_tests::workspace::agent_library;
use std::path::{Path, PathBuf};

/// Turns `$ROOT` into a root file system with the program's files, as a container has it, and without ours.
const CONTAINER: &str = "mount -t tmpfs none \"$ROOT\"; cd \"$ROOT\"; mkdir -p proc dev tmp var
    for place in /usr /lib /lib64 /bin /etc \"$JDK\" \"$CLASSES\"; do
        [ -e \".$place\" ] || { mkdir -p \".$place\"; mount --rbind \"$place\" \".$place\"; }
    done
    mount --rbind /proc proc; mount --rbind /dev dev";

/// Starts a servant behind a shell in a mount namespace of its own, which runs `script` first. `$LIBRARY` is the folder
/// of the agent's library, `$JDK` and `$CLASSES` those of the JVM and its program, `$ROOT` an empty one; `"$@"` starts
/// it.
fn contained(before: &[&str], jdk: &Jdk, root: &Path, script: &str) -> Servant {
    let unshare = ["/usr/bin/unshare", "--user", "--map-root-user", "--mount"];
    let words = [before, &unshare, &["/bin/sh", "-ec", script, "sh"]].concat();
    let library = agent_library();
    let java = Java::program(PathBuf::from(words[0]))
        .variable("LIBRARY", library.parent().expect("a folder"))
        .variable("JDK", &jdk.home)
        .variable("CLASSES", servant::classes())
        .variable("ROOT", root)
        .arguments(&words[1..])
        .argument(jdk.tool("java"))
        .arguments(&["-XX:-UsePerfData", "-XX:TieredStopAtLevel=1"])
        .arguments(&LATE)
        .argument("-cp")
        .argument(servant::classes())
        .argument("Servant");
    Servant::of(&java)
}

/// Attaches without an output folder.
fn attach(servant: &Servant) -> e2e_tests::java::Run {
    classhook(&["attach", &servant.pid().to_string(), "--select", "Servant*"])
}

/// Returns the files that commands left in their folders.
fn left_behind(pid: i32) -> Vec<PathBuf> {
    let places = ["tmp", "var/tmp", "dev/shm"].map(|place| format!("/proc/{pid}/root/{place}"));
    let entries = places
        .iter()
        .filter_map(|place| std::fs::read_dir(place).ok());
    let entries = entries.flatten().flatten().map(|entry| entry.path());
    entries
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(".classhook-library") || name.starts_with("classhook-for-")
        })
        .collect()
}

/// Asserts that the agent attaches, records, detaches and attaches again, and that no file of the command stays.
#[track_caller]
fn assert_reached(servant: &mut Servant) {
    let folder = scratch();
    let pid = servant.pid().to_string();
    for round in 0..2 {
        attach(servant).assert_success();
        servant.ask("steps ab");
        let copy = folder.path().join(format!("copy-{round}"));
        classhook(&["dump", &pid, "--to", &copy.to_string_lossy()]).assert_success();
        assert_eq!(hits(&copy, "Servant$Steps"), (2, 5), "round {round}");
        let run = classhook(&["ps"]);
        let line = run.stdout.lines().find(|line| line.contains(&pid));
        assert!(
            line.is_some_and(|line| line.contains("yes")),
            "{}",
            run.report()
        );
        classhook(&["off", &pid]).assert_success();
        assert_eq!(left_behind(servant.pid()), Vec::<PathBuf>::new());
    }
}

#[test]
fn jvm_with_another_root_gets_the_library_in_its_own_file_system() {
    for jdk in jdks::main_two() {
        let root = scratch();
        let script = format!("{CONTAINER}; exec chroot . \"$@\"");
        let mut servant = contained(&[], &jdk, root.path(), &script);
        assert_reached(&mut servant);
        let pid = servant.pid().to_string();
        let folder = scratch();
        let output = folder.path().join("flame.svg");
        let flame = output.to_string_lossy();
        servant.ask("spin");
        let trace = ["trace", &pid, "--methods", "Servant$Steps.*", "--for", "1s"];
        let words = [&trace[..], &["--flame-graph", &flame]].concat();
        let run = classhook(&words);
        servant.ask("rest");
        assert!(run.stderr.contains("tracing"), "{}", run.report());
        assert!(output.is_file(), "{}", run.report());
        assert_eq!(servant.end().code, Some(0), "{jdk}");
    }
}

#[test]
fn jvm_on_a_read_only_root_gets_the_library_in_tmp() {
    let script = "mount -t tmpfs none \"$LIBRARY\"; mount -o remount,bind,ro /
        mount -t tmpfs none /tmp; exec \"$@\"";
    let root = scratch();
    let mut servant = contained(&[], &jdks::newest(), root.path(), script);
    assert_reached(&mut servant);
    assert_eq!(servant.end().code, Some(0));
}

#[test]
fn without_a_folder_for_the_library_each_one_is_named_with_its_fault() {
    let script = "mount -t tmpfs none \"$LIBRARY\"
        for place in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o noexec none $place; done; exec \"$@\"";
    let root = scratch();
    let servant = contained(&[], &jdks::newest(), root.path(), script);
    attach(&servant)
        .assert_exit(2)
        .assert_stderr("H0512")
        .assert_stderr("/tmp (mounted noexec), /var/tmp (mounted noexec)");
    assert_eq!(servant.end().code, Some(0));
}

/// Only a tested folder is called good: a read-only or full folder is not.
#[test]
fn doctor_distinguishes_a_full_tmp_from_a_read_only_one() {
    for (mount, cause, has_socket) in [
        ("size=256k", "No space left on device", true),
        ("ro", "Read-only file system", false),
    ] {
        let script = format!("mount -t tmpfs -o {mount} none /tmp; exec \"$@\"");
        let root = scratch();
        let servant = contained(&[], &jdks::newest(), root.path(), &script);
        let doctor = classhook(&["doctor", &servant.pid().to_string()]);
        doctor.assert_exit(3).assert_stderr("error[H0637]");
        let line = |what: &str| {
            let of = |line: &&str| line.split_whitespace().nth(1) == Some(what);
            doctor.stdout.lines().find(of).unwrap_or_default()
        };
        assert!(line("tmp").starts_with("bad"), "{}", doctor.report());
        assert!(line("tmp").contains(cause), "{}", doctor.report());
        assert_eq!(
            line("attach").starts_with("good"),
            has_socket,
            "{}",
            doctor.report()
        );
        assert_eq!(
            line("attach").contains("H0511"),
            !has_socket,
            "{}",
            doctor.report()
        );
        assert_eq!(left_behind(servant.pid()), Vec::<PathBuf>::new());
        assert_eq!(servant.end().code, Some(0));
    }
}

#[test]
fn link_in_a_container_leads_nowhere_out_of_it() {
    let outside = scratch();
    let script = format!(
        "{CONTAINER}; mount -t tmpfs -o noexec none tmp; mount -t tmpfs -o noexec none dev/shm
        ln -s '{}' var/tmp; exec chroot . \"$@\"",
        outside.path().display()
    );
    let root = scratch();
    let servant = contained(&[], &jdks::newest(), root.path(), &script);
    attach(&servant)
        .assert_exit(2)
        .assert_stderr("H0512")
        .assert_stderr("/var/tmp (No such file");
    let found = std::fs::read_dir(outside.path()).expect("a folder").count();
    assert_eq!(found, 0);
    assert_eq!(servant.end().code, Some(0));
}

#[test]
fn root_reaches_a_jvm_whose_user_namespace_does_not_know_it() {
    if !is_root() {
        return; // only root can start a JVM of another user
    }
    for jdk in jdks::main_two() {
        let folder = scratch();
        open_to_all(folder.path());
        let mut servant = contained(&AS_USER, &jdk, folder.path(), "exec \"$@\"");
        let pid = servant.pid().to_string();
        let output = folder.path().to_string_lossy();
        classhook(&["attach", &pid, "--select", "Servant*", "--output", &output]).assert_success();
        servant.ask("steps ab");
        assert_eq!(json(&["status", &pid])["plugins"][0]["changed"], 2);
        classhook(&["off", &pid]).assert_success();
        assert_eq!(servant.end().code, Some(0), "{jdk}");
    }
}

#[test]
fn error_for_a_jvm_on_musl_names_the_reason() {
    let folder = scratch();
    let loader = folder.path().join("ld-musl-x86_64.so.1");
    std::fs::write(&loader, "no loader").expect("written");
    let mut servant = Servant::start(&jdks::newest(), &LATE);
    assert_eq!(servant.ask(&format!("map {}", loader.display())), "mapped");
    attach(&servant)
        .assert_exit(2)
        .assert_stderr("H0513")
        .assert_stderr("musl");
    assert_eq!(servant.end().code, Some(0));
}
