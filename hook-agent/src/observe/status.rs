//! The state of a thread as Java's own object of it keeps it, which JNI reads without entering the JVM.

use crate::ffi::jvm::Jvm;
use crate::ffi::refs::{FieldId, GlobalRef, LocalRef};

/// Where the object of a thread keeps its state, as HotSpot writes it: the bits of JVM TI's GetThreadState but those of
/// native code, suspension and interruption.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatusField {
    /// The field with the object that has it, from JDK 19 on.
    holder: Option<FieldId>,
    status: FieldId,
}

/// The object that has the state of a thread.
#[derive(Debug)]
pub(super) struct Status {
    holder: GlobalRef,
    field: FieldId,
}

impl StatusField {
    /// The field; none in a JVM that keeps the state elsewhere.
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

    /// That of a platform thread.
    pub fn of(self, jvm: Jvm<'_>, thread: &LocalRef<'_>) -> Option<Status> {
        let holder = match self.holder {
            Some(holder) => jvm
                .local
                .globalize(&jvm.local.object_field(thread, holder)?)?,
            None => jvm.local.globalize(thread)?,
        };
        Some(Status {
            holder,
            field: self.status,
        })
    }
}

impl Status {
    /// The state at this moment.
    pub fn read(&self, jvm: Jvm<'_>) -> u32 {
        let holder = jvm.local.of_global(&self.holder);
        jvm.local.int_field(&holder, self.field).cast_unsigned()
    }

    pub fn release(self, jvm: Jvm<'_>) {
        jvm.local.release(self.holder);
    }
}
