//! The rules of retransformation that a class file would break, in the form of a report.

use crate::ffi::error::JvmtiError;
use control::patch::BrokenRule;
use rewriter::ClassFile;

/// The rules that `new` breaks if it replaces `old`; empty if the JVM should accept it.
///
/// `newest` is the highest class-file version that the JVM reads, if that is known.
pub(crate) fn broken_rules(old: &[u8], new: &[u8], newest: Option<u16>) -> Vec<BrokenRule> {
    let (old, new) = match (ClassFile::read(old), ClassFile::read(new)) {
        (Ok(old), Ok(new)) => (old, new),
        // A class file of the JVM that cannot be parsed is left to the JVM's own check.
        (Err(_), _) => return Vec::new(),
        (_, Err(error)) => {
            return vec![rule(JvmtiError::INVALID_CLASS_FORMAT, error.to_string())];
        }
    };
    let mut broken = Vec::new();
    if let Some(newest) = newest.filter(|newest| *newest < new.major_version()) {
        let text = format!(
            "the class file has version {}, which is newer than {newest}, the newest that this JVM reads",
            new.major_version()
        );
        broken.push(rule(JvmtiError::UNSUPPORTED_VERSION, text));
    }
    let found = rewriter::schema::compare(&old, &new);
    broken.extend(found.into_iter().map(|found| BrokenRule {
        name: found.rule.name().to_owned(),
        number: found.rule.number().into(),
        text: format!("{} {}", found.part, found.change),
        by_jvm: false,
        forcible: true,
    }));
    broken
}

/// The rule that the JVM itself reported.
pub(crate) fn refused_by_jvm(error: JvmtiError) -> BrokenRule {
    BrokenRule {
        by_jvm: true,
        ..rule(error, error.description().to_owned())
    }
}

/// A rule of the JVM that the agent found broken.
pub(crate) fn rule(error: JvmtiError, text: String) -> BrokenRule {
    BrokenRule {
        name: error.name(),
        number: error.0,
        text,
        by_jvm: false,
        forcible: false,
    }
}

/// A part of a patch that has no effect in the loaded class; `--force` patches the rest.
pub(crate) fn without_effect(text: String) -> BrokenRule {
    BrokenRule {
        text,
        forcible: true,
        ..BrokenRule::default()
    }
}

/// A rule of the agent.
pub(crate) fn own_rule(text: &str) -> BrokenRule {
    BrokenRule {
        text: text.to_owned(),
        ..BrokenRule::default()
    }
}
