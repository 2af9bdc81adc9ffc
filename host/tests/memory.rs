//! The host's data for a plugin counts against the plugin's memory limit.

#[path = "support/compiler.rs"]
mod compiler;

use compiler::compiler;
use host::config::{LogLevel, PluginConfig};
use host::{ClassRequest, CodeSource, Config, Loader, Outcome, Pipeline};
use probes::ProbeTable;

const NATIVES: &[u8] = include_bytes!("fixtures/Natives.class");

/// `tests/plugins/editing`, configured to hoard these resources.
fn hoarding(what: &str) -> Pipeline {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../target/bundled/tests/editing.wasm");
    assert!(path.exists(), "run `cargo xtask plugins` first");
    let plugin = PluginConfig {
        grant: ["probes", "rewrite", "structure", "raw", "helpers"]
            .map(str::to_owned)
            .to_vec(),
        config: serde_json::json!({ "structure": false, "wrong": format!("hoard {what}") }),
        ..PluginConfig::file(path)
    };
    let mut config = Config {
        plugins: vec![plugin],
        ..Config::default()
    };
    config.agent.log = LogLevel::Off;
    Pipeline::new(&config, &compiler()).expect("a plugin")
}

fn transform(pipeline: &Pipeline) -> Outcome {
    let class = ClassRequest {
        name: b"Changed$Target",
        loader: &Loader::App,
        location: CodeSource::Unread,
        bytes: NATIVES,
        original: None,
        retransforming: false,
    };
    let table = ProbeTable::new();
    pipeline.transform(&class, &table, &mut Vec::new())
}

/// Returns the resident memory of this process in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages = text
        .split(' ')
        .nth(1)
        .and_then(|it| it.parse::<usize>().ok());
    pages.expect("the second number") * 4096
}

/// One test, so that no other test allocates memory at the same time.
#[test]
fn hoarded_resources_count_as_memory() {
    let begun = resident();
    let pipeline = hoarding("views");
    let outcome = transform(&pipeline);
    let [failure] = outcome.failures() else {
        panic!("{outcome:?}")
    };
    assert_eq!(failure.code, "H0313", "{failure}");
    let cause = "more than 131072 handles at once";
    assert!(failure.cause.contains(cause), "{failure}");
    let pipeline = hoarding("slowly");
    for _ in 0..300 {
        assert_eq!(transform(&pipeline), Outcome::Unchanged);
    }
    let grown = resident().saturating_sub(begun) >> 20;
    assert!(grown < 200, "{grown} MiB");
}
