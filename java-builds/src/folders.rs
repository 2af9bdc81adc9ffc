//! The output folders of builds, which hold the classes of a project's main sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Depth limit of the search below a project.
const DEPTH: usize = 12;
/// Greatest depth of folders with generated sources.
const GENERATED_DEPTH: usize = 5;

/// Returns the existing folders of this name in the modules.
pub(super) fn below(modules: &[PathBuf], name: &str) -> Vec<PathBuf> {
    let folders = modules.iter().map(|module| module.join(name));
    folders.filter(|folder| folder.is_dir()).collect()
}

/// Returns the folders of main sources of the modules: `src/main/java`, `src/main/kotlin` and so
/// on. Folders for later releases of Java, such as `src/main/java11`, come last.
pub(super) fn main_sources(modules: &[PathBuf]) -> Vec<PathBuf> {
    const LANGUAGES: [&str; 4] = ["java", "kotlin", "scala", "groovy"];
    let of_language = |language: &&str| below(modules, &format!("src/main/{language}"));
    let mut sources: Vec<PathBuf> = LANGUAGES.iter().flat_map(of_language).collect();
    for module in modules {
        sources.extend(
            sub_folders(&module.join("src/main"))
                .into_iter()
                .filter(|folder| {
                    let name = folder.file_name().and_then(|name| name.to_str());
                    let release = name.and_then(|name| name.strip_prefix("java"));
                    release.is_some_and(|release| {
                        let release = release.trim_start_matches(['-', '_']);
                        !release.is_empty() && release.bytes().all(|digit| digit.is_ascii_digit())
                    })
                }),
        );
    }
    sources
}

/// Returns the folders in `target/generated-sources` of the modules: `annotations`, `protobuf` and
/// so on.
pub(super) fn generated_by_maven(modules: &[PathBuf]) -> Vec<PathBuf> {
    let generated = below(modules, "target/generated-sources");
    generated
        .iter()
        .flat_map(|folder| sub_folders(folder))
        .collect()
}

/// Returns folders `main` with sources that Gradle's plugins generate:
/// `build/generated/sources/annotationProcessor/java/main`.
pub(super) fn generated_by_gradle(projects: &[PathBuf]) -> Vec<PathBuf> {
    let mut sources = Vec::new();
    for name in ["build/generated", "build/generated-src"] {
        for folder in below(projects, name) {
            walk(&folder, DEPTH - GENERATED_DEPTH, &[], &mut |inner| {
                if inner.ends_with("main") {
                    sources.push(inner.to_owned());
                }
            });
        }
    }
    sources
}

/// Returns the folder and those of its modules, from the `<module>` elements of its `pom.xml`,
/// including profiles.
pub(super) fn maven_modules(folder: &Path) -> Vec<PathBuf> {
    let mut modules = Vec::new();
    add_modules(folder, &mut modules, &mut BTreeSet::new());
    modules
}

fn add_modules(folder: &Path, modules: &mut Vec<PathBuf>, seen: &mut BTreeSet<PathBuf>) {
    let real = match folder.as_os_str().is_empty() {
        true => Path::new(".").canonicalize(),
        false => folder.canonicalize(),
    };
    if !real.is_ok_and(|real| seen.insert(real)) {
        return;
    }
    modules.push(folder.to_owned());
    let Ok(pom) = fs::read(folder.join("pom.xml")) else {
        return;
    };
    for module in modules_in(&String::from_utf8_lossy(&pom)) {
        let path = folder.join(module);
        match path.is_file() {
            true => add_modules(path.parent().unwrap_or(folder), modules, seen),
            false => add_modules(&path, modules, seen),
        }
    }
}

