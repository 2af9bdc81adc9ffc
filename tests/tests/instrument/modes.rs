//! Offline instrumented classes in real JVMs: the access to their probe arrays, and the recordings.

use crate::support::agent::{hits, names, snapshot, snapshots};
use e2e_tests::instrumented::{class_path, instrument};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, runtime, scratch, workspace};
use probes::{FileName, Snapshot, merge};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles programs of `tests/java/static` for Java 8, against the runtime.
fn compiled(programs: &[&str], folder: &Path) -> PathBuf {
    let file = |name: &&str| workspace::test_file(&format!("java/static/{name}.java"));
    let sources: Vec<PathBuf> = programs.iter().map(file).collect();
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    let runtime = runtime::kept_folder("runtime").display().to_string();
    let options = ["--release", "8", "-Xlint:-options", "-cp", &runtime];
    javac::compile(&jdks::newest(), &sources, folder, &options)
}

/// Returns `java` that records into a folder.
fn java<P: AsRef<Path>>(jdk: &Jdk, class_path: &[P], output: &Path) -> Java {
    Java::new(jdk)
        .option("-Xverify:all")
        .option(format!("-Dclasshook.output={}", output.display()))
        .class_path(class_path)
}

/// Copies the class files with this version in their headers.
fn of_version(classes: &Path, major: u8, folder: &Path) -> PathBuf {
    let target = folder.join(format!("version-{major}"));
    std::fs::create_dir_all(&target).expect("the test's folder");
    for path in javac::files_with_extension(classes, "class") {
        let mut bytes = std::fs::read(&path).expect("a class file");
        bytes[7] = major;
        let name = path.file_name().expect("a class file has a name");
        std::fs::write(target.join(name), bytes).expect("the test's folder");
    }
    target
}

/// Returns the hit probes of each class.
fn by_class(folder: &Path) -> BTreeMap<String, Vec<bool>> {
    let all = snapshots(folder).into_iter();
    let merged = merge(all.map(|path| Snapshot::read(&path).expect("a readable snapshot")));
    let classes = merged.classes.into_iter();
    classes.map(|class| (class.name, class.probes)).collect()
}

/// Runs a program with the agent and instrumented, and compares output and hits.
fn same_with_and_without_the_agent(jdk: &Jdk, classes: &Path, main: &str, folder: &Path) {
    let (by_agent, by_itself) = (folder.join("by-agent"), folder.join("by-itself"));
    let expected = Java::new(jdk)
        .option("-Xverify:all")
        .coverage(&by_agent)
        .class_path(&[classes])
        .main(main)
        .run();
    expected.assert_success();
    let instrumented = class_path(&[classes.to_owned()], folder);
    let found = java(jdk, &instrumented.class_path, &by_itself)
        .main(main)
        .run();
    found.assert_success();
    assert_eq!(found.stdout, expected.stdout, "{}", classes.display());
    let (expected, found) = (by_class(&by_agent), by_class(&by_itself));
    assert!(expected.len() > 1, "{expected:?}");
    assert_eq!(found, expected, "{} on {}", classes.display(), jdk.feature);
}

#[test]
fn every_class_file_version_records_the_same_as_the_agent() {
    let folder = scratch();
    let classes = compiled(&["Versions"], folder.path());
    for jdk in jdks::main_in_turn("versions") {
        for major in [45, 46, 48, 49, 50, 51, 52, 54, 55, 61] {
            let folder = scratch();
            let classes = of_version(&classes, major, folder.path());
            same_with_and_without_the_agent(&jdk, &classes, "Versions", folder.path());
        }
    }
}

#[test]
fn interfaces_with_code_record_the_same_as_the_agent() {
    let folder = scratch();
    let classes = compiled(&["Defaults"], folder.path());
    for jdk in jdks::main_in_turn("interfaces") {
        for major in [52, 53, 54, 55, 61] {
            let folder = scratch();
            let classes = of_version(&classes, major, folder.path());
            same_with_and_without_the_agent(&jdk, &classes, "Defaults", folder.path());
        }
    }
}

