//! Later runs reuse a plugin's plan for a class unchanged; if anything differs, the plugin is
//! called again.

#[path = "support/compiler.rs"]
mod compiler;
#[path = "support/shapes.rs"]
mod shapes;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use compiler::compiler;
use host::cache::Cache;
use host::config::{LogLevel, PluginConfig};
use host::{ClassRequest, Config, Explanation, Loader, Outcome, Pipeline, PlanCounts};
use plugin_requests::REQUESTS;
use shapes::{SHAPES, request, table};

const NATIVES: &[u8] = include_bytes!("fixtures/Natives.class");

/// A new cache.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let private = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(folder.path(), private).unwrap();
        Cache::open(folder.path()).unwrap();
        Self(folder)
    }

    fn pipeline(&self, plugin: &PluginConfig) -> Pipeline {
        self.pipeline_of(plugin, |_| ())
    }

    fn pipeline_of(&self, plugin: &PluginConfig, change: impl FnOnce(&mut Config)) -> Pipeline {
        let mut config = Config {
            plugins: vec![plugin.clone()],
            ..Config::default()
        };
        config.agent.log = LogLevel::Off;
        config.agent.cache = Some(self.0.path().to_owned());
        change(&mut config);
        Pipeline::with_plan_cache(&config, &compiler()).unwrap()
    }

    /// Returns the files of plans.
    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|it| it == "plans"));
        paths
    }

    fn file(&self) -> PathBuf {
        let mut files = self.files();
        assert_eq!(files.len(), 1);
        files.remove(0)
    }
}

/// A component of a test.
fn component(name: &str) -> PluginConfig {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join(format!("../target/bundled/tests/{name}.wasm"));
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
        ..PluginConfig::file(path)
    }
}

fn misbehaving(deed: &str) -> PluginConfig {
    PluginConfig {
        config: serde_json::json!({ "deed": deed }),
        ..component("misbehaving")
    }
}

fn coverage() -> PluginConfig {
    PluginConfig::bundled("coverage")
}

fn known(pipeline: &Pipeline) -> PlanCounts {
    pipeline.summary().plans.expect("a plan cache")
}

/// Returns the counts of known, computed and damaged plans.
fn found(pipeline: &Pipeline) -> (u64, u64, u64) {
    let counts = known(pipeline);
    (counts.hits, counts.misses, counts.damaged)
}

fn counts(hits: u64, misses: u64) -> (u64, u64, u64) {
    (hits, misses, 0)
}

type Result = (Outcome, Explanation, Vec<u8>);

fn transform(pipeline: &Pipeline, class: &ClassRequest<'_>) -> Result {
    let mut out = Vec::new();
    let (outcome, explanation) = pipeline.explain(class, &table(), &mut out);
    (outcome, explanation, out)
}

