//! Dry runs: retransformations that the JVM checks and does not carry out.
//!
//! `RetransformClasses` is all or nothing, and a class is parsed, compared and verified before the program is paused.
//! So the class is passed once more as an empty class file with other flags, which the JVM always refuses. That yields
//! all answers and no change.
//!
//! The JVM keeps each class that it has parsed and refused until a later collection unloads classes. An empty one takes
//! little metaspace, so a class with code is parsed only for a check, once.

use crate::ffi::class_file_load::ClassFileLoad;
use crate::ffi::error::JvmtiError;
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::GlobalRef;
use jvms::access_flags::ACC_SYNTHETIC;
use jvms::constant_tag;
use rewriter::ClassHeader;
use std::cell::RefCell;

/// The dry run of this thread.
#[derive(Debug, Default)]
struct DryRun {
    /// Number of times that the class passes through the hook unchanged. The next time it is refused.
    passes: u32,
    /// Number of times that the class came through the hook.
    visits: u32,
    /// The bytes that the JVM passed when the class was refused.
    received: Vec<u8>,
}

thread_local! {
    static DRY_RUN: RefCell<Option<DryRun>> = const { RefCell::new(None) };
}

/// The class file that the JVM would pass to the hook in a retransformation.
///
/// # Errors
///
/// The reason why the JVM does not pass it.
pub(crate) fn class_file(jvm: Jvm<'_>, class: &GlobalRef) -> Result<Vec<u8>, JvmtiError> {
    let (result, run) = retransform(jvm, &[class], DryRun::default());
    match (run.visits, result) {
        (0, Err(error)) => Err(error),
        (0, Ok(())) => Err(JvmtiError::NOT_AVAILABLE),
        _ => Ok(run.received),
    }
}

/// Makes the JVM link a class, which each retransformation does after it has parsed the new class file.
///
/// While another thread is linking the class, the JVM may pass bytes that are half in its internal form. They are
/// dropped.
pub(crate) fn link(jvm: Jvm<'_>, class: &GlobalRef) {
    let _ = retransform(jvm, &[class], DryRun::default());
}

/// Checks whether the JVM would accept the bytes that the hook returns for this class now.
///
/// # Errors
///
/// The error of the JVM.
pub(crate) fn check_class(jvm: Jvm<'_>, class: &GlobalRef) -> Result<(), JvmtiError> {
    let run = DryRun {
        passes: 1,
        ..DryRun::default()
    };
    let (result, run) = retransform(jvm, &[class, class], run);
    match result {
        Err(error) if run.visits < 2 => Err(error),
        _ => Ok(()),
    }
}

fn retransform(
    jvm: Jvm<'_>,
    classes: &[&GlobalRef],
    run: DryRun,
) -> (Result<(), JvmtiError>, DryRun) {
    DRY_RUN.set(Some(run));
    let result = jvm.jvmti.retransform_classes(jvm.live, classes);
    (result, DRY_RUN.take().unwrap_or_default())
}

/// Checks whether this thread is in a dry run, which changes no class.
pub(crate) fn is_under_way() -> bool {
    DRY_RUN.with_borrow(Option::is_some)
}

/// Answers the JVM if this thread is in a dry run of the class. Returns false if the class takes its usual way.
pub(crate) fn intercept(load: &ClassFileLoad<'_>) -> bool {
    if load.class_being_redefined.is_none() {
        return false;
    }
    let is_refused = DRY_RUN.with_borrow_mut(|run| {
        let Some(run) = run else { return false };
        run.visits += 1;
        if run.visits <= run.passes {
            return false;
        }
        run.received = load.class_data.to_vec();
        true
    });
    if is_refused {
        // If the JVM has no memory for the answer, the class is retransformed unchanged: without effect.
        let _ = load.set_new_class_data(&stand_in(load.class_data));
    }
    is_refused
}

/// An empty class file of the same name and version. The JVM parses it, links the loaded class, and refuses it because
/// of its flags at the latest. The result is empty if the name cannot be read.
fn stand_in(class: &[u8]) -> Vec<u8> {
    let (Ok(header), Some(start)) = (ClassHeader::read(class), class.get(..8)) else {
        return Vec::new();
    };
    let mut bytes = start.to_vec();
    let text = |bytes: &mut Vec<u8>, text: &[u8]| {
        bytes.push(constant_tag::UTF8);
        bytes.extend(u16::try_from(text.len()).unwrap_or(0).to_be_bytes());
        bytes.extend(text);
    };
    bytes.extend([0, 5]); // constant_pool_count
    text(&mut bytes, header.this_class().as_bytes());
    bytes.extend([constant_tag::CLASS, 0, 1]);
    text(&mut bytes, b"java/lang/Object");
    bytes.extend([constant_tag::CLASS, 0, 3]);
    // The JVM would accept a class without members if its flags were the same.
    let at = header.access_flags_offset();
    let flags = class.get(at..).and_then(<[u8]>::first_chunk);
    let flags = flags.map_or(0, |flags| u16::from_be_bytes(*flags));
    bytes.extend((flags ^ ACC_SYNTHETIC).to_be_bytes());
    bytes.extend([0, 2, 0, 4]); // this_class, super_class
    bytes.extend([0; 8]); // no interfaces, fields, methods, attributes
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_in_class_file_is_sound_and_has_the_same_name() {
        let class = crate::probe_class::ProbeClass::new(7, false)
            .expect("a class")
            .bytes;
        let bytes = stand_in(&class);
        let [class, other] =
            [&class, &bytes].map(|bytes| rewriter::ClassFile::read(bytes).expect("a class"));
        assert_eq!(class.this_class(), other.this_class());
        assert_eq!(class.major_version(), other.major_version());
        assert_eq!(class.access_flags(), other.access_flags() ^ ACC_SYNTHETIC);
        rewriter::check_soundness(&bytes).expect("a sound class");
        assert!(stand_in(b"no class").is_empty());
    }
}
