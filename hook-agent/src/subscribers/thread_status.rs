//! The state of a thread in its Java object, which JNI reads without a transition into the JVM.

use crate::ffi::jvm::Jvm;
use crate::ffi::refs::{FieldId, GlobalRef, LocalRef};

/// The field in which HotSpot stores the state of a thread: the bits of JVM TI's GetThreadState, except for native
/// code, suspension and interruption.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThreadStatusField {
    /// The field with the object that has `status`, since JDK 19.
    holder: Option<FieldId>,
    status: FieldId,
}

/// The object with the state of a thread.
#[derive(Debug)]
pub(super) struct ThreadStatus {
    holder: GlobalRef,
    field: FieldId,
}

impl ThreadStatusField {
    /// Finds the field. Returns `None` in a JVM that stores the state elsewhere.
    pub fn find(jvm: Jvm<'_>) -> Option<Self> {
        const STATUS: &std::ffi::CStr = c"threadStatus";
        let local = jvm.local;
        let thread = local.find_class(c"java/lang/Thread")?;
        if let Some(status) = local.field_id(&thread, STATUS, c"I") {
            return Some(Self {
                holder: None,
                status,
            });
        }
        let holder = local.field_id(&thread, c"holder", c"Ljava/lang/Thread$FieldHolder;")?;
        let class = local.find_class(c"java/lang/Thread$FieldHolder")?;
        Some(Self {
            holder: Some(holder),
            status: local.field_id(&class, STATUS, c"I")?,
        })
    }

    /// The state of a platform thread.
    pub fn of(self, jvm: Jvm<'_>, thread: &LocalRef<'_>) -> Option<ThreadStatus> {
        let holder = match self.holder {
            Some(holder) => jvm
                .local
                .globalize(&jvm.local.object_field(thread, holder)?)?,
            None => jvm.local.globalize(thread)?,
        };
        Some(ThreadStatus {
            holder,
            field: self.status,
        })
    }
}

impl ThreadStatus {
    /// Reads the current state.
    pub fn read(&self, jvm: Jvm<'_>) -> u32 {
        let holder = jvm.local.of_global(&self.holder);
        jvm.local.int_field(&holder, self.field).cast_unsigned()
    }

    pub fn release(self, jvm: Jvm<'_>) {
        jvm.local.release(self.holder);
    }
}
