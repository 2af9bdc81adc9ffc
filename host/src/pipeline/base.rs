//! Finds the class file that the edits of a class are applied to.

use std::borrow::Cow;

use crate::natives;
use crate::outcome::ClassRequest;
use crate::requests::PlannedClass;
use crate::structural_edits::{StructuralEdits, with_prefixed_natives};

/// A hook for class files, by its JVM TI environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hook {
    /// The environment cannot retransform, so its result begins each retransformation.
    LoadTime,
    /// The environment can retransform. Files without a JVM count as well.
    Retransforming,
}

/// The class file that the edits of a class are applied to.
pub(super) struct Base<'r> {
    /// The class file.
    pub(super) bytes: Cow<'r, [u8]>,
    /// The native methods that are wrapped in it for the load-time hook, if there are any.
    pub(super) wrapped: Option<Vec<String>>,
}

/// Finds the class file, in the form that plugins' edits refer to.
pub(super) fn find<'r>(planned: &PlannedClass, request: &ClassRequest<'r>, hook: Hook) -> Base<'r> {
    if hook == Hook::LoadTime {
        let natives = natives::to_prefix(planned);
        let edits = StructuralEdits::of_natives(natives);
        if let Some(bytes) = edits.apply(planned.class.class()) {
            return Base {
                bytes: Cow::Owned(bytes),
                wrapped: Some(edits.natives),
            };
        }
    }
    let mut bytes = Cow::Borrowed(request.bytes);
    if let Some(original) = request.original
        && !request.retransforming
        && planned.structural_edits().next().is_some()
    {
        // The JVM's bytes contain the edits that the class got at load time.
        bytes = with_prefixed_natives(original, request.bytes);
    }
    Base {
        bytes: planned.class.fitting(bytes),
        wrapped: None,
    }
}
