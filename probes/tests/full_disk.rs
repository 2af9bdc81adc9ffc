//! A disk that is full in the middle of a record: the file holds whole records, and later everything.
//!
//! The limit on file sizes holds for a whole process, and exceeding it raises a signal.
//! So the test starts itself again from a shell that ignores the signal.

use std::path::Path;
use std::process::Command;

use probes::{
    Flush, Meta, ProbeTable, Snapshot, SnapshotOptions, SnapshotWriter, Summary, WriteError,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const CHILD: &str = "CLASSHOOK_TEST_FULL_DISK";

#[test]
fn full_disk_costs_nothing_but_time() {
    if let Ok(directory) = std::env::var(CHILD) {
        return record_to_a_full_disk(Path::new(&directory));
    }
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new("sh")
        .args([
            "-c",
            r#"trap "" XFSZ; exec "$0" --exact full_disk_costs_nothing_but_time --nocapture"#,
        ])
        .arg(std::env::current_exe().unwrap())
        .env(CHILD, directory.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
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

    limit_files_to(Some(whole + 100)); // room for one record and a part of the next
    (3..9).for_each(|class| assert_eq!(u64::from(register(class).base), class * 3));
    writer.absorb(0, &[1; 27]);
    assert!(matches!(
        writer.flush(&table),
        Err(WriteError::Write { .. })
    ));
    assert!(matches!(writer.flush(&table), Ok(Flush::Stalled(_))));
    assert_eq!(
        std::fs::metadata(writer.path()).unwrap().len(),
        whole,
        "cut back to whole records"
    );
    assert_eq!(Snapshot::read(writer.path()).unwrap().classes.len(), 3);

    limit_files_to(None);
    assert!(matches!(writer.flush(&table), Ok(Flush::Written(_))));
    writer.complete(&table, &Summary::default()).unwrap();
}
