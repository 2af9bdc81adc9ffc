//! The files that users name: sources, which are compiled, class files and jars.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use attach::Process;
use coverage_inputs::class_files::{self, Loader};
use errors::{Error, codes};
use java_compiler::program_compiler::{self, Chosen, Program};
use local_files::jvm_tmp::JvmTmp;
use local_files::temporary;
use rewriter::ClassFile;
use tempfile::TempDir;

use crate::model::{self, AdviceClass};
use crate::prepared;
use crate::{api, settings};

/// The configuration of the plugin `advice` in a temporary file, which exists as long as this value.
#[derive(Debug)]
pub struct PreparedFile {
    path: PathBuf,
    is_recording: bool,
    _folder: TempDir,
    /// Keeps the folder open: its path leads through it.
    _tmp: Option<JvmTmp>,
}

/// The name of the file in its folder.
const NAME: &str = "advice.json";

impl PreparedFile {
    /// Returns the path of the file, as the program sees it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks whether the advice records rows or counts, which only an agent writes.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.is_recording
    }

    fn new(program: Program<'_>, text: &str, is_recording: bool) -> Result<Self, Error> {
        let tmp = match program {
            Program::Jvm(pid) => Process::read(pid)
                .ok()
                .and_then(|it| JvmTmp::open(&it).ok()),
            _ => None,
        };
        let Some(tmp) = tmp else {
            let folder = temporary::usual_folder()?;
            let path = folder.path().join(NAME);
            std::fs::write(&path, text).map_err(|error| Error::unwritable(&path, &error))?;
            return Ok(Self {
                path,
                is_recording,
                _folder: folder,
                _tmp: None,
            });
        };
        let written = || {
            let folder = temporary::folder(&tmp.path())?;
            std::fs::write(folder.path().join(NAME), text)?;
            tmp.give(folder.path())?;
            Ok(folder)
        };
        let folder = written().map_err(|error| Error::unwritable(&tmp.path(), &error))?;
        Ok(Self {
            path: tmp.seen(folder.path()).join(NAME),
            is_recording,
            _folder: folder,
            _tmp: Some(tmp),
        })
    }
}

/// Reads the classes with advice in these files. Sources are compiled for a program.
///
/// # Errors
/// `H0742` for another kind of file, `H0612` and `H0613` for one that cannot be read, those of
/// [`program_compiler::compile`] and [`model::read`].
pub fn read(
    files: &[PathBuf],
    program: Program<'_>,
    chosen: &Chosen,
) -> Result<Vec<AdviceClass>, Error> {
    let has_extension =
        |path: &&PathBuf, wanted: &str| path.extension() == Some(OsStr::new(wanted));
    let known = ["java", "class", "jar"];
    let is_known = |path: &&PathBuf| known.iter().any(|known| has_extension(path, known));
    if let Some(other) = files.iter().find(|path| !is_known(path)) {
        return Err(
            Error::mistake(codes::H0742, format!("{} is no advice", other.display()))
                .with("expected", "a Java source (.java), a class file or a jar"),
        );
    }
    let sources: Vec<PathBuf> = files
        .iter()
        .filter(|it| has_extension(it, "java"))
        .cloned()
        .collect();
    let mut advice = Vec::new();
    if !sources.is_empty() {
        let texts = sources.iter().map(|path| {
            let text = std::fs::read(path).map_err(|error| Error::unreadable(path, &error))?;
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            Ok((name, String::from_utf8_lossy(&text).into_owned()))
        });
        let texts = texts.collect::<Result<Vec<_>, Error>>()?;
        let folder = temporary::usual_folder()?;
        let jar = write_api(folder.path())?;
        let compiled = program_compiler::compile(program, chosen, &jar, &sources)?;
        let classes = classes_in(compiled.path())?;
        advice.extend(model::read(&classes, &texts)?);
    }
    for file in files.iter().filter(|path| !has_extension(path, "java")) {
        let mut classes = classes_in(file)?;
        if !has_extension(&file, "class") {
            advice.extend(model::read(&classes, &[])?);
            continue;
        }
        // The classes around and within it may be needed, and may have advice that is not meant.
        let own = classes.first().and_then(|bytes| name_of(bytes));
        let own = own.unwrap_or_default();
        for beside in of_one_source(file) {
            classes.extend(classes_in(&beside)?);
        }
        let mut found = model::read(&classes, &[])?;
        found.retain(|it| {
            let rest = it.name.strip_prefix(&own);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('$'))
        });
        advice.extend(found);
    }
    match advice.is_empty() {
        true => Err(model::nothing()),
        false => Ok(advice),
    }
}

/// Writes the configuration of the plugin `advice` for these files.
///
/// # Errors
/// As [`read`], `H0741` for a setting that no class has, and `H0620` if it cannot be written.
pub fn prepare(
    files: &[PathBuf],
    program: Program<'_>,
    chosen: &Chosen,
    given: &[String],
) -> Result<PreparedFile, Error> {
    let advice = read(files, program, chosen)?;
    let initial = settings::initial(&advice, given)?;
    let text = prepared::configuration(&advice, &initial).to_string();
    let is_recording = advice.iter().any(|it| it.recorded.is_used);
    PreparedFile::new(program, &text, is_recording)
}

fn write_api(folder: &Path) -> Result<PathBuf, Error> {
    let path = folder.join("classhook-advice.jar");
    let written = || {
        let mut jar = std::io::Cursor::new(Vec::new());
        api::write_jar(&mut jar).map_err(std::io::Error::other)?;
        std::fs::write(&path, jar.get_ref())
    };
    written().map_err(|error| Error::unwritable(&path, &error))?;
    Ok(path)
}

fn classes_in(place: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let mut classes = Vec::new();
    class_files::read(&place.to_string_lossy(), &Loader::newest(), &mut |batch| {
        classes.extend(batch.into_iter().map(|class| class.bytes));
        Ok(())
    })?;
    Ok(classes)
}

/// Returns the internal name of a class file's class.
fn name_of(bytes: &[u8]) -> Option<String> {
    let class = ClassFile::read(bytes).ok()?;
    Some(class.this_class().to_str_lossless().into_owned())
}

/// Returns the class files beside one whose names say that they come from the same source.
fn of_one_source(file: &Path) -> Vec<PathBuf> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let outer = stem.split('$').next().unwrap_or_default();
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new(".")));
    let entries = entries.into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let rest = name.strip_suffix(".class");
            let rest = rest.and_then(|name| name.strip_prefix(outer));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('$'))
                && path.file_name() != file.file_name()
        })
        .collect();
    found.sort();
    found
}
