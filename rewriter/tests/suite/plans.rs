//! Plans: checked on construction, printed, transferred, applied in part.

use class_versions::{TransferReason, transfer};
use rewriter::{
    Action, Bci, CheckScratch, ClassFile, Edit, EditPlan, InsertionPoint, Location, MethodIndex,
    PlanBuilder, PlanError, ProbeStorage, Scratch, SpliceError, check_splice, splice,
};

use crate::exercise;
use crate::fixtures::{SHAPES, STORAGE, hits};
use crate::program::{Op, assemble, class};

fn first(place: Location) -> InsertionPoint {
    InsertionPoint {
        method: MethodIndex(0),
        location: place,
    }
}

#[test]
fn unknown_locations_are_refused() {
    let bytes = class(&assemble(&[
        Op::If(2),
        Op::Nops(1),
        Op::Goto(0),
        Op::Return,
    ]));
    let class = ClassFile::read(&bytes).unwrap();
    let mut plan = PlanBuilder::new(&class);
    let method = MethodIndex(0);
    let refused = [
        (
            Location::Before(Bci(1)),
            PlanError::NotAnInstruction {
                method,
                bci: Bci(1),
            },
        ),
        (
            Location::FallThrough(Bci(6)),
            PlanError::NoFallThrough {
                method,
                bci: Bci(6),
                mnemonic: "goto",
            },
        ),
        (
            Location::Jump {
                source: Bci(0),
                target: Bci(3),
            },
            PlanError::NoJump {
                method,
                bci: Bci(0),
                mnemonic: "ifeq",
                target: Bci(3),
            },
        ),
    ];
    for (place, error) in refused {
        assert_eq!(plan.hit(first(place), 0), Err(error));
    }
    let elsewhere = InsertionPoint {
        method: MethodIndex(9),
        location: Location::Entry,
    };
    let error = PlanError::NoSuchMethod {
        method: MethodIndex(9),
        count: 1,
    };
    assert_eq!(plan.count(elsewhere, 0), Err(error));
    plan.hit(
        first(Location::Jump {
            source: Bci(0),
            target: Bci(4),
        }),
        5,
    )
    .unwrap();
    plan.count(first(Location::FallThrough(Bci(0))), 6).unwrap();
    let plan = plan.finish();
    assert_eq!(
        plan.to_string(),
        "method 0 jump 0 -> 4: hit 5\nmethod 0 after 0: count 6\n"
    );
    assert_eq!(plan.probe_count(), 7);
}

#[test]
fn empty_plan_returns_the_input() {
    let class = ClassFile::read(SHAPES).unwrap();
    let mut out = vec![1, 2, 3];
    let report = splice(
        &class,
        &EditPlan::new(),
        &STORAGE,
        &mut Scratch::default(),
        &mut out,
    )
    .unwrap();
    assert_eq!(out, SHAPES);
    assert_eq!(report.rewritten, 0);
}

#[test]
fn other_methods_and_the_old_pool_keep_their_bytes() {
    let class = ClassFile::read(SHAPES).unwrap();
    let plan = hits(MethodIndex(1), &[Location::Entry]);
    let mut out = Vec::new();
    splice(&class, &plan, &STORAGE, &mut Scratch::default(), &mut out).unwrap();
    let after = ClassFile::read(&out).unwrap();
    for (before, after) in class.methods().zip(after.methods()) {
        assert_eq!(
            before.bytes() == after.bytes(),
            before.index() != MethodIndex(1)
        );
    }
    for index in 1..class.pool().count() {
        let index = rewriter::PoolIndex(index);
        assert_eq!(class.pool().tag(index), after.pool().tag(index));
        assert_eq!(class.pool().utf8(index), after.pool().utf8(index));
    }
}

#[test]
fn hit_is_one_byte_store_into_the_shared_array() {
    let bytes = class(&assemble(&[Op::Return]));
    let class = ClassFile::read(&bytes).unwrap();
    let storage = ProbeStorage::SharedArray {
        owner: "a/B",
        field: "c",
    };
    let mut out = Vec::new();
    splice(
        &class,
        &hits(MethodIndex(0), &[Location::Entry]),
        &storage,
        &mut Scratch::default(),
        &mut out,
    )
    .unwrap();
    let after = ClassFile::read(&out).unwrap();
    let code = after.methods().next().unwrap().code().unwrap().unwrap();
    let shown: Vec<(&str, i32)> = code
        .instructions()
        .flatten()
        .map(|found| (found.mnemonic(), found.immediate().unwrap_or(0)))
        .collect();
    assert_eq!(
        shown,
        [
            ("getstatic", 0),
            ("sipush", 0),
            ("iconst_1", 1),
            ("bastore", 0),
            ("return", 0)
        ]
    );
    let field = code
        .instructions()
        .flatten()
        .next()
        .unwrap()
        .pool_index()
        .unwrap();
    let member = after.pool().member_ref(field).unwrap();
    assert_eq!(
        (member.owner, member.name, member.descriptor),
        ("a/B".into_utf8(), "c".into_utf8(), "[B".into_utf8())
    );
    assert_eq!(code.max_stack(), 3);
}

