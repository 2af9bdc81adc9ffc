//! From class bytes to spliced bytes.
//!
//! ```text
//! wants (name, loader) → read → wants (class) → each plugin's plan → slots → splice → self-check
//! ```

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use observations::Wish;
use plan_rules::PlanRequest;
use probes::ProbeTable;
use rewriter::{ClassFile, HelperClass};
use smallvec::SmallVec;

use crate::class::{ClassIdentity, TransformedClass};
use crate::class_array::{self, ClassProbes};
use crate::class_key::ClassKey;
use crate::clock::{Clock, MachineClock};
use crate::code_location::CodeLocation;
use crate::compilation::Compilation;
use crate::compiler::Compiler;
use crate::config::{Config, OnError, PluginConfig};
use crate::engine::{self, Ticker};
use crate::error::HostError;
use crate::helpers::HelperLoader;
use crate::journal::Journal;
use crate::lent::LentMemory;
use crate::natives;
use crate::observing::Observing;
use crate::outcome::{ClassRequest, Loader, Outcome, Summary};
use crate::plugin::{Plugin, PluginState};
use crate::prepared::{DoneClass, Prepared, PreparedClasses};
use crate::requests::{Asked, PlannedClass};
use crate::selector::Verdict;
use crate::splicing::{Spliced, apply};
use crate::stack::{ScratchBuffers, WorkerStacks};
use crate::state::StoreSettings;
use crate::storage::Storage;
use crate::structural_edits::{StructuralEdits, with_prefixed_natives};
use crate::trouble::Trouble;
use crate::untouched::is_untouched;

/// A plugin that may want a class, by the class's name.
struct WantingPlugin<'p> {
    plugin: &'p Arc<Plugin>,
    verdict: Verdict,
    /// What its plans for the class are found by, where that was computed.
    key: Option<ClassKey>,
}

/// There are few plugins.
type WantingPlugins<'p> = SmallVec<[WantingPlugin<'p>; 4]>;

/// All plugins of one configuration, ready to see classes; shared by any number of threads.
pub struct Pipeline {
    plugins: Vec<Arc<Plugin>>,
    ticker: Ticker,
    stacks: WorkerStacks,
    journal: Journal,
    prepared: PreparedClasses,
    strict: bool,
}

impl Pipeline {
    /// Loads, checks and configures the plugins; what is not in a cache is compiled by `compiler`.
    ///
    /// # Errors
    /// `H01xx` for plugin files and configuration, `H02xx` for capabilities that are not granted.
    pub fn new(config: &Config, compiler: &dyn Compiler) -> Result<Self, HostError> {
        Self::load(config, compiler, false, Arc::new(MachineClock::default()))
    }

    /// Does the same as [`Pipeline::new`]; the time of the plugins' calls is measured by `clock`.
    ///
    /// # Errors
    /// The same as those of [`Pipeline::new`].
    pub fn with_clock(
        config: &Config,
        compiler: &dyn Compiler,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, HostError> {
        Self::load(config, compiler, false, clock)
    }

    /// The same; what plugins asked for in the classes of earlier runs is known from the plan cache, unless the
    /// configuration switches that off, and [`Pipeline::write_plans`] adds to it.
    ///
    /// # Errors
    /// As [`Pipeline::new`]; trouble with the cache is no error.
    pub fn with_plan_cache(config: &Config, compiler: &dyn Compiler) -> Result<Self, HostError> {
        let clock = Arc::new(MachineClock::default());
        Self::load(config, compiler, config.agent.plan_cache, clock)
    }

    fn load(
        config: &Config,
        compiler: &dyn Compiler,
        remembers: bool,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, HostError> {
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
            ticker,
            stacks: WorkerStacks::new(config.agent.self_check),
            journal: Journal::default(),
            prepared: PreparedClasses::default(),
            strict,
        })
    }

