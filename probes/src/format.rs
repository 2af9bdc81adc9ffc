//! The snapshot file, version 1: an append-only log.
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
//! The head has a checksum of its own, so a reader can distinguish two cases. A torn tail means that the writer was
//! killed and is accepted. Damage before a whole record is an error.
//!
//! | kind | name | payload |
//! |---|---|---|
//! | 1 | meta | [`Meta`] as JSON; the first record |
//! | 2 | class | array u16, base u16, probes u32, fingerprint u64, texts name, loader, plugin (length u16, UTF-8), length of the class file u32, the class file as an LZ4 block (neither if it was not kept) |
//! | 3 | hits | array u16, then the indices newly hit in rising order, each as LEB128 difference from the one before plus one |
//! | 4 | time | milliseconds since 1970 u64: when the preceding records were written |
//! | 5 | reset | name of a plugin whose hits so far are discarded; empty: the hits of all plugins |
//! | 6 | failure | [`Failure`] as JSON |
//! | 7 | end | [`Summary`] as JSON; the writer ended in good order |
//! | 8 | incomplete | [`Incomplete`] as JSON; if no record follows, what it counts is missing |
//! | 9 | test | number of tests u16, their names (texts), then for each array: array u16, number of indices and the indices as in hits, both LEB128: the probes hit while exactly these tests ran, or outside all tests if there are no names; 65,535 tests: later tests are not recorded |

use serde::{Deserialize, Serialize};

/// The first eight bytes of every snapshot file. They hold a byte above 127 and both line ends, so that a transfer as
/// text is detected.
pub const MAGIC: [u8; 8] = *b"\x8EHOOK\r\n\x1A";

/// The first eight bytes of every event file.
pub const EVENTS_MAGIC: [u8; 8] = *b"\x8EHKEV\r\n\x1A";
/// The format version that this crate writes and reads.
pub const VERSION: u32 = 1;
/// The first two bytes of every record.
pub const MARKER: [u8; 2] = *b"\xC5\xA7";
/// Length of the file header, in bytes.
pub const HEADER_LENGTH: usize = 16;
/// Length of a record's head, in bytes.
pub const HEAD_LENGTH: usize = 12;
/// Length of a record's checksum after the payload, in bytes.
pub const TAIL_LENGTH: usize = 4;
/// Length of the longest stored class file: four times the longest that Java's own tools produce.
pub const MAX_CLASS_LENGTH: usize = 64 << 20;

/// Record kinds; see the table in the module documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum RecordKind {
    /// Description of the run: command, time and machine.
    Meta = 1,
    /// A class and its range.
    Class = 2,
    /// Indices newly hit since the last such record.
    Hits = 3,
    /// The time at which the preceding records were written.
    Time = 4,
    /// Discards all hits so far.
    Reset = 5,
    /// A class that could not be instrumented.
    Failure = 6,
    /// The writer ended in good order.
    End = 7,
    /// Writing failed.
    Incomplete = 8,
    /// Probes hit while certain tests ran.
    Test = 9,
}

impl RecordKind {
    /// Returns the kind with this number.
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

/// Description of the run of a JVM. Unknown fields are skipped, missing ones are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// Id of the run that this JVM belongs to; several JVMs of one build share it. Empty if none was given.
    pub run: String,
    /// Name of the session in reports; if empty, readers use host and pid.
    pub session: String,
    /// Name of the machine.
    pub host: String,
    /// Process id of the JVM.
    pub pid: u32,
    /// Start of the snapshot: milliseconds since 1970.
    pub start_ms: u64,
    /// Time of the last write in milliseconds since 1970. Set on reading.
    #[serde(skip)]
    pub dump_ms: u64,
    /// The JVM: `java.vm.name` and `java.vm.version`.
    pub jvm: String,
    /// `java.home`.
    pub java_home: String,
    /// Feature release (11, 17, …), 0 if unknown. It determines the version of a class in a multi-release jar.
    pub java_feature: u32,
    /// The command line, as far as it is known.
    pub command: String,
    /// The JVM's options in environment variables: those of `JAVA_TOOL_OPTIONS`, `JDK_JAVA_OPTIONS` and `_JAVA_OPTIONS`
    /// in this order.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub variables: String,
    /// The working directory of the JVM; empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// Version of the agent that wrote the file.
    pub agent_version: String,
    /// The active plugins, as `name@version`.
    pub plugins: Vec<String>,
    /// File name without nonce and extension, computed by [`FileName`](crate::FileName); empty for the default name.
    /// Not stored.
    #[serde(skip)]
    pub file_name: String,
    /// `true` if classes with the same bytes have probes for each loader; the class records then name the loader.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub per_loader: bool,
    /// The sessions that a merged snapshot consists of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<Session>,
}

