//! The classes of a change.

use crate::agent::Agent;
use crate::agent::loaders::{LoaderId, admits};
use crate::agent::patches::{PatchedClass, Scope, Stack, newest};
use crate::ffi::error::JvmtiError;
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::GlobalRef;
use crate::loaded_classes::CAPACITY;
use crate::names::{dotted, internal_name};
use crate::patch::loaded_file;
use control::Refusal;
use control::patch::{BrokenRule, ClassOutcome, ClassState};
use errors::codes;
use std::collections::HashMap;
use std::sync::Arc;

/// A class of one name in one loader, or a name without a loaded class.
pub(super) struct Target {
    /// The internal name.
    pub name: Vec<u8>,
    /// The class, if it is loaded.
    pub loaded: Option<TargetClass>,
    /// The class file that a loader would find, for a class that is not loaded.
    pub findable: Option<Vec<u8>>,
    /// True if no loader has or finds the class, and the patch defines it.
    pub is_new: bool,
    /// Its outcome, for the answer.
    pub outcome: ClassOutcome,
}

/// A loaded class.
pub(super) struct TargetClass {
    /// The class itself.
    pub class: GlobalRef,
    /// Its loader.
    pub loader: LoaderId,
    /// The display name of the loader.
    pub displayed_loader: String,
    /// True if the JVM allows the class to be changed.
    pub modifiable: bool,
    /// Its class file once it is read: the file from which it was loaded, or the reconstituted one.
    pub file: Result<Vec<u8>, JvmtiError>,
    /// True once its static initialiser has run.
    pub initialized: bool,
}

impl Target {
    fn new(name: &[u8], loaded: Option<TargetClass>) -> Self {
        let loader = loaded.as_ref().map(|it| it.displayed_loader.clone());
        Self {
            name: name.to_vec(),
            outcome: ClassOutcome {
                class: dotted(name),
                loader: loader.unwrap_or_default(),
                ..ClassOutcome::default()
            },
            loaded,
            findable: None,
            is_new: false,
        }
    }

    /// Checks whether it is left unchanged, because a rule is broken or no such class can be found.
    pub fn is_refused(&self) -> bool {
        matches!(self.outcome.state, ClassState::Refused | ClassState::Absent)
    }

    /// Checks whether it is to be changed.
    pub fn is_in(&self) -> bool {
        !self.is_refused() && self.outcome.state != ClassState::Same
    }

    /// Leaves it unchanged, because these rules are broken.
    pub fn refuse(&mut self, broken: Vec<BrokenRule>) {
        self.outcome.state = ClassState::Refused;
        self.outcome.broken = broken;
    }

    /// Waits for the class even if no loader finds it.
    pub fn wait_if_absent(&mut self) {
        if self.outcome.state == ClassState::Absent {
            self.outcome.state = ClassState::default();
        }
    }

    /// Checks whether the class is to be retransformed, or its patch waits for it.
    pub fn is_patched(&self) -> bool {
        self.is_in() && !self.is_new
    }

    /// Defines the class in place of the search for it.
    pub fn define(&mut self) {
        self.is_new = true;
        self.outcome.state = ClassState::default();
    }

    /// The digest of its patch in a stack.
    pub fn digest_in(&self, stack: &Stack) -> Option<String> {
        self.patch_in(stack).map(|class| class.digest.clone())
    }

    /// Reads its class file, if it is loaded and modifiable.
    pub fn read_file(&mut self, jvm: Jvm<'_>) {
        if let Some(loaded) = self.loaded.as_mut().filter(|loaded| loaded.modifiable) {
            loaded.file = loaded_file::read(jvm, &self.name, &loaded.class);
        }
    }

    /// Its class file, if it is loaded and was read.
    pub fn file(&self) -> Option<&[u8]> {
        let file = self.loaded.as_ref()?.file.as_ref();
        file.ok().map(Vec::as_slice)
    }

