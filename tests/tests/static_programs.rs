//! Programs instrumented before they run do the same as with the agent, and record the same.

use e2e_tests::instrumented::{self, Instrumented};
use e2e_tests::jdks::Jdk;
use e2e_tests::programs::{self, Program, Workload};
use e2e_tests::scratch;
use probes::{Snapshot, SnapshotClass, merge};
use std::collections::BTreeMap;
use std::path::Path;

/// Programs that look at the time, or at what was collected, do not repeat every probe: what differs is run again.
const ROUNDS: usize = 4;

/// Programs of which only the output can be compared, and why; docs/static.md names them too.
const OUTPUT_ONLY: [(&str, &str); 3] = [
    (
        "jython",
        "its shutdown hooks run beside the one that writes the last record",
    ),
    ("jruby", WEAK),
    ("scala", WEAK),
];
const WEAK: &str = "its tables of weak references depend on the garbage collector";

/// Instruments a program for each of its JDKs, and compares class by class what was hit.
fn check(name: &str) {
    let program = programs::named(name);
    for jdk in program.jdks() {
        compare(&program, &jdk);
    }
}

/// Probes of each class, by name and fingerprint.
type Hits = BTreeMap<(String, u64), Vec<bool>>;

/// A program and what was recorded in each of its runs.
struct Comparison<'p> {
    workload: Workload<'p>,
    instrumented: Instrumented,
    folder: &'p Path,
    /// All classes with probes, and no hits.
    originals: Hits,
    by_agent: Vec<Hits>,
    by_itself: Vec<Hits>,
}

fn compare(program: &Program, jdk: &Jdk) {
    let scratch = scratch();
    let folder = scratch.path();
    let workload = program.prepare(jdk, folder);
    if workload.class_path().is_empty() {
        return; // a module of the JDK, which no jar holds
    }
    let instrumented = instrumented::class_path(workload.class_path(), &folder.join("static"));
    let mut comparison = Comparison {
        originals: hits(&instrumented.baseline),
        workload,
        instrumented,
        folder,
        by_agent: Vec::new(),
        by_itself: Vec::new(),
    };
    let place = format!("{} on {}", program.name, jdk.feature);
    let mut differing = Vec::new();
    for round in 0..ROUNDS {
        comparison.run(round, &place);
        if let Some((_, why)) = OUTPUT_ONLY.iter().find(|(name, _)| *name == program.name) {
            println!("{place}: probes are not compared: {why}");
            return;
        }
        differing = comparison.differing();
        if differing.is_empty() {
            break;
        }
    }
    let all: usize = comparison.originals.values().map(Vec::len).sum();
    let allowed = if program.reflective { all / 200 } else { 0 };
    assert!(
        differing.len() <= allowed,
        "{place}: {} probes differ: {:?}",
        differing.len(),
        &differing[..differing.len().min(10)]
    );
}

impl Comparison<'_> {
    /// Runs the program once in each way.
    fn run(&mut self, round: usize, place: &str) {
        let by_agent = self.folder.join(format!("by-agent-{round}"));
        let by_itself = self.folder.join(format!("by-itself-{round}"));
        // Some programs look at their class path: it is alike in both.
        let mut class_path = self.workload.class_path().to_vec();
        class_path.extend(self.instrumented.class_path.last().cloned());
        let workload = self.workload.with_class_path(class_path);
        let java = workload.java(self.folder, "run").option("-Xverify:all");
        let expected = java.coverage(&by_agent).run();
        std::fs::remove_dir_all(self.folder.join("run")).expect("the test's own folder");
        let found = instrumented::run(&self.workload, &self.instrumented, self.folder, &by_itself);
        std::fs::remove_dir_all(self.folder.join("run")).expect("the test's own folder");
        found.assert_success();
        assert_eq!(found.stdout, expected.stdout, "{place}: another output");
        assert!(
            !found.stderr.contains("classhook:"),
            "{place}: {}",
            found.stderr
        );
        let found = hits(&by_itself);
        assert!(found.len() > 3, "{place}: something was recorded");
        let foreign = found.keys().find(|key| !self.originals.contains_key(key));
        assert_eq!(foreign, None, "{place}: what is recorded was instrumented");
        self.by_agent.push(hits(&by_agent));
        self.by_itself.push(found);
    }

    /// Probes that no run with the agent and no run without it agree on.
    fn differing(&self) -> Vec<(&str, usize)> {
        let mut differing = Vec::new();
        for (key, none) in &self.originals {
            if self.workload.member_order().contains(&key.0) {
                continue;
            }
            for probe in 0..none.len() {
                let hit = |hits: &Hits| hits.get(key).is_some_and(|probes| probes[probe]);
                let first = hit(&self.by_agent[0]);
                let stable = self.by_agent.iter().all(|hits| hit(hits) == first);
                if stable && self.by_itself.iter().all(|hits| hit(hits) != first) {
                    differing.push((key.0.as_str(), probe));
                }
            }
        }
        differing
    }
}

/// Which probes of which class were hit, by all snapshots of a folder.
fn hits(folder: &Path) -> Hits {
    let snapshots = std::fs::read_dir(folder)
        .expect("snapshots were written")
        .map(|entry| {
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

e2e_tests::for_every_program!(check);
