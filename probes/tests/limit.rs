//! Event files with a size limit.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use probes::events::{
    Aggregate, Call, Entry, EventWriter, Followed, Follower, Lost, Outcome, SizeLimit, SpanInfo,
    ThreadInfo, Trace, WhenFull,
};
use probes::{Flush, Meta};

/// An event file and the number of calls made.
struct Recording {
    writer: EventWriter,
    made: u64,
}

impl Recording {
    fn begin(folder: &Path, bytes: u64, when_full: WhenFull) -> Self {
        let writer = EventWriter::create(folder, &Meta::default()).unwrap();
        let limit = SizeLimit { bytes, when_full };
        let mut writer = writer.with_limit(Some(limit));
        writer.span(&SpanInfo {
            id: 3,
            class: "a/A".to_owned(),
            ..SpanInfo::default()
        });
        writer.thread(&ThreadInfo {
            id: 1,
            name: "main".to_owned(),
            is_virtual: false,
        });
        writer.counts([(9, 5)]);
        Self { writer, made: 0 }
    }

    /// Makes calls and writes them as the agent does.
    fn calls(&mut self, count: u64) {
        for number in self.made..self.made + count {
            let call = Call {
                thread: 1,
                span: 3,
                start: number * 10,
                end: number * 10 + 5,
                outcome: Outcome::Threw(Some(format!("a/E{}", number % 7).into())),
                captures: Vec::new(),
            };
            self.writer.call(&call, false);
        }
        self.made += count;
        let sums = Aggregate {
            count: self.made,
            ..Aggregate::default()
        };
        self.writer.aggregates([(3, &sums)]);
        let (oldest, over_size) = self.writer.limited();
        self.writer.lost(&Lost {
            oldest,
            over_size,
            ..Lost::default()
        });
        assert!(matches!(self.writer.flush(), Ok(Flush::Written(_))));
    }

    fn length(&self) -> u64 {
        fs::metadata(self.writer.path()).unwrap().len()
    }

    fn read(&self) -> Trace {
        let trace = Trace::read(self.writer.path()).unwrap();
        assert!(!trace.truncated && trace.incomplete.is_none());
        assert_eq!(trace.aggregates[&3].count, self.made);
        assert_eq!((trace.counts[&9], &*trace.threads[&1].name), (5, "main"));
        assert_eq!(trace.spans[&3].class, "a/A");
        trace
    }
}

/// Reads the new entries and collects the number of each call.
fn follow(follower: &mut Follower, calls: &mut Vec<u64>, metas: &mut usize) {
    let mut take = |entry| match entry {
        Entry::Call(call, _) => calls.push(call.start / 10),
        Entry::Meta(_) => *metas += 1,
        _ => {}
    };
    while follower.read(&mut take).unwrap() == Followed::More {}
}

fn numbers(trace: &Trace) -> Vec<u64> {
    let named = |call: &Call| {
        let number = call.start / 10;
        assert_eq!(
            call.outcome,
            Outcome::Threw(Some(format!("a/E{}", number % 7).into()))
        );
        number
    };
    trace.calls.iter().map(named).collect()
}

