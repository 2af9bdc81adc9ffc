//! Accessors of private members for other classes: `access$…`.

use jvms::access_flags::ACC_SYNTHETIC;

use super::super::context::FilterContext;
use super::super::output::FilterOutput;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let method = context.method;
    if method.access_flags & ACC_SYNTHETIC != 0 && method.name.starts_with("access$") {
        context.ignore_all(output);
    }
}
