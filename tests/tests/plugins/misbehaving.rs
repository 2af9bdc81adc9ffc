//! A misbehaving plugin never changes the program's behaviour. The report has its name, the class and the cause.

use crate::support::command::{LATE, classhook, json};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::workspace::{self, test_file};
use e2e_tests::{javac, scratch};
use probes::events::{Column, EventWriter, SpanInfo, TableRow};
use probes::{Meta, Snapshot};
use std::path::{Path, PathBuf};

/// The classes on which the plugin misbehaves, in the order of their loading. No other class is between the last three,
/// so the plugin is switched off before `VictimFifth`.
const VICTIMS: [&str; 4] = [
    "Misbehaved$VictimOnMain",
    "Misbehaved$VictimOnSmallStack",
    "Misbehaved$VictimFarDown",
    "Misbehaved$VictimFourth",
];

/// Returns the component of `tests/plugins/misbehaving`.
fn plugin() -> PathBuf {
    let component = workspace::target("bundled/tests/misbehaving.wasm");
    assert!(
        component.is_file(),
        "expected {}; run `cargo xtask plugins`",
        component.display()
    );
    component
}

fn compile(folder: &Path) -> PathBuf {
    javac::compile(
        &jdks::newest(),
        &[&test_file("java/Misbehaved.java")],
        folder,
        &["--release", "11"],
    )
}

fn program(jdk: &Jdk, classes: &Path) -> Java {
    Java::new(jdk)
        .options(&["-Xverify:all", "-Xcheck:jni", "-Xss256k"])
        .class_path(&[classes])
        .main("Misbehaved")
}

fn configuration(folder: &Path, deed: &str, on_error: &str) -> String {
    let file = folder.join("classhook.toml");
    let text = format!(
        "[agent]\noutput = \"out\"\non-error = \"{on_error}\"\n\n\
         [[plugin]]\nuse = \"{}\"\ngrant = [\"probes\"]\n\n[plugin.config]\ndeed = \"{deed}\"\n",
        plugin().display()
    );
    std::fs::write(&file, text).expect("the test's folder is writable");
    format!("config={}", file.display())
}

/// Runs the program with a plugin that does this deed. The output is the same, and each victim is named once with its
/// cause.
#[track_caller]
fn check(deed: &str, cause: &str) {
    for jdk in &jdks::newest_and_another(deed) {
        let folder = scratch();
        let classes = compile(folder.path());
        let expected = program(jdk, &classes).run();
        expected.assert_success();
        let run = program(jdk, &classes)
            .agent(Some(&configuration(folder.path(), deed, "warn")))
            .run();
        assert_eq!(
            (&run.stdout, run.status),
            (&expected.stdout, expected.status),
            "{}",
            run.report()
        );
        for victim in VICTIMS {
            assert_told(&run, victim, cause);
        }
        assert_innocent_is_probed(folder.path(), &run);
    }
}

/// Asserts that standard error has the class, the plugin and the cause, and exactly one warning for the class.
#[track_caller]
fn assert_told(run: &Run, class: &str, cause: &str) {
    let headline = format!("plugin `misbehaving` failed on {class};");
    let told = run.stderr.matches(&headline).count();
    assert_eq!(
        told,
        1,
        "{class} is reported {told} times\n{}",
        run.report()
    );
    let (_, report) = run.stderr.split_once(&headline).expect("just counted");
    let report: String = report
        .lines()
        .take(4)
        .collect::<Vec<_>>()
        .join("\n")
        .to_lowercase();
    assert!(
        report.contains(cause),
        "expected the cause {cause:?} of {class}, found {report:?}\n{}",
        run.report()
    );
}

