//! Splits a text into tokens with their spans.

use crate::limits::{MAX_LENGTH, MAX_TEXT};
use crate::mistake::{Mistake, quoted};

/// Byte range in the text: the start of a token, and its end.
pub(crate) type Span = (usize, usize);

/// A token of a condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// A name, or a word such as `null`.
    Name(String),
    /// Digits without a sign.
    Integer(u64),
    Float(f64),
    /// Nanoseconds.
    Duration(u64),
    Text(String),
    Char(u16),
    /// One of [`SYMBOLS`].
    Symbol(&'static str),
    End,
}

/// Longer symbols come first.
const SYMBOLS: [&str; 16] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "(", ")", "[", "]", ".", ",", "-",
];

/// Units of durations, in nanoseconds.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("\u{3bc}s", 1_000), // the Greek letter
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

const A_NUMBER: &str = "a number, followed by ns, us, ms, s, m or h for a duration";

/// Splits a text into tokens; the last one is [`Token::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Mistake> {
    if text.len() > MAX_LENGTH {
        let span = (text.floor_char_boundary(MAX_LENGTH), text.len());
        let expected = format!("at most {MAX_LENGTH} bytes");
        let found = format!("{} bytes", text.len());
        return Err(Mistake::new("", (0, 0), expected, found)
            .with_help(format!("drop the text after byte {}", span.0)));
    }
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        let (token, span) = lexer.token()?;
        let is_end = token == Token::End;
        tokens.push((token, span));
        if is_end {
            return Ok(tokens);
        }
    }
}

