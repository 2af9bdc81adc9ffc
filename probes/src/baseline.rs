//! A snapshot that is not written by a running JVM: of statically instrumented classes, without hits, or merged from
//! other snapshots.
//!
//! Merged with the snapshots of JVMs, it contributes the class files and the classes that were never loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use crate::arrays::{ARRAY_LENGTH, MAX_ARRAYS};
use crate::format::{Failure, MAGIC, Meta, RecordKind, Summary, write_header, write_record};
use crate::log::write_json;
use crate::snapshot::{write_class, write_hits};
use crate::table::PendingClass;
use crate::test_hits::{self, TakenHits, TestHits};

/// The location of a class's probes in a snapshot of [`BaselineWriter`].
#[derive(Debug, Clone, Copy)]
pub struct ProbeLocation {
    array: u16,
    base: u32,
}

/// Writes a snapshot sequentially. Equal classes in equal order give equal bytes.
#[derive(Debug)]
pub struct BaselineWriter<W: Write> {
    out: W,
    record: Vec<u8>,
    array: u16,
    /// First free element of the array.
    next: u32,
    classes: u64,
    loader: String,
}

impl<W: Write> BaselineWriter<W> {
    /// Starts a snapshot with `meta`, whose `pid` is 0 if no JVM ran.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new(out: W, meta: &Meta) -> io::Result<Self> {
        let mut writer = Self {
            out,
            record: Vec::new(),
            array: 0,
            next: 0,
            classes: 0,
            loader: "static".to_owned(),
        };
        write_header(&mut writer.record, MAGIC);
        writer.write(RecordKind::Meta, |out| write_json(out, meta))?;
        Ok(writer)
    }

    /// Sets the loader of the classes that are added from now on.
    pub fn of_loader(&mut self, loader: &str) {
        loader.clone_into(&mut self.loader);
    }

    /// Adds a class file with the number of probes of each plugin.
    ///
    /// # Errors
    /// Errors of the output, or an error if the snapshot is out of probes.
    pub fn class<'p>(
        &mut self,
        name: &str,
        fingerprint: u64,
        probes: impl IntoIterator<Item = (&'p str, u32)>,
        bytes: &[u8],
    ) -> io::Result<()> {
        self.classes += 1;
        for (plugin, probe_count) in probes {
            if u64::from(self.next) + u64::from(probe_count) > ARRAY_LENGTH as u64 {
                (self.array, self.next) = (self.array + 1, 0);
            }
            if self.array >= MAX_ARRAYS || probe_count as usize > ARRAY_LENGTH {
                return Err(io::Error::other("more probes than a snapshot holds"));
            }
            let class = PendingClass {
                name: name.to_owned(),
                fingerprint,
                loader: self.loader.clone(),
                plugin: plugin.to_owned(),
                array: self.array,
                base: u16::try_from(self.next).unwrap_or_default(), // 65,536 is possible only without probes
                probe_count,
                bytes: bytes.to_vec(),
            };
            self.next += probe_count;
            self.write(RecordKind::Class, |out| {
                write_class(out, &class, !class.bytes.is_empty())
            })?;
        }
        Ok(())
    }

    /// Adds an executed class with its hits, and its class file if available.
    ///
    /// # Errors
    /// As [`BaselineWriter::class`].
    pub fn executed(
        &mut self,
        name: &str,
        fingerprint: u64,
        (plugin, probes): (&str, &[bool]),
        bytes: Option<&[u8]>,
    ) -> io::Result<ProbeLocation> {
        let count = u32::try_from(probes.len()).unwrap_or(u32::MAX);
        let bytes = bytes.unwrap_or_default();
        self.class(name, fingerprint, [(plugin, count)], bytes)?;
        let base = self.next - count;
        let hit = probes.iter().zip(base..).filter(|(hit, _)| **hit);
        let hit: Vec<u16> = hit
            .filter_map(|(_, index)| u16::try_from(index).ok())
            .collect();
        let array = self.array;
        if !hit.is_empty() {
            self.write(RecordKind::Hits, |out| write_hits(out, array, &hit))?;
        }
        Ok(ProbeLocation { array, base })
    }

    /// Adds the probes executed during tests. `locations` holds the location of each class by its number.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn tested(&mut self, test: &TestHits, locations: &[ProbeLocation]) -> io::Result<()> {
        let mut arrays: BTreeMap<u16, BTreeSet<u16>> = BTreeMap::new();
        for (class, probes) in &test.classes {
            let Some(ProbeLocation { array, base }) = locations.get(*class) else {
                continue;
            };
            let indices = probes.iter().map(|probe| base.saturating_add(*probe));
            let indices = indices.filter_map(|index| u16::try_from(index).ok());
            arrays.entry(*array).or_default().extend(indices);
        }
        let hits = |indices: BTreeSet<u16>| indices.into_iter().map(|index| (index, 1)).collect();
        let taken: TakenHits = arrays
            .into_iter()
            .map(|(array, indices)| (array, hits(indices)))
            .collect();
        self.write(RecordKind::Test, |out| {
            test_hits::write(out, &test.tests, &taken)
        })
    }

    /// Marks the results of single tests as incomplete.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn tests_cut_off(&mut self) -> io::Result<()> {
        self.write(RecordKind::Test, |out| {
            out.extend_from_slice(&test_hits::CUT_OFF.to_le_bytes());
        })
    }

    /// Adds a class that was loaded unchanged after a failure.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn failure(&mut self, failure: &Failure) -> io::Result<()> {
        self.write(RecordKind::Failure, |out| write_json(out, failure))
    }

    /// Ends the snapshot without an end record, as a killed JVM does. Readers report that data may be missing.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn abandon(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes the end record and returns the output.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn finish(mut self) -> io::Result<W> {
        let summary = Summary {
            seen: self.classes,
            selected: self.classes,
            transformed: self.classes,
            ..Summary::default()
        };
        self.write(RecordKind::End, |out| write_json(out, &summary))?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn write(&mut self, kind: RecordKind, payload: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        write_record(&mut self.record, kind as u16, payload);
        self.out.write_all(&self.record)?;
        self.record.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Snapshot;

    #[test]
    fn classes_without_hits_are_read_again() {
        let mut bytes = Vec::new();
        let meta = Meta {
            command: "classhook instrument".to_owned(),
            ..Meta::default()
        };
        let mut writer = BaselineWriter::new(&mut bytes, &meta).unwrap();
        writer
            .class("a/A", 1, [("coverage", 32_000), ("calls", 2)], b"first")
            .unwrap();
        writer
            .class("a/B", 2, [("coverage", 900)], b"second")
            .unwrap();
        writer.finish().unwrap();
        let snapshot = Snapshot::from_bytes(&bytes).unwrap();
        assert!(snapshot.complete && !snapshot.truncated);
        assert_eq!(snapshot.meta.pid, 0);
        let found: Vec<_> = snapshot
            .classes
            .iter()
            .map(|class| {
                (
                    class.name.as_str(),
                    class.plugin.as_str(),
                    class.probes.len(),
                )
            })
            .collect();
        let expected = [
            ("a/A", "coverage", 32_000),
            ("a/A", "calls", 2),
            ("a/B", "coverage", 900),
        ];
        assert_eq!(found, expected);
        assert!(
            snapshot
                .classes
                .iter()
                .all(|class| !class.probes.contains(&true))
        );
        let class = snapshot.classes[2].bytes.as_ref().unwrap();
        assert_eq!(class.inflate().unwrap(), b"second");
        assert_eq!(snapshot.summary.transformed, 2);
    }

    #[test]
    fn hits_are_read_again_also_across_arrays() {
        let mut bytes = Vec::new();
        let mut writer = BaselineWriter::new(&mut bytes, &Meta::default()).unwrap();
        let (mut many, few) = (vec![false; 32_000], vec![true, false, true, true]);
        many[31_999] = true;
        let class = |writer: &mut BaselineWriter<_>, name, id, probes: &[bool], bytes| {
            writer
                .executed(name, id, ("coverage", probes), bytes)
                .unwrap();
        };
        class(&mut writer, "a/A", 1, &many, Some(&b"first"[..]));
        class(&mut writer, "a/B", 2, &[true; 900], None);
        class(&mut writer, "a/C", 3, &few, None);
        writer.failure(&Failure::default()).unwrap();
        writer.finish().unwrap();
        let snapshot = Snapshot::from_bytes(&bytes).unwrap();
        assert_eq!(snapshot.classes[0].probes, many);
        assert_eq!(snapshot.classes[1].probes, [true; 900]);
        assert_eq!(snapshot.classes[2].probes, few);
        assert!(snapshot.classes[0].bytes.is_some() && snapshot.classes[1].bytes.is_none());
        assert_eq!(snapshot.failures.len(), 1);
    }

    #[test]
    fn more_probes_than_a_snapshot_holds_are_an_error() {
        let mut writer = BaselineWriter::new(io::sink(), &Meta::default()).unwrap();
        assert!(writer.class("a/A", 1, [("coverage", 65_536)], b"").is_ok());
        assert!(writer.class("a/B", 2, [("coverage", 65_537)], b"").is_err());
    }
}
