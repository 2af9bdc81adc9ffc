//! The tests that are under way, as reported by a test framework or a command.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Largest number of tests that are under way at once, including their containers.
const OPEN: usize = 1_024;

/// The tests that are under way.
#[derive(Debug, Default)]
pub(crate) struct TestRuns {
    open: Mutex<OpenTests>,
    used: AtomicBool,
}

/// The tests that have begun and not ended.
#[derive(Debug, Default)]
pub(crate) struct OpenTests(Vec<Test>);

/// A test, or a container of tests such as their class.
#[derive(Debug)]
pub(crate) struct Test {
    /// Identifies it at its end; unique among the tests that are under way.
    pub id: String,
    /// The id of its container.
    pub parent: Option<String>,
    /// Its name.
    pub name: String,
}

impl TestRuns {
    /// Checks whether tests are in use.
    pub fn are_used(&self) -> bool {
        self.used.load(Ordering::Acquire)
    }

    /// Begins the use of tests. Returns true the first time.
    pub fn begin_use(&self) -> bool {
        !self.used.swap(true, Ordering::AcqRel)
    }

    /// Ends the use of tests, and returns the state before.
    pub fn end_use(&self) -> bool {
        self.used.swap(false, Ordering::AcqRel)
    }

    /// The tests that are under way, locked for changes.
    pub fn open(&self) -> MutexGuard<'_, OpenTests> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenTests {
    /// Begins a test. Returns false if too many are under way.
    pub fn begin(&mut self, test: Test) -> bool {
        self.end(&test.id);
        if self.0.len() >= OPEN {
            return false;
        }
        self.0.push(test);
        true
    }

    /// Ends a test. Returns true if it was under way.
    pub fn end(&mut self, id: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|open| open.id != id);
        self.0.len() < before
    }

    /// The names of the tests to which current hits belong: for a container with tests under way, its tests.
    pub fn names(&self) -> Vec<String> {
        let parents: BTreeSet<&str> = self
            .0
            .iter()
            .filter_map(|open| open.parent.as_deref())
            .collect();
        let open = self
            .0
            .iter()
            .filter(|open| !parents.contains(open.id.as_str()));
        let names: BTreeSet<&str> = open.map(|open| open.name.as_str()).collect();
        names.into_iter().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(open: &mut OpenTests, id: &str, parent: &str, name: &str) -> bool {
        open.begin(Test {
            id: id.to_owned(),
            parent: Some(parent.to_owned()),
            name: name.to_owned(),
        })
    }

    #[test]
    fn hits_belong_to_the_innermost_tests() {
        let mut open = OpenTests::default();
        assert!(open.names().is_empty());
        begin(&mut open, "c", "engine", "C");
        assert_eq!(open.names(), ["C"]);
        begin(&mut open, "c/m", "c", "C#m");
        begin(&mut open, "c/n", "c", "C#n");
        begin(&mut open, "c/m/1", "c/m", "C#m");
        begin(&mut open, "c/m/2", "c/m", "C#m");
        assert_eq!(open.names(), ["C#m", "C#n"]);
        assert!(open.end("c/n") && !open.end("c/n"));
        assert!(open.end("c/m/1") && open.end("c/m/2") && open.end("c/m"));
        assert_eq!(open.names(), ["C"]);
    }

    #[test]
    fn number_of_open_tests_is_bounded() {
        let mut open = OpenTests::default();
        for test in 0..OPEN {
            assert!(begin(&mut open, &test.to_string(), "", "test"));
        }
        assert!(!begin(&mut open, "more", "", "test"));
        assert!(begin(&mut open, "7", "", "again"));
        assert_eq!(open.names(), ["again", "test"]);
    }
}
