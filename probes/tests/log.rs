//! Reading returns the recorded data, wherever the file is cut.

use probes::format::{HEAD_LENGTH, HEADER_LENGTH, TAIL_LENGTH};
use probes::{
    ARRAY_LENGTH, Failure, Meta, ProbeTable, Registration, Snapshot, SnapshotError,
    SnapshotOptions, SnapshotWriter, Summary,
};
use proptest::prelude::*;

/// An action of an application or its agent.
#[derive(Debug, Clone)]
enum Step {
    Register {
        class: u8,
        probes: u16,
        bytes: Vec<u8>,
    },
    Hit {
        class: prop::sample::Index,
        probe: prop::sample::Index,
    },
    Failure(String),
    Reset,
    Flush,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let index = any::<prop::sample::Index>;
    let step = prop_oneof![
        3 => (any::<u8>(), 0u16..300, prop::collection::vec(any::<u8>(), 0..100))
            .prop_map(|(class, probes, bytes)| Step::Register { class, probes, bytes }),
        6 => (index(), index()).prop_map(|(class, probe)| Step::Hit { class, probe }),
        1 => "[a-z/ü]{0,9}".prop_map(Step::Failure),
        1 => Just(Step::Reset),
        2 => Just(Step::Flush),
    ];
    prop::collection::vec(step, 0..40)
}

/// The expected content of a class.
type Expected = (String, Vec<bool>, Option<Vec<u8>>);

/// SnapshotWriter, table and arrays, with a simple model of the file's content.
struct Jvm {
    _directory: tempfile::TempDir,
    table: ProbeTable,
    writer: SnapshotWriter,
    arrays: Vec<Vec<i8>>,
    slots: Vec<Registration>,
    classes: Vec<Expected>,
    failures: usize,
    /// Length of the file after each flush, and its expected content.
    flushed: Vec<(usize, Vec<Expected>, usize)>,
}

impl Jvm {
    fn new(meta: Meta, options: SnapshotOptions) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let writer = SnapshotWriter::create(directory.path(), meta, options).unwrap();
        let table = ProbeTable::new();
        table.set_arrays(1);
        let arrays = vec![vec![0; ARRAY_LENGTH]];
        let (slots, classes, flushed) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            _directory: directory,
            table,
            writer,
            arrays,
            slots,
            classes,
            failures: 0,
            flushed,
        }
    }

    fn register(&mut self, class: u8, probes: u16, bytes: &[u8]) {
        let name = format!("com/acme/C{class}");
        let fingerprint = u64::from(class % 3); // some classes share one
        let Ok(slots) =
            self.table
                .register(&name, fingerprint, "app", "coverage", probes.into(), bytes)
        else {
            return; // registered before with fewer probes
        };
        if slots.fresh {
            self.slots.push(slots);
            let bytes = (!bytes.is_empty()).then(|| bytes.to_vec());
            self.classes.push((name, vec![false; probes.into()], bytes));
        }
    }

    fn hit(&mut self, class: usize, probe: usize) {
        self.classes[class].1[probe] = true;
        let slots = self.slots[class];
        self.arrays[usize::from(slots.array)][usize::from(slots.base) + probe] = 1;
    }

    fn absorb(&mut self) {
        for (number, array) in (0..).zip(&self.arrays) {
            self.writer
                .absorb(number, &array[..self.table.used(number)]);
        }
    }

    fn flush(&mut self) {
        self.absorb();
        self.writer.flush(&self.table).unwrap();
        self.note();
    }

    fn note(&mut self) {
        let length = self.file().len();
        self.flushed
            .push((length, self.classes.clone(), self.failures));
    }

    fn file(&self) -> Vec<u8> {
        std::fs::read(self.writer.path()).unwrap()
    }

    fn run(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Register {
                    class,
                    probes,
                    bytes,
                } => self.register(*class, *probes, bytes),
                Step::Hit { class, probe } if !self.slots.is_empty() => {
                    let class = class.index(self.slots.len());
                    let probes = self.classes[class].1.len();
                    if probes > 0 {
                        self.hit(class, probe.index(probes));
                    }
                }
                Step::Hit { .. } => (),
                Step::Failure(class) => {
                    self.writer.failure(&Failure {
                        class: class.clone(),
                        ..Failure::default()
                    });
                    self.failures += 1;
                }
                Step::Reset => {
                    self.arrays.iter_mut().for_each(|array| array.fill(0));
                    self.classes
                        .iter_mut()
                        .for_each(|class| class.1.fill(false));
                    self.writer.reset(None, &self.table.ranges(None));
                }
                Step::Flush => self.flush(),
            }
        }
        self.absorb();
        self.writer
            .complete(
                &self.table,
                &Summary {
                    seen: 3,
                    ..Summary::default()
                },
            )
            .unwrap();
        self.note();
    }
}

