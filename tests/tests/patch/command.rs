//! `classhook patch`, `rollback` and `patches` on running JVMs.

use crate::support::command::{assert_no_agent, channel};
use control::Request;
use control::patch::{ClassBytes, PatchRequest, Rollback};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch, workspace};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout};
use tempfile::TempDir;

/// The JDKs that each case runs on.
fn jdks() -> impl Iterator<Item = Jdk> {
    jdks::full()
        .into_iter()
        .filter(|jdk| [17, 25].contains(&jdk.feature))
}

/// A JVM that runs `Patched`.
struct Target {
    folder: TempDir,
    child: Child,
    out: BufReader<ChildStdout>,
    /// All lines read so far.
    seen: Vec<String>,
    jdk: Jdk,
}

impl Target {
    /// Starts the program without an agent.
    fn start(jdk: &Jdk) -> Self {
        Self::with(jdk, &[], |java| java)
    }

    /// Starts the program with more sources, whose classes are loaded, and more options.
    fn with(jdk: &Jdk, more: &[PathBuf], options: impl Fn(Java) -> Java) -> Self {
        let folder = scratch();
        let file = |name: &str| workspace::test_file(&format!("java/patch/{name}.java"));
        let mut sources = vec![file("Patched"), file("Answer")];
        sources.extend(more.iter().cloned());
        let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
        let classes = javac::compile(jdk, &sources, folder.path(), &["--release", "17"]);
        let manifest = "Premain-Class: Patched\nCan-Retransform-Classes: true\n";
        let witness = folder.path().join("witness.jar");
        javac::jar(jdk, &classes, ".", manifest, &witness);
        let names: Vec<String> = more
            .iter()
            .map(|path| {
                path.file_stem()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        // With the quick compiler alone HotSpot would call former code by reflection.
        let java = Java::new(jdk).all_compilers();
        let java = java.options(&["-Xverify:all", "-XX:+EnableDynamicAgentLoading"]);
        let java = options(java)
            .class_path(&[&classes])
            .folder(folder.path())
            .main("Patched")
            .arguments(&names);
        let mut child = java.spawn();
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut target = Self {
            folder,
            child,
            out,
            seen: Vec::new(),
            jdk: jdk.clone(),
        };
        target.await_line("app original other original");
        target
    }

    /// Starts the program with the agent, followed by an agent that retransforms `Answer` all the time.
    fn with_witness(jdk: &Jdk) -> Self {
        Self::with(jdk, &[], |java| {
            java.agent(Some("plugin=none,output=classhook"))
                .option("-javaagent:witness.jar")
        })
    }

    /// Reads until the program prints this line.
    #[track_caller]
    fn await_line(&mut self, wanted: &str) {
        while self.line() != wanted {}
    }

    /// Returns the next digest that the witness prints.
    #[track_caller]
    fn await_bytes(&mut self) -> String {
        loop {
            if let Some(digest) = self.line().strip_prefix("bytes ") {
                return digest.to_owned();
            }
        }
    }

    #[track_caller]
    fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.out.read_line(&mut line).expect("output");
        assert!(
            read > 0,
            "the program ended on {} after {:#?}",
            self.jdk,
            self.seen
        );
        self.seen.push(line.trim_end().to_owned());
        line.trim_end().to_owned()
    }

    /// Compiles `Answer` with another word in place of `original`.
    fn answer(&self, word: &str) -> PathBuf {
        let text = std::fs::read_to_string(workspace::test_file("java/patch/Answer.java"));
        let text = text
            .expect("readable")
            .replace("\"original\"", &format!("\"{word}\""));
        self.compile(word, &[("Answer", &text)])
            .join("Answer.class")
    }

    /// Returns the digest of `Answer` with this word.
    fn digest(&self, word: &str) -> String {
        let bytes = std::fs::read(self.answer(word)).expect("readable");
        let digest = Sha256::digest(bytes);
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn compile(&self, folder: &str, sources: &[(&str, &str)]) -> PathBuf {
        let folder = self.folder.path().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let files: Vec<PathBuf> = sources
            .iter()
            .map(|(name, text)| {
                let file = folder.join(name).with_extension("java");
                std::fs::write(&file, text).expect("written");
                file
            })
            .collect();
        let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        javac::compile(&self.jdk, &files, &folder, &["--release", "17"])
    }

    /// Runs the command on this JVM.
    fn classhook(&self, command: &str, arguments: &[&str]) -> Run {
        Java::program(workspace::classhook())
            .folder(self.folder.path())
            .argument(command)
            .argument(self.child.id().to_string())
            .arguments(arguments)
            .run()
    }

    #[track_caller]
    fn patch(&self, classes: &Path, more: &[&str]) -> Run {
        let mut arguments = vec![classes.to_str().expect("text")];
        arguments.extend(more);
        self.classhook("patch", &arguments)
    }

    #[track_caller]
    fn json(&self, command: &str, arguments: &[&str]) -> Value {
        let run = self.classhook(command, &[arguments, &["--json"]].concat());
        serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("no JSON\n{}", run.report()))
    }

    /// Asserts that the JVM has no agent, and that no file of one exists.
    #[track_caller]
    fn assert_untouched(&self) {
        assert_no_agent(&self.child.id().to_string());
        assert!(!self.folder.path().join("classhook").exists());
    }

    /// Asserts that no agent stays after a patch that breaks a rule, and after one that cannot be logged.
    #[track_caller]
    fn assert_refusals_leave_nothing(&self) {
        let file = workspace::test_file("java/patch/Answer.java");
        let text = std::fs::read_to_string(file).expect("readable");
        let end = text.rfind('}').expect("a class");
        let other = format!("{} int more; }}", &text[..end]);
        let other = self.compile("refused", &[("Answer", &other)]);
        let run = self.patch(&other.join("Answer.class"), &["--check"]);
        run.assert_exit(2).assert_stderr("H0720");
        self.assert_untouched();
        let in_the_way = self.folder.path().join("classhook/patches.jsonl");
        std::fs::create_dir_all(&in_the_way).expect("a folder");
        let run = self.patch(&self.answer("unlogged"), &[]);
        run.assert_exit(2).assert_stderr("H0723");
        assert_no_agent(&self.child.id().to_string());
        std::fs::remove_dir_all(self.folder.path().join("classhook")).expect("ours");
    }

    /// Returns the classes that the agent lists as changed.
    fn changed_by(&self) -> Vec<String> {
        let answer = self.json("classes", &["--changed"]);
        let classes = answer["classes"].as_array().expect("classes").iter();
        let changed = classes.flat_map(|class| class["changed_by"].as_array().expect("names"));
        changed
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect()
    }

    fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("classhook/patches.jsonl"));
        let text = text.expect("a log");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            kill_process(pid, Signal::KILL).ok();
        }
        self.child.wait().ok();
    }
}

