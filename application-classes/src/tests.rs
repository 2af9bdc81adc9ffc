use std::io::Write;
use std::path::Path;

use host::selector::{Selection, Verdict};
use host::{CodeSource, Loader};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn archive(path: &Path, entries: &[(&str, &str)]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut writer = ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, text) in entries {
        writer
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap();
}

/// A JVM with these properties, in which `W/` is the folder.
struct Case {
    folder: tempfile::TempDir,
    properties: String,
    agents: Vec<String>,
}

impl Case {
    fn new(properties: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let w = folder.path().to_str().unwrap();
        let lines = properties
            .iter()
            .map(|(key, value)| format!("{key}={}\n", value.replace("W/", &format!("{w}/"))));
        let properties = format!("{}user.dir={w}\n", lines.collect::<String>());
        Self {
            folder,
            properties,
            agents: Vec::new(),
        }
    }

    fn jar(self, name: &str, entries: &[(&str, &str)]) -> Self {
        archive(&self.folder.path().join(name), entries);
        self
    }

    fn selectors(&self) -> String {
        let jvm = JvmProperties::new(&self.properties, self.agents.clone());
        of(&jvm, &|path| path.into())
    }

    /// Checks whether a class of this name and location belongs to the application.
    fn covers(&self, class: &str, place: &str) -> bool {
        let text = self.selectors();
        let parts: Vec<&str> = text.split(';').collect();
        let selection = Selection::parse(&parts).unwrap();
        let place = place.replace("W/", &format!("{}/", self.folder.path().display()));
        let place = host::code_source::path(&place);
        let loader = Loader::Other("a/Loader".into());
        selection.matches_name(class.as_bytes(), &loader) == Verdict::Yes
            && selection.matches_location(CodeSource::At(&place))
    }
}

#[test]
fn folders_and_the_archive_of_the_main_class_are_the_application() {
    let case = Case::new(&[
        (
            "java.class.path",
            "classes\\:app.jar\\:W/lib/a.jar\\:W/lib/b.jar\\:W/more/core.jar",
        ),
        ("sun.java.command", "com.acme.shop.Main serve"),
    ])
    .jar("app.jar", &[("com/acme/shop/Main.class", "")])
    .jar("lib/a.jar", &[("org/lib/A.class", "")])
    .jar("lib/b.jar", &[("org/lib/B.class", "")])
    .jar("more/core.jar", &[("com/acme/core/C.class", "")]);
    assert!(case.covers("org/any/X", "file:W/classes/"));
    assert!(case.covers("com/acme/shop/Main", "file:W/app.jar"));
    assert!(case.covers("com/acme/core/C", "file:W/more/core.jar"));
    assert!(!case.covers("org/lib/A", "file:W/lib/a.jar"));
    assert!(
        case.covers("plug/In", "file:W/plugins/in.jar"),
        "of a child loader"
    );
    assert!(!case.covers("com/sun/tools/javac/Main", "jrt:/jdk.compiler"));
}

#[test]
fn main_class_without_a_package_is_found_in_its_archive() {
    let case = Case::new(&[
        ("java.class.path", "W/app.jar\\:W/a.jar"),
        ("sun.java.command", "Main"),
    ])
    .jar("app.jar", &[("Main.class", "")])
    .jar("a.jar", &[("org/lib/A.class", "")]);
    assert!(case.covers("Main", "file:W/app.jar"));
    assert!(
        !case.covers("org/lib/A", "file:W/a.jar"),
        "the folder is shared"
    );
}

#[test]
fn libraries_of_a_fat_archive_are_left_out() {
    let manifest = "Main-Class: org.springframework.boot.loader.launch.JarLauncher\r\nStart-Class: com.acme.ve\r\n ry.App\r\n";
    let case = Case::new(&[
        ("java.class.path", "app.jar"),
        ("sun.java.command", "app.jar --server.port=0"),
    ])
    .jar(
        "app.jar",
        &[
            ("META-INF/MANIFEST.MF", manifest),
            (
                "org/springframework/boot/loader/launch/JarLauncher.class",
                "",
            ),
            ("BOOT-INF/classes/com/acme/very/App.class", ""),
            ("BOOT-INF/lib/spring-core.jar", ""),
        ],
    );
    let classes = "jar:nested:W/app.jar/!BOOT-INF/classes/!/";
    assert!(case.covers("com/acme/very/App", classes));
    assert!(case.covers(
        "com/acme/very/App",
        "jar:file:W/app.jar!/BOOT-INF/classes!/"
    ));
    assert!(!case.covers(
        "org/springframework/A",
        "jar:nested:W/app.jar/!BOOT-INF/lib/spring-core.jar!/"
    ));
    assert!(!case.covers(
        "org/springframework/boot/loader/launch/JarLauncher",
        "file:W/app.jar"
    ));
}

