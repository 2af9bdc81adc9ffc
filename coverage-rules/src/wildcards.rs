//! JaCoCo's wildcards over names: `*` matches any text, `?` one character or the empty text.

/// Checks whether the pattern matches the whole name.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    skip(&pattern, &mut reached);
    for character in name.chars() {
        let mut next = vec![false; pattern.len() + 1];
        let here = pattern.iter().zip(&reached).enumerate();
        for (index, (token, _)) in here.filter(|(_, (_, reached))| **reached) {
            match token {
                '*' => next[index] = true,
                '?' => next[index + 1] = true,
                token if *token == character => next[index + 1] = true,
                _ => (),
            }
        }
        skip(&pattern, &mut next);
        reached = next;
    }
    reached.last() == Some(&true)
}

/// A wildcard may match the empty text.
fn skip(pattern: &[char], reached: &mut [bool]) {
    for (index, token) in pattern.iter().enumerate() {
        if reached[index] && matches!(token, '*' | '?') {
            reached[index + 1] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_like_jacocos() {
        for (pattern, name) in [
            ("*", ""),
            ("com.acme.*", "com.acme.web.Page"),
            ("*.Page", "com.acme.web.Page"),
            ("Page?", "Page"),
            ("Page?", "Pages"),
            ("*a*b*", "xaybz"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("", "a"),
            ("a.b", "axb"),
            ("Page?", "Pagers"),
            ("*.Page", "Page"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
