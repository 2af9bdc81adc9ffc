//! Tables and grammars of the Java Virtual Machine Specification.
//!
//! This crate reads and writes no class file.
//! Numbers stay numbers (`u8` opcodes and tags, `u16` flags), because a class file may hold unassigned ones.
//!
//! | module | holds | JVMS |
//! |---|---|---|
//! | [`opcode`] | every instruction: number, mnemonic, operand form, effect on the operand stack | 6.5 |
//! | [`instruction`] | lengths of the instructions of a code array, layout of switches | 6.5 |
//! | [`descriptor`] | types of fields, parameters and results | 4.3 |
//! | [`names`] | class names in internal form, unqualified names | 4.2 |
//! | [`modified_utf8`] | the text of class files | 4.4.7 |
//! | [`access_flags`] | flags, and the declarations that may carry them | 4.1, 4.5, 4.6, 4.7 |
//! | [`flag_rules`] | combinations of flags that a JVM refuses | 4.1, 4.5, 4.6, 4.7.6 |
//! | [`constant_tag`] | kinds and sizes of constant pool entries | 4.4 |
//!
//! ```
//! use jvms::descriptor::{FieldType, MethodDescriptor};
//! use jvms::{access_flags, opcode};
//!
//! let found = MethodDescriptor::parse(b"(JLjava/lang/String;)V")?;
//! assert_eq!((found.parameter_slots(), found.return_type()), (3, None));
//! assert_eq!(found.parameters().last(), Some(FieldType::Class(b"java/lang/String")));
//! assert_eq!(opcode::stack_effect(opcode::LADD), (4, 2));
//! assert_eq!(access_flags::ACC_NATIVE, 0x0100);
//! # Ok::<(), jvms::descriptor::DescriptorError>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod access_flags;
pub mod constant_tag;
pub mod descriptor;
pub mod flag_rules;
pub mod instruction;
pub mod modified_utf8;
pub mod names;
pub mod opcode;
