//! Manually created traces, as recordings of event files.

use probes::events::{Aggregate, EventWriter, Trace};
use tempfile::TempDir;
use trace::recording::{Recording, Scratch};

/// Returns recordings of event files with these traces, and the folder that contains them.
pub fn recorded(traces: &[Trace]) -> (TempDir, Vec<Recording>) {
    let folder = tempfile::tempdir().unwrap();
    let recordings = traces.iter().map(|trace| one(trace, &folder));
    let recordings = recordings.collect();
    (folder, recordings)
}

fn one(trace: &Trace, folder: &TempDir) -> Recording {
    let mut writer = EventWriter::create(folder.path(), &trace.meta).unwrap();
    for span in trace.spans.values().chain(trace.places.values()) {
        writer.span(span);
    }
    for thread in trace.threads.values() {
        writer.thread(thread);
    }
    let is_virtual = |thread| trace.threads.get(&thread).is_some_and(|it| it.is_virtual);
    for call in &trace.calls {
        writer.call(call, is_virtual(call.thread));
    }
    for moment in &trace.moments {
        writer.moment(moment.clone(), is_virtual(moment.thread));
    }
    writer.aggregates(trace.aggregates.iter().map(|(span, sums)| (*span, sums)));
    for (place, count) in &trace.reached {
        let sums = Aggregate {
            count: *count,
            ..Aggregate::default()
        };
        writer.aggregates([(*place, &sums)]);
    }
    writer.counts(trace.counts.iter().map(|(span, count)| (*span, *count)));
    writer.lost(&trace.lost);
    writer.complete().unwrap();
    let mut recording = Recording::read(writer.path(), &Scratch::default()).unwrap();
    recording.trace.incomplete = trace.incomplete.clone();
    recording
}