#[test]
fn shutdown_hooks_record_the_same_as_with_the_agent() {
    let folder = scratch();
    let classes = compiled(&["Hooks"], folder.path());
    for jdk in jdks::all().iter().cloned().chain(jdks::eight()) {
        let folder = scratch();
        same_with_and_without_the_agent(&jdk, &classes, "Hooks", folder.path());
    }
}

#[test]
fn shutdown_hook_that_marks_a_file_for_deletion_is_not_held_up() {
    let folder = scratch();
    let classes = compiled(&["Hooks"], folder.path());
    let instrumented = class_path(&[classes], folder.path());
    for jdk in jdks::all().iter().cloned().chain(jdks::eight()) {
        let file = folder.path().join("marked");
        std::fs::write(&file, "").expect("the test's folder");
        let run = java(&jdk, &instrumented.class_path, &folder.path().join("out"))
            .main("Hooks")
            .argument(&file)
            .run();
        run.assert_success();
        assert!(!file.exists(), "on {jdk}");
    }
}

#[test]
fn kept_class_files_equal_the_output_of_the_compiler() {
    let full = jdks::full();
    let jdk = full.iter().find(|jdk| jdk.feature == runtime::COMPILER);
    let jdk = jdk.expect("a JDK 17 to compile with");
    for of in runtime::KEPT {
        let folder = scratch();
        assert!(
            runtime::compiled(of, jdk, folder.path()) == runtime::kept(of),
            "{of}: run `cargo xtask runtime`"
        );
    }
}

/// Instruments `Ending` and returns its class path.
fn ending(folder: &Path) -> Vec<PathBuf> {
    let classes = compiled(&["Ending"], folder);
    class_path(&[classes], folder).class_path
}

#[test]
fn each_jvm_has_a_snapshot_of_its_own() {
    let folder = scratch();
    let (class_path, output) = (ending(folder.path()), folder.path().join("out"));
    let jdk = jdks::newest();
    let java = java(&jdk, &class_path, &output)
        .main("Ending")
        .argument("plain");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| java.run().assert_success().status);
        }
    });
    let files = snapshots(&output);
    assert_eq!(files.len(), 4);
    for file in files {
        let snapshot = Snapshot::read(&file).expect("a readable snapshot");
        assert!(snapshot.complete && snapshot.meta.pid > 0);
        assert_eq!(snapshot.meta.java_feature, jdk.feature);
        assert!(
            snapshot.meta.command.starts_with("Ending"),
            "{:?}",
            snapshot.meta
        );
        assert_eq!(hits(&snapshot, "Ending$Worked").0, 1);
    }
}

#[test]
fn variable_names_the_folder_and_text_in_the_snapshot_is_kept() {
    let folder = scratch();
    let class_path = ending(folder.path());
    let output = folder.path().join("out");
    let run = Java::new(&jdks::newest())
        .variable("CLASSHOOK_OUTPUT", &output)
        .option("-Dclasshook.session=a \"quoted\" \\ session")
        .option("-Dclasshook.run=night")
        .option("-Dclasshook.file-name=unit %u-%h-%p-%t-%%")
        .class_path(&class_path)
        .main("Ending")
        .argument("plain")
        .run();
    run.assert_success();
    let meta = snapshot(&output).meta;
    assert_eq!(meta.session, "a \"quoted\" \\ session");
    assert_eq!(meta.run, "night");
    let user = std::process::Command::new("id").arg("-un").output();
    let user = String::from_utf8(user.expect("a user").stdout).expect("a name");
    let pattern = FileName::parse("unit %u-%h-%p-%t-%%").expect("a name");
    let stem = pattern.of(&meta, user.trim());
    let files = snapshots(&output);
    let name = files[0].file_name().expect("a name").to_string_lossy();
    assert!(name.starts_with(&format!("{stem}-")), "{name}, {stem}");
}

#[test]
fn invalid_file_name_is_a_warning_and_the_program_is_recorded() {
    let folder = scratch();
    let class_path = ending(folder.path());
    let output = folder.path().join("out");
    let run = java(&jdks::newest(), &class_path, &output)
        .option("-Dclasshook.file-name=../a%x")
        .main("Ending")
        .argument("plain")
        .run();
    run.assert_success().assert_stderr("warning[H0804]");
    let files = snapshots(&output);
    let name = files[0].file_name().expect("a name").to_string_lossy();
    assert!(name.starts_with("classhook-"), "{name}");
}

