//! Builds components of Python projects with componentize-py.

use std::path::{Path, PathBuf};

use errors::Error;

use super::componentize::Componentizer;

/// Uses the plugin's part of the interface and the module path. Python's own requests for files,
/// clocks and the like become traps.
const COMPONENTIZE_PY: Componentizer = Componentizer {
    program: "componentize-py",
    installed: None,
    help: "install it, for example in a separate environment: python3 -m venv tools; tools/bin/pip install componentize-py; export PATH=\"$PWD/tools/bin:$PATH\". Built components do not need it",
    sources: ["py", "wit"],
    words: &[
        "--quiet",
        "--wit-path",
        "classhook-sdk/wit",
        "--wit-path",
        "world.wit",
        "--world",
        "plugin:of-your-own/transform",
        "componentize",
        "--stub-wasi",
        "--python-path",
        ".",
        "--python-path",
        "classhook-sdk",
        "plugin",
        "--output",
    ],
};

/// As [`Componentizer::build`].
///
/// # Errors
/// As [`Componentizer::build`].
pub fn build(folder: &Path) -> Result<PathBuf, Error> {
    COMPONENTIZE_PY.build(folder, |_| Ok(()))
}
