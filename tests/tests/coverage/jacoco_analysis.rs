//! Our analysis against JaCoCo's: every counter of every method, class, line, source file and package must be the same.
//!
//! The analysis is a pure function of class files and probes, so the probes need not come from a run. They are all
//! missed, all hit, or random. A missing, additional or misplaced probe shows as a difference.

use class_description::{Arena, describe};
use coverage::analysis::{analyze, probe_count};
use coverage::class::ClassDescription;
use coverage::filter;
use coverage::model::{BundleBuilder, BundleCoverage, Counters, Lines};
use e2e_tests::instrumented::class_path;
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::programs::{self, KotlinPlugin};
use e2e_tests::{artifacts, jacoco, javac, rotation, scratch, workspace};
use jacoco_files::XmlReport;
use jacoco_files::{ClassKey, Execution};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Describes the classes of a folder for reports; their files stay in memory.
pub(super) fn describe_all(folder: &Path) -> Vec<ClassDescription<'static>> {
    let files = javac::files_with_extension(folder, "class");
    let arena = &*Box::leak(Box::new(Arena::new()));
    let classes = files.iter().map(|file| {
        let bytes = std::fs::read(file).expect("a class file can be read");
        describe(bytes.leak(), arena).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    });
    classes
        .filter(|class| !class.is_module_or_package())
        .collect()
}

/// The probes that are hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hits {
    None,
    All,
    /// Pseudo-random, determined by a seed.
    Random(u64),
    /// Another choice for each class, so that one report compares them all.
    Mixed(u64),
}

impl Hits {
    fn of(self, class: &ClassDescription<'_>) -> Vec<bool> {
        let mut state = match self {
            Self::None | Self::All => 0,
            Self::Mixed(seed) => {
                let kinds = [
                    Self::None,
                    Self::All,
                    Self::Random(seed),
                    Self::Random(seed),
                ];
                let kind = class.id.wrapping_add(seed) % kinds.len() as u64;
                return kinds[kind as usize].of(class);
            }
            Self::Random(seed) => class.id ^ seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        };
        // Few, many or half of the probes, so that both long chains and single branches are covered.
        let limit = [32, 224, 128, 128][(state >> 8) as usize % 4];
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        let probes = 0..probe_count(class);
        probes
            .map(|_| self == Self::All || (self != Self::None && next() < limit))
            .collect()
    }
}

