//! One plugin of a pipeline: what it wants to see, and its instances.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use conditions::Program;
use globs::{FieldPattern, Glob};
use plan_rules::PlanRequest;
use probes::FailedPlugin;
use wasmtime::Engine;

use crate::abilities;
use crate::bindings::TransformPluginPre;
use crate::class::{ClassIdentity, TransformedClass};
use crate::class_key::ClassKey;
use crate::code_location::CodeLocation;
use crate::compilation::Compilation;
use crate::component;
use crate::config::{PluginConfig, PluginSource, SESSION_MARK, suggest};
use crate::error::HostError;
use crate::instance::{Fault, Instance, shortened};
use crate::observing::Observing;
use crate::outcome::{Failure, Loader, PlanCounts};
use crate::plan_store::PlanStore;
use crate::record::{Answer, Record};
use crate::selector::{SelectableClass, Selection, Verdict};
use crate::state::{State, StoreSettings};

/// Most instances, whatever the number of cores.
const MAX_INSTANCES: usize = 8;

/// The class of Kotlin's library whose method `resumeWith` lets compiled continuations go on.
const RESUMER: &[u8] = b"kotlin/coroutines/jvm/internal/BaseContinuationImpl";

/// A loaded and configured plugin.
pub struct Plugin {
    /// The name in messages and snapshots.
    pub name: String,
    /// The session for which its spans are recorded.
    pub session: u8,
    /// Whether native methods are wrapped for it.
    pub natives: bool,
    /// Whether it may change what classes are.
    pub structure: bool,
    /// What is asked of the calls of its spans.
    pub watch: Option<Arc<Program>>,
    /// The fields of whose writes alone it records events; none if it asks for anything else.
    writes: Option<Vec<FieldPattern>>,
    /// True if it may request spans, which follow Kotlin's continuations.
    records_spans: bool,
    /// How it observes the JVM, if it does.
    pub observing: Option<Arc<Observing>>,
    pre: TransformPluginPre<State>,
    config: String,
    settings: StoreSettings,
    /// What the user selected.
    user: Selection,
    /// What the plugin itself selected.
    own: Selection,
    /// The classes that it named in doing so.
    named: Vec<Named>,
    /// Whether classes of the boot and platform loaders may be seen.
    boot: bool,
    pool: Mutex<Pool>,
    returned: Condvar,
    /// What it asked for before; none if it is asked each time.
    plans: Option<PlanStore>,
    record: Mutex<Record>,
    /// Switched off after failing on most classes, or taking too long.
    failed: AtomicBool,
    /// Switched off by the user.
    disabled: AtomicBool,
}

/// The fields of whose writes alone the bundled plugin `trace` records events, if it does.
fn writes_of(config: &PluginConfig) -> Option<Vec<FieldPattern>> {
    let fields = config.config.get("fields")?.as_array()?;
    let patterns = fields
        .iter()
        .map(|field| FieldPattern::parse(field.as_str()?));
    let patterns: Vec<FieldPattern> = patterns.collect::<Option<_>>()?;
    (is_trace(config) && !patterns.is_empty()).then_some(patterns)
}

fn is_trace(config: &PluginConfig) -> bool {
    matches!(&config.source, PluginSource::Bundled(name) if name == "trace")
}

/// Checks whether a selector names a class in which the bundled plugin `trace` follows tasks. No user has named it, and no
/// program needs to load it.
fn is_of_tasks(config: &PluginConfig, selector: &str) -> bool {
    let follows = config.config.get("follow").and_then(|it| it.as_bool()) == Some(true);
    let methods = config.config.get("methods").and_then(|it| it.as_array());
    let mut methods = methods.into_iter().flatten().filter_map(|it| it.as_str());
    is_trace(config) && follows && !methods.any(|method| method.starts_with(selector))
}

/// Classes that a plugin named, and whether one was seen.
struct Named {
    selector: String,
    glob: Glob,
    seen: AtomicBool,
}

