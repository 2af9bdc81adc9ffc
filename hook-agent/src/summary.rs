//! What became of classes, as numbers and as the lines at the end.

use crate::agent::Agent;
use crate::agent::failures::REPORTED;
use crate::messages::{self, Code};
use host::PlanCounts;
use probes::Summary;

/// What became of classes, and how often the agent itself failed.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// As the snapshot holds it.
    pub summary: Summary,
    /// What the plugins did.
    pub plugins: host::Summary,
    /// Failures of the agent itself.
    pub own_failures: u64,
}

impl Numbers {
    /// The numbers now.
    pub fn of(agent: &Agent) -> Self {
        let plugins = agent.plugins.summary();
        let failures = agent.failures.counts();
        let (again, changed_again) = agent.again();
        let summary = Summary {
            seen: agent.seen(),
            selected: plugins.classes.saturating_sub(again),
            transformed: plugins.changed.saturating_sub(changed_again),
            failed: plugins.failed + failures.retransform,
            skipped_methods: plugins.skipped_methods,
            lost: 0,
            unselected: agent.unselected.get().cloned().unwrap_or_default(),
            failed_plugins: plugins.failed_plugins.clone(),
        };
        Self {
            summary,
            plugins,
            own_failures: failures.agent + messages::panics(),
        }
    }

    /// Whether anything failed.
    pub fn any_failed(&self) -> bool {
        self.summary.failed + self.own_failures > 0
    }
}

/// Writes the lines at the end: always when something failed or was left out, else for `log=info`.
pub(crate) fn print(agent: &Agent, numbers: &Numbers) {
    print_methods(agent, numbers);
    print_unmatched(agent);
    // A command that visits the JVM tells it itself.
    if numbers.summary.transformed == 0 && agent.settings.visit.is_none() {
        print_notes(&numbers.plugins);
    }
    let Numbers {
        summary, plugins, ..
    } = numbers;
    let line = format!(
        "{} classes seen, {} selected, {} changed, {} failed, {} methods left alone, in {:.3} s (self-check {:.3} s); {}; snapshot {}",
        summary.seen,
        summary.selected,
        summary.transformed,
        summary.failed,
        summary.skipped_methods,
        plugins.time.as_secs_f64(),
        plugins.check_time.as_secs_f64(),
        plan_cache(plugins.plans),
        agent.snapshot.path().display(),
    );
    if numbers.any_failed() {
        messages::coded_warning(line);
        print_failures(plugins, numbers.own_failures);
    } else {
        messages::info(line);
    }
}

/// `plan cache: 812 known, 4 asked, 93012 bytes read`.
fn plan_cache(plans: Option<PlanCounts>) -> String {
    let Some(plans) = plans else {
        return "plan cache: off".to_owned();
    };
    let damaged = match plans.damaged {
        0 => String::new(),
        count => format!(", {count} damaged and made anew"),
    };
    let unwritten = match plans.unwritten {
        0 => String::new(),
        count => format!(", {count} could not be kept"),
    };
    format!(
        "plan cache: {} known, {} asked, {} bytes read{damaged}{unwritten}",
        plans.hits, plans.misses, plans.read
    )
}

/// Whether a selector names a class by a package of the JDK's.
fn is_of_jdk(selector: &str) -> bool {
    let packages = ["java.", "java/", "javax.", "javax/", "jdk.", "jdk/", "sun."];
    packages.iter().any(|package| selector.starts_with(package))
}

/// Rules and patterns of plugins that had no class.
fn print_unmatched(agent: &Agent) {
    let Some(set) = agent.plugins.current() else {
        return;
    };
    let plugins = set.config.plugins.iter().zip(set.pipeline.unmatched());
    // The command of a session has told of its own.
    for (plugin, unmatched) in plugins.filter(|(plugin, _)| plugin.session == 0) {
        let plugin = &plugin.name;
        if !unmatched.is_empty() {
            let classes = unmatched.join(", ");
            let hint = match unmatched.iter().any(|name| is_of_jdk(name)) {
                true => {
                    " (classes of the JDK are shown to plugins with the capability `boot` alone)"
                }
                false => "",
            };
            messages::warning(
                Code::Unmatched,
                format_args!(
                    "plugin {plugin}: no class was loaded that these match: {classes}; what names them had no effect{hint}"
                ),
            );
        }
    }
}

/// Prints the notes of plugins that left each class as it is.
fn print_notes(plugins: &host::Summary) {
    for note in plugins.notes.iter().take(REPORTED) {
        messages::warning(
            Code::Unmatched,
            format_args!("no class was changed; plugin {note}"),
        );
    }
}

/// Methods that are not as a plugin or a user wants them.
fn print_methods(agent: &Agent, numbers: &Numbers) {
    let plugins = &numbers.plugins;
    let left_to_interpreter = !agent.huge_methods.are_compiled();
    let kinds = [
        (
            Code::LeftAlone,
            "left alone",
            numbers.summary.skipped_methods,
            &plugins.skipped,
        ),
        (
            Code::Huge,
            "too long for HotSpot's compilers",
            plugins.huge_methods,
            &plugins.huge,
        ),
    ];
    let told = |(code, ..): &(Code, _, _, _)| *code != Code::Huge || left_to_interpreter;
    for (code, what, count, methods) in kinds.into_iter().filter(told) {
        let Some(first) = methods.first() else {
            continue;
        };
        messages::warning(
            code,
            format_args!(
                "methods {what}: {count}; the first is {}.{}: {} (`classhook explain` reports each)",
                first.class, first.method, first.text
            ),
        );
    }
}

fn print_failures(plugins: &host::Summary, own_failures: u64) {
    for failure in plugins.failures.iter().take(REPORTED) {
        let plugin = if failure.plugin.is_empty() {
            ""
        } else {
            " in plugin "
        };
        messages::coded_warning(format_args!(
            "  {} {}{plugin}{}: {}",
            failure.code, failure.class, failure.plugin, failure.cause
        ));
    }
    if plugins.failed > REPORTED as u64 {
        messages::coded_warning(format_args!(
            "  and {} more",
            plugins.failed - REPORTED as u64
        ));
    }
    for failed in &plugins.failed_plugins {
        if let Some(cause) = &failed.switched_off {
            let plugin = &failed.plugin;
            messages::coded_warning(format_args!("  plugin {plugin} was switched off: {cause}"));
        }
    }
    if own_failures > 0 {
        messages::coded_warning(format_args!(
            "  {own_failures} failures of the agent itself, reported above"
        ));
    }
}
