//! `--module` of `report` and `check`: one report over several modules.

#[path = "support/command.rs"]
mod support;

use std::fs;

use probes::Meta;
use support::{ACCOUNT, Compiled, Hits, Ran, run, snapshot};

const PAGE: &str = "package bank;
public class Page {
    String title() {
        return \"page\";
    }
}
";

/// Two modules that share a package. `Account` and `Page` ran completely, `Never` did not run.
struct Modules {
    bank: Compiled,
    web: Compiled,
}

impl Modules {
    fn new() -> Self {
        let bank = support::bank();
        let web = Compiled::new(&[("bank/Page.java", PAGE)]);
        let (account, page) = (bank.class("bank/Account"), web.class("bank/Page"));
        let ran: [(&[u8], Hits); 2] = [(&account, Hits::All), (&page, Hits::All)];
        snapshot(&bank.path("out"), Meta::default(), true, &ran);
        Self { bank, web }
    }

    /// Runs a command on the recorded files, with the modules `core` and `web`.
    fn ran(&self, command: &str, words: &[&str]) -> Ran {
        let module = |name: &str, module: &Compiled| {
            let (classes, sources) = (module.path("classes"), module.path("src"));
            format!(
                "--module={name}={},{}",
                classes.display(),
                sources.display()
            )
        };
        let (core, web) = (module("core", &self.bank), module("web", &self.web));
        let out = self.bank.path("out").display().to_string();
        let start = [command, &out, &core, &web];
        run(start.iter().chain(words))
    }

    fn file(&self, name: &str) -> String {
        self.bank.path(name).display().to_string()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.bank.path(name)).unwrap()
    }
}

#[test]
fn modules_are_groups_with_their_own_sources() {
    let modules = Modules::new();
    modules
        .ran("report", &[])
        .prints(&["module", "core", "web", "total"]);
    let formats = ["xml", "csv", "lcov", "sonar", "json", "html"];
    let words = formats.map(|format| format!("--{format}={}", modules.file(format)));
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.push("--name=All");
    modules.ran("report", &words).well();
    let xml = modules.text("xml");
    assert!(
        xml.contains("<group name=\"core\"><package name=\"bank\"><class name=\"bank/Account\""),
        "{xml}"
    );
    assert!(
        xml.contains(
            "</group><group name=\"web\"><package name=\"bank\"><class name=\"bank/Page\""
        ),
        "{xml}"
    );
    assert!(
        xml.ends_with("<counter type=\"CLASS\" missed=\"1\" covered=\"2\"/></report>"),
        "{xml}"
    );
    assert!(modules.text("csv").contains("\nAll/web,bank,Page,"));
    let page = modules.web.path("src/bank/Page.java").display().to_string();
    for format in ["lcov", "sonar", "json"] {
        assert!(modules.text(format).contains(&page), "{format}");
    }
    let source = modules.text("html/mod-web/pkg/bank/src-Page.java.html");
    assert!(source.contains("&quot;page&quot;"), "{source}");
}

#[test]
fn selectors_and_rules_apply_to_all_modules() {
    let modules = Modules::new();
    let one = modules.ran("report", &["--select", "bank.Page"]).well();
    assert!(
        one.out.contains("web") && !one.out.contains("core"),
        "{}",
        one.out
    );
    modules
        .ran("report", &["--select", "bank.None"])
        .refused("H0671", &["bank."]);
    let short = modules.ran("check", &["--fail-under", "line=100,class:bank.Page=100"]);
    assert_eq!(short.code, Some(4), "{}", short.error);
    assert!(
        short
            .out
            .contains("total        line          100%   77.77%  7 of 9"),
        "{}",
        short.out
    );
    let rules = modules.file("rules");
    fs::write(&rules, "<rules><rule><limits><limit><counter>LINE</counter><minimum>1.00</minimum></limit></limits></rule></rules>").unwrap();
    let short = modules.ran("check", &["--rules", &rules]);
    let broken = "Rule violated for bundle core: lines covered ratio is 0.71, but expected minimum is 1.00\n";
    assert_eq!(short.out, broken, "{}", short.error);
}

#[test]
fn malformed_modules_are_refused() {
    let modules = Modules::new();
    for wrong in ["core", "=classes", "core=", "core=classes,"] {
        let ran = modules.ran("report", &["--module", wrong]);
        assert_eq!(ran.code, Some(2), "{wrong}");
        ran.says(&["NAME=CLASSES,SOURCES"]);
    }
    let ran = modules.ran("report", &["--classes", "x"]);
    assert_eq!(ran.code, Some(2));
    ran.says(&["--module", "--classes"]);
    modules
        .ran("report", &["--module", "gone=/nowhere/classes"])
        .refused("H0612", &["/nowhere/classes"]);
}

/// Returns two versions of `Account`. The version in `ran` was executed.
fn two_versions() -> (Compiled, Compiled) {
    let bank = support::bank();
    let text = ACCOUNT.replace("balance += amount", "balance = amount");
    let ran = Compiled::new(&[("bank/Account.java", &text)]);
    let class = ran.class("bank/Account");
    snapshot(
        &bank.path("out"),
        Meta::default(),
        true,
        &[(&class, Hits::All)],
    );
    (bank, ran)
}

