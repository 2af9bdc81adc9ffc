//! Global JNI references that a native library leaks, and JNI's function table before and after.

use crate::support::command::{LATE, assert_no_agent, begun, classhook};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{javac, native, scratch, workspace};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The program and its library.
struct Program {
    classes: PathBuf,
    library: PathBuf,
}

impl Program {
    fn make(folder: &Path) -> Self {
        let compiler = jdks::release(17).unwrap_or_else(jdks::newest);
        let source = workspace::test_file("java/profile/JniRefs.java");
        let library = workspace::test_file("native/references.c");
        Self {
            classes: javac::compile(&compiler, &[&source], folder, &["--release", "8"]),
            library: native::library(&compiler, &library, folder),
        }
    }

    /// Starts a servant that executes orders.
    fn start(&self, jdk: &Jdk) -> Servant {
        let late: &[&str] = if jdk.feature == 8 { &[] } else { &LATE };
        let java = Java::new(jdk).options(late).class_path(&[&self.classes]);
        Servant::of(&java.main("JniRefs").argument(&self.library))
    }

    /// Starts a servant with these orders, and records its references.
    fn profile(&self, jdk: &Jdk, options: &[&str], orders: &[&str]) -> Run {
        let texts = [jdk.tool("java"), self.classes.clone(), self.library.clone()];
        let [java, classes, library] = texts.map(|path| path.to_string_lossy().into_owned());
        let command = ["--", &java, "-Xcheck:jni", "-cp", &classes];
        let words = ["profile", "--jni-refs"];
        let of_program = ["JniRefs", &library];
        classhook(&[&words[..], options, &command, &of_program, orders].concat())
    }
}

fn everywhere() -> impl Iterator<Item = Jdk> {
    let jdks = jdks::main_three().into_iter().chain(jdks::eight());
    jdks.chain(jdks::release(11))
}

/// Returns open and created references to objects of a class, of one kind, with a frame of this method. An empty name
/// matches any.
fn sums(file: &Path, (class, is_weak): (&str, bool), method: &str) -> (u64, u64) {
    let text = std::fs::read_to_string(file).expect("the file");
    let frame = format!("JniRefs.{method}(");
    let mut sums = (0, 0);
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("a JSON object");
        let is_it = row["kind"] == "reference" && row["class"] == class && row["weak"] == is_weak;
        if is_it && (method.is_empty() || line.contains(&frame)) {
            sums.0 += row["open"].as_u64().expect("a number");
            sums.1 += row["created"].as_u64().expect("a number");
        }
    }
    sums
}

fn recording(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).expect("the file");
    let last = text.lines().last().expect("a line");
    serde_json::from_str(last).expect("a JSON object")
}

#[test]
fn leaked_references_equal_the_numbers_of_the_program() {
    for jdk in everywhere() {
        let folder = scratch();
        let program = Program::make(folder.path());
        let [file, folded] = ["rows.jsonl", "folded"].map(|name| folder.path().join(name));
        let [rows, stacks] = [&file, &folded].map(|path| path.to_string_lossy());
        let options = ["--json-lines", &rows, "--folded", &stacks];
        let run = program.profile(&jdk, &options, &["early", "late", "all"]);
        run.assert_success();
        let heading =
            "JNI REFERENCES NOT DELETED: 737 of 21,238 global and 25 of 41 weak references";
        assert!(run.stdout.contains(heading), "{jdk}: {}", run.report());
        let early = "JniRefs$Early, by thread \"native\" in no Java code";
        assert!(run.stdout.contains(early), "{jdk}: {}", run.report());
        for (class, is_weak, method, expected) in [
            ("JniRefs$Kept", false, "leak", (700, 700)),
            ("JniRefs$Freed", false, "free", (30, 530)),
            ("JniRefs$Weakly", true, "weak", (25, 40)),
            ("JniRefs$Weakly", false, "lambda$race$0", (4, 20_004)),
            ("JniRefs$Weakly", false, "fail", (1, 1)),
            ("JniRefs$Early", false, "order", (1, 2)),
            ("JniRefs$Early", false, "", (2, 3)),
        ] {
            let found = sums(&file, (class, is_weak), method);
            assert_eq!(found, expected, "{class} in {method} on {jdk}");
        }
        let others = &recording(&file)["other_references"];
        let [before, at_end] = ["before", "at_end"].map(|key| others[key].as_u64());
        let [before, at_end] = [before, at_end].map(|count| count.expect("a number"));
        assert!(at_end >= before + 700, "{others} on {jdk}");
        let folded = std::fs::read_to_string(&folded).expect("the file");
        assert!(
            folded.contains("JniRefs.leak;JniRefs.hold 700\n"),
            "{folded}"
        );
    }
}

