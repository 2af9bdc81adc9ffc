//! `cargo xtask bench rewriter`: Classhook's rewriter against ASM, JaCoCo's instrumenter and the JDK's class-file API.
//!
//! All rewrite the same classes, held in memory, on one thread, and insert the same code at the same places.
//! Measured is the CPU time of that thread, without the JVM's compiler and collector threads.
//! *Warm* is the median of interleaved passes over all classes, after passes that only warm up.
//! *Cold* is the first pass of a fresh process over the first classes, including all that the library loads.

pub(super) mod peer;
mod table;

use crate::bench::figures::Figure;
use crate::jdks::{self, Jdk};
use crate::workspace::{Workspace, output_of, say, step};
use crate::{plugins, setup};
use anyhow::{Context, Result, bail};
use e2e_tests::{corpus, rotation};
use peer::{Pass, Peer, Side};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Options {
    /// Passes over all classes that are measured
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Passes before those, which let the JVM compile what is hot
    #[arg(long, default_value_t = 6)]
    warm_up: u32,
    /// Fresh processes for each cold figure
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    cold_rounds: u32,
    /// Only the tasks with this in their name: entry, exits, lines, coverage
    #[arg(long)]
    only: Option<String>,
}

/// The release whose class files and class-file API are used.
const RELEASE: u32 = 25;
const MODULES: [&str; 2] = ["java.base", "jdk.compiler"];
const JAR: &str = "h2";
/// Classes of a cold pass.
const COLD: usize = 500;
const JARS: [&str; 6] = [
    "asm",
    "asm-analysis",
    "asm-commons",
    "asm-tree",
    "jacoco-core",
    JAR,
];
/// Classhook's side, a path in cargo's output folder.
pub(super) const HARNESS_PROGRAM: &str = "examples/rewriter_bench";
const HARNESS: &str = include_str!("rewriter/RewriterBench.java");

/// An edit, and the libraries that it is compared with.
struct Task {
    name: &'static str,
    title: &'static str,
    sides: &'static [Side],
}

const OURS: [Side; 2] = [Side::Classhook, Side::ClasshookChecked];
const TASKS: [Task; 4] = [
    Task {
        name: "entry",
        title: "insert at entry",
        sides: &[OURS[0], OURS[1], Side::Asm, Side::Jdk],
    },
    Task {
        name: "exits",
        title: "insert at entry and exits",
        sides: &[OURS[0], OURS[1], Side::Asm, Side::Jdk],
    },
    Task {
        name: "lines",
        title: "insert at every line",
        sides: &[OURS[0], OURS[1], Side::Asm, Side::Jdk],
    },
    Task {
        name: "coverage",
        title: "coverage",
        sides: &[
            OURS[0],
            OURS[1],
            Side::ClasshookWasm,
            Side::ClasshookWasmChecked,
            Side::Jacoco,
        ],
    },
];

/// Measures every task and prints a table for each.
pub fn run(workspace: &Workspace, options: &Options) -> Result<Vec<Figure>> {
    plugins::run(workspace)?;
    let mut figures = Vec::new();
    build_harness(workspace)?;
    let jdk = jdks::full().into_iter().find(|jdk| jdk.feature == RELEASE);
    let jdk = jdk.with_context(|| {
        format!(
            "expected a full JDK {RELEASE} (JAVA_HOME, PATH, /usr/lib/jvm), whose class-file API is measured, found none"
        )
    })?;
    let bench = Bench::prepare(workspace, jdk)?;
    print!("{}", table::head(&bench.jdk, bench.classes, bench.bytes));
    for task in &TASKS {
        if options
            .only
            .as_deref()
            .is_none_or(|only| task.name.contains(only))
        {
            figures.extend(bench.measure(task, options)?);
        }
    }
    if options.only.is_none() {
        bench.threads(options)?;
    }
    Ok(figures)
}

/// Builds Classhook's side.
pub(super) fn build_harness(workspace: &Workspace) -> Result<()> {
    let mut build = workspace.cargo(["build", "--quiet", "--release", "-p", "host"]);
    build.args(["--example", "rewriter_bench"]);
    step("building the harness", &mut build)
}

/// The arguments of every process of the measurement.
struct Bench {
    jdk: Jdk,
    native: PathBuf,
    class_path: String,
    pack: PathBuf,
    classes: usize,
    bytes: usize,
}

