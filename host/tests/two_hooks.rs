//! A class passes two hooks while it is loaded: one for structural edits and one for all edits. Its
//! plugins are called once.

#[path = "support/compiler.rs"]
mod compiler;
#[path = "support/helper_loaders.rs"]
mod helper_loaders;

use compiler::compiler;
use std::path::PathBuf;

use helper_loaders::{Answering, Noting};
use host::config::{LogLevel, PluginConfig};
use host::{ClassRequest, CodeSource, Config, Loader, Outcome, Pipeline, PluginState};
use probes::ProbeTable;
use rewriter::ClassFile;

const NATIVES: &[u8] = include_bytes!("fixtures/Natives.class");

fn component(plugin: &str, config: serde_json::Value) -> PluginConfig {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = root.join(format!("../target/bundled/tests/{plugin}.wasm"));
    assert!(path.exists(), "run `cargo xtask plugins` first");
    let grant = [
        "probes",
        "rewrite",
        "structure",
        "raw",
        "helpers",
        "natives",
    ];
    PluginConfig {
        grant: grant.map(str::to_owned).to_vec(),
        config,
        ..PluginConfig::file(path)
    }
}

fn pipeline(plugin: &str, config: serde_json::Value) -> Pipeline {
    pipeline_of(vec![component(plugin, config)])
}

fn pipeline_of(plugins: Vec<PluginConfig>) -> Pipeline {
    let mut config = Config {
        plugins,
        ..Config::default()
    };
    config.agent.log = LogLevel::Off;
    Pipeline::new(&config, &compiler()).unwrap()
}

fn asking(request: &str) -> Pipeline {
    pipeline("requests", serde_json::json!({ "request": request }))
}

fn table() -> ProbeTable {
    let table = ProbeTable::new();
    table.set_arrays(2);
    table
}

fn loaded<'a>(name: &'a [u8], bytes: &'a [u8], original: Option<&'a [u8]>) -> ClassRequest<'a> {
    ClassRequest {
        name,
        loader: &Loader::App,
        location: CodeSource::Unread,
        bytes,
        original,
        retransforming: false,
    }
}

/// `SHAPES` under the name of the class on which the plugin fails.
fn victim() -> Vec<u8> {
    let shapes = include_bytes!("fixtures/Shapes.class");
    let name = b"\x01\0\x06Shapes";
    let mut names = shapes.windows(name.len());
    let at = names.position(|window| window == name).expect("its name");
    [
        &shapes[..at],
        b"\x01\0\x06Victim",
        &shapes[at + name.len()..],
    ]
    .concat()
}

/// Returns the class after the first hook and after the second.
fn through_both(pipeline: &Pipeline, table: &ProbeTable) -> (Vec<u8>, Vec<u8>) {
    let first = loaded(b"Natives", NATIVES, None);
    let (edits, kept) = pipeline
        .prepare(&first, table, &Answering(Ok(())))
        .expect("structural edits");
    assert!(!edits.is_empty());
    let second = loaded(b"Natives", &kept, Some(NATIVES));
    let mut out = Vec::new();
    let outcome = pipeline.transform(&second, table, &mut out);
    assert_eq!(outcome, Outcome::Changed);
    (kept, out)
}

/// Returns the class after the second hook, if other plugins were loaded since the first.
fn through_the_second(pipeline: &Pipeline, table: &ProbeTable, kept: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let second = loaded(b"Natives", kept, Some(NATIVES));
    let outcome = pipeline.transform(&second, table, &mut out);
    assert_eq!(outcome, Outcome::Changed);
    out
}

fn members(bytes: &[u8]) -> Vec<String> {
    let class = ClassFile::read(bytes).expect("a class");
    let fields = class.fields().map(|field| field.name().to_string());
    let methods = class.methods().map(|method| method.name().to_string());
    fields.chain(methods).collect()
}

/// A loader never unloads a class, so none is defined for rejected edits.
#[test]
fn helper_classes_are_defined_after_the_edits_were_checked() {
    let table = table();
    for (asked, defined) in [("helpers-without-the-method", 0), ("helpers", 2)] {
        let (first, then) = (Noting::default(), Noting::default());
        let class = loaded(b"Natives", NATIVES, None);
        let mut out = Vec::new();
        let pipeline = asking(asked);
        let (outcome, _) = pipeline.transform_by(&class, &table, &first, &mut out);
        assert_eq!(outcome.is_changed(), defined > 0, "{asked}: {outcome:?}");
        let _ = asking(asked).prepare(&class, &table, &then);
        let names = [first.0.into_inner(), then.0.into_inner()];
        assert_eq!(names.each_ref().map(Vec::len), [defined; 2], "{names:?}");
    }
}

#[test]
fn members_are_kept_and_code_comes_with_the_second_hook() {
    let (pipeline, table) = (asking("structure"), table());
    let (kept, out) = through_both(&pipeline, &table);
    assert_eq!(members(&kept), members(&out));
    assert!(members(&kept).contains(&"added".to_owned()));
    assert!(members(&kept).contains(&"renamed".to_owned()));
    let again = asking("structure");
    assert_eq!(through_the_second(&again, &table, &kept), out);
}

