//! The JVMs of a trace, and their growing event files.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use coverage_inputs::run_files;
use errors::Error;
use local_files::recording_jvm;
use probes::events::{Call, Entry, Followed, Follower, Moment, TaskStep, Trace, Wait};
use trace::rolling::Rolling;
use trace_reports::recorded::is_of_calls;

/// Limit of batches read from one file before the next file. A batch has about 1 MiB.
const BATCHES: usize = 4;

/// Selection of the event files in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventFileSource {
    /// The files of the JVMs of this run.
    Run(String),
    /// The file of one JVM, if it exists, without the data that was reset before now. The recording begins at this time,
    /// in milliseconds since 1970, or with the agent.
    Jvm(Option<recording_jvm::Jvm>, u64),
}

impl EventFileSource {
    /// Returns the event file of the JVM that writes this snapshot, recorded since `begun`, and its folder.
    #[must_use]
    pub fn recorded_in(snapshot: &Path, begun: SystemTime) -> (Self, &Path) {
        let jvm = recording_jvm::jvm_of(snapshot);
        let folder = snapshot.parent().unwrap_or(Path::new("."));
        (Self::Jvm(jvm, milliseconds(begun)), folder)
    }
}

/// An event of a JVM, besides its sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LiveEvent<'a> {
    /// The header of the event file was read.
    Begun,
    /// A call that ended or is still open. The flag marks a virtual thread.
    Call(&'a Call, bool),
    /// An event of a plugin. The flag marks a virtual thread.
    Moment(&'a Moment, bool),
    /// A wait of a thread, or a garbage collection.
    Wait(&'a Wait),
    /// A step of a task.
    Step(&'a TaskStep),
    /// A reset of all data so far.
    Reset,
}

/// The JVMs of a trace.
#[derive(Debug)]
pub struct FollowedJvms {
    folder: PathBuf,
    which: EventFileSource,
    /// Start of the recording in milliseconds since 1970.
    begun: u64,
    /// Event files that are not selected.
    others: HashSet<PathBuf>,
    ours: Vec<Jvm>,
}

#[derive(Debug)]
struct Jvm {
    path: PathBuf,
    follower: Follower,
    rolling: Rolling,
    /// Number of resets before the selected recording.
    stale: usize,
}

impl FollowedJvms {
    /// Follows the event files of a folder, which need not exist yet.
    #[must_use]
    pub fn new(which: EventFileSource, folder: &Path) -> Self {
        let begun = match which {
            EventFileSource::Jvm(_, begun) => begun,
            EventFileSource::Run(_) => now_ms(),
        };
        let mut jvms = Self {
            folder: folder.to_owned(),
            which,
            begun,
            others: HashSet::new(),
            ours: Vec::new(),
        };
        jvms.skip_earlier_resets();
        jvms
    }

    /// Counts the resets in existing files. Read errors are reported later, when the files are followed.
    fn skip_earlier_resets(&mut self) {
        if !matches!(self.which, EventFileSource::Jvm(..)) || self.find().is_err() {
            return;
        }
        for jvm in &mut self.ours {
            let Ok(mut past) = Follower::open(&jvm.path) else {
                continue;
            };
            let mut resets = 0;
            let mut count = |entry| resets += usize::from(entry == Entry::Reset);
            while let Ok(Followed::More) = past.read(&mut count) {}
            jvm.stale = resets;
        }
    }

    /// Reads some mebibytes of new data and passes on each event, with the index and the trace of its JVM. Returns whether
    /// more data is available.
    ///
    /// # Errors
    /// If a file cannot be read or is damaged.
    pub fn read(
        &mut self,
        take: &mut impl FnMut(usize, &Trace, LiveEvent<'_>),
    ) -> Result<bool, Error> {
        self.find()?;
        let mut more = false;
        for (number, jvm) in self.ours.iter_mut().enumerate() {
            more |= jvm.read(&mut |trace, event| {
                take(number, trace, event);
            })?;
        }
        Ok(more)
    }

    /// Returns the traces of all JVMs, by index.
    pub fn all(&mut self) -> impl Iterator<Item = &mut Rolling> {
        self.ours.iter_mut().map(|jvm| &mut jvm.rolling)
    }

    /// Returns the new calls of each JVM since the last request, and their time in milliseconds. JVMs without new calls
    /// are left out.
    pub fn since_last(&mut self, now: u64) -> (Vec<Trace>, Vec<u64>) {
        self.all().filter_map(|jvm| jvm.since_last(now)).unzip()
    }

    /// Searches the folder for new files.
    fn find(&mut self) -> Result<(), Error> {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return Ok(()); // the agent creates the folder later
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_events = path
                .extension()
                .is_some_and(|extension| extension == "events");
            let is_known =
                || self.others.contains(&path) || self.ours.iter().any(|jvm| jvm.path == path);
            if !is_events || is_known() {
                continue;
            }
            match self.is_ours(&path)? {
                None => {}
                Some(true) => self.ours.push(self.jvm(path)?),
                Some(false) => drop(self.others.insert(path)),
            }
        }
        Ok(())
    }

    fn jvm(&self, path: PathBuf) -> Result<Jvm, Error> {
        let follower =
            Follower::open(&path).map_err(|error| run_files::unreadable(&path, &error))?;
        Ok(Jvm {
            path,
            follower,
            rolling: Rolling::new(self.begun),
            stale: 0,
        })
    }

    /// Checks whether a file is selected. `None` means that its header is not written yet.
    fn is_ours(&self, path: &Path) -> Result<Option<bool>, Error> {
        let jvm = recording_jvm::jvm_of(path);
        let run = match &self.which {
            EventFileSource::Jvm(wanted, _) => return Ok(jvm.map(|jvm| Some(jvm) == *wanted)),
            EventFileSource::Run(run) => run,
        };
        if jvm.is_some_and(|jvm| jvm.start_ms < self.begun) {
            return Ok(Some(false));
        }
        let unread = |error| run_files::unreadable(path, &error);
        let mut found = None;
        let mut take = |entry| {
            if let Entry::Meta(meta) = entry {
                found = Some(meta.run == *run);
            }
        };
        let mut follower = Follower::open(path).map_err(unread)?;
        follower.read(&mut take).map_err(unread)?;
        Ok(found)
    }
}

/// Returns the present time in milliseconds since 1970.
#[must_use]
pub fn now_ms() -> u64 {
    milliseconds(SystemTime::now())
}

/// Converts a time to milliseconds since 1970.
fn milliseconds(time: SystemTime) -> u64 {
    let time = time.duration_since(UNIX_EPOCH);
    time.map_or(0, |time| {
        u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
    })
}

impl Jvm {
    fn read(&mut self, take: &mut impl FnMut(&Trace, LiveEvent<'_>)) -> Result<bool, Error> {
        let (rolling, stale) = (&mut self.rolling, &mut self.stale);
        let mut one = |entry: Entry| match entry {
            Entry::Call(call, is_virtual) => {
                if *stale == 0 && rolling.trace().spans.contains_key(&call.span) {
                    take(rolling.trace(), LiveEvent::Call(&call, is_virtual));
                }
            }
            Entry::Moment(moment, is_virtual)
                if rolling.trace().waits.contains_key(&moment.place) =>
            {
                let place = rolling.trace().waits.get(&moment.place);
                let wait = place.and_then(|place| Wait::of(&moment, is_virtual, place));
                if let Some(wait) = wait.filter(|_| *stale == 0) {
                    take(rolling.trace(), LiveEvent::Wait(&wait));
                }
            }
            Entry::Moment(moment, is_virtual)
                if rolling.trace().tasks.contains_key(&moment.place) =>
            {
                let place = rolling.trace().tasks.get(&moment.place);
                let step = place.and_then(|place| TaskStep::of(&moment, is_virtual, place));
                if let Some(step) = step.filter(|_| *stale == 0) {
                    take(rolling.trace(), LiveEvent::Step(&step));
                }
            }
            Entry::Moment(moment, is_virtual) => {
                if *stale == 0 && rolling.trace().places.contains_key(&moment.place) {
                    take(rolling.trace(), LiveEvent::Moment(&moment, is_virtual));
                }
            }
            Entry::Span(span) if !is_of_calls(&span) => {}
            Entry::Meta(_) => {
                rolling.take(entry);
                take(rolling.trace(), LiveEvent::Begun);
            }
            Entry::Reset => {
                rolling.take(entry);
                match stale.checked_sub(1) {
                    Some(left) => *stale = left,
                    None => take(rolling.trace(), LiveEvent::Reset),
                }
            }
            other => rolling.take(other),
        };
        for _ in 0..BATCHES {
            match self.follower.read(&mut one) {
                Ok(Followed::More) => {}
                Ok(Followed::All) => return Ok(false),
                Err(error) => return Err(run_files::unreadable(&self.path, &error)),
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probes::Meta;
    use probes::events::{Aggregate, EventWriter, SpanInfo};

    /// Calls are recorded before this command begins to read.
    #[test]
    fn first_interval_begins_with_the_recording() {
        let folder = tempfile::tempdir().unwrap();
        let now = milliseconds(SystemTime::now());
        let meta = Meta {
            pid: 7,
            start_ms: now - 500,
            ..Meta::default()
        };
        let mut writer = EventWriter::create(folder.path(), &meta).unwrap();
        writer.span(&SpanInfo::default());
        let sums = Aggregate {
            count: 1,
            ..Aggregate::default()
        };
        writer.aggregates([(0, &sums)]);
        writer.flush().unwrap();
        let begun = UNIX_EPOCH + std::time::Duration::from_millis(now - 2_000);
        let (which, beside) = EventFileSource::recorded_in(writer.path(), begun);
        let mut jvms = FollowedJvms::new(which, beside);
        jvms.read(&mut |_, _, _| {}).unwrap();
        let (_, length) = jvms.all().next().unwrap().since_last(now).unwrap();
        assert!((500..2_000).contains(&length), "{length}");
    }
}
