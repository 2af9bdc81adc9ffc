//! The files of `java/cases`: output unchanged, and every line as its comment states, in JaCoCo's report and in ours.

use e2e_tests::cases::{self, Case, Lines};
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{jacoco, javac, scratch, workspace};
use jacoco_files::XmlReport;

fn check(name: &str, compare: fn(&Case, &Jdk)) {
    let cases = cases::all();
    let case = cases
        .iter()
        .find(|case| case.file.ends_with(format!("{name}.java")));
    let case = case.unwrap_or_else(|| panic!("there is no case {name}"));
    case.jdks().for_each(|jdk| compare(case, jdk));
}

/// Checks the comments against JaCoCo.
fn by_jacoco(case: &Case, jdk: &Jdk) {
    let folder = scratch();
    let classes = case.compile(jdk, folder.path());
    let exec = folder.path().join("jacoco.exec");
    case.assert_run(&case.java(jdk, &classes).run());
    case.assert_run(
        &case
            .java(jdk, &classes)
            .option(jacoco::agent_option(&exec, None))
            .run(),
    );
    let report = jacoco::report(&exec, &classes, &folder.path().join("jacoco.xml"));
    case.assert_lines(&report, &format!("JaCoCo on {}", jdk.feature));
}

fn by_classhook(case: &Case, jdk: &Jdk) {
    let folder = scratch();
    let classes = case.compile(jdk, folder.path());
    let snapshots = folder.path().join("snapshots");
    let java = case
        .java(jdk, &classes)
        .option("-Xverify:all")
        .agent(Some(&case.agent_options(&snapshots)));
    case.assert_run(&java.run());
    let xml = folder.path().join("classhook.xml");
    let report = Java::program(workspace::classhook())
        .argument("report")
        .argument(&snapshots);
    report
        .argument("--xml")
        .argument(&xml)
        .run()
        .assert_success();
    case.assert_lines(
        &XmlReport::read(&xml),
        &format!("Classhook on {}", jdk.feature),
    );
}

macro_rules! cases {
    ($($test:ident = $name:literal),* $(,)?) => {
        mod jacoco_agrees_with_the_comments {
            $(#[test]
            fn $test() {
                super::check($name, super::by_jacoco);
            })*
        }

        mod classhook_shows_what_the_comments_say {
            $(#[test]
            fn $test() {
                super::check($name, super::by_classhook);
            })*
        }

        #[test]
        fn every_case_is_run() {
            for case in cases::all() {
                let tested = [$($name),*].iter().any(|name| case.file.ends_with(format!("{name}.java")));
                assert!(tested, "{} is not run", case.file.display());
            }
        }
    };
}

cases! {
    branches = "Branches",
    exceptions = "Exceptions",
    switches = "Switches",
}

/// Code behind JaCoCo's probes that ran before an exception is covered up to it. The file for JaCoCo's tools is
/// unchanged.
#[test]
fn lines_that_ended_with_an_exception_are_covered_up_to_it_on_request() {
    let cases = cases::all();
    let case = cases
        .iter()
        .find(|case| case.file.ends_with("Exceptions.java"));
    let case = case.expect("the case is there");
    let jdk = &jdks::main_in_turn("exact lines")[0];
    let folder = scratch();
    let classes = case.compile(jdk, folder.path());
    let [xml, exec, plain] =
        ["exact.xml", "all.exec", "plain.xml"].map(|name| folder.path().join(name));
    let java = case.java(jdk, &classes).option("-Xverify:all");
    let run = Java::program(workspace::classhook())
        .folder(folder.path())
        .arguments(&["coverage", "--exact-lines", "--xml"])
        .argument(&xml)
        .argument("--exec")
        .argument(&exec)
        .argument("--")
        .arguments(&java.words())
        .run();
    run.assert_exit(7);
    let mut text = std::fs::read_to_string(&case.file).expect("the source");
    for (line, exact) in [
        ("text.length();", "partly"), // its result was not dropped
        ("refuse(true);", "covered"),
        ("fail();", "covered"),
        ("System.exit(7);", "covered"),
    ] {
        let missed = format!("{line} // missed");
        assert!(text.contains(&missed), "{text}");
        text = text.replace(&missed, &format!("{line} // {exact}"));
    }
    let exact = Lines::read(&text).differences("", &case.file, &XmlReport::read(&xml));
    assert_eq!(exact, Vec::<String>::new());
    let report = Java::program(workspace::classhook())
        .argument("report")
        .argument(&exec);
    let report = report.argument("--classes").argument(&classes);
    report
        .argument("--xml")
        .argument(&plain)
        .run()
        .assert_success();
    case.assert_lines(&XmlReport::read(&plain), "the file for JaCoCo's tools");
}

