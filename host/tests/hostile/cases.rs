//! Malicious code, with the expected messages.

use super::assembly::Function::{
    self, AfterConfigure, AfterTransform, Configure, Helper, Realloc, Start, Transform,
};
use super::assembly::{Assembly, CHANGES_CLASSES, DONE};
use super::class_files::{CLASS_FILES, HELPERS};

/// The expected result of a case.
#[derive(Debug, Clone, Copy)]
pub enum Expected {
    /// Permitted or without effect.
    Fine,
    /// The plugin is not loaded, with this code and part of the text.
    NotLoaded(&'static str, &'static str),
    /// The plugin is loaded and fails on a class.
    Fails(&'static str, &'static str),
    /// Without effect, or stopped by a limit, depending on the speed of the machine.
    Bounded,
}

use Expected::{Bounded, Fails, Fine, NotLoaded};

/// A malicious plugin.
#[derive(Clone)]
pub struct Case {
    pub name: String,
    pub assembly: Assembly,
    pub expected: Expected,
}

impl Case {
    /// A plugin made of `base` with the code of these functions replaced.
    pub fn of(
        base: &'static str,
        name: impl Into<String>,
        parts: &[(Function, &str)],
        expected: Expected,
    ) -> Self {
        Self {
            name: name.into(),
            assembly: Assembly::of(base, parts),
            expected,
        }
    }
}

/// A plugin that may request all class edits, with the code of these functions replaced.
fn case(name: impl Into<String>, parts: &[(Function, &str)], expected: Expected) -> Case {
    Case::of(CHANGES_CLASSES, name, parts, expected)
}

/// A violation that is possible in every function: its name, code, code of the helper, and the
/// expected result.
pub type Wrong = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

pub const WRONGS: [Wrong; 7] = [
    ("loops", "loop br 0 end", "", "H0312", "CPU time"),
    (
        "recurses",
        "call helper",
        "call helper",
        "H0314",
        "recursion",
    ),
    ("traps", "unreachable", "", "H0311", "unreachable"),
    (
        "divides by zero",
        "i32.const 1 i32.const 0 i32.div_u drop",
        "",
        "H0311",
        "divide by zero",
    ),
    (
        "reads out of bounds",
        "i32.const -8 i32.load drop",
        "",
        "H0311",
        "out of bounds",
    ),
    (
        "calls what is not there",
        "i32.const 0 call_indirect",
        "",
        "H0311",
        "uninitialized element",
    ),
    (
        "allocates",
        "loop i32.const 16 memory.grow i32.const -1 i32.ne br_if 0 end unreachable",
        "",
        "H0313",
        "64 MiB of memory",
    ),
];

/// Every violation in every function.
pub fn anywhere() -> Vec<Case> {
    WRONGS.iter().flat_map(wrong_anywhere).collect()
}

fn wrong_anywhere(wrong: &Wrong) -> Vec<Case> {
    let (name, code, helper, told, text) = *wrong;
    let usual = |place: Function| match place {
        Configure | Transform => "i32.const 16",
        Realloc => "i32.const 65536",
        _ => "",
    };
    let wrong_in = |of: &str, parts: &[(Function, &str)], expected| {
        case(
            format!("{name} in {of}"),
            &[parts, &[(Helper, helper)][..]].concat(),
            expected,
        )
    };
    let early = [
        ("start", Start),
        ("configure", Configure),
        ("realloc", Realloc),
        ("what follows configure", AfterConfigure),
    ];
    let early = early.map(|(of, place)| {
        let code = format!("{code} {}", usual(place));
        wrong_in(of, &[(place, &code)], NotLoaded("H0112", text))
    });
    let late = [
        ("transform", Transform),
        ("what follows transform", AfterTransform),
    ];
    let late = late.map(|(of, place)| {
        let code = format!("{code} {}", usual(place));
        wrong_in(of, &[(place, &code)], Fails(told, text))
    });
    let asked =
        format!("i32.const 1 global.set 1 local.get 0 i32.const 256 call class-view.name {DONE}");
    let answer = format!("global.get 1 if {code} end i32.const 65536");
    let while_asked = wrong_in(
        "realloc for an answer",
        &[(Transform, &asked), (Realloc, &answer)],
        Fails(told, text),
    );
    early.into_iter().chain(late).chain([while_asked]).collect()
}

