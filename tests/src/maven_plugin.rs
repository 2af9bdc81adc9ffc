//! The plugins of Maven and Gradle and the listeners of tests, compiled from `build-tools` into a repository with the
//! agent's jar beside them.

use crate::jdks::Jdk;
use crate::workspace::{classhook, root, target};
use crate::{artifacts, javac, maven};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The group id of all artifacts.
pub const GROUP: &str = "io.github.classhook";
/// The artifact id of Maven's plugin.
pub const PLUGIN: &str = "classhook-maven-plugin";
/// The artifact id of Gradle's plugin.
pub const GRADLE_PLUGIN: &str = "classhook-gradle-plugin";
/// The plugin id that Gradle's builds apply.
const GRADLE_ID: &str = GROUP;
/// The jar with command and agent, one for each platform.
const NATIVE: &str = "classhook-native";
/// Libraries against which reports of Maven's site are compiled.
pub const REPORTING: [&str; 2] = ["maven-reporting-api", "doxia-sink-api"];
/// The artifact id of the jar with the listeners of tests.
pub const TESTS: &str = "classhook-tests";
/// The version of all artifacts.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The package of the plugin's classes.
const PACKAGE: &str = "io/github/classhook/maven";
/// The package of the classes that all plugins share; command and agent are in it.
const SHARED: &str = "io/github/classhook/build";

/// Returns the folder of the repository.
pub fn repository() -> PathBuf {
    target("maven-repository")
}

/// Creates the repository of this checkout from the built agent and command, with this JDK's compiler.
///
/// # Panics
/// If a file is missing, does not compile, or cannot be written.
pub fn build(jdk: &Jdk) {
    Repository::of_checkout().put_all(jdk);
}

/// Adds Gradle's plugin to it, compiled against an installation of Gradle.
///
/// # Panics
/// If it does not compile, or cannot be written.
pub fn build_for_gradle(jdk: &Jdk, gradle: &Path) {
    Repository::of_checkout().put_gradle_plugin(jdk, gradle);
}

/// A platform as the plugins name it, and the command and the agent for it.
pub struct Native {
    /// Such as `linux-x86_64`.
    pub platform: String,
    /// The command.
    pub command: PathBuf,
    /// The agent.
    pub agent: PathBuf,
}

/// A repository, and the commands and agents that it holds.
pub struct Repository {
    folder: PathBuf,
    natives: Vec<Native>,
}

impl Repository {
    /// A repository in this folder for these platforms.
    #[must_use]
    pub fn new(folder: PathBuf, natives: Vec<Native>) -> Self {
        Self { folder, natives }
    }

    fn of_checkout() -> Self {
        let built = Native {
            platform: format!("linux-{}", std::env::consts::ARCH),
            command: classhook(),
            agent: target("release/libclasshook.so"),
        };
        Self::new(repository(), vec![built])
    }

    /// Writes all artifacts but Gradle's plugin, with this JDK's compiler.
    ///
    /// # Panics
    /// If a file is missing, does not compile, or cannot be written.
    pub fn put_all(&self, jdk: &Jdk) {
        let scratch = crate::scratch();
        for native in &self.natives {
            let ending = format!("-{}.jar", native.platform);
            self.put((NATIVE, &ending), &native_jar(native));
        }
        self.put((NATIVE, ".pom"), pom(NATIVE, "jar", "").as_bytes());
        self.put((PLUGIN, ".jar"), &jar(&plugin_files(jdk, scratch.path())));
        let listener = scratch.path().join(TESTS);
        self.put((TESTS, ".jar"), &listener_jar(jdk, &listener));
        self.put((TESTS, ".pom"), pom(TESTS, "jar", "").as_bytes());
        let mut needed = self.native_elements();
        needed.push(reporting_element());
        let pom = pom(PLUGIN, "maven-plugin", &dependencies(&needed));
        self.put((PLUGIN, ".pom"), pom.as_bytes());
    }

    /// Writes Gradle's plugin, compiled against an installation of Gradle.
    ///
    /// # Panics
    /// If it does not compile, or cannot be written.
    pub fn put_gradle_plugin(&self, jdk: &Jdk, gradle: &Path) {
        let scratch = crate::scratch();
        let mut libraries = javac::files_with_extension(&gradle.join("lib"), "jar");
        // Types in the API's signatures; Debian's package has them elsewhere.
        libraries.push(artifacts::path("groovy"));
        libraries.extend(maven::libraries());
        let sources = ["build-tools/shared/src", "build-tools/gradle/src"];
        let mut files = compiled(jdk, &sources, &libraries, scratch.path());
        files.insert(
            format!("META-INF/gradle-plugins/{GRADLE_ID}.properties"),
            b"implementation-class=io.github.classhook.gradle.ClasshookPlugin\n".to_vec(),
        );
        self.put((GRADLE_PLUGIN, ".jar"), &jar(&files));
        let pom = pom(GRADLE_PLUGIN, "jar", &dependencies(&self.native_elements()));
        self.put((GRADLE_PLUGIN, ".pom"), pom.as_bytes());
    }

