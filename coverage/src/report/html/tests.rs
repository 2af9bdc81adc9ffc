use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use super::*;
use crate::model::{Branch, BundleBuilder, Counter, Outcome};
use crate::report::changed::tests::changed;
use crate::report::per_test::PerTest;
use crate::report::per_test::tests::Withdrawals;
use crate::report::{NoSources, fixture};

const ACCOUNT: &str = "package bank;\n\n/** An account. */\nclass Account {\n    Account(String owner) {\n    }\n\n    \
                       boolean withdraw(long sum) {\n\tif (sum > 0 && \"</code>\" != null) {\n\t\tthrow new Error(\"\u{202E}x\");\n\t}\n\
                       \treturn sum == 0;\n    }\n\n    void close() {\n\twhile (a && b) {\n\t}\n    }\n}\n";

struct Text(&'static str);

impl SourceLookup for Text {
    fn source(&self, package: &str, file: &str, _: u16) -> Option<String> {
        (package == "bank" && file == "Account.java").then(|| self.0.to_owned())
    }
}

fn report(bundle: &BundleCoverage, sources: &dyn SourceLookup) -> BTreeMap<String, String> {
    let sessions = fixture::sessions();
    pages(&Report::of_bundle(bundle, sources, &sessions))
}

fn pages(report: &Report<'_>) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    write(report, folder.path()).unwrap();
    let mut files = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(folder.path().join(&inner)).unwrap() {
            let path = inner.join(entry.unwrap().file_name());
            if folder.path().join(&path).is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(folder.path().join(&path)).unwrap();
                let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
                files.insert(path.to_str().unwrap().to_owned(), text);
            }
        }
    }
    files
}

/// Returns the values of an attribute anywhere in a page.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!("{attribute}=\"");
    page.split(start.as_str())
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect()
}

#[test]
fn pages_of_a_small_program() {
    let files = report(&fixture::bundle(), &Text(ACCOUNT));
    let names: Vec<_> = files.keys().map(String::as_str).collect();
    insta::assert_debug_snapshot!(names);
    insta::assert_snapshot!("index", files["index.html"]);
    insta::assert_snapshot!("classes", files["classes.js"]);
    insta::assert_snapshot!("sessions", files["sessions.html"]);
    insta::assert_snapshot!("package", files["pkg/bank/index.html"]);
    insta::assert_snapshot!("class", files["pkg/default/class-Main.html"]);
    insta::assert_snapshot!("source", files["pkg/bank/src-Account.java.html"]);
}

#[test]
fn missing_data_is_on_the_first_page_and_beside_the_sessions() {
    let mut sessions = fixture::sessions();
    sessions[0].incomplete = Some("3 classes of <b> are missing".to_owned());
    let folder = tempfile::tempdir().unwrap();
    let bundle = fixture::bundle();
    write(
        &Report::of_bundle(&bundle, &NoSources, &sessions),
        folder.path(),
    )
    .unwrap();
    for page in ["index.html", "sessions.html"] {
        let text = fs::read_to_string(folder.path().join(page)).unwrap();
        let notice = "is incomplete.</strong> Data that could not be recorded is absent, or counts as missed.<ul><li>3 classes of &lt;b&gt; are missing</ul>";
        assert!(text.contains(notice), "{page}: {text}");
    }
}

#[test]
fn missing_data_is_shown_without_sessions_too() {
    let (folder, bundle) = (tempfile::tempdir().unwrap(), fixture::bundle());
    let missing = ["run.hook is damaged".to_owned()];
    let report = Report {
        missing: &missing,
        ..Report::of_bundle(&bundle, &NoSources, &[])
    };
    write(&report, folder.path()).unwrap();
    let page = fs::read_to_string(folder.path().join("sessions.html")).unwrap();
    assert!(page.contains("<li>run.hook is damaged</ul>"), "{page}");
}

#[test]
fn every_link_leads_to_a_file_and_every_anchor_to_a_line() {
    let (bank, web) = (fixture::bundle(), fixture::web());
    for files in [
        report(&bank, &Text(ACCOUNT)),
        report(&bank, &NoSources),
        pages(&fixture::group(&bank, &web)),
    ] {
        let mut links = 0;
        for (name, page) in files.iter().filter(|(name, _)| name.ends_with(".html")) {
            let folder = PathBuf::from(name).parent().unwrap().to_path_buf();
            for link in values(page, "href").into_iter().chain(values(page, "src")) {
                let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
                let mut path = folder.clone();
                for step in file.split('/').filter(|step| !step.is_empty()) {
                    if step == ".." {
                        assert!(path.pop())
                    } else {
                        path.push(step)
                    }
                }
                let target = match file {
                    "" => page,
                    _ => files
                        .get(path.to_str().unwrap())
                        .unwrap_or_else(|| panic!("{name}: {link}")),
                };
                assert!(
                    anchor.is_empty() || target.contains(&format!("id={anchor} ")),
                    "{name}: {link}"
                );
                links += 1;
            }
        }
        assert!(links > 30, "{links}");
    }
}

