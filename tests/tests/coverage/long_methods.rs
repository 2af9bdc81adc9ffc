//! Methods that become long with probes, as generated code does.

use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::workspace::classhook;
use e2e_tests::{javac, scratch};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Compiles a class with a branch over `calls` lines with calls. It runs twice, once around them.
fn compiled(jdk: &Jdk, folder: &Path, calls: usize) -> PathBuf {
    let mut text = String::from(
        "public class Long {
    static int sum;
    static boolean done;
    static void put(int k) { sum += k; }
    static void fill() {
        if (!done) {
",
    );
    for number in 0..calls {
        writeln!(text, "            put({number});").expect("a string");
    }
    text.push_str(
        "            done = true;
        }
    }
    public static void main(String[] arguments) {
        fill();
        fill();
        System.out.println(sum);
    }
}
",
    );
    let source = folder.join("Long.java");
    std::fs::write(&source, text).expect("written");
    javac::compile(
        jdk,
        &[&source],
        folder,
        &["-g", "--release", "8", "-Xlint:-options"],
    )
}

/// Compiles a class with `calls` lines of calls, of which the one at `throwing` throws an exception.
fn throwing(jdk: &Jdk, folder: &Path, calls: usize, throwing: usize) -> PathBuf {
    let body: String = (0..calls).fold(String::new(), |mut text, number| {
        writeln!(text, "        put({number});").expect("a string");
        text
    });
    let text = format!(
        "public class Long {{
    static void put(int k) {{ if (k == {throwing}) throw new IllegalStateException(); }}
    static void fill() {{
{body}    }}
    public static void main(String[] arguments) {{
        try {{
            fill();
        }} catch (IllegalStateException e) {{
            System.out.println(\"thrown\");
        }}
    }}
}}
"
    );
    let source = folder.join("Long.java");
    std::fs::write(&source, text).expect("written");
    javac::compile(jdk, &[&source], folder, &["-g"])
}

/// Compiles a class with a method of more than 60 KB and 3,500 conditions, without space for probes.
fn dense(jdk: &Jdk, folder: &Path) -> PathBuf {
    let body = "        a = b ? 1 : 2;\n".repeat(3_500);
    let text = format!(
        "public class Long {{
    static int a;
    static boolean b;
    static void put(int k) {{ a += k; }}
    static void fill() {{
{body}    }}
    public static void main(String[] arguments) {{
        fill();
        put(3);
        System.out.println(a);
    }}
}}
"
    );
    let source = folder.join("Long.java");
    std::fs::write(&source, text).expect("written");
    javac::compile(jdk, &[&source], folder, &["-g"])
}

/// Runs the class under `coverage` with these options.
fn covered(jdk: &Jdk, folder: &Path, classes: &Path, options: &[&str]) -> Run {
    let (java, classes) = (jdk.tool("java"), classes.to_string_lossy().into_owned());
    let java = java.to_string_lossy();
    let first = ["coverage", "--classes", &classes];
    let last = ["--", &java, "-cp", &classes, "Long"];
    let words = [&first[..], options, &last].concat();
    let run = Java::program(classhook()).folder(folder).arguments(&words);
    run.run()
}

/// Runs a command of ours with these words.
fn run_command(folder: &Path, words: &str) -> Run {
    let words: Vec<&str> = words.split(' ').collect();
    let command = Java::program(classhook()).folder(folder).arguments(&words);
    command.run()
}

/// Returns the counters of a method in JaCoCo's XML.
fn counters(xml: &Path, method: &str) -> Option<String> {
    let xml = std::fs::read_to_string(xml).expect("a report");
    let begin = xml.split(&format!("<method name=\"{method}\"")).nth(1)?;
    Some(begin.split("</method>").next()?.to_owned())
}

fn assert_measured(xml: &Path, lines: usize) {
    let found = counters(xml, "fill").expect("the method");
    for counter in [
        format!("type=\"LINE\" missed=\"0\" covered=\"{lines}\""),
        "type=\"BRANCH\" missed=\"0\" covered=\"2\"".to_owned(),
    ] {
        assert!(found.contains(&counter), "{counter}: {found}");
    }
}

#[test]
fn branch_over_two_thousand_calls_is_measured() {
    for jdk in jdks::main_in_turn("long methods") {
        let folder = scratch();
        let folder = folder.path();
        let classes = compiled(&jdk, folder, 2_500);
        let xml = folder.join("all.xml");
        let run = covered(&jdk, folder, &classes, &["--xml", "all.xml"]);
        run.assert_success();
        assert!(run.stdout.starts_with("3123750\n"), "{}", run.report());
        assert!(!run.stderr.contains("H0411"), "{}", run.report());
        assert_measured(&xml, 2_503);
    }
}

