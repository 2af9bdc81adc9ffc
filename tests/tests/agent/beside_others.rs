//! The agent beside other agents: in either order both do their work, and the program runs unchanged.

use crate::support::agent;
use crate::support::agent::{hits, names, noise, snapshot};
use attach::Attachment;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{jacoco, javac, scratch, workspace};
use jacoco_files::{Execution, XmlReport};
use probes::Snapshot;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The other agent, and the versions of `Target`.
struct Compiled {
    _folder: TempDir,
    classes: PathBuf,
    jar: PathBuf,
    added: PathBuf,
    changed: PathBuf,
}

fn compiled() -> &'static Compiled {
    static COMPILED: OnceLock<Compiled> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let jdk = jdks::newest();
        let folder = scratch();
        let compile = |into: &str, files: &[&str]| {
            let files: Vec<PathBuf> = files
                .iter()
                .map(|file| workspace::test_file(&format!("java/beside/{file}.java")))
                .collect();
            let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
            javac::compile(
                &jdk,
                &files,
                &folder.path().join(into),
                &["--release", "17"],
            )
        };
        let classes = compile("main", &["Beside", "Target", "Other"]);
        let added = compile("added", &["added/Target"]).join("Target.class");
        let changed = compile("changed", &["changed/Target"]).join("Target.class");
        let manifest =
            "Premain-Class: Other\nCan-Retransform-Classes: true\nCan-Redefine-Classes: true\n";
        let jar = folder.path().join("other.jar");
        let jar = javac::jar(&jdk, &classes, "Other.class", manifest, &jar);
        Compiled {
            _folder: folder,
            classes,
            jar,
            added,
            changed,
        }
    })
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Order {
    WithoutOurs,
    OursFirst,
    OursLast,
}

/// Returns a program with another agent and, on request, ours before or after it.
fn beside(java: Java, other: &str, order: Order, output: &Path) -> Java {
    match order {
        Order::WithoutOurs => java.option(other),
        Order::OursFirst => java.coverage(output).option(other),
        Order::OursLast => java.option(other).coverage(output),
    }
}

fn java(jdk: &Jdk) -> Java {
    Java::new(jdk)
        .options(&["-Xverify:all", "-Xcheck:jni"])
        .class_path(&[&compiled().classes])
}

fn other(options: &str) -> String {
    format!("-javaagent:{}={options}", compiled().jar.display())
}

/// Runs `Beside` without ours, with ours first and with ours last, on each JDK. The output must be the same. Passes
/// each snapshot to `check`.
fn each_order(options: &str, arguments: &[&str], check: impl Fn(&Snapshot, &Run)) {
    for jdk in jdks::main_two() {
        let [plain, first, last] =
            [Order::WithoutOurs, Order::OursFirst, Order::OursLast].map(|order| {
                let folder = scratch();
                let java = beside(java(&jdk), &other(options), order, folder.path());
                let run = java.main("Beside").arguments(arguments).run();
                run.assert_success();
                if order != Order::WithoutOurs {
                    let snapshot = snapshot(folder.path());
                    assert!(snapshot.complete, "{order:?} on {jdk}");
                    let failures = &snapshot.failures;
                    assert!(failures.is_empty(), "{order:?} on {jdk}: {failures:?}");
                    check(&snapshot, &run);
                }
                run
            });
        for run in [first, last] {
            assert_eq!(run.stdout, plain.stdout, "on {jdk}\n{}", run.report());
            assert_eq!(noise(&run), noise(&plain), "on {jdk}\n{}", run.report());
        }
    }
}

#[track_caller]
fn all_hit(snapshot: &Snapshot, class: &str) -> usize {
    let (hit, all) = hits(snapshot, class);
    assert_eq!(hit, all, "probes of {class}");
    all
}

/// The other agent receives a class before us, so we measure its result.
#[test]
fn method_added_by_an_incapable_agent_at_load_is_covered() {
    let options = format!("incapable:{}", compiled().added.display());
    each_order(&options, &["once", "all"], |snapshot, run| {
        assert!(run.stdout.contains("\nadded\n"), "{}", run.report());
        let bytes = std::fs::read(&compiled().added).expect("the class");
        let target = snapshot.classes.iter().find(|class| class.name == "Target");
        let found = target.expect("Target").fingerprint;
        assert_eq!(
            found,
            fingerprint::of(&bytes),
            "the bytes of the other agent"
        );
        assert!(all_hit(snapshot, "Target") > 5);
    });
}

