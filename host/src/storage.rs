//! Where the probes of a class go: into the arrays of a JVM with the agent, or into one of the class's own.

use std::fmt::Write;

use probes::ProbeTable;

use crate::class_array::ClassProbes;

/// Where the probes of one class go.
pub(crate) enum Storage<'t> {
    /// Into the arrays of the helper classes, where this table finds room.
    Shared(&'t ProbeTable),
    /// Into an array that the class asks its runtime for; here it is noted whose probes these are.
    Own(&'t mut Vec<ClassProbes>),
}

impl Storage<'_> {
    /// The same, for another attempt.
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

/// What the names of the methods of a helper class begin with that write hits to its array; the number of the method follows.
pub const HIT_METHOD: &str = "hit";

/// Internal name of the helper class that owns `array`: `java/lang/$Classhook`, then `…$Classhook1`, `…$Classhook2` and so on.
#[must_use]
pub fn array_owner(array: u16) -> String {
    let mut name = String::new();
    write_array_owner(array, &mut name);
    name
}

/// The same, written to `name` in the place of what is there.
pub(crate) fn write_array_owner(array: u16, name: &mut String) {
    name.clear();
    name.push_str(HELPER);
    if array > 0 {
        let _ = write!(name, "{array}"); // a string takes everything
    }
}

/// Internal name of the first helper class; every helper's name starts with it.
pub const HELPER: &str = "java/lang/$Classhook";

/// Internal name of the helper class that holds an array of counters, its `static final long[32768] counts`.
#[must_use]
pub fn counts_owner(array: u16) -> String {
    match array {
        0 => format!("{HELPER}Counts"),
        n => format!("{HELPER}Counts{n}"),
    }
}
