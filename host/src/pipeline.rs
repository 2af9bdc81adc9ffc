//! From class bytes to spliced bytes.
//!
//! ```text
//! wants (name, loader) → read → wants (class) → each plugin's plan → slots → splice → self-check
//! ```

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use probes::ProbeTable;
use rewriter::{ClassEdit, ClassFile, EditPlan, MethodIndex, Part, ProbeStorage, Utf8};

use crate::config::OnError;
use crate::engine::Ticker;
use crate::foundation::{self, Foundation};
use crate::instance::Fault;
use crate::job::{Recording, Subject};
use crate::natives;
use crate::own::{self, OwnProbes};
use crate::plugin::{Plugin, PluginState};
use crate::selector::{ClassFacts, Verdict};
use crate::span;
use crate::stack::{Benches, Tools, quiet_panics};
use crate::storage::{HELPER, HITS_FIELD, Storage, array_owner};
use crate::{
    ClassRequest, Config, Failure, HostError, Loader, MethodRemark, Outcome, Summary, engine,
};

/// All plugins of one configuration, ready to see classes; shared by any number of threads.
pub struct Pipeline {
    plugins: Vec<Plugin>,
    ticker: Ticker,
    benches: Benches,
    record: Mutex<Record>,
    strict: bool,
}

/// What happened so far.
#[derive(Default)]
struct Record {
    summary: Summary,
    /// Classes that failed, so that each is reported once.
    failed: HashSet<String>,
}

/// Why a class ends unchanged, before it is made a [`Failure`].
struct Trouble<'a> {
    plugin: &'a str,
    fault: Fault,
    method: Option<String>,
}

/// Names that are never touched, by prefix: our own helpers and runtime, classes that the
/// JVM calls while it defines a changed class (a change to them fails with
/// ClassCircularityError), and code generated for reflection.
const NEVER: [&str; 9] = [
    HELPER,
    own::PACKAGE,
    "java/lang/Module$ReflectionData",
    "java/lang/WeakPairMap",
    "java/lang/instrument/",
    "sun/instrument/",
    "jdk/internal/reflect/Generated",
    "sun/reflect/Generated",
    "jdk/internal/module/",
];

impl Pipeline {
    /// Loads, checks and configures the plugins.
    ///
    /// # Errors
    /// `H01xx` for plugin files and configuration, `H02xx` for capabilities that are not granted.
    pub fn new(config: &Config) -> Result<Self, HostError> {
        let (engine, ticker) = start()?;
        let running = ticker.run().map_err(|error| broken(error.to_string()))?;
        let load = |plugin| Plugin::load(plugin, &engine, config.agent.log);
        let plugins = config.plugins.iter().map(load).collect::<Result<_, _>>()?;
        drop(running);
        let strict = config.agent.on_error == OnError::Strict;
        Ok(Self {
            plugins,
            ticker,
            benches: Benches::new(config.agent.self_check),
            record: Mutex::default(),
            strict,
        })
    }

    /// Whether any plugin may want this class; decided by name, loader and location alone, without allocation.
    #[must_use]
    pub fn wants(&self, name: &[u8], loader: &Loader, has_location: bool) -> bool {
        !never(name)
            && self
                .plugins
                .iter()
                .any(|plugin| plugin.wants(name, loader, has_location) != Verdict::No)
    }

    /// Asks the plugins about one class and splices what they want into `out`.
    ///
    /// Runs on a stack of its own. Never panics and never blocks on anything but
    /// other transforms; whatever goes wrong is an [`Outcome::Failed`].
    pub fn transform(
        &self,
        request: &ClassRequest<'_>,
        table: &ProbeTable,
        out: &mut Vec<u8>,
    ) -> Outcome {
        self.observed(request, Storage::Shared(table), out, None)
    }

    /// As [`Pipeline::transform`], for a class that will run without the agent: it carries its probes
    /// itself ([`own`]). If it was changed, `probes` says whose they are.
    pub fn instrument(
        &self,
        request: &ClassRequest<'_>,
        probes: &mut Vec<OwnProbes>,
        out: &mut Vec<u8>,
    ) -> Outcome {
        probes.clear();
        self.observed(request, Storage::Own(probes), out, None)
    }

