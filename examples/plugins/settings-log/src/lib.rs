//! Records the system properties and environment variables that a program reads, with their values.

use classhook_sdk::edit::Member;
use classhook_sdk::prelude::*;

/// The methods of the JDK that read a setting by its name. The name is their first argument, and
/// all are static.
const READS: [(&str, &[&str]); 4] = [
    ("java/lang/System", &["getProperty", "getenv"]),
    ("java/lang/Boolean", &["getBoolean"]),
    ("java/lang/Integer", &["getInteger"]),
    ("java/lang/Long", &["getLong"]),
];

/// Reads of settings by caller.
const SETTINGS: Table = Table {
    name: "settings",
    columns: &[("reader", ColumnKind::Method), ("line", ColumnKind::Line)],
};

/// The plugin's settings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Maximum number of recorded reads per call and second.
    per_second: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { per_second: 100 }
    }
}

/// Records events at reads of settings.
pub struct SettingsLog(Settings);

impl Transformer for SettingsLog {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        Ok(Self(settings))
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let read = Event::default()
            .operand("setting", 0)
            .stack("value")
            .per_second(self.0.per_second);
        for method in class.methods().filter(Method::has_code) {
            for call in method.calls(is_read)? {
                let line = call.line.to_string();
                let row = SETTINGS.row(&[&method.full_name(), &line]);
                plan.event(&method.at(&[call.bci]), &read, &row)?;
            }
        }
        Ok(())
    }
}

fn is_read(target: &Member) -> bool {
    let name = target.name.as_str();
    target.descriptor.starts_with("(Ljava/lang/String;")
        && READS
            .iter()
            .any(|(owner, names)| target.owner == *owner && names.contains(&name))
}

classhook_sdk::export!(SettingsLog);
