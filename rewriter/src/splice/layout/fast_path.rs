//! Fast path for a method with only hits whose jumps stay in range: positions and code in one pass over the edits.
//!
//! Only branch offsets change: every jump reaches its target, and no instruction changes its size. The result equals
//! that of [`Layout::group`], [`Layout::settle`] and the emitter; a test compares them.

use crate::plan::{Action, Edit};
use crate::runs::{count, make_room};
use crate::splice::layout::edits::RANK_PRE;
use crate::splice::layout::model::{GAP, Gap, Layout};
use crate::splice::layout::settle::place_trampolines;
use crate::splice::order::edit_index;
use crate::splice::probe::ProbeWriter;
use jvms::opcode;

/// Bytes of a `goto`.
const GOTO: u32 = 3;

impl Layout {
    /// Checks whether the fast path applies to hits of `hit` bytes each; it then also computes the length of the new
    /// code.
    pub(crate) fn takes_fast_path(&mut self, hit: u32) -> bool {
        let behind = !self.edge_keys.is_empty();
        let open = behind && opcode::falls_through(self.last_opcode);
        // A switch keeps its padding if it moves by a multiple of four.
        if open || (!self.resized.is_empty() && hit & 3 != 0) {
            return false;
        }
        let count = (self.keys.len() + self.edge_keys.len()) as u32;
        let edges = self.edge_keys.chunk_by(|a, b| a >> 24 == b >> 24).count() as u32;
        let added = count.saturating_mul(hit).saturating_add(edges * GOTO);
        self.total = self.length.saturating_add(added);
        self.total <= i16::MAX as u32
    }

    /// Appends `code` with its hits. Branch offsets stay as they were. The code after the main line has positions but
    /// is not written.
    #[inline(never)]
    pub(crate) fn write_hits(
        &mut self,
        code: &[u8],
        edits: &[Edit],
        probes: ProbeWriter,
        out: &mut Vec<u8>,
    ) {
        let hit = probes.uniform_size().unwrap_or_default();
        let inserted = self.keys.len() as u32 * hit;
        let base = out.len();
        out.resize(base + code.len() + inserted as usize, 0);
        make_room(&mut self.positions, code.len() + 1);
        self.gaps.clear();
        let mut room = out.get_mut(base..).unwrap_or_default();
        let (mut copied, mut counted, mut first, mut shift) = (0, 0, 0, 0);
        let mut keys = self.keys.as_slice();
        while let [key, ..] = keys {
            let mut gap = Gap {
                bci: (key >> 32) as u32,
                first,
                ..Gap::default()
            };
            let bci = gap.bci as usize;
            put(code.get(copied..bci).unwrap_or_default(), &mut room);
            count(&mut self.positions, counted..bci, shift);
            while let [key, rest @ ..] = keys
                && key >> 32 == u64::from(gap.bci)
            {
                let edit = edits.get(edit_index(*key));
                if let Some(Action::Hit(probe)) = edit.map(|edit| edit.action) {
                    probes.hit(probe).each(|part| put(part, &mut room));
                }
                match key >> 24 & 3 {
                    RANK_PRE => gap.pre_count += 1,
                    _ => gap.at_count += 1,
                }
                keys = rest;
            }
            (gap.pre, gap.at) = (gap.pre_count * hit, gap.at_count * hit);
            if let Some(label) = self.positions.get_mut(bci) {
                *label = (gap.bci + shift + gap.pre) | GAP;
            }
            first += gap.pre_count + gap.at_count;
            shift = first * hit;
            (copied, counted) = (bci, bci + 1);
            self.gaps.push(gap);
        }
        put(code.get(copied..).unwrap_or_default(), &mut room);
        let end = code.len() + 1;
        count(&mut self.positions, counted..end, shift);
        self.positions.truncate(end);
        self.group_edges(|_| hit, |_| false);
        let end = self.length + shift;
        self.unwind = place_trampolines(&mut self.trampolines, self.length, self.length, end);
        debug_assert_eq!(self.unwind, self.total);
    }
}

/// Writes `bytes` into `room` and advances it, if they fit.
#[inline(always)]
fn put(bytes: &[u8], room: &mut &mut [u8]) {
    if let Some((place, rest)) = std::mem::take(room).split_at_mut_checked(bytes.len()) {
        place.copy_from_slice(bytes);
        *room = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::CodeIndex;
    use jvms::opcode::{GOTO, IFEQ, NOP, RETURN, TABLESWITCH};

    /// Checks whether the fast path applies to a hit on the jump at `source`.
    fn is_fast(code: &[u8], source: u32, target: u32, hit: u32) -> bool {
        let mut layout = Layout::default();
        let mut index = CodeIndex::default();
        layout.decode(code, &index.of(code).expect("it can be decoded"));
        layout.edge_keys = vec![u64::from(source) << 40 | u64::from(target) << 24];
        layout.takes_fast_path(hit)
    }

    #[test]
    fn fast_path_excludes_jumps_out_of_range() {
        let code = |nops| [&[IFEQ, 0, 3][..], &vec![NOP; nops], &[RETURN]].concat();
        let longest = 32_767 - 8 - 3 - 4;
        assert!(is_fast(&code(longest), 0, 3, 8));
        assert!(!is_fast(&code(longest + 1), 0, 3, 8));
        assert!(!is_fast(&[GOTO, 0, 3, NOP], 0, 3, 8), "the end is open");
    }

    #[test]
    fn fast_path_includes_aligned_switches() {
        let mut code = vec![TABLESWITCH, 0, 0, 0, 0, 0, 0, 20];
        code.extend([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 20, RETURN]);
        assert!(is_fast(&code, 0, 20, 8));
        assert!(!is_fast(&code, 0, 20, 11));
    }
}
