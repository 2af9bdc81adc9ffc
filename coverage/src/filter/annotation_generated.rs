//! What an annotation says was generated.

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

/// Whether the simple name contains `Generated`.
fn is_generated(descriptor: &str) -> bool {
    let simple = descriptor.rsplit(['/', '$']).next().unwrap_or(descriptor);
    simple.contains("Generated")
}
