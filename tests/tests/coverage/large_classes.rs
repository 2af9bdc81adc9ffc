//! Large methods and classes, measured as by JaCoCo as far as JaCoCo can.

use e2e_tests::instrumented::class_path;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::workspace::classhook;
use e2e_tests::{jacoco, javac, scratch};
use jacoco_files::{Execution, XmlReport};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Compiles a class of this name and text.
fn compiled(jdk: &Jdk, folder: &Path, (name, text): (&str, &str), release: &str) -> PathBuf {
    let source = folder.join(format!("{name}.java"));
    std::fs::write(&source, text).expect("written");
    let options = ["-g", "--release", release, "-Xlint:-options"];
    javac::compile(jdk, &[&source], folder, &options)
}

/// Runs a command of ours.
fn classhook_run<A: AsRef<std::ffi::OsStr>>(folder: &Path, words: &[A]) -> Run {
    let command = Java::program(classhook()).folder(folder);
    command.arguments(words).run()
}

/// Runs the class without and with our agent, expects the same output, and returns the report.
fn measured(jdk: &Jdk, folder: &Path, classes: &Path, name: &str) -> (String, XmlReport) {
    let plain = Java::new(jdk).class_path(&[classes]).main(name).run();
    plain.assert_success();
    let output = folder.join(format!("ours-{}", jdk.feature));
    let run = Java::new(jdk)
        .option("-Xverify:all")
        .coverage(&output)
        .class_path(&[classes])
        .main(name)
        .run();
    run.assert_success();
    assert_eq!(run.stdout, plain.stdout, "{}", run.report());
    assert!(!run.stderr.contains("H0411"), "{}", run.report());
    (plain.stdout, report(folder, &output, classes))
}

/// Returns our report of a recording.
fn report(folder: &Path, output: &Path, classes: &Path) -> XmlReport {
    let xml = folder.join("ours.xml");
    let words = ["report".as_ref(), output.as_os_str(), "--classes".as_ref()];
    let words = [&words[..], &[classes.as_os_str(), "--xml".as_ref()]].concat();
    let run = classhook_run(folder, &[&words[..], &[xml.as_os_str()]].concat());
    run.assert_success();
    XmlReport::read(&xml)
}

/// Returns JaCoCo's report of the class; `None` if its probes do not fit.
fn by_jacoco(jdk: &Jdk, folder: &Path, classes: &Path, name: &str) -> Option<XmlReport> {
    let file = folder.join(format!("jacoco-{}.exec", jdk.feature));
    let run = Java::new(jdk)
        .option(jacoco::agent_option(&file, None))
        .class_path(&[classes])
        .main(name)
        .run();
    run.assert_success();
    let execution = Execution::read(&file);
    let mut keys = execution.0.keys();
    let is_measured = keys.any(|key| key.name == name);
    is_measured.then(|| jacoco::report(&file, classes, &folder.join("jacoco.xml")))
}

fn assert_same(ours: &XmlReport, theirs: &XmlReport) {
    let differences = ours.differences(theirs);
    assert!(differences.is_empty(), "{differences:#?}");
}

/// Generates a method with many conditions of ten bytes, all in the range of a catch-all handler.
fn caught(conditions: usize) -> String {
    let mut text = String::from(
        "public class Caught {
    static int dense(int x) {
        int t = 0;
        try {
",
    );
    for number in 0..conditions {
        writeln!(text, "            if (x > {}) t++;", number + 200).expect("a string");
    }
    text.push_str(
        "        } catch (Throwable e) {
            return -1;
        }
        return t;
    }
    public static void main(String[] arguments) {
        System.out.println(dense(1000) + dense(0));
    }
}
",
    );
    text
}

#[test]
fn dense_method_with_a_handler_of_everything_is_measured_as_by_jacoco() {
    for jdk in jdks::main_in_turn("dense methods") {
        let folder = scratch();
        let folder = folder.path();
        let classes = compiled(&jdk, folder, ("Caught", &caught(2_400)), "17");
        let (_, ours) = measured(&jdk, folder, &classes, "Caught");
        let theirs = by_jacoco(&jdk, folder, &classes, "Caught");
        assert_same(&ours, &theirs.expect("JaCoCo's probes fit"));
    }
}

/// Generates a class with 20,000 conditions in methods of a thousand each.
fn many() -> String {
    let mut text = String::from("public class Many {\n");
    for method in 0..20 {
        writeln!(
            text,
            "    static int m{method}(int x) {{\n        int t = 0;"
        )
        .expect("a string");
        for number in 0..1_000 {
            writeln!(text, "        if (x > {}) t++;", number + 200).expect("a string");
        }
        text.push_str("        return t;\n    }\n");
    }
    text.push_str("    public static void main(String[] arguments) {\n        int all = 0;\n");
    for method in (0..20).step_by(3) {
        writeln!(text, "        all += m{method}(700);").expect("a string");
    }
    text.push_str("        System.out.println(all);\n    }\n}\n");
    text
}

#[test]
fn class_with_more_than_32768_probes_is_measured() {
    for jdk in jdks::main_in_turn("many probes") {
        let folder = scratch();
        let folder = folder.path();
        let classes = compiled(&jdk, folder, ("Many", &many()), "17");
        let (printed, ours) = measured(&jdk, folder, &classes, "Many");
        assert_eq!(printed, "3500\n");
        // JaCoCo's own tool reports the same from the data that we write for it.
        let exec = folder.join("all.exec");
        let output = folder.join(format!("ours-{}", jdk.feature));
        let words = ["report".as_ref(), output.as_os_str(), "--exec".as_ref()];
        let run = classhook_run(folder, &[&words[..], &[exec.as_os_str()]].concat());
        run.assert_success();
        let theirs = jacoco::report(&exec, &classes, &folder.join("theirs.xml"));
        assert_same(&ours, &theirs);

        let itself = itself(&jdk, folder, &classes, "Many", &printed);
        assert_same(&itself, &ours);
    }
}

