//! A plugin that fails costs the class its edits, and has no other effect on the application.

#[path = "support/compiler.rs"]
mod compiler;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use compiler::compiler;
use errors::Error;
use host::clock::Clock;
use host::config::{OnError, PluginConfig};
use host::{ClassRequest, CodeSource, Config, Explained, Loader, Outcome, Pipeline, PluginFailure};
use probes::ProbeTable;

const SHAPES: &[u8] = include_bytes!("fixtures/Shapes.class");

/// Reads the component made of `tests/plugins/misbehaving`.
fn misbehaving() -> Vec<u8> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../target/bundled/tests/misbehaving.wasm"
    );
    std::fs::read(path)
        .unwrap_or_else(|error| panic!("{path}: {error}; run `cargo xtask plugins` first"))
}

/// `SHAPES` under the name of the class on which the plugin fails.
fn victim() -> Vec<u8> {
    let at = SHAPES
        .windows(9)
        .position(|window| window == b"\x01\0\x06Shapes")
        .unwrap();
    let name = b"\x01\0\x06Victim";
    [&SHAPES[..at], name, &SHAPES[at + name.len()..]].concat()
}

fn config(wasm: &[u8], config: serde_json::Value, folder: &tempfile::TempDir) -> Config {
    let path = folder.path().join("misbehaving.wasm");
    std::fs::write(&path, wasm).unwrap();
    let plugin = PluginConfig {
        grant: vec!["probes".to_owned()],
        config,
        ..PluginConfig::file(path)
    };
    let mut result = Config {
        plugins: vec![plugin],
        ..Config::default()
    };
    result.agent.log = host::config::LogLevel::Off;
    result
}

fn pipeline(deed: &str) -> Result<Pipeline, Error> {
    let folder = tempfile::tempdir().unwrap();
    let deed = serde_json::json!({ "deed": deed });
    Pipeline::new(&config(&misbehaving(), deed, &folder), &compiler())
}

fn refusal(wasm: &[u8]) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let deed = serde_json::json!({ "deed": "loop" });
    Pipeline::new(&config(wasm, deed, &folder), &compiler()).unwrap_err()
}

fn transform(pipeline: &Pipeline, name: &str, bytes: &[u8]) -> Outcome {
    let table = ProbeTable::new();
    table.set_arrays(1);
    let name = name.as_bytes();
    let request = ClassRequest {
        name,
        loader: &Loader::App,
        location: CodeSource::Unread,
        bytes,
        original: None,
        retransforming: false,
    };
    let mut out = vec![1, 2, 3];
    let outcome = pipeline.transform(&request, &table, &mut out);
    assert_eq!(out.is_empty(), !outcome.is_changed());
    outcome
}

fn failure(deed: &str) -> PluginFailure {
    let pipeline = pipeline(deed).unwrap();
    let outcome = transform(&pipeline, "Victim", &victim());
    let [failure] = outcome.failures() else {
        panic!("{deed}: {outcome:?}")
    };
    let failure = failure.clone();
    assert_eq!(
        transform(&pipeline, "Shapes", SHAPES),
        Outcome::Changed,
        "{deed}: the next class is fine"
    );
    assert_eq!(
        (failure.plugin.as_str(), failure.class.as_str()),
        ("misbehaving", "Victim")
    );
    assert_eq!(pipeline.summary().failures, std::slice::from_ref(&failure));
    failure
}

#[test]
fn each_deed_is_named_with_its_cause() {
    for (deed, code, cause) in [
        ("loop", "H0312", "it used more than 250 ms of CPU time"),
        ("trap", "H0311", "on purpose"),
        (
            "allocate",
            "H0313",
            "it requested more than 64 MiB of memory",
        ),
        ("recurse", "H0314", "probably endless recursion"),
        (
            "no-instruction",
            "H0317",
            "no instruction begins at bci 65535",
        ),
        (
            "no-method",
            "H0317",
            "method 9 does not exist: the class has",
        ),
        (
            "flood",
            "H0315",
            "expected at most 65536 edits to one class",
        ),
        ("fail", "H0316", "failed on purpose"),
        (
            "huge-list",
            "H0315",
            "expected at most 65536 edits to one class",
        ),
        ("tags", "H0315", "expected at most 1048576 bytes of tags"),
        ("chatter", "H0312", "it used more than 250 ms of CPU time"),
    ] {
        let failure = failure(deed);
        assert_eq!(failure.code, code, "{deed}: {failure}");
        assert!(failure.cause.contains(cause), "{deed}: {failure}");
    }
}

#[test]
fn tag_is_part_of_the_explanation() {
    let table = ProbeTable::new();
    table.set_arrays(1);
    let request = ClassRequest {
        name: b"Shapes",
        loader: &Loader::App,
        location: CodeSource::Unread,
        bytes: SHAPES,
        original: None,
        retransforming: false,
    };
    let (outcome, explanation) =
        pipeline("loop")
            .unwrap()
            .explain(&request, &table, &mut Vec::new());
    assert_eq!(outcome, Outcome::Changed);
    let edits = explanation.remarks.len() - 1;
    let expected = format!("tag of hits 0 to {}: entry", edits - 1);
    let last = explanation.remarks.last();
    assert!(
        matches!(last, Some(Explained::Note { text, .. }) if *text == expected),
        "{last:?}"
    );
}

