//! The CPU time of the process and of its threads without Java code, from Linux (`proc(5)`).

use jvm_events::system_threads::{COMM, Work};
use std::collections::{HashMap, HashSet};
use std::fs;

/// Nanoseconds of a tick, Linux's unit of CPU time: `USER_HZ` is 100 on all architectures of HotSpot.
const TICK: u64 = 10_000_000;

/// The threads of this process.
#[derive(Debug)]
pub(super) struct NativeThreads {
    /// Ticks by number and start time of a thread, because Linux reuses numbers.
    known: HashMap<(u32, u64), u64>,
    /// Ticks of the process at the start.
    begin: u64,
}

/// A line of `/proc/PID/stat`.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    name: String,
    /// Ticks in user and in system mode.
    ticks: u64,
    /// Start time of the thread, in ticks since the start of the system.
    start: u64,
}

/// CPU time of a thread since the last call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CpuTimeUse {
    pub name: String,
    pub work: Work,
    pub cpu_ns: u64,
}

impl NativeThreads {
    /// Begins to count CPU time. Returns `None` without `/proc`.
    pub fn new() -> Option<Self> {
        let begin = Stat::read("/proc/self/stat")?.ticks;
        let all = all().into_iter();
        let known = all.map(|(id, stat)| ((id, stat.start), stat.ticks));
        Some(Self {
            known: known.collect(),
            begin,
        })
    }

    /// The CPU time of the process since the start, in nanoseconds.
    pub fn process(&self) -> u64 {
        let now = Stat::read("/proc/self/stat").map_or(0, |stat| stat.ticks);
        now.saturating_sub(self.begin) * TICK
    }

    /// The CPU time of threads with HotSpot's names since the last call. A thread whose name is also that of a Java
    /// thread is left out, as the two cannot be distinguished.
    pub fn take_usage(&mut self, of_java: &HashSet<String>) -> Vec<CpuTimeUse> {
        self.add(all(), of_java)
    }

    fn add(&mut self, all: Vec<(u32, Stat)>, of_java: &HashSet<String>) -> Vec<CpuTimeUse> {
        let mut used = Vec::new();
        let mut known = HashMap::with_capacity(all.len());
        for (id, stat) in all {
            let key = (id, stat.start);
            let before = self.known.remove(&key).unwrap_or(0);
            known.insert(key, stat.ticks);
            let ticks = stat.ticks.saturating_sub(before);
            let work = Work::of(&stat.name).filter(|_| !of_java.contains(&stat.name));
            if let (Some(work), 1..) = (work, ticks) {
                used.push(CpuTimeUse {
                    name: stat.name,
                    work,
                    cpu_ns: ticks * TICK,
                });
            }
        }
        self.known = known;
        used
    }
}

/// The name of a Java thread, truncated as Linux stores it.
pub(super) fn comm(name: &str) -> String {
    let end = name.floor_char_boundary(COMM);
    name[..end].to_owned()
}

/// Checks whether a thread of this process has this name, which may have 15 bytes.
pub(crate) fn is_any_named(name: &str) -> bool {
    all().iter().any(|(_, stat)| stat.name == name)
}

fn all() -> Vec<(u32, Stat)> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten();
    let task = |entry: fs::DirEntry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        // A thread that has ended is left out.
        Some((
            id,
            Stat::read(&entry.path().join("stat").to_string_lossy())?,
        ))
    };
    tasks.flatten().filter_map(task).collect()
}

impl Stat {
    fn read(path: &str) -> Option<Self> {
        Self::parse(&String::from_utf8_lossy(&fs::read(path).ok()?))
    }

    /// Parses `4711 (name) S …`; the name may contain spaces and parentheses.
    fn parse(line: &str) -> Option<Self> {
        let (front, behind) = line.rsplit_once(')')?;
        let (_, name) = front.split_once('(')?;
        let fields: Vec<&str> = behind.split_whitespace().collect();
        // Fields 14, 15 and 22 of the line; field 3 is the first after the name.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self {
            name: name.to_owned(),
            ticks: field(14)? + field(15)?,
            start: field(22)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(name: &str, ticks: u64, start: u64) -> Stat {
        let name = name.to_owned();
        Stat { name, ticks, start }
    }

    #[test]
    fn stat_line_is_parsed_for_any_thread_name() {
        let line = "4711 (a) b (c)) S 1 2 3 0 -1 4194624 5 6 7 8 30 12 0 0 20 0 23 0 998877 1 2";
        assert_eq!(Stat::parse(line), Some(stat("a) b (c)", 42, 998_877)));
        assert_eq!(Stat::parse("4711 (x) S 1"), None);
        assert!(all().iter().any(|(_, stat)| stat.start > 0));
    }

    #[test]
    fn cpu_time_counts_from_the_start_and_not_for_names_of_java_threads() {
        let mut tasks = NativeThreads {
            known: [((1, 5), 100)].into(),
            begin: 0,
        };
        let of_java = ["ZWorker#0".to_owned()].into();
        let all = vec![
            (1, stat("VM Thread", 130, 5)),
            (2, stat("GC Thread#0", 7, 9)),
            (3, stat("ZWorker#0", 7, 9)),
            (4, stat("main", 7, 9)),
        ];
        let used = |name: &str, work, ticks| CpuTimeUse {
            name: name.to_owned(),
            work,
            cpu_ns: ticks * TICK,
        };
        let expected = [
            used("VM Thread", Work::Vm, 30),
            used("GC Thread#0", Work::Gc, 7),
        ];
        assert_eq!(tasks.add(all, &of_java), expected);
        // Linux reuses the number 2.
        let next = vec![
            (2, stat("C2 CompilerThre", 4, 70)),
            (1, stat("VM Thread", 130, 5)),
        ];
        let expected = [used("C2 CompilerThre", Work::Jit, 4)];
        assert_eq!(tasks.add(next, &of_java), expected);
    }

    #[test]
    fn java_thread_names_are_truncated_as_by_linux() {
        assert_eq!(comm("http-nio-8080-exec-1"), "http-nio-8080-e");
        assert_eq!(comm("ä234567890123456"), "ä2345678901234");
    }
}
