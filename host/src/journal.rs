//! What a pipeline did so far, for the summary at exit.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jvms::modified_utf8::Utf8;
use rewriter::MethodIndex;

use crate::class::TransformedClass;
use crate::outcome::{ClassRequest, Failure, MethodRemark, Outcome, Summary};
use crate::requests::PlannedClass;
use crate::splicing::Spliced;
use crate::trouble::Trouble;

/// What happened so far, of any number of threads.
#[derive(Default)]
pub(crate) struct Journal {
    entries: Mutex<Entries>,
    /// Whether an edit made a method longer than HotSpot compiles; asked for each class.
    has_huge_methods: AtomicBool,
}

#[derive(Default)]
struct Entries {
    summary: Summary,
    /// Classes that failed, so that each is reported once.
    failed: HashSet<String>,
}

impl Journal {
    /// What was done so far.
    pub(crate) fn summary(&self) -> Summary {
        self.entries().summary.clone()
    }

    /// Whether an edit made a method longer than HotSpot compiles.
    pub(crate) fn has_huge_methods(&self) -> bool {
        self.has_huge_methods.load(Ordering::Relaxed)
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A class is done: none if no plugin wanted it, else whether it was changed.
    pub(crate) fn done(&self, changed: Option<bool>, time: Duration) -> Outcome {
        let Some(changed) = changed else {
            return Outcome::Unchanged;
        };
        let mut entries = self.entries();
        entries.summary.classes += 1;
        entries.summary.changed += u64::from(changed);
        entries.summary.time += time;
        if changed {
            Outcome::Changed
        } else {
            Outcome::Unchanged
        }
    }

    /// A class is left unchanged, though a plugin wanted it.
    pub(crate) fn failed(&self, request: &ClassRequest<'_>, trouble: Trouble) -> Outcome {
        let failure = Failure {
            code: trouble.fault.code,
            plugin: trouble.plugin,
            class: class_name(request.name),
            method: trouble.method,
            bci: trouble.fault.bci,
            cause: trouble.fault.cause,
            help: trouble.fault.help,
        };
        let mut entries = self.entries();
        entries.summary.classes += 1;
        if entries.failed.insert(failure.class.clone()) {
            entries.summary.failed += 1;
            if entries.summary.failures.len() < Summary::KEPT {
                entries.summary.failures.push(failure.clone());
            }
        }
        Outcome::Failed(failure)
    }

    /// Keeps the plugins' notes about a class.
    pub(crate) fn keep_notes(&self, planned: &PlannedClass) {
        let PlannedClass { class, requests } = planned;
        if requests.iter().all(|asked| asked.request.notes.is_empty()) {
            return;
        }
        let name = class.class().this_class().to_str_lossless().into_owned();
        let mut entries = self.entries();
        let notes = &mut entries.summary.notes;
        for asked in requests {
            let room = Summary::KEPT.saturating_sub(notes.len());
            notes.extend(asked.request.notes.iter().take(room).map(|note| {
                let method = class.method_name(note.point.method).unwrap_or_default();
                format!("{}: {name}.{method}: {}", asked.plugin.name, note.text)
            }));
        }
    }

    /// Keeps what is worth saying about the methods of a class.
    pub(crate) fn keep(&self, class: &TransformedClass, spliced: Spliced) {
        let remark = |(method, text): (MethodIndex, String)| MethodRemark {
            class: class.class().this_class().to_str_lossless().into_owned(),
            method: class.method_name(method).unwrap_or_default(),
            text,
        };
        if !spliced.huge.is_empty() {
            self.has_huge_methods.store(true, Ordering::Relaxed);
        }
        let mut entries = self.entries();
        let summary = &mut entries.summary;
        summary.check_time += spliced.check_time;
        summary.skipped_methods += spliced.skipped.len() as u64;
        summary.huge_methods += spliced.huge.len() as u64;
        let lists = [
            (&mut summary.skipped, spliced.skipped),
            (&mut summary.huge, spliced.huge),
        ];
        for (kept, more) in lists {
            let room = Summary::KEPT.saturating_sub(kept.len());
            kept.extend(more.into_iter().take(room).map(remark));
        }
    }
}

/// A name for display; the JVM gives none for some classes made at run time.
fn class_name(name: &[u8]) -> String {
    match name {
        [] => "(a class without a name)".to_owned(),
        name => Utf8::new(name).to_str_lossless().into_owned(),
    }
}
