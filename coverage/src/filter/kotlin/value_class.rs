//! The boxed form of a value class: its code is in static methods.

use jvms::access_flags::ACC_STATIC;

use super::super::context::FilterContext;
use super::super::output::FilterOutput;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let mut annotations = context.class.annotations.iter();
    if context.method.access_flags & ACC_STATIC == 0
        && annotations.any(|annotation| *annotation == "Lkotlin/jvm/JvmInline;")
    {
        context.ignore_all(output);
    }
}
