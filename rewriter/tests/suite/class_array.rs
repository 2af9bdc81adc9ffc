//! Probes in the class's own array.

use jvms::modified_utf8::Utf8;
use jvms::opcode;
use rewriter::{
    CheckScratch, ClassFile, EditPlan, MethodIndex, ProbeStorage, Scratch, SpliceError,
    check_splice, splice,
};

use crate::exercise;
use crate::fixtures::{ALL, SHAPES};

const OWN: ProbeStorage<'static> = ProbeStorage::ClassArray {
    runtime: "classhook/runtime/Probes",
    key: Utf8::new(b"0123456789abcdef coverage=7 com/acme/A"),
};
const INTERFACE: u16 = 0x0200;

/// Returns a fixture with only its version changed.
fn of_version(bytes: &[u8], major: u16) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[6..8].copy_from_slice(&major.to_be_bytes());
    bytes
}

/// Marks the class as an interface, whose methods may hold the same code.
fn as_interface(bytes: &[u8]) -> Vec<u8> {
    let count = u16::from_be_bytes([bytes[8], bytes[9]]);
    let (mut at, mut index) = (10, 1);
    while index < count {
        index += 1;
        at += match bytes[at] {
            1 => 3 + usize::from(u16::from_be_bytes([bytes[at + 1], bytes[at + 2]])),
            7 | 8 | 16 | 19 | 20 => 3,
            15 => 4,
            5 | 6 => {
                index += 1;
                9
            }
            _ => 5,
        };
    }
    let mut bytes = bytes.to_vec();
    bytes[at..at + 2].copy_from_slice(&0x0601_u16.to_be_bytes());
    bytes
}

fn spliced(bytes: &[u8]) -> Vec<u8> {
    let class = ClassFile::read(bytes).unwrap();
    let plan = exercise::plan(&class, |_| true);
    let (mut out, mut scratch) = (Vec::new(), Scratch::default());
    let report = splice(&class, &plan, &OWN, &mut scratch, &mut out).unwrap();
    assert_eq!(report.skipped, []);
    assert!(report.rewritten > 0);
    check_splice(&class, &plan, &OWN, &out, &mut CheckScratch::default()).unwrap();
    out
}

/// Returns the opcodes of the first instructions of a method.
fn begins<const N: usize>(class: &ClassFile<'_>, method: MethodIndex) -> [u8; N] {
    let method = class.method(method).unwrap();
    let code = method.code().unwrap().unwrap();
    let opcodes = code
        .instructions()
        .map(|instruction| instruction.unwrap().opcode);
    let opcodes: Vec<_> = opcodes.take(N).collect();
    opcodes.try_into().unwrap()
}

fn first_with_code(class: &ClassFile<'_>) -> MethodIndex {
    let mut methods = class.methods();
    methods
        .find(|method| method.code().unwrap().is_some())
        .unwrap()
        .index()
}

#[test]
fn every_version_has_its_own_array_access() {
    let mut interfaces = 0;
    let both = |(name, bytes): &(&'static str, &[u8])| {
        [(*name, bytes.to_vec()), (*name, as_interface(bytes))]
    };
    for (name, bytes) in ALL.iter().flat_map(both) {
        for major in 45..=69 {
            let bytes = of_version(&bytes, major);
            let before = ClassFile::read(&bytes).unwrap();
            if before
                .methods()
                .all(|method| method.code().unwrap().is_none())
            {
                continue;
            }
            let out = spliced(&bytes);
            let after = ClassFile::read(&out).unwrap();
            let added = after.methods().len() - before.methods().len();
            let bootstraps = after.bootstrap_methods().count() - before.bootstrap_methods().count();
            let interface = before.access_flags() & INTERFACE != 0;
            interfaces += u32::from(interface);
            let [first, second] = begins::<2>(&after, first_with_code(&after));
            let expected = match (interface, major) {
                (_, 55..) => (opcode::LDC_W, opcode::SIPUSH, 0, 1),
                (true, ..52) => (opcode::LDC_W, opcode::INVOKESTATIC, 0, 0),
                _ => (opcode::INVOKESTATIC, opcode::SIPUSH, 1, 0),
            };
            assert_eq!(
                (first, second, added, bootstraps),
                expected,
                "{name} {major}"
            );
        }
    }
    assert!(interfaces > 0);
}

