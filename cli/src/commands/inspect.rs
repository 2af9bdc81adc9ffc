//! `classhook inspect`: what is in a class file or a plugin.

use std::fmt::Write;
use std::path::Path;

use agent_launch::plugin_compiler::PluginCompiler;
use child_process::own_program;
use clap::Args;
use class_readers::opinion::Opinion;
use class_readers::{Guards, READERS};
use coverage_inputs::class_files::LocatedClass;
use coverage_inputs::named_classes;
use errors::Error;
use host::config::BUNDLED;
use host::plugin_description::{self, Interface, PluginDescription};
use plugin_projects::configured;
use rewriter::ClassFile;
use standard_streams::show::{name, show};

use crate::args::CLASS_PATH;

const AFTER_HELP: &str = "\
A class is printed like `javap -v -p`, with the verdicts of two independent readers.
The readers run in a process of their own under limits, so that a hostile file does no harm.
A plugin is printed with its imports and the capabilities that they need. It is configured, and receives no class.

Examples:
  classhook inspect build/classes/com/acme/Foo.class
  classhook inspect 'app.jar!com.acme.Foo'
  classhook inspect --in jrt:java.base java.lang.Integer
  classhook inspect my-plugin.wasm";

/// Prints the contents of class files and plugins.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Inspect {
    /// Print these files: a class file, JAR!com.acme.Foo, with --in a name or pattern, a component file (.wasm), a bundled plugin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Folders, archives and modules with the classes.
    #[arg(long = "in", value_name = "PATH", help = CLASS_PATH)]
    pub within: Vec<String>,
}

impl Inspect {
    /// Shows; the result is 1 if a class cannot be read or is read in another way by others.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn run(&self) -> Result<u8, Error> {
        let guards = Guards::new(own_program::readers);
        let mut exit = 0;
        for file in &self.files {
            if is_plugin(file) {
                let plugin = plugin_description::describe(
                    &configured::configuration(file)?,
                    &PluginCompiler,
                )?;
                show(&plugin_text(&plugin))?;
            } else {
                for found in named_classes::find(std::slice::from_ref(file), &self.within)? {
                    exit = exit.max(class(&found, &guards)?);
                }
            }
        }
        Ok(exit)
    }
}

fn is_plugin(file: &str) -> bool {
    let bundled = BUNDLED.contains(&file) && !Path::new(file).is_file();
    bundled || file.ends_with(".wasm")
}

fn class(found: &LocatedClass, guards: &Guards) -> Result<u8, Error> {
    let mut text = format!("// {}\n", name(&found.origin));
    let mut exit = 0;
    match ClassFile::read(&found.bytes) {
        Ok(class) => {
            let written = class_text::class(&class, &mut text);
            debug_assert!(written.is_ok(), "a string takes everything");
        }
        Err(error) => {
            let _ = writeln!(text, "// classhook: cannot be read: {error}");
            exit = 1;
        }
    }
    for (reader, opinion) in READERS.iter().zip(guards.ask(&found.bytes)?) {
        let (word, detail) = match &opinion {
            Opinion::Agrees => ("agrees", String::new()),
            Opinion::Differs(detail) => ("differs", format!(": {detail}")),
            Opinion::Refuses(detail) => ("refuses the class", format!(": {detail}")),
            Opinion::Breaks(detail) => ("breaks on the class", format!(": {detail}")),
        };
        if matches!(opinion, Opinion::Differs(_)) {
            exit = 1;
        }
        let _ = writeln!(text, "// {reader} {word}{detail}");
    }
    show(&text)?;
    Ok(exit)
}

/// Returns a description of a plugin: version, digest, imports, exports, selectors.
pub(super) fn plugin_text(plugin: &PluginDescription) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "plugin {}", name(&plugin.name));
    if let Some(version) = &plugin.version {
        let _ = writeln!(text, "  version: {}", name(version));
    }
    let _ = writeln!(text, "  size: {} bytes", plugin.size);
    let _ = writeln!(text, "  digest: sha256:{}", plugin.digest);
    interfaces("imports", &plugin.imports, &mut text);
    interfaces("exports", &plugin.exports, &mut text);
    match &plugin.selectors {
        Ok(selectors) if selectors.is_empty() => {
            text.push_str("  selects: the classes that the user selects\n")
        }
        Ok(selectors) => {
            let _ = writeln!(text, "  selects: {}", name(&selectors.join("; ")));
        }
        Err(cause) => {
            let _ = writeln!(
                text,
                "  selects: (not without a configuration: {})",
                name(cause)
            );
        }
    }
    text
}

fn interfaces(title: &str, all: &[Interface], text: &mut String) {
    let _ = writeln!(text, "  {title}:");
    for interface in all {
        let grants = interface.grants.iter();
        let grants = grants.map(|(grant, what)| format!("  (capability `{grant}`: {what})"));
        let grants: Vec<String> = grants.collect();
        let _ = writeln!(text, "    {}{}", name(&interface.name), grants.join(""));
        for function in &interface.functions {
            let _ = writeln!(text, "      {}", name(function));
        }
    }
}
