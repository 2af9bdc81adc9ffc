//! Limits of the class file format.

use rewriter::{
    Bci, ClassFile, EditPlan, InsertionPoint, Location, MethodIndex, Scratch, SkipReason, Warning,
    splice,
};

use crate::fixtures::{STORAGE, hits};
use crate::program::{Op, assemble, class, class_with};

fn report(bytes: &[u8], plan: &EditPlan) -> rewriter::SpliceReport {
    let class = ClassFile::read(bytes).unwrap();
    let mut out = Vec::new();
    let report = splice(&class, plan, &STORAGE, &mut Scratch::default(), &mut out).unwrap();
    if report.rewritten == 0 {
        assert_eq!(out, bytes);
    }
    report
}

#[test]
fn method_of_65535_bytes_is_the_longest() {
    let plan = hits(MethodIndex(0), &[Location::Entry]);
    let of = |nops| class(&assemble(&[Op::Nops(nops), Op::Return]));
    assert_eq!(report(&of(65_526), &plan).skipped, []);
    let skipped = report(&of(65_527), &plan).skipped;
    assert_eq!(
        skipped,
        [(
            MethodIndex(0),
            SkipReason::MethodTooLarge { length: 65_536 }
        )]
    );
}

#[test]
fn method_that_grows_past_8000_bytes_is_reported() {
    let plan = hits(MethodIndex(0), &[Location::Entry]);
    let of = |nops| class(&assemble(&[Op::Nops(nops), Op::Return]));
    assert_eq!(report(&of(7_991), &plan).warnings, []);
    let warning = Warning::HugeMethod {
        method: MethodIndex(0),
        before: 7_993,
        after: 8_001,
    };
    assert_eq!(report(&of(7_992), &plan).warnings, [warning]);
}

/// Returns a class whose pool has `count` entries.
fn with_pool(count: usize) -> Vec<u8> {
    let texts = vec!["x"; count - 8];
    class_with(49, &assemble(&[Op::Return]), &[], &texts, &[0, 0])
}

#[test]
fn full_pool_skips_the_method_and_keeps_the_class() {
    let plan = hits(MethodIndex(0), &[Location::Entry]);
    assert_eq!(report(&with_pool(65_529), &plan).rewritten, 1);
    let full = report(&with_pool(65_530), &plan);
    assert_eq!(
        (full.rewritten, full.skipped),
        (0, vec![(MethodIndex(0), SkipReason::PoolFull)])
    );
}

#[test]
fn site_of_another_version_of_the_class_skips_the_method() {
    let bytes = class(&assemble(&[Op::Goto(1), Op::Return]));
    let mut plan = EditPlan::new();
    plan.hit(
        InsertionPoint {
            method: MethodIndex(0),
            location: Location::Before(Bci(3)),
        },
        0,
    )
    .unwrap();
    let skipped = report(&bytes, &plan).skipped;
    assert_eq!(
        skipped,
        [(MethodIndex(0), SkipReason::NoSuchLocation { bci: Bci(3) })]
    );
}

#[test]
fn code_that_falls_off_its_end_gets_no_trampolines() {
    let bytes = class(&assemble(&[Op::If(1), Op::Nops(1)]));
    let plan = hits(
        MethodIndex(0),
        &[Location::Jump {
            source: Bci(0),
            target: Bci(3),
        }],
    );
    assert_eq!(
        report(&bytes, &plan).skipped,
        [(MethodIndex(0), SkipReason::OpenEnd)]
    );
}
