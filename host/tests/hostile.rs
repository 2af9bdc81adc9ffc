//! Malicious plugins: each is rejected or stopped with its cause, the host continues, and memory
//! and time are bounded.

#[path = "hostile/assembly.rs"]
mod assembly;
#[path = "hostile/cases.rs"]
mod cases;
#[path = "hostile/class_files.rs"]
mod class_files;
#[path = "support/compiler.rs"]
mod compiler;
#[path = "support/monitor_event.rs"]
mod monitor_event;
#[path = "hostile/observers.rs"]
mod observers;
#[path = "support/pace.rs"]
mod pace;
#[path = "hostile/reporters.rs"]
mod reporters;
#[path = "support/shapes.rs"]
mod shapes;

use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use assembly::Function::{Configure, Transform};
use assembly::{Assembly, DONE, leb, section};
use cases::{Case, Expected};
use compiler::compiler;
use errors::Error;
use host::cache::Cache;
use host::config::{CAPABILITIES, LogLevel, PluginConfig};
use host::{Config, Outcome, Pipeline};
use pace::{cpu_time, is_within};
use shapes::{SHAPES, request, table};

const NATIVES: &[u8] = include_bytes!("fixtures/Natives.class");

/// A folder for a plugin's file and its code.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        Cache::open(&cache).unwrap();
        Self(folder)
    }

    fn plugin(&self) -> PathBuf {
        self.0.path().join("hostile.wasm")
    }

    fn cache(&self) -> PathBuf {
        self.0.path().join("cache")
    }

    /// Loads a component with all grants.
    fn load(&self, wasm: &[u8]) -> Result<Pipeline, Error> {
        std::fs::write(self.plugin(), wasm).unwrap();
        self.load_again(|_| ())
    }

    /// Loads the component in the folder.
    fn load_again(&self, change: impl FnOnce(&mut PluginConfig)) -> Result<Pipeline, Error> {
        let mut plugin = PluginConfig {
            grant: CAPABILITIES.map(str::to_owned).to_vec(),
            ..PluginConfig::file(self.plugin())
        };
        change(&mut plugin);
        let mut config = Config {
            plugins: vec![plugin],
            ..Config::default()
        };
        config.agent.log = LogLevel::Off;
        config.agent.cache = Some(self.cache());
        Pipeline::with_plan_cache(&config, &compiler())
    }
}

fn transform(pipeline: &Pipeline) -> Outcome {
    transform_class(pipeline, SHAPES)
}

fn transform_class(pipeline: &Pipeline, bytes: &[u8]) -> Outcome {
    let mut out = Vec::new();
    let outcome = pipeline.transform(&request(bytes), &table(), &mut out);
    assert_eq!(out.is_empty(), !outcome.is_changed());
    outcome
}

/// Returns the peak memory of this process in MiB.
fn peak() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|kib| kib.parse::<usize>().ok())
        .expect("a number")
        >> 10
}

/// Shows a plugin two classes, and returns its failure; empty without one.
fn found_in_classes(folder: &Folder, case: &Case) -> String {
    match folder.load(&case.assembly.component()) {
        Err(error) => format!("not loaded: {error}"),
        Ok(pipeline) => {
            let classes = [SHAPES, NATIVES].into_iter();
            let mut outcomes = classes.map(|bytes| transform_class(&pipeline, bytes));
            let failed = outcomes.find_map(|outcome| outcome.failures().first().cloned());
            failed.map_or_else(String::new, |failure| failure.to_string())
        }
    }
}

/// Runs a case, and returns its failure.
type Trial = fn(&Folder, &Case) -> String;

/// Runs a case, and returns the difference from its expectation, if any.
fn differs(case: &Case, folder: &Folder, trial: Trial) -> Option<String> {
    let Case { name, expected, .. } = case;
    let begun = cpu_time();
    let found = trial(folder, case);
    let spent = cpu_time() - begun;
    let is_expected = match expected {
        Expected::Fine => found.is_empty(),
        Expected::NotLoaded(code, text) => {
            found.starts_with(&format!("not loaded: error[{code}]")) && found.contains(text)
        }
        Expected::Fails(code, text) => {
            found.starts_with(&format!("warning[{code}]")) && found.contains(text)
        }
        Expected::Bounded => {
            let limits = ["H0312", "H0313", "H0315"];
            let stopped = |code| found.starts_with(&format!("warning[{code}]"));
            found.is_empty() || limits.iter().any(stopped)
        }
    };
    let is_shown = found.len() < 8 << 10 && !found.contains('\u{1b}');
    // Two classes of 250 ms each, and 1 s for loading.
    let is_quick = is_within(spent, Duration::from_millis(1_500));
    if is_expected && is_shown && is_quick {
        return None;
    }
    Some(format!(
        "{name}: expected {expected:?}, found after {spent:?}: {found}"
    ))
}

