//! The details of a class in the answer to `classes`.

use serde::{Deserialize, Serialize};

/// The requested details of each class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// [`Class::source`](crate::message::Class::source).
    pub source: bool,
    /// [`Class::loaders`](crate::message::Class::loaders).
    pub loaders: bool,
    /// [`Class::methods`](crate::message::Class::methods).
    pub methods: bool,
    /// [`Class::plan`](crate::message::Class::plan).
    pub plan: bool,
}

impl Details {
    /// Checks whether no detail is requested.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A class loader.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassLoader {
    /// Its class, with dots; `boot` for the bootstrap loader, which is no object.
    pub class: String,
    /// Its identity hash code, in hexadecimal; empty for the bootstrap loader.
    pub hash: String,
    /// The result of `ClassLoader.getName`; empty if the loader has no name.
    pub name: String,
}

/// A method of a loaded class.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadedMethod {
    /// The name of the method.
    pub name: String,
    /// Its descriptor (JVMS 4.3.3).
    pub descriptor: String,
    /// Its access flags (JVMS 4.6).
    pub flags: u16,
    /// Number of frames of platform threads that execute former code of the method.
    pub former_frames: usize,
}

/// A class as text, in the manner of `javap`, with its edits in their places; or the reason why it cannot be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    /// The text; empty if the class cannot be shown.
    pub text: String,
    /// The reason why the class, or a plugin's edits, cannot be shown; else empty.
    pub cause: String,
}
