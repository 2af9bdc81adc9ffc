//! Times the methods of JDBC drivers that run statements, with the texts of these, and counts who calls them.

use std::collections::BTreeMap;

use classhook_sdk::access_flags::ACC_PUBLIC;
use classhook_sdk::edit::Constant;
use classhook_sdk::opcode::{IRETURN, RETURN};
use classhook_sdk::prelude::*;
use classhook_sdk::wit::MemberRef;

/// The interfaces of JDBC whose methods `execute…` run statements.
const STATEMENTS: [&str; 3] = [
    "java/sql/Statement",
    "java/sql/PreparedStatement",
    "java/sql/CallableStatement",
];

/// How long the drivers' methods take.
const TIMES: Table = Table {
    name: "times",
    columns: &[("driver", Kind::Class), ("method", Kind::Method)],
};

/// Who calls JDBC, and how often.
const CALLERS: Table = Table {
    name: "callers",
    columns: &[
        ("caller", Kind::Method),
        ("line", Kind::Line),
        ("calls", Kind::Method),
    ],
};

/// When drivers begin and end to run or to prepare a statement: an event each, whose value is the statement.
pub const RUNS: Table = Table {
    name: "runs",
    columns: &[("method", Kind::Method), ("moment", Kind::Text)],
};
const BEGINS: &str = "begins";
const ENDS: &str = "ends";
const STATEMENT: &str = "statement";

/// How often which statement was run or prepared, and how long that took.
const TEXTS: Table = Table {
    name: "statements",
    columns: &[
        ("statement", Kind::Text),
        ("count", Kind::Integer),
        ("total", Kind::Duration),
        ("longest", Kind::Duration),
    ],
};

/// Times and counts.
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
            let prepares = prepares && is_public && method.name().starts_with("prepare");
            if runs {
                let row = plan.row(&TIMES, &[&class.dotted_name(), method.name()])?;
                plan.span(&method, &Capture::default().sum_up(), &row)?;
            }
            if (runs || prepares) && method.descriptor().starts_with("(Ljava/lang/String;") {
                record_text(&method, plan)?;
            }
            count_callers(&method, plan)?;
        }
        Ok(())
    }
}

/// An event where the method begins, with the statement, and one wherever it ends.
fn record_text(method: &Method<'_>, plan: &mut Plan<'_>) -> Result {
    let name = method.full_name();
    let begins = plan.row(&RUNS, &[&name, BEGINS])?;
    let text = Event::default().argument(STATEMENT, 0).limit(500);
    plan.event(&[method.entry()], &text, &begins)?;
    let ends = plan.row(&RUNS, &[&name, ENDS])?;
    let no_text = Event::default().constant(STATEMENT, Constant::Text(String::new()));
    let mut returns = method.instructions()?;
    returns.retain(|it| (IRETURN..=RETURN).contains(&it.opcode));
    let returns: Vec<u16> = returns.iter().map(|it| it.bci).collect();
    let mut exits = method.before(&returns)?;
    exits.push(method.unwind());
    plan.event(&exits, &no_text, &ends)?;
    Ok(())
}

fn count_callers(method: &Method<'_>, plan: &mut Plan<'_>) -> Result {
    for call in method.calls(runs_a_statement)? {
        let line = call.line.to_string();
        let cells = [&method.full_name(), &line, &call.target.name];
        let row = plan.row(&CALLERS, &cells.map(String::as_str))?;
        plan.count(&method.before(&[call.bci])?, &row)?;
    }
    Ok(())
}

fn runs_a_statement(target: &MemberRef) -> bool {
    STATEMENTS.contains(&target.owner.as_str()) && target.name.starts_with("execute")
}

/// A method of a driver that has not ended.
struct Running {
    method: String,
    statement: String,
    since: u64,
}

impl Reporter for SqlTimer {
    /// Joins the two events of each call: they are in the order of time, so within a thread the last one that began ends
    /// first. What a method of the driver called within another one is part of that one.
    fn report(&self, recorded: &Recorded<'_>, report: &mut Report<'_>) -> Result {
        let mut threads: BTreeMap<(u32, String), Vec<Running>> = BTreeMap::new();
        let mut texts: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
        for mut event in recorded.events(&RUNS) {
            let statement = event.value(STATEMENT).unwrap_or("?").to_owned();
            let method = event.cells.swap_remove(0);
            let running = threads.entry((event.process, event.thread)).or_default();
            if event.cells[0] == BEGINS {
                running.push(Running {
                    method,
                    statement,
                    since: event.nanos,
                });
                continue;
            }
            let Some(begun) = running.iter().rposition(|of| of.method == method) else {
                continue; // it began before the recording
            };
            let Running {
                statement, since, ..
            } = running.swap_remove(begun);
            running.truncate(begun);
            if running.is_empty() {
                let took = event.nanos.saturating_sub(since);
                let (count, total, longest) = texts.entry(statement).or_default();
                (*count, *total) = (*count + 1, *total + took);
                *longest = took.max(*longest);
            }
        }
        let rows = texts
            .into_iter()
            .map(|(statement, (count, total, longest))| {
                let [count, total, longest] =
                    [count, total, longest].map(|number| number.to_string());
                [statement, count, total, longest]
            });
        report.add(&TEXTS, rows)
    }
}

classhook_sdk::export!(SqlTimer, reporter);
