//! The tables that a plugin made of what it was told, in one JVM: the content of a `.tables` file, which is one JSON
//! document.

use crate::recorded::Jvm;
use serde::{Deserialize, Serialize};

/// The version of the file; a reader refuses others.
pub const VERSION: u32 = 1;
/// What such files are called behind the dot.
pub const EXTENSION: &str = "tables";
/// How each begins.
pub const MAGIC: &[u8] = b"{\"tables\":";

/// What a plugin made of what it was told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginTables {
    /// [`VERSION`].
    #[serde(rename = "tables")]
    pub version: u32,
    /// The JVM.
    pub jvm: Jvm,
    /// When it began, in milliseconds since 1970.
    pub start_ms: u64,
    /// The plugin.
    pub plugin: String,
    /// Whether they are its last; else the JVM was killed, or still runs.
    pub complete: bool,
    /// Events that it was handed.
    pub events: u64,
    /// Events that it was not: there was no room for them, or it failed with them.
    pub lost: u64,
    /// Requests that were refused: those of a kind that was not answered yet, or that make no sense.
    #[serde(default)]
    pub refused: u64,
    /// What went wrong last, if anything did.
    pub cause: Option<String>,
    /// Whether it was told nothing any more from then on.
    pub retired: bool,
    /// The tables.
    pub made: Vec<Table>,
}

/// A table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns: names and kinds.
    pub columns: Vec<(String, String)>,
    /// Its rows, a text for each column.
    pub rows: Vec<Vec<String>>,
}

impl PluginTables {
    /// Reads the content of a file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let read: Self = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if read.version != VERSION {
            return Err(format!(
                "expected version {VERSION}, found version {}: another release of the agent wrote it",
                read.version
            ));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_told_by_its_begin() {
        let tables = PluginTables {
            version: VERSION,
            plugin: "p".to_owned(),
            ..PluginTables::default()
        };
        let text = serde_json::to_vec(&tables).unwrap();
        assert!(text.starts_with(MAGIC));
        assert_eq!(PluginTables::parse(&text).unwrap(), tables);
        let newer = PluginTables {
            version: VERSION + 1,
            ..tables
        };
        let text = serde_json::to_vec(&newer).unwrap();
        assert!(
            PluginTables::parse(&text)
                .unwrap_err()
                .contains("version 2")
        );
    }
}
