//! Constructors of value classes (preview in JDK 28), whose frames list the strict fields without a value.

use rewriter::{
    CheckScratch, ClassFile, FrameKind, Method, Scratch, StackMapReader, check_splice, splice,
};

use crate::exercise::places;
use crate::fixtures::{STORAGE, hits};

const VALUES: [&[u8]; 3] = [
    include_bytes!("../fixtures/release28/Values$Money.class"),
    include_bytes!("../fixtures/release28/Values$Deep.class"),
    include_bytes!("../fixtures/release28/Values$Turning.class"),
];

fn constructor<'c, 'a>(class: &'c ClassFile<'a>) -> Method<'c, 'a> {
    let mut methods = class.methods();
    let found = methods.find(|method| method.name() == "<init>");
    found.expect("a constructor")
}

/// Returns each list of the constructor's frames: tag, count and indices as bytes.
fn lists(class: &ClassFile<'_>) -> Vec<Vec<u8>> {
    let method = constructor(class);
    let code = method.code().expect("readable").expect("code");
    let table = code.attributes().named("StackMapTable").expect("frames");
    let mut reader = StackMapReader::new(table.bytes, table.offset).expect("a table");
    let mut lists = Vec::new();
    while let Some((kind, _)) = reader.frame().expect("a frame") {
        if let Some(indices) = reader.unset_fields().indices() {
            let indices: Vec<[u8; 2]> = indices.map(|index| index.0.to_be_bytes()).collect();
            lists.push([&[246, 0, indices.len() as u8], indices.as_flattened()].concat());
        }
        let parts = if kind == FrameKind::Full { 2 } else { 1 };
        for _ in 0..parts {
            let count = match kind {
                FrameKind::Same | FrameKind::Chop(_) => 0,
                FrameKind::SameLocals1StackItem => 1,
                FrameKind::Append(count) => u16::from(count),
                FrameKind::Full => reader.count().expect("a count"),
            };
            for _ in 0..count {
                reader.verification_type().expect("a type");
            }
        }
    }
    lists
}

#[test]
fn each_place_of_a_value_classs_constructor_takes_a_probe() {
    for bytes in VALUES {
        let class = ClassFile::read(bytes).expect("a class");
        let method = constructor(&class);
        let code = method.code().expect("readable").expect("code");
        let plan = hits(method.index(), &places(&code));
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        let report = splice(&class, &plan, &STORAGE, &mut scratch, &mut out).expect("an output");
        assert_eq!(report.skipped, []);
        let check =
            |out: &[u8]| check_splice(&class, &plan, &STORAGE, out, &mut CheckScratch::default());
        check(&out).expect("a right output");
        let (before, after) = (
            lists(&class),
            lists(&ClassFile::read(&out).expect("a class")),
        );
        assert!(after.len() > before.len(), "{before:?}, then {after:?}");
        // Another field in a list is found.
        let list = after.iter().rfind(|list| list.len() > 3);
        let list = list.expect("a list with a field");
        let at = out.windows(list.len()).rposition(|part| part == list);
        let at = at.expect("the list") + 3;
        out[at..at + 2].copy_from_slice(&[0, 1]);
        assert!(check(&out).is_err());
    }
}
