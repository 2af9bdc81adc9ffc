//! Snippets as text: one operation per line.

use std::fmt;

use crate::snippet::assembler::Snippet;
use crate::snippet::operation::{EncodedMember, Operation, Value};
use crate::text::Text;
use jvms::modified_utf8::Utf8;
use jvms::opcode;

fn text(bytes: &[u8]) -> Text<'_> {
    Text(Utf8::new(bytes))
}

impl fmt::Display for Snippet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut operations = self.operations().iter();
        operations.try_for_each(|operation| writeln!(f, "    {operation}"))
    }
}

impl fmt::Display for EncodedMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (owner, name) = (text(&self.owner), text(&self.name));
        write!(f, "{owner}.{name}:{}", text(&self.descriptor))
    }
}

fn mnemonic(code: u8) -> &'static str {
    opcode::mnemonic(code).unwrap_or("?")
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(value) => write!(f, "int {value}"),
            Value::Long(value) => write!(f, "long {value}"),
            Value::Float(bits) => write!(f, "float {:?}", f32::from_bits(*bits)),
            Value::Double(bits) => write!(f, "double {:?}", f64::from_bits(*bits)),
            Value::String(content) => write!(f, "string \"{}\"", text(content)),
            Value::Class(name) => write!(f, "class {}", text(name)),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::This => f.write_str("load this"),
            Operation::Argument(index) => write!(f, "load argument {index}"),
            Operation::StoreArgument(index) => write!(f, "store argument {index}"),
            Operation::Push(value) => write!(f, "push {value}"),
            Operation::Invoke(code, member) if member.interface => {
                write!(f, "{} interface {member}", mnemonic(*code))
            }
            Operation::Invoke(code, member) | Operation::Field(code, member) => {
                write!(f, "{} {member}", mnemonic(*code))
            }
            Operation::WithType(code, name) => write!(f, "{} {}", mnemonic(*code), text(name)),
            Operation::Plain(code) => f.write_str(mnemonic(*code)),
            Operation::Local(code, slot) => write!(f, "{} own {slot}", mnemonic(*code)),
            Operation::NewArray(kind) => write!(f, "newarray {kind}"),
            Operation::Increment(slot, by) => write!(f, "iinc own {slot} by {by}"),
            Operation::Label(label) => write!(f, "label {}:", label.0),
            Operation::Jump(code, label) => write!(f, "{} label {}", mnemonic(*code), label.0),
            Operation::Operand(index) => write!(f, "load operand {index}"),
            Operation::StoreOperand(index) => write!(f, "store operand {index}"),
            Operation::Variable(code, slot) => write!(f, "{} {slot}", mnemonic(*code)),
            Operation::Proceed => f.write_str("proceed"),
            Operation::Original(bytes) => {
                f.write_str(bytes.first().map_or("?", |code| mnemonic(*code)))
            }
        }
    }
}
