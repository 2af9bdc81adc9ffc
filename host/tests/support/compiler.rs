//! The compiler of plugins that cargo built.

use host::compiler::{COMMAND, CompilerProcess};

/// Returns a compiler that runs the program in the folder above the test's.
pub fn compiler() -> CompilerProcess {
    let test = std::env::current_exe().expect("the path of this test");
    let built = test.ancestors().nth(2).map(|folder| folder.join(COMMAND));
    let built = built.filter(|program| program.is_file());
    CompilerProcess::new(vec![built.expect("run `cargo xtask plugins` first")])
}