#[test]
fn modules_of_a_group_have_separate_pages_and_one_search() {
    let (bank, web) = (fixture::bundle(), fixture::web());
    let files = pages(&fixture::group(&bank, &web));
    let index = &files["index.html"];
    assert!(
        index.contains("<a href=\"mod-web__b_/index.html\">web|&lt;b&gt;</a>"),
        "{index}"
    );
    let path = "<li><a href=\"../../../index.html\">All, of it</a><li><a href=\"../../index.html\">web|&lt;b&gt;</a><li><a href=\"index.html\">bank</a>";
    let page = &files["mod-web__b_/pkg/bank/src-Page.java.html"];
    assert!(page.contains(path), "{page}");
    let search = &files["classes.js"];
    for link in [
        "mod-The__bank_/pkg/bank/src-Account.java.html#c-Account",
        "mod-web__b_/pkg/bank/src-Page.java.html",
    ] {
        let (file, _) = link.split_once('#').unwrap_or((link, ""));
        assert!(
            search.contains(&format!("\"{link}\"")) && files.contains_key(file),
            "{link}: {search}"
        );
    }
}

#[test]
fn pages_need_no_network() {
    for (name, text) in report(&fixture::bundle(), &Text(ACCOUNT)) {
        assert!(!text.contains("://"), "{name}");
    }
}

