//! `classhook advice check`: lists the places where advice runs.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

use advice::files;
use advice::{AdviceClass, prepared};
use agent_launch::plugin_compiler::PluginCompiler;
use clap::Args;
use class_selection::nearest::nearest;
use coverage_inputs::class_files::{self, Loader, LocatedClass};
use errors::{Error, codes};
use host::config::LogLevel;
use host::{ClassRequest, Config, Explained, Pipeline};
use java_compiler::program_compiler::{Chosen, Program};
use plugin_projects::configured;
use probes::ProbeTable;
use rewriter::{ClassFile, InsertionPoint, Location};
use standard_streams::show::{self, complain, show};
use trace::numbers::counted;

use crate::advice_arguments::{CLASS_PATH, RELEASE};

const AFTER_HELP: &str = "\
The plugin plans the calls as in a JVM, and the result is checked. No class runs. A line names a method, the line of its
source, the place in its bytecode, and the method of the advice. Other lines say why a method of the advice does not fit
a method that its pattern selects. A method of the advice that runs nowhere is an error.

Example:
  classhook advice check SlowSql.java --classes app.jar --classes libs";

/// Lists the places where advice runs.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Check {
    /// Check the advice in these Java sources, class files and jars
    #[arg(required = true, value_name = "ADVICE")]
    pub files: Vec<PathBuf>,
    /// Select the classes in this folder, jar or jrt:MODULE; the advice runs in them; repeatable
    #[arg(long, required = true, value_name = "PATH")]
    pub classes: Vec<String>,
    /// The class path for the compiler.
    #[arg(long, value_name = "PATH", help = CLASS_PATH)]
    pub advice_class_path: Option<OsString>,
    /// The release for the compiler.
    #[arg(long, value_name = "NUMBER", help = RELEASE)]
    pub advice_release: Option<u16>,
}

/// A method of the advice, and what was found about it.
struct Checked {
    /// `SlowSql.start (SlowSql.java:9)`, as the plugin's notes name it.
    name: String,
    at: String,
    patterns: Vec<String>,
    /// The patterns of the called methods.
    calls: Vec<String>,
    runs: usize,
    /// Reasons why it does not fit methods, each with the method.
    misfits: Vec<String>,
}

impl Check {
    /// Prints the places.
    ///
    /// # Errors
    /// If the advice is wrong (`H0740`, `H0726`), runs nowhere (`H0743`), or classes cannot be read.
    pub fn run(&self) -> Result<u8, Error> {
        let places: Vec<PathBuf> = self.classes.iter().map(PathBuf::from).collect();
        let program = match self.advice_class_path {
            Some(_) => Program::Command(&[]),
            None => Program::Files(&places),
        };
        let chosen = Chosen {
            class_path: self.advice_class_path.clone(),
            release: self.advice_release,
        };
        let advice = files::read(&self.files, program, &chosen)?;
        let mut checked: Vec<Checked> = advice.iter().flat_map(hooks).collect();
        let pipeline = pipeline(&advice)?;
        let mut names = Vec::new();
        let mut failures = Vec::new();
        for place in &self.classes {
            class_files::read(place, &Loader::newest(), &mut |batch| {
                for found in &batch {
                    self.one(&pipeline, found, &mut checked, &mut names, &mut failures)?;
                }
                Ok(())
            })?;
        }
        if let Some(failure) = failures.into_iter().next() {
            return Err(failure);
        }
        match checked.iter().find(|hook| hook.runs == 0) {
            Some(hook) => Err(nowhere(hook, &names)),
            None => {
                let runs: usize = checked.iter().map(|hook| hook.runs).sum();
                show(&format!("{} of the advice\n", counted(runs, "call")))?;
                Ok(0)
            }
        }
    }

