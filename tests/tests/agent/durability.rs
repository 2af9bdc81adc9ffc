//! Files on disk after failures: killed JVMs, full disks, plugins that fail under `strict`.

use crate::support::agent::{classes, hits, java, snapshot, snapshots};
use crate::support::command::classhook;
use e2e_tests::java::{Java, Run};
use e2e_tests::patience::await_value;
use e2e_tests::{javac, jdks, rotation, scratch, workspace};
use probes::Snapshot;
use probes::events::Trace;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Child;
use std::thread;

/// Kills a JVM that runs `Life rounds` after it has printed `lines` lines. Returns these, each with a class and the
/// time of its call.
fn kill_after(mut child: Child, lines: usize) -> Vec<(String, u64)> {
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut text = String::new();
    for _ in 0..lines {
        assert!(
            out.read_line(&mut text).expect("output") > 0,
            "the program ended early: {text}"
        );
    }
    child.kill().expect("the JVM is there");
    out.read_to_string(&mut text).expect("output");
    child.wait().expect("an end");
    // the last line may be torn
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole
        .lines()
        .filter_map(|line| line.strip_prefix("called "))
        .map(|line| {
            let (class, time) = line.split_once(' ').expect("a class and a time");
            (class.to_owned(), time.parse().expect("a time"))
        })
        .collect()
}

/// The JVMs are each other's load, and each is killed at another time. `cargo xtask corpus` kills more of them.
#[test]
fn sixteen_killed_jvms_in_one_folder_lose_nothing_from_before_the_snapshots_time() {
    let rounds = if rotation::everything() { 6 } else { 1 };
    for round in 0..rounds {
        sixteen_kills(round);
    }
}

fn sixteen_kills(round: usize) {
    let folder = scratch();
    let mut running = Vec::new();
    for (number, jdk) in jdks::main_two().iter().cycle().take(16).enumerate() {
        // without the random number, half of them would share one file name
        let name = ["life-%u-%h-%p-%t", "life"][number / 8];
        let options = format!(
            "plugin=coverage,file-name={name},output={}",
            folder.path().display()
        );
        let java = Java::new(jdk)
            .agent(Some(&options))
            .class_path(&[classes()])
            .main("Life")
            .argument("rounds");
        let child = java.spawn();
        let pid = child.id();
        let lines = 3 + (number * 7 + round * 5) % 53 * 6;
        running.push((pid, thread::spawn(move || kill_after(child, lines))));
    }
    let mut said: HashMap<u32, _> = HashMap::new();
    for (pid, killed) in running {
        said.insert(pid, killed.join().expect("a JVM that was killed"));
    }
    let files = snapshots(folder.path());
    assert_eq!(files.len(), 16, "{files:?}");
    let mut checked = 0;
    for file in &files {
        let snapshot = Snapshot::read(file).expect("readable however it was cut");
        assert!(!snapshot.complete);
        let (pid, host) = (snapshot.meta.pid, &snapshot.meta.host);
        let name = file.file_name().expect("a name").to_string_lossy();
        if name.contains(host.as_str()) {
            let second = name.split('-').nth_back(1).expect("a time");
            assert!(name.contains(&format!("-{host}-{pid}-")), "{name}");
            assert!(second.len() == 16 && second.ends_with('Z'), "{name}");
        } else {
            assert_eq!(name.len(), "life-00000000.hook".len(), "{name}");
        }
        let hit: HashMap<&str, bool> = snapshot
            .classes
            .iter()
            .map(|class| (class.name.as_str(), class.probes.contains(&true)))
            .collect();
        for (class, time) in said.remove(&pid).expect("each JVM has one file") {
            // the time of the last reading of the arrays, so that a busy machine does not matter
            if time < snapshot.meta.dump_ms {
                assert_eq!(
                    hit.get(class.as_str()),
                    Some(&true),
                    "{class}, {} ms old",
                    snapshot.meta.dump_ms - time
                );
                checked += 1;
            }
        }
    }
    assert!(
        checked > 100,
        "only {checked} classes were old enough to be checked"
    );
    let all = classhook(&["report", &folder.path().to_string_lossy()]);
    assert_eq!(all.status.code(), Some(3), "{}", all.report());
    assert_eq!(all.stderr.matches("was not finished").count(), 10);
}

/// Returns the highest number of begins of a line, from the event file in a folder.
fn most_often(folder: &Path) -> Option<u64> {
    let files = javac::files_with_extension(folder, "events");
    let trace = Trace::read(files.first()?).ok()?;
    trace.counts.values().copied().max()
}

#[test]
fn killed_jvm_leaves_the_counts_of_lines_that_were_written() {
    let folder = scratch();
    let folder = folder.path();
    let plugins = "plugin=coverage,plugin=coverage-lines,plugin=coverage-counts";
    let options = format!("{plugins},output={}", folder.display());
    let program = java(&jdks::newest()).agent(Some(&options));
    let mut child = program.main("Life").argument("late").spawn();
    let written = await_value("a hundred counts", || {
        most_often(folder).filter(|written| *written >= 100)
    });
    child.kill().expect("the JVM is there");
    child.wait().expect("an end");
    let left = most_often(folder);
    assert!(left >= Some(written), "{left:?} after {written}");
}

