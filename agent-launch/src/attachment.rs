//! The attach channel of a running JVM, with a line about each long wait for its answer.

use std::time::Duration;

use attach::{AttachError, Attachment};

use standard_streams::show::{name, say};

/// Time until the first line about a wait, and between further ones.
const FIRST: Duration = Duration::from_secs(4);
const NEXT: Duration = Duration::from_secs(30);

/// Opens the channel of the JVM `pid`.
///
/// # Errors
/// As [`Attachment::open`].
pub fn open(pid: i32) -> Result<Attachment, AttachError> {
    Attachment::open_reporting(pid, |pending| {
        say(waiting(
            &format!("the JVM {}", pending.pid),
            pending.command,
            pending.seconds,
        ));
    })
}

/// Returns the line about a wait for the answer to a command.
fn waiting(who: &str, command: &str, seconds: u64) -> String {
    format!(
        "{who} has not answered `{}` for {seconds} s; it may be in a long pause, or busy with another request. Waiting goes on",
        name(command)
    )
}

/// The wait for one answer of an agent.
#[derive(Debug)]
pub struct AgentWait {
    pid: i32,
    next: Duration,
}

impl AgentWait {
    /// Begins to wait for an answer of the agent in the JVM `pid`.
    #[must_use]
    pub fn new(pid: i32) -> Self {
        Self { pid, next: FIRST }
    }

    /// Prints a line if the wait `waited` for the answer to `request` is long.
    pub fn tell(&mut self, waited: Duration, request: impl FnOnce() -> String) {
        if let Some(line) = self.line(waited, request) {
            say(line);
        }
    }

    fn line(&mut self, waited: Duration, request: impl FnOnce() -> String) -> Option<String> {
        if waited < self.next {
            return None;
        }
        self.next = waited + NEXT;
        let who = format!("the agent in {}", self.pid);
        Some(waiting(&who, &request(), waited.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_wait_is_told_at_once_and_then_now_and_again() {
        let mut wait = AgentWait::new(4711);
        let seconds = [1, 4, 5, 33, 34, 35, 64];
        let told =
            seconds.map(|seconds| wait.line(Duration::from_secs(seconds), || "status".to_owned()));
        let told: Vec<u64> = seconds
            .into_iter()
            .zip(&told)
            .filter_map(|(seconds, line)| line.as_ref().map(|_| seconds))
            .collect();
        assert_eq!(told, [4, 34, 64]);
        let line = waiting("the agent in 4711", "status", 34);
        assert!(line.starts_with("the agent in 4711 has not answered `status` for 34 s;"));
    }
}
