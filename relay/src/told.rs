//! What a receiver has said of those that send: the same is said once, and counted then.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Lines of a log, each of which says something of somebody.
pub struct Told {
    lines: Mutex<Lines>,
    most: usize,
}

#[derive(Default)]
struct Lines {
    /// How often each was said, in the order in which they came first.
    counts: Vec<(String, u64)>,
    places: HashMap<String, usize>,
    /// How many came for which there was no room.
    others: u64,
}

/// What is to be printed of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum News {
    /// The line itself.
    Line,
    /// That no more of them are named.
    Full,
    /// Nothing: it was said before, or there is no room.
    None,
}

impl Told {
    /// Nothing was said; of `most` different lines at most the number will be known.
    pub fn new(most: usize) -> Self {
        let lines = Mutex::default();
        Self { lines, most }
    }

    /// Counts a line.
    pub fn count(&self, line: &str) -> News {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = lines.places.get(line).copied() {
            lines.counts[place].1 += 1;
            return News::None;
        }
        if lines.counts.len() >= self.most {
            lines.others += 1;
            return match lines.others {
                1 => News::Full,
                _ => News::None,
            };
        }
        let place = lines.counts.len();
        lines.places.insert(line.to_owned(), place);
        lines.counts.push((line.to_owned(), 1));
        News::Line
    }

    /// Prints a line, if it was not said before.
    pub fn say(&self, line: &str) {
        match self.count(line) {
            News::Line => println!("{line}"),
            News::Full => println!("further ones are counted and not named"),
            News::None => {}
        }
    }

    /// How many lines there were in all, those that came again among them.
    pub fn total(&self) -> u64 {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.counts.iter().map(|(_, count)| count).sum::<u64>() + lines.others
    }

    /// The lines that came more than once, with their numbers.
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
    fn what_is_said_again_is_counted_and_what_has_no_room_too() {
        let told = Told::new(2);
        let said = ["a", "b", "a", "c", "d", "a"].map(|line| told.count(line));
        let [first, second, again, full, more, third] = said;
        assert_eq!((first, second), (News::Line, News::Line));
        assert_eq!((again, third, more), (News::None, News::None, News::None));
        assert_eq!(full, News::Full);
        assert_eq!(told.total(), 6);
        assert_eq!(told.repeated(), [("a".to_owned(), 3)]);
    }
}
