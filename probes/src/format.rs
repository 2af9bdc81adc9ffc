//! The snapshot file, version 1: a log that only ever grows.
//!
//! All numbers are little-endian. The file begins with 16 bytes:
//!
//! | bytes | meaning |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 4 | version of the format, [`VERSION`] |
//! | 4 | CRC-32 of the 12 bytes before |
//!
//! Records follow without gaps. Each has a head of 12 bytes, a payload and the payload's CRC-32:
//!
//! | bytes | meaning |
//! |---|---|
//! | 2 | [`MARKER`] |
//! | 2 | kind of record |
//! | 4 | length of the payload |
//! | 4 | CRC-32 of the 8 bytes before |
//! | … | payload |
//! | 4 | CRC-32 of the payload |
//!
//! Because the head has a checksum of its own, a reader can distinguish a torn tail (the writer was killed: fine)
//! from damage in the middle (something whole follows: an error).
//!
//! | kind | name | payload |
//! |---|---|---|
//! | 1 | meta | [`Meta`] as JSON; the first record |
//! | 2 | class | array u16, base u16, probes u32, fingerprint u64, texts name, loader, plugin (length u16, UTF-8), length of the class file u32, the class file as an LZ4 block (neither if it was not kept) |
//! | 3 | hits | array u16, then the indices newly hit in rising order, each as LEB128 difference from the one before plus one |
//! | 4 | time | milliseconds since 1970 u64: when what precedes was written |
//! | 5 | reset | name of a plugin, whose hits so far are forgotten; empty: those of all |
//! | 6 | failure | [`Failure`] as JSON |
//! | 7 | end | [`Summary`] as JSON; the writer ended in good order |
//! | 8 | incomplete | [`Incomplete`] as JSON; if no record follows, what it counts is missing |
//! | 9 | test | number of tests u16, their names (texts), then of each array: array u16, number of indices and the indices as in hits, both LEB128: what was hit while these tests and no others were under way, outside of all if there are none; 65,535 tests: of what follows it is not known |

use serde::{Deserialize, Serialize};

/// How a snapshot file begins. Holds a byte above 127 and both line ends, so that a transfer as text is noticed.
pub const MAGIC: [u8; 8] = *b"\x8EHOOK\r\n\x1A";

/// First eight bytes of every event file.
pub const EVENTS_MAGIC: [u8; 8] = *b"\x8EHKEV\r\n\x1A";
/// Version of the format that this crate writes and reads.
pub const VERSION: u32 = 1;
/// How each record begins.
pub const MARKER: [u8; 2] = *b"\xC5\xA7";
/// Bytes before the first record.
pub const HEADER_LENGTH: usize = 16;
/// Bytes of a record before its payload.
pub const HEAD_LENGTH: usize = 12;
/// Bytes of a record after its payload.
pub const TAIL_LENGTH: usize = 4;
/// The longest class file that is stored: four times the longest that Java's own tools make.
pub const MAX_CLASS_LENGTH: usize = 64 << 20;

/// Kinds of records; see the table in the module's documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    /// What was run, where and when.
    Meta = 1,
    /// A class and its range.
    Class = 2,
    /// Indices hit since the last such record.
    Hits = 3,
    /// When what precedes was written.
    Time = 4,
    /// All hits so far are forgotten.
    Reset = 5,
    /// A class that could not be instrumented.
    Failure = 6,
    /// The writer ended in good order.
    End = 7,
    /// Writing failed.
    Incomplete = 8,
    /// What was hit while certain tests were under way.
    Test = 9,
}

impl Kind {
    /// The kind with this number.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        [
            Self::Meta,
            Self::Class,
            Self::Hits,
            Self::Time,
            Self::Reset,
            Self::Failure,
            Self::End,
            Self::Incomplete,
            Self::Test,
        ]
        .into_iter()
        .find(|kind| *kind as u16 == number)
    }
}

