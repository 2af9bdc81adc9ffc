//! A `switch` on strings: a switch on the hash code followed by comparisons. All of it becomes branches of the
//! instruction before it.

use jvms::opcode;

use super::context::FilterContext;
use super::cursor::Cursor;
use super::output::{FilterOutput, Replacement};

const STRING: (&str, u32) = ("string", 0);

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if context.nodes.switches().is_empty() {
        return;
    }
    for (at, _) in context.nodes.iter() {
        if context.nodes.opcode(at) == Some(opcode::ASTORE)
            && let Some(index) = context.nodes.instruction_index(at)
            && let Some((replacement, end)) = find(context, at)
        {
            output.ignore(context.nodes, at + 1, end);
            output.replace(index, replacement);
        }
    }
}

/// Returns the branches of the switch whose string is stored at `start`, and the end of its comparisons.
fn find(context: &FilterContext<'_>, start: usize) -> Option<(Replacement, usize)> {
    let nodes = context.nodes;
    let mut cursor = Cursor::new(nodes);
    cursor.name_local(STRING, start);
    cursor.go_to(Some(start));
    let null_jump = null_check(&mut cursor);
    cursor.next_is_member(opcode::INVOKEVIRTUAL, "java/lang/String", "hashCode", "()I");
    cursor.next_is_switch();
    let switch = cursor.at()?;
    let (default, cases) = nodes.switch_labels(switch)?;
    if cases.is_empty() {
        return None;
    }
    let mut replacement = Replacement::default();
    replacement.add(default, nodes.instruction_index(switch)?, 0);
    comparisons(context, &mut cursor, default, cases.len(), &mut replacement)?;
    if let Some(jump) = null_jump {
        replacement.add(nodes.jump_label(jump)?, nodes.instruction_index(jump)?, 1);
    }
    Some((replacement, cursor.at()?))
}

/// Matches the load of the string, with or without a null test; returns the jump of the test.
fn null_check(cursor: &mut Cursor<'_>) -> Option<usize> {
    if cursor.neighbour() != Some(opcode::ALOAD) {
        return None;
    }
    cursor.next_is_local(opcode::ALOAD, STRING);
    if cursor.neighbour() == Some(opcode::DUP) {
        cursor.next_is(opcode::DUP);
        cursor.next_is(opcode::IFNULL);
        return cursor.at();
    }
    if cursor.neighbour() == Some(opcode::IFNULL) {
        cursor.next_is(opcode::IFNULL);
        let jump = cursor.at();
        cursor.next_is_local(opcode::ALOAD, STRING);
        return jump;
    }
    None
}

/// Matches the comparisons of each hash code; each group ends with a jump to the default branch.
fn comparisons(
    context: &FilterContext<'_>,
    cursor: &mut Cursor<'_>,
    default: usize,
    hash_codes: usize,
    replacement: &mut Replacement,
) -> Option<()> {
    let nodes = context.nodes;
    let mut done = 0;
    while done < hash_codes {
        cursor.next_is_string_comparison(STRING);
        let jump = cursor.at()? + 1;
        let index = nodes.instruction_index(jump)?;
        let label = nodes.jump_label(jump)?;
        cursor.go_to(Some(jump));
        match nodes.opcode(jump) {
            Some(opcode::IFNE) => replacement.add(label, index, 1),
            Some(opcode::IFEQ) if label == default && done + 1 == hash_codes => {
                replacement.add(default, index, 1);
                replacement.add(jump + 1, index, 0);
                return Some(());
            }
            _ => return None,
        }
        if nodes.opcode(jump + 1) == Some(opcode::GOTO) {
            cursor.next_is(opcode::GOTO);
            replacement.add(default, nodes.instruction_index(jump + 1)?, 1);
            done += 1;
        } else if jump + 1 == default {
            replacement.add(default, index, 0);
            done += 1;
        }
    }
    Some(())
}
