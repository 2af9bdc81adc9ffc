//! The patch of a class.

use crate::agent::Agent;
use crate::agent::loaders::admits;
use crate::agent::patches::{PatchedClass, Scope};
use crate::ffi::refs::{Local, LocalRef};
use crate::messages::{self, Code};
use crate::names::decode;
use crate::patch::schema;
use host::structural_edits::with_prefixed_natives;
use std::cell::OnceCell;
use std::sync::Arc;

/// The class file that stands in for a class of this loader, whose own the JVM has handed over, and the same with native
/// methods prefixed.
pub(crate) fn find(
    agent: &Agent,
    local: Local<'_>,
    loader: Option<&LocalRef<'_>>,
    name: &[u8],
    class_data: &[u8],
) -> Option<(Arc<PatchedClass>, Vec<u8>)> {
    let (id, displayed) = (OnceCell::new(), OnceCell::new());
    let loaders = &agent.loaders;
    let covers = |scope: &Scope| match scope {
        Scope::Loaded(these) => id
            .get_or_init(|| loaders.find(agent.jvmti, local, loader))
            .is_some_and(|id| these.contains(&id)),
        Scope::Later(None) => true,
        Scope::Later(pattern) => {
            let display = || loaders.display(agent.jvmti, local, loader);
            admits(pattern.as_deref(), displayed.get_or_init(display))
        }
    };
    let found = agent.patches.find(name, covers)?;
    let bytes = with_prefixed_natives(&found.bytes, class_data).into_owned();
    fits(class_data, &found, &bytes).then_some((found, bytes))
}

/// How a patch is named among the plugins that changed a class.
pub(crate) fn label(class: &PatchedClass) -> String {
    format!("hot patch {}", class.id)
}

/// A class that was not loaded when the patch was made was not compared then.
fn fits(class_data: &[u8], class: &PatchedClass, bytes: &[u8]) -> bool {
    if class.forced || matches!(class.scope, Scope::Loaded(_)) {
        return true;
    }
    let broken = schema::broken_rules(class_data, bytes, None);
    if let Some(rule) = broken.first() {
        let text = format_args!(
            "the patch made before {} was loaded does not fit it: {}; the class is left as it is",
            decode(&class.name),
            rule.text
        );
        messages::warning(Code::Patch, text);
    }
    broken.is_empty()
}
