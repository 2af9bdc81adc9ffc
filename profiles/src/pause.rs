//! The pause of a program while its heap is read: estimated, announced, and limited.

use std::fmt;
use std::io::{self, BufRead, IsTerminal, Write};
use std::time::{Duration, Instant};

use attach::Attachment;
use errors::{Error, codes};
use standard_streams::show::say;
use trace::table::duration as shown;

use crate::heap_in_use;

/// Longest pause without a question on a terminal.
const UNASKED: Duration = Duration::from_secs(2);
/// Bytes of a small object, header and padding included. Larger objects take less time for each byte; garbage takes none.
const SMALL_OBJECT: u64 = 32;

/// Limits of a pause.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// The longest allowed pause of the program.
    pub max_pause: Option<Duration>,
    /// Starts without a question before long pauses.
    pub yes: bool,
}

/// A walk through the heap, during which the program is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// Counts all objects.
    Histogram,
    /// Counts the reachable objects, after a full collection.
    LiveHistogram,
    /// Writes all objects to a file.
    Dump,
    /// Writes the reachable objects, after a full collection.
    LiveDump,
    /// One of several passes that follow references through JVM TI.
    Pass,
}

impl Walk {
    /// Time for a small object, in steps of [`step`]. Measured with heaps of 10 million small objects on JDK 17 and 25.
    fn steps(self) -> f64 {
        match self {
            Self::Histogram => 0.3,
            Self::LiveHistogram => 2.5,
            Self::Pass => 9.0,
            Self::Dump => 12.0,
            Self::LiveDump => 14.0,
        }
    }
}

/// Upper estimate of a pause: all objects small and reachable.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    /// Used bytes of the heap.
    in_use: u64,
    /// Bytes of small objects that the walk visits per second on this machine.
    rate: f64,
    walk: Walk,
}

impl Estimate {
    fn new(in_use: u64, walk: Walk, step: Duration) -> Self {
        let nanos = step.as_nanos().max(1) as f64 * walk.steps();
        Self {
            in_use,
            rate: SMALL_OBJECT as f64 * 1e9 / nanos,
            walk,
        }
    }

    fn pause(&self) -> Duration {
        Duration::from_secs_f64(self.in_use as f64 / self.rate)
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (in_use, rate) = (mebibytes(self.in_use as f64), mebibytes(self.rate));
        write!(
            f,
            "heap in use: {in_use}; at {rate} of small objects a second on this machine, "
        )?;
        let pause = length(self.pause());
        match self.walk {
            Walk::Pass => write!(
                f,
                "each pass pauses the program for {pause} at most, one pass for each reference of the longest path"
            ),
            _ => write!(f, "the pause lasts at most {pause}"),
        }
    }
}

fn mebibytes(bytes: f64) -> String {
    format!("{:.1} MiB", bytes / f64::from(1 << 20))
}

fn length(pause: Duration) -> String {
    shown(u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX))
}

/// The decision about a pause of an expected length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Begin,
    Ask,
    Refuse(Duration),
}

impl Limits {
    /// Estimates the pause from the bytes in use and the speed of this machine, and prints it. Asks before a long one on
    /// a terminal.
    ///
    /// # Errors
    /// `H0659` if the pause would exceed [`Self::max_pause`], or the answer is no.
    pub fn allow(&self, jvm: &Attachment, walk: Walk) -> Result<(), Error> {
        let Some(in_use) = heap_in_use::of(jvm) else {
            say("heap in use: the JVM does not report it, so the pause cannot be estimated");
            return match self.max_pause {
                Some(_) => Err(refused("the length of the pause is not known")),
                None => self.ask_if(self.asks(), "the length of the pause is not known"),
            };
        };
        let estimate = Estimate::new(in_use, walk, step());
        say(estimate);
        let pause = estimate.pause();
        match self.decide(pause, self.asks()) {
            Decision::Begin => Ok(()),
            Decision::Ask => self.ask_if(true, "this is more than 2 s"),
            Decision::Refuse(most) => {
                let (pause, most) = (length(pause), length(most));
                Err(refused(&format!(
                    "the pause may last {pause}, longer than {most}"
                )))
            }
        }
    }

    /// Decides about a pause of this length.
    fn decide(&self, pause: Duration, asks: bool) -> Decision {
        match self.max_pause {
            Some(most) if pause > most => Decision::Refuse(most),
            _ if asks && pause > UNASKED => Decision::Ask,
            _ => Decision::Begin,
        }
    }