/// Runs `report` with the classes in these folders.
fn table(bank: &Compiled, places: &[&Compiled]) -> Ran {
    let mut words = vec!["report".into(), bank.path("out").into_os_string()];
    for place in places {
        words.extend(["--classes".into(), place.path("classes").into_os_string()]);
    }
    run(words)
}

#[test]
fn executed_version_is_reported_in_any_order_of_folders() {
    let (bank, ran) = two_versions();
    let one = table(&bank, &[&bank, &ran]);
    let other = table(&bank, &[&ran, &bank]);
    assert_eq!(one.code, Some(0), "{}", one.error);
    assert_eq!(one.out, other.out);
    let account = one.out.lines().find(|line| line.contains("Account"));
    assert!(
        account.is_some_and(|line| line.contains("100%")),
        "{}",
        one.out
    );
    for ran in [one, other] {
        assert!(
            !ran.error.contains("H0622") && !ran.error.contains("H0617"),
            "{}",
            ran.error
        );
    }
}

#[test]
fn loaded_version_does_not_match_the_data_of_an_executed_one() {
    let (bank, ran) = two_versions();
    let class = bank.class("bank/Account");
    let meta = Meta {
        pid: 7,
        ..Meta::default()
    };
    snapshot(&bank.path("out"), meta, true, &[(&class, Hits::None)]);
    let told = table(&bank, &[&bank]);
    assert!(
        told.error
            .contains("warning[H0622]: no match for bank/Account"),
        "{}",
        told.error
    );
    let both = table(&bank, &[&bank, &ran]);
    assert!(!both.error.contains("H0622"), "{}", both.error);
    let account = both.out.lines().find(|line| line.contains("Account"));
    assert!(
        account.is_some_and(|line| line.contains("100%")),
        "{}",
        both.out
    );
}

#[test]
fn instrumented_class_files_are_named_as_the_cause() {
    let bank = support::bank();
    let class = bank.class("bank/Account");
    snapshot(
        &bank.path("out"),
        Meta::default(),
        true,
        &[(&class, Hits::All)],
    );
    let (from, to) = (bank.path("classes"), bank.path("changed/classes"));
    let words = [
        "instrument".as_ref(),
        from.as_os_str(),
        "-o".as_ref(),
        to.as_os_str(),
    ];
    std::fs::create_dir(bank.path("changed")).unwrap();
    run(words).well();
    let out = bank.path("out");
    let told = run([
        "report".as_ref(),
        out.as_os_str(),
        "--classes".as_ref(),
        to.as_os_str(),
    ]);
    let cause = "`classhook instrument` has changed this file";
    assert!(told.error.contains("warning[H0622]"), "{}", told.error);
    assert!(told.error.contains(cause), "{}", told.error);
}

/// Two modules in one report, each with a file `X.java` of the package `p`: of the class `X`, and of the class `Y`.
#[test]
fn source_files_of_one_name_in_two_folders_stay_apart() {
    let first = "package p;
class X {
    int one() {
        return 1;
    }
}
";
    let second = "package p;

class Y {
    int two(int a) {
        return a == 2 ? 2 : 3;
    }
}
";
    let modules = [first, second].map(|text| Compiled::new(&[("p/X.java", text)]));
    let [one, other] = &modules;
    let (x, y) = (one.class("p/X"), other.class("p/Y"));
    let ran: [(&[u8], Hits); 2] = [(&x, Hits::All), (&y, Hits::None)];
    let out = one.path("out");
    snapshot(&out, Meta::default(), true, &ran);
    let formats = ["xml", "lcov", "cobertura", "sonar", "json", "html"];
    let mut words = vec!["report".to_owned(), out.display().to_string()];
    for format in formats {
        words.push(format!("--{format}={}", one.path(format).display()));
    }
    // The sources are named in the other order, to show that the order has no influence.
    for module in &modules {
        words.push(format!("--classes={}", module.path("classes").display()));
    }
    for module in modules.iter().rev() {
        words.push(format!("--sources={}", module.path("src").display()));
    }
    run(&words).well();
    let text = |name: &str| fs::read_to_string(one.path(name)).unwrap();
    let source = |module: &Compiled| module.path("src/p/X.java").display().to_string();

    let lcov = text("lcov");
    let section = |module: &Compiled| {
        let begin = format!("SF:{}\n", source(module));
        let rest = lcov
            .split(&begin)
            .nth(1)
            .unwrap_or_else(|| panic!("{lcov}"));
        rest.split("end_of_record").next().unwrap().to_owned()
    };
    assert!(section(one).contains("DA:4,1\nLF:2\nLH:2"), "{lcov}");
    assert!(section(other).contains("DA:5,0\nLF:2\nLH:0"), "{lcov}");

    let files = text("xml").matches("<sourcefile name=\"X.java\">").count();
    assert_eq!(files, 2, "{}", text("xml"));
    for module in &modules {
        let path = source(module);
        for format in ["cobertura", "sonar", "json"] {
            assert_eq!(text(format).matches(&path).count(), 1, "{format}");
        }
    }
    let pages = ["src-X.java.html", "src-X.java~2.html"];
    let pages = pages.map(|page| text(&format!("html/pkg/p/{page}")));
    let holds = |page: &str, text: &str| page.contains(text);
    assert!(
        holds(&pages[0], "two(int)") && !holds(&pages[0], "one()"),
        "{}",
        pages[0]
    );
    assert!(
        holds(&pages[1], "one()") && !holds(&pages[1], "two(int)"),
        "{}",
        pages[1]
    );
}
