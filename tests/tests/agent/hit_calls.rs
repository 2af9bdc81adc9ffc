//! Hits recorded by calls, which the compilers remove: the recording equals that of stores, also after a reset.

use super::generated_visits::{self, METHODS, Numbers};
use crate::support::agent::{hits, snapshot};
use crate::support::command::{LATE, assert_no_agent, classhook, json};
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::patience::await_that;
use e2e_tests::servant::{EndedServant, Servant};
use e2e_tests::{javac, rotation, scratch, workspace};
use probes::Snapshot;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The classes of `tests/java/hit_calls/Hot.java`.
fn classes() -> &'static Path {
    static CLASSES: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, classes) = CLASSES.get_or_init(|| {
        let folder = scratch();
        let file = workspace::test_file("java/hit_calls/Hot.java");
        let options = ["--release", "8", "-g"];
        let classes = javac::compile(&jdks::newest(), &[&file], folder.path(), &options);
        (folder, classes)
    });
    classes
}

fn java(jdk: &Jdk) -> Java {
    Java::new(jdk)
        .all_compilers()
        .options(late(jdk))
        .option("-Xverify:all")
        .class_path(&[classes()])
        .main("Hot")
}

/// Returns the option for late agents, which JVMs before 21 do not know.
fn late(jdk: &Jdk) -> &'static [&'static str] {
    if jdk.feature < 21 { &[] } else { &LATE }
}

/// Starts the program with the agent.
fn start(jdk: &Jdk, output: &Path, options: &str) -> Servant {
    let options = format!("output={}{options}", output.display());
    Servant::of(&java(jdk).agent(Some(&options)))
}

/// Returns the agent's way of recording hits: `calls`, or `stores` with a reason.
fn recorded_by(running: &Servant) -> (String, String) {
    let status = json(&["status", &running.pid().to_string()]);
    let text = |key: &str| status["hits"][key].as_str().unwrap_or_default().to_owned();
    (text("by"), text("because"))
}

#[track_caller]
fn end(running: Servant) {
    let EndedServant {
        stdout,
        stderr,
        code,
    } = running.end();
    assert_eq!((stdout.trim(), code), ("whole bursts", Some(0)), "{stderr}");
}

/// Returns each class with its hits.
fn all_hits(snapshot: &Snapshot) -> Vec<(&str, &[bool])> {
    let mut all: Vec<_> = snapshot
        .classes
        .iter()
        .map(|class| (class.name.as_str(), &class.probes[..]))
        .collect();
    all.sort();
    all
}

#[test]
fn calls_and_stores_record_the_same_hits() {
    for jdk in jdks::every_installation() {
        let folder = scratch();
        let recorded = ["calls", "stores"].map(|hits| {
            let output = folder.path().join(hits);
            let mut running = start(&jdk, &output, &format!(",hits={hits}"));
            assert_eq!(recorded_by(&running).0, hits, "{jdk}");
            assert_eq!(running.ask("rare 1"), "10", "{jdk}");
            assert_eq!(running.ask("rare 2"), "20", "{jdk}");
            // No code is called right after a stack overflow, because that would overflow the stack again.
            assert_eq!(running.ask("deep"), "1", "{jdk}");
            end(running);
            snapshot(&output)
        });
        let [calls, stores] = &recorded;
        assert_eq!(all_hits(calls), all_hits(stores), "{jdk}");
        let (hit, probes) = hits(calls, "Hot$Work");
        assert!(hit > 3 && hit < probes, "{hit} of {probes}");
    }
}

#[test]
fn jvm_without_c2_stores_hits_and_gives_the_reason() {
    let folder = scratch();
    for jdk in jdks::every_installation() {
        for (option, because) in [
            ("-XX:TieredStopAtLevel=1", "the JVM does not use C2"),
            ("-Xint", "the JVM does not compile"),
            ("-XX:-TieredCompilation", ""),
            ("-Xcomp", ""),
            ("-ea", ""),
        ] {
            let agent = format!("output={}", folder.path().display());
            let servant = Servant::of(&java(&jdk).option(option).agent(Some(&agent)));
            let by = if because.is_empty() {
                "calls"
            } else {
                "stores"
            };
            let expected = (by.to_owned(), because.to_owned());
            assert_eq!(recorded_by(&servant), expected, "{jdk} {option}");
            let status = classhook(&["status", &servant.pid().to_string()]);
            let said = match because {
                "" => "compilers remove a probe once it was hit".to_owned(),
                because => format!("hits are stored, since {because}"),
            };
            assert!(status.stdout.contains(&said), "{}", status.report());
            end(servant);
        }
    }
}

#[test]
fn agent_that_leaves_and_comes_back_records_every_hit() {
    let jdk = jdks::newest();
    let folder = scratch();
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    let mut running = start(&jdk, &first, "");
    let pid = running.pid().to_string();
    classhook(&["off", &pid]).assert_success();
    assert_no_agent(&pid);
    let output = second.to_string_lossy();
    classhook(&["attach", &pid, "--output", &output]).assert_success();
    assert_eq!(running.ask("rare 1"), "10");
    classhook(&["off", &pid]).assert_success();
    end(running);
    let hit = |folder| hits(&snapshot(folder), "Hot$Work").0;
    assert_eq!(hit(&second), hit(&first) + 1);
}

