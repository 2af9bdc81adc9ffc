//! File names of a JVM's recordings: `%p`, `%h`, `%t` and `%u` expand to process, machine, time and user.

use std::fmt::Write as _;

use crate::format::Meta;

/// Leaves room for a nonce and the extension: a file name has at most 255 bytes.
const MAX_LENGTH: usize = 200;

/// A file name pattern with `%p` (process id), `%h` (machine), `%t` (start of the recording in UTC), `%u` (user) and
/// `%%`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileName(String);

impl FileName {
    /// Parses a pattern.
    ///
    /// # Errors
    /// The reason why it is invalid, as a clause that follows "the name".
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() || text.starts_with('.') {
            return Err("must not be empty and must not start with a dot".to_owned());
        }
        if text.contains('/') {
            return Err("contains a `/`; the folder has a separate option".to_owned());
        }
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            if character != '%' {
                continue;
            }
            match characters.next() {
                Some('p' | 'h' | 't' | 'u' | '%') => {}
                Some(other) => return Err(format!("contains `%{other}`, which is no placeholder")),
                None => return Err("ends with `%`; write `%%` for a percent sign".to_owned()),
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// Expands the pattern for a JVM. Characters of machine and user that file names should not hold become `_`.
    #[must_use]
    pub fn of(&self, meta: &Meta, user: &str) -> String {
        let mut name = String::new();
        let mut characters = self.0.chars();
        while let Some(character) = characters.next() {
            if character != '%' {
                name.push(character);
                continue;
            }
            match characters.next() {
                Some('p') => drop(write!(name, "{}", meta.pid)),
                Some('h') => name.extend(meta.host.chars().map(harmless)),
                Some('u') => name.extend(user.chars().map(harmless)),
                Some('t') => name.push_str(&time(meta.start_ms)),
                _ => name.push('%'),
            }
        }
        let mut length = name.len().min(MAX_LENGTH);
        while !name.is_char_boundary(length) {
            length -= 1;
        }
        name.truncate(length);
        name
    }
}

fn harmless(character: char) -> char {
    match character {
        '/' => '_',
        other if other.is_control() || other.is_whitespace() => '_',
        other => other,
    }
}

/// Formats milliseconds since 1970 as `20261124T002239Z`.
fn time(milliseconds: u64) -> String {
    let text = date_and_time(milliseconds).replace(['-', ':'], "");
    format!("{}Z", text.replace(' ', "T"))
}

/// Returns the name of a user, or the number if the system has no name for it, as in a container.
#[must_use]
pub fn user_name(uid: u32) -> String {
    let uid = uid.to_string();
    let names = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut users = names.lines().map(|line| line.split(':'));
    let name = users.find_map(|mut fields| {
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    });
    name.unwrap_or(uid)
}

/// Formats milliseconds since 1970 as `2026-11-24 00:22:39` in UTC.
#[must_use]
pub fn date_and_time(milliseconds: u64) -> String {
    let seconds = milliseconds / 1_000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March here, in cycles of 400 years with 146,097 days: the leap day is the last day.
    let shifted = days + 719_468;
    let (cycle, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..=9 => (400 * cycle + year, month + 3),
        _ => (400 * cycle + year + 1, month - 9),
    };
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str, host: &str, user: &str) -> String {
        let meta = Meta {
            pid: 4711,
            host: host.to_owned(),
            start_ms: 1_790_004_800_999,
            ..Meta::default()
        };
        FileName::parse(text).unwrap().of(&meta, user)
    }

    #[test]
    fn placeholders_are_expanded() {
        let all = name("unit-%h-%u-%p-%t-100%%", "box", "ann");
        assert_eq!(all, "unit-box-ann-4711-20260921T153320Z-100%");
        assert_eq!(name("%h.%u", "a/../b", "x y\n"), "a_.._b.x_y_");
    }

    #[test]
    fn days_of_the_calendar() {
        let date = |days: u64| time(days * 86_400_000)[..8].to_owned();
        assert_eq!(date(0), "19700101");
        assert_eq!(date(59), "19700301");
        assert_eq!(date(11_016), "20000229");
        assert_eq!(date(11_017), "20000301");
        assert_eq!(date(20_453), "20251231");
        assert_eq!(date(47_540), "21000228");
        assert_eq!(date(47_541), "21000301");
    }

    #[test]
    fn long_name_is_cut_to_the_limit_of_file_names() {
        let long = name("é%h", &"é".repeat(300), "");
        assert_eq!(long.len(), MAX_LENGTH);
    }

    #[test]
    fn invalid_file_names_are_refused() {
        for (text, cause) in [
            ("", "empty"),
            (".hidden", "dot"),
            ("a/b", "`/`"),
            ("a%x", "`%x`"),
            ("a%", "`%%`"),
        ] {
            let error = FileName::parse(text).unwrap_err();
            assert!(error.contains(cause), "{text}: {error}");
        }
    }
}
