//! A file of the plan cache: the plans of one plugin with one configuration for many classes.
//!
//! A look-up reads one block and one plan, however long the file is, and checks the MAC of each on
//! use. The file is read with `pread` and never mapped, because truncation of a mapped file would
//! kill the JVM.
//!
//! ```text
//! header, 56 bytes: seed of the keys, 32; number of blocks; length of all plans; MAC, 16
//! blocks of 1,024 bytes: MAC, 16; 36 records of 28, of which unused ones are zero
//! record: key, 16; day of last use, never 0; offset of the plan; length of the plan
//! plans: the plan; MAC, 16
//! ```
//!
//! Numbers have 4 bytes and are little-endian. A record is in the home block of its key or, if that
//! is full, in one of the next blocks. A plan of length 0 requests nothing; it takes no bytes and
//! has no MAC.

mod write;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::class_key::{ClassKey, KEY, SEED, Seed, keyed_digest};

pub(crate) use write::{Entry, Source, size_of_added, write};

const MAC: usize = 16;
const HEAD: usize = SEED + 8 + MAC;
const BLOCK: usize = 1024;
const RECORD: usize = KEY + 12;
/// Maximum distance in blocks between the home of a key and its record.
const OVERFLOW: u32 = 8;

/// A damaged or unreadable part of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Offset of the part in the file.
    pub(crate) offset: u64,
}

/// The entry of a class in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) key: ClassKey,
    /// Day of last use, counted from 1970.
    pub(crate) day: u32,
    offset: u32,
    /// Length of the plan in bytes; 0 if it requests nothing.
    pub(crate) length: u32,
}

/// Computes the MACs of the files with one name in one cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Macs(pub(crate) Seed);

impl Macs {
    fn header(self, content: &[u8]) -> [u8; MAC] {
        keyed_digest(&self.0, &[b"header", content])
    }

    fn block(self, number: u32, blocks: u32, content: &[u8]) -> [u8; MAC] {
        let place = [number.to_le_bytes(), blocks.to_le_bytes()];
        keyed_digest(&self.0, &[b"block", place.as_flattened(), content])
    }

    fn plan(self, key: &ClassKey, plan: &[u8]) -> [u8; MAC] {
        keyed_digest(&self.0, &[b"plan", &key.0, plan])
    }
}

/// A file that is open for look-ups.
#[derive(Debug)]
pub(crate) struct PlanFile {
    file: File,
    macs: Macs,
    seed: Seed,
    blocks: u32,
    /// Length of all plans in bytes.
    plans: u32,
    /// Number of bytes read so far.
    read: AtomicU64,
}

impl PlanFile {
    /// Opens a file of `length` bytes and reads its header.
    pub(crate) fn open(file: File, length: u64, macs: Macs) -> Option<Self> {
        let mut header = [0; HEAD];
        file.read_exact_at(&mut header, 0).ok()?;
        let (content, mac) = header.split_last_chunk()?;
        let opened = Self {
            file,
            macs,
            seed: Seed(*content.first_chunk()?),
            blocks: number(content, SEED)?,
            plans: number(content, SEED + 4)?,
            read: AtomicU64::new(HEAD as u64),
        };
        let whole = *mac == macs.header(content) && opened.blocks > 0 && opened.length() == length;
        whole.then_some(opened)
    }

    /// The seed of the keys.
    pub(crate) fn seed(&self) -> Seed {
        self.seed
    }

    /// The length of the file in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.plans_start() + u64::from(self.plans)
    }

    /// The number of bytes read since the file was opened.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    fn plans_start(&self) -> u64 {
        HEAD as u64 + u64::from(self.blocks) * BLOCK as u64
    }

    /// Finds the record of a class. Allocates nothing.
    ///
    /// # Errors
    /// If a block that may contain the record is damaged.
    pub(crate) fn find(&self, key: &ClassKey) -> Result<Option<Record>, Damage> {
        let home = key.home(self.blocks);
        for distance in 0..=OVERFLOW.min(self.blocks.saturating_sub(1)) {
            let block = self.block((home + distance) % self.blocks)?;
            let mut is_full = true;
            for record in records(&block) {
                match record {
                    Some(record) if record.key == *key => return Ok(Some(record)),
                    Some(_) => {}
                    None => is_full = false,
                }
            }
            if !is_full {
                break;
            }
        }
        Ok(None)
    }

    /// Reads a block and checks its MAC.
    fn block(&self, number: u32) -> Result<[u8; BLOCK], Damage> {
        let offset = HEAD as u64 + u64::from(number) * BLOCK as u64;
        let damage = Damage { offset };
        let mut block = [0; BLOCK];
        self.fill(&mut block, offset)
            .map_err(|_| Damage { offset })?;
        match block.split_first_chunk::<MAC>() {
            Some((mac, content)) if *mac == self.macs.block(number, self.blocks, content) => {
                Ok(block)
            }
            _ => Err(damage),
        }
    }

    /// Returns the plan of a record that [`Self::find`] found.
    ///
    /// # Errors
    /// If the plan is damaged.
    pub(crate) fn plan(&self, record: &Record) -> Result<Vec<u8>, Damage> {
        let offset = self.plans_start() + u64::from(record.offset);
        let mut bytes = self.sealed_plan(record).map_err(|_| Damage { offset })?;
        if record.length == 0 {
            return Ok(bytes);
        }
        let plan = bytes.len() - MAC;
        let (content, mac) = bytes.split_at(plan);
        if mac != self.macs.plan(&record.key, content) {
            return Err(Damage { offset });
        }
        bytes.truncate(plan);
        Ok(bytes)
    }

    /// Reads a plan with its MAC, which is not checked.
    fn sealed_plan(&self, record: &Record) -> io::Result<Vec<u8>> {
        if record.length == 0 {
            return Ok(Vec::new());
        }
        let end = u64::from(record.offset) + u64::from(record.length) + MAC as u64;
        if end > u64::from(self.plans) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; record.length as usize + MAC];
        let offset = self.plans_start() + u64::from(record.offset);
        self.fill(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Iterates over all records, except those of damaged blocks.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        let blocks = (0..self.blocks).filter_map(|number| self.block(number).ok());
        blocks.flat_map(|block| records(&block).flatten().collect::<Vec<_>>())
    }

    fn fill(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.read_exact_at(bytes, offset)
    }
}

/// Iterates over the records of a block; unused ones are `None`.
fn records(block: &[u8; BLOCK]) -> impl Iterator<Item = Option<Record>> {
    let (records, _) = block[MAC..].as_chunks::<RECORD>();
    records.iter().map(|record| {
        let decoded = Record {
            key: ClassKey(*record.first_chunk()?),
            day: number(record, KEY)?,
            offset: number(record, KEY + 4)?,
            length: number(record, KEY + 8)?,
        };
        (decoded.day != 0).then_some(decoded)
    })
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests;
