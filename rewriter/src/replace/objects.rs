//! Follows a `new` to the constructor calls of its object.

use std::collections::HashMap;

use crate::class::{ClassFile, Code, Instruction, Instructions, Method};
use crate::edits::ChangeError;
use crate::index::{Bci, PoolIndex};
use crate::typing::{FrameReader, Origin, Type};
use jvms::descriptor::{FieldType, MethodDescriptor};
use jvms::modified_utf8::Utf8;
use jvms::opcode;
use jvms::opcode::Form;

/// A constructor call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConstructorCall<'t> {
    pub(crate) bci: u32,
    pub(crate) length: u32,
    pub(crate) descriptor: Utf8<'t>,
}

/// The object created by a `new`.
#[derive(Debug)]
pub(crate) struct Object<'t> {
    pub(crate) class: Utf8<'t>,
    /// The `dup` after the `new`.
    pub(crate) dup: Option<u32>,
    /// The constructor calls by bci; at least one.
    pub(crate) calls: Vec<ConstructorCall<'t>>,
}

const STRAYS: ChangeError = ChangeError::NotHere(
    "the object moves on the stack before its constructor call, so the two cannot be matched",
);

/// Follows the object on the operand stack, along all paths from the `new`, to the calls that initialize it.
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
    let copies = 1_i64 + i64::from(dup.is_some());
    let mut heights: HashMap<u32, i64> = HashMap::new();
    let mut open = vec![(dup.map_or(next, |at| at + 1), copies)];
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
        if opcode::is_subroutine_call(found.opcode) || found.opcode == opcode::RET {
            return Err(STRAYS);
        }
        let (pops, pushes) = effect(class, &found).ok_or(STRAYS)?;
        let left = height - pops;
        if left < copies {
            // Only a constructor call may consume the top copy as its receiver.
            let call = constructor(class, &found, name).filter(|_| left + 1 == copies);
            let call = call.ok_or(STRAYS)?;
            if calls.iter().all(|known| known.bci != call.bci) {
                calls.push(call);
            }
            continue;
        }
        let after = left + pushes;
        let targets = found.targets();
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

/// Returns the constructor call in an instruction, if its class is `name`.
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

/// Returns the stack slots that an instruction pops and pushes.
fn effect(class: &ClassFile<'_>, found: &Instruction<'_>) -> Option<(i64, i64)> {
    let (pops, pushes) = opcode::stack_effect(found.opcode);
    let (pops, pushes) = (i64::from(pops), i64::from(pushes));
    let pool = class.pool();
    let more = match opcode::form(found.opcode) {
        Form::Field => {
            let member = pool.member_ref(found.pool_index()?)?;
            let slots = i64::from(FieldType::parse(member.descriptor.as_bytes()).ok()?.slots());
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
            let found = MethodDescriptor::parse(descriptor).ok()?;
            let result = found.return_type().map_or(0, FieldType::slots);
            (i64::from(found.parameter_slots()), i64::from(result))
        }
        Form::MultiNewArray => (i64::from(found.immediate()?), 0),
        _ => (0, 0),
    };
    Some((pops + more.0, pushes + more.1))
}

/// Checks whether a stack map frame contains the uninitialized object of the `new` at `bci`.
pub(crate) fn is_named_by_a_frame<'t>(
    method: &Method<'_, 't>,
    code: &Code<'_, 't>,
    bci: Bci,
) -> Result<bool, ChangeError> {
    let unreadable = ChangeError::NotHere("the stack map frames cannot be read");
    let Some(table) = code.attributes().named("StackMapTable") else {
        return Ok(false);
    };
    let limits = (code.max_locals(), code.max_stack());
    let frames = FrameReader::new(method, Some(&table), limits, Origin::Method);
    let mut frames = frames.map_err(|_| unreadable.clone())?;
    let made = Type::Uninitialized(Origin::Method(u32::from(bci.0)));
    while frames.next().map_err(|_| unreadable.clone())?.is_some() {
        let mut types = frames.frame.locals.iter().chain(&frames.frame.stack);
        if types.any(|found| *found == made) {
            return Ok(true);
        }
    }
    Ok(false)
}
