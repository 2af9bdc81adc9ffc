//! Tables that a plugin made from the events of one JVM: the content of a `.tables` file, which is
//! one JSON document.

use crate::recorded::Jvm;
use crate::sealed_document;
use serde::{Deserialize, Serialize};

/// The version of the format. A reader rejects other versions.
pub const VERSION: u32 = 1;
/// The file name extension.
pub const EXTENSION: &str = "tables";
/// The first bytes of each file.
pub const MAGIC: &[u8] = b"{\"tables\":";

/// The tables of one plugin, with counts of the events behind them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginTables {
    /// The version of the format, [`VERSION`].
    #[serde(rename = "tables")]
    pub version: u32,
    /// The recorded JVM.
    pub jvm: Jvm,
    /// The start of the recording, in milliseconds since 1970.
    pub start_ms: u64,
    /// The name of the plugin.
    pub plugin: String,
    /// `true` if these are the final tables. `false` if the JVM still runs or was killed.
    pub complete: bool,
    /// Number of events that the plugin received.
    pub events: u64,
    /// Number of events that were lost because the queue was full or the plugin failed.
    pub lost: u64,
    /// Number of rejected requests. A request is rejected if it is invalid, or if an earlier one of
    /// its kind is still open.
    #[serde(default)]
    pub refused: u64,
    /// The last error, if any.
    pub cause: Option<String>,
    /// `true` if the plugin was switched off after errors.
    pub retired: bool,
    /// The tables.
    pub made: Vec<Table>,
}

/// A table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// The name.
    pub name: String,
    /// The names and kinds of the columns.
    pub columns: Vec<(String, String)>,
    /// The rows, with one text per column.
    pub rows: Vec<Vec<String>>,
}

impl PluginTables {
    /// Parses the content of a file.
    ///
    /// # Errors
    /// A message that describes the fault in the file.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        sealed_document::check(text)?;
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
    fn written_tables_are_read_and_recognized_by_their_start() {
        let tables = PluginTables {
            version: VERSION,
            plugin: "p".to_owned(),
            ..PluginTables::default()
        };
        let text = sealed_document::seal(&tables).unwrap();
        assert!(text.starts_with(MAGIC));
        assert_eq!(PluginTables::parse(&text).unwrap(), tables);
        let newer = PluginTables {
            version: VERSION + 1,
            ..tables
        };
        let text = sealed_document::seal(&newer).unwrap();
        assert!(
            PluginTables::parse(&text)
                .unwrap_err()
                .contains("version 2")
        );
    }
}