/// Returns the raw tags of a page.
fn tags(page: &str) -> impl Iterator<Item = &str> {
    page.split('<').skip(1).map(|rest| {
        let mut quoted = false;
        let end = rest.find(|character| {
            quoted ^= character == '"';
            character == '>' && !quoted
        });
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// Returns the attribute names of a tag; values with spaces are quoted.
fn attributes(tag: &str) -> Vec<String> {
    let unquoted: String = tag.split('"').step_by(2).collect::<Vec<_>>().join("");
    let words = unquoted.split_whitespace().skip(1);
    let names = words.map(|word| word.split('=').next().unwrap_or_default());
    names.map(str::to_ascii_lowercase).collect()
}

#[test]
fn pages_contain_no_styles_and_no_scripts() {
    let (bank, web) = (fixture::bundle(), fixture::web());
    let changed = changed();
    let mut evil = fixture::class(
        "a/B",
        Some("style=x onclick=y.java"),
        vec![fixture::method(
            "\" style=x onload=y",
            "()V",
            &[(1, 1, 1, 1, 1)],
        )],
    );
    evil.no_match = true;
    let mut builder = BundleBuilder::default();
    builder.add(evil).unwrap();
    let evil = builder.build("\" style=\"x\" onclick=\"y");
    let differing = Report {
        changed: Some(&changed),
        ..Report::of_bundle(&bank, &NoSources, &[])
    };
    let mut seen = 0;
    for files in [
        report(&bank, &Text(ACCOUNT)),
        report(&bank, &NoSources),
        report(&evil, &NoSources),
        pages(&fixture::group(&bank, &web)),
        pages(&differing),
    ] {
        for (name, page) in files.iter().filter(|(name, _)| name.ends_with(".html")) {
            for tag in tags(page) {
                let inline = attributes(tag)
                    .into_iter()
                    .find(|name| name == "style" || name.starts_with("on"));
                assert_eq!(inline, None, "{name}: <{tag}>");
                assert!(!tag.starts_with("style"), "{name}: <{tag}>");
                assert!(
                    !tag.starts_with("script") || tag.contains(" src="),
                    "{name}: {tag}"
                );
                seen += 1;
            }
            let after = page.split("<script ").skip(1);
            for rest in after {
                let (_, body) = rest.split_once('>').unwrap();
                assert!(body.starts_with("</script>"), "{name}: {body}");
            }
            assert!(!page.contains("javascript:"), "{name}");
        }
    }
    assert!(seen > 1_000, "{seen}");
}

#[test]
fn style_sheet_defines_the_widths_of_bars() {
    let files = report(&fixture::bundle(), &NoSources);
    let styles = &files["report.css"];
    for percent in 1..=100 {
        let rule = format!("\n.w{percent} {{ --c: {percent}%; }}\n");
        assert!(styles.contains(&rule), "{rule}");
    }
    let index = &files["index.html"];
    assert!(index.contains("<i class=\"bar w57\"></i>"), "{index}");
    assert!(index.contains("<td class=w57><b>57%</b>"), "{index}");
    for (missed, covered, percent) in [
        (1, 0, None),
        (0, 0, None),
        (9_999, 1, Some(1)),
        (1, 9_999, Some(99)),
        (0, 3, Some(100)),
    ] {
        assert_eq!(page::filled(Counter::new(missed, covered)), percent);
    }
}

#[test]
fn pages_of_changed_lines_have_a_notice() {
    let (bank, web, changed) = (fixture::bundle(), fixture::web(), changed());
    for report in [
        Report::of_bundle(&bank, &NoSources, &[]),
        fixture::group(&bank, &web),
    ] {
        let report = Report {
            changed: Some(&changed),
            ..report
        };
        let files = pages(&report);
        for (name, page) in files.iter().filter(|(name, _)| name.ends_with(".html")) {
            let title = page.split("<title>").nth(1).unwrap();
            let title = title.split("</title>").next().unwrap();
            assert!(
                title.contains(" – changed since origin/main – "),
                "{name}: {title}"
            );
            assert!(
                page.contains(" <small>changed since origin/main</small></h1>"),
                "{name}"
            );
            assert!(
                page.contains("the lines changed since <code>origin/main</code>"),
                "{name}"
            );
        }
        let index = &files["index.html"];
        let note = "<li>1 changed source file is not in the report: a/Test.java";
        assert!(index.contains(note), "{index}");
    }
    let whole = report(&bank, &NoSources);
    assert!(whole.values().all(|page| !page.contains("changed since")));
}

#[test]
fn titles_name_the_project() {
    let (bank, web) = (fixture::bundle(), fixture::web());
    let title = |files: &BTreeMap<String, String>, name: &str| {
        let rest = files[name].split_once("<title>").unwrap().1;
        rest.split_once("</title>").unwrap().0.to_owned()
    };
    let files = report(&bank, &NoSources);
    let project = "The &lt;bank&gt; – coverage";
    assert_eq!(title(&files, "index.html"), project);
    assert_eq!(
        title(&files, "sessions.html"),
        format!("Sessions – {project}")
    );
    let source = "pkg/bank/src-Account.java.html";
    assert_eq!(title(&files, source), format!("Account.java – {project}"));
    let files = pages(&fixture::group(&bank, &web));
    assert_eq!(
        title(&files, "mod-web__b_/pkg/bank/index.html"),
        "bank – web|&lt;b&gt; – All, of it – coverage"
    );
}

#[test]
fn readers_of_a_source_page_skip_to_the_code() {
    let bundle = fixture::bundle();
    for files in [report(&bundle, &Text(ACCOUNT)), report(&bundle, &NoSources)] {
        let page = &files["pkg/bank/src-Account.java.html"];
        let link = page.find("<a href=#code>Skip to the code</a>").unwrap();
        assert!(
            link < page.find("<table").unwrap() && page.contains(" id=code "),
            "{page}"
        );
    }
}

#[test]
fn search_has_a_label_and_the_names_of_files() {
    let files = report(&fixture::bundle(), &NoSources);
    for (name, page) in files.iter().filter(|(_, page)| page.contains("id=filter ")) {
        assert!(page.contains("<label for=filter>F"), "{name}");
    }
    let search = &files["classes.js"];
    assert!(search.contains("\"bank.Account$1\"") && search.contains(",\"Account.java\"]"));
}

#[test]
fn branches_that_were_never_taken_are_named() {
    let mut method = fixture::method("f", "()V", &[(0, 2, 1, 1, 2)]);
    let outcomes = [
        (false, Outcome::Cases("\"<b>\"".into())),
        (true, Outcome::Default),
    ];
    let branch = |(taken, outcome)| Branch { taken, outcome };
    method.decide(2, outcomes.map(branch).into_iter());
    let mut builder = BundleBuilder::default();
    builder
        .add(fixture::class(
            "bank/Account",
            Some("Account.java"),
            vec![method],
        ))
        .unwrap();
    let bundle = builder.build("x");
    let words = "1 of 2 branches missed: case &quot;&lt;b&gt;&quot; was never taken";
    for (sources, tip) in [
        (
            &Text(ACCOUNT) as &dyn SourceLookup,
            format!("data-tip=\"{words}\">◆"),
        ),
        (&NoSources, format!("title=\"{words}\">2◆")),
    ] {
        let page = &report(&bundle, sources)["pkg/bank/src-Account.java.html"];
        assert!(page.contains(&tip), "{page}");
    }
}

#[test]
fn hostile_names_and_sources_stay_text() {
    let evil = "x\"><script>alert('1')</script>&amp;\u{202E}";
    let name = format!("p\"><img/{evil}");
    let method = fixture::method(evil, "()V", &[(0, 1, 1, 1, 1)]);
    let mut class = fixture::class(&name, Some("../../<script>.java"), vec![method]);
    class.no_match = true;
    let mut builder = BundleBuilder::default();
    builder.add(class).unwrap();
    let bundle = builder.build(evil);
    struct Evil;
    impl SourceLookup for Evil {
        fn source(&self, _: &str, _: &str, _: u16) -> Option<String> {
            Some("<script>alert(1)</script> /* \u{202E} </pre>".to_owned())
        }
    }
    for sources in [&Evil as &dyn SourceLookup, &NoSources] {
        let files = report(&bundle, sources);
        assert!(
            files
                .keys()
                .all(|name| !name.split('/').any(|step| step == "..") && name.is_ascii()),
            "{:?}",
            files.keys()
        );
        for (name, text) in files
            .iter()
            .filter(|(name, _)| !name.starts_with("report."))
        {
            let scripts = if name.ends_with(".html") { 1 } else { 0 };
            assert_eq!(text.matches("<script").count(), scripts, "{name}: {text}");
            assert!(
                !text.contains("<img") && !text.contains('\u{202E}'),
                "{name}"
            );
            assert!(!text.contains("&amp;lt;"), "escaped twice in {name}");
        }
    }
}

#[test]
fn source_of_another_version_has_a_notice() {
    let files = report(&fixture::bundle(), &Text("class Account {\n}\n"));
    let page = &files["pkg/bank/src-Account.java.html"];
    assert!(
        page.contains("it has 2 lines, but there is coverage for line 17"),
        "{page}"
    );
}

#[test]
fn notice_of_missing_sources_names_the_option() {
    let files = report(&fixture::bundle(), &NoSources);
    let page = &files["pkg/bank/src-Account.java.html"];
    assert!(
        page.contains("<code>bank/Account.java</code> with <code>--sources FOLDER</code>"),
        "{page}"
    );
    insta::assert_snapshot!("source_without_text", page);
}

#[test]
fn branches_are_described_in_words() {
    let files = report(&fixture::bundle(), &Text(ACCOUNT));
    let page = &files["pkg/bank/src-Account.java.html"];
    for words in [
        "1 of 2 branches missed",
        "all 2 branches covered",
        "all 4 branches missed",
    ] {
        assert!(
            page.contains(&format!("aria-label=\"{words}\" data-tip=\"{words}\">◆")),
            "{words}"
        );
    }
}

#[test]
fn class_of_another_version_has_a_notice() {
    for (source, page) in [
        (None, "pkg/a/class-B.html"),
        (Some("B.java"), "pkg/a/src-B.java.html"),
    ] {
        let mut class = fixture::class(
            "a/B",
            source,
            vec![fixture::method("run", "()V", &[(1, 0, 0, 0, 1)])],
        );
        class.no_match = true;
        let mut builder = BundleBuilder::default();
        builder.add(class.clone()).unwrap();
        let files = report(&builder.build("x"), &NoSources);
        assert!(files["index.html"].contains("1 class was recorded in another version."));
        assert!(files[page].contains("recorded, so all of it counts as missed"));
        class.carried_over = Some(crate::model::CarriedOver {
            same: 2,
            methods: 3,
        });
        let mut builder = BundleBuilder::default();
        builder.add(class).unwrap();
        let files = report(&builder.build("x"), &NoSources);
        assert!(files["index.html"].contains("<li>a.B: 2 of 3 methods"));
        assert!(files[page].contains("only those 2 of 3 methods count"));
    }
}

#[test]
fn each_class_is_on_the_page_of_its_file_and_few_are_open() {
    for (count, open) in [(1, true), (3, true), (4, false)] {
        let mut builder = BundleBuilder::default();
        for number in 0..count {
            let run = fixture::method("run", "()V", &[(number + 1, 0, 0, 0, 1)]);
            let name = format!("a/{}", ["B", "b", "B$<x>", "B$é"][number as usize]);
            builder
                .add(fixture::class(&name, Some("B.java"), vec![run]))
                .unwrap();
        }
        let files = report(&builder.build("x"), &NoSources);
        let page = &files["pkg/a/src-B.java.html"];
        assert_eq!(page.matches("<details class=class").count(), count as usize);
        assert_eq!(page.contains("<details class=class open>"), open, "{page}");
        let links = values(&files["pkg/a/index.html"], "href");
        let mut anchors: Vec<_> = links
            .iter()
            .filter_map(|link| link.split_once("#c-"))
            .collect();
        anchors.sort_unstable();
        anchors.dedup();
        assert_eq!(anchors.len(), if count == 1 { 0 } else { count as usize });
        for (_, anchor) in anchors {
            let places = page.matches(&format!("<section id=c-{anchor} ")).count();
            assert_eq!(places, 1, "{anchor}: {page}");
        }
    }
}

/// Returns the relative luminance of `#rrggbb` (WCAG 2.2).
fn luminance(colour: &str) -> f64 {
    let channel = |place: usize| {
        let value = f64::from(u8::from_str_radix(&colour[place..place + 2], 16).unwrap()) / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

#[test]
fn text_has_sufficient_contrast() {
    let css = include_str!("report.css");
    let colours = |name: &str| -> [&str; 2] {
        let rest = css.split(&format!("{name}: light-dark(")).nth(1).unwrap();
        let (light, rest) = rest.split_once(", ").unwrap();
        [light, rest.split_once(')').unwrap().0]
    };
    let back = [
        "--paper", "--card", "--hover", "--f-back", "--p-back", "--n-back",
    ];
    let marks = [
        ("--f", "--f-back"),
        ("--p", "--p-back"),
        ("--n", "--n-back"),
    ];
    let pairs = ["--ink", "--soft", "--link"]
        .iter()
        .flat_map(|ink| back.iter().map(move |back| (*ink, *back)));
    let syntax = [
        ".c { color",
        ".k { color",
        ".s { color",
        ".d { color",
        ".a { color",
    ];
    let syntax = syntax
        .iter()
        .flat_map(|ink| back.iter().map(move |back| (*ink, *back)));
    for (ink, back) in pairs.chain(marks).chain(syntax) {
        for (one, two) in colours(ink).into_iter().zip(colours(back)) {
            let (one, two) = (luminance(one), luminance(two));
            let contrast = (one.max(two) + 0.05) / (one.min(two) + 0.05);
            assert!(contrast >= 4.5, "{ink} on {back}: {contrast:.2}");
        }
    }
}

#[test]
fn script_strings_can_contain_any_name() {
    assert_eq!(script_string("a.B$C"), r#""a.B$C""#);
    assert_eq!(
        script_string("</script>é\"\\\u{1F600}'"),
        r#""\u003c/script\u003e\u00e9\u0022\u005c\ud83d\ude00'""#
    );
    assert_eq!(script_string(""), r#""""#);
}

#[test]
fn lines_name_some_tests_and_a_page_names_all() {
    let (bundle, tests) = (fixture::bundle(), Withdrawals::new(1_000));
    let per_test = PerTest::new(&tests);
    for sources in [&Text(ACCOUNT) as &dyn SourceLookup, &NoSources] {
        let report = Report {
            per_test: Some(&per_test),
            ..Report::of_bundle(&bundle, sources, &[])
        };
        let files = pages(&report);
        let page = &files["pkg/bank/src-Account.java.html"];
        let named = "<li>bank.AccountTest#withdraws&lt;";
        assert_eq!(page.matches(named).count(), 10 + 3, "{page}");
        for part in [
            "<summary aria-label=\"Line 9: 1,000 tests\">1,000 tests</summary><ul><li>bank.AccountTest#withdraws&lt;0000&gt;",
            "<li><a href=\"tests-Account.java.html#L9\">and 990 more</a></ul></details>",
            "<summary aria-label=\"Line 12: 3 tests\">3 tests</summary>",
            "<li>bank.AccountTest#withdraws&lt;0001&gt; <small>or a test at the same time</small>",
            "<span class=tests>no test</span>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(
            !page.contains("style=") && !page.contains("onclick"),
            "{page}"
        );
        let all = &files["pkg/bank/tests-Account.java.html"];
        assert_eq!(all.matches(named).count(), 1_000);
        assert!(
            all.contains("<h2>Line <span id=L9>9</span>: 1,000 tests</h2>"),
            "{all}"
        );
        assert!(
            all.contains("<a href=\"src-Account.java.html\">Account.java</a>"),
            "{all}"
        );
    }
}
