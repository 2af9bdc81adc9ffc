//! Changes of a running JVM without a selection of classes: the application alone, within the available metaspace.

use crate::support::command::{LATE, assert_no_agent, classhook, json};
use e2e_tests::java::Java;
use e2e_tests::javac::{compile, jar};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{scratch, workspace};
use std::path::Path;

/// The line that reports the default selection.
const NARROWED: &str = "only classes of the application are changed";

/// Packs the classes of one package of the program.
fn packed(compiler: &Jdk, folder: &Path, package: &str, file: &str) {
    let classes = folder.join("all/classes");
    std::fs::create_dir_all(folder.join(file).parent().expect("a folder")).expect("a folder");
    jar(
        compiler,
        &classes,
        package,
        "Main-Class: shop.Main\nClass-Path: lib/lib.jar\n",
        &folder.join(file),
    );
}

/// Builds the program's archives in a folder: `shop.jar`, `lib/lib.jar` and `plug-ins/in.jar`.
fn build(folder: &Path) {
    let compiler = &jdks::main_two()[0];
    let sources = ["shop/Main", "lib/Library", "plug/In"];
    let sources =
        sources.map(|name| workspace::test_file(&format!("java/application/{name}.java")));
    let sources = sources.each_ref().map(|source| source.as_path());
    compile(
        compiler,
        &sources,
        &folder.join("all"),
        &["--release", "8", "-Xlint:-options"],
    );
    packed(compiler, folder, "shop", "shop.jar");
    packed(compiler, folder, "lib", "lib/lib.jar");
    packed(compiler, folder, "plug", "plug-ins/in.jar");
}

fn started(jdk: &Jdk, folder: &Path) -> Servant {
    let plugins = folder.join("plug-ins/in.jar");
    let java = Java::new(jdk)
        .options(&LATE)
        .option("-jar")
        .option(folder.join("shop.jar"))
        .argument(plugins);
    Servant::of(&java)
}

/// Returns the names of the classes that hold edits.
fn changed(pid: &str) -> Vec<String> {
    let classes = json(&["classes", pid, "--changed"]);
    let classes = classes["classes"].as_array().expect("a list");
    classes
        .iter()
        .filter_map(|class| class["name"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn attach_without_a_selection_changes_the_application_alone() {
    for jdk in jdks::all() {
        let folder = scratch();
        build(folder.path());
        let mut servant = started(jdk, folder.path());
        servant.ask("call");
        let pid = servant.pid().to_string();
        let output = folder.path().join("out");
        let output = output.to_string_lossy();
        let attached = classhook(&["attach", &pid, "--output", &output]);
        attached.assert_stderr(NARROWED);
        let classes = changed(&pid);
        for class in ["shop.Main", "plug.In"] {
            assert!(
                classes.iter().any(|name| name == class),
                "{class}: {classes:?} on {jdk}"
            );
        }
        assert!(
            !classes.iter().any(|name| name.starts_with("lib.")),
            "{classes:?} on {jdk}"
        );
        let all = classhook(&["reload", &pid, "--select", "**"]);
        assert!(!all.stderr.contains(NARROWED), "{}", all.report());
        assert!(
            changed(&pid).iter().any(|name| name == "lib.Library"),
            "{jdk}"
        );
        classhook(&["reload", &pid, "--plugin", "coverage"]).assert_stderr(NARROWED);
        assert!(
            !changed(&pid).iter().any(|name| name == "lib.Library"),
            "{jdk}"
        );
        assert_eq!(servant.end().code, Some(0));
    }
}

#[test]
fn class_that_was_selected_and_cannot_be_changed_is_named() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        build(folder.path());
        let servant = started(&jdk, folder.path());
        let pid = servant.pid().to_string();
        let output = folder.path().join("out");
        let output = output.to_string_lossy();
        let attached = classhook(&["attach", &pid, "--output", &output, "--select", "shop.**"]);
        attached.assert_exit(3).assert_stderr("shop.Main$Broken");
        classhook(&["off", &pid]);
        let visited = classhook(&[
            "coverage", &pid, "-o", &output, "--select", "shop.**", "--for", "1ms",
        ]);
        visited.assert_exit(3).assert_stderr("shop.Main$Broken");
        assert_eq!(servant.end().code, Some(0));
    }
}

/// The limit is a few megabytes above the JVM's use, and four thousand classes need more.
#[test]
fn change_for_which_the_metaspace_may_not_suffice_is_refused() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut options = LATE.to_vec();
        options.push("-XX:MaxMetaspaceSize=24m");
        let mut servant = Servant::start(&jdk, &options);
        assert_eq!(servant.ask("widen 4000"), "4000 copies");
        let pid = servant.pid().to_string();
        let output = folder.path().join("out");
        let output = output.to_string_lossy();
        let select = ["--select", "Wide*"];
        let refused = |words: &[&str]| {
            let run = classhook(&[words, &select[..]].concat());
            run.assert_exit(2)
                .assert_stderr("error[H0711]")
                .assert_stderr("--ignore-metaspace");
        };
        refused(&["attach", &pid, "--output", &output]);
        assert_no_agent(&pid);
        refused(&["coverage", &pid, "-o", &output, "--for", "1ms"]);
        refused(&["trace", &pid, "-o", &output, "--for", "1ms"]);
        assert_no_agent(&pid);
        classhook(&["attach", &pid, "--output", &output, "--select", "Servant*"]).assert_success();
        let before = changed(&pid);
        refused(&["enable", &pid, "trace"]);
        refused(&["reload", &pid, "--plugin", "coverage"]);
        assert_eq!(changed(&pid), before);
        let plugins = &json(&["status", &pid])["plugins"];
        assert_eq!(plugins.as_array().map(Vec::len), Some(1), "{plugins}");
        classhook(&["reload", &pid, "--ignore-metaspace", "--select", "Wide00*"]).assert_success();
        assert!(changed(&pid).iter().any(|name| name.starts_with("Wide00")));
        assert_eq!(servant.end().code, Some(0));
    }
}