/// Returns the differences of all cases, run on as many threads as there are processors, each with
/// its own folder.
fn in_threads(
    cases: &[Case],
    differs: impl Fn(&Folder, &Case) -> Option<String> + Sync,
) -> Vec<String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = |at: usize| {
        let folder = Folder::new();
        let mine = cases.iter().skip(at).step_by(threads);
        mine.filter_map(|case| differs(&folder, case))
            .collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let parts = (0..threads).map(|at| scope.spawn(move || part(at)));
        let parts: Vec<_> = parts.collect();
        let found = parts.into_iter().map(|part| part.join().expect("no panic"));
        found.flatten().collect()
    })
}

#[track_caller]
fn check(cases: &[Case], trial: Trial, least: usize) {
    assert!(cases.len() >= least, "{}", cases.len());
    let wrong = in_threads(cases, |folder, case| differs(case, folder, trial));
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
    let peak = peak();
    assert!(peak < 600, "{peak} MiB");
}

#[test]
fn violations_in_any_function_are_stopped_with_their_cause() {
    check(&cases::anywhere(), found_in_classes, 49);
}

#[test]
fn invalid_results_arguments_handles_and_amounts_are_stopped_with_their_cause() {
    check(&cases::elsewhere(), found_in_classes, 140);
}

#[test]
fn violations_by_observers_are_stopped_with_their_cause() {
    let cases = [observers::anywhere(), observers::elsewhere()].concat();
    check(&cases, observers::found, 110);
}

#[test]
fn violations_in_reports_are_stopped_with_their_cause() {
    let cases = [reporters::anywhere(), reporters::elsewhere()].concat();
    check(&cases, reporters::found, 50);
}

/// Loads a component and transforms one class; never panics, and takes at most 1 s.
fn outcome(folder: &Folder, wasm: &[u8]) -> Result<Outcome, Error> {
    let begun = cpu_time();
    let outcome = folder.load(wasm).map(|pipeline| transform(&pipeline));
    let spent = cpu_time() - begun;
    assert!(is_within(spent, Duration::from_secs(1)), "{spent:?}");
    outcome
}

#[test]
fn component_that_is_cut_is_refused() {
    let folder = Folder::new();
    let whole = Assembly::new(&[]).component();
    assert_eq!(outcome(&folder, &whole), Ok(Outcome::Unchanged));
    for part in 0..40 {
        let end = part * whole.len() / 40;
        let error = outcome(&folder, &whole[..end]).expect_err("a part");
        assert!(["H0106", "H0108"].contains(&error.code()), "{end}: {error}");
    }
}

#[test]
fn component_with_changed_bits_is_refused_or_does_no_harm() {
    let folder = Folder::new();
    let whole = Assembly::new(&[]).component();
    let mut refused = 0;
    for part in 0..60 {
        let mut changed = whole.clone();
        let at = part * whole.len() / 60 + 8;
        changed[at] ^= 1 << (part % 8);
        match outcome(&folder, &changed) {
            Ok(_) => {}
            Err(error) => {
                assert!(error.code().starts_with("H01"), "{at}: {error}");
                refused += 1;
            }
        }
    }
    assert!(refused >= 30, "{refused}");
}

/// Replaces all occurrences of a name by another one of the same length.
fn renamed(wasm: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len(), "{to}");
    let mut wasm = wasm.to_vec();
    let mut places = Vec::new();
    for (at, window) in wasm.windows(from.len()).enumerate() {
        if window == from.as_bytes() {
            places.push(at);
        }
    }
    assert!(!places.is_empty(), "{from}");
    for at in places {
        wasm[at..at + from.len()].copy_from_slice(to.as_bytes());
    }
    wasm
}

/// A component around a module with this number of functions, each with this number of locals.
fn with_functions(functions: usize, locals: usize) -> Vec<u8> {
    let body = [&[1][..], &leb(locals), &[0x7f, 0x0b]].concat();
    let body = [leb(body.len()), body].concat();
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    section(1, &[1, 0x60, 0, 0], &mut module);
    let kinds = [leb(functions), vec![0; functions]].concat();
    section(3, &kinds, &mut module);
    let bodies = [leb(functions), body.repeat(functions)].concat();
    section(10, &bodies, &mut module);
    around(1, &module)
}

/// A component with this one section.
fn around(id: u8, content: &[u8]) -> Vec<u8> {
    let mut component = b"\0asm\x0d\0\x01\0".to_vec();
    section(id, content, &mut component);
    component
}

/// The usual component with a custom section of this length.
fn with_custom(length: usize) -> Vec<u8> {
    let mut component = Assembly::new(&[]).component();
    let content = [&[4][..], b"note", &vec![0; length]].concat();
    section(0, &content, &mut component);
    component
}

