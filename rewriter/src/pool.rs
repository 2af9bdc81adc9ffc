//! The constant pool (JVMS 4.4): read where it stands, and entries appended to it.

mod constant_pool;
mod writer;

pub use constant_pool::{ConstantPool, Dynamic, LoadableConstant, MemberRef, MethodHandle};

pub(crate) use writer::PoolWriter;
