//! `classhook compile-plugin`: compiles plugins ahead of the JVMs that load them.

use std::fmt::Write as _;
use std::path::PathBuf;

use agent_launch::plugin_compiler::PluginCompiler;
use clap::Args;
use errors::{Error, codes};
use host::cache::Cache;
use host::compilation::{Compilation, Kept};
use host::compile_ahead;
use host::config::PluginConfig;
use standard_streams::show::{path, show};

const AFTER_HELP: &str = "\
The cache for the code is $XDG_CACHE_HOME/classhook, else ~/.cache/classhook. Agents in JVMs of the same user read it.
`classhook run`, `attach`, `enable` and others compile plugins themselves.
A JVM started with -agentpath waits until its plugins are compiled.

Examples:
  classhook compile-plugin count-calls.wasm
  java -agentpath:/path/to/libclasshook.so=plugin=count-calls.wasm,grant=probes -jar app.jar";

/// Compiles plugins into the user's cache.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct CompilePlugin {
    /// Compile these component files (.wasm)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

impl CompilePlugin {
    /// Compiles the plugins that the cache lacks, and prints a line for each. Plugins that exceeded a limit before are
    /// compiled again.
    ///
    /// # Errors
    /// If a file is no component (`H0106`) or exceeds a limit (`H0117`), or the user has no cache (`H0653`).
    pub fn run(&self) -> Result<u8, Error> {
        let cache =
            Cache::of_user().ok_or_else(|| no_cache("no folder that is private to this user"))?;
        let compilation = Compilation::with(cache, &PluginCompiler).anew();
        let mut text = String::new();
        for file in &self.files {
            let kept = compile_ahead(&PluginConfig::file(file.clone()), &compilation)?;
            let what = match kept {
                Kept::Before => "was compiled before",
                Kept::Now => "compiled",
                Kept::Nowhere => return Err(no_cache("a folder that takes no more files")),
            };
            let _ = writeln!(text, "{what}: {}", path(file)); // a string takes everything
        }
        show(&text)?;
        Ok(0)
    }
}

fn no_cache(found: &str) -> Error {
    Error::mistake(codes::H0653, "no cache for compiled plugins")
        .with(
            "expected",
            "$XDG_CACHE_HOME/classhook or ~/.cache/classhook, private to this user",
        )
        .with("found", found)
        .with("help", "set XDG_CACHE_HOME to a writable folder")
}
