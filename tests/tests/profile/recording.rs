//! `classhook profile -- java …` on a program that counts its own events.

use crate::support::command::classhook;
use e2e_tests::java::Run;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch, workspace};
use serde_json::{Value, json};
use std::path::Path;

/// All kinds of events, with a sample for each allocation.
const ALL: [&str; 10] = [
    "--cpu",
    "samples",
    "--alloc",
    "sites",
    "--alloc-interval",
    "0",
    "--live",
    "--monitor",
    "--exceptions",
    "--gc",
];

fn told(jdk: &Jdk, folder: &Path, options: &[&str]) -> Run {
    let source = workspace::test_file("java/profile/Told.java");
    let classes = javac::compile(&jdks::newest(), &[&source], folder, &["--release", "11"]);
    let (program, classes) = (jdk.tool("java"), classes.to_string_lossy().into_owned());
    let program = program.to_string_lossy();
    let command = ["--", &program, "-Xcheck:jni", "-cp", &classes, "Told"];
    classhook(&[&["profile"][..], options, &command].concat())
}

fn rows(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).expect("the file");
    let row = |line| serde_json::from_str(line).expect("a JSON object");
    text.lines().map(row).collect()
}

/// Returns the sum of a number over the rows of a kind and class, with a frame of this method of the program.
fn sum(rows: &[Value], kind: &str, class: &str, method: &str, key: &str) -> f64 {
    let frame = format!("Told.{method}(Told.java:");
    let is_there = |row: &&Value| {
        let stack = row["stack"].as_array().expect("a stack");
        let mut frames = stack.iter().filter_map(Value::as_str);
        row["kind"] == kind
            && (class.is_empty() || row["class"] == class)
            && frames.any(|found| found.starts_with(&frame))
    };
    let stacked = rows.iter().filter(|row| row["stack"].is_array());
    let numbers = stacked.filter(is_there).map(|row| row[key].as_f64());
    numbers.map(|number| number.expect("a number")).sum()
}

#[test]
fn numbers_of_a_recording_equal_those_of_the_program() {
    for jdk in jdks::main_three() {
        let folder = scratch();
        let file = folder.path().join("rows.jsonl");
        let path = file.to_string_lossy();
        let run = told(
            &jdk,
            folder.path(),
            &[&ALL[..], &["--json-lines", &path]].concat(),
        );
        run.assert_success();
        let line = run.stdout.lines().find(|line| line.starts_with("arrays "));
        let line = line.unwrap_or_else(|| panic!("{}", run.report()));
        let blocked: f64 = line
            .rsplit(' ')
            .next()
            .and_then(|last| last.parse().ok())
            .expect("a number");
        let rows = rows(&file);
        let of = |kind, class, method, key| sum(&rows, kind, class, method, key);
        assert_eq!(
            of("allocation", "long[][]", "allocate", "objects"),
            20_000.0,
            "{jdk}"
        );
        assert_eq!(
            of("allocation", "long[][]", "allocate", "live_objects"),
            1_000.0,
            "{jdk}"
        );
        assert_eq!(
            of("exception", "Told$Oops", "thrower", "count"),
            500.0,
            "{jdk}"
        );
        assert_eq!(
            of("exception", "Told$Caught", "thrower", "count"),
            500.0,
            "{jdk}"
        );
        assert_eq!(of("contended", "Told$Gate", "enter", "count"), 4.0, "{jdk}");
        assert!(
            of("contended", "Told$Gate", "enter", "total_ns") >= blocked,
            "{jdk}"
        );
        assert_eq!(of("wait", "Told$Gate", "main", "count"), 2.0, "{jdk}");
        assert!(of("wait", "Told$Gate", "main", "total_ns") >= 40e6, "{jdk}");
        let of_class = of("wait", "java.lang.Class<Told>", "waitForClass", "count");
        assert_eq!(of_class, 1.0, "{jdk}");
        let spun = of("cpu", "", "spins", "cpu_ns");
        let cpu: f64 = rows.iter().filter_map(|row| row["cpu_ns"].as_f64()).sum();
        assert!(spun > 0.0 && spun <= cpu, "{spun} of {cpu}, {jdk}");
        let collections = rows.iter().filter(|row| row["kind"] == "collection");
        // G1 adds pauses of its own; with one processor, the JVM takes the serial collector.
        assert!(collections.count() >= 1, "System.gc: {jdk}");
        let caught = rows
            .iter()
            .find(|row| row["kind"] == "exception" && row["class"] == "Told$Oops");
        let caught = caught.and_then(|row| row["catcher"].as_str());
        assert_eq!(caught, Some("Told.thrower"));
        let recording = rows.last().expect("a row");
        assert_eq!(recording["complete"], true);
        assert_eq!(recording["lost"]["events"], 0, "{recording}");
    }
}

