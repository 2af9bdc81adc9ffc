//! The plugins' requests for one class.

use std::sync::Arc;

use errors::codes;
use plan_rules::PlanRequest;
use rewriter::ClassEdit;
use smallvec::SmallVec;

use crate::class::TransformedClass;
use crate::plugin::Plugin;
use crate::plugin_failure::PluginFailure;
use crate::reusable_buffers::ReusableBuffers;

/// The request of one plugin.
pub(crate) struct PluginRequest {
    /// The plugin.
    pub(crate) plugin: Arc<Plugin>,
    /// The request.
    pub(crate) request: PlanRequest,
}

/// A class with its plugins' requests, in the order of the configuration.
pub(crate) struct PlannedClass {
    /// The class that the plugins saw.
    pub(crate) class: TransformedClass,
    /// The request of each plugin.
    pub(crate) requests: SmallVec<[PluginRequest; 2]>,
    /// The failures of plugins whose requests are left out.
    pub(crate) failed: Vec<PluginFailure>,
}

impl PlannedClass {
    /// Returns whether no plugin requested anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.requests.iter().all(|asked| asked.request.is_empty())
    }

    /// Counts for each plugin that its request cannot be applied.
    pub(crate) fn note_refused(&self) {
        let wanting = self.requests.iter().filter(|it| !it.request.is_empty());
        wanting.for_each(|asked| asked.plugin.note_refused());
    }

    /// Leaves the memory to the next class.
    pub(crate) fn recycle(self, memory: &mut ReusableBuffers) {
        memory.class = self.class.into_memory();
        let requests = self.requests.into_iter();
        requests.for_each(|asked| memory.take_request(asked.request));
    }

    /// Returns the class file that replaces the class, and the plugin that requested it.
    ///
    /// # Errors
    /// If two plugins replace the class, or another one edits its structure, since a class file has
    /// a fixed shape.
    pub(crate) fn replacement(&self) -> Result<Option<(&str, &[u8])>, PluginFailure> {
        let mut all = self.requests.iter().filter_map(|asked| {
            let bytes = asked.request.replacement.as_deref()?;
            Some((asked.plugin.name.as_str(), bytes))
        });
        let (first, second) = (all.next(), all.next());
        let conflict = |text| Err(PluginFailure::new(codes::H0304, text));
        match (first, second) {
            (Some((by, _)), Some((other, _))) => {
                conflict(format!("both {by} and {other} replace its class file"))
            }
            (Some((by, _)), None) if self.structural_edits().next().is_some() => conflict(format!(
                "{by} replaces its class file, which also gets structural edits"
            )),
            (first, _) => Ok(first),
        }
    }

    /// Iterates over the structural edits of all plugins: all class edits except new bodies of
    /// methods.
    pub(crate) fn structural_edits(&self) -> impl Iterator<Item = &ClassEdit> {
        let plans = self.requests.iter().map(|asked| &asked.request.plan);
        let edits = plans.flat_map(|plan| plan.class_edits());
        edits.filter(|edit| !matches!(edit, ClassEdit::ReplaceBody { .. }))
    }
}
