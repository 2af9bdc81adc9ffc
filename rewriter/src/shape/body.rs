//! Whole methods made of a snippet, and those that only call a native one.

use crate::class::ClassFile;
use crate::edits::Refusal;
use crate::limits::{FRAMES_SINCE, MAX_CODE_LENGTH, MAX_LOCALS};
use crate::opcode;
use crate::snippet::{
    Kind, Label, Operation, Parameters, Setting, Snippet, Typed, check, parameter_slots,
    return_type,
};
use crate::splice::{Facts, PoolWriter, item, load_opcode, lower};
use crate::utf8::Utf8;
use crate::verify::{Class, Hierarchy, Origin, Type};

/// A method without its code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signature<'t> {
    pub(crate) flags: u16,
    pub(crate) name: &'t [u8],
    pub(crate) descriptor: &'t [u8],
}

impl Signature<'_> {
    fn heading(&self) -> String {
        let (name, descriptor) = (Utf8::new(self.name), Utf8::new(self.descriptor));
        format!("{name}{descriptor}")
    }
}

const ACC_STATIC: u16 = 0x0008;

/// The contents of `Code` of a method whose code is `snippet`.
pub(crate) fn assemble(
    class: &ClassFile<'_>,
    signature: &Signature<'_>,
    snippet: &Snippet,
    pool: &mut PoolWriter,
) -> Result<Vec<u8>, Refusal> {
    let known = Hierarchy::of(class);
    let is_static = signature.flags & ACC_STATIC != 0;
    let facts = Facts::alone(
        class.major_version(),
        is_static,
        (signature.name, signature.descriptor),
        known,
    );
    let setting = Setting {
        known: &facts.known,
        major: facts.major,
        this: match (is_static, facts.constructor) {
            (true, _) => Err("the method is static and has no this"),
            (false, true) => Ok(Type::UninitializedThis),
            (false, false) => Ok(Type::Object(Class::plain(facts.known.this))),
        },
        arguments: &facts.arguments,
        at_entry: true,
        returns: facts.returns,
        may_return: true,
        stack: &[],
        whole_body: true,
    };
    let typed = check(snippet, &setting).map_err(|error| Refusal::Body {
        method: signature.heading(),
        error,
    })?;
    let max_locals = facts.locals().saturating_add(typed.slots);
    if max_locals > MAX_LOCALS {
        return Err(Refusal::TooMany {
            what: "local variables",
        });
    }
    let (mut code, mut offsets) = (Vec::new(), Vec::new());
    lower(&facts, snippet, pool, &mut code, &mut offsets).ok_or(Refusal::PoolFull)?;
    if code.len() > MAX_CODE_LENGTH {
        return Err(Refusal::BodyTooLarge {
            method: signature.heading(),
            length: code.len() as u32,
        });
    }
    let frames = if facts.major >= FRAMES_SINCE {
        let body = Body {
            snippet,
            setting: &setting,
            typed: &typed,
            offsets: &offsets,
        };
        body.frames(pool)?
    } else {
        Vec::new()
    };
    let mut out = head(typed.deepest as u16, max_locals as u16, &code);
    if frames.is_empty() {
        out.extend_from_slice(&[0, 0]); // attributes
        return Ok(out);
    }
    let name = pool.text(b"StackMapTable").ok_or(Refusal::PoolFull)?;
    out.extend_from_slice(&[0, 1]);
    out.extend_from_slice(&name.to_be_bytes());
    out.extend_from_slice(&(frames.len() as u32).to_be_bytes());
    out.extend_from_slice(&frames);
    Ok(out)
}

/// `Code` up to its attributes, without exception table.
fn head(max_stack: u16, max_locals: u16, code: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(code.len().wrapping_add(32));
    out.extend_from_slice(&max_stack.to_be_bytes());
    out.extend_from_slice(&max_locals.to_be_bytes());
    out.extend_from_slice(&(code.len() as u32).to_be_bytes());
    out.extend_from_slice(code);
    out.extend_from_slice(&[0, 0]); // exception table
    out
}

/// A typed snippet with the places of its operations.
struct Body<'b, 't, 's> {
    snippet: &'t Snippet,
    setting: &'b Setting<'t, 's>,
    typed: &'b Typed<'t>,
    offsets: &'b [u32],
}

