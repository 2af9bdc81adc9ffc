//! Suggestions such as "did you mean …".

use errors::Error;

/// Adds the list of candidates, and suggests the one closest to `found`.
pub fn expected(error: Error, found: &str, candidates: &[&str]) -> Error {
    let error = error.with("expected", list(candidates));
    match closest(found, candidates) {
        Some(candidate) => error.with("help", format!("did you mean `{candidate}`?")),
        None => error,
    }
}

/// Suggests the closest candidate if `text` has serde's form: ``unknown field `a`, expected one of
/// `b`, `c` ``.
pub fn from_text(error: Error, text: &str) -> Error {
    let mut quoted = text.split('`').skip(1).step_by(2);
    let found = quoted.next().filter(|_| text.contains("unknown"));
    let candidates: Vec<&str> = quoted.collect();
    match found.and_then(|found| closest(found, &candidates)) {
        Some(candidate) => error.with("help", format!("did you mean `{candidate}`?")),
        None => error,
    }
}

/// Formats a list as `` `a`, `b` or `c` ``.
pub fn list(candidates: &[&str]) -> String {
    let quoted: Vec<String> = candidates
        .iter()
        .map(|candidate| format!("`{candidate}`"))
        .collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// Returns the candidate that differs from `found` by a few typing errors, if any.
fn closest<'a>(found: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let found = found.to_lowercase().replace('_', "-");
    let distance = |candidate: &str| strsim::damerau_levenshtein(&found, candidate);
    let best = candidates
        .iter()
        .min_by_key(|candidate| distance(candidate))?;
    (distance(best) <= 1 + best.len() / 4).then_some(best)
}
