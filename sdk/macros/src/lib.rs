//! `#[derive(Config)]` of `classhook-sdk`, which exports it.
//!
//! The macro reads tokens without a Rust parser, which would be the largest dependency of a plugin.

use std::fmt::Write as _;

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// Makes a struct the settings of a plugin.
#[proc_macro_derive(Config, attributes(config))]
pub fn derive_config(input: TokenStream) -> TokenStream {
    let expanded = settings(input).map(|settings| settings.expanded());
    let text = expanded.unwrap_or_else(|message| format!("::core::compile_error!({message:?});"));
    text.parse().unwrap_or_default()
}

/// A struct with named fields.
struct Settings {
    name: String,
    fields: Vec<Field>,
}

struct Field {
    name: String,
    kind: String,
    /// The default value, an expression; empty for the default of the field's type.
    default: Option<String>,
}

const EXPECTED: &str = "derive(Config) needs a struct with named fields and without parameters";

type Tokens = std::iter::Peekable<proc_macro::token_stream::IntoIter>;

fn settings(input: TokenStream) -> Result<Settings, String> {
    let mut tokens = input.into_iter().peekable();
    attributes(&mut tokens)?;
    visibility(&mut tokens);
    let word = tokens.next().map(|token| token.to_string());
    let name = tokens.next().map(|token| token.to_string());
    match (word.as_deref(), name, tokens.next()) {
        (Some("struct"), Some(name), Some(TokenTree::Group(body)))
            if body.delimiter() == Delimiter::Brace =>
        {
            let fields = fields(body.stream())?;
            Ok(Settings { name, fields })
        }
        _ => Err(EXPECTED.to_owned()),
    }
}

fn fields(body: TokenStream) -> Result<Vec<Field>, String> {
    let mut tokens = body.into_iter().peekable();
    let mut fields = Vec::new();
    while tokens.peek().is_some() {
        let default = attributes(&mut tokens)?;
        visibility(&mut tokens);
        let name = tokens.next().map(|token| token.to_string());
        let colon = tokens.next().map(|token| token.to_string());
        let (Some(name), Some(":")) = (name, colon.as_deref()) else {
            return Err(EXPECTED.to_owned());
        };
        fields.push(Field {
            name,
            kind: kind(&mut tokens),
            default,
        });
    }
    Ok(fields)
}

/// Skips attributes. Returns the default that one of them specifies.
fn attributes(tokens: &mut Tokens) -> Result<Option<String>, String> {
    let mut default = None;
    while is(tokens.peek(), '#') {
        tokens.next();
        let Some(TokenTree::Group(attribute)) = tokens.next() else {
            return Err(EXPECTED.to_owned());
        };
        let mut parts = attribute.stream().into_iter();
        let named = parts.next().map(|token| token.to_string());
        if named.as_deref() == Some("config") {
            default = Some(given_default(parts.next())?);
        }
    }
    Ok(default)
}

/// Parses the expression in `(default = EXPRESSION)`; empty for `(default)`.
fn given_default(list: Option<TokenTree>) -> Result<String, String> {
    let expected = || "expected #[config(default)] or #[config(default = VALUE)]".to_owned();
    let Some(TokenTree::Group(list)) = list else {
        return Err(expected());
    };
    let mut tokens = list.stream().into_iter().peekable();
    let word = tokens.next().map(|token| token.to_string());
    if word.as_deref() != Some("default") {
        return Err(expected());
    }
    match tokens.next() {
        None => Ok(String::new()),
        sign if is(sign.as_ref(), '=') && tokens.peek().is_some() => {
            Ok(tokens.collect::<TokenStream>().to_string())
        }
        _ => Err(expected()),
    }
}

/// Skips `pub` and `pub(…)`.
fn visibility(tokens: &mut Tokens) {
    let is_pub =
        |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word.to_string() == "pub");
    if tokens.peek().is_some_and(is_pub) {
        tokens.next();
        let is_list = |token: &TokenTree| matches!(token, TokenTree::Group(list) if list.delimiter() == Delimiter::Parenthesis);
        tokens.next_if(is_list);
    }
}

/// Reads a type, up to the comma outside of any argument list.
fn kind(tokens: &mut Tokens) -> String {
    let (mut kind, mut depth, mut arrow) = (TokenStream::new(), 0_u32, false);
    for token in tokens.by_ref() {
        if depth == 0 && is(Some(&token), ',') {
            break;
        }
        if is(Some(&token), '<') {
            depth = depth.saturating_add(1);
        } else if is(Some(&token), '>') && !arrow {
            depth = depth.saturating_sub(1);
        }
        arrow = is(Some(&token), '-');
        kind.extend([token]);
    }
    kind.to_string()
}

fn is(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(found)) if found.as_char() == sign)
}

impl Settings {
    /// Generates a separate struct with serde's derive, which rejects unknown keys and lists the
    /// known ones.
    fn expanded(&self) -> String {
        let Self { name, fields } = self;
        let (mut given, mut defaults, mut names) = (String::new(), String::new(), String::new());
        for (
            index,
            Field {
                name,
                kind,
                default,
            },
        ) in fields.iter().enumerate()
        {
            // A String never fails.
            let _ = match default.as_deref() {
                None => Ok(()),
                Some("") => write!(given, "#[serde(default)] "),
                Some(value) => {
                    let _ = write!(defaults, "fn default_{index}() -> {kind} {{ {value} }} ");
                    write!(given, "#[serde(default = \"default_{index}\")] ")
                }
            };
            let _ = write!(given, "{name}: {kind}, ");
            let _ = write!(names, "{name}, ");
        }
        format!(
            "const _: () = {{
                use ::classhook_sdk::config::serde;
                #[derive(serde::Deserialize)]
                #[serde(crate = \"::classhook_sdk::config::serde\", deny_unknown_fields)]
                struct Given {{ {given} }}
                {defaults}
                impl<'de> serde::Deserialize<'de> for {name} {{
                    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> ::core::result::Result<Self, D::Error> {{
                        let Given {{ {names} }} = serde::Deserialize::deserialize(from)?;
                        ::core::result::Result::Ok(Self {{ {names} }})
                    }}
                }}
            }};"
        )
    }
}
