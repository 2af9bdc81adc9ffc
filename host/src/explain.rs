//! What the plugins want of a class, rather than what comes of it.

use probes::ProbeTable;
use rewriter::print::{Remark, What};
use rewriter::{ClassEdit, MethodIndex, Place, Site};

use crate::job::{Kind, Tag};
use crate::pipeline::{Observer, Recordings, Spliced};
use crate::storage::Storage;
use crate::{ClassRequest, Outcome, Pipeline};

/// The plan for one class, as it was made on the way to its new bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Names of the plugins that were asked, in order; empty if none wanted the class.
    pub asked: Vec<String>,
    /// Edits of the class itself, with the names of the plugins.
    pub class_edits: Vec<(String, ClassEdit)>,
    /// What else they asked for and noted, each plugin's in its own order; then what is worth knowing
    /// about the result.
    pub remarks: Vec<Explained>,
    /// Methods that were left unchanged after all, and why.
    pub skipped: Vec<(MethodIndex, String)>,
}

/// An edit or a note of one plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Explained {
    /// An edit or a span; its probe is numbered by its plugin.
    Edit {
        /// Name of the plugin.
        plugin: String,
        /// Where.
        site: Site,
        /// What, with the code that is inserted in lines below: `hit 3`, `span 0 arguments 1 returned limit 80`.
        text: String,
    },
    /// A line for people.
    Note {
        /// Name of the plugin.
        plugin: String,
        /// Where.
        site: Site,
        /// What.
        text: String,
    },
}

impl Explained {
    /// As it is printed.
    #[must_use]
    pub fn remark(&self) -> Remark<'_> {
        let (by, site, what) = match self {
            Self::Edit { plugin, site, text } => (plugin, site, What::Insert(text)),
            Self::Note { plugin, site, text } => (plugin, site, What::Note(text)),
        };
        Remark {
            site: *site,
            by,
            what,
        }
    }
}

impl Observer for Explanation {
    fn planned(&mut self, recordings: &Recordings<'_>) {
        for (plugin, recording) in recordings {
            self.asked.push(plugin.name.clone());
            let class_edits = recording.plan.class_edits().iter();
            self.class_edits
                .extend(class_edits.map(|edit| (plugin.name.clone(), edit.clone())));
            let edits = recording.plan.edits().iter().map(|edit| Explained::Edit {
                plugin: plugin.name.clone(),
                site: edit.site,
                text: recording.plan.words(edit.action),
            });
            self.remarks.extend(edits);
            let spans = recording
                .spans
                .as_slice()
                .iter()
                .map(|span| Explained::Edit {
                    plugin: plugin.name.clone(),
                    site: Site {
                        method: span.method,
                        place: Place::Entry,
                    },
                    text: span.to_string(),
                });
            self.remarks.extend(spans);
            let notes = recording.notes.iter().map(|note| Explained::Note {
                plugin: plugin.name.clone(),
                site: note.site,
                text: note.text.clone(),
            });
            self.remarks.extend(notes);
            let tags = recording.tags.iter().map(|tag| Explained::Note {
                plugin: plugin.name.clone(),
                site: tag.site,
                text: tag_text(tag),
            });
            self.remarks.extend(tags);
        }
    }

    fn spliced(&mut self, spliced: &Spliced) {
        self.skipped.extend_from_slice(&spliced.skipped);
        let huge = spliced.huge.iter().map(|(method, text)| Explained::Note {
            plugin: "classhook".to_owned(),
            site: Site {
                method: *method,
                place: Place::Entry,
            },
            text: text.clone(),
        });
        self.remarks.extend(huge);
    }
}

/// `tag of hits 3 to 5: text`, with bytes that are no printable ASCII escaped.
fn tag_text(tag: &Tag) -> String {
    let (first, last) = (tag.first, tag.first + tag.count.saturating_sub(1));
    let kind = match tag.kind {
        Kind::Hit => "hits",
        Kind::Count => "counts",
        Kind::Span => "spans",
    };
    format!(
        "tag of {kind} {first} to {last}: {}",
        tag.bytes.escape_ascii()
    )
}

impl Pipeline {
    /// Does what [`Pipeline::transform`] does, on the same way, and says what was planned.
    ///
    /// The plan is there as far as the work came, whatever the outcome.
    pub fn explain(
        &self,
        request: &ClassRequest<'_>,
        table: &ProbeTable,
        out: &mut Vec<u8>,
    ) -> (Outcome, Explanation) {
        let mut explanation = Explanation::default();
        let outcome = self.observed(request, Storage::Shared(table), out, Some(&mut explanation));
        (outcome, explanation)
    }
}
