//! Maps tests to the lines that they executed.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use super::processors;
use crate::model::{BundleCoverage, SourceFileCoverage};

/// An identified test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Test {
    /// Its name: `com.acme.SumTest#adds`, or the class for code that its tests share.
    pub name: String,
    /// Set if other tests ran at the same time, so that some of its lines may be theirs.
    pub is_together: bool,
}

/// The coverage of single tests.
///
/// A bundle here holds, for one module of the report, all classes of those source files that the test executed.
pub trait Tests: Sync {
    /// Returns the tests, ordered by name.
    fn tests(&self) -> &[Test];

    /// Returns the coverage of the test with this number: a bundle for each module.
    fn executed(&self, number: usize) -> Vec<BundleCoverage>;

    /// Returns the coverage outside tests: a bundle for each module, with all source files of the report.
    fn outside(&self) -> Vec<BundleCoverage>;
}

/// The tests that executed a line.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineTests {
    /// Test numbers, ascending.
    pub tests: Vec<u32>,
    /// `true` if the line was executed outside tests, too.
    pub is_outside: bool,
}

/// The tests of the lines of a source file.
pub type FileTests = BTreeMap<u32, LineTests>;

/// The source files of a module, by package, name, and copy number.
type ModuleTests = HashMap<(String, String, u16), FileTests>;

/// The tests of a report, by test and by line.
pub struct PerTest<'a> {
    /// The coverage of each test.
    pub tests: &'a dyn Tests,
    modules: Vec<ModuleTests>,
}

impl<'a> PerTest<'a> {
    /// Reads the coverage of each test and collects the tests of each line.
    #[must_use]
    pub fn new(tests: &'a dyn Tests) -> Self {
        let modules = Mutex::new(Vec::<ModuleTests>::new());
        let add = |bundles: Vec<BundleCoverage>, add: &dyn Fn(&mut LineTests)| {
            let mut modules = modules.lock().unwrap_or_else(PoisonError::into_inner);
            for (number, bundle) in bundles.iter().enumerate() {
                if modules.len() <= number {
                    modules.push(ModuleTests::new());
                }
                add_executed(&mut modules[number], bundle, add);
            }
        };
        add(tests.outside(), &|line| line.is_outside = true);
        let result = processors::share(tests.tests().len(), &|number| {
            let test = u32::try_from(number).unwrap_or(u32::MAX);
            add(tests.executed(number), &|line| line.tests.push(test));
            Ok(())
        });
        debug_assert!(result.is_ok(), "no part fails");
        let mut modules = modules.into_inner().unwrap_or_else(PoisonError::into_inner);
        let files = modules.iter_mut().flat_map(HashMap::values_mut);
        let lines = files.flat_map(BTreeMap::values_mut);
        lines.for_each(|line| line.tests.sort_unstable());
        Self { tests, modules }
    }

    /// Returns the test with this number.
    #[must_use]
    pub fn test(&self, number: u32) -> Option<&'a Test> {
        self.tests.tests().get(number as usize)
    }

    /// Returns the tests of a source file in the module with this number.
    #[must_use]
    pub fn of_file(&self, module: usize, file: &SourceFileCoverage) -> Option<&FileTests> {
        self.modules.get(module)?.get(&key(file))
    }
}

impl std::fmt::Debug for PerTest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PerTest")
            .field("modules", &self.modules)
            .finish_non_exhaustive()
    }
}

fn key(file: &SourceFileCoverage) -> (String, String, u16) {
    (file.package.clone(), file.name.clone(), file.copy)
}

/// Updates the entry of each line that the bundle executed.
fn add_executed(files: &mut ModuleTests, bundle: &BundleCoverage, change: &dyn Fn(&mut LineTests)) {
    let packages = bundle.packages.iter();
    for file in packages.flat_map(|package| &package.source_files) {
        let lines = files.entry(key(file)).or_default();
        let executed = file.lines.of_source();
        for (number, _) in executed.filter(|(_, line)| line.instructions.covered > 0) {
            change(lines.entry(number).or_default());
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::{BundleBuilder, MethodCoverage};
    use crate::report::{NoSources, Report, fixture};
    use std::io;

    /// Tests of the account: all of them withdraw, the first three successfully, and the constructor ran outside
    /// tests.
    pub(crate) struct Withdrawals(pub(crate) Vec<Test>);

    impl Withdrawals {
        pub(crate) fn new(count: usize) -> Self {
            let test = |number| Test {
                name: format!("bank.AccountTest#withdraws<{number:04}>"),
                is_together: number == 1,
            };
            Self((0..count).map(test).collect())
        }
    }

    /// Writes a report of a bundle with this number of tests.
    pub(crate) fn written(
        bundle: &BundleCoverage,
        tests: usize,
        write: impl Fn(&Report<'_>, &mut Vec<u8>) -> io::Result<()>,
    ) -> String {
        let tests = Withdrawals::new(tests);
        let per_test = PerTest::new(&tests);
        let report = Report {
            per_test: Some(&per_test),
            ..Report::of_bundle(bundle, &NoSources, &[])
        };
        let mut bytes = Vec::new();
        write(&report, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn bundles(methods: Vec<MethodCoverage>) -> Vec<BundleCoverage> {
        let class = fixture::class("bank/Account", Some("Account.java"), methods);
        let mut builder = BundleBuilder::default();
        builder.add(class).unwrap();
        vec![builder.build("The <bank>")]
    }

    fn constructor(covered: u32) -> MethodCoverage {
        let missed = 1 - covered;
        let rows = &[
            (3 * missed, 3 * covered, 0, 0, 5),
            (missed, covered, 0, 0, 6),
        ];
        fixture::method("<init>", "(Ljava/lang/String;)V", rows)
    }

    impl Tests for Withdrawals {
        fn tests(&self) -> &[Test] {
            &self.0
        }

        fn executed(&self, number: usize) -> Vec<BundleCoverage> {
            let last = u32::from(number < 3);
            let rows = &[
                (0, 4, 1, 1, 9),
                (3, 0, 0, 0, 10),
                (5 - 5 * last, 5 * last, 2 - 2 * last, 2 * last, 12),
            ];
            let withdraw = fixture::method("withdraw", "(J)Z", rows);
            bundles(vec![constructor(0), withdraw])
        }

        fn outside(&self) -> Vec<BundleCoverage> {
            let rows = &[(4, 0, 2, 0, 9), (3, 0, 0, 0, 10), (5, 0, 2, 0, 12)];
            let withdraw = fixture::method("withdraw", "(J)Z", rows);
            let close = fixture::method("close", "()V", &[(6, 0, 4, 0, 16), (1, 0, 0, 0, 17)]);
            bundles(vec![constructor(1), withdraw, close])
        }
    }

    #[test]
    fn lines_have_the_tests_that_executed_them() {
        let tests = Withdrawals::new(40);
        let per_test = PerTest::new(&tests);
        let account = SourceFileCoverage {
            name: "Account.java".to_owned(),
            package: "bank".to_owned(),
            ..SourceFileCoverage::default()
        };
        let lines = per_test.of_file(0, &account).unwrap();
        let of = |line: u32| {
            lines
                .get(&line)
                .map(|line| (line.tests.len(), line.is_outside))
        };
        assert_eq!(of(5), Some((0, true)));
        assert_eq!(of(9), Some((40, false)));
        assert_eq!(of(10), None);
        assert_eq!(lines[&12].tests, [0, 1, 2]);
        assert_eq!(per_test.of_file(1, &account), None);
        assert!(per_test.test(1).unwrap().is_together && per_test.test(40).is_none());
    }
}
