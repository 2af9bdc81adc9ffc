//! Finds the build tool that a command starts: directly, behind other programs, in a shell or in a
//! script.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use local_files::programs::find_program;

use super::tool::Tool;

/// Programs that start another command behind their own options: the options with a value, and the
/// number of words after the options.
const WRAPPERS: [(&str, &[&str], usize); 9] = [
    ("env", &["-u", "--unset", "-C", "--chdir"], 0),
    ("time", &["-f", "--format", "-o", "--output"], 0),
    ("nice", &["-n", "--adjustment"], 0),
    ("ionice", &["-c", "-n", "--class", "--classdata"], 0),
    ("nohup", &[], 0),
    ("setsid", &[], 0),
    ("timeout", &["-s", "--signal", "-k", "--kill-after"], 1),
    (
        "stdbuf",
        &["-i", "-o", "-e", "--input", "--output", "--error"],
        0,
    ),
    (
        "xvfb-run",
        &[
            "-n",
            "-s",
            "-f",
            "-e",
            "-w",
            "--server-num",
            "--server-args",
        ],
        0,
    ),
];
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];
/// Length limit for scripts, in bytes. A longer script does not start Maven or Gradle.
const LONGEST_SCRIPT: u64 = 256 << 10;
/// Files that mark a project, and the tool that builds it.
const MARKS: [(&str, Tool); 5] = [
    ("pom.xml", Tool::Maven),
    ("settings.gradle", Tool::Gradle),
    ("settings.gradle.kts", Tool::Gradle),
    ("build.gradle", Tool::Gradle),
    ("build.gradle.kts", Tool::Gradle),
];

/// A call of a build tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) tool: Tool,
    /// The folder of the call, relative to that of the command.
    pub(super) folder: PathBuf,
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
}

impl Call {
    /// Finds the call in a command. For an unknown program, the project in the folder determines
    /// the tool.
    ///
    /// Returns nothing for `java`, which builds nothing, and for a folder without a project.
    pub(super) fn of(command: &[OsString]) -> Option<Self> {
        let (command, folder) = unwrapped(command);
        let (program, arguments) = command.split_first()?;
        if let Some(tool) = Tool::of(program) {
            return Some(Self {
                tool,
                folder,
                program: program.clone(),
                arguments: arguments.to_vec(),
            });
        }
        if name(program) == "java" {
            return None;
        }
        let script = script_of(program, arguments);
        let found = script.and_then(|script| Self::in_script(&script, &folder));
        found.or_else(|| Self::by_project(folder))
    }

    /// Returns the first call in a shell script.
    fn in_script(script: &str, start: &Path) -> Option<Self> {
        let mut folder = start.to_owned();
        let lines = script.lines().map(str::trim_start);
        let code = lines.filter(|line| !line.starts_with('#'));
        for command in code.flat_map(|line| line.split(['&', '|', ';', '(', ')', '{', '}', '`'])) {
            let words: Vec<OsString> = command.split_whitespace().map(unquoted).collect();
            let (words, inner) = unwrapped(&words);
            let skipped = words
                .iter()
                .take_while(|word| KEYWORDS.contains(&name(word)));
            let skipped = skipped.count();
            let Some((program, arguments)) = words[skipped..].split_first() else {
                continue;
            };
            if name(program) == "cd"
                && let [place] = arguments
                && !place.to_string_lossy().contains(['$', '*', '~'])
            {
                folder = folder.join(place);
            } else if let Some(tool) = Tool::of(program) {
                if !inner.as_os_str().is_empty() {
                    folder = folder.join(inner); // an empty path would add a slash
                }
                return Some(Self {
                    tool,
                    folder,
                    program: program.clone(),
                    arguments: arguments.to_vec(),
                });
            }
        }
        None
    }

    /// Returns a call of the tool whose project is in the folder.
    fn by_project(folder: PathBuf) -> Option<Self> {
        let is_there = |(mark, _): &&(&str, Tool)| folder.join(mark).is_file();
        let (_, tool) = MARKS.iter().find(is_there)?;
        Some(Self {
            tool: *tool,
            folder,
            program: tool.program().into(),
            arguments: Vec::new(),
        })
    }
}

/// Shell words in front of a command.
const KEYWORDS: [&str; 8] = ["if", "then", "else", "do", "while", "exec", "!", "command"];

/// Strips the programs in front of a command that only start it. Returns the folder to which they
/// change.
fn unwrapped(command: &[OsString]) -> (&[OsString], PathBuf) {
    let (mut rest, mut folder) = (command, PathBuf::new());
    loop {
        while let Some((first, behind)) = rest.split_first()
            && is_assignment(first)
        {
            rest = behind;
        }
        let Some((program, behind)) = rest.split_first() else {
            return (rest, folder);
        };
        let Some((wrapper, with_value, words)) = WRAPPERS
            .iter()
            .find(|(wrapper, ..)| *wrapper == name(program))
        else {
            return (rest, folder);
        };
        rest = behind;
        while let Some((option, behind)) = rest.split_first()
            && let Some(text) = option.to_str().filter(|text| text.starts_with('-'))
        {
            rest = behind;
            let value = with_value
                .contains(&text)
                .then(|| rest.split_first())
                .flatten();
            let Some((value, behind)) = value else {
                continue;
            };
            rest = behind;
            if *wrapper == "env" && matches!(text, "-C" | "--chdir") {
                folder = folder.join(value);
            }
        }
        rest = rest.get(*words..).unwrap_or_default();
    }
}

