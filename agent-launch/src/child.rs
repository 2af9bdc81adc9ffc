//! The child process: it shares the terminal, receives our signals, and determines our exit code.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::thread;

use rustix::process::{Pid, PidfdFlags, Signal, getpgrp, pidfd_open, pidfd_send_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

/// Starts the command, waits for it, and forwards the signals that this process receives.
pub(crate) fn run(command: &mut Command) -> io::Result<u8> {
    let ignored = ignored_signals();
    let wanted = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
        .into_iter()
        .filter(|signal| !is_in(ignored, *signal));
    let mut signals = Signals::new(wanted)?; // before the child starts, so that none is missed
    let handle = signals.handle();
    let mut child = command.spawn()?;
    let process = pidfd_open(pid_of(&child)?, PidfdFlags::empty())?;
    let forward = thread::spawn(move || {
        for signal in signals.forever() {
            if let Some(signal) =
                Signal::from_named_raw(signal).filter(|signal| is_ours_alone(*signal))
            {
                let _ = pidfd_send_signal(&process, signal); // the child may just have ended
            }
        }
    });
    let status = child.wait();
    handle.close();
    let _ = forward.join();
    status.map(exit_code)
}

fn pid_of(child: &Child) -> io::Result<Pid> {
    Pid::from_raw(i32::try_from(child.id()).unwrap_or(0))
        .ok_or_else(|| io::Error::other("the child has no process id"))
}

/// Checks whether only this process got the signal. A key of the terminal, and its end, reach the
/// whole foreground group, including the child.
fn is_ours_alone(signal: Signal) -> bool {
    let in_foreground = || {
        let terminal = std::fs::File::open("/dev/tty")?;
        io::Result::Ok(rustix::termios::tcgetpgrp(terminal)? == getpgrp())
    };
    signal == Signal::TERM || !in_foreground().unwrap_or(false)
}

/// Returns the signals that this process ignores since its start (`nohup`). The child must ignore
/// them too.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

fn is_in(mask: u64, signal: i32) -> bool {
    mask >> (signal - 1) & 1 == 1
}

fn exit_code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok())
        .unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> u8 {
        run(Command::new("sh").args(["-c", script])).unwrap()
    }

    #[test]
    fn exit_code_of_the_child_is_returned() {
        assert_eq!(
            [shell("exit 0"), shell("exit 3"), shell("exit 255")],
            [0, 3, 255]
        );
    }

    #[test]
    fn death_by_signal_is_128_and_the_signal() {
        assert_eq!(shell("kill -9 $$"), 137);
        assert_eq!(shell("kill -TERM $$"), 143);
    }

    #[test]
    fn ignored_signals_stay_ignored() {
        assert!(is_in(0b1, SIGHUP) && !is_in(0b10, SIGHUP) && is_in(0b10, SIGINT));
    }
}