/// The name, the code of `transform`, and the expected result.
pub type Row = (&'static str, &'static str, Expected);

fn transforming(rows: &[Row]) -> impl Iterator<Item = Case> {
    rows.iter()
        .map(|(name, code, expected)| case(*name, &[(Transform, &expanded(code))], *expected))
}

/// A point, the entry of the first method: its number is at 8192.
const POINT: &str = "i32.const 8192 i32.const 1";

/// No points.
const NOWHERE: &str = "i32.const 0 i32.const 0";

/// No tag.
const NO_TAG: &str =
    "i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 0";

/// The row of a table with one column at 4096 and one cell at 4112, as a tag.
const ROW: &str =
    "i32.const 2 i32.const 1024 i32.const 8 i32.const 4096 i32.const 1 i32.const 4112 i32.const 1";

/// A capture of nothing.
const NO_CAPTURE: &str = "i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 0";

/// No limits of an event.
const NO_LIMITS: &str = "i32.const 0 i32.const 0 i32.const 0 i32.const 0";

/// The class as a target.
const OF_CLASS: &str = "i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 0";

/// Replaces the names of parts by their code.
fn expanded(code: &str) -> String {
    let parts = [
        ("POINT", POINT),
        ("NOWHERE", NOWHERE),
        ("NO_TAG", NO_TAG),
        ("ROW", ROW),
        ("NO_CAPTURE", NO_CAPTURE),
        ("NO_LIMITS", NO_LIMITS),
        ("OF_CLASS", OF_CLASS),
        ("DONE", DONE),
    ];
    let replace = |code: String, (name, part): (&str, &str)| code.replace(name, part);
    parts.into_iter().fold(code.to_owned(), replace)
}

/// Drops the borrowed handles; the address of the result follows.
const GIVEN_UP: &str = "local.get 0 call drop-class-view local.get 1 call drop-plan";

/// Invalid results of exports.
pub const RESULTS: [Row; 8] = [
    (
        "result outside of memory",
        "i32.const -16",
        Fails("H0311", "out of bounds"),
    ),
    (
        "result at an odd address",
        "i32.const 17",
        Fails("H0311", "not aligned"),
    ),
    (
        "result that is none",
        "i32.const 16 i32.const 2 i32.store i32.const 16",
        Fails("H0311", "discriminant"),
    ),
    (
        "error outside of memory",
        "i32.const 16 i32.const 1 i32.store i32.const 20 i32.const -8 i32.store i32.const 24 i32.const 64 i32.store i32.const 16",
        Fails("H0311", "out of bounds"),
    ),
    (
        "error without end",
        "i32.const 16 i32.const 1 i32.store i32.const 24 i32.const -1 i32.store i32.const 16",
        Fails("H0311", "out of bounds"),
    ),
    (
        "error that is no UTF-8",
        "i32.const 16 i32.const 1 i32.store i32.const 20 i32.const 2048 i32.store i32.const 24 i32.const 8 i32.store i32.const 16",
        Fails("H0311", "utf-8"),
    ),
    (
        "error of a mebibyte",
        "i32.const 65536 i32.const 120 i32.const 1048576 memory.fill i32.const 16 i32.const 1 i32.store \
         i32.const 20 i32.const 65536 i32.store i32.const 24 i32.const 1048576 i32.store i32.const 16",
        Fails("H0316", "bytes in all)"),
    ),
    (
        "error that a terminal would obey",
        "i32.const 16 i32.const 1 i32.store i32.const 20 i32.const 3072 i32.store i32.const 24 i32.const 37 i32.store i32.const 16",
        Fails("H0316", "it returned an error"),
    ),
];

