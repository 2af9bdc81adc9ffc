//! What a language's projects begin with.

use crate::plugin_project::sdk::Archive;

/// A language's files.
pub struct Template {
    /// What plugins are built of.
    pub sdk: Archive,
    /// Files of text that name the plugin `my-plugin`, `my_plugin` or `MyPlugin`.
    pub texts: &'static [(&'static str, &'static [u8])],
    /// Names that mean something else.
    pub reserved: &'static [&'static str],
}