    /// As [`Pipeline::transform`]; with the names of the plugins whose edits a changed class holds.
    pub fn transform_by(
        &self,
        request: &ClassRequest<'_>,
        table: &ProbeTable,
        out: &mut Vec<u8>,
    ) -> (Outcome, Vec<String>) {
        let mut askers = Askers::default();
        let outcome = self.observed(request, Storage::Shared(table), out, Some(&mut askers));
        (outcome, askers.0)
    }

    /// Whether classes may be given anything for good: only then is [`Pipeline::foundation`] worth asking.
    #[must_use]
    pub fn lays_foundations(&self) -> bool {
        self.plugins
            .iter()
            .any(|plugin| plugin.natives || plugin.structure)
    }

    /// What a class that is being loaded is given for good. It is to be laid ([`Pipeline::lay`]) before the class goes
    /// through [`Pipeline::transform`], which also reports what goes wrong; then there is no foundation.
    #[must_use]
    pub fn foundation(&self, request: &ClassRequest<'_>, table: &ProbeTable) -> Foundation {
        let class = ClassFile::read(request.bytes);
        let natives =
            class.is_ok_and(|class| class.methods().any(|method| natives::is_native(&method)));
        if !natives && !self.plugins.iter().any(|plugin| plugin.structure) {
            return Foundation::default();
        }
        let Ok(_running) = self.ticker.run() else {
            return Foundation::default();
        };
        let foundation = self.benches.run(|tools| match self.asked(request) {
            Ok(Some((subject, recordings))) => Foundation {
                natives: natives::to_wrap(&subject, &recordings),
                structure: structure(&subject, &recordings, request, table, tools),
            },
            _ => Foundation::default(),
        });
        foundation.unwrap_or_default()
    }

    /// The class file with a foundation; none if it does not suit this class file.
    #[must_use]
    pub fn lay(&self, foundation: &Foundation, bytes: &[u8]) -> Option<Vec<u8>> {
        let laid = self.benches.run(|_| foundation.lay(bytes));
        laid.unwrap_or_default()
    }

    /// As [`Pipeline::transform`], with somebody looking on.
    pub(crate) fn observed(
        &self,
        request: &ClassRequest<'_>,
        storage: Storage<'_>,
        out: &mut Vec<u8>,
        observer: Option<&mut dyn Observer>,
    ) -> Outcome {
        out.clear();
        let begun = Instant::now();
        let result = match self.ticker.run() {
            Ok(_running) => self
                .benches
                .run(|tools| self.work(request, storage, tools, out, observer)),
            Err(error) => Err(format!("no thread for the clock: {error}")),
        };
        let result = result.unwrap_or_else(|text| {
            Err(Trouble {
                plugin: "",
                fault: Fault::new("H0305", text),
                method: None,
            })
        });
        match result {
            Ok(changed) => self.done(changed, begun),
            Err(trouble) => {
                out.clear();
                self.failed(request, trouble)
            }
        }
    }

