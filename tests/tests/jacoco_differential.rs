//! JaCoCo's agent and Classhook measure the same work of real programs: class ids, probes and reports must agree.
//!
//! Both see what JaCoCo sees by default: every class with a source location but those of the boot loader.
//! A probe that one tool does not repeat from run to run says nothing; it is left out and counted.

use e2e_tests::exec::{Execution, Unstable};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::Jdk;
use e2e_tests::programs::{self, Program, Workload, classes};
use e2e_tests::xml_report::XmlReport;
use e2e_tests::{jacoco, scratch, workspace};
use std::path::{Path, PathBuf};

/// Runs of each tool at most: more than two only while their results differ.
const ROUNDS: usize = 5;

/// What was measured of one program on one JDK, below one folder.
struct Measured<'a> {
    workload: Workload<'a>,
    folder: &'a Path,
    jacoco: Vec<Execution>,
    classhook: Vec<Execution>,
    expected: Run,
}

fn check(name: &str) {
    let program = programs::named(name);
    for jdk in program.jdks() {
        compare(&program, &jdk);
    }
}

fn compare(program: &Program, jdk: &Jdk) {
    let scratch = scratch();
    let workload = program.prepare(jdk, scratch.path());
    let expected = workload.java(scratch.path(), "plain").run();
    expected.assert_success();
    let mut measured = Measured {
        workload,
        folder: scratch.path(),
        jacoco: Vec::new(),
        classhook: Vec::new(),
        expected,
    };
    measured.run_jacoco();
    measured.run_jacoco();
    measured.run_classhook();
    while !measured.differences().is_empty() && measured.jacoco.len() < ROUNDS {
        measured.run_jacoco();
        measured.run_classhook();
    }
    measured.assert_same_probes(program, jdk);
    if !program.reflective && program.no_room.is_empty() {
        measured.assert_same_reports(program);
    }
}

/// Every other run of a tool goes without the archive of classes. Reflection lists methods in the order of addresses
/// in the JVM's memory, so what depends on that order then differs between two runs of one tool, too.
fn memory_layout(run: usize) -> &'static [&'static str] {
    if run % 2 == 1 { &["-Xshare:off"] } else { &[] }
}

