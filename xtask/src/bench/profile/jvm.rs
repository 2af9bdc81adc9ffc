//! A JVM whose program works in rounds, each started by a line of input.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A program that waits for the next round.
pub struct Jvm {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Jvm {
    /// Starts a program, keeps its error output in a folder, and waits until it is ready.
    pub fn start(mut java: Command, folder: &Path) -> Result<Self> {
        let errors = folder.join("errors");
        java.stdin(Stdio::piped()).stdout(Stdio::piped());
        java.stderr(std::fs::File::create(&errors)?);
        let mut child = java.spawn()?;
        let input = child.stdin.take().context("a pipe was asked for")?;
        let output = child.stdout.take().context("a pipe was asked for")?;
        let output = BufReader::new(output);
        let mut jvm = Self {
            child,
            input,
            output,
        };
        loop {
            match jvm.line()?.as_str() {
                "serving" => return Ok(jvm),
                "" => bail!("it has ended: {}", std::fs::read_to_string(&errors)?),
                _ => {} // output of a recorder
            }
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }

    pub fn round(&mut self, requests: u32) -> Result<Duration> {
        writeln!(self.input, "{requests}")?;
        self.input.flush()?;
        loop {
            let line = self.line()?;
            match line.parse() {
                Ok(nanos) => return Ok(Duration::from_nanos(nanos)),
                Err(_) if line.is_empty() => bail!("it has ended"),
                Err(_) => {} // output of a profiler
            }
        }
    }

    pub fn end(self) -> Result<()> {
        let Self {
            mut child, input, ..
        } = self;
        drop(input); // the end of the input ends the program
        let status = child.wait()?;
        if !status.success() {
            bail!("ended with {status}");
        }
        Ok(())
    }
}
