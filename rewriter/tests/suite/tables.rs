//! Tables of a method after an insertion, entry by entry.

use jvms::opcode;
use rewriter::{
    Bci, CheckScratch, ClassFile, ExceptionHandler, Location, MethodIndex, PoolIndex, Scratch,
    SkipReason, splice,
};

use crate::fixtures::{STORAGE, hits};
use crate::program::class_with;

const HIT: u16 = 8;
const CODE: &[u8] = &[
    opcode::NOP,
    opcode::NOP,
    opcode::NOP,
    opcode::NOP,
    opcode::RETURN,
];

fn attribute(index: u16, contents: &[u8]) -> Vec<u8> {
    let mut bytes = index.to_be_bytes().to_vec();
    bytes.extend((contents.len() as u32).to_be_bytes());
    bytes.extend(contents);
    bytes
}

fn attributes(all: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = (all.len() as u16).to_be_bytes().to_vec();
    bytes.extend(all.concat());
    bytes
}

fn u16s(items: &[u16]) -> Vec<u8> {
    items.iter().flat_map(|item| item.to_be_bytes()).collect()
}

/// Splices hits at these locations of the only method; returns the output.
fn spliced(bytes: &[u8], places: &[Location]) -> Result<Vec<u8>, SkipReason> {
    let class = ClassFile::read(bytes).unwrap();
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    let plan = hits(MethodIndex(0), places);
    let report = splice(&class, &plan, &STORAGE, &mut scratch, &mut out).unwrap();
    rewriter::check_splice(&class, &plan, &STORAGE, &out, &mut CheckScratch::default()).unwrap();
    match report.skipped.into_iter().next() {
        Some((_, reason)) => Err(reason),
        None => Ok(out),
    }
}

fn contents<'a>(class: &ClassFile<'a>, name: &str) -> &'a [u8] {
    let code = class
        .method(MethodIndex(0))
        .unwrap()
        .code()
        .unwrap()
        .unwrap();
    code.attributes()
        .find(|attribute| attribute.name == name)
        .unwrap()
        .bytes
}

fn handlers(places: &[Location]) -> Vec<ExceptionHandler> {
    let bytes = class_with(49, CODE, &[[1, 2, 3], [0, 5, 1]], &[], &attributes(&[]));
    let out = spliced(&bytes, places).unwrap();
    let class = ClassFile::read(&out).unwrap();
    let code = class
        .method(MethodIndex(0))
        .unwrap()
        .code()
        .unwrap()
        .unwrap();
    code.exception_table().collect()
}

fn handler(start: u16, end: u16, handler: u16) -> ExceptionHandler {
    ExceptionHandler {
        start: Bci(start),
        end,
        handler: Bci(handler),
        catch_type: PoolIndex(0),
    }
}

#[test]
fn range_covers_before_at_its_start_but_no_fall_through_into_it() {
    let before = handlers(&[Location::Before(Bci(1)), Location::Before(Bci(2))]);
    assert_eq!(
        before,
        [handler(1, 2 + HIT, 3 + 2 * HIT), handler(0, 5 + 2 * HIT, 1)]
    );
    let through = handlers(&[Location::FallThrough(Bci(0)), Location::FallThrough(Bci(1))]);
    assert_eq!(
        through,
        [
            handler(1 + HIT, 2 + HIT, 3 + 2 * HIT),
            handler(0, 5 + 2 * HIT, 1 + HIT)
        ]
    );
    let entry = handlers(&[Location::Entry]);
    assert_eq!(
        entry,
        [
            handler(1 + HIT, 2 + HIT, 3 + HIT),
            handler(HIT, 5 + HIT, 1 + HIT)
        ]
    );
}

#[test]
fn handler_reaches_before_but_not_fall_through() {
    let both = handlers(&[Location::FallThrough(Bci(2)), Location::Before(Bci(3))]);
    assert_eq!(both[0], handler(1, 2, 3 + HIT));
}

