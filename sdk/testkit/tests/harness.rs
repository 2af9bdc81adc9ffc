//! The harness makes the same checks as the host.

use std::cell::Cell;

use classhook_sdk::access_flags::{ACC_PUBLIC, ACC_STATIC};
use classhook_sdk::edit::{Constant, Field};
use classhook_sdk::opcode::IRETURN;
use classhook_sdk::prelude::*;
use classhook_testkit::{Harness, java};

const COUNTER: &[u8] = include_bytes!("Counter.class");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    #[serde(default)]
    at: Vec<u16>,
}

/// Sets probes before the bcis of its configuration, in every method with code.
struct At(Settings);

impl Transformer for At {
    type Config = Settings;

    fn new(config: Settings) -> Result<Self> {
        if config.at.len() > 3 {
            return Err("at most three".into());
        }
        Ok(At(config))
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        for method in class.methods_with_code() {
            plan.hit(&method.before(&self.0.at), b"t")?;
            plan.note(method.entry(), "seen");
        }
        Ok(())
    }
}

#[test]
fn the_text_names_method_place_probe_tag_and_note() {
    let transformed = Harness::<At>::new("at = [0]").transform(COUNTER);
    transformed.assert_plan(
        "<init>()V before 0: hit 0 tag \"t\"\n<init>()V entry: note seen\n\
         increment(I)I before 0: hit 1 tag \"t\"\nincrement(I)I entry: note seen\n",
    );
    assert!(transformed.splice().len() > COUNTER.len());
}

#[test]
fn a_place_that_does_not_exist_is_refused() {
    Harness::<At>::new("at = [2]")
        .transform(COUNTER)
        .assert_error("no instruction begins at bci 2");
}

#[test]
fn configurations_are_checked() {
    assert!(Harness::<At>::try_config("at = []").is_ok());
    assert!(
        Harness::<At>::try_config("at = [0, 1, 2, 3]")
            .unwrap_err()
            .to_string()
            .contains("at most three")
    );
    assert!(
        Harness::<At>::try_config("att = []")
            .unwrap_err()
            .to_string()
            .ends_with("unknown field `att`, expected `at`")
    );
}

/// Makes invalid requests: the entry of a method without code, and an invented point.
struct Wrong;

/// Returns a point in a method that does not exist.
fn nowhere() -> InsertionPoint {
    InsertionPoint {
        method: MethodIndex(99),
        location: Location::Entry,
    }
}

impl Transformer for Wrong {
    type Config = std::collections::BTreeMap<String, String>;

    fn new(_: Self::Config) -> Result<Self> {
        Ok(Wrong)
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let forged = plan.hit(&[nowhere()], b"").unwrap_err();
        assert_eq!(forged.code, "H0317");
        for method in class.methods().filter(|method| !method.has_code()) {
            plan.hit(&[method.entry()], b"")?;
        }
        Ok(())
    }
}

#[test]
fn counts_are_spliced_as_additions_to_an_array() {
    let transformed = Harness::<Spans>::new("names = ['increment']").transform(COUNTER);
    let spliced = transformed.splice();
    let holds = |name: &[u8]| spliced.windows(name.len()).any(|found| found == name);
    assert!(holds(b"Probes") && holds(b"counts") && holds(b"hits"));
}

#[test]
fn a_method_without_code_has_no_entry() {
    Harness::<Wrong>::default()
        .transform(COUNTER)
        .assert_error("has no code");
}

/// Counts entries, and requests one span with the argument per name in its configuration.
struct Spans(Vec<String>);

impl Transformer for Spans {
    type Config = std::collections::BTreeMap<String, Vec<String>>;

    fn new(config: Self::Config) -> Result<Self> {
        Ok(Spans(config.into_values().flatten().collect()))
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let capture = Capture::default()
            .argument(0)
            .returned()
            .thrown()
            .limit(9_999);
        for name in &self.0 {
            for method in class.methods().filter(|method| method.name() == name) {
                plan.count(&[method.entry()], b"")?;
                plan.span(&method, &capture, b"tag")?;
                plan.hit(&[method.entry()], b"")?;
            }
        }
        Ok(())
    }
}

