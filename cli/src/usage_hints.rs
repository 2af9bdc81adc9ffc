//! Usage errors: a command without `--` in front of it, and a missing command or JVM.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory};
use coverage_inputs::run_files;
use errors::{Error, codes};

use crate::commands::Classhook;
use standard_streams::show::complain;

/// Returns a suggestion if clap refused `words` because of a command without `--`, or without a
/// command or a JVM.
#[must_use]
pub fn problem(error: &clap::Error, words: &[OsString]) -> Option<Error> {
    without_dashes(error, words).or_else(|| without_target(error, words))
}

/// Code of a command line that clap refuses.
const REFUSED: &str = codes::H0600;

/// Prints help or version, or the mistake in the command line with its code, and ends the process.
pub fn exit(error: &clap::Error) -> ! {
    match coded(error) {
        None => error.exit(),
        Some(text) => {
            complain(text);
            std::process::exit(error.exit_code())
        }
    }
}

/// Returns clap's message with our code, or nothing for help and version.
fn coded(error: &clap::Error) -> Option<String> {
    let text = error.render().to_string();
    let message = text.strip_prefix("error: ")?;
    Some(format!("error[{REFUSED}]: {message}"))
}

/// Returns the problem for a missing JVM and command, for example an empty shell variable for the
/// PID.
fn without_target(error: &clap::Error, words: &[OsString]) -> Option<Error> {
    let missing = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) => missing,
        _ => return None,
    };
    let is_command = matches!(missing.as_slice(), [one] if one.starts_with("<COMMAND>"));
    if error.kind() != ErrorKind::MissingRequiredArgument || !is_command {
        return None;
    }
    let name = words.get(1)?.to_str()?;
    let classhook = Classhook::command();
    let command = classhook.find_subcommand(name)?;
    command
        .get_positionals()
        .find(|arg| arg.get_id() == "pid")?;
    let message = "neither a running JVM nor a command is named";
    let help = format!(
        "classhook {name} 4711 … with a PID, which `classhook ps` lists, or classhook {name} … -- java -jar app.jar"
    );
    Some(Error::mistake(codes::H0674, message).with("help", help))
}

