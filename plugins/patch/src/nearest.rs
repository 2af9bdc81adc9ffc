//! Suggests names that differ by typing errors.

/// Maximum number of suggestions.
const MOST: usize = 3;

/// Returns the names closest to `wanted`, the best first, up to a maximum distance.
pub fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let allowed = 1 + wanted.len() / 4;
    let mut near: Vec<(usize, &str)> = names
        .map(|name| (comparable(wanted, name), name))
        .filter(|(compared, _)| compared.len().abs_diff(wanted.len()) <= allowed)
        .map(|(compared, name)| (distance(wanted, compared), name))
        .filter(|(distance, _)| *distance <= allowed)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// Removes the descriptor from a method's name, if `wanted` has none.
fn comparable<'n>(wanted: &str, name: &'n str) -> &'n str {
    match name.split_once('(') {
        Some((name, _)) if !wanted.contains('(') => name,
        _ => name,
    }
}

/// Computes the number of insertions, deletions and replacements of bytes between two texts
/// (Levenshtein).
pub fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, wanted) in one.bytes().enumerate() {
        let mut diagonal = at;
        if let Some(first) = row.first_mut() {
            *first = at + 1;
        }
        let mut left = at + 1;
        for (found, cell) in other.bytes().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(wanted != found);
            diagonal = *cell;
            *cell = replaced.min(left + 1).min(*cell + 1);
            left = *cell;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_single_changes() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("transferr", "transfer", 1),
            ("same", "same", 0),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn nearest_names_come_first_and_far_ones_not_at_all() {
        let names = ["transfer(I)V", "transfers(I)V", "balance()I"];
        assert_eq!(
            nearest("transferr", names.into_iter()),
            ["transfer(I)V", "transfers(I)V"]
        );
        assert!(nearest("x", names.into_iter()).is_empty());
        let long = ["replaced(Ljava/lang/String;J)Ljava/lang/String;"];
        assert_eq!(nearest("replacd", long.into_iter()), long);
    }
}
