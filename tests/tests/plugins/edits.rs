//! Every edit that a plugin can request: by the agent, before the program runs, and in a loaded class.

use crate::support::command::{LATE, classhook};
use e2e_tests::instrumented::instrument;
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use std::path::{Path, PathBuf};

/// The output of the unchanged program.
const PLAIN: &str = "5 0 1 [] thread failed words 0 6 | [answer -, first -, kept -, secret -] [] -";
/// The output with changed code and instructions.
const CODE: &str = "40 1 2 [ours] thread of ours went on removed 102 6 | \
                    [answer -, first -, kept -, secret -] [] -";
/// The output with a changed structure, too.
const WHOLE: &str = "40 1 2 [ours] thread of ours went on removed 102 6 | \
                     [added -, answer éNEW[1, 2], first -, kept éNEW[1, 2], renamed -, sum 42] \
                     [interface java.io.Serializable] éNEW[1, 2]";

fn compile(folder: &Path) -> PathBuf {
    let source = workspace::test_file("java/edits/Changed.java");
    let options = ["--release", "11", "-encoding", "UTF-8"];
    javac::compile(&jdks::newest(), &[&source], folder, &options)
}

fn program(jdk: &Jdk, classes: &Path) -> Java {
    Java::new(jdk)
        .options(&[
            "-Xverify:all",
            "-Xcheck:jni",
            "-Dfile.encoding=UTF-8",
            "-Dstdout.encoding=UTF-8",
        ])
        .options(&LATE)
        .class_path(&[classes])
        .main("Changed")
}

/// Writes a `classhook.toml` for the plugin.
fn settings(folder: &Path, structure: bool) -> PathBuf {
    let component = workspace::target("bundled/tests/editing.wasm");
    assert!(component.is_file(), "run `cargo xtask plugins`");
    let file = folder.join("classhook.toml");
    let text = format!(
        "[agent]\noutput = \"out\"\n\n[[plugin]]\nuse = {component:?}\n\
         grant = [\"rewrite\", \"structure\"]\n\n[plugin.config]\nstructure = {structure}\n"
    );
    std::fs::write(&file, text).expect("the test's folder is writable");
    file
}

#[test]
fn a_plugin_changes_code_and_structure_in_the_agent() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = compile(folder.path());
        let plain = program(&jdk, &classes).run();
        plain.assert_success();
        assert_eq!(plain.stdout.trim(), PLAIN, "{}", plain.report());
        for (structure, expected) in [(false, CODE), (true, WHOLE)] {
            let options = format!("config={}", settings(folder.path(), structure).display());
            let run = program(&jdk, &classes).agent(Some(&options)).run();
            run.assert_success();
            assert_eq!(run.stdout.trim(), expected, "{}", run.report());
        }
    }
}

#[test]
fn the_same_plugin_changes_classes_before_they_run() {
    let folder = scratch();
    let classes = compile(folder.path());
    let out = folder.path().join("instrumented");
    let config = settings(folder.path(), true);
    let run = instrument(&[&classes, Path::new("-o"), &out])
        .argument("--config")
        .argument(&config)
        .run();
    run.assert_success();
    for jdk in jdks::main_two() {
        let run = program(&jdk, &out).run();
        run.assert_success();
        assert_eq!(run.stdout.trim(), WHOLE, "{}", run.report());
    }
}

#[test]
fn a_loaded_class_gets_other_code_and_keeps_its_structure() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = compile(folder.path());
        for (structure, expected) in [(false, CODE), (true, PLAIN)] {
            let mut servant = Servant::of(&program(&jdk, &classes).argument("wait"));
            let config = settings(folder.path(), structure);
            let pid = servant.pid().to_string();
            let config = config.to_str().expect("a path that is text");
            let code = if structure { 3 } else { 0 };
            classhook(&["attach", &pid, "--config", config]).assert_exit(code);
            assert_eq!(servant.ask("state"), expected, "{jdk}");
            let left = servant.end();
            let refused = "warning[H0317]: plugin `editing` failed on Changed$Target";
            assert_eq!(left.stderr.contains(refused), structure, "{}", left.stderr);
            let reason = "JVMTI_ERROR_UNSUPPORTED_REDEFINITION_SCHEMA_CHANGED";
            assert_eq!(left.stderr.contains(reason), structure, "{}", left.stderr);
        }
    }
}