/// JaCoCo does the same if it is named first; otherwise a report does not find the class.
#[test]
fn class_is_measured_as_it_is_before_an_incapable_agent_changes_it() {
    let class = std::fs::read(compiled().classes.join("Target.class")).expect("the class");
    for jdk in jdks::main_three() {
        for (is_before, option) in [(true, ",before-agents=on"), (false, "")] {
            let folder = scratch();
            let output = folder.path().display();
            let options = format!("plugin=coverage,output={output}{option}");
            let run = java(&jdk)
                .agent(Some(&options))
                .option(other("weaving:"))
                .main("Beside")
                .arguments(&["once", "all"])
                .run();
            run.assert_success();
            assert!(run.stdout.contains(" other\n"), "{}", run.report());
            let snapshot = snapshot(folder.path());
            let failures = &snapshot.failures;
            assert!(failures.is_empty(), "on {jdk}: {failures:?}");
            let target = snapshot.classes.iter().find(|class| class.name == "Target");
            let id = target.expect("Target").fingerprint;
            assert_eq!(id == fingerprint::of(&class), is_before, "on {jdk}");
            all_hit(&snapshot, "Target");
        }
    }
}

#[test]
fn command_measures_classes_before_other_agents_and_leaves_them_changed() {
    let folder = scratch();
    let (output, xml) = (folder.path().join("out"), folder.path().join("report.xml"));
    let jdk = jdks::newest();
    let run = Java::program(workspace::classhook())
        .arguments(&["coverage", "--before-agents", "--output"])
        .argument(&output)
        .arguments(&["--classes"])
        .argument(&compiled().classes)
        .arguments(&["--xml"])
        .argument(&xml)
        .arguments(&["--"])
        .argument(jdk.home.join("bin/java"))
        .argument(other("weaving:"))
        .arguments(&["-cp"])
        .argument(&compiled().classes)
        .arguments(&["Beside", "all"])
        .run();
    run.assert_success();
    assert!(!run.stderr.contains("H0622"), "{}", run.report());
    let report = XmlReport::read(&xml);
    let lines = report.values("/package /class Target/counter LINE");
    assert_eq!(lines, Some("covered=6 missed=0"));
}

/// The JVM keeps the edits of agents without the capability, and runs ours again on them.
#[test]
fn probes_and_added_method_survive_another_agents_retransformation() {
    let options = format!("incapable:{}", compiled().added.display());
    let arguments = ["once", "retransform", "all", "retransform"];
    each_order(&options, &arguments, |snapshot, run| {
        assert!(run.stdout.contains("\nadded\n"), "{}", run.report());
        all_hit(snapshot, "Target");
    });
}

#[test]
fn probes_and_edits_of_a_capable_agent_survive_a_retransformation() {
    let arguments = ["once", "retransform", "all"];
    each_order("capable:", &arguments, |snapshot, run| {
        assert!(run.stdout.contains(" other\n"), "{}", run.report());
        all_hit(snapshot, "Target");
    });
}

#[test]
fn classes_without_probes_are_retransformed_as_without_our_agent() {
    each_order("none", &["retransform-rest", "all"], |snapshot, _| {
        let shapes = names(snapshot)
            .iter()
            .filter(|name| **name == "Beside$Shape")
            .count();
        assert!(shapes <= 1, "{:?}", names(snapshot));
        assert!(!names(snapshot).contains(&"java/util/ArrayList"));
        all_hit(snapshot, "Target");
    });
}

/// New bytes are a new class to a report, as to JaCoCo. The old class keeps its hits.
#[test]
fn class_redefined_by_another_agent_is_covered_under_both_its_ids() {
    let redefine = format!("redefine:{}", compiled().changed.display());
    each_order(
        "none",
        &["once", redefine.as_str(), "all"],
        |snapshot, run| {
            assert!(run.stdout.starts_with("11\n21 22 "), "{}", run.report());
            let targets: Vec<(usize, usize)> = snapshot
                .classes
                .iter()
                .filter(|class| class.name == "Target")
                .map(|class| {
                    (
                        class.probes.iter().filter(|hit| **hit).count(),
                        class.probes.len(),
                    )
                })
                .collect();
            let [(old_hit, old_all), (new_hit, new_all)] = targets[..] else {
                panic!("two versions of Target, found {targets:?}");
            };
            assert!(old_hit > 0 && old_hit < old_all, "{old_hit} of {old_all}");
            assert_eq!(new_hit, new_all);
        },
    );
}

