//! The HTML report of more than 30,000 classes in a browser: `cargo xtask corpus` does this, since few machines have one.

use e2e_tests::browser::{self, Browser};
use e2e_tests::corpus::jdk_classes;
use e2e_tests::java::Java;
use e2e_tests::{jdks, rotation, scratch, workspace};
use serde_json::json;
use std::time::Instant;

/// Says how long a script takes that ends with the page laid out anew.
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
    if !rotation::everything() {
        return;
    }
    let Some(program) = browser::program() else {
        eprintln!("no chromium in PATH; on Debian: apt-get install chromium");
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

    // By keyboard alone: find a class and open it; from there a method's lines.
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
