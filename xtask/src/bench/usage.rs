//! The resources that a process used: CPU time, as the kernel reports it at its end, and memory.

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use std::fs::DirEntry;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The resources of a process and the processes it waited for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// User and system CPU time.
    pub cpu: Duration,
    /// Time from start to end.
    pub wall: Duration,
    /// Peak resident memory of the process itself, in bytes.
    pub peak: u64,
    /// Highest peak of a single process below it, in bytes.
    pub peak_below: u64,
}

/// Interval of reading a running process's memory. The kernel keeps the peak, so only the last moments are missed.
const LOOK: Duration = Duration::from_millis(2);

/// Number of readings between searches for child processes, which take longer.
const LOOKS_BELOW: u32 = 25;

/// Runs a program to its end.
///
/// # Errors
/// If it cannot be started, or fails.
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
    let (mut peak, mut peak_below) = (0, 0);
    let mut looks = 0_u32;
    let status = loop {
        peak = peak.max(most_memory(child.id()).unwrap_or(0));
        if looks.is_multiple_of(LOOKS_BELOW) {
            let memory = below(child.id()).into_iter().filter_map(most_memory);
            peak_below = memory.fold(peak_below, u64::max);
        }
        looks = looks.wrapping_add(1);
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
    Ok(Usage {
        cpu,
        wall,
        peak,
        peak_below,
    })
}

/// Returns `VmHWM` of proc(5), in bytes, if the process still runs.
fn most_memory(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Returns the descendants of a process.
fn below(pid: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = processes().unwrap_or_default();
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        let children = parents.iter().filter(|(_, of)| *of == parent);
        found.extend(children.map(|(child, _)| *child));
        next += 1;
    }
    found.split_off(1)
}

/// Returns each process of the machine with its parent, from `stat` in proc(5).
fn processes() -> Result<Vec<(u32, u32)>> {
    let process = |entry: std::io::Result<DirEntry>| {
        let entry = entry.ok()?;
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let (_, behind_name) = stat.rsplit_once(')')?;
        let parent = behind_name.split_whitespace().nth(1)?.parse().ok()?;
        Some((pid, parent))
    };
    Ok(std::fs::read_dir("/proc")?.filter_map(process).collect())
}

/// Returns the CPU time of all children waited for so far.
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
    use std::io::{BufRead, BufReader};

    #[test]
    fn cpu_time_and_memory_of_a_child_are_counted() {
        let loop_of_sh = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        let busy = of(Command::new("sh").args(["-c", loop_of_sh])).expect("sh runs");
        assert!(busy.cpu > Duration::ZERO && busy.peak > 100_000, "{busy:?}");
        assert!(busy.wall > Duration::ZERO);
    }

    #[test]
    fn processes_that_a_child_starts_are_found() {
        let mut sh = Command::new("sh");
        let sh = sh.args(["-c", "sleep 60 & echo $!; wait"]);
        let mut child = sh.stdout(Stdio::piped()).spawn().expect("sh runs");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        output.read_line(&mut line).expect("a line");
        let sleep: u32 = line.trim().parse().expect("a process");
        assert_eq!(below(child.id()), [sleep]);
        assert!(below(std::process::id()).contains(&sleep));
        let pid = nix::unistd::Pid::from_raw(sleep.cast_signed());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("our own process");
        child.wait().expect("it ends");
    }

    #[test]
    fn failing_program_is_an_error_with_its_words_and_no_measurement() {
        let failed = of(Command::new("sh").args(["-c", "echo why >&2; exit 3"]));
        let error = failed.expect_err("it failed").to_string();
        assert!(error.contains("why"), "{error}");
    }
}
