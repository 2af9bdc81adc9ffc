//! A disk becomes full in the middle of a record: the file holds whole records, and later all of them.
//!
//! The limit on file sizes applies to a whole process, and exceeding it raises a signal. So the test starts itself
//! again from a shell that ignores the signal.

use std::path::Path;
use std::process::Command;

use probes::events::{Call, Entry, Followed, Follower, Outcome};
use probes::{
    EventWriter, Flush, Meta, ProbeTable, Snapshot, SnapshotOptions, SnapshotWriter, Summary,
    Trace, WriteError,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const CHILD: &str = "CLASSHOOK_TEST_FULL_DISK";

#[test]
fn full_disk_loses_no_data() {
    if let Ok(directory) = std::env::var(CHILD) {
        return record_to_a_full_disk(Path::new(&directory));
    }
    let directory = tempfile::tempdir().unwrap();
    run_alone("full_disk_loses_no_data", directory.path());
    let file = std::fs::read_dir(directory.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let snapshot = Snapshot::read(&file.path()).unwrap();
    assert!(snapshot.complete);
    assert_eq!(snapshot.classes.len(), 9);
    assert!(
        snapshot
            .classes
            .iter()
            .all(|class| class.probes == [true, true, true])
    );
}

/// The file reports the full disk whenever its JVM ends, and loses nothing if room becomes available.
#[test]
fn event_file_is_marked_incomplete_while_writing_fails() {
    let name = "event_file_is_marked_incomplete_while_writing_fails";
    match std::env::var(CHILD) {
        Ok(directory) => record_events_to_a_full_disk(Path::new(&directory)),
        Err(_) => run_alone(name, tempfile::tempdir().unwrap().path()),
    }
}

/// Starts this program again for one test, with the signal ignored.
fn run_alone(test: &str, directory: &Path) {
    let output = Command::new("sh")
        .args(["-c", r#"trap "" XFSZ; exec "$0" --exact "$1" --nocapture"#])
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .env(CHILD, directory)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

fn record_events_to_a_full_disk(directory: &Path) {
    let mut writer = EventWriter::create(directory, &Meta::default()).unwrap();
    let path = writer.path().to_owned();
    let read = || Trace::read(&path).unwrap();
    let mut follower = Follower::open(&path).unwrap();
    let mut seen = 0;
    // Calls arrive in the order of their start, and once each.
    let mut follow = || {
        let mut take = |entry| {
            if let Entry::Call(call, _) = entry {
                assert!(call.start >= seen * 10, "{call:?} after {seen}");
                seen += 1;
            }
        };
        while follower.read(&mut take).unwrap() == Followed::More {}
        seen
    };
    let mut made = 0;
    let mut add = |writer: &mut EventWriter, count: u64| {
        for start in made..made + count {
            let call = Call {
                thread: 1,
                span: 1,
                start: start * 10,
                end: start * 10 + 5,
                outcome: Outcome::Returned,
                captures: Vec::new(),
            };
            writer.call(&call, false);
        }
        made += count;
    };
    for _ in 0..5 {
        add(&mut writer, 10);
        assert!(matches!(writer.flush(), Ok(Flush::Written(_))));
    }
    let whole = std::fs::metadata(&path).unwrap().len();
    assert_eq!((read().incomplete, read().calls.len()), (None, 50));
    assert_eq!(follow(), 50);

    limit_files_to(Some(whole + 40)); // too little for the incomplete record
    add(&mut writer, 10);
    assert!(matches!(writer.flush(), Err(WriteError::Write { .. })));
    let incomplete = read();
    let cause = incomplete.incomplete.expect("a cause").cause;
    assert!(cause.contains("File too large"), "{cause}");
    assert!((10..50).contains(&incomplete.calls.len()) && !incomplete.truncated);
    assert!(matches!(writer.flush(), Ok(Flush::Stalled(_))));
    assert_eq!(follow(), 50);

    limit_files_to(None);
    while !matches!(writer.flush(), Ok(Flush::Written(_))) {} // retried after a while
    assert_eq!((read().incomplete, read().calls.len()), (None, 60));
    assert_eq!(follow(), 60);

    limit_files_to(Some(std::fs::metadata(&path).unwrap().len()));
    add(&mut writer, 5_000_000);
    assert!(writer.flush().is_err() && writer.is_clogged());
    let unwritten = writer.unwritten();
    assert!(
        unwritten > 1_000_000 && writer.pending() < 20 << 20,
        "{unwritten}"
    );
    assert!(writer.complete().is_err());
    assert!(read().incomplete.is_some() && !read().complete);

    limit_files_to(None);
    writer.complete().unwrap();
    let trace = read();
    assert!(trace.complete && trace.incomplete.is_none());
    assert_eq!(trace.calls.len() as u64, 60 + 5_000_000 - unwritten);
    assert_eq!(follow(), trace.calls.len() as u64);
}

/// Without room even for an incomplete record, no file is created.
#[test]
fn file_without_room_for_the_incomplete_record_is_not_created() {
    let name = "file_without_room_for_the_incomplete_record_is_not_created";
    let Ok(directory) = std::env::var(CHILD) else {
        return run_alone(name, tempfile::tempdir().unwrap().path());
    };
    let directory = Path::new(&directory);
    let create = || SnapshotWriter::create(directory, Meta::default(), SnapshotOptions::default());
    let length = create().unwrap().length();
    limit_files_to(Some(length + 100));
    assert!(matches!(create(), Err(WriteError::Create { .. })));
    assert_eq!(std::fs::read_dir(directory).unwrap().count(), 1);

    limit_files_to(Some(length + 256));
    let mut writer = create().unwrap();
    let table = ProbeTable::new();
    table.set_arrays(1);
    table
        .register("a/Long", 1, "app", "coverage", 3, &[0x5A; 9_000])
        .unwrap();
    let name = "a/".to_owned() + &"Longer".repeat(100);
    table.register(&name, 2, "app", "coverage", 3, b"").unwrap();
    assert!(writer.flush(&table).is_err());
    let snapshot = Snapshot::read(writer.path()).unwrap();
    assert_eq!(snapshot.incomplete.unwrap().classes, 2);
}

fn limit_files_to(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(
        Resource::Fsize,
        Rlimit {
            current: bytes,
            maximum,
        },
    )
    .unwrap();
}

fn record_to_a_full_disk(directory: &Path) {
    let mut writer =
        SnapshotWriter::create(directory, Meta::default(), SnapshotOptions::default()).unwrap();
    let table = ProbeTable::new();
    table.set_arrays(1);
    let register = |class: u64| {
        table
            .register(&format!("a/C{class}"), class, "app", "coverage", 3, b"")
            .unwrap()
    };
    (0..3).for_each(|class| assert_eq!(u64::from(register(class).base), class * 3));
    assert!(matches!(writer.flush(&table), Ok(Flush::Written(_))));
    let whole = std::fs::metadata(writer.path()).unwrap().len();

    limit_files_to(Some(whole + 100)); // too little for the incomplete record
    (3..9).for_each(|class| assert_eq!(u64::from(register(class).base), class * 3));
    writer.absorb(0, &[1; 27]);
    assert!(matches!(
        writer.flush(&table),
        Err(WriteError::Write { .. })
    ));
    assert!(matches!(writer.flush(&table), Ok(Flush::Stalled(_))));
    let path = writer.path().to_owned();
    let missing = || {
        let snapshot = Snapshot::read(&path).unwrap();
        let incomplete = snapshot.incomplete.expect("a cause");
        assert!(incomplete.cause.contains("File too large") && incomplete.since_ms > 0);
        assert!(!snapshot.complete && !snapshot.truncated);
        (
            snapshot.classes.len() as u64,
            incomplete.classes,
            incomplete.probes,
        )
    };
    let (there, classes, probes) = missing();
    assert!((1..=3).contains(&there), "{there}");
    assert_eq!((there + classes, probes), (9, 27));

    writer.absorb(0, &[1; 28]);
    assert!(matches!(writer.flush(&table), Ok(Flush::Stalled(_))));
    assert_eq!(missing(), (there, classes, 28), "kept up to date");
    assert!(writer.complete(&table, &Summary::default()).is_err());
    assert_eq!(missing(), (there, classes, 28));

    limit_files_to(None);
    assert!(matches!(writer.flush(&table), Ok(Flush::Written(_))));
    writer.complete(&table, &Summary::default()).unwrap();
    assert_eq!(Snapshot::read(writer.path()).unwrap().incomplete, None);
}
