//! Generates the code of spans and counters, which calls the helper class `$Classhook`.
//!
//! ```text
//! entry    (each captured argument → $Classhook.number | object)  $Classhook.enter(id)
//! return   (the value → number | object)                          $Classhook.exit(id)
//! unwind   $Classhook.unwound++  $Classhook.fail(throwable, id)
//! ```
//!
//! The plugin's condition or list of values may read from an argument, from `this`, from the
//! returned value or from the exception. That value is passed to `$Classhook.object` as well, which
//! reads the parts.
//!
//! The entry of a constructor is behind its `super()` or `this()` call. Before that call the object
//! is uninitialized, no handler can cover the code, and the code that runs belongs to the span of
//! another constructor.

use std::sync::Arc;

use conditions::{About, Program, Root};
use jvms::descriptor::{FieldType, MethodDescriptor, Parameters};
use jvms::modified_utf8::Utf8;
use jvms::{names, opcode};
use plan_rules::span::Span;
use plan_rules::{PlanRequest, ProbeKind, Rows, instruction_at};
use probes::ProbeTable;
use probes::events::{CaptureSource, ClassNames, Column, SpanInfo, SpanMode, TableRow};
use probes::spans::{CaptureSpec, Counter, SpanTable};
use rewriter::{
    Action, Assemble, Bci, ClassFile, Code, EditPlan, InsertionPoint, Location, Member, Method,
    MethodIndex, Snippet, SnippetError,
};

use crate::class::TransformedClass;
use crate::helper_calls::{call, to_bits};
use crate::outcome::Loader;
use crate::plugin::Plugin;
use crate::selector::SelectableClass;
use crate::storage::{HELPER, counts_owner};
use crate::suspending::{self, Suspending};

/// The helper's method for the start of a call.
const ENTER: (&str, &str) = ("enter", "(I)V");
/// The helper's method for the return of a call.
const EXIT: (&str, &str) = ("exit", "(I)V");
/// The helper's method for a call that ends with an exception.
const FAIL: (&str, &str) = ("fail", "(Ljava/lang/Throwable;I)V");
/// The helper's field that counts calls ended by exceptions.
const UNWOUND: &str = "unwound";
/// The helper's method for a primitive value, as a `long` with its bits.
pub(crate) const NUMBER: (&str, &str) = ("number", "(JII)V");
/// The helper's method for a reference.
pub(crate) const OBJECT: (&str, &str) = ("object", "(Ljava/lang/Object;II)V");

/// Methods that the code of a span itself calls, by class, name and descriptor. A span on them
/// would recurse.
const OF_SPANS: [(&str, &str, &str); 4] = [
    ("java/lang/Thread", "currentThread", "()Ljava/lang/Thread;"),
    ("java/lang/Thread", "threadId", "()J"),
    ("java/lang/Double", "doubleToRawLongBits", "(D)J"),
    ("java/lang/Float", "floatToRawIntBits", "(F)I"),
];

/// Annotations of methods of `java.base` that switch the Java thread of a native thread. A call of
/// one ends on another thread than it began on, and JVM TI must not be called in between.
const OF_SWITCHES: [&str; 3] = [
    "Ljdk/internal/vm/annotation/ChangesCurrentThread;",
    "Ljdk/internal/vm/annotation/JvmtiMountTransition;",
    "Ljdk/internal/vm/annotation/JvmtiHideEvents;",
];

/// Methods without a span, with the reason.
pub(crate) type LeftAlone = Vec<(MethodIndex, String)>;

/// A method whose calls cannot be recorded.
pub(crate) struct Refused {
    /// The method.
    pub method: MethodIndex,
    /// The reason.
    pub cause: String,
}