/// Calls the plugin, stores its plans, and gets the same ones from the cache.
#[track_caller]
fn check(folder: &Folder, plugin: &PluginConfig, classes: &[ClassRequest<'_>]) {
    let first = folder.pipeline(plugin);
    let asked: Vec<Result> = classes.iter().map(|it| transform(&first, it)).collect();
    first.write_plans(true);
    let later = folder.pipeline(plugin);
    let stored: Vec<Result> = classes.iter().map(|it| transform(&later, it)).collect();
    assert_eq!(stored, asked);
    // A missing member of a helper class is found when code is generated from a plan; the plan is
    // stored before.
    let failed = asked.iter().filter(|(outcome, ..)| {
        let mut failures = outcome.failures().iter();
        failures.any(|failure| !failure.cause.starts_with("code that is inserted: "))
    });
    let (failed, all) = (failed.count() as u64, known(&first).misses);
    assert_eq!(
        found(&later),
        counts(all - failed, failed),
        "{}",
        plugin.name
    );
}

#[test]
fn every_request_is_stored_as_it_was_granted() {
    let folder = Folder::new();
    for (name, _) in REQUESTS {
        let plugin = PluginConfig {
            config: serde_json::json!({ "request": name }),
            ..component("requests")
        };
        let loaded = ClassRequest {
            name: b"Natives",
            ..request(NATIVES)
        };
        let retransformed = ClassRequest {
            retransforming: true,
            ..loaded
        };
        check(&folder, &plugin, &[loaded, retransformed]);
    }
}

#[test]
fn plans_of_real_plugins_are_stored_as_they_were_made() {
    let release = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/0.1.0");
    let files = ["Changed$Target", "Sampled"];
    let classes = files.map(|name| {
        let bytes = std::fs::read(release.join(format!("{name}.class"))).unwrap();
        (name, bytes)
    });
    let classes = classes.each_ref().map(|(name, bytes)| ClassRequest {
        name: name.as_bytes(),
        ..request(bytes)
    });
    let config = Config::load(&release.join("classhook.toml")).unwrap();
    assert!(config.plugins.len() >= 7);
    let folder = Folder::new();
    for plugin in &config.plugins {
        check(&folder, plugin, &classes);
    }
}

#[test]
fn class_is_transformed_once_in_a_run_and_never_in_later_ones() {
    let folder = Folder::new();
    let first = folder.pipeline(&coverage());
    for _ in 0..3 {
        assert_eq!(transform(&first, &request(SHAPES)).0, Outcome::Changed);
    }
    assert_eq!(found(&first), counts(2, 1));
    first.write_plans(false);
    assert_eq!(folder.files().len(), 0, "the next class may come at once");
    first.write_plans(true);
    let written = std::fs::read(folder.file()).unwrap();
    let later = folder.pipeline(&coverage());
    transform(&later, &request(SHAPES));
    assert_eq!(found(&later), counts(1, 0));
    later.write_plans(true);
    let left = std::fs::read(folder.file()).unwrap();
    assert!(left == written, "nothing new, so nothing is written");
}

#[test]
fn class_with_a_stored_empty_plan_counts_as_transformed() {
    let folder = Folder::new();
    let nothing = PluginConfig {
        config: serde_json::json!({ "request": "nothing" }),
        ..component("requests")
    };
    let with_coverage = |config: &mut Config| config.plugins.push(coverage());
    let outcomes = |pipeline: &Pipeline| {
        let mut out = Vec::new();
        let outcome = pipeline.transform(&request(SHAPES), &table(), &mut out);
        (outcome, out)
    };
    for (change, plugins, expected) in [
        (
            &(|_: &mut Config| ()) as &dyn Fn(&mut Config),
            1,
            Outcome::Unchanged,
        ),
        (&with_coverage, 2, Outcome::Changed),
    ] {
        let first = folder.pipeline_of(&nothing, change);
        let asked = outcomes(&first);
        assert_eq!(asked.0, expected);
        first.write_plans(true);
        let later = folder.pipeline_of(&nothing, change);
        for uses in 1..=3 {
            assert_eq!(outcomes(&later), asked);
            assert_eq!(found(&later), counts(uses * plugins, 0));
            assert_eq!(later.summary().classes, uses);
        }
        assert!(later.unmatched().all(|it| it.is_empty()));
    }
}

/// Changes everything that a plugin can see, and the plugin itself.
#[test]
fn plugin_is_called_again_if_anything_differs() {
    let folder = Folder::new();
    let first = folder.pipeline(&coverage());
    transform(&first, &request(SHAPES));
    first.write_plans(true);
    let later = folder.pipeline(&coverage());
    let loader = Loader::Other("com/acme/Loader".into());
    let other_loader = ClassRequest {
        loader: &loader,
        ..request(SHAPES)
    };
    let retransformed = ClassRequest {
        retransforming: true,
        ..request(SHAPES)
    };
    let with_file = ClassRequest {
        original: Some(SHAPES),
        ..retransformed
    };
    for (number, class) in (1..).zip([other_loader, retransformed, with_file, request(NATIVES)]) {
        transform(&later, &class);
        assert_eq!(found(&later), counts(0, number));
    }
    let other_location = ClassRequest {
        location: host::CodeSource::At("/elsewhere"),
        ..request(SHAPES)
    };
    transform(&later, &other_location);
    assert_eq!(found(&later), counts(1, 4), "no plugin sees it");
    let other_plugins = [
        folder.pipeline(&PluginConfig::bundled("trace")),
        folder.pipeline_of(&coverage(), |config| config.agent.log = LogLevel::Debug),
    ];
    for other in other_plugins {
        transform(&other, &request(SHAPES));
        assert_eq!(found(&other), counts(0, 1));
    }
    for (deed, known_before) in [("trap", 0), ("loop", 0), ("trap", 1)] {
        let configured = folder.pipeline(&misbehaving(deed));
        transform(&configured, &request(SHAPES));
        configured.write_plans(true);
        assert_eq!(known(&configured).hits, known_before, "{deed}");
    }
}

#[test]
fn plugin_that_fails_or_logs_is_called_each_time() {
    let bytes = victim();
    let victim = ClassRequest {
        name: b"Victim",
        ..request(&bytes)
    };
    let folder = Folder::new();
    for _ in 0..2 {
        let failing = folder.pipeline(&misbehaving("fail"));
        let (outcome, ..) = transform(&failing, &victim);
        assert_eq!(outcome.failures()[0].code, "H0316");
        failing.write_plans(true);
        assert_eq!(found(&failing), counts(0, 1));
    }
    assert_eq!(folder.files(), Vec::<PathBuf>::new());
}

/// `SHAPES` under the name of the class on which the plugin fails.
fn victim() -> Vec<u8> {
    let is_name = |window: &[u8]| window == b"\x01\0\x06Shapes";
    let at = SHAPES.windows(9).position(is_name).unwrap();
    let name = b"\x01\0\x06Victim";
    [&SHAPES[..at], name, &SHAPES[at + name.len()..]].concat()
}

#[test]
fn damaged_file_is_counted_and_replaced() {
    let folder = Folder::new();
    let first = folder.pipeline(&coverage());
    let expected = transform(&first, &request(SHAPES));
    first.write_plans(true);
    let (file, whole) = (folder.file(), std::fs::read(folder.file()).unwrap());
    let cut = (0..whole.len()).step_by(7).map(|end| whole[..end].to_vec());
    let flipped = (0..whole.len()).step_by(7).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        bytes
    });
    let longer = [whole.clone(), vec![0]].concat();
    for damaged in cut.chain(flipped).chain([longer]) {
        std::fs::write(&file, &damaged).unwrap();
        let later = folder.pipeline(&coverage());
        assert_eq!(transform(&later, &request(SHAPES)), expected);
        assert_eq!(found(&later), (0, 1, 1));
        later.write_plans(true);
        assert!(std::fs::read(&file).unwrap() == whole, "as it was");
    }
}

