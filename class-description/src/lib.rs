//! Converts class files to the descriptions that `coverage` analyses.
//!
//! `rewriter` reads class files as views, and `coverage` works on plain descriptions. Only this crate depends on
//! both.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::cell::Cell;

pub use bumpalo::Bump as Arena;
use bumpalo::collections::Vec as ArenaVec;
use coverage::class::{
    ClassDescription, CodeDescription, Constant, Dynamic, Handler, Instruction, Line, MemberRef,
    MethodDescription, Operand, VariableRange,
};
use jvms::access_flags::ACC_SYNTHETIC;
use jvms::modified_utf8::Utf8;
use jvms::opcode::{self, Form};
use rewriter::{Bci, ClassFile, Code, ConstantPool, Method, PoolIndex, ReadError};

/// Maximum length of text and constants that one class may unfold to, in bytes. A class file of a few kilobytes may
/// refer to one long constant many times, and must not exhaust the memory.
const BUDGET: usize = 256 << 20;
/// Size of a constant besides its text, in bytes.
const CONSTANT_COST: usize = 64;
/// Maximum depth of dynamic constants among the arguments of dynamic constants.
const MAX_DEPTH: usize = 2;

/// The reason why a class cannot be described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DescribeError {
    /// The bytes are no readable class file.
    Read(ReadError),
    /// An instruction refers to a target or a constant that does not exist.
    Instruction {
        /// Name and descriptor of the method.
        method: String,
        /// The bci of the instruction.
        bci: u16,
        /// The expected kind of operand.
        expected: &'static str,
    },
    /// Its constants unfold to more text than a report can need.
    TooLarge,
}

impl std::fmt::Display for DescribeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Instruction {
                method,
                bci,
                expected,
            } => {
                write!(
                    f,
                    "the instruction at bci {bci} of {method} has no {expected} as its operand"
                )
            }
            Self::TooLarge => write!(f, "its constants expand to more than {} MiB", BUDGET >> 20),
        }
    }
}

impl std::error::Error for DescribeError {}

impl From<ReadError> for DescribeError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

/// Describes a class file; its id is the fingerprint of `bytes`. Data in a form that the class file lacks is
/// allocated in `arena`, which can be reset and reused for the next class.
///
/// # Errors
/// If the bytes are no class file, or the code is invalid.
pub fn describe<'a>(
    bytes: &'a [u8],
    arena: &'a Arena,
) -> Result<ClassDescription<'a>, DescribeError> {
    describe_as(fingerprint::of(bytes), bytes, arena)
}

/// Describes a class file with a known id. Subroutines are inlined, so each of their calls counts, as in JaCoCo.
///
/// # Errors
/// As [`describe`].
pub fn describe_as<'a>(
    id: u64,
    bytes: &'a [u8],
    arena: &'a Arena,
) -> Result<ClassDescription<'a>, DescribeError> {
    let mut class = ClassFile::read(bytes)?;
    if let Some(inlined) = subroutines::inline(&class) {
        class = ClassFile::read(arena.alloc_slice_copy(&inlined))?;
    }
    let describer = Describer::new(&class, arena);
    let text = |text: Utf8<'a>| kept(text.to_str_lossless(), arena);
    let methods = class.methods().map(|method| describer.method(&method));
    let methods: Vec<_> = methods.collect::<Result<_, _>>()?;
    Ok(ClassDescription {
        id,
        name: text(class.this_class()),
        super_name: class.super_class().map(text),
        interfaces: list(class.interfaces().map(text), arena),
        access_flags: class.access_flags() | synthetic(class.attributes()),
        major_version: class.major_version(),
        signature: class.signature().map(text),
        source_file: class.source_file().map(text),
        source_debug_extension: class.source_debug_extension().map(text),
        annotations: list(class.annotations().map(text), arena),
        attributes: list(
            class.attributes().map(|attribute| text(attribute.name)),
            arena,
        ),
        methods: arena.alloc_slice_copy(&methods),
    })
}

/// Returns the text of the class file, or a copy in the arena if the text is not UTF-8.
fn kept<'a>(text: Cow<'a, str>, arena: &'a Arena) -> &'a str {
    match text {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => arena.alloc_str(&text),
    }
}

