//! `--diff` of `report` and `check`: the coverage of changed lines.

#[path = "support/command.rs"]
mod support;

use std::fs;
use std::process::Command;

use probes::Meta;
use support::{ACCOUNT, Compiled, Hits, Ran, classhook, snapshot};

/// Runs git in the folder, without the user's configuration.
fn git(bank: &Compiled, words: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@localhost"])
        .args(words)
        .current_dir(bank.root.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git is needed");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {words:?}: {error}");
}

fn ran(bank: &Compiled, words: &[&str]) -> Ran {
    let mut command = classhook();
    command.current_dir(bank.root.path()).args(words);
    command.output().unwrap().into()
}

/// A repository whose commit has another line 8 of `Account`, and no `Never`; all probes of `Account` were hit. The
/// configuration changes how git writes differences.
fn repository() -> Compiled {
    let bank = support::bank();
    let class = bank.class("bank/Account");
    let account = bank.path("src/bank/Account.java");
    snapshot(
        &bank.path("out"),
        Meta::default(),
        true,
        &[(&class, Hits::All)],
    );
    fs::write(
        &account,
        ACCOUNT.replace("balance += amount", "balance = amount"),
    )
    .unwrap();
    fs::write(bank.path(".gitignore"), "out\nclasses\n").unwrap();
    git(&bank, &["init", "-q", "-b", "main"]);
    for (name, value) in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("color.ui", "always"),
        ("diff.external", "/bin/false"),
        ("diff.relative", "true"),
    ] {
        git(&bank, &["config", name, value]);
    }
    git(&bank, &["add", "src/bank/Account.java", ".gitignore"]);
    git(&bank, &["commit", "-q", "-m", "first"]);
    fs::write(&account, ACCOUNT).unwrap();
    bank
}

const ALL: [&str; 4] = ["out", "--classes", "classes", "--diff"];

