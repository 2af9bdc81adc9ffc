//! Plugins that observe a program that counts its own events.

use super::heap::held;
use crate::support::command::{LATE, assert_no_agent, begun, classhook};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::patience::await_that;
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Returns the component of the tests' observing plugin.
pub(super) fn observing() -> String {
    let component = workspace::target("bundled/tests/observing.wasm");
    component.to_string_lossy().into_owned()
}

/// Runs the program with the plugin, which has the grants for its subscriptions.
fn told(jdk: &Jdk, folder: &Path, settings: &Value, files: &[&str], java: &[&str]) -> Run {
    let plugin = ["plugin", "run", &observing()];
    told_by(&plugin, jdk, folder, settings, files, java)
}

/// Runs another command with the plugin.
fn told_by(
    command: &[&str],
    jdk: &Jdk,
    folder: &Path,
    settings: &Value,
    files: &[&str],
    java: &[&str],
) -> Run {
    let source = workspace::test_file("java/profile/Told.java");
    let classes = javac::compile(jdk, &[&source], folder, &["--release", "11"]);
    let (program, output) = (jdk.tool("java"), folder.join("out"));
    let texts = [&program, &classes, &output].map(|path| path.to_string_lossy());
    let [program, classes, output] = texts.each_ref().map(AsRef::as_ref);
    let settings = settings.to_string();
    let settings = ["--plugin-settings", &settings, "-o", output];
    let program = ["--", program, "-Xcheck:jni"];
    let options = [command, &settings, files, &GRANTS, &program, java];
    classhook(&[&options.concat()[..], &["-cp", classes, "Told"]].concat())
}

/// All grants for subscriptions.
pub(super) const GRANTS: [&str; 46] = [
    "--grant",
    "jvm-events.samples",
    "--grant",
    "jvm-events.allocations",
    "--grant",
    "jvm-events.monitors",
    "--grant",
    "jvm-events.exceptions",
    "--grant",
    "jvm-events.collections",
    "--grant",
    "jvm-events.threads",
    "--grant",
    "jvm-events.classes",
    "--grant",
    "jvm-events.compilations",
    "--grant",
    "jvm-events.natives",
    "--grant",
    "jvm-events.exhaustion",
    "--grant",
    "jvm-events.catches",
    "--grant",
    "jvm-events.unloads",
    "--grant",
    "jvm-events.frees",
    "--grant",
    "jvm-events.dumps",
    "--grant",
    "jvm-events.stubs",
    "--grant",
    "jvm-requests.stack",
    "--grant",
    "jvm-requests.monitors",
    "--grant",
    "jvm-requests.paths",
    "--grant",
    "jvm-requests.monitor-usage",
    "--grant",
    "jvm-requests.threads",
    "--grant",
    "jvm-requests.cpu-times",
    "--grant",
    "jvm-requests.histogram",
    "--grant",
    "jvm-requests.properties",
];

pub(super) fn read(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let row = |line| serde_json::from_str::<Value>(line).expect("a JSON object")["row"].take();
    text.lines().map(row).collect()
}

/// Returns the sum of a number over the rows of this kind of event, for classes and threads with these prefixes.
pub(super) fn sum(rows: &[Value], what: &str, class: &str, thread: &str, key: &str) -> u64 {
    let begins = |row: &Value, key: &str, start: &str| {
        row[key]
            .as_str()
            .is_some_and(|text| text.starts_with(start))
    };
    let is_it = |row: &&Value| {
        row["what"] == what && begins(row, "class", class) && begins(row, "thread", thread)
    };
    let numbers = rows.iter().filter(is_it).map(|row| row[key].as_u64());
    numbers.map(|number| number.expect("a number")).sum()
}

