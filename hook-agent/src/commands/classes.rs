//! `classes`: the loaded classes.

mod details;

use super::context::Context;
use super::refusals::out_of_memory;
use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::loaded_classes::{self, LoadedClass};
use crate::names::dotted;
use crate::retransform;
use control::Refusal;
use control::classes::Details;
use control::message::{Class, Classes};
use errors::codes;
use host::selector::{Selection, Verdict};
use jvms::names::binary;

/// The page of the list of matching classes.
#[derive(Clone, Copy)]
pub(super) struct Page {
    /// True for only the classes that hold edits.
    pub changed: bool,
    /// Number of classes to skip.
    pub skip: usize,
    /// Largest number of listed classes.
    pub limit: usize,
}

/// The display name of a class's loader, with its identity unless it is a built-in loader.
fn loader_of(agent: &Agent, jvm: Jvm<'_>, class: &LoadedClass<'_>) -> String {
    let loader = jvm.jvmti.class_loader(jvm.local, &class.class);
    loader.map_or_else(
        |_| binary(class.loader.as_str()),
        |loader| {
            agent
                .classes
                .loaders
                .display(jvm.jvmti, jvm.local, loader.as_ref())
        },
    )
}

/// Checks whether selectors over locations match a class.
fn came_from(agent: &Agent, jvm: Jvm<'_>, class: &LoadedClass<'_>, filter: &Selection) -> bool {
    let found = retransform::location(agent, jvm, class, true);
    filter.matches_location(found.for_selectors())
}

/// The requested loaded classes, in order of their names.
pub(super) fn classes(
    context: Context<'_>,
    filter: Option<&str>,
    page: Page,
    details: Details,
) -> Result<Classes, Refusal> {
    let filters: Vec<&str> = filter.into_iter().collect();
    let filter = Selection::parse(&filters)
        .map_err(|error| Refusal::new(codes::H0110, error.to_string()))?;
    let agent = context.agent;
    let listed = context.jvm.with_frame(loaded_classes::CAPACITY, |jvm| {
        let edits = |class: &LoadedClass<'_>| {
            agent
                .classes
                .instrumented
                .find(&class.name, class.loader_id)
        };
        let is_listed = |class: &LoadedClass<'_>| {
            filter.matches_name(&class.name, &class.loader) == Verdict::Yes
                && (!filter.needs_location() || came_from(agent, jvm, class, &filter))
                && (!page.changed || edits(class).is_some())
        };
        let mut all: Vec<_> = loaded_classes::list(&agent.classes.loaders, jvm)
            .filter(is_listed)
            .collect();
        let loader = |class: &LoadedClass<'_>| loader_of(agent, jvm, class);
        all.sort_by(|one, other| {
            let names = one.name.cmp(&other.name);
            names.then_with(|| loader(one).cmp(&loader(other)))
        });
        let total = all.len();
        let describe = |class: &LoadedClass<'_>| Class {
            name: dotted(&class.name),
            loader: loader(class),
            changed_by: edits(class).map_or_else(Vec::new, |edits| edits.plugins),
            ..Class::default()
        };
        let page = all.into_iter().skip(page.skip).take(page.limit);
        let mut listed: Vec<_> = page.map(|class| (describe(&class), class)).collect();
        details::add(agent, jvm, details, &mut listed);
        Classes {
            total,
            classes: listed.into_iter().map(|(class, _)| class).collect(),
        }
    });
    listed.ok_or_else(out_of_memory)
}