/// Returns the numbers of the broken rules in the answer, each once.
fn numbers(answer: &Value) -> Vec<i64> {
    let classes = answer["classes"].as_array().expect("classes");
    let broken = classes
        .iter()
        .flat_map(|class| class["broken"].as_array().expect("rules"));
    let mut numbers: Vec<i64> = broken
        .map(|rule| rule["number"].as_i64().expect("a number"))
        .collect();
    numbers.dedup();
    numbers
}

#[test]
fn patch_takes_effect_in_a_running_jvm_and_is_rolled_back() {
    for jdk in jdks() {
        let mut target = Target::start(&jdk);
        let one = target.answer("one");
        target.patch(&one, &["--check"]).assert_success();
        target.assert_untouched();
        target.assert_refusals_leave_nothing();
        target.patch(&one, &["--note", "first"]).assert_success();
        target.await_line("app one other one");
        target
            .patch(&target.answer("two"), &["--check"])
            .assert_success();
        assert_eq!(target.changed_by(), ["hot patch 1", "hot patch 1"]);
        let list = target.classhook("patches", &[]);
        assert!(
            list.stdout.contains("patch 1 by user") && list.stdout.contains("first"),
            "{}",
            list.report()
        );
        target.classhook("rollback", &[]).assert_success();
        target.await_line("app original other original");
        target.patch(&one, &["--check"]).assert_success();
        assert!(target.changed_by().is_empty());
        let log = target.log();
        let stages: Vec<&str> = log
            .iter()
            .filter_map(|entry| entry["stage"].as_str())
            .collect();
        assert_eq!(stages, ["asked", "done", "asked", "done"]);
        assert_eq!(log[1]["result"], "applied");
        assert_eq!(log[1]["note"], "first");
        assert_eq!(log[1]["uid"], rustix::process::geteuid().as_raw());
        assert_eq!(
            log[1]["classes"][0]["before"],
            log[3]["classes"][0]["after"]
        );
        assert_eq!(
            log[1]["classes"][0]["after"],
            log[3]["classes"][0]["before"]
        );
        let none = target.classhook("rollback", &["7"]);
        none.assert_exit(2).assert_stderr("H0722");
    }
}

