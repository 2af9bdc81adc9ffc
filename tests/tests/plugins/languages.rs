//! Projects in other languages than Rust. The guide shows one that works (`command::documents`).

use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::newest;
use e2e_tests::rotation::everything;
use e2e_tests::scratch;
use e2e_tests::workspace::{classhook, path_with_compilers, root};
use std::path::Path;

/// Runs `classhook plugin` in a folder, with these programs.
fn plugin(folder: &Path, path: &str, words: &[&str]) -> Run {
    let program = Java::program(classhook()).folder(folder);
    let program = program.variable("PATH", path).argument("plugin");
    program.arguments(words).run()
}

/// Changes a source, and asserts that the build fails for this reason.
fn assert_not_built(folder: &Path, from: &str, to: &str, causes: &[&str]) {
    let source = folder.join("mine/src/plugin.c");
    let text = std::fs::read_to_string(&source).expect("the plugin");
    assert!(text.contains(from), "{text}");
    std::fs::write(&source, text.replace(from, to)).expect("written");
    let run = plugin(folder, &path_with_compilers(), &["build", "mine"]);
    run.assert_exit(2).assert_stderr("error[H0684]");
    for cause in causes {
        run.assert_stderr(cause);
    }
    std::fs::write(&source, text).expect("written");
}

#[test]
fn mistakes_in_c_are_shown_with_their_place() {
    let folder = scratch();
    let folder = folder.path();
    plugin(folder, "/nowhere", &["new", "--lang", "c", "mine"]).assert_success();
    plugin(folder, "/nowhere", &["build", "mine"])
        .assert_exit(2)
        .assert_stderr("error[H0683]: clang cannot be started")
        .assert_stderr("apt-get install clang lld");
    let place = ["src/plugin.c:23:", "clang ended with exit status: 1"];
    assert_not_built(folder, "text_t cells[]", "text cells[]", &place);
    let call = ["undefined symbol: printf", "has no C library"];
    assert_not_built(folder, "return true;", "return printf(\"\");", &call);
    let import = "__attribute__((import_module(\"m\"), import_name(\"f\"))) void f(void);\n";
    let foreign = format!("{import}bool transform(class_t of, plan_t to, text_t *why) {{ f();");
    let whole = "bool transform(class_t of, plan_t to, text_t *why) {";
    assert_not_built(folder, whole, &foreign, &["interface named `m`"]);
}

#[test]
fn compiler_is_needed_only_when_a_source_is_newer_than_the_component() {
    let folder = scratch();
    let folder = folder.path();
    plugin(folder, "/nowhere", &["new", "--lang", "c", "mine"]).assert_success();
    plugin(folder, &path_with_compilers(), &["build", "mine"]).assert_success();
    plugin(folder, "/nowhere", &["test", "mine"]).assert_success();
    let source = folder.join("mine/src/plugin.c");
    let text = std::fs::read_to_string(&source).expect("the plugin");
    std::fs::write(&source, text).expect("written");
    plugin(folder, "/nowhere", &["test", "mine"])
        .assert_exit(2)
        .assert_stderr("error[H0683]: clang cannot be started");
}

/// A project whose component contains an interpreter, which another program builds.
struct Interpreted<'t> {
    folder: &'t Path,
    path: String,
    source: &'static str,
}

impl<'t> Interpreted<'t> {
    /// Creates and tests a project, in `cargo xtask corpus` alone: building such a component takes a minute of CPU
    /// time. In every run, asserts the error without the program.
    fn tested(
        folder: &'t Path,
        language: &str,
        source: &'static str,
        [program, install]: [&str; 2],
    ) -> Option<Self> {
        plugin(folder, "/nowhere", &["new", "--lang", language, "mine"]).assert_success();
        plugin(folder, "/nowhere", &["build", "mine"])
            .assert_exit(2)
            .assert_stderr(&format!("error[H0683]: {program} cannot be started"))
            .assert_stderr(install);
        if !everything() {
            return None;
        }
        let path = path_with_compilers();
        let tested = plugin(folder, &path, &["test", "mine"]);
        tested.assert_success();
        let equal = "1 of 1 plans in tests are as expected";
        assert!(tested.stdout.contains(equal), "{}", tested.report());
        Some(Self {
            folder,
            path,
            source,
        })
    }

    /// Replaces a part of the source, and asserts the end of this command.
    fn assert_mistake(&self, word: &str, from: &str, to: &str, told: &[&str]) {
        let source = self.folder.join(self.source);
        let text = std::fs::read_to_string(&source).expect("the plugin");
        assert!(text.contains(from), "{text}");
        std::fs::write(&source, text.replace(from, to)).expect("written");
        let run = plugin(self.folder, &self.path, &[word, "mine"]);
        run.assert_exit(2);
        for part in told {
            run.assert_stderr(part);
        }
        std::fs::write(&source, text).expect("written");
    }
}

