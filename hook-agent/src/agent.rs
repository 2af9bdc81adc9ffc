//! The agent's state, and what it does when the JVM begins to run and when it ends.

use crate::channel::{self, Channel};
use crate::ffi::current;
use crate::ffi::error::JvmtiError;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::live::{self, BuiltinLoaders, ProbeArray};
use crate::ffi::phases::Live;
use crate::ffi::process;
use crate::ffi::refs::{FieldId, Local, LocalRef};
use crate::ffi::table::Event;
use crate::messages::{self, Code};
use crate::patch::Patching;
use crate::plugins::Plugins;
use crate::rebuilt::Rebuilt;
use crate::recording::{self, Signal};
use crate::spans::{self, Spans};
use crate::waiting::Waiting;
use crate::{foundation, retransform, slots};
use host::config::{Agent as Settings, OnError};
use host::{Config, Failure, Loader, Pipeline};
use probes::{Meta, ProbeTable, RecordError, Recorder, Summary};
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The name of the first.
const FIRST_PROBE_CLASS: &CStr = c"java/lang/$Classhook";
/// Exit status of a run that fails under `on-error=strict`.
const STRICT_STATUS: i32 = 3;
/// Failures written out one by one; the rest are counted.
const REPORTED: usize = 20;

/// Classes that JDK 25 regenerates for its archive and has no class file of its own for.
const HOLDERS: [&CStr; 4] = [
    c"java/lang/invoke/DelegatingMethodHandle$Holder",
    c"java/lang/invoke/DirectMethodHandle$Holder",
    c"java/lang/invoke/Invokers$Holder",
    c"java/lang/invoke/LambdaForm$Holder",
];

/// The agent of one JVM.
#[derive(Debug)]
pub(crate) struct Agent {
    jvmti: Jvmti,
    /// The settings of the agent itself that it was started with.
    pub settings: Settings,
    /// The plugins.
    pub plugins: Plugins,
    /// Who has which slots.
    pub table: &'static ProbeTable,
    /// The snapshot; none once it is complete and the agent has left.
    recorder: Mutex<Option<Recorder>>,
    /// The snapshot's file.
    pub snapshot: PathBuf,
    /// The JVM's arrays, by number; an array is added before the table knows of it.
    pub arrays: &'static RwLock<Vec<ProbeArray>>,
    /// The event file.
    pub spans: Spans,
    /// Held while arrays are copied or set to zero.
    pub draining: Mutex<()>,
    /// Hot patches.
    pub patching: Patching,
    /// Files of classes of which the JVM hands over other bytes: rebuilt, or with native methods wrapped.
    pub rebuilt: Rebuilt,
    /// Classes that cannot be retransformed yet.
    pub waiting: Waiting,
    /// Talks to the agent thread.
    pub signal: Signal,
    /// Talks to the control thread.
    pub channel: Channel,
    started: Instant,
    jvm: OnceLock<JvmFacts>,
    /// Between the start of the live phase and `VMDeath`.
    running: AtomicBool,
    /// The snapshot is complete.
    completed: AtomicBool,
    /// It was asked to leave, and has.
    left: AtomicBool,
    seen: AtomicU64,
    failures: Mutex<Failures>,
}

/// References fetched once, at the start of the live phase.
#[derive(Debug)]
struct JvmFacts {
    loaders: BuiltinLoaders,
    /// `ProtectionDomain.codesource`.
    code_source: Option<FieldId>,
    /// `CodeSource.location`.
    location: Option<FieldId>,
}

/// Failures of the agent's own and of the pipeline.
#[derive(Debug, Default)]
struct Failures {
    /// Not yet in the snapshot.
    fresh: Vec<probes::Failure>,
    /// Written to standard error so far.
    reported: usize,
    /// Classes that could not be retransformed.
    retransform: u64,
    /// Something went wrong that is no class's fault.
    agent: u64,
}

impl Agent {
    /// An agent that waits for the live phase.
    pub fn new(
        jvmti: Jvmti,
        config: Config,
        pipeline: Pipeline,
        recorder: Recorder,
        meta: Meta,
    ) -> Self {
        Self {
            jvmti,
            settings: config.agent.clone(),
            table: slots::table(),
            snapshot: recorder.path().to_owned(),
            recorder: Mutex::new(Some(recorder)),
            arrays: slots::arrays(),
            spans: Spans::new(meta, config.agent.output.clone()),
            draining: Mutex::default(),
            patching: Patching::default(),
            plugins: Plugins::new(config, pipeline),
            rebuilt: Rebuilt::default(),
            waiting: Waiting::default(),
            signal: Signal::default(),
            channel: Channel::default(),
            started: Instant::now(),
            jvm: OnceLock::new(),
            running: AtomicBool::new(false),
            completed: AtomicBool::new(false),
            left: AtomicBool::new(false),
            seen: AtomicU64::new(0),
            failures: Mutex::default(),
        }
    }

