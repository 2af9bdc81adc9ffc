//! `classhook instrument` on class files, folders and jars.

#[path = "support/command.rs"]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use probes::Snapshot;
use rustix::process::{Pid, Signal, kill_process};
use support::{Compiled, Ran, classhook, run};
use zip::write::{FullFileOptions, SimpleFileOptions};
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

const GATE: &str = "package bank;
public class Gate {
    static int pass(int who) {
        return who > 3 && who != 7 ? 1 : 0;
    }
}
";
const DOOR: &str = "package bank;
public interface Door {
    int OPEN = Gate.pass(4);
    default int state() { return OPEN; }
}
";
const MANIFEST: &[u8] = b"Manifest-Version: 1.0\r\nMain-Class: bank.Gate\r\n\r\n";

fn bank() -> Compiled {
    Compiled::new(&[("bank/Gate.java", GATE), ("bank/Door.java", DOOR)])
}

/// Entries of a jar in order: name, content, and a flag for stored entries.
type Entries<'e> = &'e [(&'e str, &'e [u8], bool)];

fn jar(entries: Entries<'_>) -> Vec<u8> {
    let mut jar = ZipWriter::new(Cursor::new(Vec::new()));
    for (number, (name, bytes, stored)) in entries.iter().enumerate() {
        let method = if *stored {
            CompressionMethod::Stored
        } else {
            CompressionMethod::Deflated
        };
        let time = DateTime::from_date_and_time(2001, 2, 3, 4, 5, 2 * (number % 30) as u8).unwrap();
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .last_modified_time(time);
        jar.start_file(*name, options).unwrap();
        jar.write_all(bytes).unwrap();
    }
    jar.set_comment("a comment").unwrap();
    jar.finish().unwrap().into_inner()
}

/// Returns the metadata and the content of each entry of an archive.
fn contents(jar: &[u8]) -> Vec<(String, String, Vec<u8>)> {
    let mut archive = ZipArchive::new(Cursor::new(jar)).unwrap();
    let mut all = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).unwrap();
        let facts = format!(
            "{:?} {:?} {:?}",
            entry.compression(),
            entry.last_modified(),
            entry.unix_mode()
        );
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        all.push((entry.name().unwrap().into_owned(), facts, bytes));
    }
    all
}

fn content(jar: &[u8], name: &str) -> Vec<u8> {
    let found = contents(jar).into_iter().find(|entry| entry.0 == name);
    found.unwrap_or_else(|| panic!("no {name}")).2
}

fn is_instrumented(bytes: &[u8]) -> bool {
    host::class_array::is_instrumented(&rewriter::ClassFile::read(bytes).unwrap())
}

/// A folder in which a jar is instrumented.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new(input: &[u8]) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("in.jar"), input).unwrap();
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn run(&self, options: &[&str]) -> Ran {
        let mut command = classhook();
        command
            .args(["instrument", "in.jar", "-o", "out.jar"])
            .args(options);
        command
            .current_dir(self.root.path())
            .output()
            .unwrap()
            .into()
    }

    fn out(&self) -> Vec<u8> {
        fs::read(self.path("out.jar")).unwrap()
    }

    /// Returns the names in the folder.
    fn names(&self) -> Vec<String> {
        names(self.root.path())
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// All files below a folder.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for name in names(&next) {
            let path = next.join(name);
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().display().to_string();
                    found.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    found
}

#[test]
fn folder_is_instrumented_and_other_files_are_copied() {
    let bank = bank();
    fs::write(bank.path("classes/bank/words.txt"), "kept").unwrap();
    fs::write(
        bank.path("classes/inner.jar"),
        jar(&[("bank/Gate.class", &bank.class("bank/Gate"), false)]),
    )
    .unwrap();
    let out = bank.path("out");
    let words = |out: &Path| {
        [
            "instrument".as_ref(),
            bank.path("classes").as_os_str(),
            "-o".as_ref(),
            out.as_os_str(),
        ]
        .map(ToOwned::to_owned)
    };
    let ran = run(words(&out)).well();
    assert!(
        ran.out.contains("3  classes")
            && ran.out.contains("3  instrumented")
            && ran.out.contains("1  other"),
        "{}",
        ran.out
    );
    let files = tree(&out);
    assert_eq!(files["bank/words.txt"], b"kept");
    for name in ["bank/Gate.class", "bank/Door.class"] {
        assert!(is_instrumented(&files[name]), "{name}");
    }
    assert!(is_instrumented(&content(
        &files["inner.jar"],
        "bank/Gate.class"
    )));
    let time = |path: PathBuf| fs::metadata(path).unwrap().modified().unwrap();
    assert_eq!(
        time(out.join("bank/words.txt")),
        time(bank.path("classes/bank/words.txt"))
    );
    run(words(&out)).well(); // over what is there
    assert_eq!(tree(&out), files);
    run(words(&bank.path("again"))).well();
    assert_eq!(tree(&bank.path("again")), files);
}

