//! Creates new projects from templates.

mod c;
mod files;
mod js;
mod python;
mod rust;

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use errors::{Error, codes};
use files::Template;
use host::config::BUNDLED;

use super::language::Language;

/// The SDK's folder in a project.
const SDK: &str = "classhook-sdk";
/// Length limit of a name.
const LONGEST: usize = 64;

const fn template(language: Language) -> Template {
    match language {
        Language::Rust => rust::RUST,
        Language::C => c::C,
        Language::Python => python::PYTHON,
        Language::Js => js::JS,
    }
}

/// A class for the tests, and the other files that all projects share.
const OTHERS: [(&str, &[u8]); 3] = [
    (
        ".gitignore",
        b"/target/\n/classhook/\n__pycache__/\nnode_modules/\n",
    ),
    (
        "tests/Counter.java",
        include_bytes!("../../sdk/testkit/tests/Counter.java"),
    ),
    (
        "tests/Counter.class",
        include_bytes!("../../sdk/testkit/tests/Counter.class"),
    ),
];

/// Creates a project in a new or empty folder, whose last part names the plugin.
///
/// # Errors
/// If the name is no valid plugin name (`H0680`), the folder is not empty (`H0681`), or cannot be
/// written (`H0620`).
pub fn make(folder: &Path, language: Language) -> Result<(), Error> {
    let template = template(language);
    let name = name(folder);
    check_name(&name, template.reserved)?;
    check_empty(folder)?;
    write(folder, &name, &template).map_err(|error| Error::unwritable(folder, &error))
}

/// Returns the last part of a path; empty for one that ends in `..`.
#[must_use]
pub fn name(folder: &Path) -> Cow<'_, str> {
    folder.file_name().unwrap_or_default().to_string_lossy()
}

fn check_name(name: &str, reserved: &[&str]) -> Result<(), Error> {
    let is_letter = |letter: &char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(*letter)
    };
    let parts_hold = name.split(['-', '_']).all(|part| !part.is_empty());
    let found = if name.is_empty() {
        "a path that ends in no name"
    } else if BUNDLED.contains(&name) {
        "the name of a bundled plugin"
    } else if reserved.contains(&name) {
        "a name with another meaning in Rust or this project"
    } else if name.len() > LONGEST {
        "a longer name"
    } else if let Some(other) = name.chars().find(|letter| !is_letter(letter)) {
        &format!("`{other}` in it")
    } else if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        "a name that does not begin with a letter"
    } else if !parts_hold {
        "`-` or `_` at its end, or two of them side by side"
    } else {
        return Ok(());
    };
    Err(Error::mistake(
        codes::H0680,
        format!("`{name}` cannot be the name of a plugin"),
    )
    .with(
        "expected",
        format!("at most {LONGEST} small letters, digits, `-` and `_`, such as call-counter"),
    )
    .with("found", found))
}

fn check_empty(folder: &Path) -> Result<(), Error> {
    let found = match fs::read_dir(folder).map(Iterator::count) {
        Ok(0) => return Ok(()),
        Ok(_) => "a folder with files",
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => "a file",
        Err(error) => return Err(Error::unreadable(folder, &error)),
    };
    let message = format!("{} exists already", folder.display());
    Err(Error::mistake(codes::H0681, message)
        .with("expected", "a new or empty folder")
        .with("found", found))
}

fn write(folder: &Path, name: &str, template: &Template) -> io::Result<()> {
    template.sdk.unpack(folder, SDK)?;
    for (path, contents) in template.texts {
        let text = String::from_utf8_lossy(contents);
        put(&folder.join(path), named(&text, name).as_bytes())?;
    }
    for (path, contents) in OTHERS {
        put(&folder.join(path), contents)?;
    }
    Ok(())
}

fn put(file: &Path, contents: &[u8]) -> io::Result<()> {
    fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    fs::write(file, contents)
}

/// Replaces the plugin's name in its three spellings.
fn named(text: &str, name: &str) -> String {
    let camel: String = name.split(['-', '_']).map(capitalised).collect();
    text.replace("my-plugin", name)
        .replace("my_plugin", &name.replace('-', "_"))
        .replace("MyPlugin", &camel)
}

fn capitalised(part: &str) -> String {
    let mut letters = part.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Returns the paths of the created files, for display.
#[must_use]
pub fn files(folder: &Path, language: Language) -> Vec<String> {
    let texts = template(language).texts.iter().chain(&OTHERS);
    let texts = texts.map(|(path, _)| *path);
    let all = texts.chain([SDK]);
    all.map(|path| escape::path(&PathBuf::from(folder).join(path)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rules_of_cargo_and_the_host() {
        for name in ["a", "call-counter", "x9_y"] {
            check_name(name, rust::RUST.reserved).unwrap();
        }
        let long = "a".repeat(LONGEST + 1);
        for name in [
            "", "A", "9a", "a b", "a--b", "a-", "-a", "coverage", "fn", "serde", "é", &long,
        ] {
            let problem = check_name(name, rust::RUST.reserved).unwrap_err();
            assert_eq!(problem.exit(), 2);
            assert!(problem.to_string().starts_with("error[H0680]"), "{problem}");
        }
    }

    #[test]
    fn parent_folders_are_created() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("there/../here/mine");
        fs::create_dir(folder.path().join("there")).unwrap();
        make(&project, Language::C).unwrap();
        assert!(folder.path().join("here/mine/src/plugin.c").is_file());
        let problem = make(&folder.path().join(".."), Language::C).unwrap_err();
        assert!(problem.to_string().contains("no name"), "{problem}");
    }

    #[test]
    fn every_spelling_of_the_name_is_replaced() {
        let text = "my-plugin my_plugin::MyPlugin";
        assert_eq!(named(text, "sql-timer"), "sql-timer sql_timer::SqlTimer");
    }

    #[test]
    fn existing_files_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("mine");
        make(&project, Language::Rust).unwrap();
        assert!(project.join("src/lib.rs").is_file());
        let problem = make(&project, Language::C).unwrap_err();
        assert!(problem.to_string().starts_with("error[H0681]"), "{problem}");
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(
            make(&file, Language::Rust)
                .unwrap_err()
                .to_string()
                .contains("a file")
        );
    }

    #[test]
    fn files_determine_the_language_of_a_project() {
        for language in Language::ALL {
            let folder = tempfile::tempdir().unwrap();
            let project = folder.path().join("mine");
            make(&project, language).unwrap();
            assert_eq!(Language::of(&project).unwrap(), language);
            let files = files(&project, language);
            assert!(
                files.iter().all(|path| Path::new(path).exists()),
                "{files:?}"
            );
        }
    }
}
