//! File names of the report: valid in any file system and in any URL.

use std::collections::{HashMap, HashSet};

use crate::model::{BundleCoverage, ClassCoverage, PackageCoverage};
use crate::report::names;

/// Maximum length of the kept part of a name.
const LONGEST: usize = 120;

/// The pages of packages, classes and source files.
pub(super) struct Links<'a> {
    folders: HashMap<&'a str, String>,
    classes: HashMap<&'a str, String>,
    sources: HashMap<&'a str, HashMap<File<'a>, String>>,
}

/// Name of a source file, and its copy number.
type File<'a> = (&'a str, u16);

impl<'a> Links<'a> {
    pub(super) fn new(bundle: &'a BundleCoverage) -> Self {
        let mut links = Self {
            folders: HashMap::new(),
            classes: HashMap::new(),
            sources: HashMap::new(),
        };
        let mut folders = HashSet::new();
        for package in &bundle.packages {
            let name = names::package(&package.name);
            links
                .folders
                .insert(&package.name, unique("pkg/", &name, "", &mut folders));
            let mut files = HashSet::new();
            let mut sources = HashMap::new();
            for source in &package.source_files {
                let file = unique("src-", &source.name, ".html", &mut files);
                sources.insert((source.name.as_str(), source.copy), file);
            }
            links.add_classes(package, &sources, &mut files);
            links.sources.insert(&package.name, sources);
        }
        links
    }

    /// Adds the classes: a class is part of its source file's page, or has its own page if it has no source file.
    fn add_classes(
        &mut self,
        package: &'a PackageCoverage,
        sources: &HashMap<File<'a>, String>,
        files: &mut HashSet<String>,
    ) {
        let mut of_file = HashMap::<File<'_>, usize>::new();
        let file_of = |class: &'a ClassCoverage| {
            let name = class.source_file.as_deref();
            name.map(|name| (name, class.source_copy))
        };
        let with_code = package.classes.iter();
        let with_code = with_code.filter(|class| class.contains_code());
        for file in with_code.filter_map(file_of) {
            *of_file.entry(file).or_default() += 1;
        }
        let mut anchors = HashSet::new();
        for class in &package.classes {
            let file = file_of(class);
            let page = file.and_then(|file| Some((sources.get(&file)?, of_file.get(&file))));
            let link = match page {
                None => unique("class-", class.simple_name(), ".html", files),
                Some((page, Some(1))) => page.clone(),
                Some((page, _)) => {
                    let anchor = unique("c-", class.simple_name(), "", &mut anchors);
                    format!("{page}#{anchor}")
                }
            };
            self.classes.insert(&class.name, link);
        }
    }

    /// Returns the folder of a package, relative to the report's root.
    pub(super) fn folder(&self, package: &PackageCoverage) -> &str {
        self.folders
            .get(package.name.as_str())
            .map_or("", String::as_str)
    }

    /// Returns the page of a class with its anchor, in the folder of its package.
    pub(super) fn class(&self, class: &ClassCoverage) -> &str {
        self.classes
            .get(class.name.as_str())
            .map_or("", String::as_str)
    }

    /// Returns the page of a source file, in the folder of its package.
    pub(super) fn source<'s>(
        &'s self,
        package: &PackageCoverage,
        file: &'s str,
        copy: u16,
    ) -> &'s str {
        let files = self.sources.get(package.name.as_str());
        files
            .and_then(|files| files.get(&(file, copy)))
            .map_or("", String::as_str)
    }
}

/// Returns an unused name, also for file systems that ignore case.
pub(super) fn unique(
    prefix: &str,
    name: &str,
    suffix: &str,
    taken: &mut HashSet<String>,
) -> String {
    let safe: String = name
        .chars()
        .take(LONGEST)
        .map(|c| if is_safe(c) { c } else { '_' })
        .collect();
    let base = if safe.starts_with('.') {
        format!("_{safe}")
    } else {
        safe
    };
    let mut candidate = format!("{prefix}{base}{suffix}");
    let mut number = 2;
    while !taken.insert(candidate.to_ascii_lowercase()) {
        candidate = format!("{prefix}{base}~{number}{suffix}");
        number += 1;
    }
    candidate
}

fn is_safe(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_case_or_hidden_letters_have_separate_pages() {
        let mut taken = HashSet::new();
        let mut name = |name| unique("class-", name, ".html", &mut taken);
        assert_eq!(name("a"), "class-a.html");
        assert_eq!(name("A"), "class-A~2.html");
        assert_eq!(name("../x\"é"), "class-_.._x__.html");
        assert_eq!(name("../x'é"), "class-_.._x__~2.html");
        assert!(name(&"x".repeat(400)).len() < 140);
    }
}