#[test]
fn pipe_in_a_folder_is_left_out_with_a_warning() {
    let bank = bank();
    let made = Command::new("mkfifo")
        .arg(bank.path("classes/pipe"))
        .status();
    assert!(made.unwrap().success());
    let [classes, out] = ["classes", "out"].map(|name| bank.path(name));
    let words = ["instrument".as_ref(), classes.as_os_str(), "-o".as_ref()];
    let ran = run(words.into_iter().chain([out.as_os_str()]));
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    assert!(
        ran.error.contains("warning[H0641]") && ran.error.contains("pipe is no file"),
        "{}",
        ran.error
    );
    assert_eq!(names(&out), ["bank"]);
}

/// Folders `a` and `b` with a file of one name and other files, and the output of instrumenting both.
fn instrument_two(files: &[(&str, &[u8])], options: &[&str]) -> (Ran, tempfile::TempDir) {
    let root = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let mut command = classhook();
    command.args(["instrument", "a", "b", "-o", "out"]);
    command.args(options).current_dir(root.path());
    (command.output().unwrap().into(), root)
}

#[test]
fn different_files_of_one_name_in_two_inputs_are_refused() {
    let (gate, door) = {
        let bank = bank();
        (bank.class("bank/Gate"), bank.class("bank/Door"))
    };
    let conflicts: [&[(&str, &[u8])]; 4] = [
        &[("a/bank/X.class", &gate), ("b/bank/X.class", &door)],
        &[("a/words.txt", b"one"), ("b/words.txt", b"two")],
        &[("a/x", b"a file"), ("b/x/y", b"in a folder")],
        &[("a/x/y", b"in a folder"), ("b/x", b"a file")],
    ];
    for files in conflicts {
        let (ran, root) = instrument_two(files, &[]);
        ran.refused("H0640", &["a/", "b/", "--on-conflict first"]);
        assert_eq!(names(root.path()), ["a", "b"]);
    }
}

#[test]
fn first_of_different_files_is_kept_as_on_a_class_path() {
    let bank = bank();
    let (gate, door) = (bank.class("bank/Gate"), bank.class("bank/Door"));
    let files: [(&str, &[u8]); 6] = [
        ("a/bank/Gate.class", &gate),
        ("b/bank/Gate.class", &door),
        ("b/bank/Door.class", &door),
        ("a/words.txt", b"one"),
        ("b/words.txt", b"two"),
        ("b/words.txt.d/x", b"x"),
    ];
    let (ran, root) = instrument_two(&files, &["--on-conflict", "first"]);
    let ran = ran.well();
    assert!(ran.out.contains("2  left out"), "{}", ran.out);
    assert!(ran.out.contains("2  classes"), "{}", ran.out);
    let (alone, single) = instrument_two(&files[..1], &[]);
    alone.refused("H0612", &["b"]);
    drop(single);
    let out = tree(&root.path().join("out"));
    assert_eq!(out["words.txt"], b"one");
    let class = rewriter::ClassFile::read(&out["bank/Gate.class"]).unwrap();
    assert_eq!(class.this_class().as_bytes(), b"bank/Gate");
}

#[test]
fn equal_files_of_one_name_are_no_conflict() {
    let bank = bank();
    let gate = bank.class("bank/Gate");
    let files: [(&str, &[u8]); 4] = [
        ("a/bank/Gate.class", &gate),
        ("b/bank/Gate.class", &gate),
        ("a/META-INF/LICENSE", b"text"),
        ("b/META-INF/LICENSE", b"text"),
    ];
    let (ran, root) = instrument_two(&files, &[]);
    let ran = ran.well();
    assert!(ran.out.contains("1  classes"), "{}", ran.out);
    assert!(!ran.out.contains("left out"), "{}", ran.out);
    assert_eq!(tree(&root.path().join("out")).len(), 2);
}

