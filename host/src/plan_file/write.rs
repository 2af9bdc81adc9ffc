//! Writes a file of plans, with plans from memory and from other files.

use std::io::{self, Write};

use super::{BLOCK, HEAD, MAC, Macs, OVERFLOW, PlanFile, RECORD, Record};
use crate::class_key::{ClassKey, Seed};

/// Maximum number of records in a block.
const FULL: usize = (BLOCK - MAC) / RECORD;
/// Average number of records per block when a file is created. The rest is reserve, so that few
/// blocks are full.
const USUAL: usize = FULL / 2;

/// A plan to write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'p> {
    pub(crate) key: ClassKey,
    /// Day of last use, counted from 1970.
    pub(crate) day: u32,
    pub(crate) source: Source<'p>,
}

/// The bytes of a plan to write.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'p> {
    /// Bytes in memory; empty if the plan requests nothing.
    Memory(&'p [u8]),
    /// A plan of another file with this name in this cache. It is copied with its MAC, so damage
    /// stays detectable.
    File(&'p PlanFile, Record),
}

impl Entry<'_> {
    /// The size of the plan and its MAC in bytes.
    fn sealed_length(&self) -> usize {
        let plan = match self.source {
            Source::Memory(plan) => plan.len(),
            Source::File(_, record) => record.length as usize,
        };
        if plan == 0 { 0 } else { plan + MAC }
    }

    fn sealed(&self, macs: Macs) -> io::Result<Vec<u8>> {
        match self.source {
            Source::Memory([]) => Ok(Vec::new()),
            Source::Memory(plan) => Ok([plan, &macs.plan(&self.key, plan)].concat()),
            Source::File(file, record) => file.sealed_plan(&record),
        }
    }
}

/// The number of blocks for this number of records.
fn blocks(records: usize) -> usize {
    records.div_ceil(USUAL).max(1)
}

fn size(records: usize, plans: usize) -> usize {
    HEAD + blocks(records) * BLOCK + plans
}

/// The size in bytes of a file with this number of plans, which take `plans` bytes together.
pub(crate) fn size_of_added(records: usize, plans: usize) -> u64 {
    size(records, plans + records * MAC) as u64
}

/// Writes a file of at most `most` bytes.
///
/// Of entries with the same key, the first is written, with the latest day. If the plans exceed the
/// limit, the least recently used ones are left out.
///
/// # Errors
/// I/O errors of `out` and of the source files.
pub(crate) fn write(
    out: &mut impl Write,
    seed: &Seed,
    macs: Macs,
    mut entries: Vec<Entry<'_>>,
    most: u64,
) -> io::Result<()> {
    // The sort is stable.
    entries.sort_by_key(|entry| entry.key);
    entries.dedup_by(|later, first| {
        let same = later.key == first.key;
        if same {
            first.day = first.day.max(later.day);
        }
        same
    });
    make_room(&mut entries, usize::try_from(most).unwrap_or(usize::MAX));
    let (index, written) = index(macs, &entries);
    // The limit of a file is far below 4 GB.
    let plans: usize = written.iter().map(|entry| entry.sealed_length()).sum();
    let mut header = seed.0.to_vec();
    header.extend_from_slice(&((index.len() / BLOCK) as u32).to_le_bytes());
    header.extend_from_slice(&(plans as u32).to_le_bytes());
    let mac = macs.header(&header);
    out.write_all(&header)?;
    out.write_all(&mac)?;
    out.write_all(&index)?;
    for entry in written {
        out.write_all(&entry.sealed(macs)?)?;
    }
    Ok(())
}

/// Builds the blocks, and returns the entries that have a record, in the order of their plans.
fn index<'e, 'p>(macs: Macs, entries: &'e [Entry<'p>]) -> (Vec<u8>, Vec<&'e Entry<'p>>) {
    let count = blocks(entries.len()) as u32;
    let mut index = vec![0; count as usize * BLOCK];
    let (blocks, _) = index.as_chunks_mut::<BLOCK>();
    let mut used = vec![0; blocks.len()];
    let mut written = Vec::with_capacity(entries.len());
    let mut offset = 0_u32;
    for entry in entries {
        let home = entry.key.home(count);
        let near =
            (0..=OVERFLOW.min(count - 1)).map(|distance| ((home + distance) % count) as usize);
        // A plan without a record is computed again. Keys are digests, so this does not happen by
        // chance.
        let Some(number) = near.into_iter().find(|number| used[*number] < FULL) else {
            continue;
        };
        let length = entry.sealed_length() as u32;
        let at = MAC + used[number] * RECORD;
        let record = &mut blocks[number][at..at + RECORD];
        let numbers = [entry.day, offset, length.saturating_sub(MAC as u32)];
        let numbers = numbers.map(u32::to_le_bytes);
        record[..entry.key.0.len()].copy_from_slice(&entry.key.0);
        record[entry.key.0.len()..].copy_from_slice(numbers.as_flattened());
        used[number] += 1;
        offset += length;
        written.push(entry);
    }
    for (number, block) in (0..).zip(blocks) {
        let mac = macs.block(number, count, &block[MAC..]);
        block[..MAC].copy_from_slice(&mac);
    }
    (index, written)
}

/// Removes the least recently used entries until the rest fits.
fn make_room(entries: &mut Vec<Entry<'_>>, most: usize) {
    let mut plans = entries.iter().map(Entry::sealed_length).sum::<usize>();
    let mut count = entries.len();
    if size(count, plans) <= most {
        return;
    }
    let mut by_use: Vec<_> = (0..entries.len()).collect();
    by_use.sort_by_key(|at| entries[*at].day);
    let mut removed = vec![false; entries.len()];
    for at in by_use {
        if size(count, plans) <= most || count == 0 {
            break;
        }
        plans -= entries[at].sealed_length();
        count -= 1;
        removed[at] = true;
    }
    let mut removed = removed.into_iter();
    entries.retain(|_| !removed.next().unwrap_or_default());
}
