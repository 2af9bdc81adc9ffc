//! `StackMapTable` (JVMS 4.7.4), decoded to full frames.

use crate::model::{Reader, put};

const OBJECT: u8 = 7;
const UNINITIALIZED: u8 = 8;

/// A frame at an offset of the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub at: usize,
    locals: Vec<Vec<u8>>,
    stack: Vec<Vec<u8>>,
}

/// Decodes the table of a method without parameters: the first frame has no local variables.
pub(super) fn decode(table: &[u8]) -> Option<Vec<Frame>> {
    let mut reader = Reader::new(table);
    let count = reader.u2()?;
    let mut frames: Vec<Frame> = Vec::new();
    let mut locals: Vec<Vec<u8>> = Vec::new();
    for _ in 0..count {
        let kind = reader.u1()?;
        let mut stack = Vec::new();
        let delta = match kind {
            0..=63 => u16::from(kind),
            64..=127 => {
                stack.push(verification_type(&mut reader)?);
                u16::from(kind).checked_sub(64)?
            }
            247 => {
                let delta = reader.u2()?;
                stack.push(verification_type(&mut reader)?);
                delta
            }
            248..=250 => {
                let delta = reader.u2()?;
                let gone = usize::from(251_u8.checked_sub(kind)?);
                locals.truncate(locals.len().checked_sub(gone)?);
                delta
            }
            251 => reader.u2()?,
            252..=254 => {
                let delta = reader.u2()?;
                for _ in 251..kind {
                    locals.push(verification_type(&mut reader)?);
                }
                delta
            }
            255 => {
                let delta = reader.u2()?;
                locals = types(&mut reader)?;
                stack = types(&mut reader)?;
                delta
            }
            128..=246 => return None,
        };
        let at = match frames.last() {
            None => usize::from(delta),
            Some(last) => last.at.checked_add(usize::from(delta))?.checked_add(1)?,
        };
        frames.push(Frame {
            at,
            locals: locals.clone(),
            stack,
        });
    }
    Some(frames)
}

fn types(reader: &mut Reader<'_>) -> Option<Vec<Vec<u8>>> {
    let count = reader.u2()?;
    (0..count).map(|_| verification_type(reader)).collect()
}

fn verification_type(reader: &mut Reader<'_>) -> Option<Vec<u8>> {
    let tag = reader.u1()?;
    let mut found = vec![tag];
    if matches!(tag, OBJECT | UNINITIALIZED) {
        put(&mut found, &[reader.u2()?]);
    }
    Some(found)
}

impl Frame {
    /// Replaces the offset of each `new` by its new one. Fails if an instruction has no new offset.
    pub(super) fn move_uninitialized(
        &mut self,
        place: &dyn Fn(usize) -> Option<usize>,
    ) -> Option<()> {
        for found in self.locals.iter_mut().chain(&mut self.stack) {
            if let [UNINITIALIZED, high, low] = found.as_mut_slice() {
                let at = place(usize::from(u16::from_be_bytes([*high, *low])))?;
                [*high, *low] = u16::try_from(at).ok()?.to_be_bytes();
            }
        }
        Some(())
    }
}

/// Encodes frames in order, all in full.
pub(super) fn encode(frames: &[Frame]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    put(&mut out, &[u16::try_from(frames.len()).ok()?]);
    let mut last: Option<usize> = None;
    for frame in frames {
        let delta = match last {
            None => frame.at,
            Some(last) => frame.at.checked_sub(last)?.checked_sub(1)?,
        };
        last = Some(frame.at);
        out.push(255);
        put(&mut out, &[u16::try_from(delta).ok()?]);
        for list in [&frame.locals, &frame.stack] {
            put(&mut out, &[u16::try_from(list.len()).ok()?]);
            list.iter().for_each(|found| out.extend_from_slice(found));
        }
    }
    Some(out)
}
