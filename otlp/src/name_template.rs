//! `--otlp-span-name`: text with values of the call in braces, `GET {arg[0].path}`.

use std::str::FromStr;

use conditions::Show;
use trace::otlp::{NamePart, SpanName};

/// Example in messages.
const EXAMPLE: &str = "`GET {arg[0].path}`, `{class}.{method}`; `{{` is a brace";

/// A checked template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameTemplate(SpanName);

impl NameTemplate {
    /// Returns the parts of the names.
    #[must_use]
    pub fn parts(&self) -> SpanName {
        self.0.clone()
    }

    /// Returns the value expressions in the names, in the syntax of `--show`.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.0.parts.iter().filter_map(|part| match part {
            NamePart::Value(path) => Some(path.as_str()),
            _ => None,
        })
    }
}

impl FromStr for NameTemplate {
    type Err = String;

    fn from_str(template: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, braces) = rest.split_at(at);
            text.push_str(before);
            if let Some(after) = braces
                .strip_prefix("{{")
                .or_else(|| braces.strip_prefix("}}"))
            {
                text.push_str(&braces[..1]);
                rest = after;
                continue;
            }
            let inner = braces
                .strip_prefix('{')
                .and_then(|open| open.split_once('}'));
            let (inner, after) = inner.ok_or_else(|| {
                format!(
                    "expected a text with values in braces, such as {EXAMPLE}; found a single brace"
                )
            })?;
            parts.extend((!text.is_empty()).then(|| NamePart::Text(std::mem::take(&mut text))));
            parts.push(part(inner.trim())?);
            rest = after;
        }
        text.push_str(rest);
        parts.extend((!text.is_empty()).then_some(NamePart::Text(text)));
        match parts.is_empty() {
            true => Err(format!("expected a name, such as {EXAMPLE}; found nothing")),
            false => Ok(Self(SpanName { parts })),
        }
    }
}

/// Parses the text between two braces.
fn part(inner: &str) -> Result<NamePart, String> {
    match inner {
        "class" => return Ok(NamePart::Class),
        "method" => return Ok(NamePart::Method),
        _ => {}
    }
    let shown = Show::parse_list(inner).map_err(|mistake| mistake.to_string())?;
    match shown.as_slice() {
        [shown @ Show::Value(_)] => Ok(NamePart::Value(shown.to_string())),
        _ => Err(format!(
            "expected one value in braces, such as {EXAMPLE}; found `{inner}`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_is_split_into_text_and_values() {
        let template: NameTemplate = "{{GET}} { arg[0] } {class}.{method}!".parse().unwrap();
        let expected = [
            NamePart::Text("{GET} ".to_owned()),
            NamePart::Value("arg[0]".to_owned()),
            NamePart::Text(" ".to_owned()),
            NamePart::Class,
            NamePart::Text(".".to_owned()),
            NamePart::Method,
            NamePart::Text("!".to_owned()),
        ];
        assert_eq!(template.parts().parts, expected);
        assert_eq!(template.values().collect::<Vec<_>>(), ["arg[0]"]);
        for wrong in [
            "",
            "{",
            "a}",
            "{arg}",
            "{stack(3)}",
            "{arg[0], arg[1]}",
            "{no such}",
            "{}",
        ] {
            assert!(wrong.parse::<NameTemplate>().is_err(), "{wrong}");
        }
    }
}
