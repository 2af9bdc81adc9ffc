//! Methods of synthetic classes.

use super::{Effects, Subject};

const ACC_SYNTHETIC: u16 = 0x1000;

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    if subject.class.access_flags & ACC_SYNTHETIC != 0 {
        subject.ignore_all(effects);
    }
}
