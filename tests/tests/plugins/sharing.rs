//! Shared plugins in a project: `classhook plugin add`, `list` and `remove`, and digests that every load checks.

use crate::support::agent::{java, snapshot};
use crate::support::files::{Files, serve};
use e2e_tests::java::{Java, Run};
use e2e_tests::registry::Registry;
use e2e_tests::rotation::everything;
use e2e_tests::workspace::{classhook, root, target};
use e2e_tests::{jdks, scratch};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Runs `classhook plugin` in a folder.
fn plugin(folder: &Path, words: &[&str]) -> Run {
    let program = Java::program(classhook()).folder(folder).argument("plugin");
    program.arguments(words).run()
}

#[track_caller]
fn assert_prints(run: &Run, texts: &[&str]) {
    for text in texts {
        assert!(run.stdout.contains(text), "{text}\n{}", run.report());
    }
}

/// Returns the component of the plugin `coverage`, with another name and a version.
fn component(version: &str) -> Vec<u8> {
    let mut bytes = fs::read(target("bundled/coverage.wasm")).expect("a component");
    let text = [b"\x07version", version.as_bytes()].concat();
    bytes.extend([0, u8::try_from(text.len()).expect("short")]);
    bytes.extend(text);
    bytes
}

fn write(file: &Path, bytes: &[u8]) {
    fs::write(file, bytes).expect("written");
}

fn read(file: PathBuf) -> String {
    fs::read_to_string(file).expect("a text")
}

/// Returns the only stored component.
fn kept(folder: &Path) -> PathBuf {
    let store = fs::read_dir(folder.join(".classhook/plugins")).expect("a store");
    let folders = store.map(|entry| entry.expect("an entry").path());
    let mut folders = folders.filter(|path| path.is_dir());
    let kept = folders.next().expect("a folder").join("mine.wasm");
    assert_eq!(folders.next(), None);
    kept
}

const ADD: [&str; 4] = ["add", "mine.wasm", "--grant", "probes"];

#[test]
fn file_is_added_updated_and_removed() {
    let folder = scratch();
    let folder = folder.path();
    let (toml, lock) = (folder.join("classhook.toml"), folder.join("classhook.lock"));
    write(&folder.join("mine.wasm"), &component("1.0"));
    plugin(folder, &["add", "mine.wasm"])
        .assert_exit(2)
        .assert_stderr("error[H0203]")
        .assert_stderr("probes: ")
        .assert_stderr("classhook plugin add mine.wasm --grant probes");
    assert!(!toml.exists() && !lock.exists());

    let added = plugin(folder, &ADD);
    added.assert_success();
    assert_prints(&added, &["mine 1.0 (", "asks for: probes", "added: mine"]);
    let settings = "[[plugin]]\nuse = \"mine\"\ngrant = [\"probes\"]\n";
    assert_eq!(read(toml.clone()), settings);
    let first = read(lock.clone());
    assert_prints(&plugin(folder, &ADD), &["unchanged: mine"]);
    assert_prints(
        &plugin(folder, &["add", "mine.wasm", "--locked"]),
        &["unchanged: mine"],
    );

    write(&folder.join("mine.wasm"), &component("2.0"));
    plugin(folder, &["add", "mine.wasm", "--locked"])
        .assert_exit(2)
        .assert_stderr("error[H0696]");
    assert_eq!(read(lock.clone()), first);
    let updated = plugin(folder, &["add", "mine.wasm"]);
    updated.assert_success();
    assert_prints(
        &updated,
        &[
            "size before: mine 1.0 (",
            "digest before: sha256:",
            "updated: mine",
        ],
    );
    assert_ne!(read(lock.clone()), first);
    let listed = plugin(folder, &["list"]);
    listed.assert_success();
    assert_prints(
        &listed,
        &[
            "mine 2.0 (",
            "source: mine.wasm",
            "file: present, as locked",
        ],
    );
    assert!(kept(folder).is_file());
    // As in the plugin's own project.
    fs::create_dir(folder.join("mine")).expect("made");
    let classes = root().join("examples/plugins/deprecated-api/program");
    let classes = classes.to_str().expect("a name in UTF-8");
    Java::program(classhook())
        .folder(folder)
        .arguments(&["explain", "mine", "--in", classes, "**"])
        .run()
        .assert_success();

    plugin(folder, &["remove", "yours"])
        .assert_exit(2)
        .assert_stderr("error[H0682]");
    plugin(folder, &["remove", "mine"]).assert_success();
    assert_eq!(read(toml), "");
    assert!(!read(lock).contains("mine"));
    assert_eq!(
        fs::read_dir(folder.join(".classhook/plugins"))
            .expect("a store")
            .count(),
        1
    );
}

