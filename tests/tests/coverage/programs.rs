//! Real programs, run plainly, under the agent, under JaCoCo's agent and from classes instrumented before: they do the
//! same in all four, and what the three tools recorded agrees class by class and probe by probe.
//!
//! Each kind runs once; more runs only while results differ, since a probe that one tool does not repeat from run to
//! run says nothing: it is left out and counted.
//! Both agents see what JaCoCo sees by default: every class with a source location but those of the boot loader.

mod comparison;
mod runs;

use comparison::Comparison;
use e2e_tests::jdks::Jdk;
use e2e_tests::programs::{self, Program};
use e2e_tests::scratch;
use runs::{Kind, Measured};

/// Runs of each kind at most.
const ROUNDS: usize = 5;

/// Measures a program on each of its JDKs.
fn check(name: &str) {
    let program = programs::named(name);
    let static_output = scratch();
    let mut instrumented = None;
    for jdk in program.jdks() {
        let scratch = scratch();
        let workload = program.prepare(&jdk, scratch.path());
        let class_path = workload.class_path().to_vec();
        // The same class path is instrumented once for all JDKs.
        if !class_path.is_empty()
            && !matches!(&instrumented, Some((known, _)) if *known == class_path)
        {
            let folder = static_output.path().join(jdk.feature.to_string());
            let made = e2e_tests::instrumented::class_path(&class_path, &folder);
            instrumented = Some((class_path, made));
        }
        let instrumented = instrumented.as_ref().map(|(_, made)| made);
        compare(
            &program,
            &jdk,
            Measured::new(workload, instrumented, scratch.path()),
        );
    }
}

fn compare(program: &Program, jdk: &Jdk, mut measured: Measured<'_>) {
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
    comparison.reports();
    comparison.static_mode();
}

e2e_tests::for_every_program!(check);
