//! Insertion points: where in a class a plugin may edit, each held by a token.

use std::ops::Range;

use rewriter::{InsertionPoint, Location};

use crate::class::CheckedClass;
use crate::limits::MAX_SITES;
use crate::refusal::RefusedRequest;

/// The insertion points handed out; a token is a position here.
#[derive(Debug, Default)]
pub(crate) struct InsertionPoints {
    points: Vec<InsertionPoint>,
}

impl InsertionPoints {
    /// Hands out insertion points, if each of them exists.
    ///
    /// The error names the site that does not, if it is about one.
    pub(crate) fn make(
        &mut self,
        class: &mut CheckedClass,
        wanted: impl ExactSizeIterator<Item = InsertionPoint>,
    ) -> Result<Range<u64>, (Option<InsertionPoint>, RefusedRequest)> {
        self.expect_room(wanted.len())
            .map_err(|refused| (None, refused))?;
        let first = self.points.len();
        let points = &mut self.points;
        let mut at = None;
        let made = class.check(|checker| {
            for point in wanted {
                at = Some(point);
                checker.check(point)?;
                points.push(point);
            }
            Ok(())
        });
        match made {
            Ok(()) => Ok(first as u64..self.points.len() as u64),
            Err(error) => {
                self.points.truncate(first);
                let bci = at.and_then(|point| instruction_at(point.location));
                Err((at, RefusedRequest::unsuitable(bci, &error)))
            }
        }
    }

    /// Hands out insertion points that are known to exist.
    pub(crate) fn make_known(
        &mut self,
        wanted: impl Iterator<Item = InsertionPoint>,
    ) -> Result<Range<u64>, RefusedRequest> {
        let first = self.points.len();
        self.expect_room(1)?;
        self.points.extend(wanted.take(MAX_SITES - first));
        Ok(first as u64..self.points.len() as u64)
    }

    /// The location behind a token.
    pub(crate) fn find(&self, token: u64) -> Option<InsertionPoint> {
        let at = usize::try_from(token).ok()?;
        self.points.get(at).copied()
    }

    fn expect_room(&self, wanted: usize) -> Result<(), RefusedRequest> {
        if self.points.len() + wanted <= MAX_SITES {
            return Ok(());
        }
        let message = format!(
            "expected at most {MAX_SITES} sites in one class, found {wanted} more than {}",
            self.points.len()
        );
        Err(RefusedRequest::limit(
            message,
            Some("ask for each site once"),
        ))
    }
}

/// The bci of the instruction that a location is about.
#[must_use]
pub fn instruction_at(place: Location) -> Option<u16> {
    match place {
        Location::Before(bci)
        | Location::At(bci)
        | Location::FallThrough(bci)
        | Location::Jump { source: bci, .. } => Some(bci.0),
        _ => None,
    }
}