fn nested(depth: usize) -> Vec<u8> {
    let innermost = b"\0asm\x0d\0\x01\0".to_vec();
    (0..depth).fold(innermost, |within, _| around(4, &within))
}

#[test]
fn components_beyond_a_limit_are_rejected_with_the_found_value() {
    let folder = Folder::new();
    let usual = Assembly::new(&[]).component();
    let host = "classhook:plugin/host@0.1.0";
    let refused = [
        (
            "nothing within",
            b"\0asm\x0d\0\x01\0".to_vec(),
            "H0108",
            "no exports",
        ),
        (
            "a module alone",
            with_functions(1, 1),
            "H0108",
            "no exports",
        ),
        (
            "files",
            renamed(&usual, host, "wasi:filesystem/types@0.2.0"),
            "H0107",
            "wasi:filesystem",
        ),
        (
            "random numbers",
            renamed(&usual, host, "wasi:random/insecure@0.2.10"),
            "H0107",
            "wasi:random",
        ),
        (
            "the network",
            renamed(&usual, host, "wasi:sockets/tcp-abc@0.2.10"),
            "H0107",
            "wasi:sockets",
        ),
        (
            "a later interface",
            renamed(&usual, host, "classhook:plugin/host@0.2.0"),
            "H0107",
            "host@0.2.0",
        ),
        (
            "an unknown interface",
            renamed(&usual, host, "classhook:plugin/hose@0.1.0"),
            "H0107",
            "hose",
        ),
        (
            "a name that a terminal would obey",
            renamed(&usual, host, "classhook:plugin/\u{1b}[2J@0.1.0"),
            "H0106",
            "",
        ),
        (
            "other exports",
            renamed(&usual, "plugin/transformer@", "plugin/transmitter@"),
            "H0108",
            "transmitter",
        ),
        (
            "too many functions",
            with_functions(100_001, 0),
            "H0117",
            "100001 functions",
        ),
        (
            "too many locals",
            with_functions(1, 10_001),
            "H0117",
            "local",
        ),
        (
            "locals without end",
            with_functions(1, u32::MAX as usize),
            "H0117",
            "local",
        ),
        ("a file too long", with_custom(32 << 20), "H0117", "32 MiB"),
        (
            "components within components",
            nested(2_000),
            "H0108",
            "no exports",
        ),
    ];
    for (name, wasm, code, text) in refused {
        let error = outcome(&folder, &wasm).expect_err(name);
        let told = error.to_string();
        assert_eq!(error.code(), code, "{name}: {told}");
        assert!(
            told.contains(text) && !told.contains('\u{1b}'),
            "{name}: {told}"
        );
    }
    let large = outcome(&folder, &with_custom(16 << 20));
    assert_eq!(large, Ok(Outcome::Unchanged), "it says nothing");
}

/// Cuts and changes every file of the cache; each is replaced.
#[test]
fn code_in_a_cache_is_used_only_if_intact() {
    let folder = Folder::new();
    let wasm = Assembly::new(&[(Transform, &format!("i32.const 77 drop {DONE}"))]).component();
    outcome(&folder, &wasm).unwrap();
    let entries = std::fs::read_dir(folder.cache()).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    let file = paths
        .find(|path| path.extension().is_some_and(|it| it == "code"))
        .unwrap();
    let whole = std::fs::read(&file).unwrap();
    for part in 0..10 {
        let at = part * whole.len() / 10;
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        for damaged in [&whole[..at], &changed] {
            std::fs::write(&file, damaged).unwrap();
            assert_eq!(outcome(&folder, &wasm), Ok(Outcome::Unchanged));
            assert!(
                std::fs::read(&file).unwrap().len() == whole.len(),
                "made anew"
            );
        }
    }
    std::fs::write(folder.cache().join("key"), [7; 32]).unwrap();
    assert_eq!(outcome(&folder, &wasm), Ok(Outcome::Unchanged));
    assert!(std::fs::read(&file).unwrap() != whole, "sealed anew");
}

/// Set when the other thread must end.
type Stop = std::sync::atomic::AtomicBool;

