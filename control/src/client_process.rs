//! The process of a client, as `/proc` shows it. A command that waits for a core keeps its lease; one that is stopped or
//! hangs does not.

use std::fs;

/// The process of a client at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessState {
    /// It is in another pid namespace, or `/proc` does not show it.
    Unseen,
    /// A signal or a debugger has stopped it.
    Stopped,
    /// It is alive.
    Alive {
        /// A thread runs, waits for a core, or waits for a disk.
        is_busy: bool,
        /// The CPU time of all its threads so far, in ticks of the kernel.
        ticks: u64,
    },
}

impl ProcessState {
    /// Reads the state of the process `pid`. A pid of 0 means a process of another namespace.
    pub(crate) fn read(pid: i32) -> Self {
        let threads = match pid {
            1.. => fs::read_dir(format!("/proc/{pid}/task")).ok(),
            _ => None,
        };
        let lines = threads.into_iter().flatten().flatten();
        let lines = lines.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
        Self::of(lines)
    }

    /// Returns the state that the `stat` lines of all threads of a process show.
    fn of(lines: impl Iterator<Item = String>) -> Self {
        let threads: Vec<(char, u64)> = lines.filter_map(|line| thread(&line)).collect();
        if threads.is_empty() {
            return Self::Unseen;
        }
        if threads.iter().all(|(state, _)| matches!(state, 'T' | 't')) {
            return Self::Stopped;
        }
        Self::Alive {
            is_busy: threads.iter().any(|(state, _)| matches!(state, 'R' | 'D')),
            ticks: threads.iter().map(|(_, ticks)| ticks).sum(),
        }
    }
}

/// Returns the state letter and the ticks of a line of `/proc/PID/task/TID/stat` (proc(5)). The name in parentheses may
/// hold spaces and parentheses.
fn thread(line: &str) -> Option<(char, u64)> {
    let (_, fields) = line.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?.chars().next()?;
    let mut times = fields.skip(10).map_while(|field| field.parse::<u64>().ok());
    Some((state, times.next()?.saturating_add(times.next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Pid, Signal, kill_process};
    use std::process::{Child, Command};

    const MAIN: &str = "7 (a) R (b)) S 1 7 7 0 -1 4194560 1 0 0 0 30 12 0 0 20 0 2 0 99 8192";

    fn state(lines: &[&str]) -> ProcessState {
        ProcessState::of(lines.iter().map(|line| (*line).to_owned()))
    }

    #[test]
    fn state_unites_all_threads() {
        let alive = |is_busy, ticks| ProcessState::Alive { is_busy, ticks };
        assert_eq!(state(&[]), ProcessState::Unseen);
        assert_eq!(state(&["7 (a"]), ProcessState::Unseen);
        assert_eq!(state(&[MAIN]), alive(false, 42));
        for busy in [" R 1 ", " D 1 "] {
            let other = MAIN.replace(" S 1 ", busy);
            assert_eq!(state(&[MAIN, &other]), alive(true, 84));
        }
        for stopped in [" T 1 ", " t 1 "] {
            let other = MAIN.replace(" S 1 ", stopped);
            assert_eq!(state(&[&other, &other]), ProcessState::Stopped);
            assert_eq!(state(&[MAIN, &other]), alive(false, 84));
        }
    }

    fn await_state(child: &Child, expected: impl Fn(ProcessState) -> bool) {
        let pid = i32::try_from(child.id()).unwrap();
        while !expected(ProcessState::read(pid)) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn running_waiting_stopped_and_ended_processes_are_told_apart() {
        let mut child = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .unwrap();
        let signal = |child: &Child, signal| kill_process(Pid::from_child(child), signal).unwrap();
        await_state(&child, |state| {
            matches!(
                state,
                ProcessState::Alive {
                    is_busy: true,
                    ticks: 1..
                }
            )
        });
        signal(&child, Signal::STOP);
        await_state(&child, |state| state == ProcessState::Stopped);
        child.kill().unwrap();
        child.wait().unwrap();
        await_state(&child, |state| state == ProcessState::Unseen);

        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        await_state(&child, |state| {
            matches!(state, ProcessState::Alive { is_busy: false, .. })
        });
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(ProcessState::read(0), ProcessState::Unseen);
    }
}