#[test]
fn killed_jvm_leaves_its_hits() {
    let folder = scratch();
    let (class_path, output) = (ending(folder.path()), folder.path().join("out"));
    for jdk in jdks::main_two() {
        let output = output.join(jdk.feature.to_string());
        let mut child = java(&jdk, &class_path, &output)
            .main("Ending")
            .argument("wait")
            .spawn();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        out.read_line(&mut line).expect("output");
        assert_eq!(line, "ready\n");
        let worked = || {
            let read = snapshots(&output).first().map(|path| Snapshot::read(path));
            let classes = read.and_then(Result::ok).map(|snapshot| snapshot.classes);
            let mut classes = classes.unwrap_or_default().into_iter();
            classes.any(|class| class.name == "Ending$Worked" && class.probes.contains(&true))
        };
        while !worked() {
            assert!(
                child.try_wait().expect("its state").is_none(),
                "it runs until it is killed"
            );
            std::thread::yield_now();
        }
        child.kill().expect("the JVM is there");
        child.wait().expect("an end");
        let snapshot = snapshot(&output);
        assert!(!snapshot.complete && !snapshot.truncated);
        assert_eq!(hits(&snapshot, "Ending$Worked").0, 1);
    }
}

/// Returns the snapshot of a program that ended in this way.
fn ended(way: &str) -> Snapshot {
    let folder = scratch();
    let (class_path, output) = (ending(folder.path()), folder.path().join("out"));
    let java = java(&jdks::newest(), &class_path, &output);
    java.main("Ending").argument(way).run().assert_success();
    snapshot(&output)
}

#[test]
fn hits_in_a_shutdown_hook_are_recorded_on_request() {
    assert_eq!(hits(&ended("hook"), "Ending$Late").0, 1);
}

#[test]
fn reset_clears_earlier_hits() {
    let snapshot = ended("reset");
    assert_eq!(hits(&snapshot, "Ending$Worked").0, 0);
    assert!(hits(&snapshot, "Ending").0 > 0);
}

#[test]
fn folder_that_cannot_be_created_is_reported_once_and_the_program_continues() {
    let folder = scratch();
    let class_path = ending(folder.path());
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("the test's folder");
    let run = java(&jdks::newest(), &class_path, &file.join("out"))
        .main("Ending")
        .argument("plain")
        .run();
    run.assert_success().assert_stderr("H0801");
    assert_eq!(
        run.stderr.matches("classhook:").count(),
        1,
        "{}",
        run.report()
    );
}

/// Instruments a program of many classes and returns its class path.
fn many(folder: &Path) -> Vec<PathBuf> {
    let class = |number: u32| format!("static class C{number} {{ static void f() {{}} }}\n");
    let classes: String = (0..100).map(class).collect();
    let calls: String = (0..100).map(|number| format!("C{number}.f();")).collect();
    let main = format!("public static void main(String[] arguments) {{ {calls} }}");
    let source = folder.join("Many.java");
    std::fs::write(
        &source,
        format!("public class Many {{\n{classes}{main}\n}}\n"),
    )
    .expect("the test's folder");
    let classes = javac::compile(&jdks::newest(), &[&source], folder, &["--release", "17"]);
    class_path(&[classes], folder).class_path
}