#[test]
fn source_is_compiled_for_the_jvm_it_is_for() {
    for jdk in jdks() {
        let mut target = Target::start(&jdk);
        let text = std::fs::read_to_string(workspace::test_file("java/patch/Answer.java"))
            .expect("readable");
        let file = target.folder.path().join("Answer.java");
        std::fs::write(
            &file,
            text.replace("\"original\"", "Patched.class.getName()"),
        )
        .expect("written");
        let file = file.to_str().expect("text");
        // The other loader compiles nothing and has its own class `Patched`.
        target
            .classhook("patch", &["--source", file, "--loader", "app"])
            .assert_success();
        target.await_line("app Patched other original");
        std::fs::write(file, "class Answer { nonsense }").expect("written");
        let run = target.classhook("patch", &["--source", file]);
        run.assert_exit(2)
            .assert_stderr("H0726")
            .assert_stderr("nonsense");
    }
}

#[test]
fn broken_rule_of_a_patch_is_named_before_the_jvm_refuses_it() {
    let before = javac::sources_in(&workspace::test_file("java/patch/rules/before"));
    for jdk in jdks() {
        let target = Target::with(&jdk, &before, |java| java);
        // Otherwise each refused patch would load and unload it.
        target
            .classhook("attach", &["--plugin", "none", "-o", "classhook"])
            .assert_success();
        for after in javac::sources_in(&workspace::test_file("java/patch/rules/after")) {
            let text = std::fs::read_to_string(&after).expect("readable");
            let expected = text.lines().next().and_then(|line| line.rsplit(' ').next());
            let expected: i64 = expected
                .and_then(|number| number.parse().ok())
                .expect("a number");
            let name = after.file_stem().expect("a name").to_str().expect("text");
            let classes = target.compile(&format!("after/{name}"), &[(name, &text)]);
            let class = classes.join(name).with_extension("class");
            let class = class.to_str().expect("text");
            let ours = target.json("patch", &[class, "--check"]);
            let broken = numbers(&ours);
            assert!(broken.contains(&expected), "{name} on {jdk}: {ours:#}");
            assert_eq!(ours["classes"][0]["broken"][0]["by_jvm"], false, "{name}");
            let refused = target.classhook("patch", &[class]);
            refused
                .assert_exit(2)
                .assert_stderr("nothing was changed")
                .assert_stderr(&format!("({expected})"));
            let theirs = target.json("patch", &[class, "--force"]);
            assert_eq!(
                theirs["classes"][0]["broken"][0]["by_jvm"], true,
                "{name}: {theirs:#}"
            );
            let said = numbers(&theirs);
            assert!(
                said.len() == 1 && broken.contains(&said[0]),
                "{name} on {jdk}: we {broken:?}, the JVM {said:?}"
            );
            assert_eq!(theirs["ids"], serde_json::json!([]), "{name}");
        }
        let list = target.classhook("patches", &[]);
        assert!(list.stdout.contains("no patch"), "{}", list.report());
    }
}

