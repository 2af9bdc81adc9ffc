//! Plugins that compute tables from recordings.

use std::sync::{Arc, Mutex, PoisonError};

use agent_launch::plugin_compiler::PluginCompiler;
use errors::{Error, codes};
use host::config::PluginConfig;
use host::recorded::{Recorded, RecordedEvent, RecordedSum, RecordedTable};
use host::report::{Reported, deadline, report};
use probes::events::{Aggregate, Column};
use trace::results::{ComputedTable, Table};

/// Plugins that compute tables.
#[derive(Debug, Clone, Default)]
pub struct Reporters(pub Vec<PluginConfig>);

impl Reporters {
    /// Returns this plugin alone.
    #[must_use]
    pub fn one(plugin: PluginConfig) -> Self {
        Self(vec![plugin])
    }

    /// Adds the tables that the plugins compute. The second result holds their failures.
    #[must_use]
    pub fn add_to(&self, recorded: Vec<Table>) -> (Vec<Table>, Vec<Error>) {
        let recorded = Arc::new(recorded);
        let (mut computed, mut failed) = (Vec::new(), Vec::new());
        for plugin in &self.0 {
            match one(plugin, &recorded) {
                Ok(tables) => computed.extend(tables),
                Err((cause, problem)) => {
                    let plugin = plugin.name.clone();
                    computed.push(Table::NotComputed { plugin, cause });
                    failed.push(problem);
                }
            }
        }
        let mut tables = Arc::unwrap_or_clone(recorded);
        tables.append(&mut computed);
        (tables, failed)
    }
}

/// Returns the tables of one plugin, or the cause and the error for the user.
fn one(plugin: &PluginConfig, recorded: &Arc<Vec<Table>>) -> Result<Vec<Table>, (String, Error)> {
    let name = &plugin.name;
    let is_own = |number: &usize| recorded.get(*number).is_some_and(|it| it.plugin() == name);
    let own: Vec<usize> = (0..recorded.len()).filter(is_own).collect();
    if own.is_empty() {
        let cause = "the recording has no data of it";
        return Err((cause.to_owned(), not_computed(name, cause)));
    }
    let material = OwnTables {
        all: Arc::clone(recorded),
        own,
        unread: Mutex::default(),
    };
    let deadline = deadline(&material);
    let material = Arc::new(material);
    let reported = report(
        plugin,
        &PluginCompiler,
        Arc::clone(&material) as _,
        deadline,
    );
    let unread = material
        .unread
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(cause) = &*unread {
        return Err((cause.clone(), not_computed(name, cause)));
    }
    match reported {
        Err(problem) => Err((problem.to_string(), problem)),
        Ok(Reported::Nothing) => Ok(Vec::new()),
        Ok(Reported::Failed(cause, help)) => {
            let problem = not_computed(name, &cause);
            let problem = match help {
                Some(help) => problem.with("help", help),
                None => problem,
            };
            Err((cause, problem))
        }
        Ok(Reported::Tables(tables)) => Ok(tables
            .into_iter()
            .map(|table| {
                let columns = table.columns.into_iter();
                Table::Computed(ComputedTable {
                    plugin: name.clone(),
                    name: table.name,
                    columns: columns.map(|(name, kind)| Column { name, kind }).collect(),
                    rows: table.rows,
                })
            })
            .collect()),
    }
}

fn not_computed(plugin: &str, cause: &str) -> Error {
    let message = format!("the plugin `{plugin}` has not computed its tables");
    Error::partial(codes::H0698, message).with("cause", cause)
}

/// The recorded tables of one plugin, among all tables.
struct OwnTables {
    all: Arc<Vec<Table>>,
    /// Indices of the plugin's own tables.
    own: Vec<usize>,
    /// Cause if rows could not be read.
    unread: Mutex<Option<String>>,
}

impl OwnTables {
    fn table(&self, number: usize) -> Option<&Table> {
        self.all.get(*self.own.get(number)?)
    }
}

fn pairs(columns: &[Column]) -> Vec<(String, String)> {
    let columns = columns.iter();
    columns
        .map(|column| (column.name.clone(), column.kind.clone()))
        .collect()
}

impl Recorded for OwnTables {
    fn tables(&self) -> Vec<RecordedTable> {
        let tables = (0..self.own.len()).filter_map(|number| self.table(number));
        let about = |table: &Table| match table {
            Table::Sums(table) => Some(RecordedTable {
                name: table.name.clone(),
                is_events: false,
                columns: pairs(&table.columns),
                values: Vec::new(),
                rows: table.rows.len(),
                reached: 0,
            }),
            Table::Events(table) => Some(RecordedTable {
                name: table.name.clone(),
                is_events: true,
                columns: pairs(&table.columns),
                values: table.values.clone(),
                rows: table.rows.len(),
                reached: table.reached,
            }),
            Table::Computed(_) | Table::NotComputed { .. } => None,
        };
        tables.filter_map(about).collect()
    }

