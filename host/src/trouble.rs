//! The failure of a plugin, or of all, on a class.

use crate::instance::Fault;
use crate::outcome::Failure;

/// The reason why a class lacks the edits of a plugin, or of all, before it becomes a [`Failure`].
#[derive(Debug)]
pub(crate) struct Trouble {
    /// Name of the plugin; empty if no plugin caused the failure.
    pub(crate) plugin: String,
    /// The description of the failure.
    pub(crate) fault: Fault,
    /// Name and descriptor of the method.
    pub(crate) method: Option<String>,
}

impl Trouble {
    /// Creates a failure that no plugin caused.
    pub(crate) fn of_class(code: &'static str, cause: String) -> Self {
        Self {
            plugin: String::new(),
            fault: Fault::new(code, cause),
            method: None,
        }
    }

    /// Converts to the failure on this class; `changed` means that the class has edits of other
    /// plugins.
    pub(crate) fn of(self, class: &str, changed: bool) -> Failure {
        let Self {
            plugin,
            fault,
            method,
        } = self;
        Failure {
            code: fault.code,
            plugin,
            class: class.to_owned(),
            changed,
            method,
            bci: fault.bci,
            cause: fault.cause,
            help: fault.help,
        }
    }

    /// The failure for a class file that cannot be read.
    pub(crate) fn unreadable(error: &dyn std::fmt::Display) -> Self {
        Self::of_class("H0301", format!("the class file cannot be read: {error}"))
    }
}
