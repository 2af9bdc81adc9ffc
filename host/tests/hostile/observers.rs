//! Malicious code of observers: while they subscribe, receive events, and compute tables.

use std::sync::Arc;

use jvm_events::batch::Names;

use super::Folder;
use super::assembly::Function::{
    self, AfterOnEvents, AfterOnResults, AfterSubscribe, Helper, OnEvents, OnResults, Realloc,
    Start, Subscribe,
};
use super::cases::Expected::{Bounded, Fails, Fine, NotLoaded};
use super::cases::{Case, Expected, RESULTS, WRONGS, Wrong};
use super::monitor_event::entered;

/// A component that subscribes, makes requests, and computes tables.
const BASE: &str = "tests/observing.wasm";

fn case(name: impl Into<String>, parts: &[(Function, &str)], expected: Expected) -> Case {
    Case::of(BASE, name, parts, expected)
}

/// Every violation in every export of an observer, and in the allocation of its arguments.
pub fn anywhere() -> Vec<Case> {
    WRONGS.iter().flat_map(wrong_anywhere).collect()
}

fn wrong_anywhere(wrong: &Wrong) -> Vec<Case> {
    let (name, code, helper, told, text) = *wrong;
    let places = [
        ("observer.configure", Subscribe),
        ("what follows observer.configure", AfterSubscribe),
        ("on-events", OnEvents),
        ("what follows on-events", AfterOnEvents),
        ("on-results", OnResults),
        ("what follows on-results", AfterOnResults),
    ];
    let in_places = places.map(|(of, place)| {
        let expected = match place {
            Subscribe | AfterSubscribe => NotLoaded("H0112", text),
            _ => Fails(told, text),
        };
        let code = format!("{code} {}", place.usual());
        let parts = [(place, code.as_str()), (Helper, helper)];
        case(format!("{name} in {of}"), &parts, expected)
    });
    let allocation = format!("global.get 1 if {code} end i32.const 65536");
    let allocation = case(
        format!("{name} in realloc for events"),
        &[
            (Subscribe, "i32.const 1 global.set 1 i32.const 16"),
            (Realloc, &allocation),
            (Helper, helper),
        ],
        Fails(told, text),
    );
    in_places.into_iter().chain([allocation]).collect()
}

/// The name, the function, the code, and the expected result. `FILTER` is a filter without
/// patterns, which accepts all events. `ROWS` is a table `abcd` with a text column. `AGAIN` repeats
/// the code a million times.
type Row = (&'static str, Function, &'static str, Expected);

/// No patterns of classes and threads, no limits, no frames; the result is at 256.
const FILTER: &str = "i32.const 0 i32.const 0 i32.const 0 i32.const 0 i64.const 0 i32.const 0 i64.const 0 i32.const 0 \
                      i32.const 256";
/// A text column `a` at 3584; a row at 3648, whose only cell is at 3656.
const COLUMN: &str = "i32.const 3584 i32.const 1024 i32.store i32.const 3588 i32.const 1 i32.store \
                      i32.const 3592 i32.const 0 i32.store \
                      i32.const 3648 i32.const 3656 i32.store i32.const 3652 i32.const 1 i32.store \
                      i32.const 3656 i32.const 1024 i32.store i32.const 3660 i32.const 64 i32.store";
/// The table `abcd` with that column and row; the result is at 256.
const ROWS: &str = "i32.const 1024 i32.const 4 i32.const 3584 i32.const 1 i32.const 3648 i32.const 1 i32.const 256 call add-rows";

