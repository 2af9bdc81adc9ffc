//! What a span records.

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

    /// Longest text kept of one value, in bytes of UTF-8: 80 unless set; more than 1,024 are 1,024.
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