fn with<'w>(command: &'w str, words: &[&'w str]) -> Vec<&'w str> {
    [&[command], &ALL[..], words].concat()
}

#[test]
fn only_changed_lines_are_reported_also_of_untracked_files() {
    let bank = repository();
    fs::create_dir(bank.path("test")).unwrap();
    fs::write(bank.path("test/AccountTest.java"), "class AccountTest {}").unwrap();
    let report = ran(&bank, &with("report", &["main"])).well();
    let expected = "\
changed since main                   lines            branches  not covered
src/bank/Account.java         100%  1 of 1                   -
src/bank/Never.java             0%  0 of 2                   -  2, 4
total                          33%  1 of 3                   -
1 changed source file belongs to no class in the report: test/AccountTest.java
";
    let rows = |text: &str| -> Vec<String> {
        text.lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    };
    assert_eq!(rows(&report.out), rows(expected), "{}", report.out);

    let files = [
        "main",
        "--markdown",
        "out/changes.md",
        "--xml",
        "out/changes.xml",
        "--sources",
        "src",
    ];
    let report = ran(&bank, &with("report", &files)).well();
    assert!(
        report
            .out
            .starts_with("1 of 3 lines changed since main are covered (33%)\n"),
        "{}",
        report.out
    );
    let markdown = fs::read_to_string(bank.path("out/changes.md")).unwrap();
    assert!(
        markdown.contains("| <code>src/bank/Never.java</code> | 0% (0 of 2) | - | 2, 4 |  |"),
        "{markdown}"
    );
    let xml = fs::read_to_string(bank.path("out/changes.xml")).unwrap();
    assert_eq!(xml.matches("<line ").count(), 3, "{xml}");
}

#[test]
fn sources_that_were_changed_after_the_run_are_named() {
    let bank = repository();
    let class = bank.class("bank/Account");
    let check = with("check", &["main", "--fail-under", "line=10"]);
    let begun = |start_ms: u64| {
        fs::remove_dir_all(bank.path("out")).unwrap();
        let meta = Meta {
            pid: 1,
            start_ms,
            ..Meta::default()
        };
        snapshot(&bank.path("out"), meta, true, &[(&class, Hits::All)]);
    };
    begun(1_000_000_000_000);
    let before = ran(&bank, &check);
    assert_eq!(before.code, Some(3), "{}", before.error);
    assert!(before.error.contains("H0654"), "{}", before.error);
    assert!(
        before.error.contains("src/bank/Account.java"),
        "{}",
        before.error
    );
    begun(100_000_000_000_000);
    ran(&bank, &check).well();
    // a checkout may have written the committed file
    begun(1_000_000_000_000);
    git(&bank, &["commit", "-q", "-a", "-m", "second"]);
    let committed = ran(
        &bank,
        &with("check", &["HEAD~1", "--fail-under", "line=10"]),
    );
    assert!(
        !committed.error.contains("Account.java"),
        "{}",
        committed.error
    );
}

#[test]
fn rules_apply_to_changed_lines() {
    let bank = repository();
    let short = ran(
        &bank,
        &with(
            "check",
            &["HEAD", "--fail-under", "line=34,class:bank.Account=100"],
        ),
    );
    assert_eq!(short.code, Some(4), "{}", short.error);
    assert!(
        short
            .out
            .contains("total        line           34%   33.33%  1 of 3"),
        "{}",
        short.out
    );
    ran(&bank, &with("check", &["HEAD", "--fail-under", "line=33"])).prints(&["the rule holds"]);
    let complexity = ["HEAD", "--fail-under", "complexity=1"];
    ran(&bank, &with("check", &complexity)).refused("H0673", &["complexity of changed lines"]);
    git(&bank, &["commit", "-q", "-am", "second"]);
    let of_commit = ["HEAD~1..", "--fail-under", "line=100"];
    ran(&bank, &with("check", &of_commit)).prints(&["Account.java", "1 of 1", "the rule holds"]);
    let nothing = ["HEAD..HEAD", "--fail-under", "line=100,package:bank=100"];
    ran(&bank, &with("check", &nothing))
        .prints(&["no changed line contains measured code", "all 2 rules hold"]);
    git(&bank, &["mv", "src", "core"]);
    git(&bank, &["commit", "-q", "-m", "moved"]);
    let moved = ["HEAD~2...HEAD", "--fail-under", "line=100"];
    ran(&bank, &with("check", &moved)).prints(&["core/bank/Account.java", "1 of 1"]);
}

#[test]
fn range_that_git_does_not_know_is_refused() {
    let bank = repository();
    for range in ["nosuch", "nosuch..", "main...nosuch", "--output=x", ""] {
        let words = format!("--diff={range}");
        ran(&bank, &["report", "out", &words])
            .refused("H0678", &["no revision of this repository"]);
    }
    git(&bank, &["checkout", "-q", "--orphan", "other"]);
    git(&bank, &["commit", "-q", "-m", "alone"]);
    ran(&bank, &["report", "out", "--diff", "main"])
        .refused("H0678", &["no common ancestor", "fetch-depth: 0"]);
    fs::rename(bank.path(".git"), bank.path("git")).unwrap();
    ran(&bank, &["report", "out", "--diff", "main"]).refused("H0678", &["repository"]);
    let mut command = classhook();
    command
        .current_dir(bank.root.path())
        .env("PATH", "/nowhere");
    let without: Ran = command
        .args(["report", "out", "--diff", "main"])
        .output()
        .unwrap()
        .into();
    without.refused("H0678", &["cannot start git"]);
}

#[test]
fn class_with_two_possible_source_files_makes_the_report_partial() {
    let bank = repository();
    fs::create_dir_all(bank.path("copy/bank")).unwrap();
    fs::copy(
        bank.path("src/bank/Account.java"),
        bank.path("copy/bank/Account.java"),
    )
    .unwrap();
    let unclear = ran(&bank, &with("report", &["HEAD"]));
    assert_eq!(unclear.code, Some(3), "{}", unclear.out);
    unclear.says(&["warning[H0679]", "copy/bank/Account.java", "--sources"]);
    ran(&bank, &with("report", &["HEAD", "--sources", "src"]))
        .prints(&["src/bank/Account.java", "1 of 3"]);
}
