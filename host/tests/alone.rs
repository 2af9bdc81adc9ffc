//! Plugins are independent: a failure of one does not affect the others.

#[path = "support/compiler.rs"]
mod compiler;
#[path = "support/helper_loaders.rs"]
mod helper_loaders;

use compiler::compiler;
use helper_loaders::Answering;
use host::config::{LogLevel, PluginConfig};
use host::{ClassRequest, CodeSource, Config, Loader, Outcome, Pipeline, Summary};
use probes::ProbeTable;

const NATIVES: &[u8] = include_bytes!("fixtures/Natives.class");

fn table() -> ProbeTable {
    let table = ProbeTable::new();
    table.set_arrays(1);
    table
}

/// A plugin of `tests/plugins` under the given name.
fn plugin(name: &str, component: &str, config: serde_json::Value) -> PluginConfig {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join(format!("../target/bundled/tests/{component}.wasm"));
    assert!(path.exists(), "run `cargo xtask plugins` first");
    PluginConfig {
        name: name.to_owned(),
        grant: ["probes", "rewrite", "structure", "raw", "helpers"]
            .map(str::to_owned)
            .to_vec(),
        config,
        ..PluginConfig::file(path)
    }
}

fn asking(name: &str, request: &str) -> PluginConfig {
    plugin(name, "requests", serde_json::json!({ "request": request }))
}

fn transform(plugins: Vec<PluginConfig>, table: &ProbeTable) -> (Outcome, Vec<u8>, Vec<String>) {
    let (outcome, out, by, _) = transform_and_sum_up(plugins, table);
    (outcome, out, by)
}

fn transform_and_sum_up(
    plugins: Vec<PluginConfig>,
    table: &ProbeTable,
) -> (Outcome, Vec<u8>, Vec<String>, Summary) {
    let mut config = Config {
        plugins,
        ..Config::default()
    };
    config.agent.log = LogLevel::Off;
    let pipeline = Pipeline::new(&config, &compiler()).expect("plugins");
    let class = ClassRequest {
        name: b"Natives",
        loader: &Loader::App,
        location: CodeSource::Unread,
        bytes: NATIVES,
        original: None,
        retransforming: false,
    };
    let mut out = Vec::new();
    let (outcome, requested) = pipeline.transform_by(&class, table, &Answering(Ok(())), &mut out);
    assert_eq!(
        pipeline.summary().failed,
        u64::from(!outcome.failures().is_empty())
    );
    assert_eq!(pipeline.summary().failures, outcome.failures());
    (outcome, out, requested.plugins, pipeline.summary())
}

/// Returns plugin and code of each failure.
fn told(outcome: &Outcome) -> Vec<(&str, &str)> {
    let failures = outcome.failures().iter();
    failures.map(|it| (it.plugin.as_str(), it.code)).collect()
}

#[test]
fn a_plugin_that_fails_leaves_the_class_to_the_others() {
    let good = || asking("good", "hits");
    let (plain, expected, _) = transform(vec![good()], &table());
    assert_eq!(plain, Outcome::Changed);
    for (request, code) in [
        ("no-instruction", "H0317"),
        ("many-edits", "H0315"),
        ("large-annotation", "H0315"),
    ] {
        for order in [[true, false], [false, true]] {
            let all = order.map(|first| {
                if first {
                    good()
                } else {
                    asking("bad", request)
                }
            });
            let (outcome, out, by) = transform(all.to_vec(), &table());
            assert!(outcome.is_changed(), "{request}: {outcome:?}");
            assert_eq!(told(&outcome), [("bad", code)], "{request}");
            assert_eq!(
                (out == expected, by),
                (true, vec!["good".to_owned()]),
                "{request}"
            );
            let text = outcome.failures()[0].to_string();
            let said = "plugin `bad` failed on Natives; the class was loaded with the edits of the others alone";
            assert!(text.contains(said), "{text}");
        }
    }
}

#[test]
fn every_failing_plugin_is_reported() {
    let all = vec![asking("one", "no-instruction"), asking("two", "no-method")];
    let (outcome, out, by) = transform(all, &table());
    assert!(!outcome.is_changed() && out.is_empty() && by.is_empty());
    assert_eq!(told(&outcome), [("one", "H0317"), ("two", "H0317")]);
}

/// Each plugin alone succeeds; together the second one is left out.
#[test]
fn first_of_two_conflicting_plugins_wins() {
    let all = || {
        vec![
            asking("one", "structure"),
            asking("two", "structure"),
            asking("good", "hits"),
        ]
    };
    let (outcome, out, by) = transform(all(), &table());
    assert_eq!(told(&outcome).len(), 1, "{outcome:?}");
    assert_eq!(outcome.failures()[0].plugin, "two");
    assert_eq!(by, ["one", "good"]);
    let class = rewriter::ClassFile::read(&out).expect("a class");
    assert!(class.fields().any(|field| field.name() == "added"));
    let (_, expected, _) = transform(
        vec![asking("one", "structure"), asking("good", "hits")],
        &table(),
    );
    assert_eq!(out, expected);
}

fn code_of(bytes: &[u8], name: &str) -> Vec<u8> {
    let class = rewriter::ClassFile::read(bytes).expect("a class");
    let mut methods = class.methods();
    let method = methods.find(|it| it.name() == name).expect("a method");
    let code = method.code().expect("readable").expect("code");
    code.bytes().to_vec()
}

