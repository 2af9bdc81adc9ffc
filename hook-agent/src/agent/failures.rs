//! Failures: each is counted, written to standard error once, and kept for the snapshot.

use crate::ffi::error::JvmtiError;
use crate::messages::{self, Code};
use host::{LeftAloneMethod, PluginFailure};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of failures that are written one by one; the rest are only counted.
pub(crate) const REPORTED: usize = 20;

/// Failures of the agent itself and of the pipeline.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Failures that are not in the snapshot yet.
    fresh: Vec<probes::Failure>,
    /// The first classes that could not be retransformed.
    retransform: Vec<probes::Failure>,
    /// Number of failures written to standard error so far.
    reported: usize,
    /// Methods without edits: class, method and plugin. It removes duplicates, as a class is often transformed again.
    left_alone: HashSet<(String, String, String)>,
    counts: Counts,
}

/// Numbers of failures outside of the pipeline.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Classes that could not be retransformed.
    pub retransform: u64,
    /// Failures of the agent itself, which belong to no class.
    pub agent: u64,
}

impl Failures {
    /// Notes that a class loads without the edits of a plugin.
    pub fn class_failed(&self, failure: &PluginFailure) {
        self.note(
            || messages::host_failure(failure),
            probes::Failure {
                class: failure.class.clone(),
                method: failure.method.clone().unwrap_or_default(),
                plugin: failure.plugin.clone(),
                code: failure.code.to_owned(),
                message: failure.cause.clone(),
            },
        );
    }

    /// Notes that a class loaded earlier could not be retransformed.
    pub fn retransform_failed(&self, class: String, error: JvmtiError) {
        self.state().counts.retransform += 1;
        let code = Code::Retransform.as_str();
        let text = format!(
            "warning[{code}]: {class} was loaded before the agent and cannot be retransformed: {error}; it stays unchanged"
        );
        let failure = probes::Failure {
            class,
            code: code.to_owned(),
            message: error.to_string(),
            ..Default::default()
        };
        let mut state = self.state();
        if state.retransform.len() < REPORTED {
            state.retransform.push(failure.clone());
        }
        drop(state);
        self.note(|| messages::coded_warning(text), failure);
    }

    /// Notes a method without the edits that plugins requested. Standard error gets the number of such methods at the
    /// end.
    pub fn left_alone(&self, class: &str, method: &LeftAloneMethod, plugins: &[String]) {
        let mut state = self.state();
        for plugin in plugins {
            let key = (class.to_owned(), method.method.clone(), plugin.clone());
            if state.left_alone.insert(key) {
                state.fresh.push(probes::Failure {
                    class: class.to_owned(),
                    method: method.method.clone(),
                    plugin: plugin.clone(),
                    code: Code::LeftAlone.as_str().to_owned(),
                    message: method.cause.clone(),
                });
            }
        }
    }

    /// The first classes that could not be retransformed.
    pub fn of_retransformation(&self) -> Vec<probes::Failure> {
        self.state().retransform.clone()
    }

    /// Counts a failure of the agent itself, which was written to standard error.
    pub fn agent_failed(&self) {
        self.state().counts.agent += 1;
    }

    /// Takes the failures that are not in the snapshot yet.
    pub fn take_fresh(&self) -> Vec<probes::Failure> {
        std::mem::take(&mut self.state().fresh)
    }

    /// The numbers of failures so far.
    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    fn note(&self, print: impl FnOnce(), failure: probes::Failure) {
        let mut state = self.state();
        state.fresh.push(failure);
        state.reported += 1;
        let reported = state.reported;
        drop(state);
        match reported.cmp(&(REPORTED + 1)) {
            Ordering::Less => print(),
            Ordering::Equal => messages::coded_warning(
                "more failures follow; they are counted, and listed in the snapshot",
            ),
            Ordering::Greater => {}
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
