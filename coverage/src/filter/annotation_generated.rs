//! Methods and classes with an annotation for generated code.

use super::context::FilterContext;
use super::output::FilterOutput;

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let mut annotations = context
        .class
        .annotations
        .iter()
        .chain(context.method.annotations);
    if annotations.any(|descriptor| is_generated(descriptor)) {
        context.ignore_all(output);
    }
}

/// Checks whether the simple name contains `Generated`.
fn is_generated(descriptor: &str) -> bool {
    let simple = descriptor.rsplit(['/', '$']).next().unwrap_or(descriptor);
    simple.contains("Generated")
}
