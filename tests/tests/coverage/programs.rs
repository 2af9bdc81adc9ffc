//! Real programs, run without a tool, under the agent, under JaCoCo's agent and offline instrumented. Their output is
//! the same in all four, and the three recordings agree class by class and probe by probe.
//!
//! Each kind runs once. More runs follow only while results differ: a probe that one tool does not repeat from run to
//! run is no evidence, so it is left out and counted.
//! The newest JDK of a run has all kinds and the reports. On the others only the agents are compared, since reports and
//! offline instrumentation depend on class files alone, which are the same.
//! Every seventh run includes the long programs, on one release, and every other time instrumented offline. Both agents
//! instrument JaCoCo's default selection: every class with a source location, except for the boot loader's.

mod comparison;
mod runs;

use comparison::Comparison;
use e2e_tests::jdks::Jdk;
use e2e_tests::programs::{self, Program};
use e2e_tests::{rotation, scratch};
use runs::{Measured, Tool};

/// Most runs of each kind.
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
    measured.run(Tool::Agent);
    measured.run(Tool::Jacoco);
    if measured.instrumented.is_some() {
        measured.run(Tool::Static);
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
