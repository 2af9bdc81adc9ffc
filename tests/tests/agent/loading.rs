//! Classes loaded in unusual ways: the program behaves as without the agent.

use crate::support::agent::{hits, java, names, noise, snapshot};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::scratch;
use probes::Snapshot;
use std::collections::BTreeSet;

/// Runs a program without and with the agent. Output, status and standard error must be equal.
#[track_caller]
fn check(jdk: &Jdk, prepare: impl Fn(Java) -> Java) -> (Run, Snapshot) {
    let folder = scratch();
    let plain = prepare(java(jdk)).run();
    let run = prepare(java(jdk).coverage(folder.path())).run();
    assert_eq!(run.status, plain.status, "on {jdk}\n{}", run.report());
    assert_eq!(run.stdout, plain.stdout, "on {jdk}\n{}", run.report());
    assert_eq!(noise(&run), noise(&plain), "on {jdk}\n{}", run.report());
    let snapshot = snapshot(folder.path());
    assert!(snapshot.complete, "on {jdk}");
    assert_eq!(
        snapshot.summary.failed, 0,
        "on {jdk}: {:?}",
        snapshot.failures
    );
    (run, snapshot)
}

#[track_caller]
fn loading(what: &str) -> Vec<Snapshot> {
    let jdks = jdks::main_two();
    jdks.iter()
        .map(|jdk| check(jdk, |java| java.main("Loading").argument(what)).1)
        .collect()
}

/// JNI initializes the classes that it finds. The class of virtual threads would create a scheduler in each JVM.
#[test]
fn start_of_the_agent_initializes_no_part_of_the_jdk() {
    for jdk in jdks::main_three() {
        let folder = scratch();
        let loaded = |java: Java| {
            let run = java.options(&["-Xlog:class+load", "-version"]).run();
            run.assert_success();
            let lines = run
                .stdout
                .lines()
                .filter(|line| line.contains("class,load"));
            let names = lines.filter_map(|line| line.split_whitespace().nth(1));
            names.map(str::to_owned).collect::<BTreeSet<_>>()
        };
        let without = loaded(Java::new(&jdk));
        let with = loaded(Java::new(&jdk).coverage(folder.path()));
        assert!(with.contains("java.lang.$Classhook"), "{jdk}: {with:?}");
        let more = with.difference(&without);
        let of_the_jdk: Vec<_> = more
            .filter(|name| !name.starts_with("java.lang.$Classhook"))
            .collect();
        // Errors about members that a release lacks, and classes that an archive brings along.
        assert!(of_the_jdk.len() < 12, "{jdk}: {of_the_jdk:?}");
    }
}

#[test]
fn class_loaded_at_the_bottom_of_a_small_stack() {
    for snapshot in loading("small-stack") {
        for number in 5000..5040 {
            let (hit, all) = hits(&snapshot, &format!("Template{number}"));
            assert!(hit > 0 && hit < all);
        }
    }
}

#[test]
fn class_loaded_eight_thousand_frames_deep() {
    for snapshot in loading("deep") {
        assert!(hits(&snapshot, "Template6000").0 > 0);
    }
}

#[test]
fn thirty_two_threads_load_classes_at_once() {
    for snapshot in loading("parallel") {
        for number in 7000..7320 {
            assert!(hits(&snapshot, &format!("Template{number}")).0 > 0);
        }
        // 31 definitions of this class were refused, one is in use, and no method was called
        assert_eq!(hits(&snapshot, "Template7999").0, 0);
    }
}

#[test]
fn same_class_in_two_loaders_shares_its_probes() {
    for snapshot in loading("twice") {
        let (hit, _) = hits(&snapshot, "Template8000");
        let (single, _) = hits(&snapshot, "Loading");
        assert!(
            hit >= 2 && single > 0,
            "both loaders' calls are seen: {hit}"
        );
    }
}

#[test]
fn class_defined_without_a_name_is_covered() {
    for snapshot in loading("no-name") {
        assert!(hits(&snapshot, "Template8100").0 > 0);
    }
}

#[test]
fn class_without_a_source_location_is_left_alone() {
    for snapshot in loading("no-location") {
        assert!(!names(&snapshot).contains(&"Template8200"));
    }
}

#[test]
fn class_loaded_while_an_exception_is_on_its_way() {
    for snapshot in loading("pending") {
        assert!(hits(&snapshot, "Template8300").0 > 0);
    }
}

