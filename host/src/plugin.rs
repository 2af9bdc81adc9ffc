//! One plugin of a pipeline: its selectors, and its instances.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use conditions::Program;
use globs::{FieldPattern, Glob};
use plan_rules::{PlanRequest, is_helper_class};
use probes::FailedPlugin;
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::bindings::TransformPluginPre;
use crate::capabilities;
use crate::class::{ClassIdentity, TransformedClass};
use crate::class_key::ClassKey;
use crate::code_source::CodeSource;
use crate::compilation::Compilation;
use crate::component;
use crate::config::{PluginConfig, PluginSource, SESSION_MARK, suggest};
use crate::instance::Instance;
use crate::observer::{self, config::ObserverConfig};
use crate::outcome::{Loader, PlanCounts};
use crate::plan_store::PlanStore;
use crate::plugin_failure::{PluginFailure, shortened};
use crate::pool_names::PoolNames;
use crate::record::{Answer, Record};
use crate::selector::{SelectableClass, Selection, Verdict};
use crate::store_data::{StoreData, StoreSettings};
use errors::{Error, codes};

/// Maximum number of instances, whatever the number of cores.
const MAX_INSTANCES: usize = 8;

/// The capabilities with which a plugin edits classes.
const EDITING: [&str; 4] = ["probes", "rewrite", "structure", "raw"];

/// The class of Kotlin's library whose method `resumeWith` resumes compiled continuations.
const RESUMER: &[u8] = b"kotlin/coroutines/jvm/internal/BaseContinuationImpl";

/// A loaded and configured plugin.
pub struct Plugin {
    /// The name in messages and snapshots.
    pub name: String,
    /// Its place among the plugins. A plugin with a lower number surrounds the others, so its code sees
    /// the effect of theirs.
    pub order: i16,
    /// The session that records its spans.
    pub session: u8,
    /// `true` if native methods are wrapped for its spans.
    pub natives: bool,
    /// `true` if it may request structural edits.
    pub structure: bool,
    /// `true` if a user's plugin was granted edits, and does not observe the JVM instead.
    edits: bool,
    /// The compiled condition and list of values for the calls of its spans.
    pub watch: Option<Arc<Program>>,
    /// The fields whose writes are its only events; `None` if it requests anything else.
    writes: Option<Vec<FieldPattern>>,
    /// `true` if it may request spans, which follow Kotlin's continuations.
    records_spans: bool,
    /// The configuration of its observer, if it has one.
    pub observer: Option<Arc<ObserverConfig>>,
    pre: TransformPluginPre<StoreData>,
    config: String,
    settings: StoreSettings,
    /// The selection by the user.
    user: Selection,
    /// The selection by the plugin itself.
    own: Selection,
    /// The class names in the plugin's own selectors.
    named: Vec<Named>,
    /// `true` if the plugin may see classes of the boot and platform loaders.
    boot: bool,
    pool: Mutex<Pool>,
    returned: Condvar,
    /// The plan cache of the plugin; `None` if it is called for each class.
    plans: Option<PlanStore>,
    record: Mutex<Record>,
    /// Switched off after too many failures or too much CPU time.
    failed: AtomicBool,
    /// Disabled by the user.
    disabled: AtomicBool,
}

/// Returns the fields whose writes are the only events of the bundled plugin `trace`, if it is so
/// configured.
fn writes_of(config: &PluginConfig) -> Option<Vec<FieldPattern>> {
    let fields = config.config.get("fields")?.as_array()?;
    let patterns = fields
        .iter()
        .map(|field| FieldPattern::parse(field.as_str()?));
    let patterns: Vec<FieldPattern> = patterns.collect::<Option<_>>()?;
    (is_trace(config) && !patterns.is_empty()).then_some(patterns)
}

/// The place of plugins that cannot change the program. They record what a caller of the method sees.
const ORDER_OF_RECORDERS: i16 = -100;
/// The place of the bundled plugin `coverage`: it records which code of the program runs.
const ORDER_OF_COVERAGE: i16 = 100;

/// Returns the place of a plugin of this kind.
fn order_of(config: &PluginConfig, component: &Component, engine: &Engine) -> i16 {
    if matches!(&config.source, PluginSource::Bundled(name) if name == "coverage") {
        return ORDER_OF_COVERAGE;
    }
    match capabilities::changes_programs(component, engine) {
        true => 0,
        false => ORDER_OF_RECORDERS,
    }
}

fn is_trace(config: &PluginConfig) -> bool {
    matches!(&config.source, PluginSource::Bundled(name) if name == "trace")
}

