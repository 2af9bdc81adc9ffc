//! A library as a project of Maven: its sources and tests from Maven Central, and a `pom.xml` for each tool.

use crate::bench::three_ways::Variant;
use anyhow::{Context, Result};
use e2e_tests::maven::local_repository;
use e2e_tests::maven_plugin::{GROUP, PLUGIN, VERSION};
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::Path;
use zip::ZipArchive;

const POM: &str = include_str!("pom.xml");

/// A library, and the dependencies of its tests besides JUnit.
pub struct Library {
    pub name: &'static str,
    /// The repository folder of its jars.
    folder: &'static str,
    version: &'static str,
    /// Group, artifact, version and scope.
    dependencies: &'static [[&'static str; 4]],
}

const LANG: [&str; 4] = ["org.apache.commons", "commons-lang3", "3.18.0", "test"];

/// The libraries. Tests that their own `pom.xml` excludes, such as benchmarks, are excluded here, too.
pub const LIBRARIES: [Library; 3] = [
    Library {
        name: "commons-cli",
        folder: "commons-cli/commons-cli",
        version: "1.6.0",
        dependencies: &[[
            "org.junit.vintage",
            "junit-vintage-engine",
            "5.11.4",
            "test",
        ]],
    },
    Library {
        name: "commons-csv",
        folder: "org/apache/commons/commons-csv",
        version: "1.14.1",
        dependencies: &[
            ["commons-io", "commons-io", "2.20.0", "compile"],
            ["commons-codec", "commons-codec", "1.19.0", "compile"],
            [
                "com.github.spotbugs",
                "spotbugs-annotations",
                "4.9.3",
                "provided",
            ],
            ["org.mockito", "mockito-core", "4.11.0", "test"],
            ["com.h2database", "h2", "2.2.224", "test"],
            LANG,
        ],
    },
    Library {
        name: "commons-codec",
        folder: "commons-codec/commons-codec",
        version: "1.19.0",
        dependencies: &[["commons-io", "commons-io", "2.20.0", "test"], LANG],
    },
];

impl Library {
    /// Creates the project.
    ///
    /// # Errors
    /// If its sources are not in the local repository, or the project cannot be written.
    pub fn lay_out(&self, folder: &Path, variant: Variant) -> Result<()> {
        for (kind, into) in [("sources", "src/main"), ("test-sources", "src/test")] {
            let name = format!("{}-{}-{kind}.jar", self.name, self.version);
            let jar = local_repository()
                .join(self.folder)
                .join(self.version)
                .join(name);
            unpack(&jar, &folder.join(into)).with_context(|| jar.display().to_string())?;
        }
        std::fs::write(folder.join("pom.xml"), self.pom(variant))?;
        Ok(())
    }

    fn pom(&self, variant: Variant) -> String {
        let mut dependencies = String::new();
        for [group, artifact, version, scope] in self.dependencies {
            let _ = write!(
                dependencies,
                "<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>\
                 <version>{version}</version><scope>{scope}</scope></dependency>"
            ); // writing to a string cannot fail
        }
        let plugin = plugin(variant).map_or_else(String::new, |[group, artifact, version]| {
            format!(
                "<plugin><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>\
                 <executions><execution><goals><goal>prepare-agent</goal></goals></execution></executions></plugin>"
            )
        });
        POM.replace("<!-- dependencies -->", &dependencies)
            .replace("<!-- plugin -->", &plugin)
    }
}

/// Returns the coordinates of the plugin that measures coverage.
fn plugin(variant: Variant) -> Option<[&'static str; 3]> {
    match variant {
        Variant::None => None,
        Variant::Jacoco => Some(["org.jacoco", "jacoco-maven-plugin", "0.8.15"]),
        Variant::Classhook => Some([GROUP, PLUGIN, VERSION]),
    }
}

/// Returns Maven's goal after the tests: the report, or without a plugin the cheapest goal.
pub fn report_goal(variant: Variant) -> String {
    plugin(variant).map_or_else(
        || "validate".to_owned(),
        |coordinates| format!("{}:report", coordinates.join(":")),
    )
}

/// Unpacks a jar of sources into Maven's folders: Java in `java`, resources in `resources`.
fn unpack(jar: &Path, into: &Path) -> Result<()> {
    let mut jar = ZipArchive::new(File::open(jar)?)?;
    for index in 0..jar.len() {
        let mut entry = jar.by_index(index)?;
        let path = entry.enclosed_name().context("a path out of the jar")?;
        if entry.is_dir() || path.starts_with("META-INF") {
            continue;
        }
        let is_java = path.extension().is_some_and(|name| name == "java");
        let kind = if is_java { "java" } else { "resources" };
        let file = into.join(kind).join(path);
        std::fs::create_dir_all(file.parent().context("a file in a folder")?)?;
        io::copy(&mut entry, &mut File::create(&file)?)?;
    }
    Ok(())
}
