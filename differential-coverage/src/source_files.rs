//! Assigns changed files to the classes that were compiled from them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use coverage_inputs::sources::{Sources, declares};

use super::git::Changes;
use super::lines::LineSet;

/// The changed files by their names without folders.
pub struct SourceFiles<'c, 's> {
    changes: &'c Changes,
    sources: &'s Sources,
    by_name: BTreeMap<&'c OsStr, Vec<(&'c PathBuf, &'c LineSet)>>,
}

/// Search result for a source file.
#[derive(Debug, PartialEq, Eq)]
pub enum SourceMatch<'c> {
    /// This changed file, with these lines.
    Changed(&'c PathBuf, &'c LineSet),
    /// No changed file.
    Unchanged,
    /// The class may come from each of the listed changed files.
    Unclear(Vec<&'c PathBuf>),
}

impl<'c, 's> SourceFiles<'c, 's> {
    /// Indexes the changed files by name.
    #[must_use]
    pub fn new(changes: &'c Changes, sources: &'s Sources) -> Self {
        let mut by_name = BTreeMap::<&OsStr, Vec<(&PathBuf, &LineSet)>>::new();
        for (path, lines) in &changes.lines {
            if let Some(name) = path.file_name() {
                by_name.entry(name).or_default().push((path, lines));
            }
        }
        Self {
            changes,
            sources,
            by_name,
        }
    }

    /// Finds the changed file of this name for classes of this package. The folders of sources
    /// decide first, then the end of the path, and then the package declaration in the file, as
    /// Kotlin and Scala allow.
    #[must_use]
    pub fn find(&self, package: &str, name: &str, copy: u16) -> SourceMatch<'c> {
        let Some(candidates) = self.by_name.get(OsStr::new(name)) else {
            return SourceMatch::Unchanged;
        };
        let those = |wanted: &dyn Fn(&Path) -> bool| {
            let found = candidates.iter().filter(|(path, _)| wanted(path));
            found.copied().collect::<Vec<_>>()
        };
        let found = match self.in_repository(package, name, copy) {
            Some(within) => those(&|path| path == within),
            None => {
                let place = Path::new(package).join(name);
                let so_placed = those(&|path| path.ends_with(&place));
                match so_placed.is_empty() {
                    true => those(&|path| declares(&self.changes.root.join(path), package)),
                    false => so_placed,
                }
            }
        };
        match found.as_slice() {
            [] => SourceMatch::Unchanged,
            [(path, lines)] => SourceMatch::Changed(path, lines),
            _ => SourceMatch::Unclear(found.into_iter().map(|(path, _)| path).collect()),
        }
    }

    /// Returns the path of the file in the folders of sources, if these belong to the repository.
    fn in_repository(&self, package: &str, name: &str, copy: u16) -> Option<PathBuf> {
        let path = self
            .sources
            .path_of(package, name, copy)?
            .canonicalize()
            .ok()?;
        Some(path.strip_prefix(&self.changes.root).ok()?.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            uncommitted: std::collections::BTreeSet::new(),
        };
        let path = |path: &str| changes.lines.get_key_value(Path::new(path)).unwrap().0;
        let empty = LineSet::default();
        let changed = |of: &str| SourceMatch::Changed(path(of), &empty);
        let none = Sources::default();
        let files = SourceFiles::new(&changes, &none);
        assert_eq!(files.find("a", "B.java", 0), changed("web/src/a/B.java"));
        assert_eq!(files.find("b", "B.java", 0), SourceMatch::Unchanged);
        assert_eq!(files.find("a", "C.java", 0), SourceMatch::Unchanged);
        assert_eq!(
            files.find("a", "A.java", 0),
            SourceMatch::Unclear(vec![path(paths[0]), path(paths[1])])
        );
        assert_eq!(files.find("com/acme/web", "Page.kt", 0), changed(paths[3]));
        assert_eq!(files.find("com/acme", "Page.kt", 0), SourceMatch::Unchanged);

        let sources = Sources::open(&[root.path().join("web/src")]).unwrap();
        let files = SourceFiles::new(&changes, &sources);
        assert_eq!(files.find("a", "A.java", 0), changed(paths[1]));
    }
}
