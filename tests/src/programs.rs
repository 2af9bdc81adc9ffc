//! Real programs, each with a deterministic piece of work: `programs/<name>/program.toml`.
//!
//! Two tools measure the same work, so each run must execute the same code.

pub mod classes;

use crate::java::Java;
use crate::jdks::{self, Jdk};
use crate::{artifacts, javac, rotation, workspace};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Identity hashes are a sequence of random numbers, which every thread continues from the last one. An agent's work
/// before `main` would therefore decide the order in hash tables of objects without a hash of their own.
const EQUAL_IDENTITY_HASHES: [&str; 2] = ["-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2"];

/// Collections that free space for classes or compiled code would clear soft and weak references. Their time depends on
/// the size of a tool's own code.
const NO_COLLECTIONS_BUT_OF_OBJECTS: [&str; 2] =
    ["-XX:MetaspaceSize=1g", "-XX:ReservedCodeCacheSize=240m"];

/// Number of nightly runs after which each long program had its turn. It is no multiple of the numbers of JDKs, so that each
/// runs on all of them.
const LONG_IN: usize = 7;

/// One `program.toml`; `programs/bank/program.toml` explains the keys.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Name of its folder.
    #[serde(skip)]
    pub name: String,
    /// Artifacts of the class path.
    #[serde(default)]
    artifacts: Vec<String>,
    /// Folders of sources to compile.
    #[serde(default)]
    sources: Vec<String>,
    /// The compiler of the sources.
    #[serde(default)]
    compiler: Compiler,
    /// Options of the JVM.
    #[serde(default)]
    options: Vec<String>,
    /// The main class, or `module/class`.
    main: String,
    /// Arguments of the program.
    #[serde(default)]
    arguments: Vec<String>,
    /// The program has many classes: the comparison of reports covers only those that ran.
    #[serde(default)]
    pub large: bool,
    /// The program takes long: only every seventh run has it, on one release, and every other time from offline
    /// instrumented classes.
    #[serde(default, rename = "takes-long")]
    takes_long: bool,
    /// The program lists members of measured classes by reflection, so members added by JaCoCo change its work.
    #[serde(default)]
    pub reflective: bool,
    /// The program fails with equal identity hashes.
    #[serde(default, rename = "random-identity-hashes")]
    random_identity_hashes: bool,
    /// Classes with a method whose probes do not fit into 64 KB: JaCoCo's take 6 bytes, ours 8.
    #[serde(default, rename = "no-room")]
    pub no_room: Vec<String>,
    /// Classes whose work depends on the order in which reflection lists members.
    #[serde(default, rename = "member-order")]
    member_order: Vec<String>,
    /// Releases that the program runs on.
    #[serde(default = "main_releases")]
    pub releases: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Compiler {
    #[default]
    Javac,
    Kotlin,
}

/// Returns the language level of the sources: `11` or `17`.
fn level(jdk: &Jdk) -> &'static str {
    if jdk.feature < 17 { "11" } else { "17" }
}

fn main_releases() -> Vec<u32> {
    vec![17, 25]
}

/// A program prepared for one JDK: compiled, with a class path.
#[derive(Debug)]
pub struct Workload<'a> {
    program: &'a Program,
    jdk: Jdk,
    class_path: Vec<PathBuf>,
}

/// Returns every program, sorted by name.
pub fn all() -> Vec<Program> {
    let folder = workspace::test_file("programs");
    let entries = std::fs::read_dir(folder)
        .expect("tests/programs is there")
        .filter_map(Result::ok);
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names.iter().map(|name| named(name)).collect()
}

/// Returns one program.
///
/// # Panics
/// If no program has that name, or its `program.toml` is invalid.
pub fn named(name: &str) -> Program {
    let file = workspace::test_file(&format!("programs/{name}/program.toml"));
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("failed to read {}: {error}", file.display()));
    let mut program: Program =
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    program.name = name.to_owned();
    program
}

impl Program {
    /// Returns the JDKs of this run: the newest that the program runs on, and in every other run one of the others, in
    /// rotation.
    ///
    /// A long program has one of all, or none in runs without its turn. With [`rotation::everything`] the program has
    /// all.
    /// A program that is a module of the JDK needs a full one.
    pub fn jdks(&self) -> Vec<Jdk> {
        if self.takes_long {
            return match self.is_its_turn() {
                true => self.jdk_in_turn(),
                false => Vec::new(),
            };
        }
        let mut others = self.every_jdk();
        if rotation::everything() {
            return others;
        }
        let newest = others.pop();
        let older = self.in_turn(others).filter(|_| self.in_every_other_run());
        older.into_iter().chain(newest).collect()
    }

    /// Returns the one JDK of this run, in rotation; with [`rotation::everything`] all of them.
    pub fn jdk_in_turn(&self) -> Vec<Jdk> {
        let all = self.every_jdk();
        if rotation::everything() {
            return all;
        }
        self.in_turn(all).into_iter().collect()
    }

