//! The compiler of plugins that cargo built, with a cache of the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use host::compiler::{COMMAND, CompilerProcess};

/// The cache of this process: neither the user nor an earlier run of tests has filled it.
static CACHE: LazyLock<PathBuf> = LazyLock::new(|| {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugin-caches");
    remove_left(&all);
    all.join(std::process::id().to_string())
});

/// Removes the caches of ended processes.
fn remove_left(all: &Path) {
    let folders = fs::read_dir(all).into_iter().flatten().flatten();
    let ended = folders.filter(|folder| !Path::new("/proc").join(folder.file_name()).exists());
    ended.for_each(|folder| drop(fs::remove_dir_all(folder.path())));
}

/// Returns a compiler that runs the program in the folder above the test's.
pub fn compiler() -> CompilerProcess {
    let test = std::env::current_exe().expect("the path of this test");
    let built = test.ancestors().nth(2).map(|folder| folder.join(COMMAND));
    let built = built.filter(|program| program.is_file());
    let built = built.expect("run `cargo xtask plugins` first");
    CompilerProcess::new(vec![built]).with_cache(&CACHE)
}
