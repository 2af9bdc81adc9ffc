//! Helper classes of plugins: their definition, and the handling of helper classes that cannot be
//! defined.

use plan_rules::HelperClass;
use plan_rules::PlanRequest;
use rewriter::ClassFile;

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

    /// Checks that the helper classes have all members that the edited class `made` uses.
    ///
    /// # Errors
    /// If the JVM would fail to link the code. The error names the plugin that provides the helper
    /// class.
    pub(crate) fn expect_helpers_have_what_is_used(
        &self,
        made: &[u8],
    ) -> Result<(), PluginFailure> {
        if !self.needs_helpers() {
            return Ok(());
        }
        let class = ClassFile::read(made).map_err(|error| PluginFailure::unreadable(&error))?;
        self.requests.iter().try_for_each(|asked| {
            let used = plan_rules::check_helper_uses(&class, needed(&asked.request));
            used.map_err(|error| {
                let cause = format!("code that is inserted: {error}");
                PluginFailure::new("H0317", cause).by(&asked.plugin.name)
            })
        })
    }

    /// Defines the helper classes. A plugin with a missing helper class is left out and added to
    /// the failures.
    pub(crate) fn define_helpers(&mut self, loader: &dyn HelperLoader) {
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
                    let failure = PluginFailure::new("H0319", cause);
                    self.failed.push(failure.by(&asked.plugin.name));
                }
            }
        }
    }
}