#[test]
fn jars_of_one_name_are_compared_by_their_bytes() {
    let bank = bank();
    let one = jar(&[("bank/Gate.class", &bank.class("bank/Gate"), false)]);
    let other = jar(&[("bank/Door.class", &bank.class("bank/Door"), false)]);
    let root = tempfile::tempdir().unwrap();
    for (folder, bytes) in [("a", &one), ("b", &one), ("c", &other)] {
        fs::create_dir(root.path().join(folder)).unwrap();
        fs::write(root.path().join(folder).join("x.jar"), bytes).unwrap();
    }
    let told = |words: &[&str]| -> Ran {
        let mut command = classhook();
        command.arg("instrument").args(words);
        command.current_dir(root.path()).output().unwrap().into()
    };
    told(&["a/x.jar", "c/x.jar", "-o", "out"]).refused("H0640", &["a/x.jar and c/x.jar"]);
    told(&["a/x.jar", "b/x.jar", "-o", "out"]).well();
    told(&[
        "c/x.jar",
        "a/x.jar",
        "-o",
        "first",
        "--on-conflict",
        "first",
    ])
    .well();
    let first = fs::read(root.path().join("first/x.jar")).unwrap();
    assert!(is_instrumented(&content(&first, "bank/Door.class")));
}

#[test]
fn link_to_nothing_in_a_folder_is_left_out_with_a_warning() {
    let bank = bank();
    let link = bank.path("classes/bank/Gone.class");
    std::os::unix::fs::symlink("nowhere", link).unwrap();
    let [classes, out] = ["classes", "out"].map(|name| bank.path(name));
    let words = ["instrument".as_ref(), classes.as_os_str(), "-o".as_ref()];
    let ran = run(words.into_iter().chain([out.as_os_str()]));
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    assert!(ran.error.contains("warning[H0641]"), "{}", ran.error);
    assert_eq!(names(&out.join("bank")), ["Door.class", "Gate.class"]);
}

#[test]
fn number_of_threads_makes_no_difference() {
    let bank = bank();
    let gate = bank.class("bank/Gate");
    let names: Vec<String> = (0..300)
        .map(|number| format!("p{number}/bank/Gate.class"))
        .collect();
    let entries: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), gate.as_slice(), false))
        .collect();
    let place = Place::new(&jar(&entries));
    place
        .run(&["--threads", "1", "--baseline", "one.hook"])
        .well();
    let (one, baseline) = (place.out(), fs::read(place.path("one.hook")).unwrap());
    place
        .run(&["--threads", "8", "--baseline", "eight.hook"])
        .well();
    assert!(one == place.out());
    assert!(baseline == fs::read(place.path("eight.hook")).unwrap());
}

#[test]
fn jar_keeps_order_times_methods_and_comments() {
    let bank = bank();
    let (gate, door) = (bank.class("bank/Gate"), bank.class("bank/Door"));
    let module = Compiled::new(&[("module-info.java", "module bank { }")]).class("module-info");
    let entries: Entries<'_> = &[
        ("META-INF/MANIFEST.MF", MANIFEST, false),
        ("module-info.class", &module, false),
        ("bank/", b"", true),
        ("bank/Gate.class", &gate, false),
        ("words.txt", &[7; 5000], false),
        ("bank/Door.class", &door, true),
        ("META-INF/versions/17/bank/Gate.class", &gate, false),
    ];
    let input = jar(entries);
    let place = Place::new(&input);
    let ran = place.run(&[]).well();
    assert!(ran.out.contains("3  instrumented"), "{}", ran.out);
    let (before, after) = (contents(&input), contents(&place.out()));
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!((&before.0, &before.1), (&after.0, &after.1));
        let replaced = before.0.contains("bank/") && before.0.ends_with(".class");
        assert_eq!(before.2 != after.2, replaced, "{}", before.0);
        assert!(!replaced || is_instrumented(&after.2));
    }
    let archive = ZipArchive::new(Cursor::new(place.out())).unwrap();
    assert_eq!(archive.comment(), b"a comment");
}

