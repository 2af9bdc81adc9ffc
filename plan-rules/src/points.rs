//! Insertion points: the locations of a class that a plugin may edit, each identified by a token.

use std::ops::Range;

use rewriter::{InsertionPoint, Location};

use crate::class::CheckedClass;
use crate::limits::MAX_SITES;
use crate::refusal::RefusedRequest;

/// The insertion points of one class. A token is the number of the class and an index into this list.
#[derive(Debug)]
pub(crate) struct InsertionPoints {
    /// The token of the first point.
    first: u64,
    points: Vec<InsertionPoint>,
}

impl InsertionPoints {
    /// Creates an empty list. No other class that the plugin holds has this number.
    pub(crate) fn of_class(number: u32) -> Self {
        Self {
            first: u64::from(number) << 32,
            points: Vec::new(),
        }
    }

    /// Returns the tokens of the points from this index on.
    fn tokens_from(&self, position: usize) -> Range<u64> {
        let token = |position: usize| self.first + position as u64;
        token(position)..token(self.points.len())
    }

    /// Adds insertion points, if all exist.
    ///
    /// An error about one point names it.
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
            Ok(()) => Ok(self.tokens_from(first)),
            Err(error) => {
                self.points.truncate(first);
                let bci = at.and_then(|point| instruction_at(point.location));
                Err((at, RefusedRequest::unsuitable(bci, &error)))
            }
        }
    }

    /// Adds insertion points that are known to exist.
    pub(crate) fn make_known(
        &mut self,
        wanted: impl Iterator<Item = InsertionPoint>,
    ) -> Result<Range<u64>, RefusedRequest> {
        let first = self.points.len();
        self.expect_room(1)?;
        self.points.extend(wanted.take(MAX_SITES - first));
        Ok(self.tokens_from(first))
    }

    /// Returns the bytes that the points take.
    pub(crate) fn bytes(&self) -> usize {
        self.points.len() * size_of::<InsertionPoint>()
    }

    /// Returns the location for a token.
    pub(crate) fn find(&self, token: u64) -> Option<InsertionPoint> {
        let at = usize::try_from(token.checked_sub(self.first)?).ok()?;
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
            Some("request each site once"),
        ))
    }
}

/// Returns the bci of an instruction location.
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
