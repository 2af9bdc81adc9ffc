//! Bodies of the fuzz targets for any bytes; shared with `fuzz/`.

use jvms::modified_utf8::Utf8;
use jvms::opcode;
use rewriter::{
    CheckScratch, ClassFile, Code, EditPlan, InsertionPoint, Location, ProbeStorage, Scratch,
    check_splice, splice,
};

const STORAGE: ProbeStorage<'static> = ProbeStorage::SharedArray {
    owner: "java/lang/$Classhook",
    field: "hits",
};
const CALLED: ProbeStorage<'static> = ProbeStorage::SharedMethods {
    owner: "java/lang/$Classhook",
    field: "hits",
    method: "hit",
};
const OWN: ProbeStorage<'static> = ProbeStorage::ClassArray {
    runtime: "classhook/runtime/Probes",
    key: Utf8::new(b"A"),
};
const OWN_METHODS: ProbeStorage<'static> = ProbeStorage::ClassMethods {
    runtime: "classhook/runtime/Probes",
    key: Utf8::new(b"A"),
};

/// Calls every accessor of a class.
pub fn read(bytes: &[u8]) -> usize {
    let Ok(class) = ClassFile::read(bytes) else {
        return 0;
    };
    let mut seen = bytes.len() & 1;
    seen += class.interfaces().count() + class.annotations().count() + class.attributes().count();
    seen += class
        .bootstrap_methods()
        .map(|method| method.arguments().count())
        .sum::<usize>();
    for index in 0..=class.pool().count() {
        let index = rewriter::PoolIndex(index);
        seen += usize::from(class.pool().constant(index).is_some());
        seen += usize::from(class.pool().member_ref(index).is_some());
        seen += class
            .pool()
            .utf8(index)
            .map_or(0, |text| text.to_str_lossless().len());
    }
    for method in class.methods() {
        seen += method.annotations().count() + method.name().as_bytes().len();
        if let Ok(Some(code)) = method.code() {
            seen += code.lines().count() + code.exception_table().count();
            seen += code.local_variables().count() + code.local_variable_types().count();
            for instruction in code.instructions().flatten() {
                seen += instruction.operand() as usize & 1;
                seen += instruction
                    .switch()
                    .map_or(0, |switch| switch.cases().count());
            }
        }
    }
    seen
}

/// Returns every location of a method, in code order.
pub fn places(code: &Code<'_, '_>) -> Vec<Location> {
    let mut places = vec![Location::Entry];
    let end = code.bytes().len() as u32;
    for instruction in code.instructions().map_while(Result::ok) {
        let source = instruction.bci;
        places.push(Location::Before(source));
        let jumps = !matches!(instruction.opcode, opcode::JSR | opcode::JSR_W);
        let targets = instruction
            .switch()
            .into_iter()
            .flat_map(|switch| switch.targets());
        let mut targets: Vec<_> = instruction
            .branch_target()
            .into_iter()
            .chain(targets)
            .collect();
        targets.sort_unstable();
        targets.dedup();
        places.extend(
            targets
                .into_iter()
                .filter(|_| jumps)
                .map(|target| Location::Jump { source, target }),
        );
        if opcode::falls_through(instruction.opcode) && instruction.next() < end {
            places.push(Location::FallThrough(source));
        }
    }
    places
}

/// Returns a plan with probes at every location whose number `wanted` accepts.
pub fn plan(class: &ClassFile<'_>, wanted: impl Fn(usize) -> bool) -> EditPlan {
    let mut plan = EditPlan::new();
    let mut number = 0;
    for method in class.methods() {
        let Ok(Some(code)) = method.code() else {
            continue;
        };
        for place in places(&code) {
            number += 1;
            if wanted(number) {
                let probe = number as u32 % 32_000;
                plan.hit(
                    InsertionPoint {
                        method: method.index(),
                        location: place,
                    },
                    probe,
                )
                .expect("room in the plan");
            }
        }
    }
    plan
}

/// Splices all locations of any readable method; the output must pass the check.
pub fn splice_everything(bytes: &[u8]) -> u32 {
    let Ok(class) = ClassFile::read(bytes) else {
        return 0;
    };
    let plan = plan(&class, |_| true);
    splice_checked(&class, &plan)
}

/// Splices parts of a class, and transfers the plan to the output.
pub fn round_trip(bytes: &[u8]) -> u32 {
    let Ok(class) = ClassFile::read(bytes) else {
        return 0;
    };
    let stride = bytes.len() % 7 + 2;
    let plan = plan(&class, |number| number % stride == 0);
    let (carried, refused) = class_versions::transfer(&plan, &class, &class);
    if refused.is_empty() {
        assert_eq!(carried, plan);
    }
    splice_checked(&class, &plan)
}

fn splice_checked(class: &ClassFile<'_>, plan: &EditPlan) -> u32 {
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    let (mut general, mut same) = (Scratch::general(), Vec::new());
    let mut rewritten = 0;
    for storage in [STORAGE, CALLED, OWN, OWN_METHODS] {
        let Ok(report) = splice(class, plan, &storage, &mut scratch, &mut out) else {
            continue;
        };
        let other = splice(class, plan, &storage, &mut general, &mut same);
        assert_eq!(Ok(&report), other.as_ref(), "{storage:?}");
        assert!(
            out == same,
            "{storage:?}: the general way makes something else"
        );
        for mut scratch in [CheckScratch::default(), CheckScratch::general()] {
            if let Err(error) = check_splice(class, plan, &storage, &out, &mut scratch) {
                panic!("{storage:?}: {error}");
            }
        }
        damaged_verdicts(class, plan, &storage, &mut out);
        rewritten = report.rewritten;
    }
    rewritten
}

/// Fast path and general path of the check agree about output with a few mutated bytes.
fn damaged_verdicts(
    class: &ClassFile<'_>,
    plan: &EditPlan,
    storage: &ProbeStorage<'_>,
    out: &mut [u8],
) {
    let (mut short, mut general) = (CheckScratch::default(), CheckScratch::general());
    for place in 0..8_usize {
        let at = (place * 0x9E37_79B9 + out.len()) % out.len();
        let bit = 1 << ((at + place) % 8);
        out[at] ^= bit;
        let verdicts = [&mut short, &mut general]
            .map(|scratch| check_splice(class, plan, storage, out, scratch));
        assert_eq!(verdicts[0], verdicts[1], "{storage:?}, at {at}");
        out[at] ^= bit;
    }
}
