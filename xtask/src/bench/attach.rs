//! `cargo xtask bench attach`: the cost of a visit to a running JVM, beside Arthas.
//!
//! A program calls a method a thousand times a second, and a thousand more classes besides. Each tool takes its turn in
//! a new JVM: it shows the first call of one method, which includes attaching; it sums up the calls of every method of
//! the thousand classes; it leaves. Measured are the time from the start of the tool's command to its answer, and the
//! longest safepoint in the JVM's log until then. A step that failed is an error, not a figure.

use crate::bench::figures::{Cost, Figure};
use crate::bench::folder;
use crate::jdks::{self, Jdk};
use crate::workspace::{Workspace, output_of, say};
use crate::{plugins, setup};
use anyhow::{Context, Result, bail};
use e2e_tests::watchdog;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Options {
    /// JVMs for each tool and JDK
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

const SERVED: &str = include_str!("attach/Served.java");
/// Classes besides the one whose method is shown.
const CLASSES: usize = 1_000;
/// Running time of the program before the first attach, so that the compiler has seen it.
const WARM_UP: Duration = Duration::from_secs(3);

/// The measured steps, in their order.
const STEPS: [&str; 3] = [
    "attach, until the first call is shown",
    "instrument 1,000 classes",
    "leave",
];

#[derive(Clone, Copy)]
enum Tool {
    Classhook,
    Arthas,
}

const TOOLS: [(Tool, &str); 2] = [(Tool::Classhook, "Classhook"), (Tool::Arthas, "Arthas")];

/// Duration of a step, and the longest safepoint of the JVM meanwhile.
type Step = (Duration, Duration);
type Steps = [Step; STEPS.len()];
/// One of the two.
type Measure = fn(&Step) -> Duration;

/// Measures on each full JDK from 17 up and prints a table for each.
pub fn run(workspace: &Workspace, options: &Options) -> Result<Vec<Figure>> {
    plugins::run(workspace)?;
    let mut figures = Vec::new();
    let arthas = setup::artifact(workspace, "arthas")?;
    for jdk in &jdks::measured()? {
        say(format!("bench attach: {} rounds on {jdk}", options.rounds));
        let bench = Bench::prepare(workspace, jdk, &arthas)?;
        let mut found: [Vec<Steps>; TOOLS.len()] = Default::default();
        for _ in 0..options.rounds {
            for ((tool, title), found) in TOOLS.iter().zip(&mut found) {
                found.push(bench.once(*tool).with_context(|| (*title).to_owned())?);
            }
        }
        let found = figures_of(jdk, &found);
        print!("{}", table(jdk, &found));
        figures.extend(found);
    }
    Ok(figures)
}

struct Bench<'a> {
    jdk: &'a Jdk,
    command: PathBuf,
    folder: PathBuf,
}

impl<'a> Bench<'a> {
    fn prepare(workspace: &Workspace, jdk: &'a Jdk, arthas: &Path) -> Result<Self> {
        let folder = folder::emptied(workspace, "attach", jdk)?;
        let (sources, classes) = (folder.join("sources"), folder.join("classes"));
        std::fs::create_dir_all(&sources)?;
        std::fs::create_dir_all(folder.join("arthas"))?;
        std::fs::write(sources.join("Served.java"), SERVED)?;
        std::fs::write(sources.join("Load.java"), load())?;
        let mut javac = Command::new(jdk.tool("javac"));
        javac.args(["--release", "17", "-d"]).arg(&classes);
        output_of(javac.args([sources.join("Served.java"), sources.join("Load.java")]))?;
        let mut jar = Command::new(jdk.tool("jar"));
        output_of(jar.current_dir(folder.join("arthas")).arg("xf").arg(arthas))?;
        Ok(Self {
            jdk,
            command: workspace.product("classhook"),
            folder,
        })
    }

    /// Runs every step of one tool in a JVM of its own.
    fn once(&self, tool: Tool) -> Result<Steps> {
        let jvm = Jvm::start(self)?;
        let mut found = Steps::default();
        for (step, found) in found.iter_mut().enumerate() {
            let before = jvm.safepoints()?.len();
            let time = match tool {
                Tool::Classhook => self.classhook(step, &jvm),
                Tool::Arthas => self.arthas(step, &jvm),
            };
            let time = time.with_context(|| STEPS[step].to_owned())?;
            let safepoints = jvm.safepoints()?;
            let longest = safepoints.iter().skip(before).max().copied();
            *found = (time, longest.unwrap_or_default());
        }
        Ok(found)
    }

