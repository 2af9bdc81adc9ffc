//! The configuration of the plugin, which the command prepares from class files.

use classhook_sdk::prelude::*;

/// The plugin's table in `classhook.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The classes with advice.
    pub advice: Vec<WrittenAdvice>,
}

/// A class with advice.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenAdvice {
    /// Its name, with dots.
    pub name: String,
    /// File and line of its declaration.
    pub at: String,
    /// The patterns of the methods.
    pub methods: Vec<String>,
    /// The class files for the program, in Base64. The last two are the guard, and its calls of the
    /// advice. The class of calls is before them, if advice runs in place of calls.
    pub classes: Vec<String>,
    /// Several methods give values from the entry to the exit, so the guard opens the call before.
    #[serde(default)]
    pub opens: bool,
    /// The methods of the advice.
    pub hooks: Vec<Hook>,
    /// The probes in the class that records its rows.
    pub probes: Option<Probes>,
}

/// The probes of a class with advice. Their methods are among its classes.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields)]
pub struct Probes {
    /// Tables of rows.
    pub tables: Vec<RowTable>,
    /// Counts.
    pub counts: Vec<Count>,
}

/// A table of rows.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields)]
pub struct RowTable {
    /// The method whose arguments are a row.
    pub method: String,
    /// The table's name.
    pub table: String,
    /// The names of the arguments.
    pub columns: Vec<String>,
}

/// A count.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The method whose calls are counted.
    pub method: String,
    /// Its name in the table.
    pub name: String,
}

/// A method of the advice.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Hook {
    /// Its name, for notes.
    pub name: String,
    /// File and line.
    pub at: String,
    /// The place.
    pub when: When,
    /// The patterns of the called methods.
    #[serde(default)]
    pub calls: Vec<String>,
    /// It runs where the method returns.
    pub on_return: bool,
    /// It runs where an exception leaves the method.
    pub on_throw: bool,
    /// The method of the guard to call.
    pub call: String,
    /// The descriptor of that method.
    pub descriptor: String,
    /// The number of the call is the last argument.
    pub keyed: bool,
    /// The names of the methods whose values it gets from the entry.
    #[serde(default)]
    pub reads: Vec<String>,
    /// The arguments before that.
    pub values: Vec<Binding>,
    /// The use of the result.
    #[serde(default)]
    pub effect: Effect,
    /// The position of the argument that the result replaces.
    #[serde(default)]
    pub position: u8,
    /// The descriptor of the advice's own result.
    #[serde(default)]
    pub result: Option<String>,
}

/// The places at which a method of the advice runs.
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    Entry,
    Exit,
    BeforeCall,
    AfterCall,
    Around,
}

/// The use of the result of a method of the guard. It has the first argument of such a method, and
/// returns it if the advice fails.
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    #[default]
    None,
    SkipIfTrue,
    SkipIfNotNull,
    Argument,
    Operand,
    Call,
    Returned,
    Thrown,
}

/// An argument of the guard's method.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// The kind of value.
    pub value: Value,
    /// The position of an argument or operand.
    pub argument: u8,
    /// The name of a field.
    #[serde(default)]
    pub name: String,
    /// The descriptor of the type that the advice expects.
    pub r#type: String,
}

/// The kinds of values.
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    This,
    Argument,
    AllArguments,
    Returned,
    Thrown,
    Method,
    Field,
    Line,
    Operand,
    Called,
}

impl Hook {
    /// Checks whether it runs at the entry.
    pub fn is_at_entry(&self) -> bool {
        self.when == When::Entry
    }

    /// Checks whether it runs at calls in the advised method.
    pub fn is_at_calls(&self) -> bool {
        matches!(self.when, When::BeforeCall | When::AfterCall | When::Around)
    }

    /// Checks whether its values differ between the return instructions of a method.
    pub fn reads_line(&self) -> bool {
        self.values
            .iter()
            .any(|binding| binding.value == Value::Line)
    }
}

/// Decodes Base64 with padding (RFC 4648, section 4).
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.trim_end_matches('=').bytes() {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded() {
        for (text, expected) in [
            ("", &b""[..]),
            ("Zg==", b"f"),
            ("Zm8=", b"fo"),
            ("Zm9v", b"foo"),
            ("Zm9vYmFy", b"foobar"),
            ("/+8=", &[0xff, 0xef]),
        ] {
            assert_eq!(decode(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(decode("a b"), None);
    }
}