pub(super) fn execution(classes: &[ClassDescription<'_>], hits: Hits) -> Execution {
    let keyed = classes.iter().map(|class| {
        (
            ClassKey {
                name: class.name.to_string(),
                id: class.id,
            },
            hits.of(class),
        )
    });
    Execution(keyed.filter(|(_, probes)| !probes.is_empty()).collect())
}

fn bundle(classes: &[ClassDescription<'_>], execution: &Execution) -> BundleCoverage {
    let mut builder = BundleBuilder::default();
    for class in classes {
        let key = ClassKey {
            name: class.name.to_string(),
            id: class.id,
        };
        let coverage = analyze(class, execution.0.get(&key).map(Vec::as_slice))
            .expect("as many probes as counted");
        builder.add(coverage).expect("every class has one version");
    }
    builder.build("test")
}

/// Returns the values of a bundle, by their paths in JaCoCo's XML report.
fn values(bundle: &BundleCoverage) -> XmlReport {
    let mut values = XmlReport::default();
    counters(&mut values, "", &bundle.counters);
    for package in &bundle.packages {
        let place = format!("/package {}", package.name);
        counters(&mut values, &place, &package.counters);
        for class in &package.classes {
            let place = format!("{place}/class {}", class.name);
            counters(&mut values, &place, &class.counters);
            for method in &class.methods {
                let place = format!("{place}/method {} {}", method.name, method.descriptor);
                counters(&mut values, &place, &method.counters);
                if let Some(line) = method.first_line() {
                    values.insert(place, format!("line={line}"));
                }
            }
        }
        for file in &package.source_files {
            let place = format!("{place}/sourcefile {}", file.name);
            counters(&mut values, &place, &file.counters);
            lines(&mut values, &place, &file.lines);
        }
    }
    values
}

fn counters(values: &mut XmlReport, place: &str, counters: &Counters) {
    let kinds = [
        ("INSTRUCTION", counters.instruction),
        ("BRANCH", counters.branch),
        ("LINE", counters.line),
        ("COMPLEXITY", counters.complexity),
        ("METHOD", counters.method),
        ("CLASS", counters.class),
    ];
    for (kind, counter) in kinds.into_iter().filter(|(_, counter)| counter.total() > 0) {
        let place = format!("{place}/counter {kind}");
        let found = format!("covered={} missed={}", counter.covered, counter.missed);
        values.insert(place, found);
    }
}

fn lines(values: &mut XmlReport, place: &str, lines: &Lines) {
    for (number, line) in lines.iter() {
        let (instructions, branches) = (line.instructions, line.branches);
        let found = format!(
            "cb={} ci={} mb={} mi={}",
            branches.covered, instructions.covered, branches.missed, instructions.missed
        );
        values.insert(format!("{place}/line {number}"), found);
    }
}

/// Compares the reports on the classes in a folder.
fn check(folder: &Path, all_hits: &[Hits]) {
    let classes = describe_all(folder);
    assert!(
        !classes.is_empty(),
        "no class files in {}",
        folder.display()
    );
    let files = scratch();
    for hits in all_hits {
        let execution = execution(&classes, *hits);
        let theirs = jacoco::report_of(&execution, folder, files.path(), "jacoco").numbers();
        let ours = values(&bundle(&classes, &execution));
        let differences = ours.differences(&theirs);
        let elements = ours.count();
        assert!(elements > 5 * classes.len() / 4, "few values: {elements}");
        assert!(
            differences.is_empty(),
            "{} of {elements} elements differ (ours against JaCoCo's) with probes {hits:?}, the first:\n{}",
            differences.len(),
            differences[..differences.len().min(20)].join("\n")
        );
    }
}

const ALL_HITS: [Hits; 6] = [
    Hits::None,
    Hits::All,
    Hits::Random(1),
    Hits::Random(2),
    Hits::Random(3),
    Hits::Random(4),
];

/// Returns the probes for thousands of classes: everything at once, and another mixture in each run.
fn hits_of_many() -> Vec<Hits> {
    match rotation::everything() {
        true => ALL_HITS.to_vec(),
        false => vec![Hits::Mixed(rotation::turn("hits", 1 << 16) as u64)],
    }
}

/// Returns the sources for this release, by `Since release 21.` in the first line.
fn sources(feature: u32) -> Vec<PathBuf> {
    let since = |source: &PathBuf| {
        let text = std::fs::read_to_string(source).expect("a source can be read");
        let since = text
            .lines()
            .next()
            .and_then(|line| line.split("Since release ").nth(1));
        since.map_or(0, |since| {
            since.trim_end_matches('.').parse().expect("a release")
        })
    };
    let mut sources = javac::sources_in(&workspace::test_file("jacoco"));
    sources.retain(|source| since(source) <= feature);
    sources
}

fn compile(jdk: &Jdk, folder: &Path) -> PathBuf {
    let sources = sources(jdk.feature);
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    javac::compile(jdk, &sources, folder, &[])
}

fn compile_with_ecj(folder: &Path) -> PathBuf {
    let classes = folder.join("ecj");
    let compiler = Java::new(&jdks::newest())
        .option("-jar")
        .option(artifacts::path("ecj"));
    let compiler = compiler
        .arguments(&["-21", "-g", "-nowarn", "-d"])
        .argument(&classes);
    compiler.arguments(&sources(21)).run().assert_success();
    classes
}

/// Plugins of the Kotlin compiler. Compose's adds only a field `$stable` to other classes.
const KOTLIN_PLUGINS: &[KotlinPlugin] = &[
    ("kotlin-serialization-plugin", &["kotlinx-serialization"]),
    (
        "kotlin-compose-plugin",
        &["compose-runtime", "kotlinx-coroutines"],
    ),
];

/// Compiles all Kotlin files of the tests.
pub(super) fn compile_kotlin(folder: &Path) -> PathBuf {
    let classes = folder.join("kotlin");
    let sources = javac::files_with_extension(&workspace::test_file("kotlin"), "kt");
    programs::kotlinc(&jdks::newest(), &sources, KOTLIN_PLUGINS, &[], &classes);
    classes
}

/// Unpacks the classes of a library that the tests run.
pub(super) fn unpack(artifact: &str, folder: &Path) {
    let file = std::fs::File::open(artifacts::path(artifact)).expect("the artifact can be read");
    let mut archive = zip::ZipArchive::new(file).expect("the artifact is an archive");
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).expect("an entry");
        let Some(name) = entry.enclosed_name() else {
            continue;
        };
        if name
            .extension()
            .is_some_and(|extension| extension == "class")
            && !name.starts_with("META-INF")
        {
            let to = folder.join(name);
            std::fs::create_dir_all(to.parent().expect("a file has a folder"))
                .expect("the folder is writable");
            let mut to = std::fs::File::create(to).expect("the folder is writable");
            std::io::copy(&mut entry, &mut to).expect("the entry can be unpacked");
        }
    }
}