#[test]
fn each_kind_of_probe_is_numbered_by_itself() {
    Harness::<Spans>::new("names = ['increment']")
        .transform(COUNTER)
        .assert_plan(
            "increment(I)I entry: count 0\n\
             increment(I)I: span 0 arguments 0 returned thrown limit 1024 tag \"tag\"\n\
             increment(I)I entry: hit 0\n",
        );
}

#[test]
fn span_needs_a_method_with_that_argument_and_is_requested_once() {
    let refused = |names: &str, cause: &str| {
        let harness = Harness::<Spans>::new(&format!("names = [{names}]"));
        harness.transform(COUNTER).assert_error(cause);
    };
    refused("'increment', 'increment'", "already has a span");
    refused("'<init>'", "has 0 parameters, so there is no argument 0");
}

/// Replaces a body, removes the call of `super()`, and adds a field.
struct Changes;

impl Transformer for Changes {
    type Config = std::collections::BTreeMap<String, String>;

    fn new(_: Self::Config) -> Result<Self> {
        Ok(Changes)
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        for method in class
            .methods()
            .filter(|method| method.name() == "increment")
        {
            let mut zero = Snippet::new();
            zero.push_int(0).op(IRETURN, 0);
            plan.replace_body(&method, &zero)?;
            let entry = plan.remove(&[method.entry()], None).unwrap_err();
            assert_eq!(
                entry.message,
                "expected an instruction, found the location `entry`"
            );
            let first = plan.remove(&method.at(&[0]), None).unwrap_err();
            assert!(
                first.message.contains("the change does not fit"),
                "{first:?}"
            );
        }
        let field = Field::new(ACC_PUBLIC | ACC_STATIC, "calls", "J").with_value(Constant::Long(1));
        plan.add_field(&field)?;
        Ok(plan.add_field(&field)?)
    }
}

#[test]
fn edits_of_code_and_structure_are_printed_and_checked() {
    let changed = Harness::<Changes>::default().transform(COUNTER);
    let plan = "method 2: replace body:\n    push int 0\n    ireturn\n\
                add field calls:J (0x0009) = 1L\n\
                error: H0317: the class would have field calls:J twice\n";
    changed.assert_plan(plan);
}

#[test]
fn a_loaded_class_takes_a_body_and_no_field() {
    let changed = Harness::<Changes>::default().retransform(COUNTER);
    assert_eq!(changed.plan().class_edits().len(), 1);
    changed.assert_error("JVMTI_ERROR_UNSUPPORTED_REDEFINITION_SCHEMA_CHANGED");
}

/// Counts the classes that it saw.
struct Remembers(Cell<u16>);

impl Transformer for Remembers {
    type Config = std::collections::BTreeMap<String, String>;

    fn new(_: Self::Config) -> Result<Self> {
        Ok(Remembers(Cell::new(0)))
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        self.0.set(self.0.get() + 1);
        for method in class.methods_with_code().take(self.0.get().into()) {
            plan.hit(&[method.entry()], b"")?;
        }
        Ok(())
    }
}

#[test]
#[should_panic(expected = "the plan depends on earlier classes")]
fn hidden_state_is_detected() {
    let _ = Harness::<Remembers>::default().transform(COUNTER);
}

/// Creates a row for each call, with a configurable kind of the line's column.
struct Rows(String);

const CALLS: Table = Table {
    name: "calls",
    columns: &[("callee", ColumnKind::Method), ("line", ColumnKind::Line)],
};

impl Transformer for Rows {
    type Config = std::collections::BTreeMap<String, String>;

