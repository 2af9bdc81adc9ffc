//! `cargo xtask bench trace`: the cost of a recorded call.
//!
//! A hot loop calls an empty method on one and on two threads, in processes that are interleaved, so that a machine
//! that gets busy disturbs all alike. Measured is the CPU time of the calling threads per call: two clock readings, and
//! the recording of their values. Peers are a ByteBuddy advice that writes two `System.nanoTime` values into a buffer
//! of the thread, and on JDK 25 the method timing and tracing of the JVM's own recorder (JEP 520).
//! Without an agent, and with additions alone, the compiler takes the loop apart. Those figures show that nothing
//! hinders it, not the cost of a call.

use crate::bench::figures::{Cost, Figure};
use crate::bench::folder;
use crate::jdks::{self, Jdk};
use crate::workspace::{Workspace, output_of, say};
use crate::{plugins, setup};
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Options {
    /// Processes for each figure
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    processes: u32,
    /// Calls of each round
    #[arg(long, default_value_t = 4_000_000)]
    calls: u64,
    /// Rounds of each process, of which the second half counts
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..))]
    rounds: u32,
}

const BYTE_BUDDY: &str = "byte-buddy";
const CALLS: &str = include_str!("trace/Calls.java");
const PEER: &str = include_str!("trace/Peer.java");

/// The called methods, one for each process.
const METHODS: [&str; 3] = ["Calls.empty", "Calls.number", "Calls.text"];

/// The agent of the JVM.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    None,
    Off,
    Count,
    Aggregate,
    Events,
    Number,
    Text,
    Advice,
    RecorderTiming,
    RecorderTrace,
}

const VARIANTS: [(Variant, &str); 10] = [
    (Variant::None, "no agent"),
    (Variant::Off, "Classhook, after `off`"),
    (Variant::Count, "Classhook, count"),
    (Variant::Aggregate, "Classhook, aggregate"),
    (Variant::Events, "Classhook, events"),
    (Variant::Number, "Classhook, events, an int kept"),
    (Variant::Text, "Classhook, events, a text kept"),
    (Variant::Advice, "ByteBuddy advice, two nanoTime"),
    (Variant::RecorderTiming, "JFR method timing"),
    (Variant::RecorderTrace, "JFR method trace"),
];

/// Measures on each full JDK from 17 up and prints a table for each number of threads.
pub fn run(workspace: &Workspace, options: &Options) -> Result<Vec<Figure>> {
    plugins::run(workspace)?;
    let mut figures = Vec::new();
    let byte_buddy = setup::artifact(workspace, BYTE_BUDDY)?;
    for jdk in &jdks::measured()? {
        say(format!("bench trace on {jdk}"));
        let bench = Bench::prepare(workspace, jdk, &byte_buddy, options)?;
        for threads in [1, 2] {
            figures.extend(bench.measure(threads)?);
        }
    }
    Ok(figures)
}

struct Bench<'a> {
    jdk: &'a Jdk,
    agent: PathBuf,
    command: PathBuf,
    byte_buddy: &'a Path,
    folder: PathBuf,
    options: &'a Options,
}

impl<'a> Bench<'a> {
    fn prepare(
        workspace: &Workspace,
        jdk: &'a Jdk,
        byte_buddy: &'a Path,
        options: &'a Options,
    ) -> Result<Self> {
        let folder = folder::emptied(workspace, "trace", jdk)?;
        let bench = Self {
            jdk,
            agent: workspace.product("libclasshook.so"),
            command: workspace.product("classhook"),
            byte_buddy,
            folder,
            options,
        };
        bench.compile()?;
        Ok(bench)
    }

