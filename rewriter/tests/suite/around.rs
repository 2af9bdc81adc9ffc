//! Code around an instruction.

use std::time::Instant;

use jvms::opcode as op;
use rewriter::{
    Assemble, Bci, Change, ClassEdit, ClassFile, EditPlan, InsertionPoint, Location, Member,
    MethodIndex, PlanBuilder, PlanChecker, Snippet,
};

use crate::changes::{calling, spliced};
use crate::edited::timed;
use crate::fixtures::ALL;

/// The method calls `Object f(long, int)` at bci 2.
const CODE: [u8; 7] = [
    op::LCONST_1,
    op::ICONST_1,
    op::INVOKESTATIC,
    0,
    11,
    op::POP,
    op::RETURN,
];

fn snippet(operations: impl FnOnce(&mut Snippet)) -> Change {
    let mut code = Snippet::new();
    operations(&mut code);
    Change::Around(code)
}

fn refusal(change: Change) -> String {
    let bytes = calling(&CODE);
    let class = ClassFile::read(&bytes).unwrap();
    let refused = PlanBuilder::new(&class).change(MethodIndex(0), Bci(2), change);
    refused.unwrap_err().to_string()
}

#[test]
fn operands_are_stored_read_and_restored() {
    let bytes = calling(&CODE);
    let class = ClassFile::read(&bytes).unwrap();
    let mut plan = PlanBuilder::new(&class);
    let around = snippet(|code| {
        code.load_operand(1).unwrap();
        code.op(op::ISTORE, 0).unwrap();
        code.proceed().unwrap();
        code.increment(0, 1).unwrap();
        code.load_operand(0).unwrap();
        code.op(op::POP2, 0).unwrap();
    });
    plan.change(MethodIndex(0), Bci(2), around).unwrap();
    let plan = plan.finish();
    assert_eq!(
        plan.to_string(),
        "method 0 at 2: around:\n    load operand 1\n    istore own 0\n    proceed\n    iinc own 0 by 1\n    load operand 0\n    pop2\n"
    );
    let (skipped, out) = spliced(&class, &plan);
    assert_eq!(skipped, []);
    let after = ClassFile::read(&out).unwrap();
    let method = after.method(MethodIndex(0)).unwrap();
    let code = method.code().unwrap().unwrap();
    let before = class.method(MethodIndex(0)).unwrap();
    let before = before.code().unwrap().unwrap();
    // The code's own local, a long and an int; the long at the end is next to the result.
    assert_eq!(code.max_locals() - before.max_locals(), 4);
    assert_eq!(code.max_stack(), before.max_stack());
    let first = before.max_locals() as u8;
    let local = |code: u8, slot: u8| {
        let family = (code - op::ILOAD) % 33;
        let short = if code < op::ISTORE {
            op::ILOAD_0
        } else {
            op::ISTORE_0
        };
        match first + slot {
            slot @ 0..=3 => vec![short + family * 4 + slot],
            slot => vec![code, slot],
        }
    };
    let expected: Vec<u8> = [
        vec![op::LCONST_1, op::ICONST_1],
        local(op::ISTORE, 3),
        local(op::LSTORE, 1),
        local(op::ILOAD, 3),
        local(op::ISTORE, 0),
        local(op::LLOAD, 1),
        local(op::ILOAD, 3),
        CODE[2..5].to_vec(),
        vec![op::IINC, first, 1],
        local(op::LLOAD, 1),
        vec![op::POP2, op::POP, op::RETURN],
    ]
    .concat();
    assert_eq!(code.bytes(), expected);
}

#[test]
fn assigned_operands_reach_the_instruction() {
    let bytes = calling(&CODE);
    let class = ClassFile::read(&bytes).unwrap();
    let mut plan = PlanBuilder::new(&class);
    let around = snippet(|code| {
        code.push_int(9).unwrap();
        code.store_operand(1).unwrap();
        code.proceed().unwrap();
    });
    plan.change(MethodIndex(0), Bci(2), around).unwrap();
    let plan = plan.finish();
    assert_eq!(
        plan.to_string(),
        "method 0 at 2: around:\n    push int 9\n    store operand 1\n    proceed\n"
    );
    let (skipped, out) = spliced(&class, &plan);
    assert_eq!(skipped, []);
    let after = ClassFile::read(&out).unwrap();
    let method = after.method(MethodIndex(0)).unwrap();
    let code = method.code().unwrap().unwrap();
    let opcodes: Vec<&str> = code
        .instructions()
        .map(|found| found.unwrap().mnemonic())
        .collect();
    let stores = opcodes.iter().filter(|it| it.starts_with("istore"));
    assert_eq!(stores.count(), 2, "{opcodes:?}");
    let number = opcodes.iter().position(|it| **it == *"bipush");
    let store = opcodes.iter().rposition(|it| it.starts_with("istore"));
    assert_eq!(number.map(|at| at + 1), store, "{opcodes:?}");
    let refused = refusal(snippet(|code| {
        code.push_int(9).unwrap();
        code.store_operand(0).unwrap();
        code.proceed().unwrap();
    }));
    assert!(refused.contains("operation 1 (store operand)"), "{refused}");
}

