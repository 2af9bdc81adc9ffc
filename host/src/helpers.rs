//! Helper classes that plugins bring: who defines them, and what becomes of a plugin whose classes are not to be had.

use plan_rules::PlanRequest;
use rewriter::{ClassFile, HelperClass};

use crate::requests::PlannedClass;
use crate::trouble::Trouble;

/// Defines the helper classes of a class before its edits name them.
pub trait HelperLoader {
    /// Defines a class by the loader of the class that is edited, unless that loader has it.
    ///
    /// # Errors
    /// Why it is not there.
    fn define(&self, helper: &HelperClass) -> Result<(), String>;
}

/// The helper classes that the edits of a request may name; none if there are no edits.
pub(crate) fn needed(request: &PlanRequest) -> &[HelperClass] {
    match request.edits() {
        0 => &[],
        _ => &request.helpers,
    }
}

impl PlannedClass {
    /// Whether a plugin brings helper classes.
    pub(crate) fn needs_helpers(&self) -> bool {
        let mut requests = self.requests.iter();
        requests.any(|asked| !needed(&asked.request).is_empty())
    }

    /// The helper classes of all plugins.
    pub(crate) fn helpers(&self) -> impl Iterator<Item = &HelperClass> {
        let requests = self.requests.iter();
        requests.flat_map(|asked| needed(&asked.request))
    }

    /// Expects that the helper classes have what the code of the class, as it is made, uses of them.
    ///
    /// # Errors
    /// If the JVM would not link the code; the plugin that brings the helper class is to blame.
    pub(crate) fn expect_helpers_have_what_is_used(&self, made: &[u8]) -> Result<(), Trouble> {
        if !self.needs_helpers() {
            return Ok(());
        }
        let class = ClassFile::read(made).map_err(|error| Trouble::unreadable(&error))?;
        self.requests.iter().try_for_each(|asked| {
            let used = rewriter::check_helper_uses(&class, needed(&asked.request));
            used.map_err(|error| Trouble {
                plugin: asked.plugin.name.clone(),
                ..Trouble::of_class("H0317", format!("code that is inserted: {error}"))
            })
        })
    }

    /// Has the helper classes defined; a plugin of which one is not there is left out, and added to the failed ones.
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
                    self.failed.push(Trouble {
                        plugin: asked.plugin.name.clone(),
                        ..Trouble::of_class("H0319", cause)
                    });
                }
            }
        }
    }
}
