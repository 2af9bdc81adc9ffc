//! `classhook report`: contents of reports, and messages about wrong inputs.

#[path = "support/command.rs"]
mod support;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use probes::Meta;
use support::{
    ACCOUNT, Compiled, Hits, NEVER, Ran, bank, run, snapshot, snapshot_of, snapshot_of_test,
};

/// Runs `report` with these words and reads the XML that it writes.
fn xml(bank: &Compiled, words: &[&dyn AsRef<std::ffi::OsStr>]) -> (String, Ran) {
    let (xml, ran) = partial_xml(bank, words);
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    (xml, ran)
}

/// As [`xml`], whatever the exit code is.
fn partial_xml(bank: &Compiled, words: &[&dyn AsRef<std::ffi::OsStr>]) -> (String, Ran) {
    let path = bank.path("report.xml");
    let mut all: Vec<OsString> = vec!["report".into(), "--xml".into(), path.clone().into()];
    all.extend(words.iter().map(|word| word.as_ref().to_owned()));
    let ran = run(all);
    (fs::read_to_string(path).unwrap(), ran)
}

/// The counter of lines at the end of the report: missed and covered.
fn lines(xml: &str) -> (u32, u32) {
    let counter = xml.rsplit("<counter type=\"LINE\" ").next().unwrap();
    let number = |name: &str| {
        let rest = counter.split(&format!("{name}=\"")).nth(1).unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    };
    (number("missed"), number("covered"))
}

#[test]
fn loaded_classes_are_reported_from_the_snapshot_alone() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let file = snapshot(
        &bank.path("out"),
        Meta::default(),
        true,
        &[(&class, Hits::All)],
    );
    let (xml, ran) = xml(&bank, &[&file]);
    ran.well();
    assert_eq!(lines(&xml), (0, 5));
    assert!(
        xml.contains("class name=\"bank/Account\" sourcefilename=\"Account.java\""),
        "{xml}"
    );
    assert!(!xml.contains("bank/Never"), "{xml}");
}

#[test]
fn never_loaded_classes_come_from_folders_jars_and_jars_within_jars() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    let jar = bank.jar("bank.jar");
    let nested = bank.path("nested");
    fs::create_dir_all(nested.join("BOOT-INF/lib")).unwrap();
    fs::copy(&jar, nested.join("BOOT-INF/lib/bank.jar")).unwrap();
    for place in [bank.path("classes"), jar, nested] {
        let (xml, ran) = xml(&bank, &[&out, &"--classes", &place]);
        ran.well();
        assert_eq!(lines(&xml), (2, 5), "{}", place.display());
        assert!(xml.contains("bank/Never"), "{xml}");
    }
}

#[test]
fn coverage_of_several_jvms_is_merged() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    let meta = |pid| Meta {
        pid,
        host: "box".into(),
        ..Meta::default()
    };
    snapshot(&out, meta(1), true, &[(&class, Hits::Only(&[0]))]);
    let (one, _) = xml(&bank, &[&out]);
    snapshot(&out, meta(2), true, &[(&class, Hits::Only(&[1, 2, 3]))]);
    let (both, ran) = xml(&bank, &[&out]);
    ran.well();
    assert!(lines(&one).0 > 0, "{one}");
    assert_eq!(lines(&both), (0, 5), "{both}");
    assert!(
        both.contains("sessioninfo id=\"box-1\"") && both.contains("sessioninfo id=\"box-2\""),
        "{both}"
    );
}

#[test]
fn another_version_of_a_class_is_named() {
    let bank = bank();
    let ran_with = Compiled::new(&[(
        "bank/Account.java",
        &ACCOUNT.replace("balance += amount", "balance = amount"),
    )]);
    let class = ran_with.class("bank/Account");
    for (folder, kept) in [("kept", true), ("not-kept", false)] {
        let out = bank.path(folder);
        snapshot(&out, Meta::default(), kept, &[(&class, Hits::All)]);
        let (xml, told) = xml(&bank, &[&out, &"--classes", &bank.path("classes")]);
        told.says(&[
            "warning[H0622]: no match for bank/Account",
            "Account.class",
            "shows it as not executed",
        ]);
        assert_eq!(lines(&xml), (7, 0), "{folder}");
        assert!(!told.error.contains("not reported"), "{}", told.error);
    }
}

