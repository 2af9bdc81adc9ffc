//! Rules of JaCoCo's `check`: limits of counters, for each element of some kind and name.

use coverage::model::{BundleCoverage, Counter, CounterKind, Counters};
use coverage::report::names;
use globs::Glob;
use jvms::names::binary;

use super::decimal::{Decimal, Rounding};
use super::wildcards;

/// Kind of the elements that a rule checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// All classes together, or each module.
    Bundle,
    /// Each package.
    Package,
    /// Each class.
    Class,
    /// Each source file.
    SourceFile,
    /// Each method.
    Method,
}

impl Element {
    /// All kinds, with their names in JaCoCo's XML.
    pub const ALL: [(&'static str, Self); 5] = [
        ("BUNDLE", Self::Bundle),
        ("PACKAGE", Self::Package),
        ("CLASS", Self::Class),
        ("SOURCEFILE", Self::SourceFile),
        ("METHOD", Self::Method),
    ];

    fn shown(self) -> &'static str {
        match self {
            Self::Bundle => "bundle",
            Self::Package => "package",
            Self::Class => "class",
            Self::SourceFile => "source file",
            Self::Method => "method",
        }
    }
}

/// Selects elements by name.
#[derive(Debug, Clone)]
pub enum Names {
    /// Globs over names, as in selectors.
    Globs {
        /// Included names; an empty list includes all.
        include: Vec<Glob>,
        /// Excluded names.
        exclude: Vec<Glob>,
    },
    /// JaCoCo's wildcards over names, as JaCoCo displays them.
    Wildcards {
        /// Included names; an empty list includes all.
        include: Vec<String>,
        /// Excluded names.
        exclude: Vec<String>,
    },
}

/// The limited value of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// All items.
    TotalCount,
    /// Missed items.
    MissedCount,
    /// Covered items.
    CoveredCount,
    /// Ratio of missed items.
    MissedRatio,
    /// Ratio of covered items.
    CoveredRatio,
}

impl Value {
    /// All values, with their names in JaCoCo's XML.
    pub const ALL: [(&'static str, Self); 5] = [
        ("TOTALCOUNT", Self::TotalCount),
        ("MISSEDCOUNT", Self::MissedCount),
        ("COVEREDCOUNT", Self::CoveredCount),
        ("MISSEDRATIO", Self::MissedRatio),
        ("COVEREDRATIO", Self::CoveredRatio),
    ];

    /// Checks whether the value is a ratio from 0 to 1.
    #[must_use]
    pub fn is_ratio(self) -> bool {
        matches!(self, Self::MissedRatio | Self::CoveredRatio)
    }

    fn shown(self) -> &'static str {
        match self {
            Self::TotalCount => "total count",
            Self::MissedCount => "missed count",
            Self::CoveredCount => "covered count",
            Self::MissedRatio => "missed ratio",
            Self::CoveredRatio => "covered ratio",
        }
    }

    /// Computes the value of a counter. An empty counter has no ratio.
    fn of(self, counter: Counter) -> Option<Decimal> {
        let ratio = |part: u32| {
            let total = f64::from(counter.total());
            (counter.total() > 0).then(|| Decimal::from(f64::from(part) / total))
        };
        match self {
            Self::TotalCount => Some(Decimal::from(counter.total())),
            Self::MissedCount => Some(Decimal::from(counter.missed)),
            Self::CoveredCount => Some(Decimal::from(counter.covered)),
            Self::MissedRatio => ratio(counter.missed),
            Self::CoveredRatio => ratio(counter.covered),
        }
    }
}

/// Minimum and maximum of a counter's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The counter.
    pub counter: CounterKind,
    /// The limited value.
    pub value: Value,
    /// Smallest allowed value.
    pub minimum: Option<Decimal>,
    /// Largest allowed value.
    pub maximum: Option<Decimal>,
}

impl Limit {
    /// Describes a violation in JaCoCo's words, if the limit is violated.
    fn violation(&self, counters: &Counters) -> Option<String> {
        let found = self.value.of(counters.of(self.counter))?;
        let wrong = |bound: &Decimal, which, rounding| {
            let counter = shown(self.counter);
            let value = self.value.shown();
            let found = found.rounded_as(bound, rounding);
            format!("{counter} {value} is {found}, but expected {which} is {bound}")
        };
        match (&self.minimum, &self.maximum) {
            (Some(least), _) if found < *least => Some(wrong(least, "minimum", Rounding::Floor)),
            (_, Some(most)) if found > *most => Some(wrong(most, "maximum", Rounding::Ceiling)),
            _ => None,
        }
    }
}