    /// Checks whether this run includes the long program.
    fn is_its_turn(&self) -> bool {
        let long = all().into_iter().filter(|program| program.takes_long);
        let place = long
            .map(|program| program.name)
            .position(|name| name == self.name);
        place.is_some_and(|place| rotation::is_turn_of("programs that take long", place, LONG_IN))
    }

    /// Checks whether this run executes the program from offline instrumented classes.
    pub fn static_mode_in_turn(&self) -> bool {
        !self.takes_long || rotation::everything() || self.in_every_other_run()
    }

    /// Checks whether the program has its turn in the parts of every other run.
    fn in_every_other_run(&self) -> bool {
        rotation::turn(&self.name, 2) == 0
    }

    fn every_jdk(&self) -> Vec<Jdk> {
        let runs_on = |jdk: &&Jdk| {
            self.releases.contains(&jdk.feature) && (jdk.full || !self.main.contains('/'))
        };
        jdks::all().iter().filter(runs_on).cloned().collect()
    }

    fn in_turn(&self, jdks: Vec<Jdk>) -> Option<Jdk> {
        let turn = rotation::turn(&self.name, jdks.len());
        jdks.into_iter().nth(turn)
    }

    /// Returns the JDK's module that contains the program.
    pub fn module(&self) -> Option<&str> {
        self.main.split_once('/').map(|(module, _)| module)
    }

    /// Compiles the program's sources into the folder.
    pub fn prepare(&self, jdk: &Jdk, folder: &Path) -> Workload<'_> {
        let mut class_path = Vec::new();
        if !self.sources.is_empty() {
            let folders: Vec<PathBuf> = self
                .sources
                .iter()
                .map(|source| {
                    PathBuf::from(self.expand(&source.replace("{level}", level(jdk)), folder))
                })
                .collect();
            class_path.push(match self.compiler {
                Compiler::Javac => compile_java(jdk, &folders, folder),
                Compiler::Kotlin => compile_kotlin(&jdks::newest(), &folders, folder),
            });
        }
        class_path.extend(self.artifacts.iter().map(|name| artifacts::path(name)));
        Workload {
            program: self,
            jdk: jdk.clone(),
            class_path,
        }
    }

    /// Replaces `{root}`, `{here}`, `{scratch}` and `{artifact:NAME}` with paths, and `{java:FOLDER}` with the sources
    /// in it.
    fn expand(&self, text: &str, scratch: &Path) -> String {
        let mut text = text
            .replace("{root}", &workspace::root().display().to_string())
            .replace(
                "{here}",
                &workspace::test_file(&format!("programs/{}", self.name))
                    .display()
                    .to_string(),
            )
            .replace("{scratch}", &scratch.display().to_string());
        while let Some((before, rest)) = text.split_once("{artifact:") {
            let (name, after) = rest
                .split_once('}')
                .expect("a closing brace after {artifact:");
            text = format!("{before}{}{after}", artifacts::path(name).display());
        }
        text
    }

    fn expanded_arguments(&self, scratch: &Path) -> Vec<String> {
        let mut expanded = Vec::new();
        for argument in &self.arguments {
            let text = self.expand(argument, scratch);
            match text
                .strip_prefix("{java:")
                .and_then(|rest| rest.strip_suffix('}'))
            {
                Some(folder) => {
                    let sources = javac::sources_in(Path::new(folder));
                    assert!(!sources.is_empty(), "no Java sources in {folder}");
                    expanded.extend(sources.iter().map(|source| source.display().to_string()));
                }
                None => expanded.push(text),
            }
        }
        expanded
    }
}

impl Workload<'_> {
    /// Classes that are not compared: see [`Program::no_room`].
    pub fn no_room(&self) -> &[String] {
        &self.program.no_room
    }

    /// Classes whose probes differ between tools: the JVM lists members in the order of memory addresses, which depends
    /// on the agent.
    pub fn member_order(&self) -> &[String] {
        &self.program.member_order
    }

    /// Returns the program's command. It runs in a new folder `name` below `scratch`, whose folder `made` receives its
    /// output.
    pub fn java(&self, scratch: &Path, name: &str) -> Java {
        let folder = scratch.join(name);
        std::fs::create_dir_all(folder.join("made")).expect("the test's folder is writable");
        let mut java = Java::new(&self.jdk)
            .folder(&folder)
            .options(&NO_COLLECTIONS_BUT_OF_OBJECTS);
        if !self.program.random_identity_hashes {
            java = java.options(&EQUAL_IDENTITY_HASHES);
        }
        for option in &self.program.options {
            java = java.option(self.program.expand(option, scratch));
        }
        if !self.class_path.is_empty() {
            java = java.class_path(&self.class_path);
        }
        if self.program.main.contains('/') {
            java = java.argument("-m");
        }
        java.main(&self.program.main)
            .arguments(&self.program.expanded_arguments(scratch))
    }

    /// Returns the class path.
    pub fn class_path(&self) -> &[PathBuf] {
        &self.class_path
    }

    /// The same program with another class path.
    pub fn with_class_path(&self, class_path: Vec<PathBuf>) -> Self {
        let (program, jdk) = (self.program, self.jdk.clone());
        Self {
            program,
            jdk,
            class_path,
        }
    }

    /// The same program with other class files in place of its own. Copies of its jars are made in `folder`.
    pub fn with_classes(&self, classes: &Path, folder: &Path) -> Self {
        let mut class_path = Vec::new();
        for (index, entry) in self.class_path.iter().enumerate() {
            if entry.is_dir() {
                class_path.extend([classes.to_owned(), entry.clone()]);
                continue;
            }
            let copy = folder.join(format!("{index}.jar"));
            classes::repack(entry, classes, &copy);
            class_path.push(copy);
        }
        self.with_class_path(class_path)
    }

    /// Extracts the class files of the class path and the main module below `folder`.
    pub fn class_files(&self, folder: &Path) -> PathBuf {
        let unpacked = folder.join("class-files");
        for entry in &self.class_path {
            classes::unpack(entry, &unpacked);
        }
        if let Some(module) = self.program.module() {
            classes::unpack_module(&self.jdk, module, &unpacked);
        }
        unpacked
    }
}

