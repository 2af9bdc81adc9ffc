//! Methods of synthetic classes.

use jvms::access_flags::ACC_SYNTHETIC;

use super::context::FilterContext;
use super::output::FilterOutput;

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if context.class.access_flags & ACC_SYNTHETIC != 0 {
        context.ignore_all(output);
    }
}
