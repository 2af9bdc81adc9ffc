//! The class file that plugins' edits are applied to.

use crate::agent::Agent;
use crate::agent::patches::PatchedClass;
use crate::ffi::class_file_load::ClassFileLoad;
use crate::originals;
use class_versions::restore_parameter_names;
use rewriter::ClassFile;
use std::rc::Rc;
use std::sync::Arc;

/// The class file that a class has without plugins.
#[derive(Default)]
pub(super) struct Base {
    /// The bytes, if they differ from those that the JVM passed.
    pub bytes: Option<Vec<u8>>,
    /// The class file of the loader, if it is known and differs.
    pub file: Option<Rc<Vec<u8>>>,
    /// The patch in force. The class file of the patch is that of the loader then.
    pub patch: Option<Arc<PatchedClass>>,
}

impl Base {
    /// The class file of the patch or of the loader.
    pub fn original(&self) -> Option<&[u8]> {
        match &self.patch {
            Some(patch) => Some(&patch.bytes),
            None => self.file.as_deref().map(Vec::as_slice),
        }
    }
}

/// Finds the class file of a class that is in the hook: that of a patch with prefixed native methods, or the one that
/// the JVM passed.
///
/// The JVM drops parameter names when it retransforms a class without edits; these are restored.
pub(super) fn base_of(
    agent: &Agent,
    load: &ClassFileLoad<'_>,
    name: &[u8],
    patch: Option<(Arc<PatchedClass>, Vec<u8>)>,
    is_selected: bool,
) -> Base {
    if let Some((patch, bytes)) = patch {
        return Base {
            bytes: Some(bytes),
            file: None,
            patch: Some(patch),
        };
    }
    if !is_selected && load.class_being_redefined.is_none() {
        return Base::default();
    }
    let file = originals::find(&agent.classes.reconstituted, load, name);
    // A class file without such names is not parsed.
    let restored = |file: &Rc<Vec<u8>>| {
        memchr::memmem::find(file, b"MethodParameters")?;
        let class = ClassFile::read(load.class_data).ok()?;
        restore_parameter_names(&class, &ClassFile::read(file).ok()?)
    };
    Base {
        bytes: file.as_ref().and_then(restored),
        file,
        patch: None,
    }
}
