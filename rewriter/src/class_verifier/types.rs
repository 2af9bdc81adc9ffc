//! Checks the types of local variables and operand stack along all paths of a method, by its own stack map frames (JVMS
//! 4.10.1). Subclass relations between other classes are trusted.

use std::collections::BTreeMap;

use crate::class::{ClassFile, Code, Instruction, Method};
use crate::class_verifier::error::CodeFault;
use crate::limits::{FRAMES_REQUIRED_SINCE, FRAMES_SINCE};
use crate::self_check::{Machine, Source};
use crate::typing::{Class, FrameReader, Origin, Type};
use jvms::descriptor::return_type;
use jvms::opcode::*;

/// Maximum number of types in the frames of one method. The same limit holds for the handlers of all its instructions.
const MOST_TYPES: usize = 1 << 22;
const MOST_COVERED: usize = 1 << 22;

const FRAMES: &str = "stack map frames that can be read";
const FITS: &str = "types that fit the stack map frame";
const CODE: &str = "code whose types fit";

/// The frames of one method, by bci.
type Frames<'t> = BTreeMap<u32, Machine<'t>>;

/// Checks the types of code with stack map frames; `starts` marks instruction starts.
pub(super) fn check_types(
    class: &ClassFile<'_>,
    method: &Method<'_, '_>,
    code: &Code<'_, '_>,
    starts: &[bool],
) -> Result<(), CodeFault> {
    let table = code.attributes().named("StackMapTable");
    let version = class.major_version();
    let framed = version >= FRAMES_REQUIRED_SINCE || version >= FRAMES_SINCE && table.is_some();
    if !framed {
        return Ok(());
    }
    let limits = (code.max_locals(), code.max_stack());
    let followed = FrameReader::new(method, table.as_ref(), limits, Origin::Method);
    let mut followed = followed.map_err(|_| (0, FRAMES))?;
    let mut entry = Machine::default();
    followed.write(&mut entry.locals, &mut entry.stack);
    let (mut frames, mut size, mut last) = (Frames::new(), 0_usize, 0);
    while let Some(at) = followed.peek() {
        let begins = starts.get(at as usize).copied().unwrap_or(false);
        let mut types = Machine::default();
        let read = types.follow(&mut followed).ok().filter(|_| begins);
        read.ok_or((at, FRAMES))?;
        size += types.locals.len() + types.stack.len();
        if size > MOST_TYPES {
            return Err((at, "fewer stack map frames"));
        }
        frames.insert(at, types);
        last = at;
    }
    followed.next().map_err(|_| (last, FRAMES))?;
    let result = return_type(method.descriptor().as_bytes()).map(Type::of);
    let source = Source {
        pool: class.pool(),
        code: code.bytes(),
        this: Class::named(class.this_class().as_bytes()),
        origin: Origin::Method,
    };
    let ways = Ways {
        source,
        code,
        frames: &frames,
        result,
        constructor: method.is_constructor(),
    };
    ways.follow(entry)
}

struct Ways<'w, 'c, 't> {
    source: Source<'w, 't>,
    code: &'w Code<'c, 't>,
    frames: &'w Frames<'t>,
    /// The return type.
    result: Option<Type<'t>>,
    constructor: bool,
}

impl<'t> Ways<'_, '_, 't> {
    /// Follows the code once.
    fn follow(&self, mut machine: Machine<'t>) -> Result<(), CodeFault> {
        let (mut live, mut end, mut covered) = (true, 0, 0_usize);
        for found in self.code.instructions().map_while(Result::ok) {
            let at = u32::from(found.bci.0);
            if let Some(frame) = self.frames.get(&at) {
                if live && !fits(&machine, frame) {
                    return Err((at, FITS));
                }
                machine.clone_from(frame);
                live = true;
            }
            // No path leads there, so the verifier requires a frame.
            if !live {
                return Err((
                    at,
                    "a stack map frame after an instruction that does not fall through",
                ));
            }
            self.handlers(at, &machine, &mut covered)?;
            self.returned(&found, &machine).ok_or((at, CODE))?;
            machine.step(&self.source, &found).ok_or((at, CODE))?;
            if machine.stack.len() > usize::from(self.code.max_stack()) {
                return Err((at, "an operand stack within max_stack"));
            }
            if matches!(found.opcode, ISTORE..=ASTORE_3) {
                self.handlers(at, &machine, &mut covered)?;
            }
            for target in found.targets() {
                let frame = self.frames.get(&u32::from(target.0));
                let met = frame.is_some_and(|frame| fits(&machine, frame));
                met.then_some(()).ok_or((at, FITS))?;
            }
            live = falls_through(found.opcode);
            end = found.next();
        }
        if live {
            return Err((end, "code that ends with a return, throw or jump"));
        }
        Ok(())
    }

    /// Checks operands that the opcode does not determine: the return value, and the variable of `iinc`.
    fn returned(&self, found: &Instruction<'_>, machine: &Machine<'t>) -> Option<()> {
        let suits = match found.opcode {
            IINC => machine.local(usize::from(found.local()?)) == Type::Int,
            RETURN => {
                let made = !machine.locals.contains(&Type::UninitializedThis);
                self.result.is_none() && (!self.constructor || made)
            }
            IRETURN..=ARETURN => match (self.result?, machine.clone().pop()?) {
                (Type::Object(_), given) => given.is_reference() && !given.is_uninitialized(),
                (wanted, given) => wanted == given,
            },
            _ => true,
        };
        suits.then_some(())
    }

    /// Checks that the frames of the covering handlers hold at an instruction.
    fn handlers(
        &self,
        at: u32,
        machine: &Machine<'t>,
        covered: &mut usize,
    ) -> Result<(), CodeFault> {
        for row in self.code.exception_table() {
            *covered += 1;
            if *covered > MOST_COVERED {
                return Err((at, "fewer exception handlers"));
            }
            if !(u32::from(row.start.0)..u32::from(row.end)).contains(&at) {
                continue;
            }
            let frame = self.frames.get(&u32::from(row.handler.0));
            let met = frame.is_some_and(|frame| {
                matches!(frame.stack.as_slice(), [Type::Object(_)]) && same_locals(machine, frame)
            });
            met.then_some(())
                .ok_or((at, "types that fit the frame of the exception handler"))?;
        }
        Ok(())
    }
}

/// Checks whether the current types are assignable to those of a frame.
fn fits<'t>(found: &Machine<'t>, frame: &Machine<'t>) -> bool {
    let mut stack = found.stack.iter().zip(&frame.stack);
    found.stack.len() == frame.stack.len()
        && stack.all(|(found, wanted)| is_a(*found, *wanted))
        && same_locals(found, frame)
}

fn same_locals<'t>(found: &Machine<'t>, frame: &Machine<'t>) -> bool {
    let mut wanted = frame.locals.iter().enumerate();
    wanted.all(|(slot, wanted)| *wanted == Type::Top || is_a(found.local(slot), *wanted))
}

fn is_a(found: Type<'_>, wanted: Type<'_>) -> bool {
    match (found, wanted) {
        (Type::Null | Type::Object(_), Type::Object(_)) => true,
        (found, wanted) => found == wanted,
    }
}
