//! The plugins' requests for one class.

use std::sync::Arc;

use plan_rules::PlanRequest;
use rewriter::ClassEdit;
use smallvec::SmallVec;

use crate::class::TransformedClass;
use crate::class_key::ClassKey;
use crate::instance::Fault;
use crate::lent::LentMemory;
use crate::plugin::Plugin;
use crate::trouble::Trouble;

/// The request of one plugin.
pub(crate) struct PluginRequest {
    /// The plugin.
    pub(crate) plugin: Arc<Plugin>,
    /// The request.
    pub(crate) request: PlanRequest,
}

/// A plugin to call for a class.
pub(crate) struct Asked<'p> {
    /// The plugin.
    pub(crate) plugin: &'p Arc<Plugin>,
    /// The key of its plans for the class, if already computed.
    pub(crate) key: Option<ClassKey>,
    /// `true` if the plugin sees the class.
    pub(crate) is_shown: bool,
    /// `true` if its spans need an edit in the class.
    pub(crate) follows: bool,
}

/// A class with its plugins' requests, in the order of the configuration.
pub(crate) struct PlannedClass {
    /// The class that the plugins saw.
    pub(crate) class: TransformedClass,
    /// The request of each plugin.
    pub(crate) requests: SmallVec<[PluginRequest; 2]>,
    /// The failures of plugins whose requests are left out.
    pub(crate) failed: Vec<Trouble>,
}

impl PlannedClass {
    /// Calls each plugin for the class; a plugin's failure does not affect the others.
    ///
    /// # Errors
    /// If a trap lost the class.
    pub(crate) fn ask<'p>(
        mut class: TransformedClass,
        plugins: impl Iterator<Item = Asked<'p>>,
        memory: &mut LentMemory,
    ) -> Result<Self, Trouble> {
        let (mut requests, mut failed) = (SmallVec::new(), Vec::new());
        for asked in plugins {
            let Asked { plugin, key, .. } = asked;
            let mut earlier = memory.requests.pop().unwrap_or_default();
            if !asked.is_shown {
                earlier.clear();
                earlier.follows_continuations = asked.follows;
                requests.push(PluginRequest {
                    plugin: Arc::clone(plugin),
                    request: earlier,
                });
                continue;
            }
            let (given_back, result) = plugin.transform(class, key, earlier);
            let method = |fault: &Fault| {
                given_back
                    .as_ref()
                    .and_then(|class| class.method_name(fault.method?))
            };
            match result {
                Ok(mut request) => {
                    request.follows_continuations = asked.follows;
                    requests.push(PluginRequest {
                        plugin: Arc::clone(plugin),
                        request,
                    });
                }
                Err(fault) => failed.push(Trouble {
                    plugin: plugin.name.clone(),
                    method: method(&fault),
                    fault,
                }),
            }
            class = given_back.ok_or_else(|| Trouble::unreadable(&"it was lost on the way"))?;
        }
        Ok(Self {
            class,
            requests,
            failed,
        })
    }

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
    pub(crate) fn lend(self, memory: &mut LentMemory) {
        memory.class = self.class.into_memory();
        let requests = self.requests.into_iter();
        requests.for_each(|asked| memory.take_request(asked.request));
    }

    /// Returns the class file that replaces the class, and the plugin that requested it.
    ///
    /// # Errors
    /// If two plugins replace the class, or another one edits its structure, since a class file has
    /// a fixed shape.
    pub(crate) fn replacement(&self) -> Result<Option<(&str, &[u8])>, Trouble> {
        let mut all = self.requests.iter().filter_map(|asked| {
            let bytes = asked.request.replacement.as_deref()?;
            Some((asked.plugin.name.as_str(), bytes))
        });
        let (first, second) = (all.next(), all.next());
        let conflict = |text| Err(Trouble::of_class("H0304", text));
        match (first, second) {
            (Some((by, _)), Some((other, _))) => {
                conflict(format!("both {by} and {other} give it another class file"))
            }
            (Some((by, _)), None) if self.structural_edits().next().is_some() => conflict(format!(
                "{by} gives it another class file, and its members or names are changed as well"
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