/// Members that the JVM cannot add or remove get a place elsewhere, or stay.
#[test]
fn changes_that_need_more_than_bodies_are_accepted() {
    let before = javac::sources_in(&workspace::test_file("java/patch/rules/before"));
    for jdk in jdks() {
        let target = Target::with(&jdk, &before, |java| java);
        target
            .classhook("attach", &["--plugin", "none", "-o", "classhook"])
            .assert_success();
        for kept in javac::sources_in(&workspace::test_file("java/patch/rules/kept")) {
            let text = std::fs::read_to_string(&kept).expect("readable");
            let name = kept.file_stem().expect("a name").to_str().expect("text");
            let classes = target.compile(&format!("kept/{name}"), &[(name, &text)]);
            let class = classes.join(name).with_extension("class");
            let class = class.to_str().expect("text");
            target
                .patch(Path::new(class), &["--check"])
                .assert_success();
            target.patch(Path::new(class), &[]).assert_success();
        }
        target.classhook("rollback", &["--all"]).assert_success();
    }
}

/// Returns the offset of `this_class`, behind the constant pool (JVMS 4.4) and the access flags.
fn class_info(class: &[u8]) -> usize {
    let u16_at = |at: usize| usize::from(u16::from_be_bytes([class[at], class[at + 1]]));
    let (mut at, mut entry) = (10, 1);
    while entry < u16_at(8) {
        let (length, entries) = match class[at] {
            1 => (3 + u16_at(at + 1), 1),
            5 | 6 => (9, 2),
            7 | 8 | 16 | 19 | 20 => (3, 1),
            15 => (4, 1),
            _ => (5, 1),
        };
        at += length;
        entry += entries;
    }
    at + 2
}

#[test]
fn class_file_that_is_broken_itself_is_refused_with_the_jvms_error() {
    for jdk in jdks() {
        let target = Target::start(&jdk);
        let good = std::fs::read(target.answer("one")).expect("a class");
        let refused = |name: &str, bytes: &[u8], expected: i64, by_jvm: bool| {
            let file = target.folder.path().join(format!("{name}.class"));
            std::fs::write(&file, bytes).expect("written");
            let file = file.to_str().expect("text");
            let check = target.json("patch", &[file, "--check"]);
            let rule = &check["classes"][0]["broken"][0];
            assert_eq!(rule["number"], expected, "{name} on {jdk}: {check:#}");
            assert_eq!(rule["by_jvm"], by_jvm, "{name}");
            let forced = target.json("patch", &[file, "--force"]);
            assert_eq!(numbers(&forced), [expected], "{name} on {jdk}: {forced:#}");
        };
        let mut newer = good.clone();
        newer[7] = 200;
        refused("newer", &newer, 68, false);
        // `iload_0 ireturn` → `aconst_null ireturn`.
        let at = good
            .windows(2)
            .position(|code| code == [0x1a, 0xac])
            .expect("the code");
        let mut unverified = good.clone();
        unverified[at] = 0x01;
        refused("unverified", &unverified, 62, true);
        // `max_locals` is before the length of the code.
        let mut cramped = good.clone();
        cramped[at - 6..at - 4].fill(0);
        refused("cramped", &cramped, 60, true);
        // The JVM compares superclasses before a circle could arise, so it never reports error 61.
        let this = class_info(&good);
        let mut circular = good.clone();
        circular.copy_within(this..this + 2, this + 2);
        refused("circular", &circular, 66, false);
        let run = target.patch(&target.folder.path().join("witness.manifest"), &[]);
        run.assert_exit(2).assert_stderr("H0613");
    }
}

