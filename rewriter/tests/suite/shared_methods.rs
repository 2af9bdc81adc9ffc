//! Probes written by methods of the array's class.

use jvms::opcode;
use std::collections::{BTreeMap, BTreeSet};

use rewriter::{
    Bci, CheckScratch, ClassFile, Code, EditPlan, ExceptionHandler, InsertionPoint, Instruction,
    Location, MethodIndex, PoolIndex, ProbeStorage, Scratch, check_splice, splice,
};

use crate::exercise;
use crate::fixtures::{ALL, SHAPES, STORAGE, hits};
use crate::program::class_with;

const CALLED: ProbeStorage<'static> = ProbeStorage::SharedMethods {
    owner: "java/lang/$Classhook",
    field: "hits",
    method: "hit",
};

/// Returns the first method with code of a class.
fn method(class: &ClassFile<'_>) -> MethodIndex {
    let mut methods = class.methods();
    let found = methods.find(|method| method.code().unwrap().is_some());
    found.unwrap().index()
}

/// Returns the checked class with these probes at the entry of its first method with code.
fn spliced(probes: &[u32]) -> Vec<u8> {
    let class = ClassFile::read(SHAPES).unwrap();
    let mut plan = EditPlan::new();
    for probe in probes {
        let (method, location) = (method(&class), Location::Entry);
        plan.hit(InsertionPoint { method, location }, *probe)
            .unwrap();
    }
    let mut out = Vec::new();
    let report = splice(&class, &plan, &CALLED, &mut Scratch::default(), &mut out).unwrap();
    assert_eq!((report.rewritten, report.skipped.len()), (1, 0));
    check_splice(&class, &plan, &CALLED, &out, &mut CheckScratch::default()).unwrap();
    out
}

/// Returns the probe that the code at `at` hits, according to the meaning of the called method.
fn probe(class: &ClassFile<'_>, at: usize) -> i32 {
    let method = class.method(method(class)).unwrap();
    let code = method.code().unwrap().unwrap();
    let [push, low, invoke, m0, m1] = code.bytes()[at..][..5] else {
        panic!("five bytes");
    };
    assert_eq!((push, invoke), (opcode::BIPUSH, opcode::INVOKESTATIC));
    let index = PoolIndex(u16::from_be_bytes([m0, m1]));
    let member = class.pool().member_ref(index).unwrap();
    assert_eq!(member.owner.as_bytes(), b"java/lang/$Classhook");
    assert_eq!(member.descriptor.as_bytes(), b"(I)V");
    let name = member.name.to_str_lossless();
    let number = name.strip_prefix("hit").unwrap();
    number.parse::<i32>().unwrap() * 256 + 128 + i32::from(low.cast_signed())
}

#[test]
fn every_probe_has_a_unique_method_and_argument() {
    for number in 0..=65_535_u32 {
        let out = spliced(&[number]);
        let class = ClassFile::read(&out).unwrap();
        assert_eq!(probe(&class, 0), number.cast_signed());
    }
}

#[test]
fn probes_of_a_class_may_need_every_method() {
    let probes = [0_u16, 300, 1_000, 2_304, 65_535];
    let out = spliced(&probes.map(u32::from));
    let class = ClassFile::read(&out).unwrap();
    let found = [0, 5, 10, 15, 20].map(|at| probe(&class, at));
    assert_eq!(found, probes.map(i32::from));
}

/// Types of handlers that may catch a stack overflow; a handler without type catches everything.
const OVERFLOWS: [&[u8]; 4] = [
    b"java/lang/StackOverflowError",
    b"java/lang/VirtualMachineError",
    b"java/lang/Error",
    b"java/lang/Throwable",
];

/// Returns the instructions of a method that handlers of an overflow reach.
fn behind_overflows(class: &ClassFile<'_>, code: &Code<'_, '_>) -> Vec<u16> {
    let catches = |row: &ExceptionHandler| {
        let caught = class.pool().class_name(row.catch_type);
        caught.is_none_or(|caught| OVERFLOWS.contains(&caught.as_bytes()))
    };
    let all: BTreeMap<u16, Instruction<'_>> = code
        .instructions()
        .map(|found| found.map(|found| (found.bci.0, found)).unwrap())
        .collect();
    let starts = code.exception_table().filter(catches);
    let mut left: Vec<u16> = starts.map(|row| row.handler.0).collect();
    let mut seen = BTreeSet::new();
    while let Some(at) = left.pop() {
        if !seen.insert(at) {
            continue;
        }
        let found = all[&at];
        left.extend(found.branch_target().map(|target| target.0));
        if let Some(switch) = found.switch() {
            left.extend(switch.targets().map(|target| target.0));
        }
        if opcode::falls_through(found.opcode) {
            left.push(found.next() as u16);
        }
        let around = code.exception_table();
        let around = around.filter(|row| (row.start.0..row.end).contains(&at));
        left.extend(around.map(|row| row.handler.0));
    }
    seen.into_iter().collect()
}

