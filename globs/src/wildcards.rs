//! Matching behind the first wildcard.

/// A byte, or a wildcard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// This byte.
    Byte(u8),
    /// `?`: one byte that is no `/`.
    One,
    /// `*`: any text without `/`.
    Level,
    /// `**`: any text.
    Any,
}

/// A place to go back to, if the tokens behind a star do not match.
#[derive(Debug, Clone, Copy)]
struct Star {
    /// The token behind the star.
    after: usize,
    /// The end of the star's text.
    end: usize,
}

/// Checks whether `tokens` match all of `name`.
///
/// Matching is greedy. It keeps one place to go back to for each kind of star, the latest: from there it reaches
/// everything that it could reach from an earlier one.
pub(crate) fn matches(tokens: &[Token], name: &[u8]) -> bool {
    let (mut token, mut at) = (0, 0);
    let (mut any, mut level): (Option<Star>, Option<Star>) = (None, None);
    // Where the first `*` behind the latest `**` begins.
    let mut first_level = None;
    loop {
        match (tokens.get(token), name.get(at)) {
            (None, None) => return true,
            (Some(Token::Any), _) => {
                token += 1;
                any = Some(Star {
                    after: token,
                    end: at,
                });
                (level, first_level) = (None, None);
                continue;
            }
            (Some(Token::Level), _) => {
                token += 1;
                level = Some(Star {
                    after: token,
                    end: at,
                });
                first_level = first_level.or(Some(at));
                continue;
            }
            (Some(Token::Byte(wanted)), Some(found)) if wanted == found => {
                (token, at) = (token + 1, at + 1);
                continue;
            }
            (Some(Token::One), Some(found)) if *found != b'/' => {
                (token, at) = (token + 1, at + 1);
                continue;
            }
            _ => {}
        }
        if let Some(star) = &mut level
            && name.get(star.end).is_some_and(|byte| *byte != b'/')
        {
            star.end += 1;
            (token, at) = (star.after, star.end);
        } else if let Some(star) = &mut any
            && let Some(end) = retry(star.end, first_level, name)
        {
            star.end = end;
            (token, at) = (star.after, star.end);
            (level, first_level) = (None, None);
        } else {
            return false;
        }
    }
}

/// The next end of a `**` worth trying. The text between it and the first `*` behind it has a fixed length. If that `*`
/// began later in the same package, it would match no more than before.
fn retry(end: usize, first_level: Option<usize>, name: &[u8]) -> Option<usize> {
    let next = match first_level {
        None => end + 1,
        Some(begin) => {
            let package = name.get(begin..).unwrap_or_default();
            let length = package.iter().position(|byte| *byte == b'/');
            let behind = begin + length.unwrap_or(package.len()) + 1;
            behind.saturating_sub(begin - end).max(end + 1)
        }
    };
    (next <= name.len()).then_some(next)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By the definition of each token.
    fn covered(tokens: &[Token], name: &[u8]) -> bool {
        let Some((token, tokens)) = tokens.split_first() else {
            return name.is_empty();
        };
        let some = |allowed: fn(u8) -> bool| {
            let length = name.iter().take_while(|byte| allowed(**byte)).count();
            (0..=length).any(|length| covered(tokens, &name[length..]))
        };
        match (token, name) {
            (Token::Any, _) => some(|_| true),
            (Token::Level, _) => some(|byte| byte != b'/'),
            (Token::One, [byte, rest @ ..]) => *byte != b'/' && covered(tokens, rest),
            (Token::Byte(wanted), [byte, rest @ ..]) => wanted == byte && covered(tokens, rest),
            _ => false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn tokens_cover_what_they_say(
            tokens in prop::collection::vec(
                prop::sample::select(vec![
                    Token::Byte(b'a'), Token::Byte(b'b'), Token::Byte(b'/'),
                    Token::One, Token::Level, Token::Any,
                ]),
                0..8,
            ),
            name in "[ab/]{0,12}",
        ) {
            prop_assert_eq!(matches(&tokens, name.as_bytes()), covered(&tokens, name.as_bytes()));
        }
    }
}
