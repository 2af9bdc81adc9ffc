//! Converts calls to spans.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::trace::v1::span::{Event, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use probes::events::{Call, Outcome, SpanInfo, ThreadInfo, Trace, Value};

use super::attributes::{attribute, function, nanos, number, scope, text};
use super::resource::Service;
use super::span_name::SpanName;
use crate::names::{class, printable};
use crate::perfetto::thread_name;
use crate::tasks::CallId;
use crate::trees::PlacedCall;
use crate::values::{captured, shown, stack};

/// Sampled, and the parent is known to be in the same process (`SpanFlags`).
const FLAGS: u32 = 0x101;

/// Creates spans for the calls of one JVM.
#[derive(Debug, Clone)]
pub struct Spans {
    /// Input of ids, besides thread and start.
    seed: [u64; 3],
    names: SpanName,
}

impl Spans {
    /// Creates span ids from this number, which must be random for each JVM, and span names from this pattern.
    #[must_use]
    pub fn new(seed: u128, names: SpanName) -> Self {
        let [high, low] = [(seed >> 64) as u64, seed as u64];
        Self {
            seed: [1, 2, 3].map(|part| mixed(high ^ mixed(low ^ part))),
            names,
        }
    }

    /// Returns the request with these calls of a JVM; `trace` contains their methods and threads.
    #[must_use]
    pub fn request(
        &self,
        service: &Service,
        trace: &Trace,
        calls: &[PlacedCall],
    ) -> ExportTraceServiceRequest {
        let spans = calls.iter().map(|call| self.span(trace, call)).collect();
        let scope_spans = vec![ScopeSpans {
            scope: Some(scope()),
            spans,
            ..ScopeSpans::default()
        }];
        let of_jvm = ResourceSpans {
            resource: Some(service.instance(&trace.meta)),
            scope_spans,
            ..ResourceSpans::default()
        };
        ExportTraceServiceRequest {
            resource_spans: vec![of_jvm],
        }
    }

    fn span(&self, trace: &Trace, placed: &PlacedCall) -> Span {
        let call = &placed.call;
        let unknown = SpanInfo::default();
        let method = trace.spans.get(&call.span).unwrap_or(&unknown);
        let [high, low] = [1, 2].map(|part| self.id(part, placed.outermost));
        let begun = nanos(trace.meta.start_ms);
        let (error, events) = thrown(call, begun);
        let mut attributes = attributes(trace, placed, method);
        attributes.extend(error.as_ref().map(|name| text("error.type", name)));
        Span {
            trace_id: [high, low].concat(),
            span_id: self.id(0, CallId::of(call)).to_vec(),
            parent_span_id: placed
                .caller
                .map_or_else(Vec::new, |caller| self.id(0, caller).to_vec()),
            flags: FLAGS,
            name: self.names.of(call, method),
            kind: SpanKind::Internal.into(),
            start_time_unix_nano: begun.saturating_add(call.start),
            end_time_unix_nano: begun.saturating_add(call.end),
            attributes,
            events,
            status: error.map(|message| Status {
                message,
                code: StatusCode::Error.into(),
            }),
            ..Span::default()
        }
    }

    /// Computes eight bytes that identify a call; never all zero.
    fn id(&self, part: usize, call: CallId) -> [u8; 8] {
        let mixed = mixed(self.seed[part] ^ mixed(call.thread ^ mixed(call.start)));
        mixed.max(1).to_be_bytes()
    }
}

/// A permutation of 64 bits in which each bit of the result depends on all (SplitMix64).
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Returns the class of the exception, and the event that describes it.
fn thrown(call: &Call, begun: u64) -> (Option<String>, Vec<Event>) {
    let Outcome::Threw(name) = &call.outcome else {
        return (None, Vec::new());
    };
    let name = name.as_deref().map_or_else(|| "_OTHER".to_owned(), class);
    let event = Event {
        time_unix_nano: begun.saturating_add(call.end),
        name: "exception".to_owned(),
        attributes: vec![text("exception.type", &name)],
        ..Event::default()
    };
    (Some(name), vec![event])
}

fn attributes(trace: &Trace, placed: &PlacedCall, method: &SpanInfo) -> Vec<KeyValue> {
    let call = &placed.call;
    let unnamed = ThreadInfo {
        is_virtual: placed.is_virtual,
        ..ThreadInfo::default()
    };
    let thread = trace.threads.get(&call.thread).unwrap_or(&unnamed);
    let thread = thread_name(&thread.name, thread.is_virtual, call.thread);
    let mut attributes = vec![
        text("code.function.name", function(method)),
        text("classhook.descriptor", printable(&method.descriptor)),
        number("thread.id", call.thread),
        text("thread.name", thread),
    ];
    if method.line > 0 {
        attributes.push(number("code.line.number", method.line.into()));
    }
    let (arguments, returned) = captured(call);
    let arguments = arguments.into_iter();
    attributes.extend(
        arguments.filter_map(|(index, value)| valued(format!("classhook.argument.{index}"), value)),
    );
    attributes.extend(returned.and_then(|value| valued("classhook.returned".to_owned(), value)));
    for (name, value) in shown(call, method) {
        attributes.extend(valued(
            format!("classhook.shown.{}", printable(name)),
            value,
        ));
    }
    if let Some(frames) = stack(call) {
        attributes.push(text("code.stacktrace", printable(&frames.to_string())));
    }
    if call.outcome == Outcome::Open {
        attributes.push(attribute("classhook.open", AnyValue::BoolValue(true)));
    }
    attributes
}

