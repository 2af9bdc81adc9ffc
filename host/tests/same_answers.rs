//! A plugin is answered the same in a native test and in production.

#[path = "support/compiler.rs"]
mod compiler;
#[path = "support/explained.rs"]
mod explained;

use classhook_sdk::Error;
use classhook_testkit::{Harness, Transformed};
use compiler::compiler;
use explained::explained;
use host::config::{LogLevel, PluginConfig};
use host::{ClassRequest, CodeLocation, Config, Loader, Pipeline};
use plugin_requests::{REQUESTS, Requests};
use probes::ProbeTable;

const NATIVES: &[u8] = include_bytes!("fixtures/Natives.class");

/// What a plugin is told, and what is planned of its edits.
#[derive(Debug, PartialEq)]
enum Answer {
    Refused { code: String, message: String },
    Planned(Vec<String>),
}

/// The component made of `tests/plugins/requests`.
fn component() -> std::path::PathBuf {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../target/bundled/tests/requests.wasm");
    assert!(path.exists(), "run `cargo xtask plugins` first");
    path
}

fn in_production(request: &str, retransforming: bool) -> Answer {
    let grant = ["probes", "rewrite", "structure", "natives"];
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
        location: CodeLocation::Unread,
        bytes: NATIVES,
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

fn natively(request: &str, retransforming: bool) -> Answer {
    let harness = Harness::<Requests>::new(&format!("request = {request:?}"));
    let transformed = if retransforming {
        harness.retransform(NATIVES)
    } else {
        harness.transform(NATIVES)
    };
    match transformed.error() {
        None => Answer::Planned(planned(&transformed)),
        Some(Error::Refused(failure)) => Answer::Refused {
            code: failure.code.clone(),
            message: failure.message.clone(),
        },
        Some(error) => panic!("{request}: {error}"),
    }
}

fn planned(transformed: &Transformed) -> Vec<String> {
    let (request, plan) = (transformed.request(), transformed.plan());
    let mut lines: Vec<String> = plan.class_edits().iter().map(ToString::to_string).collect();
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
        let (kind, text) = (kind.to_lowercase(), tag.bytes.escape_ascii());
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
        for retransforming in [false, true] {
            let answer = in_production(request, retransforming);
            assert_eq!(natively(request, retransforming), answer, "{request}");
            match answer {
                Answer::Planned(lines) => granted += usize::from(!lines.is_empty()),
                Answer::Refused { .. } => refused += 1,
            }
        }
    }
    assert!(granted >= 23 && refused >= 50, "{granted}, {refused}");
}
