//! Methods assembled from a snippet, and wrappers of native methods.

use crate::bytes::write_at;
use crate::class::ClassFile;
use crate::edits::StructureError;
use crate::limits::{FRAMES_SINCE, MAX_CODE_LENGTH, MAX_LOCALS};
use crate::lowering::lower;
use crate::pool::PoolWriter;
use crate::snippet::{Label, Operation, Snippet};
use crate::stack_map::{Deltas, FrameKind};
use crate::typing::type_snippet;
use crate::typing::{Class, Hierarchy, MethodContext, Origin, Type, Typed, TypingContext, encoded};
use jvms::access_flags::ACC_STATIC;
use jvms::descriptor::{FieldType, MethodDescriptor, Parameters};
use jvms::modified_utf8::Utf8;
use jvms::opcode;

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

/// Assembles the contents of `Code` for a method with the code of `snippet`.
pub(crate) fn assemble(
    class: &ClassFile<'_>,
    signature: &Signature<'_>,
    snippet: &Snippet,
    pool: &mut PoolWriter,
) -> Result<Vec<u8>, StructureError> {
    let known = Hierarchy::of(class);
    let is_static = signature.flags & ACC_STATIC != 0;
    let method_context = MethodContext::alone(
        class.major_version(),
        is_static,
        (signature.name, signature.descriptor),
        known,
    );
    let context = TypingContext {
        known: &method_context.known,
        major: method_context.major,
        this: match (is_static, method_context.constructor) {
            (true, _) => Err("the method is static and has no this"),
            (false, true) => Ok(Type::UninitializedThis),
            (false, false) => Ok(Type::Object(Class::plain(method_context.known.this))),
        },
        arguments: &method_context.arguments,
        variables: Err("a replaced body can load only its own local variables"),
        at_entry: true,
        returns: method_context.returns,
        may_return: true,
        stack: &[],
        whole_body: true,
        around: None,
    };
    let typed = type_snippet(snippet, &context).map_err(|error| StructureError::Body {
        method: signature.heading(),
        error,
    })?;
    let max_locals = method_context.locals().saturating_add(typed.slots);
    if max_locals > MAX_LOCALS {
        return Err(StructureError::TooMany {
            what: "local variables",
        });
    }
    let (mut code, mut offsets) = (Vec::new(), Vec::new());
    lower(&method_context, snippet, pool, &mut code, &mut offsets)
        .ok_or(StructureError::PoolFull)?;
    if code.len() > MAX_CODE_LENGTH {
        return Err(StructureError::BodyTooLarge {
            method: signature.heading(),
            length: code.len() as u32,
        });
    }
    let frames = if method_context.major >= FRAMES_SINCE {
        let body = Body {
            snippet,
            context: &context,
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
    let name = pool
        .text(b"StackMapTable")
        .ok_or(StructureError::PoolFull)?;
    out.extend_from_slice(&[0, 1]);
    out.extend_from_slice(&name.to_be_bytes());
    out.extend_from_slice(&(frames.len() as u32).to_be_bytes());
    out.extend_from_slice(&frames);
    Ok(out)
}

/// Returns `Code` up to its attributes, without exception table.
fn head(max_stack: u16, max_locals: u16, code: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(code.len() + 32);
    out.extend_from_slice(&max_stack.to_be_bytes());
    out.extend_from_slice(&max_locals.to_be_bytes());
    out.extend_from_slice(&(code.len() as u32).to_be_bytes());
    out.extend_from_slice(code);
    out.extend_from_slice(&[0, 0]); // exception table
    out
}

/// A typed snippet with the offsets of its operations.
struct Body<'b, 't, 's> {
    snippet: &'t Snippet,
    context: &'b TypingContext<'t, 's>,
    typed: &'b Typed<'t>,
    offsets: &'b [u32],
}

impl Body<'_, '_, '_> {
    /// Returns the contents of `StackMapTable` (JVMS 4.7.4), all frames in full; empty if no frame is needed.
    fn frames(&self, pool: &mut PoolWriter) -> Result<Vec<u8>, StructureError> {
        // Of labels at one offset, the last one has the joined types of all.
        let mut places: Vec<(u32, Label)> = Vec::new();
        for (operation, at) in self.snippet.operations().iter().zip(self.offsets) {
            if let Operation::Label(label) = operation {
                places.retain(|(known, _)| known != at);
                places.push((*at, *label));
            }
        }
        let mut table = vec![0, 0];
        let (mut count, mut deltas) = (0_u16, Deltas::default());
        for (at, Label(label)) in places {
            let Some(Some(state)) = self.typed.labels.get(label as usize) else {
                continue;
            };
            let delta = deltas.next(at).ok_or(StructureError::TooMany {
                what: "bytes of code",
            })?;
            FrameKind::Full.write(delta, &mut table);
            let mut locals: Vec<Type<'_>> = state.this.into_iter().collect();
            let arguments = self.context.arguments.iter();
            locals.extend(arguments.map(|argument| Type::of(argument.kind)));
            let mut slots = state.locals.iter();
            while let Some(found) = slots.next() {
                locals.push(*found);
                if found.slots() == 2 {
                    slots.next();
                }
            }
            self.types(&locals, pool, &mut table)?;
            self.types(&state.stack, pool, &mut table)?;
            count += 1;
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        write_at(&mut table, 0, &count.to_be_bytes());
        Ok(table)
    }

    fn types(
        &self,
        types: &[Type<'_>],
        pool: &mut PoolWriter,
        out: &mut Vec<u8>,
    ) -> Result<(), StructureError> {
        out.extend_from_slice(&(types.len() as u16).to_be_bytes());
        for found in types {
            let found = match found {
                Type::Uninitialized(Origin::Snippet(operation)) => {
                    let at = self.offsets.get(*operation as usize).copied();
                    Type::Uninitialized(Origin::Position(at.unwrap_or_default()))
                }
                found => *found,
            };
            let found = encoded(found, pool).ok_or(StructureError::PoolFull)?;
            found.write(out);
        }
        Ok(())
    }
}

/// Returns the contents of `Code` for a method that passes its arguments to `target`, a method of the same class, and
/// returns its result.
pub(crate) fn call(is_static: bool, descriptor: &[u8], target: u16) -> Vec<u8> {
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
        slot += slots;
    };
    if !is_static {
        load(&mut code, opcode::ALOAD, 1);
    }
    for kind in Parameters::of(descriptor) {
        load(&mut code, kind.load_opcode(), u32::from(kind.slots()));
    }
    code.push(if is_static {
        opcode::INVOKESTATIC
    } else {
        opcode::INVOKESPECIAL
    });
    code.extend_from_slice(&target.to_be_bytes());
    let returns = MethodDescriptor::parse(descriptor).ok();
    let returns = returns.and_then(|found| found.return_type());
    code.push(returns.map_or(opcode::RETURN, FieldType::return_opcode));
    let slots = Parameters::of(descriptor).slots() + u32::from(!is_static);
    let stack = slots.max(returns.map_or(0, |found| u32::from(found.slots())));
    let mut out = head(stack as u16, slots as u16, &code);
    out.extend_from_slice(&[0, 0]); // attributes
    out
}