    /// The agent's environment.
    pub fn jvmti(&self) -> Jvmti {
        self.jvmti
    }

    /// The folder for everything that the agent writes.
    pub fn output(&self) -> &Path {
        &self.settings.output
    }

    /// Whether classes may be transformed now.
    pub fn is_running(&self) -> bool {
        self.running.load(Ordering::Acquire)
    }

    /// How long the agent has been at work.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Counts a class that the hook was shown.
    pub fn count_seen(&self) {
        self.seen.fetch_add(1, Ordering::Relaxed);
    }

    /// The `VMInit` event.
    pub fn vm_init(&self, live: Live, local: Local<'_>) {
        if !self.go_live(live, local) && !self.completed.load(Ordering::Acquire) {
            self.failures().agent += 1;
        }
    }

    /// Removes the snapshot of an agent that did not come to run.
    pub fn discard_snapshot(&self) {
        self.completed.store(true, Ordering::Release);
        drop(self.recorder().take());
        let _ = std::fs::remove_file(&self.snapshot);
    }

    /// Everything that had to wait for the live phase: probe classes, the class-file load hook,
    /// classes loaded earlier, the agent thread. False if the agent cannot work here.
    pub fn go_live(&self, live: Live, local: Local<'_>) -> bool {
        let began = self.learn(live, local).and_then(|()| {
            recording::begin(self, live, local)
                .map_err(|cause| self.why_not_first(local, cause))?;
            // From here on classes come through the hook.
            self.running.store(true, Ordering::Release);
            let hook = Event::CLASS_FILE_LOAD_HOOK;
            let refused = |error| {
                (
                    Code::Refused,
                    format!("the JVM refuses the class-file load hook: {error}"),
                )
            };
            self.jvmti.set_event(live, hook, true).map_err(refused)
        });
        if let Err((code, text)) = began {
            self.running.store(false, Ordering::Release);
            if code == Code::Twice {
                messages::warning(code, text);
                self.discard_snapshot();
                return false;
            }
            messages::error(
                code,
                format_args!("{text}; the JVM goes on without Classhook"),
            );
            return false;
        }
        foundation::prepare(self, live, local);
        retransform::retransform_loaded(self, live, local);
        if let Err(text) = recording::start_thread(self, live, local) {
            self.failures().agent += 1;
            messages::error(
                Code::Thread,
                format_args!("{text}; the snapshot is written at the end only"),
            );
        }
        if self.settings.control {
            channel::start(self, live, local);
        }
        messages::info(format_args!("recording to {}", self.snapshot.display()));
        true
    }

    /// A first probe class that cannot be defined is there already if the agent was loaded once more
    /// from another path.
    fn why_not_first(&self, local: Local<'_>, cause: (Code, String)) -> (Code, String) {
        let there = self.table.arrays() == 0 && local.find_class(FIRST_PROBE_CLASS).is_some();
        if !there {
            return cause;
        }
        let text =
            "another copy of the agent is in this JVM already; it goes on, this one does nothing";
        (Code::Twice, text.to_owned())
    }

    /// Fetches references to what the hook compares with.
    fn learn(&self, live: Live, local: Local<'_>) -> Result<(), (Code, String)> {
        let loaders = live::builtin_loaders(self.jvmti, local, live).map_err(|cause| {
            (
                Code::Refused,
                format!("the JVM's class loaders cannot be asked for: {cause}"),
            )
        })?;
        // Once the hook is on, a JVM no longer takes these from its archive, and parsing them costs
        // milliseconds of every program that has a lambda.
        HOLDERS
            .into_iter()
            .for_each(|holder| drop(local.find_class(holder)));
        let field = |class, name, descriptor| {
            let class = local.find_class(class)?;
            local.field_id(&class, name, descriptor)
        };
        let facts = JvmFacts {
            loaders,
            code_source: field(
                c"java/security/ProtectionDomain",
                c"codesource",
                c"Ljava/security/CodeSource;",
            ),
            location: field(c"java/security/CodeSource", c"location", c"Ljava/net/URL;"),
        };
        let _ = self.jvm.set(facts);
        spans::learn(local);
        Ok(())
    }

    /// Which kind of loader this is; `None` is the bootstrap loader.
    pub fn loader(&self, local: Local<'_>, loader: Option<&LocalRef<'_>>) -> Loader {
        let (Some(loader), Some(jvm)) = (loader, self.jvm.get()) else {
            return Loader::Boot;
        };
        if local.is_same(loader, &jvm.loaders.system) {
            return Loader::App;
        }
        if local.is_same(loader, &jvm.loaders.platform) {
            return Loader::Platform;
        }
        let signature = local
            .object_class(loader)
            .and_then(|class| self.jvmti.class_signature(&class).ok());
        Loader::Other(signature.map_or_else(
            || "unknown".into(),
            |signature| retransform::display_name(&signature).into(),
        ))
    }

