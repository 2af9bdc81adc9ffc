//! Sorts the entries of a JVM's class path and module path into its application and libraries.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::jvm_properties::JvmProperties;

/// Packages of launchers, which start an application by another author.
const LAUNCHERS: [&str; 9] = [
    "com.caucho.",
    "com.ibm.ws.",
    "com.sun.enterprise.",
    "io.quarkus.",
    "org.apache.catalina.",
    "org.codehaus.plexus.",
    "org.eclipse.jetty.",
    "org.jboss.",
    "org.springframework.boot.loader.",
];
/// Folders of servers, by the system property that names the server's home.
const SERVERS: [(&str, &[&str]); 8] = [
    ("catalina.home", &["bin", "lib"]),
    ("catalina.base", &["bin", "lib"]),
    ("jetty.home", &[""]),
    ("jboss.home.dir", &["jboss-modules.jar", "modules"]),
    ("wlp.install.dir", &[""]),
    ("com.sun.aas.installRoot", &["lib", "modules"]),
    ("tomcat.home", &["bin", "lib"]),
    ("resin.home", &["lib"]),
];
/// Domains under which the third part of a package names its owner.
const HOSTS: [&str; 6] = [
    "com.github",
    "com.gitlab",
    "dev.java",
    "io.github",
    "io.gitlab",
    "org.github",
];
/// Caches of build tools, in which every archive is a library.
const CACHES: [&str; 3] = ["/.m2/repository", "/.gradle/caches", "/.ivy2/cache"];

/// The class path entries of an application and of its libraries.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ClassPathEntries {
    /// Folders and archives of the application.
    pub own: Vec<String>,
    /// Globs of the folders and archives that do not belong to the application.
    pub left_out: Vec<String>,
    /// Prefix of the application's packages, if its archive also holds libraries.
    pub packages: Vec<String>,
    /// Prefix of the application's packages, if its main class has a package.
    pub organisation: Option<String>,
}

/// Sorts the entries of a JVM's paths; `in_root` turns its paths into ours.
pub fn of(jvm: &JvmProperties, in_root: &dyn Fn(&str) -> PathBuf) -> ClassPathEntries {
    let mut all = jvm.paths("java.class.path");
    let started = ProgramStart::of(jvm, &all, in_root);
    all.extend(started.class_path.iter().cloned());
    for path in jvm.paths("jdk.module.path") {
        all.extend(modules_in(&path, in_root));
    }
    let mut found = ClassPathEntries {
        organisation: started.main.as_deref().and_then(organisation),
        ..ClassPathEntries::default()
    };
    let is_launched = started.main.as_deref().is_some_and(is_launcher);
    let mut libraries = Vec::new();
    for path in all {
        let archive = Archive::open(&in_root(&path));
        match archive {
            None if !is_launched || !path.ends_with(".jar") => found.own.push(path),
            Some(archive) if !is_launched && found.is_own(&started, &path, &archive) => {
                if archive.holds_mostly_others(found.organisation.as_deref()) {
                    found.packages.extend(found.organisation.clone());
                }
                found.own.push(path);
            }
            _ => libraries.push(path),
        }
    }
    found.packages.dedup();
    libraries.extend(jvm.agents.iter().map(|agent| jvm.absolute(agent)));
    found.left_out = grouped(&libraries, &found.own);
    found.leave_out_servers(jvm);
    found.leave_out_lib_beside(&started);
    found
}

impl ClassPathEntries {
    fn is_own(&self, started: &ProgramStart, path: &str, archive: &Archive) -> bool {
        let holds_main = || {
            let main = started.main.as_deref()?;
            Some(archive.holds(&format!("{}.class", main.replace('.', "/"))))
        };
        let of_organisation = || Some(archive.has_package(self.organisation.as_deref()?));
        started.archive.as_deref() == Some(path)
            || holds_main().unwrap_or_default()
            || of_organisation().unwrap_or_default()
    }

    fn leave_out_servers(&mut self, jvm: &JvmProperties) {
        for (property, folders) in SERVERS {
            let Some(home) = jvm.property(property) else {
                continue;
            };
            let home = jvm.absolute(home);
            let folders = folders.iter().map(|folder| match *folder {
                "" => format!("{home}/lib"),
                folder => format!("{home}/{folder}"),
            });
            for folder in folders.filter(|folder| is_plain(folder)) {
                if !self.left_out.contains(&folder) {
                    self.left_out.push(folder);
                }
            }
        }
    }

    /// Leaves out `lib` beside the archive of `java -jar`, because the application's own loader may
    /// load from it.
    fn leave_out_lib_beside(&mut self, started: &ProgramStart) {
        let parent = started
            .archive
            .as_deref()
            .and_then(|archive| Path::new(archive).parent());
        let Some(lib) = parent.map(|parent| parent.join("lib").to_string_lossy().into_owned())
        else {
            return;
        };
        let within = format!("{lib}/");
        if is_plain(&lib) && !self.own.iter().any(|own| own.starts_with(&within)) {
            self.left_out.retain(|place| !place.starts_with(&within));
            self.left_out.push(lib);
        }
    }
}

/// The main class or archive that started the program.
#[derive(Debug, Default)]
struct ProgramStart {
    /// The main class: that of the application, if the archive's manifest names the class that its
    /// launcher starts.
    main: Option<String>,
    /// The archive of `java -jar`.
    archive: Option<String>,
    /// The class path that the archive names, absolute.
    class_path: Vec<String>,
}

