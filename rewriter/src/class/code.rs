//! The `Code` attribute (JVMS 4.7.3).

use crate::class::attribute::{Attribute, Attributes, skip_attributes};
use crate::class::instruction::{Instruction, Instructions, decode, undecodable};
use crate::class::record::MethodRecord;
use crate::cursor::{Cursor, u16_at};
use crate::error::ReadError;
use crate::index::{Bci, LocalIndex, PoolIndex};
use crate::limits::MAX_CODE_LENGTH;
use crate::pool::ConstantPool;
use jvms::modified_utf8::Utf8;
use jvms::opcode;
use jvms::opcode::SPECIAL;

/// Offsets of the parts of a `Code` attribute in the class file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CodeLayout {
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    /// Offset and length of the code array.
    pub(crate) code: (u32, u32),
    /// Offset and byte length of the exception table's entries.
    pub(crate) handlers: (u32, u32),
    /// Offset of `attributes_count`.
    pub(crate) attributes: u32,
}

impl CodeLayout {
    pub(crate) fn read(bytes: &[u8], record: &MethodRecord) -> Result<Self, ReadError> {
        let start = record.code as usize;
        let end = start + record.code_length as usize;
        let contents = bytes.get(start..end).unwrap_or_default();
        let mut cursor = Cursor::new(contents, record.code);
        let [s0, s1, l0, l1, c0, c1, c2, c3] = cursor.array("Code.code_length")?;
        let max_stack = u16::from_be_bytes([s0, s1]);
        let max_locals = u16::from_be_bytes([l0, l1]);
        let length = u32::from_be_bytes([c0, c1, c2, c3]);
        if length == 0 || length as usize > MAX_CODE_LENGTH {
            let offset = cursor.offset() - 4;
            return Err(ReadError::BadCodeLength { offset, length });
        }
        let code = (cursor.offset(), length);
        cursor.take(length as usize, "Code.code")?;
        let handlers = u32::from(cursor.u2("Code.exception_table_length")?) * 8;
        let handlers = (cursor.offset(), handlers);
        cursor.take(handlers.1 as usize, "Code.exception_table")?;
        let attributes = cursor.offset();
        skip_attributes(&mut cursor, "Code attributes")?;
        cursor.finish("Code")?;
        Ok(CodeLayout {
            max_stack,
            max_locals,
            code,
            handlers,
            attributes,
        })
    }
}

pub(crate) fn part(bytes: &[u8], (offset, length): (u32, u32)) -> &[u8] {
    let start = offset as usize;
    bytes
        .get(start..start + length as usize)
        .unwrap_or_default()
}

/// The code of one method.
#[derive(Debug, Clone, Copy)]
pub struct Code<'c, 'a> {
    pool: &'c ConstantPool<'a>,
    class_bytes: &'a [u8],
    layout: CodeLayout,
}

impl<'c, 'a> Code<'c, 'a> {
    pub(crate) fn read(
        pool: &'c ConstantPool<'a>,
        class_bytes: &'a [u8],
        record: &MethodRecord,
    ) -> Result<Self, ReadError> {
        let layout = CodeLayout::read(class_bytes, record)?;
        Ok(Self::with(pool, class_bytes, layout))
    }

    /// Creates the code with its parts from `layout`.
    pub(super) fn with(
        pool: &'c ConstantPool<'a>,
        class_bytes: &'a [u8],
        layout: CodeLayout,
    ) -> Self {
        Code {
            pool,
            class_bytes,
            layout,
        }
    }

    /// Returns the depth of the operand stack, in slots.
    #[must_use]
    pub fn max_stack(&self) -> u16 {
        self.layout.max_stack
    }

    /// Returns the number of local variable slots.
    #[must_use]
    pub fn max_locals(&self) -> u16 {
        self.layout.max_locals
    }

