//! The exceptions and errors of the JDK, which let the plugin reject a misspelt name early.
//!
//! `throwables.txt` lists those of the packages `java.…` and `javax.…` of JDK 25 that a program can
//! create. The name is followed by `0` for a constructor without parameters, and `1` for one with a
//! message.

use crate::nearest::{distance, nearest};

const THROWABLES: &str = include_str!("throwables.txt");

/// An exception of the JDK with its constructors.
struct Known {
    name: &'static str,
    without_message: bool,
    with_message: bool,
}

fn all() -> impl Iterator<Item = Known> {
    THROWABLES.lines().map(|line| {
        let (name, constructors) = line.split_once(' ').unwrap_or((line, ""));
        Known {
            name,
            without_message: constructors.contains('0'),
            with_message: constructors.contains('1'),
        }
    })
}

/// Checks whether an exception of this class (binary name) can be created with or without a
/// message. Accepts all classes outside of the JDK.
///
/// # Errors
/// A description of the error, with the closest names.
pub fn check(class: &str, has_message: bool) -> Result<(), String> {
    if let Some(known) = all().find(|known| known.name == class) {
        return match (has_message, known.with_message, known.without_message) {
            (true, false, true) => Err(format!(
                "{class} has no constructor for a message alone; leave `message` out"
            )),
            (false, true, false) => Err(format!(
                "{class} cannot be created without a message; add `message`"
            )),
            (_, false, false) => Err(format!(
                "{class} has no constructor without parameters, nor one for a message alone"
            )),
            _ => Ok(()),
        };
    }
    let names = || all().map(|known| known.name);
    if !class.contains('.') {
        let named: Vec<&str> = names().filter(|name| simple(name) == class).collect();
        return match named.as_slice() {
            [] => Ok(()),
            named => Err(format!(
                "expected the class with its package, such as `{}`, found `{class}`",
                named.join("` or `")
            )),
        };
    }
    if !["java.", "javax."]
        .iter()
        .any(|prefix| class.starts_with(prefix))
    {
        return Ok(());
    }
    // The right name in a wrong package, or a typing error in either.
    let mut near: Vec<&str> = names()
        .filter(|name| simple(name) == simple(class))
        .collect();
    near.extend(
        nearest(class, names())
            .into_iter()
            .filter(|name| distance(class, name) <= 3),
    );
    near.dedup();
    let like_one = ["Exception", "Error"]
        .iter()
        .any(|end| class.ends_with(end));
    match near.as_slice() {
        [] if like_one => Ok(()), // from a module or a newer JDK that this plugin does not know
        [] => Err(format!("`{class}` is not an exception of the JDK")),
        near => Err(format!(
            "the JDK has no exception `{class}`; nearest: {}",
            near.join(", ")
        )),
    }
}

fn simple(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_exceptions_are_accepted_with_their_constructors() {
        assert_eq!(check("java.io.IOException", true), Ok(()));
        assert_eq!(check("java.io.IOException", false), Ok(()));
        assert_eq!(check("com.acme.BankException", true), Ok(()));
        assert_eq!(check("BankException", true), Ok(()));
        assert_eq!(
            check("java.lang.WhateverNewerJdksHaveException", true),
            Ok(())
        );
        let error = check("java.nio.channels.ClosedChannelException", true).unwrap_err();
        assert!(error.contains("leave `message` out"), "{error}");
        assert!(
            check("java.nio.file.NoSuchFileException", false)
                .unwrap_err()
                .contains("add `message`")
        );
    }

    #[test]
    fn misspelt_exceptions_are_reported_with_the_closest_name() {
        for (class, expected) in [
            ("java.io.IOExcepton", "nearest: java.io.IOException"),
            ("java.util.IOException", "nearest: java.io.IOException"),
            (
                "java.lang.IlegalStateException",
                "nearest: java.lang.IllegalStateException",
            ),
            ("IOException", "such as `java.io.IOException`"),
            ("java.lang.String", "is not an exception"),
        ] {
            let error = check(class, false).unwrap_err();
            assert!(error.contains(expected), "{class}: {error}");
        }
    }
}
