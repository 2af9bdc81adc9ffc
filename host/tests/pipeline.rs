//! Class bytes in, spliced bytes out, through real plugins in wasmtime.

#[path = "support/compiler.rs"]
mod compiler;
#[path = "support/helper_loaders.rs"]
mod helper_loaders;
#[path = "support/shapes.rs"]
mod shapes;

use compiler::compiler;
use helper_loaders::Answering;
use host::compiler::Compiler;
use host::config::PluginConfig;
use host::{ClassRequest, CodeSource, Config, Loader, Outcome, Pipeline};
use probes::{HitCode, ProbeTable};
use shapes::{SHAPES, request, table};
use std::path::Path;

#[test]
fn tests_leave_the_cache_of_the_user_alone() {
    let cache = compiler().cache().expect("a cache");
    let tests = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = cache.folder();
    assert!(folder.starts_with(tests), "{}", folder.display());
}

#[test]
fn the_bundled_plugin_sets_jacocos_probes() {
    let pipeline = Pipeline::new(&Config::default(), &compiler()).unwrap();
    let table = table();
    let mut out = Vec::new();
    assert!(pipeline.wants(b"Shapes", &Loader::App, CodeSource::Unread));
    assert_eq!(
        pipeline.transform(&request(SHAPES), &table, &mut out),
        Outcome::Changed
    );
    let pending = table.take_pending();
    assert_eq!(pending.len(), 1);
    assert_eq!(
        (
            pending[0].name.as_str(),
            pending[0].plugin.as_str(),
            pending[0].loader.as_str()
        ),
        ("Shapes", "coverage", "app")
    );
    assert_eq!(pending[0].bytes, SHAPES);
    let class = rewriter::ClassFile::read(&out).unwrap();
    let stores = class
        .methods()
        .filter_map(|method| method.code().unwrap())
        .flat_map(|code| code.instructions());
    let stores =
        stores.filter(|instruction| instruction.as_ref().unwrap().opcode == jvms::opcode::BASTORE);
    assert_eq!(stores.count() as u32, pending[0].probe_count);
}

/// Returns the slots that the probes in a class file write to, by stores or by calls of the helper
/// class.
fn slots(class: &[u8]) -> Vec<i32> {
    let class = rewriter::ClassFile::read(class).unwrap();
    let called = |call: &rewriter::Instruction<'_>| {
        let method = class
            .pool()
            .member_ref(rewriter::PoolIndex(call.operand() as u16))?;
        let number = method.name.to_str_lossless();
        let number = number.strip_prefix(host::storage::HIT_METHOD)?;
        Some(number.parse::<i32>().unwrap() * 256 + 128)
    };
    let mut slots = Vec::new();
    for code in class.methods().filter_map(|method| method.code().unwrap()) {
        let all: Vec<_> = code.instructions().map(Result::unwrap).collect();
        for window in all.windows(3) {
            if window[2].opcode == jvms::opcode::BASTORE {
                slots.push(window[0].immediate().unwrap());
            }
            if window[1].opcode == jvms::opcode::INVOKESTATIC
                && let Some(middle) = called(&window[1])
            {
                slots.push(middle + window[0].immediate().unwrap());
            }
        }
    }
    slots.sort_unstable();
    slots
}

fn coverage() -> Pipeline {
    Pipeline::new(&Config::default(), &compiler()).unwrap()
}

fn selecting(select: &[&str], grant: &[&str]) -> Pipeline {
    let own = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
    let plugin = PluginConfig {
        select: own(select),
        grant: own(grant),
        ..PluginConfig::bundled("coverage")
    };
    let config = Config {
        plugins: vec![plugin],
        ..Config::default()
    };
    Pipeline::new(&config, &compiler()).unwrap()
}

#[test]
fn a_class_loaded_twice_has_its_slots_once() {
    let (pipeline, table) = (coverage(), table());
    let (mut first, mut second) = (Vec::new(), Vec::new());
    pipeline.transform(&request(SHAPES), &table, &mut first);
    let other = Loader::Other("com/acme/Loader".into());
    pipeline.transform(
        &ClassRequest {
            loader: &other,
            ..request(SHAPES)
        },
        &table,
        &mut second,
    );
    assert_eq!(first, second);
    assert_eq!(table.class_count(), 1);
    assert_eq!(pipeline.summary().changed, 2);
}

#[test]
fn retransformed_bytes_get_the_plan_and_the_slots_of_the_original() {
    let (pipeline, table) = (coverage(), table());
    let (mut loaded, mut again) = (Vec::new(), Vec::new());
    pipeline.transform(&request(SHAPES), &table, &mut loaded);
    // The JVM reconstitutes another file: here, one of a newer version.
    let mut reconstituted = SHAPES.to_vec();
    reconstituted[7] += 1;
    let request = ClassRequest {
        original: Some(SHAPES),
        retransforming: true,
        ..request(&reconstituted)
    };
    assert_eq!(
        pipeline.transform(&request, &table, &mut again),
        Outcome::Changed
    );
    assert_eq!(slots(&again), slots(&loaded));
    assert_eq!(again[7], reconstituted[7]);
    assert_eq!(table.class_count(), 1);
    assert_eq!(pipeline.summary().skipped_methods, 0);
}

