//! Which single calls are kept, and with which values.

use clap::Args;
use conditions::{Comparison, Condition, Literal, Operand, Test};

use crate::args::{Settings, Watch};

/// Which single calls are kept, and with which values.
#[derive(Debug, Clone, Default, Args)]
pub struct When {
    /// A condition.
    #[arg(
        id = "when",
        long = "when",
        value_name = "CONDITION",
        conflicts_with = "config",
        help = "Keep only the single calls that match: 'duration > 100ms && arg[0] == \"x\" || threw'"
    )]
    pub condition: Option<String>,
    /// Keep only the single calls that took at least so long: 500us, 20ms, 1.5s
    #[arg(long, value_name = "DURATION", conflicts_with = "config", value_parser = nanos)]
    pub min_duration: Option<u64>,
    /// What is kept of each call besides: 'arg, returned, this.size, stack(10)'
    #[arg(long, value_name = "VALUES", conflicts_with = "config")]
    pub show: Option<String>,
}

impl When {
    /// The agent's settings with these among them.
    #[must_use]
    pub fn added(&self, mut settings: Settings) -> Settings {
        settings.change.configuration.plugins.watch = self.watch();
        settings
    }

    /// As the agent's options. Of a condition that cannot be read nothing is lost: the agent's own parser refuses it.
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
            ..Watch::default()
        }
    }
}

/// A duration as conditions have it, in nanoseconds.
fn nanos(text: &str) -> Result<u64, String> {
    let condition = Condition::parse(&format!("duration >= {text}"));
    match condition {
        Ok(Condition::Test(Test::Compare(
            _,
            Comparison::GreaterOrEqual,
            Operand::Literal(Literal::Duration(nanos)),
        ))) => Ok(nanos),
        _ => Err(format!(
            "expected a number with ns, us, ms or s behind it, found `{text}`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(min_duration: Option<&str>, condition: Option<&str>) -> Option<String> {
        let when = When {
            condition: condition.map(str::to_owned),
            min_duration: min_duration.map(|text| nanos(text).unwrap()),
            show: None,
        };
        when.watch().when
    }

    #[test]
    fn least_duration_and_condition_are_one_condition() {
        let both = condition(Some("1.5ms"), Some("threw || depth > 3"));
        let expected = "duration >= 1500us && (threw || depth > 3)";
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
    fn durations_have_a_unit() {
        assert_eq!(nanos("20us"), Ok(20_000));
        for wrong in ["", "5", "5m", "1ms || threw", "duration", "-1ms"] {
            assert!(nanos(wrong).is_err(), "{wrong}");
        }
    }
}
