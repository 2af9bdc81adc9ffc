//! Every class of whole corpora under every kind of edit: no edit fails, the inserted code can be removed again, and
//! the JDK's own verifier reports no new error.
//!
//! A run takes an eightieth of the classes, and a nightly run another one each day. `CLASSHOOK_ROTATION=all` takes every
//! class.
//! The counts are in `target/corpus/report` afterwards. `cargo xtask corpus` makes the table of the documentation from
//! them.

use class_description::{Arena, describe};
use coverage::analysis::{implied_probes, probe_count};
use e2e_tests::corpus::{self, Class};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks;
use e2e_tests::workspace::test_file;
use e2e_tests::{artifacts, javac, rotation, scratch, workspace};
use rayon::prelude::*;
use rewriter::{CheckScratch, ClassFile, EditPlan, Scratch};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[path = "corpora/coverage_plan.rs"]
mod coverage_plan;
#[path = "corpora/helper_sets.rs"]
mod helper_sets;
#[path = "../../../rewriter/examples/corpus/plans.rs"]
pub mod plans;
#[path = "corpora/report.rs"]
mod report;

use report::Row;

/// The release whose `java.lang.classfile` verifies.
const VERIFIER: u32 = 25;
/// Number of nightly runs after which every class had its turn.
const PARTS: usize = 80;
/// Number of nightly runs after which every other compiler had its turn. It is no divisor of [`PARTS`], so that all its classes
/// have theirs.
const COMPILERS_IN: usize = 3;
/// Number of classes in memory, and in the verifier, at a time.
const CHUNK: usize = 8_192;
/// The probes of the coverage plugin, in addition to those of [`plans::kinds`].
const COVERAGE: &str = "coverage";

/// Output of other compilers than `javac`, some of it rewritten by ProGuard, jarjar or AspectJ; and of old `javac`s.
const OTHERS: [(&str, &[&str]); 9] = [
    (
        "Kotlin",
        &[
            "kotlin-compiler",
            "kotlin-stdlib",
            "kotlin-reflect",
            "kotlinx-coroutines",
            "kotlin-daemon",
        ],
    ),
    (
        "Scala",
        &["scala-compiler", "scala-library", "scala-reflect"],
    ),
    ("Groovy", &["groovy"]),
    ("Clojure", &["clojure", "clojure-spec"]),
    ("JRuby", &["jruby"]),
    ("Jython", &["jython"]),
    ("AspectJ", &["aspectjtools"]),
    ("ecj", &["ecj"]),
    (
        "others",
        &[
            "google-java-format",
            "h2",
            "antlr",
            "rhino",
            "javacc",
            "luaj",
            "beanshell",
            "jacoco-cli",
        ],
    ),
];

#[test]
fn classes_of_jdk_17_survive_every_edit() {
    jdk(17);
}

#[test]
fn classes_of_jdk_25_survive_every_edit() {
    jdk(25);
}

fn jdk(feature: u32) {
    let Some(jdk) = jdks::main_two()
        .into_iter()
        .find(|jdk| jdk.feature == feature)
    else {
        println!("no full JDK {feature} here: its classes were not tried");
        return;
    };
    let folder = corpus::jdk_classes(&jdk);
    let found = check(&format!("JDK {feature}"), &corpus::in_folder(&folder));
    assert!(found > 250, "{jdk} has only {found} classes to try");
}

#[test]
fn classes_of_other_compilers_survive_every_edit() {
    let mut found = 0;
    for (place, (title, names)) in OTHERS.into_iter().enumerate() {
        if !rotation::is_turn_of("other compilers", place, COMPILERS_IN) {
            continue;
        }
        let jars = artifacts::paths(names);
        let classes = jars.iter().flat_map(|jar| {
            let jar_name = jar.file_name().unwrap_or_default().to_string_lossy();
            let mut classes = corpus::in_jar(jar);
            for class in &mut classes {
                class.name = format!("{jar_name}/{}", class.name);
            }
            classes
        });
        found += check(title, &classes.collect::<Vec<_>>());
    }
    let least = if rotation::everything() { 80_000 } else { 75 };
    assert!(found > least, "only {found} classes to try");
}

/// Checks that reports know of each hit that the rewriter may remove from a long method.
fn assert_reports_know_implied(name: &str, class: &ClassFile<'_>, plan: &EditPlan) {
    let arena = Arena::new();
    let described =
        describe(class.bytes(), &arena).unwrap_or_else(|error| panic!("{name}: {error}"));
    if probe_count(&described) != plan.edits().len() {
        return; // subroutines, which the plan leaves alone
    }
    let known: HashSet<_> = implied_probes(&described).into_iter().collect();
    for method in class.methods() {
        for hit in plan.implied_hits(class, method.index()) {
            let pair = (hit.probe as usize, hit.by as usize);
            assert!(known.contains(&pair), "{name}.{}: {hit:?}", method.name());
        }
    }
}

/// Returns the classes of this run.
fn wanted(classes: &[Class]) -> Vec<&Class> {
    let in_turn = |class: &&Class| rotation::turn(&class.name, PARTS) == 0;
    classes
        .iter()
        .filter(|class| rotation::everything() || in_turn(class))
        .collect()
}