    fn new(config: Self::Config) -> Result<Self> {
        Ok(Self(config.get("line").cloned().unwrap_or_default()))
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        for method in class.methods().filter(Method::has_code) {
            let line = match self.0.as_str() {
                "" => method.line_at(0).to_string(),
                other => other.to_owned(),
            };
            for call in method.calls(|target| target.name == "<init>")? {
                let row = CALLS.row(&[&call.target.owner, &line]);
                match self.0.as_str() {
                    "0" => plan.hit(&method.before(&[call.bci]), &row)?,
                    _ => plan.count(&method.before(&[call.bci]), &row)?,
                };
            }
        }
        Ok(())
    }
}

#[test]
fn rows_of_tables_are_printed_and_checked() {
    Harness::<Rows>::default().transform(COUNTER).assert_plan(
        "<init>()V before 1: count 0 row of calls: callee \"java/lang/Object\" line \"2\"\n",
    );
    for (line, expected) in [
        ("first", "a decimal number in `line`"),
        ("0", "expected a count or a span for the row of calls"),
    ] {
        let refused = Harness::<Rows>::new(&format!("line = \"{line}\"")).transform(COUNTER);
        let error = refused.error().expect("a refusal").to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Records one local variable in front of the first instruction of each method.
struct Variables(Variable);

#[derive(Deserialize)]
struct Variable {
    method: String,
    #[serde(default)]
    named: String,
    #[serde(default)]
    slot: u16,
    #[serde(default)]
    kind: String,
}

impl Transformer for Variables {
    type Config = Variable;

    fn new(config: Variable) -> Result<Self> {
        Ok(Self(config))
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let Variable {
            method,
            named,
            slot,
            kind,
        } = &self.0;
        let event = match named.as_str() {
            "" => Event::default().slot("v", *slot, kind),
            named => Event::default().variable("v", named),
        };
        for method in class.methods().filter(|it| it.name() == method) {
            plan.event(&method.before(&[0]), &event, b"")?;
        }
        Ok(())
    }
}

#[test]
fn local_variables_are_recorded_where_they_are_set() {
    let plan = |config: &str| Harness::<Variables>::new(config).transform(COUNTER);
    let increment = "method = \"increment\"\n";
    plan(&format!("{increment}named = \"n\""))
        .assert_plan("increment(I)I before 0: event 0: v = variable n, limit 80\n");
    plan(&format!("{increment}slot = 1\nkind = \"I\""))
        .assert_plan("increment(I)I before 0: event 0: v = slot 1 I, limit 80\n");
    for (config, expected) in [
        (
            "slot = 1\nkind = \"J\"",
            "expected a long in the local variable 1, found int",
        ),
        (
            "slot = 1\nkind = \"[I\"",
            "expected an initialized object in the local variable 1",
        ),
        (
            "slot = 2\nkind = \"I\"",
            "no value that is set on every path",
        ),
        ("slot = 0\nkind = \"I;\"", "expected a field descriptor"),
        (
            "named = \"m\"",
            "no local variable `m` is in scope here; those that are: this, n",
        ),
    ] {
        plan(&format!("{increment}{config}")).assert_error(expected);
    }
    let constructed = plan("method = \"<init>\"\nslot = 0\nkind = \"LCounter;\"");
    constructed.assert_error("expected an initialized object in the local variable 0");
    let old = [&COUNTER[..7], &[49], &COUNTER[8..]].concat();
    Harness::<Variables>::new(&format!("{increment}named = \"n\""))
        .transform(&old)
        .assert_error("no stack map frames");
}

const DECLARED: &[u8] = include_bytes!("../../../rewriter/tests/fixtures/release25/Declared.class");

const PARSED: Table = Table {
    name: "parsed",
    columns: &[("method", ColumnKind::Method), ("line", ColumnKind::Line)],
};

const ROUNDS: Table = Table {
    name: "rounds",
    columns: &[("method", ColumnKind::Method), ("text", ColumnKind::Text)],
};

/// The example of `docs/plugins.md`: counts at calls that a query finds, and on the jumps of loops.
struct Queries;

impl Transformer for Queries {
    type Config = NoSettings;

    fn new(_: NoSettings) -> Result<Self> {
        Ok(Self)
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        for found in class.calls("java.lang.Integer.parse*")? {
            let row = PARSED.row(&[&found.target.name, &found.line.to_string()]);
            plan.count(&[found.before()], &row)?;
        }
        for method in class.methods().filter(Method::has_code) {
            let part = method.annotations_of(&["LDeclared$Part;"]);
            let text = part.first().and_then(|found| found.text("value"));
            let row = ROUNDS.row(&[method.name(), text.unwrap_or("")]);
            plan.count(&method.loops()?, &row)?;
        }
        Ok(())
    }
}

#[test]
fn results_of_queries_and_loops_are_counted() {
    let transformed = Harness::<Queries>::default().transform(DECLARED);
    transformed.assert_plan(
        "parse(Ljava/lang/String;IJ)I before 30: count 0 row of parsed: method \"parseInt\" line \"55\"\n\
         parse(Ljava/lang/String;IJ)I jump 40 -> 18: count 1 row of rounds: method \"parse\" text \"method\"\n",
    );
    assert!(transformed.splice().len() > DECLARED.len());
}

#[test]
fn classes_of_java_source_are_transformed_by_name_and_with_their_lines() {
    let counter = || {
        java! { r#"
            // the class of the file
            package com.acme;

            public sealed interface Parser {
                record Numbers(int base) implements Parser {
                    int parse(String text) { return Integer.parseInt(text, base); }
                }
            }
        "#, "-g", "--release", "17" }
    };
    let classes = counter();
    let names: Vec<_> = classes.names().collect();
    assert_eq!(names, ["com/acme/Parser", "com/acme/Parser$Numbers"]);
    let numbers = classes.class("com/acme/Parser$Numbers");
    let transformed = Harness::<Queries>::default().transform(numbers);
    transformed.assert_plan(
        "parse(Ljava/lang/String;)I before 5: count 0 row of parsed: method \"parseInt\" line \"7\"\n",
    );
    Harness::<Queries>::default()
        .transform(&classes)
        .assert_plan("");
    assert_eq!(counter(), classes, "what was kept");
}

/// Counts the ends of each call by how they end it.
#[derive(Default)]
struct Ends;

impl Transformer for Ends {
    type Config = NoSettings;

    fn new(_: NoSettings) -> Result<Self> {
        Ok(Self)
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        for method in class.methods() {
            for Exit { point, thrown } in method.exits()? {
                let how: &[u8] = if thrown { b"thrown" } else { b"returned" };
                plan.hit(&[point], how)?;
            }
        }
        Ok(())
    }
}

/// An `athrow` is an end only if the exception leaves the method, and then `unwind` is reached.
#[test]
fn each_end_of_a_call_is_an_exit_once() {
    let classes = java! { r#"
        abstract class Ends {
            abstract int none();
            int some(int i) {
                try {
                    if (i > 0) throw new IllegalStateException();
                } catch (IllegalStateException caught) {
                    return 1;
                }
                return 2;
            }
        }
    "#, "-g", "--release", "17" };
    let transformed = Harness::<Ends>::default().transform(classes.class("Ends"));
    transformed.assert_plan(
        "<init>()V before 4: hit 0 tag \"returned\"\n<init>()V unwind: hit 1 tag \"thrown\"\n\
         some(I)I before 17: hit 2 tag \"returned\"\nsome(I)I before 19: hit 3 tag \"returned\"\n\
         some(I)I unwind: hit 4 tag \"thrown\"\n",
    );
    assert!(transformed.splice().len() > 100);
}

#[test]
fn error_in_java_source_is_reported_with_its_line() {
    let panic = std::panic::catch_unwind(|| java! { "class A {\n    int f() { return x; }\n}" });
    let panic = panic.expect_err("there is no x");
    let text = panic.downcast_ref::<String>().expect("a text");
    assert!(text.contains("does not compile"), "{text}");
    assert!(
        text.contains("A.java:2: error: cannot find symbol"),
        "{text}"
    );
}
