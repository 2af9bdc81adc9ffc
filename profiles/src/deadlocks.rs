//! Deadlocks in a JVM's thread dump. They include deadlocks from before a recording, and of locks in
//! `java.util.concurrent`.

use std::collections::BTreeSet;

use agent_launch::attachment;
use errors::Error;
use jvm_events::Recorded;
use jvm_events::recorded::{Deadlock, Stuck};
use jvm_events::stacks::{Frame, NATIVE, Node, UNKNOWN};

/// Adds the deadlocks of a running JVM's thread dump that the recording lacks.
///
/// # Errors
/// If the JVM cannot be reached (`H05xx`).
pub fn add(pid: i32, recorded: &mut Recorded) -> Result<(), Error> {
    let jvm = attachment::open(pid).map_err(Error::from)?;
    let answer = jvm.command("threaddump", &["-l"]).map_err(Error::from)?;
    add_named(&answer.text, recorded);
    Ok(())
}

/// A waiting thread of a thread dump.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct WaitingThread {
    thread: String,
    /// The binary name of the class of the monitor or lock.
    class: String,
    is_lock: bool,
    holder: String,
    /// The stack, innermost frame first.
    frames: Vec<Frame>,
}

fn add_named(dump: &str, recorded: &mut Recorded) {
    let known = recorded.deadlocks.iter();
    let known: Vec<BTreeSet<String>> = known.map(|one| threads_of(one, recorded)).collect();
    for cycle in cycles(dump) {
        let names: BTreeSet<String> = cycle.iter().map(|one| one.thread.clone()).collect();
        if known.contains(&names) {
            continue;
        }
        let stuck = cycle.into_iter().map(|one| stuck(recorded, one));
        let threads = stuck.collect();
        recorded.deadlocks.push(Deadlock { threads });
    }
}

fn threads_of(deadlock: &Deadlock, recorded: &Recorded) -> BTreeSet<String> {
    let threads = deadlock.threads.iter();
    let threads = threads.map(|one| recorded.thread(one.thread).to_owned());
    threads.collect()
}

/// Adds names and stack of a thread to the tables of the recording.
fn stuck(recorded: &mut Recorded, waiting: WaitingThread) -> Stuck {
    let mut node = None;
    for frame in waiting.frames.into_iter().rev() {
        let stacks = &mut recorded.stacks;
        let known = stacks.frames.iter().position(|known| *known == frame);
        let frame = known.unwrap_or_else(|| {
            stacks.frames.push(frame);
            stacks.frames.len() - 1
        });
        stacks.nodes.push(Node {
            caller: node,
            frame: index(frame),
        });
        node = Some(index(stacks.nodes.len() - 1));
    }
    Stuck {
        thread: place(&mut recorded.threads, waiting.thread),
        class: place(&mut recorded.classes, waiting.class),
        node,
        is_lock: waiting.is_lock,
    }
}

fn place(names: &mut Vec<String>, name: String) -> u32 {
    let known = names.iter().position(|known| *known == name);
    index(known.unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    }))
}

fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// Parses the deadlocks of a thread dump. Each thread waits for the next one.
fn cycles(dump: &str) -> Vec<Vec<WaitingThread>> {
    let sections = dump.split("Java-level deadlock:\n").skip(1);
    sections.map(cycle).filter(|it| !it.is_empty()).collect()
}

fn cycle(section: &str) -> Vec<WaitingThread> {
    let mut threads: Vec<WaitingThread> = Vec::new();
    let mut at = None;
    for line in section.lines() {
        if let Some(name) = line.strip_prefix('"').and_then(|it| it.strip_suffix("\":")) {
            let known = threads.iter().position(|one| one.thread == name);
            at = Some(known.unwrap_or(threads.len()));
            if known.is_none() {
                threads.push(WaitingThread {
                    thread: name.to_owned(),
                    ..WaitingThread::default()
                });
            }
            continue;
        }
        // The number of deadlocks follows the stacks.
        let Some(thread) = at.and_then(|at| threads.get_mut(at)) else {
            continue;
        };
        let line = line.trim_start();
        if let Some(what) = line.strip_prefix("waiting ") {
            thread.class = class_of(what).to_owned();
            thread.is_lock = what.contains("ownable synchronizer");
        } else if let Some(holder) = line.strip_prefix("which is held by \"") {
            thread.holder = holder.strip_suffix('"').unwrap_or(holder).to_owned();
        } else if let Some(frame) = line.strip_prefix("at ") {
            thread.frames.extend(frame_of(frame));
        }
    }
    in_order(threads)
}

