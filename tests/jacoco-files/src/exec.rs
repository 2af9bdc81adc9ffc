//! JaCoCo's `.exec` files, read and written.
//!
//! Class ids with their probes; sessions are skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Id and name of a class, by which JaCoCo distinguishes classes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassKey {
    /// Internal name, `org/example/Main`.
    pub name: String,
    /// CRC-64 of the class file.
    pub id: u64,
}

/// Executed code: the probes of every class with at least one hit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Execution(pub BTreeMap<ClassKey, Vec<bool>>);

/// A probe of a class; the probe is `None` for the class as a whole.
pub type Unstable = BTreeSet<(ClassKey, Option<usize>)>;

impl Execution {
    /// Reads a file.
    ///
    /// # Panics
    /// If the file is no `.exec` file of version 0x1007.
    pub fn read(file: &Path) -> Self {
        let bytes = std::fs::read(file)
            .unwrap_or_else(|error| panic!("failed to read {}: {error}", file.display()));
        Self::parse(&bytes)
            .unwrap_or_else(|| panic!("{} is no complete .exec file", file.display()))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut input = Input(bytes);
        let mut classes = BTreeMap::<ClassKey, Vec<bool>>::new();
        while !input.0.is_empty() {
            match input.take(1)?[0] {
                0x01 => (input.take(4)? == [0xC0, 0xC0, 0x10, 0x07]).then_some(())?,
                0x10 => {
                    input.utf()?;
                    input.take(16)?;
                }
                0x11 => {
                    let id = u64::from_be_bytes(input.take(8)?.try_into().ok()?);
                    let key = ClassKey {
                        name: input.utf()?,
                        id,
                    };
                    let probes = input.booleans()?;
                    let merged = classes
                        .entry(key)
                        .or_insert_with(|| vec![false; probes.len()]);
                    (merged.len() == probes.len()).then_some(())?;
                    merged
                        .iter_mut()
                        .zip(probes)
                        .for_each(|(old, new)| *old |= new);
                }
                _ => return None,
            }
        }
        Some(Self(classes))
    }

    /// Writes a file that JaCoCo's command line reads; classes without a hit are left out, as JaCoCo does.
    pub fn write(&self, file: &Path) {
        let mut bytes = vec![0x01, 0xC0, 0xC0, 0x10, 0x07];
        for (key, probes) in self.0.iter().filter(|(_, probes)| probes.contains(&true)) {
            bytes.push(0x11);
            bytes.extend(key.id.to_be_bytes());
            bytes.extend(
                u16::try_from(key.name.len())
                    .expect("a class name's length")
                    .to_be_bytes(),
            );
            bytes.extend(key.name.as_bytes());
            let mut length = probes.len();
            while length > 0x7F {
                bytes.push((length & 0x7F) as u8 | 0x80);
                length >>= 7;
            }
            bytes.push(length as u8);
            for eight in probes.chunks(8) {
                bytes.push(
                    eight
                        .iter()
                        .rev()
                        .fold(0, |byte, hit| byte << 1 | u8::from(*hit)),
                );
            }
        }
        std::fs::write(file, bytes)
            .unwrap_or_else(|error| panic!("failed to write {}: {error}", file.display()));
    }

    /// Returns the number of probes, and of those that were hit.
    pub fn totals(&self) -> (usize, usize) {
        let all = self.0.values().map(Vec::len).sum();
        (all, self.0.values().flatten().filter(|hit| **hit).count())
    }

    /// The same without the unstable classes, and with the unstable probes not hit.
    pub fn without(&self, unstable: &Unstable) -> Self {
        let mut kept = self.clone();
        for (key, probe) in unstable {
            match probe {
                None => drop(kept.0.remove(key)),
                Some(probe) => {
                    if let Some(hit) = kept
                        .0
                        .get_mut(key)
                        .and_then(|probes| probes.get_mut(*probe))
                    {
                        *hit = false;
                    }
                }
            }
        }
        kept.0.retain(|_, probes| probes.contains(&true));
        kept
    }

    /// Returns all differences: classes that one of the two lacks, and probes.
    pub fn differences(&self, other: &Self) -> Unstable {
        let mut found = BTreeSet::new();
        let keys: BTreeSet<&ClassKey> = self.0.keys().chain(other.0.keys()).collect();
        for key in keys {
            match (self.0.get(key), other.0.get(key)) {
                (Some(ours), Some(theirs)) if ours.len() == theirs.len() => {
                    let differing = (0..ours.len()).filter(|probe| ours[*probe] != theirs[*probe]);
                    found.extend(differing.map(|probe| (key.clone(), Some(probe))));
                }
                _ => drop(found.insert((key.clone(), None))),
            }
        }
        found
    }
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn utf(&mut self) -> Option<String> {
        let length = u16::from_be_bytes(self.take(2)?.try_into().ok()?);
        Some(String::from_utf8_lossy(self.take(length.into())?).into_owned())
    }

    fn booleans(&mut self) -> Option<Vec<bool>> {
        let (mut length, mut shift) = (0_usize, 0);
        loop {
            let byte = self.take(1)?[0];
            length |= usize::from(byte & 0x7F).checked_shl(shift)?;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        let bytes = self.take(length.div_ceil(8))?;
        Some(
            (0..length)
                .map(|probe| bytes[probe / 8] >> (probe % 8) & 1 == 1)
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, probes: &[bool]) -> Execution {
        Execution(BTreeMap::from([(
            ClassKey {
                name: name.to_owned(),
                id: 7,
            },
            probes.to_vec(),
        )]))
    }

    #[test]
    fn written_file_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.exec");
        let many: Vec<bool> = (0..300).map(|probe| probe % 3 == 0).collect();
        let written = one("a/B", &many);
        written.write(&file);
        assert_eq!(Execution::read(&file), written);
        assert_eq!(written.totals(), (300, 100));
    }

    #[test]
    fn differences_name_probes_and_whole_classes() {
        let (left, right) = (one("A", &[true, false]), one("A", &[true, true]));
        let key = ClassKey {
            name: "A".to_owned(),
            id: 7,
        };
        let found = left.differences(&right);
        assert_eq!(found, BTreeSet::from([(key.clone(), Some(1))]));
        assert_eq!(left.without(&found), right.without(&found));
        assert_eq!(
            left.differences(&Execution::default()),
            BTreeSet::from([(key, None)])
        );
    }
}