#[test]
fn thread_that_waits_in_native_code_used_its_time_where_it_ran() {
    let (jdk, folder) = (jdks::newest(), scratch());
    let source = workspace::test_file("java/profile/Pings.java");
    let classes = javac::compile(&jdk, &[&source], folder.path(), &["--release", "11"]);
    let file = folder.path().join("rows.jsonl");
    let (program, classes) = (jdk.tool("java"), classes.to_string_lossy().into_owned());
    let (program, file_name) = (program.to_string_lossy(), file.to_string_lossy());
    let options = ["profile", "--cpu", "samples", "--json-lines", &file_name];
    let command = [
        "--thread", "serves", "--", &program, "-cp", &classes, "Pings",
    ];
    let run = classhook(&[&options[..], &command].concat());
    run.assert_success();
    let rows = rows(&file);
    let cpu: Vec<&Value> = rows.iter().filter(|row| row["kind"] == "cpu").collect();
    let sum = |is_it: &dyn Fn(&Value) -> bool, key: &str| -> u64 {
        let there = cpu.iter().filter(|row| is_it(row));
        there.map(|row| row[key].as_u64().expect("a number")).sum()
    };
    // A loop without a safepoint appears in its caller.
    let computes = |row: &Value| {
        let innermost = row["stack"][0].as_str();
        innermost.is_some_and(|frame| frame.starts_with("Pings."))
    };
    // The JVM's own native method, which waits; the code around it uses time itself.
    let waits = |row: &Value| {
        let innermost = row["stack"][0].as_str();
        innermost.is_some_and(|frame| frame.contains(".read0("))
    };
    let [computed, waited, all] =
        [&computes as &dyn Fn(&Value) -> bool, &waits, &|_| true].map(|it| sum(it, "cpu_ns"));
    assert!(computed > 4 * waited, "{waited} of {all} ns: {rows:?}");
    assert!(2 * computed > all, "{computed} of {all} ns: {rows:?}");
    // Shared time went to each stack in proportion to its own, rounded to a nanosecond for each.
    let shared = sum(&|_| true, "shared_ns");
    let says_what_is_shared = run
        .stdout
        .contains("is shared among the stacks at which each was seen");
    assert_eq!(says_what_is_shared, shared > 0, "{}", run.report());
    for row in &cpu {
        let [its_cpu, its_share, places] =
            ["cpu_ns", "shared_ns", "samples"].map(|key| row[key].as_f64().expect("a number"));
        let part = (its_cpu - its_share) / (all - shared) as f64;
        let expected = part * shared as f64;
        assert!((its_share - expected).abs() <= places, "{row}: {rows:?}");
    }
    let nowhere = cpu.iter().filter(|row| row["stack"] == json!([]));
    assert_eq!(
        nowhere.count(),
        0,
        "a thread's rest is where it was seen: {rows:?}"
    );
}

