//! Insertion points: where in a class a plugin may edit, each held by a token.

use std::ops::Range;

use rewriter::{InsertionPoint, Location};

use crate::class::CheckedClass;
use crate::limits::MAX_SITES;
use crate::refusal::RefusedRequest;

/// The insertion points handed out; a token is the number of the class and a position here.
#[derive(Debug)]
pub(crate) struct InsertionPoints {
    /// The token of the first.
    first: u64,
    points: Vec<InsertionPoint>,
}

impl InsertionPoints {
    /// None yet; no other class in the plugin's hands has this number.
    pub(crate) fn of_class(number: u32) -> Self {
        Self {
            first: u64::from(number) << 32,
            points: Vec::new(),
        }
    }

    /// The tokens of the points from this position on.
    fn tokens_from(&self, position: usize) -> Range<u64> {
        let token = |position: usize| self.first + position as u64;
        token(position)..token(self.points.len())
    }

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
            Ok(()) => Ok(self.tokens_from(first)),
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
        Ok(self.tokens_from(first))
    }

    /// Bytes that they take.
    pub(crate) fn bytes(&self) -> usize {
        self.points.len() * size_of::<InsertionPoint>()
    }

    /// The location behind a token.
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