#[test]
fn counters_of_javac_classes_equal_those_of_jacoco() {
    for jdk in jdks::full() {
        let folder = scratch();
        check(&compile(&jdk, folder.path()), &ALL_HITS);
    }
}

#[test]
fn counters_of_ecj_classes_equal_those_of_jacoco() {
    let folder = scratch();
    check(&compile_with_ecj(folder.path()), &ALL_HITS);
}

/// Code without `StackMapTable`, unreachable code, lines numbered 0, `Synthetic` attributes, javac 7.
#[test]
fn counters_of_old_and_strange_classes_equal_those_of_jacoco() {
    for library in large(["luaj", "clojure", "rhino"]) {
        let folder = scratch();
        unpack(library, folder.path());
        check(folder.path(), &hits_of_many());
    }
}

/// Its classes of Protocol Buffers have version 50, and subroutines within loops and handlers.
#[test]
fn counters_of_methods_with_subroutines_equal_those_of_jacoco() {
    let folder = scratch();
    unpack("kotlin-compiler", folder.path());
    let classes = folder.path().join("org/jetbrains/kotlin/protobuf");
    check(&classes, &ALL_HITS);
    let files = javac::files_with_extension(&classes, "class");
    let inlined = files.iter().filter(|file| {
        let bytes = std::fs::read(file).expect("a class file can be read");
        let class = rewriter::ClassFile::read(&bytes).expect("a class file");
        subroutines::inline(&class).is_some()
    });
    assert!(inlined.count() > 30);
}

/// The executed code, in a JVM with either agent and instrumented offline: the output, and each probe.
#[test]
fn methods_with_subroutines_run_as_before_and_record_the_hits_of_jacoco() {
    let classes = workspace::test_file("java/subroutines/classes");
    let folder = scratch();
    let instrumented = class_path(std::slice::from_ref(&classes), folder.path());
    let run = |java: Java, class_path: &[PathBuf]| {
        let run = java.option("-Xverify:all").class_path(class_path);
        let run = run.main("Finally").run();
        run.assert_success();
        run.stdout
    };
    for jdk in jdks::all().iter().cloned().chain(jdks::eight()) {
        let folder = scratch();
        let path = |name: &str| folder.path().join(name);
        let theirs = Java::new(&jdk).option(jacoco::agent_option(&path("theirs.exec"), None));
        let expected = run(theirs, std::slice::from_ref(&classes));
        let theirs = Execution::read(&path("theirs.exec"));
        let by_agent = Java::new(&jdk).coverage(&path("by-agent"));
        let output = format!("-Dclasshook.output={}", path("by-itself").display());
        let by_itself = Java::new(&jdk).option(output);
        assert_eq!(
            run(by_agent, std::slice::from_ref(&classes)),
            expected,
            "on {jdk}"
        );
        assert_eq!(
            run(by_itself, &instrumented.class_path),
            expected,
            "on {jdk}"
        );
        for ours in ["by-agent", "by-itself"] {
            let exec = path("ours.exec");
            let report = Java::program(workspace::classhook()).argument("report");
            let report = report
                .argument(path(ours))
                .argument("--exec")
                .argument(&exec);
            let report = report.argument("--classes").argument(&classes);
            report.run().assert_success();
            let ours = Execution::read(&exec);
            assert_eq!(ours.0.len(), 2, "{ours:?}");
            for (class, probes) in &ours.0 {
                assert_eq!(Some(probes), theirs.0.get(class), "{class:?} on {jdk}");
            }
        }
    }
}

