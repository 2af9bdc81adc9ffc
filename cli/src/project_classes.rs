//! A project's own classes, found by `classhook coverage -- mvn test` and stored beside the
//! snapshots, so that later reports of the folder cover the same classes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use errors::{Error, codes};
use local_files::absolute_path::absolute;
use local_files::atomic;
use serde::{Deserialize, Serialize};
use standard_streams::show::{path, say};

use crate::args::{Recorded, ReportInputs};

/// The file's name in the output folder.
const FILE: &str = "classhook-project.json";
/// Version of the file format.
const VERSION: u32 = 1;

/// Content of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Project {
    version: u32,
    /// The build tool's name.
    tool: String,
    /// Folders and jars, absolute.
    classes: Vec<String>,
    /// Folders, absolute.
    sources: Vec<PathBuf>,
}

/// Stores the classes and sources of a build. Without classes it deletes those of an earlier build.
///
/// # Errors
/// If the file cannot be written (`H0620`).
pub fn keep(output: &Path, tool: &str, inputs: &ReportInputs) -> Result<(), Error> {
    let file = output.join(FILE);
    if inputs.classes.is_empty() {
        return match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::unwritable(&file, &error))
            }
            _ => Ok(()),
        };
    }
    let classes = inputs.classes.iter();
    let classes = classes.map(|place| Ok(absolute(Path::new(place))?.display().to_string()));
    let sources = inputs.sources.iter().map(|folder| absolute(folder));
    let project = Project {
        version: VERSION,
        tool: tool.to_owned(),
        classes: classes.collect::<Result<_, Error>>()?,
        sources: sources.collect::<Result<_, _>>()?,
    };
    atomic::file(&file, &|out| {
        serde_json::to_writer_pretty(&mut *out, &project)?;
        writeln!(out)
    })
}

/// Returns the inputs of a report, with the project's classes.
///
/// # Errors
/// If the stored file cannot be read (`H0611`, `H0612`), and as [`Recorded::check`].
pub fn recorded(recorded: &Recorded) -> Result<Recorded, Error> {
    let recorded = Recorded {
        inputs: of_folders(&recorded.files, &recorded.inputs)?,
        ..recorded.clone()
    };
    recorded.check()?;
    Ok(recorded)
}

/// Adds the project's own classes of a recorded build, unless the user names others.
fn of_folders(paths: &[PathBuf], inputs: &ReportInputs) -> Result<ReportInputs, Error> {
    let mut inputs = inputs.clone();
    if inputs.has_classes() {
        return Ok(inputs);
    }
    let mut sources = Vec::new();
    for folder in paths.iter().filter(|path| path.is_dir()) {
        let Some(project) = read(&folder.join(FILE))? else {
            continue;
        };
        let told = java_builds::classes_note(&project.tool, &project.classes);
        say(format_args!(
            "{told}; {}/*.hook names all classes that ran",
            path(folder)
        ));
        inputs.classes.extend(project.classes);
        sources.extend(project.sources);
    }
    if inputs.sources.is_empty() {
        inputs.sources = sources;
    }
    Ok(inputs)
}

fn read(file: &Path) -> Result<Option<Project>, Error> {
    let bytes = match fs::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(|error| Error::unreadable(file, &error))?,
    };
    let project = serde_json::from_slice::<Project>(&bytes).map_err(|error| error.to_string());
    let project = project.and_then(|project| match project.version {
        VERSION => Ok(project),
        other => Err(format!("version {other}")),
    });
    project.map(Some).map_err(|found| {
        let message = format!("{} does not list the reported classes", path(file));
        Error::mistake(codes::H0611, message)
            .with(
                "expected",
                format!("a file of `classhook coverage`, version {VERSION}"),
            )
            .with("found", found)
            .with(
                "help",
                "remove the file, or name the classes with --classes",
            )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(classes: &[&str]) -> ReportInputs {
        ReportInputs {
            classes: classes.iter().map(|place| (*place).to_owned()).collect(),
            sources: vec!["src".into()],
            ..ReportInputs::default()
        }
    }

    #[test]
    fn later_reports_of_a_folder_cover_the_built_project() {
        let folder = tempfile::tempdir().unwrap();
        let paths = [folder.path().to_owned()];
        let all = ReportInputs::default();
        assert!(!of_folders(&paths, &all).unwrap().has_classes());
        keep(folder.path(), "Maven", &inputs(&["/a/classes", "b.jar"])).unwrap();
        let here = std::env::current_dir().unwrap();
        let found = of_folders(&paths, &all).unwrap();
        let jar = here.join("b.jar").display().to_string();
        assert_eq!(found.classes, ["/a/classes".to_owned(), jar]);
        assert_eq!(found.sources, [here.join("src")]);

        let named = of_folders(&paths, &inputs(&["other"])).unwrap();
        assert_eq!(named.classes, ["other"]);
        let files = [folder.path().join("a.hook")];
        assert!(!of_folders(&files, &all).unwrap().has_classes());
        keep(folder.path(), "Maven", &inputs(&[])).unwrap();
        assert!(!of_folders(&paths, &all).unwrap().has_classes());
    }

    #[test]
    fn damaged_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for text in [
            "",
            "{}",
            r#"{"version":2,"tool":"","classes":[],"sources":[]}"#,
        ] {
            fs::write(folder.path().join(FILE), text).unwrap();
            let problem = of_folders(&[folder.path().to_owned()], &ReportInputs::default());
            assert_eq!(problem.unwrap_err().code(), "H0611", "{text}");
        }
    }
}