/// Checks whether a selector names a class in which the bundled plugin `trace` follows tasks. No
/// user named this class, and no program has to load it.
fn is_of_tasks(config: &PluginConfig, selector: &str) -> bool {
    let follows = config.config.get("follow").and_then(|it| it.as_bool()) == Some(true);
    let methods = config.config.get("methods").and_then(|it| it.as_array());
    let mut methods = methods.into_iter().flatten().filter_map(|it| it.as_str());
    is_trace(config) && follows && !methods.any(|method| method.starts_with(selector))
}

/// A class name in a selector, and whether such a class was seen.
struct Named {
    selector: String,
    glob: Glob,
    seen: AtomicBool,
    /// A class of the JDK with such a name was not shown, for want of the capability `boot`.
    hidden: AtomicBool,
}

impl Named {
    /// Creates an entry for a selector on names. Returns `None` for other kinds of selectors.
    fn new(selector: &str) -> Option<Self> {
        let other = selector.starts_with(['!', '@', '<']) || selector.contains(':');
        (!other).then(|| Self {
            selector: selector.to_owned(),
            glob: Glob::of_class(selector),
            seen: AtomicBool::new(false),
            hidden: AtomicBool::new(false),
        })
    }
}

/// The state of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginState {
    /// The plugin sees classes.
    On,
    /// The user disabled the plugin.
    Disabled,
    /// The plugin was switched off after too many failures or too much CPU time.
    Failed,
}

struct Pool {
    idle: Vec<Instance>,
    /// Number of instances, idle or not.
    live: usize,
    limit: usize,
    /// Number of threads that wait for an instance. If it is 0, a wake-up call, which would be a
    /// system call for each class, is skipped.
    waiting: usize,
}

impl Plugin {
    /// Loads and configures a plugin, and creates its first instance. `file` is the configuration
    /// file for messages. With `remembers`, plans of earlier runs are used.
    pub fn load(
        config: &PluginConfig,
        file: Option<&Path>,
        engine: &Engine,
        compilation: &Compilation<'_>,
        settings: StoreSettings,
        remembers: bool,
    ) -> Result<Self, Error> {
        let user = parse_selection(&config.name, &config.select)?;
        let (pre, digest) = component::load(config, engine, compilation)?;
        let json = config.config.to_string();
        let (first, selectors) = Instance::new(&pre, &json, &settings)
            .map_err(|failure| not_configured(config, file, failure))?;
        let own = parse_selection(&config.name, &selectors)?;
        let observer = match capabilities::observer(pre.instance_pre().component(), engine) {
            None => None,
            Some(interface) => {
                let created = observer::configure((&pre, interface), &json, &settings);
                Some(created.map_err(|failure| not_configured(config, file, failure))?)
            }
        };
        let level = settings.level;
        let plans = remembers.then(|| PlanStore::open(compilation.caches(), &digest, &json, level));
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let granted = |wanted: &str| config.grant.iter().any(|grant| grant == wanted);
        let is_bundled = matches!(config.source, PluginSource::Bundled(_));
        Ok(Self {
            name: config.name.clone(),
            order: config
                .order
                .unwrap_or_else(|| order_of(config, pre.instance_pre().component(), engine)),
            session: config.session,
            natives: granted("natives"),
            structure: granted("structure"),
            edits: !is_bundled && observer.is_none() && EDITING.into_iter().any(granted),
            watch: config
                .watch
                .as_ref()
                .map(|watch| Arc::new(Program::of(watch))),
            writes: writes_of(config),
            records_spans: capabilities::records_spans(pre.instance_pre().component(), engine),
            observer: observer.map(Arc::new),
            pre,
            config: json,
            settings,
            user,
            own,
            named: (selectors.iter())
                .filter(|selector| !is_of_tasks(config, selector))
                .filter_map(|selector| Named::new(selector))
                .collect(),
            boot: granted("boot"),
            pool: Mutex::new(Pool {
                idle: vec![first],
                live: 1,
                limit: cores.min(MAX_INSTANCES),
                waiting: 0,
            }),
            returned: Condvar::new(),
            plans,
            record: Mutex::default(),
            failed: AtomicBool::new(false),
            disabled: AtomicBool::new(false),
        })
    }

    /// The name under which its spans are recorded: without the number of its session.
    pub fn recorded_name(&self) -> &str {
        match self.name.rsplit_once(SESSION_MARK) {
            Some((name, _)) if self.session > 0 => name,
            _ => &self.name,
        }
    }

