//! The test binaries of crates, built by cargo and started as cargo starts them.

use crate::workspace::{Workspace, say, shown};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The binary whose tests sometimes only wait for a JVM. One test more than there are cores runs at a time, so that no
/// core is idle.
const END_TO_END: &str = "end-to-end";

/// A test binary of a crate.
pub struct Binary {
    /// The crate's folder, in which its tests run.
    folder: PathBuf,
    /// `lib`, or the file name.
    target: String,
    executable: PathBuf,
}

/// A line of cargo's messages. Only messages about built files have all of these fields.
#[derive(Deserialize)]
struct Message {
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Builds the tests of these crates, and their examples, which must compile. Passes further arguments to cargo.
pub fn build(
    workspace: &Workspace,
    title: &str,
    crates: &[String],
    arguments: &[String],
) -> Result<Vec<Binary>> {
    let title = format!("building the tests of {title}");
    say(&title);
    let began = Instant::now();
    let mut command = workspace.cargo(["test", "--quiet", "--release", "--no-run"]);
    command.args(["--message-format", "json-render-diagnostics"]);
    command.args(["--tests", "--examples"]);
    packages(&mut command, crates);
    command.args(arguments).stderr(Stdio::inherit());
    let output = command
        .output()
        .with_context(|| format!("failed to start {}", shown(&command)))?;
    if !output.status.success() {
        bail!("{title}: {} ended with {}", shown(&command), output.status);
    }
    let binaries = String::from_utf8(output.stdout)?
        .lines()
        .filter_map(|line| Some(binary(line).transpose()?.map_err(Into::into)))
        .collect::<Result<Vec<_>>>()?;
    say(format!(
        "{title}: done in {:.1} s",
        began.elapsed().as_secs_f64()
    ));
    Ok(binaries)
}

/// Adds `-p NAME` for each crate.
pub fn packages(command: &mut Command, crates: &[String]) {
    for name in crates {
        command.args(["-p", name]);
    }
}

/// Parses a line of cargo's messages. Returns the test binary that it names, if any.
fn binary(line: &str) -> serde_json::Result<Option<Binary>> {
    let message: Message = serde_json::from_str(line)?;
    let is_test = message.profile.is_some_and(|profile| profile.test);
    let (Some(executable), Some(target), Some(manifest)) =
        (message.executable, message.target, message.manifest_path)
    else {
        return Ok(None);
    };
    let folder = manifest.parent().unwrap_or(Path::new(".")).to_path_buf();
    Ok(is_test.then_some(Binary {
        folder,
        target: target.name,
        executable,
    }))
}

impl Binary {
    /// Returns `tests of rewriter (suite)`.
    pub fn title(&self) -> String {
        let folder = self.folder.file_name().unwrap_or_default();
        format!("tests of {} ({})", folder.to_string_lossy(), self.target)
    }

    /// Checks whether this is the binary whose tests run programs in JVMs.
    pub fn is_end_to_end(&self) -> bool {
        self.target == END_TO_END
    }

    /// Returns the command that runs all its tests, as cargo would.
    pub fn command(&self, workspace: &Workspace) -> Command {
        let mut command = Command::new(&self.executable);
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env("CARGO_TARGET_DIR", workspace.target(""));
        if self.is_end_to_end() {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            command.args(["--test-threads", &(cores + 1).to_string()]);
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_binaries_are_distinguished_from_libraries_and_programs() {
        let artifact = |test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/rewriter/Cargo.toml","target":{{"name":"suite"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let read = |line: &str| binary(line).expect("JSON");
        let found = read(&artifact(true, r#""/t/suite-1""#)).expect("a test binary");
        assert_eq!(found.title(), "tests of rewriter (suite)");
        assert!(read(&artifact(false, r#""/t/classhook""#)).is_none());
        assert!(read(&artifact(true, "null")).is_none());
        assert!(read(r#"{"reason":"build-finished","success":true}"#).is_none());
        assert!(binary("warning: of somebody else").is_err());
    }
}