    /// Whether a class came from a known place. Reads two fields; no code of the JVM's or of the
    /// application's runs.
    pub fn has_location(&self, local: Local<'_>, domain: Option<&LocalRef<'_>>) -> bool {
        let (Some(domain), Some(jvm)) = (domain, self.jvm.get()) else {
            return false;
        };
        // A JVM without these fields: a protection domain is then the best sign there is.
        let (Some(code_source), Some(location)) = (jvm.code_source, jvm.location) else {
            return true;
        };
        local
            .object_field(domain, code_source)
            .and_then(|source| local.object_field(&source, location))
            .is_some()
    }

    /// Notes that the pipeline failed on a class, which loads unchanged.
    pub fn class_failed(&self, failure: &Failure) {
        self.note(
            failure,
            probes::Failure {
                class: failure.class.clone(),
                method: failure.method.clone().unwrap_or_default(),
                plugin: failure.plugin.clone(),
                code: failure.code.to_owned(),
                message: failure.cause.clone(),
            },
        );
    }

    /// Notes that a class loaded earlier could not be retransformed.
    pub fn retransform_failed(&self, class: String, error: JvmtiError) {
        self.failures().retransform += 1;
        let code = Code::Retransform.as_str();
        let text = format!(
            "warning[{code}]: {class} was loaded before the agent and cannot be retransformed: {error}; it stays as it is"
        );
        let message = error.to_string();
        self.note(
            text,
            probes::Failure {
                class,
                code: code.to_owned(),
                message,
                ..Default::default()
            },
        );
    }

    fn note(&self, text: impl std::fmt::Display, failure: probes::Failure) {
        let mut failures = self.failures();
        failures.fresh.push(failure);
        failures.reported += 1;
        let reported = failures.reported;
        drop(failures);
        match reported.cmp(&(REPORTED + 1)) {
            std::cmp::Ordering::Less => messages::coded_warning(text),
            std::cmp::Ordering::Equal => messages::coded_warning(
                "more failures follow; they are counted, and listed in the snapshot",
            ),
            std::cmp::Ordering::Greater => {}
        }
    }

    /// Failures that are not in the snapshot yet.
    pub fn take_failures(&self) -> Vec<probes::Failure> {
        std::mem::take(&mut self.failures().fresh)
    }

    /// The recorder, if the snapshot is not complete yet.
    pub fn recorder(&self) -> MutexGuard<'_, Option<Recorder>> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failures(&self) -> MutexGuard<'_, Failures> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The `VMDeath` event: the last moment at which the arrays can be read.
    pub fn vm_death(&self, live: Live, local: Local<'_>) {
        if !self.channel.stop() {
            messages::warning(
                Code::Thread,
                "the control thread does not answer; the JVM ends without it",
            );
        }
        let ran = self.running.swap(false, Ordering::AcqRel);
        if ran {
            let _ = self
                .jvmti
                .set_event(live, Event::CLASS_FILE_LOAD_HOOK, false);
            if !self.signal.stop() {
                messages::warning(
                    Code::Thread,
                    "the agent thread does not answer; the snapshot is completed without it",
                );
            }
            let _ = recording::drain(self, live, local); // said already, and tried once more
        }
        if self.complete() && self.is_strict() {
            process::exit_now(STRICT_STATUS);
        }
    }

    /// Ends everything but the control thread, which called this: no event comes any more, the
    /// recording thread is gone, the snapshot is complete and closed, and another agent may be installed.
    pub fn leave(&self, live: Live, local: Local<'_>) {
        self.running.store(false, Ordering::Release);
        foundation::end(live);
        let events = [
            Event::CLASS_FILE_LOAD_HOOK,
            Event::CLASS_PREPARE,
            Event::DATA_DUMP_REQUEST,
            Event::VM_DEATH,
        ];
        for event in events {
            let _ = self.jvmti.set_event(live, event, false);
        }
        self.signal.stop();
        spans::switch_off(self);
        let _ = recording::drain(self, live, local); // said already, and tried once more
        self.complete();
        self.left.store(true, Ordering::Release);
        current::retire();
    }

    /// Whether [`Agent::leave`] was called.
    pub fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    /// `Agent_OnUnload`; nothing is left to do after `VMDeath`.
    pub fn unload(&self) {
        self.running.store(false, Ordering::Release);
        self.complete();
    }