    /// Returns the code array, 1 to 65,535 bytes.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        part(self.class_bytes, self.layout.code)
    }

    /// Iterates over the instructions; the first error is the last item.
    #[must_use]
    pub fn instructions(&self) -> Instructions<'a> {
        Instructions::new(self.bytes(), self.layout.code.0)
    }

    /// Passes every instruction to `visit`; faster than [`Code::instructions`].
    ///
    /// # Errors
    /// An instruction cannot be decoded; `visit` has seen those before it.
    #[inline]
    pub fn visit_instructions(&self, visit: impl FnMut(Instruction<'a>)) -> Result<(), ReadError> {
        self.instructions().visit(visit)
    }

    /// Passes bci and opcode of every instruction to `visit`, much faster. For `wide` it passes the opcode of the
    /// widened instruction.
    ///
    /// # Errors
    /// As [`Code::visit_instructions`].
    #[inline]
    pub fn visit_opcodes(&self, mut visit: impl FnMut(Bci, u8)) -> Result<(), ReadError> {
        let code = self.bytes();
        let (mut at, mut last) = (0, 0);
        while let Some(opcode) = code.get(at).copied() {
            last = at;
            let step = opcode::step(opcode);
            if step != SPECIAL {
                visit(Bci(at as u16), opcode);
                at += usize::from(step);
                continue;
            }
            let unreadable = || undecodable(opcode, at, self.layout.code.0);
            let length = decode(code, at).ok_or_else(unreadable)?;
            let shown = match opcode {
                opcode::WIDE => code.get(at + 1).copied().unwrap_or_default(),
                _ => opcode,
            };
            visit(Bci(at as u16), shown);
            at += length;
        }
        if at == code.len() {
            return Ok(());
        }
        let opcode = code.get(last).copied().unwrap_or_default();
        Err(undecodable(opcode, last, self.layout.code.0))
    }

    /// Returns the targets of backward branches, in order, up to the first instruction that cannot be decoded.
    #[must_use]
    pub fn loop_heads(&self) -> Vec<Bci> {
        let mut heads: Vec<Bci> = self.loops().iter().map(|(_, target)| *target).collect();
        heads.sort_unstable();
        heads.dedup();
        heads
    }

    /// Returns the backward branches, in order, each with its target. A `goto`, conditional branch or switch is one if
    /// its target does not follow it. Stops at the first instruction that cannot be decoded.
    #[must_use]
    pub fn loops(&self) -> Vec<(Bci, Bci)> {
        let mut loops = Vec::new();
        for instruction in self.instructions().map_while(Result::ok) {
            if opcode::is_subroutine_call(instruction.opcode) {
                continue;
            }
            let source = instruction.bci;
            let back = instruction.targets().filter(|target| *target <= source);
            loops.extend(back.map(|target| (source, target)));
        }
        loops.dedup();
        loops
    }

    /// Returns the instructions that return to the caller (`ireturn` … `return`), in order.
    pub fn returns(&self) -> impl Iterator<Item = Bci> + 'a {
        let instructions = self.instructions().map_while(Result::ok);
        instructions
            .filter(|instruction| opcode::is_return(instruction.opcode))
            .map(|instruction| instruction.bci)
    }

    /// Returns the exception table in order: earlier entries take precedence.
    pub fn exception_table(&self) -> impl ExactSizeIterator<Item = ExceptionHandler> + 'a {
        self.exception_rows().iter().map(|row| {
            let [s0, s1, e0, e1, h0, h1, c0, c1] = *row;
            ExceptionHandler {
                start: Bci(u16::from_be_bytes([s0, s1])),
                end: u16::from_be_bytes([e0, e1]),
                handler: Bci(u16::from_be_bytes([h0, h1])),
                catch_type: PoolIndex(u16::from_be_bytes([c0, c1])),
            }
        })
    }

    /// Returns the entries of the exception table as bytes of the class file.
    #[must_use]
    pub fn exception_rows(&self) -> &'a [[u8; 8]] {
        self.handler_bytes().as_chunks().0
    }

    /// Returns the undecoded exception table.
    pub(crate) fn handler_bytes(&self) -> &'a [u8] {
        part(self.class_bytes, self.layout.handlers)
    }

    /// Returns the attributes of the code.
    #[must_use]
    pub fn attributes(&self) -> Attributes<'c, 'a> {
        Attributes::new(self.pool, self.class_bytes, self.layout.attributes as usize)
    }

    /// Returns the entries of the `LineNumberTable`s in file order (JVMS 4.7.12).
    pub fn lines(&self) -> impl Iterator<Item = Line> + 'c {
        self.line_rows().flatten().map(|row| {
            let [b0, b1, n0, n1] = *row;
            Line {
                bci: Bci(u16::from_be_bytes([b0, b1])),
                number: u16::from_be_bytes([n0, n1]),
            }
        })
    }

    /// Returns the line entries as bytes of the class file, table by table.
    pub fn line_rows(&self) -> impl Iterator<Item = &'a [[u8; 4]]> + 'c {
        rows(self.attributes(), "LineNumberTable")
    }

    /// Returns the entries of the `LocalVariableTable`s (JVMS 4.7.13).
    pub fn local_variables(&self) -> impl Iterator<Item = LocalVariable<'a>> + 'c {
        self.variables("LocalVariableTable")
    }

    /// Returns the entries of the `LocalVariableTypeTable`s (JVMS 4.7.14); their `descriptor` is a signature.
    pub fn local_variable_types(&self) -> impl Iterator<Item = LocalVariable<'a>> + 'c {
        self.variables("LocalVariableTypeTable")
    }

    fn variables(&self, table: &'static str) -> impl Iterator<Item = LocalVariable<'a>> + 'c {
        let pool = self.pool;
        let rows = rows::<10>(self.attributes(), table).flatten();
        rows.map(move |row| {
            let item = |at| u16_at(row, at).unwrap_or_default();
            LocalVariable {
                start: Bci(item(0)),
                length: item(2),
                name: pool.utf8(PoolIndex(item(4))).unwrap_or_default(),
                descriptor: pool.utf8(PoolIndex(item(6))).unwrap_or_default(),
                index: LocalIndex(item(8)),
            }
        })
    }

    pub(crate) fn layout(&self) -> &CodeLayout {
        &self.layout
    }
}