#[test]
fn files_open_to_others_are_not_read() {
    let folder = Folder::new();
    let first = folder.pipeline(&coverage());
    transform(&first, &request(SHAPES));
    first.write_plans(true);
    let file = folder.file();
    let asked = || {
        let later = folder.pipeline(&coverage());
        transform(&later, &request(SHAPES));
        later.write_plans(true);
        known(&later)
    };
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(
        (asked().misses, asked().hits),
        (1, 1),
        "open to others, then replaced"
    );
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    assert_eq!((asked().misses, asked().hits), (1, 1), "a device");
    std::fs::remove_file(&file).unwrap();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, mode).unwrap();
    assert_eq!((asked().misses, asked().hits), (1, 1), "a named pipe");
    std::fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    assert_eq!((asked().misses, asked().hits), (1, 1), "a file without end");
}

#[test]
fn concurrent_writers_leave_a_complete_file() {
    let folder = Folder::new();
    let loaders = ["a", "b", "c", "d"].map(|name| Loader::Other(name.into()));
    std::thread::scope(|scope| {
        for loader in &loaders {
            let folder = &folder;
            scope.spawn(move || {
                for round in 0..10 {
                    let pipeline = folder.pipeline(&coverage());
                    let class = ClassRequest {
                        loader,
                        retransforming: round % 2 == 1,
                        ..request(SHAPES)
                    };
                    transform(&pipeline, &class);
                    pipeline.write_plans(true);
                    assert_eq!(known(&pipeline).damaged, 0);
                }
            });
        }
    });
    let left = folder.pipeline(&coverage());
    for loader in &loaders {
        let class = ClassRequest {
            loader,
            ..request(SHAPES)
        };
        transform(&left, &class);
    }
    let found = known(&left);
    assert!(found.hits >= 1 && found.damaged == 0, "{found:?}");
    let entries = std::fs::read_dir(folder.0.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| !name.ends_with(".tmp")));
}

/// Two runs overlap; the cache has the classes of both.
#[test]
fn runs_that_overlap_add_to_one_another() {
    let folder = Folder::new();
    let runs = [(); 2].map(|()| folder.pipeline(&coverage()));
    for (run, bytes) in runs.iter().zip([SHAPES, NATIVES]) {
        transform(run, &request(bytes));
        run.write_plans(true);
    }
    let later = folder.pipeline(&coverage());
    transform(&later, &request(SHAPES));
    transform(&later, &request(NATIVES));
    assert_eq!(found(&later), counts(2, 0));
}

#[test]
fn cache_that_is_off_is_neither_read_nor_written() {
    let folder = Folder::new();
    let off = folder.pipeline_of(&coverage(), |config| config.agent.plan_cache = false);
    transform(&off, &request(SHAPES));
    off.write_plans(true);
    assert_eq!(off.summary().plans, None);
    assert_eq!(folder.files(), Vec::<PathBuf>::new());
    let config = Config::from_options("plan-cache=off").unwrap();
    assert!(!config.agent.plan_cache && Config::default().agent.plan_cache);
}

