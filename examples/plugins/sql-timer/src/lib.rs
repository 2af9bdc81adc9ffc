//! Times the methods of JDBC drivers that run statements, records the texts of the statements, and
//! counts callers.

use std::collections::BTreeMap;

use classhook_sdk::access_flags::ACC_PUBLIC;
use classhook_sdk::edit::Constant;
use classhook_sdk::edit::Member;
use classhook_sdk::opcode::{IRETURN, RETURN};
use classhook_sdk::prelude::*;

/// The interfaces of JDBC whose methods `execute…` run statements.
const STATEMENTS: [&str; 3] = [
    "java/sql/Statement",
    "java/sql/PreparedStatement",
    "java/sql/CallableStatement",
];

/// Times by driver method.
const TIMES: Table = Table {
    name: "times",
    columns: &[
        ("driver", ColumnKind::Class),
        ("method", ColumnKind::Method),
    ],
};

/// Calls of JDBC by caller.
const CALLERS: Table = Table {
    name: "callers",
    columns: &[
        ("caller", ColumnKind::Method),
        ("line", ColumnKind::Line),
        ("calls", ColumnKind::Method),
    ],
};

/// Starts and ends of driver methods that run or prepare a statement. Each is an event with the
/// text and the prepared statement, as far as known there. The report computes the statements from
/// these events, so the events are shown only on request.
pub const RUNS: Table = Table {
    name: "_runs",
    columns: &[("method", ColumnKind::Method), ("moment", ColumnKind::Text)],
};
const PREPARES: &str = "prepares";
const BEGINS: &str = "begins";
const ENDS: &str = "ends";
const STATEMENT: &str = "statement";
const PREPARED: &str = "prepared";

/// Runs and times by statement.
const TEXTS: Table = Table {
    name: "statements",
    columns: &[
        ("statement", ColumnKind::Text),
        ("count", ColumnKind::Integer),
        ("total", ColumnKind::Duration),
        ("longest", ColumnKind::Duration),
    ],
};

/// Times drivers and counts their callers.
pub struct SqlTimer;

impl Transformer for SqlTimer {
    type Config = NoSettings;

    fn new(_: NoSettings) -> Result<Self> {
        Ok(Self)
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let interfaces = class.interfaces();
        let is = |wanted: &[&str]| {
            interfaces
                .iter()
                .any(|name| wanted.contains(&name.as_str()))
        };
        let (runs, prepares) = (is(&STATEMENTS), is(&["java/sql/Connection"]));
        for method in class.methods().filter(Method::has_code) {
            let is_public = method.access_flags() & ACC_PUBLIC != 0;
            let runs = runs && is_public && method.name().starts_with("execute");
            let has_text = method.descriptor().starts_with("(Ljava/lang/String;");
            let prepares = prepares && is_public && method.name().starts_with("prepare");
            if runs {
                let row = TIMES.row(&[&class.dotted_name(), method.name()]);
                plan.span(&method, &Capture::default().sum_up(), &row)?;
            }
            if runs || prepares && has_text {
                record(&method, has_text, prepares, plan)?;
            }
            count_callers(&method, plan)?;
        }
        Ok(())
    }
}

/// Records an event at the start of the method, with the text or the prepared statement. Records
/// another one at each end, with the statement that the method prepared.
fn record(method: &Method<'_>, has_text: bool, prepares: bool, plan: &mut Plan<'_>) -> Result {
    let name = method.full_name();
    let nothing = |event: Event, name| event.constant(name, Constant::Text(String::new()));
    let event = |row: &Tag, at: &[InsertionPoint], event: Event, plan: &mut Plan<'_>| {
        plan.event(at, &event.limit(500), row).map(drop)
    };
    let begins = RUNS.row(&[&name, if prepares { PREPARES } else { BEGINS }]);
    let known = match has_text {
        true => nothing(Event::default().argument(STATEMENT, 0), PREPARED),
        false => nothing(Event::default(), STATEMENT).this(PREPARED),
    };
    event(&begins, &[method.entry()], known, plan)?;
    let ends = RUNS.row(&[&name, ENDS]);
    let mut returns = method.instructions()?;
    returns.retain(|it| (IRETURN..=RETURN).contains(&it.opcode));
    let returns: Vec<u16> = returns.iter().map(|it| it.bci).collect();
    let ended = nothing(Event::default(), STATEMENT);
    let returned = match prepares {
        true => ended.clone().stack(PREPARED),
        false => nothing(ended.clone(), PREPARED),
    };
    event(&ends, &method.before(&returns), returned, plan)?;
    event(&ends, &[method.unwind()], nothing(ended, PREPARED), plan)?;
    Ok(())
}

fn count_callers(method: &Method<'_>, plan: &mut Plan<'_>) -> Result {
    for call in method.calls(runs_a_statement)? {
        let line = call.line.to_string();
        let cells = [&method.full_name(), &line, &call.target.name];
        let row = CALLERS.row(&cells.map(String::as_str));
        plan.count(&method.before(&[call.bci]), &row)?;
    }
    Ok(())
}

fn runs_a_statement(target: &Member) -> bool {
    STATEMENTS.contains(&target.owner.as_str()) && target.name.starts_with("execute")
}

/// A driver method that has not ended.
struct Running {
    method: String,
    statement: String,
    since: u64,
    prepares: bool,
}

impl Reporter for SqlTimer {
    /// Joins the two events of each call. Events are sorted by time, so within a thread the last
    /// call to begin ends first. A nested call of a driver method belongs to the outer one.
    fn report(&self, recorded: &Recorded<'_>, report: &mut Report<'_>) -> Result {
        let mut threads: BTreeMap<(u32, String), Vec<Running>> = BTreeMap::new();
        let mut prepared: BTreeMap<(u32, String), String> = BTreeMap::new();
        let mut texts: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
        for event in recorded.events(&RUNS) {
            let value = |name| event.value(name).unwrap_or_default().to_owned();
            let (text, object) = (value(STATEMENT), (event.process, value(PREPARED)));
            let [method, moment] = &event.cells[..] else {
                continue;
            };
            let running = threads.entry((event.process, event.thread)).or_default();
            if moment != ENDS {
                let known = || prepared.get(&object).cloned();
                running.push(Running {
                    method: method.clone(),
                    statement: if text.is_empty() {
                        known().unwrap_or("?".into())
                    } else {
                        text
                    },
                    since: event.nanos,
                    prepares: moment == PREPARES,
                });
                continue;
            }
            let Some(begun) = running.iter().rposition(|of| of.method == *method) else {
                continue; // it began before the recording
            };
            let ended = running.split_off(begun).swap_remove(0);
            if ended.prepares {
                prepared.insert(object, ended.statement);
            } else if running.is_empty() {
                let took = event.nanos.saturating_sub(ended.since);
                let (count, total, longest) = texts.entry(ended.statement).or_default();
                (*count, *total) = (*count + 1, *total + took);
                *longest = took.max(*longest);
            }
        }
        let rows = texts.into_iter().map(|(text, (count, total, longest))| {
            let [count, total, longest] = [count, total, longest].map(|number| number.to_string());
            [text, count, total, longest]
        });
        report.add(&TEXTS, rows)
    }
}

classhook_sdk::export!(SqlTimer, reporter);
