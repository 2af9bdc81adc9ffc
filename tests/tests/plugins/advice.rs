//! Advice in Java: at the start of a program, in a running one, and in classes on disk.

use crate::support::advice::{OWN, every_release, file, instrumented, run_from, shop};
use crate::support::command::{LATE, classhook};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use std::path::{Path, PathBuf};

/// Runs `classhook run` with advice and further options before a JVM of this JDK.
fn run(jdk: &Jdk, folder: &Path, options: &[&str]) -> Run {
    let classes = shop(folder);
    Java::program(workspace::classhook())
        .variable("CLASSHOOK_AGENT", workspace::agent_library())
        .folder(folder)
        .argument("run")
        .arguments(options)
        .argument("--")
        .argument(jdk.tool("java"))
        .arguments(&["-Xverify:all", "-Xcheck:jni", "-cp"])
        .argument(&classes)
        .argument("Shop")
        .run()
}

fn advised(jdk: &Jdk, name: &str, more: &[&str]) -> Run {
    let folder = scratch();
    let file = file(name);
    let mut options = vec!["--advice", file.to_str().expect("text")];
    options.extend(more);
    run(jdk, folder.path(), &options)
}

#[test]
fn advice_gets_each_value_of_each_call() {
    for jdk in every_release() {
        let run = advised(&jdk, "Values", &[]);
        run.assert_success();
        let expected = "\
> Shop.<init>(java.lang.String) [x]
< Shop.<init>(java.lang.String) null null
> Shop.add(byte,short,char,int,long,float,double,boolean,java.lang.String) [1, 2, c, 4, 5, 6.0, 7.0, true, nine]
< Shop.add(byte,short,char,int,long,float,double,boolean,java.lang.String) 129 null
> Shop.half(double) [5.0]
< Shop.half(double) 2.5 null
> Shop.pair(int) [2]
< Shop.pair(int) [2, 2] null
> Shop.nothing() []
< Shop.nothing() null null
> Shop.fail(java.lang.String) [full]
< Shop.fail(java.lang.String) null java.io.IOException: full
> Shop.<init>(java.lang.String) []
< Shop.<init>(java.lang.String) null java.lang.IllegalArgumentException: no name
> Shop.depth(int) [3]
> Shop.depth(int) [2]
> Shop.depth(int) [1]
> Shop.depth(int) [0]
< Shop.depth(int) 0 null
< Shop.depth(int) 1 null
< Shop.depth(int) 2 null
< Shop.depth(int) 3 null
> Shop$Greeter.greet(java.lang.String) [ann]
< Shop$Greeter.greet(java.lang.String) hello ann null
";
        assert!(run.stdout.starts_with(expected), "{jdk}: {}", run.report());
        // The bridge of the generic method counts once.
        let compared = run.stdout.matches("> Shop$Generic.compareTo(").count();
        assert_eq!(compared, 1, "{jdk}: {}", run.report());
        assert!(
            run.stdout.trim_end().ends_with(OWN),
            "{jdk}: {}",
            run.report()
        );
        assert_eq!(run.stderr, "", "{jdk}");
    }
}

#[test]
fn values_have_their_own_types_and_go_from_entry_to_exit() {
    for jdk in every_release() {
        let run = advised(&jdk, "Typed", &[]);
        run.assert_success();
        let expected = format!(
            "\
made 1.0 shop x false
add shop x 12c456.07.0truenine
sum 1.5 129 Long shop x
half 5.0 2.5
failed full full
made 0.0 null true
depth 0 0
depth 1 1
depth 2 2
depth 3 3
{OWN}
"
        );
        assert_eq!(run.stdout, expected, "{jdk}: {}", run.report());
        assert_eq!(run.stderr, "", "{jdk}");
    }
}

#[test]
fn exceptions_of_advice_do_not_reach_the_program_and_advice_does_not_enter_itself() {
    for jdk in every_release() {
        let run = advised(
            &jdk,
            "Throwing",
            &[
                "--advice-setting",
                "Throwing.word=set",
                "--advice-setting",
                "number=7",
            ],
        );
        run.assert_success();
        let expected =
            format!("left 0 0.5\nleft 0 1.0\nleft 0 1.5\nleft 0 2.0\nleft 0 2.5\n{OWN}\n");
        assert_eq!(run.stdout, expected, "{jdk}: {}", run.report());
        let told = "warning[H0744]: the advice Throwing.enter (Throwing.java:11) has thrown an exception, which the program does not see";
        run.assert_stderr(told)
            .assert_stderr("java.lang.IllegalStateException: by the advice set7");
        assert_eq!(
            run.stderr.matches("H0744").count(),
            1,
            "{jdk}: {}",
            run.report()
        );
    }
}

