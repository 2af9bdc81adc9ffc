//! Compiling plugins by the program beside this command, and saying so meanwhile; making components of modules.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use host::HostError;
use host::compiler::{COMPILER, Code, Compiler, CompilerProcess};
use host::plugin_file::PluginFile;
use indicatif::{ProgressBar, ProgressStyle};

use crate::problem::Problem;
use crate::show::{name, say};

/// How often the time on the terminal is renewed.
const TURN: Duration = Duration::from_millis(100);

/// Compiles by the program beside this command, and says so meanwhile.
#[derive(Debug, Clone, Copy, Default)]
pub struct PluginCompiler;

impl Compiler for PluginCompiler {
    fn compile(&self, plugin: &PluginFile) -> Result<Code, HostError> {
        let bar = begin(plugin);
        let code = CompilerProcess::new(program().into_iter().collect()).compile(plugin);
        bar.finish_and_clear();
        code
    }
}

/// A line with the time that it takes on a terminal, a plain line elsewhere.
fn begin(plugin: &PluginFile) -> ProgressBar {
    let size = plugin.wasm.len().div_ceil(1024);
    let text = format!(
        "compiling the plugin `{}` ({size} KiB), once for this user",
        name(&plugin.name)
    );
    if !io::stderr().is_terminal() {
        say(&text);
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}");
    let bar = ProgressBar::new_spinner().with_message(text);
    bar.enable_steady_tick(TURN);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}

/// The program beside this command.
fn program() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(COMPILER))
}

/// Makes a component of a core module; the inner error is why the module is none.
///
/// # Errors
/// If the program beside this command cannot be started (`H0683`).
pub fn wrap(module: &Path, component: &Path) -> Result<Result<(), String>, Problem> {
    let wrapped = program().and_then(|program| {
        let mut wrap = Command::new(program);
        wrap.arg("--wrap").args([module, component]).output()
    });
    let output = wrapped.map_err(|error| {
        Problem::user("H0683", format!("{COMPILER} cannot be started"))
            .with("found", error.to_string())
            .with("help", "it lies beside the command `classhook`")
    })?;
    let said = String::from_utf8_lossy(&output.stderr);
    let cause = said
        .trim()
        .trim_start_matches("classhook-plugin-compiler: ");
    Ok(match output.status.success() {
        true => Ok(()),
        false => Err(cause.to_owned()),
    })
}
