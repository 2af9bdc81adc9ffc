//! Names and values in OTLP form.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};

use crate::names::{class, printable};
use probes::events::SpanInfo;

/// Returns the instrumentation scope.
pub fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "classhook".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    }
}

/// Creates an attribute.
pub fn attribute(key: impl Into<String>, value: Value) -> KeyValue {
    KeyValue {
        key: key.into(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

/// Creates a text attribute.
pub fn text(key: impl Into<String>, value: impl Into<String>) -> KeyValue {
    attribute(key, Value::StringValue(value.into()))
}

/// Creates a number attribute.
pub fn number(key: &str, value: u64) -> KeyValue {
    attribute(
        key,
        Value::IntValue(i64::try_from(value).unwrap_or(i64::MAX)),
    )
}

/// Returns `com.acme.Store.find`, the format of OpenTelemetry's `code.function.name`.
pub fn function(span: &SpanInfo) -> String {
    format!("{}.{}", class(&span.class), printable(&span.method))
}

/// Converts milliseconds to nanoseconds since 1970.
pub fn nanos(milliseconds: u64) -> u64 {
    milliseconds.saturating_mul(1_000_000)
}