#[test]
fn other_version_from_jacocos_agent_is_explained() {
    let bank = bank();
    let added = ACCOUNT.replacen(
        '{',
        "{ private static boolean[] $jacocoInit() { return null; }",
        1,
    );
    let ran_with = Compiled::new(&[("bank/Account.java", &added)]);
    let (out, class) = (bank.path("beside"), ran_with.class("bank/Account"));
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    let (_, told) = partial_xml(&bank, &[&out, &"--classes", &bank.path("classes")]);
    assert_eq!(told.code, Some(3), "nobody knows what ran: {}", told.error);
    told.says(&[
        "warning[H0622]",
        "JaCoCo's agent is in that JVM",
        "-Djacoco.skip=true",
    ]);
}

/// The recording of an earlier build does not count for a changed class.
#[test]
fn rule_is_violated_despite_coverage_of_an_earlier_version() {
    let bank = bank();
    let before = Compiled::new(&[(
        "bank/Account.java",
        &ACCOUNT.replace("balance += amount", "balance = amount"),
    )]);
    let out = bank.path("out");
    let class = before.class("bank/Account");
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    let mut arguments = vec![OsString::from("check"), out.into(), "--classes".into()];
    arguments.push(bank.path("classes/bank/Account.class").into());
    arguments.extend(["--fail-under".into(), "line=1".into()]);
    let ran = run(arguments);
    ran.says(&["warning[H0622]"]);
    assert_eq!(ran.code, Some(4), "{}", ran.error);
}

/// The class was rebuilt: one method changed, one was removed, one moved without a change.
#[test]
fn results_of_unchanged_methods_are_carried_over_on_request() {
    let before = ACCOUNT.replace(
        "    void add(",
        "    void clear() {\n        balance = 0;\n    }\n    int twice() {\n        return 2 * balance;\n    }\n    void add(",
    );
    let after = before.replace("balance = 0", "balance = 1").replace(
        "    int balance;",
        "\n\n    int balance;\n    static int added() {\n        return 3;\n    }",
    );
    let (ran_with, now) = (
        Compiled::new(&[("bank/Account.java", &before)]),
        Compiled::new(&[("bank/Account.java", &after)]),
    );
    let out = now.path("out");
    let class = ran_with.class("bank/Account");
    let file = snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    let classes = now.path("classes");
    let words: [&dyn AsRef<std::ffi::OsStr>; 4] = [&out, &"--carry-over", &"--classes", &classes];
    let (carried, ran) = xml(&now, &words);
    let said =
        "1 class ran in other versions: the hits of 3 of 5 methods with unchanged code count";
    ran.prints(&[said]);
    // All lines except the one of `added` and the two of `clear`.
    assert_eq!(lines(&carried), (3, 6), "{carried}");
    let (strict, _) = xml(
        &now,
        &words[..1]
            .iter()
            .chain(&words[2..])
            .copied()
            .collect::<Vec<_>>(),
    );
    assert_eq!(lines(&strict), (9, 0));

    // A snapshot without class files, and an `.exec` file, do not contain the executed version.
    std::fs::remove_file(file).unwrap();
    snapshot(&out, Meta::default(), false, &[(&class, Hits::All)]);
    let (unknown, ran) = xml(&now, &words);
    assert_eq!(lines(&unknown), (9, 0));
    ran.says(&["warning[H0622]: no match for bank/Account"]);
    let ran = run(["report".as_ref(), out.as_os_str(), "--carry-over".as_ref()]);
    ran.refused("H0606", &["--carry-over", "--classes"]);
}

