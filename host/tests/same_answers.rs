//! A plugin gets the same answers in a native test and in production.

#[path = "support/compiler.rs"]
mod compiler;
#[path = "support/explained.rs"]
mod explained;

use classhook_sdk::Error;
use classhook_testkit::{Harness, Transformed};
use compiler::compiler;
use explained::explained;
use host::config::{LogLevel, PluginConfig};
use host::{ClassRequest, CodeSource, Config, Loader, Pipeline};
use plan_rules::Row;
use plugin_requests::{REQUESTS, Requests};
use probes::ProbeTable;

const NATIVES: &[u8] = include_bytes!("fixtures/Natives.class");
/// Classes for requests about declarations: a class with all kinds of declarations, a record and an
/// anonymous class.
const DECLARED: [&[u8]; 3] = [
    include_bytes!("../../rewriter/tests/fixtures/release25/Declared.class"),
    include_bytes!("../../rewriter/tests/fixtures/release25/Declared$Point.class"),
    include_bytes!("../../rewriter/tests/fixtures/release25/Declared$1.class"),
];

/// The rejection of a request, or the plan with its edits.
#[derive(Debug, PartialEq)]
enum Answer {
    Refused { code: String, message: String },
    Planned(Vec<String>),
}

/// Returns the path of the component made of `tests/plugins/requests`.
fn component() -> std::path::PathBuf {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../target/bundled/tests/requests.wasm");
    assert!(path.exists(), "run `cargo xtask plugins` first");
    path
}

fn in_production(request: &str, bytes: &[u8], retransforming: bool) -> Answer {
    let grant = [
        "probes",
        "rewrite",
        "structure",
        "raw",
        "helpers",
        "natives",
    ];
    let plugin = PluginConfig {
        grant: grant.map(str::to_owned).to_vec(),
        config: serde_json::json!({ "request": request }),
        ..PluginConfig::file(component())
    };
    let mut config = Config {
        plugins: vec![plugin],
        ..Config::default()
    };
    config.agent.log = LogLevel::Off;
    let pipeline = Pipeline::new(&config, &compiler()).unwrap();
    let class = ClassRequest {
        name: b"Natives",
        loader: &Loader::App,
        location: CodeSource::Unread,
        bytes,
        original: None,
        retransforming,
    };
    let table = ProbeTable::new();
    table.set_arrays(2);
    let (outcome, explanation) = pipeline.explain(&class, &table, &mut Vec::new());
    match outcome.failures().first() {
        Some(failure) => Answer::Refused {
            code: failure.code.to_owned(),
            message: failure.cause.clone(),
        },
        None => Answer::Planned(explained(&explanation)),
    }
}

fn natively(request: &str, bytes: &[u8], retransforming: bool) -> Answer {
    let harness = Harness::<Requests>::new(&format!("request = {request:?}"));
    let transformed = if retransforming {
        harness.retransform(bytes)
    } else {
        harness.transform(bytes)
    };
    match transformed.error() {
        None => match missing_in_helpers(&transformed) {
            None => Answer::Planned(planned(&transformed)),
            Some(message) => Answer::Refused {
                code: "H0317".to_owned(),
                message,
            },
        },
        Some(Error::Refused(failure, _)) => Answer::Refused {
            code: failure.code.clone(),
            message: failure.message.clone(),
        },
        Some(error) => panic!("{request}: {error}"),
    }
}

/// Returns the members that the generated code uses and the helper classes lack. A native test that
/// generates such code panics.
fn missing_in_helpers(transformed: &Transformed) -> Option<String> {
    transformed.helpers().next()?;
    let made = std::panic::AssertUnwindSafe(|| transformed.splice());
    let panic = std::panic::catch_unwind(made).err()?;
    let message = panic.downcast_ref::<String>().expect("a text");
    message
        .starts_with("code that is inserted: ")
        .then(|| message.clone())
}

fn planned(transformed: &Transformed) -> Vec<String> {
    let (request, plan) = (transformed.request(), transformed.plan());
    let replaced = request.replacement.iter();
    let mut lines: Vec<String> = replaced
        .map(|bytes| format!("another class file of {} bytes", bytes.len()))
        .collect();
    if request.edits() > 0 {
        let helpers = request.helpers.iter();
        lines.extend(helpers.map(|helper| format!("helper class {}", helper.name)));
    }
    lines.extend(plan.class_edits().iter().map(ToString::to_string));
    let edits = plan.edits().iter();
    lines.extend(edits.map(|edit| format!("{}: {}", edit.point, plan.describe(edit.action))));
    let spans = request.spans.as_slice().iter();
    lines.extend(spans.map(|span| format!("method {} entry: {span}", span.method)));
    let events = (0..).zip(&request.events);
    lines.extend(events.map(|(number, event): (u32, _)| {
        format!("{}: event {number}: {}", event.point, event.values)
    }));
    let notes = request.notes.iter();
    lines.extend(notes.map(|note| format!("{}: note {}", note.point, note.text)));
    lines.extend(request.tags.iter().map(|tag| {
        let (kind, last) = (format!("{:?}", tag.kind), tag.first + tag.count - 1);
        let row = Row::of_tag(&tag.bytes).map(|row| row.to_string());
        let text = row.unwrap_or_else(|| tag.bytes.escape_ascii().to_string());
        let kind = kind.to_lowercase();
        format!(
            "{}: note tag of {kind}s {} to {last}: {text}",
            tag.point, tag.first
        )
    }));
    lines
}

