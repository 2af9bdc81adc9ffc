//! Programs of other users, which only root can start.

use e2e_tests::java::Java;
use e2e_tests::jdks::Jdk;
use e2e_tests::servant;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A user id that no other test uses.
pub const USER: &str = "65534";

/// The words before a command that run it as [`USER`], without any capability.
pub const AS_USER: [&str; 6] = [
    "/usr/bin/setpriv",
    "--reuid",
    USER,
    "--regid",
    USER,
    "--clear-groups",
];

/// Checks whether this process is root, which can start programs of other users.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Lets all users create files in a folder.
pub fn open_to_all(folder: &Path) {
    set_mode(folder, 0o777);
}

/// Makes a folder accessible to its owner alone.
pub fn close_to_others(folder: &Path) {
    set_mode(folder, 0o700);
}

fn set_mode(folder: &Path, mode: u32) {
    let mode = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(folder, mode).expect("our folder");
}

/// Returns a program started by other words.
pub fn behind(words: &[&str], program: PathBuf) -> Java {
    match words.split_first() {
        Some((first, rest)) => Java::program(PathBuf::from(first))
            .options(rest)
            .option(program),
        None => Java::program(program),
    }
}

/// Returns `java … Servant` started by other words.
pub fn servant_behind(words: &[&str], jdk: &Jdk, options: &[&str]) -> Java {
    behind(words, jdk.tool("java"))
        .options(options)
        .class_path(&[servant::classes()])
        .main("Servant")
}
