//! A `when` on strings as Kotlin before 1.5 compiles it: a switch on the hash code, and comparisons, each with a jump
//! to the branch. The comparisons become branches of the switch.

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::cursor::Cursor;
use super::super::output::{FilterOutput, Replacement};

const STRING: (&str, u32) = ("string", 0);

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let nodes = context.nodes;
    for (at, _) in nodes.iter() {
        if nodes.opcode(at) == Some(opcode::ALOAD)
            && let Some(found) = Comparisons::behind(context, at)
        {
            output.ignore(nodes, found.first, found.end);
            output.replace(found.switch, found.branches);
        }
    }
}

struct Comparisons {
    /// Instruction index of the switch.
    switch: usize,
    branches: Replacement,
    first: usize,
    end: usize,
}

impl Comparisons {
    /// Matches the code after the load of the string at `load`.
    fn behind(context: &FilterContext<'_>, load: usize) -> Option<Self> {
        let nodes = context.nodes;
        let mut cursor = Cursor::new(nodes);
        cursor.name_local(STRING, load);
        cursor.go_to(Some(load));
        cursor.next_is_member(opcode::INVOKEVIRTUAL, "java/lang/String", "hashCode", "()I");
        cursor.next_is_switch();
        let (default, cases) = nodes.switch_labels(cursor.at()?)?;
        let switch = nodes.instruction_index(cursor.at()?)?;
        let first = cursor.following()?;
        let mut branches = Replacement::default();
        branches.add(default, switch, 0);
        let mut hash_codes = cases.iter().filter(|&&case| case != default).count();
        while hash_codes > 0 {
            let (unequal, jump) = comparison(context, &mut cursor, &mut branches)?;
            if unequal == default {
                branches.add(default, jump, 1);
                hash_codes -= 1;
            } else if nodes.skip_to_instruction(unequal) != cursor.following() {
                return None;
            }
        }
        Some(Self {
            switch,
            branches,
            first,
            end: cursor.at()?,
        })
    }
}

/// Matches one comparison; returns the label for another string, and the jump to it.
fn comparison(
    context: &FilterContext<'_>,
    cursor: &mut Cursor<'_>,
    branches: &mut Replacement,
) -> Option<(usize, usize)> {
    let nodes = context.nodes;
    cursor.next_is_string_comparison(STRING);
    cursor.next_is(opcode::IFEQ);
    let unequal = nodes.jump_label(cursor.at()?)?;
    let jump = nodes.instruction_index(cursor.at()?)?;
    cursor.next_is(opcode::GOTO);
    branches.add(nodes.jump_label(cursor.at()?)?, jump, 0);
    Some((unequal, jump))
}
