//! Appends the changes of the arrays to the snapshot file.

use std::io::{self, Write};
use std::path::Path;

use crate::arrays::{ARRAY_LENGTH, MAX_ARRAYS};
use crate::error::WriteError;
use crate::format::{
    Failure, Incomplete, MAGIC, MAX_CLASS_LENGTH, Meta, RecordKind, Summary, write_record,
    write_varint,
};
use crate::log::{Flush, Log, Marks, now_ms, write_json, write_text};
use crate::table::{PendingClass, ProbeRange, ProbeTable};
use crate::test_hits::{self, TakenHits};

/// Number of elements compared in one step; a step is one `memcmp`.
const CHUNK: usize = 64;

/// The incomplete records of a snapshot.
const MARKS: Marks = Marks {
    kind: RecordKind::Incomplete as u16,
    count: count_missing,
};

/// Options for the contents of a snapshot besides hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotOptions {
    /// Stores class files, so that reports of loaded classes need no other input.
    pub keep_classes: bool,
}

impl Default for SnapshotOptions {
    fn default() -> Self {
        Self { keep_classes: true }
    }
}

/// Writes one snapshot file; owned by the agent's thread.
///
/// Every method is cheap if nothing changed. After a failed write the file is truncated to its last whole record. The
/// pending data is kept and later calls try again; meanwhile an incomplete record ends the file.
#[derive(Debug)]
pub struct SnapshotWriter {
    log: Log,
    options: SnapshotOptions,
    /// Bytes written for tests.
    tests: u64,
    /// Last seen content of each array: 0 or the byte that the probe stored.
    known: Vec<Vec<i8>>,
    /// Start time of the last reading of the arrays, in milliseconds since 1970.
    read_ms: Option<u64>,
}

impl SnapshotWriter {
    /// Creates `<stem>-<nonce>.hook` in `directory`, which must exist, and writes `meta` to it; the stem is [`Meta::stem`].
    ///
    /// # Errors
    /// [`WriteError::Create`] if the file cannot be made or its first record not be written.
    pub fn create(
        directory: &Path,
        meta: Meta,
        options: SnapshotOptions,
    ) -> Result<Self, WriteError> {
        Ok(Self {
            log: Log::create(directory, "hook", MAGIC, &meta, MARKS)?,
            options,
            tests: 0,
            known: Vec::new(),
            read_ms: None,
        })
    }

    /// Marks the start of a reading of the arrays. The next time record carries this time and covers all earlier
    /// hits.
    pub fn begin_reading(&mut self) {
        self.read_ms = Some(now_ms());
    }

