//! Classes of the JDK, each traced alone. A program runs on them, and the code of a span could itself call some.

use crate::support::command::classhook;
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{javac, rotation, scratch, workspace};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Packages whose classes are traced.
const PACKAGES: [&str; 3] = ["java.lang.", "java.util.", "jdk.internal."];
/// Classes that each run traces, with all code compiled early. JVMs call them while they link a native method, and have
/// special code for the constructor of `Object`.
const ALWAYS: [&str; 4] = [
    "java.lang.Object",
    "java.lang.ClassLoader",
    "java.lang.ClassLoader$NativeLibrary",
    "java.util.concurrent.ConcurrentHashMap",
];
const COMPILED_SOON: [&str; 3] = [
    "-XX:-TieredCompilation",
    "-XX:CompileThreshold=300",
    "-Xbatch",
];
/// Each run traces one of this number of all others: at the start of a JVM, and in a running one.
const PARTS_AT_START: usize = 400;
const PARTS_ATTACHED: usize = 60;

/// Returns every release from 8 on.
fn releases() -> Vec<Jdk> {
    let newer = jdks::all().iter().cloned();
    jdks::eight().into_iter().chain(newer).collect()
}

fn compiled(folder: &Path) -> PathBuf {
    let jdk = jdks::release(17).expect("the JDK that the tests need");
    let source = workspace::test_file("java/jdk_classes/JdkWork.java");
    javac::compile(&jdk, &[&source], folder, &["--release", "8"])
}

fn java(jdk: &Jdk, classes: &Path) -> Java {
    Java::new(jdk).class_path(&[classes]).main("JdkWork")
}

/// Returns the classes that the program has loaded, and its output.
fn loaded(jdk: &Jdk, classes: &Path) -> (Vec<String>, String) {
    let plain = java(jdk, classes).argument("once").run();
    plain.assert_success();
    let verbose = java(jdk, classes)
        .option("-verbose:class")
        .argument("once")
        .run();
    verbose.assert_success();
    let words = verbose.stdout.lines().flat_map(str::split_whitespace);
    let names = words.filter(|word| PACKAGES.iter().any(|package| word.starts_with(package)));
    // Classes that are generated at run time have no stable name.
    let named = names.filter(|name| !name.contains(['/', '+']) && !name.contains("Lambda"));
    let named: BTreeSet<String> = named.map(str::to_owned).collect();
    assert!(named.len() > 300, "{}", verbose.report());
    (named.into_iter().collect(), plain.stdout)
}

/// Returns the classes of this run.
fn chosen(jdk: &Jdk, how: &str, classes: Vec<String>, parts: usize) -> Vec<String> {
    let set = format!("{how} {}", jdk.feature);
    let classes = classes.into_iter().enumerate();
    let chosen = classes.filter(|(place, class)| {
        ALWAYS.contains(&class.as_str()) || rotation::is_turn_of(&set, *place, parts)
    });
    chosen.map(|(_, class)| class).collect()
}