#[test]
fn first_line_and_variables_cover_the_entry() {
    let lines = attribute(8, &u16s(&[3, 0, 10, 2, 11, 3, 12]));
    let variables = attribute(9, &u16s(&[2, 0, 5, 1, 1, 0, 2, 3, 1, 1, 1]));
    let texts = ["LineNumberTable", "LocalVariableTable"];
    let bytes = class_with(49, CODE, &[], &texts, &attributes(&[lines, variables]));
    let places = [
        Location::Entry,
        Location::Before(Bci(2)),
        Location::FallThrough(Bci(2)),
    ];
    let out = spliced(&bytes, &places).unwrap();
    let class = ClassFile::read(&out).unwrap();
    let expected = u16s(&[3, 0, 10, 2 + HIT, 11, 3 + 3 * HIT, 12]);
    assert_eq!(contents(&class, "LineNumberTable"), expected);
    // The second variable is live from the label of bci 2 to the end of the code.
    let expected = u16s(&[2, 0, 5 + 3 * HIT, 1, 1, 0, 2 + HIT, 3 + 2 * HIT, 1, 1, 1]);
    assert_eq!(contents(&class, "LocalVariableTable"), expected);
}

#[test]
fn type_annotations_follow_their_instruction() {
    let mut annotations = vec![0, 3];
    annotations.extend([0x44, 0, 2, 0, 0, 8, 0, 0]);
    annotations.extend([0x47, 0, 3, 9, 1, 3, 0, 0, 8, 0, 1, 0, 8, b'I', 0, 1]);
    annotations.extend([0x40, 0, 1, 0, 1, 0, 2, 0, 0, 0, 0, 8, 0, 0]);
    let table = attribute(8, &annotations);
    let bytes = class_with(
        52,
        CODE,
        &[],
        &["RuntimeInvisibleTypeAnnotations"],
        &attributes(&[table]),
    );
    let out = spliced(
        &bytes,
        &[Location::Before(Bci(2)), Location::FallThrough(Bci(2))],
    )
    .unwrap();
    let class = ClassFile::read(&out).unwrap();
    let mut expected = annotations.clone();
    expected[4] = 2 + HIT as u8;
    expected[12] = 3 + 2 * HIT as u8;
    expected[32] = 2 + HIT as u8;
    assert_eq!(
        contents(&class, "RuntimeInvisibleTypeAnnotations"),
        expected
    );
}

#[test]
fn older_tables_are_moved() {
    let frames = u16s(&[1, 3, 1])
        .into_iter()
        .chain([8, 0, 1])
        .chain(u16s(&[0]))
        .collect::<Vec<u8>>();
    let ranges: Vec<u8> = u16s(&[1, 0, 2, 0, 77, 0, 78, 1]);
    let all = attributes(&[attribute(8, &frames), attribute(9, &ranges)]);
    let bytes = class_with(48, CODE, &[], &["StackMap", "CharacterRangeTable"], &all);
    let out = spliced(
        &bytes,
        &[Location::Before(Bci(1)), Location::FallThrough(Bci(2))],
    )
    .unwrap();
    let class = ClassFile::read(&out).unwrap();
    let expected: Vec<u8> = u16s(&[1, 3 + 2 * HIT, 1])
        .into_iter()
        .chain([8, 0, 1 + HIT as u8])
        .chain(u16s(&[0]))
        .collect();
    assert_eq!(contents(&class, "StackMap"), expected);
    assert_eq!(
        contents(&class, "CharacterRangeTable"),
        u16s(&[1, 0, 2 + HIT, 0, 77, 0, 78, 1])
    );
}

#[test]
fn frame_kinds_are_recomputed() {
    // goto 2; nop (dead); nop; goto 2 … with frames at 3 and 5.
    let code = [
        opcode::GOTO,
        0,
        5,
        opcode::NOP,
        opcode::RETURN,
        opcode::NOP,
        opcode::GOTO,
        0xFF,
        0xFD,
    ];
    let frames = attribute(8, &[0, 2, 3, 64 + 1, 1]);
    let bytes = class_with(52, &code, &[], &["StackMapTable"], &attributes(&[frames]));
    let places: Vec<Location> = (0..9).map(|_| Location::Before(Bci(3))).collect();
    let out = spliced(&bytes, &places).unwrap();
    let class = ClassFile::read(&out).unwrap();
    // The second frame is 72 bytes further: same_locals_1_stack_item_frame_extended.
    assert_eq!(
        contents(&class, "StackMapTable"),
        [0, 2, 3, 247, 0, 1 + 72, 1]
    );
}