    fn one(
        &self,
        pipeline: &Pipeline,
        found: &LocatedClass,
        checked: &mut [Checked],
        names: &mut Vec<String>,
        failures: &mut Vec<Error>,
    ) -> Result<(), Error> {
        let Ok(class) = ClassFile::read(&found.bytes) else {
            complain(format_args!(
                "{} is no class file\n",
                show::name(&found.origin)
            ));
            return Ok(());
        };
        let name = class.this_class().to_str_lossless().replace('/', ".");
        let methods = class
            .methods()
            .map(|method| format!("{name}#{}", method.name()));
        names.extend(methods);
        let table = ProbeTable::new();
        table.set_arrays(1);
        let mut bytes = Vec::new();
        let internal = class.this_class();
        let request = ClassRequest::of_file(internal.as_bytes(), class.bytes());
        let (outcome, explanation) = pipeline.explain(&request, &table, &mut bytes);
        for failure in outcome.failures() {
            let cause = failure.cause.to_string();
            failures.push(
                Error::mistake(codes::H0743, "the advice does not fit the classes")
                    .with("class", name.clone())
                    .with("cause", cause),
            );
        }
        let mut text = String::new();
        for remark in &explanation.remarks {
            let Explained::Note {
                site, text: note, ..
            } = remark
            else {
                continue;
            };
            let place = place(&class, &name, *site);
            for hook in checked.iter_mut().filter(|hook| note.contains(&hook.name)) {
                match note.starts_with("left out: ") {
                    false => hook.runs += 1,
                    true => hook.misfits.push(format!("{place}: {note}")),
                }
            }
            let _ = writeln!(text, "{}: {}", show::name(&place), show::name(note)); // a string takes everything
        }
        show(&text)
    }
}

fn hooks(advice: &AdviceClass) -> impl Iterator<Item = Checked> {
    advice.hooks.iter().map(|hook| Checked {
        name: format!("{} ({})", hook.called(advice), hook.at),
        at: hook.at.clone(),
        patterns: advice.patterns.clone(),
        calls: hook.calls.clone(),
        runs: 0,
        misfits: Vec::new(),
    })
}

fn pipeline(advice: &[AdviceClass]) -> Result<Pipeline, Error> {
    let mut plugin = configured::configuration("advice")?;
    plugin.config = prepared::configuration(advice, &[]);
    let mut config = Config {
        plugins: vec![plugin],
        ..Config::default()
    };
    config.agent.log = LogLevel::Warn;
    Pipeline::new(&config, &PluginCompiler)
}

/// Formats a place: method, line of the source, place in the bytecode.
fn place(class: &ClassFile<'_>, name: &str, site: InsertionPoint) -> String {
    let Some(method) = class.method(site.method) else {
        return name.to_owned();
    };
    let code = method.code().ok().flatten();
    let lines = code
        .into_iter()
        .flat_map(|code| code.lines().collect::<Vec<_>>());
    let bci = match site.location {
        Location::Before(bci) | Location::At(bci) => bci.0,
        _ => 0,
    };
    let line = lines
        .filter(|line| line.bci.0 <= bci)
        .max_by_key(|line| line.bci.0);
    let line = line.map_or_else(String::new, |line| format!(", line {}", line.number));
    format!(
        "{name}.{}{}{line}, {}",
        method.name(),
        method.descriptor(),
        site.location
    )
}

/// Returns the error for a method of the advice that runs nowhere.
fn nowhere(hook: &Checked, names: &[String]) -> Error {
    let mut error = Error::mistake(
        codes::H0743,
        format!(
            "{}: {} runs in no method of these classes",
            hook.at, hook.name
        ),
    );
    for misfit in hook.misfits.iter().take(3) {
        error = error.with("found", misfit.clone());
    }
    if hook.misfits.is_empty() {
        error = error.with("pattern", hook.patterns.join(", "));
        if !hook.calls.is_empty() {
            return error.with("calls", hook.calls.join(", "));
        }
        let wanted = hook
            .patterns
            .iter()
            .find(|pattern| !pattern.starts_with('!'));
        let wanted = wanted.map_or("", |pattern| pattern.trim_start_matches(['<', ':', '@']));
        if let Some(near) = nearest(wanted.split('(').next().unwrap_or_default(), names) {
            error = error.with("nearest", near);
        }
    }
    error
}
