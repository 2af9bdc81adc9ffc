//! The pipeline from class bytes to spliced bytes.
//!
//! A class passes the stages one after the other, each in a module of its own:
//!
//! ```text
//! select → read → ask → merge → splice → check → record
//! ```
//!
//! `Pipeline::run` is the way of every class: loaded, retransformed, instrumented in a file, or
//! explained. Before it, [`Pipeline::prepare`] takes a class that is being loaded through all stages
//! but the last one.

mod ask;
mod attempt;
mod base;
mod check;
mod known;
mod merge;
mod plugins;
mod read;
mod record;
mod replace;
mod select;
mod splice;

use std::sync::Arc;
use std::time::{Duration, Instant};

use probes::ProbeTable;
use rewriter::ClassFile;

use crate::class_array::ClassProbes;
use crate::clock::{Clock, MachineClock};
use crate::compilation::Compilation;
use crate::compiler::Compiler;
use crate::config::{Config, OnError, PluginConfig};
use crate::engine;
use crate::helpers::HelperLoader;
use crate::journal::Journal;
use crate::load_time_plans::{LoadTimePlan, LoadTimePlans};
use crate::outcome::{ClassRequest, Outcome};
use crate::plugin::Plugin;
use crate::plugin_failure::PluginFailure;
use crate::plugin_runner::PluginRunner;
use crate::spliced::SplicedClass;
use crate::storage::Storage;
use crate::store_data::StoreSettings;
use crate::structural_edits::StructuralEdits;
use errors::{Error, codes};

use base::Hook;
pub use read::shown_class;
pub(crate) use record::TransformListener;
pub use record::{LeftAloneMethod, Requested};
use select::Candidates;

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
    /// probe array ([`crate::class_array`]). For a changed class, `probes` receives the owners of its
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
        let candidates = select::select(&self.plugins, request);
        if candidates.is_empty() {
            return None;
        }
        let (storage, helpers) = (Storage::Shared(table), Some(helpers));
        let (hook, mut out) = (Hook::LoadTime, Vec::new());
        let made = self.make(candidates, request, hook, storage, helpers, &mut out);
        let mut made = made.transpose()?;
        let structural = made.as_mut().ok().and_then(|made| made.structural.take());
        let bytes = structural.as_ref().map_or(request.bytes, |(_, file)| file);
        let time = begun.elapsed();
        let prepared = LoadTimePlan { made, time };
        self.prepared.keep(request, bytes.to_vec(), prepared);
        structural
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

    /// Takes a class through all stages. `listener` hears of the results, and `journal` counts them.
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
        let prepared = match storage {
            Storage::Shared(_) => self.prepared.take(request),
            Storage::Own(_) => None,
        };
        let (made, earlier) = match prepared {
            Some(LoadTimePlan { made, time }) => (made.map(Some), time),
            None => {
                let mut candidates = select::select(&self.plugins, request);
                if candidates.is_empty() {
                    return Outcome::Unchanged;
                }
                let is_explained = listener.as_deref().is_some_and(TransformListener::sees_all);
                if !is_explained && known::have_empty_plans(request, &mut candidates) {
                    return journal.done(request, false, Vec::new(), begun.elapsed());
                }
                let hook = Hook::Retransforming;
                let made = self.make(candidates, request, hook, storage, helpers, out);
                (made, Duration::ZERO)
            }
        };
        let failed = match made {
            Ok(None) => return Outcome::Unchanged,
            Ok(Some(made)) => {
                let recorded = self.runner.on_stack(|buffers| {
                    record::record(made, out, listener, journal, &mut buffers.memory)
                });
                recorded.unwrap_or_else(|text| vec![broken(text)])
            }
            Err(failure) => vec![failure],
        };
        let changed = !out.is_empty();
        journal.done(request, changed, failed, earlier + begun.elapsed())
    }

    /// Takes a class through the stages from reading to checking, on a separate stack. Helper
    /// classes are defined on the stack of the caller, after the edits that name them were checked.
    /// Returns `None` if no plugin selects the class.
    fn make(
        &self,
        candidates: Candidates<'_>,
        request: &ClassRequest<'_>,
        hook: Hook,
        mut storage: Storage<'_>,
        helpers: Option<&dyn HelperLoader>,
        out: &mut Vec<u8>,
    ) -> Result<Option<SplicedClass>, PluginFailure> {
        let _running = self.runner.run_clock().map_err(broken)?;
        let made = self.runner.on_stack(|buffers| {
            let class = read::read(request, &mut buffers.memory)?;
            let planned = ask::ask(class, candidates, request, &mut buffers.memory)?;
            let memory = std::mem::take(out);
            Ok(planned.map(|planned| {
                attempt::attempt(planned, request, hook, storage.again(), buffers, memory)
            }))
        });
        let Some(mut made) = made.unwrap_or_else(|text| Err(broken(text)))? else {
            return Ok(None);
        };
        if let Some(loader) = helpers
            && made.needs_helpers()
            && !made.planned.define_helpers(loader)
        {
            let again = self.runner.on_stack(|buffers| {
                attempt::attempt(made.planned, request, hook, storage, buffers, Vec::new())
            });
            made = again.map_err(broken)?;
        }
        Ok(Some(made))
    }
}

/// The failure of the host itself, by the text of a panic.
fn broken(text: String) -> PluginFailure {
    PluginFailure::new(codes::H0305, text)
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipeline")
            .field("plugins", &self.plugins().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
