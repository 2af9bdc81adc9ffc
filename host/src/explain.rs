//! Explains the edits that plugins request for a class.

use class_text::{Remark, RemarkContent};
use plan_rules::HelperClass;
use plan_rules::{ProbeKind, Row, Tag};
use probes::ProbeTable;
use rewriter::{ClassEdit, InsertionPoint, Location, MethodIndex};

use crate::class::TransformedClass;
use crate::helpers;
use crate::journal::Journal;
use crate::outcome::{ClassRequest, Outcome};
use crate::pipeline::{Pipeline, TransformListener};
use crate::requests::{PlannedClass, PluginRequest};
use crate::spliced::Spliced;
use crate::storage::Storage;

/// The plan for one class, as computed on the way to its new bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Names of the plugins that were called, in order; empty if no plugin selects the class.
    pub asked: Vec<String>,
    /// The same plugins with their places, the outermost first.
    pub order: Vec<(String, i16)>,
    /// Edits of the class itself, with the names of the plugins.
    pub class_edits: Vec<(String, ClassEdit)>,
    /// The plugin that replaces the class file, and the length of the new one in bytes.
    pub replaced: Option<(String, usize)>,
    /// Helper classes, with the names of the plugins that define them.
    pub helpers: Vec<(String, HelperClass)>,
    /// Other edits and notes, in each plugin's order; then remarks about the result.
    pub remarks: Vec<Explained>,
    /// Methods that were left unchanged, with the reason.
    pub skipped: Vec<(MethodIndex, String)>,
}

/// An edit or a note of one plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Explained {
    /// An edit or a span; its probe is numbered by its plugin.
    Edit {
        /// Name of the plugin.
        plugin: String,
        /// The insertion point.
        site: InsertionPoint,
        /// The edit as text, with inserted code in the lines below: `hit 3`, `span 0 arguments 1
        /// returned limit 80`.
        text: String,
    },
    /// A line for people.
    Note {
        /// Name of the plugin.
        plugin: String,
        /// The point that the note is about.
        site: InsertionPoint,
        /// The text of the note.
        text: String,
    },
}

impl Explained {
    /// The printable form.
    #[must_use]
    pub fn remark(&self) -> Remark<'_> {
        let (by, site, content) = match self {
            Self::Edit { plugin, site, text } => (plugin, site, RemarkContent::Insert(text)),
            Self::Note { plugin, site, text } => (plugin, site, RemarkContent::Note(text)),
        };
        Remark {
            point: *site,
            by,
            content,
        }
    }
}

impl TransformListener for Explanation {
    fn planned(&mut self, planned: &PlannedClass) {
        for PluginRequest { plugin, request } in &planned.requests {
            self.asked.push(plugin.name.clone());
            if let Some(bytes) = &request.replacement {
                self.replaced = Some((plugin.name.clone(), bytes.len()));
            }
            let helpers = helpers::needed(request).iter();
            self.helpers
                .extend(helpers.map(|helper| (plugin.name.clone(), helper.clone())));
            let class_edits = request.plan.class_edits().iter();
            self.class_edits
                .extend(class_edits.map(|edit| (plugin.name.clone(), edit.clone())));
            let edits = request.plan.edits().iter().map(|edit| Explained::Edit {
                plugin: plugin.name.clone(),
                site: edit.point,
                text: request.plan.describe(edit.action),
            });
            self.remarks.extend(edits);
            let spans = request.spans.as_slice().iter().map(|span| Explained::Edit {
                plugin: plugin.name.clone(),
                site: InsertionPoint {
                    method: span.method,
                    location: Location::Entry,
                },
                text: span.to_string(),
            });
            self.remarks.extend(spans);
            let events = (0..).zip(&request.events);
            let events = events.map(|(number, event): (u32, _)| Explained::Edit {
                plugin: plugin.name.clone(),
                site: event.point,
                text: format!("event {number}: {}", event.values),
            });
            self.remarks.extend(events);
            self.order.push((plugin.name.clone(), plugin.order));
            let notes = request.notes.iter().map(|note| Explained::Note {
                plugin: plugin.name.clone(),
                site: note.point,
                text: note.text.clone(),
            });
            self.remarks.extend(notes);
            let tags = request.tags.iter().map(|tag| Explained::Note {
                plugin: plugin.name.clone(),
                site: tag.point,
                text: tag_text(tag),
            });
            self.remarks.extend(tags);
        }
        self.order.sort_by_key(|(_, order)| *order);
    }

    fn spliced(&mut self, _: &TransformedClass, spliced: &Spliced) {
        self.skipped.extend_from_slice(&spliced.skipped);
        self.skipped.extend_from_slice(&spliced.partly);
        let huge = spliced.huge.iter().map(|(method, text)| Explained::Note {
            plugin: "classhook".to_owned(),
            site: InsertionPoint {
                method: *method,
                location: Location::Entry,
            },
            text: text.clone(),
        });
        self.remarks.extend(huge);
    }
}

/// Formats `tag of hits 3 to 5: text`, and escapes bytes that are not printable ASCII.
fn tag_text(tag: &Tag) -> String {
    let (first, last) = (tag.first, tag.first + tag.count.saturating_sub(1));
    let kind = match tag.kind {
        ProbeKind::Hit => "hits",
        ProbeKind::Count => "counts",
        ProbeKind::Span => "spans",
        ProbeKind::Event => "events",
    };
    let text = match Row::of_tag(&tag.bytes) {
        Some(row) => row.to_string(),
        None => tag.bytes.escape_ascii().to_string(),
    };
    format!("tag of {kind} {first} to {last}: {text}")
}

impl Pipeline {
    /// Runs [`Pipeline::transform`] and returns the plan as well. The pipeline's counters ignore
    /// this call.
    ///
    /// The plan is as complete as the work before the outcome.
    pub fn explain(
        &self,
        request: &ClassRequest<'_>,
        table: &ProbeTable,
        out: &mut Vec<u8>,
    ) -> (Outcome, Explanation) {
        let mut explanation = Explanation::default();
        let (storage, journal) = (Storage::Shared(table), Journal::default());
        let outcome = self.run(
            request,
            storage,
            None,
            out,
            Some(&mut explanation),
            &journal,
        );
        (outcome, explanation)
    }
}
