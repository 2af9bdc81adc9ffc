//! The members of a case class or a case object.

use jvms::opcode;

use super::member::{Member, is_return};

/// The members that `scala.Product` requires.
const OF_PRODUCT: [&str; 7] = [
    "productArity",
    "productElement",
    "productElementName",
    "productElementNames",
    "productIterator",
    "productPrefix",
    "canEqual",
];

/// Checks whether a compiler generated the method.
pub(super) fn is_generated(member: Member<'_>) -> bool {
    if !is_case_class(member) {
        return false;
    }
    let of_class = member.others("<init>").find_map(|made| made.lines.first());
    if member.only_line() != of_class.map(|line| line.number) {
        return false;
    }
    match (member.name, member.descriptor) {
        (name, _) if OF_PRODUCT.contains(&name) => true,
        ("copy", _) => member.creates(member.class.name),
        ("toString", "()Ljava/lang/String;") => {
            calls(member, "scala/runtime/ScalaRunTime$", "_toString") || is_constant(member)
        }
        ("hashCode", "()I") => is_constant(member) || is_hash(member),
        ("equals", "(Ljava/lang/Object;)Z") => {
            member.has_type(opcode::INSTANCEOF, member.class.name)
        }
        ("writeReplace", _) => is_replacement(member),
        ("ordinal", "()I") => is_constant(member),
        (name, _) => is_element(member, name),
    }
}

/// Checks for a case class, or a case of an `enum`, which inherits the interface.
fn is_case_class(member: Member<'_>) -> bool {
    let has = |name: &str| member.others(name).next().is_some();
    member.class.interfaces.contains(&"scala/Product")
        || (has("productArity") && has("productElement"))
}

/// Checks whether a method only returns the serialization proxy of an object.
pub(super) fn is_replacement(member: Member<'_>) -> bool {
    const PROXY: &str = "scala/runtime/ModuleSerializationProxy";
    member.name == "writeReplace" && member.has_type(opcode::NEW, PROXY)
}

/// Checks whether a method only returns a constant.
pub(super) fn is_constant(member: Member<'_>) -> bool {
    matches!(member.code, [_, last] if is_return(last.opcode))
}

fn calls(member: Member<'_>, owner: &str, name: &str) -> bool {
    member
        .calls()
        .any(|call| (call.owner, call.name) == (owner, name))
}

fn is_hash(member: Member<'_>) -> bool {
    const OWNERS: [&str; 3] = [
        "scala/runtime/Statics",
        "scala/runtime/ScalaRunTime$",
        "scala/util/hashing/MurmurHash3$",
    ];
    member.calls().any(|call| OWNERS.contains(&call.owner))
}

/// Checks for `_1`, `_2` and so on, which return an element.
fn is_element(member: Member<'_>, name: &str) -> bool {
    let number = name.strip_prefix('_').unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    is_number && member.is_straight() && member.code.len() == 3
}
