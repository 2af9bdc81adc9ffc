//! Records the result of a class.

use plan_rules::{HelperClass, PlanRequest};
use rewriter::MethodIndex;

use crate::class::TransformedClass;
use crate::journal::Journal;
use crate::plugin_failure::PluginFailure;
use crate::requests::PlannedClass;
use crate::reusable_buffers::ReusableBuffers;
use crate::spliced::{Spliced, SplicedClass};

/// Records the result of a class in the journal, and hands over its bytes in `out`. Returns the
/// failures of its plugins, and leaves its memory to the next class.
pub(super) fn record(
    made: SplicedClass,
    out: &mut Vec<u8>,
    mut listener: Option<&mut dyn TransformListener>,
    journal: &Journal,
    memory: &mut ReusableBuffers,
) -> Vec<PluginFailure> {
    let SplicedClass {
        mut planned,
        spliced,
        ..
    } = made;
    let mut failed = std::mem::take(&mut planned.failed);
    journal.keep_notes(&planned);
    if let Some(listener) = listener.as_deref_mut() {
        listener.planned(&planned);
    }
    match spliced {
        Ok((spliced, bytes)) => {
            if let Some(listener) = listener {
                listener.spliced(&planned.class, &spliced);
            }
            journal.keep(&planned.class, spliced);
            *out = bytes;
        }
        Err(failure) => {
            planned.note_refused();
            failed.push(failure);
        }
    }
    planned.recycle(memory);
    failed
}

/// Listens to the stages of one transformation.
pub(crate) trait TransformListener {
    /// Receives the requests of all plugins.
    fn planned(&mut self, planned: &PlannedClass);

    /// Returns whether the listener also needs classes without any request.
    fn sees_all(&self) -> bool {
        true
    }

    /// Receives the result.
    fn spliced(&mut self, class: &TransformedClass, spliced: &Spliced) {
        let _ = (class, spliced);
    }
}

/// A summary of the plugins' requests for a class.
#[derive(Debug, Default)]
pub struct Requested {
    /// Names of the plugins that requested an edit.
    pub plugins: Vec<String>,
    /// Plugins among them whose only edit was added by the host, so that their spans follow
    /// Kotlin's continuations.
    pub followers: Vec<String>,
    /// `true` if the class records hits by calls ([`probes::HitCode::Call`]).
    pub hits_call: bool,
    /// The helper classes that the edits may refer to.
    pub helpers: Vec<HelperClass>,
    /// Methods without any edit, although plugins requested some.
    pub left_alone: Vec<LeftAloneMethod>,
    /// Methods with some of the requested edits only.
    pub partly: Vec<LeftAloneMethod>,
}

/// A method without some or any of the edits that plugins requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftAloneMethod {
    /// Name and descriptor.
    pub method: String,
    /// The cause as text.
    pub cause: String,
}

impl TransformListener for Requested {
    fn planned(&mut self, planned: &PlannedClass) {
        let requests = planned.requests.iter();
        let requesting = requests.filter(|asked| asked.request.edits() > 0);
        self.plugins
            .extend(requesting.map(|asked| asked.plugin.name.clone()));
        let follows = |request: &PlanRequest| request.follows_continuations && request.edits() == 1;
        let followers = planned
            .requests
            .iter()
            .filter(|asked| follows(&asked.request));
        self.followers
            .extend(followers.map(|asked| asked.plugin.name.clone()));
        self.helpers.extend(planned.helpers().cloned());
    }

    fn sees_all(&self) -> bool {
        false
    }

    fn spliced(&mut self, class: &TransformedClass, spliced: &Spliced) {
        self.hits_call = spliced.hits_call;
        let named = |(method, cause): &(MethodIndex, String)| LeftAloneMethod {
            method: class.method_name(*method).unwrap_or_default(),
            cause: cause.clone(),
        };
        self.left_alone.extend(spliced.skipped.iter().map(named));
        self.partly.extend(spliced.partly.iter().map(named));
    }
}
