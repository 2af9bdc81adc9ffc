//! Checks the inputs and the output against each other.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use errors::{Error, codes};
use local_files::preflight::behind_links;
use local_files::special_file::is_special;

use super::stage::{Goal, Stage};

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The input file or folder.
    pub source: PathBuf,
    /// The target below the staging folder.
    pub target: PathBuf,
    /// True for a folder, whose content goes into `target`.
    pub folder: bool,
}

/// Inputs and output, checked against each other.
#[derive(Debug)]
pub struct Paths {
    goal: Goal,
    sources: Vec<(PathBuf, bool)>,
}

impl Paths {
    /// Assigns outputs to inputs.
    ///
    /// # Errors
    /// If an input cannot be read, or the output is a device, an input, or below an input
    /// (`H0640`).
    pub fn new(inputs: &[PathBuf], out: &Path) -> Result<Self, Error> {
        let mut sources = Vec::with_capacity(inputs.len());
        for path in inputs {
            let kind = fs::metadata(path).map_err(|error| Error::unreadable(path, &error))?;
            if is_special(path) {
                let error = io::Error::other("neither a file nor a folder");
                return Err(Error::unreadable(path, &error));
            }
            sources.push((path.clone(), kind.is_dir()));
        }
        if is_special(out) {
            return Err(no_place(out));
        }
        let ends_as_folder = out.as_os_str().as_encoded_bytes().ends_with(b"/");
        let goal = match sources.as_slice() {
            [(_, false)] if !out.is_dir() && !ends_as_folder => Goal::File(behind_links(out)),
            _ => Goal::Folder(out.to_owned()),
        };
        let paths = Self { goal, sources };
        paths.check()?;
        Ok(paths)
    }

    fn check(&self) -> Result<(), Error> {
        for (source, folder) in &self.sources {
            let out = match (&self.goal, folder) {
                (Goal::File(out), _) | (Goal::Folder(out), true) => out.clone(),
                (Goal::Folder(out), false) => out.join(name_of(source)?),
            };
            let (from, to) = (resolved(source)?, resolved(&out)?);
            if from == to || (*folder && to.starts_with(&from)) {
                return Err(same_place(source, &out));
            }
        }
        Ok(())
    }

    /// Creates the staging folder.
    ///
    /// # Errors
    /// If it cannot be created (`H0620`).
    pub fn stage(&self) -> Result<Stage, Error> {
        let goal = match &self.goal {
            Goal::File(path) | Goal::Folder(path) => path,
        };
        let parent = match &self.goal {
            Goal::Folder(path) if path.is_dir() => path.clone(),
            _ => parent_of(goal),
        };
        Stage::new(&parent, self.goal.clone()).map_err(|error| Error::unwritable(goal, &error))
    }

    /// Returns the inputs with their targets in a stage.
    ///
    /// # Errors
    /// If an input has no name, such as `/`.
    pub fn jobs(&self, stage: &Stage) -> Result<Vec<Job>, Error> {
        let job = |(source, folder): &(PathBuf, bool)| {
            let target = match folder {
                true => stage.content().to_owned(),
                false => stage.content().join(name_of(source)?),
            };
            Ok(Job {
                source: source.clone(),
                target,
                folder: *folder,
            })
        };
        self.sources.iter().map(job).collect()
    }
}

fn name_of(path: &Path) -> Result<&std::ffi::OsStr, Error> {
    path.file_name().ok_or_else(|| {
        let error = io::Error::other("it has no name");
        Error::unreadable(path, &error)
    })
}

