//! `cargo xtask maven-plugin`: the Maven plugin, and the jar with command and agent, as a folder that Maven can use.

use crate::workspace::{Workspace, say};
use crate::{jdks, plugins, setup};
use anyhow::{Context, Result};
use e2e_tests::maven_plugin::{VERSION, build, repository};

/// Builds command and agent, compiles the plugin, and writes both into `target/maven-repository`.
pub fn run(workspace: &Workspace) -> Result<()> {
    plugins::run(workspace)?;
    setup::artifact(workspace, "maven")?;
    let jdks = jdks::full();
    let jdk = jdks
        .iter()
        .find(|jdk| jdk.feature == 17)
        .or(jdks.first())
        .context("expected a JDK with javac, found none")?;
    build(jdk);
    say(format!(
        "classhook-maven-plugin {VERSION} is in {}; to install it: cp -r {0}/. ~/.m2/repository",
        repository().display()
    ));
    Ok(())
}
