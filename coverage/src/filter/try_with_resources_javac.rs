//! The closing of resources as javac 7 to 10 compile it (JLS 14.20.3).

use jvms::opcode;

use super::context::FilterContext;
use super::cursor::Cursor;
use super::nodes::Nodes;
use super::output::FilterOutput;

const RESOURCE: (&str, u32) = ("resource", 0);
const PRIMARY: (&str, u32) = ("primary", 0);
const FIRST: (&str, u32) = ("first", 0);
const SECOND: (&str, u32) = ("second", 0);
const SUPPRESSED: [(&str, u32); 2] = [("suppressed", 0), ("suppressed", 1)];

/// A form of closing a resource.
#[derive(Clone, Copy)]
struct Pattern {
    /// Set if the resource may be null.
    null_check: bool,
    /// Set if a generated method `$closeResource` closes it.
    in_method: bool,
}

const PATTERNS: [Pattern; 4] = [
    Pattern {
        null_check: false,
        in_method: true,
    },
    Pattern {
        null_check: true,
        in_method: false,
    },
    Pattern {
        null_check: false,
        in_method: false,
    },
    Pattern {
        null_check: true,
        in_method: true,
    },
];

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    for handler in context.code.handlers {
        if handler.catch_type == Some("java/lang/Throwable")
            && let Some(handler) = context.nodes.label(handler.target)
        {
            let mut patterns = PATTERNS.into_iter();
            patterns.find(|&pattern| ignore_closing(context, handler, pattern, output).is_some());
        }
    }
}

fn ignore_closing(
    context: &FilterContext<'_>,
    handler: usize,
    pattern: Pattern,
    output: &mut FilterOutput,
) -> Option<()> {
    let mut cursor = Cursor::new(context.nodes);
    let end = end_of_handler(&mut cursor, handler, pattern)?;
    let (from, to) = last_before(context.nodes, &mut cursor, handler, |cursor| {
        close(cursor, pattern, 1)
    })?;
    output.ignore(context.nodes, from, to);
    output.ignore(context.nodes, handler, end);
    Some(())
}

/// Returns the range of the last match of `close` before `handler`, including the `goto` after it.
pub(super) fn last_before<'a>(
    nodes: &Nodes<'_>,
    cursor: &mut Cursor<'a>,
    handler: usize,
    close: impl Fn(&mut Cursor<'a>),
) -> Option<(usize, usize)> {
    let mut before = handler.checked_sub(1)?;
    loop {
        cursor.go_to(Some(before));
        close(cursor);
        if let Some(end) = cursor.at() {
            let next = nodes.next_instruction(end);
            let goto = next.filter(|&next| nodes.opcode(next) == Some(opcode::GOTO));
            return Some((before + 1, goto.unwrap_or(end)));
        }
        before = before.checked_sub(1)?;
    }
}

fn end_of_handler(cursor: &mut Cursor<'_>, handler: usize, pattern: Pattern) -> Option<usize> {
    cursor.go_to(Some(handler.checked_sub(1)?));
    cursor.next_is_local(opcode::ASTORE, FIRST);
    cursor.next_is_local(opcode::ALOAD, FIRST);
    cursor.next_is_local(opcode::ASTORE, PRIMARY);
    cursor.next_is_local(opcode::ALOAD, FIRST);
    cursor.next_is(opcode::ATHROW);
    cursor.next_is_local(opcode::ASTORE, SECOND);
    close(cursor, pattern, 0);
    cursor.next_is_local(opcode::ALOAD, SECOND);
    cursor.next_is(opcode::ATHROW);
    cursor.at()
}

fn close(cursor: &mut Cursor<'_>, pattern: Pattern, copy: usize) {
    if pattern.null_check {
        cursor.next_is_local(opcode::ALOAD, RESOURCE);
        cursor.next_is(opcode::IFNULL);
    }
    if pattern.in_method {
        close_in_method(cursor);
    } else {
        close_in_place(cursor, SUPPRESSED[copy]);
    }
}

fn close_in_method(cursor: &mut Cursor<'_>) {
    cursor.next_is_local(opcode::ALOAD, PRIMARY);
    cursor.next_is_local(opcode::ALOAD, RESOURCE);
    cursor.next_is(opcode::INVOKESTATIC);
    let closes = cursor.member().is_some_and(|method| {
        method.name == "$closeResource"
            && method.descriptor == "(Ljava/lang/Throwable;Ljava/lang/AutoCloseable;)V"
    });
    if !closes {
        cursor.go_to(None);
    }
}

fn close_in_place(cursor: &mut Cursor<'_>, suppressed: (&'static str, u32)) {
    cursor.next_is_local(opcode::ALOAD, PRIMARY);
    cursor.next_is(opcode::IFNULL);
    cursor.next_is_close(RESOURCE);
    cursor.next_is(opcode::GOTO);
    cursor.next_is_local(opcode::ASTORE, suppressed);
    cursor.next_is_local(opcode::ALOAD, PRIMARY);
    cursor.next_is_local(opcode::ALOAD, suppressed);
    cursor.next_is_member(
        opcode::INVOKEVIRTUAL,
        "java/lang/Throwable",
        "addSuppressed",
        "(Ljava/lang/Throwable;)V",
    );
    cursor.next_is(opcode::GOTO);
    cursor.next_is_close(RESOURCE);
}
