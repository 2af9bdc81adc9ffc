//! The rows and counts that an advice records, found in its code.
//!
//! An event has fixed names of its values, so each table gets a method of its own, with a probe in it.

use std::collections::{BTreeMap, HashSet};

use errors::{Error, codes};
use jvms::access_flags::{ACC_PRIVATE, ACC_STATIC, ACC_SYNTHETIC};
use jvms::opcode;
use plan_rules::limits::MAX_EVENT_VALUES;
use plan_rules::row::{MAX_NAME_BYTES, is_name};
use rewriter::{ClassFile, Instruction, MemberRef, Method};

use crate::annotations::Found;
use crate::api::{EVENTS_NAME, STACK_TRACE_NAME};

/// The table of `Events.time`.
const TIMES: &str = "times";

/// The tables and counts of an advice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The code uses `Events`.
    pub is_used: bool,
    /// The tables of rows.
    pub tables: Vec<RowTable>,
    /// The names of counts.
    pub counts: Vec<String>,
}

/// A table of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowTable {
    /// Its name.
    pub name: String,
    /// The source of its rows.
    pub source: Source,
    /// The columns.
    pub columns: Vec<Column>,
}

/// The source of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A record with this internal name.
    Record(String),
    /// A class with `@Row` and this internal name.
    Fields(String),
    /// Keys and values.
    Pairs,
    /// `Events.time`.
    Times,
}

/// A column of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The descriptor of its component or field.
    pub descriptor: String,
}

impl Column {
    fn new(name: &str, descriptor: &str) -> Self {
        Self {
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
        }
    }
}

/// A call of a method of `Events`.
struct Call {
    at: String,
    /// Table and keys, or the name of a count.
    constants: Result<(String, Vec<String>), String>,
    kind: Kind,
}

