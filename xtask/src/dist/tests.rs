//! Tests of the packing and of the scripts, with small files in place of the products.

use super::*;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

/// A command that knows its version only.
const COMMAND: &str = "#!/bin/sh\necho classhook from the archive\n";

/// Packs small files in place of the products.
fn packed(workspace: &Workspace, scratch: &Path) -> PathBuf {
    let products = ["x86_64", "aarch64"].map(|processor| {
        let product = Portable {
            processor,
            command: scratch.join("command"),
            agent: scratch.join("agent"),
        };
        std::fs::write(&product.command, COMMAND).unwrap();
        std::fs::write(&product.agent, "the agent").unwrap();
        product
    });
    let release = Release {
        folder: scratch.join("dist"),
        maven: scratch.join("maven"),
        time: Time(1_700_000_000),
    };
    release.empty().unwrap();
    let page = Entry::File(b"a page".to_vec());
    let shared = Tree::from([("man/man1/classhook.1".to_owned(), page)]);
    release.put_archives(&products, &shared).unwrap();
    release.put_rest(workspace, &products, &[], &gzip).unwrap();
    release.put_sums().unwrap();
    release.folder
}

fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = files_below(folder).unwrap().into_iter();
    files
        .map(|file| {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(&file).unwrap())
        })
        .collect()
}

#[test]
fn packed_twice_a_release_is_the_same() {
    let workspace = Workspace::find().unwrap();
    let [first, second] = [(); 2].map(|()| {
        let scratch = tempfile::tempdir().unwrap();
        contents(&packed(&workspace, scratch.path()))
    });
    assert_eq!(first, second);
    let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    let archive = format!("classhook-{VERSION}-linux-aarch64.tar.gz");
    let package = format!("classhook_{VERSION}_amd64.deb");
    for name in [&archive, &package, "install.sh", "SHA256SUMS"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
}

/// Runs `install.sh` of a release for a user with this home.
fn install(release: &Path, home: &Path) -> Output {
    Command::new("sh")
        .arg(release.join("install.sh"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home)
        .env("CLASSHOOK_RELEASE", format!("file://{}", release.display()))
        .output()
        .unwrap()
}

#[test]
fn script_installs_an_archive_whose_digest_is_right_and_no_other() {
    let scratch = tempfile::tempdir().unwrap();
    let release = packed(&Workspace::find().unwrap(), scratch.path());
    let home = scratch.path().join("home");
    for _ in 0..2 {
        let done = install(&release, &home);
        assert!(done.status.success(), "{done:?}");
        let told = String::from_utf8_lossy(&done.stdout);
        assert!(told.contains("classhook from the archive"), "{told}");
    }
    let installed = home.join(".local/share/classhook");
    assert_eq!(
        std::fs::read(installed.join("libclasshook.so")).unwrap(),
        b"the agent"
    );
    assert!(installed.join("share/man/man1/classhook.1").is_file());

    let archive = format!(
        "classhook-{VERSION}-linux-{}.tar.gz",
        std::env::consts::ARCH
    );
    std::fs::write(release.join(archive), "another file").unwrap();
    let other = scratch.path().join("other");
    let refused = install(&release, &other);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("digest"), "{told}");
    assert!(!other.exists());
}

#[test]
fn step_of_the_action_passes_options_and_the_exit_code_on() {
    let workspace = Workspace::find().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let command = scratch.path().join("classhook");
    let script = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$WORDS\"\necho a table > \"$3\"\nexit 4\n";
    std::fs::write(&command, script).unwrap();
    std::fs::set_permissions(&command, std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = |name: &str| scratch.path().join(name);
    let path = std::env::var("PATH").unwrap();
    let done = Command::new(workspace.root().join(".github/measure"))
        .env("PATH", format!("{}:{path}", scratch.path().display()))
        .env("COMMAND", "mvn verify")
        .env("OPTIONS", "--rules 'LINE 80' --html html")
        .env("DIFF", "origin/main")
        .env("MARKDOWN", file("table.md"))
        .env("WORDS", file("words"))
        .env("GITHUB_STEP_SUMMARY", file("summary"))
        .env("GITHUB_OUTPUT", file("output"))
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(4), "{done:?}");
    let words = std::fs::read_to_string(file("words")).unwrap();
    let words: Vec<&str> = words.lines().collect();
    assert_eq!(words[0], "coverage");
    let diff = words.windows(2).any(|two| two == ["--diff", "origin/main"]);
    let rules = words.windows(2).any(|two| two == ["--rules", "LINE 80"]);
    assert!(diff && rules, "{words:?}");
    assert_eq!(words[words.len() - 4..], ["--", "bash", "-c", "mvn verify"]);
    let summary = std::fs::read_to_string(file("summary")).unwrap();
    assert_eq!(summary, "a table\n");
}
