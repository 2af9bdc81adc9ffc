//! The lines of a report that each test executes: `--per-test`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::OnceLock;

use class_description::{Arena, describe_as};
use coverage::analysis::analyze_as;
use coverage::filter::Counting;
use coverage::model::{BundleBuilder, BundleCoverage, ClassCoverage};
use coverage::report::per_test::{Test, Tests};
use coverage_inputs::execution_data::ExecutionDataStore;
use errors::{Warning, Warnings, codes};
use probes::TestHits;
use trace::numbers::counted;

use crate::inlining;
use crate::test_coverage::{cut_off, flags, incomplete, missing_tests};

/// A source file: package, name, and its number among several of this name.
type File<'a> = (&'a str, &'a str, u16);

/// The tests of a recording, for a report of some bundles.
pub struct ReportTests<'a> {
    recorded: &'a ExecutionDataStore,
    /// The bundles with all of their lines.
    bundles: &'a [BundleCoverage],
    /// The bundles with the changed lines alone, if the report is limited to them.
    changed: Option<&'a [BundleCoverage]>,
    tests: Vec<Test>,
    /// The hits of each test, as indices in [`ExecutionDataStore::tests`].
    hits: Vec<Vec<usize>>,
    modules: Vec<ModuleIndex<'a>>,
    counting: Counting,
    /// The class files by class number, inflated on demand.
    bytes: Vec<OnceLock<Option<Vec<u8>>>>,
}

/// The classes of a module.
#[derive(Default)]
struct ModuleIndex<'a> {
    by_number: HashMap<usize, &'a ClassCoverage>,
    files: BTreeMap<File<'a>, Vec<&'a ClassCoverage>>,
    file_of: HashMap<&'a str, File<'a>>,
}

impl<'a> ModuleIndex<'a> {
    fn new(bundle: &'a BundleCoverage, numbers: &HashMap<u64, usize>) -> Self {
        let mut module = Self::default();
        for class in bundle.classes() {
            let is_known = !class.no_match && class.carried_over.is_none();
            if let Some(number) = numbers.get(&class.id).filter(|_| is_known) {
                module.by_number.insert(*number, class);
            }
            if let Some(source) = class.source_file.as_deref() {
                let file = (class.package(), source, class.source_copy);
                module.files.entry(file).or_default().push(class);
                module.file_of.insert(&class.name, file);
            }
        }
        module
    }
}

/// Hit probes and begun lines, by the number of their class.
type Hits = BTreeMap<usize, (BTreeSet<u32>, BTreeSet<u32>)>;

impl<'a> ReportTests<'a> {
    /// Finds the tests of the recording. Without tests it warns and returns nothing.
    #[must_use]
    pub fn new(
        recorded: &'a ExecutionDataStore,
        bundles: &'a [BundleCoverage],
        changed: Option<&'a [BundleCoverage]>,
        counting: Counting,
        warnings: &mut Warnings,
    ) -> Option<Self> {
        let mut numbers = BTreeMap::<&str, (Vec<usize>, bool)>::new();
        for (number, hits) in recorded.tests.iter().enumerate() {
            for test in &hits.tests {
                let (places, is_together) = numbers.entry(test).or_default();
                places.push(number);
                *is_together |= hits.tests.len() > 1;
            }
        }
        if numbers.is_empty() {
            let (message, help) = missing_tests();
            let warning = Warning::new(codes::H0690, message).with("help", help);
            warnings.add(warning.of_missing());
            return None;
        }
        if recorded.tests_cut_off {
            warnings.add(cut_off());
        }
        let classes = recorded.classes.iter().enumerate();
        let by_id: HashMap<u64, usize> =
            classes.map(|(number, class)| (class.id, number)).collect();
        let modules = bundles
            .iter()
            .map(|bundle| ModuleIndex::new(bundle, &by_id));
        let test = |(name, (_, is_together)): (&&str, &(_, bool))| Test {
            name: (*name).to_owned(),
            is_together: *is_together,
        };
        let tests = Self {
            recorded,
            bundles,
            changed,
            counting,
            modules: modules.collect(),
            tests: numbers.iter().map(test).collect(),
            hits: numbers.into_values().map(|(places, _)| places).collect(),
            bytes: recorded.classes.iter().map(|_| OnceLock::new()).collect(),
        };
        warnings.extend(tests.without_class_file());
        Some(tests)
    }

