//! Calls in an interval, by package, class, method or thread, or by caller.

use std::collections::BTreeMap;

use probes::events::{Aggregate, Lost, ThreadInfo, Trace};

use crate::nesting::CallSums;
use crate::perfetto::thread_name;
use crate::summary::{Order, Row, Summary};

/// The item that a row describes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Group {
    /// A package.
    Package,
    /// A class.
    Class,
    /// A method.
    #[default]
    Method,
    /// A thread; all virtual threads share a row.
    Thread,
}

/// A method identified by class, name and descriptor.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MethodId {
    /// `com.acme.Store$Item`.
    pub class: String,
    /// `find`.
    pub method: String,
    /// `(I)V`.
    pub descriptor: String,
}

/// The details that a row can be opened to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// Classes of this package.
    Package(String),
    /// Methods of this class.
    Class(String),
    /// Callers of this method.
    Method(MethodId),
    /// No details.
    Thread,
}

/// One row. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    /// Displayed name.
    pub name: String,
    /// The item and its details.
    pub key: Key,
    /// Completed calls in the interval.
    pub calls: u64,
    /// Calls that ended by an exception; `None` in count mode.
    pub errors: Option<u64>,
    /// Self time of the methods.
    pub own: Option<u64>,
    /// Time from entry to end; `None` if nested calls would count twice.
    pub total: Option<u64>,
    /// Average time from entry to end.
    pub mean: Option<u64>,
    /// 99th percentile of the time from entry to end.
    pub p99: Option<u64>,
}

/// The calls in an interval.
#[derive(Debug, Clone, Default)]
pub struct Interval {
    /// Length in seconds.
    pub seconds: f64,
    /// The methods with calls.
    pub methods: Vec<Row>,
    /// Number of traced methods, called or not.
    pub traced: usize,
    /// Sums by thread, if single calls are recorded.
    pub threads: Vec<(ThreadInfo, CallSums)>,
    /// Sums by method and caller, if single calls are recorded.
    pub callers: Vec<(MethodId, Option<MethodId>, CallSums)>,
    /// The losses since the start.
    pub lost: Lost,
    /// Descriptions of data that could not be written.
    pub incomplete: Vec<String>,
}

impl Interval {
    /// Computes the interval from the sums that each JVM added; without threads and callers.
    #[must_use]
    pub fn of(added: &[Trace], seconds: f64) -> Self {
        let summary = Summary::of(added, Order::Calls);
        Self {
            seconds,
            traced: summary.methods,
            incomplete: summary.incomplete.iter().map(ToString::to_string).collect(),
            methods: summary.rows,
            ..Self::default()
        }
    }

    /// Returns the rows of a group, unordered.
    #[must_use]
    pub fn rows(&self, group: Group) -> Vec<Rate> {
        let package = |row: &Row| match row.name.package.as_str() {
            "" => "(no package)".to_owned(),
            package => package.to_owned(),
        };
        match group {
            Group::Method => self.methods.iter().map(method).collect(),
            Group::Package => self.united(package, Key::Package),
            Group::Class => self.united(|row| row.class.clone(), Key::Class),
            Group::Thread => self.by_thread(),
        }
    }

    /// Returns the callers of a method, unordered.
    #[must_use]
    pub fn callers(&self, method: &MethodId) -> Vec<Rate> {
        let of_it = self.callers.iter().filter(|(called, ..)| called == method);
        of_it
            .map(|(_, caller, sums)| Rate {
                name: match caller {
                    Some(caller) => format!("{}.{}", caller.class, caller.method),
                    None => "(no traced method)".to_owned(),
                },
                key: caller.clone().map_or(Key::Thread, Key::Method),
                total: Some(sums.total),
                ..of_calls(sums)
            })
            .collect()
    }

    fn united(&self, name: impl Fn(&Row) -> String, key: fn(String) -> Key) -> Vec<Rate> {
        let mut groups: BTreeMap<String, (u64, Option<Aggregate>)> = BTreeMap::new();
        for row in &self.methods {
            let (calls, all) = groups.entry(name(row)).or_default();
            *calls += row.calls;
            if let Some(sums) = &row.sums {
                all.get_or_insert_default().merge(sums);
            }
        }
        let one = |(name, (calls, sums)): (String, (u64, Option<Aggregate>))| Rate {
            total: None,
            ..rate(name.clone(), key(name), calls, sums.as_ref())
        };
        groups.into_iter().map(one).collect()
    }

    fn by_thread(&self) -> Vec<Rate> {
        let mut threads: BTreeMap<String, CallSums> = BTreeMap::new();
        for (thread, sums) in &self.threads {
            let name = match thread.is_virtual {
                true => "(virtual threads)".to_owned(),
                false => thread_name(&thread.name, false, thread.id),
            };
            threads.entry(name).or_default().add(sums);
        }
        let one = |(name, sums): (String, CallSums)| Rate {
            name,
            ..of_calls(&sums)
        };
        threads.into_iter().map(one).collect()
    }
}

fn method(row: &Row) -> Rate {
    let id = MethodId {
        class: row.class.clone(),
        method: row.name.method.clone(),
        descriptor: row.descriptor.clone(),
    };
    rate(
        row.name.to_string(),
        Key::Method(id),
        row.calls,
        row.sums.as_ref(),
    )
}

fn rate(name: String, key: Key, calls: u64, sums: Option<&Aggregate>) -> Rate {
    Rate {
        name,
        key,
        calls,
        errors: sums.map(|sums| sums.errors),
        own: sums.map(|sums| sums.own),
        total: sums.map(|sums| sums.total),
        mean: sums.and_then(|sums| sums.total.checked_div(sums.count)),
        p99: sums.and_then(|sums| sums.quantile(0.99)),
    }
}

fn of_calls(sums: &CallSums) -> Rate {
    Rate {
        name: String::new(),
        key: Key::Thread,
        calls: sums.calls,
        errors: Some(sums.errors),
        own: Some(sums.own),
        total: None,
        mean: sums.total.checked_div(sums.calls),
        p99: None,
    }
}
