//! Shared parts of the command's tests: compiled classes, snapshots of them, and the command itself.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use class_description::{Arena, describe};
use coverage::analysis::probe_count;
use probes::{ARRAY_LENGTH, Meta, ProbeTable, SnapshotOptions, SnapshotWriter, Summary};

pub const ACCOUNT: &str = "package bank;
public class Account {
    int balance;
    void add(int amount) {
        if (amount < 0) {
            throw new IllegalArgumentException();
        }
        balance += amount;
    }
}
";
pub const NEVER: &str = "package bank;
public class Never {
    static int twice(int x) {
        return 2 * x;
    }
}
";

/// Compiles a small bank.
pub fn bank() -> Compiled {
    Compiled::new(&[("bank/Account.java", ACCOUNT), ("bank/Never.java", NEVER)])
}

/// A folder with the classes of some Java sources, and those sources.
pub struct Compiled {
    pub root: tempfile::TempDir,
}

impl Compiled {
    /// Compiles sources given as (path, text). The folders are `classes` and `src`.
    pub fn new(sources: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let paths = sources.iter().map(|(path, text)| {
            let path = root.path().join("src").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        });
        let paths: Vec<PathBuf> = paths.collect();
        copy(&kept(sources, &paths), &root.path().join("classes"));
        Self { root }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub fn class(&self, name: &str) -> Vec<u8> {
        fs::read(self.path("classes").join(format!("{name}.class"))).unwrap()
    }

    /// Writes a jar of all files in `classes`.
    pub fn jar(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let output = Command::new("jar")
            .arg("cf")
            .arg(&path)
            .arg("-C")
            .arg(self.path("classes"))
            .arg(".")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        path
    }
}

/// Returns a folder with the class files of these sources. It is kept for later runs.
fn kept(sources: &[(&str, &str)], paths: &[PathBuf]) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    sources.hash(&mut hasher);
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let kept = parent.join(format!("classes-{:016x}", hasher.finish()));
    if !kept.is_dir() {
        let fresh = tempfile::tempdir_in(parent).unwrap();
        let mut javac = Command::new("javac");
        javac.args(["-J-XX:TieredStopAtLevel=1", "-g", "--release", "11", "-d"]);
        let output = javac.arg(fresh.path()).args(paths).output();
        let output = output.expect("a JDK is needed");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        // Another test may have been quicker, with the same result.
        if fs::rename(fresh.keep(), &kept).is_err() {
            assert!(kept.is_dir());
        }
    }
    kept
}

fn copy(from: &Path, into: &Path) {
    fs::create_dir_all(into).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap().path();
        let goal = into.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy(&entry, &goal);
        } else {
            fs::copy(&entry, &goal).unwrap();
        }
    }
}

/// The hit probes of a class.
#[derive(Clone, Copy)]
pub enum Hits {
    All,
    None,
    Only(&'static [usize]),
}

/// Writes a snapshot like the agent, with these class files and hits.
pub fn snapshot(
    folder: &Path,
    meta: Meta,
    keep_classes: bool,
    classes: &[(&[u8], Hits)],
) -> PathBuf {
    let mut all = Vec::new();
    for (bytes, hits) in classes {
        let count = probe_count(&describe(bytes, &Arena::new()).unwrap());
        all.push(("coverage", *bytes, count, *hits));
    }
    snapshot_of(folder, meta, keep_classes, &all)
}

/// Writes a snapshot of any plugin, with the number of its probes in the class.
pub fn snapshot_of(
    folder: &Path,
    meta: Meta,
    keep_classes: bool,
    classes: &[(&str, &[u8], usize, Hits)],
) -> PathBuf {
    snapshot_of_test(folder, meta, keep_classes, classes, None)
}

/// Writes a snapshot whose hits belong to this test, if one is given.
pub fn snapshot_of_test(
    folder: &Path,
    meta: Meta,
    keep_classes: bool,
    classes: &[(&str, &[u8], usize, Hits)],
    test: Option<&str>,
) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let table = ProbeTable::new();
    table.set_arrays(1);
    let mut writer =
        SnapshotWriter::create(folder, meta, SnapshotOptions { keep_classes }).unwrap();
    let mut array = vec![0i8; ARRAY_LENGTH];
    for (plugin, bytes, count, hits) in classes {
        let arena = Arena::new();
        let class = describe(bytes, &arena).unwrap();
        let count = *count;
        let slots = table
            .register(class.name, class.id, "app", plugin, count as u32, bytes)
            .unwrap();
        let hit = |probe: usize| match hits {
            Hits::All => true,
            Hits::None => false,
            Hits::Only(list) => list.contains(&probe),
        };
        (0..count).for_each(|probe| array[usize::from(slots.base) + probe] |= i8::from(hit(probe)));
    }
    writer.absorb(0, &array);
    if let Some(test) = test {
        let hits = (0..).zip(&array).filter(|(_, hit)| **hit != 0);
        let taken = vec![(0, hits.map(|(index, hit)| (index, *hit)).collect())];
        writer.tested(&[test.to_owned()], &taken);
    }
    writer.complete(&table, &Summary::default()).unwrap();
    writer.path().to_owned()
}

/// The result of a command.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub error: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            error: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// Checks for success without output on standard error.
    pub fn well(self) -> Self {
        assert_eq!(
            (self.code, self.error.as_str()),
            (Some(0), ""),
            "{}",
            self.out
        );
        self
    }

    /// Checks for success, with these words on standard output.
    pub fn prints(self, words: &[&str]) {
        let ran = self.well();
        for word in words {
            assert!(ran.out.contains(word), "`{word}` is not in: {}", ran.out);
        }
    }

    /// Checks for a user error with this code and these words.
    pub fn refused(&self, code: &str, words: &[&str]) {
        assert_eq!(self.code, Some(2), "{}{}", self.out, self.error);
        assert!(
            self.error.contains(&format!("error[{code}]: ")),
            "{}",
            self.error
        );
        self.says(words);
    }

    /// Checks for these words on standard error.
    pub fn says(&self, words: &[&str]) {
        for word in words {
            assert!(
                self.error.contains(word),
                "`{word}` is not in: {}",
                self.error
            );
        }
    }
}

/// The folder of the cache of these tests: neither the user nor an earlier run has filled it.
static CACHE: LazyLock<PathBuf> = LazyLock::new(|| {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugin-caches");
    let folders = fs::read_dir(&all).into_iter().flatten().flatten();
    let ended = folders.filter(|folder| !Path::new("/proc").join(folder.file_name()).exists());
    ended.for_each(|folder| drop(fs::remove_dir_all(folder.path())));
    all.join(std::process::id().to_string())
});

/// The command under test.
pub fn classhook() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classhook"));
    command
        .env_remove("JAVA_TOOL_OPTIONS")
        .env_remove("CLASSHOOK_AGENT")
        .env("XDG_CACHE_HOME", &*CACHE);
    command
}

/// Runs the command with these words.
pub fn run<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>) -> Ran {
    classhook().args(words).output().unwrap().into()
}