/// `add` was entered, and only the line of its entry is recorded.
#[test]
fn begun_lines_count_and_are_merged() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    let probes = [
        ("coverage", &class[..], 4, Hits::None),
        ("coverage-lines", &class[..], 5, Hits::Only(&[1])),
    ];
    snapshot_of(&out, Meta::default(), true, &probes);
    let (begun, ran) = xml(&bank, &[&out]);
    ran.well();
    assert_eq!(lines(&begun), (4, 1));
    assert!(
        begun.contains("<line nr=\"5\" mi=\"0\" ci=\"2\" mb=\"2\" cb=\"0\"/>"),
        "{begun}"
    );
    let all = bank.path("all.hook");
    let merge = [
        OsString::from("merge"),
        out.into(),
        "--to".into(),
        all.clone().into(),
    ];
    run(merge).well();
    let (merged, _) = xml(&bank, &[&all]);
    assert_eq!(lines(&merged), (4, 1));
}

/// The class was rebuilt with moved lines.
#[test]
fn begun_lines_are_carried_over() {
    let now = bank();
    let moved = ACCOUNT.replacen("public class", "\npublic class", 1);
    let class = Compiled::new(&[("bank/Account.java", &moved)]).class("bank/Account");
    let out = now.path("out");
    let probes = [
        ("coverage", &class[..], 4, Hits::None),
        ("coverage-lines", &class[..], 5, Hits::Only(&[1])),
    ];
    snapshot_of(&out, Meta::default(), true, &probes);
    let classes = now.path("classes");
    let (begun, ran) = xml(&now, &[&out, &"--carry-over", &"--classes", &classes]);
    assert!(!ran.error.contains("H0622"), "{}", ran.error);
    assert!(
        begun.contains("<line nr=\"5\" mi=\"0\" ci=\"2\" mb=\"2\" cb=\"0\"/>"),
        "{begun}"
    );
}

/// As above, in a test that ended with an exception.
#[test]
fn test_that_began_a_line_executed_it() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    let found = |probes: &[(&str, &[u8], usize, Hits)]| {
        snapshot_of_test(&out, Meta::default(), true, probes, Some("BankTest#adds"));
        let words = [
            "tests-for".as_ref(),
            "Account.java:5".as_ref(),
            out.as_os_str(),
        ];
        let ran = run(words);
        std::fs::remove_dir_all(&out).unwrap();
        ran.out
    };
    let hit = |first, lines: &'static [usize]| {
        [
            ("coverage", &class[..], 4, Hits::Only(first)),
            ("coverage-lines", &class[..], 5, Hits::Only(lines)),
        ]
    };
    assert_eq!(found(&hit(&[], &[1])), "BankTest#adds\n");
    assert_eq!(found(&hit(&[0], &[0])), "");
    assert_eq!(found(&hit(&[1], &[0])), "BankTest#adds\n");
}

#[test]
fn exact_lines_and_counts_need_a_command() {
    for option in ["--exact-lines", "--hit-counts"] {
        let words = ["coverage", "1", option].map(OsString::from);
        run(words).refused("H0627", &[option, "plugin=coverage,plugin=coverage-lines"]);
    }
    let words = ["coverage", "1", "--per-loader"].map(OsString::from);
    run(words).refused("H0627", &["--per-loader", "per-loader=on"]);
}

#[test]
fn per_loader_is_refused_with_inputs_and_outputs_that_lack_loaders() {
    let bank = bank();
    let out = bank.path("out");
    let class = bank.class("bank/Account");
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    let refused = |more: &[&str], found: &str| {
        let words = ["report", out.to_str().unwrap(), "--per-loader"];
        let words = words.iter().chain(more).map(OsString::from);
        run(words).refused("H0606", &[found]);
    };
    refused(&[], "pid-0, recorded for all loaders together");
    let module = format!("a={}", bank.path("classes").display());
    let options = [
        ("--exec", "x"),
        ("--sonar", "x"),
        ("--diff", "HEAD"),
        ("--module", &module),
    ];
    for (option, value) in options {
        refused(
            &[option, value],
            &format!("{option} cannot be combined with --per-loader"),
        );
    }
}