    /// Whether a failure fails the run.
    fn is_strict(&self) -> bool {
        let current = self.plugins.current();
        let on_error = current.map_or(self.settings.on_error, |current| {
            current.config.agent.on_error
        });
        on_error == OnError::Strict
    }

    /// What became of classes, and how often the agent itself failed.
    pub fn numbers(&self) -> (Summary, host::Summary, u64) {
        let plugins = self.plugins.summary();
        let (retransform, agent) = {
            let failures = self.failures();
            (failures.retransform, failures.agent)
        };
        let summary = Summary {
            seen: self.seen.load(Ordering::Relaxed),
            selected: plugins.classes,
            transformed: plugins.changed,
            failed: plugins.failed + retransform,
            skipped_methods: plugins.skipped_methods,
            lost: 0,
        };
        (summary, plugins, agent + messages::panics())
    }

    /// Completes the snapshot once and sums up; true if something failed.
    fn complete(&self) -> bool {
        if self.completed.swap(true, Ordering::AcqRel) {
            return false;
        }
        let (summary, pipeline, own) = self.numbers();
        let fresh = self.take_failures();
        let written = self.recorder().as_mut().map_or(Ok(()), |recorder| {
            fresh.iter().for_each(|failure| recorder.failure(failure));
            recorder.complete(self.table, &summary)
        });
        if let Err(error) = &written {
            messages::error(
                Code::Write,
                format_args!("the snapshot is incomplete: {}", last_words(error)),
            );
        }
        spans::complete(self);
        let is_there = self.restore_snapshot();
        let failed = summary.failed + own > 0 || written.is_err() || !is_there;
        self.sum_up(&summary, &pipeline, own);
        failed || pipeline.strict_failure
    }

    /// Puts the snapshot back if it was removed while the program ran; false if that cannot be.
    fn restore_snapshot(&self) -> bool {
        let Some(mut recorder) = self.recorder().take() else {
            return true;
        };
        let restored = recorder.restore();
        let path = self.snapshot.display();
        match &restored {
            Ok(false) => {}
            Ok(true) => messages::warning(
                Code::Write,
                format_args!("{path} was removed while the program ran; it was written again"),
            ),
            Err(error) => messages::error(
                Code::Write,
                format_args!(
                    "{path} was removed while the program ran, and cannot be written again: {error}"
                ),
            ),
        }
        restored.is_ok()
    }

    /// The lines at the end: always when something failed or was left out, else for `log=info`.
    fn sum_up(&self, summary: &Summary, pipeline: &host::Summary, own: u64) {
        let told = [
            (
                Code::LeftAlone,
                "left alone",
                summary.skipped_methods,
                &pipeline.skipped,
            ),
            (
                Code::Huge,
                "too long for HotSpot's compilers",
                pipeline.huge_methods,
                &pipeline.huge,
            ),
        ];
        for (code, what, count, methods) in told {
            let Some(first) = methods.first() else {
                continue;
            };
            messages::warning(
                code,
                format_args!(
                    "methods {what}: {count}; the first is {}.{}: {} (`classhook explain` tells of each)",
                    first.class, first.method, first.text
                ),
            );
        }
        let line = format!(
            "{} classes seen, {} selected, {} changed, {} failed, {} methods left alone, in {:.3} s (self-check {:.3} s); snapshot {}",
            summary.seen,
            summary.selected,
            summary.transformed,
            summary.failed,
            summary.skipped_methods,
            pipeline.time.as_secs_f64(),
            pipeline.check_time.as_secs_f64(),
            self.snapshot.display(),
        );
        if summary.failed + own == 0 {
            return messages::info(line);
        }
        messages::coded_warning(line);
        for failure in pipeline.failures.iter().take(REPORTED) {
            let plugin = if failure.plugin.is_empty() {
                ""
            } else {
                " in plugin "
            };
            messages::coded_warning(format_args!(
                "  {} {}{plugin}{}: {}",
                failure.code, failure.class, failure.plugin, failure.cause
            ));
        }
        if pipeline.failed > REPORTED as u64 {
            messages::coded_warning(format_args!(
                "  and {} more",
                pipeline.failed - REPORTED as u64
            ));
        }
        for plugin in &pipeline.switched_off {
            messages::coded_warning(format_args!(
                "  plugin {plugin} was switched off after failing repeatedly"
            ));
        }
        if own > 0 {
            messages::coded_warning(format_args!(
                "  {own} failures of the agent itself, reported above"
            ));
        }
    }
}

/// A failed write at the end, when nothing is tried again.
fn last_words(error: &RecordError) -> String {
    match error {
        RecordError::Write {
            path,
            pending,
            source,
        } => {
            format!(
                "{pending} bytes are missing from {}: {source}",
                path.display()
            )
        }
        other => other.to_string(),
    }
}
