//! Compiling plugins in a child process of this very binary, under limits that it sets itself.

use std::fs;
use std::io::{self, IsTerminal};
use std::time::Duration;

use host::HostError;
use host::compile_limits::Limits;
use host::compiler::{Code, Compiler, CompilerProcess};
use host::plugin_file::PluginFile;
use indicatif::{ProgressBar, ProgressStyle};
use rustix::process::Resource;

use crate::limits::limit;
use crate::problem::Problem;
use crate::show::{name, say};

/// How often the time on the terminal is renewed.
const TURN: Duration = Duration::from_millis(100);

/// The last of the three streams that each process has.
const STDERR: i32 = 2;

/// Compiles by this command, and says so meanwhile.
#[derive(Debug, Clone, Copy, Default)]
pub struct PluginCompiler;

impl Compiler for PluginCompiler {
    fn compile(&self, plugin: &PluginFile) -> Result<Code, HostError> {
        let bar = begin(plugin);
        let program = std::env::current_exe().into_iter().collect();
        let code = CompilerProcess::new(program).compile(plugin);
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

/// Runs the child's side: compiles the component that comes on standard input.
///
/// # Errors
/// If it cannot limit itself, or has nobody to answer (`H0654`).
pub fn serve() -> Result<u8, Problem> {
    let closed = close_inherited();
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let served = closed.and_then(|()| host::compiler::serve(&mut input, &mut output, &restrict));
    served.map(|()| 0).map_err(|error| {
        Problem::ours(
            "H0654",
            "the compiler of plugins cannot be limited or answer",
        )
        .with("found", error.to_string())
    })
}

/// Closes what the JVM had open besides the three streams: files of Java are inherited. It is done here and not before
/// the program is loaded, because only a JVM that is copied whole (`fork`) could, and large ones cannot be.
fn close_inherited() -> io::Result<()> {
    let entries = fs::read_dir("/proc/self/fd")?.flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let inherited: Vec<i32> = numbers.filter(|number| *number > STDERR).collect();
    for number in inherited {
        let _ = nix::unistd::close(number); // the folder itself is closed by now
    }
    Ok(())
}

/// Where memory runs out, the system is to end this process and not the JVM that waits for it.
fn restrict(limits: Limits) -> io::Result<()> {
    let _ = fs::write("/proc/self/oom_score_adj", "1000"); // the limits below count all the same
    limit(Resource::As, limits.memory)?;
    limit(Resource::Cpu, limits.cpu.as_secs())?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)
}
