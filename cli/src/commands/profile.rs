//! `classhook profile`: what a JVM says of itself, in a command or in a running JVM.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use control::message::NO_PLUGIN;
use observations::Subscription;
use observations::recorded::EXTENSION;

use super::trace::{Meanwhile, Trace, What};
use crate::args::{EventFiles, Settings};
use crate::checked_options::{CheckedOptions, run_id};
use crate::following::Following;
use crate::metaspace::Metaspace;
use crate::passing_folder::PassingFolder;
use crate::problem::{PARTIAL, Problem};
use crate::profile::outputs::{ProfileOutputs, Report};
use crate::profile::pause::Limits;
use crate::profile::{heap_paths, recorded, retainers, snapshots, visit};
use crate::relay::{RelayOptions, Sending, Which};
use crate::show::complain;
use crate::slow::SlowOptions;
use crate::traces::TraceOutputs;
use crate::until;
use crate::when::When;

const AFTER_HELP: &str = "\
What the JVM itself knows, without a change of any class. Several kinds go together in one recording:
  --cpu samples   threads that used CPU time, and where they were, every --interval
  --cpu times     how often methods were called and how long they took, measured in changed classes;
                  the same as `classhook trace --aggregate`, and alone
  --wall          where threads were, running or waiting, and in which state; some threads every --interval
  --alloc sites   what was allocated where, estimated from one sample for each --alloc-interval bytes of a thread
  --monitor       which monitors threads waited for, where and how long
  --exceptions    what was thrown, where, and where it is caught; a JVM offers that from its start only
  --jni-refs      which global references of JNI, also weak ones, were created where and never deleted
  --gc            how long garbage collections stopped the program
With a PID the JVM is observed for the time of --for, or until Ctrl-C or its end, and then left as it was before.

At one moment, of a running JVM, from the JVM itself and without an agent:
  --threads           all threads with states, stacks, monitors and deadlocks
  --heap histogram    objects and bytes of each class; with --live of those alone that can be reached
  --heap dump=FILE    everything, as an HPROF file for VisualVM, Eclipse MAT and others
  --heap path=CLASS   what holds instances of a class: paths from the roots; an agent does this, and leaves again
  --heap retainers    which objects hold the most that nothing else holds; with FILE.hprof in place of PID of a dump

Examples:
  classhook profile 4711 --cpu samples --for 30s --flame-graph cpu.svg
  classhook profile 4711 --alloc sites --live --for 1m
  classhook profile --cpu samples --monitor --exceptions --gc -- java -jar app.jar
  classhook profile 4711 --cpu samples --only 'com.acme.**' --thread 'http-*' --for 10s
  classhook profile 4711 --wall --for 30s --jfr app.jfr
  classhook profile 4711 --heap dump=app.hprof --max-pause 5s
  classhook profile kept/classhook-4711-1795482802605-8d26ad37.observed --flame-graph cpu.svg";

/// Shows what a JVM says of itself.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Profile {
    /// What is recorded.
    #[command(flatten)]
    pub kinds: Kinds,
    /// What is asked at one moment.
    #[command(flatten)]
    pub moment: Moment,
    /// What is made of it.
    #[command(flatten)]
    pub outputs: ProfileOutputs,
    /// Where it is sent as well.
    #[command(flatten)]
    pub relay: RelayOptions,
    /// Folder for the recording, which then stays there
    #[arg(short, long, value_name = "DIR", value_parser = crate::args::place())]
    pub output: Option<PathBuf>,
    /// How long a JVM is observed: 500ms, 30s, 5m, 2h [default: until Ctrl-C, or the end of the command]
    #[arg(long = "for", value_name = "DURATION", value_parser = until::duration)]
    pub time: Option<Duration>,
    /// How long after its start a command's JVM is observed
    #[arg(long, value_name = "DURATION", requires = "command", value_parser = until::duration)]
    pub after: Option<Duration>,
    /// A running JVM's process id, which `classhook ps` lists; or a recording that was kept (.observed), to be shown again; or a heap dump (.hprof), for --heap retainers
    #[arg(id = "pid", value_name = "PID|FILE", conflicts_with = "command")]
    pub of: Option<Of>,
    /// The command and its arguments, behind `--`
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "pid")]
    pub command: Vec<OsString>,
}