impl Call {
    /// Returns table and keys, or the name of a count.
    fn constants(&self) -> Result<&(String, Vec<String>), Error> {
        let constants = self.constants.as_ref();
        constants.map_err(|text| wrong(&self.at, text))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    Pairs,
    Count,
    Time,
}

/// Reads the tables and counts of an advice from the code of its classes.
///
/// # Errors
/// `H0740` for a table, column or name that is unknown before the program runs, or unsuitable.
pub fn find(classes: &[&ClassFile<'_>]) -> Result<Recorded, Error> {
    let mut calls = Vec::new();
    for class in classes {
        for method in class.methods() {
            calls_of(class, &method, &mut calls);
        }
    }
    let mut found = Recorded {
        is_used: classes.iter().any(|class| names_events(class)),
        ..Recorded::default()
    };
    if let Some(first) = calls.iter().find(|call| call.kind == Kind::Object) {
        found.tables = row_classes(classes, first)?;
    }
    if calls.iter().any(|call| call.kind == Kind::Time) {
        found.tables.push(times());
    }
    let mut pairs = BTreeMap::new();
    for call in &calls {
        match call.kind {
            Kind::Pairs => add_pairs(call, &mut pairs)?,
            Kind::Count => add_count(call, &mut found.counts)?,
            Kind::Object | Kind::Time => {}
        }
    }
    found.tables.extend(pairs.into_iter().map(table_of_pairs));
    expect_different(&found.tables, &calls)?;
    Ok(found)
}

/// Checks whether a class names `Events` or its stacks.
fn names_events(class: &ClassFile<'_>) -> bool {
    let mut names = class.pool().class_names();
    names.any(|name| name == EVENTS_NAME || name == STACK_TRACE_NAME)
}

/// Returns the tables of records and of classes with `@Row`, of which `call` needs one.
fn row_classes(classes: &[&ClassFile<'_>], call: &Call) -> Result<Vec<RowTable>, Error> {
    let tables = classes.iter().map(|class| row_class(class));
    let tables: Vec<RowTable> = tables
        .filter_map(Result::transpose)
        .collect::<Result<_, _>>()?;
    if tables.is_empty() {
        let text = "Events.record has no class of rows; write a record, or a class with @Row";
        return Err(wrong(&call.at, text));
    }
    Ok(tables)
}

fn times() -> RowTable {
    let columns = vec![
        Column::new("name", "Ljava/lang/String;"),
        Column::new("nanos", "J"),
    ];
    RowTable {
        name: TIMES.to_owned(),
        source: Source::Times,
        columns,
    }
}

fn add_count(call: &Call, counts: &mut Vec<String>) -> Result<(), Error> {
    let (name, _) = call.constants()?;
    if !counts.contains(name) {
        counts.push(name.clone());
    }
    Ok(())
}

/// Adds the table of a call with keys and values. All calls for a table have the same keys.
fn add_pairs<'c>(
    call: &'c Call,
    tables: &mut BTreeMap<&'c str, &'c [String]>,
) -> Result<(), Error> {
    let (name, keys) = call.constants()?;
    for named in keys.iter().chain([name]) {
        expect_name(&call.at, named)?;
    }
    let known = *tables.entry(name).or_insert(keys);
    if known != keys {
        let (known, keys) = (known.join(", "), keys.join(", "));
        let text = format!("the table {name} has the keys {known} elsewhere, and {keys} here");
        return Err(wrong(&call.at, &text));
    }
    expect_columns(&call.at, keys.len())
}

fn table_of_pairs((name, keys): (&str, &[String])) -> RowTable {
    let column = |key: &String| Column::new(key, "Ljava/lang/Object;");
    RowTable {
        name: name.to_owned(),
        source: Source::Pairs,
        columns: keys.iter().map(column).collect(),
    }
}

/// Checks that no two tables have one name.
fn expect_different(tables: &[RowTable], calls: &[Call]) -> Result<(), Error> {
    let mut names = HashSet::new();
    match tables.iter().find(|table| !names.insert(&table.name)) {
        None => Ok(()),
        Some(table) => {
            let at = calls.first().map_or("", |call| call.at.as_str());
            let text = format!("the advice has two tables called {}", table.name);
            Err(wrong(at, &text))
        }
    }
}

fn wrong(at: &str, text: &str) -> Error {
    Error::mistake(codes::H0740, format!("{at}: {text}"))
}

fn expect_columns(at: &str, count: usize) -> Result<(), Error> {
    match count > MAX_EVENT_VALUES {
        true => Err(wrong(
            at,
            &format!("expected at most {MAX_EVENT_VALUES} columns of a row, found {count}"),
        )),
        false => Ok(()),
    }
}

fn expect_name(at: &str, name: &str) -> Result<(), Error> {
    match is_name(name) {
        true => Ok(()),
        false => Err(wrong(
            at,
            &format!(
                "`{name}` names no table or column; expected at most {MAX_NAME_BYTES} of A to Z, a to z, 0 to 9, `-` and `_`"
            ),
        )),
    }
}

/// Returns the table of a record or of a class with `@Row`.
fn row_class(class: &ClassFile<'_>) -> Result<Option<RowTable>, Error> {
    let name = class.this_class().to_str_lossless().into_owned();
    let simple = name
        .rsplit(['/', '$'])
        .next()
        .unwrap_or_default()
        .to_owned();
    let at = class.source_file().map_or_else(
        || format!("{name}.class"),
        |file| file.to_str_lossless().into_owned(),
    );
    let marks = Found::all(class.attributes().annotations());
    let components = class.record_components();
    let (source, columns) = match components {
        Some(components) => {
            let columns = components.iter().map(|found| {
                Column::new(
                    &found.name.to_str_lossless(),
                    &found.descriptor.to_str_lossless(),
                )
            });
            (Source::Record(name), columns.collect::<Vec<_>>())
        }
        None if marks.iter().any(|found| found.name == "Row") => {
            let mut columns = Vec::new();
            for field in class.fields() {
                if field.access_flags() & (ACC_STATIC | ACC_SYNTHETIC) != 0 {
                    continue;
                }
                let column = field.name().to_str_lossless();
                if field.access_flags() & ACC_PRIVATE != 0 {
                    let text =
                        format!("the field {column} of the class {simple} with @Row is private");
                    return Err(wrong(&at, &text));
                }
                columns.push(Column::new(&column, &field.descriptor().to_str_lossless()));
            }
            (Source::Fields(name), columns)
        }
        None => return Ok(None),
    };
    expect_columns(&at, columns.len())?;
    for named in columns.iter().map(|column| &column.name).chain([&simple]) {
        expect_name(&at, named)?;
    }
    Ok(Some(RowTable {
        name: simple,
        source,
        columns,
    }))
}

/// An array of objects under construction.
#[derive(Default)]
struct Array {
    table: Option<String>,
    length: usize,
    texts: BTreeMap<usize, String>,
}

/// Adds the calls of `Events` in a method. Arguments that are constants are found in the form in which compilers write
/// them: the name, the length and the array, and for each element a copy of the array, its index, the value and `aastore`.
fn calls_of(class: &ClassFile<'_>, method: &Method<'_, '_>, calls: &mut Vec<Call>) {
    let Ok(Some(code)) = method.code() else {
        return;
    };
    let pool = class.pool();
    let all: Vec<Instruction<'_>> = code.instructions().map_while(Result::ok).collect();
    let text = |at: Option<usize>| {
        let found = all.get(at?)?;
        let is_load = matches!(found.opcode, opcode::LDC | opcode::LDC_W);
        let text = found.pool_index().filter(|_| is_load);
        Some(pool.string(text?)?.to_str_lossless().into_owned())
    };
    let number = |at: Option<usize>| {
        let found = all.get(at?)?;
        let is_push = matches!(found.opcode, opcode::ICONST_M1..=opcode::SIPUSH);
        usize::try_from(found.immediate().filter(|_| is_push)?).ok()
    };
    let mut arrays: Vec<Array> = Vec::new();
    for (at, found) in all.iter().enumerate() {
        match found.opcode {
            opcode::ANEWARRAY => arrays.push(Array {
                table: text(at.checked_sub(2)),
                length: number(at.checked_sub(1)).unwrap_or(usize::MAX),
                texts: BTreeMap::new(),
            }),
            opcode::AASTORE => {
                let value = text(at.checked_sub(1));
                let index = number(at.checked_sub(2));
                if let (Some(array), Some(value), Some(index)) = (arrays.last_mut(), value, index) {
                    array.texts.insert(index, value);
                }
            }
            opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE => {
                let Some(target) = found.pool_index().and_then(|index| pool.member_ref(index))
                else {
                    continue;
                };
                let takes_array = target
                    .descriptor
                    .to_str_lossless()
                    .contains("[Ljava/lang/Object;)");
                let array = arrays.pop_if(|_| takes_array);
                if target.owner == EVENTS_NAME {
                    let line = code.lines().filter(|line| line.bci.0 <= found.bci.0);
                    let line = line.max_by_key(|line| line.bci.0);
                    let at_line = place(class, line.map(|line| line.number));
                    calls.extend(call(&target, at_line, array, text(at.checked_sub(1))));
                }
            }
            _ => {}
        }
    }
}

fn place(class: &ClassFile<'_>, line: Option<u16>) -> String {
    let file = class.source_file();
    let file = file.map_or_else(
        || class.this_class().to_str_lossless().into_owned(),
        |file| file.to_str_lossless().into_owned(),
    );
    line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"))
}

/// Returns a call, with its table and keys, or the name of the count.
fn call(
    target: &MemberRef<'_>,
    at: String,
    array: Option<Array>,
    text: Option<String>,
) -> Option<Call> {
    let kind = match (
        &*target.name.to_str_lossless(),
        &*target.descriptor.to_str_lossless(),
    ) {
        ("record", "(Ljava/lang/Object;)V") => Kind::Object,
        ("record", _) => Kind::Pairs,
        ("count", _) => Kind::Count,
        ("time", _) => Kind::Time,
        _ => return None,
    };
    let constants = match kind {
        Kind::Object | Kind::Time => Ok(Default::default()),
        Kind::Count => text
            .map(|name| (name, Vec::new()))
            .ok_or_else(|| "the name of Events.count has to be a constant text".to_owned()),
        Kind::Pairs => array.and_then(table_and_keys).ok_or_else(|| {
            "table and keys of Events.record have to be constant texts, with a value for each key".to_owned()
        }),
    };
    Some(Call {
        at,
        constants,
        kind,
    })
}

fn table_and_keys(array: Array) -> Option<(String, Vec<String>)> {
    let keys = (0..array.length.min(4 * MAX_EVENT_VALUES)).step_by(2);
    let keys = keys.map(|at| array.texts.get(&at).cloned());
    let keys = keys.collect::<Option<Vec<String>>>()?;
    array
        .length
        .is_multiple_of(2)
        .then_some((array.table?, keys))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        (table, texts, length): (&str, &[(usize, &str)], usize),
    ) -> Option<(String, Vec<String>)> {
        let texts = texts.iter().map(|(at, text)| (*at, (*text).to_owned()));
        table_and_keys(Array {
            table: Some(table.to_owned()),
            length,
            texts: texts.collect(),
        })
    }

    #[test]
    fn keys_are_constants_with_a_value_each() {
        let keys = vec!["sql".to_owned(), "nanos".to_owned()];
        let pairs = [(0, "sql"), (1, "a value"), (2, "nanos")];
        assert_eq!(found(("slow", &pairs, 4)), Some(("slow".to_owned(), keys)));
        assert_eq!(found(("slow", &pairs, 3)), None);
        assert_eq!(found(("slow", &pairs[..2], 4)), None);
        assert_eq!(
            found(("slow", &[], 0)),
            Some(("slow".to_owned(), Vec::new()))
        );
        assert_eq!(found(("slow", &[], usize::MAX)), None);
    }

    #[test]
    fn names_fit_tables() {
        for name in ["Slow", "slow-sql_2"] {
            assert!(expect_name("A.java:3", name).is_ok(), "{name}");
        }
        for name in ["", "a b", "é", &"x".repeat(65)] {
            let error = expect_name("A.java:3", name).map_err(|error| error.to_string());
            assert!(
                error.is_err_and(|text| text.contains("A.java:3: `")),
                "{name}"
            );
        }
    }
}
