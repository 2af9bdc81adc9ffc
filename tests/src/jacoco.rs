//! JaCoCo itself: the reference that coverage is compared with.

use crate::artifacts;
use crate::java::Java;
use crate::jdks::{self, Jdk};
use jacoco_files::{Execution, XmlReport};
use std::path::Path;

/// The option that loads JaCoCo's agent, with its defaults, and writes to this file.
///
/// Every class file that it sees goes to `dump`, if given, as `name.<id>.class`.
pub fn agent_option(destination: &Path, dump: Option<&Path>) -> String {
    let agent = artifacts::path("jacoco-agent");
    let dump = dump.map_or_else(String::new, |folder| {
        format!(",classdumpdir={}", folder.display())
    });
    format!(
        "-javaagent:{}=destfile={}{dump}",
        agent.display(),
        destination.display()
    )
}

/// Runs the command line's `report`, and reads the XML it made.
///
/// # Panics
/// If it refuses the files.
pub fn report(execution: &Path, class_files: &Path, xml: &Path) -> XmlReport {
    let run = command_line(&jdks::newest())
        .argument("report")
        .argument(execution);
    let run = run
        .argument("--classfiles")
        .argument(class_files)
        .argument("--xml")
        .argument(xml)
        .run();
    run.assert_success();
    let mismatched = "do not match";
    assert!(
        !run.stdout.contains(mismatched),
        "JaCoCo finds other classes under the same names\n{}",
        run.report()
    );
    XmlReport::read(xml)
}

/// The report of an execution held in memory.
pub fn report_of(
    execution: &Execution,
    class_files: &Path,
    folder: &Path,
    name: &str,
) -> XmlReport {
    let file = folder.join(format!("{name}.exec"));
    execution.write(&file);
    report(&file, class_files, &folder.join(format!("{name}.xml")))
}

fn command_line(jdk: &Jdk) -> Java {
    Java::new(jdk)
        .option("-Xmx2g")
        .option("-XX:+UseSerialGC")
        .option("-jar")
        .option(artifacts::path("jacoco-cli"))
}