#[test]
fn counters_of_kotlin_classes_equal_those_of_jacoco() {
    let folder = scratch();
    check(&compile_kotlin(folder.path()), &ALL_HITS);
}

/// Inlined code across classes and files, coroutines, and output of compilers from 1.3 on.
#[test]
fn counters_of_kotlin_libraries_equal_those_of_jacoco() {
    for library in large(KOTLIN_LIBRARIES) {
        let folder = scratch();
        unpack(library, folder.path());
        check(folder.path(), &hits_of_many());
    }
}

const KOTLIN_LIBRARIES: [&str; 6] = [
    "kotlin-stdlib",
    "kotlin-reflect",
    "kotlin-daemon",
    "kotlinx-coroutines",
    "kotlinx-serialization",
    "okhttp",
];

#[test]
fn counters_of_modules_of_the_jdk_equal_those_of_jacoco() {
    let compilers = jdks::main_two();
    let modules = compilers.into_iter().map(|jdk| (jdk, "jdk.compiler"));
    for (jdk, module) in large(modules.chain([(jdks::newest(), "java.base")])) {
        let folder = scratch();
        extract(&jdk, module, folder.path());
        check(folder.path(), &hits_of_many());
    }
}

/// Returns a third of these large sets of classes, in rotation.
fn large<T>(sets: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let sets = sets.into_iter().enumerate();
    let mine = sets.filter(|(place, _)| rotation::is_turn_of("classes by the thousand", *place, 3));
    mine.map(|(_, set)| set)
}

/// Extracts the classes of a module of the JDK.
fn extract(jdk: &Jdk, module: &str, folder: &Path) {
    let mut jimage = std::process::Command::new(jdk.tool("jimage"));
    jimage.arg("extract").arg("--dir").arg(folder);
    jimage
        .arg("--include")
        .arg(format!("regex:/{module}/.*\\.class"));
    let output = jimage
        .arg(jdk.home.join("lib/modules"))
        .output()
        .expect("jimage is part of a full JDK");
    assert!(
        output.status.success(),
        "{jimage:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Filters that no compiler of the tests needs, so that they would be compared with nothing.
/// Kotlin's compilers 1.3 to 2.4 begin no line at the `return` of an overload without a value, as JaCoCo's filter
/// requires.
/// `coverage/src/filter/tests.rs` has such a method.
const MADE_BY_NO_COMPILER_HERE: [&str; 1] = ["kotlin-overload"];

#[test]
fn every_filter_leaves_out_code_in_the_comparison() {
    let folder = scratch();
    let mut folders = vec![
        compile_with_ecj(folder.path()),
        compile_kotlin(folder.path()),
    ];
    for library in KOTLIN_LIBRARIES.iter().chain(&["rhino"]) {
        let unpacked = folder.path().join(library);
        unpack(library, &unpacked);
        folders.push(unpacked);
    }
    for jdk in jdks::main_two() {
        folders.push(compile(&jdk, &folder.path().join(&jdk.version)));
    }
    let mut found = BTreeSet::new();
    for class in folders.iter().flat_map(|folder| describe_all(folder)) {
        found.extend(
            filter::findings(&class)
                .iter()
                .map(|finding| finding.filter.name),
        );
    }
    let names = filter::ALL.iter().map(|filter| filter.name);
    let missing: Vec<_> = names.filter(|name| !found.contains(name)).collect();
    assert_eq!(missing, MADE_BY_NO_COMPILER_HERE, "nothing to leave out");
}
