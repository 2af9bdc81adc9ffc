//! Maven's plugin in real builds, beside JaCoCo's: the same project, in which only the plugin's coordinates differ.

use crate::support::command::json;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::maven::{home, local_repository};
use e2e_tests::maven_plugin::{self, GROUP, PLUGIN, VERSION};
use e2e_tests::servant::{self, Servant};
use e2e_tests::workspace::{root, test_file};
use e2e_tests::{javac, scratch};
use jacoco_files::{Execution, XmlReport};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A copy of `java/maven`: three modules, one of which reports on the others. Two forked test JVMs run at a time.
pub(super) struct Project {
    scratch: tempfile::TempDir,
    jdk: Jdk,
}

impl Project {
    /// Creates the project with JaCoCo's plugin, or with ours in its place.
    pub(super) fn new(is_ours: bool) -> Self {
        let project = Self {
            scratch: scratch(),
            jdk: jdks::newest(),
        };
        copy(&test_file("java/maven"), project.folder(), is_ours);
        project
    }

    pub(super) fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// Runs `mvn` with these words, offline.
    pub(super) fn mvn(&self, words: &[&str]) -> Run {
        self.mvn_with_cache(&self.folder().join("cache"), words)
    }

    fn mvn_with_cache(&self, cache: &Path, words: &[&str]) -> Run {
        Java::program(home().join("bin/mvn"))
            .folder(self.folder())
            .variable("JAVA_HOME", &self.jdk.home)
            .variable("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            .variable("MAVEN_SKIP_RC", "true")
            .variable("XDG_CACHE_HOME", cache)
            .arguments(&["--batch-mode", "--offline", "--no-transfer-progress"])
            .argument(setting("maven.repo.local", &local_repository()))
            .argument(setting(
                "maven.repo.local.tail",
                &maven_plugin::repository(),
            ))
            .arguments(words)
            .run()
    }

    /// Runs one goal of ours, of the execution with this name.
    fn goal(&self, goal: &str, words: &[&str]) -> Run {
        self.mvn(&[&[ours(goal).as_str()], words].concat())
    }

    fn report(&self, file: &str) -> XmlReport {
        XmlReport::read(&self.folder().join(file))
    }
}

/// Returns a goal of our plugin, in Maven's notation.
fn ours(goal: &str) -> String {
    format!("{GROUP}:{PLUGIN}:{VERSION}:{goal}")
}

fn setting(name: &str, path: &Path) -> String {
    format!("-D{name}={}", path.display())
}

/// Copies a folder. In a `pom.xml`, replaces the coordinates of JaCoCo's plugin on request, and nothing else.
fn copy(from: &Path, into: &Path, is_ours: bool) {
    std::fs::create_dir_all(into).expect("the test's folder is writable");
    for entry in std::fs::read_dir(from).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let goal = into.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &goal, is_ours);
            continue;
        }
        let mut text = std::fs::read_to_string(&path).expect("text");
        if is_ours && path.ends_with("pom.xml") {
            text = text
                .replace("org.jacoco<", &format!("{GROUP}<"))
                .replace("jacoco-maven-plugin", PLUGIN)
                .replace("<version>0.8.15<", &format!("<version>{VERSION}<"));
        }
        std::fs::write(goal, text).expect("the test's folder is writable");
    }
}

/// Asserts that a goal printed this text, on either output of Maven.
#[track_caller]
fn assert_said(run: &Run, part: &str) {
    assert!(run.stdout.contains(part), "{part:?}\n{}", run.report());
}

/// Returns the folders directly in a folder.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a readable folder");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

/// Creates an unpacked other version, last used this many days ago.
fn unpacked_before(native: &Path, days: u64) -> PathBuf {
    let folder = native.join(format!("of-{days}-days"));
    std::fs::create_dir_all(&folder).expect("writable");
    std::fs::write(folder.join("classhook"), "old").expect("written");
    let used = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
    let opened = std::fs::File::open(&folder).expect("a folder");
    opened.set_modified(used).expect("our own");
    folder
}

