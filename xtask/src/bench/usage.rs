//! What a process has used: CPU time, as the kernel accounts it when the process ends, and memory.

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What a process, and the processes it waited for, have used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// User and system.
    pub cpu: Duration,
    /// From its start to its end.
    pub wall: Duration,
    /// The most memory that the process itself had at a time, in bytes.
    pub peak: u64,
}

/// How often a running process is asked for its memory. The kernel keeps the most, so only the last moments are missed.
const LOOK: Duration = Duration::from_millis(2);

/// Runs a program to its end.
///
/// # Errors
/// If it cannot be started, or does not succeed.
pub fn of(command: &mut Command) -> Result<Usage> {
    let before = children()?;
    let errors = tempfile::NamedTempFile::new()?;
    let begun = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors.reopen()?)
        .spawn()
        .with_context(|| format!("failed to start {}", crate::workspace::shown(command)))?;
    let mut peak = 0;
    let status = loop {
        peak = peak.max(most_memory(&child).unwrap_or(0));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(LOOK);
    };
    let wall = begun.elapsed();
    let cpu = children()?.saturating_sub(before);
    if !status.success() {
        let errors = std::fs::read(errors.path())?;
        bail!("ended with {status}: {}", String::from_utf8_lossy(&errors));
    }
    Ok(Usage { cpu, wall, peak })
}

/// `VmHWM` of proc(5), in bytes; none of a process that has ended.
fn most_memory(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// The CPU time of all children waited for so far.
fn children() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)
        .context("failed to ask for the CPU time of children")?;
    let microseconds = [usage.user_time(), usage.system_time()].map(|time| {
        u64::try_from(time.tv_sec()).unwrap_or(0) * 1_000_000
            + u64::try_from(time.tv_usec()).unwrap_or(0)
    });
    Ok(Duration::from_micros(microseconds[0] + microseconds[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_and_memory_of_a_child_are_counted() {
        let loop_of_sh = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        let busy = of(Command::new("sh").args(["-c", loop_of_sh])).expect("sh runs");
        assert!(busy.cpu > Duration::ZERO && busy.peak > 100_000, "{busy:?}");
        assert!(busy.wall > Duration::ZERO);
    }

    #[test]
    fn failing_program_is_an_error_with_its_words_and_no_measurement() {
        let failed = of(Command::new("sh").args(["-c", "echo why >&2; exit 3"]));
        let error = failed.expect_err("it failed").to_string();
        assert!(error.contains("why"), "{error}");
    }
}
