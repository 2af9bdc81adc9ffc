//! Following a growing event file gives the same result as reading the whole file.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use probes::events::{
    Aggregate, Call, Capture, CaptureSource, Entry, EventWriter, Followed, Follower, Lost, Outcome,
    SpanInfo, ThreadInfo, Trace, Value, bucket_of,
};
use probes::format::{HEADER_LENGTH, Meta};
use probes::{Incomplete, SnapshotError};
use proptest::prelude::*;

/// An action of the agent.
#[derive(Debug, Clone)]
enum Step {
    Call { thread: u64, nanos: u64, thrown: u8 },
    Span(u32),
    Thread(u64),
    Aggregate(u32, u64),
    Count(u32, u64),
    Lost(u64),
    Reset,
    Flush,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0_u64..3, 0_u64..1 << 40, any::<u8>())
            .prop_map(|(thread, nanos, thrown)| Step::Call { thread, nanos, thrown }),
        1 => any::<u32>().prop_map(Step::Span),
        1 => any::<u64>().prop_map(Step::Thread),
        2 => (0_u32..4, any::<u64>()).prop_map(|(span, nanos)| Step::Aggregate(span, nanos)),
        2 => (0_u32..4, any::<u64>()).prop_map(|(span, calls)| Step::Count(span, calls)),
        1 => any::<u64>().prop_map(Step::Lost),
        1 => Just(Step::Reset),
        3 => Just(Step::Flush),
    ];
    prop::collection::vec(step, 0..60)
}

fn call(thread: u64, start: u64, nanos: u64, thrown: u8) -> Call {
    let value = Value::Object {
        class: format!("a/V{}", thrown % 5).into(),
        identity: 7,
    };
    Call {
        thread,
        span: 3,
        start,
        end: start + nanos,
        outcome: match thrown % 4 {
            0 => Outcome::Open,
            1 => Outcome::Threw(Some(format!("a/E{thrown}").into())),
            2 => Outcome::Threw(None),
            _ => Outcome::Returned,
        },
        captures: (thrown > 100)
            .then_some(Capture {
                source: CaptureSource::Argument(0),
                value,
            })
            .into_iter()
            .collect(),
    }
}

/// Returns the bytes of the file that these steps produce.
fn file(steps: &[Step], ends: bool) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = EventWriter::create(folder.path(), &Meta::default()).unwrap();
    for (step, number) in steps.iter().zip(1..) {
        match step {
            Step::Call {
                thread,
                nanos,
                thrown,
            } => writer.call(&call(*thread, number, *nanos, *thrown), *thread == 2),
            Step::Span(id) => writer.span(&SpanInfo {
                id: *id,
                ..SpanInfo::default()
            }),
            Step::Thread(id) => writer.thread(&ThreadInfo {
                id: *id,
                name: "t".repeat(number as usize),
                is_virtual: false,
            }),
            Step::Aggregate(span, nanos) => {
                let mut sums = Aggregate {
                    count: 1,
                    total: *nanos,
                    ..Aggregate::default()
                };
                sums.histogram.add(bucket_of(*nanos), 1);
                writer.aggregates([(*span, &sums)]);
            }
            Step::Count(span, calls) => writer.counts([(*span, *calls)]),
            Step::Lost(full) => writer.lost(&Lost {
                full: *full,
                ..Lost::default()
            }),
            Step::Reset => writer.reset(),
            Step::Flush => drop(writer.flush().unwrap()),
        }
    }
    if ends {
        writer.complete().unwrap();
    } else {
        writer.flush().unwrap();
    }
    std::fs::read(writer.path()).unwrap()
}

/// Reads all available entries.
fn follow(follower: &mut Follower) -> Result<Vec<Entry>, SnapshotError> {
    let mut entries = Vec::new();
    while follower.read(&mut |entry| entries.push(entry))? == Followed::More {}
    Ok(entries)
}

fn united(entries: Vec<Entry>) -> Trace {
    let mut trace = Trace::default();
    entries.into_iter().for_each(|entry| trace.take(entry));
    trace.finish();
    trace
}

