//! The failure of a plugin.

use errors::codes;

use std::fmt;

/// Maximum size of a reported text in bytes.
const MAX_CAUSE_BYTES: usize = 2 << 10;

/// The failure of a plugin: in its configuration, in a call, or in applying its edits to a class,
/// which then lacks them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFailure {
    /// Stable code, `H03xx` (see `docs/errors.md`).
    pub code: &'static str,
    /// Name of the plugin; empty if no plugin caused the failure.
    pub plugin: String,
    /// Internal name of the class, for display; empty outside of classes.
    pub class: String,
    /// `true` if the class has the edits of other plugins.
    pub changed: bool,
    /// Name and descriptor of the last method that the plugin accessed.
    pub method: Option<String>,
    /// The instruction of the failed request.
    pub bci: Option<u16>,
    /// The line of the plugin's source, as `src/lib.rs:42`, that made the failed request, if known.
    pub source: Option<String>,
    /// The cause as text.
    pub cause: String,
    /// Advice, if any.
    pub help: Option<String>,
}

impl PluginFailure {
    /// Creates a failure without plugin, class, place and advice. Shortens a long cause.
    pub(crate) fn new(code: &'static str, cause: String) -> Self {
        Self {
            code,
            plugin: String::new(),
            class: String::new(),
            changed: false,
            method: None,
            bci: None,
            source: None,
            cause: shortened(cause),
            help: None,
        }
    }

    /// The failure for a class file that cannot be read.
    pub(crate) fn unreadable(error: &dyn fmt::Display) -> Self {
        Self::new(
            codes::H0301,
            format!("the class file cannot be read: {error}"),
        )
    }

    /// Sets the plugin that failed.
    pub(crate) fn by(self, plugin: &str) -> Self {
        Self {
            plugin: plugin.to_owned(),
            ..self
        }
    }

    /// Sets the name and descriptor of the method.
    pub(crate) fn in_method(self, method: Option<String>) -> Self {
        Self { method, ..self }
    }

    /// Sets the class; `changed` means that it has the edits of other plugins.
    pub(crate) fn on_class(self, class: &str, changed: bool) -> Self {
        Self {
            class: class.to_owned(),
            changed,
            ..self
        }
    }

    /// Formats the known part of `com/acme/Big.parse(I)V  bci 4711`.
    fn place(&self) -> Option<String> {
        let method = self.method.as_deref()?;
        let text = match self.bci {
            Some(bci) => format!("{}.{method}  bci {bci}", self.class),
            None => format!("{}.{method}", self.class),
        };
        Some(escape::line(&text).into_owned())
    }
}

/// Formats `warning[H0311]: plugin ... failed on ...` with its `at`, `plugin`, `cause` and `help` lines.
impl fmt::Display for PluginFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "warning[{}]: ", self.code)?;
        let (plugin, class) = (escape::line(&self.plugin), escape::line(&self.class));
        match plugin.as_ref() {
            "" => write!(f, "{class} could not be instrumented")?,
            plugin => write!(f, "plugin `{plugin}` failed on {class}")?,
        }
        f.write_str(if self.changed {
            "; the class was loaded with the edits of the others alone"
        } else {
            "; the class was loaded unchanged"
        })?;
        let at = self.place();
        let notes = [
            ("at", at.as_deref()),
            ("plugin", self.source.as_deref()),
            ("cause", Some(self.cause.as_str())),
            ("help", self.help.as_deref()),
        ];
        errors::notes::write_notes(
            f,
            notes
                .into_iter()
                .filter_map(|(label, text)| Some((label, text?))),
        )
    }
}

/// Shortens a plugin's text to the maximum size.
pub(crate) fn shortened(mut text: String) -> String {
    let length = text.len();
    if length > MAX_CAUSE_BYTES {
        escape::cut(&mut text, MAX_CAUSE_BYTES);
        text.push_str(&format!(" … ({length} bytes in all)"));
    }
    text
}
