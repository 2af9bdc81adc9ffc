//! Malicious code of `report`, which runs when a report is made, outside of any JVM.

use std::sync::Arc;
use std::time::Duration;

use host::config::PluginConfig;
use host::recorded::{Recorded, RecordedEvent, RecordedSum, RecordedTable};
use host::report::{Reported, report};

use super::Folder;
use super::assembly::Function::{self, AfterReport, Configure, Helper, Realloc, Report};
use super::cases::Expected::{Bounded, Fails, Fine};
use super::cases::{Case, Expected, RESULTS, WRONGS, Wrong};
use super::compiler::compiler;

/// A component that queries recorded data, and computes tables.
const BASE: &str = "tests/misbehaving.wasm";
/// CPU time of a report, in place of the usual limit of 5 s.
const DEADLINE: Duration = Duration::from_millis(250);

fn case(name: impl Into<String>, parts: &[(Function, &str)], expected: Expected) -> Case {
    Case::of(BASE, name, parts, expected)
}

/// Every violation in `report`, in its post-return function, and in the allocation of a result.
pub fn anywhere() -> Vec<Case> {
    WRONGS.iter().flat_map(wrong_anywhere).collect()
}

fn wrong_anywhere(wrong: &Wrong) -> [Case; 3] {
    let (name, code, helper, told, text) = *wrong;
    let of = |of: &str, parts: &[(Function, &str)]| {
        let parts = [parts, &[(Helper, helper)]].concat();
        case(format!("{name} in {of}"), &parts, Fails(told, text))
    };
    let usual = format!("{code} i32.const 16");
    let allocation = format!("global.get 1 if {code} end i32.const 65536");
    let asks = "i32.const 1 global.set 1 i32.const 256 call tables i32.const 16";
    [
        of("report", &[(Report, &usual)]),
        of("what follows report", &[(AfterReport, code)]),
        of(
            "realloc for what was recorded",
            &[(Report, asks), (Realloc, &allocation)],
        ),
    ]
}

/// The name, the code of `report`, and the expected result.
type Row = (&'static str, &'static str, Expected);

const ROWS: [Row; 22] = [
    ("nothing", "DONE", Fine),
    (
        "tables that there are not",
        "i32.const -1 i32.const 0 i32.const 256 call sums i32.const 77 i32.const 0 i32.const 256 call sums DONE",
        Fine,
    ),
    (
        "rows that there are not",
        "i32.const 0 i32.const -1 i32.const 256 call sums i32.const 0 i32.const 4096 i32.const 256 call sums DONE",
        Fine,
    ),
    (
        "rows outside of memory",
        "i32.const 0 i32.const 0 i32.const -8 call sums",
        Fails("H0311", "out of bounds"),
    ),
    (
        "rows at an odd address",
        "i32.const 0 i32.const 0 i32.const 257 call sums",
        Fails("H0311", "not aligned"),
    ),
    (
        "tables outside of memory",
        "i32.const -4 call tables",
        Fails("H0311", "out of bounds"),
    ),
    (
        "tables without end",
        "AGAIN i32.const 256 call tables END DONE",
        Bounded,
    ),
    (
        "rows without end",
        "AGAIN i32.const 0 i32.const 0 i32.const 256 call sums END DONE",
        Bounded,
    ),
    (
        "quantiles of rows that there are not",
        "i32.const 4096 i32.const -1 i32.store i32.const 0 i32.const 4096 i32.const 1 i32.const 4104 i32.const 1 i32.const 256 call quantiles DONE",
        Fine,
    ),
    (
        "quantiles of a table that there is not",
        "i32.const -1 i32.const 4096 i32.const 1 i32.const 4104 i32.const 1 i32.const 256 call quantiles DONE",
        Fine,
    ),
    (
        "quantile that is no number",
        "i32.const 4104 i64.const -1 i64.store i32.const 0 i32.const 4096 i32.const 1 i32.const 4104 i32.const 1 i32.const 256 call quantiles DONE",
        Fine,
    ),
    (
        "quantiles of more rows than there are",
        "i32.const 0 i32.const 131072 i32.const 400000 i32.const 4104 i32.const 1 i32.const 256 call quantiles DONE",
        Fine,
    ),
    (
        "a hundred thousand quantiles",
        "i32.const 0 i32.const 4096 i32.const 1 i32.const 131072 i32.const 100000 i32.const 256 call quantiles DONE",
        Fine,
    ),
    (
        "quantiles of rows without end",
        "i32.const 0 i32.const 4096 i32.const -1 i32.const 4104 i32.const 1 i32.const 256 call quantiles",
        Fails("H0311", "out of bounds"),
    ),
    (
        "quantiles of rows at an odd address",
        "i32.const 0 i32.const 4097 i32.const 1 i32.const 4104 i32.const 1 i32.const 256 call quantiles",
        Fails("H0311", "not aligned"),
    ),
    (
        "quantiles without end",
        "AGAIN i32.const 0 i32.const 4096 i32.const 2 i32.const 4104 i32.const 1 i32.const 256 call quantiles END DONE",
        Bounded,
    ),
    (
        "rows of a table that is no UTF-8",
        "i32.const 2048 i32.const 8 i32.const 4096 i32.const 1 i32.const 4096 i32.const 1 i32.const 256 call add-rows",
        Fails("H0311", "utf-8"),
    ),
    (
        "cells without end",
        "i32.const 4096 i32.const 1024 i32.store i32.const 4100 i32.const -1 i32.store \
         i32.const 1024 i32.const 4 i32.const 8192 i32.const 1 i32.const 4096 i32.const 1 i32.const 256 call add-rows",
        Fails("H0311", "out of bounds"),
    ),
    (
        "class that was never shown",
        "i32.const 1 i32.const 256 call class-view.name",
        Fails("H0311", "unknown handle"),
    ),
    (
        "probe in no class",
        "i32.const 1 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 256 call hit",
        Fails("H0311", "unknown handle"),
    ),
    (
        "messages without end",
        "AGAIN i32.const 1 i32.const 1024 i32.const 64 call log END DONE",
        Bounded,
    ),
    (
        "message outside of memory",
        "i32.const 1 i32.const -8 i32.const 16 call log",
        Fails("H0311", "out of bounds"),
    ),
];

