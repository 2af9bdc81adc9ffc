//! The pipeline from class bytes to spliced bytes.
//!
//! ```text
//! wants (name, loader) → read → wants (class) → each plugin's plan → slots → splice → self-check
//! ```

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jvm_events::EventSubscription;
use plan_rules::HelperClass;
use plan_rules::PlanRequest;
use probes::ProbeTable;
use rewriter::{ClassFile, MethodIndex};
use smallvec::SmallVec;

use crate::class::{ClassIdentity, TransformedClass};
use crate::class_array::{self, ClassProbes};
use crate::class_key::ClassKey;
use crate::clock::{Clock, MachineClock};
use crate::code_source::CodeSource;
use crate::compilation::Compilation;
use crate::compiler::Compiler;
use crate::config::{Config, OnError, PluginConfig};
use crate::engine;
use crate::exclusions::is_excluded;
use crate::helpers::HelperLoader;
use crate::journal::Journal;
use crate::load_time_plans::{LoadTimePlan, LoadTimePlans, SplicedClass};
use crate::natives;
use crate::observer::Observer;
use crate::observer::config::ObserverConfig;
use crate::outcome::{ClassRequest, Loader, Outcome, Summary};
use crate::plugin::{Plugin, PluginState};
use crate::plugin_failure::PluginFailure;
use crate::plugin_runner::PluginRunner;
use crate::requests::{PlannedClass, PluginToCall};
use crate::reusable_buffers::ReusableBuffers;
use crate::selector::Verdict;
use crate::splicing::{Spliced, apply};
use crate::stack::ScratchBuffers;
use crate::storage::Storage;
use crate::store_data::StoreSettings;
use crate::structural_edits::{StructuralEdits, with_prefixed_natives};
use errors::Error;

/// A plugin that may select a class, as far as the name decides.
struct WantingPlugin<'p> {
    plugin: &'p Arc<Plugin>,
    verdict: Verdict,
    /// The key of its plans for the class, if computed.
    key: Option<ClassKey>,
}

/// The plugins that may select one class. They are few.
type WantingPlugins<'p> = SmallVec<[WantingPlugin<'p>; 4]>;

/// All plugins of one configuration, ready for classes; shared by any number of threads.
pub struct Pipeline {
    plugins: Vec<Arc<Plugin>>,
    runner: Arc<PluginRunner>,
    journal: Journal,
    prepared: LoadTimePlans,
    strict: bool,
}

impl Pipeline {
    /// Loads, checks and configures the plugins; `compiler` compiles those that no cache holds.
    ///
    /// # Errors
    /// `H01xx` for plugin files and configuration, `H02xx` for capabilities that are not granted.
    pub fn new(config: &Config, compiler: &dyn Compiler) -> Result<Self, Error> {
        Self::load(config, compiler, false, Arc::new(MachineClock::default()))
    }

    /// Creates a pipeline whose time limits are measured by `clock`.
    ///
    /// # Errors
    /// Those of [`Pipeline::new`].
    pub fn with_clock(
        config: &Config,
        compiler: &dyn Compiler,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        Self::load(config, compiler, false, clock)
    }

    /// Creates a pipeline that uses the plan cache for plans of earlier runs, unless the
    /// configuration disables it. [`Pipeline::write_plans`] adds to the cache.
    ///
    /// # Errors
    /// Those of [`Pipeline::new`]. An error of the cache is not reported.
    pub fn with_plan_cache(config: &Config, compiler: &dyn Compiler) -> Result<Self, Error> {
        let clock = Arc::new(MachineClock::default());
        Self::load(config, compiler, config.agent.plan_cache, clock)
    }

    fn load(
        config: &Config,
        compiler: &dyn Compiler,
        remembers: bool,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let (engine, ticker) = engine::start()?;
        let running = ticker.run().map_err(|error| engine::broken(&error))?;
        let (file, level) = (config.source.as_deref(), config.agent.log);
        let compilation = Compilation::new(config.agent.cache.as_deref(), compiler);
        let load = |plugin: &PluginConfig| {
            let mut settings = StoreSettings::new(&plugin.name, level);
            settings.clock = Arc::clone(&clock);
            let loaded = Plugin::load(plugin, file, &engine, &compilation, settings, remembers);
            loaded.map(Arc::new)
        };
        let plugins = config.plugins.iter().map(load).collect::<Result<_, _>>()?;
        drop(running);
        let strict = config.agent.on_error == OnError::Strict;
        Ok(Self {
            plugins,
            runner: Arc::new(PluginRunner::new(ticker, config.agent.self_check)),
            journal: Journal::default(),
            prepared: LoadTimePlans::default(),
            strict,
        })
    }

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

