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
    /// Folders and jars.
    classes: Vec<PathBuf>,
    /// Folders.
    sources: Vec<PathBuf>,
}

/// Returns a path as the file has it: relative to the folder of the file if both are in the folder of the build, so that
/// the project can be moved; else absolute.
fn stored(place: &Path, output: &Path, build: &Path) -> Result<PathBuf, Error> {
    let (place, output) = (absolute(place)?, absolute(output)?);
    let within = place
        .strip_prefix(build)
        .ok()
        .zip(output.strip_prefix(build).ok());
    let Some((below, output)) = within else {
        return Ok(place);
    };
    let up = output.components().map(|_| "..");
    Ok(up.collect::<PathBuf>().join(below))
}

/// Returns a path of the file in `folder` as an absolute one, without `..` if it exists.
fn found(place: &Path, folder: &Path) -> PathBuf {
    if place.is_absolute() {
        return place.to_owned();
    }
    let place = folder.join(place);
    place.canonicalize().unwrap_or(place)
}

/// Stores the classes and sources of a build. Without classes it deletes those of an earlier build.
///
/// # Errors
/// If the file cannot be written (`H0620`).
pub fn keep(output: &Path, tool: &str, inputs: &ReportInputs) -> Result<(), Error> {
    keep_of_build(&absolute(Path::new("."))?, output, tool, inputs)
}

fn keep_of_build(
    build: &Path,
    output: &Path,
    tool: &str,
    inputs: &ReportInputs,
) -> Result<(), Error> {
    let file = output.join(FILE);
    if inputs.classes.is_empty() {
        return match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::unwritable(&file, &error))
            }
            _ => Ok(()),
        };
    }
    let classes = inputs.classes.iter().map(Path::new);
    let classes = classes.map(|place| stored(place, output, build));
    let sources = inputs.sources.iter();
    let sources = sources.map(|folder| stored(folder, output, build));
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
        let classes = project.classes.iter().map(|place| found(place, folder));
        let classes: Vec<PathBuf> = classes.collect();
        if let Some(gone) = classes.iter().find(|place| !place.exists()) {
            return Err(gone_classes(gone, folder));
        }
        let classes: Vec<String> = classes
            .iter()
            .map(|place| place.display().to_string())
            .collect();
        let told = java_builds::classes_note(&project.tool, &classes);
        say(format_args!(
            "{told}; {}/*.hook names all classes that ran",
            path(folder)
        ));
        inputs.classes.extend(classes);
        // Without a folder of sources, a report shows no source of its classes.
        let folders = project.sources.iter().map(|source| found(source, folder));
        sources.extend(folders.filter(|source| source.is_dir()));
    }
    if inputs.sources.is_empty() {
        inputs.sources = sources;
    }
    Ok(inputs)
}

fn gone_classes(place: &Path, folder: &Path) -> Error {
    let message = format!("the classes in {} are gone", path(place));
    Error::mistake(codes::H0612, message)
        .with(
            "expected",
            format!("the classes that were measured into {}", path(folder)),
        )
        .with(
            "help",
            "build the project again, or name the classes of the report with --classes, once for each place",
        )
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

    fn inputs(classes: &Path, sources: &Path) -> ReportInputs {
        ReportInputs {
            classes: vec![classes.display().to_string()],
            sources: vec![sources.to_owned()],
            ..ReportInputs::default()
        }
    }

    #[test]
    fn later_reports_of_a_folder_cover_the_built_project() {
        let [folder, classes] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let paths = [folder.path().to_owned()];
        let all = ReportInputs::default();
        assert!(!of_folders(&paths, &all).unwrap().has_classes());
        let built = inputs(classes.path(), Path::new("src"));
        keep(folder.path(), "Maven", &built).unwrap();
        let found = of_folders(&paths, &all).unwrap();
        assert_eq!(found.classes, built.classes);
        assert_eq!(
            found.sources,
            [std::env::current_dir().unwrap().join("src")]
        );

        let other = inputs(Path::new("other"), Path::new("src"));
        let named = of_folders(&paths, &other).unwrap();
        assert_eq!(named.classes, ["other"]);
        let files = [folder.path().join("a.hook")];
        assert!(!of_folders(&files, &all).unwrap().has_classes());
        keep(folder.path(), "Maven", &all).unwrap();
        assert!(!of_folders(&paths, &all).unwrap().has_classes());
    }

    #[test]
    fn moved_project_is_reported_and_missing_classes_are_named() {
        let root = tempfile::tempdir().unwrap();
        let [before, after] = ["before", "after"].map(|name| root.path().join(name));
        let [output, classes, sources] =
            ["target/classhook", "target/classes", "src"].map(|below| before.join(below));
        for folder in [&output, &classes, &sources] {
            fs::create_dir_all(folder).unwrap();
        }
        keep_of_build(&before, &output, "Maven", &inputs(&classes, &sources)).unwrap();
        fs::rename(&before, &after).unwrap();
        let paths = [after.join("target/classhook")];
        let all = ReportInputs::default();
        let found = of_folders(&paths, &all).unwrap();
        let place = after.join("target/classes").canonicalize().unwrap();
        assert_eq!(found.classes, [place.display().to_string()]);
        assert_eq!(found.sources, [after.join("src").canonicalize().unwrap()]);
        fs::remove_dir(after.join("src")).unwrap();
        assert!(of_folders(&paths, &all).unwrap().sources.is_empty());
        fs::remove_dir(after.join("target/classes")).unwrap();
        let problem = of_folders(&paths, &all).unwrap_err();
        assert_eq!(problem.code(), "H0612");
        assert!(problem.to_string().contains("--classes"), "{problem}");
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
