//! Times up to which calls of threads were dropped, in memory that does not grow with the number of threads.

/// Number of groups of threads. Java numbers its threads, so few threads of one time share a group.
const GROUPS: u64 = 1 << 20;

/// For each group of threads, the latest end of a dropped call, in nanoseconds. Empty until a call is dropped.
#[derive(Debug, Default)]
pub(crate) struct ForgottenCalls(Vec<u64>);

impl ForgottenCalls {
    /// Notes that the calls of a thread were dropped, whose last one ended at this time.
    pub fn forget(&mut self, thread: u64, end: u64) {
        if self.0.is_empty() {
            self.0.resize(GROUPS as usize, 0);
        }
        let last = &mut self.0[(thread % GROUPS) as usize];
        *last = end.max(*last);
    }

    /// Checks whether dropped calls of a thread, or of another one in its group, ended after this time.
    pub fn has_since(&self, thread: u64, start: u64) -> bool {
        let last = self.0.get((thread % GROUPS) as usize);
        last.is_some_and(|last| *last > start)
    }
}