    /// Whether any plugin may want this class; decided by name, loader and location alone, without allocation.
    #[must_use]
    pub fn wants(&self, name: &[u8], loader: &Loader, location: CodeLocation<'_>) -> bool {
        !is_untouched(name)
            && self
                .plugins
                .iter()
                .any(|plugin| plugin.wants(name, loader, location) != Verdict::No)
    }

    /// Whether any plugin's selectors need to know where a class came from.
    #[must_use]
    pub fn asks_location(&self) -> bool {
        self.plugins.iter().any(|plugin| plugin.asks_location())
    }

    /// Says whether any plugin's selectors ask for the source file of a class.
    #[must_use]
    pub fn asks_source(&self) -> bool {
        self.plugins.iter().any(|plugin| plugin.asks_source())
    }

    /// As [`Pipeline::wants`], of a class that is compiled from this file, so that a loaded class that no plugin wants need not
    /// be read.
    #[must_use]
    pub fn wants_of_source(
        &self,
        name: &[u8],
        loader: &Loader,
        location: CodeLocation<'_>,
        source: &[u8],
    ) -> bool {
        let wants = |plugin: &Plugin| match plugin.wants(name, loader, location) {
            Verdict::No => false,
            Verdict::Yes => true,
            Verdict::AskClass => plugin.may_want_source(name, loader, source),
        };
        !is_untouched(name) && self.plugins.iter().any(|plugin| wants(plugin))
    }

    /// Says whether any plugin wants a class only if its instructions name certain fields.
    #[must_use]
    pub fn asks_fields(&self) -> bool {
        self.plugins.iter().any(|plugin| plugin.asks_fields())
    }

    /// As [`Pipeline::wants`], of a class whose instructions name these fields, so that a loaded class that no plugin wants
    /// stays as it is.
    #[must_use]
    pub fn wants_of_fields(
        &self,
        name: &[u8],
        loader: &Loader,
        location: CodeLocation<'_>,
        fields: &[String],
    ) -> bool {
        let wants = |plugin: &Plugin| {
            plugin.wants(name, loader, location) != Verdict::No
                && plugin.may_want_fields(name, fields)
        };
        !is_untouched(name) && self.plugins.iter().any(|plugin| wants(plugin))
    }

    /// Asks the plugins about one class and splices what they want into `out`.
    ///
    /// Runs on a stack of its own. Never panics and never blocks on anything but
    /// other transforms; whatever goes wrong is an [`Outcome::Failed`], and costs
    /// the edits of the plugin that it went wrong with.
    pub fn transform(
        &self,
        request: &ClassRequest<'_>,
        table: &ProbeTable,
        out: &mut Vec<u8>,
    ) -> Outcome {
        let storage = Storage::Shared(table);
        self.observed(request, storage, None, out, None, &self.journal)
    }

    /// As [`Pipeline::transform`], for a class that will run without the agent: it carries its probes
    /// itself ([`class_array`]). If it was changed, `probes` says whose they are, and the helper classes that it needs are
    /// given.
    pub fn instrument(
        &self,
        request: &ClassRequest<'_>,
        probes: &mut Vec<ClassProbes>,
        out: &mut Vec<u8>,
    ) -> (Outcome, Requested) {
        probes.clear();
        let mut requested = Requested::default();
        let (storage, observer) = (Storage::Own(probes), Some(&mut requested as &mut _));
        let outcome = self.observed(request, storage, None, out, observer, &self.journal);
        (outcome, requested)
    }

    /// As [`Pipeline::transform`]; with what was asked for. Helper classes are defined by `helpers`, on the stack of the
    /// caller.
    pub fn transform_by(
        &self,
        request: &ClassRequest<'_>,
        table: &ProbeTable,
        helpers: &dyn HelperLoader,
        out: &mut Vec<u8>,
    ) -> (Outcome, Requested) {
        let mut requested = Requested::default();
        let (storage, observer) = (Storage::Shared(table), Some(&mut requested as &mut _));
        let helpers = Some(helpers);
        let outcome = self.observed(request, storage, helpers, out, observer, &self.journal);
        (outcome, requested)
    }