    /// Decides by name, loader and location whether the plugin may select the class. Allocates
    /// nothing.
    pub fn wants(&self, name: &[u8], loader: &Loader, location: CodeSource<'_>) -> Verdict {
        match self.follows(name, loader) {
            true => Verdict::Yes,
            false => self.selects(name, loader, location),
        }
    }

    /// Checks whether its spans need an edit in this class, whatever it selects.
    pub fn follows(&self, name: &[u8], loader: &Loader) -> bool {
        let is_allowed = || self.boot || !matches!(loader, Loader::Boot | Loader::Platform);
        self.has_spans_of(name) && is_allowed() && self.state() == PluginState::On
    }

    fn has_spans_of(&self, name: &[u8]) -> bool {
        self.records_spans && name == RESUMER
    }

    /// Applies its selectors to a class, as far as this needs no class file.
    pub fn selects(&self, name: &[u8], loader: &Loader, location: CodeSource<'_>) -> Verdict {
        let inner = matches!(loader, Loader::Boot | Loader::Platform);
        if is_helper_class(name) {
            let selected = (self.boot || !inner) && self.own.matches_helper(name);
            let is_on = self.state() == PluginState::On;
            return if selected && is_on {
                Verdict::Yes
            } else {
                Verdict::No
            };
        }
        let allowed = if inner {
            if !self.boot {
                self.note_hidden(name);
            }
            self.boot
        } else {
            location != CodeSource::None || self.user.any_location()
        };
        let allowed =
            allowed && self.user.matches_location(location) && self.own.matches_location(location);
        if !allowed || self.state() != PluginState::On {
            return Verdict::No;
        }
        match (
            self.user.matches_name(name, loader),
            self.own.matches_name(name, loader),
        ) {
            (Verdict::No, _) | (_, Verdict::No) => Verdict::No,
            (Verdict::Yes, Verdict::Yes) => Verdict::Yes,
            _ => Verdict::NeedsClass,
        }
    }

    /// Returns whether its selectors need a class's location.
    pub fn needs_location(&self) -> bool {
        self.user.needs_location() || self.own.needs_location()
    }

    /// Returns whether it selects a class only if its instructions access certain fields.
    pub fn needs_fields(&self) -> bool {
        self.writes.is_some()
    }

    /// Checks whether it may select a class with these names in its constant pool, after
    /// [`Verdict::NeedsClass`].
    pub fn may_select(&self, name: &[u8], loader: &Loader, pool: &PoolNames<'_>) -> bool {
        let may_select = |selection: &Selection| match selection.matches_name(name, loader) {
            Verdict::NeedsClass => selection.may_match(name, pool),
            verdict => verdict == Verdict::Yes,
        };
        may_select(&self.user) && may_select(&self.own)
    }

    /// Checks whether the instructions of a class with these names may access the fields that it
    /// needs.
    pub fn may_need_fields(&self, name: &[u8], pool: &PoolNames<'_>) -> bool {
        let is_named = |pattern: &FieldPattern| pool.any_field(&mut |it| pattern.has_name(it));
        let writes = self.writes.as_ref();
        writes.is_none_or(|writes| self.has_spans_of(name) || writes.iter().any(is_named))
    }

    /// Decides with the class file, after [`Verdict::NeedsClass`].
    pub fn wants_class(
        &self,
        name: &[u8],
        loader: &Loader,
        class: &dyn SelectableClass,
    ) -> Verdict {
        let wants = |selection: &Selection| match selection.matches_name(name, loader) {
            Verdict::NeedsClass => selection.matches_class(name, class),
            verdict => verdict == Verdict::Yes,
        };
        match wants(&self.user) && wants(&self.own) {
            true => Verdict::Yes,
            false => Verdict::No,
        }
    }