/// Returns the parent folder of a path.
fn parent_of(path: &Path) -> PathBuf {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

/// Returns the absolute path without links, also for a file that does not exist yet.
fn resolved(path: &Path) -> Result<PathBuf, Error> {
    let absolute = std::path::absolute(path).map_err(|error| Error::unreadable(path, &error))?;
    let mut missing = Vec::new();
    let mut there = absolute.as_path();
    loop {
        if let Ok(real) = there.canonicalize() {
            return Ok(missing.iter().rev().fold(real, |path, name| match name {
                Component::ParentDir => path.parent().map_or(path.clone(), Path::to_owned),
                name => path.join(name),
            }));
        }
        let mut components = there.components();
        match components.next_back() {
            Some(last) => missing.push(last),
            None => return Ok(absolute.clone()),
        }
        there = components.as_path();
    }
}

fn same_place(source: &Path, out: &Path) -> Error {
    let message = format!("the output {} would overwrite the input", out.display());
    Error::mistake(codes::H0640, message)
        .with("found", format!("the input {}", source.display()))
        .with("expected", "an output outside of the inputs")
        .with(
            "help",
            "name another output with -o; reports need the originals",
        )
}

fn no_place(out: &Path) -> Error {
    let message = format!("the output {} is a device or a pipe", out.display());
    Error::mistake(codes::H0640, message).with("expected", "a file, which is replaced, or a folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(inputs: &[PathBuf], out: &Path) -> String {
        Paths::new(inputs, out).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn output_that_would_overwrite_an_input_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir_all(path("classes/a")).unwrap();
        fs::write(path("app.jar"), "x").unwrap();
        std::os::unix::fs::symlink(path("app.jar"), path("link.jar")).unwrap();
        std::os::unix::fs::symlink(path("classes"), path("link")).unwrap();
        for (input, out) in [
            ("app.jar", "app.jar"),
            ("app.jar", "link.jar"),
            ("link.jar", "app.jar"),
            ("app.jar", "classes/../app.jar"),
            ("app.jar", ""),
            ("classes", "classes"),
            ("classes", "classes/instrumented"),
            ("classes", "link/new/../new"),
        ] {
            let error = refused(&[path(input)], &path(out));
            assert!(error.starts_with("error[H0640]"), "{input} {out}: {error}");
        }
        assert!(Paths::new(&[path("classes")], &path("classes-2")).is_ok());
        assert!(Paths::new(&[path("classes/a")], &path("classes/b")).is_ok());
    }

    #[test]
    fn device_is_refused_as_output_and_a_file_link_stays() {
        let root = tempfile::tempdir().unwrap();
        let [input, real, link] =
            ["app.jar", "real.jar", "link.jar"].map(|name| root.path().join(name));
        fs::write(&input, "x").unwrap();
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let error = refused(std::slice::from_ref(&input), Path::new("/dev/null"));
        assert!(error.starts_with("error[H0640]"), "{error}");
        let error = refused(&["/dev/null".into()], &root.path().join("out"));
        assert!(error.contains("neither a file nor a folder"), "{error}");
        let paths = Paths::new(&[input], &link).unwrap();
        let stage = paths.stage().unwrap();
        fs::write(&paths.jobs(&stage).unwrap()[0].target, "new").unwrap();
        stage.publish().unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert!(link.is_symlink());
    }

    #[test]
    fn stage_that_is_not_published_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        let input = root.path().join("app.jar");
        fs::write(&input, "x").unwrap();
        let out = root.path().join("out.jar");
        let paths = Paths::new(&[input], &out).unwrap();
        let stage = paths.stage().unwrap();
        fs::write(&paths.jobs(&stage).unwrap()[0].target, "half").unwrap();
        drop(stage);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
        let stage = paths.stage().unwrap();
        fs::write(&paths.jobs(&stage).unwrap()[0].target, "whole").unwrap();
        stage.publish().unwrap();
        assert_eq!(fs::read_to_string(out).unwrap(), "whole");
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 2);
    }

    #[test]
    fn existing_folder_keeps_its_other_files() {
        let root = tempfile::tempdir().unwrap();
        let (input, out) = (root.path().join("in"), root.path().join("out"));
        fs::create_dir_all(out.join("a")).unwrap();
        fs::create_dir(&input).unwrap();
        fs::write(out.join("a/old"), "old").unwrap();
        fs::write(out.join("a/both"), "old").unwrap();
        let paths = Paths::new(&[input], &out).unwrap();
        let stage = paths.stage().unwrap();
        let target = &paths.jobs(&stage).unwrap()[0].target;
        fs::create_dir(target.join("a")).unwrap();
        fs::write(target.join("a/both"), "new").unwrap();
        stage.publish().unwrap();
        let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
        assert_eq!(
            (read("a/old"), read("a/both")),
            ("old".into(), "new".into())
        );
        assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
    }
}
