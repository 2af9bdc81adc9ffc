//! The test vectors of `docs/plugin-layouts.md` hold for the SDK.

use classhook_sdk::edit::{Bci, InsertionPoint, Location, MethodIndex};
use classhook_sdk::source::EventNames;
use classhook_sdk::wit::{Covered, Instruction, Line, MethodInfo};
use classhook_sdk::{Batch, EventDetails};

/// Returns the numbers of the row that begins with this text.
fn numbers(row: &str) -> Vec<u64> {
    let page =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/plugin-layouts.md");
    let page = std::fs::read_to_string(page).expect("the page of the layouts");
    let found = page
        .lines()
        .find(|line| line.starts_with(&format!("| {row} |")));
    let found = found.unwrap_or_else(|| panic!("the page has no row `{row}`"));
    let texts = found.split('`').skip(1).step_by(2);
    texts
        .map(|text| u64::from_str_radix(text, 16).expect("a hexadecimal number"))
        .collect()
}

fn number(row: &str) -> u64 {
    let [number] = numbers(row)[..] else {
        panic!("the row `{row}` has several numbers");
    };
    number
}

#[test]
fn points_are_packed_as_the_page_shows() {
    let jump = Location::Jump {
        source: Bci(1),
        target: Bci(43981),
    };
    for (row, location) in [
        ("entry of method 65534", Location::Entry),
        (
            "before bci 4660 of method 65534",
            Location::Before(Bci(4660)),
        ),
        (
            "behind bci 1 of method 65534",
            Location::FallThrough(Bci(1)),
        ),
        ("jump from bci 1 to bci 43981 in method 65534", jump),
        ("unwind of method 65534", Location::Unwind),
        ("instruction at bci 1 of method 65534", Location::At(Bci(1))),
    ] {
        let point = InsertionPoint {
            method: MethodIndex(65534),
            location,
        };
        assert_eq!(u64::from(point), number(row), "{row}");
        assert_eq!(InsertionPoint::unpacked(number(row)), Some(point), "{row}");
    }
}

#[test]
fn code_is_packed_as_the_page_shows() {
    for (row, bci, opcode, operand) in [
        ("bci 65534, opcode 200, operand -2", 65534, 200, -2),
        ("bci 1, opcode 184, operand 11", 1, 184, 11),
    ] {
        let expected = Instruction {
            bci,
            opcode,
            operand,
        };
        assert_eq!(Instruction::from(number(row)), expected, "{row}");
    }
    let line = Line {
        bci: 3,
        number: 65535,
    };
    assert_eq!(Line::from(number("bci 3, line 65535") as u32), line);
    let covered = Covered {
        start: 1,
        end: 65535,
        target: 2,
    };
    assert_eq!(Covered::from(number("from 1 to 65535 at 2")), covered);
}

/// Names each number by itself.
struct Numbered;

impl EventNames for Numbered {
    fn name(&self, id: u32) -> Option<String> {
        Some(id.to_string())
    }

    fn frames(&self, stack: u32) -> Vec<u64> {
        assert_eq!(stack, 7);
        Vec::new()
    }

    fn method(&self, _: u32) -> Option<MethodInfo> {
        None
    }
}

#[test]
fn events_are_packed_as_the_page_shows() {
    let row = "allocation of 16 bytes, which represents 512, at 9 ns, thread 3, class 5, stack 7";
    let words = numbers(row);
    let batch = Batch::new(1, &words, 0, &Numbered);
    let events: Vec<_> = batch.events().collect();
    let [event] = &events[..] else {
        panic!("the row has the numbers of one event");
    };
    let expected = EventDetails::Allocation {
        bytes: 16,
        stands_for: 512,
    };
    assert_eq!(event.details(), expected);
    assert_eq!(event.nanos(), 9);
    assert_eq!((&*event.thread(), &*event.class()), ("3", "5"));
    assert_eq!(event.stack_id(), 7);
    assert!(event.stack().is_empty());
}
