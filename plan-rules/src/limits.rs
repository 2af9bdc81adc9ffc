//! Limits on the requests of one plugin for one class.

/// Maximum number of edits: the number of probes that fit into one array.
pub const MAX_EDITS: usize = 1 << 16;
/// Maximum number of structural edits: members, interfaces, annotations, attributes, names and bodies.
pub const MAX_CLASS_EDITS: usize = 1 << 11;
/// Maximum bytes of tags.
pub const MAX_TAG_BYTES: usize = 1 << 20;
/// Maximum bytes of code and structure before splicing.
pub const MAX_CODE_BYTES: usize = 4 << 20;
/// Maximum bytes of a class file that replaces another.
pub const MAX_CLASS_BYTES: usize = 16 << 20;
/// Maximum number of helper classes.
pub const MAX_HELPERS: usize = 64;
/// Maximum bytes of helper classes.
pub const MAX_HELPER_BYTES: usize = 1 << 20;
/// Maximum number of notes.
pub const MAX_NOTES: usize = 100;
/// Maximum bytes kept of one note.
pub const MAX_NOTE_BYTES: usize = 4 << 10;
/// Maximum number of values of one event.
pub const MAX_EVENT_VALUES: usize = 16;
/// Maximum bytes of one annotation.
pub const MAX_ANNOTATION_BYTES: usize = 1 << 20;

/// Maximum bytes of one answer about a class's declarations or the names in its code. A text of the class file counts
/// each time that it is named.
pub const MAX_ANSWER_BYTES: usize = 16 << 20;

/// Bytes counted for one operation of a snippet or one instruction change, in addition to its text.
pub(crate) const OPERATION_BYTES: usize = 64;
/// Bytes counted for one edit, tag or note, in addition to its text.
pub(crate) const EDIT_BYTES: usize = 64;
/// Bytes counted for one element of an annotation or one member, in addition to its text.
pub(crate) const ELEMENT_BYTES: usize = 64;
