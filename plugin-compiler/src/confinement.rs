//! Limits and open files of this process.

use std::fs;
use std::io;

use child_process::{Resource, limit};
use plugin_code::limits::Limits;

/// The last of the three standard streams.
const STDERR: i32 = 2;

/// Closes the JVM's files, which a child inherits, except for the three streams. The JVM could close them only in a
/// copy of itself (`fork`), and a large JVM has no memory for a copy.
///
/// # Errors
/// If the list of open files cannot be read.
pub fn close_inherited() -> io::Result<()> {
    let entries = fs::read_dir("/proc/self/fd")?.flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let inherited: Vec<i32> = numbers.filter(|number| *number > STDERR).collect();
    for number in inherited {
        let _ = nix::unistd::close(number); // the folder itself is closed by now
    }
    Ok(())
}

/// Limits this process. If memory runs out, the system ends this process and not the JVM that waits for it.
///
/// # Errors
/// The errors of the system.
pub fn restrict(limits: Limits) -> io::Result<()> {
    let _ = fs::write("/proc/self/oom_score_adj", "1000"); // the limits below hold without it
    limit(Resource::As, limits.memory)?;
    limit(Resource::Cpu, limits.cpu.as_secs())?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)
}