/// Options of the JVM that runs the generated program, and options of the agent.
const MODES: [(&[&str], &str); 6] = [
    (&[], ""),
    (&["-XX:-TieredCompilation"], ""),
    (&["-Xcomp"], ""),
    (&["-XX:TieredStopAtLevel=1"], ",hits=calls"),
    (&["-Xint"], ",hits=calls"),
    (&["-XX:+UseParallelGC", "-XX:-BackgroundCompilation"], ""),
];
/// Number of resets of each JVM.
const RESETS: u64 = 6;
/// Number of visits before each reset, so that the code is compiled.
const VISITS: u64 = 60_000;

/// Numbers of begun and ended visits of each method.
struct Visits {
    begun: Vec<u64>,
    ended: Vec<u64>,
}

impl Visits {
    fn of(running: &mut Servant) -> Self {
        let answer = running.ask("counts");
        let (begun, ended) = answer.split_once(';').expect("two lists");
        let numbers = |list: &str| {
            list.split(',')
                .map(|n| n.parse().expect("a number"))
                .collect()
        };
        Self {
            begun: numbers(begun),
            ended: numbers(ended),
        }
    }

    fn await_more(running: &mut Servant, visits: u64) {
        let sum = |running: &mut Servant| Self::of(running).ended.iter().sum::<u64>();
        let before = sum(running);
        await_that("visits", || sum(running) >= before + visits);
    }
}

/// Resets a generated program at random times. A method with a whole visit after a reset must be hit, and one without a
/// visit since must not. Returns the numbers of both.
fn assert_exact(jdk: &Jdk, (jvm, agent): (&[&str], &str), seed: u64) -> [usize; 2] {
    let folder = scratch();
    let source = folder.path().join("Roots.java");
    std::fs::write(&source, generated_visits::source(seed)).expect("writable");
    let oracle = workspace::test_file("java/hit_calls/Oracle.java");
    let options = ["--release", "8", "-g"];
    let classes = javac::compile(
        &jdks::newest(),
        &[&source, &oracle],
        folder.path(),
        &options,
    );
    let output = folder.path().join("output");
    let java = Java::new(jdk)
        .all_compilers()
        .options(late(jdk))
        .options(jvm)
        .class_path(&[&classes])
        .main("Oracle");
    let is_late = seed.is_multiple_of(2) && agent.is_empty();
    let agent = format!("output={},select=M*{agent}", output.display());
    let mut running = Servant::of(&match is_late {
        true => java,
        false => java.agent(Some(&agent)),
    });
    let pid = running.pid().to_string();
    if is_late {
        let output = output.to_string_lossy();
        classhook(&["attach", &pid, "--select", "M*", "--output", &output]).assert_success();
    }
    assert_eq!(recorded_by(&running).0, "calls", "{jdk} {jvm:?}");
    let mut numbers = Numbers(seed);
    let taken = folder
        .path()
        .join("taken.exec")
        .to_string_lossy()
        .into_owned();
    let mut checked = [0; 2];
    for reset in 0..RESETS {
        running.ask(&format!("allow {:x}", numbers.next()));
        Visits::await_more(&mut running, VISITS);
        let before = Visits::of(&mut running);
        match reset % 2 {
            0 => classhook(&["reset", &pid]).assert_success(),
            _ => classhook(&["dump", &pid, "--reset", "--to", &taken]).assert_success(),
        };
        let after = Visits::of(&mut running);
        Visits::await_more(&mut running, 1 + numbers.below(VISITS));
        let last = Visits::of(&mut running);
        classhook(&["dump", &pid]).assert_success();
        let end = Visits::of(&mut running);
        let snapshot = snapshot(&output);
        for method in 0..METHODS {
            let name = format!("M{method}");
            let found = snapshot.classes.iter().find(|class| class.name == name);
            let is_hit = found.is_some_and(|class| class.probes.contains(&true));
            let context = || format!("{jdk} {jvm:?} seed {seed}, reset {reset}, {name}");
            if last.ended[method] > after.begun[method] {
                assert!(is_hit, "a hit is lost: {}", context());
                checked[0] += 1;
            }
            if end.begun[method] == before.ended[method] {
                assert!(!is_hit, "a hit from before: {}", context());
                checked[1] += 1;
            }
        }
    }
    let EndedServant { stderr, code, .. } = running.end();
    assert_eq!(code, Some(0), "{stderr}");
    checked
}

#[test]
fn hits_after_a_reset_are_those_of_an_oracle() {
    let mut sums = [0; 2];
    for (jdk, number) in jdks::every_installation().iter().zip(0_u64..) {
        let name = format!("hit-calls-{}", jdk.feature);
        let in_turn = rotation::turn(&name, MODES.len());
        for (mode, index) in MODES.iter().zip(0_usize..) {
            if rotation::everything() || index == in_turn {
                let seed = number * 100 + rotation::turn(&name, 1_000_000) as u64;
                let [hit, not] = assert_exact(jdk, *mode, seed);
                sums = [sums[0] + hit, sums[1] + not];
            }
        }
    }
    println!("{} methods hit after a reset, {} not", sums[0], sums[1]);
    assert!(sums[0] > 0 && sums[1] > 0, "{sums:?}");
}