fn settings(class: &str) -> String {
    format!(r#"{{"methods": ["{class}.*"], "mode": "aggregate"}}"#)
}

#[test]
fn each_class_of_the_jdk_is_traced_from_the_start_and_the_program_does_the_same() {
    for jdk in releases() {
        let folder = scratch();
        let classes = compiled(folder.path());
        let (all, expected) = loaded(&jdk, &classes);
        for class in chosen(&jdk, "start", all, PARTS_AT_START) {
            let output = folder.path().join("out");
            let file = folder.path().join("trace.toml");
            let text = format!(
                "[agent]\noutput = {output:?}\n[[plugin]]\nuse = \"trace\"\nselect = [{class:?}]\n\
                 grant = [\"probes\", \"boot\", \"natives\"]\n[plugin.config]\nmethods = [\"{class}.*\"]\nmode = \"aggregate\"\n"
            );
            std::fs::write(&file, text).expect("written");
            let always = ALWAYS.contains(&class.as_str());
            let options = if always { &COMPILED_SOON[..] } else { &[] };
            let run = java(&jdk, &classes)
                .options(options)
                .agent(Some(&format!("config={}", file.display())))
                .argument("once")
                .run();
            run.assert_success();
            assert_eq!(run.stdout, expected, "{class} on {jdk}: {}", run.stderr);
        }
    }
}

#[test]
fn each_class_of_the_jdk_is_traced_in_a_running_program_which_does_the_same() {
    for jdk in releases() {
        let folder = scratch();
        let classes = compiled(folder.path());
        let (all, expected) = loaded(&jdk, &classes);
        let mut running = Servant::of(&java(&jdk, &classes));
        let pid = running.pid().to_string();
        assert_eq!(running.ask("work"), expected.trim_end());
        let output = folder.path().join("out").display().to_string();
        let attach = ["attach", &pid, "--plugin", "trace", "--select", "none.*"];
        let nothing = ["--plugin-settings", r#"{"methods": ["none.*"]}"#];
        classhook(&[&attach[..], &nothing, &["-o", &output]].concat()).assert_success();
        for class in chosen(&jdk, "attached", all, PARTS_ATTACHED) {
            let settings = settings(&class);
            let enable = ["enable", &pid, "trace", "--grant", "probes,boot"];
            let what = ["--select", &class, "--plugin-settings", &settings];
            classhook(&[&enable[..], &what].concat()).assert_success();
            for _ in 0..3 {
                assert_eq!(running.ask("work"), expected.trim_end(), "{class} on {jdk}");
            }
        }
        classhook(&["off", &pid]).assert_success();
        assert_eq!(running.ask("work"), expected.trim_end());
        let left = running.end();
        assert_eq!(left.code, Some(0), "{}", left.stderr);
    }
}

/// The JVM generates classes for lambdas and method handles. HotSpot 8 crashes if the class file of one is read.
#[test]
fn packages_with_generated_classes_are_traced_in_a_running_program_which_does_the_same() {
    for jdk in releases() {
        let folder = scratch();
        let classes = compiled(folder.path());
        let mut running = Servant::of(&java(&jdk, &classes));
        let pid = running.pid().to_string();
        let expected = running.ask("work");
        let output = folder.path().join("out").display().to_string();
        let attach = [
            "attach",
            &pid,
            "--plugin",
            "trace",
            "--grant",
            "probes,boot",
        ];
        let select = ["--select", "java.lang.invoke.**", "--select", "JdkWork**"];
        let all = [
            "--plugin-settings",
            r#"{"methods": ["**.*"], "mode": "aggregate"}"#,
        ];
        let run = classhook(&[&attach[..], &select, &all, &["-o", &output]].concat());
        assert!(!run.stderr.contains("error["), "{jdk}: {}", run.report());
        for _ in 0..3 {
            assert_eq!(running.ask("work"), expected, "{jdk}");
        }
        let listed = classhook(&["classes", &pid, "JdkWork**", "--changed"]);
        listed.assert_success();
        assert!(listed.stdout.contains("JdkWork"), "{}", listed.report());
        assert!(!listed.stdout.contains("Lambda"), "{}", listed.report());
        classhook(&["off", &pid]).assert_success();
        assert_eq!(running.ask("work"), expected, "{jdk}");
        let left = running.end();
        assert_eq!(left.code, Some(0), "{}", left.stderr);
    }
}

/// The interpreter of HotSpot 8 has code of its own for `Reference.get`, which other bytecode would crash.
#[test]
fn references_are_traced_without_compilers_and_the_program_does_the_same() {
    for jdk in releases() {
        let folder = scratch();
        let classes = compiled(folder.path());
        let interpreted = || java(&jdk, &classes).option("-Xint");
        let expected = interpreted().argument("once").run().stdout;
        let mut running = Servant::of(&interpreted());
        let pid = running.pid().to_string();
        let output = folder.path().join("out").display().to_string();
        let attach = [
            "attach",
            &pid,
            "--plugin",
            "trace",
            "--grant",
            "probes,boot",
        ];
        let select = ["--select", "java.lang.ref.**", "--plugin-settings"];
        let settings = [r#"{"methods": ["java.lang.ref.**.*"], "mode": "aggregate"}"#];
        let run = classhook(&[&attach[..], &select, &settings, &["-o", &output]].concat());
        let refused = format!("{}{}", run.stdout, run.stderr);
        let is_refused = refused.contains("UNMODIFIABLE_CLASS");
        assert_eq!(is_refused, jdk.feature == 8, "{jdk}: {}", run.report());
        assert_eq!(running.ask("work"), expected.trim_end(), "{jdk}");
        let left = running.end();
        assert_eq!(left.code, Some(0), "{}", left.stderr);
        let command = ["trace", "--select", "java.lang.ref.**", "--grant", "boot"];
        let program = Java::program(workspace::classhook())
            .variable("CLASSHOOK_AGENT", workspace::agent_library())
            .arguments(&command)
            .arguments(&["-o", &output, "--", &jdk.tool("java").to_string_lossy()])
            .arguments(&[
                "-Xint",
                "-cp",
                &classes.to_string_lossy(),
                "JdkWork",
                "once",
            ]);
        let run = program.run();
        assert!(run.stdout.contains(expected.trim_end()), "{}", run.report());
        let is_refused = run.stderr.contains("UNMODIFIABLE_CLASS");
        assert_eq!(is_refused, jdk.feature == 8, "{jdk}: {}", run.report());
    }
}