    /// Compiles the program, and the jar of the peer's agent.
    fn compile(&self) -> Result<()> {
        for (name, source, class_path) in [
            ("Calls", CALLS, self.folder.clone()),
            ("Peer", PEER, self.byte_buddy.to_owned()),
        ] {
            let classes = self.folder.join(name);
            std::fs::create_dir_all(&classes)?;
            let file = self.folder.join(format!("{name}.java"));
            std::fs::write(&file, source)?;
            let mut javac = Command::new(self.jdk.tool("javac"));
            javac.args(["--release", "17", "-cp"]).arg(class_path);
            output_of(javac.arg("-d").arg(&classes).arg(&file))?;
        }
        let manifest = self.folder.join("manifest");
        let class_path = self.byte_buddy.display();
        std::fs::write(
            &manifest,
            format!("Premain-Class: Peer\nClass-Path: file://{class_path}\n"),
        )?;
        let mut jar = Command::new(self.jdk.tool("jar"));
        jar.arg("cfm").arg(self.jar()).arg(&manifest);
        output_of(jar.arg("-C").arg(self.folder.join("Peer")).arg("."))?;
        Ok(())
    }

    fn jar(&self) -> PathBuf {
        self.folder.join("peer.jar")
    }

    fn measure(&self, threads: u32) -> Result<Vec<Figure>> {
        let variants: Vec<_> = VARIANTS
            .into_iter()
            .filter(|(variant, _)| self.jdk.feature >= 25 || !variant.is_recorder())
            .collect();
        let mut times = vec![Vec::new(); variants.len()];
        for _ in 0..self.options.processes {
            for ((variant, title), times) in variants.iter().zip(&mut times) {
                let found = self.once(*variant, threads);
                times.extend(found.with_context(|| (*title).to_owned())?);
            }
        }
        let all = variants.iter().zip(times);
        let costs: Vec<_> = all
            .map(|((variant, title), times)| (*variant, Cost::of(title, times)))
            .collect();
        let threads = match threads {
            1 => "1 thread".to_owned(),
            more => format!("{more} threads"),
        };
        print!("{}", self.table(&threads, &costs));
        Ok(self.figures(&threads, &costs))
    }

    fn table(&self, threads: &str, costs: &[(Variant, Cost)]) -> String {
        let mut text = format!(
            "\nJDK {}, {threads}: CPU time per call, ns\n{:<34}{:>9}{:>20}\n",
            self.jdk.feature, "", "median", "quartiles"
        );
        for (_, cost) in costs {
            let quartiles = format!("{:.1} to {:.1}", cost.low, cost.high);
            let _ = writeln!(text, "{:<34}{:>9.1}{quartiles:>20}", cost.tool, cost.median);
        }
        for (with, words) in [
            (Variant::Number, "an int kept, more"),
            (Variant::Text, "a text kept, more"),
        ] {
            if let [Some(with), Some(without)] = [with, Variant::Events].map(|it| of(costs, it)) {
                let _ = writeln!(text, "{words:<34}{:>9.1}", with.median - without.median);
            }
        }
        text
    }

    fn figures(&self, threads: &str, costs: &[(Variant, Cost)]) -> Vec<Figure> {
        let pairs = [
            (Variant::Aggregate, Variant::Advice),
            (Variant::Events, Variant::Advice),
            (Variant::Aggregate, Variant::RecorderTiming),
            (Variant::Events, Variant::RecorderTrace),
        ];
        let figure = |(ours, peer)| {
            Some(Figure {
                bench: "trace".to_owned(),
                jdk: self.jdk.feature,
                what: format!("a recorded call, {threads}: CPU time"),
                unit: "ns".to_owned(),
                ours: of(costs, ours)?.clone(),
                peer: of(costs, peer)?.clone(),
            })
        };
        pairs.into_iter().filter_map(figure).collect()
    }

    /// Returns times per call of one process: the second half of its rounds, after `off` on request.
    fn once(&self, variant: Variant, threads: u32) -> Result<Vec<f64>> {
        let mut child = self.start(variant, threads)?;
        let mut lines = BufReader::new(child.stdout.take().context("a pipe")?);
        let outcome = self.rounds(variant, &mut child, &mut lines);
        if outcome.is_err() {
            child.kill().ok();
        }
        let ended = child.wait()?;
        let times = outcome?;
        if !ended.success() {
            bail!("ended with {ended}");
        }
        Ok(times)
    }