/// Adds the spans and counters of one plugin to a plan, each with its id in the JVM. The plan gets
/// none while the JVM cannot record them. `following` gets the code for continuations, once for all plugins.
/// Returns the methods without a span.
pub(crate) fn add(
    (merged, following): (&mut EditPlan, &mut EditPlan),
    transformed: &TransformedClass,
    plugin: &Plugin,
    request: &PlanRequest,
    table: &ProbeTable,
) -> Result<LeftAlone, Refused> {
    let name = plugin.recorded_name();
    let spans = table.spans_of(plugin.session);
    let mut left_alone = LeftAlone::new();
    let asks_nothing = request.counts == 0 && request.spans.as_slice().is_empty();
    if asks_nothing && !request.follows_continuations || !spans.is_open() {
        return Ok(left_alone);
    }
    let class = transformed.class();
    if request.follows_continuations {
        suspending::follow(following, class).map_err(|cause| Refused {
            method: MethodIndex(0),
            cause,
        })?;
    }
    let refused = |method| move |cause| Refused { method, cause };
    let rows = request.rows(ProbeKind::Span);
    for (number, span) in (0..).zip(request.spans.as_slice()) {
        if class
            .method(span.method)
            .is_some_and(|method| !method.has_code())
        {
            continue; // see `natives`
        }
        if let Some(cause) = obstacle(transformed, span.method) {
            left_alone.push((span.method, cause.to_owned()));
            continue;
        }
        let program = program(plugin, span, class.method(span.method));
        let program = program.as_ref();
        let info = SpanInfo {
            mode: mode_of(span),
            line: line_at(class, span.method, Bci(0)),
            row: row_of(&rows, number),
            ..about(transformed, name, span.method)
        };
        register(info, program, spans)
            .and_then(|id| lower(merged, class, span, id, program.map(|program| &**program)))
            .map_err(refused(span.method))?;
    }
    let rows = request.rows(ProbeKind::Count);
    let mut class_names = Some(class_names(class));
    for edit in request.plan.edits() {
        let Action::Count(number) = edit.action else {
            continue;
        };
        let (method, bci) = (edit.point.method, instruction_at(edit.point.location));
        let id = spans.register(&SpanInfo {
            mode: SpanMode::Count,
            number,
            row: row_of(&rows, number),
            line: line_at(class, method, Bci(bci.unwrap_or(0))),
            class_names: class_names.take(),
            ..about(transformed, name, method)
        });
        id.map_err(|error| error.to_string())
            .and_then(|id| {
                let counter = table.counters().of(spans.in_code(id));
                lower_count(merged, edit.point, counter)
            })
            .map_err(refused(method))?;
    }
    Ok(left_alone)
}

/// Returns the row of a plugin's table that a probe counts for, if any.
pub(crate) fn row_of(rows: &Rows, probe: u32) -> Option<TableRow> {
    let row = rows.of(probe)?.clone();
    let column = |(name, kind)| Column { name, kind };
    Some(TableRow {
        table: row.table,
        columns: row.columns.into_iter().map(column).collect(),
        cells: row.cells,
    })
}

/// Returns the reason why a method gets no span, if any.
fn obstacle(transformed: &TransformedClass, method: MethodIndex) -> Option<&'static str> {
    let class = transformed.class();
    if is_of_spans(class, method) {
        return Some("the code that records calls uses it");
    }
    let is_of_jvm = matches!(transformed.loader(), Loader::Boot | Loader::Platform);
    let switches = |method: Method<'_, '_>| {
        method
            .annotations()
            .any(|annotation| OF_SWITCHES.iter().any(|one| annotation == *one))
    };
    (is_of_jvm && class.method(method).is_some_and(switches))
        .then_some("it switches the thread, so a call would end on another thread than it began on")
}

/// Checks whether the code of a span calls this method.
pub(crate) fn is_of_spans(class: &ClassFile<'_>, method: MethodIndex) -> bool {
    let is = |found: &Method<'_, '_>, (owner, name, descriptor): &(&str, &str, &str)| {
        class.this_class() == *owner && found.name() == *name && found.descriptor() == *descriptor
    };
    let found = class.method(method);
    found.is_some_and(|found| OF_SPANS.iter().any(|one| is(&found, one)))
}