    /// Returns whether any plugin's selectors need the name of a class's source file.
    #[must_use]
    pub fn needs_source(&self) -> bool {
        self.plugins.iter().any(|plugin| plugin.needs_source())
    }

    /// Like [`Pipeline::wants`], for a class with this source file. A loaded class that no plugin
    /// selects then need not be read.
    #[must_use]
    pub fn wants_of_source(
        &self,
        name: &[u8],
        loader: &Loader,
        location: CodeSource<'_>,
        source: &[u8],
    ) -> bool {
        let wants = |plugin: &Plugin| match plugin.wants(name, loader, location) {
            Verdict::No => false,
            Verdict::Yes => true,
            Verdict::NeedsClass => plugin.may_want_source(name, loader, source),
        };
        !is_excluded(name) && self.plugins.iter().any(|plugin| wants(plugin))
    }

    /// Returns whether any plugin selects a class only if its instructions access certain fields.
    #[must_use]
    pub fn needs_fields(&self) -> bool {
        self.plugins.iter().any(|plugin| plugin.needs_fields())
    }

    /// Like [`Pipeline::wants`], for a class whose instructions access these fields. A loaded class
    /// that no plugin selects then stays unchanged.
    #[must_use]
    pub fn wants_of_fields(
        &self,
        name: &[u8],
        loader: &Loader,
        location: CodeSource<'_>,
        fields: &[String],
    ) -> bool {
        let wants = |plugin: &Plugin| {
            plugin.wants(name, loader, location) != Verdict::No
                && plugin.may_want_fields(name, fields)
        };
        !is_excluded(name) && self.plugins.iter().any(|plugin| wants(plugin))
    }

    /// Calls the plugins for one class and writes the spliced class file into `out`.
    ///
    /// Runs on a separate stack. Never panics, and blocks only on other transforms. Any error is an
    /// [`Outcome::Failed`], and only the failed plugin's edits are left out.
    pub fn transform(
        &self,
        request: &ClassRequest<'_>,
        table: &ProbeTable,
        out: &mut Vec<u8>,
    ) -> Outcome {
        let storage = Storage::Shared(table);
        self.run(request, storage, None, out, None, &self.journal)
    }

    /// Like [`Pipeline::transform`], for a class that will run without the agent and holds its own
    /// probe array ([`class_array`]). For a changed class, `probes` receives the owners of its
    /// probes. Also returns the helper classes that the class needs.
    pub fn instrument(
        &self,
        request: &ClassRequest<'_>,
        probes: &mut Vec<ClassProbes>,
        out: &mut Vec<u8>,
    ) -> (Outcome, Requested) {
        probes.clear();
        let mut requested = Requested::default();
        let (storage, listener) = (Storage::Own(probes), Some(&mut requested as &mut _));
        let outcome = self.run(request, storage, None, out, listener, &self.journal);
        (outcome, requested)
    }

    /// Like [`Pipeline::transform`], and returns the plugins' requests. `helpers` defines helper
    /// classes on the stack of the caller.
    pub fn transform_by(
        &self,
        request: &ClassRequest<'_>,
        table: &ProbeTable,
        helpers: &dyn HelperLoader,
        out: &mut Vec<u8>,
    ) -> (Outcome, Requested) {
        let mut requested = Requested::default();
        let (storage, listener) = (Storage::Shared(table), Some(&mut requested as &mut _));
        let helpers = Some(helpers);
        let outcome = self.run(request, storage, helpers, out, listener, &self.journal);
        (outcome, requested)
    }

    /// Returns whether plugins may request structural edits; without, [`Pipeline::prepare`] has no
    /// effect.
    #[must_use]
    pub fn may_edit_structure(&self) -> bool {
        self.plugins
            .iter()
            .any(|plugin| plugin.natives || plugin.structure)
    }

