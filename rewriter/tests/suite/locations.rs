//! Every location has its documented meaning. The tests run programs with and without probes, and compare the probes
//! with those expected.

use proptest::prelude::*;
use rewriter::{
    Action, Bci, CheckScratch, ClassFile, EditPlan, InsertionPoint, Location, MethodIndex,
    ProbeStorage, Scratch, SkipReason, Warning, check_splice, splice,
};

use crate::exercise;
use crate::program::{Op, Step, assemble, class, run};

const STORAGE: ProbeStorage<'static> = ProbeStorage::SharedArray {
    owner: "p/Q",
    field: "hits",
};

/// Returns the probes that a run of the original code should pass.
pub fn expected(steps: &[Step], plan: &EditPlan) -> Vec<u16> {
    let at = |place: Location| {
        let edits = plan
            .edits()
            .iter()
            .filter(move |edit| edit.point.location == place);
        edits
            .filter_map(|edit| edit.action.probe())
            .map(|probe| probe as u16)
    };
    let bci = |bci: usize| Bci(bci as u16);
    let mut probes: Vec<u16> = at(Location::Entry).collect();
    for step in steps {
        match step {
            Step::At(here) => probes.extend(at(Location::Before(bci(*here)))),
            Step::Through(source) => probes.extend(at(Location::FallThrough(bci(*source)))),
            Step::Jump(source, target) => {
                probes.extend(at(Location::Jump {
                    source: bci(*source),
                    target: bci(*target),
                }));
            }
            Step::Probe(_) | Step::Return => {}
        }
    }
    probes
}

fn code_of(bytes: &[u8]) -> Vec<u8> {
    let class = ClassFile::read(bytes).unwrap();
    class
        .method(MethodIndex(0))
        .unwrap()
        .code()
        .unwrap()
        .unwrap()
        .bytes()
        .to_vec()
}

/// Splices, checks, runs both and compares; returns the reason for a skip.
fn check(code: &[u8], plan: &EditPlan, decisions: &[u8]) -> Option<SkipReason> {
    let bytes = class(code);
    let class = ClassFile::read(&bytes).unwrap();
    plan.check(&class).unwrap();
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    let report = splice(&class, plan, &STORAGE, &mut scratch, &mut out).unwrap();
    check_splice(&class, plan, &STORAGE, &out, &mut CheckScratch::default()).unwrap();
    if let Some((_, reason)) = report.skipped.into_iter().next() {
        assert_eq!(out, bytes);
        return Some(reason);
    }
    let steps = run(code, decisions, 3_000);
    let wanted = expected(&steps, plan);
    let spliced = run(&code_of(&out), decisions, 200_000);
    let probes: Vec<u16> = spliced
        .iter()
        .filter_map(|step| {
            if let Step::Probe(index) = step {
                Some(*index)
            } else {
                None
            }
        })
        .collect();
    let compared = if steps.last() == Some(&Step::Return) {
        assert_eq!(spliced.last(), Some(&Step::Return));
        probes.len().max(wanted.len())
    } else {
        assert!(probes.len() >= wanted.len());
        wanted.len()
    };
    assert_eq!(&probes[..compared.min(probes.len())], &wanted[..]);
    None
}

/// Generates a program, the locations of probes, and the decisions of branches.
pub fn programs(padding: usize) -> impl Strategy<Value = (Vec<Op>, Vec<u8>, Vec<u8>)> {
    let operation = (
        0_u8..12,
        any::<prop::sample::Index>(),
        prop::collection::vec(any::<prop::sample::Index>(), 1..5),
    );
    let operations = prop::collection::vec(operation, 1..40);
    let programs = operations.prop_map(move |operations| {
        let count = operations.len();
        let mut program: Vec<Op> = operations
            .into_iter()
            .map(|(kind, target, targets)| match kind {
                0..=1 => Op::Nops(1 + target.index(3)),
                2 => Op::Nops(1 + target.index(padding)),
                3..=6 => Op::If(target.index(count)),
                7..=8 => Op::Goto(target.index(count)),
                9 => Op::Table(targets.iter().map(|target| target.index(count)).collect()),
                10 => Op::Lookup(targets.iter().map(|target| target.index(count)).collect()),
                _ => Op::Return,
            })
            .collect();
        // A table switch has at least one key.
        for operation in &mut program {
            if let Op::Table(targets) = operation
                && targets.len() == 1
            {
                targets.push(0);
            }
        }
        program.push(Op::Return);
        program
    });
    (
        programs,
        prop::collection::vec(any::<u8>(), 64),
        prop::collection::vec(any::<u8>(), 40),
    )
}

