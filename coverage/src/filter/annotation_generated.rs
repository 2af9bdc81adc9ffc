//! What an annotation says was generated.

use super::{Effects, Subject};

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    let mut annotations = subject
        .class
        .annotations
        .iter()
        .chain(&subject.method.annotations);
    if annotations.any(|descriptor| is_generated(descriptor)) {
        subject.ignore_all(effects);
    }
}

/// Whether the simple name contains `Generated`.
fn is_generated(descriptor: &str) -> bool {
    let simple = descriptor.rsplit(['/', '$']).next().unwrap_or(descriptor);
    simple.contains("Generated")
}
