//! Why the structure of a class is not changed.

use thiserror::Error;

use crate::class::ClassFile;
use crate::error::ReadError;
use crate::index::MethodIndex;
use crate::limits::MAX_STRUCTURE_BYTES;
use crate::schema::SchemaBreak;
use crate::snippet::SnippetError;

/// Why the structure of a class is not changed. All of its class edits are then
/// left out, and the class is left as it is.
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
    /// What is added is too long in all.
    #[error("class edits hold at most {MAX_STRUCTURE_BYTES} bytes of attributes")]
    TooLong,
    /// More members, interfaces, attributes or annotations than a `u2` counts.
    #[error("the class would have more than 65535 {what}")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
    },
    /// Annotations nested deeper than 64 levels.
    #[error("an annotation is nested deeper than 64 levels")]
    TooDeep,
    /// The class cannot be read where it has to be.
    #[error("the class cannot be read: {0}")]
    Unreadable(#[from] ReadError),
    /// The class has fewer methods.
    #[error("method {method} does not exist: the class has {count}")]
    NoSuchMethod {
        /// The index asked for.
        method: MethodIndex,
        /// How many methods there are.
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
    /// A name or descriptor that no class file may hold (JVMS 4.2, 4.3).
    #[error("expected a {expected}, found `{found}`")]
    BadName {
        /// What it should be.
        expected: &'static str,
        /// What it is, cut off where it is long.
        found: String,
    },
    /// Flags that the JVM does not take (JVMS 4.5, 4.6).
    #[error("{member} cannot have the flags {flags:#06x}: {reason}")]
    BadFlags {
        /// Which member.
        member: String,
        /// Its flags.
        flags: u16,
        /// What is wrong with them.
        reason: &'static str,
    },
    /// There would be two.
    #[error("the class would have {what} twice")]
    Twice {
        /// Which member, interface, attribute or annotation; or what is renamed.
        what: String,
    },
    /// The edit does not suit what it is meant for.
    #[error("{what}: {reason}")]
    DoesNotSuit {
        /// Which edit.
        what: String,
        /// Why not.
        reason: &'static str,
    },
    /// A body does not fit its method.
    #[error("the body of {method} does not fit: {error}")]
    Body {
        /// Name and descriptor.
        method: String,
        /// Why not.
        error: SnippetError,
    },
    /// The code of an added method is too long.
    #[error("the body of {method} would be {length} bytes long, and 65535 are allowed")]
    BodyTooLarge {
        /// Name and descriptor.
        method: String,
        /// Its length.
        length: u32,
    },
    /// A loaded class cannot be changed so.
    #[error("a class that is loaded cannot be changed so: {0}")]
    Loaded(SchemaBreak),
}

impl StructureError {
    pub(crate) fn no_method(class: &ClassFile<'_>, method: MethodIndex) -> Self {
        let count = class.records().len() as u32;
        StructureError::NoSuchMethod { method, count }
    }
}
