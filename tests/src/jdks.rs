//! The JDKs of this machine: every Java installation of release 11 or newer, and one of release 8.

use crate::{rotation, workspace};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The oldest release that most tests run on; see [`eight`].
pub const OLDEST: u32 = 11;

/// A Java installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jdk {
    /// The folder, with links resolved.
    pub home: PathBuf,
    /// The version, such as `17.0.15`.
    pub version: String,
    /// The release, such as 17.
    pub feature: u32,
    /// Set if it has `javac`.
    pub full: bool,
}

impl Jdk {
    /// Returns the path of a program: `java`, `javac`, `jcmd`.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// Returns the installation in this folder, of any release.
    pub fn at(home: &Path) -> Option<Self> {
        let home = home.canonicalize().ok()?;
        if !home.join("bin/java").is_file() {
            return None;
        }
        let version = released_version(&home).or_else(|| printed_version(&home))?;
        let feature = feature_of(&version)?;
        let full = home.join("bin/javac").is_file();
        Some(Self {
            home,
            version,
            feature,
            full,
        })
    }
}

impl fmt::Display for Jdk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.full {
            "JDK"
        } else {
            "JVM without javac"
        };
        write!(f, "{kind} {} in {}", self.version, self.home.display())
    }
}

/// Returns one installation for each release from 11 on. One with `javac` is preferred.
///
/// Prints them once. With `CI=true` a full 17 and a full 25 are required.
pub fn all() -> &'static [Jdk] {
    static FOUND: OnceLock<Vec<Jdk>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut found = every_installation();
        found.retain(|jdk| jdk.feature >= OLDEST);
        found.sort_by_key(|jdk| (jdk.feature, !jdk.full));
        found.dedup_by_key(|jdk| jdk.feature);
        for jdk in &found {
            eprintln!("found {jdk}");
        }
        assert!(
            !found.is_empty(),
            "expected a JDK of release {OLDEST} or newer in JAVA_HOME, PATH or /usr/lib/jvm"
        );
        if std::env::var("CI").is_ok_and(|ci| ci == "true") {
            for feature in [17, 25] {
                let there = found.iter().any(|jdk| jdk.feature == feature && jdk.full);
                assert!(
                    there,
                    "CI must test on a full JDK {feature}; run `cargo xtask setup --require-jdks`"
                );
            }
        }
        found
    })
}

/// Returns those with `javac`.
pub fn full() -> Vec<Jdk> {
    all().iter().filter(|jdk| jdk.full).cloned().collect()
}

/// Returns the installation of this release, if any.
pub fn release(feature: u32) -> Option<Jdk> {
    all().iter().find(|jdk| jdk.feature == feature).cloned()
}

/// Returns the installation of release 8. Few tests run on it.
pub fn eight() -> Option<Jdk> {
    let mut all = every_installation().into_iter();
    all.find(|jdk| jdk.feature == 8)
}

/// Returns the releases that every claim about the product is tested on: 17 and 25, if present.
pub fn main_two() -> Vec<Jdk> {
    full()
        .into_iter()
        .filter(|jdk| [17, 25].contains(&jdk.feature))
        .collect()
}

/// Returns those and 21, which may lack a compiler. JVMs of these releases report different facts about themselves.
pub fn main_three() -> Vec<Jdk> {
    let mut three = main_two();
    three.extend(release(21));
    three
}

/// Returns one of the two for a test of this name, in rotation; with [`rotation::everything`] both.
pub fn main_in_turn(name: &str) -> Vec<Jdk> {
    let mut two = main_two();
    if !rotation::everything() && !two.is_empty() {
        two = vec![two.swap_remove(rotation::turn(name, two.len()))];
    }
    two
}

/// Returns the newest full JDK, and in rotation one of the others; with [`rotation::everything`] all of them.
pub fn newest_and_another(name: &str) -> Vec<Jdk> {
    let newest = newest();
    let mut others: Vec<Jdk> = all()
        .iter()
        .filter(|jdk| **jdk != newest)
        .cloned()
        .collect();
    if !rotation::everything() && !others.is_empty() {
        others = vec![others.swap_remove(rotation::turn(name, others.len()))];
    }
    others.push(newest);
    others
}

/// Returns the newest full JDK, which compiles and verifies for the others.
pub fn newest() -> Jdk {
    full()
        .pop()
        .expect("expected a full JDK (with javac) in JAVA_HOME, PATH or /usr/lib/jvm")
}

/// Returns every installation, including too old ones.
pub fn every_installation() -> Vec<Jdk> {
    let mut homes = BTreeSet::new();
    let jdks = places().into_iter().filter_map(|home| Jdk::at(&home));
    jdks.filter(|jdk| homes.insert(jdk.home.clone())).collect()
}

fn places() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = std::env::var_os("JAVA_HOME")
        .map(PathBuf::from)
        .into_iter()
        .collect();
    for folder in std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()) {
        if let Ok(java) = folder.join("java").canonicalize() {
            places.extend(java.ancestors().nth(2).map(Path::to_path_buf));
        }
    }
    let mut folders = vec![
        PathBuf::from("/usr/lib/jvm"),
        PathBuf::from("/opt"),
        workspace::target("jvms"),
    ];
    if let Some(home) = std::env::var_os("HOME") {
        folders.push(Path::new(&home).join(".sdkman/candidates/java"));
    }
    for folder in folders {
        let entries = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(Result::ok);
        places.extend(
            entries
                .map(|entry| entry.path())
                .filter(|path| path.is_dir()),
        );
    }
    places
}

fn released_version(home: &Path) -> Option<String> {
    let release = std::fs::read_to_string(home.join("release")).ok()?;
    let version = release
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    Some(version.trim_matches('"').to_owned())
}

/// Parses the first line of `java -version`: `openjdk version "17.0.15" 2025-04-15`.
fn printed_version(home: &Path) -> Option<String> {
    let output = Command::new(home.join("bin/java"))
        .arg("-version")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines()
        .find_map(|line| line.split('"').nth(1).map(str::to_owned))
}

/// Returns the release: 17 of `17.0.15`, 8 of `1.8.0_504`.
fn feature_of(version: &str) -> Option<u32> {
    let mut numbers = version.split(['.', '-', '+', '_']);
    match numbers.next()?.parse().ok()? {
        1 => numbers.next()?.parse().ok(),
        feature => Some(feature),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn release_numbers_before_and_after_nine() {
        assert_eq!(feature_of("17.0.15"), Some(17));
        assert_eq!(feature_of("1.8.0_504"), Some(8));
        assert_eq!(feature_of("27-ea"), Some(27));
        assert_eq!(feature_of("unknown"), None);
    }
}