#[test]
fn plugin_in_python_counts_calls() {
    let folder = scratch();
    let programs = ["componentize-py", "pip install componentize-py"];
    let tested = Interpreted::tested(folder.path(), "python", "mine/plugin.py", programs);
    let Some(project) = tested else { return };
    computes_a_table(folder.path(), &project.path);
    let (call, failing) = ("class_name = ", "open(\"x\"); class_name = ");
    let told = ["RuntimeError: a plugin has no files (plugin.py:19)"];
    project.assert_mistake("test", call, failing, &told);
    let told = ["error[H0684]", "SyntaxError"];
    project.assert_mistake("build", call, "1 = 2", &told);
}

#[test]
fn plugin_in_javascript_counts_calls() {
    let folder = scratch();
    let programs = ["componentize-js", "npm install"];
    let tested = Interpreted::tested(folder.path(), "js", "mine/plugin.js", programs);
    let Some(project) = tested else { return };
    let run = [
        "run",
        "mine",
        "--plugin-settings",
        r#"{"class": ["Greeter"]}"#,
        "--",
        "java",
        "-version",
    ];
    plugin(folder.path(), &project.path, &run)
        .assert_exit(2)
        .assert_stderr("there is no setting `class`; expected classes");
    let call = "points.entry(";
    let told = ["ReferenceError: pints is not defined (plugin.js:25)"];
    project.assert_mistake("test", call, "pints.entry(", &told);
    let told = ["error[H0684]", "Assigning to rvalue"];
    project.assert_mistake("build", "const row = {", "1 = {", &told);
}

/// Builds the example of `report` in Python in docs/how-to/plugin-languages.md, in a project beside the other.
fn computes_a_table(folder: &Path, path: &str) {
    plugin(folder, path, &["new", "--lang", "python", "sums"]).assert_success();
    let guide =
        std::fs::read_to_string(root().join("docs/how-to/plugin-languages.md")).expect("the guide");
    let behind = guide.split_once("```python\n").expect("a source").1;
    let reporter = behind.split_once("```").expect("an end").0;
    let source = folder.join("sums/plugin.py");
    let text = std::fs::read_to_string(&source).expect("the plugin");
    std::fs::write(&source, format!("{text}\n{reporter}")).expect("written");
    let world = folder.join("sums/world.wit");
    let text = std::fs::read_to_string(&world).expect("a world");
    let export = "  export classhook:plugin/transformer@0.1.0;\n";
    let more =
        "  import classhook:plugin/recorded@0.1.0;\n  export classhook:plugin/reporter@0.1.0;\n";
    assert!(text.contains(export), "{text}");
    let text = text.replace(export, &format!("{export}{more}"));
    std::fs::write(&world, text).expect("written");
    let program = "class Greeter { public static void main(String[] a) { greet(); greet(); greet(); } static void greet() {} }";
    std::fs::write(folder.join("Greeter.java"), program).expect("written");
    let jdk = newest();
    let javac = Java::program(jdk.tool("javac")).folder(folder);
    javac.argument("Greeter.java").run().assert_success();
    let java = jdk.tool("java");
    let java = java.to_str().expect("a text");
    let settings = r#"{"classes": ["Greeter"]}"#;
    let run = [
        "run",
        "sums",
        "--plugin-settings",
        settings,
        "--",
        java,
        "Greeter",
    ];
    let run = plugin(folder, path, &run);
    run.assert_success();
    let table = run.stdout.split_once("sums: busiest\n").expect("a table").1;
    let row = table.lines().nth(1).expect("a row");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells, ["Greeter", "greet"], "{}", run.report());
}

#[test]
fn plan_is_compared_in_any_language_and_blessed() {
    let folder = scratch();
    let folder = folder.path();
    let path = path_with_compilers();
    plugin(folder, &path, &["new", "--lang", "c", "mine"]).assert_success();
    let plan = folder.join("mine/tests/Counter.explained");
    let text = std::fs::read_to_string(&plan).expect("a plan");
    let other = text.replace("count 1", "count 2");
    std::fs::write(&plan, &other).expect("written");
    plugin(folder, &path, &["test", "mine"])
        .assert_exit(2)
        .assert_stderr("error[H0685]")
        .assert_stderr("expected + mine: count 2 (entry)")
        .assert_stderr("found    + mine: count 1 (entry)");
    let blessed = plugin(folder, &path, &["test", "mine", "--bless"]);
    blessed.assert_success();
    assert!(
        blessed
            .stdout
            .contains("wrote mine/tests/Counter.explained"),
        "{}",
        blessed.report()
    );
    assert_eq!(std::fs::read_to_string(&plan).expect("a plan"), text);
    let run = |grants: &[&str]| {
        let program = Java::program(classhook())
            .folder(folder)
            .variable("PATH", &path);
        let words = ["run", "--plugin", "mine", "--output", "out"];
        let program = program.arguments(&words).arguments(grants);
        program.arguments(&["--", "touch", "started"]).run()
    };
    run(&[]).assert_exit(2).assert_stderr("error[H0203]");
    assert!(!folder.join("started").exists());
    run(&["--grant", "probes"]).assert_success();
    assert!(folder.join("started").exists());
    std::fs::write(folder.join("mine/tests/Other.explained"), "").expect("written");
    plugin(folder, &path, &["test", "mine"])
        .assert_exit(2)
        .assert_stderr("Other.class");
}
