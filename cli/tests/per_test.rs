//! `classhook report --per-test`: the tests that executed each line.

#[path = "support/command.rs"]
mod support;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;

use probes::Meta;
use support::{Hits, bank, run, snapshot, snapshot_of_test};

/// Returns the execution counts of lines, branches and methods in an LCOV tracefile, summed over all sections.
fn sums(tracefile: &str) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    let mut file = "";
    for line in tracefile.lines() {
        let (kind, rest) = line.split_once(':').unwrap_or((line, ""));
        let split = match kind {
            "SF" => {
                file = rest;
                continue;
            }
            "DA" | "BRDA" => rest.rsplit_once(','),
            "FNDA" => rest.split_once(',').map(|(count, name)| (name, count)),
            _ => continue,
        };
        let (name, count) = split.unwrap();
        *sums.entry(format!("{file} {kind} {name}")).or_default() +=
            count.parse::<u64>().unwrap_or(0);
    }
    sums
}

#[test]
fn tests_of_each_line_are_named_and_their_sum_is_what_was_executed() {
    let bank = bank();
    let (account, never) = (bank.class("bank/Account"), bank.class("bank/Never"));
    let out = bank.path("out");
    let runs: [(u32, Option<&str>, &[usize], Hits); 3] = [
        (1, Some("bank.AccountTest#adds"), &[0, 3], Hits::None),
        (2, Some("bank.AccountTest#refuses"), &[0, 1, 2], Hits::None),
        (3, None, &[0], Hits::All),
    ];
    for (pid, test, probes, others) in runs {
        let meta = Meta {
            pid,
            ..Meta::default()
        };
        let hits: Vec<usize> = probes.to_vec();
        let classes = [
            ("coverage", &account[..], 4, Hits::Only(hits.leak())),
            ("coverage", &never[..], 2, others),
        ];
        snapshot_of_test(&out, meta, true, &classes, test);
    }
    let words = |more: &[&str]| -> Vec<OsString> {
        let mut words = vec!["report".into(), out.clone().into_os_string()];
        words.extend(more.iter().map(|word| OsString::from(*word)));
        words
    };
    let html = bank.path("html").display().to_string();
    let json = bank.path("tests.json").display().to_string();
    let places = ["--html", &html, "--json", &json, "--lcov", "-"];
    let plain = run(words(&["--lcov", "-"]));
    let ran = run(words(&[&["--per-test"], &places[..]].concat()));
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    let tests: Vec<&str> = ran
        .out
        .lines()
        .filter(|line| line.starts_with("TN:"))
        .collect();
    let expected = [
        "TN:",
        "TN:",
        "TN:bank_AccountTest__adds",
        "TN:bank_AccountTest__refuses",
    ];
    assert_eq!(tests, expected, "{}", ran.out);
    let (all, each) = (sums(&plain.out), sums(&ran.out));
    assert!(all.len() > 8, "{all:?}");
    let executed = |(name, count): (&String, &u64)| (name.clone(), *count > 0);
    let [all, each] = [&all, &each].map(|sums| sums.iter().map(executed).collect::<Vec<_>>());
    assert_eq!(all, each);
    let page = fs::read_to_string(format!("{html}/pkg/bank/src-Account.java.html")).unwrap();
    assert!(
        page.contains("1 test</summary><ul><li>bank.AccountTest#adds</ul>"),
        "{page}"
    );
    let json = fs::read_to_string(json).unwrap();
    assert!(
        json.contains("\"tests\":[1],\"outsideOfTests\":false"),
        "{json}"
    );
    run(words(&["--per-test", "--xml", "-"])).refused("H0606", &["--html, --lcov or --json"]);
    run(words(&["--per-test"])).refused("H0606", &["--per-test needs a report"]);
}

#[test]
fn report_without_recorded_tests_is_partial_if_they_are_to_be_named() {
    let bank = bank();
    let (out, class) = (bank.path("out"), bank.class("bank/Account"));
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    let words = [
        "report".as_ref(),
        out.as_os_str(),
        "--per-test".as_ref(),
        "--lcov".as_ref(),
        "-".as_ref(),
    ];
    let ran = run(words);
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    assert!(ran.error.contains("warning[H0690]"), "{}", ran.error);
    assert!(
        ran.out.starts_with("TN:\nSF:bank/Account.java\n"),
        "{}",
        ran.out
    );
}