/// Returns the class of `… (object 0x1, a java.lang.Object),` or `… 0x1, (a java.lang.Object),`.
fn class_of(what: &str) -> &str {
    let what = what.trim_end_matches([',', ')']);
    let class = what.rsplit_once("a ").map_or(what, |(_, class)| class);
    class.trim()
}

/// Orders threads so that each waits for the next one. Empty if a holder is not among them.
fn in_order(mut threads: Vec<WaitingThread>) -> Vec<WaitingThread> {
    let mut ordered: Vec<WaitingThread> = Vec::new();
    let mut next = 0;
    while let Some(thread) = threads.get_mut(next).map(std::mem::take) {
        let holder = thread.holder.clone();
        ordered.push(thread);
        match threads.iter().position(|one| one.thread == holder) {
            Some(at) if !holder.is_empty() => next = at,
            _ => break,
        }
    }
    ordered
}

/// Parses `java.lang.Thread.run(java.base@25/Thread.java:1474)` or `sun.misc.Unsafe.park(Native Method)`.
fn frame_of(text: &str) -> Option<Frame> {
    let (method, place) = text.trim_end().strip_suffix(')')?.split_once('(')?;
    let (class, method) = method.rsplit_once('.')?;
    let place = place.rsplit_once('/').map_or(place, |(_, place)| place);
    let (file, line) = match (place, place.rsplit_once(':')) {
        ("Native Method", _) => ("", NATIVE),
        (_, Some((file, line))) => (file, line.parse().unwrap_or(UNKNOWN)),
        ("Unknown Source", None) => ("", UNKNOWN),
        (file, None) => (file, UNKNOWN),
    };
    Some(Frame {
        class: jvms::names::internal(class),
        method: method.to_owned(),
        file: file.to_owned(),
        line,
        ..Frame::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = r#"
Found one Java-level deadlock:
=============================
"one":
  waiting to lock monitor 0x00007ff718071380 (object 0x000000069ec16e10, a com.acme.A),
  which is held by "two "x":"

"two "x":":
  waiting for ownable synchronizer 0x000000069ec17118, (a java.util.concurrent.locks.ReentrantLock$NonfairSync),
  which is held by "three"
"three":
  waiting to lock monitor 0x00007ff724001450 (object 0x000000069ec16e00, a com.acme.B),
  which is held by "one"

Java stack information for the threads listed above:
===================================================
"one":
	at com.acme.Dead.run(Dead.java:3)
	- waiting to lock <0x000000069ec16e10> (a com.acme.A)
	at java.lang.Thread.run(java.base@25.0.3/Thread.java:1474)
"two "x":":
	at jdk.internal.misc.Unsafe.park(java.base@25.0.3/Native Method)
	at Dead$$Lambda/0x000000005e040418.run(Unknown Source)
"three":
	at com.acme.Dead.run(Dead.java:3)

Found 1 deadlock.
"#;

    #[test]
    fn deadlocks_of_a_dump_are_added_once_with_their_stacks() {
        let mut recorded = Recorded::default();
        add_named(DUMP, &mut recorded);
        add_named(DUMP, &mut recorded);
        let [deadlock] = &recorded.deadlocks[..] else {
            panic!("{:?}", recorded.deadlocks)
        };
        let told = deadlock.threads.iter().map(|one| {
            let frames = recorded.stacks.path(one.node);
            let frames = frames.map(|frame| (frame.class.as_str(), frame.line));
            let class = recorded.class(one.class);
            let name = recorded.thread(one.thread);
            (name, class, one.is_lock, frames.collect::<Vec<_>>())
        });
        let expected = [
            (
                "one",
                "com.acme.A",
                false,
                vec![("com/acme/Dead", 3), ("java/lang/Thread", 1474)],
            ),
            (
                "two \"x\":",
                "java.util.concurrent.locks.ReentrantLock$NonfairSync",
                true,
                vec![
                    ("jdk/internal/misc/Unsafe", NATIVE),
                    ("Dead$$Lambda/0x000000005e040418", UNKNOWN),
                ],
            ),
            ("three", "com.acme.B", false, vec![("com/acme/Dead", 3)]),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
        assert_eq!(recorded.stacks.frames.len(), 4, "equal frames are one");
    }

    #[test]
    fn dump_without_a_deadlock_adds_none() {
        let mut recorded = Recorded::default();
        add_named("\"main\" #1 prio=5\n\tat a.B.c(B.java:1)\n", &mut recorded);
        assert_eq!(recorded, Recorded::default());
    }
}
