//! Classes of `classhook report`, and other files beside class files.

#[path = "support/command.rs"]
mod support;

use std::ffi::OsString;
use std::fs;

use probes::Meta;
use support::{ACCOUNT, Compiled, Hits, Ran, bank, run, snapshot};

/// Runs `report` with these words, and reads the XML that it writes.
fn xml(bank: &Compiled, words: &[&dyn AsRef<std::ffi::OsStr>]) -> (String, Ran) {
    let path = bank.path("report.xml");
    let mut all: Vec<OsString> = vec!["report".into(), "--xml".into(), path.clone().into()];
    all.extend(words.iter().map(|word| word.as_ref().to_owned()));
    let ran = run(all);
    (fs::read_to_string(path).unwrap(), ran)
}

#[test]
fn pipes_and_dangling_links_named_as_class_files_are_left_out_and_named() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let classes = bank.path("classes");
    let file = snapshot(
        &bank.path("out"),
        Meta::default(),
        true,
        &[(&class, Hits::All)],
    );
    let pipe = std::process::Command::new("mkfifo")
        .arg(classes.join("Pipe.class"))
        .status();
    assert!(pipe.unwrap().success());
    std::os::unix::fs::symlink("nowhere", classes.join("Link.class")).unwrap();
    let (xml, ran) = xml(&bank, &[&file, &"--classes", &classes]);
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    ran.says(&[
        "Pipe.class is left out of the report",
        "a pipe, a socket or a device",
        "Link.class is left out of the report",
        "a link to a file that does not exist",
    ]);
    assert!(xml.contains("bank/Account"), "{xml}");
    let place = classes.join("Pipe.class");
    let words: [&std::ffi::OsStr; 4] = [
        "report".as_ref(),
        file.as_ref(),
        "--classes".as_ref(),
        place.as_ref(),
    ];
    run(words).refused("H0613", &["Pipe.class is no file"]);
}

#[test]
fn classes_that_libraries_generate_at_run_time_are_not_reported() {
    let generated = "bank/Account$$EnhancerBySpringCGLIB$$1a2b";
    let source = "package bank; class Account$$EnhancerBySpringCGLIB$$1a2b { int x = 1; }";
    let place = Compiled::new(&[
        ("bank/Account.java", ACCOUNT),
        (&format!("{generated}.java"), source),
    ]);
    let classes = ["bank/Account", generated].map(|name| place.class(name));
    let recorded = classes
        .each_ref()
        .map(|bytes| (bytes.as_slice(), Hits::All));
    let file = snapshot(&place.path("out"), Meta::default(), true, &recorded);
    let (text, ran) = xml(&place, &[&file]);
    assert!(
        text.contains("bank/Account\"") && !text.contains("CGLIB"),
        "{text}"
    );
    assert!(
        ran.out
            .contains("left out: 1 class that libraries generated at run time\n"),
        "{}",
        ran.out
    );
    let (text, _) = xml(&place, &[&file, &"--classes", &place.path("classes")]);
    assert!(
        text.contains("CGLIB"),
        "a class file that the build made counts"
    );
}

#[test]
fn unknown_module_names_are_refused_before_the_program_runs() {
    let bank = bank();
    let ran_first = bank.path("ran-first");
    let words: [&std::ffi::OsStr; 6] = [
        "coverage".as_ref(),
        "--classes".as_ref(),
        "jrt:a/b".as_ref(),
        "--".as_ref(),
        "touch".as_ref(),
        ran_first.as_ref(),
    ];
    run(words).refused("H0614", &["names no module", "jrt:MODULE"]);
    assert!(!ran_first.exists());
}

#[test]
fn help_says_that_reports_go_to_standard_output() {
    let ran = run(["report", "--help"]);
    let text: String = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("--markdown <FILE> Write a summary in Markdown"),
        "{text}"
    );
    assert!(text.contains("or to standard output (-)"), "{text}");
    assert!(
        text.contains("Each output FILE can be -, for standard output"),
        "{text}"
    );
}

#[test]
fn files_without_a_record_are_refused_with_the_cause_and_no_report_is_written() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let whole = snapshot(
        &bank.path("whole"),
        Meta::default(),
        true,
        &[(&class, Hits::All)],
    );
    let whole = fs::read(whole).unwrap();
    let junk: Vec<u8> = (0..4_000_u32).map(|byte| (byte * 37 % 251) as u8).collect();
    let header = &whole[..16];
    let ended = "its JVM ended before it recorded data";
    for (name, bytes, code, said) in [
        ("text.hook", b"no snapshot".to_vec(), 2, "is no snapshot"),
        (
            "junk.hook",
            [header, &junk].concat(),
            2,
            "damaged at byte 16: expected a record",
        ),
        (
            "head.hook",
            [&header[..8], &junk].concat(),
            2,
            "damaged at byte 12",
        ),
        ("empty.hook", Vec::new(), 3, ended),
        ("cut.hook", whole[..60].to_vec(), 3, ended),
        ("zeros.hook", [header, &[0; 500]].concat(), 3, ended),
    ] {
        let file = bank.path(name);
        fs::write(&file, bytes).unwrap();
        let xml = bank.path("never.xml");
        let words: [&std::ffi::OsStr; 4] = [
            "report".as_ref(),
            file.as_ref(),
            "--xml".as_ref(),
            xml.as_ref(),
        ];
        let ran = run(words);
        assert_eq!(ran.code, Some(code), "{name}: {}", ran.error);
        assert!(ran.error.contains(said), "{name}: {}", ran.error);
        assert!(
            !ran.error.contains("classes of the JDK"),
            "{name}: {}",
            ran.error
        );
        assert!(!xml.exists(), "{name}");
    }
}

