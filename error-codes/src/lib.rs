//! The stable codes of errors and warnings, each with its exit statuses, its meaning and its remedy.
//!
//! | module | holds |
//! |---|---|
//! | [`code`] | a code as a value |
//! | [`table`] | a constant and a row for each code |
//!
//! A message takes its code from here, `classhook error CODE` explains it, and `docs/errors.md` lists all.
//! Codes never change their meaning.
//!
//! ```
//! use error_codes::table;
//!
//! let unreadable = error_codes::find(table::H0612).unwrap();
//! assert_eq!(unreadable.statuses, [2, 3]);
//! assert_eq!(unreadable.section(), "h06xx-the-command-line");
//! assert_eq!(error_codes::find("612"), Some(unreadable));
//! ```
#![forbid(unsafe_code)]

pub mod code;
pub mod table;

pub use code::ErrorCode;

/// Finds a code as messages and users write it: `H0612`, `h0612`, `612` or `error[H0612]`.
#[must_use]
pub fn find(text: &str) -> Option<&'static ErrorCode> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let letters = text.chars().filter(char::is_ascii_alphabetic);
    let letters = letters.collect::<String>().to_ascii_lowercase();
    if !matches!(letters.as_str(), "" | "h" | "errorh" | "warningh" | "noteh") {
        return None;
    }
    let code = format!("H{digits:0>4}");
    table::ALL.iter().find(|known| known.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_have_a_section_and_a_meaning() {
        for pair in table::ALL.windows(2) {
            assert!(pair[0].code < pair[1].code, "{}", pair[1].code);
        }
        for code in table::ALL {
            assert!(code.section().starts_with(&code.code.to_lowercase()[..3]));
            assert!(!code.meaning.is_empty(), "{}", code.code);
            assert!(code.statuses.is_sorted(), "{}", code.code);
        }
    }

    #[test]
    fn code_is_found_as_users_write_it() {
        for text in ["H0620", "h0620", "620", "0620", "error[H0620]"] {
            assert_eq!(find(text).unwrap().code, table::H0620, "{text}");
        }
        for text in ["", "H", "H9999", "E0620", "H06200"] {
            assert_eq!(find(text), None, "{text}");
        }
    }
}
