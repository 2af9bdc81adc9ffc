//! Classhook's side of `cargo xtask bench rewriter`: `rewriter_bench PACK TASK [check]`.
//!
//! `PACK` holds classes, each as a length of four bytes, big-endian, and its bytes. Each line on
//! standard input is a command, which is answered by one line of numbers:
//!
//! ```text
//! pass N       the first N classes: CPU time of the thread in ns, bytes written, classes that failed, allocations
//! threads T N  the first N classes on T threads: the longest CPU time of a thread in ns, elapsed time in ns
//! load         loads engine and plugin of a task with a plugin again: CPU time of the thread in ns
//! ```

mod native;
mod through_wasm;

use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Rewrites classes one after the other.
pub trait Worker {
    /// Rewrites a class into its own buffer. Returns the number of bytes written, or `None` on
    /// failure.
    fn class(&mut self, bytes: &[u8]) -> Option<usize>;
}

type Failure = Box<dyn std::error::Error>;

/// Number of classes that a thread takes at a time.
const BATCH: usize = 16;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let pack = std::fs::read(arguments.next().ok_or("expected a file of classes")?)?;
    let task = arguments.next().ok_or("expected a task")?;
    let check = arguments.next().is_some_and(|word| word == "check");
    let classes = unpack(&pack);
    let wasm = std::sync::OnceLock::new();
    let start = || -> Box<dyn Worker + '_> {
        match task.strip_prefix("plugin=") {
            Some(plugin) => Box::new(through_wasm::Worker::new(wasm.get_or_init(|| {
                through_wasm::pipeline(plugin, check, &classes).expect("the plugin can be loaded")
            }))),
            None => Box::new(native::Worker::new(&task, check)),
        }
    };
    let mut worker = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<usize>().ok());
        let answer = match (words[0], number(1), number(2)) {
            ("pass", Some(count), None) => {
                pass(&classes[..count.min(classes.len())], &mut worker, &start)
            }
            ("threads", Some(threads), Some(count)) => {
                on_threads(threads, &classes[..count.min(classes.len())], &start)
            }
            ("load", None, None) => load(task.trim_start_matches("plugin="))?,
            _ => {
                let expected = "`pass N`, `threads T N` or `load`";
                return Err(format!("expected {expected}, found `{line}`").into());
            }
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn unpack(mut pack: &[u8]) -> Vec<&[u8]> {
    let mut classes = Vec::new();
    while let Some((length, rest)) = pack.split_first_chunk::<4>() {
        let (class, rest) = rest.split_at(u32::from_be_bytes(*length) as usize);
        classes.push(class);
        pack = rest;
    }
    classes
}

/// The first pass includes the time for initialization.
fn pass<'w>(
    classes: &[&[u8]],
    worker: &mut Option<Box<dyn Worker + 'w>>,
    start: &impl Fn() -> Box<dyn Worker + 'w>,
) -> String {
    let (mut written, mut failed, mut spent) = (0, 0, Duration::ZERO);
    let allocations = allocation_counter::measure(|| {
        let began = thread_time();
        let worker = worker.get_or_insert_with(start);
        for bytes in classes {
            match worker.class(bytes) {
                Some(length) => written += length,
                None => failed += 1,
            }
        }
        spent = thread_time() - began;
    });
    format!(
        "{} {written} {failed} {}",
        spent.as_nanos(),
        allocations.count_total
    )
}

/// Loads the plugin again; the cache of compiled plugins has it.
fn load(plugin: &str) -> Result<String, Failure> {
    let began = thread_time();
    std::hint::black_box(&through_wasm::pipeline(plugin, true, &[])?);
    Ok((thread_time() - began).as_nanos().to_string())
}

/// Each thread has its own worker, which has processed some classes before the clock starts.
fn on_threads<'w>(
    threads: usize,
    classes: &[&[u8]],
    start: &(impl Fn() -> Box<dyn Worker + 'w> + Sync),
) -> String {
    let next = AtomicUsize::new(0);
    let ready = std::sync::Barrier::new(threads);
    let work = || {
        let mut worker = start();
        for bytes in classes.iter().take(500) {
            worker.class(bytes);
        }
        ready.wait();
        let (began, cpu) = (Instant::now(), thread_time());
        loop {
            let from = next.fetch_add(BATCH, Ordering::Relaxed);
            let Some(batch) = classes.get(from..classes.len().min(from + BATCH)) else {
                break;
            };
            for bytes in batch {
                worker.class(bytes);
            }
        }
        (thread_time() - cpu, began.elapsed())
    };
    let times: Vec<_> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles
            .into_iter()
            .filter_map(|handle| handle.join().ok())
            .collect()
    });
    let longest = |time: fn(&(Duration, Duration)) -> Duration| {
        times.iter().map(time).max().unwrap_or_default().as_nanos()
    };
    format!("{} {}", longest(|times| times.0), longest(|times| times.1))
}

/// Returns the CPU time of this thread, user and system.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