#[test]
fn hits_that_call_have_the_slots_of_hits_that_store() {
    let (pipeline, table) = (coverage(), table());
    let (mut stored, mut called) = (Vec::new(), Vec::new());
    let ask = |out: &mut Vec<u8>| {
        let (outcome, requested) =
            pipeline.transform_by(&request(SHAPES), &table, &Answering(Ok(())), out);
        assert_eq!(outcome, Outcome::Changed);
        requested.hits_call
    };
    assert!(!ask(&mut stored));
    table.set_hit_code(HitCode::Call);
    assert!(ask(&mut called));
    assert_eq!(slots(&called), slots(&stored));
    assert_eq!(table.class_count(), 1);
}

/// Another agent has changed the class, or its file was replaced.
#[test]
fn class_that_differs_from_its_file_is_instrumented_as_the_jvm_has_it() {
    let (pipeline, table) = (coverage(), table());
    let transformed = |bytes: &[u8]| {
        let request = ClassRequest {
            original: Some(SHAPES),
            retransforming: true,
            ..request(bytes)
        };
        let mut out = Vec::new();
        let outcome = pipeline.transform(&request, &table, &mut out);
        assert_eq!(outcome, Outcome::Changed);
        slots(&out).len()
    };
    // The `sum += value` of `loop` becomes `sum -= value`.
    let mut handed_over = SHAPES.to_vec();
    let at = handed_over
        .windows(5)
        .position(|window| window == [0x1c, 0x15, 0x06, 0x60, 0x3d])
        .unwrap();
    handed_over[at + 3] = 0x64;
    assert_eq!(transformed(&handed_over), transformed(SHAPES));
    assert_eq!(pipeline.summary().skipped_methods, 0);
}

#[test]
fn a_version_newer_than_any_known_is_no_reason_to_skip() {
    let mut newer = SHAPES.to_vec();
    newer[6..8].copy_from_slice(&[0x7f, 0xff]);
    let mut out = Vec::new();
    assert_eq!(
        coverage().transform(&request(&newer), &table(), &mut out),
        Outcome::Changed
    );
    assert_eq!(out[..8], newer[..8]);
}

#[test]
fn invalid_class_file_is_a_failure_of_no_plugin() {
    let pipeline = coverage();
    let mut out = Vec::new();
    for bytes in [&b""[..], b"\xca\xfe\xba\xbe", &SHAPES[..SHAPES.len() - 1]] {
        let outcome = pipeline.transform(&request(bytes), &table(), &mut out);
        let [failure] = outcome.failures() else {
            panic!("{outcome:?}")
        };
        assert_eq!(
            (
                failure.code,
                failure.plugin.as_str(),
                failure.class.as_str()
            ),
            ("H0301", "", "Shapes")
        );
        assert!(out.is_empty());
    }
    assert_eq!(
        pipeline.transform(&request(SHAPES), &table(), &mut out),
        Outcome::Changed
    );
}

#[test]
fn full_probe_table_leaves_the_class_unchanged() {
    let pipeline = coverage();
    let mut out = Vec::new();
    let outcome = pipeline.transform(&request(SHAPES), &ProbeTable::new(), &mut out);
    let [failure] = outcome.failures() else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        (failure.code, failure.plugin.as_str()),
        ("H0304", "coverage")
    );
}

#[test]
fn without_selectors_the_application_is_selected_as_jacoco_does() {
    let pipeline = coverage();
    let wants =
        |name: &str, loader: &Loader, location| pipeline.wants(name.as_bytes(), loader, location);
    assert!(wants("com/acme/A", &Loader::App, CodeSource::Unread));
    assert!(wants(
        "com/acme/A",
        &Loader::Other("x/Loader".into()),
        CodeSource::Unread
    ));
    assert!(
        !wants("com/acme/A", &Loader::App, CodeSource::None),
        "no source location"
    );
    assert!(!wants("java/lang/String", &Loader::Boot, CodeSource::None));
    assert!(!wants(
        "java/sql/Driver",
        &Loader::Platform,
        CodeSource::Unread
    ));
    assert!(!wants(
        "java/lang/$Classhook3",
        &Loader::App,
        CodeSource::Unread
    ));
    assert!(!wants(
        "jdk/internal/reflect/GeneratedMethodAccessor7",
        &Loader::App,
        CodeSource::Unread
    ));
}

