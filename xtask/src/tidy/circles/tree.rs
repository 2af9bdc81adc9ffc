//! The modules of a crate and what each of them says: items, imports, paths.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A module's index in its [`Tree`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ModuleId(usize);

/// The modules of a crate; the first is the crate's root.
#[derive(Default)]
pub struct Tree {
    modules: Vec<Module>,
}

/// A module, in a file of its own or in braces.
#[derive(Default)]
pub struct Module {
    pub name: String,
    pub parent: Option<ModuleId>,
    pub children: BTreeMap<String, ModuleId>,
    /// The file the module is written in.
    pub file: PathBuf,
    /// How many lines the file has; none for a module in braces.
    pub lines: usize,
    /// The names the module defines itself.
    pub items: BTreeSet<String>,
    pub imports: Vec<Import>,
    /// The paths in the module's code.
    pub mentions: Vec<Mention>,
}

/// One name of a `use` declaration.
pub struct Import {
    /// The path as it is written.
    pub path: Vec<String>,
    /// The name it has here; none for `*`.
    pub name: Option<String>,
    /// Whether other modules see it (`pub use`, `pub(crate) use`, …).
    pub is_public: bool,
    pub line: usize,
}

/// A path in code.
pub struct Mention {
    pub path: Vec<String>,
    pub line: usize,
}

impl Tree {
    /// The crate's root; there is none before the first module was added.
    pub const ROOT: ModuleId = ModuleId(0);

    pub fn add(&mut self, module: Module) -> ModuleId {
        let id = ModuleId(self.modules.len());
        if let Some(parent) = module.parent {
            let name = module.name.clone();
            self.modules[parent.0].children.insert(name, id);
        }
        self.modules.push(module);
        id
    }

    pub fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.0]
    }

    pub fn module_mut(&mut self, id: ModuleId) -> &mut Module {
        &mut self.modules[id.0]
    }

    pub fn ids(&self) -> impl Iterator<Item = ModuleId> + use<> {
        (0..self.modules.len()).map(ModuleId)
    }

    /// The modules from the root down to this one.
    pub fn path(&self, id: ModuleId) -> Vec<ModuleId> {
        let mut path: Vec<ModuleId> =
            std::iter::successors(Some(id), |id| self.module(*id).parent).collect();
        path.reverse();
        path
    }

    /// Whether the module lies below another.
    pub fn is_below(&self, id: ModuleId, above: ModuleId) -> bool {
        id != above && self.path(id).contains(&above)
    }

    /// `a::b::c`, or `crate` for the root.
    pub fn display(&self, id: ModuleId) -> String {
        let names: Vec<&str> = self
            .path(id)
            .iter()
            .skip(1)
            .map(|id| self.module(*id).name.as_str())
            .collect();
        if names.is_empty() {
            "crate".to_owned()
        } else {
            names.join("::")
        }
    }

    /// The lines of the module's file and of all files below it.
    pub fn lines_with_children(&self, id: ModuleId) -> usize {
        let module = self.module(id);
        let below = module.children.values();
        module.lines + below.map(|id| self.lines_with_children(*id)).sum::<usize>()
    }
}
