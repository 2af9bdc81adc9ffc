//! The members of an `enum` of Scala 3, of its cases, and of its companion.

use super::member::Member;

/// The interface of the cases without parameters.
const VALUE: &str = "scala/runtime/EnumValue";
/// The interface of companions of sealed types.
const SUM: &str = "scala/deriving/Mirror$Sum";

/// The members of a case without parameters.
const OF_VALUE: [&str; 5] = [
    "readResolve",
    "productPrefix",
    "toString",
    "ordinal",
    "hashCode",
];

/// Checks whether a compiler generated the method.
pub(super) fn is_generated(member: Member<'_>) -> bool {
    if member.class.interfaces.contains(&VALUE) {
        // Cases without arguments share one constructor; others have one with the arguments of the source.
        let shares = member.descriptor == "(Ljava/lang/String;I)V";
        return OF_VALUE.contains(&member.name) || (member.name == "<init>" && shares);
    }
    if !member.class.interfaces.contains(&SUM) {
        return false;
    }
    let class = member.class.name.trim_end_matches('$');
    let expected = match member.name {
        "values" => format!("()[L{class};"),
        "valueOf" => format!("(Ljava/lang/String;)L{class};"),
        "fromOrdinal" => format!("(I)L{class};"),
        "$new" => format!("(ILjava/lang/String;)L{class};"),
        "ordinal" => format!("(L{class};)I"),
        _ => return false,
    };
    member.descriptor == expected
}
