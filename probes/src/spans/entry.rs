//! The encoding of a call in a thread's segment: one word of flags, span and length, then start, end, the data that
//! flags announce, and captures.

use std::sync::Arc;

use super::capture;
use super::shared::{Scale, Shared};
use crate::events::{Call, EventWriter, Outcome};

/// An exception left the call.
pub(super) const THREW: u64 = 1 << 32;
/// The class of the exception follows.
pub(super) const NAMED: u64 = 1 << 33;
/// The id of the virtual thread follows.
pub(super) const VIRTUAL: u64 = 1 << 34;
/// An event, which has no duration.
pub(super) const MOMENT: u64 = 1 << 35;
/// Bit position of an entry's length in its first word.
pub(super) const LENGTH_SHIFT: u32 = 48;

/// Decodes the entries of one thread.
pub(super) struct Entries<'r> {
    pub shared: &'r Shared,
    pub scale: Scale,
    /// Java's id of the native thread.
    pub own: u64,
    /// Names of classes by number, as known when the entries were read.
    pub classes: &'r [Arc<str>],
    /// `true` for each span number of this trace.
    pub current: &'r [bool],
}

impl Entries<'_> {
    /// Writes the calls of these words to the event file.
    pub fn write(&self, words: &[u64], out: &mut EventWriter) {
        let mut rest = words;
        while let Some(head) = rest.first() {
            let length = (head >> LENGTH_SHIFT) as usize;
            let Some((entry, behind)) = rest.split_at_checked(length.max(3)) else {
                break;
            };
            rest = behind;
            if let Some((call, is_virtual)) = self.call(entry) {
                match head & MOMENT {
                    0 => out.call(&call, is_virtual),
                    _ => out.moment(call.into(), is_virtual),
                }
            }
        }
    }

    /// Decodes an entry; the flag is set for a virtual thread.
    fn call(&self, entry: &[u64]) -> Option<(Call, bool)> {
        let (&[head, start, end], mut rest) = entry.split_first_chunk()?;
        let is_current = self.current.get(head as u32 as usize) == Some(&true);
        if start < self.scale.base || !is_current {
            return None; // from an earlier trace
        }
        let mut next = |flag: u64| {
            let (first, others) = rest.split_first()?;
            if head & flag == 0 {
                return None;
            }
            rest = others;
            Some(*first)
        };
        let virtual_thread = next(VIRTUAL);
        let thrown = next(NAMED);
        let class = |number: u32| {
            let class = self.classes.get(number as usize).cloned();
            // The class got its number after the names were copied.
            class.unwrap_or_else(|| self.shared.name_of(number))
        };
        let outcome = match (head & THREW != 0, thrown) {
            (false, _) => Outcome::Returned,
            (true, None) => Outcome::Threw(None),
            (true, Some(number)) => Outcome::Threw(Some(class(number as u32))),
        };
        let call = Call {
            thread: virtual_thread.unwrap_or(self.own),
            span: head as u32,
            start: self.scale.time(start),
            end: self.scale.time(end),
            outcome,
            captures: capture::decode(rest, class),
        };
        Some((call, virtual_thread.is_some()))
    }
}