    /// Returns the warning about classes whose class files no snapshot holds.
    fn without_class_file(&self) -> Option<Warning> {
        let all = self.recorded.tests.iter().flat_map(|test| &test.classes);
        let hit: BTreeSet<usize> = all.map(|(number, _)| *number).collect();
        let mut missing = hit.into_iter().filter(|number| {
            let class = self.recorded.classes.get(*number);
            let is_reported = |module: &ModuleIndex<'_>| module.by_number.contains_key(number);
            class.is_some_and(|class| class.bytes.is_none()) && self.modules.iter().any(is_reported)
        });
        let first = self.recorded.classes.get(missing.next()?)?;
        let found = format!(
            "{} whose class files are not in the snapshots, {} for example",
            counted(missing.count() + 1, "class"),
            jvms::names::binary(&first.name)
        );
        Some(incomplete().with("found", found))
    }

    fn bytes(&self, number: usize) -> Option<&[u8]> {
        let inflate = || {
            let class = self.recorded.classes.get(number)?;
            class.bytes.as_ref()?.inflate().ok()
        };
        self.bytes.get(number)?.get_or_init(inflate).as_deref()
    }

    /// Analyses a class of the report with these hits. Returns nothing without its class file.
    fn analysed(
        &self,
        number: usize,
        reported: &ClassCoverage,
        arena: &mut Arena,
        hits: Option<&(BTreeSet<u32>, BTreeSet<u32>)>,
    ) -> Option<ClassCoverage> {
        let class = self.recorded.classes.get(number)?;
        let (probes, lines) =
            hits.map_or((None, None), |(probes, lines)| (Some(probes), Some(lines)));
        let probes = flags(probes.into_iter().flatten(), class.probes.len())?;
        let begun = self.recorded.begun_lines(class.id).len();
        let lines = flags(lines.into_iter().flatten(), begun)?;
        arena.reset();
        let description = describe_as(class.id, self.bytes(number)?, arena).ok()?;
        let mut coverage = analyze_as(self.counting, &description, Some(&probes), &lines).ok()?;
        coverage.source_copy = reported.source_copy;
        let kept: HashSet<(&str, &str)> = reported
            .methods
            .iter()
            .map(|method| (method.name.as_str(), method.descriptor.as_str()))
            .collect();
        coverage.remove_methods(|method| !kept.contains(&(&method.name, &method.descriptor)));
        Some(coverage)
    }

    /// Returns the executed files of a module, with all of their classes.
    fn bundle(&self, module: usize, hits: &Hits, arena: &mut Arena) -> BundleCoverage {
        let (name, of) = (&self.bundles[module].name, &self.modules[module]);
        let mut files = BTreeSet::new();
        let mut executed = HashMap::new();
        let mut inlining = Vec::new();
        for (number, hits) in hits {
            let Some(reported) = of.by_number.get(number) else {
                inlining.extend(self.inlining(*number, hits));
                continue;
            };
            let Some(class) = self.analysed(*number, reported, arena, Some(hits)) else {
                continue;
            };
            let names = class.inlined_from().chain([class.name.as_str()]);
            files.extend(names.filter_map(|name| of.file_of.get(name)));
            executed.insert(class.name.clone(), class);
        }
        let names = inlining.iter().flat_map(ClassCoverage::inlined_from);
        files.extend(names.filter_map(|name| of.file_of.get(name)));
        let numbers: HashMap<&str, usize> = of
            .by_number
            .iter()
            .map(|(number, class)| (class.name.as_str(), *number))
            .collect();
        let mut builder = BundleBuilder::default();
        for reported in files.iter().filter_map(|file| of.files.get(file)).flatten() {
            let class = executed.remove(reported.name.as_str()).or_else(|| {
                let number = numbers.get(reported.name.as_str())?;
                self.analysed(*number, reported, arena, None)
            });
            // A bundle has each name once, so adding cannot fail.
            let _ = class.map(|class| builder.add(class));
        }
        inlining.iter().for_each(|class| builder.add_inlined(class));
        self.limited(module, builder.build(name.as_str()))
    }

    /// Analyses a class outside of the module that executes lines of others with these hits.
    fn inlining(
        &self,
        number: usize,
        (probes, lines): &(BTreeSet<u32>, BTreeSet<u32>),
    ) -> Option<ClassCoverage> {
        if self.counting == Counting::Jacoco {
            return None;
        }
        let class = self.recorded.classes.get(number)?;
        let probes = flags(probes, class.probes.len())?;
        let lines = flags(lines, self.recorded.begun_lines(class.id).len())?;
        inlining::analysed(class, Some(&probes), &lines)
    }