#[test]
fn extra_fields_and_a_script_in_front_are_kept() {
    let bank = bank();
    let mut jar = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in [
        ("words.txt", b"kept".to_vec()),
        ("bank/Gate.class", bank.class("bank/Gate")),
    ] {
        let mut options = FullFileOptions::default().with_file_comment("of an entry");
        options.add_extra_field(0xCAFE, [], false).unwrap();
        options.add_extra_field(0x7A7A, *b"more", false).unwrap();
        jar.start_file(name, options).unwrap();
        jar.write_all(&bytes).unwrap();
    }
    let script = b"#!/bin/sh\nexec java -jar \"$0\"\n";
    let input = [script.as_slice(), &jar.finish().unwrap().into_inner()].concat();
    let place = Place::new(&input);
    place.run(&[]).well();
    let out = place.out();
    assert!(out.starts_with(script));
    let (mut before, mut after) = (
        ZipArchive::new(Cursor::new(&input)).unwrap(),
        ZipArchive::new(Cursor::new(&out)).unwrap(),
    );
    for index in 0..2 {
        let (before, after) = (
            before.by_index(index).unwrap(),
            after.by_index(index).unwrap(),
        );
        assert_eq!(before.extra_data(), after.extra_data());
        assert!(
            before
                .extra_data()
                .is_some_and(|data| data.windows(4).any(|part| part == b"more"))
        );
        assert_eq!(after.comment(), "of an entry");
    }
    assert!(is_instrumented(&content(&out, "bank/Gate.class")));
}

#[test]
fn inner_jars_are_instrumented_and_stay_stored() {
    let bank = bank();
    let gate = bank.class("bank/Gate");
    let inner = jar(&[("bank/Gate.class", &gate, false)]);
    let plain = jar(&[("words.txt", b"kept", false)]);
    let middle = jar(&[("lib/inner.jar", &inner, true)]);
    let input = jar(&[
        ("BOOT-INF/lib/inner.jar", &inner, true),
        ("BOOT-INF/lib/plain.jar", &plain, true),
        ("BOOT-INF/lib/middle.jar", &middle, false),
    ]);
    let place = Place::new(&input);
    place.run(&[]).well();
    let out = place.out();
    assert!(is_instrumented(&content(
        &content(&out, "BOOT-INF/lib/inner.jar"),
        "bank/Gate.class"
    )));
    let middle = content(&out, "BOOT-INF/lib/middle.jar");
    assert!(is_instrumented(&content(
        &content(&middle, "lib/inner.jar"),
        "bank/Gate.class"
    )));
    assert_eq!(content(&out, "BOOT-INF/lib/plain.jar"), plain);
    assert!(contents(&out)[0].1.starts_with("Stored"));
}

fn signed(bank: &Compiled) -> Vec<u8> {
    let manifest = [
        MANIFEST,
        b"Name: bank/Gate.class\r\nSHA-256-Digest: abc=\r\n\r\n",
    ]
    .concat();
    jar(&[
        ("META-INF/MANIFEST.MF", &manifest, false),
        ("META-INF/BANK.SF", b"Signature-Version: 1.0\r\n", false),
        ("META-INF/BANK.RSA", b"signature", false),
        ("bank/Gate.class", &bank.class("bank/Gate"), false),
    ])
}

#[test]
fn signature_of_a_changed_jar_is_left_out_with_a_warning() {
    let place = Place::new(&signed(&bank()));
    let ran = place.run(&[]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.error.starts_with("warning[H0643]"), "{}", ran.error);
    let out = contents(&place.out());
    let names: Vec<_> = out.iter().map(|entry| entry.0.as_str()).collect();
    assert_eq!(names, ["META-INF/MANIFEST.MF", "bank/Gate.class"]);
    assert_eq!(out[0].2, MANIFEST);
}

#[test]
fn archive_without_a_selected_class_is_copied_byte_for_byte() {
    let bank = bank();
    let inner = signed(&bank);
    let input = jar(&[
        ("lib/signed.jar", &inner, true),
        ("shop/Gate.class", &bank.class("bank/Gate"), false),
    ]);
    let place = Place::new(&input);
    place.run(&["--select", "shop.**"]).well();
    assert!(place.out() == input);
    let place = Place::new(&inner);
    place.run(&["--select", "shop.**"]).well();
    assert!(place.out() == inner);
}

