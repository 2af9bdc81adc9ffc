//! The files of a language's template.

use crate::sdk::Archive;

/// A language's files.
pub struct Template {
    /// The SDK that plugins are built with.
    pub sdk: Archive,
    /// Text files that name the plugin `my-plugin`, `my_plugin` or `MyPlugin`.
    pub texts: &'static [(&'static str, &'static [u8])],
    /// Names with another meaning in the language.
    pub reserved: &'static [&'static str],
}