/// The guard around advice runs code of these classes, and so does the JVM while it initialises the guard.
#[test]
fn advice_in_classes_of_the_jdk_neither_ends_nor_changes_the_program() {
    let source = r#"
import io.github.classhook.advice.*;
@Advice({"java.lang.**", "java.util.**", "java.lang.Object#<init>"})
class Counted {
    static int n;
    @OnEntry static void entered() { n++; }
    @OnExit static void left(@Thrown Throwable thrown) { n--; }
}
"#;
    let folder = scratch();
    let file = folder.path().join("Counted.java");
    std::fs::write(&file, source).expect("written");
    let file = file.to_str().expect("text");
    for jdk in every_release() {
        let options = ["--grant", "boot", "--advice", file];
        let run = run(&jdk, folder.path(), &options);
        assert_eq!(run.stdout.trim(), OWN, "{jdk}: {}", run.report());
        run.assert_success().assert_stderr(
            "no advice runs in java.lang.Object: the code around each advice calls it",
        );
    }
}

#[test]
fn exceptions_of_advice_reach_the_program_on_request() {
    for jdk in jdks::main_two() {
        let run = advised(&jdk, "Rethrowing", &[]);
        run.assert_success();
        assert_eq!(
            run.stdout.trim(),
            OWN.replace("full", "by the advice"),
            "{}",
            run.report()
        );
    }
}

#[test]
fn advice_may_use_what_newer_compilers_make() {
    for jdk in jdks::main_two() {
        let run = advised(&jdk, "Modern", &[]);
        run.assert_success();
        let expected = format!("slow Slow[method=Shop.half(double), value=2.5] 1\n{OWN}\n");
        assert_eq!(run.stdout, expected, "{jdk}: {}", run.report());
    }
}

#[test]
fn advice_enters_a_running_program_and_leaves_it() {
    for jdk in every_release() {
        let folder = scratch();
        let classes = shop(folder.path());
        let java = Java::new(&jdk).options(&["-Xverify:all"]);
        let java = match jdk.feature {
            8 => java,
            _ => java.options(&LATE),
        };
        let mut servant = Servant::of(&java.class_path(&[classes]).main("Shop").argument("wait"));
        assert_eq!(servant.ask("again"), OWN, "{jdk}");
        let pid = servant.pid().to_string();
        let output = folder.path().join("out");
        let advice = file("Rethrowing");
        let words = [
            "attach",
            &pid,
            "--output",
            output.to_str().expect("text"),
            "--advice",
        ];
        let mut words = words.to_vec();
        words.push(advice.to_str().expect("text"));
        let changed = OWN.replace("full", "by the advice");
        for _ in 0..2 {
            classhook(&words).assert_success();
            assert_eq!(servant.ask("again"), changed, "{jdk}");
            classhook(&["disable", &pid, "advice"]).assert_success();
            assert_eq!(servant.ask("again"), OWN, "{jdk}");
            classhook(&["enable", &pid, "advice"]).assert_success();
            assert_eq!(servant.ask("again"), changed, "{jdk}");
            classhook(&["off", &pid]).assert_success();
            assert_eq!(servant.ask("again"), OWN, "{jdk}");
        }
        assert_eq!(servant.end().code, Some(0));
    }
}

#[test]
fn advice_is_written_into_classes_on_disk() {
    let folder = scratch();
    let (run, classes) = instrumented(folder.path(), "Typed");
    run.assert_success();
    for jdk in every_release() {
        let run = run_from(&jdk, &classes);
        run.assert_success();
        assert!(
            run.stdout.contains("sum 1.5 129 Long shop x"),
            "{jdk}: {}",
            run.report()
        );
        assert!(
            run.stdout.ends_with(&format!("{OWN}\n")),
            "{jdk}: {}",
            run.report()
        );
    }
}

#[test]
fn compiled_advice_is_taken_from_class_files_and_jars() {
    let jdk = jdks::newest();
    let folder = scratch();
    let api = folder.path().join("api.jar");
    classhook(&["advice", "jar", api.to_str().expect("text")]).assert_success();
    let classes = shop(folder.path());
    let compiled = folder.path().join("compiled");
    std::fs::create_dir(&compiled).expect("made");
    let path = std::env::join_paths([&classes, &api]).expect("a path");
    let options = ["-g", "-cp", path.to_str().expect("text")];
    let advice = javac::compile(&jdk, &[&file("Typed")], &compiled, &options);
    let jar = folder.path().join("typed.jar");
    javac::jar(&jdk, &advice, ".", "", &jar);
    for (file, parts) in [(advice.join("Typed$Half.class"), 1), (jar, 2)] {
        let run = run(
            &jdk,
            folder.path(),
            &["--advice", file.to_str().expect("text")],
        );
        run.assert_success();
        assert!(run.stdout.contains("half 5.0 2.5"), "{}", run.report());
        assert_eq!(
            run.stdout.contains("sum 1.5"),
            parts > 1,
            "{}",
            run.report()
        );
    }
}

