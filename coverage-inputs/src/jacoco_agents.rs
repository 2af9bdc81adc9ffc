//! JaCoCo's agent beside ours in a JVM, and the file that it wrote.
//!
//! JaCoCo's agent changes each class before a retransforming agent sees it, so the class files that
//! ours recorded differ from the compiler's. Both agents number probes alike, so JaCoCo's own file
//! has the hits.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use probes::Meta;

use super::command_line::words;

/// The default file of JaCoCo's agent.
const DEFAULT: &str = "jacoco.exec";

/// The files of JaCoCo's agents in the JVMs of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct JacocoAgents {
    /// The JVMs with such an agent.
    pub jvms: usize,
    /// The files, each with the start of the first JVM that writes it: milliseconds since 1970.
    pub files: BTreeMap<PathBuf, u64>,
}

impl JacocoAgents {
    /// Finds JaCoCo's agent in the command lines and environment variables that snapshots hold.
    #[must_use]
    pub fn of(snapshots: &[PathBuf]) -> Self {
        let (mut agents, mut seen) = (Self::default(), BTreeSet::new());
        for path in snapshots {
            let Ok(meta) = Meta::of_file(path) else {
                continue;
            };
            let of_variables = || options_of(&meta.variables);
            let Some(options) = options_of(&meta.command).or_else(of_variables) else {
                continue;
            };
            agents.jvms += usize::from(seen.insert((meta.pid, meta.start_ms)));
            if let Some(file) = file_of(&options, Path::new(&meta.folder)) {
                let start = agents.files.entry(file).or_insert(meta.start_ms);
                *start = meta.start_ms.min(*start);
            }
        }
        agents
    }
}

/// Returns the options of JaCoCo's agent among these words, if present.
fn options_of(command: &str) -> Option<String> {
    words(command).into_iter().find_map(|word| {
        let agent = word.strip_prefix("-javaagent:")?;
        let (jar, options) = agent.split_once('=').unwrap_or((agent, ""));
        let name = Path::new(jar).file_name()?.to_str()?;
        name.contains("jacoco").then(|| options.to_owned())
    })
}

/// Returns the file that an agent with these options writes in a JVM in `folder`, or nothing for other
/// outputs.
fn file_of(options: &str, folder: &Path) -> Option<PathBuf> {
    let option = |key: &str| {
        let mut options = options
            .split(',')
            .filter_map(|option| option.split_once('='));
        options.find_map(|(name, value)| (name == key).then_some(value))
    };
    match option("output") {
        None | Some("file") => Some(folder.join(option("destfile").unwrap_or(DEFAULT))),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_of_jacocos_agent_is_found_in_the_command_line() {
        let folder = Path::new("/w/core");
        for (command, file) in [
            (
                "java -javaagent:/m/org.jacoco.agent-0.8.15-runtime.jar=destfile=/w/t/jacoco.exec,append=true -jar x.jar",
                Some("/w/t/jacoco.exec"),
            ),
            (
                "java -ea -javaagent:build/tmp/jacocoagent.jar=destfile=build/jacoco/test.exec X",
                Some("/w/core/build/jacoco/test.exec"),
            ),
            (
                "java \"-javaagent:/a b/jacocoagent.jar\" X",
                Some("/w/core/jacoco.exec"),
            ),
            (
                "java -javaagent:/jacocoagent.jar=output=tcpserver,port=1 X",
                None,
            ),
        ] {
            let options = options_of(command).unwrap();
            assert_eq!(
                file_of(&options, folder),
                file.map(PathBuf::from),
                "{command}"
            );
        }
        assert_eq!(
            options_of("java -javaagent:/mockito.jar -cp jacoco.jar X"),
            None
        );
    }
}