fn compile_java(jdk: &Jdk, folders: &[PathBuf], scratch: &Path) -> PathBuf {
    let sources: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| javac::sources_in(folder))
        .collect();
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    if jdk.full {
        return javac::compile(jdk, &sources, scratch, &[]);
    }
    javac::compile(
        &jdks::newest(),
        &sources,
        scratch,
        &["--release", &jdk.feature.to_string()],
    )
}

fn compile_kotlin(jdk: &Jdk, folders: &[PathBuf], scratch: &Path) -> PathBuf {
    let classes = scratch.join("classes");
    let sources: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| javac::files_with_extension(folder, "kt"))
        .collect();
    kotlinc(jdk, &sources, &[], &[], &classes);
    classes
}

/// A plugin of the Kotlin compiler, and the libraries of its generated code, by their names in `artifacts.toml`.
pub type KotlinPlugin = (&'static str, &'static [&'static str]);

/// Compiles Kotlin files into `classes` with the program `kotlinc`. `more` are libraries besides Kotlin's own and those
/// of the plugins.
///
/// # Panics
/// If the compiler refuses the files.
pub fn kotlinc(
    jdk: &Jdk,
    sources: &[PathBuf],
    plugins: &[KotlinPlugin],
    more: &[&str],
    classes: &Path,
) {
    let compiler = named("kotlinc");
    let files: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    let paths = |names: &[String]| -> Vec<PathBuf> {
        names.iter().map(|name| artifacts::path(name)).collect()
    };
    let compiler_path = paths(&compiler.artifacts);
    let plugin_paths = plugins.iter().map(|(plugin, _)| artifacts::path(plugin));
    let mut libraries = vec![artifacts::path("kotlin-stdlib")];
    let needed = plugins.iter().flat_map(|(_, libraries)| libraries.iter());
    libraries.extend(needed.chain(more).map(|library| artifacts::path(library)));
    let identity = compiler_path
        .iter()
        .cloned()
        .chain(plugin_paths.clone())
        .map(|path| path.display().to_string());
    javac::kept(&identity.collect::<Vec<_>>(), &files, classes, |fresh| {
        let java = Java::new(jdk)
            .class_path(&compiler_path)
            .main(&compiler.main);
        let options = plugin_paths.map(|plugin| format!("-Xplugin={}", plugin.display()));
        let options = options.collect::<Vec<_>>();
        java.arguments(&["-no-stdlib", "-no-reflect", "-nowarn", "-cp"])
            .argument(std::env::join_paths(&libraries).expect("paths without separators"))
            .arguments(&options)
            .argument("-d")
            .argument(fresh)
            .arguments(sources)
            .run()
            .assert_success();
    });
}

/// Declares a test for each program, so that one failure does not hide another. Each calls `check` with the program's
/// name.
#[macro_export]
macro_rules! for_every_program {
    ($check:path) => {
        $crate::for_every_program! {
            $check;
            antlr = "antlr",
            aspectj_compiler = "aspectj",
            bank = "bank",
            beanshell = "beanshell",
            clojure = "clojure",
            eclipse_compiler = "ecj",
            google_java_format = "google-java-format",
            groovy = "groovy",
            h2_database = "h2",
            javac = "javac",
            javacc = "javacc",
            jruby = "jruby",
            jython = "jython",
            kotlin_compiler = "kotlinc",
            kotlin_program = "kotlin",
            luaj = "luaj",
            rhino = "rhino",
            scala_compiler = "scala",
        }
    };
    ($check:path; $($test:ident = $name:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            $check($name);
        })*

        #[test]
        fn every_program_has_its_test() {
            let tested = [$($name),*];
            for program in $crate::programs::all() {
                assert!(tested.contains(&program.name.as_str()), "{} has no test here", program.name);
            }
        }
    };
}