const SUBSCRIPTIONS: [Row; 13] = [
    (
        "subscribes twice",
        Subscribe,
        "FILTER call samples FILTER call samples DONE",
        Fine,
    ),
    (
        "subscribes when it is handed events",
        OnEvents,
        "FILTER call samples DONE",
        Fails("H0311", "outside of `observer.configure`"),
    ),
    (
        "subscribes when it makes tables",
        OnResults,
        "FILTER call exceptions DONE",
        Fails("H0311", "outside of `observer.configure`"),
    ),
    (
        "subscribes without end",
        Subscribe,
        "loop FILTER call samples br 0 end DONE",
        NotLoaded("H0112", "CPU time"),
    ),
    (
        "patterns that are no UTF-8",
        Subscribe,
        "i32.const 4096 i32.const 2048 i32.store i32.const 4100 i32.const 8 i32.store i32.const 4096 i32.const 1 \
         i32.const 0 i32.const 0 i64.const 0 i32.const 0 i64.const 0 i32.const 0 i32.const 256 call samples",
        NotLoaded("H0112", "utf-8"),
    ),
    (
        "patterns outside of memory",
        Subscribe,
        "i32.const -8 i32.const 1 i32.const 0 i32.const 0 i64.const 0 i32.const 0 i64.const 0 i32.const 0 \
         i32.const 256 call samples",
        NotLoaded("H0112", "out of bounds"),
    ),
    (
        "patterns without end",
        Subscribe,
        "i32.const 0 i32.const 0 i32.const 4096 i32.const -1 i64.const 0 i32.const 0 i64.const 0 i32.const 0 \
         i32.const 256 call samples",
        NotLoaded("H0112", "out of bounds"),
    ),
    (
        "two hundred thousand patterns",
        Subscribe,
        "i32.const 131072 i32.const 200000 i32.const 0 i32.const 0 i64.const 0 i32.const 0 i64.const 0 i32.const 0 \
         i32.const 256 call samples DONE",
        Fine,
    ),
    (
        "pattern of a mebibyte",
        Subscribe,
        "i32.const 131072 i32.const 42 i32.const 1048576 memory.fill \
         i32.const 4096 i32.const 131072 i32.store i32.const 4100 i32.const 1048576 i32.store i32.const 4096 \
         i32.const 1 i32.const 0 i32.const 0 i64.const 0 i32.const 0 i64.const 0 i32.const 0 i32.const 256 call samples DONE",
        Fine,
    ),
    (
        "more frames than a stack has",
        Subscribe,
        "i32.const 0 i32.const 0 i32.const 0 i32.const 0 i64.const 0 i32.const 0 i64.const 0 i32.const -1 i32.const 256 \
         call samples DONE",
        Fine,
    ),
    (
        "a look at the threads each nanosecond",
        Subscribe,
        "i32.const 0 i32.const 0 i32.const 0 i32.const 0 i64.const 0 i32.const 1 i64.const 1 i32.const 0 i32.const 256 \
         call samples DONE",
        Fine,
    ),
    (
        "option that is none",
        Subscribe,
        "i32.const 0 i32.const 0 i32.const 0 i32.const 0 i64.const 0 i32.const 7 i64.const 1 i32.const 0 i32.const 256 \
         call samples",
        NotLoaded("H0112", "discriminant"),
    ),
    (
        "answer to a subscription outside of memory",
        Subscribe,
        "i32.const 0 i32.const 0 i32.const 0 i32.const 0 i64.const 0 i32.const 0 i64.const 0 i32.const 0 i32.const -8 \
         call samples",
        NotLoaded("H0112", "out of bounds"),
    ),
];

/// Numbers of events, and look-ups of them.
const IDS: [Row; 13] = [
    (
        "names that nobody gave",
        OnEvents,
        "i32.const 0 i32.const 256 call name i32.const -1 i32.const 256 call name i32.const 77 i32.const 256 call name DONE",
        Fine,
    ),
    (
        "stacks that nobody gave",
        OnEvents,
        "i32.const 0 i32.const 256 call frames i32.const -1 i32.const 256 call frames DONE",
        Fine,
    ),
    (
        "methods that nobody gave",
        OnEvents,
        "i32.const 0 i32.const 256 call method i32.const -1 i32.const 256 call method DONE",
        Fine,
    ),
    (
        "names before any event",
        Subscribe,
        "i32.const 1 i32.const 256 call name i32.const 1 i32.const 256 call frames DONE",
        Fine,
    ),
    (
        "a stack as a method",
        OnEvents,
        "local.get 1 i32.const 20 i32.add i32.load i32.const 256 call method DONE",
        Fine,
    ),
    (
        "name outside of memory",
        OnEvents,
        "i32.const 1 i32.const -8 call name",
        Fails("H0311", "out of bounds"),
    ),
    (
        "name at an odd address",
        OnEvents,
        "i32.const 1 i32.const 257 call name",
        Fails("H0311", "not aligned"),
    ),
    (
        "frames outside of memory",
        OnEvents,
        "i32.const 1 i32.const -4 call frames",
        Fails("H0311", "out of bounds"),
    ),
    (
        "names without end",
        OnEvents,
        "AGAIN i32.const 1 i32.const 256 call name END DONE",
        Bounded,
    ),
    (
        "frames without end",
        OnEvents,
        "AGAIN i32.const 1 i32.const 256 call frames END DONE",
        Bounded,
    ),
    (
        "methods without end",
        OnEvents,
        "AGAIN i32.const 1 i32.const 256 call method END DONE",
        Bounded,
    ),
    (
        "messages without end",
        OnEvents,
        "AGAIN i32.const 1 i32.const 1024 i32.const 64 call log END DONE",
        Bounded,
    ),
    (
        "message that is no UTF-8",
        OnEvents,
        "i32.const 1 i32.const 2048 i32.const 8 call log",
        Fails("H0311", "utf-8"),
    ),
];

