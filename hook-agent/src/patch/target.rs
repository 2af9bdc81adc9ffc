//! The classes that a change is about.

use crate::agent::Agent;
use crate::agent::loaders::{LoaderId, admits};
use crate::agent::patches::{PatchedClass, Scope, Stack, newest};
use crate::ffi::error::JvmtiError;
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::GlobalRef;
use crate::loaded::CAPACITY;
use crate::names::{dotted, internal_name};
use control::Refusal;
use control::patch::{BrokenRule, ClassOutcome, ClassState};
use std::collections::HashMap;
use std::sync::Arc;

/// A class of one name in one loader, or a name of which no loader has a class.
pub(super) struct Target {
    /// Internal name.
    pub name: Vec<u8>,
    /// The class, if one is loaded.
    pub loaded: Option<LoadedClass>,
    /// What becomes of it, for the answer.
    pub outcome: ClassOutcome,
}

/// A loaded class.
pub(super) struct LoadedClass {
    /// The class itself.
    pub class: GlobalRef,
    /// Its loader.
    pub loader: LoaderId,
    /// The loader as it is displayed.
    pub displayed_loader: String,
    /// Whether the JVM lets it be changed.
    pub modifiable: bool,
}

impl Target {
    fn new(name: &[u8], loaded: Option<LoadedClass>) -> Self {
        let loader = loaded.as_ref().map(|it| it.displayed_loader.clone());
        Self {
            name: name.to_vec(),
            outcome: ClassOutcome {
                class: dotted(name),
                loader: loader.unwrap_or_default(),
                ..ClassOutcome::default()
            },
            loaded,
        }
    }

    /// Whether it is not changed, because a rule is broken.
    pub fn is_refused(&self) -> bool {
        self.outcome.state == ClassState::Refused
    }

    /// Whether it is to be changed.
    pub fn is_in(&self) -> bool {
        !matches!(self.outcome.state, ClassState::Refused | ClassState::Same)
    }

    /// It is not to be changed, because these rules are broken.
    pub fn refuse(&mut self, broken: Vec<BrokenRule>) {
        self.outcome.state = ClassState::Refused;
        self.outcome.broken = broken;
    }

    /// The digest of its patch in a stack.
    pub fn digest_in(&self, stack: &Stack) -> Option<String> {
        self.patch_in(stack).map(|class| class.digest.clone())
    }

    fn patch_in<'s>(&self, stack: &'s Stack) -> Option<&'s Arc<PatchedClass>> {
        newest(stack, &self.name, &mut |scope| self.covers(scope))
    }

    fn covers(&self, scope: &Scope) -> bool {
        let Some(loaded) = &self.loaded else {
            return false;
        };
        match scope {
            Scope::Loaded(loaders) => loaders.contains(&loaded.loader),
            Scope::Later(pattern) => admits(pattern.as_deref(), &loaded.displayed_loader),
        }
    }
}

/// Every loaded class of these names in the loaders that are admitted, and each name that has none.
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
                "H0724",
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
) -> Result<HashMap<Vec<u8>, Vec<LoadedClass>>, JvmtiError> {
    let Jvm { jvmti, local, .. } = jvm;
    let mut found: HashMap<Vec<u8>, Vec<LoadedClass>> = HashMap::new();
    for class in jvmti.loaded_classes(jvm.live, local)? {
        let signature = jvmti.class_signature(&class)?;
        let Some(name) = internal_name(&signature).filter(|name| names.contains(name)) else {
            continue;
        };
        let loader = jvmti.class_loader(local, &class)?;
        let displayed_loader = agent.loaders.display(jvmti, local, loader.as_ref());
        if !admitted(&displayed_loader) {
            continue;
        }
        let id = agent.loaders.identify(jvmti, local, loader.as_ref());
        let loaded = LoadedClass {
            class: local.globalize(&class).ok_or(JvmtiError::OUT_OF_MEMORY)?,
            loader: id.ok_or(JvmtiError::OUT_OF_MEMORY)?,
            displayed_loader,
            modifiable: jvmti.is_modifiable(&class),
        };
        found.entry(name.to_vec()).or_default().push(loaded);
    }
    Ok(found)
}

/// Gives the references back; what became of the classes is left.
pub(super) fn release(jvm: Jvm<'_>, targets: Vec<Target>) -> Vec<ClassOutcome> {
    let outcomes = targets.into_iter().map(|target| {
        if let Some(loaded) = target.loaded {
            jvm.local.release(loaded.class);
        }
        target.outcome
    });
    outcomes.collect()
}
