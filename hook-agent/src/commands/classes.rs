//! `classes`: the classes that are loaded.

use super::context::Context;
use super::refusals::out_of_memory;
use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::loaded::{self, Loaded};
use crate::names::dotted;
use control::Refusal;
use control::message::{Class, Classes};
use host::selector::{Selection, Verdict};
use jvms::names::binary;

/// The loader of a class, with its identity where there may be several of its kind.
fn loader_of(agent: &Agent, jvm: Jvm<'_>, class: &Loaded<'_>) -> String {
    let loader = jvm.jvmti.class_loader(jvm.local, &class.class);
    loader.map_or_else(
        |_| binary(class.loader.as_str()),
        |loader| agent.loaders.display(jvm.jvmti, jvm.local, loader.as_ref()),
    )
}

/// The loaded classes that are asked for, in order of their names.
pub(super) fn classes(
    context: Context<'_>,
    filter: Option<&str>,
    changed: bool,
    skip: usize,
    limit: usize,
) -> Result<Classes, Refusal> {
    let Context { agent, jvm } = context;
    let filters: Vec<&str> = filter.into_iter().collect();
    let filter =
        Selection::parse(&filters).map_err(|error| Refusal::new("H0110", error.to_string()))?;
    let describe = |class: Loaded<'_>| {
        let edits = agent.instrumented.find(&class.name, class.loader_id);
        let matches = filter.matches_name(&class.name, &class.loader) == Verdict::Yes;
        (matches && (edits.is_some() || !changed)).then(|| Class {
            name: dotted(&class.name),
            loader: loader_of(agent, jvm, &class),
            changed_by: edits.map(|edits| edits.plugins).unwrap_or_default(),
        })
    };
    let all = loaded::with_list(&agent.loaders, jvm, |classes| {
        classes.into_iter().filter_map(describe).collect::<Vec<_>>()
    });
    let mut all = all.ok_or_else(out_of_memory)?;
    all.sort();
    Ok(Classes {
        total: all.len(),
        classes: all.into_iter().skip(skip).take(limit).collect(),
    })
}