/// What is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Of {
    /// A running JVM, by its process id.
    Jvm(i32),
    /// A recording.
    File(PathBuf),
    /// A heap dump.
    Dump(PathBuf),
}

impl FromStr for Of {
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

/// What is recorded over some time.
#[derive(Debug, Clone, Default, Args)]
pub struct Kinds {
    /// Where threads use CPU time
    #[arg(long, value_name = "KIND")]
    pub cpu: Option<Cpu>,
    /// Sample threads by the wall clock, running or waiting, with their states
    #[arg(long)]
    pub wall: bool,
    /// What is allocated where
    #[arg(long, value_name = "KIND")]
    pub alloc: Option<Alloc>,
    /// Which monitors threads wait for
    #[arg(long)]
    pub monitor: bool,
    /// What is thrown and where it is caught
    #[arg(long)]
    pub exceptions: bool,
    /// Global references of JNI that are never deleted, and the places that create them
    #[arg(long)]
    pub jni_refs: bool,
    /// How long garbage collections stop the program
    #[arg(long)]
    pub gc: bool,
    /// Time between two looks at the threads, with --cpu and --wall: 1ms to 1h
    #[arg(long, value_name = "DURATION", default_value = "10ms", value_parser = interval)]
    pub interval: Duration,
    /// Bytes that a thread allocates between two samples, with --alloc: 512K, 16M; 0 samples every allocation
    #[arg(long, value_name = "SIZE", default_value = "512K", value_parser = size)]
    pub alloc_interval: u32,
    /// A garbage collection at the end tells which objects are alive, with --alloc; before --heap histogram or dump
    #[arg(long)]
    pub live: bool,
    /// Most frames that are kept of one stack, the innermost
    #[arg(long, value_name = "NUMBER", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=observations::subscription::DEEPEST as i64))]
    pub depth: u32,
}

/// How CPU time is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Cpu {
    /// By looking at threads
    Samples,
    /// By measuring every call, as `classhook trace --aggregate`
    Times,
}

/// How allocations are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Alloc {
    /// By samples of what is allocated, with the stacks
    Sites,
}

/// What is asked of a running JVM at one moment.
#[derive(Debug, Clone, Default, Args)]
pub struct Moment {
    /// All threads with their stacks, monitors and deadlocks
    #[arg(long, requires = "pid")]
    pub threads: bool,
    /// The heap: histogram, dump=FILE, path=CLASS, or retainers
    #[arg(
        long,
        value_name = "histogram|dump=FILE|path=CLASS|retainers",
        requires = "pid"
    )]
    pub heap: Option<Heap>,
    /// How long the program may stand still for it
    #[command(flatten)]
    pub limits: Limits,
}

/// What of the heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heap {
    /// Objects and bytes of each class.
    Histogram,
    /// Everything, to this file.
    Dump(PathBuf),
    /// What holds the instances of a class.
    Path(String),
    /// What retains the most.
    Retainers,
}

impl Heap {
    /// How they begin, for shells to complete.
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

impl Kinds {
    /// What the agent records; none if nothing is asked for.
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
    /// Records, or asks, and reports; the result is the command's exit code.
    ///
    /// # Errors
    /// If options, agent, command or JVM are wrong, or what was recorded cannot be read or shown.
    pub fn run(&self) -> Result<u8, Problem> {
        if let Some(Of::File(file)) = &self.of {
            return self.again(file);
        }
        if let Some(Of::Dump(file)) = &self.of {
            return self.of_dump(file);
        }
        if self.kinds.cpu == Some(Cpu::Times) {
            return self.times();
        }
        let subscription = self.subscription();
        self.check(subscription.is_some())?;
        self.relay.check()?;
        let report = self.outputs.report()?;
        self.outputs.check()?;
        let pid = self.pid();
        let mut answered = 0;
        if let Some(pid) = pid {
            answered = self.moment(pid)?;
        }
        let recorded = match (subscription, pid) {
            (None, _) => Ok(0),
            (Some(subscription), Some(pid)) => self.visit(pid, &subscription, &report),
            (Some(subscription), None) => self.start(&subscription, &report),
        };
        recorded.map(|code| code.max(answered))
    }

    /// What is recorded, and when.
    fn subscription(&self) -> Option<Subscription> {
        let kinds = self.kinds.subscription()?;
        // A visit to a running JVM ends when this command says so.
        let length = self.time.filter(|_| self.pid().is_none());
        Some(Subscription {
            times: self.outputs.needs_times(),
            after: self.after.unwrap_or_default(),
            length,
            ..kinds
        })
    }

