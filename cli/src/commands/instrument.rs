//! `classhook instrument`: instruments class files and jars without a JVM.

use std::fmt::Write as _;
use std::io::{BufWriter, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use advice::files::PreparedFile;
use agent_launch::checked_options::check;
use agent_launch::failed_plugins;
use agent_launch::plugin_compiler::PluginCompiler;
use clap::{Args, ValueEnum};
use errors::{Error, PARTIAL, Warning, Warnings, codes};
use host::Pipeline;
use host::config::OnError;
use indicatif::{ProgressBar, ProgressStyle};
use java_compiler::program_compiler::Program;
use local_files::atomic;
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag::register_conditional_shutdown;
use standard_streams::show::{self, complain};
use static_instrumentation::baseline::Baseline;
use static_instrumentation::classes::Instrumenter;
use static_instrumentation::conflicts::{self, Targets};
use static_instrumentation::folder::Content;
use static_instrumentation::paths::Paths;
use static_instrumentation::{Record, runtime};
use tempfile::NamedTempFile;

use crate::advice_arguments::AdviceArguments;
use crate::args::{ConfigurationArguments, Plugins, output_path};

const AFTER_HELP: &str = "\
Use this for JVMs that cannot load an agent. The program needs the runtime on its class path: --runtime writes it,
--embed adds it to the output. The program records to the folder of -Dclasshook.output=DIR or CLASSHOOK_OUTPUT
[default: classhook].
One input is written to OUT. Several inputs, and the contents of folders, are written into the folder OUT.
Signed jars lose their signature. Other files are copied unchanged. Outputs appear when they are complete.

Examples:
  classhook instrument app.jar -o app-recording.jar --embed --baseline classhook/app.hook
  java -jar app-recording.jar && classhook report classhook
  classhook instrument app.jar -o app-advised.jar --advice SlowSql.java
  classhook instrument build/classes libs/core.jar -o build/recording --runtime build/classhook-runtime.jar";

/// The treatment of files with one name and different contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnConflict {
    /// Write nothing and report the files.
    Error,
    /// Keep the file of the first input, as a class path does.
    First,
}

impl From<OnConflict> for conflicts::OnConflict {
    fn from(policy: OnConflict) -> Self {
        match policy {
            OnConflict::Error => Self::Error,
            OnConflict::First => Self::First,
        }
    }
}

/// Instruments class files, folders and jars without running them.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Instrument {
    /// Instrument these class files, folders and jars, with nested jars
    #[arg(value_name = "IN")]
    pub inputs: Vec<PathBuf>,
    /// Write the output to this file or folder
    #[arg(short, long = "output", alias = "out", value_name = "OUT", requires = "inputs", value_parser = output_path())]
    pub out: Option<PathBuf>,
    /// Write the runtime to this jar; instrumented classes need it on their class path
    #[arg(long, value_name = "FILE", value_parser = output_path())]
    pub runtime: Option<PathBuf>,
    /// Add the runtime to each instrumented folder and jar
    #[arg(long, requires = "inputs")]
    pub embed: bool,
    /// Write the original classes to this snapshot (.hook), for reports without --classes
    #[arg(long, value_name = "FILE", requires = "inputs", value_parser = output_path())]
    pub baseline: Option<PathBuf>,
    /// Choose the reaction to different input files with one name
    #[arg(
        long,
        value_name = "ACTION",
        default_value = "error",
        requires = "inputs"
    )]
    pub on_conflict: OnConflict,
    /// Use this number of threads [default: one for each processor]
    #[arg(long, value_name = "NUMBER")]
    pub threads: Option<usize>,
    /// The plugins.
    #[command(flatten)]
    pub plugins: Plugins,
    /// Advice in Java.
    #[command(flatten)]
    pub advice: AdviceArguments,
    /// Settings of the plugins.
    #[command(flatten)]
    pub configuration: ConfigurationArguments,
}

impl Instrument {
    /// Instruments the inputs. Returns 3 if a method is not measured, or a plugin failed on every class that it selected,
    /// or on one with `--on-error strict`.
    ///
    /// # Errors
    /// If inputs, output, plugins or settings are wrong, or a file cannot be written.
    pub fn run(&self) -> Result<u8, Error> {
        let paths = match (&self.out, self.inputs.is_empty()) {
            (Some(out), false) => Some(Paths::new(&self.inputs, out)?),
            (None, true) if self.runtime.is_some() => None,
            _ => return Err(nothing_to_do(self.inputs.is_empty())),
        };
        if let Some(path) = &self.runtime {
            atomic::file(path, &|out| {
                let mut jar = std::io::Cursor::new(Vec::new());
                runtime::write_jar(&mut jar)?;
                out.write_all(jar.get_ref())
            })?;
        }
        match paths {
            Some(paths) => self.instrument(&paths),
            None => Ok(0),
        }
    }