/// Returns a plan with the locations that `choice` selects: each with no, one or several edits.
fn plan_of(code: &[u8], choice: &[u8], most: usize) -> EditPlan {
    let bytes = class(code);
    let class = ClassFile::read(&bytes).unwrap();
    let body = class
        .method(MethodIndex(0))
        .unwrap()
        .code()
        .unwrap()
        .unwrap();
    let mut plan = EditPlan::new();
    let mut places = exercise::places(&body);
    if choice[0] & 1 == 1 {
        places.reverse();
    }
    let stride = places.len() / most + 1;
    for (number, place) in places
        .into_iter()
        .enumerate()
        .filter(|(number, _)| number % stride == 0)
    {
        let take = choice[number % choice.len()];
        for copy in 0..take % 3 {
            let (site, probe) = (
                InsertionPoint {
                    method: MethodIndex(0),
                    location: place,
                },
                (number * 3 + usize::from(copy)) as u32,
            );
            let action = Action::Hit(probe % 30_000);
            plan.push(rewriter::Edit {
                point: site,
                action,
            })
            .unwrap();
        }
    }
    plan
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn probes_run_exactly_when_their_location_does((program, choice, decisions) in programs(5)) {
        let code = assemble(&program);
        let plan = plan_of(&code, &choice, usize::MAX / 2);
        prop_assert_eq!(check(&code, &plan, &decisions), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn jumps_beyond_32_kilobytes_keep_their_probes((program, choice, decisions) in programs(9_000)) {
        let code = assemble(&program);
        prop_assume!(code.len() < 60_000);
        let plan = plan_of(&code, &choice, 400);
        let skipped = check(&code, &plan, &decisions);
        let may_skip = matches!(
            skipped,
            None | Some(SkipReason::MethodTooLarge { .. })
        );
        prop_assert!(may_skip, "{:?}", skipped);
    }
}

/// `if` over slightly less than 32 KiB, with room for a trampoline on the way.
fn far_program() -> Vec<Op> {
    vec![
        Op::If(6),
        Op::Nops(16_000),
        Op::Goto(4),
        Op::Return,
        Op::Nops(16_700),
        Op::Nops(10),
        Op::Return,
    ]
}

#[test]
fn conditional_branch_pushed_out_of_reach_takes_a_trampoline() {
    let code = assemble(&far_program());
    let mut plan = EditPlan::new();
    let site = |place| InsertionPoint {
        method: MethodIndex(0),
        location: place,
    };
    for probe in 0..20 {
        plan.hit(site(Location::Before(Bci(3 + probe))), u32::from(probe))
            .unwrap();
    }
    for decision in [0, 1] {
        assert_eq!(check(&code, &plan, &[decision]), None);
    }
    let target = Bci(code.len() as u16 - 1);
    plan.hit(
        site(Location::Jump {
            source: Bci(0),
            target,
        }),
        77,
    )
    .unwrap();
    for decision in [0, 1] {
        assert_eq!(check(&code, &plan, &[decision]), None);
    }
}

#[test]
fn branch_without_room_for_a_trampoline_becomes_its_inverse_around_a_wide_jump() {
    // Forward, backward, and both with probes on each way.
    let programs = [
        vec![Op::If(2), Op::Nops(32_700), Op::Return],
        vec![Op::Nops(32_700), Op::If(0), Op::Nops(32_000), Op::Return],
        vec![
            Op::If(4),
            Op::Nops(16_370),
            Op::If(0),
            Op::Nops(16_370),
            Op::Return,
        ],
    ];
    for program in programs {
        let code = assemble(&program);
        let mut plan = EditPlan::new();
        let mut hit = |location| {
            let probe = plan.edits().len() as u32;
            let method = MethodIndex(0);
            plan.hit(InsertionPoint { method, location }, probe)
                .unwrap();
        };
        for bci in 0..20 {
            hit(Location::Before(Bci(4 + bci)));
        }
        for round in 0..2 {
            for decisions in [&[0, 0, 0, 0][..], &[1, 0, 0, 0], &[0, 1, 0, 0], &[1, 1, 1]] {
                assert_eq!(check(&code, &plan, decisions), None);
            }
            let bytes = class(&code);
            let class = ClassFile::read(&bytes).unwrap();
            let mut out = Vec::new();
            let report = splice(&class, &plan, &STORAGE, &mut Scratch::default(), &mut out);
            let method = MethodIndex(0);
            let inverted = Warning::InvertedBranch { method };
            // For the probe on the jump, a trampoline at the end may be in range.
            let is_inverted = report.unwrap().warnings.contains(&inverted);
            assert!(is_inverted || round > 0);
            // Repeats this with probes on the paths of each branch.
            let body = class.method(method).unwrap().code().unwrap().unwrap();
            let mut branches = body.instructions().map(Result::unwrap);
            while let Some(found) = branches.find(|found| found.opcode == jvms::opcode::IFEQ) {
                let (source, target) = (found.bci, found.branch_target().unwrap());
                for location in [
                    Location::FallThrough(source),
                    Location::Jump { source, target },
                ] {
                    let probe = plan.edits().len() as u32;
                    plan.hit(InsertionPoint { method, location }, probe)
                        .unwrap();
                }
            }
        }
    }
}

#[test]
fn last_branch_is_not_inverted() {
    let code = assemble(&[Op::Return, Op::Nops(32_760), Op::If(0)]);
    let site = InsertionPoint {
        method: MethodIndex(0),
        location: Location::Before(Bci(1)),
    };
    let mut plan = EditPlan::new();
    plan.hit(site, 0).unwrap();
    let bci = Bci(32_761);
    assert_eq!(
        check(&code, &plan, &[0]),
        Some(SkipReason::OutOfReach { bci })
    );
}

#[test]
fn goto_pushed_out_of_reach_is_widened() {
    let code = assemble(&[
        Op::Goto(3),
        Op::Return,
        Op::Nops(32_700),
        Op::If(1),
        Op::Goto(1),
    ]);
    let mut plan = EditPlan::new();
    for probe in 0..20 {
        let site = InsertionPoint {
            method: MethodIndex(0),
            location: Location::Before(Bci(6 + probe)),
        };
        plan.hit(site, u32::from(probe)).unwrap();
    }
    assert_eq!(check(&code, &plan, &[0]), None);
}
