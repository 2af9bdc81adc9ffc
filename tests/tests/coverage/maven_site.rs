//! Maven's plugin as a report of `mvn site`. `cargo xtask corpus` fetches the files of the site.

use super::maven::Project;
use e2e_tests::maven_plugin::{self, GROUP, PLUGIN, VERSION};
use e2e_tests::{jdks, maven};

/// The file that the site needs first.
const SITE: &str = "org/apache/maven/plugins/maven-site-plugin/3.12.1/maven-site-plugin-3.12.1.jar";

#[test]
fn site_has_the_reports_of_the_executed_code_and_no_others() {
    if !maven::local_repository().join(SITE).is_file() {
        eprintln!("no maven-site-plugin here: `cargo xtask corpus` fetches it");
        return;
    }
    maven_plugin::build(&jdks::newest());
    let project = Project::new(true);
    let pom = project.folder().join("pom.xml");
    let text = std::fs::read_to_string(&pom).expect("a file");
    let reporting = format!(
        "<reporting><excludeDefaults>true</excludeDefaults><plugins><plugin><groupId>{GROUP}</groupId>\
         <artifactId>{PLUGIN}</artifactId><version>{VERSION}</version></plugin></plugins></reporting>\n</project>"
    );
    std::fs::write(&pom, text.replace("</project>", &reporting)).expect("writable");
    let run = project.mvn(&["--projects", "core", "--also-make", "test", "site"]);
    run.assert_success();
    let site = project.folder().join("core/target/site");
    let menu = std::fs::read_to_string(site.join("project-reports.html")).expect("a page");
    assert!(
        menu.contains("<a href=\"jacoco/index.html\">Coverage</a>"),
        "{menu}"
    );
    for other in ["jacoco-it", "jacoco-aggregate"] {
        assert!(
            !menu.contains(other) && !site.join(other).exists(),
            "{menu}"
        );
    }
    let page = std::fs::read_to_string(site.join("jacoco/index.html")).expect("a page");
    assert!(
        page.contains("com.acme") && page.contains("<footer>Classhook"),
        "{page}"
    );
    // The parent has no classes, and therefore no report.
    assert!(!project.folder().join("target/site/jacoco").exists());
}
