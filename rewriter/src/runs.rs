//! Positions of bcis that moved together, written several at a time.

use std::ops::Range;

/// Number of positions written at a time.
const CHUNK: usize = 8;

/// Reserves memory for the positions of all bcis, and for the positions that [`count`] writes beyond them.
pub(crate) fn make_room(positions: &mut Vec<u32>, bcis: usize) {
    positions.resize(bcis + CHUNK, 0);
}

/// Writes the positions of these bcis, which moved by `shift`. It also writes some beyond them; later calls overwrite
/// those.
#[inline]
pub(crate) fn count(positions: &mut [u32], bcis: Range<usize>, shift: u32) {
    let mut next = bcis.start as u32 + shift;
    let end = bcis.len().next_multiple_of(CHUNK) + bcis.start;
    let run = positions.get_mut(bcis.start..end).unwrap_or_default();
    for chunk in run.as_chunks_mut::<CHUNK>().0 {
        *chunk = std::array::from_fn(|index| next + index as u32);
        next += CHUNK as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_overwrites_the_excess_of_the_previous_one() {
        let mut positions = Vec::new();
        make_room(&mut positions, 12);
        count(&mut positions, 0..3, 0);
        count(&mut positions, 3..3, 7);
        count(&mut positions, 3..12, 100);
        assert_eq!(
            positions.get(..12).unwrap(),
            [0, 1, 2, 103, 104, 105, 106, 107, 108, 109, 110, 111]
        );
    }
}