impl Bench {
    fn prepare(workspace: &Workspace, jdk: Jdk) -> Result<Self> {
        let folder = workspace.target("bench").join("rewriter");
        std::fs::create_dir_all(&folder)?;
        let mut class_path = vec![folder.join("classes")];
        for name in JARS {
            class_path.push(setup::artifact(workspace, name)?);
        }
        let class_path = std::env::join_paths(class_path)?
            .into_string()
            .ok()
            .context("expected a path that is UTF-8")?;
        let source = folder.join("RewriterBench.java");
        std::fs::write(&source, HARNESS)?;
        output_of(
            Command::new(jdk.tool("javac"))
                .args(["-cp", &class_path, "-d"])
                .args([&folder.join("classes"), &source]),
        )?;
        let pack = folder.join("classes.pack");
        let jar = setup::artifact(workspace, JAR)?;
        let (classes, bytes) = pack_classes(&jdk, Some(&jar), &pack)?;
        Ok(Self {
            native: workspace.product(HARNESS_PROGRAM),
            jdk,
            class_path,
            pack,
            classes,
            bytes,
        })
    }

    fn start(&self, side: Side, task: &str) -> Result<Peer> {
        let mut command;
        if let Some(library) = side.java_library() {
            command = Command::new(self.jdk.tool("java"));
            command
                .env_remove("JAVA_TOOL_OPTIONS")
                .env_remove("JDK_JAVA_OPTIONS")
                .args(["-Xmx2g", "-cp", &self.class_path, "RewriterBench"])
                .arg(&self.pack)
                .args([library, task]);
        } else {
            command = Command::new(&self.native);
            let (task, check) = match side {
                Side::ClasshookWasm => ("plugin=coverage", None),
                Side::ClasshookWasmChecked => ("plugin=coverage", Some("check")),
                Side::ClasshookChecked => (task, Some("check")),
                _ => (task, None),
            };
            command.arg(&self.pack).arg(task).args(check);
        }
        Peer::start(&mut command)
    }

    /// Measures interleaved passes: each round runs every side once.
    fn measure(&self, task: &Task, options: &Options) -> Result<Vec<Figure>> {
        say(format!("bench rewriter: {}", task.title));
        let mut warm: Vec<Vec<Pass>> = vec![Vec::new(); task.sides.len()];
        let mut peers = task
            .sides
            .iter()
            .map(|side| self.start(*side, task.name))
            .collect::<Result<Vec<_>>>()?;
        for round in 0..options.warm_up + options.rounds {
            for (peer, passes) in peers.iter_mut().zip(&mut warm) {
                let pass = peer.pass(self.classes)?;
                if round >= options.warm_up {
                    passes.push(pass);
                }
            }
        }
        drop(peers);
        let mut cold: Vec<Vec<Pass>> = vec![Vec::new(); task.sides.len()];
        for _ in 0..options.cold_rounds {
            for (side, passes) in task.sides.iter().zip(&mut cold) {
                passes.push(self.start(*side, task.name)?.pass(COLD)?);
            }
        }
        let passes = table::Passes {
            sides: task.sides,
            warm: &warm,
            cold: &cold,
            classes: self.classes,
            bytes: self.bytes,
            cold_classes: COLD,
        };
        print!("{}", passes.table(task.title));
        Ok(passes.figures(task.title, self.jdk.feature))
    }

    /// Measures the speed-up of two threads over one, natively and through WebAssembly.
    fn threads(&self, options: &Options) -> Result<()> {
        say("bench rewriter: two threads against one");
        let mut rows = Vec::new();
        for (title, side, task) in [
            ("insert at entry", Side::Classhook, "entry"),
            ("coverage", Side::Classhook, "coverage"),
            (
                "coverage, WebAssembly, self-check on",
                Side::ClasshookWasmChecked,
                "coverage",
            ),
        ] {
            let mut peer = self.start(side, task)?;
            let (mut one, mut two) = (Vec::new(), Vec::new());
            for _ in 0..options.rounds {
                one.push(peer.threads(1, self.classes)?);
                two.push(peer.threads(2, self.classes)?);
            }
            rows.push((title, one, two));
        }
        print!("{}", table::threads(&rows));
        Ok(())
    }
}

/// Writes the classes of a JDK, and of a jar, into one file, in a mixed order that never changes. Returns their number
/// and bytes.
pub(super) fn pack_classes(jdk: &Jdk, jar: Option<&Path>, pack: &Path) -> Result<(usize, usize)> {
    let modules = corpus::jdk_classes(jdk);
    let mut classes = Vec::new();
    for module in MODULES {
        classes.extend(corpus::in_folder(&modules.join(module)));
    }
    classes.extend(jar.into_iter().flat_map(corpus::in_jar));
    if classes.len() < COLD {
        bail!(
            "expected at least {COLD} classes to measure with, found {}",
            classes.len()
        );
    }
    classes.sort_by_cached_key(|class| (rotation::hash(&class.name), class.name.clone()));
    let mut bytes = Vec::new();
    for class in &classes {
        bytes.extend(u32::try_from(class.bytes.len())?.to_be_bytes());
        bytes.extend(&class.bytes);
    }
    std::fs::write(pack, &bytes)?;
    Ok((classes.len(), bytes.len() - 4 * classes.len()))
}