#[test]
fn events_of_a_plugin_equal_the_numbers_of_the_program() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let settings = json!({
            "kinds": ["samples", "allocations", "monitors", "exceptions", "collections", "threads",
                "classes", "compilations", "natives", "exhaustion", "stubs"],
            "classes": ["Told", "Told$*", "long[][]", "java.util.TimeZone"],
            "bytes": 0,
            "frames": 1,
        });
        let file = folder.path().join("rows.jsonl");
        let path = file.to_string_lossy();
        let files = ["--results-json-lines", &path];
        let run = told(&jdk, folder.path(), &settings, &files, &["-Xbatch"]);
        run.assert_success();
        let rows = read(&file);
        let line = run.stdout.lines().find(|line| line.starts_with("arrays "));
        let blocked = line.and_then(|line| line.rsplit(' ').next()?.parse().ok());
        let blocked: u64 = blocked.unwrap_or_else(|| panic!("{}", run.report()));
        let count = |what, class, thread| sum(&rows, what, class, thread, "count");
        let total = |what, class, thread| sum(&rows, what, class, thread, "total");
        assert_eq!(count("allocation", "long[][]", "main"), 20_000, "{jdk}");
        assert_eq!(count("exception", "Told$Oops", "main"), 500, "{jdk}");
        assert_eq!(count("exception", "Told$Caught", "main"), 500, "{jdk}");
        assert_eq!(count("entered", "Told$Gate", "blocked"), 4, "{jdk}");
        assert!(total("entered", "Told$Gate", "blocked") >= blocked, "{jdk}");
        assert_eq!(count("waited", "Told$Gate", "main"), 2, "{jdk}");
        assert!(total("waited", "Told$Gate", "main") >= 40_000_000, "{jdk}");
        for what in ["started", "ended"] {
            assert_eq!(count(what, "", "blocked"), 4, "{what}, {jdk}");
            assert_eq!(count(what, "", "spinner"), 1, "{what}, {jdk}");
        }
        for class in ["Told", "Told$Oops", "Told$Caught", "Told$Gate"] {
            let is_it = |row: &&Value| row["what"] == "prepared" && row["class"] == class;
            assert_eq!(rows.iter().filter(is_it).count(), 1, "{class}, {jdk}");
        }
        assert_eq!(
            count("prepared", "java.lang.", ""),
            0,
            "not asked for, {jdk}"
        );
        assert!(count("collection", "", "") >= 1, "System.gc, {jdk}");
        let of = |what: &str, method: &str| {
            let is_it = |row: &&Value| row["what"] == what && row["method"] == method;
            rows.iter().filter(is_it).count()
        };
        assert!(of("compiled", "Told.spin") > 0, "{jdk}: {}", run.report());
        assert!(of("sample", "Told.spin") > 0, "{jdk}: {}", run.report());
        let is_stub = |row: &&Value| row["what"] == "stub";
        let stubs: Vec<_> = rows.iter().filter(is_stub).collect();
        let is_whole = |row: &&Value| row["class"] != "" && row["total"].as_u64() > Some(0);
        assert!(!stubs.is_empty(), "{jdk}: {}", run.report());
        assert!(stubs.iter().all(is_whole), "{jdk}: {stubs:?}");
        let native = "java.util.TimeZone.getSystemTimeZoneID";
        assert_eq!(of("bound", native), 1, "{jdk}: {rows:?}");
        assert_eq!(count("exhausted", "", ""), 1, "{jdk}: {rows:?}");
        let virtual_threads = u64::from(jdk.feature >= 21);
        assert_eq!(total("started", "", ""), virtual_threads, "{jdk}");
        assert_eq!(total("ended", "", ""), virtual_threads, "{jdk}");
        let thrower = |row: &&Value| row["what"] == "exception" && row["method"] == "Told.thrower";
        assert_eq!(
            rows.iter().filter(thrower).count(),
            2,
            "where they are caught, {jdk}"
        );
        assert_eq!(count("lost", "", ""), 0, "{jdk}");
        let again = classhook(&["report", &folder.path().join("out").to_string_lossy()]);
        again.assert_success();
        assert!(
            again.stdout.contains("observing: events"),
            "{}",
            again.report()
        );
    }
}

