//! The class file (JVMS 4.1) as a lazy view.

mod annotation;
mod attribute;
mod code;
mod code_index;
mod code_table;
mod declared;
mod element;
mod field;
mod file;
mod handlers;
mod header;
mod instruction;
mod instruction_map;
mod jumps;
mod method;
mod record;

pub use attribute::{Attribute, Attributes};
pub use code::{Code, ExceptionHandler, Line, LocalVariable};
pub use declared::{Enclosing, InnerClass, Parameter, RecordComponent};
pub use element::{DeclaredAnnotation, DeclaredElement, DeclaredValue};
pub use field::Field;
pub use file::{ClassFile, Tables};
pub use header::ClassHeader;
pub use instruction::{Instruction, Instructions, Switch};
pub use method::Method;

pub(crate) use annotation::{skip_after_target, skip_target};
pub(crate) use attribute::skip_attributes;
pub(crate) use code::CodeLayout;
#[cfg(test)]
pub(crate) use code_index::CodeIndex;
pub(crate) use code_table::{CodeTable, CodeTables};
pub(crate) use handlers::{contains, contains_jointly};
pub(crate) use instruction::{branch_offset, decode, leads_to, switch_layout};
pub(crate) use instruction_map::{InstructionMap, begins, last_start};
pub(crate) use jumps::{FoundJump, JumpForm};
pub(crate) use record::MethodRecord;