/// Returns the texts of the `module` elements (Maven 4: `subproject`), without those in comments.
fn modules_in(pom: &str) -> Vec<String> {
    let mut text = String::new();
    for (index, part) in pom.split("<!--").enumerate() {
        let outside = match index {
            0 => part,
            _ => part.split_once("-->").map_or("", |(_, behind)| behind),
        };
        text.push_str(outside);
    }
    let of = |element: &str| -> Vec<String> {
        let (open, close) = (format!("<{element}>"), format!("</{element}>"));
        let parts = text.split(&open).skip(1);
        let texts = parts.filter_map(|part| Some(part.split_once(&close)?.0.trim().to_owned()));
        texts.filter(|module| !module.is_empty()).collect()
    };
    [of("module"), of("subproject")].concat()
}

/// Returns the projects of a Gradle build: folders with a build script or its output.
pub(super) fn gradle_projects(folder: &Path) -> Vec<PathBuf> {
    let mut projects = Vec::new();
    walk(
        folder,
        0,
        &["build", "src", "node_modules"],
        &mut |folder| {
            let names = ["build.gradle", "build.gradle.kts", "build/classes"];
            if names.iter().any(|name| folder.join(name).exists()) {
                projects.push(folder.to_owned());
            }
        },
    );
    projects
}

/// Returns `build/classes/LANGUAGE/main` of all projects.
pub(super) fn gradle_classes(folder: &Path) -> Vec<PathBuf> {
    let languages = gradle_projects(folder)
        .into_iter()
        .flat_map(|project| sub_folders(&project.join("build/classes")));
    below(&languages.collect::<Vec<_>>(), "main")
}

/// Returns the first existing output folder of Ant's manual and common templates.
pub(super) fn ant_classes(folder: &Path) -> Vec<PathBuf> {
    let usual = ["build/classes", "target/classes", "classes", "bin"];
    let folders = usual.iter().map(|name| folder.join(name));
    folders.filter(|folder| folder.is_dir()).take(1).collect()
}

/// Returns the jars of `java_library` and `kt_jvm_library` in `bazel-bin`, without those of other
/// repositories.
pub(super) fn bazel_libraries(folder: &Path) -> Vec<PathBuf> {
    let mut jars = Vec::new();
    walk(&folder.join("bazel-bin"), 0, &[], &mut |folder| {
        let is_foreign = folder
            .components()
            .any(|part| part.as_os_str() == "external");
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        jars.extend(paths.filter(|path| !is_foreign && is_library(path)));
    });
    jars.sort();
    jars
}

fn is_library(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("");
    let inner = name
        .strip_prefix("lib")
        .and_then(|name| name.strip_suffix(".jar"));
    inner.is_some_and(|inner| {
        let others = ["-hjar", "-ijar", "-src", "-native-header", ".abi"];
        !others.iter().any(|end| inner.ends_with(end))
            && !inner.to_ascii_lowercase().contains("test")
    })
}

/// Returns the target folders of the links to jars in a tool's folders: Linux distributions keep
/// the jars elsewhere.
pub(super) fn links(home: &Path) -> Vec<PathBuf> {
    let folders = [home.join("boot"), home.join("lib")];
    let entries = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let links = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_symlink());
    let targets = links.filter_map(|path| Some(path.canonicalize().ok()?.parent()?.to_owned()));
    let folders: BTreeSet<PathBuf> = targets.filter(|folder| !folder.starts_with(home)).collect();
    folders.into_iter().collect()
}

/// Visits a folder and the folders below it, without links, hidden folders and those with `skipped`
/// names.
fn walk(folder: &Path, depth: usize, skipped: &[&str], visit: &mut dyn FnMut(&Path)) {
    visit(folder);
    if depth < DEPTH {
        let inner = sub_folders(folder).into_iter().filter(|path| {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or(".");
            !name.starts_with('.') && !skipped.contains(&name)
        });
        inner.for_each(|path| walk(&path, depth + 1, skipped, visit));
    }
}