fn read_classes(snapshot: &Snapshot) -> Vec<Expected> {
    let inflate = |bytes: &probes::ClassBytes| bytes.inflate().unwrap();
    let classes = snapshot.classes.iter();
    classes
        .map(|class| {
            (
                class.name.clone(),
                class.probes.clone(),
                class.bytes.as_ref().map(inflate),
            )
        })
        .collect()
}

/// Returns the end offset of each record of a whole file; the first is the end of the header.
fn boundaries(file: &[u8]) -> Vec<usize> {
    let mut ends = vec![HEADER_LENGTH];
    let mut at = HEADER_LENGTH;
    while at < file.len() {
        let length = u32::from_le_bytes(file[at + 4..at + 8].try_into().unwrap());
        at += HEAD_LENGTH + length as usize + TAIL_LENGTH;
        ends.push(at);
    }
    ends
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_flush_holds_what_was_recorded(steps in steps()) {
        let mut jvm = Jvm::new(Meta::default(), SnapshotOptions::default());
        jvm.run(&steps);
        let file = jvm.file();
        for (length, classes, failures) in &jvm.flushed {
            let snapshot = Snapshot::from_bytes(&file[..*length]).unwrap();
            prop_assert_eq!(&read_classes(&snapshot), classes);
            prop_assert_eq!(snapshot.failures.len(), *failures);
            prop_assert!(!snapshot.truncated);
            prop_assert_eq!(snapshot.complete, *length == file.len());
        }
    }

    #[test]
    fn any_prefix_holds_exactly_the_records_before_the_cut(steps in steps(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 20)) {
        let mut jvm = Jvm::new(Meta::default(), SnapshotOptions::default());
        jvm.run(&steps);
        let file = jvm.file();
        let ends = boundaries(&file);
        for cut in cuts.iter().map(|cut| cut.index(file.len() + 1)) {
            let whole = ends.iter().copied().filter(|end| *end <= cut).max().unwrap_or(0);
            if whole <= HEADER_LENGTH {
                let empty = matches!(Snapshot::from_bytes(&file[..cut]), Err(SnapshotError::Empty { .. }));
                prop_assert!(empty);
                continue;
            }
            let mut expected = Snapshot::from_bytes(&file[..whole]).unwrap();
            expected.truncated = cut != whole;
            expected.complete &= cut == whole;
            prop_assert_eq!(Snapshot::from_bytes(&file[..cut]).unwrap(), expected);
        }
    }

    #[test]
    fn damage_in_the_middle_is_an_error_that_names_the_record(steps in steps(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut jvm = Jvm::new(Meta::default(), SnapshotOptions::default());
        jvm.run(&steps);
        let mut file = jvm.file();
        let ends = boundaries(&file);
        let last = ends[ends.len() - 2];
        let at = HEADER_LENGTH + at.index(last - HEADER_LENGTH);
        file[at] ^= 1 << bit;
        let record = ends.iter().copied().filter(|end| *end <= at).max().unwrap();
        match Snapshot::from_bytes(&file) {
            Err(SnapshotError::Corrupt { offset, .. }) => prop_assert_eq!(offset, record as u64),
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

#[test]
fn recorded_data_is_read_again() {
    let meta = Meta {
        run: "r1".into(),
        pid: 4711,
        start_ms: 1_700_000_000_000,
        jvm: "OpenJDK 17".into(),
        java_home: "/opt/jdk".into(),
        java_feature: 17,
        plugins: vec!["coverage@0.1.0".into()],
        ..Meta::default()
    };
    let mut jvm = Jvm::new(meta.clone(), SnapshotOptions::default());
    jvm.run(&[]);
    let name = jvm.writer.path().file_name().unwrap().to_str().unwrap();
    assert!(
        name.starts_with("classhook-4711-1700000000000-") && name.ends_with(".hook"),
        "{name}"
    );
    let snapshot = Snapshot::read(jvm.writer.path()).unwrap();
    assert!(snapshot.meta.dump_ms >= meta.start_ms);
    assert_eq!(
        Meta {
            dump_ms: 0,
            ..snapshot.meta
        },
        meta
    );
    assert_eq!(snapshot.summary.seen, 3);
    assert_eq!(
        Meta {
            dump_ms: 0,
            ..Meta::read(jvm.writer.path()).unwrap()
        },
        meta
    );
}

#[test]
fn removed_snapshot_is_restored_with_its_folder() {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = parent.path().join("deep/er");
    std::fs::create_dir_all(&folder).expect("made");
    let mut writer =
        SnapshotWriter::create(&folder, Meta::default(), SnapshotOptions::default()).expect("made");
    assert!(!writer.restore().expect("it is there"));
    let table = ProbeTable::new();
    table.set_arrays(1);
    table
        .register("a/A", 7, "app", "coverage", 3, b"bytes")
        .expect("room");
    writer.absorb(0, &[0, 1, 0]);
    writer.flush(&table).expect("written");
    std::fs::remove_dir_all(parent.path().join("deep")).expect("removed");
    writer.absorb(0, &[0, 1, 1]);
    writer
        .complete(&table, &Summary::default())
        .expect("written");
    assert!(writer.restore().expect("put back"));
    assert!(!writer.restore().expect("it is there"));
    let snapshot = Snapshot::read(writer.path()).expect("readable");
    assert!(snapshot.complete && !snapshot.truncated);
    assert_eq!(snapshot.classes[0].probes, [false, true, true]);
}

#[test]
fn classes_are_left_out_on_request() {
    let mut jvm = Jvm::new(
        Meta::default(),
        SnapshotOptions {
            keep_classes: false,
        },
    );
    jvm.register(1, 5, b"class file");
    jvm.run(&[]);
    let snapshot = Snapshot::read(jvm.writer.path()).unwrap();
    assert_eq!(snapshot.classes[0].bytes, None);
}

#[test]
fn class_larger_than_one_write_is_stored() {
    let mut jvm = Jvm::new(Meta::default(), SnapshotOptions::default());
    let mut seed = 1u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    let bytes: Vec<u8> = (0..3 << 20).map(|_| next()).collect();
    jvm.register(1, 5, &bytes);
    jvm.register(2, 5, b"small");
    jvm.run(&[]);
    let snapshot = Snapshot::read(jvm.writer.path()).unwrap();
    assert!(read_classes(&snapshot)[0].2.as_deref() == Some(&bytes[..]));
    assert_eq!(read_classes(&snapshot)[1].2.as_deref(), Some(&b"small"[..]));
}

#[test]
fn hits_in_another_array_belong_to_the_classes_there() {
    let mut jvm = Jvm::new(Meta::default(), SnapshotOptions::default());
    jvm.table.set_arrays(2);
    jvm.arrays.push(vec![0; ARRAY_LENGTH]);
    jvm.register(1, 32_000, b"first");
    jvm.register(2, 32_000, b"second");
    assert_eq!(
        jvm.slots
            .iter()
            .map(|slots| slots.array)
            .collect::<Vec<_>>(),
        [0, 1]
    );
    jvm.hit(1, 31_999);
    jvm.run(&[]);
    let snapshot = Snapshot::read(jvm.writer.path()).unwrap();
    assert_eq!(read_classes(&snapshot), jvm.classes);
}

#[test]
fn snapshot_of_a_missing_file_names_it() {
    let error = Snapshot::read(std::path::Path::new("/nowhere/x.hook")).unwrap_err();
    assert!(error.to_string().contains("/nowhere/x.hook"), "{error}");
}

#[test]
fn merged_snapshots_unite_hits_of_the_same_bytes_only() {
    let recorded = |name: &str, fingerprint, hits: &[usize], probes: u32| {
        let mut jvm = Jvm::new(
            Meta {
                run: name.into(),
                ..Meta::default()
            },
            SnapshotOptions::default(),
        );
        let slots = jvm
            .table
            .register("a/A", fingerprint, "app", "coverage", probes, b"A")
            .unwrap();
        jvm.slots.push(slots);
        jvm.classes
            .push(("a/A".into(), vec![false; probes as usize], None));
        hits.iter().for_each(|probe| jvm.hit(0, *probe));
        jvm.writer.failure(&Failure {
            class: "a/Bad".into(),
            ..Failure::default()
        });
        jvm.run(&[]);
        Snapshot::read(jvm.writer.path()).unwrap()
    };
    let all = [
        recorded("1", 1, &[0], 3),
        recorded("2", 1, &[2], 3),
        recorded("3", 2, &[1], 3),
        recorded("4", 1, &[1], 2),
    ];
    let merged = probes::merge(all);
    let probes: Vec<_> = merged
        .classes
        .iter()
        .map(|class| (class.fingerprint, class.probes.clone()))
        .collect();
    assert_eq!(
        probes,
        [(1, vec![true, false, true]), (2, vec![false, true, false])]
    );
    assert_eq!(
        merged
            .sessions
            .iter()
            .map(|meta| meta.run.as_str())
            .collect::<Vec<_>>(),
        ["1", "2", "3", "4"]
    );
    assert_eq!(merged.failures.len(), 1);
    assert_eq!(merged.summary.seen, 12);
    assert_eq!(
        (merged.conflicts[0].kept, merged.conflicts[0].left_out),
        (3, 2)
    );
    assert!(merged.complete);
}
