//! The commands that use a JVM, as they describe themselves to one another.

use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use control::message::{self, Holder};
use errors::Error;

/// Length limit of a command line, in characters.
const LONGEST: usize = 500;

/// This command, with the time of its first request to an agent.
static THIS: LazyLock<Holder> = LazyLock::new(|| {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    Holder {
        plugin: String::new(),
        pid: std::process::id(),
        user: probes::user_name(rustix::process::geteuid().as_raw()),
        since_ms: now.map_or(0, |now| now.as_millis().try_into().unwrap_or(u64::MAX)),
        command: command_line(),
    }
});

/// Returns this command, for an agent that keeps a lease for it.
#[must_use]
pub fn this_command() -> Holder {
    THIS.clone()
}

/// Returns the name under which this command records a JVM's own events.
#[must_use]
pub fn recording() -> String {
    message::recording(&format!("{}-{}", THIS.pid, THIS.since_ms))
}

/// Adds the other commands that hold such a plugin to a problem.
#[must_use]
pub fn named(problem: Error, holders: &[Holder], is_such: impl Fn(&str) -> bool) -> Error {
    let is_such = |holder: &&Holder| is_such(&holder.plugin);
    let mut others = others(holders).filter(is_such).peekable();
    if others.peek().is_none() {
        let text = "no command: it stays until a command or the end of the JVM removes it";
        return problem.with("held by", text);
    }
    others.fold(problem, |problem, holder| {
        problem.with("held by", described(holder))
    })
}

/// Returns the other commands.
pub fn others(holders: &[Holder]) -> impl Iterator<Item = &Holder> {
    let is_other = |holder: &&Holder| (holder.pid, holder.since_ms) != (THIS.pid, THIS.since_ms);
    holders.iter().filter(is_other)
}

/// Describes a command in words.
#[must_use]
pub fn described(holder: &Holder) -> String {
    let since = probes::date_and_time(holder.since_ms);
    format!(
        "process {} of {}, since {since} UTC: {}",
        holder.pid,
        escape::line(&holder.user),
        escape::line(&holder.command)
    )
}

/// Returns the command line, arguments with spaces in quotes.
fn command_line() -> String {
    let mut arguments = std::env::args_os();
    let name = arguments.next().map(std::path::PathBuf::from);
    let name = name.as_deref().and_then(std::path::Path::file_name);
    let words = name.map(ToOwned::to_owned).into_iter().chain(arguments);
    let quoted = words.map(|word| {
        let word = word.to_string_lossy().into_owned();
        let is_plain = !word.is_empty() && !word.contains([' ', '\t', '"', '\'', '*', '$', '\n']);
        if is_plain { word } else { format!("'{word}'") }
    });
    let line = quoted.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_holders_are_named_and_never_this_command() {
        let other = Holder {
            plugin: "trace".to_owned(),
            pid: 7,
            user: "alice".to_owned(),
            since_ms: 1_790_000_000_000,
            command: "classhook trace 4711 --methods 'a.**'\n".to_owned(),
        };
        let ours = Holder {
            plugin: "trace".to_owned(),
            ..this_command()
        };
        let told = |holders: &[Holder], plugin: &str| {
            let problem = Error::mistake("H0609", "it is there");
            named(problem, holders, |held| held == plugin).to_string()
        };
        let both = [ours.clone(), other.clone()];
        let pids = others(&both).map(|holder| holder.pid);
        assert_eq!(pids.collect::<Vec<_>>(), [7]);
        let text = told(&both, "trace");
        let expected = "process 7 of alice, since 2026-09-21 14:13:20 UTC: classhook trace 4711 --methods 'a.**'\\n";
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.matches("held by").count(), 1, "{text}");
        for text in [told(&[ours], "trace"), told(&[other], "coverage")] {
            assert!(text.contains("held by  no command"), "{text}");
        }
    }
}
