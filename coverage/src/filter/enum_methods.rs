//! `values()` and `valueOf(String)`, which every enum has (JLS 8.9.3).

use super::context::FilterContext;
use super::output::FilterOutput;

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if !context.is_super("java/lang/Enum") {
        return;
    }
    let name = &context.class.name;
    if context.is("values", &format!("()[L{name};"))
        || context.is("valueOf", &format!("(Ljava/lang/String;)L{name};"))
    {
        context.ignore_all(output);
    }
}
