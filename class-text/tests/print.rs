//! The text of classes, plans and differences: stored as snapshots, and safe for any bytes.

use class_text::{Remark, RemarkContent};
use proptest::prelude::*;
use rewriter::{
    Action, Assemble, Bci, Change, ClassEdit, ClassFile, EditPlan, InsertionPoint, Location,
    MethodIndex, ProbeStorage, Scratch, Snippet, splice,
};

const OLDER: &[u8] = include_bytes!("../../rewriter/tests/fixtures/release8/Older$1.class");
const SHAPES: &[u8] = include_bytes!("../../rewriter/tests/fixtures/release25/Shapes.class");
const CIRCLE: &[u8] = include_bytes!("../../rewriter/tests/fixtures/release25/Shapes$Circle.class");

fn class_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    class_text::class(&ClassFile::read(bytes).unwrap(), &mut text).unwrap();
    text
}

fn site(method: u16, place: Location) -> InsertionPoint {
    let method = MethodIndex(method);
    InsertionPoint {
        method,
        location: place,
    }
}

/// Returns a plan with a hit at every possible location, method by method.
fn everywhere(class: &ClassFile<'_>) -> EditPlan {
    let mut plan = rewriter::PlanBuilder::new(class);
    let mut probe = 0;
    let mut try_one = |method: MethodIndex, place: Location| {
        probe += u32::from(
            plan.hit(
                InsertionPoint {
                    method,
                    location: place,
                },
                probe,
            )
            .is_ok(),
        );
    };
    for method in class.methods() {
        let Ok(Some(code)) = method.code() else {
            continue;
        };
        try_one(method.index(), Location::Entry);
        for found in code.instructions().map_while(Result::ok) {
            let source = found.bci;
            try_one(method.index(), Location::Before(source));
            try_one(method.index(), Location::FallThrough(source));
            let switch = found.switch();
            let targets = switch.iter().flat_map(|switch| switch.targets());
            let targets: std::collections::BTreeSet<_> =
                targets.chain(found.branch_target()).collect();
            for target in targets {
                try_one(method.index(), Location::Jump { source, target });
            }
        }
    }
    plan.finish()
}

fn spliced(bytes: &[u8], plan: &EditPlan) -> Vec<u8> {
    let storage = ProbeStorage::SharedArray {
        owner: "java/lang/$Classhook",
        field: "hits0",
    };
    let mut out = Vec::new();
    let class = ClassFile::read(bytes).unwrap();
    splice(&class, plan, &storage, &mut Scratch::default(), &mut out).unwrap();
    out
}

fn difference(before: &[u8], after: &[u8]) -> String {
    let mut text = String::new();
    let before = ClassFile::read(before).unwrap();
    let after = ClassFile::read(after).unwrap();
    class_text::difference(&before, &after, &mut text).unwrap();
    text
}

#[test]
fn printed_classes_match_their_snapshots() {
    insta::assert_snapshot!("class_older_1", class_text(OLDER));
    insta::assert_snapshot!("class_shapes", class_text(SHAPES));
    insta::assert_snapshot!("class_circle", class_text(CIRCLE));
}

#[test]
fn edits_notes_and_skips_are_printed_at_their_locations() {
    let class = ClassFile::read(SHAPES).unwrap();
    let plan = everywhere(&class);
    let mut remarks: Vec<_> = plan
        .edits()
        .iter()
        .map(|edit| Remark {
            point: edit.point,
            by: "coverage",
            content: RemarkContent::Edit(edit.action),
        })
        .collect();
    remarks.push(Remark {
        point: site(0, Location::Before(Bci(1))),
        by: "other",
        content: RemarkContent::Note("nothing to see\u{1b}[2J"),
    });
    remarks.push(Remark {
        point: site(0, Location::Before(Bci(9_999))),
        by: "other",
        content: RemarkContent::Edit(Action::Count(7)),
    });
    let left_out = [(MethodIndex(1), "too long".to_owned())];
    let mut text = String::new();
    class_text::plan(&class, &[], &remarks, &left_out, &mut text).unwrap();
    assert_eq!(text.matches("+ coverage: hit ").count(), plan.edits().len());
    insta::assert_snapshot!("plan_shapes", text);
}

#[test]
fn plan_without_remarks_prints_the_class() {
    let class = ClassFile::read(SHAPES).unwrap();
    let mut text = String::new();
    class_text::plan(&class, &[], &[], &[], &mut text).unwrap();
    assert_eq!(text, class_text(SHAPES));
}

#[test]
fn difference_shows_inserted_but_not_moved_code() {
    let class = ClassFile::read(CIRCLE).unwrap();
    let mut plan = EditPlan::new();
    plan.hit(site(0, Location::Entry), 0).unwrap();
    assert_eq!(class.method(MethodIndex(0)).unwrap().name(), "<init>");
    let text = difference(CIRCLE, &spliced(CIRCLE, &plan));
    let lines = |sign: char| text.lines().filter(|line| line.starts_with(sign)).count();
    // Four instructions, the pool's size and the stack's depth.
    assert_eq!(lines('-'), lines('+') - 4, "{text}");
    insta::assert_snapshot!("difference_circle", text);
}

#[test]
fn difference_of_every_kind_matches_its_snapshot() {
    let plan = everywhere(&ClassFile::read(OLDER).unwrap());
    insta::assert_snapshot!(
        "difference_older_1",
        difference(OLDER, &spliced(OLDER, &plan))
    );
}