#[test]
fn plugin_that_fails_with_events_is_retired_and_the_program_goes_on() {
    let folder = scratch();
    let settings = json!({"kinds": ["threads", "exceptions"], "deed": "loop"});
    let run = told(&jdks::newest(), folder.path(), &settings, &[], &[]);
    run.assert_exit(3)
        .assert_stderr("more than 250 ms of CPU time")
        .assert_stderr("gets no more events")
        .assert_stderr("warning[H0420]")
        .assert_stderr("warning[H0665]");
    assert!(run.stdout.contains("arrays 20000"), "{}", run.report());
    let plugin = ["run", "--plugin", &observing()];
    told_by(&plugin, &jdks::newest(), folder.path(), &settings, &[], &[])
        .assert_exit(3)
        .assert_stderr("warning[H0665]: the plugin `observing` got no more events");
}

#[test]
fn answers_to_a_plugin_equal_the_numbers_of_the_program() {
    let jdk = jdks::newest();
    let folder = scratch();
    let running = held(&jdk, folder.path());
    let (pid, plugin) = (running.pid().to_string(), observing());
    let file = folder.path().join("rows.jsonl");
    let (lines, output) = (file.to_string_lossy(), folder.path().join("out"));
    let ask = [
        "threads",
        "cpu-times",
        "histogram",
        "properties",
        "monitor-usage Held$Gate",
    ];
    let settings = json!({ "ask": ask }).to_string();
    let words = [
        "plugin",
        "run",
        &plugin,
        &pid,
        "--for",
        "1s",
        "--plugin-settings",
        &settings,
    ];
    let files = [
        "-o",
        &output.to_string_lossy(),
        "--results-json-lines",
        &lines,
    ];
    classhook(&[&words[..], &GRANTS, &files].concat()).assert_success();
    assert_no_agent(&pid);
    let rows = read(&file);
    let of = |what: &str, thread: &str, class: &str| -> Vec<&Value> {
        let is_it =
            |row: &&Value| row["what"] == what && row["thread"] == thread && row["class"] == class;
        rows.iter().filter(is_it).collect()
    };
    assert_eq!(of("objects", "", "Held$InBox")[0]["total"], 1_500);
    assert_eq!(of("objects", "", "Held$InMap")[0]["total"], 2);
    let holder = of("thread", "holder", "")[0];
    const SLEEPING: u64 = 0x40;
    assert_ne!(holder["total"].as_u64().expect("bits") & SLEEPING, 0);
    let method = holder["method"].as_str().expect("a method");
    assert!(method.starts_with("java.lang.Thread.sleep"), "{method}");
    assert!(of("cpu time", "main", "")[0]["total"].as_u64() > Some(0));
    let version = of("property", "", "java.vm.specification.version")[0];
    assert_eq!(version["method"], jdk.feature.to_string());
    assert_eq!(of("owns", "holder", "Held$Gate")[0]["total"], 1);
    assert_eq!(of("answered", "", "")[0]["count"], 5);
    assert_eq!(running.end().code, Some(0));
}

