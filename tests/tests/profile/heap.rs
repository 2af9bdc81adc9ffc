//! `classhook profile PID --heap path=CLASS` on a program that knows the holders of its objects.

use crate::support::command::{LATE, assert_no_agent, channel, classhook};
use e2e_tests::java::Java;
use e2e_tests::jdks;
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use std::path::Path;

/// Starts a program that knows the content of its heap, and waits.
pub(super) fn held(jdk: &jdks::Jdk, folder: &Path) -> Servant {
    let source = workspace::test_file("java/profile/Held.java");
    let classes = javac::compile(&jdks::newest(), &[&source], folder, &["--release", "17"]);
    let java = Java::new(jdk).options(&LATE).option("-Xcheck:jni");
    Servant::of(&java.class_path(&[&classes]).main("Held"))
}

#[test]
fn paths_to_instances_equal_those_of_the_program() {
    for jdk in jdks::main_three() {
        let folder = scratch();
        let running = held(&jdk, folder.path());
        let pid = running.pid().to_string();
        let told = |class: &str| {
            let run = classhook(&["profile", &pid, "--heap", &format!("path={class}")]);
            run.assert_success();
            run.stdout
        };
        let expect = |class: &str, parts: &[&str]| {
            let told = told(class);
            let mut rest = told.as_str();
            for part in parts {
                let at = rest.find(part);
                let at = at.unwrap_or_else(|| panic!("no `{part}` of {class} on {jdk}:\n{told}"));
                rest = &rest[at + part.len()..];
            }
        };
        expect(
            "Held$InMap",
            &[
                "2 of 2 instances of Held$InMap:\n  static Held.CACHE\n  java.util.HashMap.table\n  java.util.HashMap$Node[",
                "]\n  java.util.HashMap$Node.value\n  java.lang.Object[1]\n  Held$InMap\n",
                "was paused for",
            ],
        );
        expect(
            "Held$InBox",
            &[
                "1,000 of 1,000 instances of Held$InBox, drawn at random:\n  static Held.other\n  Held$Box.content\n  java.lang.Object[",
                "]\n  Held$Box.content\n  Held$InBox\n",
            ],
        );
        expect(
            "Held$InLocal",
            &[
                "1 of 1 instances of Held$InLocal:\n  local variable 1 of Held$Holder.run(Held.java:",
                ") in thread \"holder\"\n  Held$InLocal\n",
            ],
        );
        expect(
            "Held$Link",
            &[
                "999 of 1,000 instances of Held$Link:\n  static Held.first\n  Held$Link.next, 1 to 999 times\n  Held$Link\n",
                "1 of 1,000 instances of Held$Link:\n  static Held.first\n  Held$Link\n",
            ],
        );
        let leaves = told("Held$Leaf");
        let kinds = leaves.matches(" of 64 instances of Held$Leaf:").count();
        assert_eq!(kinds, 3, "left alone, right alone, both: {leaves}");
        expect(
            "Held$Leaf",
            &[
                "62 of 64 instances of Held$Leaf:\n  static Held.tree\n  Held$Branch.left or Held$Branch.right, 6 references\n  Held$Branch.leaf\n  Held$Leaf\n",
                "  Held$Branch.left, 6 times\n",
                "  Held$Branch.right, 6 times\n",
            ],
        );
        expect("Held$InThread", &["  Held$Holder.mine\n  Held$InThread\n"]);
        expect(
            "Held$Weakly",
            &["1 of 1 instances of Held$Weakly: only soft, weak, phantom"],
        );
        classhook(&["profile", &pid, "--heap", "path=Held$Nobody"])
            .assert_exit(2)
            .assert_stderr("error[H0664]")
            .assert_stderr("no class `Held$Nobody` is loaded");
        assert_no_agent(&pid);
        let left = running.end();
        assert_eq!((left.code, left.stderr.as_str()), (Some(0), ""), "{jdk}");
    }
}

/// The program's own cache retains the objects that only it holds, both in a running JVM and in its dump.
#[test]
fn largest_retainers_equal_those_of_the_program() {
    let jdk = jdks::newest();
    let folder = scratch();
    let running = held(&jdk, folder.path());
    let pid = running.pid().to_string();
    let dump = folder.path().join("made/app.hprof"); // this folder does not exist yet
    let option = format!("dump={}", dump.display());
    classhook(&["profile", &pid, "--heap", &option, "--live"]).assert_success();
    let file = dump.to_string_lossy();
    for of in [&pid, &*file] {
        let run = classhook(&["profile", of, "--heap", "retainers", "--top", "100000"]);
        run.assert_success();
        let row = run
            .stdout
            .lines()
            .find(|line| line.ends_with(" class Held"));
        let row = row.unwrap_or_else(|| panic!("{}", run.report()));
        let objects = row
            .split_whitespace()
            .nth(2)
            .map(|number| number.replace(',', ""));
        let objects: u64 = objects
            .and_then(|number| number.parse().ok())
            .expect("a number");
        assert!(objects >= 1_500, "{row}");
        assert!(!run.stdout.contains("no end"), "{}", run.report());
    }
    assert_no_agent(&pid);
    std::fs::write(&dump, "JAVA PROFILE 1.0.2\0 and no more").expect("a file");
    classhook(&["profile", &file, "--heap", "retainers"])
        .assert_exit(2)
        .assert_stderr("error[H0664]");
    classhook(&["profile", &file, "--gc"])
        .assert_exit(2)
        .assert_stderr("error[H0663]");
    assert_eq!(running.end().code, Some(0));
}

