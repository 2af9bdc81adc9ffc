//! A component with all three roles of a plugin: counts calls, sums them up in a report, and
//! observes thread starts.

use classhook_sdk::prelude::*;
use classhook_sdk::{Batch, EventDetails, Filter, Observer, Subscriptions};

const CALLS: Table = Table {
    name: "calls",
    columns: &[("class", ColumnKind::Class), ("method", ColumnKind::Method)],
};

const TOTAL: Table = Table {
    name: "total",
    columns: &[
        ("methods", ColumnKind::Integer),
        ("calls", ColumnKind::Integer),
    ],
};

const THREADS: Table = Table {
    name: "threads",
    columns: &[("thread", ColumnKind::Text)],
};

/// Counts the calls of each method, and sums them up when a report is made.
pub struct Calls;

impl Transformer for Calls {
    type Config = NoSettings;

    fn new(_: NoSettings) -> Result<Self> {
        Ok(Self)
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let name = class.name();
        for method in class.methods().filter(Method::has_code) {
            let row = CALLS.row(&[&name, method.name()]);
            plan.count(&[method.entry()], &row)?;
        }
        Ok(())
    }
}

impl Reporter for Calls {
    fn report(&self, recorded: &Recorded<'_>, report: &mut Report<'_>) -> Result {
        let counts: Vec<u64> = recorded.sums(&CALLS).map(|row| row.count).collect();
        let calls: u64 = counts.iter().sum();
        report.add(&TOTAL, [[counts.len().to_string(), calls.to_string()]])
    }
}

/// The names of started threads.
pub struct Threads(Vec<String>);

impl Observer for Threads {
    type Config = NoSettings;

    fn new(_: NoSettings) -> Result<Self> {
        Ok(Self(Vec::new()))
    }

    fn subscribe(&self, to: &mut Subscriptions<'_>) -> Result {
        to.threads(&Filter::default())
    }

    fn observe(&mut self, batch: &Batch<'_>) -> Result {
        for event in batch.events() {
            if let EventDetails::ThreadStarted { .. } = event.details() {
                self.0.push(event.thread().to_string());
            }
        }
        Ok(())
    }

    fn report(&mut self, report: &mut Report<'_>) -> Result {
        report.add(&THREADS, self.0.iter().map(|name| [name.as_str()]))
    }
}

classhook_sdk::export!(Calls, reporter, observer: Threads);