impl Measured<'_> {
    fn run_jacoco(&mut self) {
        let run = self.jacoco.len();
        let exec = self.folder.join(format!("jacoco-{run}.exec"));
        let dump = (run == 0).then(|| self.dump());
        let option = jacoco::agent_option(&exec, dump.as_deref());
        let java = self.workload.java(self.folder, &format!("jacoco-{run}"));
        self.finish(java.options(memory_layout(run)).option(option));
        self.jacoco.push(Execution::read(&exec));
    }

    fn run_classhook(&mut self) {
        let run = self.classhook.len();
        let java = self.workload.java(self.folder, &format!("classhook-{run}"));
        let output = self.snapshots(run);
        let options = format!(
            "output={},plugin=coverage,grant=probes;boot,select=!loader:boot",
            output.display()
        );
        self.finish(java.options(memory_layout(run)).agent(Some(&options)));
        let exec = self.folder.join(format!("classhook-{run}.exec"));
        let report = Java::program(workspace::classhook())
            .argument("report")
            .argument(&output);
        report
            .argument("--exec")
            .argument(&exec)
            .run()
            .assert_success();
        self.classhook.push(Execution::read(&exec));
    }

    fn finish(&self, java: Java) {
        let run = java.run();
        run.assert_success();
        assert_eq!(
            run.stdout,
            self.expected.stdout,
            "another output under a tool\n{}",
            run.report()
        );
    }

    fn dump(&self) -> PathBuf {
        self.folder.join("dump")
    }

    fn snapshots(&self, run: usize) -> PathBuf {
        self.folder.join(format!("snapshots-{run}"))
    }

    /// What the runs of a tool do not repeat, and what depends on the order of members.
    fn unstable(&self) -> Unstable {
        let runs = [&self.jacoco, &self.classhook];
        let mut unstable: Unstable = runs
            .iter()
            .flat_map(|runs| runs.iter().flat_map(|run| runs[0].differences(run)))
            .collect();
        let between_tools = self.jacoco[0].differences(&self.classhook[0]);
        unstable.extend(between_tools.into_iter().filter(|(key, probe)| {
            probe.is_some() && self.workload.member_order().contains(&key.name)
        }));
        unstable
    }

    fn differences(&self) -> Unstable {
        let unstable = self.unstable();
        let mut differences = self.jacoco[0]
            .without(&unstable)
            .differences(&self.classhook[0].without(&unstable));
        differences.retain(|(key, _)| !self.workload.no_room().contains(&key.name));
        differences
    }

    fn assert_same_probes(&self, program: &Program, jdk: &Jdk) {
        let unstable = self.unstable();
        let (probes, hit) = self.jacoco[0].totals();
        let classes = self.jacoco[0].0.len();
        let left_out = unstable.len();
        println!(
            "{} on {}: {classes} classes, {probes} probes, {hit} hit, {left_out} left out as unstable",
            program.name, jdk.feature
        );
        assert!(hit >= 50, "the program does nothing worth comparing");
        assert!(
            left_out * 100 <= hit,
            "too much of the work is not repeatable: {left_out} of {hit} probes"
        );
        let differences = self.differences();
        if program.reflective {
            println!("  {} differ by JaCoCo's members", differences.len());
            assert!(
                differences.len() * 200 <= hit,
                "more than what a few added members can explain: {} of {hit} probes",
                differences.len()
            );
            return;
        }
        let shown: Vec<String> = differences
            .iter()
            .take(40)
            .map(|difference| self.show(difference))
            .collect();
        assert!(
            differences.is_empty(),
            "{} on {}: {} differences; the first:\n{}",
            program.name,
            jdk.feature,
            differences.len(),
            shown.join("\n")
        );
    }

    fn show(&self, (key, probe): &(e2e_tests::exec::ClassKey, Option<usize>)) -> String {
        let in_tool = |runs: &[Execution]| match (runs[0].0.get(key), probe) {
            (None, _) => "not there".to_owned(),
            (Some(probes), None) => format!("{} probes", probes.len()),
            (Some(probes), Some(probe)) => {
                if probes[*probe] { "hit" } else { "not hit" }.to_owned()
            }
        };
        let probe = probe.map_or_else(String::new, |probe| format!(" probe {probe}"));
        let (theirs, ours) = (in_tool(&self.jacoco), in_tool(&self.classhook));
        format!(
            "  {} {:016x}{probe}: JaCoCo {theirs}, Classhook {ours}",
            key.name, key.id
        )
    }

    /// JaCoCo's command line makes the same of both; for Java our own XML is what JaCoCo makes of our data.
    fn assert_same_reports(&self, program: &Program) {
        let class_files = if program.java {
            self.workload.class_files(self.folder)
        } else {
            self.folder.join("class-files")
        };
        classes::add_dumped(&self.dump(), &class_files);
        let unstable = self.unstable();
        let theirs = self.jacoco[0].without(&unstable);
        let ours = self.classhook[0].without(&unstable);
        let theirs = jacoco::report_of(&theirs, &class_files, self.folder, "theirs");
        let ours = jacoco::report_of(&ours, &class_files, self.folder, "ours");
        assert_equal(
            &theirs,
            &ours,
            "JaCoCo's reports of JaCoCo's and of our data",
        );
        if program.java {
            let theirs =
                jacoco::report_of(&self.classhook[0], &class_files, self.folder, "of-ours");
            let xml = self.folder.join("own.xml");
            let report = Java::program(workspace::classhook())
                .argument("report")
                .argument(self.snapshots(0));
            let report = report
                .argument("--classes")
                .argument(&class_files)
                .argument("--xml")
                .argument(&xml);
            report.run().assert_success();
            assert_equal(
                &theirs,
                &XmlReport::read(&xml),
                "JaCoCo's report and ours, both of our data",
            );
        }
    }
}

fn assert_equal(left: &XmlReport, right: &XmlReport, what: &str) {
    let differences = left.differences(right);
    let shown = differences
        .iter()
        .take(40)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        differences.is_empty(),
        "{what} differ in {} of {} values:\n{shown}",
        differences.len(),
        left.0.len()
    );
}

e2e_tests::for_every_program!(check);
