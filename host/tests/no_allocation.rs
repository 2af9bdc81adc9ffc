//! A class that no plugin selects needs no allocation, and one that a plugin sees hardly any.

#[path = "support/compiler.rs"]
mod compiler;
#[path = "support/shapes.rs"]
mod shapes;

use std::path::Path;

use compiler::compiler;
use host::config::PluginConfig;
use host::{CodeSource, Config, Loader, Outcome, Pipeline};
use shapes::{SHAPES, request, table};

/// Checks the number of allocations for a class, after others of the same kind.
#[track_caller]
fn check(pipeline: &Pipeline, expected: u64) {
    let (class, table, mut out) = (request(SHAPES), table(), Vec::new());
    let mut transform = || pipeline.transform(&class, &table, &mut out);
    for _ in 0..3 {
        assert_eq!(transform(), Outcome::Changed);
    }
    let cost = allocation_counter::measure(|| {
        for _ in 0..10 {
            transform();
        }
    });
    assert!(cost.count_total <= 10 * expected, "{cost:?}");
}

/// Allocations for the checker of its plan, its code for the plugin, and the plugin's insertion
/// points.
#[test]
fn class_that_a_plugin_sees_costs_four_allocations() {
    let mut config = Config {
        plugins: vec![PluginConfig::bundled("coverage")],
        ..Config::default()
    };
    for self_check in [false, true] {
        config.agent.self_check = self_check;
        check(&Pipeline::new(&config, &compiler()).unwrap(), 4);
    }
    let remembering = Pipeline::with_plan_cache(&config, &compiler()).unwrap();
    check(&remembering, 3);
    let plans = remembering.summary().plans.unwrap();
    assert!(plans.hits >= 12, "{plans:?}");
}

/// The plan cache finds the class by its bytes, without parsing it.
#[test]
fn class_with_a_stored_empty_plan_costs_no_allocation() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let plugin = PluginConfig {
        grant: ["probes", "rewrite", "structure", "raw", "helpers"]
            .map(str::to_owned)
            .to_vec(),
        config: serde_json::json!({ "request": "nothing" }),
        ..PluginConfig::file(root.join("../target/bundled/tests/requests.wasm"))
    };
    let config = Config {
        plugins: vec![plugin],
        ..Config::default()
    };
    let pipeline = Pipeline::with_plan_cache(&config, &compiler()).unwrap();
    let (class, table, mut out) = (request(SHAPES), table(), Vec::new());
    let mut transform = || pipeline.transform(&class, &table, &mut out);
    assert_eq!(transform(), Outcome::Unchanged);
    let cost = allocation_counter::measure(|| assert_eq!(transform(), Outcome::Unchanged));
    assert_eq!(cost.count_total, 0);
}

#[test]
fn class_that_no_plugin_selects_costs_no_allocation() {
    let select = [
        "com.acme.**",
        "!**.gen.*Stub?",
        "@com.acme.Marked",
        "loader:com.acme.*",
    ];
    let plugin = PluginConfig {
        select: select.map(str::to_owned).to_vec(),
        ..PluginConfig::bundled("coverage")
    };
    let config = Config {
        plugins: vec![plugin],
        ..Config::default()
    };
    let pipeline = Pipeline::new(&config, &compiler()).unwrap();
    let loader = Loader::Other("com/acme/Loader".into());
    let mut wanted = [false; 4];
    let cost = allocation_counter::measure(|| {
        wanted = [
            pipeline.wants(b"com/acme/A", &loader, CodeSource::Unread),
            pipeline.wants(b"com/acme/gen/AStub1", &loader, CodeSource::Unread),
            pipeline.wants(b"com/acme/A", &Loader::App, CodeSource::Unread),
            pipeline.wants(b"java/lang/String", &Loader::Boot, CodeSource::None),
        ];
    });
    assert_eq!(cost.count_total, 0);
    assert_eq!(wanted, [true, false, false, false]);
    let counted = allocation_counter::measure(|| drop(std::hint::black_box(vec![1])));
    assert_eq!(counted.count_total, 1, "the counter counts");
}
