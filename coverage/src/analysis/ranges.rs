//! The numbers of the probes and line starts of each method.

use std::ops::Range;

use super::input;
use crate::class::{ClassDescription, CodeDescription};
use crate::flow::{Labels, Subroutine};

/// Returns the range of probe numbers of each method.
pub(crate) fn probe_ranges(class: &ClassDescription<'_>) -> Vec<Range<usize>> {
    ranges(class, input::probe_count)
}

/// Returns the range of line start numbers of each method.
pub(crate) fn line_ranges(class: &ClassDescription<'_>) -> Vec<Range<usize>> {
    ranges(class, |labels, _| labels.line_starts().count())
}

fn ranges(
    class: &ClassDescription<'_>,
    count: impl Fn(&Labels, &CodeDescription<'_>) -> usize,
) -> Vec<Range<usize>> {
    let mut labels = Labels::default();
    let mut next = 0;
    let methods = class.methods.iter();
    let ranges = methods.map(|method| {
        let count = match &method.code {
            Some(code) => match input::mark(&mut labels, code) {
                Ok(()) => count(&labels, code),
                Err(Subroutine { .. }) => 0,
            },
            None => 0,
        };
        let first = next;
        next += count;
        first..next
    });
    ranges.collect()
}