/// Returns the rows of each attribute called `table`, which has a `u2` count.
fn rows<'c, 'a, const N: usize>(
    attributes: Attributes<'c, 'a>,
    table: &'static str,
) -> impl Iterator<Item = &'a [[u8; N]]> + 'c
where
    'a: 'c,
{
    let found = attributes.filter(move |found| found.name == table);
    found.map(|found: Attribute<'a>| {
        let count = usize::from(u16_at(found.bytes, 0).unwrap_or(0));
        let rows = found.bytes.get(2..).unwrap_or_default().as_chunks().0;
        rows.get(..count).unwrap_or(rows)
    })
}

/// One entry of the exception table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceptionHandler {
    /// First instruction covered.
    pub start: Bci,
    /// The end of the range, exclusive; may be the length of the code.
    pub end: u16,
    /// First instruction of the handler.
    pub handler: Bci,
    /// The caught class; index 0 for any.
    pub catch_type: PoolIndex,
}

/// One entry of a `LineNumberTable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// First instruction of the line.
    pub bci: Bci,
    /// Line number in the source file.
    pub number: u16,
}

/// One entry of a `LocalVariableTable` or `LocalVariableTypeTable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalVariable<'a> {
    /// First bci at which it has its value.
    pub start: Bci,
    /// Number of code bytes from there.
    pub length: u16,
    /// Its name.
    pub name: Utf8<'a>,
    /// Its field descriptor, or its signature.
    pub descriptor: Utf8<'a>,
    /// Its slot.
    pub index: LocalIndex,
}