/// Sets it at the end of its scope.
struct Stopping<'s>(&'s Stop);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn file_replaced_during_a_read_is_one_or_the_other() {
    let folder = Folder::new();
    let good = Assembly::new(&[]).component();
    let bad = Assembly::new(&[(Configure, "unreachable")]).component();
    let contents = [&good[..], &good[..good.len() / 2], &bad[..], b""];
    std::fs::write(folder.plugin(), &good).unwrap();
    let (file, beside) = (folder.plugin(), folder.plugin().with_extension("new"));
    let stop = Stop::default();
    std::thread::scope(|scope| {
        let _stopped = Stopping(&stop); // even if this thread panics
        scope.spawn(|| {
            for content in contents.iter().cycle() {
                if stop.load(Relaxed) {
                    return;
                }
                std::fs::write(&file, content).unwrap();
                std::fs::write(&beside, content).unwrap();
                std::fs::rename(&beside, &file).unwrap();
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        for _ in 0..40 {
            match folder.load_again(|_| ()) {
                Ok(pipeline) => assert_eq!(transform(&pipeline), Outcome::Unchanged),
                Err(error) => assert!(error.code().starts_with("H01"), "{error}"),
            }
        }
    });
}

/// The plugin allocates one page per class.
#[test]
fn memory_that_grows_slowly_over_many_classes_is_released() {
    let folder = Folder::new();
    let code = format!("i32.const 1 memory.grow drop {DONE}");
    let wasm = Assembly::new(&[(Transform, &code)]).component();
    std::fs::write(folder.plugin(), wasm).unwrap();
    let mut config = Config {
        plugins: vec![PluginConfig {
            grant: ["probes", "rewrite", "structure", "raw", "helpers"]
                .map(str::to_owned)
                .to_vec(),
            ..PluginConfig::file(folder.plugin())
        }],
        ..Config::default()
    };
    config.agent.cache = Some(folder.cache());
    let pipeline = Pipeline::new(&config, &compiler()).unwrap();
    let begun = cpu_time();
    for _ in 0..50_000 {
        assert_eq!(transform(&pipeline), Outcome::Unchanged);
    }
    let spent = cpu_time() - begun;
    assert!(is_within(spent, Duration::from_secs(8)), "{spent:?}");
    let peak = peak();
    assert!(peak < 600, "{peak} MiB");
}

#[test]
fn pathological_settings_are_rejected_or_harmless() {
    let begun = cpu_time();
    let deep =
        |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    for settings in [
        deep("[", "]"),
        deep("{\"a\":", "}"),
        format!("{{\"a\":{}}}", deep("[", "]")),
    ] {
        let options = format!("settings={settings}");
        let error = Config::from_options(&options).unwrap_err();
        assert!(
            error.to_string().len() < 4 << 10 || error.code() == "H0105",
            "{}",
            error.code()
        );
    }
    let file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
    let load = |text: &str| {
        std::fs::write(file.path(), text).unwrap();
        Config::load(file.path())
    };
    let plugin = "[[plugin]]\nuse = \"coverage\"\n[plugin.config]\n";
    load(&format!("{plugin}a = {}", deep("[", "]"))).unwrap_err();
    load(&format!("{plugin}a{} = 1", ".a".repeat(100_000))).unwrap_err();
    let many: String = (0..40_000)
        .map(|key| format!("key{key} = {key}\n"))
        .collect();
    load(&format!("{plugin}{many}")).unwrap();
    load(&format!("{plugin}a = \"{}\"", "x".repeat(8 << 20))).unwrap();
    Config::from_options(&",".repeat(1_000_000)).unwrap();
    Config::from_options(&"select=a,".repeat(50_000)).unwrap();
    let spent = cpu_time() - begun;
    assert!(is_within(spent, Duration::from_secs(4)), "{spent:?}");
}

#[test]
fn pathological_selectors_take_bounded_time() {
    let folder = Folder::new();
    std::fs::write(folder.plugin(), Assembly::new(&[]).component()).unwrap();
    let stars = format!("{}b", "*a".repeat(2_000));
    let pipeline = folder
        .load_again(|plugin| plugin.select = vec![stars])
        .unwrap();
    let name = "a".repeat(60_000);
    let wants = || {
        pipeline.wants(
            name.as_bytes(),
            &host::Loader::App,
            host::CodeSource::Unread,
        )
    };
    let begun = cpu_time();
    assert!(!wants());
    let spent = cpu_time() - begun;
    assert!(is_within(spent, Duration::from_secs(1)), "{spent:?}");
    for select in [
        "\u{1b}[2J",
        "com.***",
        "@",
        "<:",
        "!",
        "loader:",
        "a\0b",
        "location:",
    ] {
        let select = vec![select.to_owned()];
        let loaded = folder.load_again(|plugin| plugin.select = select.clone());
        if let Err(error) = loaded {
            let told = error.to_string();
            assert!(
                error.code() == "H0110" && !told.contains('\u{1b}'),
                "{told}"
            );
        }
    }
}

/// A plugin receives its configuration unchanged, whatever its length.
#[test]
fn long_configuration_reaches_the_plugin() {
    let folder = Folder::new();
    std::fs::write(folder.plugin(), Assembly::new(&[]).component()).unwrap();
    let long = serde_json::json!({ "text": "x".repeat(8 << 20) });
    let error = folder
        .load_again(|plugin| plugin.config = long)
        .unwrap_err();
    assert_eq!(error.code(), "H0112", "it has 2 MiB of memory");
    assert!(
        error.to_string().len() < 16 << 10,
        "{}",
        error.to_string().len()
    );
}