#[test]
fn build_with_other_coordinates_has_the_reports_of_jacoco() {
    maven_plugin::build(&jdks::newest());
    let (theirs, ours) = (Project::new(false), Project::new(true));
    theirs.mvn(&["verify"]).assert_success();
    // A file that JaCoCo left in our folder's place counts as before.
    let kept = ours.folder().join("web/target/jacoco.exec");
    std::fs::create_dir_all(kept.parent().expect("a folder")).expect("writable");
    std::fs::copy(theirs.folder().join("web/target/jacoco.exec"), &kept).expect("a file");
    let native = ours.folder().join("cache/classhook/native");
    let [old, recent] = [31, 29].map(|days| unpacked_before(&native, days));
    an_earlier_build(&ours);
    let run = ours.mvn(&[
        "-T2",
        "-Dclasshook.fileName=%u.%p",
        "-Dclasshook.carryOver",
        "verify",
    ]);
    run.assert_success();
    assert_said(
        &run,
        "1 class ran in other versions: the hits of 2 of 3 methods",
    );
    assert_said(&run, "All coverage checks have been met.");
    for report in [
        "core/target/site/jacoco/jacoco.xml",
        "web/target/site/jacoco/jacoco.xml",
        "all/target/site/jacoco-aggregate/jacoco.xml",
    ] {
        let expected = theirs.report(report);
        assert!(expected.count() > 20, "{} elements", expected.count());
        let differences = ours.report(report).differences(&expected);
        assert_eq!(differences, Vec::<String>::new(), "{report}");
        let folder = ours.folder().join(report);
        let folder = folder.parent().expect("a folder");
        assert!(folder.join("index.html").is_file() && folder.join("jacoco.csv").is_file());
    }
    let unpacked = folders(&native);
    assert_eq!(
        unpacked.len(),
        2,
        "the agent is unpacked once: {unpacked:?}"
    );
    assert!(recent.is_dir() && !old.exists());
    assert!(kept.join("before.exec").is_file());
    let snapshots = javac::files_with_extension(&kept, "hook");
    let is_named = |file: &PathBuf| {
        let name = file.file_name().expect("a name").to_string_lossy();
        let jvm = name
            .split_once('-')
            .and_then(|(jvm, _)| jvm.split_once('.'));
        jvm.is_some_and(|(user, pid)| !user.is_empty() && pid.parse::<u32>().is_ok())
    };
    assert!(!snapshots.is_empty() && snapshots.iter().all(is_named));
    checks(&ours);
    offline(&ours, &theirs.report("core/target/site/jacoco/jacoco.xml"));
    mistakes(&ours);
}

/// Creates the recording of another version of a class, whose unchanged methods the tests execute, too.
fn an_earlier_build(project: &Project) {
    let core = project.folder().join("core");
    let earlier = scratch();
    let text = std::fs::read_to_string(core.join("src/main/java/com/acme/Sum.java")).expect("text");
    let sources = [
        ("Sum.java", text.replace("? 100", "? 99").replace("    private int", "\n    private int")),
        ("Main.java", "class Main { public static void main(String[] words) { new com.acme.Sum().add(1).get(); } }".to_owned()),
    ];
    let sources = sources.map(|(name, text)| {
        let path = earlier.path().join(name);
        std::fs::write(&path, text).expect("writable");
        path
    });
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    let classes = javac::compile(
        &project.jdk,
        &sources,
        earlier.path(),
        &["--release", "8", "-Xlint:-options"],
    );
    let java = Java::new(&project.jdk).coverage(&core.join("target/jacoco.exec"));
    java.class_path(&[classes])
        .main("Main")
        .run()
        .assert_success();
}

/// Returns the files below a folder, with their content.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = javac::files_with_extension(folder, "class").into_iter();
    files
        .map(|file| (file.clone(), std::fs::read(file).expect("a file")))
        .collect()
}

