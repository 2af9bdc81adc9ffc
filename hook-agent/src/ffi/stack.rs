//! The call stack of the current thread.

use super::error::JvmtiError;
use super::jvm::Jvm;
use super::jvmti::{MethodId, StackFrame};
use super::table::{CAN_GET_LINE_NUMBERS, Capabilities};
use crate::names::{decode, internal_name};
use probes::spans::MethodName;
use std::collections::HashMap;

/// The class whose methods instrumented code calls, and whose frames are left out.
const HELPER: &str = "java/lang/$Classhook";
/// Largest number of frames of that class on top of the stack.
const OURS: usize = 3;

/// A frame: internal name of the class, name of the method, line (0 if unknown).
pub(crate) type Frame = (String, String, u16);

/// Counts the active calls of each method on the current thread. Returns `None` if the JVM refuses.
pub(crate) fn running(jvm: Jvm<'_>) -> Option<HashMap<MethodName, u64>> {
    let depth = jvm.jvmti.frame_count(jvm.live).ok()?;
    let mut calls: HashMap<u64, (MethodId, u64)> = HashMap::new();
    for frame in jvm.jvmti.stack(jvm.live, None, depth).ok()? {
        let (_, calls) = calls
            .entry(frame.method.number())
            .or_insert((frame.method, 0));
        *calls += 1;
    }
    let mut running = HashMap::new();
    for (method, calls) in calls.into_values() {
        let class = jvm.jvmti.declaring_class(jvm.local, method).ok()?;
        let signature = jvm.jvmti.class_signature(&class).ok()?;
        let (name, descriptor) = jvm.jvmti.method_name(method).ok()?;
        let method = MethodName {
            class: decode(internal_name(&signature).unwrap_or(&signature)),
            name: decode(&name),
            descriptor: decode(&descriptor),
        };
        *running.entry(method).or_default() += calls;
    }
    Some(running)
}

/// The innermost `most` frames of the current thread, without those of the agent's own class.
pub(crate) fn current(jvm: Jvm<'_>, most: usize) -> Vec<Frame> {
    let frames = jvm.jvmti.stack(jvm.live, None, most + OURS);
    let frames = frames.unwrap_or_default();
    let described = frames.iter().filter_map(|frame| describe(jvm, frame));
    let below = described.skip_while(|(class, ..)| class == HELPER);
    below.take(most).collect()
}

fn describe(jvm: Jvm<'_>, frame: &StackFrame) -> Option<Frame> {
    let class = jvm.jvmti.declaring_class(jvm.local, frame.method).ok()?;
    let signature = jvm.jvmti.class_signature(&class).ok()?;
    let (method, _) = jvm.jvmti.method_name(frame.method).ok()?;
    let class = decode(internal_name(&signature).unwrap_or(&signature));
    Some((class, decode(&method), line(jvm, frame)))
}

/// The line that a frame executes.
fn line(jvm: Jvm<'_>, frame: &StackFrame) -> u16 {
    let Jvm { jvmti, live, .. } = jvm;
    let lines = match jvmti.lines(frame.method) {
        Err(JvmtiError::MUST_POSSESS_CAPABILITY) => {
            let wanted = Capabilities::only(CAN_GET_LINE_NUMBERS);
            let added = jvmti.add_capabilities(live, wanted);
            added.and_then(|()| jvmti.lines(frame.method))
        }
        lines => lines,
    };
    let before = lines.into_iter().flatten();
    let before = before.filter(|line| line.start_location <= frame.location);
    let last = before.max_by_key(|line| line.start_location);
    last.and_then(|line| u16::try_from(line.line_number).ok())
        .unwrap_or(0)
}
