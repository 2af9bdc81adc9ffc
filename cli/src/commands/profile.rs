//! `classhook profile`: profiles a command or a running JVM with the JVM's own events.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use agent_connection::temp_output::TempOutput;
use agent_launch::checked_options::{CheckedOptions, run_id};
use agent_launch::settings::Settings;
use clap::{Args, ValueEnum};
use control::message::NO_PLUGIN;
use errors::{Error, PARTIAL, codes};
use jvm_events::Subscription;
use jvm_events::recorded::EXTENSION;
use profiles::outputs::Report;
use profiles::{heap_paths, recorded, retainers, snapshots, visit};
use relay::sending::{Sending, SentFiles};
use standard_streams::show::with_exit_of_program;

use super::trace::{LiveOutputs, Trace, TracedCalls};
use crate::args::{AgentArguments, COMMAND, EventFileArguments, FOR, JvmOrCommand, output_path};
use crate::call_options::CallOptions;
use crate::durations;
use crate::follow_options::FollowOptions;
use crate::heading;
use crate::metaspace::MetaspaceArgument;
use crate::profile_arguments::{PauseArguments, ProfileArguments};
use crate::relay_arguments::RelayArguments;
use crate::trace_arguments::SlowArguments;
use crate::trace_arguments::TraceArguments;

const AFTER_HELP: &str = "\
A profile uses the JVM's own events and changes no class. One recording can combine several kinds of events:
  --cpu samples   stacks of threads that used CPU time, every --interval
  --cpu times     calls and times of methods, measured in changed classes; the same as `classhook trace --aggregate`,
                  and not with other kinds
  --wall          stacks and states of threads, running or waiting; some threads every --interval
  --alloc sites   allocations with their stacks, estimated from one sample for each --alloc-interval bytes of a thread
  --monitor       waits for monitors, with stacks and times
  --exceptions    thrown exceptions with the places of throw and catch; only from the start of a JVM
  --jni-refs      JNI global and weak global references that are never deleted, with the places of their creation
  --gc            pauses for garbage collections
With a PID, the JVM is profiled until --for, Ctrl-C or its end. The agent then leaves it.

Requests to a running JVM, answered by the JVM itself without an agent:
  --threads           all threads with states, stacks, monitors and deadlocks
  --heap histogram    objects and bytes of each class; with --live, of reachable objects only
  --heap dump=FILE    all objects, as an HPROF file for VisualVM, Eclipse MAT and others
  --heap path=CLASS   paths from the GC roots to instances of a class; needs an agent, which then leaves
  --heap retainers    objects with the largest retained size; FILE.hprof in place of PID analyses a heap dump

Examples:
  classhook profile 4711 --cpu samples --for 30s --flame-graph cpu.svg
  classhook profile 4711 --alloc sites --live --for 1m
  classhook profile --cpu samples --monitor --exceptions --gc -- java -jar app.jar
  classhook profile 4711 --cpu samples --only 'com.acme.**' --thread 'http-*' --for 10s
  classhook profile 4711 --wall --for 30s --jfr app.jfr
  classhook profile 4711 --heap dump=app.hprof --max-pause 5s
  classhook profile kept/classhook-4711-1795482802605-8d26ad37.jvm-events --flame-graph cpu.svg";

/// Profiles CPU, allocations, locks, exceptions, threads and heap.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Profile {
    /// Select a running JVM by process id, a recording (.jvm-events), or a heap dump (.hprof) for --heap retainers
    #[arg(id = "pid", value_name = "PID|FILE", conflicts_with = "command")]
    pub source: Option<ProfileSource>,
    /// The command and its arguments.
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "pid", help = COMMAND)]
    pub command: Vec<OsString>,
    /// Write recordings to this folder; without it none is kept
    #[arg(short, long, value_name = "DIR", value_parser = output_path())]
    pub output: Option<PathBuf>,
    /// The length of the recording.
    #[arg(long = "for", value_name = "DURATION", value_parser = durations::duration, help = FOR)]
    pub time: Option<Duration>,
    /// Start the recording at this time after the start of the JVM
    #[arg(long, value_name = "DURATION", requires = "command", value_parser = durations::duration)]
    pub after: Option<Duration>,
    /// The events to record.
    #[command(flatten)]
    pub events: ProfileEvents,
    /// The requests to a running JVM.
    #[command(flatten)]
    pub requests: JvmRequests,
    /// Tables and files.
    #[command(flatten)]
    pub outputs: ProfileArguments,
    /// The receiver of the recording.
    #[command(flatten)]
    pub relay: RelayArguments,
}