/// Edits that no JVM accepts, by their names in `tests/plugins/editing/src/wrong.rs`.
const WRONG: [&str; 29] = [
    "field L;",
    "field L/;",
    "field La//b;",
    "field L[I;",
    "field Ljava.lang.String;",
    "field [L;",
    "field-name a/b",
    "method ()L;",
    "method (L;)V",
    "method (La/;I)V",
    "interface a.B",
    "interface a//b",
    "annotation La.B;",
    "element L;",
    "constant L;",
    "type a//b",
    "member a;b",
    "class a//b",
    "class [L;",
    "new [I",
    "array a.b",
    "read L;",
    "call ()L;",
    "owner /",
    "factory (Ljava/lang/String;)L;",
    "redirect ()L;",
    "allocate Changed",
    "allocate java/lang/String",
    "allocate-with-cast [I",
];

#[test]
fn edits_that_a_jvm_would_refuse_are_refused_before() {
    let folder = scratch();
    let classes = compile(folder.path());
    for (number, wrong) in WRONG.iter().enumerate() {
        let jdks = jdks::main_two();
        let jdk = &jdks[number % jdks.len()];
        let config = settings(folder.path(), false);
        let text = std::fs::read_to_string(&config).expect("just written");
        std::fs::write(&config, format!("{text}wrong = {wrong:?}\n")).expect("writable");
        let options = format!("config={}", config.display());
        let run = program(jdk, &classes).agent(Some(&options)).run();
        run.assert_success();
        assert_eq!(run.stdout.trim(), PLAIN, "{wrong}\n{}", run.report());
        let told = "warning[H0317]: plugin `editing` failed on Changed$Target;";
        assert!(run.stderr.contains(told), "{wrong}\n{}", run.report());
    }
}

#[test]
fn an_allocation_is_cast_where_only_the_plugin_knows_the_subclass() {
    let folder = scratch();
    let classes = compile(folder.path());
    for jdk in jdks::main_two() {
        let config = settings(folder.path(), false);
        let text = std::fs::read_to_string(&config).expect("just written");
        let wrong = "wrong = \"allocate-with-cast java/lang/StringBuilder\"\n";
        std::fs::write(&config, text + wrong).expect("writable");
        let options = format!("config={}", config.display());
        let run = program(&jdk, &classes).agent(Some(&options)).run();
        let thrown = "java.lang.ClassCastException";
        assert!(run.stderr.contains(thrown), "{}", run.report());
        assert!(!run.stderr.contains("VerifyError"), "{}", run.report());
    }
}

/// Writes the settings of the next run beside those of the first.
fn other_settings(folder: &Path, structure: bool) -> PathBuf {
    let other = folder.join("other");
    std::fs::create_dir(&other).expect("the test's folder is writable");
    settings(&other, structure)
}

#[test]
fn a_class_keeps_its_members_and_gets_its_code_back() {
    let structure = WHOLE.split_once(" | ").expect("two halves").1;
    let [plain, code] = [PLAIN, CODE].map(|text| {
        let (before, _) = text.split_once(" | ").expect("two halves");
        format!("{before} | {structure}")
    });
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = compile(folder.path());
        let options = format!("config={}", settings(folder.path(), true).display());
        let program = program(&jdk, &classes).argument("wait");
        let mut servant = Servant::of(&program.agent(Some(&options)));
        let pid = servant.pid().to_string();
        assert_eq!(servant.ask("state"), WHOLE, "{jdk}");
        classhook(&["disable", &pid, "editing"]).assert_success();
        assert_eq!(servant.ask("state"), plain, "{jdk}");
        let other = other_settings(folder.path(), false);
        let other = other.to_str().expect("a path that is text");
        classhook(&["reload", &pid, "--config", other]).assert_success();
        assert_eq!(servant.ask("state"), code, "{jdk}");
        for command in ["status", "off"] {
            let told = classhook(&[command, &pid]);
            told.assert_success();
            let line = "classes that keep added or renamed members until the JVM ends: 1\n  \
                        Changed$Target\n";
            assert!(told.stdout.contains(line), "{}", told.report());
        }
        assert_eq!(servant.ask("state"), plain, "{jdk}");
        servant.end();
    }
}

#[test]
fn explain_shows_every_edit() {
    let folder = scratch();
    let classes = compile(folder.path());
    let config = settings(folder.path(), true);
    let component = workspace::target("bundled/tests/editing.wasm");
    let class = classes.join("Changed$Target.class");
    let [component, class, config] =
        [&component, &class, &config].map(|path| path.to_str().expect("a path that is text"));
    let run = classhook(&["explain", component, class, "--config", config]);
    run.assert_success();
    for line in [
        "  + editing: add field added:J (0x0009) = 7L",
        "  + editing: add interface java/io/Serializable",
        "  + editing: rename Changed$Target.secret:I to renamed",
        "+ editing: redirect to invokestatic Changed.fixed:()J (at ",
        "+ editing: insert: (before ",
        "          +     push int 100",
    ] {
        assert!(run.stdout.contains(line), "{line}\n{}", run.report());
    }
}
