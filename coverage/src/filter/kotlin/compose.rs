//! The code that the Compose compiler adds around the body of a `@Composable` function.

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::cursor::Cursor;
use super::super::output::FilterOutput;

const ANNOTATION: &str = "Landroidx/compose/runtime/Composable;";
const COMPOSER: &str = "androidx/compose/runtime/Composer";
const COMPOSER_FILE: &str = "androidx/compose/runtime/ComposerKt";

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let mut annotations = context.method.invisible_annotations.iter();
    if !annotations.any(|annotation| *annotation == ANNOTATION) {
        return;
    }
    let nodes = context.nodes;
    for (at, _) in nodes.iter() {
        let Some(member) = nodes.member(at) else {
            continue;
        };
        match (member.owner, member.name) {
            (COMPOSER, "getSkipping") => ignore_skipping(context, at, output),
            (COMPOSER, "shouldExecute") => ignore_comparisons(context, at, output),
            (COMPOSER, "endRestartGroup") => ignore_restart(context, at, output),
            (COMPOSER_FILE, "isTraceInProgress") => ignore_trace(context, at, output),
            _ => {}
        }
    }
}

/// Returns the jump directly after `at`, and its target.
fn jump_behind(context: &FilterContext<'_>, at: usize, opcode: u8) -> Option<(usize, usize)> {
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(Some(at));
    cursor.next_is(opcode);
    let jump = cursor.at()?;
    Some((jump, context.nodes.jump_label(jump)?))
}

/// For runtimes up to 1.7: leaves out the comparison of the arguments with the previous ones, and the code after the
/// body.
fn ignore_skipping(context: &FilterContext<'_>, at: usize, output: &mut FilterOutput) {
    if let Some((jump, end)) = jump_behind(context, at, opcode::IFNE) {
        output.ignore(context.nodes, 0, jump);
        output.ignore(context.nodes, end, context.nodes.len() - 1);
    }
}

/// For later runtimes: leaves out the comparison of the arguments with the previous ones.
fn ignore_comparisons(context: &FilterContext<'_>, at: usize, output: &mut FilterOutput) {
    if let Some((jump, _)) = jump_behind(context, at, opcode::IFEQ) {
        output.ignore(context.nodes, 0, jump);
    }
}

/// Leaves out the code that reports the function to a trace.
fn ignore_trace(context: &FilterContext<'_>, at: usize, output: &mut FilterOutput) {
    if let Some((jump, end)) = jump_behind(context, at, opcode::IFEQ)
        && end > jump
    {
        output.ignore(context.nodes, jump, end);
    }
}

/// Leaves out the code that calls the function again: `endRestartGroup()?.updateScope { … }`.
fn ignore_restart(context: &FilterContext<'_>, at: usize, output: &mut FilterOutput) {
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(Some(at));
    cursor.next_is(opcode::DUP);
    let Some((jump, none)) = cursor
        .at()
        .and_then(|dup| jump_behind(context, dup, opcode::IFNULL))
    else {
        return;
    };
    cursor.go_to(Some(none));
    cursor.next_is(opcode::POP);
    if let Some(pop) = cursor.at()
        && pop > jump
    {
        output.ignore(context.nodes, jump, pop);
    }
}