#[test]
fn recorded_classes_outside_of_the_named_folders_are_counted() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    snapshot(&out, Meta::default(), false, &[(&class, Hits::All)]);
    let ran = run([OsString::from("report"), out.clone().into()]);
    assert_eq!(ran.code, Some(3));
    ran.says(&[
        "error[H0610]: the report is empty",
        "warning[H0618]: 1 recorded classes are not in the report",
        "bank/Account",
        "--classes",
    ]);
    let (xml, ran) = xml(
        &bank,
        &[&out, &"--classes", &bank.path("classes/bank/Account.class")],
    );
    ran.well();
    assert_eq!(lines(&xml), (0, 5));
}

#[test]
fn execution_data_makes_the_same_report() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    snapshot(
        &out,
        Meta {
            start_ms: 5,
            ..Meta::default()
        },
        true,
        &[(&class, Hits::Only(&[0]))],
    );
    let exec = bank.path("jacoco.exec");
    run([
        OsString::from("report"),
        out.clone().into(),
        "--exec".into(),
        exec.clone().into(),
    ])
    .well();
    let classes = bank.path("classes");
    let (from_snapshot, _) = xml(&bank, &[&out, &"--classes", &classes]);
    let (from_exec, ran) = xml(&bank, &[&exec, &"--classes", &classes]);
    ran.well();
    assert_eq!(from_exec, from_snapshot);
}

#[test]
fn selectors_choose_what_is_reported() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    let classes = bank.path("classes");
    let (xml, ran) = xml(
        &bank,
        &[&out, &"--classes", &classes, &"--select", &"!bank.Acc*"],
    );
    ran.well();
    assert!(
        xml.contains("bank/Never") && !xml.contains("bank/Account"),
        "{xml}"
    );
}

#[test]
fn every_format_is_written_and_named() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    let mut words: Vec<OsString> = vec![
        "report".into(),
        out.into(),
        "--sources".into(),
        bank.path("src").into(),
    ];
    let formats = ["html", "xml", "csv", "lcov", "cobertura", "exec"];
    for format in formats {
        words.extend([
            format!("--{format}").into(),
            bank.path("made").join(format).into(),
        ]);
    }
    let ran = run(words).well();
    let read = |name: &str| fs::read_to_string(bank.path("made").join(name)).unwrap();
    assert!(read("xml").contains("-//JACOCO//DTD Report 1.1//EN"));
    assert!(read("csv").contains("bank,Account,"), "{}", read("csv"));
    assert!(read("lcov").contains("SF:") && read("lcov").contains("end_of_record"));
    assert!(read("cobertura").contains("<coverage "));
    assert!(
        fs::read(bank.path("made/exec"))
            .unwrap()
            .starts_with(b"\x01\xC0\xC0\x10\x07")
    );
    assert!(read("html/index.html").contains("bank"));
    assert!(
        all_text(&bank.path("made/html")).contains("balance += amount"),
        "the source is shown"
    );
    assert_eq!(
        ran.out
            .lines()
            .filter(|line| line.starts_with("wrote "))
            .count(),
        formats.len(),
        "{}",
        ran.out
    );
}

/// `-` is standard output for one text, and never the name of a file.
#[test]
fn dash_is_standard_output_for_a_single_text() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    let report = |words: &[&str]| {
        let words = words.iter().map(OsString::from);
        run([OsString::from("report"), out.clone().into()]
            .into_iter()
            .chain(words))
    };
    for (option, begin) in [("--xml", "<?xml"), ("--csv", "GROUP,"), ("--json", "{")] {
        let ran = report(&[option, "-", "--fail-under", "line=50"]);
        assert_eq!(ran.code, Some(0), "{}", ran.error);
        assert!(ran.out.starts_with(begin), "{}", ran.out);
        assert!(!ran.out.contains("holds"), "{}", ran.out);
        ran.says(&["the rule holds"]);
    }
    report(&["--xml", "-", "--csv", "-"]).refused("H0670", &["both write to standard output"]);
    for option in ["--html", "--exec", "--results-csv"] {
        let ran = report(&[option, "-"]);
        assert_eq!(ran.code, Some(2), "{}", ran.error);
        ran.says(&[option, "standard output takes one text"]);
    }
    assert!(!Path::new("-").exists());
}

