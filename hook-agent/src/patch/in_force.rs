//! The patch of a class.

use crate::agent::Agent;
use crate::agent::loaders::{LoaderId, admits};
use crate::agent::patches::{Load, PatchedClass, Scope};
use crate::ffi::refs::{Local, LocalRef};
use crate::messages::{self, Code};
use crate::names::decode;
use crate::patch::{definition, schema};
use host::structural_edits::with_prefixed_natives;
use rewriter::check_soundness;
use std::cell::OnceCell;
use std::sync::Arc;

/// The prefix of a patch's label among the names of plugins.
const LABEL: &str = "hot patch ";

/// A class in the hook, or a loaded class.
#[derive(Clone, Copy)]
pub(crate) struct PatchCandidate<'a> {
    /// Its loader; `None` is the bootstrap loader.
    pub loader: Option<&'a LocalRef<'a>>,
    /// Internal name.
    pub name: &'a [u8],
    /// The class file that the JVM has.
    pub class_data: &'a [u8],
    /// True while the class is being loaded.
    pub is_load: bool,
}

/// The class file that replaces that of a class, and the same with prefixed native methods.
pub(crate) fn find(
    agent: &Agent,
    local: Local<'_>,
    class: PatchCandidate<'_>,
) -> Option<(Arc<PatchedClass>, Vec<u8>)> {
    let (id, displayed) = (OnceCell::new(), OnceCell::new());
    let loaders = &agent.classes.loaders;
    let display = || -> &String {
        displayed.get_or_init(|| loaders.display(agent.jvmti, local, class.loader))
    };
    let covers = |patched: &PatchedClass| match &patched.scope {
        Scope::Loaded(these) => id
            .get_or_init(|| loaders.find(agent.jvmti, local, class.loader))
            .is_some_and(|id| these.contains(&id)),
        Scope::Later(pattern) => {
            // Without a pattern the display name of the loader is not needed before the class is checked.
            (pattern.is_none() || admits(pattern.as_deref(), display()))
                && loaders
                    .identify(agent.jvmti, local, class.loader)
                    .is_some_and(|id| accepts(local, patched, class, id, &display))
        }
    };
    let found = agent.patches.find(class.name, covers)?;
    let bytes = with_prefixed_natives(&found.bytes, class.class_data).into_owned();
    Some((found, bytes))
}

/// The label of a patch in the list of plugins that changed a class.
pub(crate) fn label(class: &PatchedClass) -> String {
    format!("{LABEL}{}", class.id)
}

/// Checks whether a name is the label of a patch, and not that of a plugin.
pub(crate) fn is_label(name: &str) -> bool {
    name.starts_with(LABEL)
}

/// Checks a class that the patch waited for as it is loaded, and notes the result.
fn accepts<'d>(
    local: Local<'_>,
    patched: &PatchedClass,
    class: PatchCandidate<'_>,
    loader: LoaderId,
    display: &dyn Fn() -> &'d String,
) -> bool {
    if !class.is_load
        && let Some(known) = patched.loads.find(loader)
    {
        return known.refused.is_none();
    }
    let refused = misfit(patched, class.class_data).or_else(|| {
        let defined = definition::define_at_load(local, class.loader, &patched.companions);
        defined
            .err()
            .map(|cause| format!("a class that it needs cannot be defined: {cause}"))
    });
    if let Some(why) = &refused {
        let text = format_args!(
            "the patch from before {} was loaded does not fit it: {why}; the class stays unchanged",
            decode(&patched.name),
        );
        messages::warning(Code::Patch, text);
    }
    let accepted = refused.is_none();
    patched.loads.note(Load {
        loader,
        displayed: display().clone(),
        refused,
    });
    accepted
}

/// The reason why a patch does not fit the class file that a loader has found.
///
/// A class with unsound code would fail in the program, so soundness is checked even for a forced patch.
fn misfit(patched: &PatchedClass, class_data: &[u8]) -> Option<String> {
    let bytes = with_prefixed_natives(&patched.bytes, class_data);
    if !patched.forced {
        let broken = schema::broken_rules(class_data, &bytes, None);
        if let Some(rule) = broken.first() {
            return Some(rule.text.clone());
        }
    }
    let unsound = check_soundness(&bytes).err()?;
    Some(format!("the class file is unsound: {unsound}"))
}
