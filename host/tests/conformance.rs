//! Components compiled at earlier releases load, and request the same edits as then.
//! `tests/conformance/README.md` describes their folders.

#[path = "support/compiler.rs"]
mod compiler;
#[path = "support/explained.rs"]
mod explained;

use compiler::compiler;
use explained::explained;
use host::config::{LogLevel, PluginConfig};
use host::{ClassRequest, CodeSource, Config, Loader, Pipeline};
use probes::ProbeTable;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Returns the entries of a folder, sorted.
fn within(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

/// Returns the folders of all releases.
fn releases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance");
    let mut paths = within(&folder);
    paths.retain(|path| path.is_dir());
    paths
}

/// Returns the plugin's requests for each class as text.
fn plans(plugin: PluginConfig, classes: &[PathBuf]) -> String {
    let mut config = Config {
        plugins: vec![plugin],
        ..Config::default()
    };
    config.agent.log = LogLevel::Off;
    let pipeline = Pipeline::new(&config, &compiler()).expect("the plugin loads");
    let mut text = String::new();
    for class in classes {
        let name = class
            .file_stem()
            .and_then(|name| name.to_str())
            .expect("a name");
        let request = ClassRequest {
            name: name.as_bytes(),
            loader: &Loader::App,
            location: CodeSource::Unread,
            bytes: &std::fs::read(class).expect("a class file"),
            original: None,
            retransforming: false,
        };
        let table = ProbeTable::new();
        table.set_arrays(1);
        let (outcome, explanation) = pipeline.explain(&request, &table, &mut Vec::new());
        assert!(outcome.failures().is_empty(), "{name}: {outcome:?}");
        assert_eq!(explanation.skipped, [], "{name}");
        let lines = explained(&explanation);
        assert_eq!(
            lines.is_empty(),
            !outcome.is_changed(),
            "{name}: {outcome:?}"
        );
        writeln!(text, "{name}").expect("a string takes everything");
        for line in lines.iter().flat_map(|line| line.lines()) {
            writeln!(text, "  {line}").expect("a string takes everything");
        }
    }
    text
}

#[test]
fn plugins_of_every_release_request_the_same_edits() {
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    for release in releases() {
        let files = within(&release);
        let of_kind = |kind: &str| {
            let is_it = |path: &&PathBuf| path.extension().is_some_and(|found| found == kind);
            files.iter().filter(is_it).cloned().collect::<Vec<_>>()
        };
        let config = Config::load(&release.join("classhook.toml")).expect("a configuration");
        assert_eq!(config.plugins.len(), of_kind("wasm").len(), "{release:?}");
        for plugin in config.plugins {
            let file = release.join(format!("{}.plan", plugin.name));
            let found = plans(plugin, &of_kind("class"));
            if bless {
                std::fs::write(&file, &found).expect("written");
            }
            let expected = std::fs::read_to_string(&file).expect("BLESS=1 writes it");
            assert_eq!(found, expected, "{}", file.display());
        }
    }
    assert!(!releases().is_empty());
}

#[test]
fn component_of_an_earlier_interface_is_refused_with_the_missing_function() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance");
    let plugin = PluginConfig {
        grant: vec!["rewrite".to_owned()],
        ..PluginConfig::file(folder.join("earlier.wasm"))
    };
    let config = Config {
        plugins: vec![plugin],
        ..Config::default()
    };
    let Err(error) = Pipeline::new(&config, &compiler()) else {
        panic!("the component was built for functions that are gone");
    };
    let text = error.to_string();
    for part in [
        "H0107",
        "classhook:plugin/",
        "build the plugin with the SDK of this version",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
