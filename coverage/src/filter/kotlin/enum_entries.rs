//! `getEntries()` of an enum.

use super::super::context::FilterContext;
use super::super::output::FilterOutput;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if context.is_super("java/lang/Enum")
        && context.is("getEntries", "()Lkotlin/enums/EnumEntries;")
    {
        context.ignore_all(output);
    }
}