/// Runs several goals at once, without a writable cache: offline instrumentation and its reversal, every format, a dump
/// of a listening JVM, and help.
fn offline(project: &Project, expected: &XmlReport) {
    let core = project.folder().join("core/target");
    let before = content(&core.join("classes"));
    let recorded = core.join("jacoco.exec");
    std::fs::write(recorded.join("old.exec"), "not even JaCoCo's").expect("writable");
    let snapshots = scratch();
    let options = format!("output={},jacoco-tcp=0", snapshots.path().display());
    let servant = Servant::of(&servant::java(&project.jdk, &[]).agent(Some(&options)));
    let status = json(&["status", &servant.pid().to_string()]);
    let port = status["jacoco_tcp"].as_str().expect("an address");
    let port = port.rsplit(':').next().expect("a port");
    let goals = ["prepare-agent", "instrument"].map(ours);
    let later = [
        "restore-instrumented-classes",
        "report@formats",
        "dump",
        "help",
    ];
    let later = later.map(ours);
    let mut words: Vec<&str> = goals.iter().map(String::as_str).collect();
    words.push("surefire:test");
    words.extend(later.iter().map(String::as_str));
    let settings = [
        "-Djacoco.append=false",
        "-Djacoco.propertyName=unused",
        "-Djacoco.output=tcpserver",
        "-Djacoco.reset",
        "-Dclasshook.exactLines",
        "-Dgoal=dump",
        "-Ddetail",
    ];
    let port_setting = format!("-Djacoco.port={port}");
    words.extend(settings.iter().chain(&[port_setting.as_str()]));
    words.extend(["-pl", "core"]);
    let run = project.mvn_with_cache(&project.folder().join("pom.xml"), &words);
    run.assert_success();
    drop(servant);
    assert_said(&run, &format!(",jacoco-tcp={port}"));
    assert_said(&run, ",plugin=coverage-lines");
    assert_said(&run, "Restored 1 class in ");
    assert_said(&run, "classhook:dump");
    assert_said(&run, "retryCount (default: 10)");
    assert_eq!(content(&core.join("classes")), before);
    let unpacked = folders(&core.join("classhook-native"));
    assert!(unpacked.len() == 1 && unpacked[0].join("classhook").is_file());

    let report = XmlReport::read(&core.join("formats/jacoco.xml"));
    assert_eq!(report.differences(expected), Vec::<String>::new());
    let text = |file: &str| std::fs::read_to_string(core.join("formats").join(file)).expect(file);
    for (file, part) in [
        ("lcov.info", "SF:core/src/main/java/com/acme/Sum.java"),
        (
            "cobertura.xml",
            "filename=\"core/src/main/java/com/acme/Sum.java\"",
        ),
        ("sonar.xml", "path=\"core/src/main/java/com/acme/Sum.java\""),
        ("coverage.json", "\"classhook-coverage\""),
        ("coverage.md", "com.acme"),
        ("coverage.svg", "<svg"),
    ] {
        assert!(text(file).contains(part), "{file}: {}", text(file));
    }
    let keys = Execution::read(&core.join("formats/merged.exec")).0;
    assert!(keys.keys().any(|key| key.name == "com/acme/Sum"));

    let dumped = folders(&recorded);
    assert_eq!(dumped.len(), 1, "{dumped:?}");
    let keys = Execution::read(&dumped[0]).0;
    assert!(keys.keys().any(|key| key.name == "Servant"));
}

/// Runs goals on the build's files: violated rules, and merging.
fn checks(project: &Project) {
    let short =
        "Rule violated for bundle web: lines covered ratio is 0.60, but expected minimum is 0.99";
    // Two builds at the same time, neither of which finds the agent unpacked.
    let cache = project.folder().join("cache-of-two");
    let [merge, check] = ["merge@merged", "check@gate"].map(ours);
    let (failed, merged) = std::thread::scope(|scope| {
        let merged = scope.spawn(|| project.mvn_with_cache(&cache, &[&merge, "--non-recursive"]));
        let words = [&check, "-pl", "web", "-Dleast=0.99"];
        let failed = project.mvn_with_cache(&cache, &words);
        (failed, merged.join().expect("Maven was started"))
    });
    let unpacked = folders(&cache.join("classhook/native"));
    assert_eq!(unpacked.len(), 1, "{unpacked:?}");
    assert_eq!(folders(&unpacked[0]).len(), 2);
    failed.assert_exit(1);
    assert_said(&failed, short);
    assert_said(&failed, "Coverage checks have not been met.");
    let lenient = ["-pl", "web", "-Dleast=0.99", "-Djacoco.haltOnFailure=false"];
    let told = project.goal("check@gate", &lenient);
    told.assert_success();
    assert_said(&told, short);
    let unprepared = project.goal("report", &["--non-recursive"]);
    unprepared.assert_success();
    assert_said(
        &unprepared,
        "The goal prepare-agent did not run for this project.",
    );
    let goals = ["prepare-agent", "report"].map(ours);
    let elsewhere = [
        &goals[0],
        &goals[1],
        "-pl",
        "core",
        "-Djacoco.propertyName=other",
        "-Djacoco.dataFile=nothing.exec",
    ];
    let elsewhere = project.mvn(&elsewhere);
    elsewhere.assert_success();
    assert_said(&elsewhere, "excludes the agent: it must contain @{other}.");
    merged.assert_success();
    let file = project.folder().join("target/merged.exec");
    assert_said(&merged, &format!("into {}: ", file.display()));
    assert!(file.is_file());
}

