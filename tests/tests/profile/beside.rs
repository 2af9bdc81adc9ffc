//! Results of the JDK's own tools on the same JVM.

use super::heap::held;
use crate::support::command::classhook;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks;
use e2e_tests::{artifacts, rotation};
use e2e_tests::{javac, scratch, workspace};
use serde_json::Value;
use std::path::Path;

fn tool(jdk: &jdks::Jdk, name: &str, words: &[&str]) -> Run {
    let run = Java::program(jdk.tool(name)).arguments(words).run();
    run.assert_success();
    run
}

/// Returns the number of objects in the line of a class, `  7:  1500  24000  Held$InBox`. Ours has commas, and follows
/// the bytes.
fn objects(histogram: &str, class: &str, from_the_end: usize) -> u64 {
    let line = histogram
        .lines()
        .find(|line| line.split_whitespace().last() == Some(class));
    let line = line.unwrap_or_else(|| panic!("no {class}: {histogram}"));
    let numbers = line
        .split_whitespace()
        .map(|word| word.replace(',', "").parse().ok());
    let numbers: Vec<u64> = numbers.flatten().collect();
    numbers[numbers.len() - from_the_end]
}

#[test]
fn heap_and_threads_equal_those_of_jcmd() {
    let jdk = jdks::newest();
    let folder = scratch();
    let running = held(&jdk, folder.path());
    let pid = running.pid().to_string();
    let theirs = tool(&jdk, "jcmd", &[&pid, "GC.class_histogram"]);
    let ours = classhook(&[
        "profile",
        &pid,
        "--heap",
        "histogram",
        "--live",
        "--top",
        "100000",
    ]);
    ours.assert_success();
    for (class, count) in [
        ("Held$InBox", 1_500),
        ("Held$InMap", 2),
        ("Held$InThread", 1),
    ] {
        let found = [(&theirs.stdout, 2), (&ours.stdout, 1)];
        let found = found.map(|(text, from_the_end)| objects(text, class, from_the_end));
        assert_eq!(found, [count; 2], "{class}");
    }
    let theirs = tool(&jdk, "jcmd", &[&pid, "Thread.print"]);
    let ours = classhook(&["profile", &pid, "--threads"]);
    let threads = |text: &str| -> Vec<String> {
        let named = text
            .lines()
            .filter_map(|line| line.strip_prefix('"')?.split_once('"'));
        // Threads of the JVM come and go, and so does the thread that answers.
        let is_java = |(name, rest): &(&str, &str)| {
            rest.contains("java") || ["main", "holder"].contains(name)
        };
        let mut found: Vec<String> = named
            .filter(is_java)
            .map(|(name, _)| name.to_owned())
            .collect();
        found.sort();
        found
    };
    assert_eq!(
        threads(&ours.stdout),
        threads(&theirs.stdout),
        "{}",
        ours.report()
    );
    assert!(threads(&ours.stdout).contains(&"holder".to_owned()));
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn contention_and_allocations_equal_those_of_the_flight_recorder() {
    let jdk = jdks::newest();
    let folder = scratch();
    let source = workspace::test_file("java/profile/Told.java");
    let classes = javac::compile(&jdk, &[&source], folder.path(), &["--release", "11"]);
    let [rows, recorded] = ["rows.jsonl", "recorded.jfr"].map(|name| folder.path().join(name));
    let program = jdk.tool("java");
    let texts = [&program, &classes, &rows, &recorded].map(|path| path.to_string_lossy());
    let [program, classes, lines, recorder] = texts.each_ref().map(AsRef::as_ref);
    let recorder = format!("-XX:StartFlightRecording=settings=profile,filename={recorder}");
    let words = [
        "profile",
        "--monitor",
        "--alloc",
        "sites",
        "--json-lines",
        lines,
    ];
    let java = ["--", program, &recorder, "-cp", classes, "Told"];
    classhook(&[&words[..], &java].concat()).assert_success();
    let text = std::fs::read_to_string(&rows).expect("the file");
    let row = |line| serde_json::from_str::<Value>(line).expect("a JSON object");
    let rows: Vec<Value> = text.lines().map(row).collect();
    let sum = |kind: &str, class: &str, key: &str| -> f64 {
        let rows = rows
            .iter()
            .filter(|row| row["kind"] == kind && row["class"] == class);
        rows.filter_map(|row| row[key].as_f64()).sum()
    };
    let path = recorded.to_string_lossy();
    let events = "jdk.JavaMonitorEnter,jdk.ObjectAllocationSample";
    let printed = tool(&jdk, "jfr", &["print", "--json", "--events", events, &path]);
    let printed: Value = serde_json::from_str(&printed.stdout).expect("JSON");
    let events = printed["recording"]["events"].as_array().expect("events");
    let of = |kind: &str, key: &str, class: &str| -> Vec<&Value> {
        let is_it = |event: &&Value| event["type"] == kind && event["values"][key]["name"] == class;
        events
            .iter()
            .filter(is_it)
            .map(|event| &event["values"])
            .collect()
    };
    let entered = of("jdk.JavaMonitorEnter", "monitorClass", "Told$Gate");
    assert_eq!(entered.len(), 4);
    assert_eq!(sum("contended", "Told$Gate", "count"), 4.0);
    // 64 arrays of one mebibyte: both tools see most of them, and weigh them for all.
    let weights = of("jdk.ObjectAllocationSample", "objectClass", "[B");
    let theirs: f64 = weights
        .iter()
        .filter_map(|one| one["weight"].as_f64())
        .sum();
    let ours = sum("allocation", "byte[]", "bytes");
    let expected = f64::from(64 << 20);
    for bytes in [theirs, ours] {
        assert!(
            (bytes / expected - 1.0).abs() < 0.5,
            "{ours} and {theirs}, {expected} expected"
        );
    }
}

/// Returns the methods of `Hot`, ordered by their share of all samples in them, with these shares.
fn parts(samples: impl Iterator<Item = (String, f64)>) -> Vec<(String, f64)> {
    let mut sums: Vec<(String, f64)> = ["Hot.heavy", "Hot.middle", "Hot.light"]
        .map(|name| (name.to_owned(), 0.0))
        .into();
    for (method, samples) in samples {
        if let Some((_, sum)) = sums.iter_mut().find(|(name, _)| *name == method) {
            *sum += samples;
        }
    }
    let all: f64 = sums.iter().map(|(_, sum)| sum).sum();
    sums.iter_mut().for_each(|(_, sum)| *sum /= all);
    sums.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    sums
}

/// Extracts async-profiler's library from its jar.
fn async_profiler(jdk: &jdks::Jdk, folder: &Path) -> std::path::PathBuf {
    const LIBRARY: &str = "libs/libasyncProfiler-4.5-linux-x64.so";
    let jar = artifacts::path("async-profiler");
    let words = ["xf", &*jar.to_string_lossy(), LIBRARY];
    let unpacked = Java::program(jdk.tool("jar")).folder(folder);
    unpacked.arguments(&words).run().assert_success();
    folder.join(LIBRARY)
}

/// Only `cargo xtask corpus` runs this test.
#[test]
fn hot_methods_equal_those_of_async_profiler() {
    if !rotation::everything() {
        return;
    }
    for jdk in jdks::main_two() {
        let folder = scratch();
        let source = workspace::test_file("java/profile/Hot.java");
        let classes = javac::compile(&jdk, &[&source], folder.path(), &["--release", "17"]);
        let [ours, theirs] = ["ours", "theirs"].map(|name| folder.path().join(name));
        let library = async_profiler(&jdk, folder.path());
        let agent = format!(
            "-agentpath:{}=start,event=itimer,interval=10ms,collapsed,file={}",
            library.display(),
            theirs.display()
        );
        let program = jdk.tool("java");
        let texts = [&program, &classes, &ours].map(|path| path.to_string_lossy());
        let [program, classes, folded] = texts.each_ref().map(AsRef::as_ref);
        let words = ["profile", "--cpu", "samples", "--folded", folded];
        let java = ["--", program, &agent, "-cp", classes, "Hot"];
        classhook(&[&words[..], &java].concat()).assert_success();
        let innermost = |line: &str| -> Option<(String, f64)> {
            let (stack, count) = line.rsplit_once(' ')?;
            let method = stack.rsplit(';').next()?.replace('/', ".");
            Some((method, count.parse().ok()?))
        };
        let [ours, theirs] = [ours, theirs].map(|file| {
            let text = std::fs::read_to_string(file).expect("folded stacks");
            parts(text.lines().filter_map(innermost))
        });
        for (place, (our, their)) in ours.iter().zip(&theirs).enumerate() {
            let expected = [0.6, 0.3, 0.1][place];
            assert_eq!(our.0, their.0, "{jdk}: {ours:?}, {theirs:?}");
            for found in [our.1, their.1] {
                assert!(
                    (found - expected).abs() < 0.1,
                    "{jdk}: {ours:?}, {theirs:?}"
                );
            }
        }
    }
}