/// Parses a text that is only a duration, in nanoseconds; `1.5s` is 1,500,000,000.
#[must_use]
pub fn duration(text: &str) -> Option<u64> {
    match tokens(text).ok()?.as_slice() {
        [(Token::Duration(nanos), span), (Token::End, _)] if *span == (0, text.len()) => {
            Some(*nanos)
        }
        _ => None,
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.at += char.len_utf8();
        Some(char)
    }

    /// Takes characters while `wanted` holds.
    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|char| !wanted(char)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn mistake(&self, from: usize, expected: impl Into<String>, found: &str) -> Mistake {
        Mistake::new(self.text, (from, self.at), expected, found)
    }

    fn token(&mut self) -> Result<(Token, Span), Mistake> {
        self.take_while(char::is_whitespace);
        let from = self.at;
        let token = match self.peek() {
            None => Token::End,
            Some(first) if is_name_start(first) => {
                Token::Name(self.take_while(is_name_part).to_owned())
            }
            Some(first) if first.is_ascii_digit() => self.number()?,
            Some('"') => self.text()?,
            Some('\'') => self.char()?,
            Some(other) => self.symbol(other)?,
        };
        Ok((token, (from, self.at)))
    }

    fn symbol(&mut self, first: char) -> Result<Token, Mistake> {
        let rest = self.rest();
        if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            self.at += symbol.len();
            return Ok(Token::Symbol(symbol));
        }
        let from = self.at;
        self.bump();
        let expected = match first {
            '=' => "`==`",
            '&' => "`&&`",
            '|' => "`||`",
            _ => "a value, a comparison, `&&`, `||`, `!` or a parenthesis",
        };
        Err(self.mistake(from, expected, &quoted(&first.to_string())))
    }

    fn number(&mut self) -> Result<Token, Mistake> {
        let from = self.at;
        let digits = |char: char| char.is_ascii_digit();
        self.take_while(digits);
        let mut is_integer = true;
        if self.is_next(0, '.') && self.nth(1).is_some_and(digits) {
            self.bump();
            self.take_while(digits);
            is_integer = false;
        }
        let sign = usize::from(self.is_next(1, '+') || self.is_next(1, '-'));
        if self.is_next(0, 'e') && self.nth(1 + sign).is_some_and(digits) {
            for _ in 0..=sign {
                self.bump();
            }
            self.take_while(digits);
            is_integer = false;
        }
        let number = self.text.get(from..self.at).unwrap_or_default();
        let unit = self.take_while(is_name_part);
        let whole = self.text.get(from..self.at).unwrap_or_default();
        let found = quoted(whole);
        let too_large = || self.mistake(from, "a number below 2^63", &found);
        if unit.is_empty() {
            return if is_integer {
                number.parse().map(Token::Integer).map_err(|_| too_large())
            } else {
                let float = number.parse().ok().filter(|float: &f64| float.is_finite());
                float.map(Token::Float).ok_or_else(too_large)
            };
        }
        let unit = UNITS.iter().find(|(name, _)| *name == unit);
        let (_, nanos) = unit.ok_or_else(|| self.mistake(from, A_NUMBER, &found))?;
        let nanos = if is_integer {
            let number: Option<u64> = number.parse().ok();
            number.and_then(|number| number.checked_mul(*nanos))
        } else {
            let number: f64 = number.parse().unwrap_or(f64::INFINITY);
            let nanos = (number * *nanos as f64).round();
            (nanos < 9.0e18).then_some(nanos as u64)
        };
        nanos.map(Token::Duration).ok_or_else(too_large)
    }

    fn nth(&self, index: usize) -> Option<char> {
        self.rest().chars().nth(index)
    }

    fn is_next(&self, index: usize, char: char) -> bool {
        self.nth(index) == Some(char)
    }

    fn text(&mut self) -> Result<Token, Mistake> {
        let from = self.at;
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                Some('"') => break,
                Some('\\') => {
                    let unit = self.escape()?;
                    text.push(char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                Some(char) => text.push(char),
                None => return Err(self.mistake(from, "a `\"` at the end of the text", "none")),
            }
        }
        if text.len() > MAX_TEXT {
            let found = format!("{} bytes", text.len());
            return Err(self.mistake(from, format!("a text of at most {MAX_TEXT} bytes"), &found));
        }
        Ok(Token::Text(text))
    }

    fn char(&mut self) -> Result<Token, Mistake> {
        let from = self.at;
        self.bump();
        let unit = match self.bump() {
            Some('\\') => Some(self.escape()?),
            Some('\'') | None => None,
            Some(char) => u16::try_from(u32::from(char)).ok(),
        };
        let unit = unit.filter(|_| self.peek() == Some('\''));
        self.bump();
        unit.map(Token::Char).ok_or_else(|| {
            let found = self.text.get(from..self.at).unwrap_or_default();
            self.mistake(from, "one character between single quotes", &quoted(found))
                .with_help("put texts in double quotes: \"text\"")
        })
    }

    /// Reads an escape after the backslash as a UTF-16 unit.
    fn escape(&mut self) -> Result<u16, Mistake> {
        const ESCAPES: &str = "\\\", \\', \\\\, \\n, \\r, \\t or \\u with four digits";
        let from = self.at.saturating_sub(1);
        match self.bump() {
            Some('n') => Ok(0x0A),
            Some('r') => Ok(0x0D),
            Some('t') => Ok(0x09),
            Some(char @ ('"' | '\'' | '\\')) => Ok(char as u16),
            Some('u') => {
                let digits = self.rest().get(..4).filter(|digits| {
                    let mut bytes = digits.bytes();
                    bytes.all(|byte| byte.is_ascii_hexdigit())
                });
                let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
                self.at += if unit.is_some() { 4 } else { 0 };
                unit.ok_or_else(|| self.mistake(from, ESCAPES, "`\\u`"))
            }
            other => {
                let found =
                    other.map_or_else(|| "the end".to_owned(), |it| quoted(&format!("\\{it}")));
                Err(self.mistake(from, ESCAPES, &found))
            }
        }
    }
}

fn is_name_start(char: char) -> bool {
    char.is_alphabetic() || char == '_' || char == '$'
}

/// Checks for a character of a name, as in Java. Names of other JVM languages may hold further characters.
fn is_name_part(char: char) -> bool {
    is_name_start(char) || char.is_alphanumeric()
}
