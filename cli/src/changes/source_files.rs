//! Which changed file is the source of which classes.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::git::Changes;
use crate::inputs::sources::Sources;

/// The changed files by their names without folders.
pub struct SourceFiles<'c> {
    changes: &'c Changes,
    sources: &'c Sources,
    by_name: BTreeMap<&'c OsStr, Vec<&'c PathBuf>>,
}

/// What is known of a source file.
#[derive(Debug, PartialEq, Eq)]
pub enum Found<'c> {
    /// It is this changed file.
    Changed(&'c PathBuf),
    /// It is none of them.
    Unchanged,
    /// It may be any of these.
    Unclear(Vec<&'c PathBuf>),
}

impl<'c> SourceFiles<'c> {
    /// The changed files, and where sources are.
    #[must_use]
    pub fn new(changes: &'c Changes, sources: &'c Sources) -> Self {
        let mut by_name = BTreeMap::<&OsStr, Vec<&PathBuf>>::new();
        for path in changes.lines.keys() {
            if let Some(name) = path.file_name() {
                by_name.entry(name).or_default().push(path);
            }
        }
        Self {
            changes,
            sources,
            by_name,
        }
    }

    /// The file of this name whose classes are in this package: the one in the folders of sources; else the changed one
    /// whose path ends like that; else, as Kotlin and Scala allow, the one that says that it is of the package.
    #[must_use]
    pub fn find(&self, package: &str, name: &str) -> Found<'c> {
        let Some(candidates) = self.by_name.get(OsStr::new(name)) else {
            return Found::Unchanged;
        };
        if let Some(within) = self.in_repository(package, name) {
            let changed = candidates.iter().find(|path| **path == &within);
            return changed.map_or(Found::Unchanged, |path| Found::Changed(path));
        }
        let place = Path::new(package).join(name);
        let so_placed = candidates
            .iter()
            .copied()
            .filter(|path| path.ends_with(&place));
        let found: Vec<&PathBuf> = so_placed.collect();
        let found = match found.is_empty() {
            true => candidates
                .iter()
                .copied()
                .filter(|path| self.declares(path, package))
                .collect(),
            false => found,
        };
        match found.as_slice() {
            [] => Found::Unchanged,
            [path] => Found::Changed(path),
            _ => Found::Unclear(found),
        }
    }

    /// The path of the file in the folders of sources, if they lie in the repository.
    fn in_repository(&self, package: &str, name: &str) -> Option<PathBuf> {
        let path = self.sources.path_of(package, name)?.canonicalize().ok()?;
        Some(path.strip_prefix(&self.changes.root).ok()?.to_owned())
    }

    fn declares(&self, path: &Path, package: &str) -> bool {
        let text = std::fs::read(self.changes.root.join(path)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let declared = text
            .lines()
            .find_map(|line| line.trim_start().strip_prefix("package "));
        let declared = declared.unwrap_or_default().trim_start();
        let end = declared.find(|char: char| !char.is_alphanumeric() && !"._$`".contains(char));
        let declared = declared
            .get(..end.unwrap_or(declared.len()))
            .unwrap_or_default();
        declared.replace('`', "").replace('.', "/") == package
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::lines::LineSet;

    #[test]
    fn files_are_found_by_sources_paths_and_packages() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("core/src/a/A.java", "package a;");
        write("web/src/a/A.java", "package a;");
        write(
            "src/main/kotlin/web/Page.kt",
            "// x\n\npackage com.acme.`web` // y\n",
        );
        let paths = [
            "core/src/a/A.java",
            "web/src/a/A.java",
            "web/src/a/B.java",
            "src/main/kotlin/web/Page.kt",
        ];
        let changes = Changes {
            range: "HEAD".into(),
            root: root.path().canonicalize().unwrap(),
            lines: paths
                .iter()
                .map(|path| (PathBuf::from(path), LineSet::default()))
                .collect(),
        };
        let path = |path: &str| changes.lines.get_key_value(Path::new(path)).unwrap().0;
        let none = Sources::default();
        let files = SourceFiles::new(&changes, &none);
        assert_eq!(
            files.find("a", "B.java"),
            Found::Changed(path("web/src/a/B.java"))
        );
        assert_eq!(files.find("b", "B.java"), Found::Unchanged);
        assert_eq!(files.find("a", "C.java"), Found::Unchanged);
        assert_eq!(
            files.find("a", "A.java"),
            Found::Unclear(vec![path(paths[0]), path(paths[1])])
        );
        assert_eq!(
            files.find("com/acme/web", "Page.kt"),
            Found::Changed(path(paths[3]))
        );
        assert_eq!(files.find("com/acme", "Page.kt"), Found::Unchanged);

        let sources = Sources::open(&[root.path().join("web/src")]).unwrap();
        let files = SourceFiles::new(&changes, &sources);
        assert_eq!(files.find("a", "A.java"), Found::Changed(path(paths[1])));
    }
}