#[test]
fn plugins_that_cannot_be_added_change_nothing() {
    let folder = scratch();
    let folder = folder.path();
    write(&folder.join("core.wasm"), b"\0asm\x01\0\0\0");
    write(&folder.join("mine.wasm"), &component("1.0"));
    let sparse = File::create(folder.join("large.wasm")).expect("made");
    sparse.set_len(1 << 40).expect("sparse");
    for (words, code) in [
        (&["add", "core.wasm"][..], "H0106"),
        (&["add", "nothing.wasm"], "H0106"),
        (&["add", "/dev/zero", "--name", "zero"], "H0106"),
        (&["add", "large.wasm"], "H0117"),
        (&["add", "mine.wasm", "--name", "trace"], "H0680"),
        (&["add", "mine.wasm", "--name", "../x"], "H0680"),
        (
            &["add", "mine.wasm", "--locked", "--grant", "probes"],
            "H0696",
        ),
        (&["add", "http://127.0.0.1:1/x.wasm"], "H0693"),
        (&["add", "https://me:secret@example.com/x.wasm"], "H0693"),
    ] {
        plugin(folder, words)
            .assert_exit(2)
            .assert_stderr(&format!("error[{code}]"));
        assert!(!folder.join("classhook.lock").exists() && !folder.join("classhook.toml").exists());
    }
    assert_prints(&plugin(folder, &["add"]), &["no plugin is locked"]);
    let inline = "plugin = [{ use = \"mine\" }]\n";
    write(&folder.join("classhook.toml"), inline.as_bytes());
    plugin(folder, &ADD)
        .assert_exit(2)
        .assert_stderr("error[H0694]");
    assert_eq!(read(folder.join("classhook.toml")), inline);
    write(
        &folder.join("classhook.lock"),
        b"version = 1\n[[plugin]]\nname = \"mine\"\n",
    );
    for words in [&ADD[..], &["list"], &["remove", "mine"], &["add"]] {
        plugin(folder, words)
            .assert_exit(2)
            .assert_stderr("error[H0118]");
    }
}

#[test]
fn full_disk_leaves_the_former_files() {
    let folder = scratch();
    let folder = folder.path();
    write(&folder.join("mine.wasm"), &component("1.0"));
    let small = folder.join("small");
    fs::create_dir(&small).expect("made");
    let mount = "mount -t tmpfs -o size=64k none \"$0\" || exit 99; shift; \"$@\"; code=$?; ls -A small; exit $code";
    let program = classhook();
    let run = Java::program("/usr/bin/unshare".into())
        .folder(folder)
        .arguments(&[
            "--user",
            "--map-root-user",
            "--mount",
            "/bin/sh",
            "-c",
            mount,
        ])
        .arguments(&["small", "-", &program.to_string_lossy(), "plugin"])
        .arguments(&ADD)
        .arguments(&["--project", "small"])
        .run();
    run.assert_exit(3)
        .assert_stderr("error[H0620]")
        .assert_stderr("No space left on device");
    assert_eq!(run.stdout, ".classhook\n", "{}", run.report());
}

#[test]
fn two_at_once_lose_nothing() {
    let folder = scratch();
    let folder = folder.path();
    write(&folder.join("mine.wasm"), &component("1.0"));
    let names = ["a", "b", "c", "d"];
    let started = names.map(|name| {
        let program = Java::program(classhook()).folder(folder).argument("plugin");
        program.arguments(&ADD).arguments(&["--name", name]).spawn()
    });
    for mut child in started {
        assert!(child.wait().expect("it ends").success());
    }
    let (lock, toml) = (
        read(folder.join("classhook.lock")),
        read(folder.join("classhook.toml")),
    );
    for name in names {
        assert!(lock.contains(&format!("name = \"{name}\"")), "{lock}");
        assert!(toml.contains(&format!("use = \"{name}\"")), "{toml}");
    }
}

