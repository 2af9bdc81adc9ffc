//! The values that a span records.

/// The values that a span records, apart from thread and times.
///
/// No method of a value is called. Numbers, strings and boxes are recorded as text, arrays as type
/// and length, other objects as class and identity.
///
/// ```
/// # use edits::Capture;
/// let everything = Capture::default().arguments().returned().thrown().limit(200);
/// let durations = Capture::default().sum_up();
/// # assert_ne!(everything, durations);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capture {
    /// Records every argument.
    pub all_arguments: bool,
    /// The positions of the arguments to record.
    pub arguments: Vec<u8>,
    /// Records the returned value.
    pub returned: bool,
    /// Records the class of an exception.
    pub thrown: bool,
    /// Maximum length of a value's text, in bytes; `None` means 80.
    pub limit: Option<u32>,
    /// Records only sums over all calls.
    pub summed_up: bool,
}

impl Capture {
    /// Also records the argument at `index`; `this` is not counted.
    #[must_use]
    pub fn argument(mut self, index: u8) -> Self {
        self.arguments.push(index);
        self
    }

    /// Records every argument.
    #[must_use]
    pub fn arguments(mut self) -> Self {
        self.all_arguments = true;
        self
    }

    /// Records the returned value, if any.
    #[must_use]
    pub fn returned(mut self) -> Self {
        self.returned = true;
        self
    }

    /// Records the class of the exception that ends the call.
    #[must_use]
    pub fn thrown(mut self) -> Self {
        self.thrown = true;
        self
    }

    /// Sets the maximum length of a value's text, in bytes of UTF-8. The default is 80, the upper
    /// limit 1,024.
    #[must_use]
    pub fn limit(mut self, bytes: u32) -> Self {
        self.limit = Some(bytes);
        self
    }

    /// Records no single calls and no values, but only the number of calls, their duration, and the
    /// number of exceptions.
    #[must_use]
    pub fn sum_up(mut self) -> Self {
        self.summed_up = true;
        self
    }
}