/// References from before are counted separately, and JNI's table is the same afterwards.
#[test]
fn references_of_a_running_jvm_are_observed_and_its_table_is_as_before() {
    for jdk in everywhere() {
        let folder = scratch();
        let program = Program::make(folder.path());
        let mut running = program.start(&jdk);
        let pid = running.pid().to_string();
        let file = folder.path().join("rows.jsonl");
        let rows = file.to_string_lossy();
        assert_eq!(running.ask("early"), "created");
        let places = running.ask("places");
        let (mut command, _told) = begun(&["profile", &pid, "--jni-refs", "--json-lines", &rows]);
        assert_ne!(running.ask("places"), places, "{jdk}");
        assert_eq!(running.ask("late"), "deleted");
        assert_eq!(running.ask("all"), "done");
        kill_process(Pid::from_child(&command), Signal::INT).expect("it runs");
        assert!(command.wait().expect("an end").success(), "{jdk}");
        assert_eq!(running.ask("places"), places, "{jdk}");
        let of = |class, is_weak| sums(&file, (class, is_weak), "");
        assert_eq!(of("JniRefs$Kept", false), (700, 700), "{jdk}");
        assert_eq!(of("JniRefs$Early", false), (1, 1), "{jdk}");
        assert_eq!(of("JniRefs$Weakly", true), (25, 40), "{jdk}");
        let others = &recording(&file)["other_references"];
        assert_eq!(others["deleted"], 1, "{others} on {jdk}");
        assert_eq!(others["deleted_weak"], 1, "{others} on {jdk}");
        assert_no_agent(&pid);
        assert_eq!(running.end().code, Some(0));
    }
}

/// Another agent puts its function in front of ours, stays when ours ends, and leaves during the next recording.
#[test]
fn functions_of_other_agents_in_the_table_of_jni_stay_and_are_called_once() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let program = Program::make(folder.path());
        let mut running = program.start(&jdk);
        let pid = running.pid().to_string();
        let file = folder.path().join("rows.jsonl");
        let rows = file.to_string_lossy();
        let words = ["profile", &pid, "--jni-refs", "--json-lines", &rows];
        let held = |running: &mut Servant| {
            let before: u64 = running.ask("wrapped").parse().expect("a number");
            assert_eq!(running.ask("hold"), "held");
            let after: u64 = running.ask("wrapped").parse().expect("a number");
            after - before
        };
        let places = running.ask("places");
        let (mut command, _told) = begun(&words);
        assert_eq!(running.ask("wrap"), "in front");
        assert_eq!(held(&mut running), 1, "{jdk}");
        kill_process(Pid::from_child(&command), Signal::INT).expect("it runs");
        assert!(command.wait().expect("an end").success(), "{jdk}");
        assert_eq!(sums(&file, ("JniRefs$Weakly", false), "").1, 1, "{jdk}");
        // Their function is still in the table, and leads to the JVM's through ours, which does nothing.
        assert_eq!(held(&mut running), 1, "{jdk}");
        let theirs = running.ask("places");
        // Two rounds, so that ours is once in front of theirs and once behind it.
        for _ in 0..2 {
            let (mut command, _told) = begun(&words);
            assert_eq!(held(&mut running), 1, "{jdk}");
            kill_process(Pid::from_child(&command), Signal::INT).expect("it runs");
            assert!(command.wait().expect("an end").success(), "{jdk}");
            assert_eq!(sums(&file, ("JniRefs$Weakly", false), "").1, 1, "{jdk}");
            assert_eq!(running.ask("places"), theirs, "{jdk}");
        }
        assert_eq!(running.ask("unwrap"), "taken out");
        assert_eq!(held(&mut running), 0, "{jdk}");
        // Their agent restores ours, so that a recording finds it in the table and restores the JVM's.
        let (mut command, _told) = begun(&words);
        assert_eq!(held(&mut running), 0, "{jdk}");
        kill_process(Pid::from_child(&command), Signal::INT).expect("it runs");
        assert!(command.wait().expect("an end").success(), "{jdk}");
        assert_eq!(sums(&file, ("JniRefs$Weakly", false), "").1, 1, "{jdk}");
        assert_eq!(running.ask("places"), places, "{jdk}");
        assert_no_agent(&pid);
        assert_eq!(running.end().code, Some(0));
    }
}

#[test]
fn references_beyond_the_bound_are_counted_and_reported() {
    let (jdk, folder) = (jdks::newest(), scratch());
    let program = Program::make(folder.path());
    let file = folder.path().join("rows.jsonl");
    let rows = file.to_string_lossy();
    let run = program.profile(&jdk, &["--json-lines", &rows], &["many"]);
    run.assert_exit(3);
    let line = "could not be followed: too many were open, or they came too fast";
    assert!(run.stdout.contains(line), "{}", run.report());
    let lost = recording(&file)["lost"]["references"].as_u64();
    let (open, _) = sums(&file, ("JniRefs$Weakly", false), "order");
    assert_eq!(open + lost.expect("a number"), (1 << 20) + 1_000);
    assert!(open <= 1 << 20, "{open}");
}
