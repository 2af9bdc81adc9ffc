//! `classhook coverage` around build tools, with launchers, JVMs and folders like those of the real ones.

use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::workspace::{agent_library, classhook, test_file};
use e2e_tests::{javac, scratch};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A project of two modules, Maven, and a repository of libraries.
struct Project {
    scratch: tempfile::TempDir,
    jdk: Jdk,
}

impl Project {
    fn new() -> Self {
        let jdk = jdks::newest();
        let scratch = scratch();
        let project = Self { scratch, jdk };
        let module = |name: &str, class_path: &[&str]| {
            project.compile(name, &format!("project/{name}/target/classes"), class_path);
        };
        module("core", &[]);
        module("web", &["project/core/target/classes"]);
        for (tests, module) in [("core-tests", "core"), ("web-tests", "web")] {
            let goal = format!("project/{module}/target/test-classes");
            let of_module = format!("project/{module}/target/classes");
            project.compile(tests, &goal, &[&of_module, "project/core/target/classes"]);
        }
        project.jar("library", "repository/junit.jar");
        project.jar("plugin", "repository/surefire.jar");
        project.jar("maven", "maven/boot/classworlds.jar");
        let core = project.path("project/core/target");
        javac::jar(
            &project.jdk,
            &core.join("classes"),
            ".",
            "",
            &core.join("core.jar"),
        );
        project.write(
            "project/pom.xml",
            "<modules><module>core</module><module>web</module></modules>",
        );
        project.write("project/core/pom.xml", "<project/>");
        project.write("project/web/pom.xml", "<project/>");
        std::fs::create_dir_all(project.path("maven/lib")).expect("a folder");
        project.launcher("maven/bin/mvn");
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("the test's folder is writable");
    }

    /// Compiles the sources of this name into a folder.
    fn compile(&self, name: &str, goal: &str, class_path: &[&str]) {
        let sources = javac::sources_in(&test_file(&format!("java/build/{name}")));
        let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
        let paths: Vec<String> = class_path
            .iter()
            .map(|path| self.path(path).display().to_string())
            .collect();
        let options = match paths.as_slice() {
            [] => vec![],
            paths => vec!["-cp".to_owned(), paths.join(":")],
        };
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let made = javac::compile(
            &self.jdk,
            &sources,
            &self.path(&format!("made/{name}")),
            &options,
        );
        let goal = self.path(goal);
        std::fs::create_dir_all(goal.parent().expect("a parent")).expect("a folder");
        std::fs::rename(made, goal).expect("the same file system");
    }

    fn jar(&self, name: &str, jar: &str) {
        self.compile(name, &format!("jars/{name}"), &[]);
        let jar = self.path(jar);
        std::fs::create_dir_all(jar.parent().expect("a parent")).expect("a folder");
        javac::jar(
            &self.jdk,
            &self.path(&format!("jars/{name}")),
            ".",
            "",
            &jar,
        );
    }

    /// Writes a launcher like Maven's: a script that starts a JVM with the files beside it.
    fn launcher(&self, name: &str) {
        let text = format!(
            "#!/bin/sh\nexec '{}' -cp \"${{0%/bin/*}}/boot/classworlds.jar\" \
             -Dplugin.jar='{}' -Dlibrary.jar='{}' org.codehaus.plexus.classworlds.launcher.Launcher \"$@\"\n",
            self.jdk.tool("java").display(),
            self.path("repository/surefire.jar").display(),
            self.path("repository/junit.jar").display(),
        );
        self.write(name, &text);
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.path(name), executable).expect("our own file");
    }

    /// Runs `classhook coverage --xml coverage.xml WORDS` in the project's folder.
    fn coverage(&self, words: &[&str]) -> (Run, String) {
        let run = Java::program(classhook())
            .folder(&self.path("project"))
            .variable("CLASSHOOK_AGENT", agent_library())
            .variable("HOME", self.path("home"))
            .arguments(&[&["coverage", "--xml", "coverage.xml"], words].concat())
            .run();
        let xml = std::fs::read_to_string(self.path("project/coverage.xml")).unwrap_or_default();
        (run, xml)
    }
}

/// Returns the classes of a report, sorted.
fn classes(xml: &str) -> Vec<&str> {
    let parts = xml.split("<class name=\"").skip(1);
    let mut names: Vec<&str> = parts.filter_map(|part| part.split('"').next()).collect();
    names.sort_unstable();
    names
}

/// Returns the number of JVMs in a report.
fn sessions(xml: &str) -> usize {
    xml.matches("<sessioninfo ").count()
}

#[test]
fn report_of_a_maven_build_holds_the_classes_of_all_modules_and_no_others() {
    let project = Project::new();
    let mvn = project.path("maven/bin/mvn");
    let mvn = mvn.to_str().expect("a path in UTF-8");
    let (run, xml) = project.coverage(&["--", mvn, "test"]);
    run.assert_success();
    let own = ["com/acme/Page", "com/acme/Sum", "com/acme/Unused"];
    assert_eq!(classes(&xml), own, "{}", run.report());
    assert_eq!(
        sessions(&xml),
        2,
        "the JVM of Maven is no session of the project\n{xml}"
    );
    run.assert_stderr(
        "classhook: Maven: the report covers the classes in core/target/classes and 1 more location",
    );
    assert!(
        run.stdout.contains("recorded classes are not reported"),
        "{}",
        run.report()
    );
}

