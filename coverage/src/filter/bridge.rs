//! Bridge methods (JVMS table 4.6-A).

use super::{Effects, Subject};

const ACC_BRIDGE: u16 = 0x0040;

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    if subject.method.access_flags & ACC_BRIDGE != 0 {
        subject.ignore_all(effects);
    }
}