impl ProgramStart {
    fn of(jvm: &JvmProperties, class_path: &[String], in_root: &dyn Fn(&str) -> PathBuf) -> Self {
        let command = jvm.property("sun.java.command").unwrap_or_default();
        let raw = jvm.property("java.class.path").unwrap_or_default();
        if let ([archive], true) = (class_path, !raw.is_empty() && command.starts_with(raw)) {
            return Self::of_archive(jvm, archive, in_root);
        }
        let first = command.split(' ').next().unwrap_or_default();
        let main = first.rsplit('/').next().filter(|main| !main.is_empty());
        Self {
            main: jvm
                .property("jdk.module.main.class")
                .or(main)
                .map(str::to_owned),
            ..Self::default()
        }
    }

    fn of_archive(jvm: &JvmProperties, archive: &str, in_root: &dyn Fn(&str) -> PathBuf) -> Self {
        let manifest = Archive::open(&in_root(archive)).and_then(|mut archive| archive.manifest());
        let manifest = manifest.unwrap_or_default();
        let entry = |name: &str| {
            let prefix = format!("{name}: ");
            manifest.lines().find_map(|line| line.strip_prefix(&prefix))
        };
        let folder = Path::new(archive).parent().unwrap_or(Path::new("/"));
        let paths = entry("Class-Path").unwrap_or_default().split_whitespace();
        let path = |text: &str| {
            let text = host::code_source::path(text);
            jvm.absolute(&folder.join(text).to_string_lossy())
        };
        Self {
            main: entry("Start-Class")
                .or(entry("Main-Class"))
                .map(|main| main.trim().to_owned()),
            class_path: paths.map(path).collect(),
            archive: Some(archive.to_owned()),
        }
    }
}

/// An archive and the names of its entries.
struct Archive {
    file: ZipArchive<File>,
}

impl Archive {
    fn open(path: &Path) -> Option<Self> {
        let file = File::open(path).ok().filter(|file| {
            let metadata = file.metadata();
            metadata.is_ok_and(|metadata| metadata.is_file())
        })?;
        let file = ZipArchive::new(file).ok()?;
        Some(Self { file })
    }

    /// The manifest, each entry in one line.
    fn manifest(&mut self) -> Option<String> {
        let mut text = String::new();
        let entry = self.file.by_name("META-INF/MANIFEST.MF").ok()?;
        entry.take(1 << 20).read_to_string(&mut text).ok()?;
        Some(text.replace("\r\n", "\n").replace("\n ", ""))
    }

    fn holds(&self, name: &str) -> bool {
        self.file.index_for_name(name).is_some()
    }

    fn names(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.file.file_names().filter_map(Result::ok)
    }

    fn has_package(&self, organisation: &str) -> bool {
        let folder = format!("{}/", organisation.replace('.', "/"));
        self.names().any(|name| name.starts_with(&folder))
    }

    /// Checks whether most classes belong to others: libraries were copied into the archive.
    fn holds_mostly_others(&self, organisation: Option<&str>) -> bool {
        let Some(organisation) = organisation else {
            return false;
        };
        let folder = format!("{}/", organisation.replace('.', "/"));
        let nested = [
            "META-INF/",
            "BOOT-INF/",
            "WEB-INF/",
            "org/springframework/boot/loader/",
        ];
        let classes = self
            .names()
            .filter(|name| name.ends_with(".class") && name.contains('/'));
        let classes = classes.filter(|name| !nested.iter().any(|prefix| name.starts_with(prefix)));
        let (mut own, mut others) = (0, 0);
        for name in classes {
            match name.starts_with(&folder) {
                true => own += 1,
                false => others += 1,
            }
        }
        own > 0 && others > own
    }
}

/// Returns the folders and archives of the modules in a folder of the module path, or the path itself.
fn modules_in(path: &str, in_root: &dyn Fn(&str) -> PathBuf) -> Vec<String> {
    let folder = in_root(path);
    if folder.is_file() || folder.join("module-info.class").is_file() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| format!("{path}/{}", entry.file_name().to_string_lossy()))
        .collect();
    names.sort();
    names
}

fn is_launcher(main: &str) -> bool {
    LAUNCHERS.iter().any(|package| main.starts_with(package))
}

/// Returns the package prefix of a class's owner: `com.acme` for `com.acme.shop.Main`. Returns nothing for
/// the default package and for launchers.
fn organisation(main: &str) -> Option<String> {
    if is_launcher(main) {
        return None;
    }
    let (package, _) = main.rsplit_once('.')?;
    let parts: Vec<&str> = package.split('.').collect();
    let two = parts.get(..2).map(|two| two.join("."));
    let is_host = two.is_some_and(|two| HOSTS.contains(&two.as_str()));
    let count = parts.len().min(if is_host { 3 } else { 2 });
    Some(parts.get(..count)?.join("."))
}

/// Returns globs for libraries: the archives of a folder share a glob if the application owns no
/// archive there.
fn grouped(libraries: &[String], own: &[String]) -> Vec<String> {
    let mut folders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for library in libraries.iter().filter(|library| is_plain(library)) {
        let cache = CACHES.iter().find_map(|cache| {
            let at = library.find(cache)?;
            library.get(..at + cache.len())
        });
        let parent = library.rsplit_once('/').map_or("", |(parent, _)| parent);
        folders
            .entry(cache.unwrap_or(parent))
            .or_default()
            .insert(library);
    }
    let mut globs = Vec::new();
    for (folder, archives) in folders {
        let within = format!("{folder}/");
        let is_shared = own.iter().any(|own| own.starts_with(&within));
        match (
            is_shared,
            CACHES.iter().any(|cache| folder.ends_with(cache)),
        ) {
            (false, true) => globs.push(folder.to_owned()),
            (false, false) if archives.len() > 1 => globs.push(format!("{folder}/*.jar")),
            _ => globs.extend(archives.into_iter().map(str::to_owned)),
        }
    }
    globs
}

/// Checks whether a path, as a selector, matches only itself.
fn is_plain(path: &str) -> bool {
    !path.contains(['*', '?', ';'])
}
