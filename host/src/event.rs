//! Generates the code of events. It captures values like a span, and then calls
//! `$Classhook.event(id)`.

use jvms::descriptor::BaseType;
use plan_rules::{EventRequest, EventValues, PlanRequest, ProbeKind, Step, instruction_at};
use probes::ProbeTable;
use probes::events::{CaptureSource, EventInfo, SpanInfo, SpanMode};
use probes::spans::CaptureSpec;
use rewriter::{Assemble, Bci, Change, ClassFile, EditPlan, InsertionPoint, Snippet, SnippetError};

use crate::class::TransformedClass;
use crate::helper_calls::{call, to_bits};
use crate::plugin::Plugin;
use crate::span::{LeftAlone, NUMBER, OBJECT, Refused, about, is_of_spans, line_at, row_of};
use crate::watched_event;

/// The helper's method that records an event.
const EVENT: (&str, &str) = ("event", "(I)V");

/// Adds the events of one plugin to a plan, each with its id in the JVM. Returns the methods in which
/// an event is left out.
pub(crate) fn add(
    merged: &mut EditPlan,
    transformed: &TransformedClass,
    plugin: &Plugin,
    request: &PlanRequest,
    table: &ProbeTable,
) -> Result<LeftAlone, Refused> {
    let spans = table.spans_of(plugin.session);
    let mut left_alone = LeftAlone::new();
    if request.events.is_empty() || !spans.is_open() {
        return Ok(left_alone);
    }
    let rows = request.rows(ProbeKind::Event);
    let program = watched_event::program(plugin);
    let mut watched = Vec::new();
    for (number, event) in (0..).zip(&request.events) {
        let EventRequest { point, values } = event;
        let is_watched = program.is_some() && values.names().next().is_none();
        let (class, method) = (transformed.class(), point.method);
        if is_of_spans(class, method) {
            let text = "the code that records events uses it";
            left_alone.push((method, text.to_owned()));
            continue;
        }
        if is_watched {
            watched.push((number, event));
            continue;
        }
        let bci = instruction_at(point.location).unwrap_or(0);
        let id = spans.register(&SpanInfo {
            mode: SpanMode::Events,
            number,
            line: line_at(class, method, Bci(bci)),
            row: row_of(&rows, number),
            shown: values.names().map(str::to_owned).collect(),
            event: Some(EventInfo {
                per_second: values.per_second(),
                ..EventInfo::default()
            }),
            ..about(transformed, plugin.recorded_name(), method)
        });
        id.map_err(|error| error.to_string())
            .and_then(|id| lower(merged, class, *point, values, spans.in_code(id)))
            .map_err(|cause| Refused { method, cause })?;
    }
    if let Some(program) = program {
        let of = (plugin, program);
        left_alone.extend(watched_event::add(
            merged,
            transformed,
            of,
            watched.into_iter(),
            table,
        )?);
    }
    Ok(left_alone)
}

/// Adds the code of an event to the plan of its class.
fn lower(
    plan: &mut EditPlan,
    class: &ClassFile<'_>,
    point: InsertionPoint,
    values: &EventValues,
    id: u32,
) -> Result<(), String> {
    let id = id.cast_signed();
    let mut record = |code: &mut Snippet, base: Option<BaseType>, number: u8| {
        keep(code, base, number, values.limit(), id)
    };
    let mut end = |code: &mut Snippet| {
        code.push_int(id)?;
        call(code, EVENT)
    };
    let added = match values.step(class, point, &mut record, &mut end)? {
        Step::Insert(code) => plan.insert(EventRequest::in_front(point), code),
        Step::Around(code) => {
            let bci = instruction_at(point.location).ok_or("its site is not an instruction")?;
            plan.change(point.method, Bci(bci), Change::Around(code))
        }
    };
    added.map_err(|error| error.to_string())
}

/// Captures the value on top of the stack.
fn keep(
    code: &mut Snippet,
    base: Option<BaseType>,
    number: u8,
    limit: u32,
    id: i32,
) -> Result<(), SnippetError> {
    if let Some(base) = base {
        to_bits(code, base)?;
    }
    let kind = base.map_or(b'L', BaseType::letter);
    let spec = CaptureSpec::new(kind, CaptureSource::Shown(number), limit, number == 0);
    code.push_int(spec.0)?;
    code.push_int(id)?;
    call(code, if base.is_some() { NUMBER } else { OBJECT })
}
