//! Paths from the GC roots to the instances of a class in a running JVM.

use std::fmt::Write;
use std::time::Duration;

use agent_launch::attachment;
use control::Request;
use control::message::HeapPaths;
use errors::{Error, PARTIAL, codes};
use standard_streams::show;
use trace::names::printable;
use trace::numbers::thousands;

use crate::pause::{Limits, Pause, Walk};
use crate::visit;

/// Prints paths from the GC roots to instances of a class, and returns the exit code.
///
/// # Errors
/// If the JVM cannot be reached, has no such class (`H0664`), or the pause is too long (`H0659`).
pub fn show(pid: i32, class: &str, most: usize, limits: &Limits) -> Result<u8, Error> {
    limits.allow(&attachment::open(pid).map_err(Error::from)?, Walk::Pass)?;
    let mut found = ask(pid, class, limits.first_budget())?;
    if found.out_of_time && limits.goes_on(Duration::from_millis(found.still_ms)) {
        found = ask(pid, class, limits.max_pause)?;
    }
    show::show(&text(class, &found, most))?;
    Ok(match found.cut {
        true => PARTIAL,
        false => 0,
    })
}

/// Requests the paths from an agent, in passes that pause the program for `still` at most in total.
fn ask(pid: i32, class: &str, still: Option<Duration>) -> Result<HeapPaths, Error> {
    let request = Request::HeapPaths {
        class: class.to_owned(),
        max_ms: still.map(|still| u64::try_from(still.as_millis()).unwrap_or(u64::MAX)),
    };
    let _pause = Pause::begin(Walk::Pass);
    visit::ask(pid, &request).map_err(|problem| match problem.code() {
        codes::H0664 => problem.with(
            "help",
            "name one class as in `--heap histogram`: com.acme.Order, com.acme.Order$Line, byte[]",
        ),
        _ => problem,
    })
}

fn text(class: &str, found: &HeapPaths, most: usize) -> String {
    let class = printable(class);
    let count = thousands(found.instances);
    let of = match found.more {
        true => format!("{count} instances of {class}, drawn at random"),
        false => format!("{count} instances of {class}"),
    };
    let mut text = String::new();
    for path in found.paths.iter().take(most) {
        let _ = writeln!(text, "{} of {of}:", thousands(path.instances));
        for step in &path.steps {
            let _ = writeln!(text, "  {}", printable(step));
        }
        text.push('\n');
    }
    if let Some(more) = found.paths.len().checked_sub(most).filter(|more| *more > 0) {
        let _ = writeln!(
            text,
            "… and {} more kinds of paths\n",
            thousands(more as u64)
        );
    }
    if found.without_path > 0 {
        let why = match (found.out_of_time, found.cut) {
            (true, _) => "no path was found before the pause reached its limit",
            (_, true) => "no path was found before the search reached its limits",
            _ => "only soft, weak, phantom references or finalizers lead to them",
        };
        let _ = writeln!(text, "{} of {of}: {why}\n", thousands(found.without_path));
    }
    if found.cut && found.without_path == 0 {
        text.push_str("the search reached its limits, so there may be more instances\n\n");
    }
    if found.instances == 0 {
        let _ = writeln!(text, "no root leads to an instance of {class}\n");
    }
    if found.more {
        text.push_str("there are more instances; `--heap retainers` shows which objects hold the most bytes\n\n");
    }
    let (ms, passes) = (thousands(found.still_ms), found.passes);
    let passes = match passes {
        1 => "1 pass".to_owned(),
        passes => format!("{passes} passes"),
    };
    let _ = writeln!(text, "the program was paused for {ms} ms, in {passes}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::message::HeapPath;

    #[test]
    fn paths_are_shown_with_what_is_missing() {
        let path = |instances, root: &str| HeapPath {
            instances,
            steps: vec![root.to_owned(), "a.B".to_owned()],
        };
        let found = HeapPaths {
            instances: 1000,
            more: true,
            without_path: 2,
            cut: true,
            out_of_time: false,
            passes: 100,
            still_ms: 1234,
            paths: vec![path(997, "static A.\u{202e}x"), path(1, "static A.y")],
        };
        let text = text("a.B", &found, 1);
        assert_eq!(
            text,
            "997 of 1,000 instances of a.B, drawn at random:\n  static A.\\u202ex\n  a.B\n\n\
             … and 1 more kinds of paths\n\n\
             2 of 1,000 instances of a.B, drawn at random: no path was found before the search reached its limits\n\n\
             there are more instances; `--heap retainers` shows which objects hold the most bytes\n\n\
             the program was paused for 1,234 ms, in 100 passes\n"
        );
    }
}