/// Returns a follower of an empty file, and the file.
fn followed(folder: &Path) -> (Follower, File) {
    let path = folder.join("a.events");
    File::create(&path).unwrap();
    let file = OpenOptions::new().append(true).open(&path).unwrap();
    (Follower::open(&path).unwrap(), file)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn reading_in_pieces_equals_reading_the_whole_file(
        steps in steps(),
        ends in any::<bool>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let bytes = file(&steps, ends);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let folder = tempfile::tempdir().unwrap();
        let (mut follower, mut file) = followed(folder.path());
        let (mut entries, mut written) = (Vec::new(), 0);
        for cut in cuts {
            file.write_all(&bytes[written..cut]).unwrap();
            written = cut;
            entries.extend(follow(&mut follower).unwrap());
            if let Ok(mut whole) = Trace::from_bytes(&bytes[..cut]) {
                whole.truncated = false;
                prop_assert_eq!(united(entries.clone()), whole);
            }
        }
        prop_assert_eq!(entries.last() == Some(&Entry::End), ends);
    }

    #[test]
    fn damage_is_an_error_after_all_records_before_it(
        steps in steps(),
        at in any::<prop::sample::Index>(),
        bit in 0_u8..8,
    ) {
        let mut bytes = file(&steps, true);
        let at = HEADER_LENGTH + at.index(bytes.len() - HEADER_LENGTH);
        bytes[at] ^= 1 << bit;
        let folder = tempfile::tempdir().unwrap();
        let (mut follower, mut file) = followed(folder.path());
        file.write_all(&bytes).unwrap();
        let mut entries = Vec::new();
        let error = loop {
            match follower.read(&mut |entry| entries.push(entry)) {
                Ok(Followed::More) => {}
                other => break other,
            }
        };
        let Err(SnapshotError::Corrupt { offset, .. }) = error else {
            return Err(TestCaseError::fail(format!("{error:?}")));
        };
        prop_assert!(offset <= at as u64);
        let before = &bytes[..offset as usize];
        match Trace::from_bytes(before) {
            Ok(whole) => prop_assert_eq!(united(entries), whole),
            Err(error) => {
                let is_empty = matches!(error, SnapshotError::Empty { .. });
                prop_assert!(is_empty);
            }
        }
    }
}

#[test]
fn file_of_another_type_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (mut follower, mut file) = followed(folder.path());
    file.write_all(b"\x8EHOOK\r\n\x1A\x01\0\0\0\0\0\0\0")
        .unwrap();
    let error = follow(&mut follower).unwrap_err();
    assert!(matches!(error, SnapshotError::NotASnapshot { .. }));
    let error = Follower::open(&folder.path().join("b.events")).unwrap_err();
    assert!(error.to_string().contains("b.events"), "{error}");
}

/// A failed write is truncated; a different record takes its place.
#[test]
fn truncated_torn_tail_is_no_damage() {
    let whole = file(&[Step::Count(1, 5), Step::Flush, Step::Count(2, 6)], true);
    let other = file(&[Step::Count(1, 5), Step::Flush, Step::Lost(9)], true);
    let common = whole.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let folder = tempfile::tempdir().unwrap();
    let (mut follower, mut file) = followed(folder.path());
    let end = (HEADER_LENGTH..=common)
        .rev()
        .find(|end| Trace::from_bytes(&whole[..*end]).is_ok_and(|trace| !trace.truncated))
        .unwrap();
    file.write_all(&whole[..end + 10]).unwrap(); // shorter than any record
    let mut entries = follow(&mut follower).unwrap();
    file.set_len(end as u64).unwrap();
    entries.extend(follow(&mut follower).unwrap());
    file.write_all(&other[end..]).unwrap();
    entries.extend(follow(&mut follower).unwrap());
    assert_eq!(united(entries), Trace::from_bytes(&other).unwrap());
}

/// The writer takes records back when it cannot write, and writes them again later.
#[test]
fn records_that_are_taken_back_are_passed_on_once() {
    let steps: Vec<Step> = (0..6)
        .flat_map(|n| [Step::Count(n, 1), Step::Lost(n.into())])
        .collect();
    let whole = file(&steps, false);
    let ends: Vec<usize> = (HEADER_LENGTH + 1..=whole.len())
        .filter(|end| Trace::from_bytes(&whole[..*end]).is_ok_and(|trace| !trace.truncated))
        .collect();
    let incomplete = Incomplete {
        since_ms: 5,
        cause: "no room".to_owned(),
        ..Incomplete::default()
    };
    let payload = serde_json::to_vec(&incomplete).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut follower, mut file) = followed(folder.path());
    file.write_all(&whole[..ends[8]]).unwrap();
    let first = follow(&mut follower).unwrap();
    let marker = record(12, &payload);
    file.set_len(ends[5] as u64).unwrap();
    file.write_all(&marker).unwrap();
    assert_eq!(
        follow(&mut follower).unwrap(),
        [Entry::Incomplete(incomplete)]
    );
    file.write_all(&whole[ends[5]..]).unwrap();
    let rest = follow(&mut follower).unwrap();
    let entries = [first, rest].concat();
    let counts = entries
        .iter()
        .filter(|entry| matches!(entry, Entry::Count(..)));
    assert_eq!(counts.count(), 6);
    assert_eq!(united(entries), Trace::from_bytes(&whole).unwrap());
}

/// Encodes a record in the file format.
fn record(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut head = vec![0xC5, 0xA7];
    head.extend(kind.to_le_bytes());
    head.extend((payload.len() as u32).to_le_bytes());
    let crc = crc32fast::hash(&head);
    head.extend(crc.to_le_bytes());
    head.extend(payload);
    head.extend(crc32fast::hash(payload).to_le_bytes());
    head
}