/// Returns the compiled condition and list of values for calls of this span. Returns `None` if no
/// single calls are kept. Parameters in it that are named are resolved in the method.
pub(crate) fn program(
    plugin: &Plugin,
    span: &Span,
    method: Option<Method<'_, '_>>,
) -> Option<Arc<Program>> {
    let program = plugin.watch.as_ref()?;
    let watch = program.watch();
    if watch.about != About::Calls || span.capture.sum_up {
        return None;
    }
    if watch.names().is_empty() {
        return Some(Arc::clone(program));
    }
    let names = method.map(|method| parameters(&method));
    let program = Program::of_method(watch, &names.unwrap_or_default());
    Some(Arc::new(program))
}

/// Returns the names of a method's parameters. A parameter without a name is an empty text; the
/// list is empty if none has a name.
pub(crate) fn parameters(method: &Method<'_, '_>) -> Vec<String> {
    let descriptor = method.descriptor();
    let kinds: Vec<FieldType<'_>> = Parameters::of(descriptor.as_bytes()).collect();
    let listed: Vec<_> = method.parameters().collect();
    let mut names: Vec<String> = match listed.len() == kinds.len() {
        true => {
            let names = listed.iter().map(|found| found.name);
            names
                .map(|name| name.map_or_else(String::new, |it| it.to_str_lossless().into_owned()))
                .collect()
        }
        false => vec![String::new(); kinds.len()],
    };
    let code = method.code().ok().flatten();
    let variables: Vec<_> = code
        .iter()
        .flat_map(|code| code.local_variables())
        .collect();
    let mut slot = u16::from(!method.is_static());
    for (name, kind) in names.iter_mut().zip(&kinds) {
        let is_it =
            |found: &&rewriter::LocalVariable<'_>| found.start == Bci(0) && found.index.0 == slot;
        if let (true, Some(found)) = (name.is_empty(), variables.iter().find(is_it)) {
            *name = found.name.to_str_lossless().into_owned();
        }
        slot += kind.slots();
    }
    if names.iter().all(String::is_empty) {
        names.clear();
    }
    names
}

/// Registers a span, and returns its id for the code.
pub(crate) fn register(
    info: SpanInfo,
    program: Option<&Arc<Program>>,
    spans: &SpanTable,
) -> Result<u32, String> {
    let parameters = plan_rules::span::parameter_count(info.descriptor.as_bytes());
    let when = program.and_then(|program| program.watch().when.as_ref());
    let shown = program.into_iter().flat_map(|program| program.names());
    let info = SpanInfo {
        when: when.map(ToString::to_string).unwrap_or_default(),
        shown: shown.collect(),
        ..info
    };
    let id = spans.register_watched(&info, program, parameters);
    id.map(|id| spans.in_code(id))
        .map_err(|error| error.to_string())
}

/// Returns the recording mode of a span.
pub(crate) fn mode_of(span: &Span) -> SpanMode {
    if span.capture.sum_up {
        SpanMode::Aggregate
    } else {
        SpanMode::Events
    }
}

/// Collects the description of a span's method.
pub(crate) fn about(transformed: &TransformedClass, plugin: &str, method: MethodIndex) -> SpanInfo {
    let class = transformed.class();
    let found = class.method(method);
    let text = |text: Option<Utf8<'_>>| {
        text.map_or_else(String::new, |text| text.to_str_lossless().into_owned())
    };
    SpanInfo {
        class: class.this_class().to_str_lossless().into_owned(),
        method: text(found.as_ref().map(Method::name)),
        descriptor: text(found.as_ref().map(Method::descriptor)),
        parameters: found.as_ref().map(parameters).unwrap_or_default(),
        loader: transformed.loader().as_str().to_owned(),
        plugin: plugin.to_owned(),
        class_names: Some(class_names(class)),
        ..SpanInfo::default()
    }
}

