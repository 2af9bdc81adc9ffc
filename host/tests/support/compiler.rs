//! The compiler of plugins as it was built.

use host::compiler::{COMPILER, CompilerProcess};

/// By the program in the folder above the one of the tests.
pub fn compiler() -> CompilerProcess {
    let test = std::env::current_exe().expect("the path of this test");
    let built = test.ancestors().nth(2).map(|folder| folder.join(COMPILER));
    let built = built.filter(|program| program.is_file());
    CompilerProcess::new(vec![built.expect("run `cargo xtask plugins` first")])
}
