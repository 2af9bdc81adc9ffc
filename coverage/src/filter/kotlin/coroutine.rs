//! The state machine of a suspending function or lambda.

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::cursor::Cursor;
use super::super::output::FilterOutput;

const SUSPENDED: (&str, u32) = ("COROUTINE_SUSPENDED", 0);
const GETTER: &str = "getCOROUTINE_SUSPENDED";
const INTRINSICS: &str = "kotlin/coroutines/intrinsics/IntrinsicsKt";

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if !suspends(context) {
        return;
    }
    ignore_tail_calls(context, output);
    ignore_debug_probes(context, output);
    for (at, _) in context.nodes.iter() {
        if ignore_state_machine(context, at, output).is_some() {
            break;
        }
    }
}

/// Checks whether a method is the body of a suspending function or lambda.
pub(super) fn suspends(context: &FilterContext<'_>) -> bool {
    let method = context.method;
    let parameters = method.descriptor.split_once(')');
    let has_continuation = parameters
        .is_some_and(|(parameters, _)| parameters.ends_with("Lkotlin/coroutines/Continuation;"));
    method.name == "invokeSuspend" || has_continuation
}

pub(super) fn next_is_suspended(cursor: &mut Cursor<'_>) {
    cursor.next_is_member(
        opcode::INVOKESTATIC,
        INTRINSICS,
        GETTER,
        "()Ljava/lang/Object;",
    );
}

fn next_is_throw_on_failure(cursor: &mut Cursor<'_>) {
    cursor.next_is_member(
        opcode::INVOKESTATIC,
        "kotlin/ResultKt",
        "throwOnFailure",
        "(Ljava/lang/Object;)V",
    );
}

/// Leaves out the code after a tail call without a state: it compares and replaces the returned value.
fn ignore_tail_calls(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let nodes = context.nodes;
    for (at, _) in nodes.iter() {
        let mut cursor = Cursor::new(nodes);
        cursor.go_to(Some(at));
        cursor.next_is(opcode::DUP);
        let first = cursor.at();
        next_is_suspended(&mut cursor);
        cursor.next_is(opcode::IF_ACMPNE);
        cursor.next_is(opcode::ARETURN);
        cursor.next_is(opcode::POP);
        if let (Some(first), Some(end)) = (first, cursor.at()) {
            output.ignore(nodes, first, end);
        }
    }
}

/// Leaves out the code that reports the suspension by `suspendCoroutineUninterceptedOrReturn` to a debugger.
fn ignore_debug_probes(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let nodes = context.nodes;
    for (at, _) in nodes.iter() {
        let mut cursor = Cursor::new(nodes);
        cursor.go_to(Some(at));
        cursor.next_is(opcode::DUP);
        next_is_suspended(&mut cursor);
        cursor.next_is(opcode::IF_ACMPNE);
        let first = cursor.at();
        cursor.next_is(opcode::ALOAD);
        if cursor.opcode_of_next() == Some(opcode::CHECKCAST) {
            cursor.next();
        }
        cursor.next_is_member(
            opcode::INVOKESTATIC,
            "kotlin/coroutines/jvm/internal/DebugProbesKt",
            "probeCoroutineSuspended",
            "(Lkotlin/coroutines/Continuation;)V",
        );
        if let (Some(first), Some(end)) = (first, cursor.at()) {
            output.ignore(nodes, first, end);
        }
    }
}

/// Leaves out the state machine whose first instruction is at `at`.
fn ignore_state_machine(
    context: &FilterContext<'_>,
    at: usize,
    output: &mut FilterOutput,
) -> Option<()> {
    let nodes = context.nodes;
    let first = nodes.member(at)?;
    if first.owner != INTRINSICS || first.name != GETTER {
        return None;
    }
    let mut cursor = Cursor::new(nodes);
    cursor.go_to(Some(at));
    match cursor.opcode_of_next()? {
        opcode::POP => cursor.next(),
        _ => cursor.next_is_local(opcode::ASTORE, SUSPENDED),
    }
    cursor.next_is(opcode::ALOAD);
    cursor.next_is(opcode::GETFIELD);
    cursor.next_is(opcode::TABLESWITCH);
    let switch = cursor.at()?;
    cursor.next_is(opcode::ALOAD);
    next_is_throw_on_failure(&mut cursor);
    let start = cursor.at()?;
    let (default, states) = nodes.switch_labels(switch)?;
    let end_of_default = end_of_default(&mut cursor, default)?;
    output.ignore(nodes, 0, start);
    output.ignore(nodes, default, end_of_default);
    let mut states = states.iter().skip(1);
    let mut state = states.next();
    for at in start..nodes.len() {
        let Some(&label) = state else {
            break;
        };
        if let Some((first, end)) = suspension(context, &mut cursor, at, label) {
            output.ignore(nodes, first, end);
            state = states.next();
        }
    }
    Some(())
}

fn end_of_default(cursor: &mut Cursor<'_>, default: usize) -> Option<usize> {
    cursor.go_to(Some(default));
    cursor.next_is_throw(
        "java/lang/IllegalStateException",
        "call to 'resume' before 'invoke' with coroutine",
    );
    cursor.at()
}

/// Returns the range after a call that may suspend: it returns, and restarts at `state`.
fn suspension(
    context: &FilterContext<'_>,
    cursor: &mut Cursor<'_>,
    before: usize,
    state: usize,
) -> Option<(usize, usize)> {
    let nodes = context.nodes;
    cursor.go_to(Some(before));
    cursor.next_is(opcode::DUP);
    let first = cursor.at()?;
    cursor.next_is_local(opcode::ALOAD, SUSPENDED);
    cursor.next_is(opcode::IF_ACMPNE);
    let resumed = nodes.skip_to_instruction(nodes.jump_label(cursor.at()?)?);
    cursor.next_is_local(opcode::ALOAD, SUSPENDED);
    cursor.next_is(opcode::ARETURN);
    if nodes.next_instruction(cursor.at()?) != nodes.skip_to_instruction(state) {
        return None;
    }
    (state..nodes.len()).find_map(|at| {
        cursor.go_to(Some(at));
        cursor.next_is(opcode::ALOAD);
        next_is_throw_on_failure(cursor);
        cursor.next_is(opcode::ALOAD);
        let loaded = cursor.at()?;
        if nodes.next_instruction(loaded) == resumed {
            return Some((first, loaded));
        }
        // The function returns a boxed value class.
        cursor.next_is(opcode::CHECKCAST);
        cursor.next_is(opcode::INVOKEVIRTUAL);
        let unboxes = cursor.member()?.name == "unbox-impl";
        let unboxed = cursor.at()?;
        (unboxes && nodes.next_instruction(unboxed) == resumed).then_some((first, unboxed))
    })
}
