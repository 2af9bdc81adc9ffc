//! ObserverConfig plugins: their subscriptions, and the isolation of their failures.

#[path = "support/compiler.rs"]
mod compiler;
#[path = "support/monitor_event.rs"]
mod monitor_event;
#[path = "support/pace.rs"]
mod pace;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use compiler::compiler;
use errors::Error;
use host::config::{LogLevel, PluginConfig};
use host::{Config, Observer, Pipeline};
use jvm_events::EventKind;
use jvm_events::batch::{Names, WORDS};
use jvm_events::request::Request;
use monitor_event::entered;
use pace::is_within;
use serde_json::{Value, json};

fn pipeline(config: Value, grants: &[&str]) -> Result<Arc<Pipeline>, Error> {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bundled");
    let plugin = PluginConfig {
        grant: grants.iter().map(|grant| (*grant).to_owned()).collect(),
        config,
        ..PluginConfig::file(bundled.join("tests/observing.wasm"))
    };
    let mut config = Config {
        plugins: vec![plugin],
        ..Config::default()
    };
    config.agent.log = LogLevel::Off;
    Pipeline::new(&config, &compiler()).map(Arc::new)
}

/// Returns all grants for observers.
fn grants() -> Vec<&'static str> {
    let names = host::config::CAPABILITIES.iter();
    names
        .filter(|name| name.starts_with("jvm-"))
        .copied()
        .collect()
}

fn observer(config: Value) -> Observer {
    let pipeline = pipeline(config, &grants()).expect("run `cargo xtask plugins` first");
    pipeline.observers().pop().expect("it observes")
}

fn events(names: &mut Names, count: usize) -> Vec<u64> {
    entered(names).repeat(count)
}

#[test]
fn subscriptions_are_known_when_the_plugin_is_loaded() {
    let config = json!({"kinds": ["monitors", "threads"], "classes": ["a.**"], "at_least_ms": 2, "frames": 3});
    let observer = observer(config);
    let [monitors, threads] = observer.subscriptions() else {
        panic!("{:?}", observer.subscriptions());
    };
    assert_eq!(
        (monitors.kind, monitors.at_least, monitors.frames),
        (EventKind::Monitors, 2_000_000, 3)
    );
    assert!(monitors.takes_class("a.b.C") && !monitors.takes_class("b.C"));
    assert_eq!(threads.kind, EventKind::Threads);
}

#[test]
fn errors_are_reported_when_the_plugin_is_loaded() {
    for (config, code, text) in [
        (
            json!({"kinds": ["monitors", "monitors"]}),
            "H0111",
            "expected one subscription to monitors",
        ),
        (
            json!({"kinds": ["samples"], "classes": ["***"]}),
            "H0111",
            "a pattern of a name",
        ),
        (
            json!({"kinds": ["samples"], "frames": 4096}),
            "H0111",
            "at most 2048 frames",
        ),
        (json!({"colour": 1}), "H0111", "colour"),
    ] {
        let Err(error) = pipeline(config, &grants()) else {
            panic!("expected {text}");
        };
        let told = format!("{error:#}");
        assert!(told.contains(code) && told.contains(text), "{told}");
    }
    let mut few = grants();
    few.retain(|grant| *grant != "jvm-events.natives");
    let Err(error) = pipeline(json!({}), &few) else {
        panic!("expected a capability that is not granted");
    };
    let told = error.to_string();
    assert!(
        told.contains("H0203") && told.contains("jvm-events.natives"),
        "{told}"
    );
}

#[test]
fn events_become_rows() {
    let mut observer = observer(json!({"kinds": ["monitors"], "frames": 1}));
    let mut names = Names::default();
    let words = events(&mut names, 3);
    observer.on_events(&mut names, &words, 7).1.expect("taken");
    observer
        .on_events(&mut names, &words[WORDS..], 0)
        .1
        .expect("taken");
    let made = observer.on_results(&mut names, true).1.expect("tables");
    let rows = &made[0].rows;
    assert_eq!(
        rows[0],
        ["entered", "main", "a.Gate", "a.B.m", "7", "5", "25"]
    );
    assert_eq!(rows[1], ["lost", "", "", "", "0", "7", "0"]);
    assert_eq!(names.find_text(1), Some("main"), "given back");
}

#[test]
fn observer_that_fails_loses_its_batch_and_is_retired_with_the_cause() {
    for (deed, cause) in [
        ("loop", "more than 250 ms of CPU time"),
        ("trap", "on purpose"),
        ("fail", "it returned an error: failed on purpose"),
        ("allocate", "more than 64 MiB of memory"),
    ] {
        let config = json!({"kinds": ["monitors"], "deed": deed});
        let pipeline = pipeline(config, &grants()).expect("loaded");
        let mut observer = pipeline.observers().pop().expect("it observes");
        let mut names = Names::default();
        let words = events(&mut names, 1);
        for number in 1..=3 {
            let (time, outcome) = observer.on_events(&mut names, &words, 0);
            let failed = outcome.expect_err(deed);
            assert!(
                failed.failure.cause.contains(cause),
                "{deed}: {}",
                failed.failure.cause
            );
            assert_eq!(failed.retired, number == 3, "{deed}");
            assert!(is_within(time, Duration::from_secs(1)), "{deed}: {time:?}");
            assert_eq!(names.find_text(1), Some("main"), "given back, {deed}");
        }
        assert!(pipeline.observers().is_empty(), "{deed}");
    }
}

#[test]
fn observer_that_repeats_a_request_is_answered_once() {
    let mut names = Names::default();
    let words = events(&mut names, 1);
    let mut asking = observer(json!({"kinds": ["monitors"], "deed": "ask"}));
    assert!(asking.makes_requests());
    for _ in 0..2 {
        asking.on_events(&mut names, &words, 0).1.expect("taken");
        let (asked, refused) = asking.take_requests();
        assert_eq!(asked, [Request::CpuTimes]);
        assert_eq!(refused, 999);
    }
}

#[test]
fn messages_are_limited_and_old_numbers_find_nothing() {
    let mut names = Names::default();
    let words = events(&mut names, 1);
    let mut flooding = observer(json!({"kinds": ["monitors"], "deed": "flood"}));
    assert!(flooding.on_events(&mut names, &words, 0).1.is_ok());
    let mut holding = observer(json!({"kinds": ["monitors"], "frames": 1, "deed": "hold"}));
    holding.on_events(&mut names, &words, 0).1.expect("taken");
    for number in 0..200_000 {
        names.text(&number.to_string());
    }
    names.renew();
    let words = events(&mut names, 1);
    let (_, outcome) = holding.on_events(&mut names, &words, 0);
    let cause = outcome.expect_err("it says so").failure.cause;
    assert!(cause.contains("leads nowhere"), "{cause}");
}
