//! The storage of a class's probes: the arrays of a JVM with the agent, or the class's own array.

use std::fmt::Write;

use probes::ProbeTable;

use crate::class_array::ClassProbes;

/// The storage of one class's probes.
pub(crate) enum Storage<'t> {
    /// The arrays of the helper classes; this table reserves the indices.
    Shared(&'t ProbeTable),
    /// An array that the class requests from its runtime; this list receives the owners of the
    /// probes.
    Own(&'t mut Vec<ClassProbes>),
}

impl Storage<'_> {
    /// Returns the storage for another attempt.
    pub(crate) fn again(&mut self) -> Storage<'_> {
        match self {
            Self::Shared(table) => Storage::Shared(table),
            Self::Own(probes) => {
                probes.clear();
                Storage::Own(probes)
            }
        }
    }
}

/// The field of a helper class that holds its array, `static final byte[65536]`.
pub const HITS_FIELD: &str = "hits";

/// The prefix of a helper class's methods that write hits to its array. The number of the method
/// follows.
pub const HIT_METHOD: &str = "hit";

/// Returns the internal name of the helper class that owns `array`: `java/lang/$Classhook`, then
/// `…$Classhook1`, `…$Classhook2` and so on.
#[must_use]
pub fn array_owner(array: u16) -> String {
    let mut name = String::new();
    write_array_owner(array, &mut name);
    name
}

/// Replaces the text in `name` by the same name.
pub(crate) fn write_array_owner(array: u16, name: &mut String) {
    name.clear();
    name.push_str(HELPER);
    if array > 0 {
        let _ = write!(name, "{array}"); // a String never fails
    }
}

/// Internal name of the first helper class; every helper's name starts with it.
pub const HELPER: &str = "java/lang/$Classhook";

/// Returns the internal name of the helper class with an array of counters, its `static final
/// long[32768] counts`.
#[must_use]
pub fn counts_owner(array: u16) -> String {
    match array {
        0 => format!("{HELPER}Counts"),
        n => format!("{HELPER}Counts{n}"),
    }
}