    /// Returns the path of the snapshot file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.log.path()
    }

    /// Returns the number of whole bytes written to the snapshot file.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.log.length()
    }

    /// Compares an array with its content at the last call and notes the newly hit probes.
    ///
    /// `bytes` starts at element 0 and may be shorter than the array (see [`ProbeTable::used`]). Every byte but 0 is
    /// a hit.
    pub fn absorb(&mut self, array: u16, bytes: &[i8]) {
        let bytes = &bytes[..bytes.len().min(ARRAY_LENGTH)];
        let Some(known) = self.known_mut(array) else {
            return;
        };
        let fresh = newly_hit(known, bytes);
        if !fresh.is_empty() {
            self.enqueue(RecordKind::Hits, |out| write_hits(out, array, &fresh));
        }
    }

    /// Notes hits that were taken out of an array: indices and their bytes, which are not zero.
    pub fn note(&mut self, array: u16, taken: &[(u16, i8)]) {
        let Some(known) = self.known_mut(array) else {
            return;
        };
        let mut fresh = Vec::new();
        for (index, byte) in taken {
            if let Some(known @ 0) = known.get_mut(usize::from(*index)) {
                *known = *byte;
                fresh.push(*index);
            }
        }
        if !fresh.is_empty() {
            fresh.sort_unstable();
            self.enqueue(RecordKind::Hits, |out| write_hits(out, array, &fresh));
        }
    }

    /// Notes hits that were taken out of the arrays while these tests ran. Returns `false` once the size limit ends
    /// the recording of tests, and `true` again for each call after that.
    pub fn tested(&mut self, tests: &[String], taken: &TakenHits) -> bool {
        taken
            .iter()
            .for_each(|(array, hits)| self.note(*array, hits));
        if self.tests > test_hits::LIMIT || taken.iter().all(|(_, hits)| hits.is_empty()) {
            return true;
        }
        let mut payload = Vec::new();
        test_hits::write(&mut payload, tests, taken);
        self.tests += payload.len() as u64;
        if self.tests > test_hits::LIMIT {
            self.cut_tests_off();
            return false;
        }
        self.enqueue(RecordKind::Test, |out| out.extend_from_slice(&payload));
        true
    }

    /// Records that later tests are missing. Returns `true` on the first call only.
    pub fn cut_tests_off(&mut self) -> bool {
        if std::mem::replace(&mut self.tests, u64::MAX) == u64::MAX {
            return false;
        }
        let cut_off = test_hits::CUT_OFF.to_le_bytes();
        self.enqueue(RecordKind::Test, |out| out.extend_from_slice(&cut_off));
        true
    }

    /// Returns the last seen content of an array; `None` if the index is too large.
    fn known_mut(&mut self, array: u16) -> Option<&mut Vec<i8>> {
        if array >= MAX_ARRAYS {
            return None;
        }
        let index = usize::from(array);
        if self.known.len() <= index {
            self.known.resize_with(index + 1, || vec![0; ARRAY_LENGTH]);
        }
        self.known.get_mut(index)
    }

    /// Returns the noted bytes of an array's probes: 0 for a probe without a hit.
    #[must_use]
    pub fn known(&self, array: u16) -> &[i8] {
        let known = self.known.get(usize::from(array));
        known.map_or(&[], Vec::as_slice)
    }

    /// Notes a class that was loaded unchanged after a failure.
    pub fn failure(&mut self, failure: &Failure) {
        self.enqueue(RecordKind::Failure, |out| write_json(out, failure));
    }

    /// Discards the hits so far of one plugin or of all. The caller has zeroed `ranges`, the plugin's ranges (see
    /// [`ProbeTable::ranges`]).
    pub fn reset(&mut self, plugin: Option<&str>, ranges: &[ProbeRange]) {
        for range in ranges {
            let known = self.known.get_mut(usize::from(range.array));
            let from = usize::from(range.base);
            let known = known.and_then(|known| known.get_mut(from..from + range.count as usize));
            known.into_iter().for_each(|known| known.fill(0));
        }
        let plugin = plugin.unwrap_or_default();
        self.enqueue(RecordKind::Reset, |out| {
            out.extend_from_slice(plugin.as_bytes())
        });
    }

    /// Writes the noted hits, and the classes registered in `table` since the last flush.
    ///
    /// # Errors
    /// [`WriteError::Write`] when writing begins to fail; while it goes on failing, [`Flush::Stalled`].
    pub fn flush(&mut self, table: &ProbeTable) -> Result<Flush, WriteError> {
        for class in table.take_pending() {
            let keep = self.options.keep_classes;
            self.enqueue(RecordKind::Class, |out| write_class(out, &class, keep));
        }
        if self.log.pending() == 0 {
            return Ok(Flush::Unchanged);
        }
        if !self.log.is_stalled() {
            let time = self.read_ms.unwrap_or_else(now_ms);
            self.enqueue(RecordKind::Time, |out| {
                out.extend_from_slice(&time.to_le_bytes())
            });
        }
        self.log.write()
    }

    /// Writes the pending data and the end record. Hits absorbed later would follow the end record.
    ///
    /// # Errors
    /// [`WriteError::Write`] if writing fails, even if the failure was reported before.
    pub fn complete(&mut self, table: &ProbeTable, summary: &Summary) -> Result<(), WriteError> {
        self.log.report_again(); // report a failure of the last attempt in any case
        self.flush(table)?;
        self.enqueue(RecordKind::End, |out| write_json(out, summary));
        self.log.write().map(|_| ())
    }

    /// Restores the snapshot at its path, folders included, if it was removed meanwhile, for example by a clean
    /// build. The kernel keeps the content of an open file. Returns `true` if the file was restored.
    ///
    /// # Errors
    /// The cause if copying fails; the content is lost then.
    pub fn restore(&mut self) -> io::Result<bool> {
        self.log.restore()
    }

    fn enqueue(&mut self, kind: RecordKind, payload: impl FnOnce(&mut Vec<u8>)) {
        self.log.enqueue(kind as u16, payload);
    }
}

