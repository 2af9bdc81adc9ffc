//! `cp SOURCE… TARGET`, as which this program runs in its container image: an init container copies the agent into a
//! volume, and the image holds no other program.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use errors::{Error, codes};
use standard_streams::show::complain;
use tempfile::NamedTempFile;

/// File name of the link to this program in the image.
const NAME: &str = "cp";

/// Copies files if the program was started by the name of the link. A program of another name copies nothing.
#[must_use]
pub fn run(words: &[OsString]) -> Option<ExitCode> {
    let (program, words) = words.split_first()?;
    if Path::new(program).file_name() != Some(OsStr::new(NAME)) {
        return None;
    }
    Some(match copy(words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            complain(format_args!("{problem}\n"));
            ExitCode::from(problem.exit())
        }
    })
}

/// Copies contents and permissions of files to a folder, or of one file to another.
fn copy(words: &[OsString]) -> Result<(), Error> {
    let (target, sources) = match words {
        [sources @ .., target] if !sources.is_empty() => (Path::new(target), sources),
        _ => return Err(refused("expected SOURCE… TARGET")),
    };
    if let Some(option) = words
        .iter()
        .find(|word| word.as_encoded_bytes().starts_with(b"-"))
    {
        let option = option.to_string_lossy();
        return Err(refused(format!("expected files alone, found {option}")));
    }
    if sources.len() > 1 && !target.is_dir() {
        let found = target.display();
        return Err(refused(format!(
            "expected a folder for several files, found {found}"
        )));
    }
    for source in sources.iter().map(Path::new) {
        let file = source.is_file().then(|| into(source, target)).flatten();
        let file = file.ok_or_else(|| refused(format!("{} is no file", source.display())))?;
        whole(source, &file).map_err(|error| Error::unwritable(&file, &error))?;
    }
    Ok(())
}

/// Copies a file beside its new path and then renames it, so that a full volume holds no half of an agent.
fn whole(source: &Path, file: &Path) -> io::Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut temporary = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    let mut from = File::open(source)?;
    io::copy(&mut from, &mut temporary)?;
    fs::set_permissions(temporary.path(), from.metadata()?.permissions())?;
    temporary.persist(file)?;
    Ok(())
}

/// The path of the copy.
fn into(source: &Path, target: &Path) -> Option<PathBuf> {
    match target.is_dir() {
        true => Some(target.join(source.file_name()?)),
        false => Some(target.to_owned()),
    }
}

fn refused(problem: impl Into<String>) -> Error {
    let help = "name files and the folder that receives them: cp /classhook/libclasshook.so /agent";
    Error::mistake(codes::H0600, problem).with("help", help)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn words(words: &[&Path]) -> Vec<OsString> {
        words
            .iter()
            .map(|word| word.as_os_str().to_owned())
            .collect()
    }

    #[test]
    fn files_are_copied_with_their_permissions() {
        let root = tempfile::tempdir().unwrap();
        let [one, two, folder] = ["one", "two", "folder"].map(|name| root.path().join(name));
        std::fs::write(&one, "1").unwrap();
        std::fs::set_permissions(&one, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(&two, "2").unwrap();
        std::fs::create_dir(&folder).unwrap();
        copy(&words(&[&one, &two, &folder])).unwrap();
        assert_eq!(std::fs::read(folder.join("two")).unwrap(), b"2");
        let mode = std::fs::metadata(folder.join("one")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o755);
        copy(&words(&[&two, &folder.join("three")])).unwrap();
        assert_eq!(std::fs::read(folder.join("three")).unwrap(), b"2");
    }

    #[test]
    fn what_is_not_copied_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        std::fs::write(&file, "").unwrap();
        let missing = root.path().join("missing");
        let refused = [
            vec![],
            words(&[&file]),
            words(&[Path::new("-r"), &file, root.path()]),
            words(&[&file, &file, &missing]),
            words(&[&missing, root.path()]),
            words(&[root.path(), &missing]),
        ];
        for words in refused {
            let problem = copy(&words).expect_err(&format!("{words:?}"));
            assert_eq!(problem.code(), codes::H0600, "{words:?}");
        }
        let unwritable = copy(&words(&[&file, &missing.join("file")])).unwrap_err();
        assert_eq!(unwritable.code(), codes::H0620);
    }

    #[test]
    fn other_names_are_no_copies() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(run(&words(&["/usr/bin/classhook", "cp", "a", "b"])), None);
        assert_eq!(run(&[]), None);
        let failed = run(&words(&["/bin/cp", "/nowhere"]));
        assert_eq!(failed, Some(ExitCode::from(2)));
    }
}
