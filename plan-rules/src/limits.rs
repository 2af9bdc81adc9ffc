//! Every limit of what one plugin may ask for in one class.

/// Most edits: as many as one array holds probes.
pub const MAX_EDITS: usize = 1 << 16;
/// Most edits of the class itself: members, interfaces, annotations, attributes, names and bodies.
pub const MAX_CLASS_EDITS: usize = 1 << 11;
/// Most bytes of tags.
pub const MAX_TAG_BYTES: usize = 1 << 20;
/// Most bytes of code and structure, before they are spliced.
pub const MAX_CODE_BYTES: usize = 4 << 20;
/// Most bytes of a class file that takes the place of another.
pub const MAX_CLASS_BYTES: usize = 16 << 20;
/// Most helper classes.
pub const MAX_HELPERS: usize = 64;
/// Most bytes of helper classes.
pub const MAX_HELPER_BYTES: usize = 1 << 20;
/// Most insertion points handed out.
pub const MAX_SITES: usize = 1 << 20;
/// Most notes kept.
pub const MAX_NOTES: usize = 100;
/// Most bytes kept of one note.
pub const MAX_NOTE_BYTES: usize = 4 << 10;
/// Most labels of one snippet.
pub const MAX_LABELS: usize = 1 << 16;
/// Most values of one event.
pub const MAX_EVENT_VALUES: usize = 16;
/// Most bytes of one annotation: nesting can double it each time.
pub const MAX_ANNOTATION_BYTES: usize = 1 << 20;

/// Most bytes of one answer about what a class declares, or what its code names: texts of the class file count as often
/// as they are named.
pub const MAX_ANSWER_BYTES: usize = 16 << 20;

/// Bytes counted for one operation of a snippet or change of an instruction, beside its text.
pub(crate) const OPERATION_BYTES: usize = 64;
/// Bytes counted for one label of a snippet.
pub(crate) const LABEL_BYTES: usize = 8;
/// Bytes counted for one edit, tag or note, beside its text.
pub(crate) const EDIT_BYTES: usize = 64;
/// Bytes counted for one element of an annotation or one member, beside its text.
pub(crate) const ELEMENT_BYTES: usize = 64;
