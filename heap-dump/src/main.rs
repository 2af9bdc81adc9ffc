//! `classhook-heap`: the objects of a heap dump that retain the most, for `classhook profile … --heap retainers`.
//!
//! It needs some 80 bytes of memory for each object of the dump and 12 for each reference. So it is a program of its
//! own.
//!
//! | module | |
//! |---|---|
//! | [`records`] | the records of an HPROF file |
//! | [`graph`] | the objects of the dump and the references between them |
//! | [`dominators`] | the last object on every path to another |
//! | [`retainers`] | the retained size of each object, and the table |

mod dominators;
mod graph;
mod records;
mod retainers;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::ExitCode;

const VERSION: &str = env!("CARGO_PKG_VERSION");

const USAGE: &str = "\
Prints which objects of a heap dump retain the most; `classhook profile --heap retainers` starts this program by itself:
classhook-heap VERSION FILE.hprof ROWS";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words == ["--version"] {
        println!("classhook-heap {VERSION}");
        return ExitCode::SUCCESS;
    }
    let [VERSION, file, rows] = words.as_slice() else {
        eprintln!("{USAGE}\nthis is version {VERSION}");
        return ExitCode::from(2);
    };
    let Ok(rows) = rows.parse() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match retainers::table(Path::new(file), rows) {
        Ok(text) => {
            print!("{}", escape::lines(&text));
            ExitCode::SUCCESS
        }
        Err(cause) => {
            eprintln!("{}", escape::line(&cause));
            ExitCode::from(3)
        }
    }
}
