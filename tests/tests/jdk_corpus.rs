//! Every class of a JDK through the coverage plan: nothing fails, and the JDK's own verifier finds nothing new.
//!
//! A fixed tenth of the classes by default; `CLASSHOOK_CORPUS=all` takes every one.

use coverage::flow::{Flow, FlowHandler, FlowInstruction, FlowLine, FlowMethod, Placement};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::workspace::test_file;
use e2e_tests::{corpus, javac, scratch};
use rayon::prelude::*;
use rewriter::{Bci, ClassFile, Code, EditPlan, Place, PlanBuilder, ProbeStorage, Scratch, Site};
use std::path::Path;
use std::time::Duration;

/// The release whose `java.lang.classfile` verifies.
const VERIFIER: u32 = 25;

const STORAGE: ProbeStorage<'_> = ProbeStorage::SharedArray {
    owner: "java/lang/$Classhook",
    field: "hits0",
    base: 0,
};

/// What became of one class.
enum Fate {
    /// No method has code.
    Empty,
    /// Rewritten: this many methods were left alone, for these reasons.
    Rewritten(Vec<String>),
}

#[test]
fn coverage_of_every_class_verifies() {
    for jdk in jdks::main_two() {
        check(&jdk);
    }
}

fn check(jdk: &Jdk) {
    let scratch = scratch();
    let original = corpus::jdk_classes(jdk);
    let rewritten = scratch.path().join("rewritten");
    let mut files = javac::files_with_extension(&original, "class");
    files.retain(|file| wanted(&original, file));
    assert!(
        files.len() > 2_000,
        "JDK {} has only {} classes to try",
        jdk.feature,
        files.len()
    );
    let fates: Vec<Fate> = files
        .par_iter()
        .map(|file| {
            let goal = rewritten.join(
                file.strip_prefix(&original)
                    .expect("a file below the folder"),
            );
            rewrite(file, &goal)
        })
        .collect();
    let count = fates
        .iter()
        .filter(|fate| matches!(fate, Fate::Rewritten(_)))
        .count();
    let left: Vec<&String> = fates
        .iter()
        .flat_map(|fate| {
            if let Fate::Rewritten(left) = fate {
                left.as_slice()
            } else {
                &[]
            }
        })
        .collect();
    println!(
        "JDK {}: {} classes, {count} rewritten, {} methods left alone",
        jdk.version,
        files.len(),
        left.len()
    );
    assert!(count * 2 > files.len(), "too few classes have code");
    assert!(
        left.len() * 1_000 <= files.len(),
        "methods were left alone: {left:?}"
    );
    verify(&original, &rewritten);
}

/// All, or a tenth chosen by a hash of the name that never changes.
fn wanted(root: &Path, file: &Path) -> bool {
    let name = corpus::name_below(root, file);
    let all = std::env::var("CLASSHOOK_CORPUS").is_ok_and(|corpus| corpus == "all");
    all || corpus::hash(&name).is_multiple_of(10)
}

