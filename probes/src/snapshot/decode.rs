//! Decodes the bytes of a file, record by record, to a [`Snapshot`].

use std::collections::{BTreeMap, BTreeSet};

use super::contents::{ClassBytes, Snapshot, SnapshotClass};
use crate::arrays::{ARRAY_LENGTH, MAX_ARRAYS};
use crate::error::SnapshotError;
use crate::format::{HEADER_LENGTH, MAGIC, MAX_CLASS_LENGTH, Meta, RecordKind, Summary};
use crate::log::read::{Fields, Record, check_header, corrupt, read_json, record_at};
use crate::test_hits::{self, TestHits};

/// Upper bound of LZ4's expansion: a match costs at least one byte per 255.
const MAX_EXPANSION: usize = 256;

impl Snapshot {
    /// Reads a snapshot from the bytes of its file.
    ///
    /// Memory stays within a small multiple of the file's length plus 4 KiB for each array that the file names:
    /// declared lengths are checked, and class files stay compressed.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        check_header(bytes, MAGIC)?;
        let mut decoder = Decoder::default();
        let mut offset = HEADER_LENGTH;
        let mut truncated = false;
        while offset < bytes.len() {
            match record_at(bytes, offset)? {
                Some(record) => {
                    decoder.take(&record)?;
                    offset = record.end;
                }
                None => {
                    truncated = true;
                    break;
                }
            }
        }
        decoder.finish(bytes.len(), truncated)
    }
}

/// Decodes the first record.
pub(super) fn meta(bytes: &[u8], magic: [u8; 8]) -> Result<Meta, SnapshotError> {
    check_header(bytes, magic)?;
    let empty = SnapshotError::Empty {
        length: bytes.len() as u64,
    };
    let record = record_at(bytes, HEADER_LENGTH)?.ok_or(empty)?;
    let mut decoder = Decoder::default();
    decoder.take(&record)?;
    decoder
        .finish(bytes.len(), false)
        .map(|snapshot| snapshot.meta)
}

/// Decodes the last record if it is the end record.
pub(super) fn summary(bytes: &[u8]) -> Result<Option<Summary>, SnapshotError> {
    check_header(bytes, MAGIC)?;
    let (mut offset, mut last) = (HEADER_LENGTH, None);
    while offset < bytes.len() {
        let Some(record) = record_at(bytes, offset)? else {
            return Ok(None);
        };
        offset = record.end;
        last = Some(record);
    }
    let end = last.filter(|record| RecordKind::from_number(record.kind) == Some(RecordKind::End));
    end.map(|record| read_json(&record)).transpose()
}

/// One bit for each element of an array.
type Bits = Box<[u64; ARRAY_LENGTH / 64]>;

#[derive(Default)]
struct Decoder {
    meta: Option<Meta>,
    snapshot: Snapshot,
    /// Array and base index of each class in `snapshot.classes`.
    ranges: Vec<(u16, u16)>,
    /// Elements that belong to a decoded class; ranges must not overlap.
    taken: BTreeMap<u16, Bits>,
    hits: BTreeMap<u16, Bits>,
    tests: Vec<RecordedTest>,
    /// For each reset: the number of tests before it, and the plugin (empty for all) whose classes were reset.
    forgotten: Vec<(usize, String)>,
}

/// Names of tests, and the indices hit in each array.
type RecordedTest = (Vec<String>, Vec<(u16, Vec<u16>)>);

impl Decoder {
    fn take(&mut self, record: &Record<'_>) -> Result<(), SnapshotError> {
        let kind = RecordKind::from_number(record.kind).ok_or_else(|| {
            let found = record.kind.to_string();
            corrupt(record.offset, "a kind of record between 1 and 9", found)
        })?;
        if self.meta.is_none() && kind != RecordKind::Meta {
            let found = format!("{kind:?}");
            return Err(corrupt(record.offset, "the meta record first", found));
        }
        self.snapshot.complete = kind == RecordKind::End;
        self.snapshot.incomplete = None;
        match kind {
            RecordKind::Meta => self.meta = Some(read_json(record)?),
            RecordKind::Class => self.take_class(record)?,
            RecordKind::Hits => self.take_hits(record)?,
            RecordKind::Time => self.snapshot.meta.dump_ms = Fields::of(record).u64()?,
            RecordKind::Reset => self.reset(record.payload),
            RecordKind::Failure => self.snapshot.failures.push(read_json(record)?),
            RecordKind::End => self.snapshot.summary = read_json(record)?,
            RecordKind::Incomplete => self.snapshot.incomplete = Some(read_json(record)?),
            RecordKind::Test => self.take_test(record)?,
        }
        Ok(())
    }