#[test]
fn excluded_annotations_leave_out_classes_and_methods() {
    let marked = "package bank;
@interface NoCoverage {}
class Marked {
    int kept() { return 1; }
    @NoCoverage Runnable made() { return () -> kept(); }
    @NoCoverage int two(int x) { return x; }
    int two() { return 2; }
}
@NoCoverage class Whole {
    class Inner { int x = 1; }
}
";
    let place = Compiled::new(&[("bank/Account.java", ACCOUNT), ("bank/Marked.java", marked)]);
    let names = [
        "bank/Account",
        "bank/Marked",
        "bank/Whole",
        "bank/Whole$Inner",
    ];
    let classes = names.map(|name| place.class(name));
    let recorded = classes
        .each_ref()
        .map(|bytes| (bytes.as_slice(), Hits::All));
    let file = snapshot(&place.path("out"), Meta::default(), true, &recorded);
    for places in [&[][..], &["--classes", "classes"]] {
        let classes = place.path("classes");
        let words = places.iter().map(|word| match *word {
            "classes" => classes.clone().into_os_string(),
            word => word.into(),
        });
        let words: Vec<OsString> = words
            .chain(["--exclude-annotation".into(), "NoCoverage".into()])
            .collect();
        let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&file];
        all.extend(words.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        let (text, ran) = xml(&place, &all);
        assert_eq!(ran.code, Some(0), "{}", ran.error);
        assert!(
            text.contains("bank/Account\"") && !text.contains("bank/Whole"),
            "{text}"
        );
        let methods: Vec<&str> = text
            .split("bank/Marked\"")
            .nth(1)
            .unwrap()
            .split("<method name=\"")
            .skip(1)
            .collect();
        let methods: Vec<&str> = methods
            .iter()
            .map(|method| method.split("\" line").next().unwrap())
            .collect();
        let methods = methods.into_iter().take(3).collect::<Vec<_>>();
        assert_eq!(
            methods,
            [
                "&lt;init&gt;\" desc=\"()V",
                "kept\" desc=\"()I",
                "two\" desc=\"()I"
            ],
            "{text}"
        );
        let left_out = "left out: 1 class and 3 methods, because of --exclude-annotation\n";
        assert!(ran.out.contains(left_out), "{}", ran.out);
    }
    let words: [&std::ffi::OsStr; 4] = [
        "report".as_ref(),
        file.as_ref(),
        "--exclude-annotation".as_ref(),
        "a/b".as_ref(),
    ];
    run(words).refused("H0606", &["`a/b` is no name of an annotation"]);
}

#[test]
fn selectors_and_annotations_that_match_nothing_are_named() {
    let marked = "package bank;
@interface NoCoverage {}
class Marked {
    int kept() { return 1; }
    @NoCoverage int two() { return 2; }
}
";
    let place = Compiled::new(&[("bank/Account.java", ACCOUNT), ("bank/Marked.java", marked)]);
    let marked = place.class("bank/Marked");
    let recorded = [(marked.as_slice(), Hits::All)];
    let file = snapshot(&place.path("out"), Meta::default(), true, &recorded);
    let classes = place.path("classes");
    let words: [&std::ffi::OsStr; 14] = [
        "check".as_ref(),
        file.as_ref(),
        "--classes".as_ref(),
        classes.as_ref(),
        "--exclude-annotation".as_ref(),
        "NoCoverag".as_ref(),
        "--exclude-annotation".as_ref(),
        "NoCoverage".as_ref(),
        "--select".as_ref(),
        "!bank.Acc*;!bank.Acco".as_ref(),
        "--fail-under".as_ref(),
        "line=1".as_ref(),
        "--name".as_ref(),
        "filtered".as_ref(),
    ];
    let ran = run(words);
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    for unmatched in [
        "warning[H0671]: --exclude-annotation NoCoverag matches no annotation of a class or method\n",
        "warning[H0671]: --select !bank.Acco matches no class of the report's locations\n",
    ] {
        assert!(ran.error.contains(unmatched), "{}", ran.error);
    }
    assert_eq!(ran.error.matches("H0671").count(), 2, "{}", ran.error);
    assert!(
        ran.out.contains("left out: 1 class, because of --select\n"),
        "{}",
        ran.out
    );
}