/// Asserts that the other classes are measured, and that the snapshot has the failure.
#[track_caller]
fn assert_innocent_is_probed(folder: &Path, run: &Run) {
    let snapshots = javac::files_with_extension(&folder.join("out"), "hook");
    assert_eq!(snapshots.len(), 1, "{}", run.report());
    let snapshot = Snapshot::read(&snapshots[0]).expect("a readable snapshot");
    assert!(snapshot.complete, "{}", run.report());
    let innocent = snapshot
        .classes
        .iter()
        .find(|class| class.name == "Misbehaved$Innocent");
    let innocent =
        innocent.unwrap_or_else(|| panic!("Innocent was not measured\n{}", run.report()));
    assert!(innocent.probes.contains(&true), "{}", run.report());
    for victim in VICTIMS {
        assert!(
            snapshot.classes.iter().all(|class| class.name != victim),
            "{victim} was changed\n{}",
            run.report()
        );
    }
}

#[test]
fn lines_of_one_class_beyond_the_limit_are_counted_as_left_out() {
    let folder = scratch();
    let classes = compile(folder.path());
    let options = configuration(folder.path(), "chatter", "warn");
    let options = format!("{options},log=info");
    let run = program(&jdks::newest(), &classes)
        .agent(Some(&options))
        .run();
    let line = "plugin `misbehaving`: further lines are left out: a plugin writes at most 100 lines in one call";
    assert_eq!(
        run.stderr.matches(line).count(),
        VICTIMS.len() + 1, // `VictimFifth`, too, before the plugin is switched off
        "{}",
        run.report()
    );
}

#[test]
fn endless_loop_is_stopped() {
    check("loop", "time");
}

#[test]
fn trap_is_reported() {
    check("trap", "panicked");
}

#[test]
fn endless_allocation_is_stopped() {
    check("allocate", "memory");
}

#[test]
fn endless_recursion_is_stopped_on_every_stack() {
    check("recurse", "endless recursion");
}

#[test]
fn point_in_no_method_is_refused() {
    check("no-method", "method 9");
}

#[test]
fn point_within_an_instruction_is_refused() {
    check("no-instruction", "instruction");
}

#[test]
fn too_many_edits_are_refused() {
    check("flood", "edits");
}

#[test]
fn failure_after_edits_applies_none_of_them() {
    check("fail", "failed on purpose");
}

#[test]
fn strict_run_ends_with_three_after_the_same_output() {
    for jdk in jdks::all() {
        let folder = scratch();
        let classes = compile(folder.path());
        let expected = program(jdk, &classes).run();
        let run = program(jdk, &classes)
            .agent(Some(&configuration(folder.path(), "trap", "strict")))
            .run();
        assert_eq!(run.stdout, expected.stdout, "{}", run.report());
        run.assert_exit(3);
        assert_told(&run, VICTIMS[0], "panicked");
        assert_innocent_is_probed(folder.path(), &run);
    }
}

/// A plugin that fails on three classes in a row is switched off, and the report says so.
#[test]
fn plugin_that_keeps_failing_is_switched_off() {
    for jdk in jdks::all() {
        let folder = scratch();
        let classes = compile(folder.path());
        let run = program(jdk, &classes)
            .agent(Some(&configuration(folder.path(), "trap", "warn")))
            .run();
        run.assert_success();
        run.assert_stderr("plugin misbehaving was switched off");
        let snapshots = javac::files_with_extension(&folder.path().join("out"), "hook");
        let snapshot = Snapshot::read(&snapshots[0]).expect("a readable snapshot");
        let late = "Misbehaved$LoadedLast";
        assert!(
            snapshot.classes.iter().all(|class| class.name != late),
            "{}",
            run.report()
        );
    }
}

