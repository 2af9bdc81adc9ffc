//! Comparison of a program's recordings: with JaCoCo's agent, in reports, and with offline instrumented classes.

use super::ROUNDS;
use super::runs::{Hits, Measured, Tool, hits};
use e2e_tests::java::Java;
use e2e_tests::programs::{Program, classes};
use e2e_tests::{jacoco, workspace};
use jacoco_files::XmlReport;
use jacoco_files::{ClassKey, Execution, Unstable};

/// Programs of which only the output can be compared when they are instrumented offline, with the reason.
/// docs/static.md names them too.
const OUTPUT_ONLY: [(&str, &str); 2] = [("jruby", WEAK), ("scala", WEAK)];
const WEAK: &str = "its tables of weak references depend on the garbage collector";

/// One program on one JDK.
pub struct Comparison<'a> {
    pub program: &'a Program,
    pub measured: Measured<'a>,
    pub place: String,
}

impl Comparison<'_> {
    /// Compares the classes and probes that JaCoCo's agent and ours record.
    pub fn agents(&mut self) {
        let (probes, hit) = self.measured.jacoco[0].totals();
        let allowed = self.allowed(hit);
        while self.differences().len() > allowed && self.measured.jacoco.len() < ROUNDS {
            // Only the runs of one tool show the probes that it does not repeat.
            let (ours, theirs) = (self.measured.agent.len(), self.measured.jacoco.len());
            let kind = if ours > theirs {
                Tool::Jacoco
            } else {
                Tool::Agent
            };
            self.measured.run(kind);
        }
        let left_out = self.unstable().len();
        println!(
            "{}: {} classes, {probes} probes, {hit} hit, {left_out} left out as unstable after {} and {} runs",
            self.place,
            self.measured.jacoco[0].0.len(),
            self.measured.agent.len(),
            self.measured.jacoco.len()
        );
        assert!(hit >= 50, "the program does nothing worth comparing");
        assert!(
            left_out * 100 <= hit,
            "too much of the work is not repeatable: {left_out} of {hit} probes"
        );
        let differences = self.differences();
        let shown: Vec<String> = differences
            .iter()
            .take(40)
            .map(|difference| self.show(difference))
            .collect();
        assert!(
            differences.len() <= allowed,
            "{}: {} differences where {allowed} are allowed; the first:\n{}",
            self.place,
            differences.len(),
            shown.join("\n")
        );
    }

    /// Compares our XML with the report that JaCoCo's command line makes of our `.exec`, which must have every class
    /// under its id.
    ///
    /// It makes no report of JaCoCo's own data, which are equal except for the unstable probes.
    pub fn reports(&self) {
        if !self.program.no_room.is_empty() {
            return;
        }
        let measured = &self.measured;
        let class_files = match self.program.large {
            true => measured.folder.join("ran"),
            false => measured.original.class_files(measured.folder),
        };
        classes::add_dumped(&measured.dump(), &class_files);
        let theirs = measured.folder.join("theirs.xml");
        let theirs = jacoco::report(&measured.exec(0), &class_files, &theirs);
        let xml = measured.folder.join("own.xml");
        let report = Java::program(workspace::classhook()).argument("report");
        let report = report
            .argument(measured.snapshots(0))
            .argument("--classes")
            .argument(&class_files)
            .argument("--xml")
            .argument(&xml);
        report.run().assert_success();
        assert_equal(&theirs, &XmlReport::read(&xml));
    }

    /// Compares the agent's probes with those that the classes record without it.
    pub fn static_mode(&mut self) {
        let Some(instrumented) = self.measured.instrumented else {
            return; // a module of the JDK, which no jar holds
        };
        let originals = hits(&instrumented.baseline);
        for found in &self.measured.by_itself {
            assert!(found.len() > 3, "{}: nothing was recorded", self.place);
            let foreign = found.keys().find(|key| !originals.contains_key(key));
            assert_eq!(
                foreign, None,
                "{}: recorded and not instrumented",
                self.place
            );
        }
        if let Some((_, why)) = OUTPUT_ONLY
            .iter()
            .find(|(name, _)| *name == self.program.name)
        {
            println!("{}: probes are not compared: {why}", self.place);
            return;
        }
        let allowed = self.allowed(originals.values().map(Vec::len).sum());
        while self.differing(&originals).len() > allowed && self.measured.by_itself.len() < ROUNDS {
            let (ours, own) = (self.measured.by_agent.len(), self.measured.by_itself.len());
            let kind = if ours > own {
                Tool::Static
            } else {
                Tool::Agent
            };
            self.measured.run(kind);
        }
        let differing = self.differing(&originals);
        assert!(
            differing.len() <= allowed,
            "{}: {} probes differ: {:?}",
            self.place,
            differing.len(),
            &differing[..differing.len().min(10)]
        );
    }

    /// Returns the number of probes that may differ: a few if the program reflects on its own members, since JaCoCo
    /// adds some.
    fn allowed(&self, probes: usize) -> usize {
        if self.program.reflective {
            probes / 200
        } else {
            0
        }
    }

    /// Returns probes on which no run with the agent and no run without it agree.
    fn differing<'o>(&self, originals: &'o Hits) -> Vec<(&'o str, usize)> {
        let (by_agent, by_itself) = (&self.measured.by_agent, &self.measured.by_itself);
        let mut differing = Vec::new();
        for (key, none) in originals {
            if self.measured.workload.member_order().contains(&key.0) {
                continue;
            }
            for probe in 0..none.len() {
                let hit = |hits: &Hits| hits.get(key).is_some_and(|probes| probes[probe]);
                let first = hit(&by_agent[0]);
                let stable = by_agent.iter().all(|hits| hit(hits) == first);
                if stable && by_itself.iter().all(|hits| hit(hits) != first) {
                    differing.push((key.0.as_str(), probe));
                }
            }
        }
        differing
    }

    /// Returns the probes that an agent's runs do not repeat, and those that depend on the order of members.
    fn unstable(&self) -> Unstable {
        let measured = &self.measured;
        let runs = [&measured.jacoco, &measured.agent];
        let mut unstable: Unstable = runs
            .iter()
            .flat_map(|runs| runs.iter().flat_map(|run| runs[0].differences(run)))
            .collect();
        let between_tools = measured.jacoco[0].differences(&measured.agent[0]);
        unstable.extend(between_tools.into_iter().filter(|(key, probe)| {
            probe.is_some() && measured.workload.member_order().contains(&key.name)
        }));
        unstable
    }

    fn differences(&self) -> Unstable {
        let unstable = self.unstable();
        let ours = self.measured.agent[0].without(&unstable);
        let theirs = self.measured.jacoco[0].without(&unstable);
        let mut differences = theirs.differences(&ours);
        differences.retain(|(key, _)| !self.measured.workload.no_room().contains(&key.name));
        differences
    }

    fn show(&self, (key, probe): &(ClassKey, Option<usize>)) -> String {
        let in_tool = |runs: &[Execution]| match (runs[0].0.get(key), probe) {
            (None, _) => "not there".to_owned(),
            (Some(probes), None) => format!("{} probes", probes.len()),
            (Some(probes), Some(probe)) => {
                if probes[*probe] { "hit" } else { "not hit" }.to_owned()
            }
        };
        let probe = probe.map_or_else(String::new, |probe| format!(" probe {probe}"));
        let (theirs, ours) = (
            in_tool(&self.measured.jacoco),
            in_tool(&self.measured.agent),
        );
        format!(
            "  {} {:016x}{probe}: JaCoCo {theirs}, Classhook {ours}",
            key.name, key.id
        )
    }
}

/// Asserts that JaCoCo's report and ours, both of our data, are equal.
fn assert_equal(left: &XmlReport, right: &XmlReport) {
    let differences = left.differences(right);
    let shown = differences
        .iter()
        .take(40)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        differences.is_empty(),
        "JaCoCo's report and ours, both of our data, differ in {} of {} elements:\n{shown}",
        differences.len(),
        left.count()
    );
}