/// JDK 17 loses a redefinition when any agent with the capability has changed the class. That happens with the other
/// agent alone, and ours does not change it.
#[test]
fn redefinition_fares_at_a_retransformation_as_with_the_other_agent_alone() {
    let redefine = format!("redefine:{}", compiled().changed.display());
    let arguments = ["once", redefine.as_str(), "retransform", "all"];
    each_order("capable:", &arguments, |snapshot, run| {
        assert!(run.stdout.contains(" other\n"), "{}", run.report());
        let targets = names(snapshot)
            .iter()
            .filter(|name| **name == "Target")
            .count();
        assert_eq!(targets, 2, "{:?}", names(snapshot));
    });
}

/// Runs `Beside` with another agent, attaches ours while it waits, and lets it continue. Returns its output from then
/// on, and its standard error.
fn attached_beside(jdk: &Jdk, options: &str, rest: &[&str], output: &Path) -> (String, String) {
    let java = java(jdk).option(other(options));
    attached(&java, jdk, "11\n", || {}, rest, output)
}

/// Runs `Beside`, which prints `once` first, attaches ours while it waits, after `meanwhile`, and lets it continue.
/// Returns its output from then on, and its standard error.
fn attached(
    java: &Java,
    jdk: &Jdk,
    once: &str,
    meanwhile: impl FnOnce(),
    rest: &[&str],
    output: &Path,
) -> (String, String) {
    let go = output.join("go");
    let mut child = java
        .clone()
        .option("-XX:+EnableDynamicAgentLoading")
        .main("Beside")
        .arguments(&["once", &format!("wait:{}", go.display())])
        .arguments(rest)
        .spawn();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    for expected in [once, "waiting\n"] {
        let mut line = String::new();
        out.read_line(&mut line).expect("output");
        assert_eq!(line, expected, "on {jdk}");
    }
    meanwhile();
    Attachment::open(i32::try_from(child.id()).expect("a pid"))
        .and_then(|attachment| {
            let options = format!("output={}", output.display());
            attachment.load(&workspace::agent_library(), &options)
        })
        .expect("attached");
    std::fs::write(&go, "").expect("written");
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("output");
    let mut errors = String::new();
    child
        .stderr
        .take()
        .expect("a pipe")
        .read_to_string(&mut errors)
        .expect("output");
    assert!(child.wait().expect("an end").success(), "{rest}\n{errors}");
    (rest, errors)
}

/// Asserts that the running class, which differs from its file, is instrumented with every method.
#[track_caller]
fn covered_as_it_runs(jdk: &Jdk, (rest, errors): (String, String), starts: &str, output: &Path) {
    assert!(rest.starts_with(starts), "{rest}");
    assert!(!errors.contains("classhook:"), "{errors}");
    let snapshot = snapshot(output);
    assert!(all_hit(&snapshot, "Target") > 5, "on {jdk}");
    assert_eq!(snapshot.summary.skipped_methods, 0, "on {jdk}");
    assert!(snapshot.failures.is_empty(), "{:?}", snapshot.failures);
    let files = [
        compiled().classes.join("Target.class"),
        compiled().changed.clone(),
    ];
    let target = snapshot.classes.iter().find(|class| class.name == "Target");
    let found = target.expect("Target").fingerprint;
    for file in files {
        let bytes = std::fs::read(file).expect("the class");
        assert_ne!(found, fingerprint::of(&bytes), "no file's id");
    }
}

#[test]
fn class_that_an_agent_changed_at_its_load_is_covered_as_it_runs_when_attached_to() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let java = java(&jdk).option(other(&format!(
            "incapable:{}",
            compiled().changed.display()
        )));
        let program = ["all", "retransform-rest"];
        let output = attached(&java, &jdk, "21\n", || {}, &program, folder.path());
        covered_as_it_runs(&jdk, output, "21 22 ", folder.path());
    }
}

