//! Names of the helper classes whose arrays hold the probes inside a JVM.

/// The field of a helper class that holds its array, `static final byte[32768]`.
pub const HITS_FIELD: &str = "hits";

/// Internal name of the helper class that owns `array`: `java/lang/$Classhook`, then `…$Classhook1`, `…$Classhook2` and so on.
#[must_use]
pub fn array_owner(array: u16) -> String {
    match array {
        0 => HELPER.to_owned(),
        n => format!("{HELPER}{n}"),
    }
}

/// Internal name of the first helper class; every helper's name starts with it.
pub const HELPER: &str = "java/lang/$Classhook";
