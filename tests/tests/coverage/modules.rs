//! Reports over several modules, and rules over each, against JaCoCo's own API, used as its build plugins do.

use super::jacoco_analysis::{Hits, describe_all, execution, unpack};
use e2e_tests::java::Java;
use e2e_tests::workspace::{classhook, test_file};
use e2e_tests::{artifacts, jdks, scratch};
use jacoco_files::XmlReport;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Two libraries: one has code without line numbers and old code, the other nested and generic classes.
const MODULES: [&str; 2] = ["gson", "luaj"];

const ELEMENTS: [&str; 5] = ["BUNDLE", "PACKAGE", "CLASS", "SOURCEFILE", "METHOD"];
const COUNTERS: [&str; 6] = [
    "INSTRUCTION",
    "BRANCH",
    "LINE",
    "COMPLEXITY",
    "METHOD",
    "CLASS",
];
/// Value of a counter, minimum and maximum.
const VALUES: [(&str, &str, &str); 5] = [
    ("TOTALCOUNT", "3", "-"),
    ("MISSEDCOUNT", "-", "1"),
    ("COVEREDCOUNT", "3", "40"),
    ("MISSEDRATIO", "-", "0.2"),
    ("COVEREDRATIO", "0.73", "0.999"),
];

/// Returns each element, counter and value: the element, and the attributes of JaCoCo's `<limit>`.
fn rules() -> Vec<[&'static str; 5]> {
    let mut rules = Vec::new();
    for element in ELEMENTS {
        for counter in COUNTERS {
            for (value, minimum, maximum) in VALUES {
                rules.push([element, counter, value, minimum, maximum]);
            }
        }
    }
    rules
}

/// Returns the rules in the form of JaCoCo's build plugins.
fn rules_in_xml() -> String {
    let mut text = "<rules>\n".to_owned();
    for [element, counter, value, minimum, maximum] in rules() {
        let _ = write!(text, "<rule><element>{element}</element><limits><limit>");
        let _ = write!(text, "<counter>{counter}</counter><value>{value}</value>");
        for (name, bound) in [("minimum", minimum), ("maximum", maximum)] {
            if bound != "-" {
                let _ = write!(text, "<{name}>{bound}</{name}>");
            }
        }
        text += "</limit></limits></rule>\n";
    }
    text + "</rules>\n"
}

/// Runs JaCoCo's API in a folder with the modules and their recording. Returns the violations, one a line.
fn jacoco(folder: &Path) -> String {
    let needed = [
        "jacoco-report",
        "jacoco-core",
        "asm",
        "asm-commons",
        "asm-tree",
    ];
    let class_path = std::env::join_paths(artifacts::paths(&needed)).expect("paths without colons");
    let text = rules().into_iter().map(|rule| rule.join(" ") + "\n");
    let rules = folder.join("rules.txt");
    std::fs::write(&rules, text.collect::<String>()).expect("written");
    let program = Java::new(&jdks::newest())
        .option("-cp")
        .option(class_path)
        .argument(test_file("java/jacoco/Groups.java"))
        .argument(folder.join("all.exec"))
        .argument(rules)
        .argument(folder.join("theirs.xml"))
        .argument(folder.join("theirs.csv"))
        .arguments(&modules(folder));
    let run = program.run();
    run.assert_success();
    run.stdout
}

fn modules(folder: &Path) -> Vec<String> {
    let module = |name: &&str| format!("{name}={}", folder.join(name).display());
    MODULES.iter().map(module).collect()
}

fn ours(folder: &Path, command: &str, words: &[(&str, PathBuf)]) -> Java {
    let modules = modules(folder);
    let modules = modules.iter().map(|module| format!("--module={module}"));
    let words = words
        .iter()
        .map(|(option, file)| format!("{option}={}", file.display()));
    Java::program(classhook())
        .argument(command)
        .argument(folder.join("all.exec"))
        .arguments(&modules.chain(words).collect::<Vec<_>>())
}

/// Returns the rows of a CSV report or the lines of an output, sorted.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn modules_and_rules_over_them_equal_those_of_jacoco() {
    let folder = scratch();
    let folder = folder.path();
    let mut classes = Vec::new();
    for module in MODULES {
        unpack(module, &folder.join(module));
        classes.extend(describe_all(&folder.join(module)));
    }
    execution(&classes, Hits::Mixed(1)).write(&folder.join("all.exec"));
    let theirs = jacoco(folder);
    let files = [
        ("--xml", folder.join("ours.xml")),
        ("--csv", folder.join("ours.csv")),
    ];
    ours(folder, "report", &files)
        .argument("--name=All")
        .run()
        .assert_success();
    let report = |whose: &str| XmlReport::read(&folder.join(whose).with_extension("xml"));
    let (report, expected) = (report("ours"), report("theirs"));
    assert!(expected.count() > 2_000, "{} elements", expected.count());
    let differences = report.differences(&expected);
    assert_eq!(differences, Vec::<String>::new());
    let table = |whose: &str| {
        std::fs::read_to_string(folder.join(whose).with_extension("csv")).expect("a CSV report")
    };
    assert_eq!(sorted(&table("ours")), sorted(&table("theirs")));
    let rules = folder.join("rules.xml");
    std::fs::write(&rules, rules_in_xml()).expect("written");
    let checked = ours(folder, "check", &[("--rules", rules)]).run();
    checked.assert_exit(4);
    assert!(theirs.lines().count() > 1_000, "{theirs}");
    assert_eq!(sorted(&checked.stdout), sorted(&theirs));
}