/// A limit of the file size stands for a full disk.
#[test]
fn full_disk_is_reported_once_and_in_the_snapshot() {
    let folder = scratch();
    let (class_path, whole) = (many(folder.path()), folder.path().join("whole"));
    let jdk = jdks::newest();
    let running = |program: Java, output: &Path| {
        let output = format!("-Dclasshook.output={}", output.display());
        // The JVM's own counters are a file, too.
        let program = program.options(&["-XX:-UsePerfData", &output]);
        program.class_path(&class_path).main("Many")
    };
    let all = running(Java::new(&jdk), &whole).run();
    all.assert_success();
    let whole = snapshots(&whole).pop().expect("a snapshot");
    let length = std::fs::metadata(&whole).expect("the snapshot").len();
    let whole = Snapshot::read(&whole).expect("a readable snapshot");

    let small = folder.path().join("small");
    let limit = format!("ulimit -f {}; exec \"$@\"", length / 2 / 512);
    let shell = Java::program("/bin/sh".into())
        .options(&["-c", &limit, "sh"])
        .option(jdk.tool("java"));
    let run = running(shell, &small).run();
    run.assert_success();
    assert_eq!(run.stderr.matches("H0802").count(), 1, "{}", run.report());
    let snapshot = snapshot(&small);
    assert!(!snapshot.complete && !snapshot.truncated);
    let incomplete = snapshot.incomplete.expect("a cause");
    assert!(
        incomplete.cause.contains("File too large"),
        "{incomplete:?}"
    );
    let count = |snapshot: &[probes::SnapshotClass]| {
        let probes = snapshot.iter().flat_map(|class| &class.probes);
        let hit = probes.filter(|hit| **hit).count() as u64;
        (snapshot.len() as u64, hit)
    };
    let (classes, hit) = count(&snapshot.classes);
    let there_and_missing = (classes + incomplete.classes, hit + incomplete.probes);
    assert_eq!(there_and_missing, count(&whole.classes));
}

#[test]
fn agent_leaves_instrumented_classes_alone_and_reports_take_both() {
    let folder = scratch();
    let plain = compiled(&["Defaults"], &folder.path().join("plain"));
    let mut path = ending(folder.path());
    path.push(plain);
    let output = folder.path().join("out");
    for jdk in jdks::main_two() {
        let output = output.join(jdk.feature.to_string());
        let run = java(&jdk, &path, &output).coverage(&output);
        let run = run.main("Ending").argument("plain").run();
        run.assert_success();
        let all: Vec<Snapshot> = snapshots(&output)
            .iter()
            .map(|path| Snapshot::read(path).expect("readable"))
            .collect();
        let (own, agents): (Vec<_>, Vec<_>) = all
            .iter()
            .partition(|snapshot| snapshot.meta.agent_version.is_empty());
        assert_eq!((own.len(), agents.len()), (1, 1));
        assert_eq!(hits(own[0], "Ending$Worked").0, 1);
        let foreign: Vec<_> = names(agents[0])
            .into_iter()
            .filter(|name| name.starts_with("Ending") || name.starts_with("classhook"))
            .collect();
        assert!(foreign.is_empty(), "{foreign:?}");
        report(&output, &folder.path().join("baselines")).assert_success();
    }
}

fn report(recorded: &Path, baseline: &Path) -> Run {
    Java::program(workspace::classhook())
        .argument("report")
        .argument(recorded)
        .argument(baseline)
        .run()
}