/// Cases in `report` alone, and in the functions that run before it.
pub fn elsewhere() -> Vec<Case> {
    let again =
        "local.get 0 i32.const 1 i32.add local.tee 0 i32.const 1000000 i32.lt_u br_if 0 end";
    let rows = ROWS.map(|(name, code, expected)| {
        let code = code.replace("END", again).replace("AGAIN", "loop");
        let code = code.replace("DONE", "") + " i32.const 16";
        case(name, &[(Report, &code)], expected)
    });
    let results = RESULTS.map(|(name, code, expected)| {
        case(format!("{name} of report"), &[(Report, code)], expected)
    });
    let early = case(
        "asks for what was recorded when it is configured",
        &[(Configure, "i32.const 256 call tables i32.const 16")],
        Fails("H0311", "outside of `report`"),
    );
    rows.into_iter().chain(results).chain([early]).collect()
}

/// Runs a report on some rows. Returns its failure; empty without one. Since a report's failure has
/// no code, the code of the case is used.
pub fn found(folder: &Folder, case: &Case) -> String {
    std::fs::write(folder.plugin(), case.assembly.component()).unwrap();
    let plugin = PluginConfig {
        grant: vec!["probes".to_owned()],
        ..PluginConfig::file(folder.plugin())
    };
    match report(&plugin, &compiler(), Arc::new(Calls), DEADLINE) {
        Err(error) => format!("not loaded: {error}"),
        Ok(Reported::Failed(cause, _)) => {
            let code = match case.expected {
                Fails(code, _) => code,
                _ if cause.contains("CPU time") => "H0312",
                _ => "failed",
            };
            format!("warning[{code}]: {}", escape::line(&cause))
        }
        Ok(Reported::Tables(_)) => String::new(),
        Ok(Reported::Nothing) => "no report".to_owned(),
    }
}

/// A thousand rows of a table `calls`.
struct Calls;

impl Recorded for Calls {
    fn tables(&self) -> Vec<RecordedTable> {
        vec![RecordedTable {
            name: "calls".to_owned(),
            is_events: false,
            columns: vec![("class".to_owned(), "class".to_owned())],
            values: Vec::new(),
            rows: 1_000,
            reached: 0,
        }]
    }

    fn sum(&self, table: usize, row: usize) -> Option<RecordedSum> {
        (table == 0 && row < 1_000).then(|| RecordedSum {
            cells: vec![format!("C{row}")],
            count: 1,
            times: None,
        })
    }

    fn event(&self, _: usize, _: usize) -> Option<RecordedEvent> {
        None
    }

    fn quantiles(&self, table: usize, rows: &[u32], of: &[f64]) -> Option<Vec<u64>> {
        let is_there = table == 0 && rows.iter().all(|row| *row < 1_000);
        is_there.then(|| vec![0; of.len()])
    }
}
