//! The `wasm32-unknown-unknown` target, for which plugins are compiled.
//!
//! First `rustup target add`. If that fails, the standard library is built from the source of exactly this compiler's
//! release: rustup's `rust-src`, or else Debian's package. The source of another release does not compile, so no other
//! is tried.

use super::apt;
use crate::workspace::{in_path, last_lines, output_of, say};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const TARGET: &str = "wasm32-unknown-unknown";
const RUSTUP_SECONDS: &str = "60";

/// Provides the target for the active compiler.
pub fn run() -> Result<()> {
    if works()? {
        return Ok(());
    }
    let by_rustup = add_with_rustup();
    if by_rustup.is_ok() && works()? {
        return Ok(());
    }
    if let Err(reason) = by_rustup {
        say(format!("rustup did not add {TARGET}: {reason:#}"));
    }
    let toolchain = Toolchain::active()?;
    toolchain.build_std().with_context(|| {
        format!(
            "expected the Rust target {TARGET} (plugins are compiled for it) and could not add it; \
             run `rustup target add {TARGET}` where the network allows it, \
             or `rustup component add rust-src` for rustc {}, then this again",
            toolchain.release
        )
    })?;
    if !works()? {
        bail!("built the standard library for {TARGET}, but a test module still does not link");
    }
    Ok(())
}

/// Checks whether a module that uses the standard library compiles and links.
fn works() -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("smoke.rs");
    std::fs::write(
        &source,
        "#[unsafe(no_mangle)]\npub extern \"C\" fn f(n: u32) -> usize { (0..n).map(|i| i.to_string().len()).sum() }\n",
    )?;
    let status = Command::new("rustc")
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "cdylib",
            "-O",
            "--target",
            TARGET,
            "-o",
        ])
        .arg(folder.path().join("smoke.wasm"))
        .arg(&source)
        .stderr(Stdio::null())
        .status()
        .context("failed to start rustc")?;
    Ok(status.success())
}

fn add_with_rustup() -> Result<()> {
    if in_path("rustup").is_none() {
        bail!("there is no rustup in PATH");
    }
    say(format!("adding the Rust target {TARGET}"));
    let mut command = Command::new("rustup");
    command.args(["target", "add", TARGET]);
    // rustup waits long for a missing answer; `timeout` is part of coreutils
    if in_path("timeout").is_some() {
        command = Command::new("timeout");
        command.args(["-k", "3", RUSTUP_SECONDS, "rustup", "target", "add", TARGET]);
    }
    output_of(command.env("RUSTUP_MAX_RETRIES", "1")).map(drop)
}

/// The active compiler: its release, and the folder of its libraries.
struct Toolchain {
    release: String,
    rustlib: PathBuf,
}

impl Toolchain {
    fn active() -> Result<Self> {
        let version = output_of(Command::new("rustc").arg("-vV"))?;
        let release = version
            .lines()
            .find_map(|line| line.strip_prefix("release: "))
            .context("expected `rustc -vV` to name its release")?;
        let sysroot = output_of(Command::new("rustc").args(["--print", "sysroot"]))?;
        Ok(Self {
            release: release.to_owned(),
            rustlib: Path::new(sysroot.trim()).join("lib/rustlib"),
        })
    }

    /// Builds std from source, and puts its rlibs into rustup's folder.
    fn build_std(&self) -> Result<()> {
        let scratch = tempfile::tempdir()?;
        let library = self.library_source(scratch.path())?;
        say(format!(
            "building the standard library of rustc {} for {TARGET}",
            self.release
        ));
        let began = Instant::now();
        self.compile(&library, scratch.path())?;
        let built = scratch
            .path()
            .join("build")
            .join(TARGET)
            .join("release/deps");
        self.install(&built)?;
        say(format!("built in {:.0} s", began.elapsed().as_secs_f64()));
        Ok(())
    }

    fn library_source(&self, scratch: &Path) -> Result<PathBuf> {
        let own = self.rustlib.join("src/rust/library");
        if own.join("sysroot/Cargo.toml").is_file() {
            return Ok(own);
        }
        apt::library_source(&self.release, scratch)
    }

    fn compile(&self, library: &Path, scratch: &Path) -> Result<()> {
        let remap = format!(
            "-Zforce-unstable-if-unmarked -Cembed-bitcode=yes --remap-path-prefix={}=/rust/library",
            library.display()
        );
        let output = Command::new("cargo")
            .current_dir(library.join("sysroot"))
            .args([
                "build",
                "--release",
                "--target",
                TARGET,
                "-p",
                "std",
                "-p",
                "proc_macro",
            ])
            .arg("--target-dir")
            .arg(scratch.join("build"))
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTFLAGS", remap)
            .output()
            .context("failed to start cargo")?;
        if !output.status.success() {
            bail!(
                "cargo: {}",
                last_lines(&String::from_utf8_lossy(&output.stderr), 10)
            );
        }
        Ok(())
    }

    fn install(&self, built: &Path) -> Result<()> {
        let place = self.rustlib.join(TARGET);
        let made = tempfile::tempdir_in(&self.rustlib)
            .with_context(|| format!("failed to write in {}", self.rustlib.display()))?;
        let libraries = made.path().join("lib");
        std::fs::create_dir(&libraries)?;
        for entry in std::fs::read_dir(built)? {
            let file = entry?.path();
            if file
                .extension()
                .is_some_and(|extension| extension == "rlib")
            {
                std::fs::copy(&file, libraries.join(file.file_name().unwrap_or_default()))?;
            }
        }
        if place.exists() {
            std::fs::remove_dir_all(&place)?;
        }
        std::fs::rename(made.keep(), &place)
            .with_context(|| format!("failed to put the library into {}", place.display()))
    }
}