fn tool(jdk: &Jdk, name: &str, folder: &Path, arguments: &[&str]) {
    let mut command = Command::new(jdk.tool(name));
    let output = command
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("a tool of the JDK");
    assert!(
        output.status.success(),
        "{name} {arguments:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn signed_jar_runs_without_its_signature() {
    let folder = scratch();
    let place = folder.path();
    let jdk = jdks::newest();
    compiled(&["Versions"], place);
    tool(
        &jdk,
        "jar",
        place,
        &["cfe", "app.jar", "Versions", "-C", "classes", "."],
    );
    let key = [
        "-keystore",
        "keys",
        "-storepass",
        "secret",
        "-keypass",
        "secret",
    ];
    let make = [
        "-genkeypair",
        "-alias",
        "me",
        "-keyalg",
        "RSA",
        "-dname",
        "CN=me",
    ];
    tool(&jdk, "keytool", place, &[&make[..], &key].concat());
    tool(
        &jdk,
        "jarsigner",
        place,
        &[&key[..], &["app.jar", "me"]].concat(),
    );
    let expected = Java::new(&jdk)
        .folder(place)
        .argument("-jar")
        .argument("app.jar")
        .run();
    let told = instrument(&["app.jar", "-o", "out.jar", "--embed"])
        .folder(place)
        .run();
    told.assert_success().assert_stderr("H0643");
    let run = Java::new(&jdk)
        .folder(place)
        .option("-Xverify:all")
        .argument("-jar")
        .argument("out.jar")
        .run();
    run.assert_success();
    assert_eq!(run.stdout, expected.stdout);
    assert!(hits(&snapshot(&place.join("classhook")), "Versions").0 > 0);
}

#[test]
fn jar_in_a_jar_runs_and_is_reported() {
    let folder = scratch();
    let place = folder.path();
    compiled(&["Versions"], place);
    let jdk = jdks::newest();
    std::fs::create_dir_all(place.join("boot/BOOT-INF/lib")).expect("the test's folder");
    tool(
        &jdk,
        "jar",
        place,
        &["cf0", "boot/BOOT-INF/lib/app.jar", "-C", "classes", "."],
    );
    compiled(&["Launcher"], &place.join("outer"));
    tool(
        &jdk,
        "jar",
        place,
        &[
            "cfe",
            "app.jar",
            "Launcher",
            "-C",
            "outer/classes",
            ".",
            "-C",
            "boot",
            ".",
        ],
    );
    let expected = Java::new(&jdk)
        .folder(place)
        .argument("-jar")
        .argument("app.jar")
        .run();
    expected.assert_success();
    let options = [
        "app.jar",
        "-o",
        "out.jar",
        "--embed",
        "--baseline",
        "classhook/app.hook",
    ];
    instrument(&options).folder(place).run().assert_success();
    for jdk in jdks::main_two() {
        let run = Java::new(&jdk)
            .folder(place)
            .option("-Xverify:all")
            .argument("-jar")
            .argument("out.jar")
            .run();
        run.assert_success();
        assert_eq!(run.stdout, expected.stdout);
    }
    let table = report(&place.join("classhook"), &place.join("classhook/app.hook"));
    table.assert_success();
    assert!(
        table.stdout.contains("Versions$Numbers") && table.stdout.contains("Launcher"),
        "{}",
        table.report()
    );
}

#[test]
fn multi_release_jar_records_the_version_that_ran() {
    let folder = scratch();
    let place = folder.path();
    let jdk = jdks::newest();
    for (name, text) in [("base", "base"), ("new", "versioned")] {
        std::fs::create_dir_all(place.join(name)).expect("the test's folder");
        let source = place.join(name).join("Which.java");
        let text = format!(
            "public class Which {{ public static void main(String[] a) {{ System.out.println(\"{text}\"); }} }}"
        );
        std::fs::write(&source, text).expect("the test's folder");
        javac::compile(&jdk, &[&source], &place.join(name), &["--release", "11"]);
    }
    std::fs::write(
        place.join("manifest"),
        "Multi-Release: true\nMain-Class: Which\n",
    )
    .expect("the test's folder");
    let arguments = [
        "cfm",
        "app.jar",
        "manifest",
        "-C",
        "base/classes",
        ".",
        "--release",
        "17",
        "-C",
        "new/classes",
        ".",
    ];
    tool(&jdk, "jar", place, &arguments);
    let baseline = place.join("baseline.hook");
    let words = [
        "app.jar",
        "-o",
        "out.jar",
        "--embed",
        "--baseline",
        "baseline.hook",
    ];
    instrument(&words).folder(place).run().assert_success();
    for jdk in jdks::all()
        .iter()
        .filter(|jdk| jdk.feature == 11 || jdk.feature >= 17)
    {
        let output = place.join(format!("recorded-{}", jdk.feature));
        let run = java(jdk, &[place.join("out.jar")], &output)
            .main("Which")
            .run();
        run.assert_success();
        let (text, class) = if jdk.feature >= 17 {
            ("versioned\n", "new")
        } else {
            ("base\n", "base")
        };
        assert_eq!(run.stdout, text);
        let original =
            std::fs::read(place.join(class).join("classes/Which.class")).expect("a class file");
        assert_eq!(
            snapshot(&output).classes[0].fingerprint,
            fingerprint::of(&original)
        );
        // The baseline has both versions, and is read first.
        let table = report(&baseline, &output);
        table.assert_success();
        let which = table.stdout.lines().find(|line| line.contains("Which"));
        assert!(
            which.is_some_and(|line| !line.contains(" 0 %")),
            "{}",
            table.report()
        );
        assert!(!table.stderr.contains("H0617"), "{}", table.report());
    }
}

#[test]
fn named_module_reads_the_runtime_by_an_option_or_embeds_it() {
    let folder = scratch();
    let place = folder.path();
    let jdk = jdks::newest();
    let classes = module(&jdk, place);
    let path = |name: &str| place.join(name).display().to_string();
    let run = |options: &[&str], output: &str| {
        let output = place.join(output);
        let property = format!("-Dclasshook.output={}", output.display());
        let java = Java::new(&jdk).options(options).option(property);
        let run = java.argument("-m").argument("app/app.Main").run();
        run.assert_success();
        assert_eq!(run.stdout, "ran\n");
        assert_eq!(hits(&snapshot(&output), "app/Main").0, 1);
    };
    let outside = [
        classes.as_os_str(),
        "-o".as_ref(),
        place.join("outside").as_os_str(),
        "--runtime".as_ref(),
        place.join("runtime.jar").as_os_str(),
    ]
    .map(ToOwned::to_owned);
    instrument(&outside).run().assert_success();
    let module_path = path("outside");
    run(
        &[
            "--module-path",
            &module_path,
            "-cp",
            &path("runtime.jar"),
            "--add-reads",
            "app=ALL-UNNAMED",
        ],
        "first",
    );
    let inside = [
        classes.as_os_str(),
        "-o".as_ref(),
        place.join("inside").as_os_str(),
        "--embed".as_ref(),
    ]
    .map(ToOwned::to_owned);
    instrument(&inside).run().assert_success();
    run(&["--module-path", &path("inside")], "second");
    let module = |folder: &Path| std::fs::read(folder.join("module-info.class")).expect("a module");
    assert_eq!(module(&place.join("inside")), module(&classes));
}

/// Compiles a module of two packages, and packs it with a tool that lists its packages.
fn module(jdk: &Jdk, place: &Path) -> PathBuf {
    std::fs::create_dir_all(place.join("src/app")).expect("the test's folder");
    std::fs::write(place.join("src/module-info.java"), "module app { }")
        .expect("the test's folder");
    let text = "package app; public class Main { public static void main(String[] a) { System.out.println(\"ran\"); } }";
    std::fs::write(place.join("src/app/Main.java"), text).expect("the test's folder");
    let sources = javac::sources_in(&place.join("src"));
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    javac::compile(jdk, &sources, place, &["--release", "11"])
}

#[test]
fn modules_that_list_their_packages_find_the_embedded_runtime() {
    let folder = scratch();
    let place = folder.path();
    let jdk = jdks::newest();
    let classes = module(&jdk, place);
    let path = |name: &str| place.join(name).display().to_string();
    let tool = |name: &str, words: &[&str]| {
        let run = Java::program(jdk.tool(name)).arguments(words).run();
        run.assert_success();
    };
    let classes = classes.display().to_string();
    tool("jar", &["cf", &path("app.jar"), "-C", &classes, "."]);
    tool(
        "jmod",
        &["create", "--class-path", &classes, &path("app.jmod")],
    );
    for name in ["app.jar", "app.jmod"] {
        let to = path(&format!("out-{name}"));
        instrument(&[&path(name), "-o", &to, "--embed"])
            .run()
            .assert_success();
    }
    let ran = |java: Java, output: &str| {
        let output = place.join(output);
        let property = format!("-Dclasshook.output={}", output.display());
        let run = java
            .option(property)
            .argument("-m")
            .argument("app/app.Main")
            .run();
        run.assert_success();
        assert_eq!(run.stdout, "ran\n");
        assert_eq!(hits(&snapshot(&output), "app/Main").0, 1);
    };
    let java = Java::new(&jdk).options(&["--module-path", &path("out-app.jar")]);
    ran(java, "of-jar");
    let image = path("image");
    let of_module = path("out-app.jmod");
    tool(
        "jlink",
        &[
            "--module-path",
            &of_module,
            "--add-modules",
            "app",
            "--output",
            &image,
        ],
    );
    ran(Java::program(place.join("image/bin/java")), "of-image");
}