    /// Discards all hits so far, or those of the plugin that the payload names.
    fn reset(&mut self, plugin: &[u8]) {
        if plugin.is_empty() {
            self.tests.clear();
            return self.hits.clear();
        }
        let plugin_name = String::from_utf8_lossy(plugin).into_owned();
        self.forgotten.push((self.tests.len(), plugin_name));
        for (class, (array, base)) in self.snapshot.classes.iter().zip(&self.ranges) {
            if class.plugin.as_bytes() == plugin
                && let Some(bits) = self.hits.get_mut(array)
            {
                let from = usize::from(*base);
                (from..from + class.probes.len()).for_each(|index| clear(bits, index));
            }
        }
    }

    fn take_class(&mut self, record: &Record<'_>) -> Result<(), SnapshotError> {
        let mut fields = Fields::of(record);
        let (array, base, probes) = (fields.array()?, fields.u16()?, fields.u32()?);
        self.reserve(record.offset, array, base, probes)?;
        let class = SnapshotClass {
            fingerprint: fields.u64()?,
            name: fields.text()?,
            loader: fields.text()?,
            plugin: fields.text()?,
            probes: vec![false; probes as usize],
            bytes: fields.class_bytes()?,
        };
        self.ranges.push((array, base));
        self.snapshot.classes.push(class);
        Ok(())
    }

    /// Reserves the range of a class. It must lie within the array and must not overlap another class.
    fn reserve(
        &mut self,
        offset: usize,
        array: u16,
        base: u16,
        probes: u32,
    ) -> Result<(), SnapshotError> {
        let end = usize::from(base).saturating_add(probes as usize);
        if end > ARRAY_LENGTH {
            let found = format!("{probes} probes from index {base}");
            return Err(corrupt(
                offset,
                format!("indices below {ARRAY_LENGTH}"),
                found,
            ));
        }
        if probes == 0 {
            return Ok(());
        }
        let taken = self.taken.entry(array).or_insert_with(no_bits);
        for index in usize::from(base)..end {
            if test(taken, index) {
                let found = format!("index {index} of array {array} again");
                return Err(corrupt(offset, "indices that no other class has", found));
            }
            set(taken, index);
        }
        Ok(())
    }

    fn take_hits(&mut self, record: &Record<'_>) -> Result<(), SnapshotError> {
        let mut fields = Fields::of(record);
        let bits = self.hits.entry(fields.array()?).or_insert_with(no_bits);
        let mut next = 0;
        while !fields.rest.is_empty() {
            let index = fields.index(&mut next)?;
            set(bits, index.into());
        }
        Ok(())
    }

    fn take_test(&mut self, record: &Record<'_>) -> Result<(), SnapshotError> {
        let mut fields = Fields::of(record);
        let count = fields.u16()?;
        if count == test_hits::CUT_OFF {
            self.snapshot.tests_cut_off = true;
            return Ok(());
        }
        let names = (0..count).map(|_| fields.text());
        let names = names.collect::<Result<Vec<_>, _>>()?;
        let mut arrays = Vec::new();
        while !fields.rest.is_empty() {
            let (array, count) = (fields.array()?, fields.index_difference()?);
            let (mut indices, mut next) = (Vec::new(), 0);
            for _ in 0..count {
                let index = fields.index(&mut next)?;
                indices.push(index);
            }
            arrays.push((array, indices));
        }
        self.tests.push((names, arrays));
        Ok(())
    }

