//! Spans as values: the methods timed from entry to exit, and the values kept of each call.
//!
//! The recorder of events chooses the code of a span.

use jvms::access_flags::ACC_NATIVE;
use jvms::descriptor::Parameters;
use std::fmt;
use thiserror::Error;

use rewriter::{ClassFile, MethodIndex};
use stored::impl_stored;

/// Default limit for the text of one value, in bytes of UTF-8.
pub const DEFAULT_LIMIT: u32 = 80;
/// Highest limit that a plugin can request.
pub const MAX_LIMIT: u32 = 1_024;

/// The arguments to keep, by index without `this`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Arguments {
    /// These indices, ascending, each once.
    Some(Vec<u8>),
    /// Every argument of the method.
    All,
}

impl_stored!(enum Arguments {
    0 Some(indices),
    1 All,
});

/// The values that a span records in addition to thread and times.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Capture {
    /// The arguments, read at the entry.
    pub arguments: Arguments,
    /// True if the return value is kept.
    pub returned: bool,
    /// True if the class of an exception that leaves the method is kept.
    pub thrown: bool,
    /// Limit for the text of one value, in bytes of UTF-8, at most [`MAX_LIMIT`].
    pub limit: u32,
    /// True if calls are only aggregated: no events and no values.
    pub sum_up: bool,
}

impl_stored!(struct Capture { arguments, returned, thrown, limit, sum_up });

impl Default for Capture {
    fn default() -> Self {
        Self {
            arguments: Arguments::Some(Vec::new()),
            returned: false,
            thrown: false,
            limit: DEFAULT_LIMIT,
            sum_up: false,
        }
    }
}

impl Capture {
    /// Adds the argument at `index`.
    pub fn argument(&mut self, index: u8) {
        if let Arguments::Some(indices) = &mut self.arguments
            && let Err(at) = indices.binary_search(&index)
        {
            indices.insert(at, index);
        }
    }

    /// Returns the indices to keep of a method with `count` parameters.
    #[must_use]
    pub fn positions(&self, count: u8) -> Vec<u8> {
        match &self.arguments {
            Arguments::All => (0..count).collect(),
            Arguments::Some(indices) => indices.clone(),
        }
    }
}

/// Returns the number of parameters in a method descriptor (JVMS 4.3.3), up to the first malformed one.
#[must_use]
pub fn parameter_count(descriptor: &[u8]) -> u8 {
    u8::try_from(Parameters::of(descriptor).count()).unwrap_or(u8::MAX)
}

/// The time from the entry of one method to its exit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Span {
    /// Number among the spans of the class, from 0 in the order of the requests.
    pub number: u32,
    /// The method.
    pub method: MethodIndex,
    /// The recorded values.
    pub capture: Capture,
}

impl_stored!(struct Span { number, method, capture });

/// The reason why a span was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpanError {
    /// The class has fewer methods.
    #[error("method {method} does not exist: the class has {count}")]
    NoSuchMethod {
        /// The requested index.
        method: MethodIndex,
        /// Number of methods.
        count: usize,
    },
    /// An abstract method.
    #[error("method {method} is abstract, so it has no entry and no exit")]
    NoCode {
        /// The method.
        method: MethodIndex,
    },
    /// The method already has a span.
    #[error("method {method} already has a span: request one span with all values")]
    Twice {
        /// The method.
        method: MethodIndex,
    },
    /// The method has fewer parameters.
    #[error("method {method} has {count} parameters, so there is no argument {index}")]
    NoArgument {
        /// The method.
        method: MethodIndex,
        /// The requested index.
        index: u8,
        /// Number of parameters.
        count: u8,
    },
}

/// The spans of one class, in the order of the requests; at most one per method.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Spans {
    all: Vec<Span>,
}

impl_stored!(struct Spans { all });

impl Spans {
    /// Returns the spans in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Span] {
        &self.all
    }

    /// Adds a span over a method of `class` and returns its number.
    ///
    /// # Errors
    /// The method, its code or an argument does not exist, or it already has a span. Nothing is added.
    pub fn add(
        &mut self,
        class: &ClassFile<'_>,
        method: MethodIndex,
        capture: Capture,
    ) -> Result<u32, SpanError> {
        let count = class.methods().len();
        let found = class
            .method(method)
            .ok_or(SpanError::NoSuchMethod { method, count })?;
        let is_native = found.access_flags() & ACC_NATIVE != 0;
        if !found.has_code() && !is_native {
            return Err(SpanError::NoCode { method });
        }
        if self.all.iter().any(|span| span.method == method) {
            return Err(SpanError::Twice { method });
        }
        let count = parameter_count(found.descriptor().as_bytes());
        match capture.positions(count).last() {
            Some(&index) if index >= count => {
                return Err(SpanError::NoArgument {
                    method,
                    index,
                    count,
                });
            }
            _ => {}
        }
        let number = self.all.len() as u32;
        self.all.push(Span {
            number,
            method,
            capture,
        });
        Ok(number)
    }
}

/// Formats as `span 0 arguments 0 2 returned thrown limit 80`, `span 0 summed up`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "span {}", self.number)?;
        if self.capture.sum_up {
            return f.write_str(" summed up");
        }
        match &self.capture.arguments {
            Arguments::All => f.write_str(" arguments")?,
            Arguments::Some(indices) => {
                if !indices.is_empty() {
                    f.write_str(" arguments")?;
                }
                indices.iter().try_for_each(|index| write!(f, " {index}"))?;
            }
        }
        let kept = [
            (self.capture.returned, " returned"),
            (self.capture.thrown, " thrown"),
        ];
        kept.iter()
            .filter(|(kept, _)| *kept)
            .try_for_each(|(_, text)| f.write_str(text))?;
        write!(f, " limit {}", self.capture.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_counted() {
        for (descriptor, count) in [
            ("()V", 0),
            ("(I)I", 1),
            ("(JD[[ILa/B;[Lc/D;Z)La/B;", 6),
            ("(La/B", 0),
            ("I", 0),
            ("", 0),
        ] {
            assert_eq!(
                parameter_count(descriptor.as_bytes()),
                count,
                "{descriptor}"
            );
        }
    }

    #[test]
    fn arguments_are_kept_once_and_in_order() {
        let mut capture = Capture::default();
        [2, 0, 2]
            .into_iter()
            .for_each(|index| capture.argument(index));
        assert_eq!(capture.positions(3), [0, 2]);
        capture.arguments = Arguments::All;
        capture.argument(7);
        assert_eq!(capture.positions(3), [0, 1, 2]);
    }

    #[test]
    fn text_lists_the_recorded_values() {
        let mut span = Span {
            number: 4,
            method: MethodIndex(1),
            capture: Capture::default(),
        };
        assert_eq!(span.to_string(), "span 4 limit 80");
        span.capture.argument(1);
        (
            span.capture.returned,
            span.capture.thrown,
            span.capture.limit,
        ) = (true, true, 9);
        assert_eq!(
            span.to_string(),
            "span 4 arguments 1 returned thrown limit 9"
        );
        span.capture.sum_up = true;
        assert_eq!(span.to_string(), "span 4 summed up");
    }
}
