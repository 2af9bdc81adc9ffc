//! OpenTelemetry's protocol (OTLP): single calls as spans, sums as metrics.
//!
//! Spans come in the order in which their callers become known ([`crate::trees`]). Their ids follow from the JVM, the
//! thread and the start of the call, so a call is named before the one that made it is sent.

mod attributes;
mod metrics;
mod resource;
mod span_name;
mod spans;

pub use metrics::metrics;
pub use resource::Service;
pub use span_name::{NamePart, SpanName};
pub use spans::Spans;
