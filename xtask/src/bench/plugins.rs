//! `cargo xtask bench plugins`: the cost of a plugin for a class, and of loading it.
//!
//! All classes of two modules of a JDK pass through the pipeline on one thread, without the self-check. Measured is the
//! CPU time of that thread, warm, as the median of interleaved passes. `known` is a later run: the plan cache holds
//! every plan, and no plugin is called. Beside coverage stands a native program that places and splices the same probes
//! without a host.
//! Last comes `classhook plugin bench`, with the self-check, which separates a plugin's own code from the splice, in
//! each language.

mod languages;

use crate::bench::figures::quantile_of_times;
use crate::bench::rewriter::peer::Peer;
use crate::bench::rewriter::{HARNESS_PROGRAM, build_harness, pack_classes};
use crate::workspace::{Workspace, say};
use crate::{jdks, plugins};
use anyhow::{Context, Result};
use std::process::Command;
use std::time::Duration;

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Options {
    /// Passes over all classes that are measured
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Loads of each plugin
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    loads: u32,
}

/// The release whose class files are used.
const RELEASE: u32 = 25;

/// The tasks, by their names in the harness.
const TASKS: [(&str, &str); 8] = [
    ("no class is selected", "plugin=coverage,unselected"),
    ("a plugin that asks for nothing", "plugin=nothing"),
    ("the same, known", "plugin=nothing,known"),
    ("trace", "plugin=trace"),
    ("trace, known", "plugin=trace,known"),
    ("coverage", "plugin=coverage"),
    ("coverage, known", "plugin=coverage,known"),
    ("coverage without a host", "coverage"),
];

/// The plugins that are loaded.
const LOADED: [(&str, &str); 3] = [
    ("a plugin that asks for nothing", "plugin=nothing"),
    ("trace", "plugin=trace"),
    ("coverage", "plugin=coverage"),
];

/// Measures and prints.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    plugins::run(workspace)?;
    build_harness(workspace)?;
    let jdk = jdks::full().into_iter().find(|jdk| jdk.feature == RELEASE);
    let jdk = jdk.with_context(|| {
        format!("expected a full JDK {RELEASE} (JAVA_HOME, PATH, /usr/lib/jvm), found none")
    })?;
    let folder = workspace.target("bench").join("plugins");
    std::fs::create_dir_all(&folder)?;
    let pack = folder.join("classes.pack");
    let (classes, bytes) = pack_classes(&jdk, None, &pack)?;
    let start = |task: &str| {
        let mut command = Command::new(workspace.product(HARNESS_PROGRAM));
        Peer::start(command.arg(&pack).arg(task))
    };
    println!(
        "\n{classes} classes, {:.1} MB, of JDK {}; one thread, CPU time of that thread",
        bytes as f64 / 1e6,
        jdk.version
    );
    say("bench plugins: classes");
    let mut peers = Vec::new();
    for (title, task) in TASKS {
        let mut peer = start(task)?;
        peer.pass(classes)?; // loads, compiles and warms up
        peers.push((title, peer, Vec::new()));
    }
    for _ in 0..options.rounds {
        for (_, peer, times) in &mut peers {
            times.push(peer.pass(classes)?.time);
        }
    }
    println!("\n{:<40}{:>10}", "", "us/class");
    for (title, _, times) in &peers {
        let each = milliseconds(times) * 1e3 / classes as f64;
        println!("{title:<40}{each:>10.2}");
    }
    say("bench plugins: loading");
    println!("\n{:<40}{:>10}", "engine and plugin loaded", "ms");
    for (title, task) in LOADED {
        let mut peer = start(task)?;
        peer.load()?; // compiles plugins that no cache holds yet
        let times = (0..options.loads).map(|_| peer.load());
        let times = times.collect::<Result<Vec<_>>>()?;
        println!("{title:<40}{:>10.2}", milliseconds(&times));
    }
    languages::run(workspace, &jdk, &folder, options.rounds)
}

/// Returns the median, in milliseconds.
fn milliseconds(times: &[Duration]) -> f64 {
    quantile_of_times(times, 50)
}