#[test]
fn patches_stack_and_each_can_be_rolled_back() {
    for jdk in jdks() {
        let mut target = Target::with_witness(&jdk);
        let original = target.await_bytes();
        let file = target.digest("original");
        for word in ["one", "two", "three"] {
            target.patch(&target.answer(word), &[]).assert_success();
            target.await_line(&format!("app {word} other {word}"));
        }
        target.classhook("rollback", &["2"]).assert_success();
        assert_eq!(
            target.json("patches", &[])["patches"]
                .as_array()
                .map(Vec::len),
            Some(2)
        );
        target.classhook("rollback", &["3"]).assert_success();
        target.await_line("app one other one");
        target.classhook("rollback", &["--all"]).assert_success();
        target.await_line("app original other original");
        // The next retransformation of another agent receives the same bytes as before.
        while target.await_bytes() != original {}
        let check = target.json(
            "patch",
            &[target.answer("four").to_str().expect("text"), "--check"],
        );
        // The class is identified by the file that its loader finds.
        assert_eq!(check["classes"][0]["before"], file.as_str());
    }
}

#[test]
fn other_agents_retransformations_find_the_patch_and_its_rollback() {
    for jdk in jdks() {
        let mut target = Target::with_witness(&jdk);
        let original = target.await_bytes();
        for word in ["one", "two"] {
            let class = target.answer(word);
            target.patch(&class, &[]).assert_success();
            let answer = target.json("patches", &[]);
            let digest = answer["patches"][0]["classes"][0]["digest"].clone();
            while digest != target.await_bytes().as_str() {}
            target.classhook("rollback", &[]).assert_success();
            while target.await_bytes() != original {}
        }
    }
}

#[test]
fn class_is_patched_in_the_loader_that_is_named() {
    for jdk in jdks() {
        let mut target = Target::start(&jdk);
        target
            .patch(&target.answer("one"), &["--loader", "app"])
            .assert_success();
        target.await_line("app one other original");
        let classes = target.json("classes", &["Answer"]);
        let loader = classes["classes"][1]["loader"].as_str().expect("a loader");
        assert!(
            loader.starts_with("java.net.URLClassLoader@"),
            "{classes:#}"
        );
        target
            .patch(&target.answer("two"), &["--loader", loader])
            .assert_success();
        target.await_line("app one other two");
        target.classhook("rollback", &["1"]).assert_success();
        target.await_line("app original other two");
        target.classhook("off", &[]).assert_success();
        target.await_line("app original other original");
    }
}

#[test]
fn missing_loader_is_refused_with_the_loaders_of_the_class() {
    let jdk = jdks().last().expect("a JDK");
    let target = Target::start(&jdk);
    let answer = target.answer("one");
    target
        .patch(&answer, &["--loader", "nosuch"])
        .assert_exit(2)
        .assert_stderr("error[H0729]")
        .assert_stderr("Answer is loaded by app")
        .assert_stderr("Answer is loaded by java.net.URLClassLoader@");
}

#[test]
fn nothing_is_patched_unless_all_of_it_can_be() {
    let before = javac::sources_in(&workspace::test_file("java/patch/rules/before"));
    for jdk in jdks() {
        let mut target = Target::with(&jdk, &before, |java| java);
        let text = std::fs::read_to_string(workspace::test_file("java/patch/Answer.java"))
            .expect("readable");
        let both = target.compile(
            "both",
            &[
                ("Answer", &text.replace("\"original\"", "\"one\"")),
                ("FieldAdded", "class FieldAdded { int one; int two; }"),
            ],
        );
        for force in [&[][..], &["--force"]] {
            let run = target.patch(&both, force);
            run.assert_exit(2)
                .assert_stderr("FieldAdded")
                .assert_stderr("--partial");
            let class = target.json(
                "patch",
                &[both.join("Answer.class").to_str().expect("text"), "--check"],
            );
            assert_eq!(class["classes"][0]["state"], "possible");
        }
        target
            .patch(&both, &["--partial", "--force"])
            .assert_success();
        target.await_line("app one other one");
        assert_eq!(
            target.log().last().expect("an entry")["result"],
            "partly applied"
        );
    }
}

