//! From a `new` to the constructor calls that belong to it.

use std::collections::HashMap;

use crate::class::{ClassFile, Code, Instruction, Instructions, Method};
use crate::edits::ChangeError;
use crate::index::{Bci, PoolIndex};
use crate::opcode::{self, Form};
use crate::snippet::{field_kind, parameter_slots, return_type};
use crate::splice::{FrameContext, Frames, item};
use crate::utf8::Utf8;

/// A constructor call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConstructorCall<'t> {
    pub(crate) bci: u32,
    pub(crate) length: u32,
    pub(crate) descriptor: Utf8<'t>,
}

/// What a `new` makes.
#[derive(Debug)]
pub(crate) struct Object<'t> {
    pub(crate) class: Utf8<'t>,
    /// The `dup` behind it.
    pub(crate) dup: Option<u32>,
    /// By bci; at least one.
    pub(crate) calls: Vec<ConstructorCall<'t>>,
}

const STRAYS: ChangeError = ChangeError::NotHere(
    "the object is moved about before its constructor is called, so the two cannot be matched",
);

/// Follows the object on the operand stack, over all ways from the `new`, to
/// the calls that initialize it.
pub(crate) fn follow<'t>(
    class: &ClassFile<'t>,
    code: &Code<'_, 't>,
    made: &Instruction<'t>,
) -> Result<Object<'t>, ChangeError> {
    let index = made.pool_index().unwrap_or(PoolIndex(0));
    let name = class.pool().class_name(index);
    let name = name.ok_or(ChangeError::NotHere("it names no class"))?;
    let next = made.next();
    let dup = (code.bytes().get(next as usize) == Some(&opcode::DUP)).then_some(next);
    let copies = 1_i64.wrapping_add(i64::from(dup.is_some()));
    let mut heights: HashMap<u32, i64> = HashMap::new();
    let mut open = vec![(dup.map_or(next, |at| at.wrapping_add(1)), copies)];
    let mut calls: Vec<ConstructorCall<'t>> = Vec::new();
    while let Some((at, height)) = open.pop() {
        match heights.insert(at, height) {
            None => {}
            Some(known) if known == height => continue,
            Some(_) => return Err(STRAYS),
        }
        let found = Instructions::from(code.bytes(), at as usize, 0).next();
        let found = found.and_then(Result::ok).ok_or(STRAYS)?;
        if opcode::is_return(found.opcode) || found.opcode == opcode::ATHROW {
            continue;
        }
        if matches!(found.opcode, opcode::JSR | opcode::JSR_W | opcode::RET) {
            return Err(STRAYS);
        }
        let (pops, pushes) = effect(class, &found).ok_or(STRAYS)?;
        let left = height.wrapping_sub(pops);
        if left < copies {
            // The top copy is the receiver of its constructor, or the object is used otherwise.
            let call = constructor(class, &found, name).filter(|_| left.wrapping_add(1) == copies);
            let call = call.ok_or(STRAYS)?;
            if calls.iter().all(|known| known.bci != call.bci) {
                calls.push(call);
            }
            continue;
        }
        let after = left.wrapping_add(pushes);
        let targets = found
            .switch()
            .into_iter()
            .flat_map(|switch| switch.targets());
        let targets = targets.chain(found.branch_target());
        open.extend(targets.map(|target| (u32::from(target.0), after)));
        if opcode::falls_through(found.opcode) {
            open.push((found.next(), after));
        }
    }
    if calls.is_empty() {
        let reason = "no constructor is called for the object";
        return Err(ChangeError::NotHere(reason));
    }
    calls.sort_unstable_by_key(|call| call.bci);
    Ok(Object {
        class: name,
        dup,
        calls,
    })
}

/// The constructor call that an instruction is, if it is one of this class.
fn constructor<'t>(
    class: &ClassFile<'t>,
    found: &Instruction<'_>,
    name: Utf8<'_>,
) -> Option<ConstructorCall<'t>> {
    if found.opcode != opcode::INVOKESPECIAL {
        return None;
    }
    let member = class.pool().member_ref(found.pool_index()?)?;
    let own = member.name == "<init>" && member.owner == name;
    own.then_some(ConstructorCall {
        bci: u32::from(found.bci.0),
        length: found.length(),
        descriptor: member.descriptor,
    })
}

/// Stack slots that an instruction pops and pushes.
fn effect(class: &ClassFile<'_>, found: &Instruction<'_>) -> Option<(i64, i64)> {
    let (pops, pushes) = opcode::stack_effect(found.opcode);
    let (pops, pushes) = (i64::from(pops), i64::from(pushes));
    let pool = class.pool();
    let more = match opcode::form(found.opcode) {
        Form::Field => {
            let member = pool.member_ref(found.pool_index()?)?;
            let slots = i64::from(field_kind(member.descriptor.as_bytes())?.slots());
            match found.opcode {
                opcode::GETSTATIC | opcode::GETFIELD => (0, slots),
                _ => (slots, 0),
            }
        }
        Form::Method | Form::Interface | Form::Dynamic => {
            let index = found.pool_index()?;
            let member = pool.member_ref(index).map(|member| member.descriptor);
            let site = || pool.dynamic(index).map(|site| site.descriptor);
            let descriptor = member.or_else(site)?.as_bytes();
            let result = i64::from(return_type(descriptor)?.slots());
            (i64::from(parameter_slots(descriptor)), result)
        }
        Form::MultiNewArray => (i64::from(found.immediate()?), 0),
        _ => (0, 0),
    };
    Some((pops.wrapping_add(more.0), pushes.wrapping_add(more.1)))
}

/// Whether a stack map frame names the object that the `new` at `bci` makes.
pub(crate) fn is_named_by_a_frame(
    class: &ClassFile<'_>,
    method: &Method<'_, '_>,
    code: &Code<'_, '_>,
    bci: Bci,
) -> Result<bool, ChangeError> {
    let unreadable = ChangeError::NotHere("the stack map frames cannot be read");
    let table = code
        .attributes()
        .find(|found| found.name == "StackMapTable");
    let Some(table) = table else {
        return Ok(false);
    };
    let limits = (code.max_locals(), code.max_stack());
    let context = FrameContext {
        class,
        method: *method,
        limits,
    };
    let mut frames = Frames::default();
    frames.initial(&context).map_err(|_| unreadable.clone())?;
    let mut cursor = crate::cursor::Cursor::new(table.bytes, table.offset);
    let mut last = None;
    for _ in 0..cursor.u2("StackMapTable").unwrap_or(0) {
        let at = frames.step(&mut cursor, last, limits);
        last = Some(at.ok_or(unreadable.clone())?);
        let named = frames.locals.iter().chain(&frames.stack);
        let mut named = named.filter(|found| found.tag == item::UNINITIALIZED);
        if named.any(|found| found.value == u32::from(bci.0)) {
            return Ok(true);
        }
    }
    Ok(false)
}
