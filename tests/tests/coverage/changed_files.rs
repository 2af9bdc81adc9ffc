//! Reports on class files that JaCoCo or `classhook instrument` changed before the program ran.

use e2e_tests::instrumented::instrument;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::workspace::classhook;
use e2e_tests::{artifacts, javac, scratch, tools};
use std::path::{Path, PathBuf};

const PROGRAM: &str = "public class Sum {
    static int of(int a) {
        return a > 1 ? a : 2;
    }
    public static void main(String[] arguments) {
        System.out.println(of(2));
    }
}
";

/// The program in three forms: from the compiler, instrumented by JaCoCo, and by `classhook instrument` with its
/// runtime.
struct Forms {
    jdk: Jdk,
    folder: tempfile::TempDir,
    plain: PathBuf,
    by_jacoco: PathBuf,
    by_us: PathBuf,
}

impl Forms {
    fn new() -> Self {
        let (jdk, folder) = (jdks::newest(), scratch());
        let source = folder.path().join("Sum.java");
        std::fs::write(&source, PROGRAM).expect("written");
        let options = ["-g", "--release", "17"];
        let plain = javac::compile(&jdk, &[&source], folder.path(), &options);
        let [by_jacoco, by_us] = ["jacoco", "ours"].map(|name| folder.path().join(name));
        let command_line = artifacts::path("jacoco-cli");
        let command_line = command_line.to_str().expect("a path of text");
        let words = ["instrument".as_ref(), plain.as_os_str()];
        let words = [&words[..], &["--dest".as_ref(), by_jacoco.as_os_str()]].concat();
        assert_eq!(tools::run(&jdk, command_line, &words).code, 0);
        let out = [plain.as_path(), Path::new("-o"), &by_us];
        instrument(&out).argument("--embed").run().assert_success();
        Self {
            jdk,
            folder,
            plain,
            by_jacoco,
            by_us,
        }
    }

    fn command(&self, words: &str, places: &[&Path]) -> Java {
        let command = Java::program(classhook()).folder(self.folder.path());
        let command = command.arguments(&words.split(' ').collect::<Vec<_>>());
        places.iter().fold(command, |it, place| {
            it.argument("--classes").argument(place)
        })
    }

    /// Reports on a recording, with class files of these places.
    fn report(&self, output: &str, places: &[&Path]) -> Run {
        self.command(&format!("report {output}"), places).run()
    }

    /// Records a run of these classes.
    fn record(&self, output: &str, classes: &Path, others: &[PathBuf]) -> Run {
        let path = [&[classes.to_owned()][..], others].concat();
        let path = std::env::join_paths(path).expect("a class path");
        self.command(&format!("coverage --output {output}"), &[classes])
            .argument("--")
            .argument(self.jdk.tool("java"))
            .argument("-cp")
            .argument(path)
            .argument("Sum")
            .run()
    }
}

fn assert_told(run: &Run, code: i32, parts: &[&str]) {
    assert_eq!(run.status.code(), Some(code), "{}", run.report());
    for part in parts {
        let text = format!("{}{}", run.stdout, run.stderr);
        assert!(text.contains(part), "{part}: {}", run.report());
    }
}

#[test]
fn changed_files_are_named_with_the_tool_and_replaced_by_the_compilers() {
    let forms = Forms::new();
    forms.record("out", &forms.plain, &[]).assert_success();
    let tools = [
        (&forms.by_jacoco, "JaCoCo has changed this file"),
        (&forms.by_us, "`classhook instrument` has changed this file"),
    ];
    for (changed, cause) in tools {
        let run = forms.report("out", &[changed]);
        assert_told(&run, 3, &["warning[H0622]: no match for Sum", cause]);
        assert!(!run.stdout.contains("runtime"), "{}", run.report());
        for places in [[changed.as_path(), &forms.plain], [&forms.plain, changed]] {
            let run = forms.report("out", &places);
            assert_told(&run, 0, &["Sum    █████▊░░  73%"]);
            assert!(!run.stderr.contains("H0622"), "{}", run.report());
            assert!(!run.stdout.contains("runtime"), "{}", run.report());
        }
    }
}

#[test]
fn program_of_classes_from_jacoco_is_distinguished_from_one_with_its_agent() {
    let forms = Forms::new();
    let runtime = artifacts::path("jacoco-agent");
    let run = forms.record("out", &forms.by_jacoco, &[runtime]);
    run.assert_success();
    let run = forms.report("out", &[&forms.plain]);
    let cause = "JaCoCo had instrumented the program's classes offline";
    assert_told(&run, 3, &["warning[H0622]: no match for Sum", cause]);
}

#[test]
fn run_in_which_nothing_was_measured_is_not_zero_percent() {
    let forms = Forms::new();
    let run = forms.record("out", &forms.by_us, &[]);
    let told = ["error[H0628]: no class was recorded", "-Dclasshook.output"];
    assert_told(&run, 3, &told);
    assert_told(&forms.report("out", &[&forms.plain]), 3, &told);
}
