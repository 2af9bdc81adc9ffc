//! Writes the class in place of `ProbedRows`: it takes rows apart, and calls a method for each table, in which the plugin
//! puts a probe.
//!
//! ```text
//! static void record(Object row) {
//!     if (row instanceof Slow) {
//!         Slow slow = (Slow) row;
//!         row0_5c1f…(Events.value(slow.sql()), slow.nanos());
//!         return;
//!     }
//!     Events.refuse(row);
//! }
//!
//! static void row0_5c1f…(Object sql, long nanos) {} // the probe
//! ```

use jvms::descriptor::{BaseType, FieldType};
use jvms::opcode;
use serde_json::{Value as Json, json};

use crate::api::{EVENTS_NAME, PROBED_ROWS_NAME};
use crate::model::AdviceClass;
use crate::rows::{Column, RowTable, Source};
use crate::writer::{Assembler, ClassWriter, Code};

const OBJECT: &str = "Ljava/lang/Object;";

/// The class of one advice.
pub struct ProbedRows<'a> {
    advice: &'a AdviceClass,
    /// A part of the methods' names, by which the plugin knows them: a class of another advice has other methods.
    mark: String,
}

impl<'a> ProbedRows<'a> {
    /// Creates the class. Returns `None` for an advice that does not use `Events`.
    #[must_use]
    pub fn of(advice: &'a AdviceClass) -> Option<Self> {
        let recorded = &advice.recorded;
        let mut all = advice.classes.concat();
        all.extend(format!("{} {recorded:?}", advice.name).bytes());
        recorded.is_used.then(|| Self {
            advice,
            mark: format!("{:016x}", fingerprint::of(&all)),
        })
    }

    fn row_method(&self, number: usize) -> String {
        format!("row{number}_{}", self.mark)
    }

    fn count_method(&self, number: usize) -> String {
        format!("count{number}_{}", self.mark)
    }

    /// Returns the probes, as the plugin's configuration has them.
    #[must_use]
    pub fn probes(&self) -> Json {
        let recorded = &self.advice.recorded;
        let tables = recorded.tables.iter().enumerate().map(|(number, table)| {
            let columns = table.columns.iter().map(|column| column.name.as_str());
            let columns: Vec<&str> = columns.collect();
            json!({ "method": self.row_method(number), "table": table.name, "columns": columns })
        });
        let counts = recorded.counts.iter().enumerate();
        let counts = counts
            .map(|(number, name)| json!({ "method": self.count_method(number), "name": name }));
        json!({ "tables": tables.collect::<Vec<_>>(), "counts": counts.collect::<Vec<_>>() })
    }