#[test]
fn selected_part_of_a_recording_is_shown_and_files_are_written() {
    let jdk = jdks::newest();
    let folder = scratch();
    let files = ["cpu.svg", "cpu.folded", "cpu.pb.gz"].map(|name| folder.path().join(name));
    let [svg, folded, pprof] = files.each_ref().map(|path| path.to_string_lossy());
    let run = told(
        &jdk,
        folder.path(),
        &[
            "--cpu",
            "samples",
            "--interval",
            "5ms",
            "--thread",
            "spinner",
            "--only",
            "Told",
            "--flame-graph",
            &svg,
            "--folded",
            &folded,
            "--pprof",
            &pprof,
            "-o",
            &folder.path().join("kept").to_string_lossy(),
        ],
    );
    run.assert_success();
    assert!(run.stdout.contains("CPU SAMPLES: "), "{}", run.report());
    assert!(run.stdout.contains("Told.spin"), "{}", run.report());
    assert!(!run.stdout.contains("Told.allocate"), "{}", run.report());
    let lines = std::fs::read_to_string(&*folded).expect("the file");
    assert!(lines.lines().all(|line| line.contains("Told.")), "{lines}");
    assert!(lines.contains(";Told.spin "), "{lines}");
    let drawn = std::fs::read_to_string(&*svg).expect("the file");
    assert!(drawn.contains("<svg") && drawn.contains("Told.spin"));
    let kept = javac::files_with_extension(&folder.path().join("kept"), "jvm-events");
    let kept = kept[0].to_string_lossy();
    let again = classhook(&["profile", &kept, "--only", "Told", "--thread", "spinner"]);
    again.assert_success();
    assert!(again.stdout.contains("Told.spin"), "{}", again.report());
    classhook(&["profile", &kept, "--gc"])
        .assert_exit(2)
        .assert_stderr("error[H0663]");
    let packed = std::fs::read(&*pprof).expect("the file");
    assert_eq!(packed[..2], [0x1F, 0x8B]);
    let none = told(
        &jdk,
        folder.path(),
        &["--cpu", "samples", "--thread", "nobody"],
    );
    none.assert_exit(3).assert_stderr("error[H0610]");
}

#[test]
fn times_of_calls_are_those_of_a_trace() {
    let folder = scratch();
    let output = folder.path().join("out");
    let output = output.to_string_lossy();
    let options = ["--cpu", "times", "--only", "Told.thrower", "-o", &output];
    let run = told(&jdks::newest(), folder.path(), &options);
    run.assert_success();
    assert!(run.stdout.contains("Told.thrower"), "{}", run.report());
    assert!(
        run.stdout.contains("1 call of 1 traced method"),
        "{}",
        run.report()
    );
}

#[test]
fn impossible_profiles_are_refused_before_the_program_starts() {
    for (words, code) in [
        (&["--", "java"][..], "H0663"),
        (&["--live", "--gc", "--", "java"], "H0663"),
        (&["--threads", "--folded", "x", "4711"], "H0663"),
        (&["--threads", "--only", "x", "4711"], "H0663"),
        (
            &[
                "--cpu", "samples", "--folded", "x", "--pprof", "x", "--", "java",
            ],
            "H0670",
        ),
        (&["--cpu", "times", "--gc", "--", "java"], "H0663"),
        (&["--gc", "--", "no-such-command"], "H0602"),
    ] {
        let run = classhook(&[&["profile"][..], words].concat());
        run.assert_exit(2).assert_stderr(&format!("error[{code}]"));
    }
    classhook(&["profile", "--gc", "--", "true"])
        .assert_exit(2)
        .assert_stderr("error[H0610]");
}