/// Invalid arguments of imports.
const ARGUMENTS: [Row; 34] = [
    (
        "values of an event without end",
        "local.get 1 POINT i32.const 4096 i32.const 536870912 NO_LIMITS NO_TAG i32.const 256 call event",
        Fails("H0311", "out of bounds"),
    ),
    (
        "annotation at an odd address",
        "local.get 1 OF_CLASS i32.const 0 i32.const 4097 i32.const 1 i32.const 256 call annotate",
        Fails("H0311", "not aligned"),
    ),
    (
        "target that is none",
        "local.get 1 i32.const 9 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 4096 i32.const 1 i32.const 256 call annotate",
        Fails("H0311", "discriminant"),
    ),
    (
        "text outside of memory",
        "i32.const 1 i32.const -8 i32.const 4 call log",
        Fails("H0311", "out of bounds"),
    ),
    (
        "text beyond memory",
        "i32.const 1 i32.const 1024 i32.const 2097152 call log",
        Fails("H0311", "out of bounds"),
    ),
    (
        "text around memory",
        "i32.const 1 i32.const 1024 i32.const -1 call log",
        Fails("H0311", "out of bounds"),
    ),
    (
        "text that is no UTF-8",
        "i32.const 1 i32.const 2048 i32.const 8 call log",
        Fails("H0311", "utf-8"),
    ),
    (
        "level that there is not",
        "i32.const 255 i32.const 1024 i32.const 8 call log",
        Fails("H0311", "discriminant"),
    ),
    (
        "level beyond a byte",
        "i32.const -1 i32.const 1024 i32.const 8 call log",
        Fails("H0311", "discriminant"),
    ),
    (
        "empty text at no address",
        "i32.const 1 i32.const 0 i32.const 0 call log DONE",
        Fine,
    ),
    (
        "list without end",
        "local.get 1 i32.const 1024 i32.const 536870912 NO_TAG i32.const 256 call hit",
        Fails("H0311", "out of bounds"),
    ),
    (
        "list longer than numbers go",
        "local.get 1 i32.const 1024 i32.const -1 NO_TAG i32.const 256 call hit",
        Fails("H0311", "out of bounds"),
    ),
    (
        "list at an odd address",
        "local.get 1 i32.const 1025 i32.const 1 NO_TAG i32.const 256 call hit",
        Fails("H0311", "not aligned"),
    ),
    (
        "list outside of memory",
        "local.get 1 i32.const -8 i32.const 1 NO_TAG i32.const 256 call hit",
        Fails("H0311", "out of bounds"),
    ),
    (
        "list of all memory",
        "local.get 1 i32.const 0 i32.const 262144 NO_TAG i32.const 256 call hit DONE",
        Fine,
    ),
    (
        "answer outside of memory",
        "local.get 0 i32.const -8 call class-view.name",
        Fails("H0311", "out of bounds"),
    ),
    (
        "answer at an odd address",
        "local.get 0 i32.const 257 call class-view.name",
        Fails("H0311", "not aligned"),
    ),
    (
        "answer over the result",
        "local.get 0 i32.const 16 call class-view.name i32.const 16 i32.const 0 i32.store DONE",
        Fine,
    ),
    (
        "tag outside of memory",
        "local.get 1 NOWHERE i32.const 1 i32.const -8 i32.const 8 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 256 call hit",
        Fails("H0311", "out of bounds"),
    ),
    (
        "tag of all memory",
        "local.get 1 NOWHERE i32.const 1 i32.const 0 i32.const 2097152 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 256 call hit DONE",
        Fine,
    ),
    (
        "tag that is none",
        "local.get 1 NOWHERE i32.const 3 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 256 call hit",
        Fails("H0311", "discriminant"),
    ),
    (
        "points that are text",
        "local.get 1 i32.const 1024 i32.const 8 NO_TAG i32.const 256 call hit DONE",
        Fine,
    ),
    (
        "note that is no UTF-8",
        "local.get 1 i64.const 0 i32.const 2048 i32.const 8 call plan.note",
        Fails("H0311", "utf-8"),
    ),
    (
        "note outside of memory",
        "local.get 1 i64.const 0 i32.const 2097152 i32.const 1 call plan.note",
        Fails("H0311", "out of bounds"),
    ),
    (
        "code from a method that there is not",
        "local.get 0 i32.const 65535 i32.const 256 call class-view.code DONE",
        Fine,
    ),
    (
        "code from beyond methods",
        "local.get 0 i32.const -1 i32.const 256 call class-view.code DONE",
        Fine,
    ),
    (
        "method that there is not",
        "local.get 0 i32.const 65535 i32.const 256 call class-view.method DONE",
        Fine,
    ),
    (
        "operand that is none",
        "i32.const 4104 i32.const 99 i32.store local.get 1 POINT i32.const 4096 i32.const 1 i32.const 256 call insert",
        Fails("H0311", "discriminant"),
    ),
    (
        "code at an odd address",
        "local.get 1 POINT i32.const 4097 i32.const 1 i32.const 256 call insert",
        Fails("H0311", "not aligned"),
    ),
    (
        "code without end",
        "local.get 1 POINT i32.const 4096 i32.const 536870912 i32.const 256 call insert",
        Fails("H0311", "out of bounds"),
    ),
    (
        "kind of column that is none",
        "i32.const 4096 i32.const 1024 i32.store i32.const 4100 i32.const 4 i32.store i32.const 4104 i32.const 7 i32.store local.get 1 NOWHERE ROW i32.const 256 call count",
        Fails("H0311", "discriminant"),
    ),
    (
        "option that is none",
        "local.get 1 i32.const 0 i32.const 0 i32.const 7 i32.const 0 i64.const 0 i32.const 0 i32.const 256 call remove",
        Fails("H0311", "discriminant"),
    ),
    (
        "span of a method that there is not",
        "local.get 1 i32.const 65535 NO_CAPTURE NO_TAG i32.const 256 call span DONE",
        Fine,
    ),
    (
        "values of a span that are none",
        "local.get 1 i32.const 0 i32.const -1 i32.const 0 i32.const 0 i32.const 0 i32.const 0 NO_TAG i32.const 256 call span DONE",
        Fine,
    ),
];

