//! `classhook check` and `merge`, and `--fail-under` of reports.

#[path = "support/command.rs"]
mod support;

use std::ffi::OsString;
use std::fs;

use probes::{Meta, Snapshot};
use support::{Compiled, Hits, Ran, run, snapshot};

/// Returns a folder with a snapshot in which `Account` ran.
fn bank() -> Compiled {
    let bank = support::bank();
    let class = bank.class("bank/Account");
    snapshot(&bank.path("out"), meta(1), true, &[(&class, Hits::All)]);
    bank
}

fn meta(pid: u32) -> Meta {
    Meta {
        pid,
        host: "box".into(),
        start_ms: 5,
        ..Meta::default()
    }
}

/// Runs the command in the folder. `out` and `classes` become paths in it.
fn classhook(bank: &Compiled, words: &[&str]) -> Ran {
    let place = |word: &&str| match *word {
        "out" | "classes" | "report.xml" | "rules" | "all.hook" | "one" | "two" | "jacoco.exec" => {
            bank.path(word).into_os_string()
        }
        word => OsString::from(word),
    };
    run(words.iter().map(place))
}

#[test]
fn satisfied_rules_exit_with_0_and_violated_ones_with_4_and_a_table() {
    let bank = bank();
    let rules = "line=100,branch=100,class:bank.**=99.5%,package:bank:method=100";
    let ran = classhook(&bank, &["check", "out", "--fail-under", rules]);
    ran.prints(&["all 4 rules hold"]);
    let ran = classhook(
        &bank,
        &[
            "check",
            "out",
            "--classes",
            "classes",
            "--fail-under",
            "line=80",
            "--fail-under",
            "class:bank.**:class=1",
        ],
    );
    assert_eq!(ran.code, Some(4), "{}", ran.error);
    ran.says(&["error[H0673]: 2 values fall short of --fail-under"]);
    let rows: Vec<Vec<&str>> = ran
        .out
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert!(
        rows.contains(&vec!["total", "line", "80%", "71.42%", "5", "of", "7"]),
        "{}",
        ran.out
    );
    assert!(
        rows.contains(&vec!["bank.Never", "class", "1%", "0%", "0", "of", "1"]),
        "{}",
        ran.out
    );
}

#[test]
fn reports_are_written_even_if_a_rule_is_violated() {
    let bank = bank();
    let ran = classhook(
        &bank,
        &[
            "report",
            "out",
            "--classes",
            "classes",
            "--xml",
            "report.xml",
            "--fail-under",
            "line=72",
        ],
    );
    assert_eq!(ran.code, Some(4), "{}", ran.error);
    assert!(bank.path("report.xml").is_file());
    assert!(
        ran.out.contains("wrote ") && ran.out.contains("falls short"),
        "{}",
        ran.out
    );
}

#[test]
fn malformed_rules_are_refused() {
    let bank = bank();
    let ran = classhook(&bank, &["check", "out", "--fail-under", "lines=80"]);
    assert_eq!(ran.code, Some(2));
    ran.says(&["`lines` is no counter"]);
    let ran = classhook(&bank, &["check", "out", "--fail-under", "class:bank=80"]);
    ran.refused("H0671", &["bank.** (1 class)"]);
    classhook(&bank, &["check", "out"]).refused("H0673", &["--fail-under"]);
}

#[test]
fn merged_snapshot_is_the_sum_of_all_files() {
    let bank = bank();
    let class = bank.class("bank/Account");
    snapshot(
        &bank.path("one"),
        meta(1),
        true,
        &[(&class, Hits::Only(&[0]))],
    );
    snapshot(
        &bank.path("two"),
        meta(2),
        true,
        &[(&class, Hits::Only(&[1, 2, 3]))],
    );
    classhook(&bank, &["report", "two", "--exec", "jacoco.exec"]).well();
    for second in ["two", "jacoco.exec"] {
        let ran = classhook(&bank, &["merge", "one", second, "--to", "all.hook"]);
        ran.prints(&["merged 2 files into", "1 class, 2 sessions"]);
        let ran = classhook(&bank, &["check", "all.hook", "--fail-under", "line=100"]);
        ran.prints(&["the rule holds"]);
        classhook(&bank, &["report", "all.hook", "--xml", "report.xml"]).well();
        let merged = fs::read_to_string(bank.path("report.xml")).unwrap();
        classhook(&bank, &["report", "one", second, "--xml", "report.xml"]).well();
        assert_eq!(merged, fs::read_to_string(bank.path("report.xml")).unwrap());
    }
    let again = classhook(&bank, &["merge", "all.hook", "one", "--to", "all.hook"]);
    again.prints(&["1 class, 3 sessions"]);
}

