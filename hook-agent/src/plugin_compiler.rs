//! The program that compiles plugins: the agent itself only loads compiled code.

use crate::messages;
use errors::Error;
use host::Config;
use host::compiler::{COMMAND, Code, Compiler, CompilerProcess};
use host::plugin_file::PluginFile;
use std::path::{Path, PathBuf};

/// Runs the compiler in a child process, and prints a line that explains why the JVM waits.
pub(crate) struct PluginCompiler(CompilerProcess);

impl PluginCompiler {
    /// The program that the options name; otherwise the program beside the agent's library, in `../bin`, or in `PATH`.
    pub fn new(config: &Config) -> Self {
        let programs = match &config.agent.compiler {
            Some(program) => vec![program.clone()],
            None => near(own_library().as_deref()).chain(in_path()).collect(),
        };
        Self(CompilerProcess::new(programs))
    }
}

impl Compiler for PluginCompiler {
    fn compile(&self, plugin: &PluginFile) -> Result<Code, Error> {
        let size = plugin.wasm.len().div_ceil(1024);
        messages::notice(format_args!(
            "compiling the plugin `{}` ({size} KiB), once for this user; `{COMMAND} compile-plugin` does that before a JVM starts",
            plugin.name.escape_debug()
        ));
        self.0.compile(plugin)
    }
}

fn near(library: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let folder = library.and_then(Path::parent);
    let near = |folder: &Path| [folder.join(COMMAND), folder.join("../bin").join(COMMAND)];
    folder
        .into_iter()
        .flat_map(near)
        .collect::<Vec<_>>()
        .into_iter()
}

/// Absolute folders only: relative ones would belong to the application.
fn in_path() -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let absolute = folders.into_iter().filter(|folder| folder.is_absolute());
    absolute.map(|folder| folder.join(COMMAND))
}

/// The file from which this code was loaded.
fn own_library() -> Option<PathBuf> {
    let here = own_library as fn() -> Option<PathBuf> as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| file_of(line, here))
}

/// The file of a line of `/proc/PID/maps`, if its range contains the address.
fn file_of(line: &str, address: usize) -> Option<PathBuf> {
    let (range, rest) = line.split_once(' ')?;
    let (begin, end) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    let holds = (number(begin)?..number(end)?).contains(&address);
    let path = rest.find('/').and_then(|at| rest.get(at..))?;
    holds.then(|| PathBuf::from(path.trim_end_matches(" (deleted)")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_is_searched_beside_the_library_of_the_agent() {
        let library = own_library().expect("this test is a file");
        assert_eq!(Some(library), std::env::current_exe().ok());
        let near: Vec<_> = near(Some("/opt/lib/libclasshook.so".as_ref())).collect();
        let expected = ["/opt/lib", "/opt/lib/../bin"];
        assert_eq!(near, expected.map(|folder| Path::new(folder).join(COMMAND)));
    }

    #[test]
    fn file_of_an_address_is_read_from_its_line_of_maps() {
        let line = "7f00-7f80 r-xp 00000000 fe:01 1234   /opt/a b/lib.so (deleted)";
        assert_eq!(file_of(line, 0x7f10), Some("/opt/a b/lib.so".into()));
        assert_eq!(file_of(line, 0x7f80), None);
        assert_eq!(file_of("7f00-7f80 rw-p 00000000 00:00 0", 0x7f10), None);
    }

    #[test]
    fn compiler_option_replaces_the_search_so_that_a_wrong_path_is_reported() {
        let config = Config::from_options("compiler=/nowhere/x").expect("options");
        let compiler = PluginCompiler::new(&config);
        let file = tempfile::NamedTempFile::new().expect("a file");
        let plugin = PluginFile::open("p", file.path()).expect("a file");
        let error = compiler.compile(&plugin).expect_err("no program");
        let looked: Vec<_> = error
            .notes()
            .filter(|(label, _)| *label == "looked")
            .collect();
        assert_eq!(looked, [("looked", "/nowhere/x")]);
    }
}
