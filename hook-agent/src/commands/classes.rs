//! `classes`.

use super::{Jvm, out_of_memory};
use crate::ffi::live;
use crate::retransform::{self, Loaded};
use control::Refusal;
use control::message::{Class, Classes};
use host::selector::{Selection, Verdict};

/// The loaded classes that are asked for, in order of their names.
pub(super) fn classes(
    jvm: Jvm<'_>,
    filter: Option<&str>,
    changed: bool,
    skip: usize,
    limit: usize,
) -> Result<Classes, Refusal> {
    let filters: Vec<&str> = filter.into_iter().collect();
    let filter =
        Selection::parse(&filters).map_err(|error| Refusal::new("H0110", error.to_string()))?;
    let describe = |class: Loaded<'_>| {
        let edits = jvm.agent.plugins.changed.find(&class.name, &class.loader);
        let matches = filter.matches_name(&class.name, &class.loader) == Verdict::Yes;
        (matches && (edits.is_some() || !changed)).then(|| Class {
            name: live::decode(&class.name).replace('/', "."),
            loader: class.loader.as_str().replace('/', "."),
            changed_by: edits.map(|edits| edits.plugins).unwrap_or_default(),
        })
    };
    let all = retransform::with_loaded(jvm.agent, jvm.phase, jvm.local, |classes| {
        classes.into_iter().filter_map(describe).collect::<Vec<_>>()
    });
    let mut all = all.ok_or_else(out_of_memory)?;
    all.sort();
    Ok(Classes {
        total: all.len(),
        classes: all.into_iter().skip(skip).take(limit).collect(),
    })
}