/// Rewrites the classes of this run with each kind of edit, and verifies them. Returns their number.
fn check(title: &str, all: &[Class]) -> usize {
    let scratch = scratch();
    // All classes, so that the verifier has the whole hierarchy.
    let original = scratch.path().join("original");
    corpus::write_pack(
        &original,
        all.iter().map(|class| (&*class.name, &*class.bytes)),
    );
    let classes = wanted(all);
    let mut rows = Vec::new();
    let mut rewritten = Vec::new();
    for kind in plans::kinds().chain([COVERAGE]) {
        let mut row = Row::new(title, kind);
        for (index, chunk) in classes.chunks(CHUNK).enumerate() {
            let outputs: Vec<_> = chunk.par_iter().map(|class| rewrite(class, kind)).collect();
            let pack = scratch.path().join(format!("{kind}-{index}"));
            let changed = outputs.iter().zip(chunk);
            let changed = changed.filter_map(|(output, class)| {
                let bytes = output.bytes.as_deref()?;
                Some((&*class.name, bytes))
            });
            corpus::write_pack(&pack, changed);
            outputs.iter().for_each(|output| row.add(&output.row));
            rewritten.push(pack);
        }
        println!("{row}");
        rows.push(row);
    }
    if let Some(run) = verifier(&original, &rewritten) {
        report::verified(&mut rows, &run.stdout);
        report::write(
            &workspace::target("corpus/report"),
            title,
            rotation::everything(),
            &rows,
        );
        run.assert_success();
    } else {
        println!("no JDK {VERIFIER} here: its verifier was not asked");
    }
    for row in &rows {
        row.assert_sound();
    }
    classes.len()
}

/// The result for one class.
struct Output {
    /// The rewritten class, if code was inserted.
    bytes: Option<Vec<u8>>,
    /// The counts of this class alone.
    row: Row,
}

/// Rewrites a class and makes all checks that need no verifier.
fn rewrite(original: &Class, kind: &str) -> Output {
    let Class { name, bytes } = original;
    let mut row = Row {
        classes: 1,
        ..Row::default()
    };
    let class = ClassFile::read(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    rewriter::splice(
        &class,
        &EditPlan::new(),
        &plans::STORAGE,
        &mut scratch,
        &mut out,
    )
    .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(out == *bytes, "{name}: an empty plan changed the class");
    let plan = if kind == COVERAGE {
        coverage_plan::plan(&class)
    } else {
        plans::plan(&class, kind).map_err(|error| error.to_string())
    };
    let plan = plan.unwrap_or_else(|error| panic!("{name}: {kind}: {error}"));
    if kind == COVERAGE {
        assert_reports_know_implied(name, &class, &plan);
    }
    let report = rewriter::splice(&class, &plan, &plans::STORAGE, &mut scratch, &mut out)
        .unwrap_or_else(|error| panic!("{name}: {kind}: {error}"));
    let (mut general, mut same) = (Scratch::general(), Vec::new());
    let other = rewriter::splice(&class, &plan, &plans::STORAGE, &mut general, &mut same);
    assert_eq!(Ok(&report), other.as_ref(), "{name}: {kind}");
    assert!(
        out == same,
        "{name}: {kind}: the general way makes something else"
    );
    rewriter::check_splice(
        &class,
        &plan,
        &plans::STORAGE,
        &out,
        &mut CheckScratch::default(),
    )
    .unwrap_or_else(|error| panic!("{name}: {kind}: the self-check finds: {error}"));
    row.methods = u64::from(report.rewritten);
    row.edits = u64::from(report.edits);
    for (method, reason) in &report.skipped {
        println!("{name} method {method}: {kind}: {reason}");
        *row.skipped.entry(report::reason(reason)).or_default() += 1;
    }
    if report.refused.is_some() {
        *row.skipped.entry("class edits".to_owned()).or_default() += 1;
    }
    let changed = out != *bytes;
    row.rewritten = u64::from(changed);
    Output {
        bytes: changed.then_some(out),
        row,
    }
}

/// Runs the verifier of JDK 25 over rewritten classes, leaving out errors of the originals.
fn verifier(original: &Path, rewritten: &[PathBuf]) -> Option<Run> {
    let jdk = jdks::release(VERIFIER).filter(|jdk| jdk.full)?;
    let java = Java::new(&jdk)
        .option("-Xmx3g")
        .limit(Duration::from_secs(3_600))
        .argument(test_file("java/Verify.java"))
        .argument(original);
    let java = rewritten
        .iter()
        .fold(java, |java, pack| java.argument(pack));
    Some(java.run())
}

/// Shows that the oracle can fail: it finds a probe that stores its 1 as if it were an object.
#[test]
fn verifier_finds_a_wrong_instruction() {
    const ICONST_1_BASTORE: [u8; 2] = [0x04, 0x54];
    const ICONST_1_AASTORE: [u8; 2] = [0x04, 0x53];
    let folder = scratch();
    let source = test_file("java/Misbehaved.java");
    let compiled = javac::compile(&jdks::newest(), &[&source], folder.path(), &[]);
    let mut classes = corpus::in_folder(&compiled);
    let original = folder.path().join("original");
    corpus::write_pack(
        &original,
        classes.iter().map(|class| (&*class.name, &*class.bytes)),
    );
    for class in &mut classes {
        class.bytes = rewrite(class, "entry").bytes.expect("a class with code");
        let probe = class
            .bytes
            .windows(2)
            .position(|two| two == ICONST_1_BASTORE);
        let probe = probe.expect("a probe");
        class.bytes[probe..probe + 2].copy_from_slice(&ICONST_1_AASTORE);
    }
    let broken = folder.path().join("broken");
    corpus::write_pack(
        &broken,
        classes.iter().map(|class| (&*class.name, &*class.bytes)),
    );
    if let Some(run) = verifier(&original, &[broken]) {
        run.assert_exit(1);
        assert!(run.stdout.contains("Misbehaved.class"), "{}", run.report());
    }
}