    /// What was done so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = self.record().summary.clone();
        let failed = |plugin: &&Plugin| plugin.state() == PluginState::Failed;
        let off = self.plugins.iter().filter(failed);
        summary.switched_off = off.map(|plugin| plugin.name.clone()).collect();
        summary.strict_failure = self.strict && summary.failed > 0;
        summary
    }

    /// The names of the plugins, in the order in which their edits are applied.
    pub fn plugins(&self) -> impl Iterator<Item = &str> {
        self.plugins.iter().map(|plugin| plugin.name.as_str())
    }

    /// Whether each plugin sees classes, in the order of [`Pipeline::plugins`].
    pub fn states(&self) -> impl Iterator<Item = PluginState> {
        self.plugins.iter().map(Plugin::state)
    }

    /// Switches a plugin off or on again; false if there is none of this name. Classes that are being
    /// transformed at this moment may still see it as it was.
    pub fn enable(&self, plugin: &str, enabled: bool) -> bool {
        let found = self.plugins.iter().find(|found| found.name == plugin);
        found.is_some_and(|found| {
            found.enable(enabled);
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
        has_location: bool,
    ) -> bool {
        let found = self.plugins.iter().find(|found| found.name == plugin);
        let wants = |found: &Plugin| found.wants(name, loader, has_location) != Verdict::No;
        !never(name) && found.is_some_and(wants)
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn done(&self, changed: Option<bool>, begun: Instant) -> Outcome {
        let Some(changed) = changed else {
            return Outcome::Unchanged;
        };
        let mut record = self.record();
        record.summary.classes += 1;
        record.summary.changed += u64::from(changed);
        record.summary.time += begun.elapsed();
        if changed {
            Outcome::Changed
        } else {
            Outcome::Unchanged
        }
    }

    fn failed(&self, request: &ClassRequest<'_>, trouble: Trouble<'_>) -> Outcome {
        let failure = Failure {
            code: trouble.fault.code,
            plugin: trouble.plugin.to_owned(),
            class: class_name(request.name),
            method: trouble.method,
            bci: trouble.fault.bci,
            cause: trouble.fault.cause,
            help: trouble.fault.help,
        };
        let mut record = self.record();
        record.summary.classes += 1;
        if record.failed.insert(failure.class.clone()) {
            record.summary.failed += 1;
            if record.summary.failures.len() < Summary::KEPT {
                record.summary.failures.push(failure.clone());
            }
        }
        Outcome::Failed(failure)
    }

    /// The work on one class; none if no plugin wanted it, else whether it was changed.
    fn work<'p>(
        &'p self,
        request: &ClassRequest<'_>,
        storage: Storage<'_>,
        tools: &mut Tools,
        out: &mut Vec<u8>,
        mut observer: Option<&mut dyn Observer>,
    ) -> Result<Option<bool>, Trouble<'p>> {
        let Some((subject, recordings)) = self.asked(request)? else {
            return Ok(None);
        };
        self.keep_notes(&subject, &recordings);
        if let Some(observer) = observer.as_deref_mut() {
            observer.planned(&recordings);
        }
        apply(&subject, &recordings, request, storage, tools, out).map(|spliced| {
            if let Some(observer) = observer {
                observer.spliced(&spliced);
            }
            self.keep(&subject, spliced);
            Some(!out.is_empty())
        })
    }

    /// What the plugins that want a class ask for; none if no plugin wants it.
    fn asked<'p>(
        &'p self,
        request: &ClassRequest<'_>,
    ) -> Result<Option<(Subject, Recordings<'p>)>, Trouble<'p>> {
        if never(request.name) {
            return Ok(None);
        }
        let verdicts = self
            .plugins
            .iter()
            .map(|plugin| plugin.wants(request.name, request.loader, request.has_location));
        let mut wanting: Vec<(&Plugin, Verdict)> = self
            .plugins
            .iter()
            .zip(verdicts)
            .filter(|(_, verdict)| *verdict != Verdict::No)
            .collect();
        if wanting.is_empty() {
            return Ok(None);
        }
        let source = request.original.unwrap_or(request.bytes);
        let known = !request.retransforming || request.original.is_some();
        let subject = Subject::read(source, request.loader, request.retransforming, known)
            .map_err(|error| unreadable(error.to_string()))?;
        wanting.retain(|(plugin, verdict)| {
            *verdict == Verdict::Yes
                || plugin.wants_class(request.name, request.loader, subject.class())
        });
        if wanting.is_empty() || own::is_instrumented(subject.class()) {
            return Ok(None);
        }
        collect(subject, &wanting).map(Some)
    }

    fn keep_notes(&self, subject: &Subject, recordings: &[(&Plugin, Recording)]) {
        if recordings
            .iter()
            .all(|(_, recording)| recording.notes.is_empty())
        {
            return;
        }
        let class = subject.class().this_class().to_str_lossless().into_owned();
        let mut record = self.record();
        for (plugin, recording) in recordings {
            for note in &recording.notes {
                if record.summary.notes.len() < Summary::KEPT {
                    let method = subject.method_name(note.site.method).unwrap_or_default();
                    record
                        .summary
                        .notes
                        .push(format!("{}: {class}.{method}: {}", plugin.name, note.text));
                }
            }
        }
    }

    fn keep(&self, subject: &Subject, spliced: Spliced) {
        let remark = |(method, text): (MethodIndex, String)| MethodRemark {
            class: subject.class().this_class().to_str_lossless().into_owned(),
            method: subject.method_name(method).unwrap_or_default(),
            text,
        };
        let mut record = self.record();
        let summary = &mut record.summary;
        summary.check_time += spliced.check_time;
        summary.skipped_methods += spliced.skipped.len() as u64;
        summary.huge_methods += spliced.huge.len() as u64;
        let lists = [
            (&mut summary.skipped, spliced.skipped),
            (&mut summary.huge, spliced.huge),
        ];
        for (kept, more) in lists {
            let room = Summary::KEPT.saturating_sub(kept.len());
            kept.extend(more.into_iter().take(room).map(remark));
        }
    }
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipeline")
            .field("plugins", &self.plugins().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// The engine that runs plugins, and its clock.
pub(crate) fn start() -> Result<(wasmtime::Engine, Ticker), HostError> {
    quiet_panics();
    let engine = engine::new().map_err(|error| broken(format!("{error:#}")))?;
    let ticker = Ticker::new(&engine);
    Ok((engine, ticker))
}

pub(crate) fn broken(error: String) -> HostError {
    let message = format!("the plugin engine cannot be started: {error}");
    HostError::new("H0305", message)
}

/// A name for people; the JVM gives none for some classes made at run time.
fn class_name(name: &[u8]) -> String {
    match name {
        [] => "(a class without a name)".to_owned(),
        name => Utf8::new(name).to_str_lossless().into_owned(),
    }
}

fn never(name: &[u8]) -> bool {
    NEVER
        .iter()
        .any(|prefix| name.starts_with(prefix.as_bytes()))
}

impl ClassFacts for ClassFile<'_> {
    fn any_annotation(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let name = |descriptor: Utf8<'_>| {
            let bytes = descriptor.as_bytes();
            test(
                bytes
                    .strip_prefix(b"L")
                    .and_then(|bytes| bytes.strip_suffix(b";"))
                    .unwrap_or(bytes),
            )
        };
        self.annotations().any(name)
    }

    fn any_supertype(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        self.super_class()
            .into_iter()
            .chain(self.interfaces())
            .any(|name| test(name.as_bytes()))
    }
}