/// Converts a value to the nearest type; `None` if it is absent.
fn valued(key: String, value: &Value) -> Option<KeyValue> {
    let value = match value {
        Value::Missing => return None,
        Value::Boolean(value) => AnyValue::BoolValue(*value),
        Value::Byte(value) => AnyValue::IntValue((*value).into()),
        Value::Short(value) => AnyValue::IntValue((*value).into()),
        Value::Int(value) => AnyValue::IntValue((*value).into()),
        Value::Long(value) => AnyValue::IntValue(*value),
        Value::Float(value) => AnyValue::DoubleValue((*value).into()),
        Value::Double(value) => AnyValue::DoubleValue(*value),
        Value::Char(unit) => AnyValue::StringValue(String::from_utf16_lossy(&[*unit])),
        Value::Text { text, length } => {
            let is_whole = text.encode_utf16().count() == *length as usize;
            AnyValue::StringValue(format!("{text}{}", if is_whole { "" } else { "…" }))
        }
        other => AnyValue::StringValue(printable(&other.to_string())),
    };
    Some(attribute(key, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use probes::events::{Capture, CaptureSource};
    use std::collections::HashSet;

    fn trace() -> Trace {
        let mut trace = Trace::default();
        trace.meta.start_ms = 1_000;
        let span = SpanInfo {
            id: 7,
            class: "com/acme/Store$Item".to_owned(),
            method: "find".to_owned(),
            descriptor: "(I)V".to_owned(),
            line: 12,
            ..SpanInfo::default()
        };
        trace.spans.insert(7, span);
        trace
    }

    fn placed(start: u64, caller: Option<u64>, outcome: Outcome) -> PlacedCall {
        let capture = |source, value| Capture { source, value };
        let id = |start| CallId { thread: 3, start };
        let text = Value::Text {
            text: "ab".to_owned(),
            length: 9,
        };
        PlacedCall {
            call: Call {
                thread: 3,
                span: 7,
                start,
                end: start + 5,
                outcome,
                captures: vec![
                    capture(CaptureSource::Argument(0), Value::Int(-4)),
                    capture(CaptureSource::Argument(1), text),
                    capture(CaptureSource::Argument(2), Value::Missing),
                    capture(CaptureSource::Returned, Value::Null),
                ],
            },
            is_virtual: true,
            caller: caller.map(id),
            outermost: id(caller.unwrap_or(start)),
        }
    }

    #[test]
    fn a_call_becomes_a_span_of_the_trace_of_its_outermost_caller() {
        let threw = Outcome::Threw(Some("a/Bad".into()));
        let calls = [
            placed(20, Some(10), threw),
            placed(10, None, Outcome::Returned),
        ];
        let service = Service {
            name: "shop".to_owned(),
            ..Service::default()
        };
        let request = Spans::new(1, SpanName::default()).request(&service, &trace(), &calls);
        let of_jvm = &request.resource_spans[0];
        let resource = of_jvm.resource.as_ref().unwrap();
        assert_eq!(resource.attributes[0], text("service.name", "shop"));
        let [inner, outer] = &of_jvm.scope_spans[0].spans[..] else {
            panic!("two spans");
        };
        assert_eq!(inner.trace_id, outer.trace_id);
        assert_eq!((inner.trace_id.len(), inner.span_id.len()), (16, 8));
        assert_eq!(inner.parent_span_id, outer.span_id);
        assert!(outer.parent_span_id.is_empty() && outer.status.is_none());
        let times = (inner.start_time_unix_nano, inner.end_time_unix_nano);
        assert_eq!(times, (1_000_000_020, 1_000_000_025));
        assert_eq!(inner.name, "Store$Item.find");
        let status = inner.status.as_ref().unwrap();
        assert_eq!(
            (status.code(), status.message.as_str()),
            (StatusCode::Error, "a.Bad")
        );
        assert_eq!(
            inner.events[0].attributes,
            [text("exception.type", "a.Bad")]
        );
        let expected = [
            text("code.function.name", "com.acme.Store$Item.find"),
            text("classhook.descriptor", "(I)V"),
            number("thread.id", 3),
            text("thread.name", "virtual-3"),
            number("code.line.number", 12),
            attribute("classhook.argument.0", AnyValue::IntValue(-4)),
            text("classhook.argument.1", "ab…"),
            text("classhook.returned", "null"),
        ];
        assert_eq!(outer.attributes, expected);
    }

    #[test]
    fn ids_of_calls_differ() {
        let spans = Spans::new(u128::MAX / 3, SpanName::default());
        let mut ids = HashSet::new();
        for thread in 0..50 {
            for start in 0..200 {
                for part in 0..3 {
                    assert!(ids.insert(spans.id(part, CallId { thread, start })));
                }
            }
        }
        let call = CallId {
            thread: 1,
            start: 1,
        };
        assert_ne!(
            Spans::new(1, SpanName::default()).id(0, call),
            Spans::new(2, SpanName::default()).id(0, call)
        );
    }
}
