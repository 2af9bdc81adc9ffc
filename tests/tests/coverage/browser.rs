//! The HTML report of more than 30,000 classes in a browser. Only `cargo xtask corpus` runs it, since few machines have
//! one.

use e2e_tests::browser::{self, Browser};
use e2e_tests::corpus::jdk_classes;
use e2e_tests::java::Java;
use e2e_tests::{javac, jdks, rotation, scratch, workspace};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Returns the browser, if the run takes everything and it is in PATH.
fn program() -> Option<PathBuf> {
    let found = rotation::everything().then(browser::program)?;
    if found.is_none() {
        eprintln!("no chromium in PATH; on Debian: apt-get install chromium");
    }
    found
}

/// Prints the time of a script that ends with a new layout of the page.
fn time(browser: &mut Browser, script: &str) {
    let timed = format!(
        "(() => {{ const from = performance.now(); {script}; void document.body.offsetHeight; \
         return performance.now() - from; }})()"
    );
    let took = browser.value(&timed).as_f64().expect("a time");
    eprintln!("{script}: {took:.0} ms");
}

#[test]
fn report_of_thirty_thousand_classes_is_read_in_a_browser() {
    let Some(program) = program() else {
        return;
    };
    let folder = scratch();
    let recorded = folder.path().join("nothing.exec");
    std::fs::write(&recorded, [0x01, 0xC0, 0xC0, 0x10, 0x07]).expect("written");
    let mut report = Java::program(workspace::classhook()).argument("report");
    report = report.argument(&recorded).folder(folder.path());
    for jdk in jdks::main_two() {
        let classes = jdk_classes(&jdk);
        report = report.argument(format!("--module=jdk{}={}", jdk.feature, classes.display()));
    }
    report.arguments(&["--html", "html"]).run().assert_success();
    let page = |name: &str| format!("file://{}/html/{name}", folder.path().display());
    let mut browser = Browser::start(&program);
    let browser = &mut browser;

    let since = Instant::now();
    browser.open(&page("index.html"));
    eprintln!("first page: {:?}", since.elapsed());
    browser.wait("searchable");
    let classes = browser.value("searchable.length").as_u64();
    assert!(classes > Some(30_000), "{classes:?}");
    for word in ["s", "string", "java util map", ""] {
        let set = format!("document.getElementById('filter').value = '{word}'");
        let changed = "document.getElementById('filter').dispatchEvent(new Event('input'))";
        time(browser, &format!("{set}; {changed}"));
    }

    browser.open(&page("mod-jdk25/index.html"));
    let rows = browser.value("document.querySelectorAll('.rows tbody tr').length");
    assert!(rows.as_u64() > Some(500), "{rows}");
    for column in 0..8 {
        time(
            browser,
            &format!("document.querySelectorAll('.rows thead button')[{column}].click()"),
        );
    }
    browser.wait("searchable");

    // By keyboard alone: find a class and open it; then move to a method's lines.
    browser.press("/", "/");
    browser.type_text("hashmap");
    let first = browser.value("document.querySelector('#found a span').textContent");
    assert_eq!(first, "java.util.HashMap");
    browser.press("Enter", "\r");
    browser.wait("location.href.endsWith('/pkg/java.util/src-HashMap.java.html#c-HashMap') && document.readyState === 'complete'");
    let shown =
        "[...document.querySelectorAll('details.class[open] section')].map((one) => one.id)";
    assert_eq!(
        browser.value(shown),
        json!(["c-HashMap"]),
        "of its file only this class is open"
    );
    let to_line = "(() => { const link = document.querySelector('#c-HashMap tbody a'); link.click(); \
                   return document.querySelector(location.hash).closest('.lines') !== null; })()";
    assert_eq!(browser.value(to_line), true);

    let background = "getComputedStyle(document.body).backgroundColor";
    let dark =
        |scheme: &str| json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
    browser.call("Emulation.setEmulatedMedia", dark("light"));
    let light = browser.value(background);
    browser.call("Emulation.setEmulatedMedia", dark("dark"));
    assert_ne!(browser.value(background), light);
    let mut on_paper = dark("dark");
    on_paper["media"] = json!("print");
    browser.call("Emulation.setEmulatedMedia", on_paper);
    assert_eq!(browser.value(background), "rgb(255, 255, 255)");
    let printed = browser.call("Page.printToPDF", json!({}));
    let printed = printed["data"].as_str().expect("a file");
    assert!(printed.starts_with("JVBERi0"), "a PDF file in base 64");

    assert_eq!(browser.errors, Vec::<serde_json::Value>::new());
}

