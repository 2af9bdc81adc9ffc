//! Resolution of paths: the module that defines the named item, as far as the text shows it.

use super::tree::{Module, ModuleId, Tree};

/// Most imports of imports that are followed, since they may form a loop.
const DEPTH: usize = 16;

/// The target of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    Module(ModuleId),
    /// An item that the module defines.
    Item(ModuleId),
}

/// The target of a path, and the names in other modules' imports on the way to it.
#[derive(Debug)]
pub struct Resolved {
    pub target: Target,
    pub through: Vec<(ModuleId, String)>,
}

/// Resolves a path in this module. `None` if it is no name of the crate.
///
/// If a module and another item share the name, `prefers_modules` decides.
pub fn resolve(
    tree: &Tree,
    from: ModuleId,
    path: &[String],
    prefers_modules: bool,
) -> Option<Resolved> {
    let search = Search {
        tree,
        from,
        prefers_modules,
    };
    let mut through = Vec::new();
    let target = search.path(from, path, DEPTH, &mut through)?;
    Some(Resolved { target, through })
}

struct Search<'t> {
    tree: &'t Tree,
    from: ModuleId,
    prefers_modules: bool,
}

type Through = Vec<(ModuleId, String)>;

impl Search<'_> {
    fn path(
        &self,
        from: ModuleId,
        path: &[String],
        depth: usize,
        through: &mut Through,
    ) -> Option<Target> {
        let (first, mut rest) = path.split_first()?;
        let depth = depth.checked_sub(1)?;
        let mut module = match first.as_str() {
            "crate" => Tree::ROOT,
            "self" => from,
            "super" => self.tree.module(from).parent?,
            name => return self.name(from, name, rest, depth, through),
        };
        while let Some(("super", after)) = rest
            .split_first()
            .map(|(name, after)| (name.as_str(), after))
        {
            module = self.tree.module(module).parent?;
            rest = after;
        }
        let Some((name, rest)) = rest.split_first() else {
            return Some(Target::Module(module));
        };
        // a name that is found nowhere comes from a macro
        self.name(module, name, rest, depth, through)
            .or(Some(Target::Item(module)))
    }

    /// Resolves `name::rest` in a module.
    fn name(
        &self,
        at: ModuleId,
        name: &str,
        rest: &[String],
        depth: usize,
        through: &mut Through,
    ) -> Option<Target> {
        let module = self.tree.module(at);
        let child = module.children.get(name).copied();
        if let Some(child) = child
            && (self.prefers_modules || !rest.is_empty())
        {
            return Some(self.child(child, rest, depth, through));
        }
        if module.items.contains(name) {
            return Some(Target::Item(at));
        }
        self.imported(at, name, rest, depth, through)
            .or_else(|| child.map(|child| self.child(child, rest, depth, through)))
            .or_else(|| self.in_globs(at, name, rest, depth, through))
    }

    fn child(
        &self,
        child: ModuleId,
        rest: &[String],
        depth: usize,
        through: &mut Through,
    ) -> Target {
        let Some((name, rest)) = rest.split_first() else {
            return Target::Module(child);
        };
        self.name(child, name, rest, depth, through)
            .unwrap_or(Target::Item(child))
    }

    /// Resolves a name that a `use` declaration imports into the module.
    fn imported(
        &self,
        at: ModuleId,
        name: &str,
        rest: &[String],
        depth: usize,
        through: &mut Through,
    ) -> Option<Target> {
        let module: &Module = self.tree.module(at);
        let imports = module.imports.iter();
        imports
            .filter(|import| import.name.as_deref() == Some(name))
            .find_map(|import| {
                let path: Vec<String> = import.path.iter().chain(rest).cloned().collect();
                let mut further = Vec::new();
                let target = self.path(at, &path, depth, &mut further)?;
                if at != self.from {
                    through.push((at, name.to_owned()));
                }
                through.append(&mut further);
                Some(target)
            })
    }

    fn in_globs(
        &self,
        at: ModuleId,
        name: &str,
        rest: &[String],
        depth: usize,
        through: &mut Through,
    ) -> Option<Target> {
        let depth = depth.checked_sub(1)?;
        let imports = self.tree.module(at).imports.iter();
        imports
            .filter(|import| import.name.is_none())
            .find_map(|import| {
                let Target::Module(module) = self.path(at, &import.path, depth, &mut Vec::new())?
                else {
                    return None;
                };
                let mut further = Vec::new();
                let target = self.name(module, name, rest, depth, &mut further)?;
                if at != self.from {
                    through.push((at, name.to_owned()));
                }
                through.append(&mut further);
                Some(target)
            })
    }
}
