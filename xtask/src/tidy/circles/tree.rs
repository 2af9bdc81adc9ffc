//! The modules of a crate, with the items, imports and paths of each.

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
    /// The file with the module's code.
    pub file: PathBuf,
    /// Number of lines of that file; 0 for a module in braces.
    pub lines: usize,
    /// Names that the module defines itself.
    pub items: BTreeSet<String>,
    pub imports: Vec<Import>,
    /// Paths in the module's code.
    pub mentions: Vec<Mention>,
}

/// One name of a `use` declaration.
pub struct Import {
    /// The path as written.
    pub path: Vec<String>,
    /// The name that the import has here; `None` for `*`.
    pub name: Option<String>,
    /// Set for `pub use`, `pub(crate) use` and other visible imports.
    pub is_public: bool,
    pub line: usize,
}

/// A path in code.
pub struct Mention {
    pub path: Vec<String>,
    pub line: usize,
}

impl Tree {
    /// The crate's root, which is added first.
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

    /// Returns the modules from the root down to this one.
    pub fn path(&self, id: ModuleId) -> Vec<ModuleId> {
        let mut path: Vec<ModuleId> =
            std::iter::successors(Some(id), |id| self.module(*id).parent).collect();
        path.reverse();
        path
    }

    /// Checks whether the module is below another.
    pub fn is_below(&self, id: ModuleId, above: ModuleId) -> bool {
        id != above && self.path(id).contains(&above)
    }

    /// Returns `a::b::c`, or `crate` for the root.
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

    /// Returns the number of lines of the module's file and of all files below it.
    pub fn lines_with_children(&self, id: ModuleId) -> usize {
        let module = self.module(id);
        let below = module.children.values();
        module.lines + below.map(|id| self.lines_with_children(*id)).sum::<usize>()
    }
}
