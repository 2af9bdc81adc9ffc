//! The tests for omitted arguments, in `…$default` and in constructors with a `DefaultConstructorMarker`.

use jvms::access_flags::{ACC_STATIC, ACC_SYNTHETIC};
use jvms::descriptor::{BaseType, FieldType, Parameters};
use jvms::opcode;

use super::super::context::FilterContext;
use super::super::cursor::Cursor;
use super::super::output::FilterOutput;
use crate::class::Operand;

const MARKER: &[u8] = b"kotlin/jvm/internal/DefaultConstructorMarker";
/// Number of arguments with a bit in one mask.
const BITS: usize = 32;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let method = context.method;
    if method.access_flags & ACC_SYNTHETIC == 0 {
        return;
    }
    let parameters: Vec<_> = Parameters::of(method.descriptor.as_bytes()).collect();
    let Some((&last, before)) = parameters.split_last() else {
        return;
    };
    if method.name.ends_with("$default") {
        ignore_super_call(context, output);
    } else if method.name != "<init>" || last != FieldType::Class(MARKER) {
        return;
    }
    ignore_tests(context, &masks(context, before), output);
}

/// Returns the local variables of the masks, which follow the arguments, one for each 32 of them.
fn masks(context: &FilterContext<'_>, parameters: &[FieldType<'_>]) -> Vec<u16> {
    let receiver = u16::from(context.method.access_flags & ACC_STATIC == 0);
    let count = parameters.len().div_ceil(BITS + 1);
    let arguments = parameters.len().saturating_sub(count);
    let mut local = receiver;
    let mut masks = Vec::new();
    for (at, parameter) in parameters.iter().enumerate() {
        if at >= arguments && *parameter == FieldType::Base(BaseType::Int) {
            masks.push(local);
        }
        local = local.saturating_add(parameter.slots());
    }
    masks
}

/// Leaves out the code that rejects a call by `super`, which cannot find the default arguments.
fn ignore_super_call(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let nodes = context.nodes;
    let mut cursor = Cursor::at_first(nodes);
    cursor.keep_opcode(|opcode| opcode == opcode::ALOAD);
    cursor.next_is(opcode::IFNULL);
    cursor.next_is_throw(
        "java/lang/UnsupportedOperationException",
        "Super calls with default arguments not supported in this target",
    );
    if let Some(end) = cursor.at() {
        output.ignore(nodes, 0, end);
    }
}

/// Leaves out the jumps after `mask & bit`.
fn ignore_tests(context: &FilterContext<'_>, masks: &[u16], output: &mut FilterOutput) {
    let nodes = context.nodes;
    for (at, _) in nodes.iter() {
        let loaded = nodes.instruction(at).map(|load| &load.operand);
        if nodes.opcode(at) != Some(opcode::ILOAD)
            || !matches!(loaded, Some(Operand::Local(local)) if masks.contains(local))
        {
            continue;
        }
        let mut cursor = Cursor::new(nodes);
        cursor.go_to(Some(at));
        cursor.next();
        cursor.next_is(opcode::IAND);
        cursor.next_is(opcode::IFEQ);
        if let Some(jump) = cursor.at() {
            output.ignore(nodes, jump, jump);
        }
    }
}
