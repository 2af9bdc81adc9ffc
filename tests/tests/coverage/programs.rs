//! Real programs, run plainly, under the agent, under JaCoCo's agent and from classes instrumented before: they do the
//! same in all four, and what the three tools recorded agrees class by class and probe by probe.
//!
//! Each kind runs once; more runs only while results differ, since a probe that one tool does not repeat from run to
//! run says nothing: it is left out and counted.
//! Of the JDKs of a run the newest has all kinds and the reports; on the others the agents are compared, since reports
//! and classes instrumented before are functions of class files, which are the same there.
//! Programs that take long are in every seventh run, on one release, and instrumented before every other time.
//! Both agents see what JaCoCo sees by default: every class with a source location but those of the boot loader.

mod comparison;
mod runs;

use comparison::Comparison;
use e2e_tests::jdks::Jdk;
use e2e_tests::programs::{self, Program};
use e2e_tests::{rotation, scratch};
use runs::{Kind, Measured};

/// Runs of each kind at most.
const ROUNDS: usize = 5;

/// Measures a program on each of its JDKs.
fn check(name: &str) {
    let program = programs::named(name);
    let jdks = program.jdks();
    if jdks.is_empty() {
        println!("{name} has its turn in another run");
    }
    for (place, jdk) in jdks.iter().enumerate() {
        let all_kinds = rotation::everything() || place + 1 == jdks.len();
        let scratch = scratch();
        let workload = program.prepare(jdk, scratch.path());
        let class_path = workload.class_path().to_vec();
        let static_mode = all_kinds && program.static_mode_in_turn();
        let instrumented = (static_mode && !class_path.is_empty()).then(|| {
            e2e_tests::instrumented::class_path(&class_path, &scratch.path().join("instrumented"))
        });
        let measured = Measured::new(workload, instrumented.as_ref(), scratch.path());
        compare(&program, jdk, measured, all_kinds);
    }
}

fn compare(program: &Program, jdk: &Jdk, mut measured: Measured<'_>, all_kinds: bool) {
    let place = format!("{} on {}", program.name, jdk.feature);
    measured.run_plain();
    measured.run(Kind::Agent);
    measured.run(Kind::Jacoco);
    if measured.instrumented.is_some() {
        measured.run(Kind::Static);
    }
    measured.assert_remarks(program, &place);
    let mut comparison = Comparison {
        program,
        measured,
        place,
    };
    comparison.agents();
    if all_kinds {
        comparison.reports();
        comparison.static_mode();
    }
}

e2e_tests::for_every_program!(check);
