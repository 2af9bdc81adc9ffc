//! An observer that counts events or misbehaves.

use std::collections::BTreeMap;
use std::time::Duration;

use classhook_sdk::prelude::*;
use classhook_sdk::{Batch, EventDetails, Filter, JvmEvent, Observer, Subscriptions};

const EVENTS: Table = Table {
    name: "events",
    columns: &[
        ("what", ColumnKind::Text),
        ("thread", ColumnKind::Text),
        ("class", ColumnKind::Class),
        ("method", ColumnKind::Method),
        ("line", ColumnKind::Line),
        ("count", ColumnKind::Integer),
        ("total", ColumnKind::Integer),
    ],
};

/// The subscriptions, and the behaviour.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    kinds: Vec<String>,
    classes: Vec<String>,
    threads: Vec<String>,
    at_least_ms: u64,
    bytes: Option<u64>,
    frames: u32,
    ask: Vec<String>,
    /// Makes its request when this thread starts; immediately if it is empty.
    ask_after: String,
    deed: String,
}

/// Counts events by type, thread, class, and innermost frame or method.
#[derive(Default)]
pub struct Observing {
    settings: Settings,
    counts: BTreeMap<[String; 5], [u64; 2]>,
    lost: u64,
    asked: bool,
    /// Number of complete answers.
    answers: u32,
    /// The generation and stack of the first event.
    early: Option<(u32, u32)>,
}

impl Observer for Observing {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        Ok(Self {
            settings,
            ..Self::default()
        })
    }

    fn subscribe(&self, to: &mut Subscriptions<'_>) -> Result {
        let Settings {
            kinds,
            classes,
            threads,
            at_least_ms,
            bytes,
            frames,
            ..
        } = &self.settings;
        for kind in kinds {
            let mut filter = Filter::default().frames(*frames);
            filter = classes.iter().fold(filter, |filter, it| filter.class(it));
            filter = threads.iter().fold(filter, |filter, it| filter.thread(it));
            match kind.as_str() {
                "samples" => to.samples(&filter)?,
                "allocations" => to.allocations(&match bytes {
                    Some(bytes) => filter.bytes(*bytes),
                    None => filter,
                })?,
                "monitors" => {
                    to.monitors(&filter.at_least(Duration::from_millis(*at_least_ms)))?;
                }
                "exceptions" => to.exceptions(&filter)?,
                "collections" => to.collections(&filter)?,
                "threads" => to.threads(&filter)?,
                "classes" => to.classes(&filter)?,
                "compilations" => to.compilations(&filter)?,
                "natives" => to.natives(&filter)?,
                "exhaustion" => to.exhaustion(&filter)?,
                "catches" => to.catches(&filter)?,
                "unloads" => to.unloads(&filter)?,
                "frees" => to.frees(&match bytes {
                    Some(bytes) => filter.bytes(*bytes),
                    None => filter,
                })?,
                "dumps" => to.dumps(&filter)?,
                "stubs" => to.stubs(&filter)?,
                other => return Err(format!("there is no kind {other}").into()),
            }
        }
        Ok(())
    }

    #[allow(
        clippy::panic,
        clippy::infinite_loop,
        clippy::empty_loop,
        reason = "what a plugin may do wrong"
    )]
    fn observe(&mut self, batch: &Batch<'_>) -> Result {
        match self.settings.deed.as_str() {
            "loop" => loop {
                std::hint::black_box(0);
            },
            "trap" => panic!("on purpose"),
            "fail" => return Err("failed on purpose".into()),
            "flood" => (0..100_000).for_each(|_| classhook_sdk::log::info("flood")),
            "ask" => {
                let asked = (0..1000).map(|_| batch.requests().cpu_times());
                let refused = asked.filter(|asked| asked.is_err()).count();
                if refused != 999 {
                    return Err(format!("{refused} of 1,000 were refused").into());
                }
            }
            "allocate" => drop(std::hint::black_box(vec![1_u8; 128 << 20])),
            _ => {}
        }
        self.lost += batch.lost();
        let ready = &self.settings.ask_after;
        let is_ready = |event: JvmEvent<'_>| {
            matches!(event.details(), EventDetails::ThreadStarted { .. })
                && *event.thread() == **ready
        };
        let is_time = ready.is_empty() || batch.events().any(is_ready);
        if is_time && !std::mem::replace(&mut self.asked, true) {
            for what in &self.settings.ask {
                match what.as_str() {
                    "threads" => batch.requests().threads(8)?,
                    "cpu-times" => batch.requests().cpu_times()?,
                    "histogram" => batch.requests().histogram(true, 65_536)?,
                    "properties" => batch.requests().properties()?,
                    "monitors" => batch.requests().monitors()?,
                    other if other.starts_with("stack ") => {
                        batch.requests().stack(&other["stack ".len()..], 8)?;
                    }
                    other if other.starts_with("monitor-usage ") => {
                        batch
                            .requests()
                            .monitor_usage(&other["monitor-usage ".len()..])?;
                    }
                    other if other.starts_with("paths ") => {
                        batch.requests().paths(&other["paths ".len()..])?;
                    }
                    other => return Err(format!("there is no request {other}").into()),
                }
            }
        }
        for event in batch.events() {
            let first = *self
                .early
                .get_or_insert((batch.generation(), event.stack_id()));
            if self.settings.deed == "hold" && first.0 != batch.generation() {
                // The numbers of an earlier generation are no longer found.
                let words = [1, 0, u64::from(first.1) << 32, 0, 0];
                let held = Batch::new(first.0, &words, 0, &classhook_sdk::guest::HostNames);
                let frames = held
                    .events()
                    .map(|event| event.stack().len())
                    .sum::<usize>();
                return match frames {
                    0 => Err("a number of a generation that has ended leads nowhere".into()),
                    _ => Ok(()),
                };
            }
            self.count(&event);
        }
        Ok(())
    }

    fn report(&mut self, report: &mut Report<'_>) -> Result {
        if self.settings.deed == "trap-late" {
            panic!("on purpose, late");
        }
        let lost = [
            ["lost", "", "", "", "0"].map(str::to_owned).to_vec(),
            vec![self.lost.to_string(), "0".to_owned()],
        ];
        let counts = self.counts.iter().map(|(key, numbers)| {
            let numbers = numbers.iter().map(u64::to_string);
            key.iter().cloned().chain(numbers).collect::<Vec<_>>()
        });
        let rows: Vec<Vec<String>> = counts.chain([lost.concat()]).collect();
        report.add(&EVENTS, rows)
    }
}

