//! Keeps an event file within its size limit.

use std::io;

use super::compact::{Compaction, Leave};
use super::{Lost, SizeLimit, WhenFull};
use crate::log::Log;

/// The state of the size limit, with the calls that it cost.
#[derive(Debug)]
pub(super) struct Limit {
    size_limit: SizeLimit,
    compaction: Option<Compaction>,
    /// File length that starts the next compaction.
    due: u64,
    /// Adding this to an offset of the file gives the offset in all bytes ever written.
    shift: u64,
    /// Set if no more single calls are written.
    stopped: bool,
    /// Set if single calls are written again after the compaction, because a reset discarded those in the file.
    resumes: bool,
    /// Set if a compaction failed and the failure was reported.
    failing: bool,
    /// Calls since the start or the last reset that were removed from the file.
    pub oldest: u64,
    /// Calls since the start or the last reset that were not written to the file.
    pub over_size: u64,
}

impl Limit {
    pub fn new(size_limit: SizeLimit) -> Self {
        let mut limit = Self {
            size_limit,
            compaction: None,
            due: 0,
            shift: 0,
            stopped: false,
            failing: false,
            resumes: false,
            oldest: 0,
            over_size: 0,
        };
        limit.due = limit.first_due();
        limit
    }

    fn first_due(&self) -> u64 {
        match self.size_limit.when_full {
            WhenFull::DropOldest => self.share(14),
            WhenFull::Stop => self.share(15),
        }
    }

    /// Returns a number of sixteenths of the limit.
    fn share(&self, sixteenths: u64) -> u64 {
        self.size_limit.bytes / 16 * sixteenths
    }

    /// Checks whether single calls are written to a file of this length.
    pub fn takes_calls(&mut self, length: u64) -> bool {
        // The rest of the file is reserved for sums.
        self.stopped |= self.size_limit.when_full == WhenFull::Stop && length >= self.share(14);
        !self.stopped
    }

    /// Discards all calls so far.
    pub fn reset(&mut self) {
        (self.oldest, self.over_size) = (0, 0);
        if let Some(compaction) = &mut self.compaction {
            compaction.reset();
        }
        if self.stopped {
            (self.resumes, self.compaction, self.due) = (true, None, 0);
        }
    }

    /// Abandons an unfinished compaction.
    pub fn end(&mut self) {
        self.compaction = None;
    }

    /// Compacts the file if it is due, some mebibytes in each call. `lost` holds the losses written last.
    ///
    /// # Errors
    /// The cause of the first failure. The compaction is tried again when the file has grown.
    pub fn keep(&mut self, log: &mut Log, lost: &Lost) -> io::Result<()> {
        if log.is_stalled() {
            self.compaction = None; // the log may take records back
            return Ok(());
        }
        if self.compaction.is_none() && log.length() < self.due {
            return Ok(());
        }
        match self.go_on(log, lost) {
            Err(error) => {
                self.due = log.length() + self.share(2);
                let is_new = !std::mem::replace(&mut self.failing, true);
                if is_new { Err(error) } else { Ok(()) }
            }
            Ok(()) => Ok(()),
        }
    }

    fn go_on(&mut self, log: &mut Log, lost: &Lost) -> io::Result<()> {
        let mut compaction = match self.compaction.take() {
            Some(begun) => begun,
            None => self.begin(log)?,
        };
        while !compaction.step(log.length())? {
            if log.length() < self.size_limit.bytes {
                self.compaction = Some(compaction);
                return Ok(());
            }
        }
        self.oldest += compaction.dropped();
        let lost = Lost {
            oldest: self.oldest,
            over_size: self.over_size,
            ..*lost
        };
        let shorter = compaction.finish(log.path(), &lost)?;
        self.shift = shorter.shift;
        self.due = self.first_due().max(shorter.length + self.share(1));
        log.replace(shorter.file, shorter.length);
        self.failing = false;
        if std::mem::take(&mut self.resumes) {
            self.stopped = false;
        }
        Ok(())
    }

    fn begin(&self, log: &Log) -> io::Result<Compaction> {
        let (keep, leave) = match self.size_limit.when_full {
            WhenFull::DropOldest => (self.share(8), Leave::Oldest),
            WhenFull::Stop => (0, Leave::Forgotten),
        };
        let size = (log.length(), keep);
        Compaction::begin(log.file(), log.path(), size, leave, self.shift)
    }
}
