//! `classhook plugin bench`: measures the time of a plugin for a class.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use agent_launch::plugin_compiler::PluginCompiler;
use clap::Args;
use coverage_inputs::class_files::{self, Loader, LocatedClass};
use errors::{Error, Warning, Warnings, codes};
use host::cache::Cache;
use host::config::PluginConfig;
use host::{ClassRequest, Config, Loader as ClassLoader, Pipeline};
use local_files::temporary;
use plugin_projects::PluginSource;
use plugin_projects::configured;
use probes::ProbeTable;
use rewriter::ClassFile;
use rustix::time::{ClockId, clock_gettime};
use standard_streams::show::{complain, name, say, show};
use tempfile::TempDir;

use crate::args::{PLUGIN, PLUGIN_CONFIG};

const AFTER_HELP: &str = "\
The plugin processes every class as in the agent, with the self-check, on one thread. The table shows the CPU time of
this thread: the median of --rounds passes after a warm-up.
`known`: the plan cache has the plan from an earlier run, so the plugin does not run. This time is `splice`: parsing the
class, writing and checking it. `asked` also runs the plugin, and the difference is `plugin`.
For comparison, the last row is a plugin that requests no edits, the fixed cost of a plugin.
The exit code is 1 if the plugin fails on a class, or a class is unreadable.

Examples:
  classhook plugin bench call-counter
  classhook plugin bench call-counter --classes app.jar --config classhook.toml";

/// Measures the time of a plugin for a class.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Bench {
    /// The plugin.
    #[arg(value_name = "PLUGIN", default_value = ".", help = PLUGIN)]
    pub plugin: String,
    /// Select the classes in this folder, jar or jrt:MODULE; or a class file; repeatable
    #[arg(long, value_name = "PATH", default_value = "jrt:java.base")]
    pub classes: Vec<String>,
    /// Settings of the plugin.
    #[arg(long, value_name = "FILE", help = PLUGIN_CONFIG)]
    pub config: Option<PathBuf>,
    /// Measure this number of passes over all classes
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
}

/// The component of a plugin that requests no edits (`build/nothing.rs`).
const NOTHING: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/nothing.wasm"));

/// One measured row: a pipeline that processes all classes.
struct Measurement {
    title: String,
    pipeline: Pipeline,
    /// Evaluates the selection by class name only.
    names_alone: bool,
    times: Vec<Duration>,
    changed: usize,
    failed: usize,
    cause: Option<String>,
}

impl Bench {
    /// Measures the plugin and returns 1 if it fails on a class.
    ///
    /// # Errors
    /// As [`PluginSource::find`], and if classes or configuration cannot be read.
    pub fn run(&self) -> Result<u8, Error> {
        let source = PluginSource::find(&self.plugin)?;
        let plugin = source.reference().to_string_lossy().into_owned();
        let config = configured::alone(&plugin, self.config.as_deref())?;
        let mut warnings = Warnings::default();
        let classes = self.read(&mut warnings)?;
        if classes.is_empty() {
            let expected = format!("a class in {}", self.classes.join(", "));
            return Err(
                Error::mistake(codes::H0612, "no class to measure with").with("expected", expected)
            );
        }
        say(format_args!(
            "{} classes, {} passes",
            classes.len(),
            self.rounds + 1
        ));
        let mut tasks = measurements(&config, &classes)?;
        for _ in 0..self.rounds {
            tasks.iter_mut().for_each(|task| task.measure(&classes));
        }
        let unreadable = !warnings.is_empty();
        let failed = tasks.iter().find(|task| task.failed > 0);
        if let Some(task) = failed {
            let text = format!("{} fails on {} classes", task.title, task.failed);
            let cause = task.cause.clone().unwrap_or_default();
            warnings.add(Warning::new(codes::H0634, text).with("found", cause));
        }
        complain(&warnings);
        show(&text(&classes, &tasks))?;
        Ok(u8::from(unreadable || failed.is_some()))
    }

    fn read(&self, warnings: &mut Warnings) -> Result<Vec<(Vec<u8>, LocatedClass)>, Error> {
        let mut classes = Vec::new();
        for place in &self.classes {
            class_files::read(place, &Loader::every_version(), &mut |batch| {
                for found in batch {
                    let class = match ClassFile::read(&found.bytes) {
                        Ok(class) => class.this_class().as_bytes().to_vec(),
                        Err(error) => {
                            let text = format!("{} cannot be read", found.origin);
                            let warning = Warning::new(codes::H0632, text);
                            warnings.add(warning.with("found", error.to_string()));
                            continue;
                        }
                    };
                    classes.push((class, found.clone()));
                }
                Ok(())
            })?;
        }
        Ok(classes)
    }
}