#[test]
fn damaged_entries_are_kept_counted_and_reported() {
    let bank = bank();
    let gate = bank.class("bank/Gate");
    let mut input = jar(&[
        ("bank/Gate.class", &gate, false),
        ("bank/Text.class", b"no class", false),
        ("bank/Cut.class", &gate[..gate.len() - 3], false),
        ("lib/broken.jar", b"PK\x03\x04 and no more", false),
        ("bank/Sum.class", b"0123456789", true),
    ]);
    let at = input
        .windows(10)
        .position(|part| part == b"0123456789")
        .unwrap();
    input[at] = b'x'; // its checksum is wrong now
    let place = Place::new(&input);
    let ran = place.run(&[]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        ran.error.matches("warning[H0641]").count(),
        4,
        "{}",
        ran.error
    );
    assert!(
        ran.error.contains("in.jar!/bank/Sum.class") && ran.out.contains("4  cannot be read"),
        "{}{}",
        ran.error,
        ran.out
    );
    let out = place.out();
    let at = out
        .windows(9)
        .position(|part| part == b"123456789")
        .unwrap();
    assert_eq!(out[at - 1], b'x');
    assert_eq!(place.run(&["--on-error", "strict"]).code, Some(3));
}

#[test]
fn entry_outside_of_the_archive_is_refused() {
    let bank = bank();
    let evil = jar(&[("a/../../evil.class", &bank.class("bank/Gate"), false)]);
    let nested = jar(&[("lib/evil.jar", &evil, false)]);
    for input in [evil, nested] {
        let place = Place::new(&input);
        place.run(&[]).refused("H0644", &["a/../../evil.class"]);
        assert_eq!(place.names(), ["in.jar"]);
    }
}

#[test]
fn output_of_an_earlier_run_is_recognised() {
    let bank = bank();
    let place = Place::new(&jar(&[(
        "bank/Gate.class",
        &bank.class("bank/Gate"),
        false,
    )]));
    place.run(&[]).well();
    let first = place.out();
    fs::write(place.path("in.jar"), &first).unwrap();
    let ran = place.run(&[]);
    assert!(
        ran.error.starts_with("warning[H0642]") && ran.out.contains("1  instrumented already"),
        "{}{}",
        ran.error,
        ran.out
    );
    assert_eq!(place.out(), first);
}

#[test]
fn mistakes_are_reported_and_write_no_file() {
    let bank = bank();
    let place = Place::new(&jar(&[(
        "bank/Gate.class",
        &bank.class("bank/Gate"),
        false,
    )]));
    fs::write(place.path("text"), "text").unwrap();
    fs::create_dir(place.path("locked")).unwrap();
    let told = |words: &[&str]| -> Ran {
        let mut command = classhook();
        command
            .arg("instrument")
            .args(words)
            .current_dir(place.root.path());
        command.output().unwrap().into()
    };
    told(&["in.jar", "-o", "in.jar"]).refused("H0640", &["in.jar"]);
    told(&["in.jar", "-o", "."]).refused("H0640", &["overwrite"]);
    told(&["in.jar"]).refused("H0648", &["-o OUT"]);
    told(&[]).refused("H0648", &["--runtime"]);
    told(&["nothing.jar", "-o", "x"]).refused("H0612", &["nothing.jar"]);
    told(&["text", "-o", "x"]).refused("H0613", &["text"]);
    told(&["in.jar", "-o", "x", "--plugin", "nothing"]).refused("H0105", &["nothing"]);
    told(&["in.jar", "-o", "text/x"]).refused("H0620", &["text/x"]);
    told(&["in.jar", "-o", "x", "--baseline", "text/x.hook"]).refused("H0620", &["text/x.hook"]);
    assert_eq!(place.names(), ["in.jar", "locked", "text"]);
}

/// A jar whose instrumentation takes a while.
fn large() -> Vec<u8> {
    let bank = bank();
    let gate = bank.class("bank/Gate");
    let names: Vec<String> = (0..20_000)
        .map(|number| format!("p{number}/bank/Gate.class"))
        .collect();
    let entries: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), gate.as_slice(), true))
        .collect();
    jar(&entries)
}

#[test]
fn full_disk_leaves_the_former_files() {
    let place = Place::new(&large());
    fs::write(place.path("out.jar"), "before").unwrap();
    // A limit of file sizes simulates the full disk.
    let output = Command::new("sh")
        .args([
            "-c",
            r#"ulimit -f 64; exec "$0" instrument in.jar -o out.jar"#,
        ])
        .arg(classhook().get_program())
        .current_dir(place.root.path())
        .output();
    let ran = Ran::from(output.unwrap());
    assert!(ran.error.starts_with("error[H0620]"), "{}", ran.error);
    ran.refused("H0620", &["space left"]);
    assert_eq!(place.out(), b"before");
    assert_eq!(place.names(), ["in.jar", "out.jar"]);
}