    /// The class file whose code it executes: that of its patch, or its own.
    pub fn file_now<'s>(&'s self, stack: &'s Stack) -> Option<&'s [u8]> {
        let patched = self.patch_in(stack).map(|class| class.bytes.as_slice());
        patched.or_else(|| self.file())
    }

    /// Checks whether its static initialiser has run.
    pub fn is_initialized(&self) -> bool {
        self.loaded
            .as_ref()
            .is_some_and(|loaded| loaded.initialized)
    }

    /// Its patch in a stack.
    pub fn patch_in<'s>(&self, stack: &'s Stack) -> Option<&'s Arc<PatchedClass>> {
        newest(stack, &self.name, &mut |class| self.is_patched_by(class))
    }

    /// Checks whether it is loaded and has the code of this patch.
    pub fn is_patched_by(&self, class: &PatchedClass) -> bool {
        let Some(loaded) = &self.loaded else {
            return false;
        };
        match &class.scope {
            Scope::Loaded(loaders) => loaders.contains(&loaded.loader),
            Scope::Later(pattern) => {
                let load = class.loads.find(loaded.loader);
                admits(pattern.as_deref(), &loaded.displayed_loader)
                    && load.is_none_or(|load| load.refused.is_none())
            }
        }
    }
}

/// Every loaded class of these names in the admitted loaders, and each name without one.
///
/// # Errors
///
/// If the JVM does not list its classes.
pub(super) fn find(
    agent: &Agent,
    jvm: Jvm<'_>,
    names: &[&[u8]],
    admitted: impl Fn(&str) -> bool,
) -> Result<Vec<Target>, Refusal> {
    let listed = jvm.with_frame(CAPACITY, |jvm| loaded_classes(agent, jvm, names, admitted));
    let mut listed = listed
        .ok_or(JvmtiError::OUT_OF_MEMORY)
        .flatten()
        .map_err(|error| {
            Refusal::new(
                codes::H0724,
                format!("the JVM does not list its classes: {error}"),
            )
        })?;
    let targets = names.iter().flat_map(|name| match listed.remove(*name) {
        Some(classes) => {
            let classes = classes.into_iter();
            classes
                .map(|class| Target::new(name, Some(class)))
                .collect()
        }
        None => vec![Target::new(name, None)],
    });
    Ok(targets.collect())
}

fn loaded_classes(
    agent: &Agent,
    jvm: Jvm<'_>,
    names: &[&[u8]],
    admitted: impl Fn(&str) -> bool,
) -> Result<HashMap<Vec<u8>, Vec<TargetClass>>, JvmtiError> {
    let Jvm { jvmti, local, .. } = jvm;
    let mut found: HashMap<Vec<u8>, Vec<TargetClass>> = HashMap::new();
    for class in jvmti.loaded_classes(jvm.live, local)? {
        let signature = jvmti.class_signature(&class)?;
        let Some(name) = internal_name(&signature).filter(|name| names.contains(name)) else {
            continue;
        };
        let loader = jvmti.class_loader(local, &class)?;
        let displayed_loader = agent.classes.loaders.display(jvmti, local, loader.as_ref());
        if !admitted(&displayed_loader) {
            continue;
        }
        let id = agent
            .classes
            .loaders
            .identify(jvmti, local, loader.as_ref());
        let loaded = TargetClass {
            class: local.globalize(&class).ok_or(JvmtiError::OUT_OF_MEMORY)?,
            loader: id.ok_or(JvmtiError::OUT_OF_MEMORY)?,
            displayed_loader,
            modifiable: jvmti.is_modifiable(&class),
            file: Err(JvmtiError::NOT_AVAILABLE),
            initialized: jvmti.is_initialized(&class),
        };
        found.entry(name.to_vec()).or_default().push(loaded);
    }
    Ok(found)
}

/// Releases the references, and returns the outcomes.
pub(super) fn release(jvm: Jvm<'_>, targets: Vec<Target>) -> Vec<ClassOutcome> {
    let outcomes = targets.into_iter().map(|target| {
        if let Some(loaded) = target.loaded {
            jvm.local.release(loaded.class);
        }
        target.outcome
    });
    outcomes.collect()
}
