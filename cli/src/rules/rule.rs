//! Rules as JaCoCo's `check` has them: limits of counters, of each element of some kind and name.

use coverage::model::{BundleCoverage, Counter, CounterKind, Counters};
use coverage::report::names;
use globs::Glob;
use jvms::names::binary;

use super::decimal::{Decimal, Rounding};
use super::wildcards;

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// Everything together, or each module.
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
    /// All, with their names in JaCoCo's XML.
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

/// Which elements a rule is about, by their names.
#[derive(Debug, Clone)]
pub enum Names {
    /// Globs over names as selectors have them.
    Globs {
        /// Any of them; none stands for all names.
        include: Vec<Glob>,
        /// None of them.
        exclude: Vec<Glob>,
    },
    /// JaCoCo's wildcards over names as JaCoCo shows them.
    Wildcards {
        /// Any of them; none stands for all names.
        include: Vec<String>,
        /// None of them.
        exclude: Vec<String>,
    },
}

/// What of a counter is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// All items.
    TotalCount,
    /// Items that were missed.
    MissedCount,
    /// Items that were covered.
    CoveredCount,
    /// Items that were missed, of all.
    MissedRatio,
    /// Items that were covered, of all.
    CoveredRatio,
}

impl Value {
    /// All, with their names in JaCoCo's XML.
    pub const ALL: [(&'static str, Self); 5] = [
        ("TOTALCOUNT", Self::TotalCount),
        ("MISSEDCOUNT", Self::MissedCount),
        ("COVEREDCOUNT", Self::CoveredCount),
        ("MISSEDRATIO", Self::MissedRatio),
        ("COVEREDRATIO", Self::CoveredRatio),
    ];

    /// Whether it is from 0 to 1.
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

    /// The value of a counter; none is the ratio of no items.
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

/// What a counter must not fall below or exceed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// Which counter.
    pub counter: CounterKind,
    /// What of it.
    pub value: Value,
    /// The least allowed.
    pub minimum: Option<Decimal>,
    /// The most allowed.
    pub maximum: Option<Decimal>,
}

impl Limit {
    /// What is wrong, in JaCoCo's words, if something is.
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

/// Limits of each element of a kind and name.
#[derive(Debug, Clone)]
pub struct Rule {
    /// What it is about.
    pub element: Element,
    /// By which names.
    pub names: Names,
    /// All of them must be kept.
    pub limits: Vec<Limit>,
    /// File and line that it is from.
    pub origin: String,
}

/// An element of a report.
struct Node<'b> {
    /// The name as JaCoCo shows it.
    jacoco: String,
    /// The name as globs see it.
    internal: String,
    counters: &'b Counters,
}

impl Rule {
    /// Which limits are violated, each as JaCoCo says it; none if the rule is about nothing.
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

    /// The name by which the rule's own patterns know an element.
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

    /// Two packages; the lines of `Account` are covered 5 of 8, those of `Account$Log` and `Main` not at all.
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
    fn violations_are_said_as_jacoco_says_them() {
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
    fn names_decide_what_a_rule_is_about() {
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
