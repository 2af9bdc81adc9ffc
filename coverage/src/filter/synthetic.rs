//! Synthetic methods, other than the bodies of lambdas.

use super::{Effects, Subject};

const ACC_SYNTHETIC: u16 = 0x1000;

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    let method = subject.method;
    if method.access_flags & ACC_SYNTHETIC == 0 || is_kotlin(subject) {
        return;
    }
    let lambda = method.name.starts_with("lambda$")
        || (is_scala(subject) && method.name.starts_with("$anonfun$"));
    if !lambda {
        subject.ignore_all(effects);
    }
}

fn is_kotlin(subject: &Subject<'_>) -> bool {
    subject
        .class
        .annotations
        .iter()
        .any(|annotation| annotation == "Lkotlin/Metadata;")
}

fn is_scala(subject: &Subject<'_>) -> bool {
    let attributes = &subject.class.attributes;
    attributes
        .iter()
        .any(|name| name == "ScalaSig" || name == "Scala")
}