/// The CPU time of the process is split: Java code, native methods, and the threads that collect and compile.
#[test]
fn cpu_time_of_the_process_is_the_sum_of_all_its_threads() {
    for jdk in jdks::main_three() {
        let folder = scratch();
        let source = workspace::test_file("java/profile/Works.java");
        let newest = jdks::newest();
        let classes = javac::compile(&newest, &[&source], folder.path(), &["--release", "11"]);
        let file = folder.path().join("rows.jsonl");
        let (program, classes) = (jdk.tool("java"), classes.to_string_lossy().into_owned());
        let (program, file_name) = (program.to_string_lossy(), file.to_string_lossy());
        let options = ["profile", "--cpu", "samples", "--json-lines", &file_name];
        let command = [
            "--",
            &program,
            "-XX:+UseParallelGC",
            "-cp",
            &classes,
            "Works",
        ];
        let parts = [
            "[GC threads]",
            "deflateBytesBytes (native)",
            "of the process: ",
        ];
        // On a busy machine the agent looks rarely, and may miss the native method in one run.
        let mut runs = (0..10).map(|_| classhook(&[&options[..], &command].concat()));
        let run = runs.find(|run| {
            run.assert_success();
            parts.iter().all(|part| run.stdout.contains(part))
        });
        assert!(run.is_some(), "{parts:?} on {jdk}, in no run");
        let rows = rows(&file);
        let sum = |is_it: &dyn Fn(&Value) -> bool| -> u64 {
            let there = rows.iter().filter(|row| is_it(row));
            there.filter_map(|row| row["cpu_ns"].as_u64()).sum()
        };
        let ticks = 10_000_000;
        let collected = sum(&|row| row["work"] == "gc");
        assert!(collected >= 20 * ticks, "{collected} on {jdk}: {rows:?}");
        let native = sum(&|row| {
            let innermost = row["stack"][0].as_str();
            innermost.is_some_and(|frame| frame.contains("deflateBytesBytes(native"))
        });
        assert!(native > 0, "{jdk}: {rows:?}");
        let recording = rows.last().expect("the recording");
        let process = recording["process_cpu_ns"].as_u64().expect("a number");
        assert!(
            process >= collected + native,
            "{process} on {jdk}: {rows:?}"
        );
        assert!(sum(&|_| true) >= process, "{process} on {jdk}: {rows:?}");
    }
}

/// Waits for locks of `java.util.concurrent`, on platform and virtual threads, with the thread that owns the lock.
#[test]
fn parked_threads_are_shown_with_the_owner_of_the_lock() {
    for jdk in jdks::main_three() {
        let folder = scratch();
        let source = workspace::test_file("java/profile/Parked.java");
        let newest = jdks::newest();
        let classes = javac::compile(&newest, &[&source], folder.path(), &["--release", "11"]);
        let file = folder.path().join("rows.jsonl");
        let (program, classes) = (jdk.tool("java"), classes.to_string_lossy().into_owned());
        let (program, file_name) = (program.to_string_lossy(), file.to_string_lossy());
        let options = ["profile", "--monitor", "--json-lines", &file_name];
        let command = ["--", &program, "-Xcheck:jni", "-cp", &classes, "Parked"];
        let run = classhook(&[&options[..], &command].concat());
        run.assert_success();
        let lock = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
        let held = format!("{lock}, held by \"main\"");
        assert!(run.stdout.contains(&held), "{jdk}: {}", run.report());
        let rows = rows(&file);
        let of = |thread: &str, key: &str| -> u64 {
            let there = rows.iter().filter(|row| row["kind"] == "parked");
            let there = there.filter(|row| row["thread"] == thread);
            there.map(|row| row[key].as_u64().expect("a number")).sum()
        };
        let row = |thread: &str| {
            let mut rows = rows.iter();
            let row = rows.find(|row| row["kind"] == "parked" && row["thread"] == thread);
            row.unwrap_or_else(|| panic!("no {thread} on {jdk}: {rows:?}"))
        };
        let platform = row("platform");
        assert_eq!(
            (&platform["class"], &platform["holder"]),
            (&lock.into(), &"main".into())
        );
        assert!(
            platform["stack"].to_string().contains("Parked.take("),
            "{platform}"
        );
        assert_eq!(
            (of("platform", "count"), of("platform", "unfinished")),
            (1, 1),
            "{jdk}: {rows:?}"
        );
        let nameless = row("nameless");
        assert_eq!(
            (&nameless["class"], &nameless["holder"]),
            (&"(no object named)".into(), &Value::Null)
        );
        if jdk.feature >= 21 {
            let virtual_one = row("virtual");
            assert_eq!(
                (&virtual_one["class"], &virtual_one["holder"]),
                (&lock.into(), &"main".into())
            );
            assert!(of("virtual", "total_ns") > 0, "{jdk}: {rows:?}");
            assert_eq!(of("virtual", "unfinished"), 0, "{jdk}: {rows:?}");
        }
    }
}