/// Handles that are invalid, of another kind, or already dropped.
const HANDLES: [Row; 13] = [
    (
        "handle zero",
        "i32.const 0 i32.const 256 call class-view.name",
        Fails("H0311", "unknown handle"),
    ),
    (
        "handle that nobody made",
        "i32.const 99 i32.const 256 call class-view.name",
        Fails("H0311", "unknown handle"),
    ),
    (
        "negative handle",
        "i32.const -1 i32.const 256 call class-view.name",
        Fails("H0311", "unknown handle"),
    ),
    (
        "plan as a class",
        "local.get 1 i32.const 256 call class-view.name",
        Fails("H0311", "handle"),
    ),
    (
        "class as a plan",
        "local.get 0 i64.const 0 i32.const 1024 i32.const 4 call plan.note",
        Fails("H0311", "handle"),
    ),
    (
        "class given up twice",
        "local.get 0 call drop-class-view local.get 0 call drop-class-view",
        Fails("H0311", "unknown handle"),
    ),
    (
        "class used after it was given up",
        "local.get 0 call drop-class-view local.get 0 i32.const 256 call class-view.name",
        Fails("H0311", "unknown handle"),
    ),
    (
        "plan used after it was given up",
        "local.get 1 call drop-plan local.get 1 i64.const 0 i32.const 1024 i32.const 4 call plan.note",
        Fails("H0311", "unknown handle"),
    ),
    (
        "class that is not given up",
        "local.get 1 call drop-plan i32.const 16",
        Fails("H0311", "borrow"),
    ),
    (
        "class given up as a method",
        "local.get 0 call drop-method-view",
        Fails("H0311", "handle"),
    ),
    (
        "method given up twice",
        "local.get 0 i32.const 0 i32.const 256 call class-view.method i32.const 260 i32.load call drop-method-view \
         i32.const 260 i32.load call drop-method-view",
        Fails("H0311", "unknown handle"),
    ),
    (
        "method used after it was given up",
        "local.get 0 i32.const 0 i32.const 256 call class-view.method i32.const 260 i32.load call drop-method-view \
         i32.const 260 i32.load i32.const 264 call method-view.lines",
        Fails("H0311", "unknown handle"),
    ),
    (
        // The first class leaves a method behind.
        "method of the class before",
        "global.get 0 if global.get 0 i32.const 264 call method-view.lines end \
         local.get 0 i32.const 0 i32.const 256 call class-view.method i32.const 260 i32.load global.set 0 DONE",
        Fails("H0311", "after its class was done"),
    ),
];

