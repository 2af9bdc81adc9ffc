//! Changed instructions: replaced calls, field accesses and allocations.

use jvms::opcode;
use rewriter::{
    Bci, CallTarget, Change, CheckScratch, ClassFile, Constant, EditPlan, InsertionPoint,
    Instruction, Location, Member, MethodIndex, PlanBuilder, PlanError, Scratch, SkipReason,
    check_splice, splice,
};

use crate::edited::stand_in;
use crate::fixtures::{ALL, STORAGE};
use crate::program::class_with;

/// An instruction with its method.
type MethodInstruction<'a> = (MethodIndex, Instruction<'a>);

fn instructions<'a>(class: &ClassFile<'a>) -> Vec<MethodInstruction<'a>> {
    let mut all = Vec::new();
    for method in class.methods() {
        if let Ok(Some(code)) = method.code() {
            let found = code.instructions().map(Result::unwrap);
            all.extend(found.map(|instruction| (method.index(), instruction)));
        }
    }
    all
}

/// Splices and checks; returns the skipped methods and the output.
pub(crate) fn spliced(
    class: &ClassFile<'_>,
    plan: &EditPlan,
) -> (Vec<(MethodIndex, SkipReason)>, Vec<u8>) {
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    let report = splice(class, plan, &STORAGE, &mut scratch, &mut out).unwrap();
    check_splice(class, plan, &STORAGE, &out, &mut CheckScratch::default()).unwrap();
    (report.skipped, out)
}

#[test]
fn every_call_and_field_access_can_be_redirected_and_removed() {
    let mut redirected = 0;
    for (name, bytes) in ALL {
        let class = ClassFile::read(bytes).unwrap();
        for removing in [false, true] {
            let mut plan = PlanBuilder::new(&class);
            let mut wanted = 0;
            for (method, found) in instructions(&class) {
                let place = InsertionPoint {
                    method,
                    location: Location::Before(found.bci),
                };
                plan.hit(place, u32::from(found.bci.0)).unwrap();
                let Some(change) = stand_in(&class, &found) else {
                    continue;
                };
                let change = if removing {
                    Change::Remove(None)
                } else {
                    change
                };
                match plan.change(method, found.bci, change) {
                    Ok(()) => wanted += 1,
                    Err(PlanError::Change { error, .. }) => {
                        let reason = error.to_string();
                        assert!(reason.contains("super() comes later"), "{name}: {reason}");
                    }
                    Err(other) => panic!("{other}"),
                }
            }
            let (skipped, out) = spliced(&class, &plan.finish());
            assert_eq!(skipped, []);
            let after = ClassFile::read(&out).unwrap();
            let hooks = |class: &ClassFile<'_>| {
                let called = |(_, found): &MethodInstruction<'_>| {
                    let member = found
                        .pool_index()
                        .and_then(|index| class.pool().member_ref(index));
                    member.is_some_and(|member| member.owner == "sample/Hooks")
                };
                instructions(class)
                    .iter()
                    .filter(|found| called(found))
                    .count()
            };
            assert_eq!(hooks(&after), if removing { 0 } else { wanted });
            redirected += hooks(&after);
        }
    }
    assert!(redirected > 50, "{redirected}");
}

