//! Reads the tables that plugins computed from JVM events, from the files that the agent wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use coverage_inputs::run_files::{self, RunFileKind};
use errors::{Error, Warning, Warnings, codes};
use jvm_events::tables::PluginTables;
use probes::events::Column;
use trace::results::{ComputedTable, Table};

/// Reads files. Warnings about missing data go to `warnings`.
///
/// # Errors
/// If a file cannot be read, is damaged or of another version (`H0611`).
pub fn read(files: &[PathBuf], warnings: &mut Warnings) -> Result<Vec<PluginTables>, Error> {
    let mut all = Vec::new();
    for path in files {
        let content = fs::read(path).map_err(|error| Error::unreadable(path, &error))?;
        let read = PluginTables::parse(&content).map_err(|cause| {
            let message = format!("{} does not hold complete tables", path.display());
            Error::mistake(codes::H0611, message).with("found", cause)
        })?;
        all.push(read);
    }
    all.sort_by_key(|one| (one.plugin.clone(), one.start_ms, one.jvm.pid));
    warnings.extend(all.iter().filter_map(missing));
    Ok(all)
}

/// Reads the tables of all runs and plugins in a folder, if it exists. Missing data is not
/// reported: it may belong to another run.
fn in_folder(folder: &Path) -> Result<Vec<PluginTables>, Error> {
    let files = match folder.is_dir() {
        true => run_files::in_folder(folder)?,
        false => Vec::new(),
    };
    read(&only_tables(files), &mut Warnings::default())
}

/// Returns the plugin's tables from the JVMs of one run.
///
/// # Errors
/// As [`read`], or if the folder cannot be read.
pub fn of_run(
    (run, plugin): (&str, &str),
    folder: &Path,
    warnings: &mut Warnings,
) -> Result<Vec<PluginTables>, Error> {
    let mut all = in_folder(folder)?;
    all.retain(|one| one.jvm.run == run && one.plugin == plugin);
    warnings.extend(all.iter().filter_map(missing));
    Ok(all)
}

/// Returns warnings about plugins that failed and got no more events in the JVMs of one run, which
/// began at `since`.
///
/// # Errors
/// As [`of_run`].
pub fn retired_of_run(run: &str, folder: &Path, since: SystemTime) -> Result<Warnings, Error> {
    let all = in_folder(folder)?.into_iter();
    let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
    let is_of_run = |one: &PluginTables| {
        one.retired && one.jvm.run == run && u128::from(one.start_ms) >= since.as_millis()
    };
    let mut warnings = Warnings::default();
    warnings.extend(all.filter(is_of_run).filter_map(|one| missing(&one)));
    Ok(warnings)
}

/// Returns the plugin's tables from the JVM that writes this snapshot.
///
/// # Errors
/// As [`of_run`].
pub fn beside(
    snapshot: &Path,
    plugin: &str,
    warnings: &mut Warnings,
) -> Result<Vec<PluginTables>, Error> {
    let folder = snapshot.parent().unwrap_or(Path::new("."));
    let mut files = run_files::in_folder(folder)?;
    // Named like the snapshot except for the extension. An agent that stays may write several.
    let stem = snapshot.file_stem().unwrap_or_default().to_os_string();
    let begin = [stem.as_encoded_bytes(), b"."].concat();
    let name = |path: &PathBuf| {
        path.file_name()
            .map(|name| name.as_encoded_bytes().to_vec())
    };
    files.retain(|path| name(path).is_some_and(|name| name.starts_with(&begin)));
    let mut others = Warnings::default();
    let mut all = read(&only_tables(files), &mut others)?;
    all.retain(|one| one.plugin == plugin);
    // An earlier agent may have left other tables of this plugin: the last ones count.
    let last = all.pop();
    warnings.extend(last.iter().filter_map(missing));
    Ok(last.into_iter().collect())
}

fn only_tables(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    files.retain(|path| run_files::kind(path).is_ok_and(|kind| kind == RunFileKind::Tables));
    files
}

/// Merges the tables of all JVMs by plugin, name and columns.
#[must_use]
pub fn merged(all: &[PluginTables]) -> Vec<Table> {
    let mut merged: Vec<ComputedTable> = Vec::new();
    for (plugin, table) in all
        .iter()
        .flat_map(|one| one.made.iter().map(|table| (&one.plugin, table)))
    {
        let columns = table.columns.iter().cloned();
        let columns: Vec<Column> = columns.map(|(name, kind)| Column { name, kind }).collect();
        let is_it = |known: &&mut ComputedTable| {
            known.plugin == *plugin && known.name == table.name && known.columns == columns
        };
        let rows = table.rows.iter().cloned();
        match merged.iter_mut().find(is_it) {
            Some(known) => known.rows.extend(rows),
            None => merged.push(ComputedTable {
                plugin: plugin.clone(),
                name: table.name.clone(),
                columns,
                rows: rows.collect(),
            }),
        }
    }
    merged.into_iter().map(Table::Computed).collect()
}

/// Returns the warning about missing data in the tables of a JVM.
fn missing(tables: &PluginTables) -> Option<Warning> {
    let PluginTables {
        plugin,
        jvm,
        lost,
        cause,
        ..
    } = tables;
    if tables.complete && *lost == 0 && cause.is_none() {
        return None;
    }
    let what = match tables.retired {
        true => "got no more events from some time on",
        false => "did not get all events",
    };
    let message = format!("the plugin `{plugin}` {what} of the JVM {}", jvm.pid);
    let mut warning = Warning::new(codes::H0665, message);
    if *lost > 0 {
        let found = format!("{} events, and {lost} that it did not get", tables.events);
        warning = warning.with("found", found);
    }
    if !tables.complete {
        warning = warning.with(
            "cause",
            "the JVM was killed, or still runs; the tables are a few seconds old",
        );
    }
    if let Some(cause) = cause {
        warning = warning.with("cause", cause);
    }
    Some(warning.of_missing())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvm_events::tables::Table as Made;

    fn of(plugin: &str, rows: &[&str]) -> PluginTables {
        let row = |cell: &&str| vec![(*cell).to_owned()];
        PluginTables {
            plugin: plugin.to_owned(),
            complete: true,
            made: vec![Made {
                name: "t".to_owned(),
                columns: vec![("a".to_owned(), "text".to_owned())],
                rows: rows.iter().map(row).collect(),
            }],
            ..PluginTables::default()
        }
    }

    #[test]
    fn tables_of_several_jvms_are_merged() {
        let all = [of("p", &["x"]), of("p", &["y", "z"]), of("q", &["x"])];
        let tables = merged(&all);
        let rows = tables.iter().map(|table| match table {
            Table::Computed(table) => table.rows.len(),
            _ => 0,
        });
        assert_eq!(rows.collect::<Vec<_>>(), [3, 1]);
    }

    #[test]
    fn missing_data_is_reported() {
        assert!(missing(&of("p", &[])).is_none());
        for (tables, said) in [
            (
                PluginTables {
                    lost: 7,
                    ..of("p", &[])
                },
                "7 that it did not get",
            ),
            (
                PluginTables {
                    complete: false,
                    ..of("p", &[])
                },
                "was killed",
            ),
            (
                PluginTables {
                    retired: true,
                    cause: Some("it trapped".to_owned()),
                    ..of("p", &[])
                },
                "no more events",
            ),
        ] {
            let warning = missing(&tables).expect("a warning");
            assert!(warning.to_string().contains(said), "{warning}");
        }
    }
}