    /// Records that the plugin sees this class.
    fn note_seen(&self, name: &[u8]) {
        for named in &self.named {
            if !named.seen.load(Ordering::Relaxed) && named.glob.matches(name) {
                named.seen.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Records that the plugin does not see this class of the JDK.
    fn note_hidden(&self, name: &[u8]) {
        for named in &self.named {
            if !named.hidden.load(Ordering::Relaxed) && named.glob.matches(name) {
                named.hidden.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Checks whether a class with a name in its selectors was not shown, for want of `boot`.
    pub fn lacks_boot(&self) -> bool {
        let mut named = self.named.iter();
        named.any(|named| named.hidden.load(Ordering::Relaxed))
    }

    /// Returns the class names in its selectors that matched no class so far.
    pub fn unmatched(&self) -> Vec<String> {
        let is_seen = |named: &&Named| named.seen.load(Ordering::Relaxed);
        let seen: Vec<&str> = self
            .named
            .iter()
            .filter(is_seen)
            .map(|it| it.selector.as_str())
            .collect();
        // A selector `A.**` beside `A` covers the methods of a class; the two form one pattern.
        let twin = |selector: &str| {
            selector
                .strip_suffix(".**")
                .map_or_else(|| format!("{selector}.**"), str::to_owned)
        };
        let is_second = |selector: &str| {
            !selector.ends_with(".**") && self.named.iter().any(|it| it.selector == twin(selector))
        };
        let covered =
            |selector: &str| seen.contains(&selector) || seen.contains(&twin(selector).as_str());
        let missing = self.named.iter().map(|named| named.selector.as_str());
        let missing = missing.filter(|selector| !covered(selector) && !is_second(selector));
        missing.map(str::to_owned).collect()
    }

    /// Returns the state of the plugin.
    pub fn state(&self) -> PluginState {
        if self.disabled.load(Ordering::Relaxed) {
            PluginState::Disabled
        } else if self.failed.load(Ordering::Relaxed) {
            PluginState::Failed
        } else {
            PluginState::On
        }
    }

    /// Disables the plugin, or enables it with an empty record.
    pub fn enable(&self, enabled: bool) {
        self.disabled.store(!enabled, Ordering::Relaxed);
        if enabled {
            self.failed.store(false, Ordering::Relaxed);
            *self.record() = Record::default();
        }
    }

    /// Counts a class in which its request cannot be applied.
    pub fn note_refused(&self) {
        self.record().refuse();
    }

    /// Returns the summary of the plugin's failures, with the first one of `failures`. Returns
    /// `None` if it never failed.
    pub fn failed(&self, failures: &[PluginFailure]) -> Option<FailedPlugin> {
        let record = self.record();
        let is_off = self.state() == PluginState::Failed;
        if record.failures() == 0 && !is_off {
            return None;
        }
        let about =
            |failure: &&PluginFailure| failure.plugin.is_empty() || failure.plugin == self.name;
        let first = failures.iter().find(about);
        Some(FailedPlugin {
            plugin: self.name.clone(),
            shown: record.classes(),
            served: record.served(),
            failed: record.failures(),
            first: first.map_or_else(String::new, |failure| {
                format!("{}: {}", failure.class, failure.cause)
            }),
            switched_off: record.cause().filter(|_| is_off).map(str::to_owned),
        })
    }

    /// Returns the number of classes that the plugin saw, for a plugin that may edit classes and requested no edit.
    /// Returns `None` for any other plugin.
    pub fn idle(&self) -> Option<u64> {
        let record = self.record();
        let is_idle = self.edits && self.state() == PluginState::On && record.is_idle();
        is_idle.then(|| record.classes())
    }

    /// Returns the CPU time of the plugin's code and of its calls of the host.
    pub fn spent(&self) -> Duration {
        self.record().spent()
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Computes the key of a class in the plan cache. Returns `None` without a cache.
    pub fn key(&self, class: &ClassIdentity<'_>) -> Option<ClassKey> {
        self.plans.as_ref().map(|plans| plans.key(class))
    }

    /// Checks whether the plan cache has an empty plan for the class with this key.
    pub fn has_empty_plan(&self, key: &ClassKey) -> bool {
        let plans = self.plans.as_ref();
        plans.is_some_and(|plans| plans.holds_nothing(key))
    }

    /// Counts a class for which the plan cache has an empty plan.
    pub fn note_empty_plan(&self, name: &[u8], key: &ClassKey) {
        self.note_seen(name);
        if let Some(plans) = &self.plans {
            plans.note_use(key);
        }
        self.record().add(Answer::Nothing, Duration::ZERO);
    }

    /// Returns the plugin's request for a class, from the plan cache or by a call of an instance.
    /// The request reuses `memory`. The class is returned unless a trap lost it. `key` is the
    /// class's key in the plan cache, if already computed.
    pub fn transform(
        &self,
        class: TransformedClass,
        key: Option<ClassKey>,
        memory: PlanRequest,
    ) -> (Option<TransformedClass>, Result<PlanRequest, PluginFailure>) {
        self.note_seen(class.class().this_class().as_bytes());
        let plans = self.plans.as_ref().map(|plans| {
            let key = key.unwrap_or_else(|| plans.key(&class.identity()));
            (plans, key)
        });
        if let Some(known) = plans.and_then(|(plans, key)| plans.find(&key)) {
            return (Some(class), self.judge(Ok(known), Duration::ZERO));
        }
        let mut instance = match self.take() {
            Ok(instance) => instance,
            Err(failure) => return (Some(class), self.judge(Err(failure), Duration::ZERO)),
        };
        let (class, result) = instance.transform(class, memory);
        // A plugin that logs about a class must do so in each run.
        if let (Some((plans, key)), Ok(request), false) = (plans, &result, instance.has_logged()) {
            plans.keep(key, request);
        }
        let time = instance.take_time();
        self.give_back(instance);
        (class, self.judge(result, time))
    }

    /// Writes new plans to the plan cache, if they have waited long enough or `now` is set.
    pub fn write_plans(&self, now: bool) {
        if let Some(plans) = self.plans.as_ref().filter(|plans| now || plans.is_due()) {
            plans.write();
        }
    }

    /// Returns the counts of the plan cache; `None` without one.
    pub fn plan_counts(&self) -> Option<PlanCounts> {
        self.plans.as_ref().map(PlanStore::counts)
    }

    /// Adds a class to the record. If the plugin is switched off by it, its edits are left out, and
    /// the failure says why.
    fn judge(
        &self,
        result: Result<PlanRequest, PluginFailure>,
        time: Duration,
    ) -> Result<PlanRequest, PluginFailure> {
        let answer = match &result {
            Ok(request) if request.is_empty() => Answer::Nothing,
            Ok(_) => Answer::Request,
            Err(_) => Answer::Failure,
        };
        let verdict = self.record().add(answer, time).map(str::to_owned);
        let Some(verdict) = verdict else {
            return result;
        };
        self.failed.store(true, Ordering::Relaxed);
        let switched_off = format!("it is switched off now: {verdict}");
        let Err(mut failure) = result else {
            return Err(PluginFailure::new(codes::H0318, switched_off));
        };
        failure.help = Some(match failure.help {
            Some(help) => format!("{help}\n{switched_off}"),
            None => switched_off,
        });
        Err(failure)
    }

    /// Takes an idle instance, creates one, or waits for the next one to be returned.
    fn take(&self) -> Result<Instance, PluginFailure> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(instance) = pool.idle.pop() {
                return Ok(instance);
            }
            if pool.live < pool.limit {
                break;
            }
            pool.waiting += 1;
            pool = self
                .returned
                .wait(pool)
                .unwrap_or_else(PoisonError::into_inner);
            pool.waiting -= 1;
        }
        pool.live += 1;
        drop(pool);
        let slot = Slot(self);
        let (instance, _) = Instance::new(&self.pre, &self.config, &self.settings)?;
        std::mem::forget(slot);
        Ok(instance)
    }

    fn give_back(&self, instance: Instance) {
        let good = instance.is_good();
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if good {
            pool.idle.push(instance);
        } else {
            pool.live -= 1;
        }
        let is_awaited = pool.waiting > 0;
        drop(pool);
        if is_awaited {
            self.returned.notify_one();
        }
    }
}

/// A reserved place in the pool, which is released if the instance cannot be created.
struct Slot<'a>(&'a Plugin);

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0
            .pool
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .live -= 1;
        self.0.returned.notify_one();
    }
}

fn parse_selection<S: AsRef<str>>(plugin: &str, selectors: &[S]) -> Result<Selection, Error> {
    Selection::parse(selectors)
        .map_err(|error| Error::mistake(codes::H0110, format!("plugin `{plugin}`: {error}")))
}

fn not_configured(plugin: &PluginConfig, file: Option<&Path>, failure: PluginFailure) -> Error {
    let (code, message) = match failure.code {
        codes::H0111 => (
            codes::H0111,
            format!("plugin `{}` rejects its configuration", plugin.name),
        ),
        _ => (
            codes::H0112,
            format!("plugin `{}` failed while it was configured", plugin.name),
        ),
    };
    let error = Error::mistake(code, message).with("cause", failure.cause.clone());
    let error = match line_of(plugin, &failure.cause) {
        Some(line) => {
            let file = file.unwrap_or(Path::new("classhook.toml"));
            error.with("at", format!("{}:{line}", file.display()))
        }
        None => error.with("config", shortened(plugin.config.to_string())),
    };
    suggest::from_text(error, &failure.cause)
}

/// Returns the line of the configuration value whose path begins the text: `rule[1].what: …`.
fn line_of(plugin: &PluginConfig, text: &str) -> Option<usize> {
    let (path, _) = text.split_once(": ")?;
    let lines = plugin.config_lines.iter();
    // A missing or misspelled key is reported at the enclosing table.
    let about = lines.filter(|(known, _)| path.starts_with(known.as_str()));
    let nearest = about.max_by_key(|(known, _)| known.len());
    nearest.map(|(_, line)| *line)
}