/// Writes a source with advice, and returns the result of `classhook run` with it.
fn with_source(name: &str, source: &str) -> Run {
    let folder = scratch();
    let file = folder.path().join(format!("{name}.java"));
    let source = format!("import io.github.classhook.advice.*;\n{source}");
    std::fs::write(&file, source).expect("written");
    run(
        &jdks::newest(),
        folder.path(),
        &["--advice", file.to_str().expect("text")],
    )
}

#[test]
fn mistakes_name_file_and_line_of_the_source() {
    for (source, code, told) in [
        ("class A {}", "H0740", "no class has advice"),
        (
            "@Advice(\"Shop#half\")\nclass A {}",
            "H0740",
            "A.java:3: the advice has no method with @OnEntry or @OnExit",
        ),
        (
            "@Advice(\"Shop#half\")\nclass A {\n  @OnEntry\n  void f() {}\n}",
            "H0740",
            "A.java:5: the method f with @OnEntry has to be static",
        ),
        (
            "@Advice(\"Shop#half\")\nclass A {\n  @OnEntry private static void f() {}\n}",
            "H0740",
            "A.java:4: the method f with @OnEntry is private",
        ),
        (
            "@Advice(\"Shop#half\")\nclass A {\n  @OnEntry static void f(int x) {}\n}",
            "H0740",
            "A.java:4: parameter 0 of type int has no annotation",
        ),
        (
            "@Advice(\"Shop#half\")\nclass A {\n  @OnEntry static void f(@Returned double x) {}\n}",
            "H0740",
            "A.java:4: @Returned has no value at the entry",
        ),
        (
            "@Advice(\"Shop#half\")\nclass A {\n  @OnEntry static int f() { return 1; }\n}",
            "H0740",
            "A.java:4: nobody reads the result of f",
        ),
        (
            "@Advice(\"Shop#half\")\nclass A {\n  @OnExit static void f(@FromEntry int x) {}\n}",
            "H0740",
            "A.java:4: @FromEntry has no value",
        ),
        (
            "@Advice(\"Shop#half\")\nclass A {\n  @OnExit static int f() { return 1; }\n}",
            "H0740",
            "A.java:4: nobody reads the result of f",
        ),
        (
            "@Advice(\"Shop#half\")\nclass A {\n  @OnEntry static void f(@Thrown @This Object x) {}\n}",
            "H0740",
            "A.java:4: parameter 0 has @Thrown and @This",
        ),
        (
            "class A {\n  @OnEntry static void f() {}\n}",
            "H0740",
            "A.java:3: @OnEntry belongs into a class with @Advice",
        ),
        (
            "@Advice(\"Shop#\")\nclass A {\n  @OnEntry static void f() {}\n}",
            "H0740",
            "A.java:3: the pattern `Shop#` names nothing",
        ),
        (
            "@Advice(\"Shop#half\")\nclass A {\n  @OnEntry static void f() { nonsense(); }\n}",
            "H0726",
            "A.java:4: error: cannot find symbol",
        ),
        (
            "@Advice(\"Shop#half\")\nclass A {\n  @Setting static final int f = 1;\n  @OnEntry static void f() {}\n}",
            "H0740",
            "the field f with @Setting has to be static",
        ),
    ] {
        let run = with_source("A", source);
        run.assert_exit(2)
            .assert_stderr(&format!("error[{code}]"))
            .assert_stderr(told);
        assert_eq!(
            run.stdout,
            "",
            "the program does not start: {}",
            run.report()
        );
    }
}

#[test]
fn advice_that_does_not_fit_a_named_class_is_reported_with_its_line() {
    for (source, told) in [
        (
            "@Advice(\"Shop#hafl\")\nclass A {\n  @OnEntry static void f() {}\n}",
            "A.java:3: Shop has no method for `Shop#hafl` with code of its own; nearest: half(D)D",
        ),
        (
            "@Advice(\"Shop#half\")\nclass A {\n  @OnEntry static void f(@Argument(0) int x) {}\n}",
            "A.java:4: A.f does not fit Shop.half(double): @Argument(0) has the type int, and the value double",
        ),
        (
            "@Advice(\"Shop#half\")\nclass A {\n  @OnEntry static void f(@This Object x) {}\n}",
            "@This has no value in a static method",
        ),
        (
            "@Advice(\"Shop#<init>\")\nclass A {\n  @OnEntry static void f(@This Object x) {}\n}",
            "@This has no value at the entry of a constructor",
        ),
        (
            "@Advice(\"Shop#half\")\nclass A {\n  @OnEntry static void f(@Argument(1) double x) {}\n}",
            "@Argument(1): the method has 1 parameter",
        ),
        (
            "@Advice(\"Shop#fail\")\nclass A {\n  @OnEntry static void f(@Argument(0) Integer x) {}\n}",
            "the value java.lang.String",
        ),
        (
            "@Advice(\"Shop#changed\")\nclass A {\n  @OnExit static void f(@Argument(0) int x) {}\n}",
            "A.java:4: A.f does not fit Shop.changed(int)",
        ),
    ] {
        let run = with_source("A", source);
        run.assert_exit(3).assert_stderr(told);
        assert_eq!(run.stdout.trim(), OWN, "{}", run.report());
    }
}