/// The message does not suggest a loaded class as a similar name. It says why that class is not traced, and gives a
/// remedy.
#[test]
fn trace_of_a_loaded_class_without_a_plugin_names_the_reason() {
    for jdk in jdks::all() {
        let folder = scratch();
        build(folder.path());
        let mut servant = started(jdk, folder.path());
        let proxy = servant.ask("call");
        let pid = servant.pid().to_string();
        let output = folder.path().join("out");
        let output = output.to_string_lossy();
        let trace = |method: &str, more: &[&str]| {
            let words = [
                "trace",
                &pid,
                "-o",
                &output,
                "--for",
                "1ms",
                "--methods",
                method,
            ];
            classhook(&[&words[..], more].concat())
        };
        let of_proxy = format!("{proxy}.run");
        for (method, class, help) in [
            (of_proxy.as_str(), proxy.as_str(), "--select location:any"),
            ("java.util.HashMap.put", "java.util.HashMap", "--grant boot"),
        ] {
            let run = trace(method, &[]);
            run.assert_exit(2)
                .assert_stderr("error[H0650]")
                .assert_stderr(&format!("{class}: loaded"))
                .assert_stderr(help);
            assert!(!run.stderr.contains("nearest"), "{}", run.report());
        }
        trace(&of_proxy, &["--select", "location:any"]).assert_success();
        trace("java.util.HashMap.put", &["--grant", "boot"]).assert_success();
        let left_out = trace("lib.Library.call", &["--select", "shop.**"]);
        left_out
            .assert_exit(2)
            .assert_stderr("left out by --select");
        let absent = trace("lib.Library.cal", &[]);
        absent.assert_exit(2).assert_stderr("without such a method");
        assert_eq!(servant.end().code, Some(0));
    }
}

#[test]
fn selection_by_a_location_goes_through_symbolic_links() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        build(folder.path());
        std::os::unix::fs::symlink("plug-ins", folder.path().join("link")).expect("a link");
        let mut servant = started(&jdk, folder.path());
        servant.ask("call");
        let pid = servant.pid().to_string();
        let output = folder.path().join("out");
        let output = output.to_string_lossy();
        for place in ["link", "link/in.jar", "plug-ins"] {
            let select = format!("location:{}", folder.path().join(place).display());
            classhook(&["attach", &pid, "--output", &output, "--select", &select]).assert_success();
            assert_eq!(changed(&pid), ["plug.In"], "{place} on {jdk}");
            classhook(&["off", &pid]).assert_success();
        }
        assert_eq!(servant.end().code, Some(0));
    }
}
