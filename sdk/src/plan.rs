//! What a plugin can do to a class.

use crate::class::MethodView;
use crate::guest;
use crate::snippet::Snippet;
use crate::source::{CodeSink, PlanSink};
use crate::wit::{Failure, ProbeId, Site};

/// Edits to one class: recorded and checked call by call, applied only if
/// [`crate::Transformer::transform`] returns `Ok`.
pub struct Plan<'a> {
    sink: &'a dyn PlanSink,
}

impl<'a> Plan<'a> {
    /// A plan that records into `sink`.
    #[must_use]
    pub fn new(sink: &'a dyn PlanSink) -> Self {
        Self { sink }
    }

    /// One bit per site: reached or not. Returns the probes in the order of the sites.
    ///
    /// `tag` is kept with these probes. One call for many sites is far cheaper than many calls.
    ///
    /// # Errors
    /// When a site does not exist or a limit is reached (32,768 edits, 1 MiB of tags per class).
    pub fn hit(&mut self, at: &[Site], tag: &[u8]) -> Result<Vec<ProbeId>, Failure> {
        self.sink.hit(at, tag)
    }

    /// A 64-bit counter per site. Returns the probes in the order of the sites.
    ///
    /// Without synchronization: threads that meet there at once may count once.
    ///
    /// # Errors
    /// As [`Plan::hit`].
    pub fn count(&mut self, at: &[Site], tag: &[u8]) -> Result<Vec<ProbeId>, Failure> {
        self.sink.count(at, tag)
    }

    /// The time from the entry of a method to its end, normal or by an exception, with what `capture` asks for.
    ///
    /// # Errors
    /// When the method is abstract, has not the argument asked for, or a span already; and as [`Plan::hit`].
    pub fn span(
        &mut self,
        method: &MethodView<'_>,
        capture: &Capture,
        tag: &[u8],
    ) -> Result<ProbeId, Failure> {
        self.sink.span(method.index(), capture, tag)
    }

    /// Inserts code at each of the sites (capability `rewrite`).
    ///
    /// # Errors
    /// When the code does not fit one of the sites; it is then inserted nowhere.
    pub fn insert(&mut self, at: &[Site], code: &Snippet) -> Result<(), Failure> {
        match self.sink.code_sink() {
            CodeSink::Host(plan) => guest::insert(plan, at, code),
            CodeSink::Native(plan) => plan.insert(at, code),
        }
    }

    /// A line for people: why something was done, or left undone, at a site.
    pub fn note(&mut self, at: Site, text: &str) {
        self.sink.note(at, text);
    }
}

/// What a span records besides thread and times.
///
/// Values are never called: numbers, strings and boxes are kept as text, arrays
/// as type and length, other objects as class and identity.
///
/// ```
/// # use classhook_sdk::Capture;
/// let everything = Capture::default().arguments().returned().thrown().limit(200);
/// let durations = Capture::default().sum_up();
/// # assert_ne!(everything, durations);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capture {
    /// Every argument is kept.
    pub all_arguments: bool,
    /// Positions of arguments to keep.
    pub arguments: Vec<u8>,
    /// The value returned is kept.
    pub returned: bool,
    /// The class of what is thrown is kept.
    pub thrown: bool,
    /// Longest text kept of one value, in bytes; none for 80.
    pub limit: Option<u32>,
    /// Calls are only summed up.
    pub summed_up: bool,
}

impl Capture {
    /// The argument at `index` too; `this` is not counted.
    #[must_use]
    pub fn argument(mut self, index: u8) -> Self {
        self.arguments.push(index);
        self
    }

    /// Every argument.
    #[must_use]
    pub fn arguments(mut self) -> Self {
        self.all_arguments = true;
        self
    }

    /// The value returned, if the method returns one.
    #[must_use]
    pub fn returned(mut self) -> Self {
        self.returned = true;
        self
    }

    /// The class of the exception that leaves the method.
    #[must_use]
    pub fn thrown(mut self) -> Self {
        self.thrown = true;
        self
    }

    /// Longest text kept of one value, in bytes of UTF-8: 80 unless set, at most 1,024.
    #[must_use]
    pub fn limit(mut self, bytes: u32) -> Self {
        self.limit = Some(bytes);
        self
    }

    /// No events and no values: only how many calls there were, how long they
    /// took, and how many ended by an exception.
    #[must_use]
    pub fn sum_up(mut self) -> Self {
        self.summed_up = true;
        self
    }
}
