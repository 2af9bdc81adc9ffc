//! The constant pool (JVMS 4.4): a view of the class file, and a writer of further entries.

mod constant_pool;
mod writer;

pub use constant_pool::{
    ConstantPool, Dynamic, LoadableConstant, MemberRef, MethodHandle, front_of_class_file,
};

pub(crate) use writer::PoolWriter;