/// What was run, where and when. Unknown fields are skipped, missing ones are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// Id of the run that this JVM belongs to; several JVMs of one build share it. Empty if none was given.
    pub run: String,
    /// Name of the session for reports; readers fall back to host and pid when empty.
    pub session: String,
    /// Name of the machine.
    pub host: String,
    /// Process id of the JVM.
    pub pid: u32,
    /// When the snapshot began: milliseconds since 1970.
    pub start_ms: u64,
    /// When the last of it was written: milliseconds since 1970. Filled in on reading.
    #[serde(skip)]
    pub dump_ms: u64,
    /// The JVM: `java.vm.name` and `java.vm.version`.
    pub jvm: String,
    /// `java.home`.
    pub java_home: String,
    /// Feature release (11, 17, …), 0 if unknown. Decides which version of a multi-release jar's class was seen.
    pub java_feature: u32,
    /// The command line, as far as known.
    pub command: String,
    /// The working folder of the JVM; empty if it is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// Version of the agent that wrote the file.
    pub agent_version: String,
    /// The plugins that ran, `name@version`.
    pub plugins: Vec<String>,
    /// What [`FileName`](crate::FileName) makes the name of the JVM's files; empty for the one that they always had. Not
    /// stored.
    #[serde(skip)]
    pub file_name: String,
    /// Whether classes of the same bytes have probes for each loader, which their records name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub per_loader: bool,
    /// The sessions of which a merged snapshot is the sum.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<Session>,
}

impl Meta {
    /// What the files of this JVM are called, but for a random number and what they end in.
    #[must_use]
    pub fn stem(&self) -> String {
        match self.file_name.as_str() {
            "" => format!("classhook-{}-{}", self.pid, self.start_ms),
            name => name.to_owned(),
        }
    }

    /// What distinguishes the JVM from others: `host-4711`.
    #[must_use]
    pub fn jvm_id(&self) -> String {
        match self.host.as_str() {
            "" => format!("pid-{}", self.pid),
            host => format!("{host}-{}", self.pid),
        }
    }
}

/// A run that was merged into a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// Its name in reports.
    pub id: String,
    /// When it began: milliseconds since 1970.
    pub start_ms: i64,
    /// When its data was taken: milliseconds since 1970.
    pub dump_ms: i64,
    /// What of it could not be written, as a sentence; none if nothing is missing.
    pub incomplete: Option<String>,
    /// What may be missing because its JVM was killed, as a sentence.
    pub killed: Option<String>,
}

/// A class that was loaded unchanged although a plugin wanted it, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    /// Internal name of the class.
    pub class: String,
    /// Name and descriptor of the method, if it was one method only.
    pub method: String,
    /// The plugin, if one was involved.
    pub plugin: String,
    /// Stable code, such as `H0311`.
    pub code: String,
    /// The cause.
    pub message: String,
}

/// Why a file ends before what was recorded does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Incomplete {
    /// When writing began to fail: milliseconds since 1970.
    pub since_ms: u64,
    /// Why, in the words of the operating system.
    pub cause: String,
    /// Of a snapshot: classes, each once for every plugin, that wait to be written.
    #[serde(skip_serializing_if = "is_zero")]
    pub classes: u64,
    /// Of a snapshot: executed probes that wait to be written.
    #[serde(skip_serializing_if = "is_zero")]
    pub probes: u64,
}

pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What became of the classes, in numbers; written when the JVM ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Classes that the agent saw.
    pub seen: u64,
    /// Classes that a plugin selected.
    pub selected: u64,
    /// Classes that were changed.
    pub transformed: u64,
    /// Classes that a plugin wanted and that were loaded unchanged after a failure.
    pub failed: u64,
    /// Methods left alone within changed classes.
    pub skipped_methods: u64,
    /// Events that could not be kept.
    pub lost: u64,
    /// What was loaded, if the selectors selected nothing.
    #[serde(skip_serializing_if = "Unselected::is_empty")]
    pub unselected: Unselected,
    /// Plugins that failed on classes, or were switched off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_plugins: Vec<FailedPlugin>,
}

