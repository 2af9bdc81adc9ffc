//! A process that rewrites classes on request, over its standard input and output.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A library that rewrites classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Classhook,
    ClasshookChecked,
    ClasshookWasm,
    ClasshookWasmChecked,
    Asm,
    Jdk,
    Jacoco,
}

impl Side {
    pub fn title(self) -> &'static str {
        match self {
            Self::Classhook => "Classhook",
            Self::ClasshookChecked => "Classhook, self-check on",
            Self::ClasshookWasm => "Classhook, WebAssembly plugin",
            Self::ClasshookWasmChecked => "Classhook, WebAssembly plugin, self-check on",
            Self::Asm => "ASM 9.11",
            Self::Jdk => "JDK 25 class-file API",
            Self::Jacoco => "JaCoCo 0.8.15 Instrumenter",
        }
    }

    /// The name in the Java harness; `None` for Classhook.
    pub fn java_library(self) -> Option<&'static str> {
        match self {
            Self::Classhook
            | Self::ClasshookChecked
            | Self::ClasshookWasm
            | Self::ClasshookWasmChecked => None,
            Self::Asm => Some("asm"),
            Self::Jdk => Some("jdk"),
            Self::Jacoco => Some("jacoco"),
        }
    }
}

/// The cost of one pass over classes.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    pub time: Duration,
    /// Bytes of the rewritten classes.
    pub written: u64,
    /// Classes that the library refused.
    pub failed: u64,
    /// Number of allocations, if they are counted.
    pub allocations: u64,
}

/// A running harness; it ends on drop.
pub struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Peer {
    pub fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("failed to start {}", crate::workspace::shown(command)))?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("expected a piped output")?;
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
        })
    }

    fn ask<const N: usize>(&mut self, question: &str) -> Result<[u64; N]> {
        let input = self.input.as_mut().context("expected a piped input")?;
        writeln!(input, "{question}")?;
        input.flush()?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        let numbers: Vec<u64> = answer
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        match numbers.try_into() {
            Ok(numbers) => Ok(numbers),
            Err(found) => bail!(
                "expected {N} numbers from the harness after `{question}`, found {}",
                found.len()
            ),
        }
    }

    /// Runs one pass over the first `classes`.
    pub fn pass(&mut self, classes: usize) -> Result<Pass> {
        let [time, written, failed, allocations] = self.ask(&format!("pass {classes}"))?;
        Ok(Pass {
            time: Duration::from_nanos(time),
            written,
            failed,
            allocations,
        })
    }

    /// Returns the CPU time of loading engine and plugin once more.
    pub fn load(&mut self) -> Result<Duration> {
        let [time] = self.ask("load")?;
        Ok(Duration::from_nanos(time))
    }

    /// Runs one pass on several threads. Returns the longest CPU time of a thread, and the time that passed.
    pub fn threads(&mut self, threads: usize, classes: usize) -> Result<(Duration, Duration)> {
        let [cpu, passed] = self.ask(&format!("threads {threads} {classes}"))?;
        Ok((Duration::from_nanos(cpu), Duration::from_nanos(passed)))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.input.take());
        // The process ends at the end of its input; its exit status has no consequence.
        let _ = self.child.wait();
    }
}
