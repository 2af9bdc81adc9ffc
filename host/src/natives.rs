//! Spans over native methods, which have no code. A wrapper replaces each one (JVM TI,
//! `SetNativeMethodPrefix`).
//!
//! ```text
//! native int read()   becomes   int read() { return $$classhook$$_read(); }   native int $$classhook$$_read()
//! ```
//!
//! A wrapper is an added method, so it can only be added at load time and never be removed. The
//! wrapper itself has no effect. The span is in its code like in any other method, and
//! retransformations add and remove it.

use jvms::access_flags::ACC_NATIVE;
use plan_rules::{PlanRequest, ProbeKind};
use probes::ProbeTable;
use probes::events::SpanInfo;
use probes::spans::SpanTable;
use rewriter::{ClassFile, EditPlan, Method, MethodIndex};

use crate::class::TransformedClass;
use crate::outcome::Loader;
use crate::requests::{PlannedClass, PluginRequest};
use crate::span;

/// The prefix of renamed native methods.
pub const PREFIX: &str = "$$classhook$$_";

/// Packages of JDK classes whose native methods the JVM links itself, or finds by their position on
/// the stack.
const INNER: [&[u8]; 3] = [b"java/lang/invoke/", b"java/lang/ref/", b"jdk/internal/"];
/// The class whose native methods load other native methods, up to Java 14; later ones are in
/// `jdk.internal`.
const LIBRARY: &str = "java/lang/ClassLoader$NativeLibrary";
/// Annotations of native JDK methods that are intrinsics, caller-sensitive or
/// signature-polymorphic.
const SPECIAL: [&[u8]; 6] = [
    b"Ljdk/internal/HotSpotIntrinsicCandidate;",
    b"Ljdk/internal/vm/annotation/IntrinsicCandidate;",
    b"Ljdk/internal/vm/annotation/Hidden;",
    b"Ljdk/internal/vm/annotation/ChangesCurrentThread;",
    b"Ljdk/internal/reflect/CallerSensitive;",
    b"Ljava/lang/invoke/MethodHandle$PolymorphicSignature;",
];

const TOO_LATE: &str = "a native method is traced from the load of its class on. It needs a method in front of it, \
                        which no class can be given later (JVM TI, Set Native Method Prefix)";
const NOT_GRANTED: &str = "the plugin was not granted `natives`, so native methods are not wrapped";
const INNER_ONE: &str =
    "the JVM links, replaces or looks up this native method itself, so it cannot be wrapped";

const OF_SPANS: &str = "the code that records calls uses it";

/// Checks whether a method is native, and not one that a wrapper calls.
pub(crate) fn is_native(method: &Method<'_, '_>) -> bool {
    method.access_flags() & ACC_NATIVE != 0
        && !method.name().as_bytes().starts_with(PREFIX.as_bytes())
}

/// Returns the reason why a native method cannot get a wrapper, if any.
fn obstacle(loader: &Loader, method: &Method<'_, '_>) -> Option<&'static str> {
    if !matches!(loader, Loader::Boot | Loader::Platform) {
        return None;
    }
    let class = method.class().this_class();
    if span::is_of_spans(method.class(), method.index()) {
        return Some(OF_SPANS);
    }
    let inner = INNER
        .iter()
        .any(|package| class.as_bytes().starts_with(package))
        || class == LIBRARY
        || matches!(method.name().as_bytes(), b"registerNatives" | b"initIDs")
        || method
            .annotations()
            .any(|annotation| SPECIAL.contains(&annotation.as_bytes()));
    inner.then_some(INNER_ONE)
}

/// Iterates over the plugin's spans on native methods.
fn wanted<'r>(
    class: &'r ClassFile<'_>,
    request: &'r PlanRequest,
) -> impl Iterator<Item = &'r plan_rules::span::Span> {
    let native = |span: &&plan_rules::span::Span| {
        class
            .method(span.method)
            .is_some_and(|method| is_native(&method))
    };
    request.spans.as_slice().iter().filter(native)
}

/// Returns the native methods to wrap, as name and descriptor.
pub(crate) fn to_prefix(planned: &PlannedClass) -> Vec<String> {
    let class = planned.class.class();
    let requests = planned.requests.iter();
    let mut names: Vec<String> = requests
        .filter(|asked| asked.plugin.natives)
        .flat_map(|asked| wanted(class, &asked.request))
        .filter_map(|span| class.method(span.method))
        .filter(|method| obstacle(planned.class.loader(), method).is_none())
        .map(|method| heading(&method))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Formats the name and descriptor of a method.
pub(crate) fn heading(method: &Method<'_, '_>) -> String {
    let (name, descriptor) = (method.name(), method.descriptor());
    format!("{}{}", name.to_str_lossless(), descriptor.to_str_lossless())
}

/// Adds the spans of one plugin on native methods to a plan for a class with wrappers. Returns native
/// methods without a wrapper, by their index in the class that the plugins saw, with the reason.
pub(crate) fn add(
    plan: &mut EditPlan,
    transformed: &TransformedClass,
    class: &ClassFile<'_>,
    asked: &PluginRequest,
    table: &ProbeTable,
) -> Vec<(MethodIndex, String)> {
    let mut wanted = wanted(transformed.class(), &asked.request);
    let Some(first) = wanted.next().filter(|_| table.spans().is_open()) else {
        return Vec::new();
    };
    let spans = table.spans_of(asked.plugin.session);
    let added = std::iter::once(first).chain(wanted).map(|span| {
        let added = add_one(plan, transformed, class, asked, span, spans);
        added.map_err(|cause| (span.method, cause))
    });
    added.filter_map(Result::err).collect()
}

fn add_one(
    plan: &mut EditPlan,
    transformed: &TransformedClass,
    class: &ClassFile<'_>,
    PluginRequest { plugin, request }: &PluginRequest,
    span: &plan_rules::span::Span,
    spans: &SpanTable,
) -> Result<(), String> {
    let native = transformed
        .class()
        .method(span.method)
        .ok_or("there is no such method")?;
    if !plugin.natives {
        return Err(NOT_GRANTED.to_owned());
    }
    if let Some(cause) = obstacle(transformed.loader(), &native) {
        return Err(cause.to_owned());
    }
    let in_front = class.methods().find(|method| {
        method.name() == native.name()
            && method.descriptor() == native.descriptor()
            && method.has_code()
    });
    let in_front = in_front.ok_or(TOO_LATE)?;
    let same = |other: &plan_rules::span::Span| other.method == span.method;
    let number = request.spans.as_slice().iter().position(same);
    let number = number.and_then(|number| u32::try_from(number).ok());
    let rows = request.rows(ProbeKind::Span);
    let info = SpanInfo {
        mode: span::mode_of(span),
        row: number.and_then(|number| span::row_of(&rows, number)),
        ..span::about(transformed, plugin.recorded_name(), span.method)
    };
    let program = span::program(plugin, span, Some(native));
    let program = program.as_ref();
    let id = span::register(info, program, spans)?;
    let here = plan_rules::span::Span {
        method: in_front.index(),
        ..span.clone()
    };
    span::lower(plan, class, &here, id, program.map(|program| &**program))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NATIVES: &[u8] = include_bytes!("../tests/fixtures/Natives.class");

    #[test]
    fn only_classes_of_the_jvm_have_natives_that_cannot_be_prefixed() {
        let class = ClassFile::read(NATIVES).expect("a class");
        let native = class.methods().find(is_native).expect("a native method");
        assert_eq!(obstacle(&Loader::App, &native), None);
        assert_eq!(obstacle(&Loader::Boot, &native), None);
    }
}