/// Collects the names that selectors match.
fn class_names(class: &ClassFile<'_>) -> ClassNames {
    let mut names = ClassNames::default();
    let collected = |list: &mut Vec<String>, name: &[u8]| {
        list.push(Utf8::new(name).to_str_lossless().into_owned());
        false
    };
    class.any_supertype(&mut |name| collected(&mut names.supertypes, name));
    class.any_annotation(&mut |name| collected(&mut names.annotations, name));
    names
}

/// Adds the code of a span to the plan of its class.
pub(crate) fn lower(
    plan: &mut EditPlan,
    class: &ClassFile<'_>,
    span: &Span,
    id: u32,
    program: Option<&Program>,
) -> Result<(), String> {
    let method = class.method(span.method).ok_or("there is no such method")?;
    let code = method.code().map_err(|error| error.to_string())?;
    let code = code.ok_or("the method has no code")?;
    let weave = Weave {
        method,
        span,
        id: id.cast_signed(),
        program,
    };
    let edits = weave.edits(&code).map_err(|error| error.to_string())?;
    if edits.is_empty() {
        return Err("the constructor calls no other constructor".to_owned());
    }
    for (place, snippet) in edits {
        let site = InsertionPoint {
            method: span.method,
            location: place,
        };
        plan.insert(site, snippet)
            .map_err(|error| error.to_string())?;
    }
    let exit = weave.exit(&overwritten(&code));
    exit.map_err(|error| error.to_string()).and_then(|exit| {
        plan.exit(span.method, exit)
            .map_err(|error| error.to_string())
    })
}

/// Adds a counter to the plan of its class.
fn lower_count(plan: &mut EditPlan, site: InsertionPoint, counter: Counter) -> Result<(), String> {
    let owner = counts_owner(counter.array);
    let snippet = plan_rules::counter::increment(owner, "counts", counter.index.into());
    let snippet = snippet.map_err(|error| error.to_string())?;
    plan.insert(site, snippet)
        .map_err(|error| error.to_string())
}

/// One span and its method.
struct Weave<'m, 'c, 'a> {
    method: Method<'c, 'a>,
    span: &'m Span,
    id: i32,
    program: Option<&'m Program>,
}

type Edits = Vec<(Location, Snippet)>;

