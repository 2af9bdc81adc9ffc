//! Translation of operations into instructions.

use crate::arithmetic::short_distance;
use crate::bytes::write_at;
use crate::pool::PoolWriter;
use crate::snippet::{Operation, Snippet, Value};
use crate::typing::MethodContext;
use jvms::descriptor::Parameters;
use jvms::opcode;

/// Appends the code of one snippet and the offsets of its operations; `None` if the pool is full.
pub(crate) fn lower(
    context: &MethodContext<'_>,
    snippet: &Snippet,
    pool: &mut PoolWriter,
    code: &mut Vec<u8>,
    offsets: &mut Vec<u32>,
) -> Option<()> {
    let lowering = Lowering {
        context,
        pool,
        code,
        offsets,
    };
    lowering.run(snippet)
}

struct Lowering<'l, 't> {
    context: &'l MethodContext<'t>,
    pool: &'l mut PoolWriter,
    code: &'l mut Vec<u8>,
    offsets: &'l mut Vec<u32>,
}

impl Lowering<'_, '_> {
    fn run(mut self, snippet: &Snippet) -> Option<()> {
        let (start, first) = (self.code.len(), self.offsets.len());
        let mut labels = vec![0_u32; snippet.label_count()];
        for operation in snippet.operations() {
            let at = (self.code.len() - start) as u32;
            self.offsets.push(at);
            if let Operation::Label(label) = operation
                && let Some(place) = labels.get_mut(label.0 as usize)
            {
                *place = at;
            }
            self.operation(operation)?;
        }
        self.offsets.push((self.code.len() - start) as u32);
        let offsets = self.offsets.get(first..).unwrap_or_default();
        for (operation, from) in snippet.operations().iter().zip(offsets) {
            if let Operation::Jump(_, label) = operation {
                let to = labels.get(label.0 as usize).copied()?;
                let distance = short_distance(*from, to);
                let operand = start + *from as usize + 1;
                write_at(self.code, operand, &distance.to_be_bytes());
            }
        }
        Some(())
    }

    fn operation(&mut self, operation: &Operation) -> Option<()> {
        match operation {
            Operation::Label(_) => {}
            Operation::This => self.local(opcode::ALOAD, 0),
            Operation::Argument(index) => {
                let argument = self.context.arguments.get(usize::from(*index))?;
                self.local(argument.kind.load_opcode(), argument.slot);
            }
            Operation::StoreArgument(index) => {
                let argument = self.context.arguments.get(usize::from(*index))?;
                self.local(argument.kind.store_opcode(), argument.slot);
            }
            Operation::Push(value) => self.constant(value)?,
            Operation::Invoke(code, member) => {
                let method = self.pool.method_named(member.names(), member.interface)?;
                self.with_index(*code, method);
                if *code == opcode::INVOKEINTERFACE {
                    let count = Parameters::of(&member.descriptor).slots() + 1;
                    self.code.extend_from_slice(&[count as u8, 0]);
                }
            }
            Operation::Field(code, member) => {
                let field = self.pool.field_named(member.names())?;
                self.with_index(*code, field);
            }
            Operation::WithType(code, name) => {
                let class = self.pool.class(name)?;
                self.with_index(*code, class);
            }
            Operation::Plain(code) => self.code.push(*code),
            Operation::Local(code, slot) => {
                self.local(*code, self.context.locals() + u32::from(*slot));
            }
            Operation::NewArray(kind) => self.code.extend_from_slice(&[opcode::NEWARRAY, *kind]),
            Operation::Increment(slot, by) => {
                self.increment(self.context.locals() + u32::from(*slot), *by);
            }
            Operation::Jump(code, _) => self.with_index(*code, 0),
            Operation::Variable(code, slot) => self.local(*code, u32::from(*slot)),
            Operation::Original(bytes) => self.code.extend_from_slice(bytes),
            // Earlier stages replaced these operations or refused the snippet.
            Operation::Operand(_) | Operation::StoreOperand(_) | Operation::Proceed => return None,
        }
        Some(())
    }

    fn with_index(&mut self, code: u8, index: u16) {
        let [high, low] = index.to_be_bytes();
        self.code.extend_from_slice(&[code, high, low]);
    }

    /// Emits `xload` or `xstore` in its shortest form.
    fn local(&mut self, code: u8, slot: u32) {
        let first = if code < opcode::ISTORE {
            (opcode::ILOAD, opcode::ILOAD_0)
        } else {
            (opcode::ISTORE, opcode::ISTORE_0)
        };
        match slot {
            0..=3 => {
                let family = (code - first.0) * 4;
                self.code.push(first.1 + family + slot as u8);
            }
            4..=255 => self.code.extend_from_slice(&[code, slot as u8]),
            _ => {
                self.code.push(opcode::WIDE);
                self.with_index(code, slot as u16);
            }
        }
    }

    fn increment(&mut self, slot: u32, by: i16) {
        match (u8::try_from(slot), i8::try_from(by)) {
            (Ok(slot), Ok(by)) => self.code.extend_from_slice(&[opcode::IINC, slot, by as u8]),
            _ => {
                self.code.push(opcode::WIDE);
                self.with_index(opcode::IINC, slot as u16);
                self.code.extend_from_slice(&by.to_be_bytes());
            }
        }
    }

    fn constant(&mut self, value: &Value) -> Option<()> {
        match value {
            Value::Int(value) => self.int(*value)?,
            Value::Long(value @ 0..=1) => {
                self.code.push(opcode::LCONST_0 + *value as u8);
            }
            Value::Long(value) => {
                let index = self.pool.long(*value as u64)?;
                self.with_index(opcode::LDC2_W, index);
            }
            Value::Double(bits) if *bits == 0.0_f64.to_bits() => self.code.push(opcode::DCONST_0),
            Value::Double(bits) if *bits == 1.0_f64.to_bits() => self.code.push(opcode::DCONST_1),
            Value::Double(bits) => {
                let index = self.pool.double(*bits)?;
                self.with_index(opcode::LDC2_W, index);
            }
            Value::Float(bits) => match [0.0_f32, 1.0, 2.0]
                .iter()
                .position(|n| n.to_bits() == *bits)
            {
                Some(n) => self.code.push(opcode::FCONST_0 + n as u8),
                None => {
                    let index = self.pool.float(*bits)?;
                    self.load_constant(index);
                }
            },
            Value::String(text) => {
                let index = self.pool.string(text)?;
                self.load_constant(index);
            }
            Value::Class(name) => {
                let index = self.pool.class(name)?;
                self.load_constant(index);
            }
        }
        Some(())
    }

    fn int(&mut self, value: i32) -> Option<()> {
        if let (-1..=5, Ok(small)) = (value, i8::try_from(value)) {
            self.code
                .push(opcode::ICONST_0.saturating_add_signed(small));
        } else if let Ok(byte) = i8::try_from(value) {
            self.code.extend_from_slice(&[opcode::BIPUSH, byte as u8]);
        } else if let Ok(short) = i16::try_from(value) {
            self.with_index(opcode::SIPUSH, short as u16);
        } else {
            let index = self.pool.integer(value as u32)?;
            self.load_constant(index);
        }
        Some(())
    }

    fn load_constant(&mut self, index: u16) {
        match u8::try_from(index) {
            Ok(index) => self.code.extend_from_slice(&[opcode::LDC, index]),
            Err(_) => self.with_index(opcode::LDC_W, index),
        }
    }
}