    fn classhook(&self, step: usize, jvm: &Jvm) -> Result<Duration> {
        let mut command = Command::new(&self.command);
        let pid = jvm.pid();
        match step {
            0 => {
                command.args(["trace", &pid, "--methods", "Served.step"]);
                command.args(["--json-lines", "-", "--for", "60s", "--output"]);
                shown(command.arg(&self.folder), "\"event\":\"enter\"")
            }
            1 => {
                command.args(["attach", &pid, "--plugin", "trace", "--plugin-settings"]);
                command.arg(r#"{"methods":["load.**"],"mode":"aggregate"}"#);
                ended(command.arg("--output").arg(&self.folder))
            }
            _ => ended(command.args(["off", &pid])),
        }
    }

    fn arthas(&self, step: usize, jvm: &Jvm) -> Result<Duration> {
        let home = self.folder.join("arthas");
        let mut command = Command::new(self.jdk.tool("java"));
        command.env("JAVA_HOME", &self.jdk.home).arg("-jar");
        if step == 0 {
            command.arg(home.join("arthas-boot.jar"));
            command.arg("--arthas-home").arg(&home);
            command.args(["-c", "watch Served step -n 1", &jvm.pid()]);
            return shown(&mut command, "ts=");
        }
        command.arg(home.join("arthas-client.jar"));
        let (text, answer) = match step {
            1 => ("monitor -m 5000 -c 60 load.* *", "Affect(class count: 10"),
            _ => ("stop", "Arthas Server is going to shutdown"),
        };
        shown(command.args(["-c", text, "127.0.0.1", "3658"]), answer)
    }
}

/// The program; it is ended on drop.
struct Jvm {
    child: Child,
    log: PathBuf,
}

impl Jvm {
    fn start(bench: &Bench<'_>) -> Result<Self> {
        let log = bench.folder.join("safepoints.log");
        let mut java = Command::new(bench.jdk.tool("java"));
        java.env_remove("JAVA_TOOL_OPTIONS")
            .arg(format!(
                "-Xlog:safepoint:file={}:none:filecount=0",
                log.display()
            ))
            .arg("-XX:+EnableDynamicAgentLoading")
            .arg("-cp")
            .arg(bench.folder.join("classes"))
            .arg("Served");
        let mut child = java.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let out = child.stdout.take().context("a pipe was asked for")?;
        let jvm = Self { child, log };
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        if line.trim() != "ready" {
            bail!("expected the program to be ready, found {line:?}");
        }
        std::thread::sleep(WARM_UP);
        Ok(jvm)
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// Returns the length of each safepoint so far.
    fn safepoints(&self) -> Result<Vec<Duration>> {
        let text = std::fs::read_to_string(&self.log)?;
        Ok(text.lines().filter_map(total).collect())
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        // The process may have ended by itself; an error has no consequence.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Parses the length of a safepoint from `Safepoint "…", …, Total: 123 ns`. Newer JVMs name threads behind it.
pub(super) fn total(line: &str) -> Option<Duration> {
    let (_, behind) = line.split_once("Total:")?;
    let (nanos, _) = behind.split_once("ns")?;
    Some(Duration::from_nanos(nanos.trim().parse().ok()?))
}

/// Runs the command, which must succeed, and returns its duration.
pub(super) fn ended(command: &mut Command) -> Result<Duration> {
    let begun = Instant::now();
    output_of(command)?;
    Ok(begun.elapsed())
}

/// Longest time until a command answers, and until it ends.
const LIMIT: Duration = Duration::from_secs(90);

/// Returns the time until the command printed `answer`, and then ends it.
fn shown(command: &mut Command, answer: &str) -> Result<Duration> {
    let begun = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("a pipe was asked for")?).lines();
    let mut printed = String::new();
    watchdog::watch(&child, Path::new(command.get_program()), LIMIT);
    let time = loop {
        match lines.next().transpose()? {
            Some(line) if line.contains(answer) => break Ok(begun.elapsed()),
            Some(line) => printed = printed + &line + "\n",
            None => break Err(anyhow::anyhow!("expected {answer:?}, found:\n{printed}")),
        }
    };
    end(&child)?;
    // Unread output would block the command.
    lines.for_each(drop);
    child.wait()?;
    time
}

/// Ends a process with SIGTERM. A shell's background jobs ignore SIGINT, and so do their children.
fn end(child: &Child) -> Result<()> {
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    match kill(pid, Signal::SIGTERM) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Generates the source of the thousand classes, each with three methods, and of the class that calls them.
pub(super) fn load() -> String {
    let mut text = String::from(
        "package load;\n\npublic final class Load {\n    public static int all(int x) {\n",
    );
    for class in 0..CLASSES {
        let _ = writeln!(text, "        x = C{class}.first(x);");
    }
    text.push_str("        return x;\n    }\n}\n");
    for class in 0..CLASSES {
        let _ = writeln!(
            text,
            "\nfinal class C{class} {{\n    static int first(int x) {{ return second(x + {class}); }}\n    static int second(int x) {{ return x % 2 == 0 ? third(x) : x * 31; }}\n    static int third(int x) {{ return x / 2; }}\n}}"
        );
    }
    text
}

/// Returns, for each step, the time and then the longest safepoint.
fn figures_of(jdk: &Jdk, found: &[Vec<Steps>; TOOLS.len()]) -> Vec<Figure> {
    let measured: [(&str, Measure); 2] = [
        ("", |found| found.0),
        (": longest safepoint meanwhile", |found| found.1),
    ];
    let steps = STEPS.iter().enumerate();
    let all = steps.flat_map(|(step, title)| measured.map(|(more, of)| (step, title, more, of)));
    let figure = |(step, title, more, of): (usize, &&str, &str, Measure)| {
        let cost = |tool: usize| {
            let rounds = found[tool].iter();
            let times = rounds.map(|steps| of(&steps[step]));
            Cost::of_times(TOOLS[tool].1, times)
        };
        Figure {
            bench: "attach".to_owned(),
            jdk: jdk.feature,
            what: format!("{title}{more}"),
            unit: "ms".to_owned(),
            ours: cost(0),
            peer: cost(1),
        }
    };
    all.map(figure).collect()
}

fn table(jdk: &Jdk, found: &[Figure]) -> String {
    let mut text = format!(
        "\nRunning JVM, JDK {}: ms, median (quartiles)\n",
        jdk.feature
    );
    let _ = write!(text, "{:<70}", "");
    for (_, title) in TOOLS {
        let _ = write!(text, "{title:>28}");
    }
    let _ = writeln!(text, "{:>8}", "ratio");
    for figure in found {
        let _ = write!(text, "{:<70}", figure.what);
        for cost in [&figure.ours, &figure.peer] {
            let cell = format!("{:.1} ({:.1} to {:.1})", cost.median, cost.low, cost.high);
            let _ = write!(text, "{cell:>28}");
        }
        let _ = writeln!(text, "{:>8.3}", figure.ratio());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_of_a_safepoint_is_its_total() {
        let line = "Safepoint \"ICBufferFull\", Time since last: 5 ns, Reaching safepoint: 1 ns, At safepoint: 2 ns, Total: 3456 ns";
        assert_eq!(total(line), Some(Duration::from_nanos(3456)));
        let newer = format!("{line}, Threads: 1 runnable, 12 total");
        assert_eq!(total(&newer), Some(Duration::from_nanos(3456)));
        assert_eq!(total("Entering safepoint region: x"), None);
    }

    #[test]
    fn command_that_ends_without_the_answer_is_an_error_with_its_output() {
        let error = shown(Command::new("echo").arg("nothing here"), "answer");
        let error = format!("{:#}", error.expect_err("no answer"));
        assert!(error.contains("nothing here"), "{error}");
        assert!(shown(Command::new("echo").arg("the answer"), "answer").is_ok());
    }

    #[test]
    fn command_that_cannot_be_interrupted_is_ended() {
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' INT; echo the answer; exec sleep 1000"]);
        assert!(shown(&mut command, "answer").is_ok());
    }
}