/// Returns the measurements after a warm-up pass.
fn measurements(
    config: &Config,
    classes: &[(Vec<u8>, LocatedClass)],
) -> Result<[Measurement; 4], Error> {
    let plugin = config.plugins.first().map(|plugin| &plugin.name);
    let plugin = plugin
        .map(|plugin| name(plugin).into_owned())
        .unwrap_or_default();
    let asked = || Pipeline::new(config, &PluginCompiler);
    let mut tasks = [
        Measurement::new(format!("{plugin}, by names alone"), asked()?),
        Measurement::new(format!("{plugin}, asked"), asked()?),
        Measurement::new(format!("{plugin}, known"), known(config, classes)?),
        Measurement::new(
            "a plugin that asks for nothing".to_owned(),
            nothing(config)?,
        ),
    ];
    if let Some(first) = tasks.first_mut() {
        first.names_alone = true;
    }
    for task in &mut tasks {
        task.measure(classes);
        task.times.clear();
    }
    Ok(tasks)
}

/// Returns a pipeline with a plugin that requests no edits.
fn nothing(config: &Config) -> Result<Pipeline, Error> {
    let folder = temporary_folder()?;
    let file = folder.path().join("nothing.wasm");
    std::fs::write(&file, NOTHING).map_err(|error| Error::unwritable(&file, &error))?;
    let nothing = Config {
        plugins: vec![PluginConfig::file(file)],
        ..config.clone()
    };
    Pipeline::new(&nothing, &PluginCompiler)
}

fn temporary_folder() -> Result<TempDir, Error> {
    let parent = std::env::temp_dir();
    temporary::folder(&parent).map_err(|error| Error::unwritable(&parent, &error))
}

/// Returns a pipeline whose plan cache has the plans of all classes.
fn known(config: &Config, classes: &[(Vec<u8>, LocatedClass)]) -> Result<Pipeline, Error> {
    let folder = temporary_folder()?;
    Cache::open(folder.path()).map_err(|error| Error::unwritable(folder.path(), &error))?;
    let mut config = config.clone();
    config.agent.cache = Some(folder.path().to_owned());
    config.agent.plan_cache = true;
    let mut first = Measurement::new(
        String::new(),
        Pipeline::with_plan_cache(&config, &PluginCompiler)?,
    );
    first.measure(classes);
    first.pipeline.write_plans(true);
    Pipeline::with_plan_cache(&config, &PluginCompiler)
}

impl Measurement {
    fn new(title: String, pipeline: Pipeline) -> Self {
        Self {
            title,
            pipeline,
            names_alone: false,
            times: Vec::new(),
            changed: 0,
            failed: 0,
            cause: None,
        }
    }

    /// Measures one pass.
    fn measure(&mut self, classes: &[(Vec<u8>, LocatedClass)]) {
        let table = ProbeTable::new();
        table.set_arrays(u16::MAX);
        let mut out = Vec::new();
        (self.changed, self.failed) = (0, 0);
        let begun = cpu_time();
        for (class, found) in classes {
            let request = ClassRequest::of_file(class, &found.bytes);
            if self.names_alone {
                let loader = &ClassLoader::App;
                self.changed += usize::from(self.pipeline.wants(class, loader, request.location));
                continue;
            }
            let outcome = self.pipeline.transform(&request, &table, &mut out);
            self.changed += usize::from(outcome.is_changed());
            if let Some(failure) = outcome.failures().first() {
                self.failed += 1;
                self.cause.get_or_insert_with(|| failure.cause.clone());
            }
        }
        self.times.push(cpu_time().saturating_sub(begun));
    }

    /// Returns the time of the median pass.
    fn time(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        time.tv_nsec.unsigned_abs() as u32,
    )
}

fn text(classes: &[(Vec<u8>, LocatedClass)], tasks: &[Measurement; 4]) -> String {
    let count = classes.len() as f64;
    let bytes: usize = classes.iter().map(|(_, found)| found.bytes.len()).sum();
    let mut text = format!(
        "{count} classes of {:.1} KB on average, µs for a class\n{:<40} {:>9} {:>9} {:>9} {:>9}\n",
        bytes as f64 / count / 1e3,
        "",
        "in all",
        "plugin",
        "splice",
        "changed"
    );
    let each = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1e6 / count);
    let [names, asked, known, nothing] = tasks;
    let plugin = asked.time().saturating_sub(known.time());
    let parts = [
        (names, None, None),
        (asked, Some(plugin), Some(known.time())),
        (known, None, Some(known.time())),
        (nothing, None, None),
    ];
    for (task, plugin, splice) in parts {
        let changed = match task.names_alone {
            true => String::new(),
            false => task.changed.to_string(),
        };
        let [plugin, splice] = [plugin, splice].map(|it| it.map_or_else(String::new, each));
        let all = each(task.time());
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:<40} {all:>9} {plugin:>9} {splice:>9} {changed:>9}",
            task.title
        );
    }
    text
}