#[test]
fn classes_and_locations_select_the_report_of_a_build() {
    let project = Project::new();
    let mvn = project.path("maven/bin/mvn");
    let mvn = mvn.to_str().expect("a path in UTF-8");
    let (run, xml) = project.coverage(&["--classes", "web/target", "--", mvn, "test"]);
    run.assert_success();
    assert_eq!(
        classes(&xml),
        ["com/acme/Page", "com/acme/PageTest"],
        "{}",
        run.report()
    );
    let (run, xml) = project.coverage(&["--select", "location:*.jar", "--", mvn, "test"]);
    run.assert_success();
    assert_eq!(
        classes(&xml),
        ["com/acme/Sum", "org/junit/Runner"],
        "{}",
        run.report()
    );
}

#[test]
fn build_without_known_folders_reports_loaded_classes_without_the_tool() {
    let project = Project::new();
    std::fs::create_dir_all(project.path("ant/lib")).expect("a folder");
    std::fs::rename(project.path("maven/boot"), project.path("ant/boot")).expect("our own folder");
    project.launcher("ant/bin/ant");
    let ant = project.path("ant/bin/ant");
    let (run, xml) = project.coverage(&["--", ant.to_str().expect("a path in UTF-8")]);
    run.assert_success();
    run.assert_stderr("classhook: Ant: no folder with the project's classes was found");
    let reported = classes(&xml);
    assert!(
        reported.contains(&"com/acme/SumTest") && reported.contains(&"org/apache/maven/Surefire")
    );
    assert!(
        !reported.iter().any(|class| class.contains("plexus")),
        "{reported:?}"
    );
}

#[test]
fn agents_select_by_location_also_in_a_jvm_that_runs() {
    let project = Project::new();
    let path = [
        "core/target/test-classes",
        "core/target/classes",
        "../repository/junit.jar",
    ];
    let java = project.jdk.tool("java");
    let java = java.to_str().expect("a path in UTF-8");
    let command = [
        "--",
        java,
        "-cp",
        &path.join(":"),
        "org.junit.Runner",
        "com.acme.SumTest",
    ];
    for (selectors, expected) in [
        (&["location:target/classes"][..], &["com/acme/Sum"][..]),
        (
            &["!location:**/junit.jar", "!location:test-classes"],
            &["com/acme/Sum"],
        ),
        (&["location:project", "!com.acme.*Test"], &["com/acme/Sum"]),
        (&["location:repository/*.jar"], &["org/junit/Runner"]),
    ] {
        let select: Vec<&str> = selectors.iter().flat_map(|it| ["--select", it]).collect();
        let (run, xml) = project.coverage(&[&select, &command[..]].concat());
        run.assert_success();
        assert_eq!(classes(&xml), expected, "{selectors:?}\n{}", run.report());
    }
}

/// Writes a program beside the project's `pom.xml`.
fn script(project: &Project, text: &str) {
    project.write("project/ci.sh", &format!("#!/bin/sh\n{text}\n"));
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("project/ci.sh"), executable).expect("our own file");
}

#[test]
fn builds_are_recognised_through_other_programs_and_by_their_folder() {
    let project = Project::new();
    let mvn = project.path("maven/bin/mvn");
    let mvn = mvn.to_str().expect("a path in UTF-8");
    let own = ["com/acme/Page", "com/acme/Sum", "com/acme/Unused"];
    let by_script = format!("set -e\nTOOL={mvn}\nexec \"$TOOL\" test");
    script(&project, &by_script);
    for words in [
        &["--", "env", "X=1", mvn, "test"][..],
        &["--", "nice", "-n", "1", mvn, "test"],
        &["--", "./ci.sh"],
    ] {
        let (run, xml) = project.coverage(words);
        run.assert_success();
        assert_eq!(classes(&xml), own, "{words:?}: {}", run.report());
        run.assert_stderr("classhook: Maven: the report covers the classes in core/target/classes");
    }
}

#[test]
fn build_of_some_modules_reports_these_modules_and_the_loaded_classes() {
    let project = Project::new();
    let mvn = project.path("maven/bin/mvn");
    let mvn = mvn.to_str().expect("a path in UTF-8");
    project.write(
        "project/pom.xml",
        "<modules><module>core</module><module>web</module><module>idle</module></modules>",
    );
    project.write("project/idle/pom.xml", "<project/>");
    project.write(
        "made/Idle.java",
        "package idle; public class Idle { int x = 1; }",
    );
    let source = project.path("made/Idle.java");
    let made = javac::compile(&project.jdk, &[&source], &project.path("made/idle"), &[]);
    std::fs::create_dir_all(project.path("project/idle/target")).expect("a folder");
    std::fs::rename(made, project.path("project/idle/target/classes"))
        .expect("the same file system");
    // As if an earlier build had written them.
    let files = javac::files_with_extension(&project.path("project"), "class");
    let before = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for file in files {
        let file = std::fs::File::open(file).expect("a class file");
        file.set_modified(before).expect("our own file");
    }
    let idle = "idle/Idle";
    let (run, xml) = project.coverage(&["--", mvn, "test"]);
    run.assert_success();
    assert!(
        classes(&xml).contains(&idle),
        "a whole build has all modules: {}",
        run.report()
    );
    let (run, xml) = project.coverage(&["--", mvn, "-pl", "web", "test"]);
    run.assert_success();
    let reported = classes(&xml);
    assert!(reported.contains(&"com/acme/Page"), "{reported:?}");
    assert!(!reported.contains(&idle), "{reported:?}: {}", run.report());
    run.assert_stderr(
        "classhook: Maven: the classes in 1 other place are not reported: this build neither compiled nor loaded one of them",
    );
    let (run, xml) = project.coverage(&["--", mvn, "-pl", "idle", "test"]);
    run.assert_success();
    assert!(
        classes(&xml).contains(&idle),
        "a module that is named is reported: {}",
        run.report()
    );
}