/// The source of a profile, if it is not a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileSource {
    /// A running JVM, by its process id.
    Jvm(i32),
    /// A recording.
    File(PathBuf),
    /// A heap dump.
    Dump(PathBuf),
}

impl FromStr for ProfileSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = Path::new(text);
        match text.parse() {
            Ok(pid) if pid > 0 => Ok(Self::Jvm(pid)),
            Err(_) if path.extension().is_some_and(|it| it == EXTENSION) => {
                Ok(Self::File(path.to_owned()))
            }
            Err(_) if path.extension().is_some_and(|it| it == "hprof") => {
                Ok(Self::Dump(path.to_owned()))
            }
            _ => Err(format!(
                "expected a process id, which `classhook ps` lists, a recording that ends in .{EXTENSION}, or a heap dump that ends in .hprof"
            )),
        }
    }
}

/// Events that a profile records.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::EVENTS)]
pub struct ProfileEvents {
    /// Record CPU time
    #[arg(long, value_name = "KIND")]
    pub cpu: Option<Cpu>,
    /// Record samples of threads by wall-clock time; running or waiting, with their states
    #[arg(long)]
    pub wall: bool,
    /// Record allocations
    #[arg(long, value_name = "KIND")]
    pub alloc: Option<Alloc>,
    /// Record waits for monitors
    #[arg(long)]
    pub monitor: bool,
    /// Record thrown exceptions and where they are caught
    #[arg(long)]
    pub exceptions: bool,
    /// Record JNI global references that are never deleted
    #[arg(long)]
    pub jni_refs: bool,
    /// Record pauses for garbage collections
    #[arg(long)]
    pub gc: bool,
    /// Take samples of --cpu and --wall at this interval: 1ms to 1h
    #[arg(long, value_name = "DURATION", default_value = "10ms", value_parser = interval)]
    pub interval: Duration,
    /// Take a sample of --alloc after this number of allocated bytes: 512K, 16M; 0 samples each allocation
    #[arg(long, value_name = "SIZE", default_value = "512K", value_parser = size)]
    pub alloc_interval: u32,
    /// Show only live objects, after a garbage collection; with --alloc, --heap histogram or --heap dump
    #[arg(long)]
    pub live: bool,
    /// Record this number of frames of a stack, the innermost
    #[arg(long, value_name = "NUMBER", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=jvm_events::subscription::DEEPEST as i64))]
    pub depth: u32,
}

/// The method to measure CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Cpu {
    /// Sample the threads
    Samples,
    /// Measure each call, like `classhook trace --aggregate`
    Times,
}

/// The method to record allocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Alloc {
    /// Sample allocations with their stacks
    Sites,
}

/// Requests to a running JVM.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::EVENTS)]
pub struct JvmRequests {
    /// Show all threads with their stacks, monitors and deadlocks
    #[arg(long, requires = "pid")]
    pub threads: bool,
    /// Show or dump the heap: histogram, dump=FILE, path=CLASS or retainers
    #[arg(
        long,
        value_name = "histogram|dump=FILE|path=CLASS|retainers",
        requires = "pid"
    )]
    pub heap: Option<Heap>,
    /// The limit of the pause
    #[command(flatten)]
    pub limits: PauseArguments,
}

/// A request about the heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heap {
    /// Objects and bytes of each class.
    Histogram,
    /// All objects, written to this file.
    Dump(PathBuf),
    /// Paths from the GC roots to the instances of this class.
    Path(String),
    /// The objects with the largest retained size.
    Retainers,
}

impl Heap {
    /// Beginnings of the values, for shell completions.
    pub const FORMS: [&str; 4] = ["histogram", "retainers", "dump=", "path="];
}

impl FromStr for Heap {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "histogram" => Ok(Self::Histogram),
            None if text == "retainers" => Ok(Self::Retainers),
            Some(("dump", file)) if !file.is_empty() => Ok(Self::Dump(file.into())),
            Some(("path", class)) if !class.is_empty() => Ok(Self::Path(class.to_owned())),
            _ => Err("expected `histogram`, `dump=FILE`, `path=CLASS` or `retainers`, such as `dump=app.hprof` or `path=com.acme.Order`".to_owned()),
        }
    }
}