    /// Calls the plugins for a class that is being loaded. Returns its structural edits, and the
    /// class file with these. All other requests are computed as well, and kept until
    /// [`Pipeline::transform`] gets the same class. That call also reports the errors; after an
    /// error, no plugin changes the structure of the class.
    #[must_use]
    pub fn prepare(
        &self,
        request: &ClassRequest<'_>,
        table: &ProbeTable,
        helpers: &dyn HelperLoader,
    ) -> Option<(StructuralEdits, Vec<u8>)> {
        let begun = Instant::now();
        let _running = self.runner.run_clock().ok()?;
        let wanting = self.wanting(request);
        if wanting.is_empty() {
            return None;
        }
        let asked = self
            .runner
            .on_stack(|buffers| self.ask(request, wanting, &mut buffers.memory));
        let (edited, done) = match asked.ok()?.transpose()? {
            Ok(planned) => {
                let (edited, done) = self.divided(planned, request, table, helpers).ok()?;
                (edited, Ok(done))
            }
            Err(failure) => (None, Err(failure)),
        };
        let bytes = edited.as_ref().map_or(request.bytes, |(_, bytes)| bytes);
        let time = begun.elapsed();
        let prepared = LoadTimePlan { done, time };
        self.prepared.keep(request, bytes.to_vec(), prepared);
        edited
    }

    /// Returns the structural edits of a class and the result of the whole plan, after the helper
    /// classes of its edits were defined.
    fn divided(
        &self,
        planned: PlannedClass,
        request: &ClassRequest<'_>,
        table: &ProbeTable,
        helpers: &dyn HelperLoader,
    ) -> Result<Divided, String> {
        let divide = |planned| {
            let divided = |buffers: &mut _| divide(planned, request.bytes, table, buffers);
            self.runner.on_stack(divided)
        };
        let (edited, mut done) = divide(planned)?;
        if !done.needs_helpers() || done.define_helpers(helpers) {
            return Ok((edited, done));
        }
        divide(done.planned)
    }

    /// Applies the structural edits that the class got at load time to another class file. Returns
    /// `None` if they do not fit.
    #[must_use]
    pub fn apply_structural_edits(&self, edits: &StructuralEdits, bytes: &[u8]) -> Option<Vec<u8>> {
        let applied = self.runner.on_stack(|_| {
            let class = ClassFile::read(bytes).ok()?;
            edits.apply(&class)
        });
        applied.unwrap_or_default()
    }