/// All files of a folder as one text.
fn all_text(folder: &Path) -> String {
    let paths = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    paths
        .map(|path| {
            if path.is_dir() {
                all_text(&path)
            } else {
                String::from_utf8_lossy(&fs::read(path).unwrap()).into()
            }
        })
        .collect()
}

#[test]
fn without_formats_a_table_is_printed() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    let ran = run([OsString::from("report"), out.into()]).well();
    assert!(ran.out.contains("bank"), "{}", ran.out);
}

#[test]
fn classes_of_the_jdk_come_from_its_modules() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    let javac = fs::canonicalize(which("javac")).unwrap();
    let home = javac.parent().unwrap().parent().unwrap();
    let meta = Meta {
        java_home: home.to_str().unwrap().into(),
        java_feature: 17,
        ..Meta::default()
    };
    snapshot(&out, meta, true, &[(&class, Hits::All)]);
    for place in ["jrt:java.rmi", "jrt:/java.rmi"] {
        let (xml, ran) = xml(&bank, &[&out, &"--classes", &place]);
        ran.well();
        assert!(xml.contains("class name=\"java/rmi/Naming\""), "{place}");
    }
    let ran = run([
        OsString::from("report"),
        out.into(),
        "--classes".into(),
        "jrt:no.such.module".into(),
    ]);
    ran.refused("H0614", &["no.such.module", "--list-modules"]);
}

fn which(name: &str) -> std::path::PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .unwrap()
}

#[test]
fn truncated_snapshot_is_reported_up_to_its_end() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let file = snapshot(
        &bank.path("out"),
        Meta::default(),
        true,
        &[(&class, Hits::All)],
    );
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 7]).unwrap();
    let (xml, ran) = partial_xml(&bank, &[&file]);
    ran.says(&["warning[H0615]", "killed while writing"]);
    assert_eq!((ran.code, lines(&xml)), (Some(3), (0, 5)));
    let words = ["check".into(), file.into(), "--fail-under=line=80".into()];
    assert_eq!(run::<OsString>(words).code, Some(3));
}

#[test]
fn outputs_of_traces_are_refused_without_a_trace() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let file = snapshot(
        &bank.path("out"),
        Meta::default(),
        true,
        &[(&class, Hits::All)],
    );
    let words = ["report".into(), file.into(), "--flame-graph".into()];
    let ran = run(words.into_iter().chain([OsString::from("flame.svg")]));
    ran.refused("H0610", &["no trace for --flame-graph"]);
}

#[test]
fn report_of_a_killed_jvm_says_so() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let file = snapshot(
        &bank.path("out"),
        Meta {
            pid: 4711,
            ..Meta::default()
        },
        true,
        &[(&class, Hits::All)],
    );
    let whole = fs::read(&file).unwrap();
    let end = whole
        .windows(4)
        .rposition(|bytes| bytes == [0xC5, 0xA7, 7, 0])
        .unwrap();
    fs::write(&file, &whole[..end]).unwrap();
    let (xml, ran) = partial_xml(&bank, &[&file]);
    ran.says(&[
        "warning[H0615]",
        "was not finished",
        "killed, or is still running elsewhere",
    ]);
    assert_eq!((ran.code, lines(&xml)), (Some(3), (0, 5)));
    let said = "may be missing: it was killed, or still runs elsewhere";
    let merged = bank.path("merged.hook");
    let words = [
        "merge".into(),
        file.clone().into(),
        "--to".into(),
        merged.clone().into(),
    ];
    assert_eq!(run::<OsString>(words).code, Some(3));
    for file in [&file, &merged] {
        assert_missing_part_is_reported(&bank, file, said);
    }
    // An unreadable file is missing, too.
    let damaged = bank.path("damaged.hook");
    fs::write(&damaged, &whole[..9]).unwrap();
    assert_missing_part_is_reported(&bank, &damaged, "damaged.hook, which has no record");
    // A file that its JVM, played by this process, has open.
    let own = format!("classhook-{}-1-1.hook", std::process::id());
    let running = bank.path("out").join(own);
    fs::rename(&file, &running).unwrap();
    let _open = fs::File::open(&running).unwrap();
    let (xml, ran) = self::xml(&bank, &[&running]);
    ran.says(&["warning[H0615]", "its JVM is still running"]);
    assert_eq!(lines(&xml), (0, 5));
    fs::write(bank.path("out/classhook-1-1-1.hook"), "").unwrap();
    let (_, ran) = partial_xml(&bank, &[&bank.path("out")]);
    ran.says(&["classhook-1-1-1.hook is left out"]);
    assert_eq!(ran.code, Some(3), "a JVM has left nothing");
}

