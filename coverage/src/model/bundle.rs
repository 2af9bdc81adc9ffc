//! Groups of classes: source files, packages and the bundle.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::counter::Counters;
use super::fragment;
use super::node::{ClassCoverage, Fragment, Lines};

/// A source file: the sum of the classes compiled from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceFileCoverage {
    /// File name without a folder, e.g. `Account.java`.
    pub name: String,
    /// Internal name of the package.
    pub package: String,
    /// Its number among several files of this package and name, from 1; 0 if the name is unique.
    pub copy: u16,
    /// All counters.
    pub counters: Counters,
    /// Lines of all classes.
    pub lines: Lines,
}

impl SourceFileCoverage {
    /// Checks whether a class of its package was compiled from it.
    #[must_use]
    pub fn holds(&self, class: &ClassCoverage) -> bool {
        class.source_file.as_ref() == Some(&self.name) && class.source_copy == self.copy
    }
}

/// A package: its source files and the classes without one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackageCoverage {
    /// Internal name, e.g. `java/util`; empty for the unnamed package.
    pub name: String,
    /// Classes, by name.
    pub classes: Vec<ClassCoverage>,
    /// Source files, by name.
    pub source_files: Vec<SourceFileCoverage>,
    /// All counters.
    pub counters: Counters,
}

/// All classes of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BundleCoverage {
    /// Title of the report.
    pub name: String,
    /// Packages, by name.
    pub packages: Vec<PackageCoverage>,
    /// All counters.
    pub counters: Counters,
}

impl BundleCoverage {
    /// Iterates over all classes, by package and name.
    pub fn classes(&self) -> impl Iterator<Item = &ClassCoverage> {
        self.packages.iter().flat_map(|package| &package.classes)
    }
}

/// A class that cannot be part of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// Two class files have the same name; a report holds one of them.
    #[error(
        "class {name} was added with id {first:016x} and now with id {second:016x}; \
         report class files of one version at a time"
    )]
    DifferentClass {
        /// Internal name of both classes.
        name: String,
        /// Id of the class added first.
        first: u64,
        /// Id of the class refused.
        second: u64,
    },
}

/// Collects classes for a [`BundleCoverage`].
#[derive(Debug, Clone, Default)]
pub struct BundleBuilder {
    classes: BTreeMap<String, ClassCoverage>,
    /// Lines of the bundle that copies in other classes execute.
    inlined: Vec<Fragment>,
}

impl BundleBuilder {
    /// Adds a class. A class with the same name and id is added once.
    ///
    /// # Errors
    /// Another class has this name; the bundle stays unchanged.
    pub fn add(&mut self, class: ClassCoverage) -> Result<(), BundleError> {
        match self.classes.entry(class.name.clone()) {
            Entry::Vacant(free) => {
                free.insert(class);
                Ok(())
            }
            Entry::Occupied(known) if known.get().id == class.id => Ok(()),
            Entry::Occupied(known) => Err(BundleError::DifferentClass {
                first: known.get().id,
                second: class.id,
                name: class.name,
            }),
        }
    }

    /// Counts the inlined lines of a class for the classes that declare them. The class itself is left out.
    pub fn add_inlined(&mut self, class: &ClassCoverage) {
        self.inlined.extend(class.fragments.iter().cloned());
    }

    /// Removes classes by their names.
    pub fn remove(&mut self, is_removed: impl Fn(&str) -> bool) {
        self.classes.retain(|name, _| !is_removed(name));
    }

    /// Checks whether a class of this name was added.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.classes.contains_key(name)
    }

    /// Returns the classes with data of another version only, by name.
    pub fn no_match(&self) -> impl Iterator<Item = &ClassCoverage> {
        self.classes.values().filter(|class| class.no_match)
    }

    /// Groups the classes.
    #[must_use]
    pub fn build(mut self, name: impl Into<String>) -> BundleCoverage {
        fragment::apply_all(&mut self.classes, self.inlined);
        let mut packages = BTreeMap::<String, Vec<ClassCoverage>>::new();
        for class in self.classes.into_values() {
            match packages.get_mut(class.package()) {
                Some(classes) => classes.push(class),
                None => drop(packages.insert(class.package().to_owned(), vec![class])),
            }
        }
        let packages: Vec<_> = packages
            .into_iter()
            .map(|(name, classes)| package(name, classes))
            .collect();
        let mut counters = Counters::default();
        packages
            .iter()
            .for_each(|package| counters += package.counters);
        BundleCoverage {
            name: name.into(),
            packages,
            counters,
        }
    }
}