fn without_dashes(error: &clap::Error, words: &[OsString]) -> Option<Error> {
    let may_be = [
        ErrorKind::InvalidValue,
        ErrorKind::ValueValidation,
        ErrorKind::UnknownArgument,
        ErrorKind::ArgumentConflict,
        ErrorKind::MissingRequiredArgument,
    ];
    let words: Vec<&str> = words
        .iter()
        .map(|word| word.to_str())
        .collect::<Option<_>>()?;
    if !may_be.contains(&error.kind()) || words.contains(&"--") {
        return None;
    }
    let classhook = Classhook::command();
    let (first, name) = words
        .iter()
        .enumerate()
        .skip(1)
        .find(|(_, word)| !word.starts_with('-'))?;
    let command = classhook.find_subcommand(name)?;
    if !command.get_positionals().any(Arg::is_last_set) {
        return None;
    }
    let start = first + 1 + first_operand(command, words.get(first + 1..)?)?;
    let (before, started) = words.split_at(start);
    let program = started.first()?;
    if program.parse::<i32>().is_ok() {
        return None;
    }
    if run_files::is_called_as_one(Path::new(program)) {
        let message = format!("`{program}` is no command: it is named like a run file");
        let help = format!("`classhook report {}` shows it", quoted(program));
        return Some(Error::mistake(codes::H0674, message).with("help", help));
    }
    let shown = |words: &[&str]| {
        words
            .iter()
            .map(|word| quoted(word))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let before = before.get(1..).unwrap_or_default();
    let message = format!("`{program}` needs `--` in front of it, as every command to start");
    let help = format!("classhook {} -- {}", shown(before), shown(started));
    Some(Error::mistake(codes::H0674, message).with("help", help))
}

/// Returns the index of the first word that is neither an option nor an option's value.
fn first_operand(command: &Command, words: &[&str]) -> Option<usize> {
    let mut words = words.iter().enumerate();
    while let Some((index, word)) = words.next() {
        let option = match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(long), _) => {
                let name = long.split('=').next();
                let found = command.get_arguments().find(|arg| arg.get_long() == name)?;
                (!long.contains('=')).then_some(found)
            }
            (None, Some(short)) if !short.is_empty() => {
                let letter = short.chars().next();
                let found = command
                    .get_arguments()
                    .find(|arg| arg.get_short() == letter)?;
                (short.chars().count() == 1).then_some(found)
            }
            _ => return Some(index),
        };
        if option.is_some_and(|option| option.get_action().takes_values()) {
            words.next();
        }
    }
    None
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_./:=,@%+-".contains(letter);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn told(line: &[&str]) -> Option<String> {
        let words: Vec<OsString> = std::iter::once(&"classhook")
            .chain(line)
            .map(OsString::from)
            .collect();
        let error = Classhook::try_parse_from(&words).err()?;
        problem(&error, &words).map(|problem| problem.to_string())
    }

    #[test]
    fn correct_command_is_suggested() {
        for (line, expected) in [
            (
                &["coverage", "mvn", "test"][..],
                "classhook coverage -- mvn test",
            ),
            (
                &["coverage", "--xml", "a b.xml", "mvn", "test"],
                "classhook coverage --xml 'a b.xml' -- mvn test",
            ),
            (
                &["coverage", "--xml=c.xml", "java", "-jar", "app.jar"],
                "classhook coverage --xml=c.xml -- java -jar app.jar",
            ),
            (
                &["coverage", "-o", "out", "./gradlew", "check"],
                "classhook coverage -o out -- ./gradlew check",
            ),
            (
                &["run", "java", "-jar", "app.jar"],
                "classhook run -- java -jar app.jar",
            ),
            (&["run", "ant"], "classhook run -- ant"),
            (
                &["trace", "--methods", "a.**", "--count", "java", "A"],
                "classhook trace --methods 'a.**' --count -- java A",
            ),
            (&["top", "mvn"], "classhook top -- mvn"),
        ] {
            let told = told(line).unwrap_or_default();
            assert!(told.contains("error[H0674]"), "{line:?}: {told}");
            assert!(
                told.contains(&format!("help     {expected}")),
                "{line:?}: {told}"
            );
        }
    }

    #[test]
    fn run_file_argument_suggests_the_report_command() {
        for (line, expected) in [
            (["profile", "a.hook"], "`classhook report a.hook` shows it"),
            (
                ["trace", "b c.events"],
                "`classhook report 'b c.events'` shows it",
            ),
        ] {
            let told = told(&line).unwrap_or_default();
            assert!(told.contains("error[H0674]"), "{line:?}: {told}");
            assert!(told.contains(expected), "{line:?}: {told}");
        }
    }

    #[test]
    fn missing_target_is_reported() {
        for line in [
            &["profile"][..],
            &["profile", "--cpu", "samples", "--for", "1s"],
            &["profile", "--cpu", "samples", "--"],
            &["trace", "--methods", "a.**"],
            &["coverage", "-o", "out"],
        ] {
            let told = told(line).unwrap_or_default();
            assert!(
                told.contains("error[H0674]: neither a running JVM"),
                "{line:?}: {told}"
            );
            let name = line[0];
            assert!(told.contains(&format!("classhook {name} 4711")), "{told}");
        }
        assert_eq!(told(&["run"]), None, "which starts commands alone");
    }

    #[test]
    fn each_mistake_has_a_code() {
        let coded = |line: &[&str]| {
            let words = std::iter::once(&"classhook").chain(line);
            coded(&Classhook::try_parse_from(words).expect_err("a mistake"))
        };
        for (line, expected) in [
            (&["tracee"][..], "unrecognized subcommand 'tracee'"),
            (&["plugin", "ad"], "unrecognized subcommand 'ad'"),
            (&["report", "--no-such"], "unexpected argument '--no-such'"),
            (&["trace", "4711", "--for", "soon"], "invalid value 'soon'"),
            (&["status"], "required arguments were not provided"),
            (
                &["profile", "1", "--slow-limit", "1"],
                "unexpected argument '--slow-limit'",
            ),
        ] {
            let text = coded(line).unwrap_or_default();
            assert!(text.starts_with("error[H0600]: "), "{line:?}: {text}");
            assert!(text.contains(expected), "{line:?}: {text}");
        }
        for line in [&["--help"][..], &["--version"], &[], &["trace", "--help"]] {
            assert_eq!(coded(line), None, "{line:?}");
        }
    }

    #[test]
    fn other_mistakes_are_left_to_clap() {
        for line in [
            &["coverage", "--no-such", "x", "--", "mvn"][..],
            &["coverage", "--no-such", "mvn"],
            &["coverage", "4711", "--for", "soon"],
            &["report"],
            &["status", "mvn"],
            &["--help"],
        ] {
            assert_eq!(told(line), None, "{line:?}");
        }
    }
}