fn list<T: Copy>(items: impl Iterator<Item = T>, arena: &Arena) -> &[T] {
    ArenaVec::from_iter_in(items, arena).into_bump_slice()
}

struct Describer<'c, 'a> {
    pool: &'c ConstantPool<'a>,
    arena: &'a Arena,
    /// The handles of the bootstrap methods, with their arguments (JVMS 4.7.23).
    bootstrap: Vec<(PoolIndex, Vec<PoolIndex>)>,
    /// Fields and methods that instructions referred to, by constant pool index.
    members: Vec<Cell<Option<&'a MemberRef<'a>>>>,
    budget: Cell<usize>,
}

/// A missing part of an instruction; the method adds the bci.
enum Missing {
    Target,
    Constant,
    Budget,
}

impl<'c, 'a> Describer<'c, 'a> {
    fn new(class: &'c ClassFile<'a>, arena: &'a Arena) -> Self {
        let pool = class.pool();
        let bootstrap = class
            .bootstrap_methods()
            .map(|bootstrap| (bootstrap.method_handle, bootstrap.arguments().collect()));
        Self {
            pool,
            arena,
            bootstrap: bootstrap.collect(),
            members: vec![Cell::new(None); pool.count().into()],
            budget: Cell::new(BUDGET),
        }
    }

