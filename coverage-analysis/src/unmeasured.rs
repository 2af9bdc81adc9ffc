//! Classes and methods that ran without probes, so their execution is unknown.

use std::collections::{HashMap, HashSet};

use coverage::class::ClassDescription;
use coverage::model::{ClassCoverage, MethodCoverage};
use coverage_inputs::execution_data::{ExecutionDataStore, LEFT_ALONE, PLUGIN};
use errors::{Warning, Warnings, codes};
use jvms::names::binary;
use probes::Failure;

/// Failures of classes and methods without probes, and the ones that the counters leave out.
#[derive(Debug, Default)]
pub struct Unmeasured<'r> {
    /// Failures of methods, by the internal name of their class.
    methods: HashMap<&'r str, Vec<&'r Failure>>,
    classes: HashMap<&'r str, &'r Failure>,
    left_out: HashSet<Failure>,
}

impl<'r> Unmeasured<'r> {
    /// Collects the failures of the recorded runs.
    #[must_use]
    pub fn of(recorded: &'r ExecutionDataStore) -> Self {
        let mut found = Self::default();
        for failure in &recorded.failures {
            let class = failure.class.as_str();
            if failure.code != LEFT_ALONE {
                found.classes.insert(class, failure);
            } else if !failure.method.is_empty() {
                found.methods.entry(class).or_default().push(failure);
            }
        }
        found
    }

    /// Removes the methods without probes from a class. Returns false if the whole class has no
    /// probes. Methods that another JVM executed stay. `without_room` lists methods too long for
    /// probes, which no recording needs to name.
    pub fn leave_out(&mut self, class: &mut ClassCoverage, without_room: Vec<Failure>) -> bool {
        let is_executed = class.counters.instruction.covered > 0;
        let failure = self.classes.get(class.name.as_str());
        if let Some(failure) = failure.filter(|_| !is_executed) {
            self.left_out.insert((*failure).clone());
            return false;
        }
        let methods = self.methods.get(class.name.as_str());
        let named = methods.into_iter().flatten().copied();
        for failure in named.chain(&without_room) {
            let is_it = |method: &MethodCoverage| {
                let descriptor = failure.method.strip_prefix(&method.name);
                let was_executed = method.counters.instruction.covered > 0;
                descriptor == Some(&method.descriptor) && !was_executed
            };
            if class.remove_methods(is_it) {
                self.left_out.insert(failure.clone());
            }
        }
        true
    }

    /// Returns the failures of removed classes and methods.
    #[must_use]
    pub fn into_left_out(self) -> HashSet<Failure> {
        self.left_out
    }
}

/// Returns the methods that are too long for probes. Classes that were instrumented offline do not
/// list them.
#[must_use]
pub fn without_room(class: &ClassDescription<'_>) -> Vec<Failure> {
    let methods = coverage::analysis::without_room(class);
    let failures = methods.map(|(method, length)| Failure {
        class: class.name.to_owned(),
        method: format!("{}{}", method.name, method.descriptor),
        plugin: PLUGIN.to_owned(),
        code: LEFT_ALONE.to_owned(),
        message: format!(
            "with probes the method would have at least {length} bytes, and 65535 are allowed"
        ),
    });
    failures.collect()
}

/// Warns of the classes and methods that ran without probes, and returns a sentence for each for
/// the report. `is_reported` checks whether the report holds counters of a class, `is_wanted`
/// whether the class belongs in the report.
pub fn warn(
    recorded: &ExecutionDataStore,
    left_out: &HashSet<Failure>,
    is_reported: impl Fn(&str) -> bool,
    is_wanted: impl Fn(&str) -> bool,
    warnings: &mut Warnings,
) -> Vec<String> {
    let mut told = Vec::new();
    let more = left_out
        .iter()
        .filter(|failure| !recorded.failures.contains(failure));
    for failure in recorded.failures.iter().chain(more) {
        let is_left_out = left_out.contains(failure);
        let is_counted = !is_left_out && is_reported(&failure.class);
        if is_left_out || is_counted || is_wanted(&failure.class) {
            warnings.add(warning(failure));
            told.push(escape::line(&sentence(failure, is_counted)).to_string());
        }
    }
    told.sort_unstable();
    told.dedup(); // several JVMs may report the same
    told
}

fn sentence(failure: &Failure, is_counted: bool) -> String {
    let class = binary(&failure.class);
    let subject = match failure.code == LEFT_ALONE {
        true => format!("the method {class}.{}", failure.method),
        false => format!("the class {class}"),
    };
    let what = match is_counted {
        true => "which a JVM ran without probes",
        false => "which is not measured",
    };
    format!("{subject}, {what}: {}", failure.message)
}

fn warning(failure: &Failure) -> Warning {
    let Failure { class, method, .. } = failure;
    let help = format!(
        "to report without it, leave its class out: --select '!{}'",
        binary(class)
    );
    let (message, place) = if failure.code == LEFT_ALONE {
        let message = format!("{class}.{method} ran without probes and is not in the report");
        (message, None)
    } else {
        let code = &failure.code;
        let message =
            format!("{class} ran without probes: it was loaded unchanged after a failure ({code})");
        (message, Some(method).filter(|method| !method.is_empty()))
    };
    let warning = Warning::new(codes::H0625, message).of_missing();
    let warning = match place {
        Some(method) => warning.with("at", method.clone()),
        None => warning,
    };
    warning
        .with("cause", failure.message.clone())
        .with("help", help)
}
