//! `cargo xtask bench startup`: the cost of an agent at the start of a JVM.
//!
//! Measured is the CPU time, user and system, of the whole process, as the kernel reports it at its end.
//! Rounds are interleaved: each runs every variant once, so that a machine that gets busy disturbs all alike.
//! All agents only record; none writes a report.

use crate::bench::figures::{Cost, Figure, milliseconds, quantile_of_times};
use crate::bench::usage;
use crate::jdks::{self, Jdk};
use crate::workspace::{Workspace, output_of, say};
use crate::{plugins, setup};
use anyhow::{Context, Result, bail, ensure};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Options {
    /// Rounds for each JDK and program
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// Runs the measurement on each full JDK from 17 up, and prints one table for each program.
pub fn run(workspace: &Workspace, options: &Options) -> Result<Vec<Figure>> {
    plugins::run(workspace)?;
    let mut figures = Vec::new();
    let jacoco = setup::artifact(workspace, "jacoco-agent")?;
    for jdk in &jdks::measured()? {
        say(format!("bench startup: {} rounds on {jdk}", options.rounds));
        let folder = workspace
            .target("bench")
            .join(format!("startup-{}", jdk.feature));
        let bench = Bench::prepare(workspace, jdk, &jacoco, folder)?;
        bench.fill()?;
        for program in [bench.trivial()?, bench.javac(workspace)?] {
            let times = bench.measure(&program, options.rounds)?;
            print!("{}", table(jdk, &program, &times));
            figures.extend(of_jacoco(jdk, &program, &times));
            figures.push(of_full(jdk, &program, &times)?);
        }
    }
    Ok(figures)
}

/// The agent of the JVM.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    None,
    Fresh,
    Warm,
    /// With a user's cache that holds the plans of tens of thousands of classes of other programs, too.
    Full,
    Jacoco,
}

const VARIANTS: [Variant; 5] = [
    Variant::None,
    Variant::Fresh,
    Variant::Warm,
    Variant::Full,
    Variant::Jacoco,
];
/// CPU times by variant, in the order of [`VARIANTS`].
type Times = [Vec<Duration>; VARIANTS.len()];
/// Upper limit for the CPU time of a process with a full cache, as a multiple of that with a cache of this program
/// alone.
const MOST_OF_FULL: f64 = 1.1;
/// Number of classes that one JVM adds to the full cache, and length in bytes at which its largest file counts as full.
const ADDED: u32 = 15_000;
const FULL: u64 = 24 << 20;
/// Most JVMs that fill the cache.
const FILLERS: u32 = 12;

impl Variant {
    fn title(self) -> &'static str {
        match self {
            Self::None => "no agent",
            Self::Fresh => "Classhook, no cache",
            Self::Warm => "Classhook, warm cache",
            Self::Full => "Classhook, full cache",
            Self::Jacoco => "JaCoCo 0.8.15",
        }
    }
}

/// A program to start: the JVM's arguments.
struct Program {
    title: &'static str,
    arguments: Vec<String>,
}

/// javac in a JVM of its own; its output folder and sources follow.
pub const JAVAC: [&str; 4] = [
    "-m",
    "jdk.compiler/com.sun.tools.javac.Main",
    "-proc:none",
    "-d",
];

struct Bench<'a> {
    jdk: &'a Jdk,
    agent: PathBuf,
    jacoco: &'a Path,
    folder: PathBuf,
}

impl<'a> Bench<'a> {
    fn prepare(
        workspace: &Workspace,
        jdk: &'a Jdk,
        jacoco: &'a Path,
        folder: PathBuf,
    ) -> Result<Self> {
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        for below in ["classes", "sources", "out", "warm", "full"] {
            std::fs::create_dir_all(folder.join(below))?;
        }
        Ok(Self {
            jdk,
            agent: workspace.product("libclasshook.so"),
            jacoco,
            folder,
        })
    }

    fn trivial(&self) -> Result<Program> {
        let source = self.folder.join("Trivial.java");
        std::fs::write(
            &source,
            "public class Trivial { public static void main(String[] a) { System.out.println(\"hello\"); } }\n",
        )?;
        let classes = self.folder.join("classes");
        output_of(
            Command::new(self.jdk.tool("javac"))
                .args(["--release", "17", "-d"])
                .args([&classes, &source]),
        )?;
        let arguments = [
            "-cp".to_owned(),
            classes.display().to_string(),
            "Trivial".to_owned(),
        ];
        Ok(Program {
            title: "a trivial program",
            arguments: arguments.into(),
        })
    }

