//! Whole class files. Only this module calls this function of the host.

use crate::bindings::classhook::plugin::raw as host;
use crate::source::{ClassSide, ClassSource};

pub(crate) fn bytes(of: &dyn ClassSource) -> Vec<u8> {
    match of.side() {
        ClassSide::Host(view) => host::bytes(view),
        ClassSide::Native(class) => class.bytes(),
    }
}
