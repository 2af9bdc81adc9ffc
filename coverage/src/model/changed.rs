//! A bundle restricted to some lines of its source files, such as the lines of a change.

use super::bundle::{BundleBuilder, BundleCoverage};
use super::counter::Counter;
use super::node::{ClassCoverage, MethodCoverage};

/// The changed lines of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// Range of revisions, as the user wrote it.
    pub range: String,
    /// Name of the report.
    pub name: String,
    /// Bundles of the report that count only these lines.
    pub bundles: Vec<BundleCoverage>,
    /// Paths of the source files of the bundles, in the same order.
    pub paths: Vec<String>,
    /// Sentences about changed files that the report does not contain.
    pub notes: Vec<String>,
}

impl BundleCoverage {
    /// Returns a bundle with the lines for which `keeps` (class with a source file, line number) holds, and with the
    /// methods and classes of these lines.
    ///
    /// Methods and classes count as covered if one of these lines is. Complexity is not counted: the relation between
    /// decisions of a line is unknown.
    #[must_use]
    pub fn of_lines(&self, keeps: impl Fn(&ClassCoverage, u32) -> bool) -> Self {
        let mut builder = BundleBuilder::default();
        for class in self.classes() {
            if class.source_file.is_none() {
                continue;
            }
            let kept = restricted(class, |line| keeps(class, line));
            if kept.contains_code() {
                // The names come from a bundle, so they are unique.
                let _ = builder.add(kept);
            }
        }
        builder.build(self.name.clone())
    }
}

fn restricted(class: &ClassCoverage, keeps: impl Fn(u32) -> bool) -> ClassCoverage {
    let mut kept = ClassCoverage {
        signature: class.signature.clone(),
        super_name: class.super_name.clone(),
        interfaces: class.interfaces.clone(),
        source_file: class.source_file.clone(),
        source_copy: class.source_copy,
        no_match: class.no_match,
        carried_over: class.carried_over,
        ..ClassCoverage::new(class.id, class.name.as_str())
    };
    for method in &class.methods {
        let mut part = MethodCoverage::new(
            method.name.as_str(),
            method.descriptor.as_str(),
            method.signature.clone(),
        );
        for (number, line) in method.lines.iter().filter(|(number, _)| keeps(*number)) {
            part.increment(line.instructions, line.branches, Some(number));
            if let Some(times) = method.lines.begun(number) {
                part.lines.count(number, times);
            }
        }
        let decisions = method.decisions.iter().filter(|(line, _)| keeps(*line));
        part.decisions = decisions.cloned().collect();
        part.close();
        part.counters.complexity = Counter::EMPTY;
        kept.add_method(part);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_these_lines_count() {
        let method = |name: &str, lines: &[(u32, Counter, Counter)]| {
            let mut method = MethodCoverage::new(name, "()V", None);
            for &(line, instructions, branches) in lines {
                method.increment(instructions, branches, Some(line));
            }
            method.close();
            method
        };
        let (covered, missed, none) = (Counter::COVERED, Counter::MISSED, Counter::EMPTY);
        let mut class = ClassCoverage::new(1, "a/B");
        class.source_file = Some("B.java".into());
        class.add_method(method(
            "one",
            &[(3, covered, Counter::new(1, 1)), (4, missed, none)],
        ));
        class.add_method(method("two", &[(7, missed, none), (8, covered, none)]));
        class.add_method(method("three", &[(9, covered, none)]));
        let mut unknown = ClassCoverage::new(2, "a/C");
        unknown.add_method(method("run", &[(3, covered, none)]));
        let mut builder = BundleBuilder::default();
        builder.add(class).unwrap();
        builder.add(unknown).unwrap();
        let all = builder.build("x");

        let kept = all.of_lines(|class, line| {
            let file = class.source_file.as_deref();
            (class.package(), file) == ("a", Some("B.java")) && [3, 4, 7].contains(&line)
        });
        assert_eq!(kept.classes().count(), 1);
        let counters = kept.counters;
        assert_eq!(counters.line, Counter::new(2, 1));
        assert_eq!(counters.branch, Counter::new(1, 1));
        assert_eq!(counters.method, Counter::new(1, 1));
        assert_eq!(counters.class, Counter::COVERED);
        assert_eq!(counters.complexity, Counter::EMPTY);
        assert_eq!(kept.packages[0].source_files[0].lines.len(), 3);
        assert_eq!(all.of_lines(|_, _| false).packages, []);
    }
}