fn shown(counter: CounterKind) -> &'static str {
    match counter {
        CounterKind::Instruction => "instructions",
        CounterKind::Branch => "branches",
        CounterKind::Line => "lines",
        CounterKind::Complexity => "complexity",
        CounterKind::Method => "methods",
        CounterKind::Class => "classes",
    }
}

/// Limits for each element of a kind and name.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Kind of the elements.
    pub element: Element,
    /// Names of the elements.
    pub names: Names,
    /// Limits, all of which must hold.
    pub limits: Vec<Limit>,
    /// File and line of the rule.
    pub origin: String,
}

/// An element of a report.
struct Node<'b> {
    /// Name as JaCoCo displays it.
    jacoco: String,
    /// Name for globs.
    internal: String,
    counters: &'b Counters,
}

impl Rule {
    /// Returns the violations in JaCoCo's words, or nothing if no element matches.
    #[must_use]
    pub fn check(&self, bundles: &[BundleCoverage]) -> Option<Vec<String>> {
        let nodes: Vec<Node<'_>> = bundles.iter().flat_map(|it| self.nodes(it)).collect();
        let nodes: Vec<&Node<'_>> = nodes.iter().filter(|node| self.is_about(node)).collect();
        let violations = |node: &&Node<'_>| {
            let limits = self.limits.iter();
            let wrong = limits.filter_map(|limit| limit.violation(node.counters));
            let (element, name) = (self.element.shown(), self.shown(node));
            let line = |text| format!("Rule violated for {element} {name}: {text}");
            wrong.map(line).collect::<Vec<_>>()
        };
        (!nodes.is_empty()).then(|| nodes.iter().flat_map(violations).collect())
    }

    fn is_about(&self, node: &Node<'_>) -> bool {
        match &self.names {
            Names::Globs { include, exclude } => {
                let matches = |glob: &Glob| glob.matches(&node.internal);
                (include.is_empty() || include.iter().any(matches)) && !exclude.iter().any(matches)
            }
            Names::Wildcards { include, exclude } => {
                let matches = |pattern: &String| wildcards::matches(pattern, &node.jacoco);
                (include.is_empty() || include.iter().any(matches)) && !exclude.iter().any(matches)
            }
        }
    }

    /// Returns the element's name in the form of the rule's own patterns.
    fn shown(&self, node: &Node<'_>) -> String {
        match (&self.names, self.element) {
            (Names::Globs { .. }, Element::Class) => binary(&node.internal),
            _ => node.jacoco.clone(),
        }
    }

    fn nodes<'b>(&self, bundle: &'b BundleCoverage) -> Vec<Node<'b>> {
        let packages = bundle.packages.iter();
        match self.element {
            Element::Bundle => vec![Node {
                jacoco: bundle.name.clone(),
                internal: bundle.name.clone(),
                counters: &bundle.counters,
            }],
            Element::Package => packages
                .map(|package| Node {
                    jacoco: names::package(&package.name),
                    internal: package.name.clone(),
                    counters: &package.counters,
                })
                .collect(),
            Element::Class => bundle
                .classes()
                .map(|class| Node {
                    jacoco: names::qualified_class(&class.name),
                    internal: class.name.clone(),
                    counters: &class.counters,
                })
                .collect(),
            Element::SourceFile => packages
                .flat_map(|package| &package.source_files)
                .map(|file| {
                    let name = format!("{}/{}", file.package, file.name);
                    Node {
                        jacoco: name.clone(),
                        internal: name,
                        counters: &file.counters,
                    }
                })
                .collect(),
            Element::Method => methods(bundle),
        }
    }
}

fn methods(bundle: &BundleCoverage) -> Vec<Node<'_>> {
    let classes = bundle.classes();
    let methods = classes.flat_map(|class| class.methods.iter().map(move |it| (class, it)));
    let nodes = methods.map(|(class, method)| Node {
        jacoco: names::qualified_method(class, method),
        internal: format!("{}/{}", class.name, method.name),
        counters: &method.counters,
    });
    nodes.collect()
}

#[cfg(test)]
mod tests {
    use coverage::model::{BundleBuilder, ClassCoverage, MethodCoverage};

    use super::*;

