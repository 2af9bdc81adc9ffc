//! Plugins that failed in a run, from the summaries in the JVMs' snapshots.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use coverage_inputs::run_files::{self, RunFileKind};
use errors::{Error, Warning, Warnings, codes};
use host::Pipeline;
use local_files::recording_jvm::{self, Jvm};
use probes::{FailedPlugin, Meta, Summary};
use trace::numbers::counted;

/// Returns warnings for the ended JVMs of a run: plugins that were switched off, or failed on every
/// class they selected.
///
/// `since` is the start of the run: an earlier run may have had the same id.
///
/// # Errors
/// If the folder cannot be read.
pub fn of_run(run: &str, folder: &Path, since: SystemTime) -> Result<Warnings, Error> {
    let mut warnings = Warnings::default();
    if !folder.is_dir() {
        return Ok(warnings);
    }
    let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
    let is_before = |jvm: &Jvm| u128::from(jvm.start_ms) < since.as_millis();
    for path in run_files::in_folder(folder)? {
        if recording_jvm::jvm_of(&path).as_ref().is_none_or(is_before)
            || !run_files::kind(&path).is_ok_and(|kind| kind == RunFileKind::Snapshot)
            || !Meta::read(&path).is_ok_and(|meta| meta.run == run)
        {
            continue;
        }
        // The report warns about an incomplete snapshot.
        let Ok(Some(summary)) = Summary::of_file(&path) else {
            continue;
        };
        let pid = recording_jvm::jvm_of(&path).map(|jvm| jvm.pid);
        let failed = summary.failed_plugins.iter();
        warnings.extend(failed.filter_map(|failed| warning(failed, pid)));
    }
    Ok(warnings)
}

/// Returns the same warnings for plugins that ran in this process.
#[must_use]
pub fn of_pipeline(pipeline: &Pipeline) -> Warnings {
    let mut warnings = Warnings::default();
    let failed = pipeline.summary().failed_plugins;
    warnings.extend(failed.iter().filter_map(|failed| warning(failed, None)));
    warnings
}

/// Formats the warning about a plugin, or nothing if it failed only on some classes.
fn warning(failed: &FailedPlugin, pid: Option<u32>) -> Option<Warning> {
    let name = &failed.plugin;
    let what = match &failed.switched_off {
        Some(cause) => format!("the plugin `{name}` was switched off: {cause}"),
        None if failed.served == 0 => {
            format!("the plugin `{name}` failed on every class that it selected")
        }
        None => return None,
    };
    let (served, shown) = (counted(failed.served, "class"), failed.shown);
    let found = format!(
        "{served} of {shown} with its edits, {} without",
        failed.failed
    );
    let found = match pid {
        Some(pid) => format!("in the JVM {pid}, {found}"),
        None => found,
    };
    let warning = Warning::new(codes::H0686, what).with("found", found);
    let warning = match failed.first.as_str() {
        "" => warning,
        first => warning.with("first", first),
    };
    Some(warning.of_missing())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_on_some_classes_are_left_to_the_agent() {
        let failed = FailedPlugin {
            plugin: "p".to_owned(),
            shown: 9,
            served: 1,
            failed: 2,
            first: "a/B: it trapped".to_owned(),
            switched_off: None,
        };
        assert_eq!(warning(&failed, None), None);
        let nothing = FailedPlugin {
            served: 0,
            ..failed.clone()
        };
        let told = warning(&nothing, Some(7)).unwrap().to_string();
        assert_eq!(
            told,
            "warning[H0686]: the plugin `p` failed on every class that it selected\n  \
             found    in the JVM 7, 0 classes of 9 with its edits, 2 without\n  \
             first    a/B: it trapped\n"
        );
        let off = FailedPlugin {
            switched_off: Some("it failed on 5 of 9 classes".to_owned()),
            ..failed
        };
        let told = warning(&off, None).unwrap().to_string();
        assert!(
            told.contains("was switched off: it failed on 5 of 9 classes\n  found    1 class of 9")
        );
    }
}
