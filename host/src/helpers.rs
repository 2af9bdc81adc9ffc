//! Helper classes of plugins: their definition, and the handling of helper classes that cannot be
//! defined.

use errors::codes;
use plan_rules::HelperClass;
use plan_rules::PlanRequest;

use crate::plugin_failure::PluginFailure;
use crate::requests::PlannedClass;

/// Defines the helper classes of a class before its edits name them.
pub trait HelperLoader {
    /// Defines a class in the loader of the edited class, unless that loader has the class.
    ///
    /// # Errors
    /// The reason why the class is missing.
    fn define(&self, helper: &HelperClass) -> Result<(), String>;
}

/// Returns the helper classes that the edits of a request may refer to; none without edits.
pub(crate) fn needed(request: &PlanRequest) -> &[HelperClass] {
    match request.edits() {
        0 => &[],
        _ => &request.helpers,
    }
}

impl PlannedClass {
    /// Checks whether a plugin of this class needs helper classes.
    pub(crate) fn needs_helpers(&self) -> bool {
        let mut requests = self.requests.iter();
        requests.any(|asked| !needed(&asked.request).is_empty())
    }

    /// Iterates over the helper classes of all plugins.
    pub(crate) fn helpers(&self) -> impl Iterator<Item = &HelperClass> {
        let requests = self.requests.iter();
        requests.flat_map(|asked| needed(&asked.request))
    }

    /// Defines the helper classes. A plugin with a missing helper class is left out and added to
    /// the failures. Returns `false` if that is so, and the class must be spliced again.
    pub(crate) fn define_helpers(&mut self, loader: &dyn HelperLoader) -> bool {
        let before = self.requests.len();
        for asked in std::mem::take(&mut self.requests) {
            let helpers = needed(&asked.request).iter();
            let defined = helpers.map(|helper| (&helper.name, loader.define(helper)));
            let failed = defined.into_iter().find_map(|(name, defined)| {
                let cause = defined.err()?;
                Some(format!(
                    "its helper class {name} cannot be defined: {cause}"
                ))
            });
            match failed {
                None => self.requests.push(asked),
                Some(cause) => {
                    asked.plugin.note_refused();
                    let failure = PluginFailure::new(codes::H0319, cause);
                    self.failed.push(failure.by(&asked.plugin.name));
                }
            }
        }
        self.requests.len() == before
    }
}