/// The class of `request(SHAPES)` in a loader with this number.
fn in_loader(pipeline: &Pipeline, number: usize) {
    let loader = Loader::Other(format!("com/acme/Loader{number}").into());
    let class = ClassRequest {
        loader: &loader,
        ..request(SHAPES)
    };
    let mut out = Vec::new();
    assert_eq!(
        pipeline.transform(&class, &table(), &mut out),
        Outcome::Changed
    );
}

/// Adds plans until the largest of the three files exists; returns the number of classes.
fn fill(folder: &Folder) -> usize {
    let pipeline = folder.pipeline(&coverage());
    let mut classes = 0;
    while !folder
        .files()
        .iter()
        .any(|file| file.to_string_lossy().ends_with("-2.plans"))
    {
        (0..500).for_each(|more| in_loader(&pipeline, classes + more));
        classes += 500;
        pipeline.write_plans(true);
    }
    classes
}

/// The reads of a start and the writes of an end do not depend on the size of the cache.
#[test]
fn start_reads_and_writes_as_much_with_a_full_cache_as_with_an_empty_one() {
    let (empty, full) = (Folder::new(), Folder::new());
    fill(&full);
    let one_more = |folder: &Folder, number| {
        let pipeline = folder.pipeline(&coverage());
        in_loader(&pipeline, number);
        pipeline.write_plans(true);
        known(&pipeline)
    };
    one_more(&empty, usize::MAX - 1);
    let first = one_more(&full, usize::MAX - 1);
    let large = |folder: &Folder| {
        let mut files = folder.files();
        files.retain(|file| !file.to_string_lossy().ends_with("-0.plans"));
        files.sort();
        files
            .into_iter()
            .map(|file| {
                let inode = std::os::unix::fs::MetadataExt::ino(&file.metadata().unwrap());
                (file, inode)
            })
            .collect::<Vec<_>>()
    };
    let before = large(&full);
    assert!(!before.is_empty());
    // A header, and a home block with all blocks that may follow in a look-up.
    let a_block_of_each_file = 3 * (56 + 9 * 1_024);
    assert!(
        first.misses == 1 && first.read <= a_block_of_each_file,
        "{first:?}"
    );
    for number in [usize::MAX - 1, usize::MAX - 2] {
        let (few, many) = (one_more(&empty, number), one_more(&full, number));
        assert_eq!((few.hits, few.misses), (many.hits, many.misses));
        assert!(
            many.read <= few.read + a_block_of_each_file,
            "{many:?} {few:?}"
        );
    }
    assert_eq!(large(&full), before, "only the smallest file is written");
}

#[test]
fn plans_of_all_files_are_found() {
    let folder = Folder::new();
    let classes = fill(&folder);
    let later = folder.pipeline(&coverage());
    (0..classes).for_each(|number| in_loader(&later, number));
    assert_eq!(found(&later), counts(classes as u64, 0));
    assert!(known(&later).read > 0);
}

/// A flipped bit costs the plans of its block, or one plan. They are counted once and computed
/// again once.
#[test]
fn damaged_part_of_a_large_file_is_counted_and_replaced_once() {
    let folder = Folder::new();
    let classes = fill(&folder);
    let files = folder.files();
    let largest = files
        .iter()
        .max_by_key(|file| file.metadata().unwrap().len());
    let largest = largest.unwrap();
    let whole = std::fs::read(largest).unwrap();
    for (at, most_asked) in [(56 + 3 * 1_024 + 500, 36), (whole.len() - 100, 1)] {
        let mut bytes = std::fs::read(largest).unwrap();
        bytes[at] ^= 1;
        std::fs::write(largest, bytes).unwrap();
        let later = folder.pipeline(&coverage());
        for _ in 0..2 {
            (0..classes).for_each(|number| in_loader(&later, number));
        }
        let (hits, asked, damaged) = found(&later);
        assert_eq!((hits + asked, damaged), (2 * classes as u64, 1), "{at}");
        assert!((1..=most_asked).contains(&asked), "{at}: {asked}");
        later.write_plans(true);
        let healed = folder.pipeline(&coverage());
        (0..classes).for_each(|number| in_loader(&healed, number));
        assert_eq!(found(&healed), counts(classes as u64, 0), "{at}");
    }
}
