//! Snippets in real classes and real JVMs: they run at their places and times, and programs full of them behave as
//! before.

use super::corpora::plans::busy;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::programs::{self, Program, Workload};
use e2e_tests::workspace::test_file;
use e2e_tests::{javac, rotation, scratch};
use jvms::opcode;
use rewriter::{
    Assemble, CheckScratch, ClassFile, EditPlan, InsertionPoint, Location, Member, Method,
    PlanBuilder, ProbeStorage, Scratch, SkipReason, Snippet, check_splice, splice,
};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

#[path = "../../../rewriter/tests/suite/random.rs"]
#[allow(dead_code, reason = "fuzz targets choose, these tests draw by lot")]
mod random;

const STORAGE: ProbeStorage<'_> = ProbeStorage::SharedArray {
    owner: "java/lang/$Classhook",
    field: "hits0",
};

/// Applies a plan to every class of a folder and writes the results to another. Returns the number of rewritten
/// methods.
fn rewrite(from: &Path, to: &Path, plan: impl Fn(&ClassFile<'_>) -> EditPlan) -> u32 {
    let mut files = javac::files_with_extension(from, "class");
    files.retain(|file| !file.ends_with("module-info.class"));
    rewrite_files(files, from, to, plan)
}

/// Like [`rewrite`], for these files alone.
fn rewrite_files(
    files: Vec<PathBuf>,
    from: &Path,
    to: &Path,
    plan: impl Fn(&ClassFile<'_>) -> EditPlan,
) -> u32 {
    let (mut scratch, mut out, mut rewritten) = (Scratch::default(), Vec::new(), 0);
    for file in files {
        let bytes = std::fs::read(&file).expect("a readable class");
        let class = ClassFile::read(&bytes).expect("a class file");
        let plan = plan(&class);
        let report =
            splice(&class, &plan, &STORAGE, &mut scratch, &mut out).expect("a plan of this class");
        check_splice(&class, &plan, &STORAGE, &out, &mut CheckScratch::default())
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let too_large = |reason: &SkipReason| matches!(reason, SkipReason::MethodTooLarge { .. });
        for (method, reason) in &report.skipped {
            assert!(
                too_large(reason),
                "{} method {method}: {reason}",
                file.display()
            );
        }
        rewritten += report.rewritten;
        let goal = to.join(file.strip_prefix(from).expect("a file below the folder"));
        std::fs::create_dir_all(goal.parent().expect("a folder")).expect("the test's own folder");
        std::fs::write(goal, &out).expect("the test's own folder");
    }
    rewritten
}

/// Returns entry, loop heads, every return and throw, and the unwinding of a method.
fn places(method: &Method<'_, '_>) -> Vec<Location> {
    let Ok(Some(code)) = method.code() else {
        return Vec::new();
    };
    let throws = code
        .instructions()
        .flatten()
        .filter(|found| found.opcode == opcode::ATHROW);
    let mut places = vec![Location::Entry, Location::Unwind];
    places.extend(code.loop_heads().into_iter().map(Location::Before));
    places.extend(code.returns().map(Location::Before));
    places.extend(throws.map(|found| Location::Before(found.bci)));
    places
}

fn busy_plan(class: &ClassFile<'_>) -> EditPlan {
    let mut plan = PlanBuilder::new(class);
    for method in class.methods() {
        for place in places(&method) {
            let site = InsertionPoint {
                method: method.index(),
                location: place,
            };
            busy::insert(&mut plan, class, site, busy::ALL);
        }
    }
    plan.finish()
}

fn watched(name: &str, descriptor: &str) -> Member {
    Member {
        owner: "Watched".to_owned(),
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
        interface: false,
    }
}

/// Returns a snippet that calls `Watched.note` or an overload with the top of the stack.
fn note(method: &Method<'_, '_>, place: Location) -> Snippet {
    let mut snippet = Snippet::new();
    let name = method.name().to_str_lossless().into_owned();
    let call = |snippet: &mut Snippet, name, descriptor| {
        snippet
            .invoke(opcode::INVOKESTATIC, watched(name, descriptor))
            .expect("a call");
    };
    match place {
        Location::Unwind => {
            snippet.op(opcode::DUP, 0).expect("a snippet");
            snippet
                .push_string(&format!("  unwinds {name}"))
                .expect("a snippet");
            snippet.op(opcode::SWAP, 0).expect("a snippet");
            call(
                &mut snippet,
                "fails",
                "(Ljava/lang/String;Ljava/lang/Throwable;)V",
            );
        }
        Location::Entry => {
            snippet
                .push_string(&format!("  enters {name}"))
                .expect("a snippet");
            call(&mut snippet, "note", "(Ljava/lang/String;)V");
        }
        _ => {
            snippet
                .push_string(&format!("  returns from {name}"))
                .expect("a snippet");
            if method.name() == "locked" || method.name() == "counted" {
                snippet.load_this().expect("a snippet");
                snippet
                    .with_type(opcode::INSTANCEOF, "Watched")
                    .expect("a snippet");
                let value = Member {
                    owner: "java/lang/Integer".to_owned(),
                    ..watched("valueOf", "(I)Ljava/lang/Integer;")
                };
                snippet
                    .invoke(opcode::INVOKESTATIC, value)
                    .expect("a snippet");
                call(
                    &mut snippet,
                    "notice",
                    "(Ljava/lang/String;Ljava/lang/Object;)V",
                );
            } else {
                call(&mut snippet, "note", "(Ljava/lang/String;)V");
            }
        }
    }
    snippet
}

fn noting_plan(class: &ClassFile<'_>) -> EditPlan {
    let mut plan = PlanBuilder::new(class);
    let seen = [
        "<init>", "caught", "deeper", "counted", "locked", "fraction",
    ];
    for method in class
        .methods()
        .filter(|method| seen.contains(&&*method.name().to_str_lossless()))
    {
        let code = method.code().expect("readable").expect("code");
        let returns = code.returns().map(Location::Before);
        for place in [Location::Entry, Location::Unwind]
            .into_iter()
            .chain(returns)
        {
            let site = InsertionPoint {
                method: method.index(),
                location: place,
            };
            plan.insert(site, note(&method, place))
                .unwrap_or_else(|error| panic!("{error}"));
        }
    }
    plan.finish()
}

const TRANSCRIPT: &str = "  enters caught
  enters deeper
  unwinds deeper bottom
own handler bottom
own finally
  returns from caught
-1
  enters caught
  enters deeper
  enters deeper
  enters deeper
  unwinds deeper bottom
  unwinds deeper bottom
  unwinds deeper bottom
own handler bottom
own finally
  returns from caught
-1
  enters caught
  enters deeper
  unwinds deeper too deep
own finally
  unwinds caught too deep
main caught too deep
  enters <init>
  enters <init>
  returns from <init>
  returns from <init>
  enters counted
  returns from counted 1
6
  enters <init>
  enters <init>
  unwinds <init> little-1
main caught little-1
  enters <init>
  enters <init>
  returns from <init>
  returns from <init>
  enters locked
  unwinds locked no text
free true
  enters <init>
  enters <init>
  returns from <init>
  returns from <init>
  enters locked
  returns from locked 1
a1
  enters fraction
closed
  returns from fraction
0.75
";

#[test]
fn snippets_see_every_entry_return_and_exception_once() {
    for jdk in jdks::all() {
        let scratch = scratch();
        let source = test_file("java/Watched.java");
        let compiler = jdks::newest();
        let classes = javac::compile(&compiler, &[&source], scratch.path(), &["--release", "11"]);
        let rewritten = scratch.path().join("rewritten");
        assert!(rewrite(&classes, &rewritten, noting_plan) >= 7);
        let run = Java::new(jdk)
            .option("-Xverify:all")
            .class_path(&[&rewritten])
            .main("Watched")
            .run();
        run.assert_success();
        assert_eq!(run.stdout, TRANSCRIPT, "JDK {}", jdk.feature);
    }
}

/// Name of the file in which the JVM lists the classes that it loads.
const LOADED: &str = "loaded.log";
/// Programs that take long; one of them runs at a time.
const LARGE: [&str; 4] = ["scala", "groovy", "clojure", "jython"];

/// Runs a program from its classes and from rewritten ones, with full verification. The rewritten code does not depend
/// on the JDK, but its verifier does.
fn check(name: &str) {
    let place = LARGE.iter().position(|large| *large == name);
    if place.is_some_and(|place| !rotation::is_turn_of("large programs", place, LARGE.len())) {
        println!("{name} has its turn in another run");
        return;
    }
    let program = programs::named(name);
    for jdk in program.jdk_in_turn() {
        compare(&program, &jdk);
    }
}

fn compare(program: &Program, jdk: &Jdk) {
    let scratch = scratch();
    let folder = scratch.path();
    let workload = program.prepare(jdk, folder);
    let classes = workload.class_files(folder);
    let (without, files_without) = run(&workload, folder, None);
    without.assert_success();
    let rewritten = folder.join("rewritten");
    let loaded = loaded_of(&classes, folder);
    let methods = rewrite_files(loaded, &classes, &rewritten, busy_plan);
    assert!(methods > 20, "{}", program.name);
    let copied = workload.with_classes(&rewritten, folder);
    let (mut with, files_with) = match program.module() {
        Some(module) => {
            let patch = format!("--patch-module={module}={}", rewritten.display());
            run(&workload, folder, Some(patch))
        }
        None => run(&copied, folder, None),
    };
    // Some programs name the jar, and so do the JVM's warnings about them.
    for (jar, copy) in workload.class_path().iter().zip(copied.class_path()) {
        let (jar, copy) = (jar.to_string_lossy(), copy.to_string_lossy());
        with.stderr = with.stderr.replace(copy.as_ref(), jar.as_ref());
    }
    with.assert_same_as(&without);
    assert_eq!(
        files_with, files_without,
        "{} on {}: other files",
        program.name, jdk.feature
    );
}

/// Returns the classes that the last run loaded; all classes if the run takes everything.
fn loaded_of(classes: &Path, folder: &Path) -> Vec<PathBuf> {
    let mut files = javac::files_with_extension(classes, "class");
    if rotation::everything() {
        files.retain(|file| !file.ends_with("module-info.class"));
        return files;
    }
    let log = std::fs::read_to_string(folder.join(LOADED)).expect("the JVM's log");
    let loaded = log.lines().filter_map(|line| {
        let (name, _) = line.split_once(" source:")?;
        Some(name.rsplit(' ').next()?.replace('.', "/"))
    });
    let loaded: HashSet<String> = loaded.collect();
    files.retain(|file| {
        let name = file.strip_prefix(classes).expect("a file below the folder");
        loaded.contains(&*name.with_extension("").to_string_lossy())
    });
    files
}

/// Runs the program, always in the same folder. Returns the run and the files that it wrote.
fn run(
    workload: &Workload<'_>,
    folder: &Path,
    option: Option<String>,
) -> (Run, BTreeMap<PathBuf, Vec<u8>>) {
    let log = folder.join(LOADED);
    let mut java = workload
        .java(folder, "run")
        .option("-Xverify:all")
        .option(format!("-Xlog:class+load:file={}", log.display()));
    if let Some(option) = option {
        java = java.option(option);
    }
    let run = java.run();
    let place = folder.join("run");
    let mut files = BTreeMap::new();
    let mut folders = vec![place.clone()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("the program's folder") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path).expect("a readable file");
                files.insert(path, bytes);
            }
        }
    }
    std::fs::remove_dir_all(place).expect("the test's own folder");
    (run, files)
}

