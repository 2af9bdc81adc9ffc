//! Members that the Scala compilers generate.
//!
//! Most have the line of the class, and some have no line. Their code distinguishes them from source members.

mod case_class;
mod companion;
mod enumeration;
mod lazy_value;
mod member;
mod no_match;

use self::member::Member;
use super::context::FilterContext;
use super::output::FilterOutput;
use crate::class::ClassDescription;

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if !is_scala(context.class) {
        return;
    }
    let member = Member::of(context.class, context.method);
    match member.is_some_and(is_generated) {
        true => context.ignore_all(output),
        false => {
            lazy_value::ignore_tests(context, output);
            no_match::ignore(context, output);
        }
    }
}

fn is_scala(class: &ClassDescription<'_>) -> bool {
    let source = class.source_file.unwrap_or_default();
    source.ends_with(".scala") || source.ends_with(".sc")
}

/// Checks whether a compiler generated the method. The static forwarders of an object's methods have no line.
fn is_generated(member: Member<'_>) -> bool {
    member.lines.is_empty()
        || member.name.contains("$_setter_$")
        || member.is_forwarder()
        || member.is_accessor()
        || member.is_default()
        || member.is_constructor_of_value()
        || lazy_value::is_accessor(member)
        || lazy_value::is_initializer(member)
        || enumeration::is_generated(member)
        || case_class::is_generated(member)
        || companion::is_generated(member, is_generated)
}