    /// Whether plugins may ask for structural edits: only then is [`Pipeline::prepare`] worth asking.
    #[must_use]
    pub fn may_edit_structure(&self) -> bool {
        self.plugins
            .iter()
            .any(|plugin| plugin.natives || plugin.structure)
    }

    /// Asks the plugins about a class that is being loaded: gives its structural edits, and the class file with them.
    /// What else the plugins ask for is done too and kept for the same class in [`Pipeline::transform`], which also
    /// reports what goes wrong; then no plugin changes what the class is.
    #[must_use]
    pub fn prepare(
        &self,
        request: &ClassRequest<'_>,
        table: &ProbeTable,
        helpers: &dyn HelperLoader,
    ) -> Option<(StructuralEdits, Vec<u8>)> {
        let begun = Instant::now();
        let _running = self.ticker.run().ok()?;
        let wanting = self.wanting(request);
        if wanting.is_empty() {
            return None;
        }
        let asked = self
            .stacks
            .run(|buffers| self.ask(request, wanting, &mut buffers.memory));
        let (edited, done) = match asked.ok()?.transpose()? {
            Ok(planned) => {
                let (edited, done) = self.divided(planned, request, table, helpers).ok()?;
                (edited, Ok(done))
            }
            Err(trouble) => (None, Err(trouble)),
        };
        let bytes = edited.as_ref().map_or(request.bytes, |(_, bytes)| bytes);
        let time = begun.elapsed();
        let prepared = Prepared { done, time };
        self.prepared.keep(request, bytes.to_vec(), prepared);
        edited
    }

    /// The structural edits of a class, and what comes of the whole plan, once the helper classes are defined that its
    /// edits name.
    fn divided(
        &self,
        planned: PlannedClass,
        request: &ClassRequest<'_>,
        table: &ProbeTable,
        helpers: &dyn HelperLoader,
    ) -> Result<Divided, String> {
        let divide = |planned| {
            let divided = |buffers: &mut _| divide(planned, request.bytes, table, buffers);
            self.stacks.run(divided)
        };
        let (edited, mut done) = divide(planned)?;
        if !done.needs_helpers() || done.define_helpers(helpers) {
            return Ok((edited, done));
        }
        divide(done.planned)
    }

    /// The class file with structural edits that the class was given when it was loaded; none if they do not suit this
    /// class file.
    #[must_use]
    pub fn apply_structural_edits(&self, edits: &StructuralEdits, bytes: &[u8]) -> Option<Vec<u8>> {
        let applied = self.stacks.run(|_| {
            let class = ClassFile::read(bytes).ok()?;
            edits.apply(&class)
        });
        applied.unwrap_or_default()
    }