impl Named {
    /// Of a selector over names; none for any other kind.
    fn new(selector: &str) -> Option<Self> {
        let other = selector.starts_with(['!', '@', '<']) || selector.contains(':');
        (!other).then(|| Self {
            selector: selector.to_owned(),
            glob: Glob::of_class(selector),
            seen: AtomicBool::new(false),
        })
    }
}

/// Whether a plugin sees classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginState {
    /// It does.
    On,
    /// The user switched it off.
    Disabled,
    /// It failed on most classes or took too long, and was switched off.
    Failed,
}

struct Pool {
    idle: Vec<Instance>,
    /// Instances that exist, idle or not.
    live: usize,
    limit: usize,
    /// Threads that wait for one: to wake nobody would be a call of the kernel for each class.
    waiting: usize,
}

impl Plugin {
    /// Loads and configures a plugin, for which `file` says what it does; its first instance is ready afterwards.
    /// What it asked for before is known if `remembers` says so.
    pub fn load(
        config: &PluginConfig,
        file: Option<&Path>,
        engine: &Engine,
        compilation: &Compilation<'_>,
        settings: StoreSettings,
        remembers: bool,
    ) -> Result<Self, HostError> {
        let user = parse_selection(&config.name, &config.select)?;
        let (pre, digest) = component::load(config, engine, compilation)?;
        let json = config.config.to_string();
        let (first, selectors) = Instance::new(&pre, &json, &settings)
            .map_err(|fault| not_configured(config, file, fault))?;
        let own = parse_selection(&config.name, &selectors)?;
        let observing = match abilities::observer(pre.instance_pre().component(), engine) {
            None => None,
            Some(interface) => {
                let observing = Observing::new((&pre, interface), &json, &settings);
                Some(observing.map_err(|fault| not_configured(config, file, fault))?)
            }
        };
        let level = settings.level;
        let plans = remembers.then(|| PlanStore::open(compilation.caches(), &digest, &json, level));
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let granted = |wanted: &str| config.grant.iter().any(|grant| grant == wanted);
        Ok(Self {
            name: config.name.clone(),
            session: config.session,
            natives: granted("natives"),
            structure: granted("structure"),
            watch: config
                .watch
                .as_ref()
                .map(|watch| Arc::new(Program::of(watch))),
            writes: writes_of(config),
            records_spans: abilities::records_spans(pre.instance_pre().component(), engine),
            observing: observing.map(Arc::new),
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

    /// The name under which its spans are recorded: in a session of its own, that without the number of the session.
    pub fn recorded_name(&self) -> &str {
        match self.name.rsplit_once(SESSION_MARK) {
            Some((name, _)) if self.session > 0 => name,
            _ => &self.name,
        }
    }

    /// What is known without the class file. Allocates nothing.
    pub fn wants(&self, name: &[u8], loader: &Loader, location: CodeLocation<'_>) -> Verdict {
        let is_allowed = self.boot || !matches!(loader, Loader::Boot | Loader::Platform);
        if self.follows(name) && is_allowed && self.state() == PluginState::On {
            return Verdict::Yes;
        }
        self.selects(name, loader, location)
    }

    /// Checks whether its spans need an edit in this class, whatever it selects.
    pub fn follows(&self, name: &[u8]) -> bool {
        self.records_spans && name == RESUMER
    }

    /// Checks its selectors against a class, as far as that takes no class file.
    pub fn selects(&self, name: &[u8], loader: &Loader, location: CodeLocation<'_>) -> Verdict {
        let inner = matches!(loader, Loader::Boot | Loader::Platform);
        let allowed = if inner {
            self.boot
        } else {
            location != CodeLocation::None || self.user.any_location()
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
            _ => Verdict::AskClass,
        }
    }

    /// Whether its selectors need to know where a class came from.
    pub fn asks_location(&self) -> bool {
        self.user.asks_location() || self.own.asks_location()
    }

    /// Says whether its selectors ask for the source file of a class.
    pub fn asks_source(&self) -> bool {
        self.user.asks_source() || self.own.asks_source()
    }

    /// Says whether it may want a class of which the source file is known, after [`Verdict::AskClass`].
    pub fn may_want_source(&self, name: &[u8], loader: &Loader, source: &[u8]) -> bool {
        let may_want = |selection: &Selection| match selection.matches_name(name, loader) {
            Verdict::AskClass => selection.may_match_source(name, source),
            verdict => verdict == Verdict::Yes,
        };
        may_want(&self.user) && may_want(&self.own)
    }

    /// Says whether it wants a class only if its instructions name certain fields.
    pub fn asks_fields(&self) -> bool {
        self.writes.is_some()
    }

    /// Says whether it may want a class whose instructions name these fields.
    pub fn may_want_fields(&self, name: &[u8], fields: &[String]) -> bool {
        let is_named = |pattern: &FieldPattern| fields.iter().any(|it| pattern.has_name(it));
        let writes = self.writes.as_ref();
        writes.is_none_or(|writes| self.follows(name) || writes.iter().any(is_named))
    }

    /// What is known with the class file, after [`Verdict::AskClass`].
    pub fn wants_class(&self, name: &[u8], loader: &Loader, class: &dyn SelectableClass) -> bool {
        let wants = |selection: &Selection| match selection.matches_name(name, loader) {
            Verdict::AskClass => selection.matches_class(name, class),
            verdict => verdict == Verdict::Yes,
        };
        wants(&self.user) && wants(&self.own)
    }

    /// Notes that it is shown this class.
    pub fn note_seen(&self, name: &[u8]) {
        for named in &self.named {
            if !named.seen.load(Ordering::Relaxed) && named.glob.matches(name) {
                named.seen.store(true, Ordering::Relaxed);
            }
        }
    }

    /// The classes that it named of which none was seen, as it named them.
    pub fn unmatched(&self) -> Vec<String> {
        let is_seen = |named: &&Named| named.seen.load(Ordering::Relaxed);
        let seen: Vec<&str> = self
            .named
            .iter()
            .filter(is_seen)
            .map(|it| it.selector.as_str())
            .collect();
        // `A.**` stands beside `A` where the methods of a class may be meant; together they are one pattern.
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

    /// Whether it sees classes.
    pub fn state(&self) -> PluginState {
        if self.disabled.load(Ordering::Relaxed) {
            PluginState::Disabled
        } else if self.failed.load(Ordering::Relaxed) {
            PluginState::Failed
        } else {
            PluginState::On
        }
    }

    /// Switches it off, or on again with a clean record.
    pub fn enable(&self, enabled: bool) {
        self.disabled.store(!enabled, Ordering::Relaxed);
        if enabled {
            self.failed.store(false, Ordering::Relaxed);
            *self.record() = Record::default();
        }
    }

    /// Counts a class in which what it asked for cannot be made.
    pub fn note_refused(&self) {
        self.record().refuse();
    }

    /// What became of it if it failed, with the first of these failures.
    pub fn failed(&self, failures: &[Failure]) -> Option<FailedPlugin> {
        let record = self.record();
        let is_off = self.state() == PluginState::Failed;
        if record.failures() == 0 && !is_off {
            return None;
        }
        let about = |failure: &&Failure| failure.plugin.is_empty() || failure.plugin == self.name;
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

    /// CPU time that its code has taken, and what it asked the host.
    pub fn spent(&self) -> Duration {
        self.record().spent()
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What its plans for a class are found by; none if it is asked each time.
    pub fn key(&self, class: &ClassIdentity<'_>) -> Option<ClassKey> {
        self.plans.as_ref().map(|plans| plans.key(class))
    }

    /// Whether it is known that it asks for nothing in the class of this key.
    pub fn is_known_to_ask_for_nothing(&self, key: &ClassKey) -> bool {
        let plans = self.plans.as_ref();
        plans.is_some_and(|plans| plans.holds_nothing(key))
    }

    /// Counts a class in which it is known to ask for nothing.
    pub fn note_nothing_asked(&self, name: &[u8], key: &ClassKey) {
        self.note_seen(name);
        if let Some(plans) = &self.plans {
            plans.note_use(key);
        }
        self.record().add(Answer::Nothing, Duration::ZERO);
    }

    /// What it asks for in a class, in the memory of an earlier request: as it did before, or runs the class through an
    /// instance. The class is given back unless it was lost to a fault. `key` is what its plans are found by, if that was
    /// computed before.
    pub fn transform(
        &self,
        class: TransformedClass,
        key: Option<ClassKey>,
        memory: PlanRequest,
    ) -> (Option<TransformedClass>, Result<PlanRequest, Fault>) {
        let plans = self.plans.as_ref().map(|plans| {
            let key = key.unwrap_or_else(|| plans.key(&class.identity()));
            (plans, key)
        });
        if let Some(known) = plans.and_then(|(plans, key)| plans.find(&key)) {
            return (Some(class), self.judge(Ok(known), Duration::ZERO));
        }
        let mut instance = match self.take() {
            Ok(instance) => instance,
            Err(fault) => return (Some(class), self.judge(Err(fault), Duration::ZERO)),
        };
        let (class, result) = instance.transform(class, memory);
        // Who says something about a class says it each time.
        if let (Some((plans, key)), Ok(request), false) = (plans, &result, instance.has_logged()) {
            plans.keep(key, request);
        }
        let time = instance.take_time();
        self.give_back(instance);
        (class, self.judge(result, time))
    }

    /// Writes what it asked for to where it is found later, if that has waited long enough or `now` says so.
    pub fn write_plans(&self, now: bool) {
        if let Some(plans) = self.plans.as_ref().filter(|plans| now || plans.is_due()) {
            plans.write();
        }
    }

    /// How often it was known what it asks for; none if it is asked each time.
    pub fn plan_counts(&self) -> Option<PlanCounts> {
        self.plans.as_ref().map(PlanStore::counts)
    }

    /// Adds a class to the record; a plugin that is switched off now has its edits left out, and says why.
    fn judge(
        &self,
        result: Result<PlanRequest, Fault>,
        time: Duration,
    ) -> Result<PlanRequest, Fault> {
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
        let told = format!("it is switched off now: {verdict}");
        let Err(mut fault) = result else {
            return Err(Fault::new("H0318", told));
        };
        fault.help = Some(match fault.help {
            Some(help) => format!("{help}\n{told}"),
            None => told,
        });
        Err(fault)
    }

    /// An idle instance, or a new one, or the next one to be given back.
    fn take(&self) -> Result<Instance, Fault> {
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

/// A place in the pool, given up again if the instance cannot be made.
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

fn parse_selection<S: AsRef<str>>(plugin: &str, selectors: &[S]) -> Result<Selection, HostError> {
    Selection::parse(selectors)
        .map_err(|error| HostError::new("H0110", format!("plugin `{plugin}`: {error}")))
}

fn not_configured(plugin: &PluginConfig, file: Option<&Path>, fault: Fault) -> HostError {
    let (code, message) = match fault.code {
        "H0111" => (
            "H0111",
            format!("plugin `{}` refuses its configuration", plugin.name),
        ),
        _ => (
            "H0112",
            format!("plugin `{}` failed while it was configured", plugin.name),
        ),
    };
    let error = HostError::new(code, message).with("cause", fault.cause.clone());
    let error = match line_of(plugin, &fault.cause) {
        Some(line) => {
            let file = file.unwrap_or(Path::new("classhook.toml"));
            error.with("at", format!("{}:{line}", file.display()))
        }
        None => error.with("config", shortened(plugin.config.to_string())),
    };
    suggest::from_text(error, &fault.cause)
}

/// The line of the value that the text is about, which begins with its path: `rule[1].what: …`.
fn line_of(plugin: &PluginConfig, text: &str) -> Option<usize> {
    let (path, _) = text.split_once(": ")?;
    let lines = plugin.config_lines.iter();
    // A key that is missing or misspelled stands in the table around it.
    let about = lines.filter(|(known, _)| path.starts_with(known.as_str()));
    let nearest = about.max_by_key(|(known, _)| known.len());
    nearest.map(|(_, line)| *line)
}