#[test]
fn allocation_becomes_another_class_or_a_factory_call() {
    let (mut made, mut factories) = (0, 0);
    for (_, bytes) in ALL {
        let class = ClassFile::read(bytes).unwrap();
        for (method, found) in instructions(&class) {
            if found.opcode != opcode::NEW {
                continue;
            }
            let mut plan = PlanBuilder::new(&class);
            let change = |cast| Change::New {
                class: "sample/Sub".to_owned(),
                cast,
            };
            let refused = plan.change(method, found.bci, change(false));
            if let Err(refused) = &refused {
                let text = refused.to_string();
                assert!(
                    text.contains("the class file does not show that sample/Sub"),
                    "{text}"
                );
                plan.change(method, found.bci, change(true)).unwrap();
            }
            let (skipped, out) = spliced(&class, &plan.finish());
            assert_eq!(skipped, []);
            let after = ClassFile::read(&out).unwrap();
            let new = |found: &MethodInstruction<'_>| {
                found.1.opcode == opcode::NEW
                    && after
                        .pool()
                        .class_name(found.1.pool_index().unwrap())
                        .unwrap()
                        == "sample/Sub"
            };
            assert_eq!(
                instructions(&after)
                    .iter()
                    .filter(|found| new(found))
                    .count(),
                1
            );
            made += 1;

            let name = class
                .pool()
                .class_name(found.pool_index().unwrap())
                .unwrap();
            let call = instructions(&class)
                .into_iter()
                .filter(|(other, next)| *other == method && next.bci > found.bci)
                .filter_map(|(_, next)| class.pool().member_ref(next.pool_index()?))
                .find(|member| member.name == "<init>" && member.owner == name)
                .unwrap();
            let descriptor = call.descriptor.to_string();
            let mut plan = PlanBuilder::new(&class);
            let change = Change::Factory(Member {
                owner: "sample/Hooks".to_owned(),
                name: "make".to_owned(),
                descriptor: format!("{}Ljava/lang/Object;", &descriptor[..descriptor.len() - 1]),
                interface: false,
            });
            if plan.change(method, found.bci, change).is_ok() {
                let (skipped, out) = spliced(&class, &plan.finish());
                assert_eq!(skipped, []);
                let after = ClassFile::read(&out).unwrap();
                let news = |class: &ClassFile<'_>| {
                    let all = instructions(class);
                    all.iter()
                        .filter(|found| found.1.opcode == opcode::NEW)
                        .count()
                };
                assert_eq!(news(&after) + 1, news(&class));
                factories += 1;
            }
        }
    }
    assert!(made > 3 && factories > 3, "{made} {factories}");
}

/// Returns a class whose `m()V` has this code. Pool: 8 `f`, 9 `(JI)Ljava/lang/Object;`, 10 the name and type of both,
/// 11 the static method `T.f`.
pub(crate) fn calling(code: &[u8]) -> Vec<u8> {
    let mut attributes = Vec::new();
    attributes.extend(0_u16.to_be_bytes());
    let bytes = class_with(49, code, &[], &["f", "(JI)Ljava/lang/Object;"], &attributes);
    assert_eq!(ClassFile::read(&bytes).unwrap().pool().count(), 10);
    // Name and type, and the static method.
    with_entries(
        &bytes,
        b"(JI)Ljava/lang/Object;",
        &[12, 0, 8, 0, 9, 10, 0, 2, 0, 10],
        2,
    )
}

/// Returns the class with further entries after the last text of its pool.
fn with_entries(bytes: &[u8], last: &[u8], entries: &[u8], count: u16) -> Vec<u8> {
    let at = bytes
        .windows(last.len())
        .position(|found| found == last)
        .unwrap()
        + last.len();
    let mut out = bytes[..at].to_vec();
    out.extend(entries);
    out.extend(&bytes[at..]);
    let count = u16::from_be_bytes([bytes[8], bytes[9]]) + count;
    out[8..10].copy_from_slice(&count.to_be_bytes());
    out
}

#[test]
fn call_without_operands_and_result_keeps_surrounding_frames_apart() {
    let code = [
        opcode::ICONST_1,
        opcode::IFEQ,
        0,
        7, // to 8
        opcode::NOP,
        opcode::INVOKESTATIC, // at 5
        0,
        10,
        opcode::ICONST_1, // at 8
        opcode::IFEQ,
        0xFF,
        0xFC, // to 5
        opcode::RETURN,
    ];
    // One attribute, the text at index 8: two frames like the first one, at 5 and 8.
    let frames = [0, 1, 0, 8, 0, 0, 0, 4, 0, 2, 5, 2];
    let bytes = class_with(51, &code, &[], &["StackMapTable"], &frames);
    let entries = [12, 0, 5, 0, 6, 10, 0, 2, 0, 9];
    let bytes = with_entries(&bytes, b"StackMapTable", &entries, 2);
    let class = ClassFile::read(&bytes).unwrap();
    let mut plan = PlanBuilder::new(&class);
    plan.change(MethodIndex(0), Bci(5), Change::Remove(None))
        .unwrap();
    let (skipped, out) = spliced(&class, &plan.finish());
    assert_eq!(skipped, []);
    let after = ClassFile::read(&out).unwrap();
    let code = after
        .method(MethodIndex(0))
        .unwrap()
        .code()
        .unwrap()
        .unwrap();
    assert_eq!(
        code.bytes()[4..7],
        [opcode::NOP, opcode::NOP, opcode::ICONST_1]
    );
}