impl Weave<'_, '_, '_> {
    fn edits(&self, code: &Code<'_, '_>) -> Result<Edits, SnippetError> {
        let mut edits = Vec::new();
        let overwritten = overwritten(code);
        let entry = self.enter(&overwritten)?;
        if self.is_constructor() {
            for bci in constructed(code, self.method.class()) {
                edits.push((Location::FallThrough(bci), entry.clone()));
            }
            if edits.is_empty() {
                return Ok(edits);
            }
        } else {
            edits.push((Location::Entry, entry));
        }
        let leave = self.exit(&overwritten)?;
        let returns = code.instructions().flatten();
        for found in returns.filter(|found| opcode::is_return(found.opcode)) {
            edits.push((Location::Before(found.bci), leave.clone()));
        }
        if !self.is_of_object() {
            edits.push((Location::Unwind, self.fail(&overwritten)?));
        }
        Ok(edits)
    }

    /// Excludes the constructor of `java/lang/Object`, which calls no other one.
    fn is_constructor(&self) -> bool {
        self.method.name() == names::INIT && self.method.class().super_class().is_some()
    }

    /// Checks for the constructor of `java/lang/Object`, which may have no handler (see the
    /// rewriter's `CannotUnwind`). No instruction in it throws.
    fn is_of_object(&self) -> bool {
        self.method.name() == names::INIT && self.method.class().super_class().is_none()
    }

    fn enter(&self, overwritten: &[u16]) -> Result<Snippet, SnippetError> {
        let mut code = Snippet::new();
        let descriptor = self.method.descriptor();
        let parameters: Vec<FieldType<'_>> = Parameters::of(descriptor.as_bytes()).collect();
        let count = u8::try_from(parameters.len()).unwrap_or(u8::MAX);
        let mut first = true;
        for index in (0..count).filter(|index| self.takes(Root::Argument(*index))) {
            let Some(found) = parameters.get(usize::from(index)) else {
                continue;
            };
            let before = parameters.iter().take(index.into());
            let slot =
                u16::from(!self.method.is_static()) + before.map(|one| one.slots()).sum::<u16>();
            let root = Root::Argument(index);
            if self.is_constructor() && overwritten.contains(&slot) {
                // The argument may be overwritten before the object is initialized.
                code.push_long(0)?;
                self.number(&mut code, b'?', root, first)?;
            } else {
                code.load_argument(index)?;
                self.value(&mut code, *found, root, first)?;
            }
            first = false;
        }
        if let Some(suspending) = Suspending::of(&self.method) {
            suspending.enter(&mut code, self.id)?;
            return Ok(code);
        }
        code.push_int(self.id)?;
        call(&mut code, ENTER)?;
        Ok(code)
    }

    /// Returns whether this value is captured or read from.
    fn takes(&self, root: Root) -> bool {
        self.keeps(root) || self.program.is_some_and(|program| program.reads(root))
    }

    /// Returns whether this value itself is captured.
    fn keeps(&self, root: Root) -> bool {
        let capture = &self.span.capture;
        let kept = match root {
            Root::Argument(index) => {
                capture.positions(index.saturating_add(1)).contains(&index)
                    || self.program.is_some_and(Program::shows_arguments)
            }
            Root::Returned => capture.returned,
            Root::This | Root::Thrown | Root::Local => false,
        };
        kept && !capture.sum_up
    }

    /// Passes `this` to the helper, if the condition or list reads from it. Returns whether it did.
    fn this(
        &self,
        code: &mut Snippet,
        overwritten: &[u16],
        first: bool,
    ) -> Result<bool, SnippetError> {
        let is_there = !self.method.is_static() && !overwritten.contains(&0);
        let takes = is_there && self.takes(Root::This);
        if takes {
            code.load_this()?;
            self.object(code, Root::This, first)?;
        }
        Ok(takes)
    }

    fn exit(&self, overwritten: &[u16]) -> Result<Snippet, SnippetError> {
        let mut code = Snippet::new();
        let descriptor = self.method.descriptor();
        let descriptor = MethodDescriptor::parse(descriptor.as_bytes()).ok();
        let mut first = true;
        if self.takes(Root::Returned)
            && let Some(returned) = descriptor.and_then(|found| found.return_type())
        {
            let twice = if returned.slots() == 2 {
                opcode::DUP2
            } else {
                opcode::DUP
            };
            code.op(twice, 0)?;
            self.value(&mut code, returned, Root::Returned, true)?;
            first = false;
        }
        self.this(&mut code, overwritten, first)?;
        if Suspending::of(&self.method).is_some() {
            Suspending::finish(&mut code, self.id)?;
            return Ok(code);
        }
        code.push_int(self.id)?;
        call(&mut code, EXIT)?;
        Ok(code)
    }

    fn fail(&self, overwritten: &[u16]) -> Result<Snippet, SnippetError> {
        let mut code = Snippet::new();
        count_unwinding(&mut code)?;
        // A constructor may end before the object is initialized.
        let has_this = !self.is_constructor() && self.this(&mut code, overwritten, true)?;
        if self.takes(Root::Thrown) {
            code.op(opcode::DUP, 0)?; // throwable, throwable
            self.object(&mut code, Root::Thrown, !has_this)?; // throwable
        }
        code.op(opcode::DUP, 0)?; // throwable, throwable
        code.push_int(self.id)?; // throwable, throwable, id
        call(&mut code, FAIL)?; // throwable
        Ok(code)
    }

    /// Captures the value on top of the stack.
    fn value(
        &self,
        code: &mut Snippet,
        found: FieldType<'_>,
        root: Root,
        first: bool,
    ) -> Result<(), SnippetError> {
        let FieldType::Base(base) = found else {
            return self.object(code, root, first);
        };
        to_bits(code, base)?;
        self.number(code, base.letter(), root, first)
    }

    fn object(&self, code: &mut Snippet, root: Root, first: bool) -> Result<(), SnippetError> {
        code.push_int(self.spec(b'L', root, first).0)?;
        code.push_int(self.id)?;
        call(code, OBJECT)
    }

    fn spec(&self, kind: u8, root: Root, first: bool) -> CaptureSpec {
        let (limit, keeps) = (self.span.capture.limit, self.keeps(root));
        let is_opened = kind == b'L' && self.program.is_some_and(|program| program.depth() > 0);
        let spec = match (self.program, root) {
            (Some(program), _) if program.reads(root) => {
                CaptureSpec::read_from(kind, root, limit, first, keeps)
            }
            (_, Root::Argument(index)) => {
                CaptureSpec::new(kind, CaptureSource::Argument(index), limit, first)
            }
            _ => CaptureSpec::new(kind, CaptureSource::Returned, limit, first),
        };
        if is_opened { spec.opened() } else { spec }
    }

    fn number(
        &self,
        code: &mut Snippet,
        kind: u8,
        root: Root,
        first: bool,
    ) -> Result<(), SnippetError> {
        code.push_int(self.spec(kind, root, first).0)?;
        code.push_int(self.id)?;
        call(code, NUMBER)
    }
}

