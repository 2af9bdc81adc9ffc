//! Methods that edits make longer than 8,000 bytes, the length from which HotSpot does not compile.

use crate::support::command::{LATE, classhook};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch};
use std::path::{Path, PathBuf};

/// Compiles `Huge`, whose `run()` has 7,999 bytes of code and is called often enough to be compiled. The program prints
/// its result and HotSpot's flag. With an argument it prints that it is ready, and the flag for each line of input.
fn huge(folder: &Path) -> PathBuf {
    let source = folder.join("Huge.java");
    let many = "i++;".repeat(2_664); // iinc: 3 bytes
    let text = format!(
        "import com.sun.management.HotSpotDiagnosticMXBean;\n\
         import java.io.*;\n\
         import java.lang.management.ManagementFactory;\n\
         public class Huge {{\n\
         static int run() {{ int i = 0; {many} i += 1; return i; }}\n\
         static String flag() {{\n\
             HotSpotDiagnosticMXBean jvm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);\n\
             return jvm.getVMOption(\"DontCompileHugeMethods\").getValue();\n\
         }}\n\
         public static void main(String[] arguments) throws IOException {{\n\
             long sum = 0;\n\
             for (int i = 0; i < 10_000; i++) sum += run();\n\
             System.out.println(arguments.length > 0 ? \"up\" : sum + \" \" + flag());\n\
             BufferedReader input = new BufferedReader(new InputStreamReader(System.in));\n\
             while (input.readLine() != null) System.out.println(flag());\n\
         }}\n\
         }}\n"
    );
    std::fs::write(&source, text).expect("written");
    javac::compile(&jdks::newest(), &[&source], folder, &["--release", "11"])
}

fn covered(jdk: &Jdk, classes: &Path, folder: &Path, options: &str) -> Java {
    let options = format!("output={}{options}", folder.join(&jdk.version).display());
    Java::new(jdk)
        .all_compilers()
        .compilation_log(&compilation_log(folder))
        .class_path(&[classes])
        .agent(Some(&options))
        .main("Huge")
}

fn compilation_log(folder: &Path) -> PathBuf {
    folder.join("compilations.log")
}

/// Returns whether HotSpot logged the compilation of `Huge.run`, and the flag that the program printed.
fn compiled<'a>(run: &'a Run, folder: &Path) -> (bool, &'a str) {
    run.assert_success();
    let log = std::fs::read_to_string(compilation_log(folder)).expect("HotSpot's log");
    let flag = run.stdout.strip_prefix("26650000 ").expect("the right sum");
    (log.contains("Huge::run ("), flag.trim_end())
}

const H0414: &str = "classhook: warning[H0414]: methods too long for HotSpot's compilers: 1; the first is \
                     Huge.run()I: it grew from 7999 to ";

#[test]
fn method_that_becomes_too_long_for_hotspots_compilers_is_compiled_all_the_same() {
    let folder = scratch();
    let classes = huge(folder.path());
    for jdk in jdks::all() {
        let run = covered(jdk, &classes, folder.path(), "").run();
        assert_eq!(compiled(&run, folder.path()), (true, "false"), "{jdk}");
        assert!(!run.stderr.contains("H0414"), "{}", run.report());
    }
}

#[test]
fn method_that_stays_uncompiled_is_reported() {
    let folder = scratch();
    let classes = huge(folder.path());
    for jdk in jdks::all() {
        let run = covered(jdk, &classes, folder.path(), ",compile-huge=off").run();
        assert_eq!(compiled(&run, folder.path()), (false, "true"), "{jdk}");
        run.assert_stderr(H0414);
    }
}

#[test]
fn limit_that_the_user_has_lifted_stays_lifted() {
    let folder = scratch();
    let classes = huge(folder.path());
    let jdk = jdks::newest();
    for options in ["", ",compile-huge=off"] {
        let java = covered(&jdk, &classes, folder.path(), options);
        let run = java.option("-XX:-DontCompileHugeMethods").run();
        assert_eq!(compiled(&run, folder.path()), (true, "false"));
    }
}

#[test]
fn off_restores_the_limit_and_status_shows_it_lifted() {
    let folder = scratch();
    let classes = huge(folder.path());
    for jdk in jdks::main_two() {
        let java = Java::new(&jdk)
            .options(&LATE)
            .class_path(&[&classes])
            .main("Huge")
            .argument("serve");
        let mut running = Servant::of(&java);
        let pid = running.pid().to_string();
        assert_eq!(running.ask(""), "true", "{jdk}");
        let output = folder.path().join(&jdk.version);
        classhook(&["attach", &pid, "--output", &output.to_string_lossy()]).assert_success();
        assert_eq!(running.ask(""), "false", "{jdk}");
        let status = classhook(&["status", &pid]);
        let told = "1 longer than 8,000 bytes, which are compiled, as the agent has cleared the flag DontCompileHugeMethods";
        assert!(status.stdout.contains(told), "{}", status.report());
        classhook(&["off", &pid]).assert_success();
        assert_eq!(running.ask(""), "true", "{jdk}");
        assert_eq!(running.end().code, Some(0));
    }
}
