//! The members of an `object`, and of the companion of a case class.

use jvms::opcode;

use super::case_class;
use super::member::{INSTANCE, Member};
use crate::class::Operand;

/// Checks whether a compiler generated the method; `is_member_generated` checks any method.
pub(super) fn is_generated(
    member: Member<'_>,
    is_member_generated: fn(Member<'_>) -> bool,
) -> bool {
    let Some(class) = member.class.name.strip_suffix('$') else {
        return false;
    };
    if case_class::is_replacement(member) || is_read(member) || is_conversion(member, class) {
        return true;
    }
    let mut extractors = member.others("unapply");
    let extractor = extractors.find(|found| is_extractor(*found, class));
    let Some(extractor) = extractor else {
        return false;
    };
    let line = member.only_line();
    if line.is_none() || line != extractor.only_line() {
        return false;
    }
    match member.name {
        "unapply" => is_extractor(member, class),
        "apply" => member.creates(class),
        "toString" => case_class::is_constant(member),
        "<clinit>" | "<init>" => holds_nothing(member, class, line, is_member_generated),
        _ => false,
    }
}

/// Checks for the method of Scala 3 that converts a product to the case class.
fn is_conversion(member: Member<'_>, class: &str) -> bool {
    member.name == "fromProduct"
        && member.descriptor.starts_with("(Lscala/Product;)L")
        && (member.has_type(opcode::NEW, class)
            || member.calls().any(|call| call.name == member.name))
}

/// Checks for the method that replaces a deserialized object by the singleton.
fn is_read(member: Member<'_>) -> bool {
    let is_instance =
        |operand: &Operand<'_>| matches!(operand, Operand::Member(field) if field.name == INSTANCE);
    member.name == "readResolve"
        && member
            .code
            .first()
            .is_some_and(|at| is_instance(&at.operand))
}

/// Checks for a generated extractor of a case class: it returns the object, or an option of its parts.
fn is_extractor(member: Member<'_>, class: &str) -> bool {
    let parameter = format!("(L{class};)");
    let second = member.code.get(1).map(|at| at.opcode);
    member.descriptor.starts_with(&parameter)
        && matches!(second, Some(opcode::IFNONNULL | opcode::ARETURN))
}

/// Checks whether the source has no companion: all its methods are on one line, and were generated.
fn holds_nothing(
    member: Member<'_>,
    class: &str,
    line: Option<u16>,
    is_member_generated: fn(Member<'_>) -> bool,
) -> bool {
    let methods = member.class.methods.iter();
    let mut members = methods.filter_map(|method| Member::of(member.class, method));
    members.all(|other| match other.name {
        "<clinit>" | "<init>" => other.only_line() == line,
        "apply" if other.descriptor.ends_with(")Ljava/lang/Object;") => true, // a bridge
        "unapply" => is_extractor(other, class),
        _ => is_member_generated(other),
    })
}