/// The plugin replaces the code of `both`; probes of others in that method no longer fit.
#[test]
fn edits_of_others_apply_to_unchanged_methods_of_a_replacement() {
    let (alone, replaced, _) = transform(vec![asking("one", "replace")], &table());
    assert_eq!(alone, Outcome::Changed);
    assert_eq!(
        code_of(&replaced, "both")[0],
        code_of(NATIVES, "both")[0] + 1
    );
    for plugins in [["one", "two"], ["two", "one"]] {
        let all = plugins.map(|name| asking(name, if name == "one" { "replace" } else { "hits" }));
        let (outcome, out, by, summary) = transform_and_sum_up(all.to_vec(), &table());
        assert_eq!(outcome, Outcome::Changed);
        assert_eq!(by, plugins);
        assert_eq!(code_of(&out, "both"), code_of(&replaced, "both"));
        assert_ne!(code_of(&out, "<init>"), code_of(&replaced, "<init>"));
        let told = summary.skipped.iter();
        let told: Vec<_> = told
            .map(|it| (it.method.as_str(), it.text.as_str()))
            .collect();
        let text = "plugin `one` replaced its code: the code from the JVM differs at bci 0";
        assert_eq!(told, [("both()I", text)]);
    }
    let (outcome, own, _) = transform(vec![asking("one", "replace-and-hits")], &table());
    assert_eq!(outcome, Outcome::Changed);
    assert_eq!(code_of(&own, "both"), code_of(&replaced, "both"));
}

#[test]
fn class_file_is_replaced_once_and_without_new_members() {
    for other in ["replace", "structure"] {
        let all = vec![
            asking("one", "replace"),
            asking("two", other),
            asking("good", "hits"),
        ];
        let (outcome, _, by) = transform(all, &table());
        assert_eq!(told(&outcome), [("two", "H0304")], "{other}");
        assert!(outcome.is_changed());
        assert_eq!(by, ["one", "good"]);
    }
}

/// The JVM has another class file than the plugin saw.
#[test]
fn replacement_of_another_shape_than_in_the_jvm_is_rejected() {
    let (_, with_field, _) = transform(vec![asking("one", "structure")], &table());
    let mut config = Config {
        plugins: vec![asking("one", "replace")],
        ..Config::default()
    };
    config.agent.log = LogLevel::Off;
    let pipeline = Pipeline::new(&config, &compiler()).expect("plugins");
    let loaded = |bytes, retransforming| ClassRequest {
        name: b"Natives",
        loader: &Loader::App,
        location: CodeSource::Unread,
        bytes,
        original: Some(NATIVES),
        retransforming,
    };
    let mut out = Vec::new();
    let outcome = pipeline.transform(&loaded(NATIVES, true), &table(), &mut out);
    assert_eq!(outcome, Outcome::Changed);
    let again = pipeline.transform(&loaded(NATIVES, true), &table(), &mut out);
    assert_eq!(again, Outcome::Changed);
    let outcome = pipeline.transform(&loaded(&with_field, false), &table(), &mut out);
    assert_eq!(told(&outcome), [("one", "H0317")]);
    let cause = &outcome.failures()[0].cause;
    assert!(
        cause.contains("expected the interfaces of the class"),
        "{cause}"
    );
}

/// The event is around what the other plugin does instead of the call.
#[test]
fn event_of_an_instruction_that_another_plugin_changes_stays() {
    for order in [["one", "two"], ["two", "one"]] {
        let all = order.map(|name| asking(name, if name == "one" { "remove" } else { "events" }));
        let table = table();
        let (outcome, out, by, summary) = transform_and_sum_up(all.to_vec(), &table);
        assert_eq!(
            (outcome, by.as_slice()),
            (Outcome::Changed, &order.map(str::to_owned)[..])
        );
        let (_, alone, _) = transform(vec![asking("one", "remove")], &table);
        assert_ne!(out, alone, "the events are there");
        assert!(summary.skipped.is_empty(), "{:?}", summary.skipped);
        let places = table.spans().all().into_iter();
        let given = places.filter(|place| place.shown.contains(&"given".to_owned()));
        assert_eq!(given.count(), 1);
    }
}

/// A span of a method whose class file another plugin replaces is around the new code.
#[test]
fn span_is_around_the_code_that_another_plugin_hands_over() {
    for order in [["one", "two"], ["two", "one"]] {
        let all = order.map(|name| asking(name, if name == "one" { "replace" } else { "spans" }));
        let table = table();
        let (outcome, out, _, summary) = transform_and_sum_up(all.to_vec(), &table);
        assert_eq!(outcome, Outcome::Changed);
        let (_, replaced, _) = transform(vec![asking("one", "replace")], &table);
        assert_ne!(code_of(&out, "both"), code_of(&replaced, "both"));
        let left_out = summary.skipped.iter().filter(|it| it.method == "both()I");
        assert_eq!(left_out.count(), 0, "{:?}", summary.skipped);
    }
}

#[test]
fn plugin_whose_probes_do_not_fit_costs_no_other_plugin_its_edits() {
    let all = vec![asking("one", "hits"), asking("two", "structure")];
    let (outcome, _, by) = transform(all, &ProbeTable::new());
    assert_eq!(told(&outcome), [("one", "H0304")]);
    assert_eq!((outcome.is_changed(), by), (true, vec!["two".to_owned()]));
}
