//! The records of an HPROF file, version 1.0.2 and 1.0.1, as HotSpot writes them. Numbers are big-endian.

use std::collections::HashMap;
use std::io::{self, BufRead, Read};

const MAGICS: [&[u8]; 2] = [b"JAVA PROFILE 1.0.2\0", b"JAVA PROFILE 1.0.1\0"];

/// An object, class or text, by its number in the file. 0 is null.
pub type Id = u64;

/// The type of a field or element, by its HPROF number: 2 is a reference, 4 to 11 are `boolean` to `long`.
pub type Type = u8;
/// The type of references.
pub const OBJECT: Type = 2;

/// Bytes of a value in the file; `id` is the width of a reference.
pub fn width(of: Type, id: usize) -> io::Result<usize> {
    Ok(match of {
        OBJECT => id,
        4 | 8 => 1,
        5 | 9 => 2,
        6 | 10 => 4,
        7 | 11 => 8,
        other => {
            return Err(wrong(&format!(
                "expected a type from 2 to 11, found {other}"
            )));
        }
    })
}

/// A class dump.
#[derive(Debug, Default, Clone)]
pub struct Class {
    /// Its superclass.
    pub superclass: Id,
    /// Its loader.
    pub loader: Id,
    /// Names and values of static fields that are references.
    pub statics: Vec<(Id, Id)>,
    /// Names and types of its own fields.
    pub fields: Vec<(Id, Type)>,
}

/// A record of a heap dump.
#[derive(Debug)]
pub enum HeapRecord<'a> {
    /// A root that holds an object.
    Root(Root, Id),
    /// A class.
    Class(Id, Class),
    /// An instance: its id, its class, and its field values, from its own class upwards.
    Instance(Id, Id, &'a [u8]),
    /// An array of references: its id, its class, and its elements.
    Objects(Id, Id, &'a [u8]),
    /// An array of primitives: its id, element type and length.
    Values(Id, Type, u32),
}

/// The kind of a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// A JNI reference.
    Jni,
    /// A local variable of a frame.
    Frame,
    /// A class of the JVM's own loaders.
    Class,
    /// A thread.
    Thread,
    /// An entered monitor.
    Monitor,
    /// Another root of the JVM.
    Other,
}

/// Names from the records before the heap.
#[derive(Debug, Default)]
pub struct Names {
    /// Texts by their ids.
    pub texts: HashMap<Id, String>,
    /// Ids of the texts of class names, by the ids of the classes.
    pub classes: HashMap<Id, Id>,
    /// Width of an id, in bytes.
    pub id: usize,
}