    fn method(&self, method: &Method<'_, 'a>) -> Result<MethodDescription<'a>, DescribeError> {
        let text = |text: Utf8<'a>| kept(text.to_str_lossless(), self.arena);
        let (name, descriptor) = (text(method.name()), text(method.descriptor()));
        let code = match method.code()? {
            Some(code) => Some(self.code(&code, || format!("{name}{descriptor}"))?),
            None => None,
        };
        Ok(MethodDescription {
            signature: method.signature().map(text),
            access_flags: method.access_flags() | synthetic(method.attributes()),
            annotations: list(method.annotations().map(text), self.arena),
            invisible_annotations: list(method.invisible_annotations().map(text), self.arena),
            code,
            name,
            descriptor,
        })
    }

    fn code(
        &self,
        code: &Code<'_, 'a>,
        method: impl Fn() -> String,
    ) -> Result<CodeDescription<'a>, DescribeError> {
        // An instruction has two bytes on average.
        let mut instructions = ArenaVec::with_capacity_in(code.bytes().len() / 2 + 1, self.arena);
        for instruction in code.instructions() {
            let instruction = instruction?;
            let bci = instruction.bci.0;
            let failed = |expected| DescribeError::Instruction {
                method: method(),
                bci,
                expected,
            };
            let operand = self
                .operand(&instruction)
                .map_err(|missing| match missing {
                    Missing::Target => failed("bci within the code"),
                    Missing::Constant => failed("constant of the right kind"),
                    Missing::Budget => DescribeError::TooLarge,
                })?;
            instructions.push(Instruction {
                bci,
                opcode: instruction.opcode,
                operand,
            });
        }
        let lines = code.lines().map(|line| Line {
            bci: line.bci.0,
            number: line.number,
        });
        let variables = code.local_variables().map(|variable| VariableRange {
            start: variable.start.0,
            length: variable.length,
        });
        Ok(CodeDescription {
            instructions: instructions.into_bump_slice(),
            handlers: self.handlers(code),
            lines: list(lines, self.arena),
            local_variables: list(variables, self.arena),
            frames: frames(code, self.arena),
        })
    }

    fn handlers(&self, code: &Code<'_, 'a>) -> &'a [Handler<'a>] {
        let handlers = code.exception_table().map(|entry| Handler {
            start: entry.start.0,
            end: entry.end,
            target: entry.handler.0,
            catch_type: self
                .pool
                .class_name(entry.catch_type)
                .map(|name| kept(name.to_str_lossless(), self.arena)),
        });
        list(handlers, self.arena)
    }

    fn operand(&self, instruction: &rewriter::Instruction<'_>) -> Result<Operand<'a>, Missing> {
        let immediate = || instruction.immediate().ok_or(Missing::Constant);
        Ok(match opcode::form(instruction.opcode) {
            Form::Slot(_) | Form::Local => {
                Operand::Local(instruction.local().ok_or(Missing::Constant)?)
            }
            Form::Byte | Form::Short | Form::NewArray => Operand::Int(immediate()?),
            Form::Iinc => Operand::Iinc {
                local: instruction.local().ok_or(Missing::Constant)?,
                delta: i16::try_from(immediate()?).map_err(|_| Missing::Constant)?,
            },
            Form::Branch | Form::BranchWide => {
                Operand::Target(target(instruction.branch_target())?)
            }
            Form::TableSwitch | Form::LookupSwitch => self.switch(instruction)?,
            Form::Field | Form::Method | Form::Interface => self.member_operand(instruction)?,
            Form::Dynamic => {
                let dynamic = instruction
                    .pool_index()
                    .and_then(|index| self.pool.dynamic(index));
                let dynamic = self.dynamic(dynamic.ok_or(Missing::Constant)?, 0)?;
                Operand::Dynamic(self.arena.alloc(dynamic))
            }
            Form::Pool1 | Form::Pool2 | Form::MultiNewArray => self.pool_operand(instruction)?,
            _ => Operand::None,
        })
    }

    fn member_operand(
        &self,
        instruction: &rewriter::Instruction<'_>,
    ) -> Result<Operand<'a>, Missing> {
        let index = instruction.pool_index().ok_or(Missing::Constant)?;
        let known = self.members.get(usize::from(index.0));
        if let Some(member) = known.and_then(Cell::get) {
            return Ok(Operand::Member(member));
        }
        let found = self.pool.member_ref(index).ok_or(Missing::Constant)?;
        let member = &*self.arena.alloc(self.member(found)?);
        if let Some(known) = known {
            known.set(Some(member));
        }
        Ok(Operand::Member(member))
    }

    /// Returns the type (of `new` and similar) or the constant (of `ldc` and similar).
    fn pool_operand(
        &self,
        instruction: &rewriter::Instruction<'_>,
    ) -> Result<Operand<'a>, Missing> {
        let index = instruction.pool_index().ok_or(Missing::Constant)?;
        if matches!(
            instruction.opcode,
            opcode::LDC | opcode::LDC_W | opcode::LDC2_W
        ) {
            return Ok(Operand::Constant(self.constant(index, 0)?));
        }
        let name = self.pool.class_name(index).ok_or(Missing::Constant)?;
        self.text(name).map(Operand::Type)
    }

    fn dynamic(
        &self,
        dynamic: rewriter::Dynamic<'a>,
        depth: usize,
    ) -> Result<Dynamic<'a>, Missing> {
        let (handle, indices) = self
            .bootstrap
            .get(usize::from(dynamic.bootstrap))
            .ok_or(Missing::Constant)?;
        let indices = if depth < MAX_DEPTH {
            indices.as_slice()
        } else {
            &[]
        };
        let arguments = indices.iter();
        let arguments = arguments.map(|index| self.constant(*index, depth + 1));
        let arguments: Vec<_> = arguments.collect::<Result<_, _>>()?;
        Ok(Dynamic {
            name: self.text(dynamic.name)?,
            descriptor: self.text(dynamic.descriptor)?,
            bootstrap: match self.pool.method_handle(*handle) {
                Some(handle) => self.member(handle.member)?,
                None => MemberRef::default(),
            },
            arguments: self.arena.alloc_slice_copy(&arguments),
        })
    }

    fn constant(&self, index: PoolIndex, depth: usize) -> Result<Constant<'a>, Missing> {
        self.spend(CONSTANT_COST)?;
        Ok(match self.pool.constant(index).ok_or(Missing::Constant)? {
            rewriter::LoadableConstant::Integer(value) => Constant::Int(value),
            rewriter::LoadableConstant::Float(value) => Constant::Float(value),
            rewriter::LoadableConstant::Long(value) => Constant::Long(value),
            rewriter::LoadableConstant::Double(value) => Constant::Double(value),
            rewriter::LoadableConstant::String(value) => Constant::String(self.text(value)?),
            rewriter::LoadableConstant::Class(value) => Constant::Class(self.text(value)?),
            rewriter::LoadableConstant::MethodType(value) => {
                Constant::MethodType(self.text(value)?)
            }
            rewriter::LoadableConstant::MethodHandle(handle) => Constant::MethodHandle {
                kind: handle.kind,
                member: self.arena.alloc(self.member(handle.member)?),
            },
            rewriter::LoadableConstant::Dynamic(dynamic) => {
                Constant::Dynamic(self.arena.alloc(self.dynamic(dynamic, depth)?))
            }
            _ => return Err(Missing::Constant),
        })
    }

    fn member(&self, member: rewriter::MemberRef<'a>) -> Result<MemberRef<'a>, Missing> {
        Ok(MemberRef {
            owner: self.text(member.owner)?,
            name: self.text(member.name)?,
            descriptor: self.text(member.descriptor)?,
            interface: member.interface,
        })
    }

    /// Returns the text of the class file, or a copy in the arena, which counts against the budget.
    fn text(&self, value: Utf8<'a>) -> Result<&'a str, Missing> {
        let text = value.to_str_lossless();
        if let Cow::Owned(made) = &text {
            self.spend(made.len())?;
        }
        Ok(kept(text, self.arena))
    }

    fn switch(&self, instruction: &rewriter::Instruction<'_>) -> Result<Operand<'a>, Missing> {
        let switch = instruction.switch().ok_or(Missing::Target)?;
        let mut cases = ArenaVec::new_in(self.arena);
        for (key, to) in switch.cases() {
            cases.push((key, target(to)?));
        }
        Ok(Operand::Switch {
            default: target(switch.default_target())?,
            cases: cases.into_bump_slice(),
        })
    }

    fn spend(&self, cost: usize) -> Result<(), Missing> {
        let left = self.budget.get().checked_sub(cost).ok_or(Missing::Budget)?;
        self.budget.set(left);
        Ok(())
    }
}

/// Returns the flag `ACC_SYNTHETIC` for the attribute that compilers before version 49 wrote (JVMS 4.7.8).
fn synthetic<'c, 'a: 'c>(
    mut attributes: impl Iterator<Item = rewriter::Attribute<'a>> + 'c,
) -> u16 {
    if attributes.any(|attribute| attribute.name == "Synthetic") {
        ACC_SYNTHETIC
    } else {
        0
    }
}

/// Returns the bcis of the `StackMapTable`'s frames (JVMS 4.7.4), up to the first unreadable one.
fn frames<'a>(code: &Code<'_, '_>, arena: &'a Arena) -> &'a [u16] {
    let table = code
        .attributes()
        .find(|attribute| attribute.name == "StackMapTable");
    let mut frames = ArenaVec::new_in(arena);
    if let Some(table) = table {
        read_frames(table.bytes, &mut frames);
    }
    frames.into_bump_slice()
}

