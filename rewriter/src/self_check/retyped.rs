//! Frames of a method that got new ones, all written out.

use crate::class::{Attribute, ClassFile, Code};
use crate::self_check::mismatch::Mismatch;
use crate::self_check::walk::Walk;
use crate::splice::{Analysis, Changes, Placed, Placement, extras, merged_frames};
use crate::typing::{FrameReader, Origin, Type};

/// A method whose frames are not those of the original alone.
pub(super) struct Retyped<'r, 't> {
    pub(super) original: &'r ClassFile<'t>,
    pub(super) output: &'r ClassFile<'t>,
    pub(super) analysis: &'r Analysis<'t>,
    pub(super) changes: &'t Changes,
    pub(super) after: &'r Code<'r, 't>,
}

impl<'t> Retyped<'_, 't> {
    /// Compares the frames of the output with the moved ones of the original and
    /// those that the snippets need, found anew from where they stand.
    pub(super) fn check(&self, found: Option<&Attribute<'t>>, walk: &Walk) -> Result<(), Mismatch> {
        let placed = walk.placed().iter().map(|placed| Placed {
            index: placed.index,
            start: placed.start,
            offsets: walk.offsets(placed),
        });
        let trampolines = walk.trampolines().iter();
        let placement = Placement {
            placed: placed.collect(),
            trampolines: trampolines
                .filter_map(|trampoline| Some((trampoline.position, trampoline.target?)))
                .collect(),
            unwind: walk.unwind(),
        };
        let unknown = || Mismatch::new("types that can be followed", 0, 0);
        let extras = extras(self.original, self.analysis, self.changes, &placement, walk)
            .map_err(|_| unknown())?;
        let context = &self.analysis.context;
        if found.is_none() && context.frames.is_none() && extras.is_empty() {
            return Ok(());
        }
        let limits = (self.after.max_locals(), self.after.max_stack());
        let mut reader = FrameReader::new(self.output.pool(), found, &context.initial, limits)
            .map_err(|_| unknown())?;
        let mut wrong = None;
        let all = merged_frames(
            self.original,
            self.analysis,
            &extras,
            walk,
            |position, locals, stack| {
                let there = reader.next().ok().flatten();
                let same = there == Some(position)
                    && alike(&reader.locals, locals)
                    && alike(&reader.stack, stack);
                if same {
                    return Some(());
                }
                wrong = Some(Mismatch::new(
                    "the frame of the original or of a snippet",
                    0,
                    position,
                ));
                None
            },
        );
        let more = Mismatch::new("no further stack map frame", 0, 0);
        match (wrong, all) {
            (Some(wrong), _) => Err(wrong),
            (None, Ok(Some(()))) => match reader.next() {
                Ok(None) => Ok(()),
                _ => Err(more),
            },
            _ => Err(unknown()),
        }
    }
}

/// The same types, where those of the output name positions.
fn alike(found: &[Type<'_>], wanted: &[Type<'_>]) -> bool {
    let same = |(found, wanted): (&Type<'_>, &Type<'_>)| match (found, wanted) {
        (
            Type::Uninitialized(Origin::Method(at)),
            Type::Uninitialized(Origin::Position(position)),
        ) => at == position,
        _ => found == wanted,
    };
    found.len() == wanted.len() && found.iter().zip(wanted).all(same)
}