/// Reads a file and passes each record of its heap to `take`, with its offset. The flag is true if the end record
/// exists.
///
/// # Errors
/// If the file is no heap dump, is damaged, or `take` fails.
pub fn read(
    from: &mut impl BufRead,
    take: &mut impl FnMut(&Names, u64, HeapRecord<'_>) -> io::Result<()>,
) -> io::Result<(Names, bool)> {
    let mut input = Input {
        from,
        at: 0,
        id: 8,
        buffer: Vec::new(),
    };
    if !MAGICS.contains(&input.bytes(MAGICS[0].len() as u64)?) {
        return Err(wrong("expected a heap dump (HPROF 1.0.2)"));
    }
    input.id = input.u32()? as usize;
    if ![4, 8].contains(&input.id) {
        return Err(wrong("expected ids of 4 or 8 bytes"));
    }
    input.skip(8)?;
    let mut names = Names {
        id: input.id,
        ..Names::default()
    };
    loop {
        let Some(tag) = input.tag()? else {
            return Ok((names, false));
        };
        input.skip(4)?;
        let length = u64::from(input.u32()?);
        match tag {
            0x01 => {
                let id = input.id()?;
                let rest = length.checked_sub(input.id as u64);
                let text = input.bytes(rest.ok_or_else(|| wrong("a name record is too short"))?)?;
                let text = String::from_utf8_lossy(text).into_owned();
                names.texts.insert(id, text);
            }
            0x02 => {
                input.skip(4)?;
                let class = input.id()?;
                input.skip(4)?;
                let name = input.id()?;
                names.classes.insert(class, name);
            }
            0x0C | 0x1C => {
                let end = input.at + length;
                while input.at < end {
                    input.record(&names, take)?;
                }
                if input.at != end {
                    return Err(wrong("a heap segment does not have its stated length"));
                }
            }
            0x2C => return Ok((names, true)),
            _ => input.skip(length)?,
        }
    }
}

/// Reads the one record at the current position of a file.
///
/// # Errors
/// As [`read`].
pub fn read_one(
    from: &mut impl BufRead,
    names: &Names,
    take: &mut impl FnMut(&Names, u64, HeapRecord<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut input = Input {
        from,
        at: 0,
        id: names.id,
        buffer: Vec::new(),
    };
    input.record(names, take)
}

struct Input<'r, R> {
    from: &'r mut R,
    at: u64,
    id: usize,
    buffer: Vec<u8>,
}

impl<R: BufRead> Input<'_, R> {
    fn bytes(&mut self, length: u64) -> io::Result<&[u8]> {
        self.buffer.clear();
        let read = self
            .from
            .by_ref()
            .take(length)
            .read_to_end(&mut self.buffer)?;
        self.at += read as u64;
        match read as u64 == length {
            true => Ok(&self.buffer),
            false => Err(wrong("the file ends within a record")),
        }
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.from.by_ref().take(length), &mut io::sink())?;
        self.at += skipped;
        match skipped == length {
            true => Ok(()),
            false => Err(wrong("the file ends within a record")),
        }
    }

    /// The tag of the next record; `None` at the end of the file.
    fn tag(&mut self) -> io::Result<Option<u8>> {
        match self.from.fill_buf()?.is_empty() {
            true => Ok(None),
            false => self.u8().map(Some),
        }
    }

    fn u8(&mut self) -> io::Result<u8> {
        Ok(number(self.bytes(1)?) as u8)
    }

    fn u16(&mut self) -> io::Result<u16> {
        Ok(number(self.bytes(2)?) as u16)
    }

    fn u32(&mut self) -> io::Result<u32> {
        Ok(number(self.bytes(4)?) as u32)
    }

    fn id(&mut self) -> io::Result<Id> {
        Ok(number(self.bytes(self.id as u64)?))
    }

    fn record(
        &mut self,
        names: &Names,
        take: &mut impl FnMut(&Names, u64, HeapRecord<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let (offset, id) = (self.at, self.id as u64);
        let tag = self.u8()?;
        let of = self.id()?;
        let (root, rest) = match tag {
            0x01 => (Root::Jni, id),
            0x02 => (Root::Jni, 8),
            0x03 => (Root::Frame, 8),
            0x04 => (Root::Other, 4),
            0x05 => (Root::Class, 0),
            0x06 => (Root::Other, 4),
            0x07 => (Root::Monitor, 0),
            0x08 => (Root::Thread, 8),
            0xFF => (Root::Other, 0),
            0x20 => {
                let class = self.class()?;
                return take(names, offset, HeapRecord::Class(of, class));
            }
            0x21 => {
                self.skip(4)?;
                let class = self.id()?;
                let length = self.u32()?;
                let fields = self.bytes(length.into())?;
                return take(names, offset, HeapRecord::Instance(of, class, fields));
            }
            0x22 => {
                self.skip(4)?;
                let count = self.u32()?;
                let class = self.id()?;
                let elements = self.bytes(u64::from(count) * id)?;
                return take(names, offset, HeapRecord::Objects(of, class, elements));
            }
            0x23 => {
                self.skip(4)?;
                let count = self.u32()?;
                let kind = self.u8()?;
                self.skip(u64::from(count) * width(kind, self.id)? as u64)?;
                return take(names, offset, HeapRecord::Values(of, kind, count));
            }
            other => {
                return Err(wrong(&format!(
                    "expected a heap record, found the tag {other:#x}"
                )));
            }
        };
        self.skip(rest)?;
        take(names, offset, HeapRecord::Root(root, of))
    }

    fn class(&mut self) -> io::Result<Class> {
        self.skip(4)?;
        let (superclass, loader) = (self.id()?, self.id()?);
        self.skip(4 * self.id as u64)?; // signers, protection domain, two that are reserved
        self.skip(4)?; // instance size, as if references had the width of ids
        for _ in 0..self.u16()? {
            self.skip(2)?;
            self.value()?;
        }
        let mut statics = Vec::new();
        for _ in 0..self.u16()? {
            let name = self.id()?;
            let (kind, value) = self.value()?;
            if kind == OBJECT {
                statics.push((name, value));
            }
        }
        let mut fields = Vec::new();
        for _ in 0..self.u16()? {
            let name = self.id()?;
            fields.push((name, self.u8()?));
        }
        Ok(Class {
            superclass,
            loader,
            statics,
            fields,
        })
    }

    fn value(&mut self) -> io::Result<(Type, u64)> {
        let kind = self.u8()?;
        let length = width(kind, self.id)? as u64;
        Ok((kind, number(self.bytes(length)?)))
    }
}

/// A big-endian number of at most 8 bytes.
pub fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// The error for a damaged file.
pub fn wrong(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.to_owned())
}