/// Checks that each report with space for text mentions the file, also beside a complete one.
fn assert_missing_part_is_reported(bank: &Compiled, file: &Path, said: &str) {
    let class = bank.class("bank/Account");
    let whole = snapshot(
        &bank.path("whole"),
        Meta::default(),
        true,
        &[(&class, Hits::All)],
    );
    let outputs = [
        ("--html", "html", "html/index.html"),
        ("--json", "all.json", "all.json"),
        ("--markdown", "all.md", "all.md"),
    ];
    let mut words: Vec<OsString> = vec!["report".into(), file.into(), whole.into()];
    for (option, place, _) in outputs {
        words.extend([option.into(), bank.path(place).into()]);
    }
    let ran = run(words);
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    for (_, _, file) in outputs {
        let text = fs::read_to_string(bank.path(file)).unwrap();
        assert!(text.contains(said), "{file}: {text}");
    }
}

#[test]
fn empty_report_fails_with_a_message() {
    let bank = bank();
    let file = snapshot(&bank.path("out"), Meta::default(), true, &[]);
    let (_, ran) = partial_xml(&bank, &[&file]);
    ran.says(&["error[H0610]: the report is empty"]);
    assert_eq!(ran.code, Some(3));
}

#[test]
fn folders_without_a_class_file_make_the_report_fail() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    let empty = bank.path("empty");
    fs::create_dir(&empty).unwrap();
    let (_, ran) = partial_xml(&bank, &[&out, &"--classes", &empty]);
    ran.says(&["error[H0610]: the report is empty", "--classes"]);
    assert_eq!(ran.code, Some(3), "{}", ran.error);
}

#[test]
fn unanalysable_class_makes_the_report_partial() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    let cut_off = bank.path("classes/bank/Never.class");
    let bytes = fs::read(&cut_off).unwrap();
    fs::write(&cut_off, &bytes[..bytes.len() / 2]).unwrap();
    let (json, classes) = (bank.path("all.json"), bank.path("classes"));
    let (xml, ran) = partial_xml(&bank, &[&out, &"--classes", &classes, &"--json", &json]);
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    ran.says(&["warning[H0619]", "Never.class is left out of the report"]);
    assert_eq!(lines(&xml), (0, 5));
    let json: serde_json::Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    let missing = json["incomplete"][0].as_str().unwrap();
    assert!(
        missing.contains("Never.class, which cannot be analysed"),
        "{missing}"
    );
}

#[test]
fn unreadable_file_does_not_affect_other_files() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    fs::write(bank.path("classes/bank/Empty.class"), "").unwrap();
    fs::write(bank.path("classes/cut.jar"), "PK\x03\x04 and no more").unwrap();
    let (json, classes) = (bank.path("all.json"), bank.path("classes"));
    let (xml, ran) = partial_xml(&bank, &[&out, &"--classes", &classes, &"--json", &json]);
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    ran.says(&[
        "warning[H0619]",
        "Empty.class is left out of the report",
        "Empty.class is neither a class file nor an archive",
        "cut.jar is left out of the report",
        "--strict-inputs makes this an error",
    ]);
    assert_eq!(lines(&xml), (2, 5));
    let json: serde_json::Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    assert_eq!(json["incomplete"].as_array().unwrap().len(), 2, "{json}");
    let words = ["report", "--strict-inputs", "--classes"].map(OsString::from);
    let strict = [out.clone().into(), classes.clone().into()];
    run(words.into_iter().chain(strict.into_iter().rev())).refused("H0613", &["Empty.class"]);
    let verified = run([OsString::from("verify"), classes.into()]);
    assert_eq!(verified.code, Some(1), "{}", verified.error);
    verified.says(&["warning[H0632]", "Empty.class", "cut.jar"]);
    assert!(
        verified.out.contains("2  cannot be read"),
        "{}",
        verified.out
    );
}