fn package(name: String, classes: Vec<ClassCoverage>) -> PackageCoverage {
    let mut files = BTreeMap::<(&str, u16), SourceFileCoverage>::new();
    let mut counters = Counters::default();
    for class in &classes {
        let Some(source) = class.source_file.as_deref() else {
            counters += class.counters;
            continue;
        };
        let copy = class.source_copy;
        let file = files.entry((source, copy));
        let file = file.or_insert_with(|| SourceFileCoverage {
            name: source.to_owned(),
            package: name.clone(),
            copy,
            ..SourceFileCoverage::default()
        });
        file.lines.merge(&class.lines, &mut file.counters.line);
        file.counters.add_but_lines(&class.counters);
    }
    let source_files: Vec<_> = files.into_values().collect();
    source_files
        .iter()
        .for_each(|file| counters += file.counters);
    PackageCoverage {
        name,
        classes,
        source_files,
        counters,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Counter, MethodCoverage};

    fn class(id: u64, name: &str, source: Option<&str>, lines: &[(u32, Counter)]) -> ClassCoverage {
        let mut method = MethodCoverage::new("run", "()V", None);
        for &(line, counter) in lines {
            method.increment(counter, Counter::EMPTY, Some(line));
        }
        method.close();
        let mut class = ClassCoverage::new(id, name);
        class.source_file = source.map(str::to_owned);
        class.add_method(method);
        class
    }

    fn bundle(classes: impl IntoIterator<Item = ClassCoverage>) -> BundleCoverage {
        let mut builder = BundleBuilder::default();
        classes
            .into_iter()
            .for_each(|class| builder.add(class).unwrap());
        builder.build("all")
    }

    #[test]
    fn classes_of_one_file_share_their_lines() {
        let bundle = bundle([
            class(
                1,
                "a/B$1",
                Some("B.java"),
                &[(3, Counter::MISSED), (4, Counter::COVERED)],
            ),
            class(2, "a/B", Some("B.java"), &[(3, Counter::COVERED)]),
            class(3, "C", Some("B.java"), &[(3, Counter::MISSED)]),
        ]);
        let names: Vec<_> = bundle.classes().map(|class| class.name.as_str()).collect();
        assert_eq!(names, ["C", "a/B", "a/B$1"]);
        let file = &bundle.packages[1].source_files[0];
        assert_eq!(file.counters.line, Counter::new(0, 2));
        assert_eq!(file.counters.instruction, Counter::new(1, 2));
        assert_eq!(bundle.counters.line, Counter::new(1, 2));
        assert_eq!(bundle.counters.class, Counter::new(1, 2));
    }

    #[test]
    fn lines_of_files_with_one_name_are_separate() {
        let lines = [(3, Counter::MISSED), (4, Counter::MISSED)];
        let first = class(1, "a/B", Some("B.java"), &lines);
        let mut second = class(2, "a/C", Some("B.java"), &[(3, Counter::COVERED)]);
        second.source_copy = 2;
        let bundle = bundle([first, second]);
        let files = &bundle.packages[0].source_files;
        let counters: Vec<_> = files.iter().map(|file| file.counters.line).collect();
        assert_eq!(counters, [Counter::new(2, 0), Counter::new(0, 1)]);
        assert_eq!(bundle.counters.line, Counter::new(2, 1));
        let classes = || bundle.classes();
        let held = files
            .iter()
            .map(|file| classes().filter(|it| file.holds(it)).count());
        assert_eq!(held.collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn class_without_source_file_counts_in_its_package() {
        let bundle = bundle([class(1, "a/B", None, &[(3, Counter::COVERED)])]);
        assert!(bundle.packages[0].source_files.is_empty());
        assert_eq!(bundle.packages[0].counters.class, Counter::COVERED);
    }

    #[test]
    fn second_version_of_a_class_is_refused() {
        let mut builder = BundleBuilder::default();
        builder
            .add(class(1, "a/B", None, &[(3, Counter::COVERED)]))
            .unwrap();
        builder
            .add(class(1, "a/B", None, &[(3, Counter::COVERED)]))
            .unwrap();
        let error = builder
            .add(class(2, "a/B", None, &[(3, Counter::MISSED)]))
            .unwrap_err();
        assert_eq!(
            error,
            BundleError::DifferentClass {
                name: "a/B".into(),
                first: 1,
                second: 2
            }
        );
        assert_eq!(builder.build("x").counters.class, Counter::COVERED);
    }

    #[test]
    fn class_without_code_is_listed_without_counters() {
        let bundle = bundle([ClassCoverage::new(1, "a/Marker")]);
        assert_eq!(bundle.packages[0].classes.len(), 1);
        assert_eq!(bundle.counters, Counters::default());
    }
}