    /// Writes a file of an artifact, so that no reader sees a part of it.
    fn put(&self, (artifact, ending): (&str, &str), bytes: &[u8]) {
        let folder = self.folder.join(GROUP.replace('.', "/"));
        let folder = folder.join(artifact).join(VERSION);
        std::fs::create_dir_all(&folder).expect("target/ is writable");
        let readable = std::fs::Permissions::from_mode(0o644);
        let file = tempfile::Builder::new()
            .permissions(readable)
            .tempfile_in(&folder);
        let mut file = file.expect("target/ is writable");
        file.write_all(bytes).expect("room on the disk");
        file.persist(folder.join(format!("{artifact}-{VERSION}{ending}")))
            .expect("our own folder");
    }

    /// Returns the dependencies on the jars with command and agent.
    fn native_elements(&self) -> Vec<String> {
        let element = |native: &Native| {
            format!(
                "      <groupId>{GROUP}</groupId>\n      <artifactId>{NATIVE}</artifactId>\n      \
                 <version>{VERSION}</version>\n      <classifier>{}</classifier>\n",
                native.platform
            )
        };
        self.natives.iter().map(element).collect()
    }
}

fn dependencies(all: &[String]) -> String {
    let one = |element: &String| format!("    <dependency>\n{element}    </dependency>\n");
    let all: String = all.iter().map(one).collect();
    format!("  <dependencies>\n{all}  </dependencies>\n")
}

/// Returns the dependency on the interface of Maven's site, in the version of JaCoCo's plugin.
fn reporting_element() -> String {
    "      <groupId>org.apache.maven.reporting</groupId>\n      \
     <artifactId>maven-reporting-api</artifactId>\n      <version>3.0</version>\n"
        .to_owned()
}

fn read(file: &Path) -> Vec<u8> {
    std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Files of a jar by their paths.
type Files = BTreeMap<String, Vec<u8>>;

/// Returns command and agent with the digest of both. The plugin unpacks them into a folder of that name.
fn native_jar(of: &Native) -> Vec<u8> {
    let files = [("classhook", &of.command), ("libclasshook.so", &of.agent)];
    let native: Files = files
        .into_iter()
        .map(|(name, file)| (name.to_owned(), read(file)))
        .collect();
    let platform = &of.platform;
    let mut digest = Sha256::new();
    native.values().for_each(|bytes| digest.update(bytes));
    let digest = digest
        .finalize()
        .iter()
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}"); // writing to a string cannot fail
            hex
        });
    let mut files = native;
    files.insert("digest".to_owned(), digest.into_bytes());
    let path = |name: String| format!("{SHARED}/native/{platform}/{name}");
    let files: Files = files
        .into_iter()
        .map(|(name, bytes)| (path(name), bytes))
        .collect();
    jar(&files)
}

/// Returns the jar with the listeners of tests, which JUnit's platform and TestNG find. It is compiled in this folder.
///
/// # Panics
/// If it does not compile.
pub fn listener_jar(jdk: &Jdk, folder: &Path) -> Vec<u8> {
    let libraries = artifacts::paths(&["junit", "testng"]);
    let mut files = compiled(jdk, &["build-tools/tests/src"], &libraries, folder);
    for (service, listener) in [
        (
            "org.junit.platform.launcher.TestExecutionListener",
            "JUnitListener",
        ),
        ("org.testng.ITestNGListener", "TestNGListener"),
    ] {
        let listener = format!("io.github.classhook.tests.{listener}\n");
        files.insert(
            format!("META-INF/services/{service}"),
            listener.into_bytes(),
        );
    }
    jar(&files)
}

/// Returns the plugin's classes, and its descriptors for Maven.
fn plugin_files(jdk: &Jdk, scratch: &Path) -> Files {
    let sources = ["build-tools/shared/src", "build-tools/maven/src"];
    let mut libraries = maven::libraries();
    libraries.extend(artifacts::paths(&REPORTING));
    let mut files = compiled(jdk, &sources, &libraries, scratch);
    files.insert(
        "META-INF/maven/plugin.xml".to_owned(),
        descriptor().into_bytes(),
    );
    files
}

/// Compiles these sources for Java 8 and returns the classes.
fn compiled(jdk: &Jdk, sources: &[&str], libraries: &[PathBuf], scratch: &Path) -> Files {
    let sources = sources.iter();
    let sources: Vec<PathBuf> = sources
        .flat_map(|folder| javac::sources_in(&root().join(folder)))
        .collect();
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    let class_path = std::env::join_paths(libraries).expect("paths without colons");
    let class_path = class_path.to_str().expect("paths in UTF-8");
    let options = [
        "--release",
        "8",
        "-Xlint:all,-options,-classfile,-path,-processing",
        "-Werror",
        "-cp",
        class_path,
    ];
    let classes = javac::compile(jdk, &sources, scratch, &options);
    let mut files = Files::new();
    for class in javac::files_with_extension(&classes, "class") {
        let path = class.strip_prefix(&classes).expect("a file of the folder");
        files.insert(
            path.to_str().expect("a name of ours").to_owned(),
            read(&class),
        );
    }
    files
}

