//! Compiles plugins with the program beside this command, and shows progress. Turns modules into
//! components.

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

/// Refresh interval of the time on the terminal.
const TURN: Duration = Duration::from_millis(100);

/// Compiles with the program beside this command, and shows progress.
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

/// Shows progress: a line with the elapsed time on a terminal, a plain line elsewhere.
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

/// Returns the path of the program beside this command.
fn program() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(COMPILER))
}

/// Turns a core module into a component. The inner error is the cause if the module is unsuitable.
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