#[test]
fn merge_of_files_without_per_loader_data_warns_and_unites_loaders() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let apart = Meta {
        per_loader: true,
        ..meta(1)
    };
    let hits = [(class.as_slice(), Hits::Only(&[0]))];
    snapshot(&bank.path("one"), apart, true, &hits);
    snapshot(&bank.path("two"), meta(2), true, &hits);
    let ran = classhook(&bank, &["merge", "one", "two", "--to", "all.hook"]);
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    ran.says(&["warning[H0675]", "for all loaders together"]);
    let ran = classhook(&bank, &["merge", "one", "--to", "all.hook"]);
    assert_eq!((ran.code, ran.error.as_str()), (Some(0), ""));
    classhook(&bank, &["report", "all.hook", "--per-loader"]).well();
}

#[test]
fn rule_without_a_measured_class_is_violated() {
    let bank = support::bank();
    snapshot(&bank.path("out"), meta(1), true, &[]);
    let ran = classhook(&bank, &["check", "out", "--fail-under", "line=80"]);
    ran.refused("H0671", &["no class was measured"]);
    fs::create_dir(bank.path("one")).unwrap();
    fs::write(bank.path("one/empty.hook"), "").unwrap();
    let words = ["check", "one", "--strict-inputs", "--fail-under", "line=80"];
    classhook(&bank, &words).refused("H0611", &["empty.hook"]);
}

#[test]
fn merge_prints_the_number_of_files_classes_and_sessions() {
    let bank = bank();
    fs::write(bank.path("out/empty.hook"), "").unwrap();
    let ran = classhook(&bank, &["merge", "out", "--to", "all.hook"]);
    assert!(ran.out.contains("merged 1 file into"), "{}", ran.out);
}

