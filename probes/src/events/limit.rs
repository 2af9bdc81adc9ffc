//! An event file that is not to become longer than asked for.

use std::io;

use super::compact::{Compaction, Leave};
use super::{Lost, SizeLimit, WhenFull};
use crate::log::Log;

/// How an event file is kept as short as asked for, and what that costs.
#[derive(Debug)]
pub(super) struct Limit {
    asked: SizeLimit,
    compaction: Option<Compaction>,
    /// The length from which on the file is made shorter.
    due: u64,
    /// The file's offsets and this make offsets in all that was ever written.
    shift: u64,
    /// No more single calls are written.
    stopped: bool,
    /// They will be when the file is shorter: those that fill it were forgotten.
    resumes: bool,
    /// The file cannot be made shorter, which was reported.
    failing: bool,
    /// Calls since the start or the last reset that were taken out of the file.
    pub oldest: u64,
    /// Calls since the start or the last reset that were not written to it.
    pub over_size: u64,
}

impl Limit {
    pub fn new(asked: SizeLimit) -> Self {
        let mut limit = Self {
            asked,
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
        match self.asked.when_full {
            WhenFull::DropOldest => self.share(14),
            WhenFull::Stop => self.share(15),
        }
    }

    /// So many sixteenths of the size.
    fn share(&self, sixteenths: u64) -> u64 {
        self.asked.bytes / 16 * sixteenths
    }

    /// Whether single calls are written when the file has this length.
    pub fn takes_calls(&mut self, length: u64) -> bool {
        // What is left is for sums, which go on.
        self.stopped |= self.asked.when_full == WhenFull::Stop && length >= self.share(14);
        !self.stopped
    }

    /// All calls so far are forgotten.
    pub fn reset(&mut self) {
        (self.oldest, self.over_size) = (0, 0);
        if let Some(compaction) = &mut self.compaction {
            compaction.forget();
        }
        if self.stopped {
            (self.resumes, self.compaction, self.due) = (true, None, 0);
        }
    }

    /// Gives up what is not finished.
    pub fn end(&mut self) {
        self.compaction = None;
    }

    /// Makes the file shorter if it is time, some mebibytes at a time. `lost` is what was written last.
    ///
    /// # Errors
    /// Why that cannot be done, for the first time; it is tried again when the file has grown.
    pub fn keep(&mut self, log: &mut Log, lost: &Lost) -> io::Result<()> {
        if log.is_stalled() {
            self.compaction = None; // records may be taken back
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
            if log.length() < self.asked.bytes {
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
        let (keep, leave) = match self.asked.when_full {
            WhenFull::DropOldest => (self.share(8), Leave::Oldest),
            WhenFull::Stop => (0, Leave::Forgotten),
        };
        let size = (log.length(), keep);
        Compaction::begin(log.file(), log.path(), size, leave, self.shift)
    }
}
