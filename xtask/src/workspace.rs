//! The workspace's folders, and functions that run programs and print progress.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The folders of the workspace. Every output of a task is below `target`.
pub struct Workspace {
    root: PathBuf,
    /// The program that cargo starts in place of rustc for crates of the workspace.
    wrapper: Option<PathBuf>,
}

impl Workspace {
    /// The workspace that this program was built from.
    pub fn find() -> Result<Self> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest
            .parent()
            .context("expected xtask to lie in the workspace's folder")?
            .to_path_buf();
        Ok(Self {
            root,
            wrapper: None,
        })
    }

    /// The same workspace with this program in place of rustc; it gets rustc's command line.
    pub fn compiled_by(&self, wrapper: &str) -> Self {
        Self {
            root: self.root.clone(),
            wrapper: Some(self.root.join(wrapper)),
        }
    }

    /// The folder of the workspace's `Cargo.toml`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns `target/…`, the folder of built, fetched and measured files.
    pub fn target(&self, below: impl AsRef<Path>) -> PathBuf {
        self.root.join("target").join(below)
    }

    /// A program of the release build, `target/release/<name>`.
    pub fn product(&self, name: &str) -> PathBuf {
        self.target("release").join(name)
    }

    /// Returns a cargo command in the workspace that builds into the workspace's own `target`.
    pub fn cargo<I, S>(&self, arguments: I) -> Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.target(""))
            .args(arguments);
        // `cargo run` sets variables of the package that it runs. Build scripts that read such variables, as ring's
        // does, would run anew after each build that was started elsewhere.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        if let Some(wrapper) = &self.wrapper {
            command.env("RUSTC_WORKSPACE_WRAPPER", wrapper);
        }
        command
    }
}

/// Prints the current step, in one line.
pub fn say(line: impl AsRef<str>) {
    println!("xtask: {}", line.as_ref());
}

/// Runs a step: prints its title, its output, and its time.
pub fn step(title: &str, command: &mut Command) -> Result<()> {
    say(title);
    let began = Instant::now();
    let status = command
        .status()
        .with_context(|| format!("failed to start {}", shown(command)))?;
    if !status.success() {
        bail!("{title}: {} ended with {status}", shown(command));
    }
    say(format!(
        "{title}: done in {:.1} s",
        began.elapsed().as_secs_f64()
    ));
    Ok(())
}

/// Runs a program and returns its standard output.
pub fn output_of(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("failed to start {}", shown(command)))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{} ended with {}: {}",
            shown(command),
            output.status,
            last_lines(&errors, 10)
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Maximum number of arguments that a message shows. A build of all tests has thousands.
const SHOWN_ARGUMENTS: usize = 30;

/// Formats the command line as a reader would type it; a long one is cut.
pub fn shown(command: &Command) -> String {
    let mut line = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args().take(SHOWN_ARGUMENTS) {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    let more = command.get_args().len().saturating_sub(SHOWN_ARGUMENTS);
    if more > 0 {
        line.push_str(&format!(" … ({more} more arguments)"));
    }
    line
}

/// Finds a program of this name in `PATH`.
pub fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// The last `count` lines of a text, for error messages.
pub fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// Writes a file through a temporary one in the same folder, so that no reader sees a part of it.
pub fn write_atomically(file: &Path, bytes: &[u8]) -> Result<()> {
    let folder = file.parent().context("expected a file below a folder")?;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("failed to make {}", folder.display()))?;
    let temporary = temporary_file(folder)?;
    std::fs::write(temporary.path(), bytes)?;
    temporary
        .persist(file)
        .with_context(|| format!("failed to write {}", file.display()))?;
    Ok(())
}

/// Creates a temporary file in the folder, readable for everybody as ordinary files are. It is removed unless it is
/// renamed.
pub fn temporary_file(folder: &Path) -> Result<tempfile::NamedTempFile> {
    tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o644))
        .tempfile_in(folder)
        .with_context(|| format!("failed to write in {}", folder.display()))
}

/// Writes a file only when its content changes, so that its dependents are not built again.
pub fn write_if_changed(file: &Path, bytes: &[u8]) -> Result<bool> {
    if std::fs::read(file).is_ok_and(|old| old == bytes) {
        return Ok(false);
    }
    write_atomically(file, bytes)?;
    Ok(true)
}
