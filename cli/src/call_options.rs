//! Selects single calls and their values: `--when`, `--min-duration`, `--show`.

use std::collections::BTreeSet;

use agent_connection::attached::AttachedPlugin;
use agent_launch::settings::{Settings, Watch};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use conditions::limits::MAX_LEVELS;
use conditions::{Comparison, Condition, Literal, Operand, Show, Test};
use errors::{Error, Warning, codes};
use jvms::descriptor::MethodDescriptor;
use jvms::names;
use probes::events::SpanInfo;
use standard_streams::show::{self, complain};
use trace::numbers::counted;
use trace_reports::recorded;
use trace_reports::value_check::ValueCheck;

use crate::heading;

/// Options that select single calls and their values.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::CALLS)]
pub struct CallOptions {
    /// A condition.
    #[arg(
        id = "when",
        long = "when",
        value_name = "CONDITION",
        conflicts_with = "config",
        value_parser = NonEmptyStringValueParser::new(),
        help = "Keep only the calls that match: 'duration > 100ms && arg[0] == \"x\" || threw'"
    )]
    pub condition: Option<String>,
    /// Keep only calls of at least this duration: 500us, 20ms, 1.5s
    #[arg(long, value_name = "DURATION", conflicts_with = "config", value_parser = nanos)]
    pub min_duration: Option<u64>,
    /// Record these values of each call: 'arg, returned, this.size, stack(10)'
    #[arg(long, value_name = "VALUES", conflicts_with = "config", value_parser = NonEmptyStringValueParser::new())]
    pub show: Option<String>,
    /// Show the fields, elements and entries of objects, nested to this level: 0 to 8
    #[arg(long, value_name = "LEVELS", conflicts_with = "config", value_parser = clap::value_parser!(u8).range(0..=i64::from(MAX_LEVELS)))]
    pub depth: Option<u8>,
}

impl CallOptions {
    /// Adds values to those of `--show`.
    #[must_use]
    pub fn showing<'v>(&self, values: impl Iterator<Item = &'v str>) -> Self {
        let shown = self.asked().show;
        let shown: Vec<String> = shown.iter().map(Show::to_string).collect();
        let more = values.filter(|value| !shown.iter().any(|known| known == value));
        let more: BTreeSet<&str> = more.collect();
        let all = self.show.as_deref().into_iter().chain(more);
        let all: Vec<&str> = all.collect();
        Self {
            show: (!all.is_empty()).then(|| all.join(", ")),
            ..self.clone()
        }
    }

    /// Returns the agent's settings with these options.
    #[must_use]
    pub fn added(&self, mut settings: Settings) -> Settings {
        settings.change.configuration.plugins.watch = self.watch();
        settings
    }

    /// Checks the options against the methods and classes of a running JVM. Warns if no method has
    /// a parameter of a requested number.
    ///
    /// # Errors
    /// If no method has a parameter of a requested name, no class has a requested field, the agent
    /// does not answer, or its files cannot be read.
    pub fn check_values(&self, visit: &mut AttachedPlugin) -> Result<(), Error> {
        let asked = self.asked();
        if asked.paths().next().is_none() {
            return Ok(());
        }
        visit.write()?;
        let when = asked.when.as_ref().map(ToString::to_string);
        let mut methods = recorded::methods(visit.snapshot())?;
        methods.retain(|method| method.when == when.as_deref().unwrap_or_default());
        let warning = asked.last_argument();
        if let Some(warning) = warning.and_then(|index| without_parameter(index, &methods)) {
            complain(warning);
        }
        let (watch, methods) = (&asked, methods.as_slice());
        ValueCheck { watch, methods }.check(visit.agent())
    }

    /// Returns the parsed options. Invalid ones were refused before.
    fn asked(&self) -> conditions::Watch {
        let Watch { when, show, .. } = self.watch();
        conditions::Watch {
            when: when.and_then(|when| Condition::parse(&when).ok()),
            show: show
                .and_then(|show| Show::parse_list(&show).ok())
                .unwrap_or_default(),
            ..conditions::Watch::default()
        }
    }

    /// Returns the options for the agent. An invalid condition is passed on, and the agent's own
    /// parser refuses it.
    #[must_use]
    pub fn watch(&self) -> Watch {
        let parsed = self.condition.as_deref().map(Condition::parse);
        let when = match (self.min_duration.map(Condition::at_least), parsed) {
            (Some(least), None) => Some(least.to_string()),
            (Some(least), Some(Ok(condition))) => Some(least.and(condition).to_string()),
            _ => self.condition.clone(),
        };
        Watch {
            when,
            show: self.show.clone(),
            depth: self.depth,
            ..Watch::default()
        }
    }
}