fn unreadable<'a>(error: String) -> Trouble<'a> {
    Trouble {
        plugin: "",
        fault: Fault::new("H0301", format!("the class file cannot be read: {error}")),
        method: None,
    }
}

/// Somebody who looks on while a class is worked on.
pub(crate) trait Observer {
    /// What each plugin asked for.
    fn planned(&mut self, recordings: &Recordings<'_>);

    /// What came of it.
    fn spliced(&mut self, spliced: &Spliced) {
        let _ = spliced;
    }
}

/// What came of the edits of one class, by methods of the class that the plugins saw.
#[derive(Default)]
pub(crate) struct Spliced {
    /// Left as they are after all, and why.
    pub(crate) skipped: Vec<(MethodIndex, String)>,
    /// Longer now than HotSpot compiles, and by how much.
    pub(crate) huge: Vec<(MethodIndex, String)>,
    /// How long the self-check took.
    check_time: Duration,
}

impl Spliced {
    /// The same, of a class in which methods have other indices; those without one are dropped.
    fn renumbered(self, index: impl Fn(MethodIndex) -> Option<MethodIndex>) -> Self {
        let all = |methods: Vec<(MethodIndex, String)>| {
            methods
                .into_iter()
                .filter_map(|(method, text)| Some((index(method)?, text)))
                .collect()
        };
        Self {
            skipped: all(self.skipped),
            huge: all(self.huge),
            check_time: self.check_time,
        }
    }
}

/// Notes the plugins that asked for an edit.
#[derive(Default)]
struct Askers(Vec<String>);

impl Observer for Askers {
    fn planned(&mut self, recordings: &Recordings<'_>) {
        let asked = recordings
            .iter()
            .filter(|(_, recording)| recording.edits() > 0);
        self.0.extend(asked.map(|(plugin, _)| plugin.name.clone()));
    }
}

/// What each plugin asked for, in the order of the configuration.
pub(crate) type Recordings<'p> = Vec<(&'p Plugin, Recording)>;