    /// Restricts a bundle to the lines of the report.
    fn limited(&self, module: usize, bundle: BundleCoverage) -> BundleCoverage {
        let Some(changed) = self.changed.and_then(|changed| changed.get(module)) else {
            return bundle;
        };
        let packages = changed.packages.iter();
        let files: HashMap<File<'_>, _> = packages
            .flat_map(|package| &package.source_files)
            .map(|file| {
                let name = (file.package.as_str(), file.name.as_str(), file.copy);
                (name, &file.lines)
            })
            .collect();
        bundle.of_lines(|class, line| {
            let file = class.source_file.as_deref().unwrap_or_default();
            let lines = files.get(&(class.package(), file, class.source_copy));
            lines.is_some_and(|lines| lines.line(line).is_some())
        })
    }

    /// Unites these hits by class.
    fn united(&self, places: impl Iterator<Item = usize>) -> Hits {
        let mut united = Hits::new();
        for place in places {
            for (number, probes) in classes_of(self.recorded.tests.get(place)) {
                united.entry(*number).or_default().0.extend(probes);
            }
            for (number, lines) in classes_of(self.recorded.test_lines.get(place)) {
                united.entry(*number).or_default().1.extend(lines);
            }
        }
        united
    }

    /// Returns the hits outside of tests, including those that tests have as well.
    fn hit_outside(&self) -> Hits {
        let tests = self.recorded.tests.iter().enumerate();
        let (in_tests, outside): (Vec<_>, Vec<_>) =
            tests.partition(|(_, hits)| !hits.tests.is_empty());
        let in_tests = self.united(in_tests.into_iter().map(|(place, _)| place));
        let mut outside = self.united(outside.into_iter().map(|(place, _)| place));
        for (number, class) in self.recorded.classes.iter().enumerate() {
            let (probes, lines) = outside.entry(number).or_default();
            let known = in_tests.get(&number);
            let others = |all: &[bool], known: Option<&BTreeSet<u32>>| -> Vec<u32> {
                let hit = all.iter().zip(0..).filter(|(hit, _)| **hit);
                let unknown = |place: &u32| known.is_none_or(|known| !known.contains(place));
                hit.map(|(_, place)| place).filter(unknown).collect()
            };
            probes.extend(others(&class.probes, known.map(|(probes, _)| probes)));
            let begun = self.recorded.begun_lines(class.id);
            lines.extend(others(begun, known.map(|(_, lines)| lines)));
        }
        outside
    }
}

fn classes_of(hits: Option<&TestHits>) -> impl Iterator<Item = &(usize, Vec<u32>)> {
    hits.into_iter().flat_map(|hits| &hits.classes)
}

impl Tests for ReportTests<'_> {
    fn tests(&self) -> &[Test] {
        &self.tests
    }

    fn executed(&self, number: usize) -> Vec<BundleCoverage> {
        let places = self.hits.get(number).into_iter().flatten().copied();
        let hits = self.united(places);
        let mut arena = Arena::new();
        let modules = 0..self.bundles.len();
        modules
            .map(|module| self.bundle(module, &hits, &mut arena))
            .collect()
    }

    fn outside(&self) -> Vec<BundleCoverage> {
        let hits = self.hit_outside();
        let mut arena = Arena::new();
        let bundles = self.bundles.iter().zip(&self.modules).enumerate();
        let bundles = bundles.map(|(module, (bundle, of))| {
            let mut known: HashMap<&str, usize> = HashMap::new();
            known.extend(
                of.by_number
                    .iter()
                    .map(|(number, class)| (class.name.as_str(), *number)),
            );
            let mut builder = BundleBuilder::default();
            for reported in bundle.classes() {
                let number = known.get(reported.name.as_str());
                let class = number.and_then(|number| {
                    self.analysed(*number, reported, &mut arena, hits.get(number))
                });
                // Without a class file, its hits belong to no test.
                let _ = builder.add(class.unwrap_or_else(|| reported.clone()));
            }
            for (number, hits) in &hits {
                if !of.by_number.contains_key(number)
                    && let Some(class) = self.inlining(*number, hits)
                {
                    builder.add_inlined(&class);
                }
            }
            self.limited(module, builder.build(bundle.name.as_str()))
        });
        bundles.collect()
    }
}
