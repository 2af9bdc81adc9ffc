//! `classhook compile-plugin`: plugins compiled before a JVM asks for them.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use host::cache::Cache;
use host::compilation::{Compilation, Kept};
use host::compile_ahead;
use host::config::PluginConfig;

use crate::plugin_compiler::PluginCompiler;
use crate::problem::Problem;
use crate::show::{path, show};

const AFTER_HELP: &str = "\
The code is kept in $XDG_CACHE_HOME/classhook, else in ~/.cache/classhook, where the agent in a JVM of the same user
finds it. `classhook run`, `attach`, `enable` and the like compile by themselves; a JVM that is started with -agentpath
waits until its plugins are compiled.

Examples:
  classhook compile-plugin count-calls.wasm
  java -agentpath:/path/to/libclasshook.so=plugin=count-calls.wasm,grant=probes -jar app.jar";

/// Compiles plugins for the JVMs of this user.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct CompilePlugin {
    /// Component files (.wasm)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

impl CompilePlugin {
    /// Compiles what is not in the cache, and says which that was. What was beyond a limit before is tried again.
    ///
    /// # Errors
    /// If a file is no component (`H0106`), is beyond a limit (`H0117`), or there is no cache to keep code in (`H0653`).
    pub fn run(&self) -> Result<u8, Problem> {
        let cache =
            Cache::of_user().ok_or_else(|| no_cache("none that belongs to this user alone"))?;
        let compilation = Compilation::with(cache, &PluginCompiler).anew();
        let mut text = String::new();
        for file in &self.files {
            let kept = compile_ahead(&PluginConfig::file(file.clone()), &compilation)?;
            let what = match kept {
                Kept::Before => "was compiled before",
                Kept::Now => "compiled",
                Kept::Nowhere => return Err(no_cache("one that takes no more files")),
            };
            let _ = writeln!(text, "{what}: {}", path(file)); // a string takes everything
        }
        show(&text)?;
        Ok(0)
    }
}

fn no_cache(found: &str) -> Problem {
    Problem::user("H0653", "there is no folder to keep compiled plugins in")
        .with(
            "expected",
            "$XDG_CACHE_HOME/classhook or ~/.cache/classhook, private to this user",
        )
        .with("found", found)
        .with("help", "set XDG_CACHE_HOME to a folder that can be written")
}