#[test]
fn lambdas_and_hidden_classes_are_neither_changed_nor_missed() {
    for snapshot in loading("hidden") {
        assert!(hits(&snapshot, "Loading").0 > 0);
        assert!(
            names(&snapshot)
                .iter()
                .all(|name| !name.contains("0x") && !name.contains('+'))
        );
        assert!(!names(&snapshot).contains(&"Template8400"));
    }
}

#[test]
fn bytes_that_are_no_class_reach_the_jvm_unchanged() {
    loading("garbage");
}

#[test]
fn more_probes_than_one_array_holds() {
    for snapshot in loading("many") {
        let classes: Vec<_> = snapshot
            .classes
            .iter()
            .filter(|class| class.name.starts_with("Template0"))
            .collect();
        assert_eq!(classes.len(), 400);
        let probes: usize = classes.iter().map(|class| class.probes.len()).sum();
        assert!(
            probes > probes::NEAR_LENGTH,
            "{probes} probes are no test of siblings"
        );
        for class in classes {
            assert!(class.probes.contains(&true), "{} has no hit", class.name);
            assert!(
                class.probes.contains(&false),
                "{} has hits that cannot be",
                class.name
            );
        }
    }
}

/// One thread defines arrays while eight others need them.
#[test]
fn burst_of_three_hundred_thousand_probes_finds_room() {
    for snapshot in loading("burst") {
        let made = |class: &&probes::SnapshotClass| class.name.starts_with("Template");
        let classes: Vec<_> = snapshot.classes.iter().filter(made).collect();
        assert_eq!(classes.len(), 8 * 450);
        let probes: usize = classes.iter().map(|class| class.probes.len()).sum();
        assert!(probes > 300_000, "{probes} probes are no burst");
        for class in classes {
            assert!(class.probes.contains(&true), "{} has no hit", class.name);
        }
    }
}

#[test]
fn interpreted_code_runs_the_same() {
    for jdk in jdks::main_two() {
        let (_, snapshot) = check(&jdk, |java| {
            java.option("-Xint")
                .main("Loading")
                .arguments(&["twice", "many"])
        });
        assert!(hits(&snapshot, "Template0007").0 > 0);
    }
}

#[test]
fn flight_recorder_runs_beside_the_agent() {
    for jdk in jdks::main_two() {
        let recording = scratch();
        let file = recording.path().join("r.jfr");
        let folder = scratch();
        let run = java(&jdk)
            .coverage(folder.path())
            .option(format!(
                "-XX:StartFlightRecording=settings=profile,filename={}",
                file.display()
            ))
            .main("Loading")
            .arguments(&["twice", "many", "parallel"])
            .run();
        run.assert_success();
        assert!(run.stdout.contains("done"), "{}", run.report());
        assert!(file.metadata().expect("a recording").len() > 0);
        assert!(!run.stderr.contains("classhook:"), "{}", run.report());
        assert!(hits(&snapshot(folder.path()), "Template0007").0 > 0);
    }
}

#[test]
fn virtual_threads_load_and_hit() {
    for jdk in jdks::main_two().iter().filter(|jdk| jdk.feature >= 21) {
        let (run, snapshot) = check(jdk, |java| java.main("Virtual"));
        assert!(run.stdout.contains("virtual 200"), "{}", run.report());
        for number in 9000..9050 {
            assert!(hits(&snapshot, &format!("Template{number}")).0 > 0);
        }
    }
}

/// The JVM's log shows the order: the live phase begins, the helper class exists, and only then the agent receives
/// classes.
#[test]
fn agent_gets_no_class_before_the_live_phase_and_its_helper_class() {
    let folder = scratch();
    let log = folder.path().join("jvm.log");
    java(&jdks::newest())
        .option("-XX:TraceJVMTI=ec")
        .option(format!(
            "-Xlog:jvmti=trace,class+load=info:file={}",
            log.display()
        ))
        .coverage(folder.path())
        .main("Life")
        .argument("end")
        .run()
        .assert_success();
    let text = std::fs::read_to_string(&log).expect("a log");
    let first = |what: &str| {
        let at = text
            .lines()
            .position(|line| format!("{line} ").contains(what));
        at.unwrap_or_else(|| panic!("`{what}` is not in the log of the JVM"))
    };
    let live = first("# VM live");
    let helper = first(" java.lang.$Classhook ");
    let hook = first("# user enabled event ClassFileLoadHook");
    let life = first(" Life source:");
    assert!(
        live < helper && helper < hook && hook < life,
        "{live}, {helper}, {hook}, {life}"
    );
}
