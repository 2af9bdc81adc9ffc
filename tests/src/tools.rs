//! The tools of a JDK and of JaCoCo, run in JVMs that stay: a warm compiler takes a tenth of the time of a new one.
//!
//! Such a JVM runs one tool at a time. It ends with the test binary, whose pipe it reads.

use crate::jdks::Jdk;
use crate::workspace;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The result of a tool.
#[derive(Debug, Clone)]
pub struct ToolResult {
    /// The exit code.
    pub code: i32,
    /// The text of both outputs.
    pub text: String,
}

/// A JVM that runs `java/tools/Tools.java`.
struct Tools {
    _child: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// Idle JVMs, by the folder of their JDK.
static IDLE: Mutex<BTreeMap<PathBuf, Vec<Tools>>> = Mutex::new(BTreeMap::new());

/// Runs a tool of this JDK, `javac` or `jar`, or JaCoCo's command line, named by its jar. The working folder is that of
/// the tests.
///
/// # Panics
/// If the tool does not exist.
pub fn run(jdk: &Jdk, tool: &str, words: &[impl AsRef<OsStr>]) -> ToolResult {
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = idle().get_mut(&jdk.home).and_then(Vec::pop);
    let mut tools = kept.unwrap_or_else(|| Tools::start(jdk));
    let ended = tools
        .run(tool, words)
        .unwrap_or_else(|error| panic!("failed to run {tool} of {jdk}: {error}"));
    idle().entry(jdk.home.clone()).or_default().push(tools);
    ended
}

impl Tools {
    fn start(jdk: &Jdk) -> Self {
        let mut command = Command::new(jdk.tool("java"));
        command
            .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx2g"])
            .arg(workspace::test_file("java/tools/Tools.java"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let started = command.spawn();
        let mut child = started.unwrap_or_else(|error| panic!("failed to start {jdk}: {error}"));
        Self {
            input: BufWriter::new(child.stdin.take().expect("a pipe")),
            output: BufReader::new(child.stdout.take().expect("a pipe")),
            _child: child,
        }
    }

    fn run(&mut self, tool: &str, words: &[impl AsRef<OsStr>]) -> io::Result<ToolResult> {
        self.write_number(words.len() + 1)?;
        self.write_text(tool.as_bytes())?;
        for word in words {
            self.write_text(word.as_ref().as_encoded_bytes())?;
        }
        self.input.flush()?;
        let code = self.read_number()?;
        let length = usize::try_from(self.read_number()?).expect("a length");
        let mut text = vec![0; length];
        self.output.read_exact(&mut text)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(ToolResult { code, text })
    }

    fn write_number(&mut self, number: usize) -> io::Result<()> {
        let number = i32::try_from(number).expect("a length");
        self.input.write_all(&number.to_be_bytes())
    }

    fn write_text(&mut self, text: &[u8]) -> io::Result<()> {
        self.write_number(text.len())?;
        self.input.write_all(text)
    }

    fn read_number(&mut self) -> io::Result<i32> {
        let mut number = [0; 4];
        self.output.read_exact(&mut number)?;
        Ok(i32::from_be_bytes(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jdks;

    #[test]
    fn tools_return_their_output_one_after_another() {
        let jdk = jdks::newest();
        let version = run(&jdk, "javac", &["--version"]);
        assert_eq!(
            (version.code, version.text),
            (0, format!("javac {}\n", jdk.version))
        );
        let refused = run(&jdk, "jar", &["tf", "no such.jar"]);
        assert!(
            refused.code != 0 && refused.text.contains("no such.jar"),
            "{refused:?}"
        );
    }
}