    /// The running JVM that is observed, if it is one.
    fn pid(&self) -> Option<i32> {
        match self.of {
            Some(Of::Jvm(pid)) => Some(pid),
            _ => None,
        }
    }

    /// Shows a recording once more.
    fn again(&self, file: &Path) -> Result<u8, Problem> {
        let records = self.kinds.subscription().is_some() || self.kinds.cpu.is_some();
        let asks = self.moment.threads || self.moment.heap.is_some() || self.kinds.live;
        let sends = self.relay.to.is_some();
        if records || asks || sends || self.time.is_some() || self.output.is_some() {
            let message = "nothing is recorded where a recording is shown again";
            return Err(Problem::user("H0663", message)
                .with("help", "leave out all but the file, and --only, --thread, --top, --frames and output files"));
        }
        let report = self.outputs.report()?;
        report.make(vec![recorded::read(file)?], None)
    }

    /// Shows what retains the most in a heap dump.
    fn of_dump(&self, file: &Path) -> Result<u8, Problem> {
        let limits = &self.moment.limits;
        if limits.yes || limits.max_pause.is_some() {
            let message = "--max-pause and --yes are for a JVM that is running";
            return Err(Problem::user("H0663", message)
                .with("found", "a heap dump, for which no program stands still"));
        }
        let is_alone = self.kinds.subscription().is_none() && !self.moment.threads;
        if self.moment.heap != Some(Heap::Retainers) || !is_alone || self.outputs.any() {
            return Err(
                Problem::user("H0663", "of a heap dump it is shown what retains the most")
                    .with("help", "--heap retainers, and nothing else but --top"),
            );
        }
        retainers::show(file, self.outputs.top).map(|()| 0)
    }

    /// Sums up the calls of methods, which is a trace.
    fn times(&self) -> Result<u8, Problem> {
        let kinds = Kinds {
            cpu: None,
            ..self.kinds.clone()
        };
        let asks = self.moment.threads || self.moment.heap.is_some();
        let others = kinds.subscription().is_some() || asks || kinds.live;
        let window = self.after.is_some() || (self.time.is_some() && self.pid().is_none());
        if others || window || self.outputs.any() || !self.outputs.thread.is_empty() {
            return Err(Problem::user("H0663", "--cpu times measures calls, and goes with --only alone")
                .with("help", "`classhook trace` has files and more of single calls; --cpu samples goes with the other kinds"));
        }
        let trace = Trace {
            what: What {
                methods: self.outputs.only.clone(),
                aggregate: true,
                ..What::default()
            },
            when: When::default(),
            metaspace: Metaspace::default(),
            outputs: TraceOutputs {
                top: self.outputs.top,
                ..TraceOutputs::default()
            },
            meanwhile: Meanwhile::default(),
            event_files: EventFiles::default(),
            following: Following::default(),
            slow: SlowOptions::default(),
            relay: self.relay.clone(),
            settings: self.settings(),
            time: self.time,
            pid: self.pid(),
            command: self.command.clone(),
        };
        trace.run()
    }

    /// Refuses options that have nothing to be an option of.
    fn check(&self, records: bool) -> Result<(), Problem> {
        let asks = self.moment.threads || self.moment.heap.is_some();
        if !records && !asks {
            return Err(Problem::user("H0663", "it is not said what to profile")
                .with("expected", "--cpu samples, --wall, --alloc sites, --monitor, --exceptions, --jni-refs, --gc, --threads or --heap")
                .with("help", "for example: classhook profile 4711 --cpu samples --for 30s"));
        }
        if asks && self.pid().is_none() {
            return Err(Problem::user(
                "H0663",
                "--threads and --heap are asked of a JVM that is running",
            )
            .with(
                "help",
                "start the program, and name its PID, which `classhook ps` lists",
            ));
        }
        if self.after.is_some() && self.pid().is_some() {
            return Err(Problem::user(
                "H0663",
                "--after is for a command, and counts from its start",
            )
            .with(
                "found",
                "the PID of a JVM that is running, which is observed from now on",
            ));
        }
        let of_recordings = [
            ("--for", self.time.is_some()),
            ("--after", self.after.is_some()),
            ("--output", self.output.is_some()),
            ("--to", self.relay.to.is_some()),
            ("--only", !self.outputs.only.is_empty()),
            ("--thread", !self.outputs.thread.is_empty()),
            ("an output file", self.outputs.any()),
        ];
        let lonely = of_recordings.iter().find(|(_, given)| *given);
        if let (false, Some((option, _))) = (records, lonely) {
            let message = format!("{option} is for recordings, and nothing is recorded");
            return Err(Problem::user("H0663", message).with(
                "help",
                "add --cpu samples, --wall, --alloc sites, --monitor, --exceptions, --jni-refs or --gc",
            ));
        }
        let of_heap = self.moment.heap.as_ref();
        let uses_live = self.kinds.alloc.is_some()
            || of_heap.is_some_and(|heap| matches!(heap, Heap::Histogram | Heap::Dump(_)));
        if self.kinds.live && !uses_live {
            return Err(Problem::user("H0663", "--live is of the heap").with(
                "help",
                "add --alloc sites, --heap histogram or --heap dump=FILE",
            ));
        }
        Ok(())
    }

