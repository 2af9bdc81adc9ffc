//! `classhook-heap`: which objects of a heap dump retain the most, for `classhook profile … --heap retainers`.
//!
//! It takes memory by the size of the heap that it reads, some 80 bytes for an object and 12 for a reference, so it is a
//! program of its own.
//!
//! | module | |
//! |---|---|
//! | [`records`] | the records of an HPROF file |
//! | [`graph`] | its objects and the references between them |
//! | [`dominators`] | which object is on every path to another |
//! | [`retainers`] | what each object retains, and the table |

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