impl ProfileEvents {
    /// Returns the events of the agent, or `None` without any.
    fn subscription(&self) -> Option<Subscription> {
        let subscription = Subscription {
            cpu: (self.cpu == Some(Cpu::Samples)).then_some(self.interval),
            wall: self.wall.then_some(self.interval),
            allocations: self.alloc.map(|_| self.alloc_interval),
            monitors: self.monitor,
            exceptions: self.exceptions,
            collections: self.gc,
            references: self.jni_refs,
            live: self.live && self.alloc.is_some(),
            depth: self.depth as usize,
            ..Subscription::default()
        };
        subscription.any().then_some(subscription)
    }
}

impl Profile {
    /// Records the events, sends the requests, prints the profile, and returns the exit code.
    ///
    /// # Errors
    /// If options, agent, command or JVM are wrong, or the recording cannot be read or shown.
    pub fn run(&self) -> Result<u8, Error> {
        if let Some(ProfileSource::File(file)) = &self.source {
            return self.show_recording(file);
        }
        if let Some(ProfileSource::Dump(file)) = &self.source {
            return self.of_dump(file);
        }
        if self.events.cpu == Some(Cpu::Times) {
            return self.times();
        }
        let subscription = self.subscription();
        self.check(subscription.is_some())?;
        self.relay.value().check()?;
        let outputs = self.outputs.value();
        let report = outputs.report()?;
        outputs.check()?;
        let pid = self.pid();
        let mut answered = 0;
        if let Some(pid) = pid {
            answered = self.answer_requests(pid)?;
        }
        let recorded = match (subscription, pid) {
            (None, _) => Ok(0),
            (Some(subscription), Some(pid)) => self.visit(pid, &subscription, &report),
            (Some(subscription), None) => self.start(&subscription, &report),
        };
        recorded.map(|code| code.max(answered))
    }

    /// Returns the events to record, with start and length.
    fn subscription(&self) -> Option<Subscription> {
        let kinds = self.events.subscription()?;
        // This command ends a visit to a running JVM.
        let length = self.time.filter(|_| self.pid().is_none());
        Some(Subscription {
            times: self.outputs.value().needs_times(),
            after: self.after.unwrap_or_default(),
            length,
            ..kinds
        })
    }

    /// Returns the process id of a running JVM, if it is the source.
    fn pid(&self) -> Option<i32> {
        match self.source {
            Some(ProfileSource::Jvm(pid)) => Some(pid),
            _ => None,
        }
    }

    /// Shows a recording from a file.
    fn show_recording(&self, file: &Path) -> Result<u8, Error> {
        let records = self.events.subscription().is_some() || self.events.cpu.is_some();
        let asks = self.requests.threads || self.requests.heap.is_some() || self.events.live;
        let sends = self.relay.to.is_some();
        if records || asks || sends || self.time.is_some() || self.output.is_some() {
            let message = "a recording from a file takes no options for a new recording";
            return Err(Error::mistake(codes::H0663, message).with(
                "help",
                "use only --only, --thread, --top, --frames and output files with a recording",
            ));
        }
        let outputs = self.outputs.value();
        let report = outputs.report()?;
        report.make(vec![recorded::read(file)?], None)
    }

    /// Shows the objects with the largest retained size in a heap dump.
    fn of_dump(&self, file: &Path) -> Result<u8, Error> {
        let limits = &self.requests.limits;
        if limits.yes || limits.max_pause.is_some() {
            let message = "--max-pause and --yes need a running JVM";
            return Err(Error::mistake(codes::H0663, message)
                .with("found", "a heap dump, for which no program pauses"));
        }
        let is_alone = self.events.subscription().is_none() && !self.requests.threads;
        if self.requests.heap != Some(Heap::Retainers) || !is_alone || self.outputs.value().any() {
            return Err(
                Error::mistake(codes::H0663, "a heap dump needs --heap retainers").with(
                    "help",
                    "add --heap retainers, and no other option than --top",
                ),
            );
        }
        retainers::show(file, self.outputs.top).map(|()| 0)
    }

