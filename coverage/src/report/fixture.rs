//! A small program with all kinds of elements, for the tests of the writers.

use super::{Module, NoSources, Report, Session};
use crate::model::{BundleBuilder, BundleCoverage, ClassCoverage, Counter, MethodCoverage};

/// Stands for code without a known line.
const NO_LINE: u32 = u32::MAX;

/// Missed and covered instructions, missed and covered branches, line.
type Row = (u32, u32, u32, u32, u32);

pub(super) fn method(name: &str, descriptor: &str, rows: &[Row]) -> MethodCoverage {
    let mut method = MethodCoverage::new(name, descriptor, None);
    for &(missed, covered, missed_branches, covered_branches, line) in rows {
        let branches = Counter::new(missed_branches, covered_branches);
        method.increment(
            Counter::new(missed, covered),
            branches,
            Some(line).filter(|&line| line != NO_LINE),
        );
    }
    method.close();
    method
}

pub(super) fn class(
    name: &str,
    source: Option<&str>,
    methods: Vec<MethodCoverage>,
) -> ClassCoverage {
    let mut class = ClassCoverage::new(name.len() as u64, name);
    class.super_name = Some("java/lang/Object".into());
    class.source_file = source.map(str::to_owned);
    methods
        .into_iter()
        .for_each(|method| class.add_method(method));
    class
}

/// Creates two packages: `bank` with a class, an anonymous class and an interface; the unnamed one with a class
/// without a source file.
pub(super) fn bundle() -> BundleCoverage {
    let account = vec![
        method(
            "<init>",
            "(Ljava/lang/String;)V",
            &[(0, 3, 0, 0, 5), (0, 1, 0, 0, 6)],
        ),
        method(
            "withdraw",
            "(J)Z",
            &[(0, 4, 1, 1, 9), (3, 0, 0, 0, 10), (0, 5, 0, 2, 12)],
        ),
        method("close", "()V", &[(6, 0, 4, 0, 16), (1, 0, 0, 0, 17)]),
    ];
    let mut listener = class(
        "bank/Account$1",
        Some("Account.java"),
        vec![method("run", "()V", &[(0, 2, 0, 0, 9)])],
    );
    listener.interfaces = vec!["java/lang/Runnable".into()];
    let main = vec![method(
        "main",
        "([Ljava/lang/String;)V",
        &[(7, 0, 0, 0, NO_LINE)],
    )];
    let mut builder = BundleBuilder::default();
    for class in [
        class("bank/Account", Some("Account.java"), account),
        listener,
        class("bank/Closeable", Some("Closeable.java"), vec![]),
        class("Main", None, main),
    ] {
        builder.add(class).unwrap();
    }
    builder.build("The <bank>")
}

pub(super) fn sessions() -> Vec<Session> {
    vec![
        Session {
            id: "host-2".into(),
            start_ms: 1_790_000_000_000,
            dump_ms: 1_790_000_060_000,
            incomplete: None,
            killed: None,
        },
        Session {
            id: "host-1".into(),
            start_ms: 1_789_999_000_000,
            dump_ms: 1_789_999_000_750,
            incomplete: None,
            killed: None,
        },
    ]
}

/// Creates a bundle of one class, in a package that the other bundle has, too.
pub(super) fn web() -> BundleCoverage {
    let get = method("get", "()V", &[(0, 2, 0, 0, 3), (1, 0, 1, 1, 4)]);
    let mut builder = BundleBuilder::default();
    let page = class("bank/Page", Some("Page.java"), vec![get]);
    builder.add(page).unwrap();
    builder.build("web|<b>")
}

/// Creates a report with both bundles as modules of a group.
pub(super) fn group<'a>(bank: &'a BundleCoverage, web: &'a BundleCoverage) -> Report<'a> {
    let modules = [bank, web].map(|bundle| Module {
        bundle,
        sources: &NoSources,
    });
    Report::of_group("All, of it", modules.to_vec(), &[])
}