/// Each plugin's plan, in order.
fn collect<'p>(
    mut subject: Subject,
    wanting: &[(&'p Plugin, Verdict)],
) -> Result<(Subject, Recordings<'p>), Trouble<'p>> {
    let mut recordings = Vec::with_capacity(wanting.len());
    for (plugin, _) in wanting {
        let (given_back, result) = plugin.transform(subject);
        let method = |fault: &Fault| {
            given_back
                .as_ref()
                .and_then(|subject| subject.method_name(fault.method?))
        };
        match result {
            Ok(recording) => recordings.push((*plugin, recording)),
            Err(fault) => {
                return Err(Trouble {
                    plugin: &plugin.name,
                    method: method(&fault),
                    fault,
                });
            }
        }
        subject = given_back.ok_or_else(|| unreadable("it was lost on the way".to_owned()))?;
    }
    Ok((subject, recordings))
}

/// What the plugins change of a class for good, if all that they ask for can be done.
fn structure(
    subject: &Subject,
    recordings: &[(&Plugin, Recording)],
    request: &ClassRequest<'_>,
    table: &ProbeTable,
    tools: &mut Tools,
) -> Vec<ClassEdit> {
    let edits = recordings
        .iter()
        .flat_map(|(_, recording)| foundation::structure_of(&recording.plan));
    let edits: Vec<ClassEdit> = edits.cloned().collect();
    let storage = Storage::Shared(table);
    if edits.is_empty() {
        return edits;
    }
    match apply(
        subject,
        recordings,
        request,
        storage,
        tools,
        &mut Vec::new(),
    ) {
        Ok(_) => edits,
        Err(_) => Vec::new(),
    }
}

/// Gives the probes their slots and splices; `out` stays empty if there is nothing to do.
fn apply<'p>(
    subject: &Subject,
    recordings: &[(&'p Plugin, Recording)],
    request: &ClassRequest<'_>,
    storage: Storage<'_>,
    tools: &mut Tools,
    out: &mut Vec<u8>,
) -> Result<Spliced, Trouble<'p>> {
    let spans = match storage {
        Storage::Shared(table) => Some(table.spans()),
        Storage::Own(_) => None,
    };
    let (place, mut plan) = place(subject, recordings, storage)?;
    let storage = place.storage();
    let natives = |plan: &mut EditPlan, class: &ClassFile<'_>| {
        spans.map_or_else(Vec::new, |spans| {
            natives::add(plan, subject, class, recordings, spans)
        })
    };
    if subject.class().bytes() == request.bytes {
        let skipped = natives(&mut plan, subject.class());
        let mut spliced = Spliced::default();
        if !plan.is_empty() {
            spliced = splice(subject.class(), &plan, &storage, tools, out)?;
        }
        spliced.skipped.extend(skipped);
        return Ok(spliced);
    }
    let handed_over =
        ClassFile::read(request.bytes).map_err(|error| unreadable(error.to_string()))?;
    let (mut plan, refused) = rewriter::transfer(&plan, subject.class(), &handed_over);
    let mut skipped: Vec<_> = refused
        .into_iter()
        .map(|(method, reason)| (method, reason.to_string()))
        .collect();
    skipped.extend(natives(&mut plan, &handed_over));
    let mut spliced = Spliced::default();
    if !plan.is_empty() {
        let index = |method| index_of(subject.class(), &handed_over, method);
        spliced = splice(&handed_over, &plan, &storage, tools, out)?.renumbered(index);
    }
    spliced.skipped.extend(skipped);
    Ok(spliced)
}

/// The method of `from` with the name and descriptor that `method` has in `to`.
fn index_of(from: &ClassFile<'_>, to: &ClassFile<'_>, method: MethodIndex) -> Option<MethodIndex> {
    let wanted = to.method(method)?;
    let same = |found: &rewriter::Method<'_, '_>| {
        found.name() == wanted.name() && found.descriptor() == wanted.descriptor()
    };
    from.methods().find(same).map(|found| found.index())
}

fn splice<'p>(
    class: &ClassFile<'_>,
    plan: &EditPlan,
    storage: &ProbeStorage<'_>,
    tools: &mut Tools,
    out: &mut Vec<u8>,
) -> Result<Spliced, Trouble<'p>> {
    let trouble = |code, cause: String| Trouble {
        plugin: "",
        fault: Fault::new(code, cause),
        method: None,
    };
    let scratch = &mut tools.scratch;
    let report = rewriter::splice(class, plan, storage, scratch, out)
        .map_err(|error| trouble("H0302", error.to_string()))?;
    let mut check_time = Duration::ZERO;
    if tools.self_check {
        let begun = Instant::now();
        rewriter::check_splice(class, plan, storage, out, scratch).map_err(|error| {
            trouble(
                "H0303",
                format!("the result did not pass the self-check: {error}"),
            )
        })?;
        check_time = begun.elapsed();
    }
    if let Some(refusal) = report.refused {
        return Err(trouble("H0308", refusal.to_string()));
    }
    let skipped = report.skipped.into_iter();
    Ok(Spliced {
        skipped: skipped
            .map(|(method, reason)| (method, reason.to_string()))
            .collect(),
        huge: report.warnings.into_iter().filter_map(huge).collect(),
        check_time,
    })
}

