//! The runs of one program on one JDK, and the results of each: output, files, executions and snapshots.

use e2e_tests::instrumented::Instrumented;
use e2e_tests::java::{Java, Run};
use e2e_tests::programs::{Program, Workload};
use e2e_tests::{jacoco, workspace};
use jacoco_files::Execution;
use probes::{Snapshot, SnapshotClass, merge};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The tool that observes a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Classhook's agent.
    Agent,
    /// JaCoCo's agent.
    Jacoco,
    /// Offline instrumentation.
    Static,
}

/// Probes of each class, by name and fingerprint.
pub type Hits = BTreeMap<(String, u64), Vec<bool>>;

/// The files that a run wrote, by their paths below its folder.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The program's results without a tool.
struct Expected {
    run: Run,
    files: Files,
}

/// The runs of one program on one JDK.
pub struct Measured<'a> {
    /// The program with the runtime of offline instrumented classes at the end of its class path. Some programs inspect
    /// the class path, so it is the same in every run.
    pub workload: Workload<'a>,
    /// The program's own class path.
    pub original: Workload<'a>,
    /// Its offline instrumented classes; `None` for a module of the JDK.
    pub instrumented: Option<&'a Instrumented>,
    /// The folder of all files.
    pub folder: &'a Path,
    /// The file of each run of JaCoCo's agent.
    pub jacoco: Vec<Execution>,
    /// The output of `classhook report --exec` for each run with the agent.
    pub agent: Vec<Execution>,
    /// The snapshots of each run with the agent.
    pub by_agent: Vec<Hits>,
    /// The snapshots of each run without any agent.
    pub by_itself: Vec<Hits>,
    /// The first run with the agent reported unchanged methods (H0411).
    left_alone: bool,
    expected: Option<Expected>,
}

impl<'a> Measured<'a> {
    /// Starts without a run.
    pub fn new(
        original: Workload<'a>,
        instrumented: Option<&'a Instrumented>,
        folder: &'a Path,
    ) -> Self {
        let mut class_path = original.class_path().to_vec();
        class_path.extend(instrumented.and_then(|made| made.class_path.last().cloned()));
        Self {
            workload: original.with_class_path(class_path),
            original,
            instrumented,
            folder,
            jacoco: Vec::new(),
            agent: Vec::new(),
            by_agent: Vec::new(),
            by_itself: Vec::new(),
            left_alone: false,
            expected: None,
        }
    }

    /// Runs the reference for all others, with full verification as under the agent.
    pub fn run_plain(&mut self) {
        let java = self.java();
        let (run, files) = self.finish(&java);
        self.expected = Some(Expected { run, files });
    }

    /// Adds a run of this kind; its output must be that without a tool.
    pub fn run(&mut self, kind: Tool) {
        match kind {
            Tool::Agent => self.run_agent(),
            Tool::Jacoco => self.run_jacoco(),
            Tool::Static => self.run_static(),
        }
    }

    fn run_agent(&mut self) {
        let round = self.agent.len();
        let output = self.snapshots(round);
        let options = format!(
            "output={},plugin=coverage,grant=probes;boot,select=!loader:boot",
            output.display()
        );
        let java = self.java().options(memory_layout(round));
        let java = java.agent(Some(&options));
        let (mut run, files) = self.finish(&java);
        let remarks = run.take_remarks();
        if round == 0 {
            self.left_alone = remarks.contains(&"H0411");
            let expected = self.expected();
            assert_eq!(
                run.stderr, expected.run.stderr,
                "another standard error\n{}",
                run.command
            );
            let names = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
            assert_eq!(
                names(&files),
                names(&expected.files),
                "other files\n{}",
                run.command
            );
            for (file, bytes) in &expected.files {
                assert!(
                    files[file] == *bytes,
                    "{} differs\n{}",
                    file.display(),
                    run.command
                );
            }
        }
        let exec = self.exec(round);
        let report = Java::program(workspace::classhook()).argument("report");
        let report = report.argument(&output).argument("--exec").argument(&exec);
        report.run().assert_success();
        self.agent.push(Execution::read(&exec));
        self.by_agent.push(hits(&output));
    }