    /// Two packages. Of the lines of `Account`, 5 of 8 are covered; those of `Account$Log` and
    /// `Main` are missed.
    fn bundle() -> BundleCoverage {
        let class = |id, name: &str, descriptor, covered, missed| {
            let mut method = MethodCoverage::new("run", descriptor, None);
            for line in 1..=covered + missed {
                let counter = if line <= covered {
                    Counter::COVERED
                } else {
                    Counter::MISSED
                };
                method.increment(counter, Counter::EMPTY, Some(line));
            }
            method.close();
            let mut class = ClassCoverage::new(id, name);
            class.source_file = Some(format!(
                "{}.java",
                name.split(['/', '$']).nth(1).unwrap_or(name)
            ));
            class.add_method(method);
            class
        };
        let mut builder = BundleBuilder::default();
        for class in [
            class(1, "bank/Account", "(ILjava/util/Map$Entry;)V", 5, 3),
            class(2, "bank/Account$Log", "()V", 0, 3),
            class(3, "Main", "()V", 0, 1),
            ClassCoverage::new(4, "bank/Marker"),
        ] {
            builder.add(class).unwrap();
        }
        builder.build("The bank")
    }

    fn limit(counter: CounterKind, value: Value, minimum: &str, maximum: &str) -> Limit {
        Limit {
            counter,
            value,
            minimum: minimum.parse().ok(),
            maximum: maximum.parse().ok(),
        }
    }

    fn check(
        element: Element,
        include: &[&str],
        exclude: &[&str],
        limit: Limit,
    ) -> Option<Vec<String>> {
        let texts = |patterns: &[&str]| patterns.iter().map(|it| (*it).to_owned()).collect();
        let rule = Rule {
            element,
            names: Names::Wildcards {
                include: texts(include),
                exclude: texts(exclude),
            },
            limits: vec![limit],
            origin: String::new(),
        };
        rule.check(&[bundle()])
    }

    #[test]
    fn violations_are_worded_like_jacocos() {
        use CounterKind::{Branch, Class, Instruction, Line};
        let covered = |least| limit(Line, Value::CoveredRatio, least, "");
        for (element, limit, said) in [
            (
                Element::Bundle,
                covered("0.80"),
                "bundle The bank: lines covered ratio is 0.55, but expected minimum is 0.80",
            ),
            (
                Element::Package,
                covered("80%"),
                "package default: lines covered ratio is 0.00, but expected minimum is 0.80",
            ),
            (
                Element::Class,
                covered("0.5"),
                "class bank.Account.Log: lines covered ratio is 0.0, but expected minimum is 0.5",
            ),
            (
                Element::SourceFile,
                covered("0.5"),
                "source file /Main.java: lines covered ratio is 0.0, but expected minimum is 0.5",
            ),
            (
                Element::Method,
                covered("0.7"),
                "method bank.Account.run(int, java.util.Map.Entry): lines covered ratio is 0.6, but expected minimum is 0.7",
            ),
            (
                Element::Bundle,
                limit(Class, Value::MissedCount, "", "1"),
                "bundle The bank: classes missed count is 2, but expected maximum is 1",
            ),
            (
                Element::Bundle,
                limit(Instruction, Value::MissedRatio, "", "0.3"),
                "bundle The bank: instructions missed ratio is 0.6, but expected maximum is 0.3",
            ),
            (
                Element::Class,
                limit(Instruction, Value::TotalCount, "1", ""),
                "class bank.Marker: instructions total count is 0, but expected minimum is 1",
            ),
        ] {
            let found = check(element, &[], &[], limit).unwrap();
            let line = format!("Rule violated for {said}");
            assert!(found.contains(&line), "{line}\n{found:#?}");
        }
        let branches = limit(Branch, Value::CoveredRatio, "1", "");
        assert_eq!(
            check(Element::Bundle, &[], &[], branches),
            Some(vec![]),
            "the ratio of nothing"
        );
    }

    #[test]
    fn names_select_the_elements_of_a_rule() {
        let lines = || limit(CounterKind::Line, Value::CoveredRatio, "1.00", "");
        let found = |include: &[&str], exclude: &[&str]| {
            let found = check(Element::Class, include, exclude, lines());
            found.map(|found| found.len())
        };
        assert_eq!(found(&["bank.*"], &[]), Some(2));
        assert_eq!(found(&["bank.*"], &["*.Log"]), Some(1));
        assert_eq!(
            found(&["bank.Account$Log"], &[]),
            None,
            "JaCoCo's names have a dot"
        );
        let rule = Rule {
            element: Element::Class,
            names: Names::Globs {
                include: vec![Glob::of_class("bank.*")],
                exclude: vec![Glob::of_class("bank.Account")],
            },
            limits: vec![lines()],
            origin: String::new(),
        };
        let found = rule.check(&[bundle()]).unwrap();
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("class bank.Account$Log: "), "{found:?}");
    }
}
