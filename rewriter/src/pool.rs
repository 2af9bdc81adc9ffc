//! The constant pool (JVMS 4.4): a view of the class file, and a writer of further entries.

mod constant_pool;
mod named_fields;
mod writer;

pub use constant_pool::{ConstantPool, Dynamic, LoadableConstant, MemberRef, MethodHandle};

pub use named_fields::named_fields;

pub(crate) use writer::PoolWriter;