fn read_frames(mut table: &[u8], frames: &mut ArenaVec<'_, u16>) -> Option<()> {
    let mut next = 0u16;
    for _ in 0..u2(&mut table)? {
        let (delta, types) = frame_header(&mut table)?;
        let bci = next.checked_add(delta)?;
        for _ in 0..types {
            skip_type(&mut table)?;
        }
        frames.push(bci);
        next = bci.checked_add(1)?;
    }
    Some(())
}

/// Returns `offset_delta` and the number of following types; the types of a full frame are skipped here.
fn frame_header(table: &mut &[u8]) -> Option<(u16, u8)> {
    Some(match u1(table)? {
        kind @ 0..=63 => (kind.into(), 0),
        kind @ 64..=127 => ((kind - 64).into(), 1),
        128..=246 => return None,
        247 => (u2(table)?, 1),
        248..=251 => (u2(table)?, 0),
        kind @ 252..=254 => (u2(table)?, kind - 251),
        255 => {
            let delta = u2(table)?;
            for _locals_then_stack in 0..2 {
                for _ in 0..u2(table)? {
                    skip_type(table)?;
                }
            }
            (delta, 0)
        }
    })
}

/// Skips a `verification_type_info`; those of objects and of `new` have two more bytes.
fn skip_type(table: &mut &[u8]) -> Option<()> {
    if matches!(u1(table)?, 7 | 8) {
        u2(table)?;
    }
    Some(())
}

fn u1(bytes: &mut &[u8]) -> Option<u8> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(first)
}

fn u2(bytes: &mut &[u8]) -> Option<u16> {
    Some(u16::from_be_bytes([u1(bytes)?, u1(bytes)?]))
}

fn target(bci: Option<Bci>) -> Result<u16, Missing> {
    bci.map(|bci| bci.0).ok_or(Missing::Target)
}
