//! Names of frames.

use jvm_events::stacks::{Frame, NATIVE};
use jvms::names::binary;

use crate::names::printable;

/// The name of a stack without a frame.
pub(crate) const NO_JAVA: &str = "(not seen in Java code)";

/// Returns `com.acme.Store.find`, escaped.
pub(crate) fn method(frame: &Frame) -> String {
    if frame.class.is_empty() {
        return "(unloaded)".to_owned();
    }
    printable(&format!("{}.{}", binary(&frame.class), frame.method))
}

/// Returns `com.acme.Store.find(Store.java:17)`, escaped.
pub(crate) fn place(frame: &Frame) -> String {
    let file = printable(&frame.file);
    let place = match (frame.line, file.is_empty()) {
        (NATIVE, _) => "native".to_owned(),
        (_, true) => "unknown source".to_owned(),
        (line @ 1.., false) => format!("{file}:{line}"),
        (_, false) => file,
    };
    format!("{}({place})", method(frame))
}