/// Requests to the JVM.
const REQUESTS: [Row; 10] = [
    (
        "asks when it subscribes",
        Subscribe,
        "i32.const 256 call ask-cpu-times DONE",
        NotLoaded("H0112", "in `observer.configure`"),
    ),
    (
        "asks without end",
        OnEvents,
        "AGAIN i32.const 256 call ask-cpu-times END DONE",
        Bounded,
    ),
    (
        "asks for paths of other classes without end",
        OnEvents,
        "AGAIN i32.const 1024 local.get 4 i32.const 64 i32.lt_u i32.const 256 call ask-paths END DONE",
        Bounded,
    ),
    (
        "asks for a class whose name is a mebibyte",
        OnEvents,
        "i32.const 131072 i32.const 97 i32.const 1048576 memory.fill \
         i32.const 131072 i32.const 1048576 i32.const 256 call ask-paths DONE",
        Fine,
    ),
    (
        "asks for a thread whose name is no UTF-8",
        OnEvents,
        "i32.const 2048 i32.const 8 i32.const 1 i32.const 256 call ask-stack",
        Fails("H0311", "utf-8"),
    ),
    (
        "asks for a thread whose name is outside of memory",
        OnEvents,
        "i32.const -8 i32.const 8 i32.const 1 i32.const 256 call ask-stack",
        Fails("H0311", "out of bounds"),
    ),
    (
        "asks for all frames that there are",
        OnEvents,
        "i32.const 1024 i32.const 4 i32.const -1 i32.const 256 call ask-stack DONE",
        Fine,
    ),
    (
        "asks for all classes that there are",
        OnEvents,
        "i32.const 7 i32.const -1 i32.const 256 call ask-histogram DONE",
        Fine,
    ),
    (
        "asks when it makes tables",
        OnResults,
        "i32.const 256 call ask-properties i32.const 256 call ask-properties DONE",
        Fine,
    ),
    (
        "answer to a question at an odd address",
        OnEvents,
        "i32.const 257 call ask-properties",
        Fails("H0311", "not aligned"),
    ),
];

