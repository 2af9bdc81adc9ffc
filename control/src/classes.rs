//! What `classes` can tell of a class besides its name.

use serde::{Deserialize, Serialize};

/// What is asked of each class that is listed.
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
    /// Whether nothing is asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A class loader.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassLoader {
    /// Its class, with dots; `boot` for the bootstrap loader, which has none.
    pub class: String,
    /// Its identity hash code, in hexadecimal; empty for the bootstrap loader.
    pub hash: String,
    /// What `ClassLoader.getName` gives; empty if it has no name.
    pub name: String,
}

/// A method of a class that is loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadedMethod {
    /// Its name.
    pub name: String,
    /// Its descriptor (JVMS 4.3.3).
    pub descriptor: String,
    /// Its access flags (JVMS 4.6).
    pub flags: u16,
    /// Frames of platform threads in which code of it runs that has been replaced since they were entered.
    pub former_frames: usize,
}

/// A class as text, in the manner of `javap`, with the edits that it holds in their places; or why there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    /// The class; empty if it cannot be shown.
    pub text: String,
    /// Why it cannot be shown, or why a plugin's edits are not shown; else empty.
    pub cause: String,
}
