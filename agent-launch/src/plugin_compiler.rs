//! Compiles plugins in a child process, and shows the progress.

use std::io::{self, IsTerminal};
use std::time::Duration;

use child_process::own_program;
use errors::Error;
use host::cache::Cache;
use host::compiler::{Code, Compiler, CompilerProcess};
use host::plugin_file::PluginFile;
use indicatif::{ProgressBar, ProgressStyle};
use standard_streams::show::{name, say};

/// Refresh interval of the time on the terminal.
const TURN: Duration = Duration::from_millis(100);

/// Compiles in a child process of this program, and shows the progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct PluginCompiler;

impl Compiler for PluginCompiler {
    fn compile(&self, plugin: &PluginFile) -> Result<Code, Error> {
        let bar = begin(plugin);
        let code = CompilerProcess::new(vec![own_program::program()]).compile(plugin);
        bar.finish_and_clear();
        code
    }

    /// Tests of this crate leave the user's cache alone.
    fn cache(&self) -> Option<Cache> {
        match cfg!(test) {
            true => None,
            false => Cache::of_user(),
        }
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
