//! `classhook explain`: what a plugin would do to a class.

use std::fmt::Write;
use std::path::PathBuf;

use agent_launch::plugin_compiler::PluginCompiler;
use clap::Args;
use coverage_inputs::class_files::LocatedClass;
use coverage_inputs::named_classes;
use errors::{Error, codes};
use host::{ClassRequest, Pipeline};
use plugin_projects::configured;
use plugin_projects::plan_text::plan_text;
use probes::ProbeTable;
use rewriter::ClassFile;
use standard_streams::show::{self, complain, show};

use crate::args::{CLASS_PATH, JSON, PLUGIN, PLUGIN_CONFIG};
use crate::explained::ExplainedClass;

const AFTER_HELP: &str = "\
The output shows the code with edits (+) in place, notes (#), and the reasons for skipped methods (!).
The same code as in a JVM computes the plan. No class runs, so every capability is granted.
--json prints one object a line for each class: edits, notes, skipped methods with reasons, bytes and times.

Examples:
  classhook explain coverage build/classes/com/acme/Foo.class
  classhook explain coverage --diff 'app.jar!com.acme.Foo'
  classhook explain my-plugin.wasm --in app.jar 'com.acme.**'
  classhook explain my-plugin.wasm --in app.jar '**' --json
  classhook explain my-plugin --in app.jar '**' --notes
  classhook explain my-plugin --beside trace --in app.jar '**'
  classhook explain coverage --in jrt:java.base java.lang.Integer";

/// Shows the edits that a plugin plans for classes.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Explain {
    /// The plugin.
    #[arg(value_name = "PLUGIN", help = PLUGIN)]
    pub plugin: String,
    /// Explain these classes: a class file, JAR!com.acme.Foo, or with --in a name or pattern
    #[arg(required = true, value_name = "CLASS")]
    pub classes: Vec<String>,
    /// Folders, archives and modules with the classes.
    #[arg(long = "in", value_name = "PATH", help = CLASS_PATH)]
    pub within: Vec<String>,
    /// Settings of the plugin.
    #[arg(long, value_name = "FILE", help = PLUGIN_CONFIG)]
    pub config: Option<PathBuf>,
    /// Add the edits of this plugin, and show the order; repeatable
    #[arg(long, value_name = "PLUGIN")]
    pub beside: Vec<String>,
    /// Show the difference between the original and the changed class
    #[arg(long)]
    pub diff: bool,
    /// Show statistics of each class: edits, notes, bytes before and after, time of the plugin
    #[arg(long)]
    pub stats: bool,
    /// Print only the notes of the plugin, one a line: CLASS.METHOD: NOTE
    #[arg(long, conflicts_with_all = ["diff", "stats", "json"])]
    pub notes: bool,
    /// Prints JSON.
    #[arg(long, help = JSON, conflicts_with_all = ["diff", "stats"])]
    pub json: bool,
}

impl Explain {
    /// Prints the plans and returns 1 if the plugin failed on a class.
    ///
    /// # Errors
    /// If plugin or classes cannot be read.
    pub fn run(&self) -> Result<u8, Error> {
        let found = named_classes::find(&self.classes, &self.within)?;
        let all = std::iter::once(&self.plugin).chain(&self.beside);
        let all = all.map(|plugin| plugin_projects::component_of(plugin));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        let all: Vec<&str> = all.iter().map(AsRef::as_ref).collect();
        let pipeline = configured::pipeline_of(&all, self.config.as_deref(), &PluginCompiler)?;
        let mut exit = 0;
        for found in &found {
            exit = exit.max(self.one(&pipeline, found)?);
        }
        Ok(exit)
    }

    fn one(&self, pipeline: &Pipeline, found: &LocatedClass) -> Result<u8, Error> {
        let class = read(found)?;
        let table = ProbeTable::new();
        table.set_arrays(1);
        let mut bytes = Vec::new();
        let name = class.this_class();
        let request = ClassRequest::of_file(name.as_bytes(), class.bytes());
        let before = pipeline.summary().plugin_time;
        let (outcome, explanation) = pipeline.explain(&request, &table, &mut bytes);
        let explained = ExplainedClass {
            class: &class,
            explanation: &explanation,
            outcome: &outcome,
            bytes: &bytes,
            time: pipeline.summary().plugin_time.saturating_sub(before),
        };
        let mut text = format!("// {}\n", show::name(&found.origin));
        let mut exit = 0;
        for failure in outcome.failures() {
            complain(format_args!("{failure}\n"));
            exit = 1;
        }
        if self.notes {
            show(&explained.noted())?;
            return Ok(exit);
        }
        if self.json {
            let line = explained.json(&self.plugin, &found.origin);
            show(&format!("{line}\n"))?;
            return Ok(exit);
        }
        if self.stats {
            let _ = writeln!(text, "{}", explained.figures());
        }
        if exit == 0 && explanation.asked.is_empty() {
            let _ = writeln!(text, "// `{}` does not select this class", self.plugin);
        }
        if !self.beside.is_empty() {
            text += &order(&explanation.order);
        }
        if self.diff {
            let written = changes(&class, &bytes, &mut text);
            debug_assert!(written.is_ok(), "a string takes everything");
        } else {
            text += &plan_text(&class, &explanation);
        }
        show(&text)?;
        Ok(exit)
    }
}

/// Returns a line with the order of the plugins.
fn order(plugins: &[(String, i16)]) -> String {
    let listed = plugins.iter();
    let listed: Vec<String> = listed
        .map(|(name, order)| format!("{} ({order})", show::name(name)))
        .collect();
    format!("// plugins, outermost first: {}\n", listed.join(", "))
}

/// Writes the difference. An unchanged class has no bytes.
fn changes(class: &ClassFile<'_>, after: &[u8], text: &mut String) -> std::fmt::Result {
    let name = class.this_class();
    match ClassFile::read(after) {
        Ok(after) => {
            write!(text, "--- {name}\n+++ {name}\n")?;
            class_text::difference(class, &after, text)
        }
        Err(_) => writeln!(text, "// the class is unchanged"),
    }
}

/// Parses a class file.
pub(super) fn read(found: &LocatedClass) -> Result<ClassFile<'_>, Error> {
    ClassFile::read(&found.bytes).map_err(|error| {
        Error::mistake(codes::H0613, format!("{} is damaged", found.origin))
            .with("found", error.to_string())
    })
}