#[test]
fn patched_code_is_covered_and_so_is_the_original_again() {
    for jdk in jdks() {
        let mut target = Target::with(&jdk, &[], |java| {
            java.agent(Some("plugin=coverage,select=Answer,output=classhook"))
        });
        target.patch(&target.answer("one"), &[]).assert_success();
        target.await_line("app one other one");
        let changed = target.json("classes", &["--changed"]);
        let by = &changed["classes"][0]["changed_by"];
        assert_eq!(
            *by,
            serde_json::json!(["hot patch 1", "coverage"]),
            "{changed:#}"
        );
        target.classhook("rollback", &[]).assert_success();
        target.await_line("app original other original");
        target.classhook("dump", &[]).assert_success();
        let file = javac::files_with_extension(&target.folder.path().join("classhook"), "hook");
        let snapshot = probes::Snapshot::read(&file[0]).expect("a snapshot");
        let versions = snapshot
            .classes
            .iter()
            .filter(|class| class.name == "Answer")
            .count();
        assert_eq!(versions, 2, "the original and the patch on {jdk}");
    }
}

/// A patched class is not initialised again, its fields keep their values, and open frames continue in their former
/// code.
#[test]
fn static_state_and_open_frames_outlive_a_patch() {
    for jdk in jdks() {
        let folder = scratch();
        let source = workspace::test_file("java/patch/Kept.java");
        let options = ["--release", "17"];
        let classes = javac::compile(&jdk, &[&source], folder.path(), &options);
        let mut child = Java::new(&jdk)
            .options(&["-Xverify:all", "-XX:+EnableDynamicAgentLoading"])
            .class_path(&[&classes])
            .folder(folder.path())
            .main("Kept")
            .spawn_talking();
        let mut input = child.stdin.take().expect("a pipe");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = || {
            let mut line = String::new();
            out.read_line(&mut line).expect("output");
            line.trim_end().to_owned()
        };
        assert_eq!(line(), "initialised");
        input.write_all(b".").expect("a program that reads");
        assert_eq!(line(), "frame of the original, original 1 1");
        let text = std::fs::read_to_string(&source).expect("readable");
        let text = text.replace("\"original\"", "\"patched\"");
        let text = text.replace("frame of the original", "frame of the patch");
        let patched = folder.path().join("Kept.java");
        std::fs::write(&patched, text.replace("return 1", "return 2")).expect("written");
        let made = javac::compile(&jdk, &[&patched], &folder.path().join("made"), &options);
        let class = made.join("Kept.class");
        let pid = child.id().to_string();
        Java::program(workspace::classhook())
            .folder(folder.path())
            .arguments(&["patch", &pid])
            .argument(&class)
            .argument(&class)
            .run()
            .assert_exit(2)
            .assert_stderr("H0721");
        Java::program(workspace::classhook())
            .folder(folder.path())
            .arguments(&["patch", &pid])
            .argument(&class)
            .run()
            .assert_success();
        input.write_all(b".").expect("a program that reads");
        assert_eq!(line(), "frame of the original, patched 2 1", "on {jdk}");
        drop(input);
        assert!(child.wait().expect("an end").success());
    }
}

/// A program that calls a method by reflection for each byte of input, and prints the result.
struct Reflected {
    folder: TempDir,
    child: Child,
    input: ChildStdin,
    out: BufReader<ChildStdout>,
    jdk: Jdk,
}