    /// Returns javac on three copies of the bank example, which is 24 files.
    fn javac(&self, workspace: &Workspace) -> Result<Program> {
        let mut arguments: Vec<String> = JAVAC.map(str::to_owned).into();
        arguments.push(self.folder.join("out").display().to_string());
        for copy in 1..=3 {
            let package = format!("bank{copy}");
            let folder = self.folder.join("sources").join(&package);
            std::fs::create_dir_all(&folder)?;
            for source in crate::demo::bank_sources(workspace, self.jdk.feature)? {
                let text = std::fs::read_to_string(&source)?
                    .replace("package bank;", &format!("package {package};"));
                let file = folder.join(source.file_name().unwrap_or_default());
                std::fs::write(&file, text)?;
                arguments.push(file.display().to_string());
            }
        }
        Ok(Program {
            title: "javac compiling 24 files",
            arguments,
        })
    }

    /// Fills the plan cache of the coverage plugin to its limit, with JVMs that define many classes.
    fn fill(&self) -> Result<()> {
        let classes = self.folder.join("classes");
        let sources =
            ["Filler", "Template00000000"].map(|name| self.folder.join(format!("{name}.java")));
        std::fs::write(&sources[0], FILLER)?;
        std::fs::write(&sources[1], TEMPLATE)?;
        output_of(
            Command::new(self.jdk.tool("javac"))
                .args(["--release", "17", "-d"])
                .arg(&classes)
                .args(&sources),
        )?;
        for jvm in 0..FILLERS {
            if self.largest_plans()? >= FULL {
                return Ok(());
            }
            let arguments = [jvm * ADDED, (jvm + 1) * ADDED].map(|number| number.to_string());
            let mut program = vec![
                "-cp".to_owned(),
                classes.display().to_string(),
                "Filler".to_owned(),
            ];
            program.extend(arguments);
            let filler = Program {
                title: "a program of many classes",
                arguments: program,
            };
            self.once(&filler, Variant::Full)?;
        }
        bail!(
            "the plan cache does not become full: its largest file has {} bytes",
            self.largest_plans()?
        )
    }

    /// Returns the length of the largest file of plans in the full cache.
    fn largest_plans(&self) -> Result<u64> {
        let folder = self.folder.join("full/classhook");
        if !folder.is_dir() {
            return Ok(0);
        }
        let mut largest = 0;
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "plans")
            {
                largest = largest.max(entry.metadata()?.len());
            }
        }
        Ok(largest)
    }

    /// The first round only warms the machine's file cache.
    fn measure(&self, program: &Program, rounds: u32) -> Result<Times> {
        let mut times = Times::default();
        for round in 0..=rounds {
            for (variant, times) in VARIANTS.iter().zip(&mut times) {
                let time = self.once(program, *variant)?;
                if round > 0 {
                    times.push(time);
                }
            }
        }
        Ok(times)
    }

    fn once(&self, program: &Program, variant: Variant) -> Result<Duration> {
        let scratch = tempfile::tempdir_in(&self.folder)?;
        let mut command = Command::new(self.jdk.tool("java"));
        let cache = match variant {
            Variant::Warm => self.folder.join("warm"),
            Variant::Full => self.folder.join("full"),
            Variant::None | Variant::Fresh | Variant::Jacoco => scratch.path().join("cache"),
        };
        command
            .env("XDG_CACHE_HOME", cache)
            .env_remove("JAVA_TOOL_OPTIONS")
            .env_remove("JDK_JAVA_OPTIONS");
        let out = scratch.path().display();
        match variant {
            Variant::None => {}
            Variant::Fresh | Variant::Warm | Variant::Full => {
                command.arg(format!("-agentpath:{}=output={out}", self.agent.display()));
            }
            Variant::Jacoco => {
                command.arg(format!(
                    "-javaagent:{}=destfile={out}/jacoco.exec",
                    self.jacoco.display()
                ));
            }
        }
        usage::of(command.args(&program.arguments))
            .map(|used| used.cpu)
            .with_context(|| format!("{}: {}", program.title, variant.title()))
    }
}