/// Excessive numbers of calls: a million times `AGAIN`.
const FLOODS: [Row; 31] = [
    (
        "hits at a point",
        "local.get 1 POINT NO_TAG i32.const 256 call hit",
        Bounded,
    ),
    (
        "counts at a point",
        "local.get 1 POINT i32.const 1 i32.const 1024 i32.const 4 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 256 call count",
        Bounded,
    ),
    (
        "events at a point",
        "local.get 1 POINT i32.const 0 i32.const 0 NO_LIMITS NO_TAG i32.const 256 call event",
        Bounded,
    ),
    (
        "code at a point",
        "local.get 1 POINT i32.const 0 i32.const 0 i32.const 256 call insert",
        Bounded,
    ),
    (
        "returns of methods",
        "local.get 3 i32.eqz if local.get 0 i32.const 0 i32.const 256 call class-view.method i32.const 260 i32.load local.set 3 end \
         local.get 3 i32.const 264 call method-view.returns",
        Bounded,
    ),
    (
        "helper classes that are none",
        "i32.const 4096 i32.const 1024 i32.store i32.const 4100 i32.const 64 i32.store \
         local.get 1 i32.const 4096 i32.const 1 i32.const 256 call define",
        Bounded,
    ),
    (
        "helper classes",
        "local.get 0 i32.const 256 call bytes \
         local.get 1 i32.const 256 i32.const 1 i32.const 512 call define",
        Bounded,
    ),
    (
        "class files",
        "local.get 0 i32.const 256 call bytes",
        Bounded,
    ),
    (
        "class files that are none",
        "local.get 1 i32.const 1024 i32.const 64 i32.const 256 call replace",
        Bounded,
    ),
    (
        "class files of 2 MiB",
        "local.get 1 i32.const 0 i32.const 2097152 i32.const 256 call replace",
        Bounded,
    ),
    (
        "lines",
        "i32.const 1 i32.const 1024 i32.const 32 call log",
        Bounded,
    ),
    (
        "long lines",
        "i32.const 1 i32.const 0 i32.const 1024 call log",
        Bounded,
    ),
    (
        "names",
        "local.get 0 i32.const 256 call class-view.name",
        Bounded,
    ),
    (
        "code",
        "local.get 0 i32.const 0 i32.const 256 call class-view.code",
        Bounded,
    ),
    (
        "notes",
        "local.get 1 i64.const 0 i32.const 1024 i32.const 32 call plan.note",
        Bounded,
    ),
    (
        "requests that are refused",
        "local.get 1 i32.const 1024 i32.const 1 NO_TAG i32.const 256 call hit",
        Bounded,
    ),
    (
        "tags",
        "local.get 1 NOWHERE i32.const 1 i32.const 0 i32.const 4096 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 256 call hit",
        Bounded,
    ),
    (
        "rows",
        "i32.const 4096 i32.const 1024 i32.store i32.const 4100 i32.const 4 i32.store i32.const 4104 i32.const 0 i32.store \
         i32.const 4112 i32.const 1024 i32.store i32.const 4116 i32.const 4 i32.store \
         local.get 1 NOWHERE ROW i32.const 256 call count",
        Bounded,
    ),
    (
        "rows of a MiB in a cell",
        "i32.const 4096 i32.const 1024 i32.store i32.const 4100 i32.const 4 i32.store i32.const 4104 i32.const 0 i32.store \
         i32.const 4112 i32.const 131072 i32.store i32.const 4116 i32.const 1048576 i32.store \
         local.get 1 NOWHERE ROW i32.const 256 call count",
        Bounded,
    ),
    (
        "queries",
        "i32.const 5124 i32.const 10794 i32.store \
         local.get 0 i32.const 0 i32.const 0 i32.const 0 i32.const 5124 i32.const 2 i32.const 256 call find",
        Bounded,
    ),
    (
        "counts of nothing",
        "local.get 1 NOWHERE NO_TAG i32.const 256 call count",
        Bounded,
    ),
    (
        "spans of one method",
        "local.get 1 i32.const 0 NO_CAPTURE NO_TAG i32.const 256 call span",
        Bounded,
    ),
    (
        "methods",
        "local.get 0 i32.const 0 i32.const 256 call class-view.method",
        Fails("H0313", "131072 handles"),
    ),
    (
        "points",
        "local.get 1 i32.const 8192 i32.const 4096 NO_TAG i32.const 256 call hit",
        Bounded,
    ),
    (
        "instructions",
        "local.get 1 POINT i32.const 131072 i32.const 4096 i32.const 256 call insert",
        Bounded,
    ),
    (
        "long texts in a snippet",
        "i32.const 4096 i32.const 18 i32.store i32.const 4104 i32.const 5 i32.store \
         i32.const 4112 i32.const 65536 i32.store i32.const 4116 i32.const 65536 i32.store \
         local.get 1 POINT i32.const 4096 i32.const 1 i32.const 256 call insert",
        Bounded,
    ),
    (
        "long names of values",
        "i32.const 4096 i32.const 65536 i32.store i32.const 4100 i32.const 1048576 i32.store \
         local.get 1 POINT i32.const 4096 i32.const 1 NO_LIMITS NO_TAG i32.const 256 call event",
        Bounded,
    ),
    (
        "interfaces",
        "local.get 1 i32.const 1024 i32.const 8 i32.const 256 call add-interface",
        Bounded,
    ),
    (
        "names of types",
        "local.get 1 i32.const 1024 i32.const 8 i32.const 1032 i32.const 8 i32.const 256 call rename-type",
        Bounded,
    ),
    (
        "attributes",
        "local.get 1 OF_CLASS i32.const 1024 i32.const 8 i32.const 65536 i32.const 1048576 i32.const 256 call add-attribute",
        Bounded,
    ),
    (
        "elements of an annotation",
        "local.get 1 OF_CLASS i32.const 0 i32.const 131072 i32.const 32768 i32.const 256 call annotate",
        Bounded,
    ),
];