#[test]
fn a_removed_call_drops_its_operands_and_pushes_a_value() {
    let code = [
        opcode::LCONST_1,
        opcode::ICONST_1,
        opcode::INVOKESTATIC,
        0,
        11,
        opcode::POP,
        opcode::RETURN,
    ];
    let bytes = calling(&code);
    let class = ClassFile::read(&bytes).unwrap();
    let code_of = |change: Change| {
        let mut plan = EditPlan::new();
        plan.change(MethodIndex(0), Bci(2), change).unwrap();
        let (skipped, out) = spliced(&class, &plan);
        assert_eq!(skipped, []);
        let after = ClassFile::read(&out).unwrap();
        let method = after.method(MethodIndex(0)).unwrap();
        method.code().unwrap().unwrap().bytes().to_vec()
    };
    let expected = [
        opcode::LCONST_1,
        opcode::ICONST_1,
        opcode::POP,
        opcode::POP2,
        opcode::ACONST_NULL,
        opcode::POP,
        opcode::RETURN,
    ];
    assert_eq!(code_of(Change::Remove(None)), expected);
    let text = code_of(Change::Remove(Some(Constant::Text("x".to_owned()))));
    assert_eq!(text[4], opcode::LDC);
}

#[test]
fn unsuitable_changes_are_refused_with_the_reason() {
    let code = [
        opcode::LCONST_1,
        opcode::ICONST_1,
        opcode::INVOKESTATIC,
        0,
        11,
        opcode::POP,
        opcode::RETURN,
    ];
    let bytes = calling(&code);
    let class = ClassFile::read(&bytes).unwrap();
    let call = |descriptor: &str| {
        Change::Call(CallTarget {
            opcode: opcode::INVOKESTATIC,
            method: Member {
                owner: "a/B".to_owned(),
                name: "g".to_owned(),
                descriptor: descriptor.to_owned(),
                interface: false,
            },
        })
    };
    let cases = [
        (
            0,
            Change::Remove(None),
            "expected a call or field access, found lconst_1",
        ),
        (
            2,
            call("(II)Ljava/lang/Object;"),
            "expected (long, I) -> java/lang/Object, found (I, I) -> java/lang/Object",
        ),
        (
            2,
            call("(JI)I"),
            "expected (long, I) -> java/lang/Object, found (long, I) -> I",
        ),
        (
            2,
            Change::Remove(Some(Constant::Integer(1))),
            "expected a value of type java/lang/Object, found 1",
        ),
        (
            2,
            Change::New {
                class: "a/B".to_owned(),
                cast: true,
            },
            "expected new, found invokestatic",
        ),
    ];
    for (bci, change, expected) in cases {
        let mut plan = PlanBuilder::new(&class);
        let error = plan
            .change(MethodIndex(0), Bci(bci), change.clone())
            .unwrap_err();
        let words = format!("the change does not fit method 0 bci {bci}: {expected}");
        assert_eq!(error.to_string(), words);
        let mut unchecked = EditPlan::new();
        unchecked.change(MethodIndex(0), Bci(bci), change).unwrap();
        let (skipped, out) = spliced(&class, &unchecked);
        assert_eq!(out, bytes);
        assert!(matches!(&skipped[..], [(_, SkipReason::Change { .. })]));
    }
}

#[test]
fn two_changes_of_one_instruction_skip_the_method() {
    let code = [
        opcode::LCONST_1,
        opcode::ICONST_1,
        opcode::INVOKESTATIC,
        0,
        11,
        opcode::POP,
        opcode::RETURN,
    ];
    let bytes = calling(&code);
    let class = ClassFile::read(&bytes).unwrap();
    let mut plan = EditPlan::new();
    for _ in 0..2 {
        plan.change(MethodIndex(0), Bci(2), Change::Remove(None))
            .unwrap();
    }
    let (skipped, out) = spliced(&class, &plan);
    assert_eq!(out, bytes);
    assert_eq!(
        skipped,
        [(MethodIndex(0), SkipReason::ChangedTwice { bci: Bci(2) })]
    );
}