/// Comments of the source state how often each line is executed, by several threads, and with exceptions.
#[test]
fn lines_are_counted_on_request() {
    let jdk = &jdks::main_in_turn("line counts")[0];
    let folder = scratch();
    let sources = workspace::test_file("java/counts");
    let file = sources.join("p/Counted.java");
    let classes = javac::compile(jdk, &[&file], &folder.path().join("classes"), &["-g"]);
    let java = Java::new(jdk).class_path(&[&classes]).argument("p.Counted");
    let run = Java::program(workspace::classhook())
        .folder(folder.path())
        .arguments(&["coverage", "--hit-counts", "--output", "out"])
        .arguments(&["--lcov", "lcov.info", "--cobertura", "cobertura.xml"])
        .arguments(&["--json", "all.json", "--html", "html", "--sources"])
        .argument(&sources)
        .argument("--")
        .arguments(&java.words())
        .run();
    run.assert_success();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect(name);
    let [lcov, cobertura, json] = ["lcov.info", "cobertura.xml", "all.json"].map(read);
    let html = read("html/pkg/p/src-Counted.java.html");
    let methods = [
        "3,p/Counted.loop(I)V",
        "10,p/Counted.refuse(I)V",
        "80000,p/Counted.together()V",
    ];
    for method in methods {
        assert!(lcov.contains(&format!("\nFNDA:{method}\n")), "{lcov}");
    }
    let text = std::fs::read_to_string(&file).expect("the source");
    let mut counted = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let Some((_, times)) = line.split_once("// ") else {
            continue;
        };
        counted += 1;
        assert!(lcov.contains(&format!("\nDA:{number},{times}\n")), "{lcov}");
        let of_cobertura = format!("number=\"{number}\" hits=\"{times}\"");
        assert!(cobertura.contains(&of_cobertura), "{number}: {cobertura}");
        let lines = json
            .split("\"nr\":")
            .filter(|part| part.contains("\"times\":"));
        let mut found = lines.filter(|part| part.starts_with(&format!("{number},")));
        let found = found.next().expect("the line");
        assert!(found.contains(&format!("\"times\":{times}}}")), "{found}");
        let words = match times {
            "0" => "not executed".to_owned(),
            "1" => "executed once".to_owned(),
            times => format!("executed {times} times"),
        };
        assert!(
            html.contains(&format!("href=#L{number} title=\"{words}\"")),
            "{html}"
        );
    }
    assert_eq!(counted, 13, "lines with comments");
    let again = Java::program(workspace::classhook())
        .folder(folder.path())
        .arguments(&["report", "out", "--sources"])
        .argument(&sources)
        .arguments(&["--lcov", "again.info"])
        .run();
    again.assert_success();
    assert_eq!(read("again.info"), lcov);
}

/// The class has the same name and bytes in two loaders, which would share its probes.
#[test]
fn class_of_two_locations_is_measured_in_the_selected_one() {
    let jdk = &jdks::newest();
    let folder = scratch();
    let sources = workspace::test_file("java/places");
    let [shop, blog] = ["webapps/shop", "webapps/blog"].map(|place| {
        let place = folder.path().join(place);
        javac::compile(jdk, &[&sources.join("p/Shared.java")], &place, &["-g"])
    });
    let main = folder.path().join("main");
    let main = javac::compile(jdk, &[&sources.join("Places.java")], &main, &[]);
    let java = Java::new(jdk).class_path(&[&main]).main("Places");
    let java = java.argument(&shop).argument(&blog);
    for (select, first, second) in [
        ("location:webapps/shop", 1, 0),
        ("location:webapps/blog", 0, 1),
    ] {
        let run = Java::program(workspace::classhook())
            .folder(folder.path())
            .arguments(&["coverage", "--select", select, "--lcov", "lcov.info", "--"])
            .arguments(&java.words())
            .run();
        run.assert_success();
        let lcov = std::fs::read_to_string(folder.path().join("lcov.info")).expect("a report");
        for (line, executed) in [(7, first), (9, second)] {
            assert!(
                lcov.contains(&format!("\nDA:{line},{executed}\n")),
                "{select}: {lcov}"
            );
        }
    }
}