    /// Like [`Pipeline::transform`], with a listener; the result is counted in `journal`.
    pub(crate) fn run(
        &self,
        request: &ClassRequest<'_>,
        storage: Storage<'_>,
        helpers: Option<&dyn HelperLoader>,
        out: &mut Vec<u8>,
        listener: Option<&mut dyn TransformListener>,
        journal: &Journal,
    ) -> Outcome {
        out.clear();
        let begun = Instant::now();
        let mut time = Duration::ZERO;
        let prepared = match storage {
            Storage::Shared(_) => self.prepared.take(request),
            Storage::Own(_) => None,
        };
        let done = match prepared {
            Some(prepared) => {
                time = prepared.time;
                let finish = |done| Some(finish(done, out, listener, journal).1);
                Ok(prepared.done.map(finish))
            }
            None => {
                let mut wanting = self.wanting(request);
                if wanting.is_empty() {
                    return Outcome::Unchanged;
                }
                let is_explained = listener.as_deref().is_some_and(TransformListener::sees_all);
                if !is_explained && have_empty_plans(request, &mut wanting) {
                    return journal.done(request, false, Vec::new(), begun.elapsed());
                }
                let work = Work {
                    request,
                    storage,
                    out,
                    listener,
                    journal,
                };
                let running = self.runner.run_clock();
                running.and_then(|_running| self.in_steps(wanting, helpers, work))
            }
        };
        let done = done.unwrap_or_else(|text| Err(PluginFailure::new("H0305", text)));
        let failed = match done {
            Ok(None) => return Outcome::Unchanged,
            Ok(Some(failed)) => failed,
            Err(failure) => vec![failure],
        };
        let changed = !out.is_empty();
        journal.done(request, changed, failed, time + begun.elapsed())
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

    /// Calls the plugins and splices the class on a separate stack. If its edits refer to helper
    /// classes, these are defined on the stack of the caller after the edits were checked. Returns
    /// the plugins' failures, or `None` if no plugin selects the class.
    fn in_steps(
        &self,
        wanting: WantingPlugins<'_>,
        helpers: Option<&dyn HelperLoader>,
        mut work: Work<'_, '_>,
    ) -> Result<Result<Option<Vec<PluginFailure>>, PluginFailure>, String> {
        let mut waiting = None;
        let made = self.runner.on_stack(|buffers| {
            let Some(planned) = self.ask(work.request, wanting, &mut buffers.memory)? else {
                return Ok(None);
            };
            let done = work.splice(planned, buffers);
            match helpers {
                Some(loader) if done.needs_helpers() => {
                    waiting = Some((done, loader));
                    Ok(None)
                }
                _ => Ok(Some(work.finish(done, buffers))),
            }
        });
        let Some((mut done, loader)) = waiting else {
            return made;
        };
        let are_there = done.define_helpers(loader);
        let made = self.runner.on_stack(|buffers| {
            let done = match are_there {
                true => done,
                false => work.splice(done.planned, buffers),
            };
            work.finish(done, buffers)
        });
        made.map(|made| Ok(Some(made)))
    }

    /// Returns the plugins that may select a class by its name.
    fn wanting(&self, request: &ClassRequest<'_>) -> WantingPlugins<'_> {
        if is_excluded(request.name) {
            return WantingPlugins::new();
        }
        let wanting = self.plugins.iter().map(|plugin| WantingPlugin {
            plugin,
            verdict: plugin.wants(request.name, request.loader, request.location),
            key: None,
        });
        wanting.filter(|it| it.verdict != Verdict::No).collect()
    }

    /// Collects the requests of the plugins that select a class. Returns `None` if no plugin
    /// selects it.
    fn ask(
        &self,
        request: &ClassRequest<'_>,
        mut wanting: WantingPlugins<'_>,
        memory: &mut ReusableBuffers,
    ) -> Result<Option<PlannedClass>, PluginFailure> {
        let original = request
            .original
            .filter(|original| is_same_class(request, original));
        let source = original.unwrap_or(request.bytes);
        let first_load = !request.retransforming || original.is_some();
        let (loader, retransforming) = (request.loader, request.retransforming);
        let lent = std::mem::take(&mut memory.class);
        let class = TransformedClass::read(source, loader, retransforming, first_load, lent)
            .map_err(|error| PluginFailure::unreadable(&error))?;
        wanting.retain(
            |WantingPlugin {
                 plugin, verdict, ..
             }| {
                *verdict == Verdict::Yes
                    || plugin.wants_class(request.name, request.loader, class.class())
            },
        );
        if wanting.is_empty() || class_array::is_instrumented(class.class()) {
            return Ok(None);
        }
        let is_shown = |plugin: &Plugin| {
            let (name, loader) = (request.name, request.loader);
            !plugin.follows(name)
                || match plugin.selects(name, loader, request.location) {
                    Verdict::NeedsClass => plugin.wants_class(name, loader, class.class()),
                    verdict => verdict == Verdict::Yes,
                }
        };
        let wanting: SmallVec<[PluginToCall<'_>; 4]> = wanting
            .into_iter()
            .map(|WantingPlugin { plugin, key, .. }| PluginToCall {
                plugin,
                key,
                is_shown: is_shown(plugin),
                follows: plugin.follows(request.name),
            })
            .collect();
        let shown = wanting.iter().filter(|it| it.is_shown);
        shown.for_each(|it| it.plugin.note_seen(request.name));
        let wanting = wanting.into_iter();
        PlannedClass::ask(class, wanting, memory).map(Some)
    }
}

/// Checks whether the plan cache has an empty plan of every plugin that selects a class. The class
/// then need not be read, and the empty plan counts as each plugin's answer. Stores the computed
/// keys in `wanting`.
fn have_empty_plans(request: &ClassRequest<'_>, wanting: &mut WantingPlugins<'_>) -> bool {
    // The original of a retransformed class may be another file; only reading both can tell.
    let is_read_first = request.retransforming && request.original.is_some();
    let is_open =
        |it: &WantingPlugin<'_>| it.verdict != Verdict::Yes || it.plugin.follows(request.name);
    if is_read_first || wanting.iter().any(is_open) {
        return false;
    }
    let class = ClassIdentity {
        bytes: request.original.unwrap_or(request.bytes),
        loader: request.loader,
        retransforming: request.retransforming,
        first_load: !request.retransforming,
    };
    let asks_nothing = |it: &mut WantingPlugin<'_>| {
        it.key = it.plugin.key(&class);
        let key = it.key.as_ref();
        key.is_some_and(|key| it.plugin.has_empty_plan(key))
    };
    if !wanting.iter_mut().all(asks_nothing) {
        return false;
    }
    for WantingPlugin { plugin, key, .. } in wanting {
        if let Some(key) = key {
            plugin.note_empty_plan(request.name, key);
        }
    }
    true
}

/// A class in progress, and the targets of the result.
struct Work<'w, 'o> {
    request: &'w ClassRequest<'w>,
    storage: Storage<'w>,
    out: &'w mut Vec<u8>,
    listener: Option<&'w mut (dyn TransformListener + 'o)>,
    journal: &'w Journal,
}

impl Work<'_, '_> {
    fn splice(&mut self, planned: PlannedClass, buffers: &mut ScratchBuffers) -> SplicedClass {
        let memory = std::mem::take(self.out);
        splice(planned, self.request, self.storage.again(), buffers, memory)
    }