#[test]
fn mistakes_are_reported_with_advice() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let file = snapshot(
        &bank.path("out"),
        Meta::default(),
        true,
        &[(&class, Hits::All)],
    );
    let word = |text: &str| OsString::from(text);
    run([word("report"), word("/nowhere")]).refused("H0612", &["/nowhere"]);
    run([word("report"), bank.path("src").into()]).refused(
        "H0610",
        &["no snapshot, event file or .exec file in", "classhook run"],
    );
    run([word("report"), bank.path("src/bank/Never.java").into()])
        .refused("H0611", &["no snapshot"]);
    run([
        word("report"),
        file.clone().into(),
        word("--classes"),
        word("/nowhere.jar"),
    ])
    .refused("H0612", &["/nowhere.jar"]);
    run([
        word("report"),
        file.clone().into(),
        word("--select"),
        word("a***"),
    ])
    .refused("H0606", &["a***"]);
    run([
        word("report"),
        file.clone().into(),
        word("--html"),
        bank.path("src").into(),
    ])
    .refused("H0621", &["not empty"]);
    let csv = bank.path("all.csv");
    let ran = run([
        word("report"),
        file.clone().into(),
        word("--xml"),
        word("/proc/x/y.xml"),
        word("--csv"),
        csv.clone().into(),
    ]);
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    ran.says(&["error[H0620]", "/proc/x/y.xml"]);
    assert!(csv.exists(), "one file costs no other");
    assert!(ran.out.contains("all.csv"), "{}", ran.out);
    let mut damaged = fs::read(&file).unwrap();
    damaged[40] ^= 1;
    fs::write(&file, damaged).unwrap();
    run([word("report"), file.into()]).refused("H0611", &["damaged at byte 16", "expected"]);
}

#[test]
fn damaged_snapshot_in_a_folder_does_not_stop_the_report_of_the_others() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    fs::write(out.join("noise.hook"), b"no snapshot at all").unwrap();
    let whole = fs::read_dir(&out).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        (!path.ends_with("noise.hook")).then_some(path)
    });
    let mut bytes = fs::read(whole.unwrap()).unwrap();
    bytes[40] ^= 0xFF; // within the first record, with whole ones behind it
    fs::write(out.join("damaged.hook"), bytes).unwrap();
    let report = bank.path("report.xml");
    let words = |more: &[&str]| -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["report".into(), out.clone().into()];
        words.extend(["--xml".into(), report.clone().into()]);
        words.extend(more.iter().map(OsString::from));
        words
    };
    let ran = run(words(&[]));
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    ran.says(&[
        "warning[H0672]",
        "noise.hook is left out",
        "damaged.hook is left out",
    ]);
    assert_eq!(lines(&fs::read_to_string(&report).unwrap()), (0, 5));
    fs::remove_file(&report).unwrap();
    let ran = run(words(&["--strict-inputs"]));
    assert_eq!(ran.code, Some(2), "{}", ran.error);
    ran.says(&["error[H0611]"]);
    assert!(!report.exists());
}