/// `CLASSHOOK_SOAK=3600` runs this test alone for an hour.
#[test]
fn delivered_and_lost_events_add_up_to_the_produced_ones() {
    let jdk = jdks::newest();
    let folder = scratch();
    let source = workspace::test_file("java/profile/Soak.java");
    let classes = javac::compile(&jdk, &[&source], folder.path(), &["--release", "17"]);
    let file = folder.path().join("rows.jsonl");
    let (program, output) = (jdk.tool("java"), folder.path().join("out"));
    let texts = [&program, &classes, &output, &file].map(|path| path.to_string_lossy());
    let [program, classes, output, lines] = texts.each_ref().map(AsRef::as_ref);
    let settings = json!({
        "kinds": ["allocations", "monitors", "exceptions", "threads"],
        "classes": ["Soak$Oops", "Soak$Unit", "Soak$Gate"],
        "threads": ["worker-*", "short"],
        "bytes": 0,
        "frames": 8,
    })
    .to_string();
    let (plugin, seconds) = (observing(), std::env::var("CLASSHOOK_SOAK"));
    let seconds = seconds.unwrap_or_else(|_| "2".to_owned());
    let words = ["plugin", "run", &plugin, "--plugin-settings", &settings];
    let files = ["-o", output, "--results-json-lines", lines];
    let java = [
        "--", program, "-Xmx128m", "-cp", classes, "Soak", &seconds, "1",
    ];
    let lasting = seconds.parse().map_or(Duration::ZERO, Duration::from_secs);
    let run = Java::program(workspace::classhook())
        .variable("CLASSHOOK_AGENT", workspace::agent_library())
        .arguments(&[&words[..], &files, &GRANTS, &java].concat())
        .limit(lasting + Duration::from_secs(300))
        .run();
    let produced = |name: &str| -> u64 {
        let mut words = run
            .stdout
            .split_whitespace()
            .skip_while(|word| *word != name);
        let number = words.nth(1).and_then(|word| word.parse().ok());
        number.unwrap_or_else(|| panic!("{}", run.report()))
    };
    // Each worker allocates a gate, starts and ends. Each exception is allocated.
    let thrown = produced("thrown");
    let of_threads = 2 * produced("started") + 4 * 3;
    let all = 2 * thrown + produced("allocated") + produced("waited") + of_threads;
    let rows = read(&file);
    let lost = sum(&rows, "lost", "", "", "count");
    let told: u64 = rows.iter().filter_map(|row| row["count"].as_u64()).sum();
    assert_eq!(told, all, "of which {lost} were lost: {}", run.report());
    assert!(told > lost, "{}", run.report());
    run.assert_exit(if lost > 0 { 3 } else { 0 });
}

/// Returns the CPU time of a process in user mode, in hundredths of a second.
fn cpu_ticks(pid: &str) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    // The fields are counted from the end of the name, which may contain any characters.
    let (_, fields) = stat.rsplit_once(") ").expect("a name");
    let ticks = fields.split_whitespace().nth(11);
    ticks
        .and_then(|ticks| ticks.parse().ok())
        .expect("a number")
}

/// Capabilities that a JVM gives only at its start are refused, with the cause. Others work, and detaching leaves
/// nothing.
#[test]
fn plugin_visits_a_running_jvm() {
    let jdk = jdks::newest();
    let folder = scratch();
    let mut running = Servant::start(&jdk, &LATE);
    let pid = running.pid().to_string();
    let rows = folder.path().join("rows.jsonl");
    let lines = rows.to_string_lossy();
    let plugin = observing();
    let settings = json!({"kinds": ["samples", "threads", "compilations"], "frames": 1});
    let settings = settings.to_string();
    let words = [
        "plugin",
        "run",
        &plugin,
        &pid,
        "--plugin-settings",
        &settings,
    ];
    let output = folder.path().join("out");
    let output = output.to_string_lossy();
    let words = [
        &words[..],
        &GRANTS,
        &["-o", &output, "--results-json-lines", &lines],
    ]
    .concat();
    let (mut command, _told) = begun(&words);
    assert_eq!(running.ask("spin"), "spinning");
    let before = cpu_ticks(&pid);
    await_that("half a second of CPU time", || {
        cpu_ticks(&pid) >= before + 50
    });
    kill_process(Pid::from_child(&command), Signal::INT).expect("it runs");
    assert!(command.wait().expect("an end").success());
    assert_no_agent(&pid);
    let rows = read(&rows);
    let spun = |row: &&Value| {
        let method = row["method"].as_str().unwrap_or_default();
        row["what"] == "sample" && method.starts_with("Servant.lambda$spin$")
    };
    assert!(rows.iter().any(|row| spun(&row)), "{rows:?}");
    assert!(
        sum(&rows, "compiled", "", "", "count") > 0,
        "those made before"
    );
    let settings = json!({"kinds": ["exceptions"]}).to_string();
    let words = [
        "plugin",
        "run",
        &plugin,
        &pid,
        "--plugin-settings",
        &settings,
        "--for",
        "1s",
    ];
    classhook(&[&words[..], &GRANTS, &["-o", &output]].concat())
        .assert_stderr("H0420")
        .assert_stderr("can_generate_exception_events");
    assert_no_agent(&pid);
    assert_eq!(running.ask("rest"), "resting");
    assert_eq!(running.end().code, Some(0));
}
