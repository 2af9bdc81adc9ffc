//! Writes files and folders atomically: beside their path, then moved there. For a link, its target
//! is replaced. A device or pipe is written directly.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use errors::{Error, codes};
use tempfile::{Builder, NamedTempFile, TempDir};

use crate::preflight::behind_links;
use crate::special_file::is_special;

/// File that marks a folder as a report, so that a new report may replace it.
const MARK: &str = ".classhook-report";

/// Writes a file: into a temporary one in the same folder, which then takes its name.
///
/// # Errors
/// If it cannot be written (`H0620`). An old file stays.
pub fn file(path: &Path, write: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let written = || {
        let mut temporary = temporary(path)?;
        let mut out = BufWriter::new(&mut temporary);
        write(&mut out)?;
        out.flush()?;
        drop(out);
        publish(temporary, path)
    };
    written().map_err(|error: io::Error| Error::unwritable(path, &error))
}

/// Creates a file for piecewise writing, with its parent folder.
///
/// # Errors
/// If it cannot be created.
pub fn create(path: &Path) -> io::Result<File> {
    parent_of(path)?;
    File::create(path)
}

/// Creates a temporary file that can be published at `path`.
///
/// # Errors
/// If it cannot be created.
pub fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    if is_special(path) {
        return NamedTempFile::new();
    }
    temporary_file(&parent_of(&behind_links(path))?)
}

/// Renames a temporary file to `path`, or copies its content to the device or pipe there.
///
/// # Errors
/// If renaming or copying fails.
pub fn publish(temporary: NamedTempFile, path: &Path) -> io::Result<()> {
    if is_special(path) {
        let mut special = File::options().write(true).open(path)?;
        io::copy(&mut temporary.reopen()?, &mut special)?;
        return special.flush();
    }
    let published = temporary.persist(behind_links(path));
    published.map(drop).map_err(|error| error.error)
}

fn temporary_file(parent: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder
        .prefix(".classhook-")
        .permissions(Permissions::from_mode(0o666)); // reduced by the umask
    builder.tempfile_in(parent)
}

/// Returns the parent folder of a path, and creates it if missing.
///
/// # Errors
/// If it cannot be created.
pub fn parent_of(path: &Path) -> io::Result<PathBuf> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    Ok(parent.to_owned())
}

/// Writes a folder of files: into a temporary one beside it, which then replaces it.
///
/// Only a report of ours or an empty folder is replaced.
///
/// # Errors
/// If the folder holds other files (`H0621`) or cannot be written (`H0620`).
pub fn folder(path: &Path, write: &dyn Fn(&Path) -> io::Result<()>) -> Result<(), Error> {
    let unwritable = |error: io::Error| Error::unwritable(path, &error);
    let path = &behind_links(path);
    let replaces = is_replaceable(path)?;
    let parent = parent_of(path).map_err(unwritable)?;
    let fresh = temporary_folder(&parent).map_err(unwritable)?;
    write(fresh.path()).map_err(unwritable)?;
    fs::write(
        fresh.path().join(MARK),
        "This folder is a report of Classhook, which may replace it.\n",
    )
    .map_err(unwritable)?;
    if replaces {
        let old = temporary_folder(&parent).map_err(unwritable)?;
        fs::rename(path, old.path().join("old")).map_err(unwritable)?; // removed with `old`
        return rename(fresh, path).map_err(unwritable);
    }
    rename(fresh, path).map_err(unwritable)
}

fn temporary_folder(parent: &Path) -> io::Result<TempDir> {
    let mut builder = Builder::new();
    builder
        .prefix(".classhook-")
        .permissions(Permissions::from_mode(0o777)); // reduced by the umask
    builder.tempdir_in(parent)
}

fn rename(fresh: TempDir, path: &Path) -> io::Result<()> {
    fs::rename(fresh.path(), path)?;
    let _ = fresh.keep(); // the folder was renamed, so it must not be removed
    Ok(())
}

/// Checks whether a replaceable folder exists at `path`.
///
/// # Errors
/// If the folder may not be replaced (`H0621`), or cannot be read (`H0620`).
pub fn is_replaceable(path: &Path) -> Result<bool, Error> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(false);
    }
    let mut entries = fs::read_dir(path).map_err(|error| Error::unwritable(path, &error))?;
    if entries.next().is_none() || path.join(MARK).is_file() {
        return Ok(true);
    }
    Err(Error::mistake(
        codes::H0621,
        format!(
            "the folder {} is not empty and no report of Classhook",
            path.display()
        ),
    )
    .with(
        "expected",
        "a folder that does not exist yet, is empty, or holds an earlier report",
    )
    .with("help", "name another folder, or remove this one"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_file_leaves_the_old_one_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("deep/er/report.xml");
        file(&path, &|out| out.write_all(b"first")).unwrap();
        let error = file(&path, &|out| {
            out.write_all(b"second")?;
            Err(io::Error::other("disk full"))
        })
        .unwrap_err();
        assert!(error.to_string().contains("disk full"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn link_stays_and_its_target_is_replaced() {
        let root = tempfile::tempdir().unwrap();
        let [real, link] = ["folder/real.csv", "link.csv"].map(|name| root.path().join(name));
        file(&real, &|out| out.write_all(b"old")).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        file(&link, &|out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert!(link.is_symlink());
    }

    #[test]
    fn pipe_is_written_to_and_stays() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let reader = {
            let path = path.clone();
            std::thread::spawn(move || fs::read(path).unwrap())
        };
        file(&path, &|out| out.write_all(b"report")).unwrap();
        assert_eq!(reader.join().unwrap(), b"report");
        assert!(is_special(&path));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn report_is_replaced_as_a_whole_and_other_folders_are_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("html");
        let write = |name: &'static str| move |folder: &Path| fs::write(folder.join(name), "x");
        folder(&path, &write("old.html")).unwrap();
        folder(&path, &write("new.html")).unwrap();
        assert!(path.join("new.html").is_file() && !path.join("old.html").exists());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);

        let mine = root.path().join("src");
        fs::create_dir(&mine).unwrap();
        fs::write(mine.join("Main.java"), "").unwrap();
        let error = folder(&mine, &write("x.html")).unwrap_err();
        assert!(error.to_string().starts_with("error[H0621]"), "{error}");
        assert!(mine.join("Main.java").is_file());
    }

    #[test]
    fn failed_folder_leaves_the_old_one() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("html");
        folder(&path, &|folder| fs::write(folder.join("a.html"), "x")).unwrap();
        assert!(folder(&path, &|_| Err(io::Error::other("disk full"))).is_err());
        assert!(path.join("a.html").is_file());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn permissions_follow_the_umask() {
        let root = tempfile::tempdir().unwrap();
        let plain = root.path().join("plain");
        fs::write(&plain, "").unwrap();
        let path = root.path().join("report.csv");
        file(&path, &|out| out.write_all(b"x")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&plain));
    }
}