/// Formats medians, the cost of each agent, and its ratio to JaCoCo's.
fn table(jdk: &Jdk, program: &Program, times: &Times) -> String {
    let base = quantile_of_times(&times[0], 50);
    let added = |times: &[Duration]| quantile_of_times(times, 50) - base;
    let jacoco = added(&times[4]);
    let mut text = format!(
        "\n{} on JDK {}: CPU time of the process, ms\n",
        program.title, jdk.feature
    );
    let _ = writeln!(
        text,
        "{:<24}{:>9}{:>18}{:>9}{:>20}",
        "", "median", "quartiles", "added", "of JaCoCo's added"
    );
    for (variant, times) in VARIANTS.iter().zip(times) {
        let quartiles = format!(
            "{:.1} to {:.1}",
            quantile_of_times(times, 25),
            quantile_of_times(times, 75)
        );
        let _ = write!(
            text,
            "{:<24}{:>9.1}{:>18}",
            variant.title(),
            quantile_of_times(times, 50),
            quartiles
        );
        if *variant != Variant::None {
            let _ = write!(text, "{:>9.1}{:>20.2}", added(times), added(times) / jacoco);
        }
        text.push('\n');
    }
    text
}

/// Returns our cost beside JaCoCo's.
fn of_jacoco(jdk: &Jdk, program: &Program, times: &Times) -> Vec<Figure> {
    let base = quantile_of_times(&times[0], 50);
    let added = |variant: Variant| {
        let titled = VARIANTS.iter().zip(times).find(|(of, _)| **of == variant);
        let times = titled.map(|(_, times)| times.as_slice());
        let times = times.unwrap_or_default().iter();
        let added = times.map(|time| milliseconds(*time) - base);
        Cost::of(variant.title(), added)
    };
    let figure = |ours: Variant| Figure {
        bench: "startup".to_owned(),
        jdk: jdk.feature,
        what: format!("{}: CPU time added", program.title),
        unit: "ms".to_owned(),
        ours: added(ours),
        peer: added(Variant::Jacoco),
    };
    [Variant::Fresh, Variant::Warm, Variant::Full]
        .map(figure)
        .into()
}

/// Returns the whole process with a full cache, beside the same with a cache of this program alone.
///
/// # Errors
/// If a full cache makes the start more than [`MOST_OF_FULL`] times as expensive.
fn of_full(jdk: &Jdk, program: &Program, times: &Times) -> Result<Figure> {
    let of = |variant: Variant| {
        let titled = VARIANTS.iter().zip(times).find(|(of, _)| **of == variant);
        let times = titled.map(|(_, times)| times.iter().copied());
        Cost::of_times(variant.title(), times.into_iter().flatten())
    };
    let figure = Figure {
        bench: "startup".to_owned(),
        jdk: jdk.feature,
        what: format!("{}: CPU time with a full cache", program.title),
        unit: "ms".to_owned(),
        ours: of(Variant::Full),
        peer: of(Variant::Warm),
    };
    let ratio = figure.ratio();
    ensure!(
        ratio <= MOST_OF_FULL,
        "{} on {jdk}: a full plan cache takes {ratio:.2} times the CPU time, expected at most {MOST_OF_FULL}",
        program.title
    );
    Ok(figure)
}

/// Defines copies of a class, whose names end with the numbers of a range.
const FILLER: &str = r#"
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

public class Filler extends ClassLoader {
    public static void main(String[] range) throws Exception {
        String name = "Template00000000";
        byte[] bytes;
        try (InputStream file = Filler.class.getResourceAsStream(name + ".class")) {
            bytes = file.readAllBytes();
        }
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        Filler loader = new Filler();
        int last = Integer.parseInt(range[1]);
        for (int number = Integer.parseInt(range[0]); number < last; number++) {
            String copy = String.format("Template%08d", number);
            byte[] copied = text.replace(name, copy).getBytes(StandardCharsets.ISO_8859_1);
            if (number % 500 == 0) {
                loader = new Filler();
            }
            loader.defineClass(copy, copied, 0, copied.length, Filler.class.getProtectionDomain());
        }
    }
}
"#;

/// A class with a few branches in a few methods.
const TEMPLATE: &str = r#"
public class Template00000000 {
    int a(int x) { return x > 1 ? x < 5 ? 1 : 2 : 3; }
    int b(int x) { int s = 0; for (int i = 0; i < x; i++) { if (i % 2 == 0) { s += i; } else { s -= i; } } return s; }
    int c(int x) { switch (x) { case 1: return a(x); case 2: return b(x); case 3: return 9; default: return 0; } }
    int d(int x) { try { return c(x) / x; } catch (ArithmeticException e) { return -1; } finally { a(x); } }
    int e(int x) { return a(x) > 0 && b(x) > 0 || c(x) > 0 ? d(x) : 0; }
    int f(int x) { while (x > 0) { x = e(x) - 1; } return x; }
    boolean g(int x) { return x > 0 && x < 9 || x == 20; }
    String h(int x) { return g(x) ? "a" : x > 4 ? "b" : "c"; }
}
"#;