/// A limit of the file size stands for a full disk. HotSpot then stops in the middle, and only its answer says so.
#[test]
fn dump_that_is_cut_off_is_refused_and_no_file_is_left() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let source = workspace::test_file("java/profile/Held.java");
        let classes = javac::compile(
            &jdks::newest(),
            &[&source],
            folder.path(),
            &["--release", "17"],
        );
        let java = Java::program("/bin/sh".into())
            .option("-c")
            .option("ulimit -f 400; exec \"$@\"")
            .option("sh")
            .option(jdk.tool("java"))
            .options(&LATE);
        let running = Servant::of(&java.class_path(&[&classes]).main("Held"));
        let pid = running.pid().to_string();
        let made = folder.path().join("made");
        let dump = made.join("app.hprof");
        let option = format!("dump={}", dump.display());
        classhook(&["profile", &pid, "--heap", &option])
            .assert_exit(2)
            .assert_stderr("error[H0664]")
            .assert_stderr(&format!(
                "not written a complete heap dump in {}",
                made.display()
            ))
            .assert_stderr("File too large");
        let left = std::fs::read_dir(&made).map_or(0, Iterator::count);
        assert_eq!(left, 0, "files are left on {jdk}");
        classhook(&["profile", &pid, "--heap", "retainers"])
            .assert_exit(2)
            .assert_stderr("not written a complete heap dump")
            .assert_stderr("File too large");
        assert_eq!(running.end().code, Some(0));
    }
}

/// Each way to read the heap estimates its pause, and refuses a pause that is too long before it accesses the JVM.
#[test]
fn pause_is_estimated_announced_and_refused_beyond_its_limit() {
    let jdks = jdks::main_three().into_iter().chain(jdks::eight());
    for jdk in jdks.chain(jdks::release(11)) {
        let folder = scratch();
        let source = workspace::test_file("java/profile/Held.java");
        let classes = javac::compile(
            &jdks::release(17).unwrap_or_else(jdks::newest),
            &[&source],
            folder.path(),
            &["--release", "8"],
        );
        let late: &[&str] = if jdk.feature == 8 { &[] } else { &LATE };
        let java = Java::new(&jdk).options(late).class_path(&[&classes]);
        let running = Servant::of(&java.main("Held"));
        let pid = running.pid().to_string();
        let file = folder.path().join("app.hprof");
        let dump = format!("dump={}", file.display());
        for heap in ["histogram", &dump, "path=Held$InMap", "retainers"] {
            let words = ["profile", &pid, "--heap", heap, "--max-pause"];
            let refused = classhook(&[&words[..], &["1us"]].concat());
            refused
                .assert_exit(2)
                .assert_stderr("error[H0659]")
                .assert_stderr("heap in use: ")
                .assert_stderr("longer than 1.000 µs");
            assert!(!refused.stderr.contains("begin"), "{}", refused.report());
            assert!(
                refused.stdout.is_empty() && !file.exists(),
                "{}",
                refused.report()
            );
            let allowed = classhook(&[&words[..], &["1h"]].concat());
            allowed.assert_success();
            let mut rest = allowed.stderr.as_str();
            for part in ["heap in use: ", " begin", "the program continues after "] {
                let at = rest.find(part).unwrap_or_else(|| {
                    panic!("no `{part}` for {heap} on {jdk}: {}", allowed.report())
                });
                rest = &rest[at + part.len()..];
            }
            let _ = std::fs::remove_file(&file);
        }
        assert_no_agent(&pid);
        let misplaced = classhook(&["profile", &pid, "--gc", "--max-pause", "1s"]);
        misplaced.assert_exit(2);
        assert_eq!(running.end().code, Some(0));
    }
}

#[test]
fn search_ends_at_the_limit_of_the_pause() {
    let jdk = jdks::newest();
    let folder = scratch();
    let source = workspace::test_file("java/profile/Held.java");
    let classes = javac::compile(&jdk, &[&source], folder.path(), &["--release", "17"]);
    let agent = format!(
        "-agentpath:{}=output={}",
        workspace::agent_library().display(),
        folder.path().display()
    );
    let java = Java::new(&jdk).option(agent).class_path(&[&classes]);
    let running = Servant::of(&java.main("Held"));
    let request = control::Request::HeapPaths {
        class: "Held$InBox".to_owned(),
        max_ms: Some(0),
    };
    let answer = channel(running.pid()).ask(&request).expect("an answer");
    assert_eq!(answer["passes"], 1, "{answer}");
    assert_eq!(answer["out_of_time"], true, "{answer}");
    assert_eq!(answer["cut"], true, "{answer}");
    assert_eq!(answer["without_path"], answer["instances"], "{answer}");
    assert_eq!(running.end().code, Some(0));
}
