//! Whole runs, from the start of a JVM to its end, in turn without an agent, with JaCoCo and with Classhook: javac over
//! hundreds of sources, and the tests of a library with their report.

use crate::bench::figures::Figure;
use crate::bench::three_ways::{Column, Runs, Subject, VARIANTS, Variant};
use crate::bench::usage::{self, Usage};
use crate::bench::{folder, startup};
use crate::jdks::Jdk;
use crate::setup;
use crate::workspace::Workspace;
use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program, and the library that is reported on, if a report is made.
pub struct Program {
    pub name: &'static str,
    title: &'static str,
    arguments: Vec<String>,
    library: Option<PathBuf>,
}

/// Test classes that read a file in the folder of their sources.
const WITH_FILES: [&str; 2] = [".*TypeHandlerTest", ".*PatternOptionBuilderTest"];

/// Returns the programs. `folder` receives their files.
///
/// # Errors
/// If a file cannot be fetched.
pub fn programs(workspace: &Workspace, folder: &Path) -> Result<[Program; 2]> {
    Ok([
        compiler(workspace, &folder.join("sources"))?,
        tests(workspace)?,
    ])
}

fn compiler(workspace: &Workspace, folder: &Path) -> Result<Program> {
    let archive = setup::artifact(workspace, "commons-collections-sources")?;
    zip::ZipArchive::new(File::open(archive)?)?.extract(folder)?;
    let mut sources = Vec::new();
    java_files(&folder.join("org"), &mut sources)?;
    sources.sort();
    ensure!(sources.len() > 300, "only {} sources", sources.len());
    let mut arguments: Vec<String> = startup::JAVAC.map(str::to_owned).into();
    arguments.push(folder.with_file_name("compiled").display().to_string());
    // Newer releases add methods to List and Map that conflict with the library's own.
    arguments.extend(["-nowarn", "--release", "17"].map(str::to_owned));
    arguments.extend(sources);
    Ok(Program {
        name: "javac-from-start",
        title: "javac over the 300 and more sources of commons-collections4",
        arguments,
        library: None,
    })
}

fn java_files(folder: &Path, found: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            java_files(&path, found)?;
        } else if path.extension().is_some_and(|name| name == "java") {
            found.push(path.display().to_string());
        }
    }
    Ok(())
}

fn tests(workspace: &Workspace) -> Result<Program> {
    let artifact = |name| setup::artifact(workspace, name);
    let library = artifact("commons-cli")?;
    let tests = artifact("commons-cli-tests")?;
    let class_path = std::env::join_paths([&artifact("junit")?, &library, &tests])?;
    let words = [
        "-cp",
        &class_path.to_string_lossy(),
        "org.junit.platform.console.ConsoleLauncher",
        "execute",
        "--details=none",
        "--disable-banner",
        "--scan-classpath",
        &tests.to_string_lossy(),
    ];
    let mut arguments: Vec<String> = words.map(str::to_owned).into();
    for pattern in WITH_FILES {
        arguments.push(format!("--exclude-classname={pattern}"));
    }
    Ok(Program {
        name: "commons-cli-tests",
        title: "the tests of commons-cli",
        arguments,
        library: Some(library),
    })
}

/// The tools on one JDK.
pub struct Bench<'a> {
    pub workspace: &'a Workspace,
    pub jdk: &'a Jdk,
    pub folder: &'a Path,
}

/// The resources of a run, and of its report.
struct RunUsage {
    run: Usage,
    report: Option<Usage>,
}

const COLUMNS: [Column<RunUsage>; 4] = [
    ("CPU time", "s", |used| Some(used.run.cpu.as_secs_f64())),
    ("time", "s", |used| Some(used.run.wall.as_secs_f64())),
    ("most memory", "MB", |used| Some(used.run.peak as f64 / 1e6)),
    ("CPU time of the report", "s", |used| {
        used.report.map(|used| used.cpu.as_secs_f64())
    }),
];

impl Bench<'_> {
    /// Runs a program `rounds` times in each variant, and prints the cost as ratios to no agent.
    ///
    /// # Errors
    /// If a run fails, or records nothing.
    pub fn measure(&self, program: &Program, rounds: u32) -> Result<Vec<Figure>> {
        let mut used: Runs<RunUsage> = Default::default();
        self.once(program, Variant::None)?; // brings its files into the page cache
        for _ in 0..rounds {
            for ((variant, title), used) in VARIANTS.iter().zip(&mut used) {
                let found = self.once(program, *variant);
                used.push(found.with_context(|| format!("{}, {title}", program.title))?);
            }
        }
        let subject = Subject {
            bench: "coverage",
            title: program.title,
            jdk: self.jdk.feature,
        };
        Ok(subject.compare(&COLUMNS, &used))
    }

    fn once(&self, program: &Program, variant: Variant) -> Result<RunUsage> {
        let out = folder::another(self.folder)?;
        let recorded = out.join("recorded");
        let mut java = Command::new(self.jdk.tool("java"));
        java.env_remove("JAVA_TOOL_OPTIONS");
        match variant {
            Variant::None => {}
            Variant::Jacoco => {
                let agent = setup::artifact(self.workspace, "jacoco-agent")?;
                let (agent, recorded) = (agent.display(), recorded.display());
                java.arg(format!("-javaagent:{agent}=destfile={recorded}"));
            }
            Variant::Classhook => {
                let agent = self.workspace.product("libclasshook.so");
                let (agent, recorded) = (agent.display(), recorded.display());
                java.arg(format!("-agentpath:{agent}=output={recorded}"));
            }
        }
        let run = usage::of(java.args(&program.arguments))?;
        let recorded_any = variant == Variant::None || recorded.exists();
        ensure!(recorded_any, "nothing was recorded");
        let library = program.library.as_deref();
        let report = library.and_then(|library| self.report(variant, &recorded, library));
        let report = report.transpose().context("its report")?;
        Ok(RunUsage { run, report })
    }

    /// Makes the HTML, XML and CSV of a recording. `None` without an agent.
    fn report(&self, variant: Variant, recorded: &Path, library: &Path) -> Option<Result<Usage>> {
        let (mut command, classes) = match variant {
            Variant::None => return None,
            Variant::Jacoco => {
                let mut java = Command::new(self.jdk.tool("java"));
                java.env_remove("JAVA_TOOL_OPTIONS").arg("-jar");
                match setup::artifact(self.workspace, "jacoco-cli") {
                    Ok(jar) => java.arg(jar),
                    Err(error) => return Some(Err(error)),
                };
                (java, "--classfiles")
            }
            Variant::Classhook => {
                let command = self.workspace.product("classhook");
                (Command::new(command), "--classes")
            }
        };
        let file = |name| recorded.with_file_name(name);
        command
            .arg("report")
            .arg(recorded)
            .arg(classes)
            .arg(library);
        command.arg("--html").arg(file("html"));
        command.arg("--xml").arg(file("report.xml"));
        command.arg("--csv").arg(file("report.csv"));
        Some(usage::of(&mut command))
    }
}