/// Selectors that a plugin returns; code of `configure`.
const SELECTIONS: [Row; 9] = [
    (
        "list of selectors outside of memory",
        "i32.const 20 i32.const -16 i32.store i32.const 24 i32.const 1 i32.store i32.const 16",
        NotLoaded("H0112", "out of bounds"),
    ),
    (
        "list of selectors without end",
        "i32.const 24 i32.const 536870912 i32.store i32.const 16",
        NotLoaded("H0112", "out of bounds"),
    ),
    (
        "list of selectors at an odd address",
        "i32.const 20 i32.const 1025 i32.store i32.const 24 i32.const 1 i32.store i32.const 16",
        NotLoaded("H0112", "not aligned"),
    ),
    (
        "selector outside of memory",
        "i32.const 32 i32.const -4 i32.store i32.const 36 i32.const 8 i32.store i32.const 20 i32.const 32 i32.store i32.const 24 i32.const 1 i32.store i32.const 16",
        NotLoaded("H0112", "out of bounds"),
    ),
    (
        "selector that is no UTF-8",
        "i32.const 32 i32.const 2048 i32.store i32.const 36 i32.const 8 i32.store i32.const 20 i32.const 32 i32.store i32.const 24 i32.const 1 i32.store i32.const 16",
        NotLoaded("H0112", "utf-8"),
    ),
    (
        "selectors by the thousand",
        "i32.const 20 i32.const 65536 i32.store i32.const 24 i32.const 5000 i32.store i32.const 16",
        NotLoaded("H0112", "4096 selectors"),
    ),
    (
        "empty selectors",
        "i32.const 20 i32.const 65536 i32.store i32.const 24 i32.const 4096 i32.store i32.const 16",
        NotLoaded("H0110", ""),
    ),
    (
        "selector of a mebibyte",
        "i32.const 65536 i32.const 42 i32.const 1048576 memory.fill i32.const 32 i32.const 65536 i32.store i32.const 36 i32.const 1048576 i32.store i32.const 20 i32.const 32 i32.store i32.const 24 i32.const 1 i32.store i32.const 16",
        NotLoaded("H0112", "selectors of 262144 bytes"),
    ),
    (
        "refusal that a terminal would obey",
        "i32.const 16 i32.const 1 i32.store i32.const 20 i32.const 3072 i32.store i32.const 24 i32.const 37 i32.store i32.const 16",
        NotLoaded("H0111", "error[H0001]"),
    ),
];

