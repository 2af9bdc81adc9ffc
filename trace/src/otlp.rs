//! OpenTelemetry's protocol (OTLP): single calls as spans, sums as metrics.
//!
//! Spans are sent once their callers are known ([`crate::trees`]). Their ids are computed from the JVM, the thread
//! and the start of the call. So a call can refer to its caller before the caller is sent.

mod attributes;
mod metrics;
mod resource;
mod span_name;
mod spans;

pub use metrics::metrics;
pub use resource::Service;
pub use span_name::{NamePart, SpanName};
pub use spans::Spans;