/// A receiver of another type would be refused by the JVM where the method is protected.
#[test]
fn receivers_are_not_assigned() {
    let (mut refused, mut assigned) = (0, 0);
    for (_, bytes) in ALL {
        let class = ClassFile::read(bytes).unwrap();
        for method in class.methods() {
            let Ok(Some(code)) = method.code() else {
                continue;
            };
            for found in code.instructions().flatten() {
                let around = snippet(|code| {
                    code.load_operand(0).unwrap();
                    code.store_operand(0).unwrap();
                    code.proceed().unwrap();
                });
                let mut plan = PlanBuilder::new(&class);
                let result = plan.change(method.index(), found.bci, around);
                let has_receiver = matches!(
                    found.opcode,
                    op::GETFIELD
                        | op::PUTFIELD
                        | op::INVOKEVIRTUAL
                        | op::INVOKESPECIAL
                        | op::INVOKEINTERFACE
                );
                match result {
                    Ok(()) => {
                        assert!(!has_receiver, "{}", found.mnemonic());
                        assigned += 1;
                        let (skipped, _) = spliced(&class, &plan.finish());
                        assert_eq!(skipped, []);
                    }
                    Err(error) => {
                        let text = error.to_string();
                        refused +=
                            usize::from(text.contains("the receiver of a call or field access"));
                    }
                }
            }
        }
    }
    assert!(refused > 20 && assigned > 20, "{refused} {assigned}");
}

#[test]
fn every_call_field_access_monitor_and_array_can_be_surrounded() {
    let mut surrounded = 0;
    for (name, bytes) in ALL {
        let class = ClassFile::read(bytes).unwrap();
        for branches in [false, true] {
            let mut plan = PlanBuilder::new(&class);
            for method in class.methods() {
                let Ok(Some(code)) = method.code() else {
                    continue;
                };
                for found in code.instructions().flatten() {
                    let change = Change::Around(timed(false, branches));
                    match plan.change(method.index(), found.bci, change) {
                        Ok(()) => surrounded += 1,
                        Err(refused) => expect_refused(name, found.opcode, &refused.to_string()),
                    }
                    let before = InsertionPoint {
                        method: method.index(),
                        location: Location::Before(found.bci),
                    };
                    plan.hit(before, u32::from(found.bci.0)).unwrap();
                }
            }
            let (skipped, _) = spliced(&class, &plan.finish());
            assert_eq!(skipped, [], "{name}");
        }
    }
    assert!(surrounded > 100, "{surrounded}");
}

fn expect_refused(name: &str, opcode: u8, reason: &str) {
    let expected = match opcode {
        op::GETSTATIC..=op::INVOKEDYNAMIC => ["wrap the call", "super() comes later"]
            .iter()
            .any(|it| reason.contains(it)),
        op::MONITORENTER | op::MONITOREXIT | op::NEWARRAY..=op::ANEWARRAY => false,
        _ => reason.contains("or the creation of an array, found"),
    };
    assert!(expected, "{name}: {reason}");
}

#[test]
fn unsuitable_code_around_instructions_is_refused_with_the_reason() {
    let said = "the change does not fit method 0 bci 2: the code around it does not fit: ";
    let proceed = |code: &mut Snippet| code.proceed().unwrap();
    for (change, expected) in [
        (
            snippet(|_| ()),
            "operation 0: it must proceed with the instruction; redirect_call, redirect_field and remove take its place",
        ),
        (
            snippet(|code| {
                proceed(code);
                code.op(op::POP, 0).unwrap();
                proceed(code);
            }),
            "operation 2: it proceeds with the instruction a second time",
        ),
        (
            snippet(|code| {
                code.load_operand(2).unwrap();
                proceed(code);
            }),
            "operation 0: the instruction takes no such operand",
        ),
        (
            snippet(|code| {
                proceed(code);
                code.op(op::POP, 0).unwrap();
            }),
            "operation 2 (end): expected [java/lang/Object] on the stack, found [] on the stack",
        ),
        (
            snippet(|code| {
                code.load_operand(0).unwrap();
                code.op(op::POP, 0).unwrap();
                proceed(code);
            }),
            "operation 1 (pop): expected a value of one slot, found long",
        ),
        (
            snippet(|code| {
                proceed(code);
                code.load_this().unwrap();
                code.op(op::POP, 0).unwrap();
            }),
            "operation 1: the method is static and has no this",
        ),
    ] {
        assert_eq!(refusal(change), format!("{said}{expected}"));
    }
}