/// Appends the end record to a copy of a snapshot whose writer continues. The copy has [`SnapshotWriter::length`]
/// bytes.
///
/// # Errors
/// Errors of the write.
pub fn end_copy(copy: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let mut record = Vec::new();
    write_record(&mut record, RecordKind::End as u16, |out| {
        write_json(out, summary)
    });
    copy.write_all(&record)
}

/// Returns the indices newly hit in `now`, and copies these elements to `known`.
fn newly_hit(known: &mut [i8], now: &[i8]) -> Vec<u16> {
    let mut fresh = Vec::new();
    for (index, (old, new)) in known.chunks_mut(CHUNK).zip(now.chunks(CHUNK)).enumerate() {
        if old[..new.len()] != *new {
            compare_chunk(index * CHUNK, old, new, &mut fresh);
        }
    }
    fresh
}

fn compare_chunk(start: usize, old: &mut [i8], new: &[i8], fresh: &mut Vec<u16>) {
    for (offset, (old, new)) in old.iter_mut().zip(new).enumerate() {
        if *old == 0 && *new != 0 {
            *old = *new;
            fresh.push((start + offset) as u16); // below ARRAY_LENGTH
        }
    }
}

pub(crate) fn write_hits(out: &mut Vec<u8>, array: u16, indices: &[u16]) {
    out.extend_from_slice(&array.to_le_bytes());
    let mut next = 0;
    for index in indices {
        let index = u32::from(*index);
        write_varint(out, index - next);
        next = index + 1;
    }
}

/// Counts the data that the file lacks while this record is pending.
fn count_missing(kind: u16, payload: &[u8], missing: &mut Incomplete) {
    match RecordKind::from_number(kind) {
        Some(RecordKind::Class) => missing.classes += 1,
        Some(RecordKind::Hits) => {
            let indices = payload.iter().skip(2); // skip the array index
            let ends = indices.filter(|byte| **byte < 0x80);
            missing.probes += ends.count() as u64;
        }
        _ => {}
    }
}