impl Body<'_, '_, '_> {
    /// The contents of `StackMapTable` (JVMS 4.7.4), all frames in full; empty
    /// if no frame is needed.
    fn frames(&self, pool: &mut PoolWriter) -> Result<Vec<u8>, Refusal> {
        // Of labels at one place the last has seen what arrives at the others.
        let mut places: Vec<(u32, Label)> = Vec::new();
        for (operation, at) in self.snippet.operations().iter().zip(self.offsets) {
            if let Operation::Place(label) = operation {
                places.retain(|(known, _)| known != at);
                places.push((*at, *label));
            }
        }
        let mut table = vec![0, 0];
        let (mut count, mut last) = (0_u16, None);
        for (at, Label(label)) in places {
            let Some(Some(state)) = self.typed.labels.get(label as usize) else {
                continue;
            };
            let delta = match last {
                None => at,
                Some(last) => at.wrapping_sub(last).wrapping_sub(1),
            };
            last = Some(at);
            table.push(255);
            table.extend_from_slice(&(delta as u16).to_be_bytes());
            let mut locals: Vec<Type<'_>> = state.this.into_iter().collect();
            let arguments = self.setting.arguments.iter();
            locals.extend(arguments.filter_map(|argument| Type::of(argument.kind)));
            let mut slots = state.locals.iter();
            while let Some(found) = slots.next() {
                locals.push(*found);
                if found.slots() == 2 {
                    slots.next();
                }
            }
            self.types(&locals, pool, &mut table)?;
            self.types(&state.stack, pool, &mut table)?;
            count = count.wrapping_add(1);
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        crate::splice::write_at(&mut table, 0, &count.to_be_bytes());
        Ok(table)
    }

    fn types(
        &self,
        types: &[Type<'_>],
        pool: &mut PoolWriter,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        out.extend_from_slice(&(types.len() as u16).to_be_bytes());
        for found in types {
            let (tag, value) = match found {
                Type::Top => (0, None),
                Type::Int => (item::INTEGER, None),
                Type::Float => (item::FLOAT, None),
                Type::Double => (item::DOUBLE, None),
                Type::Long => (item::LONG, None),
                Type::Null => (5, None),
                Type::UninitializedThis => (item::UNINITIALIZED_THIS, None),
                Type::Object(class) => {
                    let mut name = Vec::new();
                    class.write(&mut name);
                    let index = pool.class(&name).ok_or(Refusal::PoolFull)?;
                    (item::OBJECT, Some(index))
                }
                Type::Uninitialized(Origin::Snippet(operation)) => {
                    let at = self.offsets.get(*operation as usize).copied();
                    (item::UNINITIALIZED, Some(at.unwrap_or(0) as u16))
                }
                Type::Uninitialized(Origin::Method(at) | Origin::Position(at)) => {
                    (item::UNINITIALIZED, Some(*at as u16))
                }
            };
            out.push(tag);
            if let Some(value) = value {
                out.extend_from_slice(&value.to_be_bytes());
            }
        }
        Ok(())
    }
}

/// The contents of `Code` of a method that hands its arguments to `target`, a
/// method of the same class, and returns what that returns; and the bci of the
/// return.
pub(crate) fn call(is_static: bool, descriptor: &[u8], target: u16) -> (Vec<u8>, u16) {
    let mut code = Vec::new();
    let mut slot = 0_u32;
    let mut load = |code: &mut Vec<u8>, opcode: u8, slots: u32| {
        match u8::try_from(slot) {
            Ok(slot) => code.extend_from_slice(&[opcode, slot]),
            Err(_) => {
                code.extend_from_slice(&[opcode::WIDE, opcode]);
                code.extend_from_slice(&(slot as u16).to_be_bytes());
            }
        }
        slot = slot.wrapping_add(slots);
    };
    if !is_static {
        load(&mut code, opcode::ALOAD, 1);
    }
    for kind in Parameters::of(descriptor) {
        load(&mut code, load_opcode(kind), kind.slots());
    }
    code.push(if is_static {
        opcode::INVOKESTATIC
    } else {
        opcode::INVOKESPECIAL
    });
    code.extend_from_slice(&target.to_be_bytes());
    let returns = return_type(descriptor).unwrap_or(Kind::Void);
    let at = code.len() as u16;
    code.push(return_opcode(returns));
    let slots = parameter_slots(descriptor).wrapping_add(u32::from(!is_static));
    let stack = slots.max(returns.slots());
    let mut out = head(stack as u16, slots as u16, &code);
    out.extend_from_slice(&[0, 0]); // attributes
    (out, at)
}

/// The instruction that returns a value of this kind.
fn return_opcode(kind: Kind<'_>) -> u8 {
    match kind {
        Kind::Void => opcode::RETURN,
        _ => load_opcode(kind)
            .wrapping_sub(opcode::ILOAD)
            .wrapping_add(opcode::IRETURN),
    }
}
