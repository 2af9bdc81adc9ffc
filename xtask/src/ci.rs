//! `cargo xtask ci`: exactly the checks of the CI.

use crate::workspace::{Workspace, say, step};
use crate::{guide, plugins, setup, test, tidy};
use anyhow::{Result, anyhow};
use std::time::Instant;

/// Runs every check, the quick ones first. The last one is the README's test command. Its crates are linted and
/// documented with warnings denied when they are built for it.
pub fn run(workspace: &Workspace) -> Result<()> {
    let began = Instant::now();
    step(
        "formatting",
        &mut workspace.cargo(["fmt", "--all", "--check"]),
    )?;
    tidy::run(workspace, &tidy::Options::default())?;
    let linting = workspace.compiled_by(".ci/rustc-and-lints");
    set_up(&linting)?;
    guide::run(&linting)?;
    let tests = test::Options {
        offline: true,
        ..test::Options::default()
    };
    test::run(&linting, &tests)?;
    say(format!(
        "ci: everything passed in {:.1} min",
        began.elapsed().as_secs_f64() / 60.0
    ));
    Ok(())
}

/// Fetches dependencies and builds the compiler of plugins at the same time: one uses the network, the other the cores.
pub fn set_up(workspace: &Workspace) -> Result<()> {
    std::thread::scope(|scope| {
        let options = setup::Options {
            require_jdks: true,
            ..setup::Options::default()
        };
        let fetching = scope.spawn(move || setup::run(workspace, &options));
        let built = plugins::build_compiler(workspace);
        let fetched = fetching
            .join()
            .map_err(|_| anyhow!("the set-up panicked"))?;
        fetched.and(built)
    })
}
