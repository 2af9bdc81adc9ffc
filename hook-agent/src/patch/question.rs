//! Asking the JVM about a class without changing it.
//!
//! `RetransformClasses` is all or nothing, and a class is read, compared and verified before anything is
//! paused. So a class that is handed over once more with other flags, which the JVM always refuses
//! (JVM TI error 70), brings all answers and no change.

use crate::agent::Agent;
use crate::ffi::callbacks::ClassFileLoad;
use crate::ffi::error::JvmtiError;
use crate::ffi::phases::Live;
use crate::ffi::refs::GlobalRef;
use crate::this_class;
use std::cell::RefCell;

/// What this thread asks while it retransforms a class.
#[derive(Debug)]
struct Question {
    /// Times that the class may come through the hook as it is; the next one is refused.
    passes: u32,
    /// Times that it came.
    visits: u32,
    /// What the JVM handed over when it was refused.
    seen: Vec<u8>,
}

thread_local! {
    static QUESTION: RefCell<Option<Question>> = const { RefCell::new(None) };
}

/// The class file that the JVM would hand over for a retransformation.
///
/// # Errors
///
/// Why it does not hand it over.
pub(crate) fn class_file(
    agent: &Agent,
    phase: Live,
    class: &GlobalRef,
) -> Result<Vec<u8>, JvmtiError> {
    let (result, question) = ask(agent, phase, &[class], 0);
    match (question.visits, result) {
        (0, Err(error)) => Err(error),
        (0, Ok(())) => Err(JvmtiError::NOT_AVAILABLE),
        _ => Ok(question.seen),
    }
}

/// Whether the JVM would take what the hook hands it for this class now.
///
/// # Errors
///
/// What it says instead.
pub(crate) fn verdict(agent: &Agent, phase: Live, class: &GlobalRef) -> Result<(), JvmtiError> {
    let (result, question) = ask(agent, phase, &[class, class], 1);
    match result {
        Err(error) if question.visits < 2 => Err(error),
        _ => Ok(()),
    }
}

fn ask(
    agent: &Agent,
    phase: Live,
    classes: &[&GlobalRef],
    passes: u32,
) -> (Result<(), JvmtiError>, Question) {
    let question = Question {
        passes,
        visits: 0,
        seen: Vec::new(),
    };
    QUESTION.set(Some(question));
    let result = agent.jvmti().retransform_classes(phase, classes);
    let question = QUESTION.take().unwrap_or(Question {
        passes,
        visits: 0,
        seen: Vec::new(),
    });
    (result, question)
}

/// Answers the JVM if this thread has a question about the class; false if the class goes its usual way.
pub(crate) fn answered(load: &ClassFileLoad<'_>) -> bool {
    if load.class_being_redefined.is_none() {
        return false;
    }
    let refuse = QUESTION.with_borrow_mut(|question| {
        let question = question.as_mut()?;
        question.visits += 1;
        (question.visits > question.passes).then(|| question.seen = load.class_data.to_vec())
    });
    if refuse.is_none() {
        return false;
    }
    // If there is no memory for the answer the class is retransformed as it came: without effect.
    let _ = load.set_new_class_data(&refused(load.class_data));
    true
}

/// The class file with another `ACC_SYNTHETIC`: well formed, and nothing that a class can be changed to.
fn refused(class: &[u8]) -> Vec<u8> {
    const SYNTHETIC: u8 = 0x10;
    let mut bytes = class.to_vec();
    let flags = this_class::access_flags_at(class).and_then(|at| bytes.get_mut(at));
    match flags {
        Some(high) => *high ^= SYNTHETIC,
        None => bytes.clear(),
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_that_is_to_be_refused_differs_in_one_flag() {
        let class = crate::probe_class::ProbeClass::new(7, false)
            .expect("a class")
            .bytes;
        let other = refused(&class);
        let flags = |bytes: &[u8]| {
            rewriter::ClassFile::read(bytes)
                .expect("a class")
                .access_flags()
        };
        assert_eq!(flags(&other), flags(&class) ^ 0x1000);
        let differing = class.iter().zip(&other).filter(|(one, other)| one != other);
        assert_eq!((differing.count(), class.len()), (1, other.len()));
        assert!(refused(b"no class").is_empty());
    }
}