#[test]
fn dynamic_constant_asks_the_runtime_with_the_key() {
    let before = ClassFile::read(SHAPES).unwrap();
    let known = before.bootstrap_methods().count();
    assert!(known > 0, "a class with bootstrap methods of its own");
    let out = spliced(SHAPES);
    let after = ClassFile::read(&out).unwrap();
    let bootstrap = after.bootstrap_methods().last().unwrap();
    let handle = after.pool().method_handle(bootstrap.method_handle).unwrap();
    assert_eq!(handle.kind, 6);
    assert_eq!(handle.member.owner, "classhook/runtime/Probes");
    assert_eq!(handle.member.name, "array");
    assert!(!handle.member.interface);
    let arguments: Vec<_> = bootstrap.arguments().collect();
    let [key] = arguments.as_slice() else {
        panic!("{arguments:?}")
    };
    let key = after.pool().string(*key).unwrap();
    assert_eq!(key, "0123456789abcdef coverage=7 com/acme/A");
    let method = after.method(first_with_code(&after)).unwrap();
    let code = method.code().unwrap().unwrap();
    let load = code.instructions().next().unwrap().unwrap();
    let index = u16::try_from(load.operand()).unwrap();
    let constant = after.pool().dynamic(rewriter::PoolIndex(index)).unwrap();
    assert_eq!(usize::from(constant.bootstrap), known);
    assert_eq!(constant.descriptor, "[B");
}

#[test]
fn added_members_are_private_static_and_synthetic() {
    let bytes = of_version(ALL[5].1, 52);
    let before = ClassFile::read(&bytes).unwrap();
    let out = spliced(&bytes);
    let after = ClassFile::read(&out).unwrap();
    let added = after.methods().last().unwrap();
    assert_eq!(added.access_flags(), 0x100A);
    assert_eq!(
        (added.name(), added.descriptor()),
        (Utf8::new(b"$classhook"), Utf8::new(b"()[B"))
    );
    let text = cafebabe::parse_class(&out).unwrap();
    let field = text.fields.last().unwrap();
    assert_eq!(field.name, "$classhook");
    assert_eq!(field.access_flags.bits(), 0x108A);
    assert_eq!(
        text.fields.len(),
        cafebabe::parse_class(&bytes).unwrap().fields.len() + 1
    );
    assert_eq!(before.methods().len() + 1, after.methods().len());
}

#[test]
fn name_in_use_is_avoided() {
    let once = spliced(&of_version(ALL[5].1, 52));
    let twice = spliced(&once);
    let class = ClassFile::read(&twice).unwrap();
    let names: Vec<_> = class.methods().map(|method| method.name()).collect();
    assert!(
        names.contains(&Utf8::new(b"$classhook")) && names.contains(&Utf8::new(b"$classhook_"))
    );
}

#[test]
fn added_members_are_checked() {
    for major in [52, 55] {
        let bytes = of_version(ALL[5].1, major);
        let class = ClassFile::read(&bytes).unwrap();
        let plan = exercise::plan(&class, |_| true);
        let (mut out, mut scratch) = (Vec::new(), Scratch::default());
        splice(&class, &plan, &OWN, &mut scratch, &mut out).unwrap();
        let pool = out
            .windows(10)
            .position(|window| window == b"$classhook")
            .unwrap();
        let mut unnoticed = Vec::new();
        for at in (pool..pool + 10).chain(out.len() - 120..out.len()) {
            out[at] ^= 0x55;
            if check_splice(&class, &plan, &OWN, &out, &mut CheckScratch::default()).is_ok() {
                unnoticed.push(at);
            }
            out[at] ^= 0x55;
        }
        assert!(
            unnoticed.is_empty(),
            "version {major}: {unnoticed:?} of {}",
            out.len()
        );
    }
}

#[test]
fn counters_need_no_array() {
    let class = ClassFile::read(SHAPES).unwrap();
    let mut plan = EditPlan::new();
    let method = first_with_code(&class);
    let site = rewriter::InsertionPoint {
        method,
        location: rewriter::Location::Entry,
    };
    plan.count(site, 0).unwrap();
    let result = splice(
        &class,
        &plan,
        &OWN,
        &mut Scratch::default(),
        &mut Vec::new(),
    );
    assert_eq!(result, Err(SpliceError::Counter { probe: 0 }));
}
