//! Why a class ends unchanged.

use crate::instance::Fault;

/// Why a class ends unchanged, before it is made a [`Failure`](crate::Failure).
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

    /// The class file cannot be read.
    pub(crate) fn unreadable(error: &dyn std::fmt::Display) -> Self {
        Self::of_class("H0301", format!("the class file cannot be read: {error}"))
    }
}
