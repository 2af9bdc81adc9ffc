//! The code of the snippets of one method.

use crate::limits::MAX_LOCALS;
use crate::lowering::lower;
use crate::plan::SkipReason;
use crate::pool::PoolWriter;
use crate::snippet::SnippetId;
use crate::splice::analysis::{Analysis, Inserted};

/// The code of a method's snippets; all tables are reused for the next method.
#[derive(Debug, Default)]
pub(crate) struct Snippets {
    /// Each snippet of the method once, by its number.
    ids: Vec<SnippetId>,
    lowered: Vec<Lowered>,
    code: Vec<u8>,
    /// The offset of each operation in its snippet's code, and that of the end.
    offsets: Vec<u32>,
    /// Local variable slots of the method and of the snippets.
    pub(crate) locals: u32,
}

impl Snippets {
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.lowered.clear();
        self.code.clear();
        self.offsets.clear();
        self.locals = 0;
    }

    pub(crate) fn get(&self, id: SnippetId) -> Option<&Lowered> {
        let index = self.ids.binary_search(&id).ok()?;
        self.lowered.get(index)
    }

    pub(crate) fn code(&self, id: SnippetId) -> &[u8] {
        let range = self
            .get(id)
            .map(|found| found.start as usize..found.end as usize);
        range
            .and_then(|range| self.code.get(range))
            .unwrap_or_default()
    }

    /// Returns the offset of each operation in the snippet's code, and that of the end.
    pub(crate) fn offsets(&self, id: SnippetId) -> &[u32] {
        let range = self
            .get(id)
            .map(|found| found.offsets.0 as usize..found.offsets.1 as usize);
        range
            .and_then(|range| self.offsets.get(range))
            .unwrap_or_default()
    }

    /// Lowers all snippets of a method.
    pub(crate) fn lower(
        &mut self,
        analysis: &Analysis<'_>,
        pool: &mut PoolWriter,
    ) -> Result<(), SkipReason> {
        let context = &analysis.context;
        self.locals = context.locals();
        for Inserted {
            id, snippet, typed, ..
        } in &analysis.inserted
        {
            self.locals = self.locals.max(context.locals() + typed.slots);
            if self.locals > MAX_LOCALS {
                return Err(SkipReason::TooManyLocals);
            }
            let place = match self.ids.binary_search(id) {
                Ok(place) => place,
                Err(place) => {
                    let (start, first) = (self.code.len() as u32, self.offsets.len() as u32);
                    let (code, offsets) = (&mut self.code, &mut self.offsets);
                    lower(context, snippet, pool, code, offsets).ok_or(SkipReason::PoolFull)?;
                    let lowered = Lowered {
                        start,
                        end: self.code.len() as u32,
                        offsets: (first, self.offsets.len() as u32),
                        stack: 0,
                    };
                    self.ids.insert(place, *id);
                    self.lowered.insert(place, lowered);
                    place
                }
            };
            if let Some(lowered) = self.lowered.get_mut(place) {
                lowered.stack = lowered.stack.max(typed.deepest);
            }
        }
        Ok(())
    }
}

/// The code of one snippet in one method, the same at each of its locations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lowered {
    /// The start of its bytes in the code of all snippets of the method.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The range of its offsets in the shared list.
    pub(crate) offsets: (u32, u32),
    /// Operand stack slots that it needs, with the values at its start.
    pub(crate) stack: u32,
}

impl Lowered {
    pub(crate) fn length(&self) -> u32 {
        self.end - self.start
    }
}
