//! The handler of a `synchronized` block (JVMS 3.14).

use jvms::opcode;

use super::context::FilterContext;
use super::cursor::Cursor;
use super::output::FilterOutput;

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    for handler in context.code.handlers {
        if handler.catch_type.is_some() || handler.start == handler.target {
            continue;
        }
        let start = context.nodes.label(handler.target);
        let end = ecj(context, start).or_else(|| javac(context, start));
        if let (Some(start), Some(end)) = (start, end) {
            output.ignore(context.nodes, start, end);
        }
    }
}

fn javac(context: &FilterContext<'_>, start: Option<usize>) -> Option<usize> {
    const T: (&str, u32) = ("t", 0);
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(start);
    cursor.next_is_local(opcode::ASTORE, T);
    cursor.next_is(opcode::ALOAD);
    cursor.next_is(opcode::MONITOREXIT);
    cursor.next_is_local(opcode::ALOAD, T);
    cursor.next_is(opcode::ATHROW);
    cursor.at()
}

fn ecj(context: &FilterContext<'_>, start: Option<usize>) -> Option<usize> {
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(start);
    cursor.next_is(opcode::ALOAD);
    cursor.next_is(opcode::MONITOREXIT);
    cursor.next_is(opcode::ATHROW);
    cursor.at()
}
