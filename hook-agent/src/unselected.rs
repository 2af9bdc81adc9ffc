//! The loaded classes of a JVM in which the user's selectors selected no class: most likely a selector is wrong.

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::loaded_classes::{self, CAPACITY, LoadedClass};
use crate::names::dotted;
use host::Loader;
use jvms::names::binary;
use probes::Unselected;
use std::collections::BTreeSet;

/// Largest number of class names.
const MOST: usize = 5_000;

/// Notes the classes of the application for the end of the snapshot, if there are selectors and they selected no class.
pub(crate) fn note(agent: &Agent, jvm: Jvm<'_>) {
    let is_asked = agent.plugins.current().is_some_and(|set| {
        let mut plugins = set.config.plugins.iter();
        plugins.any(|plugin| {
            plugin
                .select
                .iter()
                .any(|selector| !selector.starts_with('!'))
        })
    });
    if !is_asked || agent.plugins.summary().classes > 0 {
        return;
    }
    let listed = jvm.with_frame(CAPACITY, |jvm| {
        of_application(loaded_classes::list(&agent.classes.loaders, jvm))
    });
    if let Some(found) = listed {
        let _ = agent.classes.unselected.set(found); // noted once
    }
}

fn of_application<'a>(classes: impl Iterator<Item = LoadedClass<'a>>) -> Unselected {
    let (mut names, mut loaders) = (BTreeSet::new(), BTreeSet::new());
    for class in classes {
        if matches!(class.loader, Loader::Boot | Loader::Platform) {
            continue;
        }
        loaders.insert(binary(class.loader.as_str()));
        if names.len() < MOST {
            names.insert(dotted(&class.name));
        }
    }
    Unselected {
        classes: names.into_iter().collect(),
        loaders: loaders.into_iter().collect(),
    }
}