/// Counts that an exception ends a call. A field access needs no stack frame, which a call of the
/// helper may not get after a stack overflow.
fn count_unwinding(code: &mut Snippet) -> Result<(), SnippetError> {
    let count = Member {
        owner: HELPER.to_owned(),
        name: UNWOUND.to_owned(),
        descriptor: "I".to_owned(),
        interface: false,
    };
    code.field(opcode::GETSTATIC, count.clone())?; // count
    code.push_int(1)?; // count, 1
    code.op(opcode::IADD, 0)?; // count
    code.field(opcode::PUTSTATIC, count) //
}

/// Returns the slots that the code stores to.
fn overwritten(code: &Code<'_, '_>) -> Vec<u16> {
    let stores = code.instructions().flatten().filter(|found| {
        (opcode::ISTORE..=opcode::ASTORE_3).contains(&found.opcode) || found.opcode == opcode::IINC
    });
    stores.filter_map(|found| found.local()).collect()
}

/// Finds the calls of another constructor on `this`: those that belong to no earlier `new`.
/// Compilers nest each `new` with the call of its constructor.
fn constructed(code: &Code<'_, '_>, class: &ClassFile<'_>) -> Vec<Bci> {
    let mut unfinished = 0_usize;
    let mut found = Vec::new();
    for instruction in code.instructions().flatten() {
        match instruction.opcode {
            opcode::NEW => unfinished += 1,
            opcode::INVOKESPECIAL => {
                let member = instruction
                    .pool_index()
                    .and_then(|index| class.pool().member_ref(index));
                if member.is_some_and(|member| member.name == names::INIT) {
                    match unfinished.checked_sub(1) {
                        Some(left) => unfinished = left,
                        None => found.push(instruction.bci),
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns the line of an instruction, or 0 if unknown.
pub(crate) fn line_at(class: &ClassFile<'_>, method: MethodIndex, bci: Bci) -> u32 {
    let code = class.method(method).and_then(|method| method.code().ok()?);
    let lines = code.into_iter().flat_map(|code| {
        let lines: Vec<_> = code.lines().collect();
        lines
    });
    let before = lines.filter(|line| line.bci <= bci);
    let last = before.max_by_key(|line| line.bci);
    last.map_or(0, |line| line.number.into())
}