#[test]
fn native_methods_are_prefixed_and_their_spans_come_with_the_second_hook() {
    let (pipeline, table) = (asking("spans"), table());
    let (kept, out) = through_both(&pipeline, &table);
    assert_eq!(members(&kept), members(&out));
    assert!(members(&kept).contains(&"$$classhook$$_twice".to_owned()));
    let calls = |bytes: &[u8]| {
        let mut text = String::new();
        class_text::class(&ClassFile::read(bytes).unwrap(), &mut text).unwrap();
        text.matches("java/lang/$Classhook.enter").count()
    };
    assert_eq!((calls(&kept), calls(&out)), (0, 4));
    let again = asking("spans");
    assert_eq!(through_the_second(&again, &table, &kept), out);
}

#[test]
fn a_new_class_file_comes_with_the_second_hook_and_native_methods_stay_prefixed() {
    let plugin = |request: &str| PluginConfig {
        name: request.to_owned(),
        ..component("requests", serde_json::json!({ "request": request }))
    };
    let pipeline = pipeline_of(vec![plugin("spans"), plugin("replace")]);
    let table = table();
    let (kept, out) = through_both(&pipeline, &table);
    assert_eq!(members(&kept), members(&out));
    assert!(members(&kept).contains(&"$$classhook$$_twice".to_owned()));
    let pushes = |bytes: &[u8]| {
        let class = ClassFile::read(bytes).expect("a class");
        let both = class.methods().find(|it| it.name() == "both").expect("it");
        let code = both.code().expect("readable").expect("code");
        let code: Vec<_> = code.instructions().map(Result::unwrap).collect();
        let calls = |found: &rewriter::Instruction<'_>| {
            let index = found
                .pool_index()
                .filter(|_| found.opcode == jvms::opcode::INVOKESTATIC);
            let called = index.and_then(|index| class.pool().member_ref(index));
            called.is_some_and(|called| called.owner != "java/lang/$Classhook")
        };
        let call = code.iter().position(calls).expect("the call");
        code[call - 1].opcode
    };
    assert_eq!((pushes(&kept), pushes(&out)), (0x04, 0x05));
}

#[test]
fn types_are_renamed_and_attributes_added_permanently() {
    let table = table();
    let (kept, out) = through_both(&asking("type-name"), &table);
    for bytes in [&kept, &out] {
        let class = ClassFile::read(bytes).expect("a class");
        assert_eq!(class.super_class().expect("one"), "com/acme/Object");
    }
    let (kept, out) = through_both(&asking("attributes"), &table);
    for bytes in [&kept, &out] {
        let class = ClassFile::read(bytes).expect("a class");
        let found = class
            .attributes()
            .find(|found| found.name == "com.acme.Note");
        assert_eq!(found.expect("an attribute").bytes, b"class");
        let mut methods = class.methods();
        let both = methods.find(|method| method.name() == "both").expect("it");
        assert!(both.attributes().any(|found| found.name == "com.acme.Note"));
    }
}

#[test]
fn class_without_structural_edits_is_transformed_once_too() {
    let (pipeline, table) = (asking("hits"), table());
    let request = loaded(b"Natives", NATIVES, None);
    assert_eq!(pipeline.prepare(&request, &table, &Answering(Ok(()))), None);
    let mut out = Vec::new();
    let outcome = pipeline.transform(&request, &table, &mut out);
    assert_eq!(outcome, Outcome::Changed);
    let summary = pipeline.summary();
    assert_eq!((summary.classes, summary.changed), (1, 1));
    let mut again = Vec::new();
    asking("hits").transform(&request, &table, &mut again);
    assert_eq!(again, out);
}

#[test]
fn a_failure_counts_once_and_is_reported_by_the_second_hook() {
    let pipeline = pipeline("misbehaving", serde_json::json!({ "deed": "fail" }));
    let table = table();
    for _ in 0..2 {
        let bytes = victim();
        let victim = loaded(b"Victim", &bytes, None);
        assert_eq!(pipeline.prepare(&victim, &table, &Answering(Ok(()))), None);
        let outcome = pipeline.transform(&victim, &table, &mut Vec::new());
        let [failure] = outcome.failures() else {
            panic!("{outcome:?}")
        };
        assert!(failure.cause.contains("failed on purpose"), "{failure}");
    }
    assert_eq!(pipeline.states().collect::<Vec<_>>(), [PluginState::On]);
    assert_eq!(pipeline.summary().failed, 1);
}

#[test]
fn plugin_switched_off_between_the_hooks_leaves_the_class_unchanged() {
    let (pipeline, table) = (asking("hits"), table());
    let request = loaded(b"Natives", NATIVES, None);
    assert_eq!(pipeline.prepare(&request, &table, &Answering(Ok(()))), None);
    assert!(pipeline.enable("requests", false));
    let outcome = pipeline.transform(&request, &table, &mut Vec::new());
    assert_eq!(outcome, Outcome::Unchanged);
}
