//! Hot patches: other class files for classes that are loaded, and the way back.
//!
//! A patch is the first link of the chain that a class goes through: its bytes take the place of those that
//! the JVM hands over, and plugins see them as they would see the class itself. The agent keeps the bytes,
//! so that a patch is there again whenever anybody retransforms the class, and gone when it is taken back.
//! (`RedefineClasses` is never called: JDK 17 loses what it did at the next retransformation.)
//!
//! | module | holds |
//! |---|---|
//! | `store` | which bytes stand in for which class |
//! | `loaders` | class loaders, weakly held |
//! | `question` | asking the JVM without changing anything |
//! | `change` | patch and rollback |
//! | `shape` | the rules of retransformation, in words |
//! | `audit` | who changed what, on disk |

mod audit;
mod change;
mod loaders;
mod question;
mod shape;
mod store;

pub(crate) use change::{Context, forget_all, list, patch, rollback};
pub(crate) use question::answered;
pub(crate) use store::PatchedClass;

use crate::agent::Agent;
use crate::ffi::callbacks::ClassFileLoad;
use crate::ffi::live::decode;
use crate::messages::{self, Code};
use host::foundation::as_wrapped;
use std::cell::OnceCell;
use std::sync::{Arc, Mutex};
use store::Scope;

/// What the agent knows of patches.
#[derive(Debug, Default)]
pub(crate) struct Patching {
    patches: store::Patches,
    loaders: loaders::Loaders,
    /// One change at a time.
    turn: Mutex<()>,
}

/// The class file that stands in for a class on its way through the hook.
pub(crate) fn patched(
    agent: &Agent,
    load: &ClassFileLoad<'_>,
    name: &[u8],
) -> Option<Arc<PatchedClass>> {
    let (id, shown) = (OnceCell::new(), OnceCell::new());
    let loader = load.loader.as_ref();
    let known = &agent.patching.loaders;
    let covers = |scope: &Scope| match scope {
        Scope::Loaded(loaders) => id
            .get_or_init(|| known.find(load.local, loader))
            .is_some_and(|id| loaders.contains(&id)),
        Scope::Later(None) => true,
        Scope::Later(pattern) => {
            let shown = shown.get_or_init(|| loaders::describe(agent, load.local, loader));
            loaders::admits(pattern.as_deref(), shown)
        }
    };
    let found = agent.patching.patches.find(name, covers)?;
    fits(load, &found).then_some(found)
}

/// How a patch is called where it is told who changed a class.
pub(crate) fn label(class: &PatchedClass) -> String {
    format!("hot patch {}", class.id)
}

/// A class that waited was not compared when the patch was made.
fn fits(load: &ClassFileLoad<'_>, class: &PatchedClass) -> bool {
    if class.forced || matches!(class.scope, Scope::Loaded(_)) {
        return true;
    }
    let bytes = as_wrapped(&class.bytes, load.class_data);
    let broken = shape::broken_rules(load.class_data, &bytes, None);
    if let Some(rule) = broken.first() {
        let text = format_args!(
            "the patch that waited for {} does not fit: {}; the class is left as it is",
            decode(&class.name),
            rule.text
        );
        messages::warning(Code::Patch, text);
    }
    broken.is_empty()
}