trait IntoUtf8 {
    fn into_utf8(self) -> jvms::modified_utf8::Utf8<'static>;
}

impl IntoUtf8 for &'static str {
    fn into_utf8(self) -> jvms::modified_utf8::Utf8<'static> {
        jvms::modified_utf8::Utf8::new(self.as_bytes())
    }
}

#[test]
fn plan_that_the_storage_cannot_hold_is_an_error() {
    let class = ClassFile::read(SHAPES).unwrap();
    let mut plan = EditPlan::new();
    plan.hit(first(Location::Entry), 65_535).unwrap();
    let mut scratch = Scratch::default();
    let mut out = Vec::new();
    let storage = ProbeStorage::SharedArray {
        owner: "a/B",
        field: "c",
    };
    assert!(splice(&class, &plan, &storage, &mut scratch, &mut out).is_ok());
    let mut many = EditPlan::new();
    many.hit(first(Location::Entry), 65_536).unwrap();
    let error = splice(&class, &many, &storage, &mut scratch, &mut out).unwrap_err();
    assert_eq!(error, SpliceError::ProbeOutOfRange { probe: 65_536 });
    let mut counting = EditPlan::new();
    counting.count(first(Location::Entry), 1).unwrap();
    let error = splice(&class, &counting, &storage, &mut scratch, &mut out).unwrap_err();
    assert_eq!(error, SpliceError::Counter { probe: 1 });
}

#[test]
fn same_plan_in_any_order_of_methods_is_the_same_class() {
    let class = ClassFile::read(SHAPES).unwrap();
    let plan = exercise::plan(&class, |number| number % 3 == 0);
    let mut mixed: Vec<Edit> = plan.edits().to_vec();
    mixed.sort_by_key(|edit| (edit.point.method.0 % 3, edit.point.method));
    let mut other = EditPlan::new();
    mixed.into_iter().for_each(|edit| other.push(edit).unwrap());
    let (mut scratch, mut out, mut out_of_mixed) = (Scratch::default(), Vec::new(), Vec::new());
    splice(&class, &plan, &STORAGE, &mut scratch, &mut out).unwrap();
    splice(&class, &other, &STORAGE, &mut scratch, &mut out_of_mixed).unwrap();
    assert_eq!(out, out_of_mixed);
}

#[test]
fn check_finds_every_changed_byte_of_a_method() {
    let class = ClassFile::read(SHAPES).unwrap();
    let plan = exercise::plan(&class, |number| number % 2 == 0);
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    splice(&class, &plan, &STORAGE, &mut scratch, &mut out).unwrap();
    check_splice(&class, &plan, &STORAGE, &out, &mut CheckScratch::default()).unwrap();
    // Only the depth of the operand stack may grow.
    let after = ClassFile::read(&out).unwrap();
    let stacks: Vec<usize> = after
        .methods()
        .filter_map(|method| method.code_attribute())
        .map(|code| code.bytes.as_ptr() as usize - out.as_ptr() as usize)
        .collect();
    let changes =
        (0..out.len()).filter(|at| !stacks.contains(at) && !stacks.contains(&(at.wrapping_sub(1))));
    for at in changes {
        let mut changed = out.clone();
        changed[at] ^= 0x11;
        assert!(
            check_splice(
                &class,
                &plan,
                &STORAGE,
                &changed,
                &mut CheckScratch::default()
            )
            .is_err(),
            "byte {at}"
        );
    }
}

#[test]
fn edits_follow_a_method_to_another_index() {
    let class = ClassFile::read(SHAPES).unwrap();
    let plan = exercise::plan(&class, |_| true);
    assert_eq!(transfer(&plan, &class, &class), (plan, Vec::new()));
    let other_bytes = crate::program::class(&assemble(&[Op::Nops(2), Op::Return]));
    let changed_bytes = crate::program::class(&assemble(&[Op::Nops(1), Op::If(2), Op::Return]));
    let (from, to) = (
        ClassFile::read(&other_bytes).unwrap(),
        ClassFile::read(&changed_bytes).unwrap(),
    );
    let plan = hits(MethodIndex(0), &[Location::Entry]);
    let (carried, refused) = transfer(&plan, &from, &to);
    assert!(carried.is_empty());
    assert_eq!(
        refused,
        [(MethodIndex(0), TransferReason::CodeDiffers { bci: 1 })]
    );
    let (carried, refused) = transfer(&plan, &from, &class);
    assert!(carried.is_empty());
    assert_eq!(refused, [(MethodIndex(0), TransferReason::NoSuchMethod)]);
    assert_eq!(plan.edits()[0].action, Action::Hit(0));
}