impl Reflected {
    fn start(jdk: &Jdk, options: impl Fn(Java) -> Java) -> Self {
        let folder = scratch();
        let source = workspace::test_file("java/patch/Reflected.java");
        let classes = javac::compile(jdk, &[&source], folder.path(), &["--release", "17"]);
        let mut child = options(Java::new(jdk))
            .option("-XX:+EnableDynamicAgentLoading")
            .class_path(&[&classes])
            .folder(folder.path())
            .main("Reflected")
            .spawn_talking();
        Self {
            input: child.stdin.take().expect("a pipe"),
            out: BufReader::new(child.stdout.take().expect("a pipe")),
            folder,
            child,
            jdk: jdk.clone(),
        }
    }

    fn answer(&mut self) -> String {
        self.input.write_all(b".").expect("a program that reads");
        let mut line = String::new();
        self.out.read_line(&mut line).expect("output");
        line.trim_end().to_owned()
    }

    fn patch(&self, word: &str) -> Run {
        let text = std::fs::read_to_string(workspace::test_file("java/patch/Reflected.java"));
        let text = text.expect("readable").replace("original", word);
        let file = self.folder.path().join(word).join("Reflected.java");
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(&file, text).expect("written");
        let folder = self.folder.path().join(word);
        let made = javac::compile(&self.jdk, &[&file], &folder, &["--release", "17"]);
        self.classhook("patch")
            .argument(made.join("Reflected.class"))
            .run()
    }

    fn classhook(&self, command: &str) -> Java {
        Java::program(workspace::classhook())
            .folder(self.folder.path())
            .argument(command)
            .argument(self.child.id().to_string())
    }
}

