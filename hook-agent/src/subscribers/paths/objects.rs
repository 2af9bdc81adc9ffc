//! Objects by their tags, and the roots of paths.

use crate::ffi::error::JvmtiError;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::Root;
use crate::ffi::refs::LocalRef;
use jvm_events::paths::Node;

/// Number of objects that are fetched at once.
const CHUNK: usize = 1_000;

/// The root of a path.
#[derive(Clone, Copy, Debug)]
pub(super) enum PathRoot {
    Root(Root),
    /// A class of a loader that the JVM never unloads.
    PermanentClass,
}

/// Passes the objects with these tags to `take`, some at a time.
pub(super) fn each_object(
    jvm: Jvm<'_>,
    tags: &[i64],
    mut take: impl FnMut(Jvm<'_>, i64, &LocalRef<'_>),
) -> Result<(), JvmtiError> {
    for tags in tags.chunks(CHUNK) {
        let done = jvm.with_frame(4 * CHUNK as i32, |jvm| {
            let objects = jvm.jvmti.objects_with_tags(jvm.live, jvm.local, tags)?;
            for (tag, object) in &objects {
                take(jvm, *tag, object);
            }
            Ok(())
        });
        done.unwrap_or(Err(JvmtiError::OUT_OF_MEMORY))?;
    }
    Ok(())
}

/// The tag of an object is its number plus 1, because 0 is no tag.
pub(super) fn tag(node: Node) -> i64 {
    i64::from(node) + 1
}

pub(super) fn node(tag: i64) -> Option<Node> {
    Node::try_from(tag.checked_sub(1)?).ok()
}