#[test]
fn operands_belong_to_code_around_an_instruction() {
    let bytes = calling(&CODE);
    let class = ClassFile::read(&bytes).unwrap();
    let mut operand = Snippet::new();
    operand.load_operand(0).unwrap();
    let mut proceed = Snippet::new();
    proceed.proceed().unwrap();
    for code in [operand, proceed] {
        let mut plan = PlanBuilder::new(&class);
        let point = InsertionPoint {
            method: MethodIndex(0),
            location: Location::Before(Bci(2)),
        };
        let refused = [
            plan.insert(point, code.clone()),
            plan.edit_class(ClassEdit::ReplaceBody {
                method: MethodIndex(0),
                body: code,
            }),
        ];
        for refused in refused {
            let text = refused.unwrap_err().to_string();
            let expected = "only code around an instruction has operands and can proceed";
            assert!(text.contains(expected), "{text}");
        }
    }
}

#[test]
fn names_in_surrounding_code_are_renamed_with_the_class() {
    let bytes = calling(&CODE);
    let class = ClassFile::read(&bytes).unwrap();
    let mut plan = EditPlan::new();
    let around = snippet(|code| {
        code.proceed().unwrap();
        let target = Member {
            owner: "old/Name".to_owned(),
            name: "seen".to_owned(),
            descriptor: "()V".to_owned(),
            interface: false,
        };
        code.invoke(op::INVOKESTATIC, target).unwrap();
    });
    plan.change(MethodIndex(0), Bci(2), around).unwrap();
    plan.edit_class(ClassEdit::RenameType {
        from: "old/Name".to_owned(),
        to: "new/Name".to_owned(),
    })
    .unwrap();
    let (skipped, out) = spliced(&class, &plan);
    assert_eq!(skipped, []);
    let holds = |name: &[u8]| out.windows(name.len()).any(|found| found == name);
    assert!(holds(b"new/Name") && !holds(b"old/Name"));
}

/// Two hundred checkers that each follow the method once take longer than one checker with all 6,000 locations, which
/// would otherwise follow it 6,000 times.
#[test]
fn method_is_analysed_once_for_all_locations() {
    let one = [op::LCONST_1, op::ICONST_1, op::INVOKESTATIC, 0, 11, op::POP];
    let mut code = one.repeat(6_000);
    code.push(op::RETURN);
    let mut bytes = calling(&code);
    // The version requires frames, and the stack is as deep as the code needs.
    bytes[7] = 61;
    let at = bytes.windows(12).position(|found| found == &code[..12]);
    bytes[at.unwrap() - 7] = 9;
    let class = ClassFile::read(&bytes).unwrap();
    let sites: Vec<_> = (0..6_000_u16)
        .map(|index| (MethodIndex(0), Bci(index * 6 + 2)))
        .collect();
    let points: Vec<_> = sites
        .iter()
        .map(|(method, bci)| InsertionPoint {
            method: *method,
            location: Location::Before(*bci),
        })
        .collect();
    let mut snippet = Snippet::new();
    let end = snippet.new_label();
    snippet.push_int(1).unwrap();
    snippet.jump(op::IFNE, end).unwrap();
    snippet.place(end).unwrap();
    let around = Change::Around(timed(false, true));
    let time = |checkers: usize, count: usize| {
        let start = Instant::now();
        for _ in 0..checkers {
            let mut checker = PlanChecker::new(&class);
            checker.check_snippets(&points[..count], &snippet).unwrap();
            checker.check_changes(&sites[..count], &around).unwrap();
        }
        start.elapsed()
    };
    let one = (0..3).map(|_| time(1, 6_000)).min().unwrap();
    let many = (0..3).map(|_| time(200, 1)).min().unwrap();
    assert!(one < many, "{one:?} with one checker, {many:?} with 200");
}