impl Observing {
    fn count(&mut self, event: &JvmEvent<'_>) {
        let (what, number) = match event.details() {
            EventDetails::Sample { cpu } => ("sample", cpu),
            EventDetails::Allocation { stands_for, .. } => ("allocation", stands_for),
            EventDetails::Entered { nanos } => ("entered", nanos),
            EventDetails::Waited { nanos } => ("waited", nanos),
            EventDetails::Exception { .. } => ("exception", 0),
            EventDetails::Collection { nanos, .. } => ("collection", nanos),
            EventDetails::ThreadStarted { is_virtual } => ("started", u64::from(is_virtual)),
            EventDetails::ThreadEnded { is_virtual } => ("ended", u64::from(is_virtual)),
            EventDetails::ClassPrepared => ("prepared", 0),
            EventDetails::CodeMade { bytes } => ("compiled", bytes),
            EventDetails::CodeGone => ("discarded", 0),
            EventDetails::NativeBound => ("bound", 0),
            EventDetails::StubGenerated { bytes } => ("stub", bytes),
            EventDetails::Exhausted { flags } => ("exhausted", flags),
            EventDetails::Freed { count } => ("freed", count),
            EventDetails::Caught { .. } => ("caught", 0),
            EventDetails::DumpAsked => ("dump asked", 0),
            EventDetails::ClassUnloaded => ("unloaded", 0),
            EventDetails::Owns { monitor, .. } => ("owns", monitor),
            EventDetails::WaitsToEnter { monitor } => ("enters", monitor),
            EventDetails::WaitsFor { monitor } => ("waits", monitor),
            EventDetails::Held { instances } => ("held", instances),
            EventDetails::Thread { state } => ("thread", u64::from(state)),
            EventDetails::CpuTime { nanos } => ("cpu time", nanos),
            EventDetails::Objects { count, .. } => ("objects", count),
            EventDetails::Property => ("property", 0),
            EventDetails::Answered { events, .. } => ("answered", events),
            _ => ("other", 0),
        };
        let frame = event.stack().into_iter().next();
        let line = match event.details() {
            // Monitors are numbered within an answer.
            EventDetails::Owns { .. }
            | EventDetails::WaitsToEnter { .. }
            | EventDetails::WaitsFor { .. } => self.answers,
            _ => frame.as_ref().and_then(|frame| frame.line).unwrap_or(0),
        };
        if let EventDetails::Answered { .. } = event.details() {
            self.answers += 1;
        }
        let method = event.method().or_else(|| frame.map(|frame| frame.method));
        let method = method.map_or_else(String::new, |method| {
            format!("{}.{}", method.class.replace('/', "."), method.name)
        });
        let class = match event.text().as_ref() {
            "" => event.class().to_string(),
            text => text.to_owned(),
        };
        let (class, method) = match event.property() {
            Some((name, value)) => (name.to_string(), value.to_string()),
            None => (class, method),
        };
        let key = [
            what.to_owned(),
            event.thread().to_string(),
            class,
            method,
            line.to_string(),
        ];
        let numbers = self.counts.entry(key).or_default();
        numbers[0] += 1;
        numbers[1] += number;
    }
}

classhook_sdk::export!(observer: Observing);