/// Tests wrong configurations; each is named with the expected value.
fn mistakes(project: &Project) {
    let wrong = project.goal("check@wrong", &["-pl", "web"]);
    wrong.assert_exit(1);
    assert_said(&wrong, "error[H0676]: `BUNDEL` is no element");
    assert_said(&wrong, "<element>BUNDEL</element>");
    let unsupported = ["--non-recursive", "-Djacoco.output=tcpclient"];
    let refused = project.goal("prepare-agent", &unsupported);
    refused.assert_exit(1);
    assert_said(&refused, "does not support <output>tcpclient</output>");
    let skipped = [
        "--non-recursive",
        "-Djacoco.skip",
        "-Djacoco.propertyName=unset",
    ];
    let skipped = project.goal("prepare-agent", &skipped);
    skipped.assert_success();
    assert_said(&skipped, "because property jacoco.skip is set");
    assert_said(&skipped, "unset set to empty");
    // The goal tries again while nothing listens, and not if something else does.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let port = format!("-Djacoco.port={port}");
    let words = ["--non-recursive", "-Djacoco.retryCount=1", &port];
    let answering = std::thread::spawn(move || listener.accept().map(drop));
    let stranger = project.goal("dump", &words);
    stranger.assert_exit(1);
    assert_said(&stranger, "error[H0514]");
    answering.join().expect("no panic").expect("a client");
    let silent = project.goal("dump", &words);
    silent.assert_exit(1);
    assert_said(&silent, "error[H0517]");
    let tries = |run: &Run| run.stdout.matches("yet; trying again").count();
    assert_eq!([tries(&stranger), tries(&silent)], [0, 1]);
    let nowhere = ["--non-recursive", "-Dclasshook.home=."];
    let nowhere = project.goal("prepare-agent", &nowhere);
    nowhere.assert_exit(1);
    assert_said(
        &nowhere,
        "expected a folder with classhook and libclasshook.so",
    );
}

/// Adds a dependency on the jar that marks tests, a test that marks itself, and an annotation to exclude.
fn mark_tests(project: &Path) {
    let edit = |file: &str, from: &str, to: &str| {
        let path = project.join(file);
        let text = std::fs::read_to_string(&path).expect("text");
        assert!(text.contains(from), "{file}: {text}");
        std::fs::write(&path, text.replacen(from, to, 1)).expect("the test's folder is writable");
    };
    let dependency = format!(
        "<dependencies><dependency><groupId>{GROUP}</groupId><artifactId>classhook-tests</artifactId>\
         <version>{VERSION}</version><scope>test</scope></dependency></dependencies></project>"
    );
    edit("core/pom.xml", "</project>", &dependency);
    let test = "core/src/test/java/com/acme/SumTest.java";
    let run = "io.github.classhook.tests.TestRun";
    edit(
        test,
        "        assert",
        &format!("        {run}.begin(\"adds\");\n        assert"),
    );
    edit(
        test,
        "get());\n",
        &format!("get());\n        {run}.end(\"adds\");\n"),
    );
    let unused = "web/src/main/java/com/acme/web/Unused.java";
    edit(unused, "public class", "@Deprecated public class");
}

