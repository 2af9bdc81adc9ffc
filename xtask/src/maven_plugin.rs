//! `cargo xtask maven-plugin` and `gradle-plugin`: the build plugins, and the jar with command and agent, in a folder
//! that Maven and Gradle can use as a repository.

use crate::workspace::{Workspace, say};
use crate::{jdks, plugins, setup};
use anyhow::{Context, Result};
use e2e_tests::gradle;
use e2e_tests::jdks::Jdk;
use e2e_tests::maven_plugin::{REPORTING, VERSION, build, build_for_gradle, repository};

/// Builds command and agent, compiles the Maven plugin, and writes both into `target/maven-repository`.
pub fn run(workspace: &Workspace) -> Result<()> {
    build(&prepared(workspace)?);
    say(format!(
        "classhook-maven-plugin {VERSION} is in {}; to install it: cp -r {0}/. ~/.m2/repository",
        repository().display()
    ));
    Ok(())
}

/// Like [`run`], with the Gradle plugin beside it.
pub fn run_for_gradle(workspace: &Workspace) -> Result<()> {
    let home = gradle::home().context(GRADLE)?;
    setup::artifact(workspace, "groovy")?;
    let jdk = prepared(workspace)?;
    build(&jdk);
    build_for_gradle(&jdk, &home);
    say(format!(
        "classhook-gradle-plugin {VERSION} is in {}, which can be a repository of a build: maven {{ url '{0}' }}",
        repository().display()
    ));
    Ok(())
}

/// The error without Gradle, and its remedy.
pub const GRADLE: &str = "expected a `gradle` in PATH whose installation has a folder `lib` (the plugin is compiled \
    against it), found none; on Debian: apt-get install gradle";

/// Builds command and agent, and returns a JDK that compiles plugins.
fn prepared(workspace: &Workspace) -> Result<Jdk> {
    plugins::run(workspace)?;
    tools(workspace)
}

/// Fetches the libraries that the plugins are compiled against, and returns a JDK that compiles them.
pub fn tools(workspace: &Workspace) -> Result<Jdk> {
    for name in ["maven", "junit", "testng"].into_iter().chain(REPORTING) {
        setup::artifact(workspace, name)?;
    }
    let jdks = jdks::full();
    let jdk = jdks.iter().find(|jdk| jdk.feature == 17);
    let jdk = jdk.or(jdks.first()).cloned();
    jdk.context("expected a JDK with javac, found none")
}
