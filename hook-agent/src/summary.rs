//! The counts of classes, and the lines at the end of a run.

use crate::agent::Agent;
use crate::agent::failures::REPORTED;
use crate::messages::{self, Code};
use host::PlanCounts;
use probes::Summary;

/// The counts of classes, and of failures of the agent itself.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// The counts in the snapshot.
    pub summary: Summary,
    /// The counts of the plugins.
    pub plugins: host::Summary,
    /// Number of failures of the agent itself.
    pub own_failures: u64,
}

impl Numbers {
    /// The current counts.
    pub fn of(agent: &Agent) -> Self {
        let plugins = agent.plugins.summary();
        let failures = agent.results.failures.counts();
        let (again, changed_again) = agent.classes.again();
        let summary = Summary {
            seen: agent.classes.seen(),
            selected: plugins.classes.saturating_sub(again),
            transformed: plugins.changed.saturating_sub(changed_again),
            failed: plugins.failed + failures.retransform,
            skipped_methods: plugins.skipped_methods,
            lost: 0,
            unselected: agent.classes.unselected.get().cloned().unwrap_or_default(),
            failed_plugins: plugins.failed_plugins.clone(),
        };
        Self {
            summary,
            plugins,
            own_failures: failures.agent + messages::panics(),
        }
    }

    /// Checks whether anything failed.
    pub fn any_failed(&self) -> bool {
        self.summary.failed + self.own_failures > 0
    }
}

/// Writes the lines at the end: as warnings if something failed or was left out, else for `log=info`.
pub(crate) fn print(agent: &Agent, numbers: &Numbers) {
    print_methods(agent, numbers);
    print_unmatched(agent);
    // A command that attached to the JVM reports this itself.
    if agent.settings.visit.is_none() {
        if numbers.summary.transformed == 0 {
            print_notes(&numbers.plugins);
        }
        print_idle(agent);
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
        agent.results.snapshot.path().display(),
    );
    if numbers.any_failed() {
        messages::coded_warning(line);
        print_failures(plugins, numbers.own_failures);
    } else {
        messages::info(line);
    }
}

/// `plan cache: 812 hits, 4 misses, 93012 bytes read`.
fn plan_cache(plans: Option<PlanCounts>) -> String {
    let Some(plans) = plans else {
        return "plan cache: off".to_owned();
    };
    let damaged = match plans.damaged {
        0 => String::new(),
        count => format!(", {count} damaged and made again"),
    };
    let unwritten = match plans.unwritten {
        0 => String::new(),
        count => format!(", {count} could not be stored"),
    };
    format!(
        "plan cache: {} hits, {} misses, {} bytes read{damaged}{unwritten}",
        plans.hits, plans.misses, plans.read
    )
}

/// Checks whether a selector names a package of the JDK.
fn is_of_jdk(selector: &str) -> bool {
    let packages = ["java.", "java/", "javax.", "javax/", "jdk.", "jdk/", "sun."];
    packages.iter().any(|package| selector.starts_with(package))
}

/// Prints the rules and patterns of plugins that matched no class.
fn print_unmatched(agent: &Agent) {
    let Some(set) = agent.plugins.current() else {
        return;
    };
    let plugins = set.config.plugins.iter().zip(set.pipeline.unmatched());
    let plugins = plugins.zip(set.pipeline.lacks_boot());
    // The command of a session prints those of its own plugin.
    for ((plugin, unmatched), lacks_boot) in plugins.filter(|all| all.0.0.session == 0) {
        let has_boot = plugin.grant.iter().any(|grant| grant == "boot");
        let plugin = escape::line(&plugin.name);
        if !unmatched.is_empty() {
            let classes = unmatched.join(", ");
            let classes = escape::line(&classes);
            let is_of_jdk = !has_boot && unmatched.iter().any(|name| is_of_jdk(name));
            let hint = match (lacks_boot, is_of_jdk) {
                (true, _) => " (a class of the JDK matches: grant the capability `boot`)",
                (_, true) => {
                    " (the JVM did not load it, or it is of the JDK, whose classes need the capability `boot`)"
                }
                _ => "",
            };
            messages::warning(
                Code::Unmatched,
                format_args!(
                    "plugin {plugin}: no loaded class matched {classes}; the rules or patterns had no effect{hint}"
                ),
            );
        }
    }
}

/// Prints the plugins that may edit classes and requested nothing.
fn print_idle(agent: &Agent) {
    let Some(set) = agent.plugins.current() else {
        return;
    };
    let plugins = set.config.plugins.iter().zip(set.pipeline.idle());
    for (plugin, shown) in plugins.filter(|(plugin, _)| plugin.session == 0) {
        let name = escape::line(&plugin.name);
        match shown {
            None => {}
            Some(0) => messages::warning(
                Code::Unmatched,
                format_args!(
                    "plugin {name} changed no class: no loaded class matched its selectors and yours"
                ),
            ),
            Some(shown) => messages::warning(
                Code::Unmatched,
                format_args!(
                    "plugin {name} changed no class: it requested nothing for the {shown} classes that it saw"
                ),
            ),
        }
    }
}

/// Prints the notes of plugins, if no class was changed.
fn print_notes(plugins: &host::Summary) {
    for note in plugins.notes.iter().take(REPORTED) {
        messages::warning(
            Code::Unmatched,
            format_args!("no class was changed; plugin {note}"),
        );
    }
}

/// Prints the methods that were left alone or became too long.
fn print_methods(agent: &Agent, numbers: &Numbers) {
    let plugins = &numbers.plugins;
    let left_to_interpreter = !agent.classes.huge_methods.are_compiled();
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