#[test]
fn url_is_fetched_again_only_as_it_was_locked() {
    let folder = scratch();
    let folder = folder.path();
    let files = Files::from([("/x/mine.wasm".to_owned(), component("1.0"))]);
    let server = serve(files);
    let url = format!("{}/x/mine.wasm", server.url);
    let added = plugin(folder, &["add", &url, "--grant", "probes"]);
    added.assert_success().assert_stderr("is not encrypted");
    assert_prints(&added, &[&format!("source: {url}"), "added: mine"]);
    let component_file = kept(folder);
    fs::remove_file(&component_file).expect("removed");
    let listed = plugin(folder, &["list"]);
    listed.assert_exit(3).assert_stderr("warning[H0699]");
    assert_prints(&listed, &["file: missing"]);
    plugin(folder, &["inspect", "mine"])
        .assert_exit(2)
        .assert_stderr("error[H0106]")
        .assert_stderr("`classhook plugin add` fetches");
    assert_prints(&plugin(folder, &["add"]), &["fetched: mine sha256:"]);
    assert_prints(
        &plugin(folder, &["add", "--locked"]),
        &["there: mine sha256:"],
    );
    plugin(folder, &["inspect", "mine"]).assert_success();

    server.exchange("/x/mine.wasm", component("2.0"));
    write(&component_file, b"something else");
    plugin(folder, &["add"])
        .assert_exit(2)
        .assert_stderr("error[H0696]");
    plugin(folder, &["add", &url, "--locked"])
        .assert_exit(2)
        .assert_stderr("error[H0696]");
    plugin(folder, &["inspect", "mine"])
        .assert_exit(2)
        .assert_stderr("error[H0109]");
    plugin(folder, &["add", &format!("{}/no.wasm", server.url)])
        .assert_exit(2)
        .assert_stderr("error[H0693]")
        .assert_stderr("404");
}

/// Only `cargo xtask corpus` fetches a registry. Wrong answers are tested beside the code that reads them.
#[test]
fn real_registry_serves_pushed_plugins() {
    if !everything() {
        return;
    }
    let folder = scratch();
    let folder = folder.path();
    let registry = Registry::start(folder);
    let digest = |bytes: &[u8]| {
        let hex = Sha256::digest(bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>();
        format!("sha256:{hex}")
    };
    let mut first = String::new();
    for version in ["1.0", "2.0"] {
        let (wasm, settings) = (component(version), b"{}");
        let (of_wasm, of_settings) = (digest(&wasm), digest(settings));
        registry.blob("acme/mine", &of_wasm, &wasm);
        registry.blob("acme/mine", &of_settings, settings);
        let manifest = format!(
            r#"{{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{{"mediaType":"application/vnd.wasm.config.v0+json","digest":"{of_settings}","size":2}},"layers":[{{"mediaType":"application/wasm","digest":"{of_wasm}","size":{}}}]}}"#,
            wasm.len()
        );
        registry.manifest("acme/mine", "stable", &manifest);
        let source = format!("oci://{}/acme/mine:stable", registry.host);
        let added = plugin(folder, &["add", &source, "--grant", "probes"]);
        added.assert_success();
        assert_prints(&added, &[&format!("mine {version} ("), &of_wasm]);
        let pinned = format!(
            "oci://{}/acme/mine@{}",
            registry.host,
            digest(manifest.as_bytes())
        );
        let same = plugin(
            folder,
            &["add", &pinned, "--name", "same", "--grant", "probes"],
        );
        assert_prints(&same, &[&of_wasm]);
        plugin(folder, &["remove", "same"]).assert_success();
        if first.is_empty() {
            first = read(folder.join("classhook.lock"));
        }
    }
    // The tag has moved, and the locked version is still available.
    write(&folder.join("classhook.lock"), first.as_bytes());
    assert_prints(&plugin(folder, &["add"]), &["fetched: mine sha256:"]);
    let nothing = format!("oci://{}/acme/yours", registry.host);
    plugin(folder, &["add", &nothing])
        .assert_exit(2)
        .assert_stderr("error[H0693]")
        .assert_stderr("404");
}

#[test]
fn every_load_checks_the_digest_and_the_program_goes_on() {
    let jdk = jdks::newest();
    let folder = scratch();
    let folder = folder.path();
    write(&folder.join("mine.wasm"), &component("1.0"));
    plugin(folder, &ADD).assert_success();
    let options = format!(
        "config={},output=out",
        folder.join("classhook.toml").display()
    );
    let program = java(&jdk).agent(Some(&options)).folder(folder);
    let program = program.main("Life").argument("end");
    let run = program.run();
    run.assert_success();
    assert!(!snapshot(&folder.join("out")).classes.is_empty());

    write(&kept(folder), &component("2.0"));
    let run = program.run();
    run.assert_success()
        .assert_stderr("error[H0109]: plugin `mine` is not the file that was pinned")
        .assert_stderr("the JVM goes on without Classhook");
    assert_eq!(run.stdout, "started 2\nended\n", "{}", run.report());
    for words in [
        &["run", "--config", "classhook.toml"][..],
        &["run", "--plugin", "mine", "--grant", "probes"],
    ] {
        let command = Java::program(classhook()).folder(folder).arguments(words);
        let run = command.arguments(&["--", "touch", "started"]).run();
        run.assert_exit(2).assert_stderr("error[H0109]");
    }
    assert!(!folder.join("started").exists());
}