    fn rounds(
        &self,
        variant: Variant,
        child: &mut Child,
        lines: &mut BufReader<ChildStdout>,
    ) -> Result<Vec<f64>> {
        let (first, pid) = half(lines)?;
        if variant == Variant::Off {
            output_of(Command::new(&self.command).args(["off", &pid]))?;
        }
        let input = child.stdin.as_mut().context("a pipe")?;
        input.write_all(b"\n")?;
        let (second, _) = half(lines)?;
        input.write_all(b"\n")?;
        let times = if variant == Variant::Off {
            second
        } else {
            [first, second].concat()
        };
        Ok(times.get(times.len() / 2..).unwrap_or_default().to_vec())
    }

    fn start(&self, variant: Variant, threads: u32) -> Result<Child> {
        let mut java = Command::new(self.jdk.tool("java"));
        java.env_remove("JAVA_TOOL_OPTIONS")
            .env_remove("JDK_JAVA_OPTIONS");
        let recorder = |what: &str| {
            let file = self.folder.join("recording.jfr");
            format!(
                "-XX:StartFlightRecording:{what}=Calls::empty,filename={}",
                file.display()
            )
        };
        match variant {
            Variant::None => {}
            Variant::Off | Variant::Events => {
                java.arg(self.agent_option("events", "")?);
            }
            Variant::Number | Variant::Text => {
                java.arg(self.agent_option("events", "capture = [\"arguments\"]\n")?);
            }
            Variant::Aggregate => {
                java.arg(self.agent_option("aggregate", "")?);
            }
            Variant::Count => {
                java.arg(self.agent_option("count", "")?);
            }
            Variant::Advice => {
                java.arg(format!("-javaagent:{}", self.jar().display()));
            }
            Variant::RecorderTiming => {
                java.args(["-Xlog:jfr*=off".to_owned(), recorder("method-timing")]);
            }
            Variant::RecorderTrace => {
                java.args(["-Xlog:jfr*=off".to_owned(), recorder("method-trace")]);
            }
        }
        java.arg("-cp").arg(self.folder.join("Calls")).arg("Calls");
        java.args([
            self.options.calls.to_string(),
            threads.to_string(),
            self.options.rounds.to_string(),
            variant.method().to_owned(),
        ]);
        java.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        java.spawn().context("failed to start java")
    }

    /// Returns the agent option with the trace plugin in this mode and further settings. Each process writes to a new
    /// folder.
    fn agent_option(&self, mode: &str, more: &str) -> Result<String> {
        let out = self.folder.join("out");
        if out.exists() {
            std::fs::remove_dir_all(&out)?;
        }
        let file = self.folder.join(format!("{mode}.toml"));
        let text = format!(
            "[agent]\noutput = {out:?}\n[[plugin]]\nuse = \"trace\"\n\
             [plugin.config]\nmethods = {METHODS:?}\nmode = {mode:?}\n{more}"
        );
        std::fs::write(&file, text)?;
        Ok(format!(
            "-agentpath:{}=config={}",
            self.agent.display(),
            file.display()
        ))
    }
}

impl Variant {
    /// The called method.
    fn method(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Text => "text",
            _ => "empty",
        }
    }

    fn is_recorder(self) -> bool {
        matches!(self, Self::RecorderTiming | Self::RecorderTrace)
    }
}

/// Reads the times of one half, and the process id from the next line.
fn half(lines: &mut BufReader<ChildStdout>) -> Result<(Vec<f64>, String)> {
    let mut times = Vec::new();
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            bail!("the program ended early");
        }
        match line.trim().strip_prefix("end ") {
            Some(pid) => return Ok((times, pid.to_owned())),
            None => times.push(line.trim().parse()?),
        }
    }
}

fn of(costs: &[(Variant, Cost)], wanted: Variant) -> Option<&Cost> {
    let mut found = costs.iter().filter(|(variant, _)| *variant == wanted);
    found.next().map(|(_, cost)| cost)
}