/// A plugin that failed on classes, or was switched off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FailedPlugin {
    /// Its name.
    pub plugin: String,
    /// Classes that it was shown.
    pub shown: u64,
    /// Of these, classes with the edits, or the notes, that it asked for.
    pub served: u64,
    /// Of these, classes that it failed on, and classes without its edits, since they cannot be made.
    pub failed: u64,
    /// The first of these classes and the cause, in words.
    pub first: String,
    /// Why it was switched off, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switched_off: Option<String>,
}

/// What a JVM had loaded in which no class was selected, so that a mistake in the selectors can be named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unselected {
    /// Names of classes of the application, with dots; not all if there are very many.
    pub classes: Vec<String>,
    /// Their loaders, as selectors name them.
    pub loaders: Vec<String>,
}

impl Unselected {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty() && self.loaders.is_empty()
    }

    /// Adds those of another JVM.
    pub fn add(&mut self, other: &Self) {
        let lists = [
            (&mut self.classes, &other.classes),
            (&mut self.loaders, &other.loaders),
        ];
        for (mine, theirs) in lists {
            mine.extend(theirs.iter().cloned());
            mine.sort_unstable();
            mine.dedup();
        }
    }
}

/// The first bytes of a file.
pub(crate) fn write_header(out: &mut Vec<u8>, magic: [u8; 8]) {
    let start = out.len();
    out.extend_from_slice(&magic);
    out.extend_from_slice(&VERSION.to_le_bytes());
    let crc = crc32fast::hash(&out[start..]);
    out.extend_from_slice(&crc.to_le_bytes());
}

/// Appends a record whose payload `payload` writes.
pub(crate) fn write_record(out: &mut Vec<u8>, kind: u16, payload: impl FnOnce(&mut Vec<u8>)) {
    let head = out.len();
    out.resize(head + HEAD_LENGTH, 0);
    payload(out);
    let body = head + HEAD_LENGTH;
    let length = u32::try_from(out.len() - body).unwrap_or(u32::MAX); // class files are capped far below
    out[head..head + 8].copy_from_slice(&head_of(kind, length));
    let crc = crc32fast::hash(&out[head..head + 8]);
    out[head + 8..body].copy_from_slice(&crc.to_le_bytes());
    let crc = crc32fast::hash(&out[body..]);
    out.extend_from_slice(&crc.to_le_bytes());
}

fn head_of(kind: u16, length: u32) -> [u8; 8] {
    let [kind0, kind1] = kind.to_le_bytes();
    let [length0, length1, length2, length3] = length.to_le_bytes();
    [
        MARKER[0], MARKER[1], kind0, kind1, length0, length1, length2, length3,
    ]
}

/// What a record's head says: kind and length of the payload; nothing if it is not a whole head.
pub(crate) fn read_head(bytes: &[u8]) -> Option<(u16, u32)> {
    let head: &[u8; HEAD_LENGTH] = bytes.first_chunk()?;
    let [m0, m1, k0, k1, l0, l1, l2, l3, c0, c1, c2, c3] = *head;
    let intact =
        [m0, m1] == MARKER && crc32fast::hash(&head[..8]) == u32::from_le_bytes([c0, c1, c2, c3]);
    intact.then(|| {
        (
            u16::from_le_bytes([k0, k1]),
            u32::from_le_bytes([l0, l1, l2, l3]),
        )
    })
}

/// Appends `value` in LEB128.
pub(crate) fn write_varint(out: &mut Vec<u8>, value: impl Into<u64>) {
    let mut value = value.into();
    while value >= 0x80 {
        out.push((value & 0x7F) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    /// The checksums are CRC-32 as IEEE 802.3 has it: its published check values.
    #[test]
    fn published_check_values() {
        assert_eq!(crc32fast::hash(b""), 0);
        assert_eq!(crc32fast::hash(b"123456789"), 0xCBF4_3926);
        assert_eq!(
            crc32fast::hash(b"The quick brown fox jumps over the lazy dog"),
            0x414F_A339
        );
    }
}
