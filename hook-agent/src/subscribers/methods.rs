//! Names and lines of stack frames.

use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::{MethodId, StackFrame};
use crate::names::{decode, display_name};
use jvm_events::stacks::{Frame, NATIVE, UNKNOWN};
use std::collections::HashMap;

/// The known methods, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Methods(HashMap<u64, Method>);

/// A method, with its lines by their first bci.
#[derive(Debug, Default)]
struct Method {
    class: String,
    name: String,
    descriptor: String,
    file: String,
    lines: Vec<(i64, i32)>,
}

impl Methods {
    /// Describes a frame. A frame of an unloaded class has empty names.
    pub fn frame(&mut self, jvm: Jvm<'_>, frame: StackFrame) -> Frame {
        let number = frame.method.number();
        let method = self.0.entry(number);
        let method = method.or_insert_with(|| Method::read(jvm, frame.method).unwrap_or_default());
        Frame {
            class: method.class.clone(),
            method: method.name.clone(),
            descriptor: method.descriptor.clone(),
            file: method.file.clone(),
            line: method.line(frame.location),
        }
    }
}

impl Method {
    fn read(jvm: Jvm<'_>, method: MethodId) -> Option<Self> {
        let jvmti = jvm.jvmti;
        let class = jvmti.declaring_class(jvm.local, method).ok()?;
        let (name, descriptor) = jvmti.method_name(method).ok()?;
        let lines = jvmti.lines(method).unwrap_or_default().into_iter();
        let mut lines: Vec<(i64, i32)> = lines
            .map(|line| (line.start_location, line.line_number))
            .collect();
        lines.sort_unstable();
        Some(Self {
            class: display_name(&jvmti.class_signature(&class).ok()?),
            name: decode(&name),
            descriptor: decode(&descriptor),
            file: decode(&jvmti.source_file(&class).unwrap_or_default()),
            lines,
        })
    }

    /// The line of a bci, which is -1 in a native method.
    fn line(&self, location: i64) -> i32 {
        if location < 0 {
            return NATIVE;
        }
        let behind = self.lines.partition_point(|(start, _)| *start <= location);
        let line = behind.checked_sub(1).and_then(|at| self.lines.get(at));
        line.map_or(UNKNOWN, |(_, line)| *line)
    }
}

/// The identity of a frame: method number and bci.
pub(super) fn place(frame: &StackFrame) -> (u64, i64) {
    (frame.method.number(), frame.location)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_a_bci_is_the_last_that_begins_before_it() {
        let method = Method {
            lines: vec![(0, 7), (4, 9), (4, 11), (9, 8)],
            ..Method::default()
        };
        let line = |location| method.line(location);
        assert_eq!([0, 3, 4, 8, 9, 99].map(line), [7, 7, 11, 11, 8, 8]);
        assert_eq!(line(-1), NATIVE);
        assert_eq!(Method::default().line(0), UNKNOWN);
    }
}