/// The method, and what became of its length.
fn huge(warning: rewriter::Warning) -> Option<(MethodIndex, String)> {
    match warning {
        rewriter::Warning::HugeMethod {
            method,
            before,
            after,
        } => Some((
            method,
            format!(
                "it grew from {before} to {after} bytes; HotSpot compiles no method of more than 8,000"
            ),
        )),
        _ => None,
    }
}

/// Where the probes of one class are stored.
enum Place {
    /// In the array of the helper class of this name.
    Shared(String),
    /// In the class's own array, which it asks for with this.
    Own(Vec<u8>),
}

impl Place {
    fn storage(&self) -> ProbeStorage<'_> {
        match self {
            Self::Shared(owner) => ProbeStorage::SharedArray {
                owner,
                field: HITS_FIELD,
                base: 0,
            },
            Self::Own(key) => ProbeStorage::OwnArray {
                runtime: own::RUNTIME,
                key: Utf8::new(key),
            },
        }
    }
}

/// One plan of all plugins, whose probes are slots of one array.
fn place<'p>(
    subject: &Subject,
    recordings: &[(&'p Plugin, Recording)],
    storage: Storage<'_>,
) -> Result<(Place, EditPlan), Trouble<'p>> {
    if matches!(storage, Storage::Own(_)) {
        only_hits(recordings)?;
    }
    let trouble = |plugin: &'p Plugin, cause| Trouble {
        plugin: &plugin.name,
        fault: Fault::new("H0304", cause),
        method: None,
    };
    let table = match storage {
        Storage::Shared(table) => Some(table),
        Storage::Own(_) => None,
    };
    let asking = || {
        recordings
            .iter()
            .filter(|(_, recording)| recording.hits > 0)
    };
    let wanted: Vec<_> = asking()
        .map(|(plugin, recording)| (plugin.name.as_str(), recording.hits))
        .collect();
    let (place, bases) = match asking().next() {
        // Without probes it is never used.
        None => (Place::Shared(array_owner(0)), Vec::new()),
        Some((first, _)) => match storage {
            Storage::Shared(table) => in_table(subject, &wanted, table),
            Storage::Own(probes) => on_its_own(subject, &wanted, probes),
        }
        .map_err(|cause| trouble(first, cause))?,
    };
    let mut bases = bases.into_iter();
    let parts: Vec<_> = recordings
        .iter()
        .map(|(plugin, recording)| Part {
            by: &plugin.name,
            plan: &recording.plan,
            hits: match recording.hits {
                0 => 0,
                _ => bases.next().unwrap_or_default(),
            },
            counts: None,
        })
        .collect();
    let mut merged = EditPlan::merge(&parts).map_err(|conflict| Trouble {
        plugin: "",
        fault: Fault::new("H0304", conflict.to_string()),
        method: None,
    })?;
    // Last, so that a call which another plugin's code answers at once is none.
    for (plugin, recording) in recordings {
        let Some(table) = table else { break };
        still_there(&merged, subject, &plugin.name, recording)?;
        span::add(&mut merged, subject, &plugin.name, recording, table.spans()).map_err(
            |refused| Trouble {
                plugin: &plugin.name,
                fault: Fault::new("H0307", refused.cause),
                method: subject.method_name(refused.method),
            },
        )?;
    }
    Ok((place, merged))
}

