//! Errors in edits of the class's structure.

use thiserror::Error;

use crate::class::ClassFile;
use crate::error::ReadError;
use crate::index::MethodIndex;
use crate::limits::MAX_STRUCTURE_BYTES;
use crate::schema::SchemaBreak;
use crate::snippet::SnippetError;

/// The reason why the structure of a class stays unchanged. The class then keeps its bytes, and none of its class edits
/// apply.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StructureError {
    /// The constant pool has no room.
    #[error("the constant pool has no room for the entries that the class edits need")]
    PoolFull,
    /// A text is longer than 65,535 bytes.
    #[error("a text of {length} bytes does not fit a constant pool, which allows 65535")]
    NameTooLong {
        /// Its length in modified UTF-8.
        length: u64,
    },
    /// The added parts exceed the maximum length together.
    #[error("class edits hold at most {MAX_STRUCTURE_BYTES} bytes of attributes")]
    TooLong,
    /// More members, interfaces, attributes or annotations than a `u2` counts.
    #[error("the class would have more than 65535 {what}")]
    TooMany {
        /// The counted items.
        what: &'static str,
    },
    /// Annotations nested deeper than 64 levels.
    #[error("an annotation is nested deeper than 64 levels")]
    TooDeep,
    /// A part of the class that the edit needs is malformed.
    #[error("the class cannot be read: {0}")]
    Unreadable(#[from] ReadError),
    /// The class has fewer methods.
    #[error("method {method} does not exist: the class has {count}")]
    NoSuchMethod {
        /// The requested index.
        method: MethodIndex,
        /// Number of methods.
        count: u32,
    },
    /// The class has no such field.
    #[error("the class has no field {name}:{descriptor}")]
    NoSuchField {
        /// Its name.
        name: String,
        /// Its descriptor.
        descriptor: String,
    },
    /// An invalid name or descriptor (JVMS 4.2, 4.3).
    #[error("expected a {expected}, found `{found}`")]
    BadName {
        /// The expected syntax.
        expected: &'static str,
        /// The invalid text, truncated if long.
        found: String,
    },
    /// Flags that the JVM rejects (JVMS 4.5, 4.6).
    #[error("{member} cannot have the flags {flags:#06x}: {reason}")]
    BadFlags {
        /// The member.
        member: String,
        /// Its flags.
        flags: u16,
        /// The fault.
        reason: &'static str,
    },
    /// A duplicate.
    #[error("the class would have {what} twice")]
    Twice {
        /// The member, interface, attribute, annotation or rename.
        what: String,
    },
    /// The edit does not suit its target.
    #[error("{what}: {reason}")]
    DoesNotSuit {
        /// The edit.
        what: String,
        /// The fault.
        reason: &'static str,
    },
    /// A body does not fit its method.
    #[error("the body of {method} does not fit: {error}")]
    Body {
        /// Name and descriptor.
        method: String,
        /// The fault.
        error: SnippetError,
    },
    /// The code of an added method is too long.
    #[error("the body of {method} would be {length} bytes long; at most 65535 are allowed")]
    BodyTooLarge {
        /// Name and descriptor.
        method: String,
        /// Its length.
        length: u32,
    },
    /// The JVM does not allow this edit in a loaded class.
    #[error("the JVM does not allow this change of a loaded class: {0}")]
    Loaded(SchemaBreak),
}

impl StructureError {
    pub(crate) fn no_method(class: &ClassFile<'_>, method: MethodIndex) -> Self {
        let count = class.records().len() as u32;
        StructureError::NoSuchMethod { method, count }
    }
}