/// Checks for `NAME=value`.
fn is_assignment(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    let Some((name, _)) = text.split_once('=') else {
        return false;
    };
    !name.is_empty()
        && name
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Returns the script that a shell executes: the argument of `-c`, or else the content of a file
/// with `#!`.
fn script_of(program: &OsStr, arguments: &[OsString]) -> Option<String> {
    if !SHELLS.contains(&name(program)) {
        return content(&find_program(program)?, true);
    }
    let is_option = |word: &&OsString| word.to_string_lossy().starts_with('-');
    let options = arguments.iter().take_while(is_option).count();
    let first = arguments.get(options)?;
    let takes_text = |word: &OsString| {
        let text = word.to_string_lossy();
        !text.starts_with("--") && text.contains('c')
    };
    match arguments[..options].iter().any(takes_text) {
        true => Some(first.to_string_lossy().into_owned()),
        false => content(Path::new(first), false),
    }
}

fn content(path: &Path, is_program: bool) -> Option<String> {
    let found = path.metadata().ok()?;
    let is_script = |text: &String| !is_program || text.starts_with("#!");
    let may_be = found.is_file() && found.len() <= LONGEST_SCRIPT;
    let text = may_be.then(|| fs::read_to_string(path).ok()).flatten();
    text.filter(is_script)
}

fn unquoted(word: &str) -> OsString {
    word.trim_matches(['"', '\'']).into()
}

/// Returns the name of a program without its folder.
fn name(program: &OsStr) -> &str {
    let name = Path::new(program).file_name();
    name.and_then(OsStr::to_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    /// Tool, folder and arguments of the call in a command.
    fn call(command: &[&str]) -> Option<(Tool, String, Vec<OsString>)> {
        let Call {
            tool,
            folder,
            arguments,
            ..
        } = Call::of(&words(command))?;
        Some((tool, folder.display().to_string(), arguments))
    }

    #[test]
    fn build_tools_are_found_behind_other_programs() {
        for command in [
            &["env", "-u", "Y", "X=1", "mvn", "-q", "test"][..],
            &["time", "-p", "mvn", "-q", "test"],
            &[
                "/usr/bin/time",
                "-o",
                "file",
                "nice",
                "-n",
                "5",
                "mvn",
                "-q",
                "test",
            ],
            &[
                "timeout", "-k", "5", "10m", "env", "A=b", "./mvnw", "-q", "test",
            ],
            &["sh", "-c", "set -e; X=1 mvn -q test"],
            &["bash", "-ec", "cd . && exec 'mvn' -q test"],
        ] {
            let (tool, _, arguments) = call(command).unwrap();
            assert_eq!(
                (tool, arguments),
                (Tool::Maven, words(&["-q", "test"])),
                "{command:?}"
            );
        }
        let (tool, folder, _) = call(&["env", "-C", "app", "gradle", "check"]).unwrap();
        assert_eq!((tool, folder.as_str()), (Tool::Gradle, "app"));
        let (_, folder, _) = call(&["sh", "-c", "cd web\nmvn test"]).unwrap();
        assert_eq!(folder, "web");
        assert_eq!(call(&["env", "A=b"]), None);
        assert_eq!(call(&["java", "-jar", "mvn"]), None);
        assert_eq!(call(&["echo", "mvn"]), None, "there is no project here");
    }

    #[test]
    fn project_files_determine_the_tool_of_an_unknown_script() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        let script = path("ci.sh");
        fs::write(
            &script,
            "#!/bin/sh\n# mvn test\ncd \"$(dirname \"$0\")\"\n./tool \"$@\"\n",
        )
        .unwrap();
        let folder = root.path().to_owned();
        assert_eq!(Call::by_project(folder.clone()), None);
        fs::write(path("build.gradle.kts"), "").unwrap();
        assert_eq!(Call::by_project(folder.clone()).unwrap().tool, Tool::Gradle);
        fs::write(path("pom.xml"), "").unwrap();
        assert_eq!(Call::by_project(folder.clone()).unwrap().tool, Tool::Maven);
        let text = content(&script, true).unwrap();
        assert_eq!(Call::in_script(&text, &folder), None);
        let text = format!("{text}if true; then gradle :web:test; fi\n");
        let call = Call::in_script(&text, &folder).unwrap();
        assert_eq!(call.tool, Tool::Gradle);
        assert_eq!(call.arguments, words(&[":web:test"]));
        assert_eq!(content(root.path(), true), None);
    }
}