    /// As [`Pipeline::transform`], with somebody looking on; what comes of it is noted in `journal`.
    pub(crate) fn observed(
        &self,
        request: &ClassRequest<'_>,
        storage: Storage<'_>,
        helpers: Option<&dyn HelperLoader>,
        out: &mut Vec<u8>,
        observer: Option<&mut dyn Observer>,
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
                let finish = |done| Some(finish(done, out, observer, journal).1);
                Ok(prepared.done.map(finish))
            }
            None => {
                let mut wanting = self.wanting(request);
                if wanting.is_empty() {
                    return Outcome::Unchanged;
                }
                let is_explained = observer.as_deref().is_some_and(Observer::sees_all);
                if !is_explained && ask_for_nothing(request, &mut wanting) {
                    return journal.done(request, false, Vec::new(), begun.elapsed());
                }
                let work = Work {
                    request,
                    storage,
                    out,
                    observer,
                    journal,
                };
                match self.ticker.run() {
                    Ok(_running) => self.in_steps(wanting, helpers, work),
                    Err(error) => Err(format!("no thread for the clock: {error}")),
                }
            }
        };
        let done = done.unwrap_or_else(|text| Err(Trouble::of_class("H0305", text)));
        let failed = match done {
            Ok(None) => return Outcome::Unchanged,
            Ok(Some(failed)) => failed,
            Err(trouble) => vec![trouble],
        };
        let changed = !out.is_empty();
        journal.done(request, changed, failed, time + begun.elapsed())
    }

    /// What was done so far.
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

    /// Writes what plugins asked for to the plan cache; without `now` only what has waited for a while.
    pub fn write_plans(&self, now: bool) {
        self.plugins
            .iter()
            .for_each(|plugin| plugin.write_plans(now));
    }

    /// Whether an edit made a method longer than HotSpot compiles.
    #[must_use]
    pub fn has_huge_methods(&self) -> bool {
        self.journal.has_huge_methods()
    }

    /// How plugins observe the JVM; those that are switched off or were retired are left out.
    pub(crate) fn observing(&self) -> impl Iterator<Item = &Arc<Observing>> {
        let plugins = self.plugins.iter();
        let at_work = plugins.filter(|plugin| plugin.state() == PluginState::On);
        let observing = at_work.filter_map(|plugin| plugin.observing.as_ref());
        observing.filter(|observing| observing.retired().is_none())
    }

    /// The numbers of the plugins that observe the JVM ([`crate::Observer::number`]), what they want to be told, and
    /// whether they may ask for the owners of monitors.
    pub fn wishes(&self) -> impl Iterator<Item = (u64, &[Wish], bool)> {
        self.observing()
            .map(|found| (found.number(), found.wishes(), found.asks_for_owners()))
    }

    /// Runs `work` on a stack of its own while the clock of plugins goes.
    ///
    /// # Errors
    /// The text of a panic, or of the failure to get a stack or the clock.
    pub(crate) fn on_plugin_stack<T>(&self, work: impl FnOnce() -> T) -> Result<T, String> {
        let running = self.ticker.run();
        let _running = running.map_err(|error| format!("no thread for the clock: {error}"))?;
        self.stacks.run(|_| work())
    }

    /// The names of the plugins, in the order in which their edits are applied.
    pub fn plugins(&self) -> impl Iterator<Item = &str> {
        self.plugins.iter().map(|plugin| plugin.name.as_str())
    }

    /// Whether each plugin sees classes, in the order of [`Pipeline::plugins`].
    pub fn states(&self) -> impl Iterator<Item = PluginState> {
        self.plugins.iter().map(|plugin| plugin.state())
    }

    /// The classes that each plugin named and of which it was shown none, in the order of [`Pipeline::plugins`]: those
    /// of a rule or pattern that has no effect so far.
    pub fn unmatched(&self) -> impl Iterator<Item = Vec<String>> {
        self.plugins.iter().map(|plugin| plugin.unmatched())
    }

    /// Switches a plugin off or on again; false if there is none of this name. Classes that are being
    /// transformed at this moment may still see it as it was.
    pub fn enable(&self, plugin: &str, enabled: bool) -> bool {
        let found = self.plugins.iter().find(|found| found.name == plugin);
        found.is_some_and(|found| {
            found.enable(enabled);
            self.prepared.forget();
            true
        })
    }

    /// As [`Pipeline::wants`], for one plugin by its name.
    #[must_use]
    pub fn plugin_wants(
        &self,
        plugin: &str,
        name: &[u8],
        loader: &Loader,
        location: CodeLocation<'_>,
    ) -> bool {
        let found = self.plugins.iter().find(|found| found.name == plugin);
        let wants = |found: &Arc<Plugin>| found.wants(name, loader, location) != Verdict::No;
        !is_untouched(name) && found.is_some_and(wants)
    }

    /// Asks the plugins and splices the class, on a stack of its own; where its edits name helper classes, these are
    /// defined on the stack of the caller, once the edits are known to be sound. What went wrong with which plugins; none
    /// if no plugin wants the class.
    fn in_steps(
        &self,
        wanting: WantingPlugins<'_>,
        helpers: Option<&dyn HelperLoader>,
        mut work: Work<'_, '_>,
    ) -> Result<Result<Option<Vec<Trouble>>, Trouble>, String> {
        let mut waiting = None;
        let made = self.stacks.run(|buffers| {
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
        let made = self.stacks.run(|buffers| {
            let done = match are_there {
                true => done,
                false => work.splice(done.planned, buffers),
            };
            work.finish(done, buffers)
        });
        made.map(|made| Ok(Some(made)))
    }

    /// The plugins that may want a class, by its name.
    fn wanting(&self, request: &ClassRequest<'_>) -> WantingPlugins<'_> {
        if is_untouched(request.name) {
            return WantingPlugins::new();
        }
        let wanting = self.plugins.iter().map(|plugin| WantingPlugin {
            plugin,
            verdict: plugin.wants(request.name, request.loader, request.location),
            key: None,
        });
        wanting.filter(|it| it.verdict != Verdict::No).collect()
    }

    /// What the plugins that want a class ask for; none if no plugin wants it.
    fn ask(
        &self,
        request: &ClassRequest<'_>,
        mut wanting: WantingPlugins<'_>,
        memory: &mut LentMemory,
    ) -> Result<Option<PlannedClass>, Trouble> {
        let original = request
            .original
            .filter(|original| is_same_class(request, original));
        let source = original.unwrap_or(request.bytes);
        let first_load = !request.retransforming || original.is_some();
        let (loader, retransforming) = (request.loader, request.retransforming);
        let lent = std::mem::take(&mut memory.class);
        let class = TransformedClass::read(source, loader, retransforming, first_load, lent)
            .map_err(|error| Trouble::unreadable(&error))?;
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
                    Verdict::AskClass => plugin.wants_class(name, loader, class.class()),
                    verdict => verdict == Verdict::Yes,
                }
        };
        let wanting: SmallVec<[Asked<'_>; 4]> = wanting
            .into_iter()
            .map(|WantingPlugin { plugin, key, .. }| Asked {
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

/// Whether all plugins that want a class are known to ask for nothing in it, which then counts as an answer of each: the
/// class need not even be read. The keys that were computed are kept.
fn ask_for_nothing(request: &ClassRequest<'_>, wanting: &mut WantingPlugins<'_>) -> bool {
    // Another file may be the original of a class that is retransformed: that takes reading both.
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
        key.is_some_and(|key| it.plugin.is_known_to_ask_for_nothing(key))
    };
    if !wanting.iter_mut().all(asks_nothing) {
        return false;
    }
    for WantingPlugin { plugin, key, .. } in wanting {
        if let Some(key) = key {
            plugin.note_nothing_asked(request.name, key);
        }
    }
    true
}

/// A class that is worked on, and where what comes of it goes.
struct Work<'w, 'o> {
    request: &'w ClassRequest<'w>,
    storage: Storage<'w>,
    out: &'w mut Vec<u8>,
    observer: Option<&'w mut (dyn Observer + 'o)>,
    journal: &'w Journal,
}

impl Work<'_, '_> {
    fn splice(&mut self, planned: PlannedClass, buffers: &mut ScratchBuffers) -> DoneClass {
        let memory = std::mem::take(self.out);
        splice(planned, self.request, self.storage.again(), buffers, memory)
    }

    /// Notes what came of it; what went wrong with which plugins.
    fn finish(&mut self, done: DoneClass, buffers: &mut ScratchBuffers) -> Vec<Trouble> {
        let observer = self.observer.as_deref_mut();
        let observer = observer.map(|it| it as &mut dyn Observer);
        let (planned, failed) = finish(done, self.out, observer, self.journal);
        planned.lend(&mut buffers.memory);
        failed
    }
}

/// The edits of a class, its new bytes in the place of `out`.
fn splice(
    mut planned: PlannedClass,
    request: &ClassRequest<'_>,
    storage: Storage<'_>,
    buffers: &mut ScratchBuffers,
    mut out: Vec<u8>,
) -> DoneClass {
    let mut bytes = Cow::Borrowed(request.bytes);
    if let Some(original) = request.original
        && !request.retransforming
        && planned.structural_edits().next().is_some()
    {
        // What the class was given of them is in there again.
        bytes = with_prefixed_natives(original, request.bytes);
    }
    let bytes = planned.class.fitting(bytes);
    let spliced = apply(&mut planned, &bytes, storage, buffers, &mut out);
    let spliced = spliced.map(|spliced| (spliced, out));
    DoneClass { planned, spliced }
}

/// Notes what came of a class and hands it over; gives it back, and what went wrong.
fn finish(
    done: DoneClass,
    out: &mut Vec<u8>,
    mut observer: Option<&mut dyn Observer>,
    journal: &Journal,
) -> (PlannedClass, Vec<Trouble>) {
    let DoneClass {
        mut planned,
        spliced,
    } = done;
    let mut failed = std::mem::take(&mut planned.failed);
    journal.keep_notes(&planned);
    if let Some(observer) = observer.as_deref_mut() {
        observer.planned(&planned);
    }
    match spliced {
        Ok((spliced, bytes)) => {
            if let Some(observer) = observer {
                observer.spliced(&planned.class, &spliced);
            }
            journal.keep(&planned.class, spliced);
            *out = bytes;
        }
        Err(trouble) => {
            planned.note_refused();
            failed.push(trouble);
        }
    }
    (planned, failed)
}

/// The class that plugins are shown: that of the file, where the JVM hands over the same as it reconstitutes it.
///
/// # Errors
/// If it cannot be read.
pub fn shown_class<'a>(request: &ClassRequest<'a>) -> Result<ClassFile<'a>, rewriter::ReadError> {
    let original = request
        .original
        .filter(|original| is_same_class(request, original));
    ClassFile::read(original.unwrap_or(request.bytes))
}

/// Whether the JVM hands over the class of this file: not if another agent has changed its code, or the file is of
/// another version by now. A class that is being loaded comes with the file that it was edited from.
fn is_same_class(request: &ClassRequest<'_>, original: &[u8]) -> bool {
    let same = || {
        let (original, bytes) = (ClassFile::read(original)?, ClassFile::read(request.bytes)?);
        Ok::<_, rewriter::ReadError>(rewriter::has_code_of(&bytes, &original))
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

/// The structural edits of a class with the class file that they make, and what comes of the whole plan.
type Divided = (Option<(StructuralEdits, Vec<u8>)>, DoneClass);

/// Divides a plan into its structural edits and all else.
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
    (edited, DoneClass { planned, spliced })
}

/// Somebody who looks on while a class is worked on.
pub(crate) trait Observer {
    /// What each plugin asked for.
    fn planned(&mut self, planned: &PlannedClass);

    /// Whether it looks at classes in which no plugin asks for anything, too.
    fn sees_all(&self) -> bool {
        true
    }

    /// What came of it.
    fn spliced(&mut self, class: &TransformedClass, spliced: &Spliced) {
        let _ = (class, spliced);
    }
}

/// What was asked for in a class.
#[derive(Debug, Default)]
pub struct Requested {
    /// The names of the plugins that asked for an edit.
    pub plugins: Vec<String>,
    /// Plugins among them whose only edit is the host's own: their spans follow Kotlin's continuations.
    pub followers: Vec<String>,
    /// True if calls record the hits of the class ([`probes::HitCode::Call`]).
    pub hits_call: bool,
    /// The helper classes that the edits may name.
    pub helpers: Vec<HelperClass>,
    /// The methods that have no edit at all, though plugins asked for some.
    pub left_alone: Vec<LeftAloneMethod>,
}

/// A method that has no edit, though plugins asked for some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftAloneMethod {
    /// Name and descriptor.
    pub method: String,
    /// The cause, in words.
    pub cause: String,
}

impl Observer for Requested {
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
        let skipped = spliced.skipped.iter();
        let named = skipped.map(|(method, cause)| LeftAloneMethod {
            method: class.method_name(*method).unwrap_or_default(),
            cause: cause.clone(),
        });
        self.left_alone.extend(named);
    }
}