    fn instrument(&self, paths: &Paths) -> Result<u8, Error> {
        let mut settings = self.configuration.value().into();
        let program = Program::Files(&self.inputs);
        let advice = self.advice.add_to(&mut settings, program)?;
        if advice.as_ref().is_some_and(PreparedFile::is_recording) {
            let text =
                "the rows of the advice are lost: classes on disk have no agent that records them";
            let help = "`classhook run --advice` and `classhook attach --advice` record them";
            complain(Warning::new(codes::H0745, text).with("help", help));
        }
        let (_, config) = check(&settings, &self.plugins.names, None)?;
        let pipeline = Pipeline::with_plan_cache(&config, &PluginCompiler)?;
        let instrumenter = Instrumenter::new(pipeline, self.baseline.is_some(), interrupts()?);
        let mut threads = rayon::ThreadPoolBuilder::new();
        if let Some(number) = self.threads {
            threads = threads.num_threads(number);
        }
        let threads = threads.build().map_err(|error| {
            Error::fault(codes::H0647, format!("no threads to work with: {error}"))
        })?;
        let stage = paths.stage()?;
        let mut targets = Targets::new(self.on_conflict.into());
        let contents = paths.jobs(&stage)?.into_iter();
        let contents = contents.map(|job| Content::of(job, &mut targets));
        let contents = contents.collect::<Result<Vec<_>, _>>()?;
        let left_out = targets.check()?;
        let mut baseline = self.begin_baseline(instrumenter.pipeline())?;
        let total = threads.install(|| self.all(&instrumenter, contents, &mut baseline))?;
        instrumenter.go_on()?;
        stage.publish()?;
        if let (Some(path), Some(baseline)) = (&self.baseline, baseline) {
            publish(baseline, path)?;
        }
        instrumenter.pipeline().write_plans(true);
        let any_failed = total.tally.failed + total.tally.unreadable > 0;
        let is_partial = !total.left_alone.is_empty();
        self.sum_up(instrumenter.pipeline(), total, left_out)?;
        let failed = failed_plugins::of_pipeline(instrumenter.pipeline());
        complain(&failed);
        let strict = config.agent.on_error == OnError::Strict;
        match failed.is_empty() && !is_partial && !(any_failed && strict) {
            true => Ok(0),
            false => Ok(PARTIAL),
        }
    }

    /// Instruments all inputs, in order.
    fn all(
        &self,
        instrumenter: &Instrumenter,
        contents: Vec<Option<Content>>,
        baseline: &mut Option<FileBaseline>,
    ) -> Result<Record, Error> {
        let progress = progress();
        let mut total = Record::default();
        let mut sink = |mut record: Record| {
            if let (Some(path), Some(baseline)) = (&self.baseline, baseline.as_mut()) {
                let added = baseline.add(std::mem::take(&mut record.kept));
                let added = added.and_then(|()| baseline.leave_alone(&record.left_alone));
                added.map_err(|error| Error::unwritable(path, &error))?;
            }
            progress.inc(record.tally.classes + record.tally.others);
            total.append(record);
            Ok(())
        };
        for content in contents.into_iter().flatten() {
            progress.set_message(show::path(content.source()));
            content.instrument(instrumenter, self.embed, &mut sink)?;
        }
        progress.finish_and_clear();
        Ok(total)
    }

    fn begin_baseline(&self, pipeline: &Pipeline) -> Result<Option<FileBaseline>, Error> {
        let Some(path) = &self.baseline else {
            return Ok(None);
        };
        let begun = || {
            let file = atomic::temporary(path)?;
            let plugins = pipeline.plugins().map(str::to_owned).collect();
            Baseline::new(BufWriter::new(file), plugins)
        };
        begun()
            .map(Some)
            .map_err(|error| Error::unwritable(path, &error))
    }

    fn sum_up(&self, pipeline: &Pipeline, total: Record, left_out: u64) -> Result<(), Error> {
        let mut warnings = Warnings::default();
        warnings.extend(total.warnings);
        complain(&warnings);
        let tally = total.tally;
        let mut text = String::new();
        let mut line = |number: u64, what: &str| {
            if number > 0 {
                let _ = writeln!(text, "{number:>9}  {what}"); // a string takes everything
            }
        };
        line(tally.classes, "classes");
        line(tally.instrumented, "instrumented");
        line(tally.already, "instrumented already, kept as they are");
        line(tally.failed, "failed, kept as they are");
        line(tally.unreadable, "cannot be read, kept as they are");
        let summary = pipeline.summary();
        line(summary.skipped_methods, "methods skipped");
        line(
            summary.huge_methods,
            "methods too long for HotSpot's compilers",
        );
        line(tally.others, "other files");
        line(
            left_out,
            "left out: an earlier input has other files with their names",
        );
        let written = [&self.out, &self.baseline, &self.runtime];
        for path in written.into_iter().flatten() {
            let _ = writeln!(text, "wrote {}", show::path(path));
        }
        show::show(&text)
    }
}

/// A snapshot of the original classes, before its rename to the final path.
type FileBaseline = Baseline<BufWriter<NamedTempFile>>;

fn publish(baseline: FileBaseline, path: &Path) -> Result<(), Error> {
    let published = || {
        let file = baseline.finish()?.into_inner()?;
        atomic::publish(file, path)
    };
    published().map_err(|error: std::io::Error| Error::unwritable(path, &error))
}

fn nothing_to_do(no_input: bool) -> Error {
    let (message, expected) = match no_input {
        true => ("no input to instrument", "IN… -o OUT, or --runtime FILE"),
        false => ("no path for the output", "-o OUT"),
    };
    Error::mistake(codes::H0648, message)
        .with("expected", expected)
        .with("help", "classhook help instrument")
}

/// Returns a flag that the first signal sets. A second signal ends the process.
fn interrupts() -> Result<Arc<AtomicBool>, Error> {
    let flag = Arc::new(AtomicBool::new(false));
    let register = || {
        for signal in [SIGINT, SIGTERM] {
            register_conditional_shutdown(signal, 128 + signal, Arc::clone(&flag))?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        // The write of a file beyond the size limit fails and is reported as an error.
        signal_hook::flag::register(SIGXFSZ, Arc::default())
    };
    register().map_err(|error: std::io::Error| {
        Error::fault(codes::H0647, format!("no signal handler: {error}"))
    })?;
    Ok(flag)
}

/// Returns a progress line on a terminal, and a hidden one elsewhere.
fn progress() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {pos} entries, {per_sec}  {wide_msg}");
    let bar = ProgressBar::new_spinner();
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}