/// Compiles a branch with many kinds of types at its fall-through, among them an object without its constructor call.
fn rich(jdk: &Jdk, folder: &Path) -> PathBuf {
    let calls: String = (0..5_000).fold(String::new(), |mut text, number| {
        writeln!(text, "                put({number});").expect("a string");
        text
    });
    let text = format!(
        "public class Long {{
    static int sum;
    static void put(int k) {{ sum += k; }}
    static Object fill(String text, long number, int[] some) {{
        int[][] table = {{some}};
        String[] words = {{text}};
        return new StringBuilder(number > 0 ? switch (words.length) {{
            default -> {{
{calls}                yield words[0];
            }}
        }} : \"none\").append(table[0][0]);
    }}
    public static void main(String[] arguments) {{
        System.out.println(fill(\"a\", 1, new int[] {{7}}) + \" \" + fill(\"a\", 0, new int[] {{8}}) + sum);
    }}
}}
"
    );
    let source = folder.join("Long.java");
    std::fs::write(&source, text).expect("written");
    javac::compile(jdk, &[&source], folder, &["-g", "--release", "17"])
}

#[test]
fn branch_over_more_than_the_shorter_probes_leave_is_measured() {
    let full = jdks::release(17).expect("the JDK that the tests need");
    let folder = scratch();
    let folder = folder.path();
    let classes = compiled(&full, folder, 5_000);
    let newer = jdks::all().iter().cloned();
    for jdk in jdks::eight().into_iter().chain(newer) {
        let run = covered(&jdk, folder, &classes, &["--xml", "all.xml"]);
        run.assert_success();
        assert!(run.stdout.starts_with("12497500\n"), "{}", run.report());
        assert!(!run.stderr.contains("H0411"), "{}", run.report());
        assert_measured(&folder.join("all.xml"), 5_003);
    }
}

#[test]
fn branch_with_any_types_behind_it_may_span_more_than_32_kilobytes() {
    let full = jdks::release(17).expect("the JDK that the tests need");
    let folder = scratch();
    let folder = folder.path();
    let classes = rich(&full, folder);
    for jdk in jdks::all().iter().filter(|jdk| jdk.feature >= 17) {
        let run = covered(jdk, folder, &classes, &["--xml", "all.xml"]);
        run.assert_success();
        let printed = "a7 none812497500\n";
        assert!(run.stdout.starts_with(printed), "{}", run.report());
        let found = counters(&folder.join("all.xml"), "fill").expect("the method");
        let whole = "type=\"BRANCH\" missed=\"0\" covered=\"2\"";
        assert!(found.contains(whole), "{found}");
    }
}

#[test]
fn probes_of_lines_are_left_out_if_the_method_would_have_none() {
    for jdk in jdks::main_in_turn("long methods with lines") {
        for option in ["--exact-lines", "--hit-counts"] {
            let folder = scratch();
            let folder = folder.path();
            let classes = compiled(&jdk, folder, 5_000);
            let run = covered(&jdk, folder, &classes, &[option, "--xml", "all.xml"]);
            run.assert_success();
            assert!(run.stdout.starts_with("12497500\n"), "{}", run.report());
            let told = "do not fit into it";
            assert!(run.stderr.contains(told), "{}", run.report());
            assert_measured(&folder.join("all.xml"), 5_003);
        }
    }
}

/// A line of calls takes 6 bytes, and its probe 5 more.
#[test]
fn method_of_calls_is_measured_up_to_its_greatest_length() {
    for jdk in jdks::main_in_turn("long methods of calls") {
        for calls in [6_500, 10_800] {
            let folder = scratch();
            let folder = folder.path();
            let classes = compiled(&jdk, folder, calls);
            let options = ["--xml", "all.xml", "--exec", "all.exec"];
            let run = covered(
                &jdk,
                folder,
                &classes,
                &[&options[..], &["--html", "html"]].concat(),
            );
            run.assert_success();
            let told = "of its probes do not fit into it; code without them counts as executed";
            assert!(run.stderr.contains(told), "{}", run.report());
            assert_measured(&folder.join("all.xml"), calls + 3);

            // JaCoCo's tools show the same.
            let words = format!(
                "report all.exec --classes {} --xml again.xml",
                classes.display()
            );
            run_command(folder, &words).assert_success();
            assert_measured(&folder.join("again.xml"), calls + 3);

            let words = format!("instrument {} -o before --embed", classes.display());
            let instrumented = run_command(folder, &words);
            instrumented.assert_success();
            let named = "warning[H0411]: Long.fill()V is without some of its probes";
            assert!(
                instrumented.stderr.contains(named),
                "{}",
                instrumented.report()
            );
            let before = Java::new(&jdk)
                .folder(folder)
                .option("-Dclasshook.output=itself")
                .class_path(&["before"])
                .main("Long");
            before.run().assert_success();
            let words = format!(
                "report itself --classes {} --xml itself.xml",
                classes.display()
            );
            run_command(folder, &words).assert_success();
            assert_measured(&folder.join("itself.xml"), calls + 3);
        }
    }
}

#[test]
fn line_without_a_probe_is_executed_as_the_next_line_with_one() {
    for jdk in jdks::main_in_turn("exceptions in long methods") {
        let folder = scratch();
        let folder = folder.path();
        // Somewhat more than half of the lines keep their probes.
        let classes = throwing(&jdk, folder, 7_200, 3_000);
        let run = covered(&jdk, folder, &classes, &["--xml", "all.xml"]);
        run.assert_success();
        assert!(run.stdout.starts_with("thrown\n"), "{}", run.report());
        let found = counters(&folder.join("all.xml"), "fill").expect("the method");
        let covered = (2_990..=3_000).find(|covered| {
            let missed = 7_201 - covered;
            found.contains(&format!(
                "type=\"LINE\" missed=\"{missed}\" covered=\"{covered}\""
            ))
        });
        assert!(covered.is_some(), "{found}");
    }
}

#[test]
fn probes_of_lines_that_are_left_out_before_the_program_runs_are_named() {
    for jdk in jdks::main_in_turn("long methods with lines before they run") {
        let folder = scratch();
        let folder = folder.path();
        let classes = compiled(&jdk, folder, 5_000);
        let classes = classes.to_string_lossy();
        let words = "--embed --plugin coverage --plugin coverage-lines";
        let run = run_command(folder, &format!("instrument {classes} -o before {words}"));
        run.assert_success();
        let named = "warning[H0411]: Long.fill()V is without some of its probes";
        assert!(run.stderr.contains(named), "{}", run.report());
    }
}

#[test]
fn method_that_cannot_have_probes_is_not_measured_instead_of_missed() {
    for jdk in jdks::main_in_turn("methods without probes") {
        let folder = scratch();
        let folder = folder.path();
        let classes = dense(&jdk, folder);
        let run = covered(&jdk, folder, &classes, &["--output", "out"]);
        assert_eq!(run.status.code(), Some(3), "{}", run.report());
        assert!(run.stdout.starts_with("5\n"), "{}", run.report());
        let named = "the method Long.fill()V, which is not measured: the method would grow to ";
        assert!(
            run.stdout.contains(&format!("incomplete: {named}")),
            "{}",
            run.report()
        );
        assert!(
            run.stderr.contains("warning[H0625]: Long.fill()V"),
            "{}",
            run.report()
        );

        let files = [
            "html/index.html",
            "all.json",
            "all.md",
            "all.xml",
            "cobertura.xml",
            "sonar.xml",
        ];
        let words = "report out --html html --json all.json --markdown all.md --xml all.xml --cobertura cobertura.xml --sonar sonar.xml";
        let report = run_command(folder, words);
        assert_eq!(report.status.code(), Some(3), "{}", report.report());
        for file in files {
            let text = std::fs::read_to_string(folder.join(file)).expect("a report");
            assert!(text.contains("Long.fill()V"), "{file}: {text}");
        }
        assert_eq!(counters(&folder.join("all.xml"), "fill"), None);
        assert!(counters(&folder.join("all.xml"), "put").is_some());

        let name = |words: &str| words.replace("CLASSES", &classes.to_string_lossy());
        let run = run_command(folder, &name("instrument CLASSES -o before --embed"));
        assert_eq!(run.status.code(), Some(3), "{}", run.report());
        let named = "warning[H0411]: Long.fill()V is not measured";
        assert!(run.stderr.contains(named), "{}", run.report());
        let before = Java::new(&jdk)
            .folder(folder)
            .option("-Dclasshook.output=itself")
            .class_path(&["before"])
            .main("Long");
        before.run().assert_success();
        let report = run_command(folder, &name("report itself --classes CLASSES"));
        assert_eq!(report.status.code(), Some(3), "{}", report.report());
        let named = "the method Long.fill()V, which is not measured: with probes";
        assert!(report.stdout.contains(named), "{}", report.report());

        let check = run_command(folder, "check out --fail-under line=1");
        assert_eq!(check.status.code(), Some(3), "{}", check.report());
        let without = run_command(folder, "report out --select !Long");
        assert!(!without.stderr.contains("H0625"), "{}", without.report());
    }
}