    /// Asks what is wanted of one moment; the exit code.
    fn moment(&self, pid: i32) -> Result<u8, Problem> {
        if self.moment.threads {
            snapshots::threads(pid)?;
        }
        let (live, top, limits) = (self.kinds.live, self.outputs.top, &self.moment.limits);
        match &self.moment.heap {
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
    ) -> Result<u8, Problem> {
        let visited = visit::record(pid, self.settings(), subscription, self.time, &self.relay)?;
        let code = report.make(visited.recordings, visited.problem)?;
        Ok(match visited.is_partial {
            true => code.max(PARTIAL),
            false => code,
        })
    }

    fn start(&self, subscription: &Subscription, report: &Report<'_>) -> Result<u8, Problem> {
        let mut settings = self.settings();
        let run = run_id();
        let _folder = PassingFolder::of_command(&mut settings)?;
        let mut checked = CheckedOptions::new(&settings, &[NO_PLUGIN.into()], Some(run.clone()))?;
        checked.options.observe = Some(subscription.to_string());
        let sending = self.relay.start(&checked.output, Which::Run(&run))?;
        let code = checked.launch(&self.command)?;
        let unsent = sending.map_or(Ok(()), Sending::finish).err();
        let made = recorded::of_run(&run, &checked.output)
            .and_then(|recordings| report.make(recordings, unsent));
        match made {
            Err(problem) if code == 0 => Err(problem),
            Err(problem) => {
                complain(format_args!("{problem}\n"));
                Ok(code)
            }
            Ok(reported) if code == 0 => Ok(reported),
            Ok(_) => Ok(code),
        }
    }
}

/// Longest time between two looks.
const LONGEST_INTERVAL: Duration = Duration::from_secs(3600);

fn interval(text: &str) -> Result<Duration, String> {
    let found = until::duration(text)?;
    let whole = found.subsec_nanos() % 1_000_000 == 0;
    let range = observations::subscription::SHORTEST_INTERVAL..=LONGEST_INTERVAL;
    if whole && range.contains(&found) {
        return Ok(found);
    }
    Err(format!(
        "expected whole milliseconds from 1ms to 1h, found `{text}`"
    ))
}

/// A number of bytes: `0`, `512K`, `16M`.
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
    fn what_is_asked_for_is_subscribed_to() {
        let kinds = Kinds {
            cpu: Some(Cpu::Samples),
            alloc: Some(Alloc::Sites),
            interval: Duration::from_millis(20),
            alloc_interval: 1024,
            live: true,
            depth: 9,
            ..Kinds::default()
        };
        let subscription = kinds.subscription().unwrap();
        assert_eq!(
            subscription.to_string(),
            "cpu:20ms;allocations:1024;live;depth:9"
        );
        assert_eq!(Kinds::default().subscription(), None);
    }

    #[test]
    fn values_say_what_is_expected() {
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
        assert_eq!("4711".parse(), Ok(Of::Jvm(4711)));
        assert_eq!("a.observed".parse(), Ok(Of::File("a.observed".into())));
        for wrong in ["0", "-1", "app", "app.hook"] {
            assert!(wrong.parse::<Of>().is_err(), "{wrong}");
        }
        for wrong in ["dump=", "path", "path=", "histogram=x"] {
            assert!(wrong.parse::<Heap>().is_err(), "{wrong}");
        }
    }
}