    /// Returns the hits of tests by class; missing classes are omitted.
    fn tests(&self) -> Vec<TestHits> {
        let mut by_place: BTreeMap<(u16, u16), usize> = BTreeMap::new();
        for (class, range) in self.ranges.iter().enumerate() {
            if self
                .snapshot
                .classes
                .get(class)
                .is_some_and(|class| !class.probes.is_empty())
            {
                by_place.insert(*range, class);
            }
        }
        let probe = |array: u16, index: u16| {
            let (place, class) = by_place.range(..=(array, index)).next_back()?;
            let probe = index.checked_sub(place.1)?;
            let probes = &self.snapshot.classes.get(*class)?.probes;
            (place.0 == array && usize::from(probe) < probes.len()).then_some((*class, probe))
        };
        let test = |(number, (names, arrays)): (usize, &RecordedTest)| {
            let mut classes: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
            for (array, indices) in arrays {
                let found = indices.iter().filter_map(|index| probe(*array, *index));
                for (class, probe) in found.filter(|(class, _)| !self.is_reset(number, *class)) {
                    classes.entry(class).or_default().insert(probe.into());
                }
            }
            let classes = classes.into_iter();
            TestHits {
                tests: names.clone(),
                classes: classes
                    .map(|(class, probes)| (class, probes.into_iter().collect()))
                    .collect(),
            }
        };
        let tests = self.tests.iter().enumerate().map(test);
        tests.filter(|test| !test.classes.is_empty()).collect()
    }

    /// Checks whether the hits of a test in a class were reset.
    fn is_reset(&self, test: usize, class: usize) -> bool {
        let class = self.snapshot.classes.get(class);
        let plugin = class.map(|class| class.plugin.as_str());
        let mut forgotten = self.forgotten.iter();
        forgotten.any(|(before, name)| test < *before && Some(name.as_str()) == plugin)
    }

    fn finish(mut self, length: usize, truncated: bool) -> Result<Snapshot, SnapshotError> {
        self.snapshot.tests = self.tests();
        let Some(meta) = self.meta else {
            return Err(SnapshotError::Empty {
                length: length as u64,
            });
        };
        for (class, (array, base)) in self.snapshot.classes.iter_mut().zip(&self.ranges) {
            if let Some(bits) = self.hits.get(array) {
                let indices = usize::from(*base)..;
                class
                    .probes
                    .iter_mut()
                    .zip(indices)
                    .for_each(|(probe, index)| *probe = test(bits, index));
            }
        }
        let dump_ms = self.snapshot.meta.dump_ms.max(meta.start_ms);
        self.snapshot.meta = Meta { dump_ms, ..meta };
        self.snapshot.truncated = truncated;
        self.snapshot.complete &= !truncated;
        Ok(self.snapshot)
    }
}

fn no_bits() -> Bits {
    Box::new([0; ARRAY_LENGTH / 64])
}

fn test(bits: &Bits, index: usize) -> bool {
    bits.get(index / 64)
        .is_some_and(|word| word >> (index % 64) & 1 == 1)
}

fn set(bits: &mut Bits, index: usize) {
    if let Some(word) = bits.get_mut(index / 64) {
        *word |= 1 << (index % 64);
    }
}

fn clear(bits: &mut Bits, index: usize) {
    if let Some(word) = bits.get_mut(index / 64) {
        *word &= !(1 << (index % 64));
    }
}

/// Fields that occur only in snapshots.
trait SnapshotFields {
    fn array(&mut self) -> Result<u16, SnapshotError>;
    fn index_difference(&mut self) -> Result<u32, SnapshotError>;
    fn index(&mut self, next: &mut u32) -> Result<u16, SnapshotError>;
    fn class_bytes(&mut self) -> Result<Option<ClassBytes>, SnapshotError>;
}

