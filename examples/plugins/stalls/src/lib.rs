//! Reports the causes of stopped threads: contended monitors and garbage collections.

use std::collections::HashMap;
use std::time::Duration;

use classhook_sdk::prelude::*;
use classhook_sdk::{Batch, EventDetails, Filter, JvmEvent, Observer, Subscriptions};

/// Waits for monitors by place, those with the longest time first.
const MONITORS: Table = Table {
    name: "monitors",
    columns: &[
        ("monitor", ColumnKind::Class),
        ("method", ColumnKind::Method),
        ("line", ColumnKind::Line),
        ("waits", ColumnKind::Integer),
        ("total", ColumnKind::Duration),
        ("longest", ColumnKind::Duration),
    ],
};

/// Garbage collections that stopped all threads.
const PAUSES: Table = Table {
    name: "pauses",
    columns: &[
        ("collections", ColumnKind::Integer),
        ("total", ColumnKind::Duration),
        ("longest", ColumnKind::Duration),
    ],
};

/// Minimum duration, in milliseconds, of a wait or pause that counts.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Settings {
    at_least_ms: u64,
}

/// The number of waits, with their sum and maximum in nanoseconds.
#[derive(Default, Clone, Copy)]
struct Stalls {
    count: u64,
    total: u64,
    longest: u64,
}

impl Stalls {
    fn add(&mut self, nanos: u64) {
        self.count += 1;
        self.total += nanos;
        self.longest = self.longest.max(nanos);
    }

    fn cells(self) -> [String; 3] {
        [self.count, self.total, self.longest].map(|number| number.to_string())
    }
}

/// Sums up events.
pub struct Watch {
    settings: Settings,
    monitors: HashMap<[String; 3], Stalls>,
    pauses: Stalls,
}

impl Observer for Watch {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        Ok(Self {
            settings,
            monitors: HashMap::new(),
            pauses: Stalls::default(),
        })
    }

    fn subscribe(&self, to: &mut Subscriptions<'_>) -> Result {
        let at_least = Duration::from_millis(self.settings.at_least_ms);
        to.monitors(&Filter::default().at_least(at_least).frames(1))?;
        to.collections(&Filter::default().at_least(at_least))
    }

    fn observe(&mut self, batch: &Batch<'_>) -> Result {
        for event in batch.events() {
            match event.details() {
                EventDetails::Entered { nanos } => {
                    self.monitors.entry(place(&event)).or_default().add(nanos);
                }
                EventDetails::Collection { nanos, .. } => self.pauses.add(nanos),
                _ => {} // a thread in Object.wait makes no progress by intent
            }
        }
        Ok(())
    }

    fn report(&mut self, report: &mut Report<'_>) -> Result {
        let mut monitors: Vec<_> = self.monitors.iter().collect();
        monitors.sort_by_key(|(place, stalls)| (std::cmp::Reverse(stalls.total), *place));
        let rows = monitors.into_iter();
        report.add(
            &MONITORS,
            rows.map(|(place, stalls)| [&place[..], &stalls.cells()].concat()),
        )?;
        report.add(&PAUSES, [self.pauses.cells()])
    }
}

/// Returns the class of a monitor, and the place where a thread waited for it.
fn place(event: &JvmEvent<'_>) -> [String; 3] {
    let frame = event.stack().into_iter().next();
    let line = frame.as_ref().and_then(|frame| frame.line).unwrap_or(0);
    let method = frame.map_or_else(String::new, |frame| {
        let class = frame.method.class.replace('/', ".");
        format!("{class}.{}", frame.method.name)
    });
    [event.class().to_string(), method, line.to_string()]
}

classhook_sdk::export!(observer: Watch);