/// Calls at forbidden or unexpected times.
const CALLS: [(&str, Function, &str, Expected); 10] = [
    (
        "import called by realloc",
        Realloc,
        "i32.const 1 i32.const 1024 i32.const 4 call log i32.const 65536",
        NotLoaded("H0112", "cannot leave"),
    ),
    (
        "import called after configure",
        AfterConfigure,
        "i32.const 1 i32.const 1024 i32.const 4 call log",
        NotLoaded("H0112", "cannot leave"),
    ),
    (
        "import called after transform",
        AfterTransform,
        "i32.const 1 i32.const 1024 i32.const 4 call log",
        Fails("H0311", "cannot leave"),
    ),
    (
        "import called at the start",
        Start,
        "i32.const 1 i32.const 1024 i32.const 4 call log",
        NotLoaded("H0112", "uninitialized element"),
    ),
    (
        "class asked for while configured",
        Configure,
        "i32.const 1 i32.const 256 call class-view.name i32.const 16",
        NotLoaded("H0112", "unknown handle"),
    ),
    (
        "plan asked for while configured",
        Configure,
        "i32.const 1 i64.const 0 i32.const 1024 i32.const 4 call plan.note i32.const 16",
        NotLoaded("H0112", "unknown handle"),
    ),
    (
        "probes asked for while configured",
        Configure,
        "i32.const 1 NOWHERE NO_TAG i32.const 256 call hit i32.const 16",
        NotLoaded("H0112", "unknown handle"),
    ),
    (
        "configure called by transform",
        Transform,
        "i32.const 0 i32.const 0 call configure drop DONE",
        Fine,
    ),
    (
        "realloc called by transform",
        Transform,
        "i32.const 0 i32.const 0 i32.const 1 i32.const -1 call realloc drop DONE",
        Fine,
    ),
    (
        "memory asked for at the start",
        Start,
        "i32.const -1 memory.grow drop",
        Fine,
    ),
];