    /// Writes the class file.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut class = ClassWriter::default();
        let recorded = &self.advice.recorded;
        let (mut rows, mut pairs) = (Vec::new(), Vec::new());
        for (number, table) in recorded.tables.iter().enumerate() {
            match table.source {
                Source::Record(_) | Source::Fields(_) => rows.push((number, table)),
                Source::Pairs => pairs.push((number, table)),
                Source::Times => {}
            }
            let slots = table.columns.iter().map(slots).sum();
            class.add(&self.row_method(number), &descriptor(table), &empty(slots));
        }
        for number in 0..recorded.counts.len() {
            class.add(&self.count_method(number), "()V", &empty(0));
        }
        let code = self.of_objects(&mut class, &rows);
        class.add("record", &format!("({OBJECT})V"), &code);
        let code = self.of_pairs(&mut class, &pairs);
        class.add("record", &format!("(Ljava/lang/String;[{OBJECT})V"), &code);
        let code = self.of_counts(&mut class);
        class.add("count", "(Ljava/lang/String;)V", &code);
        let code = self.of_times(&mut class);
        class.add("time", "(Ljava/lang/String;J)V", &code);
        class.finish(PROBED_ROWS_NAME)
    }

    /// Takes records and objects with fields apart.
    fn of_objects(&self, class: &mut ClassWriter, rows: &[(usize, &RowTable)]) -> Code {
        let mut cases = Cases::new(class);
        for (number, table) in rows {
            let (Source::Record(owner) | Source::Fields(owner)) = &table.source else {
                continue;
            };
            let code = &mut cases.code;
            code.op(opcode::ALOAD_0);
            let index = code.class.class(owner);
            code.with_index(opcode::INSTANCEOF, index);
            cases.begin();
            for column in &table.columns {
                let code = &mut cases.code;
                code.op(opcode::ALOAD_0);
                code.with_index(opcode::CHECKCAST, index);
                let Column { name, descriptor } = column;
                if matches!(table.source, Source::Record(_)) {
                    let accessor = code.class.method(owner, name, &format!("(){descriptor}"));
                    code.with_index(opcode::INVOKEVIRTUAL, accessor);
                } else {
                    let field = code.class.field(owner, name, descriptor);
                    code.with_index(opcode::GETFIELD, field);
                }
                if is_reference(column) {
                    code.invoke(EVENTS_NAME, "value", &format!("({OBJECT}){OBJECT}"));
                }
            }
            cases.end(&self.row_method(*number), &descriptor(table));
        }
        cases.refuse(1)
    }

    /// Takes keys and values apart.
    fn of_pairs(&self, class: &mut ClassWriter, rows: &[(usize, &RowTable)]) -> Code {
        let mut cases = Cases::new(class);
        for (number, table) in rows {
            cases.compare(&table.name);
            for at in 0..table.columns.len() {
                let code = &mut cases.code;
                code.op(opcode::ALOAD_1);
                code.op(opcode::BIPUSH);
                code.op(u8::try_from(2 * at + 1).unwrap_or_default());
                code.op(opcode::AALOAD);
                code.invoke(EVENTS_NAME, "value", &format!("({OBJECT}){OBJECT}"));
            }
            cases.end(&self.row_method(*number), &descriptor(table));
        }
        cases.refuse(2)
    }

    fn of_counts(&self, class: &mut ClassWriter) -> Code {
        let mut cases = Cases::new(class);
        for (number, name) in self.advice.recorded.counts.iter().enumerate() {
            cases.compare(name);
            cases.end(&self.count_method(number), "()V");
        }
        cases.refuse(1)
    }

    fn of_times(&self, class: &mut ClassWriter) -> Code {
        let mut code = Assembler::new(class);
        let mut tables = self.advice.recorded.tables.iter();
        if let Some(number) = tables.position(|table| table.source == Source::Times) {
            code.op(opcode::ALOAD_0);
            code.op(opcode::LLOAD_1);
            let table = descriptor_of([OBJECT, "J"].into_iter());
            code.invoke(PROBED_ROWS_NAME, &self.row_method(number), &table);
        }
        code.op(opcode::RETURN);
        Code {
            max_stack: 3,
            max_locals: 3,
            bytes: code.bytes,
            ..Code::default()
        }
    }
}

/// A method that compares its first argument, and calls another method in each case.
struct Cases<'a> {
    code: Assembler<'a>,
    /// The branch to the next case.
    next: usize,
    frames: Vec<(u16, bool)>,
}

impl<'a> Cases<'a> {
    fn new(class: &'a mut ClassWriter) -> Self {
        Self {
            code: Assembler::new(class),
            next: 0,
            frames: Vec::new(),
        }
    }

    /// Begins a case whose condition is on the stack.
    fn begin(&mut self) {
        self.next = self.code.branch(opcode::IFEQ);
    }

    /// Begins the case that the first argument is this text.
    fn compare(&mut self, text: &str) {
        let code = &mut self.code;
        let index = code.class.string(text);
        code.with_index(opcode::LDC_W, index);
        code.op(opcode::ALOAD_0);
        let equals = code
            .class
            .method("java/lang/String", "equals", &format!("({OBJECT})Z"));
        code.with_index(opcode::INVOKEVIRTUAL, equals);
        self.begin();
    }