#[test]
fn archive_with_copied_libraries_is_selected_by_package() {
    let case = Case::new(&[
        ("java.class.path", "W/all.jar"),
        ("sun.java.command", "W/all.jar"),
    ])
    .jar(
        "all.jar",
        &[
            (
                "META-INF/MANIFEST.MF",
                "Main-Class: io.github.me.app.Main\n",
            ),
            ("io/github/me/app/Main.class", ""),
            ("io/github/other/A.class", ""),
            ("org/lib/A.class", ""),
        ],
    );
    assert!(case.covers("io/github/me/core/C", "file:W/all.jar"));
    assert!(!case.covers("io/github/other/A", "file:W/all.jar"));
    assert!(!case.covers("org/lib/A", "file:W/all.jar"));
}

#[test]
fn web_applications_of_a_server_are_the_application() {
    let case = Case::new(&[
        (
            "java.class.path",
            "W/bin/bootstrap.jar\\:W/bin/tomcat-juli.jar",
        ),
        (
            "sun.java.command",
            "org.apache.catalina.startup.Bootstrap start",
        ),
        ("catalina.home", "W/"),
    ])
    .jar(
        "bin/bootstrap.jar",
        &[("org/apache/catalina/startup/Bootstrap.class", "")],
    )
    .jar("bin/tomcat-juli.jar", &[("org/apache/juli/A.class", "")]);
    assert!(case.covers("shop/Cart", "file:W/webapps/shop/WEB-INF/classes/"));
    assert!(!case.covers("org/lib/A", "file:W/webapps/shop/WEB-INF/lib/a.jar"));
    assert!(!case.covers(
        "org/apache/catalina/startup/Bootstrap",
        "file:W/bin/bootstrap.jar"
    ));
    assert!(!case.covers("org/apache/catalina/core/A", "file:W/lib/catalina.jar"));
}

#[test]
fn class_path_of_an_archive_and_its_lib_folder_are_libraries() {
    let case = Case::new(&[
        ("java.class.path", "W/quarkus/run.jar"),
        ("sun.java.command", "W/quarkus/run.jar"),
    ])
    .jar(
        "quarkus/run.jar",
        &[
            (
                "META-INF/MANIFEST.MF",
                "Main-Class: com.acme.Main\nClass-Path: dep/x.jar\n",
            ),
            ("com/acme/Main.class", ""),
        ],
    )
    .jar("quarkus/dep/x.jar", &[("org/x/X.class", "")]);
    assert!(case.covers("com/acme/Main", "file:W/quarkus/run.jar"));
    assert!(case.covers("com/acme/A", "file:W/quarkus/app/app.jar"));
    assert!(!case.covers("org/x/X", "file:W/quarkus/dep/x.jar"));
    assert!(!case.covers("org/y/Y", "file:W/quarkus/lib/main/y.jar"));
}

#[test]
fn modules_are_sorted_like_archives() {
    let case = Case::new(&[
        ("java.class.path", ""),
        ("jdk.module.path", "mods"),
        ("jdk.module.main.class", "com.acme.Main"),
        ("sun.java.command", "app/com.acme.Main"),
    ])
    .jar(
        "mods/app.jar",
        &[("module-info.class", ""), ("com/acme/Main.class", "")],
    )
    .jar(
        "mods/lib.jar",
        &[("module-info.class", ""), ("org/lib/A.class", "")],
    );
    assert!(case.covers("com/acme/Main", "file:W/mods/app.jar"));
    assert!(!case.covers("org/lib/A", "file:W/mods/lib.jar"));
}

#[test]
fn many_libraries_fit_into_the_options_of_an_agent() {
    let paths: Vec<String> = (0..300)
        .map(|number| format!("W/d{number}/library-{number}.jar"))
        .collect();
    let path = format!("W/classes:{}", paths.join(":")).replace(':', "\\:");
    for (main, own) in [("com.acme.Main", "com/acme/A"), ("Main", "Main")] {
        let mut case = Case::new(&[("java.class.path", &path), ("sun.java.command", main)]);
        for path in &paths {
            case = case.jar(&path[2..], &[("org/lib/A.class", "")]);
        }
        assert!(case.selectors().len() <= MOST);
        assert!(case.covers(own, "file:W/classes/"));
        assert!(!case.covers("org/lib/A", "file:W/d7/library-7.jar"));
    }
    let home = "W/.m2/repository/org/a/a.jar\\:W/.m2/repository/org/b/b.jar";
    let case = Case::new(&[("java.class.path", home), ("sun.java.command", "Main")])
        .jar(".m2/repository/org/a/a.jar", &[])
        .jar(".m2/repository/org/b/b.jar", &[]);
    assert!(case.selectors().matches(".m2").count() == 1);
}
