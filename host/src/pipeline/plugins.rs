//! The plugins of a pipeline: their selections, their states, and the summary of their work.

use std::sync::Arc;

use jvm_events::EventSubscription;

use super::Pipeline;
use crate::code_source::CodeSource;
use crate::exclusions::is_excluded;
use crate::observer::Observer;
use crate::observer::config::ObserverConfig;
use crate::outcome::{Loader, Summary};
use crate::plugin::{Plugin, PluginState};
use crate::pool_names::PoolNames;
use crate::selector::Verdict;

impl Pipeline {
    /// Checks whether any plugin may select this class by name, loader and location. Allocates
    /// nothing.
    #[must_use]
    pub fn wants(&self, name: &[u8], loader: &Loader, location: CodeSource<'_>) -> bool {
        !is_excluded(name)
            && self
                .plugins
                .iter()
                .any(|plugin| plugin.wants(name, loader, location) != Verdict::No)
    }

    /// Returns whether any plugin's selectors need a class's location.
    #[must_use]
    pub fn needs_location(&self) -> bool {
        self.plugins.iter().any(|plugin| plugin.needs_location())
    }

    /// Checks whether no plugin selects a class by its name, loader and location alone. Then the names
    /// in its constant pool may rule the class out.
    #[must_use]
    pub fn needs_pool(&self, name: &[u8], loader: &Loader, location: CodeSource<'_>) -> bool {
        let is_sure = |plugin: &Plugin| {
            plugin.wants(name, loader, location) == Verdict::Yes && !plugin.needs_fields()
        };
        !self.plugins.iter().any(|plugin| is_sure(plugin))
    }

    /// Like [`Pipeline::wants`], for a loaded class with these names in its constant pool. A class
    /// that no plugin wants need not be read and retransformed.
    #[must_use]
    pub fn wants_of_pool(
        &self,
        name: &[u8],
        loader: &Loader,
        location: CodeSource<'_>,
        pool: &PoolNames<'_>,
    ) -> bool {
        let wants = |plugin: &Plugin| {
            let may_select = match plugin.wants(name, loader, location) {
                Verdict::No => false,
                Verdict::Yes => true,
                Verdict::NeedsClass => plugin.may_select(name, loader, pool),
            };
            may_select && plugin.may_need_fields(name, pool)
        };
        !is_excluded(name) && self.plugins.iter().any(|plugin| wants(plugin))
    }

    /// Returns whether plugins may request structural edits; without, [`Pipeline::prepare`] has no
    /// effect.
    #[must_use]
    pub fn may_edit_structure(&self) -> bool {
        self.plugins
            .iter()
            .any(|plugin| plugin.natives || plugin.structure)
    }

    /// Returns the summary of the work so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = self.journal.summary();
        let failed = |plugin: &Arc<Plugin>| plugin.failed(&summary.failures);
        summary.failed_plugins = self.plugins.iter().filter_map(failed).collect();
        summary.plugin_time = self.plugins.iter().map(|plugin| plugin.spent()).sum();
        summary.strict_failure = self.strict && summary.failed > 0;
        for counts in self
            .plugins
            .iter()
            .filter_map(|plugin| plugin.plan_counts())
        {
            summary.plans.get_or_insert_default().add(counts);
        }
        summary
    }

    /// Writes new plans to the plan cache; without `now` only those that have waited long enough.
    pub fn write_plans(&self, now: bool) {
        self.plugins
            .iter()
            .for_each(|plugin| plugin.write_plans(now));
    }

    /// Returns whether an edit made a method longer than HotSpot compiles.
    #[must_use]
    pub fn has_huge_methods(&self) -> bool {
        self.journal.has_huge_methods()
    }

    /// Creates an observer for each observing plugin, except for disabled and switched-off ones.
    #[must_use]
    pub fn observers(&self) -> Vec<Observer> {
        let observer = |config: &Arc<ObserverConfig>| {
            Observer::new(Arc::clone(&self.runner), Arc::clone(config))
        };
        self.observer_configs().map(observer).collect()
    }

    /// The configurations of the observing plugins, without disabled and switched-off ones.
    fn observer_configs(&self) -> impl Iterator<Item = &Arc<ObserverConfig>> {
        let plugins = self.plugins.iter();
        let at_work = plugins.filter(|plugin| plugin.state() == PluginState::On);
        let configs = at_work.filter_map(|plugin| plugin.observer.as_ref());
        configs.filter(|config| config.retired().is_none())
    }

    /// The number ([`crate::Observer::number`]) and subscriptions of each observing plugin. The
    /// flag says that it may request owners of monitors.
    pub fn subscriptions(&self) -> impl Iterator<Item = (u64, &[EventSubscription], bool)> {
        self.observer_configs().map(|found| {
            (
                found.number(),
                found.subscriptions(),
                found.requests_owners(),
            )
        })
    }

    /// The names of the plugins, in the order in which their edits are applied.
    pub fn plugins(&self) -> impl Iterator<Item = &str> {
        self.plugins.iter().map(|plugin| plugin.name.as_str())
    }

    /// The states of the plugins, in the order of [`Pipeline::plugins`].
    pub fn states(&self) -> impl Iterator<Item = PluginState> {
        self.plugins.iter().map(|plugin| plugin.state())
    }

    /// For each plugin, the class names in its selectors that matched no class so far, in the order
    /// of [`Pipeline::plugins`]. A rule or pattern with such a name has had no effect.
    pub fn unmatched(&self) -> impl Iterator<Item = Vec<String>> {
        self.plugins.iter().map(|plugin| plugin.unmatched())
    }

    /// For each plugin that may edit classes and requested no edit, the number of classes that it saw, in the order of
    /// [`Pipeline::plugins`].
    pub fn idle(&self) -> impl Iterator<Item = Option<u64>> {
        self.plugins.iter().map(|plugin| plugin.idle())
    }

    /// For each plugin, whether a class with a name in its selectors was not shown, for want of the
    /// capability `boot`, in the order of [`Pipeline::plugins`].
    pub fn lacks_boot(&self) -> impl Iterator<Item = bool> {
        self.plugins.iter().map(|plugin| plugin.lacks_boot())
    }

    /// Disables or enables a plugin. Returns `false` if no plugin has this name. Transformations in
    /// progress may still use the earlier state.
    pub fn enable(&self, plugin: &str, enabled: bool) -> bool {
        let found = self.plugins.iter().find(|found| found.name == plugin);
        found.is_some_and(|found| {
            found.enable(enabled);
            self.prepared.forget();
            true
        })
    }

    /// Like [`Pipeline::wants`], for the plugin of this name.
    #[must_use]
    pub fn plugin_wants(
        &self,
        plugin: &str,
        name: &[u8],
        loader: &Loader,
        location: CodeSource<'_>,
    ) -> bool {
        let found = self.plugins.iter().find(|found| found.name == plugin);
        let wants = |found: &Arc<Plugin>| found.wants(name, loader, location) != Verdict::No;
        !is_excluded(name) && found.is_some_and(wants)
    }
}