#[test]
fn goals_name_the_tests_of_lines_and_count_what_they_are_set_to() {
    maven_plugin::build(&jdks::newest());
    let project = Project::new(true);
    mark_tests(project.folder());
    let formats = ours("report@formats");
    let counting = [
        "-Dclasshook.counters=source",
        "-Dclasshook.excludeAnnotations=Deprecated,Beta",
    ];
    let build = [
        "-pl",
        "core,web",
        "test",
        formats.as_str(),
        "-Dclasshook.perTest",
    ];
    let loaders =
        "-Djacoco.exclClassLoaders=jdk.internal.*$PlatformClassLoader:com.acme.Isolating*";
    let other = [loaders, "-Djacoco.inclNoLocationClasses", "--fail-at-end"];
    let run = project.mvn(&[&build[..], &counting, &other].concat());
    run.assert_exit(1);
    assert_said(
        &run,
        ";!loader:platform;!loader:jdk.internal.**$PlatformClassLoader;!loader:com.acme.Isolating**;location:any",
    );
    assert_said(&run, "counted: the code of the source");
    let excluded = "left out: 1 class, because of --exclude-annotation";
    assert_said(&run, excluded);
    let read = |module: &str| {
        let file = format!("{module}/target/formats/coverage.json");
        let text = std::fs::read_to_string(project.folder().join(file)).expect("a report");
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")
    };
    let report = read("core");
    assert_eq!(report["counted"], "source");
    assert_eq!(report["tests"][0]["name"], "adds", "{report}");
    let lcov = std::fs::read_to_string(project.folder().join("core/target/formats/lcov.info"));
    assert!(lcov.expect("a report").contains("TN:adds\n"));
    // The tests of the other module are not marked: its report is written, and the build fails.
    assert_said(&run, "warning[H0690]");
    assert_said(&run, "classhook report is incomplete");
    assert_eq!(read("web")["counted"], "source");
    let check = project.goal("check@gate", &["-pl", "core", "-Dclasshook.counters=sauce"]);
    check.assert_exit(1);
    assert_said(&check, "'sauce'");
    assert_said(&check, "possible values: jacoco, source");
    // With the class it is 0.60.
    let whole = [&["-pl", "web", "-Dleast=0.75"], &counting[..]].concat();
    project.goal("check@gate", &whole).assert_success();
}

/// Adds our plugin to a project that has JaCoCo's.
fn add_ours(pom: &Path) {
    let text = std::fs::read_to_string(pom).expect("text");
    let plugin = format!(
        "<plugins>\n<plugin><groupId>{GROUP}</groupId><artifactId>{PLUGIN}</artifactId><version>{VERSION}</version>\
         <executions><execution><goals><goal>prepare-agent</goal><goal>report</goal></goals></execution></executions>\
         </plugin>"
    );
    let (before, behind) = text.rsplit_once("<plugins>").expect("plugins");
    std::fs::write(pom, format!("{before}{plugin}{behind}"))
        .expect("the test's folder is writable");
}

#[test]
fn plugin_beside_that_of_jacoco_has_switches_and_files_of_its_own() {
    maven_plugin::build(&jdks::newest());
    let project = Project::new(false);
    add_ours(&project.folder().join("pom.xml"));
    let ours = |name: &str| project.folder().join("core/target").join(name);
    let build = |words: &[&str]| {
        let _ = std::fs::remove_dir_all(project.folder().join("core/target"));
        let run = project.mvn(&[&["verify", "-pl", "core"], words].concat());
        run.assert_success();
        run
    };
    // JaCoCo's switch has no effect on ours.
    build(&["-Djacoco.skip"]);
    assert!(ours("classhook.exec").is_dir() && !ours("jacoco.exec").exists());
    let report = ours("site/classhook/jacoco.xml");
    let xml = std::fs::read_to_string(&report).expect("our report");
    assert!(xml.contains("<counter type=\"LINE\" missed="), "{xml}");
    assert!(!ours("site/jacoco").exists());
    // Both at once, and each without the other.
    let both = build(&[]);
    assert!(
        ours("classhook.exec").is_dir() && ours("jacoco.exec").is_file(),
        "{}",
        both.report()
    );
    let skipped = build(&["-Dclasshook.skip"]);
    assert_said(&skipped, "because property classhook.skip is set");
    assert!(!ours("classhook.exec").exists() && ours("jacoco.exec").is_file());
}

