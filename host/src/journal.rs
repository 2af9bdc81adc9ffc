//! Counters and notes of a pipeline, for the summary at exit.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jvms::modified_utf8::Utf8;
use rewriter::MethodIndex;

use crate::class::TransformedClass;
use crate::outcome::{ClassRequest, MethodRemark, Outcome, Summary};
use crate::plugin_failure::PluginFailure;
use crate::requests::PlannedClass;
use crate::spliced::Spliced;

/// The beginning of notes about methods that a plugin leaves alone, as the WIT defines it.
const LEFT_OUT: &str = "left out: ";

/// Counters and notes of a pipeline, shared by all threads.
#[derive(Default)]
pub(crate) struct Journal {
    entries: Mutex<Entries>,
    /// `true` once an edit made a method longer than HotSpot compiles; read for each class.
    has_huge_methods: AtomicBool,
}

#[derive(Default)]
struct Entries {
    summary: Summary,
    /// Classes on which plugins failed. Each class is counted once, and reported once per plugin.
    failed: HashMap<String, Vec<String>>,
}

impl Journal {
    /// Returns the summary so far.
    pub(crate) fn summary(&self) -> Summary {
        self.entries().summary.clone()
    }

    /// Returns whether an edit made a method longer than HotSpot compiles.
    pub(crate) fn has_huge_methods(&self) -> bool {
        self.has_huge_methods.load(Ordering::Relaxed)
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a class that a plugin selected; `failed` lists the plugins whose edits it lacks.
    pub(crate) fn done(
        &self,
        request: &ClassRequest<'_>,
        changed: bool,
        failed: Vec<PluginFailure>,
        time: Duration,
    ) -> Outcome {
        let mut entries = self.entries();
        let Entries {
            summary,
            failed: known,
        } = &mut *entries;
        summary.classes += 1;
        summary.changed += u64::from(changed);
        summary.time += time;
        if failed.is_empty() {
            return if changed {
                Outcome::Changed
            } else {
                Outcome::Unchanged
            };
        }
        let class = class_name(request.name);
        let reported = known.entry(class.clone()).or_insert_with(|| {
            summary.failed += 1;
            Vec::new()
        });
        let failures = failed
            .into_iter()
            .map(|failure| failure.on_class(&class, changed));
        let failures: Vec<PluginFailure> = failures.collect();
        for failure in &failures {
            if reported.contains(&failure.plugin) {
                continue;
            }
            reported.push(failure.plugin.clone());
            if summary.failures.len() < Summary::KEPT {
                summary.failures.push(failure.clone());
            }
        }
        Outcome::Failed { changed, failures }
    }

    /// Stores the plugins' notes about a class.
    pub(crate) fn keep_notes(&self, planned: &PlannedClass) {
        let PlannedClass {
            class, requests, ..
        } = planned;
        if requests.iter().all(|asked| asked.request.notes.is_empty()) {
            return;
        }
        let name = class.class().this_class().to_str_lossless().into_owned();
        let mut entries = self.entries();
        let summary = &mut entries.summary;
        for asked in requests {
            for note in &asked.request.notes {
                let reason = note.text.strip_prefix(LEFT_OUT);
                summary.skipped_methods += u64::from(reason.is_some());
                let has_room = match reason {
                    Some(_) => summary.skipped.len() < Summary::KEPT,
                    None => summary.notes.len() < Summary::KEPT,
                };
                if !has_room {
                    continue;
                }
                let method = class.method_name(note.point.method).unwrap_or_default();
                match reason {
                    Some(reason) => summary.skipped.push(MethodRemark {
                        class: name.clone(),
                        method,
                        text: format!("{}: {reason}", asked.plugin.name),
                    }),
                    None => summary.notes.push(format!(
                        "{}: {name}.{method}: {}",
                        asked.plugin.name, note.text
                    )),
                }
            }
        }
    }

    /// Stores the remarks about the methods of a class.
    pub(crate) fn keep(&self, class: &TransformedClass, spliced: Spliced) {
        let remark = |(method, text): (MethodIndex, String)| MethodRemark {
            class: class.class().this_class().to_str_lossless().into_owned(),
            method: class.method_name(method).unwrap_or_default(),
            text,
        };
        if spliced.is_empty() {
            return;
        }
        if !spliced.huge.is_empty() {
            self.has_huge_methods.store(true, Ordering::Relaxed);
        }
        let mut entries = self.entries();
        let summary = &mut entries.summary;
        summary.check_time += spliced.check_time;
        let left_alone = spliced.skipped.len() + spliced.partly.len();
        summary.skipped_methods += left_alone as u64;
        summary.huge_methods += spliced.huge.len() as u64;
        let lists = [
            (
                &mut summary.skipped,
                [spliced.skipped, spliced.partly].concat(),
            ),
            (&mut summary.huge, spliced.huge),
        ];
        for (kept, more) in lists {
            let room = Summary::KEPT.saturating_sub(kept.len());
            kept.extend(more.into_iter().take(room).map(remark));
        }
    }
}

/// Returns a name for display. The JVM passes no name for some classes generated at run time.
fn class_name(name: &[u8]) -> String {
    match name {
        [] => "(unnamed class)".to_owned(),
        name => Utf8::new(name).to_str_lossless().into_owned(),
    }
}