    fn sum(&self, table: usize, row: usize) -> Option<RecordedSum> {
        let Table::Sums(table) = self.table(table)? else {
            return None;
        };
        let row = table.rows.get(row)?;
        let times = row.sums.as_ref();
        Some(RecordedSum {
            cells: row.cells.clone(),
            count: row.count,
            times: times.map(|sums| (sums.errors, sums.total, sums.max)),
        })
    }

    fn event(&self, table: usize, row: usize) -> Option<RecordedEvent> {
        let Table::Events(table) = self.table(table)? else {
            return None;
        };
        let row = match table.rows.get(row) {
            Ok(row) => row?,
            Err(error) => {
                let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
                *unread = Some(error.to_string());
                return None;
            }
        };
        Some(RecordedEvent {
            cells: row.cells.to_vec(),
            values: (0..table.values.len())
                .map(|place| row.recorded(place))
                .collect(),
            thread: row.thread.to_string(),
            nanos: row.nanos,
            process: row.pid,
        })
    }

    fn quantiles(&self, table: usize, rows: &[u32], of: &[f64]) -> Option<Vec<u64>> {
        let Table::Sums(table) = self.table(table)? else {
            return None;
        };
        let mut all = Aggregate::default();
        for row in rows {
            let row = table.rows.get(*row as usize)?;
            row.sums.iter().for_each(|sums| all.merge(sums));
        }
        let quantile = |quantile: &f64| all.quantile(*quantile).unwrap_or(0);
        Some(of.iter().map(quantile).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probes::events::{Capture, CaptureSource, Value, bucket_of};
    use trace::results::{EventRow, EventRows, EventTable, Row, SumTable};

    fn timed(count: u64, nanos: u64) -> Row {
        let mut sums = Aggregate {
            count,
            total: count * nanos,
            min: nanos,
            max: nanos,
            ..Aggregate::default()
        };
        sums.histogram.add(bucket_of(nanos), count);
        Row {
            cells: vec!["a".to_owned()],
            count,
            sums: Some(sums),
        }
    }

    #[test]
    fn quantiles_combine_rows_of_the_plugins_own_tables() {
        let table = |plugin: &str, rows| {
            Table::Sums(SumTable {
                plugin: plugin.to_owned(),
                name: "times".to_owned(),
                columns: vec![],
                rows,
            })
        };
        let all = vec![
            table("other", vec![timed(1, 9)]),
            table("mine", vec![timed(3, 1_000), timed(1, 100_000)]),
        ];
        let own = OwnTables {
            all: Arc::new(all),
            own: vec![1],
            unread: Mutex::default(),
        };
        assert_eq!(own.tables().len(), 1);
        let found = own.quantiles(0, &[0, 1], &[0.5, 1.0]).unwrap();
        assert!((900..=1_125).contains(&found[0]), "{found:?}");
        assert_eq!(found[1], 100_000);
        assert_eq!(own.quantiles(0, &[2], &[0.5]), None);
        assert_eq!(own.quantiles(1, &[], &[0.5]), None);
        assert_eq!(own.sum(0, 1).unwrap().times, Some((0, 100_000, 100_000)));
        assert_eq!(own.sum(0, 2), None);
        assert_eq!(own.event(0, 0), None);
    }

    #[test]
    fn texts_are_unchanged_and_truncation_is_marked() {
        let text = |text: &str, length| Value::Text {
            text: text.to_owned(),
            length,
        };
        let object = Value::Object {
            class: "a/B".into(),
            identity: 0x1F,
        };
        let values = [text("select 1", 8), text("sele", 8), object];
        let captures = (0..).zip(values).map(|(slot, value)| Capture {
            source: CaptureSource::Shown(slot),
            value,
        });
        let table = EventTable {
            plugin: "mine".to_owned(),
            name: "events".to_owned(),
            columns: vec![],
            values: ["whole", "cut", "object"].map(str::to_owned).to_vec(),
            rows: EventRows::from(vec![EventRow {
                cells: [].into(),
                pid: 1,
                nanos: 0,
                thread: "main".into(),
                captures: captures.collect(),
            }]),
            reached: 1,
            per_second: None,
            others_missing: false,
        };
        let own = OwnTables {
            all: Arc::new(vec![Table::Events(table)]),
            own: vec![0],
            unread: Mutex::default(),
        };
        let found = own.event(0, 0).unwrap().values;
        let found: Vec<_> = found.iter().flatten().collect();
        assert_eq!(found, ["select 1", "sele…", "a.B@1f"]);
    }
}
