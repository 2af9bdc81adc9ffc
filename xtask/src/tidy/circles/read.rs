//! Reads the modules of a crate from its sources, without code that is compiled for tests only.

use super::tree::{Import, Mention, Module, ModuleId, Tree};
use anyhow::{Context, Result, bail};
use proc_macro2::{Spacing, TokenStream, TokenTree};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// Reads the crate with this root file. `source` returns the text of a file, if the file exists.
pub fn read(root: &Path, source: &dyn Fn(&Path) -> Option<String>) -> Result<Tree> {
    let mut reader = Reader {
        tree: Tree::default(),
        source,
    };
    let children = root.parent().map(Path::to_path_buf).unwrap_or_default();
    let module = Module {
        file: root.to_path_buf(),
        ..Module::default()
    };
    reader.file(module, &children)?;
    Ok(reader.tree)
}

struct Reader<'s> {
    tree: Tree,
    source: &'s dyn Fn(&Path) -> Option<String>,
}

impl Reader<'_> {
    /// Reads a module from its file; its children are in the folder.
    fn file(&mut self, mut module: Module, children: &Path) -> Result<()> {
        let file = module.file.clone();
        let text = (self.source)(&file)
            .with_context(|| format!("expected a module in {}", file.display()))?;
        let parsed = syn::parse_file(&text)
            .with_context(|| format!("failed to parse {}", file.display()))?;
        module.lines = text.lines().count();
        let id = self.tree.add(module);
        self.items(id, &parsed.items, children)
    }

    fn items(&mut self, id: ModuleId, items: &[syn::Item], children: &Path) -> Result<()> {
        for item in items {
            if let syn::Item::Mod(child) = item {
                if !is_for_tests(&child.attrs) {
                    self.child(id, child, children)?;
                }
                continue;
            }
            let module = self.tree.module_mut(id);
            if !is_for_tests(attributes(item)) {
                module.items.extend(name_of(item));
            }
            Paths { module }.visit_item(item);
        }
        Ok(())
    }

    fn child(&mut self, parent: ModuleId, child: &syn::ItemMod, folder: &Path) -> Result<()> {
        let name = child.ident.to_string();
        let children = folder.join(&name);
        let mut module = Module {
            name: name.clone(),
            parent: Some(parent),
            ..Module::default()
        };
        if let Some((_, items)) = &child.content {
            module.file = self.tree.module(parent).file.clone();
            let id = self.tree.add(module);
            return self.items(id, items, &children);
        }
        if child.attrs.iter().any(|it| it.path().is_ident("path")) {
            bail!("the module {name} has its file named by #[path]");
        }
        module.file = self.file_of(&name, folder);
        self.file(module, &children)
    }

    fn file_of(&self, name: &str, folder: &Path) -> PathBuf {
        let beside = folder.join(format!("{name}.rs"));
        if (self.source)(&beside).is_some() {
            beside
        } else {
            folder.join(name).join("mod.rs")
        }
    }
}

/// Collects the paths of a module's code.
struct Paths<'m> {
    module: &'m mut Module,
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            let is_public = !matches!(item.vis, syn::Visibility::Inherited);
            self.imports(&mut Vec::new(), &item.tree, is_public);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let segments = path.segments.iter();
            let line = segments.clone().next().map(|it| it.ident.span());
            self.module.mentions.push(Mention {
                path: segments.map(|segment| segment.ident.to_string()).collect(),
                line: line.map_or(0, |span| span.start().line),
            });
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        visit::visit_macro(self, call);
        self.tokens(call.tokens.clone());
    }

    // `pub(in path)` and attributes use nothing of the modules they name
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

impl Paths<'_> {
    fn imports(&mut self, before: &mut Vec<String>, tree: &syn::UseTree, is_public: bool) {
        let (ident, name) = match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.imports(before, &path.tree, is_public);
                before.pop();
                return;
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.imports(before, tree, is_public);
                }
                return;
            }
            syn::UseTree::Name(name) => (Some(&name.ident), Some(&name.ident)),
            syn::UseTree::Rename(renamed) => (Some(&renamed.ident), Some(&renamed.rename)),
            syn::UseTree::Glob(_) => (None, None),
        };
        let mut path = before.clone();
        let line = ident.map_or(0, |ident| ident.span().start().line);
        path.extend(
            ident
                .filter(|ident| *ident != "self")
                .map(ToString::to_string),
        );
        let name = match name {
            // `use a::b::{self}` brings `b`
            Some(name) if name == "self" => path.last().cloned(),
            name => name.map(ToString::to_string),
        };
        self.module.imports.push(Import {
            path,
            name,
            is_public,
            line,
        });
    }

    /// Collects paths from the arguments of a macro, which are tokens and no syntax tree.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 0;
        let (mut colons, mut field) = (0, false);
        for token in tokens {
            match &token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    if colons == 1 && punct.spacing() == Spacing::Alone {
                        colons = 0;
                        self.mention(&mut path, line);
                    }
                    continue;
                }
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.mention(&mut path, line);
                    }
                    if path.is_empty() {
                        line = ident.span().start().line;
                    }
                    // neither a field nor a path from the root of all crates
                    if !field && (colons != 2 || !path.is_empty()) {
                        path.push(ident.to_string());
                    }
                }
                TokenTree::Group(group) => {
                    self.mention(&mut path, line);
                    self.tokens(group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.mention(&mut path, line),
            }
            field = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
            colons = 0;
        }
        self.mention(&mut path, line);
    }

    fn mention(&mut self, path: &mut Vec<String>, line: usize) {
        if !path.is_empty() {
            let path = std::mem::take(path);
            self.module.mentions.push(Mention { path, line });
        }
    }
}

/// Checks for `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else {
            return false;
        };
        let condition: String = list.tokens.to_string().split_whitespace().collect();
        list.path.is_ident("cfg") && (condition == "test" || condition.starts_with("all(test,"))
    })
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Union(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name_of(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}