    /// Runs a trace that sums up the calls of methods.
    fn times(&self) -> Result<u8, Error> {
        let events = ProfileEvents {
            cpu: None,
            ..self.events.clone()
        };
        let asks = self.requests.threads || self.requests.heap.is_some();
        let others = events.subscription().is_some() || asks || events.live;
        let window = self.after.is_some() || (self.time.is_some() && self.pid().is_none());
        if others || window || self.outputs.value().any() || !self.outputs.thread.is_empty() {
            return Err(Error::mistake(codes::H0663, "--cpu times measures calls, and accepts only --only")
                .with("help", "use `classhook trace` for files and single calls, or --cpu samples with other kinds"));
        }
        let trace = Trace {
            calls: TracedCalls {
                methods: self.outputs.only.clone(),
                aggregate: true,
                ..TracedCalls::default()
            },
            when: CallOptions::default(),
            metaspace: MetaspaceArgument::default(),
            outputs: TraceArguments {
                top: self.outputs.top,
                ..TraceArguments::default()
            },
            live_outputs: LiveOutputs::default(),
            event_files: EventFileArguments::default(),
            following: FollowOptions::default(),
            slow: SlowArguments::default(),
            relay: self.relay.clone(),
            settings: AgentArguments {
                output: self.output.clone(),
                ..AgentArguments::default()
            },
            program: JvmOrCommand {
                time: self.time,
                pid: self.pid(),
                command: self.command.clone(),
            },
        };
        trace.run()
    }

    /// Refuses options without the events or requests that they belong to.
    fn check(&self, records: bool) -> Result<(), Error> {
        let asks = self.requests.threads || self.requests.heap.is_some();
        if !records && !asks {
            return Err(Error::mistake(codes::H0663, "no kind of profile is selected")
                .with("expected", "--cpu samples, --wall, --alloc sites, --monitor, --exceptions, --jni-refs, --gc, --threads or --heap")
                .with("help", "select one, for example: classhook profile 4711 --cpu samples --for 30s"));
        }
        if asks && self.pid().is_none() {
            return Err(
                Error::mistake(codes::H0663, "--threads and --heap need a running JVM").with(
                    "help",
                    "start the program, and name its PID; `classhook ps` lists the JVMs",
                ),
            );
        }
        if self.after.is_some() && self.pid().is_some() {
            return Err(
                Error::mistake(codes::H0663, "--after needs a command").with(
                    "found",
                    "the PID of a running JVM, which is recorded from now on",
                ),
            );
        }
        let of_recordings = [
            ("--for", self.time.is_some()),
            ("--after", self.after.is_some()),
            ("--output", self.output.is_some()),
            ("--to", self.relay.to.is_some()),
            ("--only", !self.outputs.only.is_empty()),
            ("--thread", !self.outputs.thread.is_empty()),
            ("an output file", self.outputs.value().any()),
        ];
        let lonely = of_recordings.iter().find(|(_, given)| *given);
        if let (false, Some((option, _))) = (records, lonely) {
            let message = format!("{option} needs a recording");
            return Err(Error::mistake(codes::H0663, message).with(
                "help",
                "add --cpu samples, --wall, --alloc sites, --monitor, --exceptions, --jni-refs or --gc",
            ));
        }
        let of_heap = self.requests.heap.as_ref();
        let uses_live = self.events.alloc.is_some()
            || of_heap.is_some_and(|heap| matches!(heap, Heap::Histogram | Heap::Dump(_)));
        if self.events.live && !uses_live {
            return Err(
                Error::mistake(codes::H0663, "--live needs --alloc or --heap").with(
                    "help",
                    "add --alloc sites, --heap histogram or --heap dump=FILE",
                ),
            );
        }
        Ok(())
    }

    /// Sends the requests, prints the answers, and returns the exit code.
    fn answer_requests(&self, pid: i32) -> Result<u8, Error> {
        if self.requests.threads {
            snapshots::threads(pid)?;
        }
        let limits = &self.requests.limits.value();
        let (live, top) = (self.events.live, self.outputs.top);
        match &self.requests.heap {
            None => return Ok(0),
            Some(Heap::Histogram) => snapshots::histogram(pid, live, top, limits)?,
            Some(Heap::Dump(file)) => snapshots::dump(pid, file, live, limits)?,
            Some(Heap::Path(class)) => return heap_paths::show(pid, class, top, limits),
            Some(Heap::Retainers) => snapshots::retainers(pid, top, limits)?,
        }
        Ok(0)
    }

