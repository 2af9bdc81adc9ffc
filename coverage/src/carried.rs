//! Carries results of another version of a class over to the methods with the same code.
//!
//! A result refers to instructions. Two methods have the same probes, with the same meaning, if these parts are
//! equal: name, descriptor, instructions with all operands, handlers, and the bcis where lines start. The line
//! numbers may differ.

use crate::analysis::{line_ranges, probe_ranges};
use crate::class::{ClassDescription, CodeDescription, MethodDescription};
use crate::model::CarriedOver;
use std::ops::Range;

/// An executed version of a class.
#[derive(Debug, Clone)]
pub struct Version<'r> {
    /// Description of the class.
    pub class: ClassDescription<'r>,
    /// Its probes.
    pub probes: &'r [bool],
    /// `true` for each line that was started; empty if unknown.
    pub lines: &'r [bool],
}

/// Computes the probes of `into` that `versions` executed. The result of a method is the union of all versions with
/// its code.
#[must_use]
pub fn carry_over(
    versions: &[Version<'_>],
    into: &ClassDescription<'_>,
) -> (Vec<bool>, CarriedOver) {
    sums(versions, into, |version| version.probes, probe_ranges)
}

/// Computes the started lines of `into` in the same way; empty if no version has this data.
#[must_use]
pub fn carry_lines_over(versions: &[Version<'_>], into: &ClassDescription<'_>) -> Vec<bool> {
    if versions.iter().all(|version| version.lines.is_empty()) {
        return Vec::new();
    }
    sums(versions, into, |version| version.lines, line_ranges).0
}

/// Unites the hits of each method's items, which `ranges` counts; also returns the number of methods with a result.
fn sums<'r>(
    versions: &[Version<'r>],
    into: &ClassDescription<'_>,
    hits: impl Fn(&Version<'r>) -> &'r [bool],
    all_ranges: impl Fn(&ClassDescription<'_>) -> Vec<Range<usize>>,
) -> (Vec<bool>, CarriedOver) {
    let ranges = all_ranges(into);
    let mut probes = vec![false; ranges.last().map_or(0, |range| range.end)];
    let mut carried = CarriedOver::default();
    let old: Vec<_> = versions
        .iter()
        .map(|version| (&version.class, hits(version), all_ranges(&version.class)))
        .collect();
    for (method, range) in into.methods.iter().zip(&ranges) {
        if range.is_empty() {
            continue;
        }
        let mut is_same = false;
        for (class, hits, ranges) in &old {
            let mut all = class.methods.iter().zip(ranges);
            let same = all.find(|(other, _)| is_unchanged(other, method));
            let Some(found) = same.and_then(|(_, range)| hits.get(range.clone())) else {
                continue;
            };
            is_same = true;
            let mine = probes.get_mut(range.clone()).unwrap_or_default();
            mine.iter_mut()
                .zip(found)
                .for_each(|(mine, hit)| *mine |= hit);
        }
        carried.methods += 1;
        carried.same += u32::from(is_same);
    }
    (probes, carried)
}

/// Checks whether two methods have the same probes with the same meaning.
fn is_unchanged(one: &MethodDescription<'_>, other: &MethodDescription<'_>) -> bool {
    (&one.name, &one.descriptor) == (&other.name, &other.descriptor)
        && match (&one.code, &other.code) {
            (Some(one), Some(other)) => is_same_code(one, other),
            _ => false,
        }
}

fn is_same_code(one: &CodeDescription<'_>, other: &CodeDescription<'_>) -> bool {
    one.instructions == other.instructions
        && one.handlers == other.handlers
        && line_starts(one).eq(line_starts(other))
}

/// Returns the bcis of line starts, as far as probes depend on them.
fn line_starts(code: &CodeDescription<'_>) -> impl Iterator<Item = u16> {
    let lines = code.lines.iter().filter(|line| line.number != 0);
    lines.map(|line| line.bci)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::{Instruction, Line, Operand};
    use jvms::opcode::{IFEQ, LCONST_0, LCONST_1, NOP, RETURN};

    /// Creates a method of two lines and three probes, with an individual instruction.
    fn method(name: &'static str, own: u8, first_line: u16) -> MethodDescription<'static> {
        let op = |bci, opcode, operand| Instruction {
            bci,
            opcode,
            operand,
        };
        let line = |bci, number| Line { bci, number };
        MethodDescription {
            name,
            descriptor: "()V",
            code: Some(CodeDescription {
                instructions: Vec::leak(vec![
                    op(0, own, Operand::None),
                    op(1, IFEQ, Operand::Target(5)),
                    op(4, NOP, Operand::None),
                    op(5, RETURN, Operand::None),
                ]),
                lines: Vec::leak(vec![line(0, first_line), line(4, first_line + 1)]),
                ..CodeDescription::default()
            }),
            ..MethodDescription::default()
        }
    }

    fn class(methods: Vec<MethodDescription<'static>>) -> ClassDescription<'static> {
        ClassDescription {
            methods: methods.leak(),
            ..ClassDescription::default()
        }
    }

    const RAN: &[bool] = &[true, false, true];
    const NOT: &[bool] = &[false; 3];

    fn version<'r>(class: ClassDescription<'r>, probes: &'r [bool]) -> Version<'r> {
        Version {
            class,
            probes,
            lines: &[],
        }
    }

    #[test]
    fn started_lines_are_carried_over_with_their_methods() {
        let old = class(vec![
            method("same", NOP, 20),
            method("changed", LCONST_0, 10),
        ]);
        let new = class(vec![
            method("changed", LCONST_1, 10),
            method("same", NOP, 90),
        ]);
        let mut ran = version(old, &[false; 6]);
        assert_eq!(carry_lines_over(&[ran.clone()], &new), [false; 0]);
        ran.lines = &[true, false, true, true];
        assert_eq!(carry_lines_over(&[ran], &new), [false, false, true, false]);
    }

    #[test]
    fn moved_method_is_found_and_changed_method_is_missed() {
        let old = class(vec![
            method("changed", LCONST_0, 10),
            method("gone", NOP, 15),
            method("same", NOP, 20),
        ]);
        let new = class(vec![
            method("added", NOP, 5),
            method("same", NOP, 90),
            method("changed", LCONST_1, 10),
        ]);
        let (probes, carried) = carry_over(&[version(old, &[RAN, RAN, RAN].concat())], &new);
        assert_eq!(probes, [NOT, RAN, NOT].concat());
        let expected = CarriedOver {
            same: 1,
            methods: 3,
        };
        assert_eq!(carried, expected);
    }

    #[test]
    fn versions_add_up() {
        let new = class(vec![method("one", NOP, 1), method("two", NOP, 5)]);
        let first = class(vec![method("one", NOP, 1), method("two", LCONST_0, 5)]);
        let second = class(vec![method("one", NOP, 3), method("two", NOP, 9)]);
        let jumped = [false, true, true];
        let hits = [[RAN, RAN].concat(), [&jumped[..], RAN].concat()];
        let versions = [version(first, &hits[0]), version(second, &hits[1])];
        let (probes, carried) = carry_over(&versions, &new);
        assert_eq!(probes, [&[true; 3][..], RAN].concat());
        assert_eq!((carried.same, carried.methods), (2, 2));
    }

    #[test]
    fn methods_differ_if_their_probes_would() {
        let of = |change: &dyn Fn(&mut CodeDescription<'static>)| {
            let mut changed = method("run", NOP, 1);
            change(changed.code.as_mut().unwrap());
            let old = class(vec![method("run", NOP, 1)]);
            carry_over(&[version(old, RAN)], &class(vec![changed]))
                .1
                .same
        };
        assert_eq!(of(&|_| ()), 1);
        const LINES: [&[Line]; 3] = [
            &[Line { bci: 0, number: 1 }, Line { bci: 4, number: 7 }],
            &[Line { bci: 0, number: 1 }],
            &[Line { bci: 0, number: 1 }, Line { bci: 4, number: 0 }],
        ];
        assert_eq!(LINES.map(|lines| of(&|code| code.lines = lines)), [1, 0, 0]);
        const HANDLERS: &[crate::class::Handler<'_>] = &[crate::class::Handler {
            start: 0,
            end: 4,
            target: 4,
            catch_type: None,
        }];
        assert_eq!(of(&|code| code.handlers = HANDLERS), 0);
    }

    #[test]
    fn too_few_hits_count_as_missed() {
        let new = class(vec![method("run", NOP, 1)]);
        let (probes, carried) = carry_over(&[version(new, &[true])], &new);
        assert_eq!((probes, carried.same), (NOT.to_vec(), 0));
    }
}
