//! Checks the types of local variables and operand stack along all paths of a method, by its own stack map frames (JVMS
//! 4.10.1), or by inferred ones (JVMS 4.10.2). Subclass relations between other classes are trusted.

use crate::class::{Attribute, ClassFile, Code, Instruction, Method};
use crate::class_verifier::error::{CODE, CodeFault, FITS};
use crate::class_verifier::inference::{Frames, caught, infer};
use crate::class_verifier::operands::Operands;
use crate::index::PoolIndex;
use crate::limits::{FRAMES_REQUIRED_SINCE, FRAMES_SINCE};
use crate::self_check::{Machine, Source};
use crate::typing::{Class, FrameReader, Origin, Type};
use jvms::opcode::*;

/// Maximum number of types in the frames of one method. The same limit holds for the handlers of all its instructions.
const MOST_TYPES: usize = 1 << 22;
const MOST_COVERED: usize = 1 << 22;

const FRAMES: &str = "stack map frames that can be read";

/// Checks the types of code; `starts` marks instruction starts.
pub(super) fn check_types(
    class: &ClassFile<'_>,
    method: &Method<'_, '_>,
    code: &Code<'_, '_>,
    starts: &[bool],
) -> Result<(), CodeFault> {
    let table = code.attributes().named("StackMapTable");
    let version = class.major_version();
    let framed = version >= FRAMES_REQUIRED_SINCE || version >= FRAMES_SINCE && table.is_some();
    let checked = check_paths(
        class,
        method,
        code,
        table.filter(|_| framed),
        framed,
        starts,
    );
    // For this version, the JVM infers types if those of the frames do not fit.
    match checked {
        Err(_) if framed && version < FRAMES_REQUIRED_SINCE => {
            check_paths(class, method, code, None, false, starts)
        }
        checked => checked,
    }
}

/// Checks the types along all paths, by frames or inferred.
fn check_paths(
    class: &ClassFile<'_>,
    method: &Method<'_, '_>,
    code: &Code<'_, '_>,
    table: Option<Attribute<'_>>,
    framed: bool,
    starts: &[bool],
) -> Result<(), CodeFault> {
    let limits = (code.max_locals(), code.max_stack());
    let followed = FrameReader::new(method, table.as_ref(), limits, Origin::Method);
    let mut followed = followed.map_err(|_| (0, FRAMES))?;
    let mut entry = Machine::default();
    followed.write(&mut entry.locals, &mut entry.stack);
    let source = Source {
        pool: class.pool(),
        code: code.bytes(),
        this: Class::named(class.this_class().as_bytes()),
        origin: Origin::Method,
    };
    let frames = match framed {
        true => Some(read_frames(&mut followed, starts)?),
        false => infer(&source, code, entry.clone())?,
    };
    let Some(frames) = frames else {
        return Ok(());
    };
    let ways = Ways {
        source,
        code,
        frames: &frames,
        framed,
        operands: Operands::of(class, method),
    };
    ways.follow(entry)
}

/// Reads the frames of a method; `starts` marks instruction starts.
fn read_frames<'t>(
    followed: &mut FrameReader<'_, 't>,
    starts: &[bool],
) -> Result<Frames<'t>, CodeFault> {
    let (mut frames, mut size, mut last) = (Frames::new(), 0_usize, 0);
    while let Some(at) = followed.peek() {
        let begins = starts.get(at as usize).copied().unwrap_or(false);
        let mut types = Machine::default();
        let read = types.follow(followed).ok().filter(|_| begins);
        read.ok_or((at, FRAMES))?;
        size += types.locals.len() + types.stack.len();
        if size > MOST_TYPES {
            return Err((at, "fewer stack map frames"));
        }
        frames.insert(at, types);
        last = at;
    }
    followed.next().map_err(|_| (last, FRAMES))?;
    Ok(frames)
}

struct Ways<'w, 'c, 't> {
    source: Source<'w, 't>,
    code: &'w Code<'c, 't>,
    frames: &'w Frames<'t>,
    /// True if the frames are those of the class file. Then they are required after a jump; inferred types have none
    /// where no path leads.
    framed: bool,
    operands: Operands<'w, 't>,
}

/// The types on a path.
struct Path<'t> {
    machine: Machine<'t>,
    /// False in a constructor before it calls another one, also if no variable holds `this` any more.
    is_constructed: bool,
}

impl<'t> Path<'t> {
    fn starting_with(machine: Machine<'t>) -> Self {
        Path {
            is_constructed: !holds_uninitialized_this(&machine),
            machine,
        }
    }