#[test]
fn lcov_and_cobertura_name_files_that_exist() {
    let modules = Compiled::new(&[
        ("core/src/main/java/bank/Account.java", ACCOUNT),
        ("app/src/main/java/bank/Never.java", NEVER),
    ]);
    let class = modules.class("bank/Account");
    let out = modules.path("out");
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    let path = |name: &str| OsString::from(modules.path(name));
    run([
        "report".into(),
        path("out"),
        "--classes".into(),
        path("classes"),
        "--sources".into(),
        path("src/core/src/main/java"),
        "--sources".into(),
        path("src/app/src/main/java"),
        "--lcov".into(),
        path("lcov.info"),
        "--cobertura".into(),
        path("cobertura.xml"),
    ])
    .well();
    let read = |name: &str| fs::read_to_string(modules.path(name)).unwrap();
    let lcov = read("lcov.info");
    let named: Vec<&str> = lcov
        .lines()
        .filter_map(|line| line.strip_prefix("SF:"))
        .collect();
    assert_eq!(named.len(), 2, "{named:?}");
    assert!(
        named.iter().all(|path| Path::new(path).is_file()),
        "{named:?}"
    );
    let cobertura = read("cobertura.xml");
    let between = |text: &str, begin: &str, end: &str| -> Vec<String> {
        let parts = text.split(begin).skip(1);
        parts
            .filter_map(|part| Some(part.split(end).next()?.to_owned()))
            .collect()
    };
    let folder = between(&cobertura, "<source>", "</source>");
    let files = between(&cobertura, "filename=\"", "\"");
    assert_eq!((folder.len(), files.len()), (1, 2), "{cobertura}");
    let exists = |file: &String| Path::new(&folder[0]).join(file).is_file();
    assert!(files.iter().all(exists), "{folder:?} {files:?}");
}

#[test]
fn missing_dashes_are_reported_with_the_right_command() {
    let ran = run(["coverage", "--xml", "c.xml", "mvn", "test"].map(OsString::from));
    assert_eq!(ran.code, Some(2));
    ran.says(&["error[H0674]", "classhook coverage --xml c.xml -- mvn test"]);
}

#[test]
fn selectors_without_a_match_and_empty_ones_are_refused() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    snapshot(&out, Meta::default(), true, &[(&class, Hits::All)]);
    for (select, told) in [
        ("bank", "nearest  bank.** (1 class)"),
        ("bank.Acount", "nearest  bank.Account"),
        ("loader:app", "snapshots have no loaders of classes"),
        ("location:classes", "--classes"),
    ] {
        let words = [
            "report".into(),
            out.clone().into(),
            "--select".into(),
            OsString::from(select),
        ];
        let ran = run(words);
        assert_eq!(ran.code, Some(2), "{}", ran.error);
        ran.says(&[told]);
    }
}

#[test]
fn json_holds_the_numbers_of_the_xml() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    snapshot(&out, Meta::default(), true, &[(&class, Hits::Only(&[0]))]);
    let json = bank.path("report.json");
    let words: [&dyn AsRef<std::ffi::OsStr>; 7] = [
        &out,
        &"--classes",
        &bank.path("classes"),
        &"--json",
        &json,
        &"--sources",
        &bank.path("src"),
    ];
    let (xml, ran) = xml(&bank, &words);
    ran.well();
    let json: serde_json::Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    assert_eq!(
        (&json["format"], &json["version"]),
        (&"classhook-coverage".into(), &1.into())
    );
    let (missed, covered) = lines(&xml);
    assert_eq!(
        json["counters"]["line"],
        serde_json::json!({ "missed": missed, "covered": covered })
    );
    let package = &json["packages"][0];
    assert_eq!(package["name"], "bank");
    let files = package["sourceFiles"].as_array().unwrap();
    let all = files
        .iter()
        .flat_map(|file| file["lines"].as_array().unwrap());
    let all: Vec<String> = all
        .map(|line| {
            let value = |key: &str| format!("{key}=\"{}\"", line[key]);
            ["nr", "mi", "ci", "mb", "cb"].map(value).join(" ")
        })
        .collect();
    assert_eq!(all.len(), xml.matches("<line ").count());
    assert!(all.iter().all(|line| xml.contains(line)), "{all:?}");
    assert!(
        files[0]["path"]
            .as_str()
            .unwrap()
            .ends_with("src/bank/Account.java")
    );
    let methods = package["classes"][0]["methods"].as_array().unwrap();
    assert_eq!(
        (&methods[1]["name"], &methods[1]["line"]),
        (&"add".into(), &5.into())
    );
}