#[test]
fn interrupted_command_leaves_the_former_output() {
    let place = Place::new(&large());
    fs::write(place.path("out.jar"), "before").unwrap();
    let mut child = classhook()
        .args(["instrument", "in.jar", "-o", "out.jar"])
        .current_dir(place.root.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while place.names().len() < 3 {
        assert!(child.try_wait().unwrap().is_none(), "it ended too early");
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!(ran.code, Some(130), "{}", ran.error);
    assert!(ran.error.starts_with("error[H0645]"), "{}", ran.error);
    assert_eq!(place.out(), b"before");
    assert_eq!(place.names(), ["in.jar", "out.jar"]);
}

#[test]
fn runtime_is_a_jar_of_its_own_or_part_of_the_output() {
    let bank = bank();
    let gate = bank.class("bank/Gate");
    let place = Place::new(&jar(&[("bank/Gate.class", &gate, false)]));
    place.run(&["--runtime", "runtime.jar", "--embed"]).well();
    let runtime = fs::read(place.path("runtime.jar")).unwrap();
    let names = |jar: &[u8]| {
        contents(jar)
            .into_iter()
            .map(|entry| entry.0)
            .collect::<Vec<_>>()
    };
    let classes: Vec<_> = names(&runtime).split_off(1);
    assert!(classes.contains(&"classhook/runtime/Probes.class".to_owned()));
    assert_eq!(names(&place.out())[1..], classes);
    let mut command = classhook();
    command
        .args(["instrument", "--runtime", "again.jar"])
        .current_dir(place.root.path());
    Ran::from(command.output().unwrap()).well();
    assert!(fs::read(place.path("again.jar")).unwrap() == runtime);
    let war = Place::new(&jar(&[("WEB-INF/classes/bank/Gate.class", &gate, false)]));
    war.run(&["--embed"]).well();
    assert!(
        names(&war.out()).contains(&"WEB-INF/classes/classhook/runtime/Probes.class".to_owned())
    );
    let plain = Place::new(&jar(&[("words.txt", b"kept", false)]));
    plain.run(&["--embed"]).well();
    assert_eq!(names(&plain.out()), ["words.txt"]);
}

#[test]
fn baseline_alone_is_reported_as_never_executed() {
    let bank = bank();
    let classes: Vec<_> = ["bank/Gate", "bank/Door"]
        .map(|name| (format!("{name}.class"), bank.class(name)))
        .into();
    let entries: Vec<_> = classes
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.as_slice(), false))
        .collect();
    let place = Place::new(&jar(&entries));
    place.run(&["--baseline", "deep/base.hook"]).well();
    let snapshot = Snapshot::read(&place.path("deep/base.hook")).unwrap();
    assert!(snapshot.complete && snapshot.classes.len() == 2);
    let ran = run([
        "report".as_ref(),
        place.path("deep").as_os_str(),
        "--csv".as_ref(),
        place.path("out.csv").as_os_str(),
        "--xml".as_ref(),
        place.path("out.xml").as_os_str(),
    ])
    .well();
    drop(ran);
    let csv = fs::read_to_string(place.path("out.csv")).unwrap();
    let gate = csv.lines().find(|line| line.contains(",Gate,")).unwrap();
    assert!(
        gate.contains(",0,4,0,"),
        "no instruction and no branch was executed: {gate}"
    );
    assert!(
        !fs::read_to_string(place.path("out.xml"))
            .unwrap()
            .contains("<sessioninfo")
    );
}