/// Tables.
const TABLES: [Row; 12] = [
    ("one row", OnResults, "COLUMN ROWS DONE", Fine),
    (
        "rows when it subscribes",
        Subscribe,
        "COLUMN ROWS DONE",
        NotLoaded("H0112", "outside of `report`"),
    ),
    (
        "rows when it is handed events",
        OnEvents,
        "COLUMN ROWS DONE",
        Fails("H0311", "outside of `report`"),
    ),
    (
        "rows without end",
        OnResults,
        "COLUMN AGAIN ROWS END DONE",
        Bounded,
    ),
    (
        "rows beyond memory",
        OnResults,
        "COLUMN i32.const 1024 i32.const 4 i32.const 3584 i32.const 1 i32.const 4096 i32.const -1 i32.const 256 call add-rows",
        Fails("H0311", "out of bounds"),
    ),
    (
        "rows at an odd address",
        OnResults,
        "COLUMN i32.const 1024 i32.const 4 i32.const 3584 i32.const 1 i32.const 3649 i32.const 1 i32.const 256 call add-rows",
        Fails("H0311", "not aligned"),
    ),
    (
        "name of a table that is no UTF-8",
        OnResults,
        "COLUMN i32.const 2048 i32.const 8 i32.const 3584 i32.const 1 i32.const 3648 i32.const 1 i32.const 256 call add-rows",
        Fails("H0311", "utf-8"),
    ),
    (
        "name of a table that a terminal would obey",
        OnResults,
        "COLUMN i32.const 3072 i32.const 37 i32.const 3584 i32.const 1 i32.const 3648 i32.const 1 i32.const 256 call add-rows DONE",
        Fine,
    ),
    (
        "name of a table of a mebibyte",
        OnResults,
        "COLUMN i32.const 131072 i32.const 97 i32.const 1048576 memory.fill i32.const 131072 i32.const 1048576 \
         i32.const 3584 i32.const 1 i32.const 3648 i32.const 1 i32.const 256 call add-rows DONE",
        Fine,
    ),
    (
        "columns without end",
        OnResults,
        "COLUMN i32.const 1024 i32.const 4 i32.const 131072 i32.const 100000 i32.const 3648 i32.const 1 i32.const 256 call add-rows DONE",
        Fine,
    ),
    (
        "a hundred thousand rows without a cell",
        OnResults,
        "COLUMN i32.const 1024 i32.const 4 i32.const 3584 i32.const 1 i32.const 131072 i32.const 100000 i32.const 256 call add-rows DONE",
        Fine,
    ),
    (
        // 20,000 rows that share the same 20,000 cells.
        "rows that share their cells",
        OnResults,
        "COLUMN loop i32.const 131072 local.get 2 i32.const 8 i32.mul i32.add local.tee 3 i32.const 524288 i32.store \
         local.get 3 i32.const 4 i32.add i32.const 20000 i32.store \
         local.get 2 i32.const 1 i32.add local.tee 2 i32.const 20000 i32.lt_u br_if 0 end \
         i32.const 1024 i32.const 4 i32.const 3584 i32.const 1 i32.const 131072 i32.const 20000 i32.const 256 call add-rows DONE",
        Fails("H0313", "more than 64 MiB at once"),
    ),
];

/// Cases that are not repeated in every function.
pub fn elsewhere() -> Vec<Case> {
    let rows = SUBSCRIPTIONS.iter().chain(&IDS);
    let rows = rows.chain(&REQUESTS).chain(&TABLES);
    let row = |(name, place, code, expected): &Row| {
        // A function's variables follow its parameters.
        let count = match place {
            OnEvents => 4,
            _ => 2,
        };
        let again = format!(
            "local.get {count} i32.const 1 i32.add local.tee {count} i32.const 1000000 i32.lt_u br_if 0 end"
        );
        let code = code.replace("END", &again).replace("AGAIN", "loop");
        let code = code.replace("FILTER", FILTER).replace("COLUMN", COLUMN);
        let code = code.replace("ROWS", ROWS).replace("DONE", "") + " i32.const 16";
        case(*name, &[(*place, &code)], *expected)
    };
    let results = [OnEvents, OnResults].into_iter().flat_map(|place| {
        RESULTS.map(|(name, code, expected)| {
            case(format!("{name} of {place:?}"), &[(place, code)], expected)
        })
    });
    let late = case(
        "observer that traps when it is made anew",
        &[(Start, "unreachable")],
        NotLoaded("H0112", "unreachable"),
    );
    rows.map(row).chain(results).chain([late]).collect()
}

/// Loads a plugin, passes it two batches, and requests its tables. Returns its failure; empty
/// without one.
pub fn found(folder: &Folder, case: &Case) -> String {
    let pipeline = match folder.load(&case.assembly.component()) {
        Err(error) => return format!("not loaded: {error}"),
        Ok(pipeline) => Arc::new(pipeline),
    };
    let mut observer = pipeline.observers().pop().expect("it observes");
    let mut names = Names::default();
    let events = entered(&mut names);
    let mut wrong = None;
    for _ in 0..2 {
        if let (_, Err(failed)) = observer.on_events(&mut names, &events, 1) {
            wrong = Some(failed);
            break;
        }
        let (asked, _) = observer.take_requests();
        assert!(asked.len() <= 8, "{asked:?}");
    }
    if wrong.is_none() {
        wrong = observer.on_results(&mut names, true).1.err();
    }
    assert_eq!(names.find_text(1), Some("main"), "given back");
    wrong.map_or_else(String::new, |failed| {
        let cause = escape::line(&failed.failure.cause);
        format!("warning[{}]: {cause}", failed.failure.code)
    })
}