    fn run_jacoco(&mut self) {
        let round = self.jacoco.len();
        let exec = self.folder.join(format!("jacoco-{round}.exec"));
        let dump = (round == 0).then(|| self.dump());
        let option = jacoco::agent_option(&exec, dump.as_deref());
        let java = self.java().options(memory_layout(round)).option(option);
        self.finish(&java);
        self.jacoco.push(Execution::read(&exec));
    }

    fn run_static(&mut self) {
        let instrumented = self.instrumented.expect("classes instrumented before");
        let output = self
            .folder
            .join(format!("by-itself-{}", self.by_itself.len()));
        let workload = self
            .workload
            .with_class_path(instrumented.class_path.clone());
        let java =
            java(&workload, self.folder).option(format!("-Dclasshook.output={}", output.display()));
        let (run, _) = self.finish(&java);
        assert!(!run.stderr.contains("classhook:"), "{}", run.report());
        self.by_itself.push(hits(&output));
    }

    /// Asserts that exactly the methods without space for probes are reported.
    pub fn assert_remarks(&self, program: &Program, place: &str) {
        assert_eq!(
            self.left_alone,
            !program.no_room.is_empty(),
            "{place}: methods without room for probes are reported, and no others"
        );
    }

    /// Returns the program's command. The folder is always the same, so that no path in the output differs. So are the
    /// options, since a program's work may depend on the times of garbage collections.
    fn java(&self) -> Java {
        java(&self.workload, self.folder)
    }

    fn finish(&self, java: &Java) -> (Run, Files) {
        let run = java.run();
        run.assert_success();
        if let Some(expected) = &self.expected {
            assert_eq!(
                run.stdout,
                expected.run.stdout,
                "another output\n{}",
                run.report()
            );
        }
        let place = self.folder.join("run");
        let files = files_in(&place);
        std::fs::remove_dir_all(place).expect("the test's own folder");
        (run, files)
    }

    fn expected(&self) -> &Expected {
        self.expected.as_ref().expect("the plain run comes first")
    }

    /// Returns the classes that JaCoCo received in its first run.
    pub fn dump(&self) -> PathBuf {
        self.folder.join("dump")
    }

    /// Returns the snapshots of a run with the agent.
    pub fn snapshots(&self, round: usize) -> PathBuf {
        self.folder.join(format!("snapshots-{round}"))
    }

    /// Returns these snapshots in JaCoCo's format.
    pub fn exec(&self, round: usize) -> PathBuf {
        self.folder.join(format!("classhook-{round}.exec"))
    }
}

/// Returns the command of a program, with full verification.
fn java(workload: &Workload<'_>, folder: &Path) -> Java {
    workload.java(folder, "run").option("-Xverify:all")
}

/// Every other run of a tool disables the archive of classes. Reflection lists methods in the order of addresses in the
/// JVM's memory. Results that depend on that order therefore differ between two runs of one tool, too.
fn memory_layout(round: usize) -> &'static [&'static str] {
    if round % 2 == 1 {
        &["-Xshare:off"]
    } else {
        &[]
    }
}

/// Returns the hit probes of each class, over all snapshots of a folder.
pub fn hits(folder: &Path) -> Hits {
    let entries = std::fs::read_dir(folder).expect("snapshots were written");
    let snapshots = entries.map(|entry| {
        let snapshot = Snapshot::read(&entry.expect("a readable entry").path());
        let snapshot = snapshot.expect("a whole snapshot");
        assert!(snapshot.complete, "ended in good order");
        snapshot
    });
    let merged = merge(snapshots);
    assert!(merged.conflicts.is_empty(), "{:?}", merged.conflicts);
    let class = |class: SnapshotClass| ((class.name, class.fingerprint), class.probes);
    merged.classes.into_iter().map(class).collect()
}

fn files_in(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("the program's folder") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("a file below the folder");
                let bytes = std::fs::read(&path).expect("a readable file");
                found.insert(name.to_path_buf(), bytes);
            }
        }
    }
    found
}