impl Meta {
    /// Returns the name of this JVM's files without nonce and extension.
    #[must_use]
    pub fn stem(&self) -> String {
        match self.file_name.as_str() {
            "" => format!("classhook-{}-{}", self.pid, self.start_ms),
            name => name.to_owned(),
        }
    }

    /// Identifies the JVM: `host-4711`.
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
    /// Name in reports.
    pub id: String,
    /// Start time: milliseconds since 1970.
    pub start_ms: i64,
    /// Time of the last data: milliseconds since 1970.
    pub dump_ms: i64,
    /// A sentence about data that could not be written; `None` if nothing is missing.
    pub incomplete: Option<String>,
    /// A sentence about data that may be missing because the JVM was killed.
    pub killed: Option<String>,
}

/// A class that a plugin selected and that was loaded unchanged after an error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    /// Internal name of the class.
    pub class: String,
    /// Name and descriptor of the method, if the failure concerns one method only.
    pub method: String,
    /// The plugin, if one was involved.
    pub plugin: String,
    /// Stable code, such as `H0311`.
    pub code: String,
    /// The cause.
    pub message: String,
}

/// The reason why a file ends before the recorded data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Incomplete {
    /// Time of the first failed write: milliseconds since 1970.
    pub since_ms: u64,
    /// The error message of the operating system.
    pub cause: String,
    /// Number of (class, plugin) pairs that a snapshot could not write yet.
    #[serde(skip_serializing_if = "is_zero")]
    pub classes: u64,
    /// Number of executed probes that a snapshot could not write yet.
    #[serde(skip_serializing_if = "is_zero")]
    pub probes: u64,
}

pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Totals of the run; written when the JVM ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Classes that the agent saw.
    pub seen: u64,
    /// Classes selected by a plugin.
    pub selected: u64,
    /// Changed classes.
    pub transformed: u64,
    /// Classes selected by a plugin and loaded unchanged after a failure.
    pub failed: u64,
    /// Methods left unchanged within changed classes.
    pub skipped_methods: u64,
    /// Number of lost events.
    pub lost: u64,
    /// Loaded classes, if the selectors selected nothing.
    #[serde(skip_serializing_if = "Unselected::is_empty")]
    pub unselected: Unselected,
    /// Plugins that failed on classes or were switched off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_plugins: Vec<FailedPlugin>,
}

/// A plugin that failed on classes or was switched off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FailedPlugin {
    /// Name of the plugin.
    pub plugin: String,
    /// Number of classes that were passed to the plugin.
    pub shown: u64,
    /// Number of these classes with the requested edits or notes.
    pub served: u64,
    /// Number of these classes on which the plugin failed, or whose edits were refused.
    pub failed: u64,
    /// The first failed class and the cause, as text.
    pub first: String,
    /// The reason for switching it off, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switched_off: Option<String>,
}

/// The loaded classes of a run without a selected class, for messages about mistakes in selectors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unselected {
    /// Binary names of application classes; incomplete if there are very many.
    pub classes: Vec<String>,
    /// Loader names, as selectors write them.
    pub loaders: Vec<String>,
}

impl Unselected {
    /// Checks whether both lists are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty() && self.loaders.is_empty()
    }

    /// Adds the classes and loaders of another JVM.
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

/// Appends a file header.
pub(crate) fn write_header(out: &mut Vec<u8>, magic: [u8; 8]) {
    let start = out.len();
    out.extend_from_slice(&magic);
    out.extend_from_slice(&VERSION.to_le_bytes());
    let crc = crc32fast::hash(&out[start..]);
    out.extend_from_slice(&crc.to_le_bytes());
}

/// Appends a record; the closure appends its payload.
pub(crate) fn write_record(out: &mut Vec<u8>, kind: u16, payload: impl FnOnce(&mut Vec<u8>)) {
    let head = out.len();
    out.resize(head + HEAD_LENGTH, 0);
    payload(out);
    let body = head + HEAD_LENGTH;
    let length = u32::try_from(out.len() - body).unwrap_or(u32::MAX); // class files are limited to far less
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

/// Reads kind and payload length from a record's head. `None` if the head is incomplete or damaged.
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
    /// The checksum is CRC-32 of IEEE 802.3: tests its published check values.
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
