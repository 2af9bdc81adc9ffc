#![doc = include_str!("../README.md")]
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

mod check;
mod class;
mod cursor;
mod edits;
mod error;
mod fingerprint;
mod index;
pub mod limits;
pub mod opcode;
mod plan;
mod pool;
pub mod print;
pub mod schema;
mod shape;
mod snippet;
pub mod span;
mod splice;
mod storage;
mod transfer;
mod utf8;
mod verify;

pub use check::{SelfCheckError, check_splice};
pub use class::{
    Annotations, Attribute, Attributes, BootstrapMethod, ClassFile, Code, ExceptionHandler, Field,
    Instruction, Instructions, Line, LocalVariable, Method, Switch, SwitchCases, Tables,
};
pub use edits::{
    Annotation, CallTarget, Change, ChangeError, ChangeId, ClassEdit, Constant as EditConstant,
    ElementValue, NativeWrapper, NewField, NewMethod, Refusal, Target,
};
pub use error::ReadError;
pub use fingerprint::fingerprint;
pub use index::{Bci, LocalIndex, MethodIndex, PoolIndex};
pub use plan::{
    Action, Conflict, Edit, EditPlan, Part, Place, PlanBuilder, PlanError, Site, SiteChecker,
};
pub use pool::{Constant, ConstantPool, Dynamic, MemberRef, MethodHandle};
pub use snippet::{Label, MemberName, Snippet, SnippetError, SnippetId};
pub use splice::{Scratch, SkipReason, SpliceError, SpliceReport, Warning, splice};
pub use storage::{ArrayRef, ProbeStorage};
pub use transfer::{TransferReason, transfer};
pub use utf8::Utf8;