#[test]
fn javac_full_of_snippets_compiles_the_same() {
    check("javac");
}

#[test]
fn ecj_full_of_snippets_compiles_the_same() {
    check("ecj");
}

#[test]
fn bank_full_of_snippets_does_the_same() {
    check("bank");
}

#[test]
fn scalac_full_of_snippets_compiles_the_same() {
    check("scala");
}

#[test]
fn jython_full_of_snippets_does_the_same() {
    check("jython");
}

#[test]
fn groovy_full_of_snippets_does_the_same() {
    check("groovy");
}

#[test]
fn clojure_full_of_snippets_does_the_same() {
    check("clojure");
}

/// Random snippets at entry, loop heads, returns, throws and unwinding of every twentieth class of the compiler.
#[test]
fn random_snippets_that_are_accepted_verify() {
    let jdk = jdks::release(25).expect("JDK 25, whose java.lang.classfile verifies");
    let scratch = scratch();
    let all = scratch.path().join("all");
    programs::classes::unpack_module(&jdk, "jdk.compiler", &all);
    let original = scratch.path().join("original");
    let wanted = |file: &Path| file.to_string_lossy().bytes().map(u32::from).sum::<u32>() % 20 == 0;
    for file in javac::files_with_extension(&all, "class") {
        let name = file.strip_prefix(&all).expect("a file below the folder");
        if wanted(name) {
            let goal = original.join(name);
            std::fs::create_dir_all(goal.parent().expect("a folder"))
                .expect("the test's own folder");
            std::fs::copy(&file, goal).expect("the test's own folder");
        }
    }
    let rewritten = scratch.path().join("rewritten");
    let methods = rewrite(&original, &rewritten, |class| {
        let mut plan = PlanBuilder::new(class);
        let mut seed = u64::from(class.pool().count());
        for method in class.methods() {
            for place in places(&method) {
                seed += 1;
                let site = InsertionPoint {
                    method: method.index(),
                    location: place,
                };
                // Snippets that do not fit are no subject of this test.
                drop(plan.insert(site, random::snippet(seed, 40)));
            }
        }
        plan.finish()
    });
    assert!(methods > 300, "only {methods} methods got a snippet");
    let verify = Java::new(&jdk).argument(test_file("java/Verify.java"));
    verify
        .argument(&original)
        .argument(&rewritten)
        .argument(&all)
        .run()
        .assert_success();
}