/// Returns all texts between two texts.
fn between<'t>(text: &'t str, start: &str, end: &str) -> Vec<&'t str> {
    let parts = text.split(start).skip(1);
    parts.filter_map(|part| part.split(end).next()).collect()
}

/// A goal of a descriptor.
struct Goal<'t> {
    phase: Vec<&'t str>,
    parameters: Vec<&'t str>,
    /// Default and expression of each parameter that has one of them.
    settings: BTreeMap<&'t str, (&'t str, &'t str)>,
}

fn goals(descriptor: &str) -> BTreeMap<&str, Goal<'_>> {
    let setting = |line| {
        let name = between(line, "<", ">")[0].split([' ', '/']).next();
        let default = between(line, "default-value=\"", "\"").pop();
        let expression = between(line, ">", "</").pop();
        let (default, expression) = (default.unwrap_or_default(), expression.unwrap_or_default());
        (name.unwrap_or_default(), (default, expression.trim()))
    };
    let goal = |mojo| {
        let lines = between(mojo, "<configuration>", "</configuration>");
        let lines = lines.into_iter().flat_map(str::lines).map(str::trim);
        let goal = Goal {
            phase: between(mojo, "<phase>", "<"),
            parameters: between(mojo, "<name>", "<"),
            settings: lines.filter(|line| !line.is_empty()).map(setting).collect(),
        };
        (between(mojo, "<goal>", "<")[0], goal)
    };
    let mojos = between(descriptor, "<mojo>", "</mojo>");
    mojos.into_iter().map(goal).collect()
}

/// Returns the descriptor of JaCoCo's plugin.
fn their_descriptor() -> String {
    let jar = "org/jacoco/jacoco-maven-plugin/0.8.15/jacoco-maven-plugin-0.8.15.jar";
    let jar = std::fs::File::open(local_repository().join(jar)).expect("fetched by setup");
    let mut jar = zip::ZipArchive::new(jar).expect("a jar");
    let file = jar.by_name("META-INF/maven/plugin.xml");
    std::io::read_to_string(file.expect("a plugin")).expect("text")
}

#[test]
fn goals_and_parameters_equal_those_of_jacoco_and_are_documented() {
    let (theirs, ours) = (their_descriptor(), maven_plugin::descriptor());
    let (mut theirs, ours) = (goals(&theirs), goals(&ours));
    let page = std::fs::read_to_string(root().join("docs/how-to/maven.md")).expect("the page");
    for (name, goal) in ours {
        let expected = theirs.remove(name).expect("a goal of JaCoCo's");
        assert_eq!(goal.phase, expected.phase, "{name}");
        for parameter in expected.parameters {
            let is_known = goal.parameters.contains(&parameter) || parameter == "pluginArtifactMap";
            assert!(is_known, "{name} has no {parameter}");
        }
        for (parameter, (default, expression)) in expected.settings {
            let Some((our_default, our_expression)) = goal.settings.get(parameter) else {
                assert_eq!(parameter, "pluginArtifactMap");
                continue;
            };
            assert_eq!(*our_expression, expression, "{name} {parameter}");
            assert!(
                default.is_empty() || *our_default == default,
                "{name} {parameter}"
            );
        }
        let is_set_by_users = |parameter: &&&str| {
            !["execution", "project", "reactorProjects", "session"].contains(*parameter)
        };
        for parameter in goal.parameters.iter().filter(is_set_by_users) {
            let word = match *parameter {
                "classhookHome" => "classhook.home",
                "classhookSkip" => "classhook.skip",
                parameter => parameter,
            };
            assert!(page.contains(&format!("`{word}`")), "no {word} in the page");
        }
    }
    let missing: Vec<&str> = theirs.into_keys().collect();
    assert_eq!(missing, Vec::<&str>::new());
}