fn sub_folders(folder: &Path) -> Vec<PathBuf> {
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut paths: Vec<PathBuf> = entries
        .filter(is_folder)
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(paths: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for path in paths {
            let path = root.path().join(path);
            match path.extension() {
                Some(_) => {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, "").unwrap();
                }
                None => fs::create_dir_all(path).unwrap(),
            }
        }
        root
    }

    fn relative(paths: Vec<PathBuf>, root: &Path) -> Vec<String> {
        let name = |path: PathBuf| path.strip_prefix(root).unwrap().display().to_string();
        paths.into_iter().map(name).collect()
    }

    #[test]
    fn maven_modules_are_read_from_the_pom() {
        let root = made(&[
            "core/target/classes",
            "web/ui/target/classes",
            "old/target/classes",
        ]);
        let pom = |folder: &str, text: &str| {
            fs::write(root.path().join(folder).join("pom.xml"), text).unwrap()
        };
        pom(
            "",
            "<modules><module>core</module><!-- <module>old</module> --><module> web </module></modules>",
        );
        pom("core", "<project/>");
        pom(
            "web",
            "<profile><modules><module>ui/pom.xml</module><module>..</module></modules></profile>",
        );
        pom("web/ui", "<project/>");
        let found = below(&maven_modules(root.path()), "target/classes");
        assert_eq!(
            relative(found, root.path()),
            ["core/target/classes", "web/ui/target/classes"]
        );
    }

    #[test]
    fn gradle_main_classes_are_found_in_all_projects() {
        let root = made(&[
            "build/classes/java/test",
            "app/build/classes/java/main",
            "app/build/classes/kotlin/main",
            "app/build/classes/java/test",
            "app/src/build/classes/java/main",
            ".hidden/build/classes/java/main",
        ]);
        let found = relative(gradle_classes(root.path()), root.path());
        assert_eq!(
            found,
            [
                "app/build/classes/java/main",
                "app/build/classes/kotlin/main"
            ]
        );
    }

    #[test]
    fn bazel_libraries_exclude_tests_and_headers() {
        let root = made(&[
            "bazel-bin/a/libcore.jar",
            "bazel-bin/a/libcore-hjar.jar",
            "bazel-bin/a/libcore-src.jar",
            "bazel-bin/a/CoreTest.jar",
            "bazel-bin/a/libtesting.jar",
            "bazel-bin/external/guava/libguava.jar",
        ]);
        let found = relative(bazel_libraries(root.path()), root.path());
        assert_eq!(found, ["bazel-bin/a/libcore.jar"]);
    }

    #[test]
    fn sources_of_later_releases_and_generated_sources_are_found() {
        let root = made(&[
            "core/src/main/java",
            "core/src/main/java11",
            "core/src/main/java-21",
            "core/src/main/javascript",
            "core/src/main/kotlin",
            "core/target/generated-sources/annotations",
            "core/target/generated-sources/protobuf/java",
            "core/build/generated/sources/annotationProcessor/java/main/com",
            "core/build/generated/sources/annotationProcessor/java/test",
            "core/build/generated-src/antlr/main",
        ]);
        let modules = [root.path().join("core")];
        let found = |paths: Vec<PathBuf>| relative(paths, &modules[0]);
        assert_eq!(
            found(main_sources(&modules)),
            [
                "src/main/java",
                "src/main/kotlin",
                "src/main/java-21",
                "src/main/java11"
            ]
        );
        assert_eq!(
            found(generated_by_maven(&modules)),
            [
                "target/generated-sources/annotations",
                "target/generated-sources/protobuf"
            ]
        );
        assert_eq!(
            found(generated_by_gradle(&modules)),
            [
                "build/generated/sources/annotationProcessor/java/main",
                "build/generated-src/antlr/main"
            ]
        );
    }

    #[test]
    fn ant_has_one_folder() {
        let root = made(&["bin", "build/classes"]);
        assert_eq!(
            relative(ant_classes(root.path()), root.path()),
            ["build/classes"]
        );
    }
}
