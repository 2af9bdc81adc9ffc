//! `cargo xtask corpus`: the tests, with every class of every corpus instead of a fixed tenth.

use crate::workspace::Workspace;
use crate::{plugins, setup, test};
use anyhow::Result;

/// Sets up, builds and runs every test on whole corpora.
pub fn run(workspace: &Workspace) -> Result<()> {
    setup::run(workspace, &setup::Options::default())?;
    plugins::run(workspace)?;
    test::tests(workspace, true)
}