#[test]
fn only_the_oldest_calls_are_removed() {
    const LIMIT: u64 = 256 << 10;
    let folder = tempfile::tempdir().unwrap();
    let mut recording = Recording::begin(folder.path(), LIMIT, WhenFull::DropOldest);
    let path = recording.writer.path().to_owned();
    let (mut often, mut rarely) = (
        Follower::open(&path).unwrap(),
        Follower::open(&path).unwrap(),
    );
    let (mut seen, mut some) = (Vec::new(), Vec::new());
    let (mut metas, mut others) = (0, 0);
    for turn in 0..800 {
        recording.calls(1 + turn % 700);
        assert!(recording.length() <= LIMIT);
        let trace = recording.read();
        let kept = numbers(&trace);
        assert_eq!(trace.lost.oldest + kept.len() as u64, recording.made);
        assert!(kept.iter().copied().eq(trace.lost.oldest..recording.made));
        follow(&mut often, &mut seen, &mut metas);
        if turn % 150 == 149 {
            follow(&mut rarely, &mut some, &mut others);
        }
    }
    assert!(recording.read().lost.oldest > 3 * recording.read().calls.len() as u64);
    assert!(seen.iter().copied().eq(0..recording.made));
    follow(&mut rarely, &mut some, &mut others);
    let last = recording.read().lost.oldest;
    let different: BTreeSet<u64> = some.iter().copied().collect();
    assert_eq!(different.len(), some.len(), "none twice");
    assert!((last..recording.made).all(|number| different.contains(&number)));
    assert_eq!((metas, others), (1, 1));
    recording.writer.complete().unwrap();
    assert!(recording.read().complete);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn process_killed_during_a_compaction_leaves_a_whole_file() {
    const LIMIT: u64 = 12 << 20;
    let folder = tempfile::tempdir().unwrap();
    let mut recording = Recording::begin(folder.path(), LIMIT, WhenFull::DropOldest);
    let files = || fs::read_dir(folder.path()).unwrap().count();
    let (mut meanwhile, mut compacted) = (0, 0);
    while compacted < 2 {
        let before = files();
        recording.calls(20_000);
        assert!(recording.length() <= LIMIT);
        match (before, files()) {
            (1, 1) => continue,
            (2, 1) => compacted += 1,
            _ => meanwhile += 1,
        }
        let trace = recording.read(); // the result if the writer ended now
        let kept = numbers(&trace);
        assert!(kept.iter().copied().eq(trace.lost.oldest..recording.made));
    }
    assert!(meanwhile > 1, "made shorter in {meanwhile} steps");
}

#[test]
fn full_file_stops_calls_and_continues_sums() {
    const LIMIT: u64 = 256 << 10;
    let folder = tempfile::tempdir().unwrap();
    let mut recording = Recording::begin(folder.path(), LIMIT, WhenFull::Stop);
    let mut follower = Follower::open(recording.writer.path()).unwrap();
    let (mut seen, mut metas) = (Vec::new(), 0);
    for _ in 0..3_000 {
        recording.calls(50);
        assert!(recording.length() <= LIMIT);
        follow(&mut follower, &mut seen, &mut metas);
    }
    let (_, over_size) = recording.writer.limited();
    let trace = recording.read();
    let kept = numbers(&trace);
    assert!(kept.iter().copied().eq(0..recording.made - over_size));
    assert_eq!((seen, metas), (kept, 1));
    assert!(trace.lost.over_size + 50 >= over_size && trace.lost.is_none());

    recording.writer.reset();
    recording.writer.counts([(9, 5)]);
    let forgotten = recording.made;
    (0..4).for_each(|_| recording.calls(50));
    let trace = recording.read();
    let (_, over_size) = recording.writer.limited();
    let first = forgotten + over_size;
    assert!(over_size <= 100, "{over_size}");
    assert!(numbers(&trace).into_iter().eq(first..recording.made));
}

#[test]
fn reset_calls_do_not_count_as_removed() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = Recording::begin(folder.path(), 64 << 10, WhenFull::DropOldest);
    for _ in 0..60 {
        recording.calls(200);
    }
    assert!(recording.read().lost.oldest > 0);
    recording.writer.reset();
    recording.writer.counts([(9, 5)]);
    let forgotten = recording.made;
    for _ in 0..100 {
        recording.calls(200);
        let trace = recording.read();
        let first = forgotten + trace.lost.oldest;
        assert!(numbers(&trace).into_iter().eq(first..recording.made));
    }
    assert!(recording.read().lost.oldest > 0);
}

#[test]
fn failed_compaction_is_reported_and_writing_continues() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = Recording::begin(folder.path(), 64 << 10, WhenFull::DropOldest);
    let mut name = recording.writer.path().as_os_str().to_owned();
    name.push(".new");
    fs::create_dir(&name).unwrap();
    let mut failures = Vec::new();
    for _ in 0..200 {
        let before = recording.made;
        for number in before..before + 200 {
            let call = Call {
                thread: 1,
                span: 3,
                start: number * 10,
                end: number * 10 + 5,
                outcome: Outcome::Returned,
                captures: Vec::new(),
            };
            recording.writer.call(&call, false);
        }
        recording.made += 200;
        failures.extend(recording.writer.flush().err());
    }
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert!(failures[0].to_string().contains("cannot compact"));
    let trace = Trace::read(recording.writer.path()).unwrap();
    assert_eq!(trace.calls.len() as u64, recording.made);
}
