//! Arrows between modules: each runs from the module that names an item to the one that defines it.

use super::resolve::{Resolved, Target, resolve};
use super::tree::{Import, ModuleId, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// An arrow between two modules, and the names that cause it, each with a line in the first module's file.
pub type Arrows = BTreeMap<(ModuleId, ModuleId), BTreeMap<String, usize>>;

/// Returns every arrow between two modules of the crate.
///
/// A re-export of an item from a module below is an arrow only if a module below the re-exporting one uses it.
pub fn arrows(tree: &Tree) -> Arrows {
    let mut collector = Collector {
        tree,
        arrows: Arrows::new(),
        used_from_below: BTreeSet::new(),
    };
    for id in tree.ids() {
        let module = tree.module(id);
        for import in &module.imports {
            collector.import(id, import);
        }
        for mention in &module.mentions {
            if let Some(resolved) = resolve(tree, id, &mention.path, false) {
                collector.uses(id, &mention.path, mention.line, &resolved);
            }
        }
    }
    collector.arrows
}

struct Collector<'t> {
    tree: &'t Tree,
    arrows: Arrows,
    /// The imports of a module that modules below it use.
    used_from_below: BTreeSet<(ModuleId, String)>,
}

impl Collector<'_> {
    fn import(&mut self, from: ModuleId, import: &Import) {
        // importing a module does not use its items yet
        let Some(resolved) = resolve(self.tree, from, &import.path, true) else {
            return;
        };
        let target = match resolved.target {
            Target::Item(target) => target,
            Target::Module(target) if import.name.is_none() => {
                if self.tree.module(target).items.is_empty() {
                    return;
                }
                target
            }
            Target::Module(_) => return,
        };
        if import.is_public && self.tree.is_below(target, from) {
            return;
        }
        let resolved = Resolved {
            target: Target::Item(target),
            ..resolved
        };
        self.uses(from, &import.path, import.line, &resolved);
    }

    fn uses(&mut self, from: ModuleId, path: &[String], line: usize, resolved: &Resolved) {
        let Target::Item(target) = resolved.target else {
            return;
        };
        for (above, name) in &resolved.through {
            if self.tree.is_below(from, *above) {
                self.arrow(from, *above, name, line);
                self.re_export(*above, name, target);
            }
        }
        let name = name_in(path);
        self.arrow(from, target, name, line);
    }

    fn re_export(&mut self, above: ModuleId, name: &str, target: ModuleId) {
        if !self.used_from_below.insert((above, name.to_owned())) {
            return;
        }
        let imports = &self.tree.module(above).imports;
        let line = imports
            .iter()
            .find(|import| import.name.as_deref() == Some(name))
            .map_or(0, |import| import.line);
        self.arrow(above, target, name, line);
    }

    fn arrow(&mut self, from: ModuleId, to: ModuleId, name: &str, line: usize) {
        if from != to {
            let names = self.arrows.entry((from, to)).or_default();
            names.entry(name.to_owned()).or_insert(line);
        }
    }
}

/// Returns the item in the path: the type if there is one, rather than its variant or function.
fn name_in(path: &[String]) -> &str {
    let is_type = |name: &&String| name.starts_with(char::is_uppercase);
    path.iter()
        .find(is_type)
        .or(path.last())
        .map_or("*", String::as_str)
}