#[test]
fn settings_that_no_advice_has_are_refused() {
    for (setting, told) in [
        ("words=x", "no field with @Setting is called `words`"),
        ("number=x", "`x` is no value of `number`"),
        ("number", "`number` sets no field of advice"),
    ] {
        let run = advised(&jdks::newest(), "Throwing", &["--advice-setting", setting]);
        run.assert_exit(2)
            .assert_stderr("error[H0741]")
            .assert_stderr(told);
    }
    let folder = scratch();
    let run = run(&jdks::newest(), folder.path(), &["--advice", "a.txt"]);
    run.assert_exit(2).assert_stderr("error[H0742]");
}

#[test]
fn check_lists_each_place_and_names_advice_that_runs_nowhere() {
    let folder = scratch();
    let classes = shop(folder.path());
    let place = classes.to_str().expect("text");
    let typed = file("Typed");
    let typed = typed.to_str().expect("text");
    let checked = classhook(&["advice", "check", typed, "--classes", place]);
    checked.assert_success();
    for line in [
        "Shop.half(D)D, line 39, before 5: calls Typed.Half.leave",
        "Shop.<init>(Ljava/lang/String;)V, line 24, entry: calls Typed.Made.enter",
        "calls of the advice",
    ] {
        assert!(
            checked.stdout.contains(line),
            "{line}: {}",
            checked.report()
        );
    }
    let source = folder.path().join("A.java");
    let text = "import io.github.classhook.advice.*;\n@Advice(\"**.Shpo#half\")\nclass A {\n  @OnEntry static void f() {}\n}";
    std::fs::write(&source, text).expect("written");
    let words = [
        "advice",
        "check",
        source.to_str().expect("text"),
        "--classes",
        place,
    ];
    classhook(&words)
        .assert_exit(2)
        .assert_stderr("error[H0743]: A.java:4: A.f (A.java:4) runs in no method of these classes")
        .assert_stderr("nearest  Shop#half");
}

#[test]
fn new_advice_compiles_and_runs() {
    let folder = scratch();
    let new = || {
        Java::program(workspace::classhook())
            .folder(folder.path())
            .arguments(&["advice", "new", "SlowCalls"])
            .run()
    };
    new().assert_success();
    new().assert_exit(2);
    let file = folder.path().join("SlowCalls.java");
    let text = std::fs::read_to_string(&file).expect("a source");
    std::fs::write(&file, text.replace("com.acme.**", "Shop#half")).expect("written");
    let options = ["--advice", "SlowCalls.java", "--advice-setting", "millis=0"];
    let run = run(&jdks::newest(), folder.path(), &options);
    run.assert_success();
    assert!(
        run.stderr
            .contains("Shop.half(double)[5.0] took 0 ms, thrown: null"),
        "{}",
        run.report()
    );
}

#[test]
fn examples_print_what_their_page_says() {
    let jdk = jdks::newest();
    let folder = scratch();
    let root = workspace::root();
    let mut sources = javac::sources_in(&root.join("examples/bank/src"));
    sources.extend(javac::sources_in(&root.join("examples/bank/src-17")));
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    let classes = javac::compile(&jdk, &sources, folder.path(), &["-g"]);
    let with = |name: &str| {
        Java::program(workspace::classhook())
            .variable("CLASSHOOK_AGENT", workspace::agent_library())
            .folder(folder.path())
            .argument("run")
            .argument("--advice")
            .argument(root.join(format!("examples/advice/{name}.java")))
            .argument("--")
            .argument(jdk.tool("java"))
            .argument("-cp")
            .argument(&classes)
            .argument("bank.Main")
            .run()
    };
    let run = with("Transfers");
    run.assert_success();
    let line = "bank.Bank.transfer(java.lang.String,java.lang.String,long): ada to bob, 100000 cents, done";
    assert!(run.stdout.contains(line), "{}", run.report());
    assert!(
        run.stdout.contains("bob to ada, 200000 cents, "),
        "{}",
        run.report()
    );
    // The bank has no database.
    let run = with("SlowSql");
    run.assert_success();
    assert_eq!(run.stderr, "", "{}", run.report());
}