/// Checks whether the instruction at `bci` calls a method that writes hits.
fn calls(class: &ClassFile<'_>, code: &Code<'_, '_>, bci: u16) -> bool {
    let found = code.instructions().map(Result::unwrap);
    let found = found.filter(|found| found.opcode == opcode::INVOKESTATIC);
    found.filter(|found| found.bci.0 == bci).any(|found| {
        let member = class.pool().member_ref(found.pool_index().unwrap());
        member.is_some_and(|member| member.owner == "java/lang/$Classhook")
    })
}

#[test]
fn hits_after_a_caught_stack_overflow_never_call() {
    let mut found = [0, 0];
    for (name, bytes) in ALL {
        let class = ClassFile::read(bytes).unwrap();
        let plan = exercise::plan(&class, |_| true);
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        splice(&class, &plan, &CALLED, &mut scratch, &mut out).unwrap();
        check_splice(&class, &plan, &CALLED, &out, &mut CheckScratch::default()).unwrap();
        let after = ClassFile::read(&out).unwrap();
        for method in after.methods() {
            let Some(code) = method.code().unwrap() else {
                continue;
            };
            let behind = behind_overflows(&after, &code);
            for bci in &behind {
                let method = method.name().to_str_lossless();
                assert!(!calls(&after, &code, *bci), "{name}.{method}: {bci}");
            }
            found[usize::from(!behind.is_empty())] += 1;
        }
    }
    assert!(found[0] > 10 && found[1] > 2, "{found:?}");
}

#[test]
fn only_probes_after_a_handler_of_an_overflow_store() {
    // try { nop; nop } catch (Throwable) { pop } after a loop.
    let code = [
        opcode::NOP,
        opcode::ICONST_0,
        opcode::IFEQ,
        0xFF,
        0xFE,
        opcode::NOP,
        opcode::RETURN,
        opcode::POP,
        opcode::NOP,
        opcode::RETURN,
    ];
    let bytes = class_with(49, &code, &[[5, 6, 7]], &[], &[0, 0]);
    let class = ClassFile::read(&bytes).unwrap();
    let before = |bci| Location::Before(Bci(bci));
    let plan = hits(MethodIndex(0), &[0, 1, 5, 8].map(before));
    let mut out = Vec::new();
    for scratch in &mut [Scratch::default(), Scratch::general()] {
        let report = splice(&class, &plan, &CALLED, scratch, &mut out).unwrap();
        assert_eq!(report.rewritten, 1);
        check_splice(&class, &plan, &CALLED, &out, &mut CheckScratch::default()).unwrap();
        let after = ClassFile::read(&out).unwrap();
        let method = after.method(MethodIndex(0)).unwrap();
        let code = method.code().unwrap().unwrap();
        assert_eq!(code.bytes().len(), 10 + 3 * 5 + 8);
        let opcodes = code.instructions().map(|found| found.unwrap().opcode);
        let pushed = opcodes.filter(|found| [opcode::BIPUSH, opcode::GETSTATIC].contains(found));
        let expected = [
            opcode::BIPUSH,
            opcode::BIPUSH,
            opcode::BIPUSH,
            opcode::GETSTATIC,
        ];
        assert_eq!(pushed.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn index_beyond_sipush_is_made_unsigned() {
    for storage in [STORAGE, CALLED] {
        let code = [opcode::NOP, opcode::RETURN, opcode::POP, opcode::RETURN];
        let bytes = class_with(49, &code, &[[0, 1, 2]], &[], &[0, 0]);
        let class = ClassFile::read(&bytes).unwrap();
        let mut plan = EditPlan::new();
        for (bci, probe) in [(2, 5), (3, 40_000)] {
            let (method, location) = (MethodIndex(0), Location::Before(Bci(bci)));
            plan.hit(InsertionPoint { method, location }, probe)
                .unwrap();
        }
        let mut out = Vec::new();
        splice(&class, &plan, &storage, &mut Scratch::default(), &mut out).unwrap();
        check_splice(&class, &plan, &storage, &out, &mut CheckScratch::default()).unwrap();
        let after = ClassFile::read(&out).unwrap();
        let method = after.method(MethodIndex(0)).unwrap();
        let code = method.code().unwrap().unwrap().bytes().to_vec();
        let [high, low] = 40_000_u16.to_be_bytes();
        assert_eq!(code[5..9], [opcode::SIPUSH, 0, 5, opcode::I2C]);
        assert_eq!(code[15..19], [opcode::SIPUSH, high, low, opcode::I2C]);
    }
}