#[test]
fn selectors_and_grants_decide() {
    let narrow = selecting(
        &["com.acme.**", "!com.acme.gen.**", "location:any"],
        &["probes"],
    );
    assert!(
        narrow.wants(b"com/acme/A", &Loader::App, CodeSource::None),
        "location:any"
    );
    assert!(!narrow.wants(b"com/acme/gen/A", &Loader::App, CodeSource::Unread));
    assert!(
        !narrow.wants(b"com/acme/A", &Loader::Boot, CodeSource::Unread),
        "boot is not granted"
    );
    let boot = selecting(&["loader:boot"], &["probes", "boot"]);
    assert!(boot.wants(b"java/util/List", &Loader::Boot, CodeSource::None));
    assert!(!boot.wants(b"com/acme/A", &Loader::App, CodeSource::Unread));
    assert!(!boot.wants(
        b"java/lang/Module$ReflectionData",
        &Loader::Boot,
        CodeSource::None
    ));
    let by_supertype = selecting(&["<:java.lang.Object"], &["probes"]);
    let mut out = Vec::new();
    assert_eq!(
        by_supertype.transform(&request(SHAPES), &table(), &mut out),
        Outcome::Changed
    );
    let by_annotation = selecting(&["@java.lang.Deprecated"], &["probes"]);
    assert!(
        by_annotation.wants(b"Shapes", &Loader::App, CodeSource::Unread),
        "the class file must be asked"
    );
    assert_eq!(
        by_annotation.transform(&request(SHAPES), &table(), &mut out),
        Outcome::Unchanged
    );
    assert_eq!(by_annotation.summary().classes, 0, "no plugin was asked");
}

#[test]
fn the_self_check_can_be_switched_off() {
    let of = |options: &str| {
        let pipeline = Pipeline::new(&Config::from_options(options).unwrap(), &compiler()).unwrap();
        let mut out = Vec::new();
        let outcome = pipeline.transform(&request(SHAPES), &table(), &mut out);
        assert_eq!(outcome, Outcome::Changed);
        (out, pipeline.summary().check_time)
    };
    let (checked, time) = of("");
    assert!(!time.is_zero());
    let (unchecked, none) = of("self-check=off");
    assert_eq!((unchecked, none), (checked, std::time::Duration::ZERO));
}

#[test]
fn two_plugins_share_a_class() {
    let wasm = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../target/bundled/tests/misbehaving.wasm"
    );
    let entries = PluginConfig {
        grant: vec!["probes".to_owned()],
        config: serde_json::json!({ "deed": "loop" }), // in classes called Victim only
        ..PluginConfig::file(wasm.into())
    };
    let config = Config {
        plugins: vec![PluginConfig::bundled("coverage"), entries],
        ..Config::default()
    };
    let pipeline = Pipeline::new(&config, &compiler()).unwrap();
    let table = table();
    // The first array is nearly full: both plugins' probes must move to the second one together.
    table
        .register("filler", 1, "app", "x", 32_768 - 15, b"")
        .unwrap();
    let mut out = Vec::new();
    assert_eq!(
        pipeline.transform(&request(SHAPES), &table, &mut out),
        Outcome::Changed
    );
    let slots = slots(&out);
    let pending = table.take_pending();
    let of = |plugin: &str| pending.iter().find(|class| class.plugin == plugin).unwrap();
    let (coverage, entries) = (of("coverage"), of("misbehaving"));
    assert_eq!((coverage.array, entries.array), (1, 1));
    assert_eq!((coverage.probe_count, entries.probe_count), (14, 4));
    let expected: Vec<i32> = (i32::from(coverage.base)..)
        .take(14)
        .chain((i32::from(entries.base)..).take(4))
        .collect();
    assert_eq!(slots, expected);
}

#[test]
fn many_threads_get_the_same_result() {
    let (pipeline, table) = (coverage(), table());
    let mut expected = Vec::new();
    pipeline.transform(&request(SHAPES), &table, &mut expected);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut out = Vec::new();
                for _ in 0..50 {
                    assert_eq!(
                        pipeline.transform(&request(SHAPES), &table, &mut out),
                        Outcome::Changed
                    );
                    assert_eq!(out, expected);
                }
            });
        }
    });
    assert_eq!(pipeline.summary().changed, 1 + 16 * 50);
}

#[test]
fn class_with_its_own_array_has_the_same_probes_and_is_recognized() {
    let (pipeline, table) = (coverage(), table());
    let (mut shared, mut own, mut probes) = (Vec::new(), Vec::new(), Vec::new());
    pipeline.transform(&request(SHAPES), &table, &mut shared);
    let (outcome, _) = pipeline.instrument(&request(SHAPES), &mut probes, &mut own);
    assert_eq!(outcome, Outcome::Changed);
    assert_eq!(slots(&own), slots(&shared));
    let pending = table.take_pending();
    assert_eq!(probes.len(), 1);
    assert_eq!(
        (probes[0].plugin.as_str(), probes[0].count),
        ("coverage", pending[0].probe_count)
    );
    let is_instrumented =
        |bytes| host::class_array::is_instrumented(&rewriter::ClassFile::read(bytes).unwrap());
    assert!(is_instrumented(&own) && !is_instrumented(&shared) && !is_instrumented(SHAPES));
    let mut again = Vec::new();
    for outcome in [
        pipeline
            .instrument(&request(&own), &mut probes, &mut again)
            .0,
        pipeline.transform(&request(&own), &table, &mut again),
    ] {
        assert_eq!(outcome, Outcome::Unchanged);
        assert!(again.is_empty());
    }
}
