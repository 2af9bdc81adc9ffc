//! Members that the plugin for `@Serializable` generates.

use jvms::access_flags::ACC_SYNTHETIC;
use jvms::opcode;

use super::super::context::FilterContext;
use super::super::cursor::Cursor;
use super::super::output::FilterOutput;
use crate::class::MethodDescription;

const CACHED: &str = "get$cachedSerializer";
const SERIALIZER: &str = "()Lkotlinx/serialization/KSerializer;";
const MARKER: &str = "Lkotlinx/serialization/internal/SerializationConstructorMarker;)V";

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let synthetic = context.method.access_flags & ACC_SYNTHETIC != 0;
    if (synthetic && is_synthetic_member(context)) || is_serializer(context) {
        context.ignore_all(output);
    }
}

fn is_synthetic_member(context: &FilterContext<'_>) -> bool {
    let (name, descriptor) = (context.method.name, context.method.descriptor);
    match name {
        "<init>" => descriptor.ends_with(MARKER),
        CACHED => descriptor == SERIALIZER,
        _ if name.starts_with("write$Self$") => true,
        _ => name.contains("$_anonymous_") && descriptor == SERIALIZER,
    }
}

/// Checks for `serializer()` of the companion object, or of the object itself.
fn is_serializer(context: &FilterContext<'_>) -> bool {
    if !context.is("serializer", SERIALIZER) {
        return false;
    }
    let mut generated = Cursor::at_first(context.nodes);
    generated.keep_opcode(|opcode| opcode == opcode::GETSTATIC);
    let class = context.class.name.strip_suffix("$Companion");
    let of_class = generated
        .member()
        .is_some_and(|field| class.is_some() && field.owner.strip_suffix("$$serializer") == class);
    let is_generated = of_class || (class.is_some() && is_line_of_constructor(context));
    generated.next_is(opcode::CHECKCAST);
    generated.next_is(opcode::ARETURN);
    let mut cached = Cursor::at_this(context.nodes);
    cached.next();
    let of_cache = cached.member().is_some_and(|called| called.name == CACHED);
    cached.next_is(opcode::ARETURN);
    (is_generated && generated.is_met()) || (of_cache && cached.is_met())
}

/// Compares lines if the class has a custom serializer: a source method has a different line, unless the class is on
/// one line.
fn is_line_of_constructor(context: &FilterContext<'_>) -> bool {
    let line = |method: &MethodDescription<'_>| Some(method.code.as_ref()?.lines.first()?.number);
    let mut methods = context.class.methods.iter();
    let constructor = methods.find(|method| method.name == "<init>");
    constructor.is_some_and(|constructor| line(constructor) == line(context.method))
}