/// Creates a jar whose files all have the same date, so that the same files give the same jar.
fn jar(files: &Files) -> Vec<u8> {
    let mut jar = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (path, bytes) in files {
        jar.start_file(path.as_str(), options).expect("in memory");
        jar.write_all(bytes).expect("in memory");
    }
    jar.finish().expect("in memory").into_inner()
}

fn pom(artifact: &str, packaging: &str, rest: &str) -> String {
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n  <modelVersion>4.0.0</modelVersion>\n  \
         <groupId>{GROUP}</groupId>\n  <artifactId>{artifact}</artifactId>\n  <version>{VERSION}</version>\n  \
         <packaging>{packaging}</packaging>\n{rest}</project>\n"
    )
}

/// Generates `META-INF/maven/plugin.xml` from `goals.toml`.
///
/// # Panics
/// If a goal names a parameter that the table lacks.
pub fn descriptor() -> String {
    let table = std::fs::read_to_string(root().join("build-tools/maven/goals.toml"));
    let table: Table = toml::from_str(&table.expect("the table of goals")).expect("well formed");
    table.descriptor()
}

/// The content of `goals.toml`.
#[derive(Debug, Deserialize)]
struct Table {
    parameter: BTreeMap<String, Parameter>,
    goal: Vec<Goal>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameter {
    r#type: String,
    description: String,
    property: Option<String>,
    value: Option<String>,
    default: Option<String>,
    #[serde(default)]
    required: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Goal {
    name: String,
    description: String,
    #[serde(default)]
    without_project: bool,
    phase: Option<String>,
    class: String,
    parameters: Vec<String>,
    #[serde(default)]
    defaults: BTreeMap<String, String>,
    #[serde(default)]
    properties: BTreeMap<String, String>,
    #[serde(default)]
    types: BTreeMap<String, String>,
}

/// The parameters of every goal that needs a project.
const COMMON: [&str; 5] = [
    "classhookHome",
    "classhookSkip",
    "project",
    "session",
    "skip",
];

impl Table {
    fn descriptor(&self) -> String {
        let mut text = format!(
            "<plugin>\n<groupId>{GROUP}</groupId>\n<artifactId>{PLUGIN}</artifactId>\n<version>{VERSION}</version>\n\
             <goalPrefix>classhook</goalPrefix>\n<requiredMavenVersion>3.6.3</requiredMavenVersion>\n<mojos>\n"
        );
        for goal in &self.goal {
            text += &self.mojo(goal);
        }
        text + "</mojos>\n</plugin>\n"
    }

    fn mojo(&self, goal: &Goal) -> String {
        let phase = goal.phase.as_ref();
        let phase = phase.map_or_else(String::new, |phase| format!("<phase>{phase}</phase>\n"));
        let mut text = format!(
            "<mojo>\n<goal>{}</goal>\n<description>{}</description>\n{phase}<implementation>{}.{}</implementation>\n\
             <language>java</language>\n<instantiationStrategy>per-lookup</instantiationStrategy>\n\
             <requiresProject>{}</requiresProject>\n<threadSafe>true</threadSafe>\n",
            goal.name,
            goal.description,
            PACKAGE.replace('/', "."),
            goal.class,
            !goal.without_project
        );
        let common = match goal.without_project {
            true => Vec::new(),
            false => COMMON.map(str::to_owned).to_vec(),
        };
        let (mut parameters, mut configuration) = (String::new(), String::new());
        for name in goal.parameters.iter().chain(&common) {
            let parameter = self.parameter.get(name);
            let parameter = parameter.unwrap_or_else(|| panic!("goals.toml: no parameter {name}"));
            let _ = writeln!(
                parameters,
                "<parameter><name>{name}</name><type>{}</type><required>{}</required><editable>{}</editable>\
                 <description>{}</description></parameter>",
                goal.types.get(name).unwrap_or(&parameter.r#type),
                parameter.required,
                parameter.value.is_none(),
                parameter.description
            );
            configuration += &goal.setting(name, parameter);
        }
        let _ = write!(
            text,
            "<parameters>\n{parameters}</parameters>\n<configuration>\n{configuration}</configuration>\n</mojo>\n"
        );
        text
    }
}

impl Goal {
    /// Returns the property that sets a parameter's default.
    fn setting(&self, name: &str, parameter: &Parameter) -> String {
        let property = self.properties.get(name).or(parameter.property.as_ref());
        let property = property.map(|property| format!("${{{property}}}"));
        let value = parameter.value.clone().or(property).unwrap_or_default();
        let default = self.defaults.get(name).or(parameter.default.as_ref());
        let default = default.map_or_else(String::new, |text| format!(" default-value=\"{text}\""));
        match value.is_empty() && default.is_empty() {
            true => String::new(),
            false => format!("<{name}{default}>{value}</{name}>\n"),
        }
    }
}
