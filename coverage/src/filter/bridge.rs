//! Bridge methods (JVMS table 4.6-A).

use jvms::access_flags::ACC_BRIDGE;

use super::context::FilterContext;
use super::output::FilterOutput;

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if context.method.access_flags & ACC_BRIDGE != 0 {
        context.ignore_all(output);
    }
}
