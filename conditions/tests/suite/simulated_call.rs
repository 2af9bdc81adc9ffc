//! Simulated calls.

use std::collections::HashMap;

use conditions::limits::MAX_TEXT;
use conditions::{Call, Datum, Path, Program, Root, Step, Text};

/// A value of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Owned {
    Missing,
    Null,
    Truth(bool),
    Integer(i64),
    Float(f64),
    /// The known prefix of a text, and its length.
    Text(String, u32),
    Object,
}

/// A simulated call.
#[derive(Debug, Clone, Default)]
pub struct SimulatedCall {
    pub duration: u64,
    pub threw: bool,
    pub depth: u64,
    pub arguments: u64,
    pub thread: Option<String>,
    pub values: HashMap<Path, Owned>,
}

impl SimulatedCall {
    /// Returns the value of a path whose root the call has.
    pub fn value(&self, path: &Path) -> Owned {
        self.values.get(path).cloned().unwrap_or(Owned::Missing)
    }

    pub fn with(mut self, path: Path, value: Owned) -> Self {
        self.values.insert(path, value);
        self
    }
}

/// Creates the path `arg[0]` with further fields.
pub fn argument(index: u8, fields: &[&str]) -> Path {
    path(Root::Argument(index), fields)
}

pub fn path(root: Root, fields: &[&str]) -> Path {
    let steps = fields.iter().map(|name| Step::Field((*name).to_owned()));
    Path {
        root,
        steps: steps.collect(),
    }
}

pub fn text(text: &str) -> Owned {
    Owned::Text(text.to_owned(), text.encode_utf16().count() as u32)
}

/// A call as a program receives it.
pub struct Seen<'a>(pub &'a SimulatedCall, pub &'a Program);

impl Call for Seen<'_> {
    fn duration(&self) -> u64 {
        self.0.duration
    }

    fn threw(&self) -> bool {
        self.0.threw
    }

    fn depth(&self) -> u64 {
        self.0.depth
    }

    fn arguments(&self) -> u64 {
        self.0.arguments
    }

    fn thread<'b>(&self, buffer: &'b mut [u8; MAX_TEXT]) -> Datum<'b> {
        match &self.0.thread {
            None => Datum::Missing,
            Some(name) => put(name, name.encode_utf16().count() as u32, buffer),
        }
    }

    fn slot<'b>(&self, slot: u8, buffer: &'b mut [u8; MAX_TEXT]) -> Datum<'b> {
        let path = &self.1.slots()[usize::from(slot)].path;
        match self.0.value(path) {
            Owned::Missing => Datum::Missing,
            Owned::Null => Datum::Null,
            Owned::Truth(value) => Datum::Truth(value),
            Owned::Integer(value) => Datum::Integer(value),
            Owned::Float(value) => Datum::Float(value),
            Owned::Object => Datum::Object,
            Owned::Text(text, length) => put(&text, length, buffer),
        }
    }
}

fn put<'b>(text: &str, length: u32, buffer: &'b mut [u8; MAX_TEXT]) -> Datum<'b> {
    let kept = &mut buffer[..text.len()];
    kept.copy_from_slice(text.as_bytes());
    Datum::Text(Text::new(std::str::from_utf8(kept).unwrap(), length))
}