#[test]
fn a_panic_keeps_its_text_and_place() {
    let failure = failure("trap");
    assert!(failure.cause.starts_with("panicked at "), "{failure}");
    assert!(failure.cause.contains("lib.rs:"), "{failure}");
}

#[test]
fn a_refused_request_names_method_and_bci() {
    let failure = failure("no-instruction");
    assert_eq!(
        (failure.method.as_deref(), failure.bci),
        (Some("<init>()V"), Some(65_535))
    );
    let source = failure.source.clone().unwrap_or_default();
    assert!(source.contains("src/lib.rs:"), "{source}");
    let text = failure.to_string();
    assert!(text.contains(&format!("\n  plugin   {source}\n")), "{text}");
    assert!(text.starts_with("warning[H0317]: plugin `misbehaving` failed on Victim; the class was loaded unchanged\n"), "{text}");
    assert!(
        text.contains("\n  at       Victim.<init>()V  bci 65535\n"),
        "{text}"
    );
}

#[test]
fn a_plugin_that_fails_on_most_classes_is_switched_off() {
    let pipeline = pipeline("trap").unwrap();
    let victim = victim();
    let fail = || transform(&pipeline, "Victim", &victim).failures().to_vec();
    assert_eq!(transform(&pipeline, "Shapes", SHAPES), Outcome::Changed);
    for _ in 0..4 {
        assert_eq!(fail()[0].help, None, "four are odd classes");
    }
    let told = "it is switched off now: it failed on 5 of 6 classes";
    assert_eq!(fail()[0].help.as_deref(), Some(told));
    assert!(!pipeline.wants(b"Shapes", &Loader::App, CodeSource::Unread));
    assert_eq!(transform(&pipeline, "Shapes", SHAPES), Outcome::Unchanged);
    let summary = pipeline.summary();
    let failed = &summary.failed_plugins[0];
    assert_eq!(failed.plugin, "misbehaving");
    let cause = failed.switched_off.as_deref();
    assert_eq!(cause, Some("it failed on 5 of 6 classes"));
    assert_eq!((failed.shown, failed.served, failed.failed), (6, 1, 5));
    assert!(failed.first.starts_with("Victim: "), "{failed:?}");
    assert_eq!(
        (summary.failed, summary.failures.len()),
        (1, 1),
        "one class, told once"
    );
    assert!(pipeline.enable("misbehaving", true));
    assert_eq!(transform(&pipeline, "Shapes", SHAPES), Outcome::Changed);
}

/// A clock on which every call of a plugin takes 100 ms, on any machine.
#[derive(Debug, Default)]
struct SteppingClock(AtomicU32);

impl Clock for SteppingClock {
    fn now(&self) -> Duration {
        Duration::from_millis(100) * self.0.fetch_add(1, Ordering::Relaxed)
    }

    fn thread_time(&self) -> Duration {
        Duration::ZERO
    }
}

#[test]
fn a_plugin_that_takes_too_long_for_all_classes_together_is_switched_off() {
    let folder = tempfile::tempdir().unwrap();
    let deed = serde_json::json!({ "deed": "loop" });
    let config = config(&misbehaving(), deed, &folder);
    let clock = Arc::new(SteppingClock::default());
    let pipeline = Pipeline::with_clock(&config, &compiler(), clock).unwrap();
    // Each class takes less than its own limit of 250 ms.
    let classes =
        (0..100).take_while(|_| transform(&pipeline, "Shapes", SHAPES) == Outcome::Changed);
    assert_eq!(classes.count(), 51);
    let summary = pipeline.summary();
    let [failure] = summary.failures.as_slice() else {
        panic!("{summary:?}")
    };
    assert_eq!(failure.code, "H0318", "{failure}");
    let cause = "it is switched off now: it used 5.3 s of CPU time for 52 classes, more than 5 s and 5 ms for each";
    assert_eq!(failure.cause, cause);
    assert_eq!(transform(&pipeline, "Shapes", SHAPES), Outcome::Unchanged);
}

#[test]
fn long_texts_are_shortened() {
    let failure = failure("fail-at-length");
    assert_eq!((failure.code, failure.cause.len() < 2_200), ("H0316", true));
    assert!(
        failure.cause.ends_with(" … (10000022 bytes in all)"),
        "{failure}"
    );
}

#[test]
fn an_access_out_of_bounds_is_no_recursion() {
    let failure = failure("out-of-bounds");
    assert_eq!(failure.code, "H0311", "{failure}");
    assert!(failure.cause.contains("out of bounds"), "{failure}");
    assert!(!failure.cause.contains("recursion"), "{failure}");
}

