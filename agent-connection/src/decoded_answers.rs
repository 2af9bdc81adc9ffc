//! Decodes the answers of an agent, with the texts of the JVM escaped for display.

use errors::{Error, codes};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Returns an agent's answer with each text in it escaped, for display.
///
/// # Errors
/// `H0704` if it cannot be decoded again.
pub fn answer<T: Serialize + DeserializeOwned>(answer: &T) -> Result<T, Error> {
    let value = serde_json::to_value(answer).map_err(|error| unreadable(&error))?;
    read(escaped(value))
}

/// Decodes an answer.
///
/// # Errors
/// `H0704` if it has another form.
pub fn read<T: DeserializeOwned>(answer: Value) -> Result<T, Error> {
    serde_json::from_value(answer).map_err(|error| unreadable(&error))
}

/// Decodes an answer with each text in it escaped.
///
/// # Errors
/// As [`read`].
pub fn read_escaped<T: DeserializeOwned>(answer: Value) -> Result<T, Error> {
    read(escaped(answer))
}

fn escaped(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(escape::line(&text).into_owned()),
        Value::Array(values) => values.into_iter().map(escaped).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields.map(|(key, value)| (key, escaped(value))).collect()
        }
        other => other,
    }
}

fn unreadable(error: &serde_json::Error) -> Error {
    Error::fault(codes::H0704, "the agent's answer cannot be read").with("found", error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::message::{Class, Classes};

    #[test]
    fn names_in_an_answer_are_escaped_for_display() {
        let class = Class {
            name: "a\n\u{1b}[2J".to_owned(),
            ..Class::default()
        };
        let shown = answer(&Classes {
            total: 1,
            classes: vec![class],
        });
        assert_eq!(shown.unwrap().classes[0].name, r"a\n\u001b[2J");
    }
}