/// Rewrites a class, checks what can be checked without a verifier, and writes the result.
fn rewrite(file: &Path, goal: &Path) -> Fate {
    let name = file.display();
    let bytes = std::fs::read(file).expect("a readable class file");
    let class = ClassFile::read(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    rewriter::splice(&class, &EditPlan::new(), &STORAGE, &mut scratch, &mut out)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(out == bytes, "{name}: an empty plan changed the class");
    let plan = coverage_plan(&class).unwrap_or_else(|error| panic!("{name}: {error}"));
    if plan.is_empty() {
        return Fate::Empty;
    }
    let report = rewriter::splice(&class, &plan, &STORAGE, &mut scratch, &mut out)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    rewriter::check_splice(&class, &plan, &STORAGE, &out, &mut scratch)
        .unwrap_or_else(|error| panic!("{name}: the self-check finds: {error}"));
    std::fs::create_dir_all(goal.parent().expect("a file below the folder"))
        .expect("the test's folder is writable");
    std::fs::write(goal, &out).expect("the test's folder is writable");
    Fate::Rewritten(
        report
            .skipped
            .iter()
            .map(|(method, reason)| format!("{name} method {method}: {reason}"))
            .collect(),
    )
}

/// The plan that the coverage plugin makes: JaCoCo's probes, in every method that has code.
fn coverage_plan(class: &ClassFile<'_>) -> Result<EditPlan, String> {
    let mut builder = PlanBuilder::new(class);
    let (mut flow, mut probe) = (Flow::new(), 0);
    for method in class.methods() {
        let Some(code) = method.code().map_err(|error| error.to_string())? else {
            continue;
        };
        let placements = place(&mut flow, &code).map_err(|error| error.to_string())?;
        for placement in placements {
            let place = match placement {
                Placement::FallThrough(bci) => Place::FallThrough(Bci(bci)),
                Placement::Before(bci) => Place::Before(Bci(bci)),
                Placement::Jump { source, target } => Place::Jump {
                    source: Bci(source),
                    target: Bci(target),
                },
            };
            let site = Site {
                method: method.index(),
                place,
            };
            builder
                .hit(site, probe)
                .map_err(|error| error.to_string())?;
            probe += 1;
        }
    }
    Ok(builder.finish())
}

fn place(
    flow: &mut Flow,
    code: &Code<'_, '_>,
) -> Result<Vec<Placement>, Box<dyn std::error::Error>> {
    let (mut instructions, mut switch_targets, mut switch_lengths) =
        (Vec::new(), Vec::new(), Vec::new());
    for instruction in code.instructions() {
        let instruction = instruction?;
        let target = instruction.branch_target().map_or(0, |target| target.0);
        instructions.push(FlowInstruction {
            bci: instruction.bci.0,
            opcode: instruction.opcode,
            target,
        });
        if let Some(switch) = instruction.switch() {
            let before = switch_targets.len();
            switch_targets.extend(switch.targets().map(|target| target.0));
            switch_lengths.push(u32::try_from(switch_targets.len() - before)?);
        }
    }
    let lines: Vec<FlowLine> = code
        .lines()
        .map(|line| FlowLine {
            bci: line.bci.0,
            number: line.number,
        })
        .collect();
    let handlers: Vec<FlowHandler> = code
        .exception_table()
        .map(|row| FlowHandler {
            start: row.start.0,
            target: row.handler.0,
        })
        .collect();
    let placed = flow.place(&FlowMethod {
        instructions: &instructions,
        switch_targets: &switch_targets,
        switch_lengths: &switch_lengths,
        lines: &lines,
        handlers: &handlers,
    })?;
    Ok(placed.to_vec())
}

/// The verifier of JDK 25 over all rewritten classes; it knows the errors that the originals have already.
fn verify(original: &Path, rewritten: &Path) {
    let Some(run) = verifier(original, rewritten) else {
        println!("no JDK {VERIFIER} here: its verifier was not asked");
        return;
    };
    run.assert_success();
    println!("{}", run.stdout.trim());
    assert!(
        run.stdout.contains(" 0 with new errors"),
        "{}",
        run.report()
    );
}

fn verifier(original: &Path, rewritten: &Path) -> Option<Run> {
    let jdk = jdks::release(VERIFIER).filter(|jdk| jdk.full)?;
    let java = Java::new(&jdk)
        .option("-Xmx3g")
        .limit(Duration::from_secs(1_800));
    Some(
        java.argument(test_file("java/Verify.java"))
            .argument(original)
            .argument(rewritten)
            .run(),
    )
}

/// The oracle can fail: a probe that stores its 1 as if it were an object is found.
#[test]
fn verifier_finds_a_wrong_instruction() {
    const ICONST_1_BASTORE: [u8; 2] = [0x04, 0x54];
    const ICONST_1_AASTORE: [u8; 2] = [0x04, 0x53];
    let folder = scratch();
    let source = test_file("java/Misbehaved.java");
    let original = javac::compile(&jdks::newest(), &[&source], folder.path(), &[]);
    let broken = folder.path().join("broken");
    let file = broken.join("Misbehaved.class");
    rewrite(&original.join("Misbehaved.class"), &file);
    let mut bytes = std::fs::read(&file).expect("just written");
    let probe = bytes
        .windows(2)
        .position(|two| two == ICONST_1_BASTORE)
        .expect("a probe");
    bytes[probe..probe + 2].copy_from_slice(&ICONST_1_AASTORE);
    std::fs::write(&file, bytes).expect("the test's folder is writable");
    if let Some(run) = verifier(&original, &broken) {
        run.assert_exit(1);
        assert!(run.stdout.contains("Misbehaved.class"), "{}", run.report());
    }
}