    /// Takes the types of a frame.
    fn meet(&mut self, frame: &Machine<'t>) {
        self.machine.clone_from(frame);
        self.is_constructed = !holds_uninitialized_this(frame);
    }

    /// Applies an instruction; `None` if its types do not fit.
    fn step(&mut self, source: &Source<'_, 't>, found: &Instruction<'t>) -> Option<()> {
        let this = |machine: &Machine<'t>| machine.stack.contains(&Type::UninitializedThis);
        let before = found.opcode == INVOKESPECIAL && this(&self.machine);
        self.machine.step(source, found)?;
        if before && !this(&self.machine) {
            self.is_constructed = true;
            let called = source.pool.member_ref(found.pool_index()?)?.owner;
            let calls_this = source.this == Class::named(called.as_bytes());
            return (calls_this || self.machine.unset_fields.is_empty()).then_some(());
        }
        Some(())
    }
}

fn holds_uninitialized_this(machine: &Machine<'_>) -> bool {
    machine.locals.contains(&Type::UninitializedThis)
}

impl<'t> Ways<'_, '_, 't> {
    /// Follows the code once.
    fn follow(&self, entry: Machine<'t>) -> Result<(), CodeFault> {
        let mut path = Path::starting_with(entry);
        let (mut live, mut end, mut covered) = (true, 0, 0_usize);
        for found in self.code.instructions().map_while(Result::ok) {
            let at = u32::from(found.bci.0);
            if let Some(frame) = self.frames.get(&at) {
                if live && !self.fits(&path, frame) {
                    return Err((at, FITS));
                }
                path.meet(frame);
                live = true;
            }
            if !live && !self.framed {
                continue;
            }
            if !live {
                return Err((
                    at,
                    "a stack map frame after an instruction that does not fall through",
                ));
            }
            self.handlers(at, &path, &mut covered)?;
            self.operands
                .check(&self.source, &found, &path.machine)
                .ok_or((at, CODE))?;
            path.step(&self.source, &found).ok_or((at, CODE))?;
            if found.opcode == RETURN && !path.is_constructed {
                return Err((at, "a call of another constructor before the return"));
            }
            if path.machine.stack.len() > usize::from(self.code.max_stack()) {
                return Err((at, "an operand stack within max_stack"));
            }
            if matches!(found.opcode, ISTORE..=ASTORE_3) {
                self.handlers(at, &path, &mut covered)?;
            }
            for target in found.targets() {
                let frame = self.frames.get(&u32::from(target.0));
                let met = frame.is_some_and(|frame| self.fits(&path, frame));
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

    /// Checks that the frames of the covering handlers hold at an instruction.
    fn handlers(&self, at: u32, path: &Path<'t>, covered: &mut usize) -> Result<(), CodeFault> {
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
                self.catches(row.catch_type, frame) && self.same_locals(path, frame)
            });
            met.then_some(())
                .ok_or((at, "types that fit the frame of the exception handler"))?;
        }
        Ok(())
    }

    /// Checks the operand stack of a handler's frame: the exceptions that it catches.
    fn catches(&self, catch_type: PoolIndex, frame: &Machine<'t>) -> bool {
        let caught = caught(&self.source, catch_type);
        matches!(frame.stack.as_slice(), [wanted] if self.suits(Type::Object(caught), *wanted))
    }

    /// Checks whether the current types are assignable to those of a frame.
    fn fits(&self, path: &Path<'t>, frame: &Machine<'t>) -> bool {
        let found = &path.machine;
        let mut stack = found.stack.iter().zip(&frame.stack);
        found.stack.len() == frame.stack.len()
            && stack.all(|(found, wanted)| self.suits(*found, *wanted))
            && self.same_locals(path, frame)
    }

    fn same_locals(&self, path: &Path<'t>, frame: &Machine<'t>) -> bool {
        let mut wanted = frame.locals.iter().enumerate();
        let early = || {
            let unset = &path.machine.unset_fields;
            holds_uninitialized_this(frame) && unset.is_within(&frame.unset_fields)
        };
        (path.is_constructed || early())
            && wanted.all(|(slot, wanted)| {
                *wanted == Type::Top || self.suits(path.machine.local(slot), *wanted)
            })
    }

    /// Checks whether a value is assignable to a type of a frame. An inferred null stands for the classes of several paths.
    fn suits(&self, found: Type<'t>, wanted: Type<'t>) -> bool {
        let several = !self.framed && wanted == Type::Null && matches!(found, Type::Object(_));
        several || self.operands.is_a(found, wanted)
    }
}
