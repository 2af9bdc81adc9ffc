//! Deduplicates the receiver's log: prints each distinct line once and counts repeats.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// A log that prints each distinct line once and counts its repeats.
pub struct RepeatLog {
    lines: Mutex<Lines>,
    most: usize,
}

#[derive(Default)]
struct Lines {
    /// Each line with its count, in the order of their first occurrence.
    counts: Vec<(String, u64)>,
    places: HashMap<String, usize>,
    /// Lines that arrived after `most` distinct ones.
    others: u64,
}

/// The text to print for a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Output {
    /// The line itself: it is new.
    Line,
    /// A note that no further lines are printed.
    Full,
    /// Nothing: the line is a repeat, or `most` distinct lines were printed before.
    None,
}

impl RepeatLog {
    /// An empty log that keeps at most `most` distinct lines.
    pub fn new(most: usize) -> Self {
        let lines = Mutex::default();
        Self { lines, most }
    }

    /// Counts a line and returns the text to print for it.
    pub fn count(&self, line: &str) -> Output {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = lines.places.get(line).copied() {
            lines.counts[place].1 += 1;
            return Output::None;
        }
        if lines.counts.len() >= self.most {
            lines.others += 1;
            return match lines.others {
                1 => Output::Full,
                _ => Output::None,
            };
        }
        let place = lines.counts.len();
        lines.places.insert(line.to_owned(), place);
        lines.counts.push((line.to_owned(), 1));
        Output::Line
    }

    /// Prints a line unless it was printed before.
    pub fn say(&self, line: &str) {
        match self.count(line) {
            Output::Line => println!("{line}"),
            Output::Full => println!("further ones are counted and not named"),
            Output::None => {}
        }
    }

    /// The number of all lines, repeats included.
    pub fn total(&self) -> u64 {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.counts.iter().map(|(_, count)| count).sum::<u64>() + lines.others
    }

    /// The lines that came more than once, with their counts.
    pub fn repeated(&self) -> Vec<(String, u64)> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let repeated = lines.counts.iter().filter(|(_, count)| *count > 1);
        repeated.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_lines_and_lines_beyond_the_limit_are_counted() {
        let told = RepeatLog::new(2);
        let said = ["a", "b", "a", "c", "d", "a"].map(|line| told.count(line));
        let [first, second, again, full, more, third] = said;
        assert_eq!((first, second), (Output::Line, Output::Line));
        assert_eq!(
            (again, third, more),
            (Output::None, Output::None, Output::None)
        );
        assert_eq!(full, Output::Full);
        assert_eq!(told.total(), 6);
        assert_eq!(told.repeated(), [("a".to_owned(), 3)]);
    }
}
