//! Compiling plugins by the program beside this command, and saying so meanwhile.

use std::io::{self, IsTerminal};
use std::time::Duration;

use host::HostError;
use host::compiler::{COMPILER, Code, Compiler, CompilerProcess};
use host::plugin_file::PluginFile;
use indicatif::{ProgressBar, ProgressStyle};

use crate::show::{name, say};

/// How often the time on the terminal is renewed.
const TURN: Duration = Duration::from_millis(100);

/// Compiles by the program beside this command, and says so meanwhile.
#[derive(Debug, Clone, Copy, Default)]
pub struct PluginCompiler;

impl Compiler for PluginCompiler {
    fn compile(&self, plugin: &PluginFile) -> Result<Code, HostError> {
        let bar = begin(plugin);
        let command = std::env::current_exe();
        let program = command.map(|command| command.with_file_name(COMPILER));
        let code = CompilerProcess::new(program.into_iter().collect()).compile(plugin);
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