/// Addresses for results.
const ADDRESSES: [(&str, &str, Expected); 5] = [
    ("no address", "i32.const 0", Fine),
    (
        "the last address",
        "i32.const -1",
        NotLoaded("H0112", "beyond end of memory"),
    ),
    (
        "the end of memory",
        "i32.const 2097151",
        NotLoaded("H0112", "beyond end of memory"),
    ),
    (
        "an odd address",
        "i32.const 65537",
        Fails("H0311", "not aligned"),
    ),
    (
        "new memory each time",
        "i32.const 1 memory.grow i32.const 65536 i32.mul",
        Fine,
    ),
];

/// All cases except those that are possible in every function.
pub fn elsewhere() -> Vec<Case> {
    let results = RESULTS.map(|(name, code, expected)| {
        case(
            name,
            &[(Transform, &format!("{GIVEN_UP} {code}"))],
            expected,
        )
    });
    let arguments = ARGUMENTS.into_iter().chain(CLASS_FILES).chain(HELPERS);
    let arguments = arguments.map(|(name, code, expected)| {
        let tail = if code.ends_with("DONE") { "" } else { "DONE" };
        let code = expanded(&format!("{code} {tail}"));
        (name, code, expected)
    });
    let handles = HANDLES.map(|(name, code, expected)| {
        let tail = if code.ends_with("DONE") || code.ends_with("i32.const 16") {
            ""
        } else {
            "DONE"
        };
        let code = expanded(&format!("{code} {tail}"));
        (name, code, expected)
    });
    let floods = FLOODS.map(|(name, code, expected)| {
        let code = expanded(code);
        let again = format!(
            "loop {code} local.get 2 i32.const 1 i32.add local.tee 2 i32.const 1000000 i32.lt_u br_if 0 end {DONE}"
        );
        (name, again, expected)
    });
    let transforming = arguments.chain(handles).chain(floods);
    let transforming =
        transforming.map(|(name, code, expected)| case(name, &[(Transform, &code)], expected));
    let selections =
        SELECTIONS.map(|(name, code, expected)| case(name, &[(Configure, code)], expected));
    let calls = CALLS
        .map(|(name, place, code, expected)| case(name, &[(place, &expanded(code))], expected));
    let addresses = ADDRESSES.map(|(name, code, expected)| {
        case(
            format!("realloc gives {name}"),
            &[
                (Realloc, code),
                (
                    Transform,
                    &format!("local.get 0 i32.const 0 i32.const 256 call class-view.code {DONE}"),
                ),
            ],
            expected,
        )
    });
    let all = results.into_iter().chain(transforming).chain(selections);
    all.chain(calls).chain(addresses).chain(memory()).collect()
}

/// Memory and tables that are large initially or grow.
fn memory() -> Vec<Case> {
    let begins = |name: &str, pages, elements, expected| Case {
        name: name.to_owned(),
        assembly: Assembly {
            pages,
            elements,
            ..Assembly::new(&[])
        },
        expected,
    };
    let row = |name: &'static str, code: &'static str, expected| (name, code, expected);
    let grows = [
        row(
            "memory that cannot grow",
            "i32.const -1 memory.grow drop DONE",
            Fine,
        ),
        row(
            "table that grows",
            "loop ref.null i32.const 65536 table.grow i32.const -1 i32.ne br_if 0 end unreachable",
            Fails("H0313", "64 MiB of memory"),
        ),
        row(
            "table of all elements",
            "ref.null i32.const -1 table.grow drop DONE",
            Fine,
        ),
    ];
    let mut all = vec![
        begins(
            "memory of 64 MiB and a page",
            1_025,
            1,
            NotLoaded("H0112", "64 MiB of memory"),
        ),
        begins(
            "memory of 4 GiB",
            65_536,
            1,
            NotLoaded("H0112", "64 MiB of memory"),
        ),
        begins(
            "table of ten million elements",
            32,
            10_000_000,
            NotLoaded("H0112", "64 MiB of memory"),
        ),
        begins("memory that is nearly too much", 960, 1, Fine),
    ];
    all.extend(transforming(&grows));
    all
}
