//! Patches from sources of classes that are not on a class path of folders and jars.

use crate::support::command::LATE;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{artifacts, javac, scratch, tools, workspace};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

fn file(name: &str) -> PathBuf {
    workspace::test_file(&format!("java/patch/launched/{name}"))
}

/// Writes `Account` with another word, as a source.
fn changed_account(folder: &Path) -> PathBuf {
    let text = std::fs::read_to_string(file("shop/shop/Account.java")).expect("readable");
    let source = folder.join("Account.java");
    std::fs::write(&source, text.replace("original", "patched")).expect("written");
    source
}

fn patch(servant: &Servant, folder: &Path, words: &[&str]) -> Run {
    Java::program(workspace::classhook())
        .folder(folder)
        .argument("patch")
        .argument(servant.pid().to_string())
        .arguments(words)
        .run()
}

/// Compiles into `folder/classes`, with this folder or jar on the class path.
fn compile(jdk: &Jdk, sources: &[&str], folder: &Path, class_path: &Path) -> PathBuf {
    let sources: Vec<PathBuf> = sources.iter().map(|name| file(name)).collect();
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    let path = class_path.display().to_string();
    let options = ["--release", "17", "-cp", &path, "-p", &path];
    javac::compile(jdk, &sources, folder, &options)
}

/// Creates `rates.jar` in this folder, with its module's descriptor.
fn library(jdk: &Jdk, folder: &Path) -> PathBuf {
    std::fs::create_dir_all(folder).expect("a folder");
    let sources = ["rates/rates/Rate.java", "rates/module-info.java"];
    let classes = compile(jdk, &sources, &folder.join("made"), folder);
    let jar = javac::jar(jdk, &classes, ".", "", &folder.join("rates.jar"));
    std::fs::remove_dir_all(folder.join("made")).expect("a folder of ours");
    std::fs::remove_file(folder.join("rates.manifest")).expect("a file of ours");
    jar
}

/// Creates an executable archive as Spring Boot's plugins for Maven and Gradle do.
fn executable(jdk: &Jdk, folder: &Path, launcher: &str, root: &str) -> PathBuf {
    let archive = folder.join("archive");
    let jar = library(jdk, &archive.join(root).join("lib"));
    let sources = ["shop/shop/Main.java", "shop/shop/Account.java"];
    compile(jdk, &sources, &archive.join(root), &jar);
    let unpacked = Command::new(jdk.tool("jar"))
        .arg("xf")
        .arg(artifacts::path("spring-boot-loader"))
        .current_dir(&archive)
        .status();
    assert!(unpacked.expect("jar starts").success());
    let manifest = folder.join("manifest");
    let lines = format!(
        "Main-Class: org.springframework.boot.loader.launch.{launcher}\nStart-Class: shop.Main\n"
    );
    std::fs::write(&manifest, lines).expect("written");
    // The launcher reads nested jars in place, so they are stored without compression.
    let app = folder.join("app.jar");
    let mut words = ["--create", "--no-compress", "--file"]
        .map(OsStr::new)
        .to_vec();
    words.extend([app.as_os_str(), "--manifest".as_ref(), manifest.as_os_str()]);
    words.extend(["-C".as_ref(), archive.as_os_str(), ".".as_ref()]);
    let made = tools::run(jdk, "jar", &words);
    assert_eq!(made.code, 0, "{}", made.text);
    std::fs::remove_dir_all(&archive).expect("a folder of ours");
    app
}

#[test]
fn source_is_compiled_against_jars_within_a_jar() {
    for jdk in jdks::main_in_turn("jars within a jar") {
        for (launcher, root) in [("JarLauncher", "BOOT-INF"), ("WarLauncher", "WEB-INF")] {
            let folder = scratch();
            let app = executable(&jdk, folder.path(), launcher, root);
            let java = Java::new(&jdk).options(&LATE).option("-jar").option(app);
            let mut shop = Servant::of(&java);
            assert_eq!(shop.ask(""), "original 19");
            let source = changed_account(folder.path());
            let source = source.to_str().expect("text");
            patch(&shop, folder.path(), &[source])
                .assert_exit(2)
                .assert_stderr(&format!("--source {source}"));
            patch(&shop, folder.path(), &["--source", source]).assert_success();
            assert_eq!(shop.ask(""), "patched 19", "{launcher} on {jdk}");
            assert_eq!(shop.end().code, Some(0));
        }
    }
}

#[test]
fn source_is_compiled_against_the_module_path_and_as_a_part_of_the_jdks_own_modules() {
    for jdk in jdks::main_in_turn("module path") {
        let folder = scratch();
        let modules = folder.path().join("modules");
        let jar = library(&jdk, &modules);
        let sources = [
            "shop/shop/Main.java",
            "shop/shop/Account.java",
            "shop/module-info.java",
        ];
        compile(&jdk, &sources, &modules.join("shop"), &jar);
        let path = format!("{}:modules/shop/classes", jar.display());
        let java = Java::new(&jdk).options(&LATE).folder(folder.path());
        let java = java.options(&["-p", &path, "-m", "shop/shop.Main"]);
        let mut shop = Servant::of(&java);
        assert_eq!(shop.ask(""), "original 19");
        let source = changed_account(folder.path());
        let source = source.to_str().expect("text");
        patch(&shop, folder.path(), &["--source", source]).assert_success();
        assert_eq!(shop.ask(""), "patched 19", "{jdk}");
        let source = file("ArithmeticException.java");
        let source = source.to_str().expect("text");
        let run = patch(&shop, folder.path(), &["--source", source, "--check"]);
        run.assert_success();
        assert!(run.stdout.contains("can be patched"), "{}", run.report());
        assert_eq!(shop.end().code, Some(0));
    }
}