    fn settings(&self) -> Settings {
        Settings {
            output: self.output.clone(),
            ..Settings::default()
        }
    }

    fn visit(
        &self,
        pid: i32,
        subscription: &Subscription,
        report: &Report<'_>,
    ) -> Result<u8, Error> {
        let visited = visit::record(
            pid,
            self.settings(),
            subscription,
            self.time,
            &self.relay.value(),
        )?;
        let code = report.make(visited.recordings, visited.problem)?;
        Ok(match visited.is_partial {
            true => code.max(PARTIAL),
            false => code,
        })
    }

    fn start(&self, subscription: &Subscription, report: &Report<'_>) -> Result<u8, Error> {
        let mut settings = self.settings();
        let run = run_id();
        let _folder = TempOutput::of_command(&mut settings)?;
        let mut checked = CheckedOptions::new(&settings, &[NO_PLUGIN.into()], Some(run.clone()))?;
        checked.options.jvm_events = Some(subscription.to_string());
        let sending = self
            .relay
            .value()
            .start(&checked.output, SentFiles::Run(&run))?;
        let code = checked.launch(&self.command)?;
        let unsent = sending.map_or(Ok(()), Sending::finish).err();
        let made = recorded::of_run(&run, &checked.output)
            .and_then(|recordings| report.make(recordings, unsent));
        with_exit_of_program(code, made)
    }
}

/// Longest interval between two samples.
const LONGEST_INTERVAL: Duration = Duration::from_secs(3600);

fn interval(text: &str) -> Result<Duration, String> {
    let found = durations::duration(text)?;
    let whole = found.subsec_nanos() % 1_000_000 == 0;
    let range = jvm_events::subscription::SHORTEST_INTERVAL..=LONGEST_INTERVAL;
    if whole && range.contains(&found) {
        return Ok(found);
    }
    Err(format!(
        "expected whole milliseconds from 1ms to 1h, found `{text}`"
    ))
}

/// Parses a number of bytes: `0`, `512K`, `16M`.
fn size(text: &str) -> Result<u32, String> {
    let units = [("K", 10), ("M", 20), ("", 0)];
    let size = units.into_iter().find_map(|(unit, shift)| {
        let number: u32 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(1 << shift)
    });
    let size = size.filter(|size| *size <= i32::MAX as u32);
    size.ok_or_else(|| {
        format!("expected bytes, with K or M behind the number, below 2 GiB, found `{text}`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_the_subscription_of_the_agent() {
        let events = ProfileEvents {
            cpu: Some(Cpu::Samples),
            alloc: Some(Alloc::Sites),
            interval: Duration::from_millis(20),
            alloc_interval: 1024,
            live: true,
            depth: 9,
            ..ProfileEvents::default()
        };
        let subscription = events.subscription().unwrap();
        assert_eq!(
            subscription.to_string(),
            "cpu:20ms;allocations:1024;live;depth:9"
        );
        assert_eq!(ProfileEvents::default().subscription(), None);
    }

    #[test]
    fn malformed_values_are_refused() {
        assert_eq!(size("512K"), Ok(524_288));
        assert_eq!(size("0"), Ok(0));
        for wrong in ["", "K", "2048M", "-1", "1G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(interval("1ms"), Ok(Duration::from_millis(1)));
        for wrong in ["1500us", "100us", "2h", "0ms"] {
            assert!(interval(wrong).is_err(), "{wrong}");
        }
        assert_eq!("histogram".parse(), Ok(Heap::Histogram));
        assert_eq!("dump=a=b".parse(), Ok(Heap::Dump("a=b".into())));
        assert_eq!("path=a.B[]".parse(), Ok(Heap::Path("a.B[]".into())));
        assert_eq!("4711".parse(), Ok(ProfileSource::Jvm(4711)));
        assert_eq!(
            "a.jvm-events".parse(),
            Ok(ProfileSource::File("a.jvm-events".into()))
        );
        for wrong in ["0", "-1", "app", "app.hook"] {
            assert!(wrong.parse::<ProfileSource>().is_err(), "{wrong}");
        }
        for wrong in ["dump=", "path", "path=", "histogram=x"] {
            assert!(wrong.parse::<Heap>().is_err(), "{wrong}");
        }
    }
}