    /// Ends a case with a call.
    fn end(&mut self, name: &str, descriptor: &str) {
        self.code.invoke(PROBED_ROWS_NAME, name, descriptor);
        self.code.op(opcode::RETURN);
        self.code.land(self.next);
        self.frames.push((self.code.here(), false));
    }

    /// Ends the method, whose arguments are references.
    fn refuse(mut self, arguments: u16) -> Code {
        self.code.op(opcode::ALOAD_0);
        self.code
            .invoke(EVENTS_NAME, "refuse", &format!("({OBJECT})V"));
        self.code.op(opcode::RETURN);
        Code {
            max_stack: 40, // 16 wide values, and those for the last of them
            max_locals: arguments,
            frames: self.frames,
            bytes: self.code.bytes,
            ..Code::default()
        }
    }
}

fn empty(slots: u16) -> Code {
    Code {
        max_locals: slots,
        bytes: vec![opcode::RETURN],
        ..Code::default()
    }
}

fn is_reference(column: &Column) -> bool {
    column.descriptor.starts_with(['L', '['])
}

fn slots(column: &Column) -> u16 {
    let parsed = FieldType::parse(column.descriptor.as_bytes());
    let is_wide = |found| matches!(found, FieldType::Base(BaseType::Long | BaseType::Double));
    if parsed.is_ok_and(is_wide) { 2 } else { 1 }
}

/// Returns the descriptor of a table's method. References are objects.
fn descriptor(table: &RowTable) -> String {
    descriptor_of(
        table
            .columns
            .iter()
            .map(|column| match is_reference(column) {
                true => OBJECT,
                false => column.descriptor.as_str(),
            }),
    )
}

fn descriptor_of<'t>(types: impl Iterator<Item = &'t str>) -> String {
    format!("({})V", types.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Recorded;

    fn table(name: &str, source: Source, types: &[&str]) -> RowTable {
        let columns = types.iter().enumerate().map(|(number, found)| Column {
            name: format!("column{number}"),
            descriptor: (*found).to_owned(),
        });
        RowTable {
            name: name.to_owned(),
            source,
            columns: columns.collect(),
        }
    }

    fn advice(recorded: Recorded) -> AdviceClass {
        AdviceClass {
            name: "own/Own".to_owned(),
            at: "Own.java:1".to_owned(),
            patterns: Vec::new(),
            hooks: Vec::new(),
            settings: Vec::new(),
            recorded,
            classes: Vec::new(),
        }
    }

    #[test]
    fn the_jvm_accepts_rows_of_each_type_and_source() {
        let all = [
            "Z", "B", "C", "S", "I", "J", "F", "D", OBJECT, "[J", "Lown/A;",
        ];
        let recorded = Recorded {
            is_used: true,
            tables: vec![
                table("Slow", Source::Record("own/Slow".to_owned()), &all),
                table("Wide", Source::Fields("own/Wide".to_owned()), &["J"; 16]),
                table("pairs", Source::Pairs, &[OBJECT; 16]),
                table("none", Source::Pairs, &[]),
                table("times", Source::Times, &["Ljava/lang/String;", "J"]),
            ],
            counts: vec!["one".to_owned(), "é".to_owned()],
        };
        let advice = advice(recorded);
        let rows = ProbedRows::of(&advice).expect("rows");
        let class = rows.write();
        rewriter::check_soundness(&class).unwrap();
        let read = rewriter::ClassFile::read(&class).unwrap();
        assert_eq!(read.this_class(), PROBED_ROWS_NAME);
        assert_eq!(read.methods().count(), 5 + 2 + 4);
        let probes = rows.probes().to_string();
        assert!(probes.contains("\"table\":\"pairs\""), "{probes}");
        let other = self::advice(Recorded {
            is_used: true,
            ..Recorded::default()
        });
        let other = ProbedRows::of(&other).expect("rows");
        rewriter::check_soundness(&other.write()).unwrap();
        assert_ne!(other.mark, rows.mark);
        assert!(ProbedRows::of(&self::advice(Recorded::default())).is_none());
    }
}
