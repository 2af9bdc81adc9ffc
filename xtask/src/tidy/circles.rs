//! Circles among the modules of a crate, at any depth, tests aside: none is allowed.
//!
//! The check runs for each module that has children.
//! Its nodes are the children, each with everything below it, and the module's own code.
//! An arrow runs from one node to another if the code of the first names an item that the second defines. Nodes that
//! reach one another over arrows form a circle.
//! A parent that only declares and re-exports its children is in a circle only in one case: a child takes a re-export
//! of the parent instead of the item's own module.
//!
//! `cargo xtask tidy --circles CRATE` prints the circles of one crate.

mod arrows;
mod components;
mod read;
mod resolve;
mod tree;

#[cfg(test)]
mod tests;

use super::finding::Finding;
use crate::metadata::{self, Package};
use crate::workspace::{Workspace, say};
use anyhow::{Result, bail};
use arrows::{Arrows, arrows};
use components::components;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use tree::{ModuleId, Tree};

/// Reports every circle in every crate of the workspace.
pub fn check(workspace: &Workspace, findings: &mut Vec<Finding>) -> Result<()> {
    for package in metadata::packages(workspace)? {
        let circles = of_package(workspace, &package)?;
        findings.extend(circles.iter().map(|it| Finding::new(&package.name, it)));
    }
    Ok(())
}

/// Prints the circles of one crate.
pub fn show(workspace: &Workspace, name: &str) -> Result<()> {
    let packages = metadata::packages(workspace)?;
    let Some(package) = packages.iter().find(|package| package.name == name) else {
        bail!("expected a crate of the workspace, found {name}");
    };
    let circles = of_package(workspace, package)?;
    for circle in &circles {
        println!("{name}: {circle}");
    }
    if !circles.is_empty() {
        bail!("{name}: {} circles", circles.len());
    }
    say(format!("{name}: no circle"));
    Ok(())
}

fn of_package(workspace: &Workspace, package: &Package) -> Result<Vec<String>> {
    let mut circles = Vec::new();
    for target in package.targets.iter().filter(|target| target.is_product()) {
        let below_root = target.src_path.strip_prefix(workspace.root())?;
        circles.extend(of_crate(below_root, &|file: &Path| {
            std::fs::read_to_string(workspace.root().join(file)).ok()
        })?);
    }
    Ok(circles)
}

/// Returns every circle of the crate with this root, as text.
fn of_crate(root: &Path, source: &dyn Fn(&Path) -> Option<String>) -> Result<Vec<String>> {
    let tree = read::read(root, source)?;
    let arrows = arrows(&tree);
    let mut circles = Vec::new();
    for (parent, level) in levels(&tree, &arrows) {
        for circle in components(&level.keys().copied().collect()) {
            circles.push(display(&tree, &arrows, parent, &level, &circle)?);
        }
    }
    Ok(circles)
}

/// The arrows among the children of one module, and between its own code and a child. Each pair has the arrows between
/// the modules below its two nodes.
type Level = BTreeMap<(ModuleId, ModuleId), Vec<(ModuleId, ModuleId)>>;

/// Groups the arrows by the lowest module that holds both ends.
fn levels(tree: &Tree, arrows: &Arrows) -> BTreeMap<ModuleId, Level> {
    let mut levels: BTreeMap<ModuleId, Level> = BTreeMap::new();
    for arrow in arrows.keys() {
        let (from, to) = (tree.path(arrow.0), tree.path(arrow.1));
        let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        let Some(parent) = from.get(common.saturating_sub(1)).copied() else {
            continue;
        };
        let child = |path: &[ModuleId]| path.get(common).copied().unwrap_or(parent);
        let level = levels.entry(parent).or_default();
        let between = level.entry((child(&from), child(&to))).or_default();
        between.push(*arrow);
    }
    levels
}

/// Formats a circle with its causes: module to module, and the names that the first takes from the second.
fn display(
    tree: &Tree,
    arrows: &Arrows,
    parent: ModuleId,
    level: &Level,
    circle: &[ModuleId],
) -> Result<String> {
    let names: Vec<String> = circle.iter().map(|id| tree.display(*id)).collect();
    let lines = circle.iter().map(|id| {
        if *id == parent {
            tree.module(*id).lines
        } else {
            tree.lines_with_children(*id)
        }
    });
    let mut text = format!(
        "a circle of {} modules and {} lines: {}",
        circle.len(),
        lines.sum::<usize>(),
        names.join(", ")
    );
    for ((from, to), between) in level {
        if !circle.contains(from) || !circle.contains(to) {
            continue;
        }
        write!(text, "\n  {} -> {}", tree.display(*from), tree.display(*to))?;
        for arrow in between {
            let Some(taken) = arrows.get(arrow) else {
                continue;
            };
            let line = taken.values().next().copied().unwrap_or_default();
            let names: Vec<&str> = taken.keys().map(String::as_str).collect();
            let file = tree.module(arrow.0).file.display();
            write!(text, "\n    {file}:{line}: {}", names.join(", "))?;
            if *to != arrow.1 {
                write!(text, " of {}", tree.display(arrow.1))?;
            }
        }
    }
    Ok(text)
}