pub(crate) fn write_class(out: &mut Vec<u8>, class: &PendingClass, keep: bool) {
    out.extend_from_slice(&class.array.to_le_bytes());
    out.extend_from_slice(&class.base.to_le_bytes());
    out.extend_from_slice(&class.probe_count.to_le_bytes());
    out.extend_from_slice(&class.fingerprint.to_le_bytes());
    for text in [&class.name, &class.loader, &class.plugin] {
        write_text(out, text);
    }
    if keep && !class.bytes.is_empty() && class.bytes.len() <= MAX_CLASS_LENGTH {
        out.extend_from_slice(&(class.bytes.len() as u32).to_le_bytes());
        out.extend_from_slice(&lz4_flex::block::compress(&class.bytes));
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;
    use crate::snapshot::Snapshot;
    use crate::test_hits::TestHits;

    fn writer(directory: &Path) -> SnapshotWriter {
        SnapshotWriter::create(directory, Meta::default(), SnapshotOptions::default()).unwrap()
    }

    #[test]
    fn unchanged_arrays_write_no_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let (table, mut writer) = (ProbeTable::new(), writer(directory.path()));
        let array = [0, 1, 0, 0, 1];
        writer.absorb(0, &array);
        assert!(matches!(writer.flush(&table), Ok(Flush::Written(_))));
        let length = std::fs::metadata(writer.path()).unwrap().len();
        writer.absorb(0, &array);
        assert_eq!(writer.flush(&table).unwrap(), Flush::Unchanged);
        assert_eq!(std::fs::metadata(writer.path()).unwrap().len(), length);
    }

    #[test]
    fn snapshot_has_the_time_before_the_arrays_were_read() {
        let directory = tempfile::tempdir().unwrap();
        let (table, mut writer) = (ProbeTable::new(), writer(directory.path()));
        writer.begin_reading();
        let later = now_ms();
        while now_ms() == later {}
        writer.absorb(0, &[1]);
        writer.flush(&table).unwrap();
        assert!(Snapshot::read(writer.path()).unwrap().meta.dump_ms <= later);
    }

    #[test]
    fn copy_of_an_open_snapshot_is_complete() {
        let directory = tempfile::tempdir().unwrap();
        let (table, mut writer) = (ProbeTable::new(), writer(directory.path()));
        table.set_arrays(1);
        table.register("a/A", 7, "app", "one", 2, b"").unwrap();
        writer.absorb(0, &[0, 1]);
        writer.flush(&table).unwrap();
        let length = usize::try_from(writer.length()).unwrap();
        writer.absorb(0, &[1, 1]);
        writer.flush(&table).unwrap();
        let mut copy = std::fs::read(writer.path()).unwrap();
        copy.truncate(length);
        end_copy(&mut copy, &Summary::default()).unwrap();
        let copy = Snapshot::from_bytes(&copy).unwrap();
        assert!(copy.complete);
        assert_eq!(copy.classes[0].probes, [false, true]);
    }

    #[test]
    fn reset_of_one_plugin_keeps_the_hits_of_others() {
        let directory = tempfile::tempdir().unwrap();
        let (table, mut writer) = (ProbeTable::new(), writer(directory.path()));
        table.set_arrays(1);
        for plugin in ["one", "two"] {
            table.register("a/A", 7, "app", plugin, 2, b"").unwrap();
        }
        writer.absorb(0, &[1, 1, 1, 1]);
        writer.flush(&table).unwrap();
        writer.reset(Some("two"), &table.ranges(Some("two")));
        writer.absorb(0, &[1, 1, 0, 1]);
        writer.complete(&table, &Summary::default()).unwrap();
        let snapshot = Snapshot::read(writer.path()).unwrap();
        let probes = snapshot.classes.iter().map(|class| class.probes.clone());
        assert_eq!(probes.collect::<Vec<_>>(), [[true, true], [false, true]]);
    }

    #[test]
    fn only_newly_hit_probes_are_found() {
        let mut known = vec![0; 200];
        let mut now = vec![0; 150];
        (now[0], now[63], now[64], now[149]) = (1, -1, 1, 1);
        assert_eq!(newly_hit(&mut known, &now), [0, 63, 64, 149]);
        now[63] = 0; // the application's array was cleared: a hit stays a hit
        now[1] = 1;
        assert_eq!(newly_hit(&mut known, &now), [1]);
        assert!(newly_hit(&mut known, &now).is_empty());
    }

    #[test]
    fn hits_taken_out_of_an_array_are_noted_once() {
        let directory = tempfile::tempdir().unwrap();
        let (table, mut writer) = (ProbeTable::new(), writer(directory.path()));
        table.set_arrays(1);
        table.register("a/A", 7, "app", "one", 4, b"").unwrap();
        writer.absorb(0, &[0, 1, 0, 0]);
        writer.note(0, &[(3, 1), (1, 1), (0, -1)]);
        assert_eq!(writer.known(0)[..4], [-1, 1, 0, 1]);
        writer.absorb(0, &[0, 0, 0, 0]);
        writer.note(0, &[(3, 1), (u16::MAX, 1)]);
        writer.note(MAX_ARRAYS, &[(0, 1)]);
        writer.complete(&table, &Summary::default()).unwrap();
        let snapshot = Snapshot::read(writer.path()).unwrap();
        assert_eq!(snapshot.classes[0].probes, [true, true, false, true]);
    }

    #[test]
    fn each_test_has_the_hits_of_its_run() {
        let directory = tempfile::tempdir().unwrap();
        let (table, mut writer) = (ProbeTable::new(), writer(directory.path()));
        table.set_arrays(2);
        let both = ["one".to_owned(), "two".to_owned()];
        table.register("a/A", 7, "app", "coverage", 4, b"").unwrap();
        assert!(writer.tested(&[], &vec![(0, vec![(3, 1)])]));
        assert!(writer.tested(&both[..1], &vec![(0, vec![(1, 1), (3, 1)]), (1, vec![])]));
        // The class record follows the hits of the class.
        table.register("a/B", 8, "app", "coverage", 3, b"").unwrap();
        assert!(writer.tested(&both, &vec![(0, vec![(1, 1), (6, 1), (9, 1)])]));
        assert!(writer.tested(&both[1..], &vec![]));
        writer.complete(&table, &Summary::default()).unwrap();
        let snapshot = Snapshot::read(writer.path()).unwrap();
        let hits = |tests: &[String], classes| TestHits {
            tests: tests.to_vec(),
            classes,
        };
        let expected = [
            hits(&[], vec![(0, vec![3])]),
            hits(&both[..1], vec![(0, vec![1, 3])]),
            hits(&both, vec![(0, vec![1]), (1, vec![2])]),
        ];
        assert_eq!(snapshot.tests, expected);
        assert_eq!(snapshot.classes[0].probes, [false, true, false, true]);
        assert_eq!(snapshot.classes[1].probes, [false, false, true]);
        assert!(!snapshot.tests_cut_off);
    }

    #[test]
    fn test_hits_are_reset_and_limited_in_size() {
        let directory = tempfile::tempdir().unwrap();
        let (table, mut writer) = (ProbeTable::new(), writer(directory.path()));
        table.set_arrays(1);
        for plugin in ["one", "two"] {
            table.register("a/A", 7, "app", plugin, 2, b"").unwrap();
        }
        let hit = vec![(0, vec![(0, 1), (2, 1)])];
        let test = ["a".to_owned()];
        writer.tested(&test, &hit);
        writer.reset(Some("two"), &table.ranges(Some("two")));
        writer.tested(&test, &hit);
        assert!(writer.cut_tests_off() && !writer.cut_tests_off());
        assert!(writer.tested(&test, &hit));
        writer.complete(&table, &Summary::default()).unwrap();
        let snapshot = Snapshot::read(writer.path()).unwrap();
        let classes = snapshot.tests.iter().map(|test| test.classes.as_slice());
        let expected = [vec![(0, vec![0])], vec![(0, vec![0]), (1, vec![0])]];
        assert_eq!(classes.collect::<Vec<_>>(), expected);
        assert!(snapshot.tests_cut_off);
    }

    #[test]
    fn arrays_beyond_the_limits_do_not_panic() {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = writer(directory.path());
        writer.absorb(0, &vec![1; ARRAY_LENGTH + 10]);
        writer.absorb(u16::MAX, &[1]);
        writer.absorb(MAX_ARRAYS - 1, &[1]);
        writer
            .complete(&ProbeTable::new(), &Summary::default())
            .unwrap();
        assert!(Snapshot::read(writer.path()).unwrap().complete);
    }

    #[test]
    fn failed_write_is_reported_once_and_no_data_is_lost() {
        let directory = tempfile::tempdir().unwrap();
        let (table, mut writer) = (ProbeTable::new(), writer(directory.path()));
        table.set_arrays(1);
        table
            .register("a/A", 1, "app", "coverage", 4, b"class")
            .unwrap();
        let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let file = std::mem::replace(&mut writer.log.file, full);
        writer.absorb(0, &[1, 0, 0, 0]);
        assert!(matches!(
            writer.flush(&table),
            Err(WriteError::Write { .. })
        ));
        writer.absorb(0, &[1, 0, 1, 0]);
        assert!(matches!(writer.flush(&table), Ok(Flush::Stalled(unwritten)) if unwritten > 0));
        writer.log.file = file;
        assert!(matches!(writer.flush(&table), Ok(Flush::Written(_))));
        let snapshot = Snapshot::read(writer.path()).unwrap();
        assert_eq!(snapshot.classes[0].probes, [true, false, true, false]);
        assert_eq!(
            snapshot.classes[0]
                .bytes
                .as_ref()
                .unwrap()
                .inflate()
                .unwrap(),
            b"class"
        );
        assert!(!snapshot.truncated);
    }

    #[test]
    fn failure_of_the_last_write_is_reported_again() {
        let directory = tempfile::tempdir().unwrap();
        let (table, mut writer) = (ProbeTable::new(), writer(directory.path()));
        writer.log.file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        writer.absorb(0, &[1]);
        assert!(writer.flush(&table).is_err());
        assert!(writer.flush(&table).is_ok());
        assert!(writer.complete(&table, &Summary::default()).is_err());
    }

    #[test]
    fn missing_directory_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("not-here");
        let error = SnapshotWriter::create(&missing, Meta::default(), SnapshotOptions::default())
            .unwrap_err();
        assert!(error.to_string().contains("not-here"), "{error}");
    }
}