#[test]
fn a_class_does_not_differ_from_itself() {
    for bytes in [OLDER, SHAPES, CIRCLE] {
        assert_eq!(difference(bytes, bytes), "");
    }
}

#[test]
fn changed_jump_is_a_difference_without_added_lines() {
    let class = ClassFile::read(SHAPES).unwrap();
    let found = class.methods().find_map(|method| {
        let code = method.code().ok()??;
        let mut instructions = code.instructions().map_while(Result::ok);
        let jump = instructions.find(|found| found.mnemonic() == "ifne")?;
        let at = code.bytes().as_ptr() as usize - class.bytes().as_ptr() as usize;
        Some(at + usize::from(jump.bci.0))
    });
    let mut changed = SHAPES.to_vec();
    let low = &mut changed[found.unwrap() + 2];
    *low = low.wrapping_sub(1);
    let text = difference(SHAPES, &changed);
    let is = |sign| {
        text.lines()
            .any(|line: &str| line.starts_with(sign) && line.contains("ifne"))
    };
    assert!(is('-') && is('+'), "{text}");
}

#[test]
fn added_and_removed_methods_are_shown_whole() {
    let text = difference(OLDER, CIRCLE);
    assert!(
        text.contains("\n-  method ") && text.contains("\n+  method "),
        "{text}"
    );
}

/// Prints in every form, on a stack of 128 KiB; returns the length of all texts.
fn print_all(bytes: &[u8]) -> usize {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(128 * 1024);
        let work = || {
            let Ok(class) = ClassFile::read(bytes) else {
                return 0;
            };
            let original = ClassFile::read(SHAPES).unwrap();
            let plan = everywhere(&class);
            let remarks: Vec<_> = plan
                .edits()
                .iter()
                .map(|edit| Remark {
                    point: edit.point,
                    by: "p",
                    content: RemarkContent::Edit(edit.action),
                })
                .collect();
            let mut text = String::new();
            class_text::class(&class, &mut text).unwrap();
            class_text::plan(&class, &[], &remarks, &[], &mut text).unwrap();
            class_text::difference(&original, &class, &mut text).unwrap();
            let visible = |c: char| c == '\n' || !c.is_control();
            assert!(text.chars().all(visible), "a control character got through");
            text.len()
        };
        thread.spawn_scoped(scope, work).unwrap().join().unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn malformed_classes_are_printed_without_panic(
        which in 0_usize..3,
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = [OLDER, SHAPES, CIRCLE][which].to_vec();
        for (at, byte) in &damages {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        print_all(&bytes);
    }
}

#[test]
fn output_of_an_inflated_class_is_bounded() {
    // Every one of 21,000 instructions refers to one text of 65,535 bytes.
    let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 50, 0, 6, 1, 0xFF, 0xFF];
    bytes.extend(vec![b'a'; 0xFFFF]);
    bytes.extend([7, 0, 1, 8, 0, 1, 1, 0, 4]);
    bytes.extend(b"Code");
    bytes.extend([1, 0, 0]);
    bytes.extend([0, 0x21, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1]);
    bytes.extend([0, 8, 0, 1, 0, 1, 0, 1, 0, 4]);
    let code: Vec<u8> = [0x13, 0, 3].repeat(21_000);
    bytes.extend((12 + code.len() as u32).to_be_bytes());
    bytes.extend([0, 1, 0, 1]);
    bytes.extend((code.len() as u32).to_be_bytes());
    bytes.extend(&code);
    bytes.extend([0, 0, 0, 0, 0, 0]);
    let text = class_text(&bytes);
    assert_eq!(text.matches("ldc_w").count(), 21_000);
    assert!(text.len() < 32 << 20, "{} bytes", text.len());
}

#[test]
fn every_edit_of_a_plan_is_described() {
    let class = ClassFile::read(CIRCLE).unwrap();
    let mut plan = EditPlan::new();
    let method = class.methods().find(|method| method.has_code()).unwrap();
    let code = method.code().unwrap().unwrap();
    let mut instructions = code.instructions().map(Result::unwrap);
    let call = instructions
        .find(|found| found.opcode == jvms::opcode::INVOKESPECIAL)
        .unwrap();
    plan.hit(site(method.index().0, Location::Entry), 3)
        .unwrap();
    plan.change(method.index(), call.bci, Change::Remove(None))
        .unwrap();
    let mut body = Snippet::new();
    body.op(jvms::opcode::RETURN, 0).unwrap();
    for edit in [
        ClassEdit::AddInterface("java/io/Serializable".to_owned()),
        ClassEdit::RenameType {
            from: "a/B".to_owned(),
            to: "c/\u{202e}D".to_owned(),
        },
        ClassEdit::ReplaceBody {
            method: MethodIndex(1),
            body,
        },
    ] {
        plan.edit_class(edit).unwrap();
    }
    let mut text = String::new();
    class_text::edits(&class, "patch", &plan, &mut text).unwrap();
    let marked: Vec<_> = text
        .lines()
        .filter(|line| line.trim_start().starts_with("+ "))
        .collect();
    let expected = [
        "  + patch: add interface java/io/Serializable".to_owned(),
        "  + patch: rename type a/B to c/\\u202eD".to_owned(),
        "  + patch: method 1: replace body:".to_owned(),
        "  +     return".to_owned(),
        "          + patch: hit 3 (entry)".to_owned(),
        format!("          + patch: remove (at {})", call.bci),
    ];
    assert_eq!(marked, expected);
}