#[test]
fn trampoline_has_the_frame_of_its_target() {
    // 0: ifeq 5; 3: nop; 4: nop; 5: return, with an append frame of an int at 4 and a chop at 5.
    let code = [opcode::IFEQ, 0, 5, opcode::NOP, opcode::NOP, opcode::RETURN];
    let frames = attribute(8, &[0, 2, 252, 0, 4, 1, 0]);
    let bytes = class_with(52, &code, &[], &["StackMapTable"], &attributes(&[frames]));
    let edge = Location::Jump {
        source: Bci(0),
        target: Bci(5),
    };
    let out = spliced(&bytes, &[edge]).unwrap();
    let class = ClassFile::read(&out).unwrap();
    // The trampoline is at 6: a full frame with one int and an empty stack.
    assert_eq!(
        contents(&class, "StackMapTable"),
        [0, 3, 252, 0, 4, 1, 0, 255, 0, 0, 0, 1, 1, 0, 0]
    );
}

#[test]
fn jump_to_a_target_without_frame_skips_the_method() {
    let code = [opcode::IFEQ, 0, 4, opcode::NOP, opcode::RETURN];
    let edge = [Location::Jump {
        source: Bci(0),
        target: Bci(4),
    }];
    let bytes = |version| class_with(version, &code, &[], &[], &attributes(&[]));
    assert_eq!(
        spliced(&bytes(51), &edge),
        Err(SkipReason::NoFrame { bci: Bci(4) })
    );
    assert!(
        spliced(&bytes(50), &edge).is_ok(),
        "version 50 may do without frames"
    );
    assert!(spliced(&bytes(45), &edge).is_ok());
}

#[test]
fn unknown_attribute_of_code_skips_the_method() {
    let table = attribute(8, &[1, 2, 3]);
    let bytes = class_with(52, CODE, &[], &["com.acme.Bcis"], &attributes(&[table]));
    let name = "com.acme.Bcis".to_owned();
    assert_eq!(
        spliced(&bytes, &[Location::Entry]),
        Err(SkipReason::UnknownAttribute { name })
    );
}

#[test]
fn frame_of_an_unknown_kind_skips_the_method() {
    let table = attribute(8, &[0, 1, 200]);
    let bytes = class_with(80, CODE, &[], &["StackMapTable"], &attributes(&[table]));
    assert!(matches!(
        spliced(&bytes, &[Location::Entry]),
        Err(SkipReason::Unreadable(_))
    ));
}

#[test]
fn subroutines_are_moved_unchanged() {
    // 0: jsr 4; 3: return; 4: astore_1; 5: ret 1
    let code = [
        opcode::JSR,
        0,
        4,
        opcode::RETURN,
        opcode::ASTORE_1,
        opcode::RET,
        1,
    ];
    let bytes = class_with(48, &code, &[], &[], &attributes(&[]));
    let out = spliced(
        &bytes,
        &[
            Location::Entry,
            Location::FallThrough(Bci(0)),
            Location::Before(Bci(4)),
        ],
    )
    .unwrap();
    let class = ClassFile::read(&out).unwrap();
    let code = class
        .method(MethodIndex(0))
        .unwrap()
        .code()
        .unwrap()
        .unwrap();
    let jsr = code
        .instructions()
        .flatten()
        .find(|found| found.opcode == opcode::JSR)
        .unwrap();
    assert_eq!(
        (jsr.bci.0, jsr.branch_target()),
        (HIT, Some(Bci(4 + 2 * HIT)))
    );
}