/// Expects that nobody replaces the body of a method whose calls are recorded: its returns are not known.
fn still_there<'p>(
    merged: &EditPlan,
    subject: &Subject,
    plugin: &'p str,
    recording: &Recording,
) -> Result<(), Trouble<'p>> {
    let mut spans = recording.spans.as_slice().iter().map(|span| span.method);
    let replaced = |method: &MethodIndex| {
        let mut edits = merged.class_edits().iter();
        edits.any(|edit| {
            matches!(edit, ClassEdit::ReplaceBody { .. }) && edit.method() == Some(*method)
        })
    };
    match spans.find(replaced) {
        None => Ok(()),
        Some(method) => Err(Trouble {
            plugin,
            fault: Fault::new("H0307", "another plugin replaces its body".to_owned()),
            method: subject.method_name(method),
        }),
    }
}

/// Counts and spans are recorded by the agent alone.
fn only_hits<'p>(recordings: &[(&'p Plugin, Recording)]) -> Result<(), Trouble<'p>> {
    let more =
        |recording: &Recording| recording.counts > 0 || !recording.spans.as_slice().is_empty();
    match recordings.iter().find(|(_, recording)| more(recording)) {
        None => Ok(()),
        Some((plugin, _)) => Err(Trouble {
            plugin: &plugin.name,
            fault: Fault::new(
                "H0306",
                "it asks for counts or spans, which are recorded by the agent alone".to_owned(),
            ),
            method: None,
        }),
    }
}

/// Slots for the probes of each plugin in an array of the helper classes.
fn in_table(
    subject: &Subject,
    wanted: &[(&str, u32)],
    table: &ProbeTable,
) -> Result<(Place, Vec<u32>), String> {
    let slots = table.register_together(
        &subject.class().this_class().to_str_lossless(),
        subject.fingerprint(),
        subject.loader.as_str(),
        wanted,
        subject.class().bytes(),
    );
    let slots = slots.map_err(|error| error.to_string())?;
    let array = slots.first().map_or(0, |slots| slots.array);
    if slots.iter().any(|slots| slots.array != array) {
        return Err("the probes of its plugins do not fit into one array any more".to_owned());
    }
    let bases = slots.iter().map(|slots| u32::from(slots.base)).collect();
    Ok((Place::Shared(array_owner(array)), bases))
}

/// The plugins' probes one after the other in an array of the class's own.
fn on_its_own(
    subject: &Subject,
    wanted: &[(&str, u32)],
    probes: &mut Vec<OwnProbes>,
) -> Result<(Place, Vec<u32>), String> {
    probes.extend(wanted.iter().map(|(plugin, count)| OwnProbes {
        plugin: (*plugin).to_owned(),
        count: *count,
    }));
    let class = subject.class();
    let key = own::key(subject.fingerprint(), probes, class.this_class());
    let key = key.ok_or("its plugins want more probes than one array holds, which are 32768")?;
    let bases = wanted.iter().scan(0, |next, (_, count)| {
        let base = *next;
        *next += count;
        Some(base)
    });
    Ok((Place::Own(key), bases.collect()))
}