/// Each class takes less than its limit, and all together more than theirs.
///
/// The time of a round depends on the machine, so the number of rounds is doubled until a limit is reached. 160 classes
/// use up the time of all at 36 ms each, and each may take 250 ms: no doubling skips both limits.
#[test]
fn plugin_just_under_the_limit_of_each_class_is_switched_off_for_all_of_them() {
    let folder = scratch();
    let classes = 160;
    let body: String = (0..classes)
        .map(|it| format!("static class Victim{it} {{ static int f() {{ return {it}; }} }}\n"))
        .collect();
    let calls: String = (0..classes)
        .map(|it| format!("sum += Victim{it}.f();\n"))
        .collect();
    let source = folder.path().join("Many.java");
    let text = format!(
        "class Many {{\n{body}public static void main(String[] a) {{\nint sum = 0;\n{calls}System.out.println(sum);\n}}\n}}\n"
    );
    std::fs::write(&source, text).expect("the test's folder is writable");
    let [jdk] = <[Jdk; 1]>::try_from(jdks::main_in_turn("linger")).expect("one of them");
    let options = ["--release", "11"];
    let classes = javac::compile(&jdk, &[&source], folder.path(), &options);
    let (java, component) = (jdk.tool("java"), plugin());
    let words = [&java, &component, &classes, &folder.path().join("out")];
    let words = words.map(|path| path.display().to_string());
    let [java, component, classes, out] = words.each_ref().map(String::as_str);
    let plugin = [
        "run", "--plugin", component, "--grant", "probes", "--output", out,
    ];
    let select = ["--select", "Many$*", "--plugin-settings"];
    let program = ["--", java, "-cp", classes, "Many"];
    let lingering = |rounds: u32| {
        let settings = format!(r#"{{"deed":"linger","rounds":{rounds}}}"#);
        classhook(&[&plugin[..], &select, &[&settings], &program].concat())
    };
    let mut runs = (22..32).map(|power| lingering(1 << power));
    let too_long = runs.find(|run| !run.status.success());
    let run = too_long.expect("four thousand million rounds take more than 36 ms");
    run.assert_exit(3)
        .assert_stderr("warning[H0318]")
        .assert_stderr("warning[H0686]: the plugin `misbehaving` was switched off: it used 5.")
        .assert_stderr("s of CPU time for");
    assert_eq!(run.stdout, "12720\n", "{}", run.report());
}

/// A command reports problems that it finds before the program starts, with a status of its own. The program does not
/// run without its plugin.
#[test]
fn command_refuses_settings_that_a_plugin_refuses_before_the_program_starts() {
    let folder = scratch();
    let classes = compile(folder.path());
    let file = folder.path().join("classhook.toml");
    let text = "[[plugin]]\nuse = \"coverage\"\n\n[plugin.config]\nlinse = true\n";
    std::fs::write(&file, text).expect("the test's folder is writable");
    let (file, classes) = (file.display().to_string(), classes.display().to_string());
    let java = jdks::newest().tool("java");
    let program = ["--", &java.to_string_lossy(), "-cp", &classes, "Misbehaved"];
    let out = folder.path().join("out").display().to_string();
    let config = ["--config", &file];
    let instrumented = ["instrument", &classes, "--out", &out];
    for words in [
        [&["run"], &config[..], &program].concat(),
        [&["coverage"], &config[..], &program].concat(),
        [&["trace"], &config[..], &program].concat(),
        [&["plugin", "run", "coverage"], &config[..], &program].concat(),
        [&instrumented[..], &config].concat(),
    ] {
        let run = classhook(&words);
        run.assert_exit(2);
        for part in [
            "H0111",
            "linse",
            &format!("{file}:5"),
            "did you mean `lines`?",
        ] {
            run.assert_stderr(part);
        }
        assert_eq!(run.stdout, "", "{}", run.report());
        assert!(!Path::new(&out).exists(), "{}", run.report());
    }
}

/// The program has ended well, but without the plugin's work: the last line of the command and its status say so.
#[test]
fn command_ends_with_three_if_a_plugin_failed_on_all_its_classes_or_was_switched_off() {
    let folder = scratch();
    let classes = compile(folder.path());
    let classes = classes.display().to_string();
    let java = jdks::newest().tool("java");
    let component = plugin().display().to_string();
    let run = |selected: &str, status: &str| {
        let out = folder.path().join(status).display().to_string();
        let settings = ["--plugin-settings", r#"{"deed":"trap"}"#, "--output", &out];
        let plugin = ["run", "--plugin", &component, "--grant", "probes"];
        let program = ["--", &java.to_string_lossy(), "-cp", &classes, "Misbehaved"];
        let select = ["--select", selected];
        let run = [&plugin[..], &settings, &select, &program];
        let statuses = vec!["argument"; status.parse().expect("a number")];
        classhook(&[&run.concat()[..], &statuses].concat())
    };
    let all = "the plugin `misbehaving` failed on every class that it selected";
    let off = "the plugin `misbehaving` was switched off: it failed on 5 of 7 classes";
    run("Misbehaved$VictimF*", "0")
        .assert_exit(3)
        .assert_stderr(&format!("warning[H0686]: {all}"))
        .assert_stderr("0 classes of 3 with its edits, 3 without")
        .assert_stderr("  first    Misbehaved$VictimFarDown: panicked");
    run("Misbehaved*", "0")
        .assert_exit(3)
        .assert_stderr(&format!("warning[H0686]: {off}"));
    // The program's own status takes precedence.
    run("Misbehaved*", "1").assert_exit(1).assert_stderr(off);
    let one = run("Misbehaved$I*;Misbehaved$VictimFif*", "0");
    one.assert_success()
        .assert_stderr("failed on Misbehaved$VictimFifth");
    assert!(!one.stderr.contains("H0686"), "{}", one.report());
    let out = folder.path().join("static").display().to_string();
    let settings = [
        "--plugin-settings",
        r#"{"deed":"trap"}"#,
        "--select",
        "*$Victim*",
    ];
    let plugin = ["--plugin", &component, "--grant", "probes", "--out", &out];
    let instrumented = ["instrument", &classes];
    classhook(&[&instrumented[..], &settings, &plugin].concat())
        .assert_exit(3)
        .assert_stderr("warning[H0686]: the plugin `misbehaving` was switched off");
}

/// A class has its probes as long as the agent records. A later plugin may need others.
#[test]
fn plugin_that_requests_more_than_before_is_reported_with_a_remedy() {
    let folder = scratch();
    let mut servant = Servant::start(&jdks::newest(), &LATE);
    let (pid, output) = (servant.pid().to_string(), folder.path().to_string_lossy());
    let plugin = plugin();
    let plugin = [
        "--plugin",
        &plugin.to_string_lossy(),
        "--grant",
        "probes",
        "--select",
        "Servant*",
    ];
    let settings = |deed: &str| format!("{{\"deed\":\"{deed}\"}}");
    let run = |words: &[&str], deed: &str| {
        let settings = settings(deed);
        classhook(&[words, &plugin, &["--plugin-settings", &settings]].concat())
    };
    run(&["attach", &pid, "--output", &output], "trap").assert_success();
    servant.ask("steps a");
    let told = run(&["reload", &pid], "more");
    told.assert_exit(3);
    for part in [
        "H0304",
        "Servant",
        "`classhook off` and then `classhook attach`",
    ] {
        assert!(told.stdout.contains(part), "{part} in\n{}", told.report());
    }
    assert_eq!(servant.ask("steps a"), "sum 1", "it runs without probes");
    classhook(&["off", &pid]).assert_success();
    run(&["attach", &pid, "--output", &output], "more").assert_success();
    let status = json(&["status", &pid]);
    assert_eq!(status["failures"], serde_json::json!([]), "{status:#}");
    assert!(
        status["plugins"][0]["changed"].as_u64() >= Some(2),
        "{status:#}"
    );
    assert_eq!(servant.ask("steps a"), "sum 1");
    assert_eq!(servant.end().code, Some(0));
}

/// Coverage keeps the classes on which another plugin fails, whatever that does.
#[test]
fn coverage_keeps_the_classes_that_another_plugin_fails_on() {
    let folder = scratch();
    let classes = compile(folder.path());
    let jdk = &jdks::newest();
    let expected = program(jdk, &classes).run();
    for deed in ["trap", "allocate", "flood", "fail"] {
        let options = configuration(folder.path(), deed, "warn");
        let file = folder.path().join("classhook.toml");
        let text = std::fs::read_to_string(&file).expect("just written");
        let both = text.replacen(
            "[[plugin]]",
            "[[plugin]]\nuse = \"coverage\"\n\n[[plugin]]",
            1,
        );
        std::fs::write(&file, both).expect("the test's folder is writable");
        let _ = std::fs::remove_dir_all(folder.path().join("out"));
        let run = program(jdk, &classes).agent(Some(&options)).run();
        assert_eq!(run.stdout, expected.stdout, "{}", run.report());
        let snapshots = javac::files_with_extension(&folder.path().join("out"), "hook");
        let snapshot = Snapshot::read(&snapshots[0]).expect("a readable snapshot");
        for victim in VICTIMS {
            let headline = format!(
                "plugin `misbehaving` failed on {victim}; the class was loaded with the edits of the others alone"
            );
            assert_eq!(run.stderr.matches(&headline).count(), 1, "{}", run.report());
            let mut found = snapshot.classes.iter().filter(|class| class.name == victim);
            let covered = found.next().filter(|class| class.plugin == "coverage");
            let covered = covered.unwrap_or_else(|| panic!("{victim}: {}", run.report()));
            assert!(covered.probes.contains(&true), "{victim}: {}", run.report());
            assert!(found.next().is_none(), "{victim}: {}", run.report());
        }
    }
}

/// Writes an event file as an agent does, with a row `calls` of the plugin.
fn recorded(folder: &Path) {
    std::fs::create_dir(folder).expect("the test's folder is writable");
    let mut writer = EventWriter::create(folder, &Meta::default()).expect("a new file");
    writer.span(&SpanInfo {
        plugin: "misbehaving".to_owned(),
        class: "a/A".to_owned(),
        method: "f".to_owned(),
        row: Some(TableRow {
            table: "calls".to_owned(),
            columns: vec![Column {
                name: "class".to_owned(),
                kind: "class".to_owned(),
            }],
            cells: vec!["a.A".to_owned()],
        }),
        ..SpanInfo::default()
    });
    writer.counts([(0, 7)]);
    writer.complete().expect("the test's folder is writable");
}

#[test]
fn failed_report_costs_only_its_tables_and_is_in_every_output() {
    let folder = scratch();
    let folder = folder.path();
    recorded(&folder.join("run"));
    let component = plugin().display().to_string();
    let report = |deed: &str| {
        configuration(folder, deed, "warn");
        let run = Java::program(workspace::classhook()).folder(folder);
        let made = ["--results-csv", "csv", "--results-html", "page.html"];
        let plugin = ["--plugin", &component, "--config", "classhook.toml"];
        let lines = ["report", "run", "--results-json-lines", "lines"];
        run.arguments(&lines)
            .arguments(&made)
            .arguments(&plugin)
            .run()
    };
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("made");
    let run = report("more");
    run.assert_success();
    let copies = "misbehaving: copies\nclass   count\nbefore      1\na.A         7\n";
    assert!(run.stdout.contains(copies), "{}", run.report());
    assert_eq!(
        read("csv/misbehaving-copies.csv"),
        "class,count\nbefore,1\na.A,7\nmedian,0\n"
    );
    assert!(read("page.html").contains("<td>a.A<td class=right>7"));
    let row = r#"{"plugin":"misbehaving","row":{"class":"a.A","count":7},"table":"copies"}"#;
    assert!(read("lines").contains(row), "{}", read("lines"));

    std::fs::remove_dir_all(folder.join("csv")).expect("it was made");
    let run = report("fail");
    run.assert_exit(3)
        .assert_stderr("error[H0698]: the plugin `misbehaving` has not computed its tables")
        .assert_stderr("failed on purpose");
    let shown = "misbehaving: calls\nclass  count\na.A        7\n\n\
                 misbehaving: computed tables\nmissing: it returned an error: failed on purpose\n";
    assert!(run.stdout.contains(shown), "{}", run.report());
    assert!(read("page.html").contains("missing: it returned an error"));
    assert!(read("lines").contains("\"not_computed\":\"it returned an error"));
    assert_eq!(read("csv/misbehaving-calls.csv"), "class,count\na.A,7\n");
    assert!(!folder.join("csv/misbehaving-copies.csv").exists());

    let words = ["report", "run", "--plugin", "coverage"];
    classhook(&[
        words[0],
        &folder.join("run").to_string_lossy(),
        words[2],
        words[3],
    ])
    .assert_exit(2)
    .assert_stderr("error[H0697]: the plugin `coverage` computes no tables");
}