    /// Checks whether questions are possible: standard input and standard error are terminals.
    fn asks(&self) -> bool {
        !self.yes && io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Returns the total pause of all passes before the first question.
    #[must_use]
    pub fn first_budget(&self) -> Option<Duration> {
        match self.asks() {
            true => Some(self.max_pause.map_or(UNASKED, |most| most.min(UNASKED))),
            false => self.max_pause,
        }
    }

    /// Asks whether passes may continue after the first budget. False if no question is possible or the time is over.
    #[must_use]
    pub fn goes_on(&self, so_far: Duration) -> bool {
        let may_go_on = self.max_pause.is_none_or(|most| most > UNASKED);
        if !may_go_on || !self.asks() {
            return false;
        }
        let so_far = length(so_far);
        let reason =
            format!("the passes so far paused the program for {so_far}, and the search continues");
        self.ask_if(true, &reason).is_ok()
    }

    fn ask_if(&self, asks: bool, reason: &str) -> Result<(), Error> {
        if !asks {
            return Ok(());
        }
        let mut question = io::stderr();
        let _ = write!(question, "classhook: {reason}. Pause the program? [y/N] ");
        let _ = question.flush();
        match says_yes(&mut io::stdin().lock()) {
            true => Ok(()),
            false => Err(refused("the answer was not yes")),
        }
    }
}

fn says_yes(input: &mut impl BufRead) -> bool {
    let mut line = String::new();
    let read = input.read_line(&mut line).is_ok();
    read && ["y", "yes"].contains(&line.trim().to_lowercase().as_str())
}

fn refused(found: &str) -> Error {
    Error::mistake(codes::H0659, "the program was not paused, and its heap was not read")
        .with("found", found)
        .with(
            "help",
            "allow a longer --max-pause, answer yes, add --yes, or try again when the program may pause",
        )
}

/// A running pause. Its drop prints the end.
#[derive(Debug)]
pub struct Pause {
    begun: Instant,
}

impl Pause {
    /// Prints the begin.
    #[must_use]
    pub fn begin(walk: Walk) -> Self {
        say(match walk {
            Walk::Pass => "passes through the heap begin, and each pauses the program",
            _ => "the pause begins",
        });
        Self {
            begun: Instant::now(),
        }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        let time = length(self.begun.elapsed());
        say(format_args!("the program continues after {time}"));
    }
}

/// Objects of the heap that [`step`] walks through: 32 MiB, more than the caches of most processors.
const OBJECTS: usize = 1 << 20;
/// Rounds of the measurement.
const ROUNDS: u32 = 10;
/// Objects that each round visits.
const VISITED: u32 = 20_000;

/// Measures the CPU time to follow a reference to a small object anywhere in memory. Returns the minimum of several
/// rounds: other processes can only make a round longer.
fn step() -> Duration {
    // An odd stride visits each object, and a long one leaves the caches.
    const STRIDE: usize = (OBJECTS / 2 + OBJECTS / 8) | 1;
    let next = |at: usize| (at + STRIDE) % OBJECTS;
    let objects: Vec<[u64; 4]> = (0..OBJECTS).map(|at| [next(at) as u64; 4]).collect();
    let mut at = 0;
    let rounds = (0..ROUNDS).map(|_| {
        let begun = cpu_time();
        for _ in 0..VISITED {
            at = std::hint::black_box(objects[at][0] as usize);
        }
        cpu_time().saturating_sub(begun) / VISITED
    });
    rounds.min().unwrap_or_default()
}

/// Returns the CPU time of this thread.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_nanos(100);

    fn limits(max_pause: Option<u64>) -> Limits {
        Limits {
            max_pause: max_pause.map(Duration::from_millis),
            yes: false,
        }
    }

    #[test]
    fn pause_is_refused_beyond_the_limit_and_asked_about_on_a_terminal() {
        let pause = Duration::from_millis;
        let decide = |limit, ms, asks| limits(limit).decide(pause(ms), asks);
        assert_eq!(decide(None, 60_000, false), Decision::Begin);
        assert_eq!(decide(None, 2_000, true), Decision::Begin);
        assert_eq!(decide(None, 2_001, true), Decision::Ask);
        assert_eq!(decide(Some(5_000), 3_000, true), Decision::Ask);
        let refused = Decision::Refuse(pause(500));
        assert_eq!(decide(Some(500), 501, true), refused);
        assert_eq!(decide(Some(500), 501, false), refused);
        assert_eq!(decide(Some(500), 500, false), Decision::Begin);
    }

    #[test]
    fn only_yes_is_yes() {
        for (answer, expected) in [("y\n", true), ("YES\n", true), ("n\n", false), ("", false)] {
            assert_eq!(says_yes(&mut answer.as_bytes()), expected, "{answer:?}");
        }
    }

    #[test]
    fn estimate_grows_with_the_heap_and_names_its_terms() {
        let of = |bytes, walk| Estimate::new(bytes, walk, STEP);
        let mebi = 1 << 20;
        let one = of(320 * mebi, Walk::LiveHistogram);
        assert_eq!(one.pause(), Duration::from_secs_f64(2.621_44));
        assert_eq!(
            one.to_string(),
            "heap in use: 320.0 MiB; at 122.1 MiB of small objects a second on this machine, the pause lasts at most 2.621 s"
        );
        assert_eq!(of(640 * mebi, Walk::LiveHistogram).pause(), one.pause() * 2);
        let passes = of(mebi, Walk::Pass).to_string();
        assert!(passes.contains("each pass pauses the program"), "{passes}");
        assert!(step() > Duration::ZERO);
    }
}