impl Drop for Reflected {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

/// HotSpot's C1 forgets which methods it inlined into the code of a method handle.
#[test]
fn method_called_by_reflection_runs_the_patch_or_the_command_warns() {
    const WARNING: &str = "warning[H0728]";
    for jdk in jdks() {
        let mut program = Reflected::start(&jdk, Java::all_compilers);
        assert_eq!(program.answer(), "original");
        for word in ["one", "two", "three"] {
            let run = program.patch(word);
            run.assert_success();
            assert!(!run.stderr.contains(WARNING), "{}", run.report());
            assert_eq!(program.answer(), word, "on {jdk}");
        }
        let run = program.classhook("rollback").argument("--all").run();
        run.assert_success();
        assert_eq!(program.answer(), "original", "on {jdk}");

        let mut program = Reflected::start(&jdk, |java| java);
        assert_eq!(program.answer(), "original");
        let run = program.patch("one");
        run.assert_success().assert_stderr(WARNING);
        let run = program.classhook("rollback").run();
        run.assert_success().assert_stderr(WARNING);
    }
}

/// The JVM is not asked if it would refuse with error 100 or 103.
#[test]
fn patch_of_no_class_is_refused_before_the_jvm_is_asked() {
    let pid = std::process::id().to_string();
    let run = Java::program(workspace::classhook())
        .arguments(&["patch", &pid])
        .run();
    run.assert_exit(2).assert_stderr("<CLASSES>");
}

/// The class files have 24 MB in both loaders, and the limit is 16 MB. Most of it is text, which metaspace does not hold.
#[test]
fn patch_for_which_the_metaspace_may_not_suffice_is_refused() {
    for jdk in jdks() {
        let mut target = Target::with(&jdk, &[], |java| java.option("-XX:MaxMetaspaceSize=16m"));
        let texts: Vec<String> = (0..200).map(|number| format!("{number:060000}")).collect();
        let texts = texts.join("\", \"");
        let text = std::fs::read_to_string(workspace::test_file("java/patch/Answer.java"));
        let wide = format!("new String[] {{\"wide\", \"{texts}\"}}[0]");
        let text = text.expect("readable").replace("\"original\"", &wide);
        let wide = target
            .compile("wide", &[("Answer", &text)])
            .join("Answer.class");
        for words in [&["--check"][..], &[]] {
            target
                .patch(&wide, words)
                .assert_exit(2)
                .assert_stderr("error[H0711]")
                .assert_stderr("--ignore-metaspace");
        }
        target
            .patch(&wide, &["--ignore-metaspace"])
            .assert_success();
        target.await_line("app wide other wide");
    }
}

/// Returns the source of a class with half a megabyte of code, in which `number` occurs.
fn wide_code(number: usize) -> String {
    let body = format!("n = n * 31 + {number};\n").repeat(6_000);
    let methods =
        (0..10).map(|method| format!("static int m{method}(int n) {{\n{body}return n;\n}}\n"));
    format!("public class Wide {{\n{}}}\n", methods.collect::<String>())
}

/// Returns the metaspace in use, in bytes.
fn metaspace_in_use(target: &Target) -> u64 {
    let pid = target.child.id().to_string();
    let run = Java::program(target.jdk.tool("jstat"))
        .arguments(&["-gc", &pid])
        .run();
    let mut lines = run.stdout.lines().map(str::split_whitespace);
    let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
    let used = names.zip(values).find(|(name, _)| *name == "MU");
    let kibibytes: f64 = used.expect("a value").1.parse().expect("a number");
    (kibibytes * 1024.0) as u64
}

/// A refused class stays in metaspace until classes are unloaded. So reading a class takes none, and a check one class.
#[test]
fn checks_of_a_patch_take_little_metaspace() {
    for jdk in jdks() {
        let sources = scratch();
        let wide = sources.path().join("Wide.java");
        std::fs::write(&wide, wide_code(7)).expect("written");
        let target = Target::with(&jdk, &[wide], |java| java);
        let patch = target.compile("wide", &[("Wide", &wide_code(9))]);
        let patch = patch.join("Wide.class");
        let size = std::fs::metadata(&patch).expect("a file").len();
        target.patch(&patch, &["--check"]).assert_success();
        let before = metaspace_in_use(&target);
        for _ in 0..4 {
            target.patch(&patch, &["--check"]).assert_success();
        }
        let taken = metaspace_in_use(&target).saturating_sub(before);
        assert!(taken < 4 * size * 2, "{jdk}: {taken} for {size}");
    }
}

/// The patches together need half of the free metaspace.
#[test]
fn jvm_near_the_limit_of_its_metaspace_is_patched_and_goes_on() {
    for jdk in jdks() {
        let sources = scratch();
        let wide = sources.path().join("Wide.java");
        std::fs::write(&wide, wide_code(7)).expect("written");
        let mut target = Target::with(&jdk, &[wide], |java| {
            java.option("-XX:MaxMetaspaceSize=24m")
        });
        for number in 100..106 {
            let name = format!("wide{number}");
            let patch = target.compile(&name, &[("Wide", &wide_code(number))]);
            target
                .patch(&patch.join("Wide.class"), &[])
                .assert_success();
        }
        let word = target.answer("one");
        target.patch(&word, &[]).assert_success();
        target.await_line("app one other one");
    }
}

#[test]
fn jvm_under_load_is_patched_and_rolled_back_hundreds_of_times() {
    for jdk in jdks() {
        let mut target = Target::with_witness(&jdk);
        let words = [target.answer("one"), target.answer("two")];
        let mut agent = channel(i32::try_from(target.child.id()).expect("a pid"));
        for word in words.iter().cycle().take(100) {
            let classes = vec![ClassBytes(std::fs::read(word).expect("readable"))];
            let request = PatchRequest {
                classes,
                ..PatchRequest::default()
            };
            agent.ask(&Request::Patch(request)).expect("patched");
            let which = Rollback::Last;
            agent.ask(&Request::Rollback { which }).expect("taken back");
        }
        target.patch(&words[1], &[]).assert_success();
        target.await_line("app two other two");
        target.classhook("off", &[]).assert_success();
        target.await_line("app original other original");
        assert_eq!(target.log().len(), 402);
    }
}