/// Fault injection by rules, without the agent and without a settings file.
#[test]
fn plugin_is_configured_on_the_command_line() {
    let bank = bank();
    let (class, out) = (
        bank.path("classes/bank/Gate.class"),
        bank.path("Gate.class"),
    );
    let settings = r#"{"rule":[{"method":"bank.Gate.pass","what":{"return":9}}]}"#;
    let words = |settings: &str| {
        let words = [
            "--plugin",
            "patch",
            "--grant",
            "rewrite",
            "--grant",
            "probes",
            "--plugin-settings",
        ];
        let paths = [
            "instrument".as_ref(),
            class.as_os_str(),
            "-o".as_ref(),
            out.as_os_str(),
        ];
        let all = paths.into_iter().chain(words.iter().map(AsRef::as_ref));
        let all = all.chain([settings.as_ref()]);
        all.map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    run(words(settings)).well();
    let before = bank.class("bank/Gate");
    let after = fs::read(&out).unwrap();
    assert!(after != before && !is_instrumented(&after));
    run(words("{")).refused("H0105", &["settings"]);
}

/// Runs `instrument --embed` on an archive or folder with these files. Returns the names in the output.
fn embedded(name: &str, files: &[(&str, &[u8])], is_folder: bool) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    let input = root.path().join(name);
    match is_folder {
        true => files.iter().for_each(|(file, bytes)| {
            let path = input.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }),
        false => {
            let entries: Vec<_> = files
                .iter()
                .map(|(name, bytes)| (*name, *bytes, false))
                .collect();
            fs::write(&input, jar(&entries)).unwrap();
        }
    }
    let out = root.path().join("out").join(name);
    embed(&input, &out);
    let names = match is_folder {
        true => files_below(&out),
        false => contents(&fs::read(&out).unwrap())
            .into_iter()
            .map(|entry| entry.0)
            .collect(),
    };
    let is_runtime = |name: &String| name.contains("classhook");
    names.into_iter().filter(is_runtime).collect()
}

/// Instruments an input and embeds the runtime.
fn embed(input: &Path, out: &Path) {
    let mut command = classhook();
    command
        .arg("instrument")
        .arg(input)
        .arg("-o")
        .arg(out)
        .arg("--embed");
    Ran::from(command.output().unwrap()).well();
}

/// Paths of the files below a folder.
fn files_below(folder: &Path) -> Vec<String> {
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path.strip_prefix(folder).unwrap().display().to_string()),
            }
        }
    }
    files.sort();
    files
}

#[test]
fn runtime_is_embedded_where_the_class_loader_of_each_kind_of_archive_finds_it() {
    let bank = bank();
    let gate = bank.class("bank/Gate");
    let war = jar(&[("WEB-INF/classes/bank/Gate.class", &gate, false)]);
    let library = jar(&[("bank/Gate.class", &gate, false)]);
    let application = "META-INF/application.xml";
    let named = b"<application><library-directory>APP-INF/lib</library-directory></application>";
    let in_classes = "WEB-INF/classes/classhook/runtime/Probes.class";
    let ear_files: [(&str, &[u8]); 2] = [("web.war", &war), (application, b"<application/>")];
    for is_folder in [false, true] {
        assert_eq!(
            embedded("a.ear", &ear_files, is_folder),
            ["lib/classhook-runtime.jar"]
        );
        let ear: [(&str, &[u8]); 2] = [("ejb.jar", &library), (application, named)];
        assert_eq!(
            embedded("b.ear", &ear, is_folder),
            ["APP-INF/lib/classhook-runtime.jar"]
        );
        let web: [(&str, &[u8]); 2] = [("WEB-INF/lib/gate.jar", &library), ("index.html", b"x")];
        let names = embedded("shop", &web, is_folder);
        assert_eq!(names.len(), 10, "{names:?}");
        assert!(names.iter().any(|name| name == in_classes), "{names:?}");
    }
    let adapter: [(&str, &[u8]); 1] = [("gate.jar", &library)];
    assert_eq!(
        embedded("a.rar", &adapter, false),
        ["classhook-runtime.jar"]
    );
    let module: [(&str, &[u8]); 1] = [("classes/bank/Gate.class", &gate)];
    let names = embedded("a.jmod", &module, false);
    assert!(
        names.contains(&"classes/classhook/runtime/Probes.class".to_owned()),
        "{names:?}"
    );
}

#[test]
fn web_applications_in_a_folder_each_get_the_runtime() {
    let bank = bank();
    let gate = bank.class("bank/Gate");
    let war = jar(&[("WEB-INF/classes/bank/Gate.class", &gate, false)]);
    let root = tempfile::tempdir().unwrap();
    let input = root.path().join("webapps");
    for (name, bytes) in [
        ("shop/WEB-INF/classes/bank/Gate.class", &gate),
        ("one.war", &war),
    ] {
        let path = input.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let out = root.path().join("out");
    embed(&input, &out);
    let runtime = "WEB-INF/classes/classhook/runtime/Probes.class";
    assert!(out.join("shop").join(runtime).is_file());
    assert!(
        !out.join("classhook").exists(),
        "no class lies beside the applications"
    );
    let war = contents(&fs::read(out.join("one.war")).unwrap());
    assert!(war.iter().any(|entry| entry.0 == runtime));
}