impl SnapshotFields for Fields<'_> {
    fn array(&mut self) -> Result<u16, SnapshotError> {
        let array = self.u16()?;
        if array >= MAX_ARRAYS {
            return Err(self.corrupt(format!("an array below {MAX_ARRAYS}"), array.to_string()));
        }
        Ok(array)
    }

    fn index_difference(&mut self) -> Result<u32, SnapshotError> {
        let mut value = 0;
        for shift in (0..21).step_by(7) {
            let [byte] = self.number()?;
            value |= u32::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.corrupt("a number of at most 3 bytes", "a longer one"))
    }

    /// Reads an array index as difference from `next`, and sets `next` to the index after it.
    fn index(&mut self, next: &mut u32) -> Result<u16, SnapshotError> {
        let index = u32::saturating_add(*next, self.index_difference()?);
        match u16::try_from(index) {
            Ok(small) => {
                *next = index + 1;
                Ok(small)
            }
            _ => Err(self.corrupt(format!("an index below {ARRAY_LENGTH}"), index.to_string())),
        }
    }

    /// Reads the class file at the end of the record, if there is one.
    fn class_bytes(&mut self) -> Result<Option<ClassBytes>, SnapshotError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let length = self.u32()? as usize;
        let most = MAX_CLASS_LENGTH.min(self.rest.len().saturating_mul(MAX_EXPANSION));
        if length > most {
            return Err(self.corrupt(
                format!("a class file of at most {most} bytes"),
                length.to_string(),
            ));
        }
        Ok(Some(ClassBytes {
            compressed: std::mem::take(&mut self.rest).to_vec(),
            length,
        }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::{write_header, write_record};

    /// Builds a file of these records after a meta record.
    fn file(records: &[(RecordKind, Vec<u8>)]) -> Vec<u8> {
        let mut out = Vec::new();
        write_header(&mut out, MAGIC);
        write_record(&mut out, RecordKind::Meta as u16, |out| {
            out.extend_from_slice(b"{}")
        });
        for (kind, payload) in records {
            write_record(&mut out, *kind as u16, |out| out.extend_from_slice(payload));
        }
        out
    }

    fn class(array: u16, base: u16, probes: u32, tail: &[u8]) -> (RecordKind, Vec<u8>) {
        let mut payload = Vec::new();
        payload.extend_from_slice(&array.to_le_bytes());
        payload.extend_from_slice(&base.to_le_bytes());
        payload.extend_from_slice(&probes.to_le_bytes());
        payload.extend_from_slice(&[0; 8]);
        payload.extend_from_slice(&[0; 6]);
        payload.extend_from_slice(tail);
        (RecordKind::Class, payload)
    }

    fn refused(records: &[(RecordKind, Vec<u8>)], part: &str) {
        let text = Snapshot::from_bytes(&file(records))
            .expect_err("must be refused")
            .to_string();
        assert!(text.contains(part), "`{part}` is not in: {text}");
        assert!(text.contains("damaged at byte"), "{text}");
    }

    #[test]
    fn declared_lengths_are_checked() {
        refused(&[class(0, 65_535, 2, b"")], "indices below 65536");
        refused(&[class(0, 0, u32::MAX, b"")], "indices below 65536");
        refused(&[class(4_096, 0, 1, b"")], "an array below 4096");
        refused(&[(RecordKind::Hits, vec![0, 16])], "an array below 4096");
        refused(
            &[(RecordKind::Hits, vec![0, 0, 0xFF, 0xFF, 0x07])],
            "an index below 65536",
        );
        refused(
            &[(RecordKind::Hits, vec![0, 0, 0x80, 0x80, 0x80, 0x01])],
            "at most 3 bytes",
        );
        refused(&[(RecordKind::Hits, vec![0])], "expected 2 bytes, found 1");
        refused(
            &[(RecordKind::Test, vec![0, 0, 0, 0, 1, 0xFF, 0xFF, 0x07])],
            "an index below 65536",
        );
        refused(
            &[(RecordKind::Test, vec![0, 0, 0, 0, 9, 1])],
            "expected 1 bytes, found 0",
        );
        refused(
            &[(RecordKind::Test, vec![2, 0, 1, 0, b'a'])],
            "expected 2 bytes, found 0",
        );
        refused(
            &[(RecordKind::End, b"[".to_vec())],
            "a record of kind 7 as JSON",
        );
        refused(
            &[(RecordKind::Class, class(0, 0, 1, b"").1[..17].to_vec())],
            "expected 2 bytes, found 1",
        );
    }

    #[test]
    fn decompression_bomb_is_refused() {
        refused(
            &[class(0, 0, 1, &[0, 0, 0, 4, 1, 2, 3])],
            "a class file of at most 768 bytes",
        );
        let modest = class(0, 0, 1, &[0, 2, 0, 0, 1, 2, 3]);
        let snapshot = Snapshot::from_bytes(&file(&[modest])).unwrap();
        let error = snapshot.classes[0]
            .bytes
            .as_ref()
            .unwrap()
            .inflate()
            .unwrap_err();
        assert!(
            error.to_string().contains("a class file of 512 bytes in 3"),
            "{error}"
        );
    }

    #[test]
    fn two_classes_may_not_share_elements() {
        assert!(
            Snapshot::from_bytes(&file(&[
                class(0, 0, 5, b""),
                class(0, 5, 5, b""),
                class(1, 0, 5, b"")
            ]))
            .is_ok()
        );
        refused(
            &[class(0, 0, 5, b""), class(0, 4, 5, b"")],
            "index 4 of array 0 again",
        );
    }

    #[test]
    fn unknown_record_kind_is_refused() {
        let mut bytes = file(&[]);
        let head = bytes.len();
        write_record(&mut bytes, RecordKind::Reset as u16, |_| ());
        bytes[head + 2] = 10;
        let crc = crc32fast::hash(&bytes[head..head + 8]).to_le_bytes();
        bytes[head + 8..head + 12].copy_from_slice(&crc);
        let text = Snapshot::from_bytes(&bytes).unwrap_err().to_string();
        assert!(
            text.contains("kind of record between 1 and 9, found 10"),
            "{text}"
        );
    }

    #[test]
    fn newer_version_is_refused_politely() {
        let mut bytes = file(&[]);
        bytes[8] = 2;
        let crc = crc32fast::hash(&bytes[..12]).to_le_bytes();
        bytes[12..16].copy_from_slice(&crc);
        let error = Snapshot::from_bytes(&bytes).unwrap_err();
        assert!(
            matches!(
                error,
                SnapshotError::Newer {
                    found: 2,
                    supported: 1
                }
            ),
            "{error}"
        );
    }

    #[test]
    fn other_files_are_recognised() {
        for bytes in [
            &b"\x01\xC0\xC0\x10\x07"[..],
            b"PK\x03\x04",
            b"\xCA\xFE\xBA\xBE\0\0\0\x34",
        ] {
            assert!(matches!(
                Snapshot::from_bytes(bytes),
                Err(SnapshotError::NotASnapshot { .. })
            ));
        }
        assert!(matches!(
            Snapshot::from_bytes(b""),
            Err(SnapshotError::Empty { length: 0 })
        ));
    }

    #[test]
    fn zeros_after_the_last_record_are_a_torn_tail() {
        let mut bytes = file(&[class(0, 0, 5, b"")]);
        bytes.extend_from_slice(&[0; 4_096]);
        let snapshot = Snapshot::from_bytes(&bytes).unwrap();
        assert!(snapshot.truncated && snapshot.classes.len() == 1);
    }

    fn hostile_records() -> impl Strategy<Value = Vec<(RecordKind, Vec<u8>)>> {
        let kind = (2u16..10).prop_map(|number| RecordKind::from_number(number).unwrap());
        let arbitrary = (kind, prop::collection::vec(any::<u8>(), 0..60));
        let classes = (
            0u16..4,
            any::<u16>(),
            0u32..40_000,
            prop::collection::vec(any::<u8>(), 0..40),
        )
            .prop_map(|(array, base, probes, tail)| class(array, base, probes, &tail));
        prop::collection::vec(prop_oneof![arbitrary, classes], 0..8)
    }

    proptest! {
        #[test]
        fn reading_arbitrary_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Snapshot::from_bytes(&bytes);
            let mut tail = file(&[]);
            tail.extend_from_slice(&bytes);
            let _ = Snapshot::from_bytes(&tail);
        }

        #[test]
        fn reading_arbitrary_records_does_not_panic(records in hostile_records()) {
            if let Ok(snapshot) = Snapshot::from_bytes(&file(&records)) {
                for class in &snapshot.classes {
                    prop_assert!(class.probes.len() <= ARRAY_LENGTH);
                    let _ = class.bytes.as_ref().map(ClassBytes::inflate);
                }
            }
        }
    }
}