/// Writes a report of the end-to-end program, with its sources.
fn report(folder: &Path) {
    let jdk = jdks::main_two().pop().expect("a JDK");
    let source = workspace::test_file("java/branches/Outcomes.java");
    let sources = folder.join("src/branches");
    std::fs::create_dir_all(&sources).expect("a folder");
    std::fs::copy(&source, sources.join("Outcomes.java")).expect("copied");
    let classes = javac::compile(&jdk, &[&source], folder, &["-g"]);
    let (java, classes) = (jdk.tool("java"), classes.to_string_lossy());
    let (java, main) = (java.to_string_lossy(), "branches.Outcomes");
    let first = ["coverage", "--classes", &classes, "--sources", "src"];
    let last = ["--html", "html", "--", &java, "-cp", &classes, main];
    let run = Java::program(workspace::classhook()).folder(folder);
    run.arguments(&[&first[..], &last].concat())
        .run()
        .assert_success();
}

#[test]
fn report_is_read_under_a_policy_without_inline_styles_and_scripts() {
    let Some(program) = program() else {
        return;
    };
    let folder = scratch();
    report(folder.path());
    let page = |name: &str| format!("file://{}/html/{name}", folder.path().display());
    let mut browser = Browser::start(&program);
    let browser = &mut browser;

    // Without scripts: bars are as wide as their coverage, and no control is shown that would not work.
    browser.call(
        "Emulation.setScriptExecutionDisabled",
        json!({"value": true}),
    );
    browser.open(&page("index.html"));
    let filled =
        "getComputedStyle(document.querySelector('.summary .bar')).getPropertyValue('--c')";
    let percent = "document.querySelector('.summary b').firstChild.textContent + '%'";
    assert_eq!(browser.value(filled), browser.value(percent));
    let offered = "document.querySelectorAll('thead button, .filter:not([hidden]), #theme:not([hidden])').length";
    assert_eq!(browser.value(offered), 0);
    browser.call(
        "Emulation.setScriptExecutionDisabled",
        json!({"value": false}),
    );

    // Keys move from gap to gap, beginning at the visible line, and add one step to the history.
    let source = page("pkg/branches/src-Outcomes.java.html");
    browser.open(&format!("{source}#c-Outcomes"));
    let length = browser.value("history.length");
    browser.press("n", "n");
    let first = browser.value("location.hash");
    browser.press("n", "n");
    assert_ne!(browser.value("location.hash"), first);
    browser.press("p", "p");
    assert_eq!(browser.value("location.hash"), first);
    assert_eq!(browser.value("history.length"), length);

    // The address has the filter and the order.
    browser.open(&page("pkg/branches/index.html"));
    let rows = "[...document.querySelectorAll('.rows tbody tr:not([hidden]) th > a')].map((one) => one.textContent)";
    browser.value("document.querySelectorAll('.rows thead button')[1].click()");
    browser.value("document.querySelectorAll('.rows thead button')[1].click()");
    assert_eq!(browser.value("location.search"), "?sort=-Lines");
    browser.press("/", "/");
    browser.type_text("outcomes.c");
    assert_eq!(browser.value(rows), json!(["Outcomes.Colour"]));
    let address = browser.value("location.href");
    browser.open(address.as_str().expect("an address"));
    assert_eq!(browser.value(rows), json!(["Outcomes.Colour"]));
    assert_eq!(
        browser.value("document.querySelector('[aria-sort]').ariaSort"),
        "descending"
    );

    browser.open(&page("index.html?filter=outcomes.colour"));
    browser.wait("document.querySelector('#found a')");
    assert_eq!(
        browser.value("document.querySelector('#found a span').textContent"),
        "branches.Outcomes$Colour"
    );
    assert_eq!(browser.errors, Vec::<serde_json::Value>::new());
}
