//! Probes that methods of the array's class write.

use jvms::opcode;
use rewriter::{
    CheckScratch, ClassFile, EditPlan, InsertionPoint, Location, MethodIndex, PoolIndex,
    ProbeStorage, Scratch, check_splice, splice,
};

use crate::exercise;
use crate::fixtures::{ALL, SHAPES};

const CALLED: ProbeStorage<'static> = ProbeStorage::SharedMethods {
    owner: "java/lang/$Classhook",
    field: "hits",
    method: "hit",
};

/// The first method with code of a class.
fn method(class: &ClassFile<'_>) -> MethodIndex {
    let mut methods = class.methods();
    let found = methods.find(|method| method.code().unwrap().is_some());
    found.unwrap().index()
}

/// The class with these probes at the entry of its first method with code, checked.
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

/// The probe that the code at `at` hits, as the method that it calls is meant.
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
fn every_probe_is_told_by_its_method_and_what_that_is_given() {
    for number in 0..=32_767_u32 {
        let out = spliced(&[number]);
        let class = ClassFile::read(&out).unwrap();
        assert_eq!(probe(&class, 0), number.cast_signed());
    }
}

#[test]
fn probes_of_a_class_may_need_every_method() {
    let probes = [0_u16, 300, 1_000, 2_304, 32_767];
    let out = spliced(&probes.map(u32::from));
    let class = ClassFile::read(&out).unwrap();
    let found = [0, 5, 10, 15, 20].map(|at| probe(&class, at));
    assert_eq!(found, probes.map(i32::from));
}

/// What may catch that the stack has ended; none stands for everything.
const OVERFLOWS: [&[u8]; 4] = [
    b"java/lang/StackOverflowError",
    b"java/lang/VirtualMachineError",
    b"java/lang/Error",
    b"java/lang/Throwable",
];

#[test]
fn methods_that_may_catch_the_end_of_the_stack_are_not_made_to_call() {
    let mut found = [0, 0];
    for (name, bytes) in ALL {
        let class = ClassFile::read(bytes).unwrap();
        let plan = exercise::plan(&class, |_| true);
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        splice(&class, &plan, &CALLED, &mut scratch, &mut out).unwrap();
        let after = ClassFile::read(&out).unwrap();
        for method in after.methods() {
            let Some(code) = method.code().unwrap() else {
                continue;
            };
            let catches = code.exception_table().any(|handler| {
                let caught = after.pool().class_name(handler.catch_type);
                caught.is_none_or(|caught| OVERFLOWS.contains(&caught.as_bytes()))
            });
            // The first instruction is of the probe at the entry.
            let expected = match catches {
                true => opcode::GETSTATIC,
                false => opcode::BIPUSH,
            };
            let method = method.name().to_str_lossless();
            assert_eq!(code.bytes()[0], expected, "{name}.{method}");
            found[usize::from(catches)] += 1;
        }
    }
    assert!(found[0] > 10 && found[1] > 2, "{found:?}");
}