#[test]
fn merged_snapshot_keeps_failures_and_truncation_of_its_inputs() {
    let bank = bank();
    fs::create_dir(bank.path("one")).unwrap();
    let whole = fs::read_dir(bank.path("out"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let bytes = fs::read(whole).unwrap();
    // The writer was killed before the record that ends the file.
    let end = bytes.len() - 60;
    fs::write(bank.path("one/killed.hook"), &bytes[..end]).unwrap();
    fs::write(bank.path("one/noise.hook"), "no snapshot").unwrap();
    let ran = classhook(&bank, &["merge", "one", "--to", "all.hook"]);
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    ran.says(&["warning[H0672]", "noise.hook is left out", "warning[H0615]"]);
    assert!(!Snapshot::read(&bank.path("all.hook")).unwrap().complete);
    let strict = classhook(
        &bank,
        &["merge", "one", "--strict-inputs", "--to", "all.hook"],
    );
    strict.refused("H0611", &["noise.hook"]);
}

#[test]
fn rules_from_files_are_checked_as_jacoco_checks_them() {
    let bank = bank();
    let check = |rules: &str| {
        fs::write(bank.path("rules"), rules).unwrap();
        classhook(
            &bank,
            &["check", "out", "--classes", "classes", "--rules", "rules"],
        )
    };
    let xml =
        |limits: &str| format!("<rules><rule><element>CLASS</element>{limits}</rule></rules>");
    let ran = check(&xml(
        "<limits><limit><minimum>0.80</minimum></limit></limits>",
    ));
    assert_eq!(ran.code, Some(4), "{}", ran.error);
    let line = "Rule violated for class bank.Never: instructions covered ratio is 0.00, but expected minimum is 0.80\n";
    assert!(ran.out.contains(line), "{}", ran.out);
    ran.says(&["error[H0673]: 1 rule is violated"]);

    let nothing = xml(
        "<includes><include>acme.*</include></includes><limits><limit><minimum>1</minimum></limit></limits>",
    );
    let ran = check(&nothing);
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    ran.says(&["warning[H0677]"]);
    assert!(ran.out.contains("the rule holds"), "{}", ran.out);

    check("[[rule]]\ninclude = [\"Code *\"]\nlimit = [{ counter = \"class\", value = \"missed-count\", maximum = 1 }]")
        .prints(&["the rule holds"]);
    let glob = "[[rule]]\nelement = \"class\"\ninclude = [\"acme.**\"]\nlimit = [{ counter = \"line\", minimum = 1 }]";
    check(glob).refused("H0671", &["rules:1"]);
    check("<rules><rule>").refused("H0676", &["rules:1:8", "`<rule>` is not closed", "^^^^^^"]);
}

/// A counter of an executed class.
const COVERED: &str = "<counter type=\"CLASS\" missed=\"0\" covered=\"1\"/>";

/// Returns the XML report of a folder from standard output. The table goes to standard error.
fn xml(out: &std::path::Path, more: &[&str]) -> (String, Ran) {
    let mut words = vec!["report", out.to_str().unwrap(), "--xml", "-"];
    words.extend(more);
    let ran = run(words);
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    (ran.out.clone(), ran)
}

/// Writes snapshots of two runs to the folder `out`. The later run executed no code of `Account`.
fn two_runs(bank: &Compiled) -> std::path::PathBuf {
    let (account, never) = (bank.class("bank/Account"), bank.class("bank/Never"));
    let run = |id: &str, start_ms: u64, pid: u32| Meta {
        run: id.to_owned(),
        start_ms,
        pid,
        plugins: vec!["coverage@1".to_owned()],
        ..Meta::default()
    };
    let out = bank.path("out");
    // The id of the later run comes first in alphabetical order.
    snapshot(&out, run("b", 1_000, 1), true, &[(&account, Hits::All)]);
    snapshot(&out, run("a", 2_000, 2), true, &[(&account, Hits::None)]);
    snapshot(&out, run("a", 2_500, 3), true, &[(&never, Hits::None)]);
    out
}

#[test]
fn last_run_of_a_folder_is_reported_and_earlier_ones_are_named() {
    let bank = support::bank();
    let out = two_runs(&bank);
    let (last, ran) = xml(&out, &[]);
    assert!(!last.contains(COVERED), "{last}");
    assert_eq!(last.matches("<sessioninfo ").count(), 2, "{last}");
    let note = "run a: began 1970-01-01 00:00:02 UTC, 2 JVMs; 1 earlier run is left out of ";
    assert!(ran.error.contains(note), "{}", ran.error);
    let (all, ran) = xml(&out, &["--all-runs"]);
    assert!(all.contains(COVERED), "{all}");
    assert_eq!(all.matches("<sessioninfo ").count(), 3, "{all}");
    assert!(ran.error.contains("runs: all 2 in "), "{}", ran.error);
}

#[test]
fn earlier_run_does_not_count_for_a_minimum() {
    let bank = support::bank();
    let out = two_runs(&bank);
    let check = |more: &[&str]| {
        let mut words = vec!["check", out.to_str().unwrap(), "--fail-under", "line=10"];
        words.extend(more);
        run(words)
    };
    let short = check(&[]);
    assert_eq!(short.code, Some(4), "{}{}", short.out, short.error);
    assert!(
        short.out.contains("1 earlier run is left out of "),
        "{}",
        short.out
    );
    assert_eq!(check(&["--all-runs"]).code, Some(0));
}

#[test]
fn files_without_a_run_id_stay_in_the_report() {
    let bank = support::bank();
    let out = two_runs(&bank);
    let meta = Meta {
        plugins: vec!["coverage@1".to_owned()],
        ..Meta::default()
    };
    snapshot(&out, meta, true, &[(&bank.class("bank/Never"), Hits::All)]);
    let (xml, ran) = xml(&out, &[]);
    assert!(xml.contains(COVERED), "{xml}");
    let note = "2 JVMs, with 1 file without a run id; 1 earlier run";
    assert!(ran.error.contains(note), "{}", ran.error);
}

#[test]
fn merge_takes_the_last_run_of_a_folder_by_default() {
    let bank = support::bank();
    two_runs(&bank);
    let merged = |more: &[&str]| {
        let words = [&["merge", "out", "--to", "all.hook"], more].concat();
        let ran = classhook(&bank, &words);
        assert_eq!(ran.code, Some(0), "{}", ran.error);
        (xml(&bank.path("all.hook"), &[]).0, ran)
    };
    let (last, ran) = merged(&[]);
    assert!(!last.contains(COVERED), "{last}");
    assert!(
        ran.error.contains("1 earlier run is left out of "),
        "{}",
        ran.error
    );
    let (all, ran) = merged(&["--all-runs"]);
    assert!(all.contains(COVERED), "{all}");
    assert!(ran.error.contains("runs: all 2 in "), "{}", ran.error);
}

#[test]
fn tests_of_an_earlier_run_are_not_reported() {
    let bank = support::bank();
    let account = bank.class("bank/Account");
    let out = bank.path("out");
    let run_of = |id: &str, start_ms: u64, test: &str| {
        let meta = Meta {
            run: id.to_owned(),
            start_ms,
            plugins: vec!["coverage@1".to_owned()],
            ..Meta::default()
        };
        let count = 4;
        support::snapshot_of_test(
            &out,
            meta,
            true,
            &[("coverage", &account, count, Hits::All)],
            Some(test),
        );
    };
    run_of("b", 1_000, "OldTest#adds");
    run_of("a", 2_000, "NewTest#adds");
    let tests = |more: &[&str]| {
        let words = [&["tests-for", "Account.java:8", "out"], more].concat();
        let ran = classhook(&bank, &words);
        assert_eq!(ran.code, Some(0), "{}", ran.error);
        ran
    };
    let ran = tests(&[]);
    assert_eq!(ran.out, "NewTest#adds\n", "{}", ran.error);
    assert!(
        ran.error.contains("1 earlier run is left out of "),
        "{}",
        ran.error
    );
    let ran = tests(&["--all-runs"]);
    assert_eq!(ran.out, "NewTest#adds\nOldTest#adds\n", "{}", ran.error);
}
