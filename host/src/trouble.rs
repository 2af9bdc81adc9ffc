//! Why a class ends without the edits of a plugin.

use crate::instance::Fault;
use crate::outcome::Failure;

/// Why a class ends without the edits of a plugin, or of any, before it is made a [`Failure`].
#[derive(Debug)]
pub(crate) struct Trouble {
    /// Name of the plugin; empty when no plugin is to blame.
    pub(crate) plugin: String,
    /// What went wrong.
    pub(crate) fault: Fault,
    /// Name and descriptor of the method.
    pub(crate) method: Option<String>,
}

impl Trouble {
    /// No plugin is to blame.
    pub(crate) fn of_class(code: &'static str, cause: String) -> Self {
        Self {
            plugin: String::new(),
            fault: Fault::new(code, cause),
            method: None,
        }
    }

    /// As it is told of this class; `changed` says whether it has edits of other plugins.
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

    /// The class file cannot be read.
    pub(crate) fn unreadable(error: &dyn std::fmt::Display) -> Self {
        Self::of_class("H0301", format!("the class file cannot be read: {error}"))
    }
}