#[test]
fn strict_fails_the_run_on_any_failure() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(
        &misbehaving(),
        serde_json::json!({ "deed": "fail" }),
        &folder,
    );
    config.agent.on_error = OnError::Strict;
    let pipeline = Pipeline::new(&config, &compiler()).unwrap();
    assert_eq!(transform(&pipeline, "Shapes", SHAPES), Outcome::Changed);
    assert!(!pipeline.summary().strict_failure);
    transform(&pipeline, "Victim", &victim());
    assert!(pipeline.summary().strict_failure);
}

#[test]
fn a_shallow_thread_is_enough_for_endless_recursion() {
    let pipeline = pipeline("recurse").unwrap();
    let run = || {
        matches!(
            transform(&pipeline, "Victim", &victim()),
            Outcome::Failed { changed: false, .. }
        )
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(96 << 10)
            .spawn_scoped(scope, run);
        assert!(thread.unwrap().join().unwrap());
    });
}

#[test]
fn failures_while_configuring_stop_the_start() {
    for (deed, code, text) in [
        ("panic-early", "H0112", "on purpose, early"),
        ("refuse", "H0111", "refused on purpose"),
        ("select", "H0110", "com.***"),
        ("unheard-of", "H0111", "unknown variant `unheard-of`"),
    ] {
        let error = pipeline(deed).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn missing_grant_is_rejected_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(
        &misbehaving(),
        serde_json::json!({ "deed": "loop" }),
        &folder,
    );
    config.plugins[0].grant = vec!["boot".to_owned()];
    config.plugins[0].grant_line = Some(14);
    let expected = "\
error[H0203]: plugin `misbehaving` needs a grant that it does not have
  imports  classhook:plugin/probes   \"sets probes in the classes you select\"
  grant    [\"boot\"]   classhook.toml:14
  help     if you trust this plugin: --grant probes, or \"probes\" in `grant`";
    assert_eq!(
        Pipeline::new(&config, &compiler()).unwrap_err().to_string(),
        expected
    );
}

/// Replaces all occurrences of a name by another one of the same length.
fn renamed(wasm: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut wasm = wasm.to_vec();
    let mut at = 0;
    while let Some(found) = wasm[at..]
        .windows(from.len())
        .position(|window| window == from.as_bytes())
    {
        at += found;
        wasm[at..at + from.len()].copy_from_slice(to.as_bytes());
    }
    assert!(at > 0, "{from} does not occur");
    wasm
}

#[test]
fn unknown_imports_are_named() {
    let wasm = misbehaving();
    let error = refusal(&renamed(&wasm, "plugin/probes", "plugin/patchy"));
    assert_eq!(error.code(), "H0107", "{error}");
    assert!(
        error
            .to_string()
            .contains("needs    classhook:plugin/patchy@0.1.0\n"),
        "{error}"
    );
    let error = refusal(&renamed(&wasm, "[method]plan.note", "[method]plan.nose"));
    assert_eq!(error.code(), "H0107", "{error}");
    assert!(
        error
            .to_string()
            .contains("needs    classhook:plugin/plans@0.1.0, plan.nose\n"),
        "{error}"
    );
    let error = refusal(&renamed(&wasm, "plugin/transformer", "plugin/transmitter"));
    assert_eq!(error.code(), "H0108", "{error}");
}

#[test]
fn invalid_plugin_files_are_distinguished() {
    let wasm = misbehaving();
    for (bytes, code, text) in [
        (&b"\0asm\x01\0\0\0"[..], "H0106", "a core module"),
        (&b"\0asm\x0d\0\x01\0"[..], "H0108", "no exports"),
        (&wasm[..wasm.len() / 2], "H0106", "is damaged"),
        (&b"PK\x03\x04"[..], "H0106", "50 4b 03 04"),
        (&b"\x7fELF"[..], "H0106", "native or precompiled code"),
        (&b""[..], "H0106", "an empty file"),
    ] {
        let error = refusal(bytes);
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
    let missing = Config {
        plugins: vec![PluginConfig::file("/no/such/plugin.wasm".into())],
        ..Config::default()
    };
    let error = Pipeline::new(&missing, &compiler()).unwrap_err();
    assert_eq!(error.code(), "H0106");
    assert!(
        error.to_string().contains("/no/such/plugin.wasm"),
        "{error}"
    );
}

#[test]
fn a_pinned_digest_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(
        &misbehaving(),
        serde_json::json!({ "deed": "fail" }),
        &folder,
    );
    config.plugins[0].digest = Some("0".repeat(64));
    let error = Pipeline::new(&config, &compiler()).unwrap_err();
    assert_eq!(error.code(), "H0109");
    let found = error
        .notes()
        .find(|(label, _)| *label == "found")
        .unwrap()
        .1;
    config.plugins[0].digest = Some(found.strip_prefix("sha256:").unwrap().to_owned());
    Pipeline::new(&config, &compiler()).unwrap();
}
