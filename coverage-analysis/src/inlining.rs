//! Lines of inline functions that classes outside of the report execute, such as test classes.

use class_description::{Arena, describe_as};
use coverage::analysis::{analyze_as, has_inlined_lines};
use coverage::filter::Counting;
use coverage::model::ClassCoverage;
use coverage_inputs::execution_data::{ExecutionDataStore, MeasuredClass};
use rayon::prelude::*;

/// Returns the recorded classes that execute lines of other classes. With JaCoCo's counting the
/// list is empty.
pub fn classes(recorded: &ExecutionDataStore, counting: Counting) -> Vec<ClassCoverage> {
    if counting == Counting::Jacoco {
        return Vec::new();
    }
    let analysed = |class: &MeasuredClass| {
        let lines = recorded.begun_lines(class.id);
        analysed(class, Some(&class.probes), lines)
    };
    recorded.classes.par_iter().filter_map(analysed).collect()
}

/// Analyses a class with these hits, if it holds lines of other classes.
pub fn analysed(
    class: &MeasuredClass,
    probes: Option<&[bool]>,
    lines: &[bool],
) -> Option<ClassCoverage> {
    let bytes = class.bytes.as_ref()?.inflate().ok()?;
    let arena = Arena::new();
    let description = describe_as(class.id, &bytes, &arena).ok()?;
    if !has_inlined_lines(&description) {
        return None;
    }
    analyze_as(Counting::Source, &description, probes, lines).ok()
}
