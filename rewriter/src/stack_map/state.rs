//! Expands frames one after another (JVMS 4.10.1.6).

use jvms::descriptor::{BaseType, FieldType, Parameters};

use crate::class::{ClassFile, Method};
use crate::error::ReadError;
use crate::stack_map::codec::{FrameKind, StackMapReader, VerificationType, item};

/// A type in an expanded frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FollowedType {
    /// A type from the table.
    Written(VerificationType),
    /// The class of a parameter, which has no pool entry yet: start and length of its name in the descriptor.
    Parameter(u16, u16),
}

/// The properties of a method on which its frames depend.
pub(crate) struct FrameContext<'c, 'a> {
    pub(crate) class: &'c ClassFile<'a>,
    pub(crate) method: Method<'c, 'a>,
    /// `max_locals` and `max_stack`.
    pub(crate) limits: (u16, u16),
}

/// Returns the name in a [`FollowedType::Parameter`].
pub(crate) fn parameter_name(descriptor: &[u8], (start, length): (u16, u16)) -> Option<&[u8]> {
    descriptor
        .get(usize::from(start)..)?
        .get(..usize::from(length))
}

/// Creates the error for a frame at `bci` that does not fit its method.
pub(crate) fn bad_frame(bci: u32, offset: u32) -> ReadError {
    ReadError::BadInstruction { bci, offset }
}

/// The current frame, expanded; a `long` or `double` is one type.
#[derive(Debug)]
pub(crate) struct Frame<T> {
    pub(crate) locals: Vec<T>,
    pub(crate) stack: Vec<T>,
}

impl<T> Default for Frame<T> {
    fn default() -> Self {
        let (locals, stack) = (Vec::new(), Vec::new());
        Frame { locals, stack }
    }
}

impl<T> Frame<T> {
    /// Applies a frame of this form at `bci`; `read` reads one type.
    pub(crate) fn apply<'r>(
        &mut self,
        (kind, bci): (FrameKind, u32),
        reader: &mut StackMapReader<'r>,
        limits: (u16, u16),
        mut read: impl FnMut(&mut StackMapReader<'r>) -> Result<T, ReadError>,
    ) -> Result<(), ReadError> {
        let mut push = |types: &mut Vec<T>, count: u16, reader: &mut StackMapReader<'r>| {
            (0..count).try_for_each(|_| {
                types.push(read(reader)?);
                Ok(())
            })
        };
        self.stack.clear();
        match kind {
            FrameKind::Same => {}
            FrameKind::SameLocals1StackItem => push(&mut self.stack, 1, reader)?,
            FrameKind::Chop(count) => {
                let left = self.locals.len().checked_sub(usize::from(count));
                let left = left.ok_or_else(|| bad_frame(bci, reader.offset()))?;
                self.locals.truncate(left);
            }
            FrameKind::Append(count) => push(&mut self.locals, u16::from(count), reader)?,
            FrameKind::Full => {
                self.locals.clear();
                let parts = [(&mut self.locals, limits.0), (&mut self.stack, limits.1)];
                for (types, limit) in parts {
                    let count = reader.count()?;
                    if count > limit {
                        return Err(bad_frame(bci, reader.offset()));
                    }
                    push(types, count, reader)?;
                }
            }
        }
        if self.locals.len() > usize::from(limits.0) {
            return Err(bad_frame(bci, reader.offset()));
        }
        Ok(())
    }
}

/// The current frame with the types of the table.
pub(crate) type FrameState = Frame<FollowedType>;

impl FrameState {
    /// Computes the frame at bci 0 from the method's descriptor.
    pub(crate) fn initial(&mut self, context: &FrameContext<'_, '_>) -> Result<(), ReadError> {
        self.locals.clear();
        self.stack.clear();
        let method = &context.method;
        if !method.is_static() {
            let this = if method.is_constructor() {
                VerificationType::plain(item::UNINITIALIZED_THIS)
            } else {
                VerificationType {
                    tag: item::OBJECT,
                    value: context.class.this_class_index().0,
                }
            };
            self.locals.push(FollowedType::Written(this));
        }
        let descriptor = method.descriptor().as_bytes();
        // An index out of the pool could refer to an entry appended later.
        if descriptor.first() != Some(&b'(') {
            return Err(bad_frame(0, 0));
        }
        let mut parameters = Parameters::of(descriptor);
        loop {
            let start = parameters.offset();
            let Some(found) = parameters.next() else {
                break;
            };
            let local = parameter(found, start).ok_or(bad_frame(0, 0))?;
            self.locals.push(local);
        }
        if self.locals.len() > usize::from(context.limits.0) {
            return Err(bad_frame(0, 0));
        }
        Ok(())
    }

    /// Reads and applies the next frame; returns its bci, or `None` after the last one.
    pub(crate) fn step(
        &mut self,
        reader: &mut StackMapReader<'_>,
        limits: (u16, u16),
    ) -> Result<Option<u32>, ReadError> {
        let Some((kind, bci)) = reader.frame()? else {
            return Ok(None);
        };
        let read = |reader: &mut StackMapReader<'_>| {
            Ok(FollowedType::Written(reader.verification_type()?))
        };
        self.apply((kind, bci), reader, limits, read)?;
        Ok(Some(bci))
    }
}

/// Returns the type of the parameter at `start` of the descriptor.
fn parameter(found: FieldType<'_>, start: usize) -> Option<FollowedType> {
    let (start, length) = match found {
        FieldType::Base(base) => {
            let tag = match base {
                BaseType::Float => item::FLOAT,
                BaseType::Long => item::LONG,
                BaseType::Double => item::DOUBLE,
                _ => item::INTEGER,
            };
            return Some(FollowedType::Written(VerificationType::plain(tag)));
        }
        FieldType::Class(name) => (start.checked_add(1)?, name.len()),
        FieldType::Array(name) => (start, name.len()),
    };
    let (start, length) = (u16::try_from(start).ok()?, u16::try_from(length).ok()?);
    Some(FollowedType::Parameter(start, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_every_kind() {
        let descriptor = b"(IJLa/B;[[Lc/D;[I)V";
        let mut parameters = Parameters::of(descriptor);
        let mut found = Vec::new();
        loop {
            let start = parameters.offset();
            let Some(next) = parameters.next() else {
                break;
            };
            found.push(match parameter(next, start).unwrap() {
                FollowedType::Written(written) => (written.tag, &b""[..]),
                FollowedType::Parameter(start, length) => (
                    item::OBJECT,
                    parameter_name(descriptor, (start, length)).unwrap(),
                ),
            });
        }
        let expected: Vec<(u8, &[u8])> = vec![
            (item::INTEGER, b""),
            (item::LONG, b""),
            (item::OBJECT, b"a/B"),
            (item::OBJECT, b"[[Lc/D;"),
            (item::OBJECT, b"[I"),
        ];
        assert_eq!(found, expected);
    }
}