/// Runs the offline instrumented class, expects the same output, and returns the report.
fn itself(jdk: &Jdk, folder: &Path, classes: &Path, name: &str, printed: &str) -> XmlReport {
    let instrumented = class_path(&[classes.to_owned()], &folder.join("static"));
    let output = folder.join(format!("itself-{}", jdk.feature));
    let run = Java::new(jdk)
        .option("-Xverify:all")
        .option(format!("-Dclasshook.output={}", output.display()))
        .class_path(&instrumented.class_path)
        .main(name)
        .run();
    run.assert_success();
    assert_eq!(run.stdout, printed, "{}", run.report());
    report(folder, &output, classes)
}

#[test]
fn classes_instrumented_before_have_the_shorter_probes_too() {
    let full = jdks::release(17).expect("the JDK that the tests need");
    // Version 52 reads the array through a method of its own, version 61 through a dynamic constant.
    for release in ["8", "17"] {
        let folder = scratch();
        let folder = folder.path();
        let classes = compiled(&full, folder, ("Caught", &caught(2_400)), release);
        let older = jdks::eight().filter(|_| release == "8");
        let newer = jdks::all().iter().filter(|jdk| jdk.feature >= 17).cloned();
        for jdk in older.into_iter().chain(newer) {
            let folder = folder.join(format!("on-{}", jdk.feature));
            std::fs::create_dir(&folder).expect("the test's folder");
            let (printed, ours) = measured(&jdk, &folder, &classes, "Caught");
            let itself = itself(&jdk, &folder, &classes, "Caught", &printed);
            assert_same(&itself, &ours);
        }
    }
}

/// Pseudo-random statements, determined by a seed.
struct Statements(u64);

impl Statements {
    /// Returns a number below `most`.
    fn next(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn one(&mut self) -> String {
        let (k, m) = (self.next(30_000), self.next(7) + 2);
        match self.next(9) {
            0 => format!("a += f({k});"),
            1 => format!("if (a % {m} == 1) a += {k}; else b -= {m};"),
            2 => format!("while (c-- > 0 && b < {k}) b++;"),
            3 => format!(
                "switch (a & 3) {{ case 0: a++; break; case 1: b++; case 2: c = 3; default: b ^= {k}; }}"
            ),
            4 => format!(
                "try {{ a = g(a, {m}); }} catch (RuntimeException e) {{ b++; }} finally {{ c = 2; }}"
            ),
            5 => format!("s = a > {k} || b > {m} && on ? \"x\" : s;"),
            6 => format!("l += s.length() * {k}L; if (l < 0) {{ l = b; continue; }}"),
            7 => format!("for (int i = 0; i < {m}; i++) {{ b += f(i); }}"),
            _ => format!("o = on ? new int[] {{a, b}} : o; d += {k} / 3.0;"),
        }
    }

    /// Generates a method of about this many statements, some of them nested.
    fn method(&mut self, number: usize, statements: usize) -> String {
        let mut text = format!(
            "    static long m{number}(boolean on, int a, long l) {{
        int b = 1, c = 4; double d = 0; String s = \"s\"; Object o = s;
        for (int round = 0; round < 3; round++) {{
            if (on || a < 3) {{\n"
        );
        let caught = self.next(3) == 0;
        text.push_str(if caught { "try {\n" } else { "" });
        for _ in 0..statements {
            text.push_str("                ");
            text.push_str(&self.one());
            text.push('\n');
        }
        text.push_str(if caught {
            "} catch (Throwable e) { c++; }\n"
        } else {
            ""
        });
        text.push_str(
            "            }
            on = !on;
        }
        return a + b + c + l + (long) d + s.length() + (o == s ? 1 : 2);
    }\n",
        );
        text
    }

    fn class(&mut self, name: &str) -> String {
        let mut text = format!(
            "public class {name} {{
    static int f(int k) {{ return k % 11; }}
    static int g(int a, int m) {{ if (a % m == 0) throw new IllegalStateException(); return a + 1; }}\n"
        );
        let sizes = [300, 450, 600, 700, 800];
        for (number, size) in sizes.into_iter().enumerate() {
            text.push_str(&self.method(number, size));
        }
        text.push_str("    public static void main(String[] arguments) {\n");
        for number in 0..sizes.len() {
            writeln!(
                text,
                "        System.out.println(m{number}(true, {number}, 5) + \" \" + m{number}(false, 2, 1));"
            )
            .expect("a string");
        }
        text.push_str("    }\n}\n");
        text
    }
}

#[test]
fn large_methods_at_random_run_as_before_and_count_as_by_jacoco() {
    for jdk in jdks::main_in_turn("methods at random") {
        let mut compared = 0;
        for seed in 1..=4 {
            let folder = scratch();
            let folder = folder.path();
            let name = format!("Random{seed}");
            let text = Statements(seed).class(&name);
            let classes = compiled(&jdk, folder, (&name, &text), "17");
            let (printed, ours) = measured(&jdk, folder, &classes, &name);
            let itself = itself(&jdk, folder, &classes, &name, &printed);
            assert_same(&itself, &ours);
            if let Some(theirs) = by_jacoco(&jdk, folder, &classes, &name) {
                assert_same(&ours, &theirs);
                compared += 1;
            }
        }
        eprintln!("{compared} of 4 classes compared with JaCoCo");
    }
}