#[test]
fn every_request_is_answered_the_same_natively_and_in_production() {
    let (mut granted, mut refused) = (0, 0);
    for (request, _) in REQUESTS {
        if request.starts_with("declared-") {
            continue;
        }
        for retransforming in [false, true] {
            let answer = in_production(request, NATIVES, retransforming);
            let native = natively(request, NATIVES, retransforming);
            assert_eq!(native, answer, "{request}");
            match answer {
                Answer::Planned(lines) => granted += usize::from(!lines.is_empty()),
                Answer::Refused { .. } => refused += 1,
            }
        }
    }
    assert!(granted >= 27 && refused >= 66, "{granted}, {refused}");
}

/// An annotation interface has no code for notes.
#[test]
fn defaults_of_annotations_are_those_of_the_source() {
    let part = include_bytes!("../../rewriter/tests/fixtures/release25/Declared$Part.class");
    let said = r#"value: Some(Text("none"))"#;
    let harness = Harness::<Requests>::new("request = \"declared-defaults\"");
    harness.transform(part).assert_error(said);
    match in_production("declared-defaults", part, false) {
        Answer::Refused { message, .. } => assert!(message.contains(said), "{message}"),
        other => panic!("{other:?}"),
    }
}

/// Checks that both sides give the same answer about a class, with each of these parts.
fn says(class: usize, request: &str, parts: &[&str]) {
    let answer = in_production(request, DECLARED[class], false);
    assert_eq!(natively(request, DECLARED[class], false), answer);
    let Answer::Planned(notes) = answer else {
        panic!("{request}: {answer:?}");
    };
    let notes = notes.join("\n");
    for part in parts {
        assert!(notes.contains(part), "expected {part} in {notes}");
    }
}

#[test]
fn annotations_have_the_values_of_the_source() {
    let values = [
        r#"("flag", Boolean(true)), ("small", Byte(-1)), ("letter", Char(120)), ("medium", Short(-2))"#,
        r#"("number", Integer(7)), ("large", Long(1099511627776)), ("part", Float(1.5)), ("whole", Double(-0.0))"#,
        r#"("text", Text("häß")), ("type", Class("[Ljava/lang/String;"))"#,
        r#"("level", Enum(EnumConstant { descriptor: "LDeclared$Level;", name: "HIGH" }))"#,
        r#"("nested", Annotation(Annotation { kind: "LDeclared$Part;", visible: true, elements: [("value", Text("in"))] }))"#,
        r#"elements: [("value", Text("a"))] }), Annotation(Annotation { kind: "LDeclared$Part;", visible: true, elements: [] })]))"#,
        r#"("numbers", Array([])), ("texts", Array([Text("one"), Text("two")]))"#,
        r#"of: Annotated::Class, annotation: Annotation { kind: "LDeclared$Hidden;", visible: false"#,
        r#"elements: [("value", Text("field"))]"#,
        r#"elements: [("value", Text("parameter"))]"#,
        "ParameterPlace { method: 1, parameter: 2 }",
        r#"[Annotation { kind: "LDeclared$Part;", visible: true, elements: [("value", Text("method"))] }]"#,
    ];
    says(0, "declared-annotations", &values);
    let record = [r#"Annotated::Component(0)"#, r#"Text("across")"#];
    says(1, "declared-annotations", &record);
}

#[test]
fn declarations_are_those_of_the_source() {
    let whole = [
        r#"InnerClass { name: "Declared$Point", outer: Some("Declared"), simple-name: Some("Point")"#,
        r#"name: "Declared$1", outer: None, simple-name: None"#,
        r#"["Declared$Sub"]"#,
        r#"(None, ["Declared$Point", "#,
        r#"Parameter { name: Some("text"), access-flags: 16 }"#,
        r#"["java/io/IOException", "java/lang/IllegalStateException"]"#,
    ];
    says(0, "declared-rest", &whole);
    let record = [
        r#"name: "names", descriptor: "Ljava/util/List;", signature: Some("Ljava/util/List<Ljava/lang/String;>;")"#,
        r#"(Some("Declared"), [])"#,
    ];
    says(1, "declared-rest", &record);
    let anonymous = [r#"class: "Declared", method: Some(NamedMethod { name: "parse""#];
    says(2, "declared-rest", &anonymous);
}

#[test]
fn queries_find_the_instructions_of_the_source() {
    let found = [
        r#"name: "parseInt""#,
        r#"name: "count""#,
        r#"owner: "[Ljava/lang/String;""#,
        r#"name: "select 2""#,
        r#"name: "made of ""#,
        r#"implementation: Some(Member { owner: "Declared", name: "lambda$parse$0""#,
        "Jump { source: ",
    ];
    says(0, "declared-code", &found);
}
