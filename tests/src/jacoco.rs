//! JaCoCo itself, the reference for coverage.

use crate::{artifacts, jdks, tools};
use jacoco_files::{Execution, XmlReport};
use std::path::Path;

/// Returns the option that loads JaCoCo's agent, with its defaults, and writes to this file.
///
/// Every class file that the agent receives goes to `dump`, if given, as `name.<id>.class`.
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

/// Runs `report` of the command line, and reads its XML.
///
/// # Panics
/// If the command refuses the files.
pub fn report(execution: &Path, class_files: &Path, xml: &Path) -> XmlReport {
    let command_line = artifacts::path("jacoco-cli");
    let command_line = command_line.to_str().expect("a path of text");
    let mut words = vec!["report".as_ref(), execution.as_os_str()];
    words.extend(["--classfiles".as_ref(), class_files.as_os_str()]);
    words.extend(["--xml".as_ref(), xml.as_os_str()]);
    let ended = tools::run(&jdks::newest(), command_line, &words);
    assert_eq!(ended.code, 0, "{words:?}:\n{}", ended.text);
    let mismatched = "do not match";
    assert!(
        !ended.text.contains(mismatched),
        "JaCoCo finds other classes under the same names\n{}",
        ended.text
    );
    XmlReport::read(xml)
}

/// Returns the report of an execution held in memory.
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
