//! `classhook status`: shows the state of the agent in a running JVM.

use std::time::Duration;

use agent_connection::agent::Agent;
use agent_connection::answers::{failures, more, natives, plugins, structures};
use agent_connection::holder::described;
use clap::Args;
use control::Request;
use control::message::{ClassCounts, Hits, HugeMethods, PlanCache, Status as Answer, is_recording};
use errors::Error;
use trace::numbers::counted;

use crate::args::Target;

const AFTER_HELP: &str = "\
Examples:
  classhook status 4711
  classhook status 4711 --json";

/// Shows the state of the agent in a running JVM.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Status {
    /// The running JVM.
    #[command(flatten)]
    pub target: Target,
}

impl Status {
    /// Requests the state and prints it.
    ///
    /// # Errors
    /// If the JVM does not exist (`H05xx`) or has no agent (`H07xx`).
    pub fn run(&self) -> Result<u8, Error> {
        let pid = self.target.pid;
        let mut agent = Agent::connect(pid)?;
        let answer = agent.ask(&Request::Status)?;
        // In a container, the agent has another process id and other paths than this command.
        let seen_here = |status: &Answer| Answer {
            pid: pid.cast_unsigned(),
            snapshot: agent.path(&status.snapshot).display().to_string(),
            ..status.clone()
        };
        self.target
            .show(answer, |status: &Answer| text(&seen_here(status)))
    }
}

fn text(status: &Answer) -> String {
    let classes = &status.classes;
    let mut text = format!(
        "agent {} in process {} ({}), at work for {}\n\
         recording to {}\n\
         {}classes: {} seen, {} selected, {} changed, {} failed; {} left alone{}\n\
         time on classes: {}, of it {} for the self-check\n\
         plan cache: {}\n\
         probes: {} of 32 KiB{}\n{}",
        status.version,
        status.pid,
        status.jvm,
        duration(Duration::from_millis(status.uptime_ms)),
        status.snapshot,
        jacoco_tcp(status.jacoco_tcp.as_deref()),
        classes.seen,
        classes.selected,
        classes.changed,
        classes.failed,
        counted(classes.skipped_methods, "method"),
        huge_methods(classes),
        milliseconds(classes.time_us),
        milliseconds(classes.check_time_us),
        plan_cache(status.plan_cache),
        counted(status.arrays, "array"),
        hits(&status.hits),
        plugins(&status.plugins),
    );
    for holder in &status.holders {
        let command = described(holder);
        text.push_str(&match is_recording(&holder.plugin) {
            true => format!("a recording runs for {command}\n"),
            false => format!("plugin {} runs for {command}\n", holder.plugin),
        });
    }
    text.push_str(&natives(&status.natives));
    text.push_str(&structures(&status.structures));
    text.push_str(&failures(&status.failures));
    text.push_str(&more(status.more_failures));
    if status.own_failures > 0 {
        let failures = counted(status.own_failures, "failure");
        text.push_str(&format!(
            "{failures} of the agent itself, reported on the JVM's standard error\n"
        ));
    }
    text
}

/// Returns the line `JaCoCo's tools can ask at 127.0.0.1:6300`, or nothing without such an address.
fn jacoco_tcp(address: Option<&str>) -> String {
    address.map_or_else(String::new, |address| {
        format!("JaCoCo's tools can ask at {address}\n")
    })
}

/// Returns `, 3 longer than 8,000 bytes, which HotSpot does not compile`, or nothing without huge methods.
fn huge_methods(classes: &ClassCounts) -> String {
    let what = match classes.huge_methods_are {
        HugeMethods::Interpreted => "which HotSpot does not compile",
        HugeMethods::Compiled => "which this JVM compiles",
        HugeMethods::CompiledByUs => {
            "which are compiled, as the agent has cleared the flag DontCompileHugeMethods"
        }
    };
    match classes.huge_methods {
        0 => String::new(),
        count => format!(", {count} longer than 8,000 bytes, {what}"),
    }
}

/// Returns `; hits are stored, since the JVM compiles nothing`.
fn hits(hits: &Hits) -> String {
    match hits {
        Hits::Calls => "; compilers remove a probe once it was hit".to_owned(),
        Hits::Stores(cause) => format!("; hits are stored, since {cause}"),
    }
}

/// Returns `812 plans known, plugins asked 4 times`.
fn plan_cache(plans: Option<PlanCache>) -> String {
    let Some(plans) = plans else {
        return "off".to_owned();
    };
    let damaged = match plans.damaged {
        0 => String::new(),
        count => format!("; {count} damaged, made anew"),
    };
    let unwritten = match plans.unwritten {
        0 => String::new(),
        count => format!("; {count} could not be kept"),
    };
    let (known, asked) = (counted(plans.hits, "plan"), counted(plans.misses, "time"));
    format!("{known} known, plugins asked {asked}{damaged}{unwritten}")
}

/// Returns `12.3 ms`.
fn milliseconds(micros: u64) -> String {
    format!(
        "{:.1} ms",
        Duration::from_micros(micros).as_secs_f64() * 1e3
    )
}

/// Returns `3 h 25 min`, `25 min 1 s` or `1.2 s`.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60) {
        (0, 0) => format!("{:.1} s", time.as_secs_f64()),
        (0, minutes) => format!("{minutes} min {} s", seconds % 60),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::message::{Failure, Plugin, PluginState};

    #[test]
    fn durations_have_two_units() {
        let durations = [1_234, 61_000, 7_260_000].map(|ms| duration(Duration::from_millis(ms)));
        assert_eq!(durations, ["1.2 s", "1 min 1 s", "2 h 1 min"]);
    }

    #[test]
    fn plan_cache_line_counts_known_and_damaged_plans() {
        let told = |hits, misses, damaged, unwritten| {
            plan_cache(Some(PlanCache {
                hits,
                misses,
                damaged,
                unwritten,
            }))
        };
        assert_eq!(told(812, 4, 0, 0), "812 plans known, plugins asked 4 times");
        assert_eq!(
            told(812, 1, 2, 3),
            "812 plans known, plugins asked 1 time; 2 damaged, made anew; 3 could not be kept"
        );
        assert_eq!(plan_cache(None), "off");
    }

    #[test]
    fn plugins_and_failures_are_a_line_each() {
        let status = Answer {
            plugins: vec![
                Plugin {
                    name: "coverage".into(),
                    changed: 3,
                    ..Plugin::default()
                },
                Plugin {
                    name: "mine".into(),
                    state: PluginState::Failed,
                    select: vec!["com.**".into(), "!com.x".into()],
                    ..Plugin::default()
                },
            ],
            failures: vec![Failure {
                code: "H0311".into(),
                class: "a/B".into(),
                plugin: "mine".into(),
                cause: "trap".into(),
            }],
            ..Answer::default()
        };
        let text = text(&status);
        assert!(
            text.contains("plugin coverage: on, 3 classes changed, the default selection\n"),
            "{text}"
        );
        assert!(
            text.contains(
                "plugin mine: off, as it failed on most classes or took too long, 0 classes changed, com.** !com.x\n"
            ),
            "{text}"
        );
        assert!(
            text.contains("failed: H0311 a.B (plugin mine): trap\n"),
            "{text}"
        );
    }
}