/// Returns the exception table after hits at these locations of a method whose `ifeq` jumps from one row of a handler
/// to another.
fn rows_of_a_split_range(rows: &[[u16; 3]], places: &[Location]) -> Vec<ExceptionHandler> {
    // 0: nop; 1: ifeq 9; 4 to 8: nop; 9: return; 10 and 11: athrow.
    let (nop, athrow) = (opcode::NOP, opcode::ATHROW);
    let jump = [nop, opcode::IFEQ, 0, 8];
    let code = [&jump[..], &[nop; 5], &[opcode::RETURN, athrow, athrow]].concat();
    let bytes = class_with(49, &code, rows, &[], &attributes(&[]));
    let out = spliced(&bytes, places).unwrap();
    let class = ClassFile::read(&out).unwrap();
    let code = class.method(MethodIndex(0)).unwrap().code();
    code.unwrap().unwrap().exception_table().collect()
}

#[test]
fn edge_is_covered_by_the_handlers_of_its_jump_and_its_target() {
    let edge = Location::Jump {
        source: Bci(1),
        target: Bci(9),
    };
    let (trampoline, behind) = (12, 12 + HIT + 3);
    let rows = [[1, 5, 10], [6, 10, 10], [1, 4, 11], [0, 12, 11]];
    let found = rows_of_a_split_range(&rows, &[edge]);
    assert_eq!(
        found[4..],
        [
            handler(trampoline, behind, 10),
            handler(trampoline, behind, 11)
        ]
    );
    let left_out = rows_of_a_split_range(&[[1, 9, 10], [4, 10, 11]], &[edge]);
    assert_eq!(left_out.len(), 2, "one has the jump, the other the target");
}

#[test]
fn fall_through_between_two_rows_of_a_handler_is_covered() {
    let through = [Location::FallThrough(Bci(4))];
    let joined = rows_of_a_split_range(&[[1, 5, 10], [5, 9, 10]], &through);
    assert_eq!(
        joined,
        [handler(1, 5, 10 + HIT), handler(5, 9 + HIT, 10 + HIT)]
    );
    let apart = rows_of_a_split_range(&[[1, 5, 11], [5, 9, 10]], &through);
    assert_eq!(apart[1], handler(5 + HIT, 9 + HIT, 10 + HIT));
}

#[test]
fn fall_through_of_a_monitorenter_is_covered() {
    let code = |last| {
        [
            opcode::NOP,
            opcode::ALOAD_0,
            last,
            opcode::NOP,
            opcode::RETURN,
            opcode::ATHROW,
        ]
    };
    let found = |code: &[u8]| {
        let bytes = class_with(49, code, &[[3, 5, 5]], &[], &attributes(&[]));
        let out = spliced(&bytes, &[Location::FallThrough(Bci(2))]).unwrap();
        let class = ClassFile::read(&out).unwrap();
        let code = class.method(MethodIndex(0)).unwrap().code();
        code.unwrap().unwrap().exception_table().next().unwrap()
    };
    let (held, other) = (code(opcode::MONITORENTER), code(opcode::POP));
    assert_eq!(found(&held), handler(3, 5 + HIT, 5 + HIT));
    assert_eq!(found(&other), handler(3 + HIT, 5 + HIT, 5 + HIT));
    // The byte as the operand of another instruction does not count.
    let operand = [
        opcode::NOP,
        opcode::BIPUSH,
        opcode::MONITORENTER,
        opcode::POP,
        opcode::RETURN,
        opcode::ATHROW,
    ];
    let bytes = class_with(49, &operand, &[[3, 5, 5]], &[], &attributes(&[]));
    let out = spliced(&bytes, &[Location::FallThrough(Bci(1))]).unwrap();
    let class = ClassFile::read(&out).unwrap();
    let code = class
        .method(MethodIndex(0))
        .unwrap()
        .code()
        .unwrap()
        .unwrap();
    assert_eq!(
        code.exception_table().next().unwrap(),
        handler(3 + HIT, 5 + HIT, 5 + HIT)
    );
}
