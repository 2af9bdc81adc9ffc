#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

mod arithmetic;
mod builder;
mod bytes;
mod class;
mod class_verifier;
mod cursor;
mod edits;
mod error;
mod index;
pub mod limits;
mod lowering;
mod merge;
mod plan;
mod pool;
mod replace;
mod runs;
pub mod schema;
mod self_check;
mod snippet;
mod splice;
mod stack_map;
mod storage;
mod structure;
mod text;
mod typing;

pub use builder::{PlanBuilder, PlanChecker};
pub use class::{
    Attribute, Attributes, ClassFile, ClassHeader, Code, DeclaredAnnotation, DeclaredElement,
    DeclaredValue, Enclosing, ExceptionHandler, Field, InnerClass, Instruction, Line,
    LocalVariable, Method, Parameter, RecordComponent, Switch, Tables,
};
pub use class_verifier::{ReplacementError, check_replacement, check_shape, check_soundness};
pub use edits::{
    Annotation, CallTarget, Change, ClassEdit, Constant, ElementValue, NewField, NewMethod,
    PrefixedNative, StructureError, Target,
};
pub use error::ReadError;
pub use index::{Bci, MethodIndex, PoolIndex};
pub use merge::{Conflict, LeftOut, MergedPlan, PluginPlan};
pub use plan::{
    Action, Edit, EditPlan, ImpliedHit, InsertionPoint, Location, PlanError, SkipReason,
};
pub use pool::{
    ConstantPool, Dynamic, LoadableConstant, MemberRef, MethodHandle, front_of_class_file,
};
pub use replace::Operands;
pub use self_check::{CheckScratch, check_splice};
pub use snippet::{Assemble, Label, Member, Snippet, SnippetError};
pub use splice::{Scratch, SpliceError, SpliceReport, Warning, splice};
pub use stack_map::{FrameKind, StackMapReader, UnsetFieldList, VerificationType, item};
pub use storage::ProbeStorage;
pub use structure::{redirect_fields, rename_class};
pub use text::Text;
