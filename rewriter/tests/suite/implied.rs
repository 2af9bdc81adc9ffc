//! Hits that later hits imply: whatever way a program takes, both run equally often.

use proptest::prelude::*;
use rewriter::{ClassFile, EditPlan, InsertionPoint, Location, MethodIndex};

use crate::exercise;
use crate::fixtures;
use crate::locations::{expected, programs};
use crate::program::{Op, Step, assemble, class, run};

const METHOD: MethodIndex = MethodIndex(0);

/// Returns a plan with a hit at each of these locations, numbered from 0.
fn plan_at(locations: impl Iterator<Item = Location>) -> EditPlan {
    let mut plan = EditPlan::new();
    for (location, probe) in locations.zip(0..) {
        let method = METHOD;
        plan.hit(InsertionPoint { method, location }, probe)
            .unwrap();
    }
    plan
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn implied_hits_run_as_often_as_the_hits_that_imply_them((program, choice, decisions) in programs(5)) {
        let code = assemble(&program);
        let bytes = class(&code);
        let class = ClassFile::read(&bytes).unwrap();
        let body = class.method(METHOD).unwrap().code().unwrap().unwrap();
        let places = exercise::places(&body).into_iter().enumerate();
        let chosen = places.filter(|(number, _)| choice[number % choice.len()] & 1 == 1);
        let plan = plan_at(chosen.map(|(_, location)| location));
        let steps = run(&code, &decisions, 3_000);
        prop_assume!(steps.last() == Some(&Step::Return));
        let hits = expected(&steps, &plan);
        let count = |probe: u32| hits.iter().filter(|hit| u32::from(**hit) == probe).count();
        for hit in plan.implied_hits(&class, METHOD) {
            prop_assert_eq!(count(hit.probe), count(hit.by), "{:?}\n{}", hit, plan);
        }
    }
}

/// A method of `nops` instructions with a hit before each third of them.
fn long(nops: u16) -> (Vec<u8>, EditPlan) {
    let bytes = class(&assemble(&[Op::Nops(usize::from(nops)), Op::Return]));
    let before = (0..nops).step_by(3);
    let plan = plan_at(before.map(|bci| Location::Before(rewriter::Bci(bci))));
    (bytes, plan)
}

#[test]
fn every_nth_hit_is_removed_until_enough_bytes_are_saved() {
    let (bytes, plan) = long(30_000);
    let class = ClassFile::read(&bytes).unwrap();
    assert_eq!(plan.implied_hits(&class, METHOD).len(), 9_999);
    for (bytes, removed) in [(0, 1), (5, 1), (6, 2), (10_000, 2_000), (1_000_000, 9_999)] {
        let mut plan = plan.clone();
        let hits = plan.remove_implied_hits(&class, METHOD, bytes, 5);
        assert_eq!(hits.len(), removed, "{bytes}");
        assert_eq!(plan.edits().len(), 10_000 - removed);
        let rows = hits.windows(2).map(|pair| pair[1].probe - pair[0].probe);
        let (least, most) = (rows.clone().min(), rows.max());
        assert!(most.unwrap_or(0) - least.unwrap_or(0) <= 1, "{bytes}");
    }
}

#[test]
fn short_methods_keep_all_hits() {
    let (bytes, mut plan) = long(300);
    let class = ClassFile::read(&bytes).unwrap();
    assert_eq!(plan.implied_hits(&class, METHOD).len(), 99);
    assert_eq!(plan.remove_implied_hits(&class, METHOD, 50, 5), []);
}

#[test]
fn methods_without_code_have_no_implied_hits() {
    let class = ClassFile::read(fixtures::SHAPES).unwrap();
    let plan = plan_at([Location::Entry].into_iter());
    assert_eq!(plan.implied_hits(&class, MethodIndex(9_999)), []);
}