/// A limit of the file size stands for a full disk.
#[test]
fn full_disk_is_reported_once_and_the_program_goes_on() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let plain = java(&jdk).main("Loading").argument("many").run();
        let agent = format!(
            "-agentpath:{}=output={}",
            workspace::agent_library().display(),
            folder.path().display()
        );
        let run = Java::program("/bin/sh".into())
            .option("-c")
            .option("ulimit -f 40; exec \"$@\"")
            .option("sh")
            .option(jdk.tool("java"))
            // the JVM's own counters are a file, too
            .options(&["-XX:-UsePerfData", &agent])
            .class_path(&[classes()])
            .main("Loading")
            .argument("many")
            .run();
        run.assert_success();
        assert_eq!(run.stdout, plain.stdout, "{}", run.report());
        assert_eq!(
            run.stderr
                .matches("they are kept and written later")
                .count(),
            1,
            "{}",
            run.report()
        );
        assert_eq!(
            run.stderr.matches("the snapshot is incomplete").count(),
            1,
            "{}",
            run.report()
        );
        let snapshot = snapshot(folder.path());
        assert!(!snapshot.complete, "what fits is readable");
        let incomplete = snapshot.incomplete.expect("a cause");
        assert!(incomplete.cause.contains("File too large"));
        assert!(incomplete.classes > 0 && incomplete.probes > 0);
        let html = folder.path().join("html");
        let words = ["report", &text(folder.path()), "--html", &text(&html)];
        let report = Java::program(workspace::classhook())
            .arguments(&words)
            .run();
        says_that_it_is_incomplete(&report, &html, "File too large");
    }
}

/// Asserts that a report of an incomplete snapshot says so: on standard output if it has a summary, otherwise in its
/// files.
fn says_that_it_is_incomplete(report: &Run, html: &Path, cause: &str) {
    report.assert_exit(3).assert_stderr("error[H0651]");
    report.assert_stderr(cause);
    assert!(!report.stderr.contains("was killed"), "{}", report.report());
    let page = std::fs::read_to_string(html.join("index.html")).expect("the report");
    let notice = "This report is incomplete.";
    assert!(page.contains(notice) && page.contains(cause), "{page}");
}

/// The disk becomes full at some class, without space even for the note about it.
#[test]
fn coverage_of_a_full_disk_names_the_missing_part() {
    let jdk = jdks::newest();
    let folder = scratch();
    let small = folder.path().join("small");
    std::fs::create_dir(&small).expect("a folder");
    let html = folder.path().join("html");
    let mount = "mount -t tmpfs -o size=32k none \"$0\" || exit 99; exec \"$@\"";
    let unshare = ["--user", "--map-root-user", "--mount", "/bin/sh", "-c"];
    let (program, small) = (text(&workspace::classhook()), text(&small));
    let run = Java::program("/usr/bin/unshare".into())
        .arguments(&unshare)
        .arguments(&[mount, &small, &program, "coverage", "--output", &small])
        .arguments(&["--html", &text(&html), "--"])
        .arguments(&[&text(&jdk.tool("java")), "-cp", &text(classes())])
        .arguments(&["Loading", "many"])
        .run();
    let cause = "No space left on device";
    says_that_it_is_incomplete(&run, &html, cause);
    let said = run
        .stdout
        .lines()
        .filter(|line| line.starts_with("incomplete: "));
    let said: Vec<&str> = said.collect();
    assert!(
        matches!(*said, [line] if line.contains(" classes and ") && line.contains(cause)),
        "{}",
        run.report()
    );
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[test]
fn failure_under_strict_ends_with_three_after_the_snapshot_is_complete() {
    for jdk in jdks::main_two() {
        for (way, code) in [("end", 0), ("exit", 7), ("throw", 1)] {
            let [warn, strict] = ["warn", "strict"].map(|on_error| {
                let folder = scratch();
                let file = folder.path().join("classhook.toml");
                std::fs::write(&file, configuration(on_error)).expect("written");
                let run = java(&jdk)
                    .agent(Some(&format!("config={}", file.display())))
                    .main("Life")
                    .argument(way)
                    .run();
                let snapshot = snapshot(folder.path());
                assert!(snapshot.complete, "{way} on {jdk}");
                assert!(hits(&snapshot, "Life").0 > 0, "{way} on {jdk}");
                let failed: Vec<&str> = snapshot
                    .failures
                    .iter()
                    .map(|failure| failure.class.as_str())
                    .collect();
                assert_eq!(failed, ["Life$Victim"], "{way} on {jdk}");
                run
            });
            warn.assert_exit(code).assert_stderr("Life$Victim");
            strict.assert_exit(3).assert_stderr("Life$Victim");
            assert_eq!(strict.stdout, warn.stdout, "{way} on {jdk}");
        }
    }
}

/// Returns a configuration with a plugin that traps on one class. Its snapshots are beside the file.
fn configuration(on_error: &str) -> String {
    let plugin = workspace::target("bundled/tests/misbehaving.wasm");
    format!(
        "[agent]\noutput = \".\"\non-error = \"{on_error}\"\n\n[[plugin]]\nuse = \"{}\"\ngrant = [\"probes\"]\n\n[plugin.config]\ndeed = \"trap\"\n",
        plugin.display()
    )
}