#[test]
fn class_whose_file_was_replaced_since_it_was_loaded_is_covered_as_it_runs_when_attached_to() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = folder.path().join("classes");
        std::fs::create_dir(&classes).expect("a folder");
        for file in javac::files_with_extension(&compiled().classes, "class") {
            let copy = classes.join(file.file_name().expect("a name"));
            std::fs::copy(&file, copy).expect("copied");
        }
        let java = Java::new(&jdk)
            .options(&["-Xverify:all", "-Xcheck:jni"])
            .class_path(&[&classes]);
        let replace = || {
            std::fs::copy(&compiled().changed, classes.join("Target.class")).expect("copied");
        };
        let output = attached(&java, &jdk, "11\n", replace, &["all"], folder.path());
        covered_as_it_runs(&jdk, output, "11 12 ", folder.path());
    }
}

/// The JVM reconstitutes the bytes that an attach receives. A later retransformation receives the same, which is still
/// the class whose file was found then.
#[test]
fn another_agents_retransformation_after_an_attach_finds_the_same_class() {
    for jdk in jdks::main_two() {
        for options in ["none", "capable:"] {
            let folder = scratch();
            let program = ["retransform", "all", "retransform-rest"];
            let (rest, errors) = attached_beside(&jdk, options, &program, folder.path());
            let mark = if options == "none" { "plain" } else { "other" };
            assert!(
                rest.starts_with(&format!("11 12 13 13 13 16 16 {mark}\n")),
                "{rest}"
            );
            assert!(!errors.contains("classhook:"), "{errors}");
            let snapshot = snapshot(folder.path());
            let names: BTreeSet<&str> = names(&snapshot).into_iter().collect();
            assert_eq!(
                names.len(),
                snapshot.classes.len(),
                "a class twice on {jdk}"
            );
            all_hit(&snapshot, "Target");
            let bytes = std::fs::read(compiled().classes.join("Target.class")).expect("the class");
            let target = snapshot.classes.iter().find(|class| class.name == "Target");
            let found = target.expect("Target").fingerprint;
            assert_eq!(found, fingerprint::of(&bytes), "JaCoCo's id on {jdk}");
        }
    }
}

/// The JVM refuses all classes of one retransformation because of the one that another agent broke. The others are
/// instrumented all the same, and the message names that one.
#[test]
fn a_class_that_another_agent_breaks_does_not_keep_the_batch_from_its_probes() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let (rest, errors) = attached_beside(&jdk, "breaking:", &["all"], folder.path());
        assert!(rest.starts_with("11 12 13 13 13 16 16 plain\n"), "{rest}");
        assert!(errors.contains("Target"), "{errors}");
        let snapshot = snapshot(folder.path());
        let failures = format!("{:?}", snapshot.failures);
        assert!(failures.contains("Target"), "{failures}");
        assert!(!failures.contains("Beside"), "{failures}");
        assert!(hits(&snapshot, "Beside").0 > 0, "on {jdk}");
        assert!(!names(&snapshot).contains(&"Target"), "on {jdk}");
    }
}

/// JaCoCo's agent cannot retransform, so it comes first in either order. Its ids are those of the files, ours those of
/// its results.
#[test]
fn jacoco_in_the_same_jvm_measures_as_if_alone_and_so_do_we() {
    for jdk in jdks::main_two() {
        let program = |java: Java| java.main("Loading").arguments(&["twice", "many"]).run();
        let alone = scratch();
        let exec = alone.path().join("jacoco.exec");
        let plain = program(agent::java(&jdk).option(jacoco::agent_option(&exec, None)));
        let wanted = Execution::read(&exec);
        program(agent::java(&jdk).coverage(alone.path())).assert_success();
        let ours_alone = snapshot(alone.path());
        for order in [Order::OursFirst, Order::OursLast] {
            let folder = scratch();
            let exec = folder.path().join("jacoco.exec");
            let option = jacoco::agent_option(&exec, None);
            let run = program(beside(agent::java(&jdk), &option, order, folder.path()));
            run.assert_success();
            assert_eq!(run.stdout, plain.stdout, "{order:?} on {jdk}");
            assert_eq!(noise(&run), noise(&plain), "{order:?} on {jdk}");
            let found = Execution::read(&exec);
            let differences = found.differences(&wanted);
            assert!(
                differences.is_empty(),
                "{order:?} on {jdk}: {differences:?}"
            );
            let ours = snapshot(folder.path());
            assert!(
                ours.complete && ours.failures.is_empty(),
                "{order:?} on {jdk}"
            );
            for class in &ours_alone.classes {
                let hit = class.probes.contains(&true);
                let beside = hits(&ours, &class.name).0 > 0;
                assert_eq!(beside, hit, "{} {order:?} on {jdk}", class.name);
            }
        }
    }
}
