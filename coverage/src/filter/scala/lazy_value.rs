//! Lazy values: the source does not contain the tests whether they are computed.

use std::ops::Range;

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::output::FilterOutput;
use super::member::Member;
use crate::class::{CodeDescription, Instruction, MemberRef, Operand};
use crate::flow::InstructionKind;

/// Name parts of methods that compute lazy values, in Scala 2 and 3.
const COMPUTES: [&str; 2] = ["$lzycompute", "$lzyINIT"];

/// Checks whether a method returns a lazy value and calls the method that computes it, or lets a trait compute its
/// own.
pub(super) fn is_accessor(member: Member<'_>) -> bool {
    let computes = |name: &str| COMPUTES.iter().any(|part| name.contains(part));
    let computed = COMPUTES
        .iter()
        .find_map(|part| member.name.split_once(part));
    if let Some((name, _)) = computed {
        // The code of a trait's value is in the trait.
        return member
            .calls()
            .any(|call| call.name.strip_suffix('$') == Some(name));
    }
    !computes(member.name)
        && member
            .calls()
            .any(|call| call.owner == member.class.name && computes(call.name))
        && member.only_line().is_some()
        && member.code.len() <= LONGEST
}

/// Maximum number of instructions of an accessor. A longer method may call the computing method, too, and is no
/// accessor.
const LONGEST: usize = 30;

/// Leaves out the tests in the method that computes a lazy value.
pub(super) fn ignore_tests(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let (name, code) = (context.method.name, context.code.instructions);
    if name.contains(COMPUTES[0]) {
        let jump = code
            .iter()
            .position(|at| InstructionKind::of(at.opcode) == InstructionKind::Branch);
        if let Some(jump) = jump.filter(|jump| code[..*jump].iter().any(reads_state)) {
            ignore(context, output, |index| index <= jump);
        }
    } else if name.contains(COMPUTES[1])
        && let Some(body) = body(context.code)
    {
        ignore(context, output, |index| !body.contains(&code[index].bci));
    }
}

/// Finds the bcis of the source's code in a method of Scala 3. The widest handler protects it, and the store of the
/// value, perhaps boxed, follows: `store, load, ifnonnull, getstatic NullValue$`.
fn body(code: &CodeDescription<'_>) -> Option<Range<u16>> {
    let handlers = code.handlers.iter();
    let of_all = handlers.filter(|handler| handler.catch_type.is_none());
    let widest = of_all.max_by_key(|handler| handler.end.saturating_sub(handler.start))?;
    let protected = widest.start..widest.end;
    let marks_null = |at: &Instruction<'_>| {
        let is_mark = |field: &MemberRef<'_>| field.owner == NULL_VALUE;
        matches!(at.operand, Operand::Member(field) if is_mark(field))
    };
    let mut all = code.instructions.iter();
    let end = all.rposition(|at| protected.contains(&at.bci) && marks_null(at));
    let store = end.and_then(|end| end.checked_sub(3));
    let boxes =
        |at: &Instruction<'_>| matches!(at.operand, Operand::Member(call) if call.owner == BOXES);
    let before = store.and_then(|store| code.instructions.get(store.checked_sub(1)?));
    let last = before.filter(|before| boxes(before));
    let last = last.or_else(|| code.instructions.get(store?));
    Some(widest.start..last.map_or(widest.end, |last| last.bci))
}

/// Boxes the value before it is stored.
const BOXES: &str = "scala/runtime/BoxesRunTime";
/// The value of a lazy value that is `null`.
const NULL_VALUE: &str = "scala/runtime/LazyVals$NullValue$";

/// Checks for a static initializer of Scala 3 that only finds the fields of lazy values.
pub(super) fn is_initializer(member: Member<'_>) -> bool {
    let finds = |call: &MemberRef<'_>| {
        [
            "getDeclaredField",
            "getOffsetStatic",
            "lookup",
            "findVarHandle",
        ]
        .contains(&call.name)
    };
    let is_field = |at: &Instruction<'_>| {
        matches!(at.operand, Operand::Member(field)
            if field.name.starts_with("OFFSET$") || field.name.ends_with("$lzyHandle"))
    };
    let mut stores = member
        .code
        .iter()
        .filter(|at| at.opcode == opcode::PUTSTATIC);
    member.name == "<clinit>"
        && member.calls().next().is_some()
        && member.calls().all(finds)
        && stores.all(is_field)
}

/// Checks whether an instruction reads the state of a lazy value.
fn reads_state(instruction: &Instruction<'_>) -> bool {
    let Operand::Member(member) = instruction.operand else {
        return false;
    };
    match instruction.opcode {
        opcode::GETFIELD | opcode::GETSTATIC => member.name.starts_with("bitmap$"),
        _ => member.name == "initialized",
    }
}

fn ignore(
    context: &FilterContext<'_>,
    output: &mut FilterOutput,
    is_ignored: impl Fn(usize) -> bool,
) {
    let nodes = context.nodes;
    for (at, _) in nodes.iter() {
        if nodes.instruction_index(at).is_some_and(&is_ignored) {
            output.ignore(nodes, at, at);
        }
    }
}
