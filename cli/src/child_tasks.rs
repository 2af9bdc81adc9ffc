//! Tasks that this program runs in child processes of its own: `classhook child-process TASK …`.
//!
//! | task | started by | reason for a process of its own |
//! |---|---|---|
//! | `readers` | [`class_readers`] | other readers of class files may crash or take all memory |
//! | `compile` | [`agent_launch::plugin_compiler`], and the agent | the compiler may take minutes and gigabytes |
//! | `retainers FILE ROWS` | [`profiles::retainers`] | memory grows with the heap dump |
//! | `send ADDRESS TOKEN FOLDER SELECTION` | [`relay::sending`] | it sends the rest if the command is killed |
//!
//! The word `-` in place of TOKEN means a receiver without a token.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::ExitCode;

use child_process::ARGUMENT;
use child_process::own_program::{READERS, RETAINERS, SEND};
use errors::PARTIAL;
use plugin_code::COMPILE;
use serde_json::json;

/// Runs the task of a child process. Returns `None` for a command line that a user wrote.
#[must_use]
pub fn run(words: &[OsString]) -> Option<ExitCode> {
    let [_, first, task, rest @ ..] = words else {
        return None;
    };
    if first != ARGUMENT {
        return None;
    }
    Some(match serve(task, rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            eprintln!("{}", escape::line(&cause));
            ExitCode::from(PARTIAL)
        }
    })
}

fn serve(task: &OsStr, words: &[OsString]) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    match (task.to_str().unwrap_or_default(), words) {
        (READERS, []) => class_readers::readers::serve().map_err(told),
        (COMPILE, []) => plugin_compiler::serve().map_err(told),
        (RETAINERS, [file, rows]) => {
            let table = heap_dump::table(Path::new(file), number(rows)?)?;
            print!("{}", escape::lines(&table));
            Ok(())
        }
        (SEND, [address, token, folder, selection]) => {
            let (address, selection) = (text(address)?, text(selection)?);
            let sent = relay::send(address, optional(token), Path::new(folder), selection);
            println!("{}", json!(sent));
            Ok(())
        }
        _ => {
            Err("expected a task that this version of classhook has, with its arguments".to_owned())
        }
    }
}

fn text(word: &OsStr) -> Result<&str, String> {
    let word = word.to_str();
    word.ok_or_else(|| "expected UTF-8".to_owned())
}

fn number<T: std::str::FromStr>(word: &OsStr) -> Result<T, String> {
    let number = text(word)?.parse();
    number.map_err(|_| format!("expected a number, found {}", word.to_string_lossy()))
}

fn optional(word: &OsStr) -> Option<&Path> {
    (word != "-").then(|| Path::new(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_of_a_user_is_no_task() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(run(&words(&["classhook"])), None);
        assert_eq!(run(&words(&["classhook", "report", "readers"])), None);
    }

    #[test]
    fn unknown_task_or_wrong_arguments_are_refused() {
        for words in [&["dance"][..], &[RETAINERS, "file"], &[SEND]] {
            let words: Vec<_> = words.iter().map(OsString::from).collect();
            let refused = serve(&words[0], &words[1..]).unwrap_err();
            assert!(refused.starts_with("expected a task"), "{refused}");
        }
        let rows = serve(RETAINERS.as_ref(), &["file".into(), "many".into()]);
        assert_eq!(rows, Err("expected a number, found many".to_owned()));
    }
}