    /// Records the result, and returns the plugins' failures.
    fn finish(&mut self, done: SplicedClass, buffers: &mut ScratchBuffers) -> Vec<PluginFailure> {
        let listener = self.listener.as_deref_mut();
        let listener = listener.map(|it| it as &mut dyn TransformListener);
        let (planned, failed) = finish(done, self.out, listener, self.journal);
        planned.recycle(&mut buffers.memory);
        failed
    }
}

/// Applies the edits of a class, and writes its new bytes to `out`.
fn splice(
    mut planned: PlannedClass,
    request: &ClassRequest<'_>,
    storage: Storage<'_>,
    buffers: &mut ScratchBuffers,
    mut out: Vec<u8>,
) -> SplicedClass {
    let mut bytes = Cow::Borrowed(request.bytes);
    if let Some(original) = request.original
        && !request.retransforming
        && planned.structural_edits().next().is_some()
    {
        // The JVM's bytes contain the edits that the class got at load time.
        bytes = with_prefixed_natives(original, request.bytes);
    }
    let bytes = planned.class.fitting(bytes);
    let spliced = apply(&mut planned, &bytes, storage, buffers, &mut out);
    let spliced = spliced.map(|spliced| (spliced, out));
    SplicedClass { planned, spliced }
}

/// Records the result of a class in the journal and copies it to `out`. Returns the class and the
/// failures.
fn finish(
    done: SplicedClass,
    out: &mut Vec<u8>,
    mut listener: Option<&mut dyn TransformListener>,
    journal: &Journal,
) -> (PlannedClass, Vec<PluginFailure>) {
    let SplicedClass {
        mut planned,
        spliced,
    } = done;
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
    (planned, failed)
}

/// Reads the class that plugins see: that of the original file, if the JVM's bytes have the same
/// code.
///
/// # Errors
/// If the class file cannot be read.
pub fn shown_class<'a>(request: &ClassRequest<'a>) -> Result<ClassFile<'a>, rewriter::ReadError> {
    let original = request
        .original
        .filter(|original| is_same_class(request, original));
    ClassFile::read(original.unwrap_or(request.bytes))
}

/// Checks whether the JVM's bytes have the code of the original file. They differ if another agent
/// changed the code, or the file was replaced. A class that is being loaded comes with the original
/// that it was edited from.
fn is_same_class(request: &ClassRequest<'_>, original: &[u8]) -> bool {
    let same = || {
        let (original, bytes) = (ClassFile::read(original)?, ClassFile::read(request.bytes)?);
        Ok::<_, rewriter::ReadError>(class_versions::has_code_of(&bytes, &original))
    };
    !request.retransforming || same().unwrap_or(false)
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipeline")
            .field("plugins", &self.plugins().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// The structural edits of a class with the resulting class file, and the result of the whole plan.
type Divided = (Option<(StructuralEdits, Vec<u8>)>, SplicedClass);

/// Separates the structural edits of a plan from the others.
fn divide(
    mut planned: PlannedClass,
    bytes: &[u8],
    table: &ProbeTable,
    buffers: &mut ScratchBuffers,
) -> Divided {
    let mut edits = StructuralEdits::of_natives(natives::to_prefix(&planned));
    let mut edited = edits.apply(planned.class.class());
    if edited.is_none() {
        edits.natives.clear();
    }
    let own = planned.class.fitting(Cow::Borrowed(bytes));
    let (base, mut out) = (edited.as_deref().unwrap_or(&own), Vec::new());
    let storage = Storage::Shared(table);
    let spliced = apply(&mut planned, base, storage, buffers, &mut out);
    if spliced.is_ok() && planned.structural_edits().next().is_some() {
        let class_edits = planned.structural_edits().cloned().collect();
        let all = StructuralEdits {
            natives: edits.natives.clone(),
            class_edits,
        };
        if let Some(bytes) = all.apply(planned.class.class()) {
            (edits, edited) = (all, Some(bytes));
        }
    }
    let edited = edited.map(|bytes| (edits, bytes));
    let spliced = spliced.map(|spliced| (spliced, out));
    (edited, SplicedClass { planned, spliced })
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