/// Returns the warning that no method has the parameter of this index, or nothing if one has it or
/// no method is traced.
fn without_parameter(index: u8, methods: &[SpanInfo]) -> Option<Warning> {
    let parameters = |method: &&SpanInfo| {
        let descriptor = MethodDescriptor::parse(method.descriptor.as_bytes());
        descriptor.map_or(0, |descriptor| descriptor.parameters().count())
    };
    let most = methods.iter().max_by_key(parameters)?;
    let count = parameters(&most);
    if count > index.into() {
        return None;
    }
    let name = show::name(&format!("{}.{}", names::binary(&most.class), most.method)).into_owned();
    let message = format!("no traced method has arg[{index}]");
    let most = format!("at most {}: {name}", counted(count, "parameter"));
    Some(
        Warning::new(codes::H0657, message)
            .with("found", most)
            .with(
                "help",
                "arguments count from arg[0]; a comparison with a missing one is false",
            ),
    )
}

/// Parses a duration, as in conditions, to nanoseconds.
///
/// # Errors
/// The expected form, if the text is no duration.
pub fn nanos(text: &str) -> Result<u64, String> {
    let condition = Condition::parse(&format!("duration >= {text}"));
    match condition {
        Ok(Condition::Test(Test::Compare(
            _,
            Comparison::GreaterOrEqual,
            Operand::Literal(Literal::Duration(nanos)),
        ))) => Ok(nanos),
        _ => Err(format!(
            "expected a number with ns, us, ms, s, m or h behind it, found `{text}`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_values_are_not_added_twice() {
        let when = CallOptions {
            show: Some("arg[0],  this.size".to_owned()),
            ..CallOptions::default()
        };
        let shown = |when: &CallOptions, values: &[&str]| when.showing(values.iter().copied()).show;
        assert_eq!(
            shown(&when, &["this.size", "arg[1]", "arg[1]"]).as_deref(),
            Some("arg[0],  this.size, arg[1]")
        );
        assert_eq!(shown(&CallOptions::default(), &[]), None);
        assert_eq!(
            shown(&CallOptions::default(), &["arg[0]"]).as_deref(),
            Some("arg[0]")
        );
    }

    fn condition(min_duration: Option<&str>, condition: Option<&str>) -> Option<String> {
        let when = CallOptions {
            condition: condition.map(str::to_owned),
            min_duration: min_duration.map(|text| nanos(text).unwrap()),
            ..CallOptions::default()
        };
        when.watch().when
    }

    #[test]
    fn minimum_duration_and_condition_are_combined() {
        let both = condition(Some("1.5ms"), Some("threw || depth > 3"));
        let expected = "duration >= 1500µs && (threw || depth > 3)";
        assert_eq!(both.as_deref(), Some(expected));
        assert_eq!(
            condition(Some("2s"), None).as_deref(),
            Some("duration >= 2s")
        );
        assert_eq!(condition(None, Some("threw")).as_deref(), Some("threw"));
        assert_eq!(condition(None, None), None);
        // Refused later, with its place.
        assert_eq!(
            condition(Some("1s"), Some("threw &")).as_deref(),
            Some("threw &")
        );
    }

    #[test]
    fn missing_parameter_is_reported() {
        let method = |descriptor: &str| SpanInfo {
            class: "a/Store".to_owned(),
            method: "find".to_owned(),
            descriptor: descriptor.to_owned(),
            ..SpanInfo::default()
        };
        let when = CallOptions {
            condition: Some("arg[1].name == \"x\" || threw".to_owned()),
            show: Some("arg, arg[7], stack(1)".to_owned()),
            ..CallOptions::default()
        };
        assert_eq!(when.asked().last_argument(), Some(7));
        assert_eq!(CallOptions::default().asked().last_argument(), None);
        let methods = [method("()V"), method("(I[JLjava/lang/String;)V")];
        assert!(without_parameter(2, &methods).is_none());
        assert!(without_parameter(2, &[]).is_none());
        let text = without_parameter(3, &methods).map(|warning| warning.to_string());
        let text = text.unwrap_or_default();
        assert!(text.contains("no traced method has arg[3]"), "{text}");
        assert!(
            text.contains("at most 3 parameters: a.Store.find"),
            "{text}"
        );
    }

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(nanos("20us"), Ok(20_000));
        assert_eq!(nanos("20µs"), Ok(20_000));
        assert_eq!(nanos("5m"), Ok(300_000_000_000));
        for wrong in ["", "5", "5d", "1ms || threw", "duration", "-1ms"] {
            assert!(nanos(wrong).is_err(), "{wrong}");
        }
    }
}
