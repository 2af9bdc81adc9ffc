//! Plugins as the agent runs them: `plugin=coverage`, `plugin=trace`, or `plugin=nothing`, which
//! requests nothing. With `,known`, the plan cache has every class, as in a later run. With
//! `,unselected`, no class is selected.

use host::cache::Cache;
use host::compiler::{COMMAND, CompilerProcess};
use host::config::PluginConfig;
use host::{ClassRequest, CodeSource, Config, Loader, Outcome, Pipeline};
use probes::ProbeTable;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::Failure;

/// The state that all threads share.
pub struct Shared {
    pipeline: Pipeline,
    table: ProbeTable,
    selected: bool,
}

/// Creates the pipeline of a task. With `,known`, the plan cache gets the plans of `classes`.
pub fn pipeline(task: &str, check: bool, classes: &[&[u8]]) -> Result<Shared, Failure> {
    let (plugin, kind) = task.split_once(',').unwrap_or((task, ""));
    let mut plugin = match plugin {
        "nothing" => asking_for_nothing(),
        bundled => PluginConfig::bundled(bundled),
    };
    if kind == "unselected" {
        plugin.select = vec!["com.nothing.**".to_owned()];
    }
    let mut config = Config {
        plugins: vec![plugin],
        ..Config::default()
    };
    config.agent.self_check = check;
    let compiler = CompilerProcess::new(vec![built().join(COMMAND)]);
    let loaded = match kind {
        "known" => {
            let folder = private_folder()?;
            config.agent.cache = Some(folder.clone());
            let first = Shared::of(Pipeline::with_plan_cache(&config, &compiler)?, true);
            let mut worker = Worker::new(&first);
            for class in classes {
                crate::Worker::class(&mut worker, class);
            }
            first.pipeline.write_plans(true);
            let later = Pipeline::with_plan_cache(&config, &compiler)?;
            std::fs::remove_dir_all(folder)?;
            later
        }
        _ => Pipeline::new(&config, &compiler)?,
    };
    Ok(Shared::of(loaded, kind != "unselected"))
}

/// Returns the folder of cargo's output.
fn built() -> PathBuf {
    let this = std::env::current_exe().unwrap_or_default();
    this.ancestors().nth(2).unwrap_or(Path::new("")).to_owned()
}

fn asking_for_nothing() -> PluginConfig {
    let path = built()
        .with_file_name("bundled")
        .join("tests/requests.wasm");
    PluginConfig {
        grant: ["probes", "rewrite", "structure", "raw", "helpers"]
            .map(str::to_owned)
            .to_vec(),
        config: serde_json::json!({ "request": "nothing" }),
        ..PluginConfig::file(path)
    }
}

/// Creates a cache for this process.
fn private_folder() -> Result<PathBuf, Failure> {
    let folder = std::env::temp_dir().join(format!("classhook-bench-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700))?;
    Cache::open(&folder)?;
    Ok(folder)
}

impl Shared {
    fn of(pipeline: Pipeline, selected: bool) -> Self {
        let table = ProbeTable::new();
        table.set_arrays(u16::MAX);
        Self {
            pipeline,
            table,
            selected,
        }
    }
}

/// Sends classes through the pipeline.
pub struct Worker<'s> {
    shared: &'s Shared,
    out: Vec<u8>,
}

impl<'s> Worker<'s> {
    pub fn new(shared: &'s Shared) -> Self {
        Self {
            shared,
            out: Vec::new(),
        }
    }
}

impl crate::Worker for Worker<'_> {
    fn class(&mut self, bytes: &[u8]) -> Option<usize> {
        let request = ClassRequest {
            name: b"java/util/concurrent/ConcurrentHashMap",
            loader: &Loader::App,
            location: CodeSource::Unread,
            bytes,
            original: None,
            retransforming: false,
        };
        let Shared {
            pipeline,
            table,
            selected,
        } = self.shared;
        if pipeline.wants(request.name, request.loader, request.location) != *selected {
            return None;
        }
        if !selected {
            return Some(bytes.len());
        }
        match pipeline.transform(&request, table, &mut self.out) {
            Outcome::Changed => Some(self.out.len()),
            Outcome::Unchanged => Some(bytes.len()),
            Outcome::Failed { .. } => None,
        }
    }
}
