//! Locations at which class loaders find the runtime, for `--embed`.

use std::io::Cursor;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::module_packages::with_package;
use super::runtime;

/// Package of the runtime.
const PACKAGE: &str = "classhook/runtime";
/// The runtime as a jar within other archives.
const JAR: &str = "classhook-runtime.jar";
/// The description of an enterprise application (Jakarta EE 10, 8.6).
pub(super) const APPLICATION: &str = "META-INF/application.xml";

/// The location of the runtime in an archive or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RuntimeLocation {
    /// Its class files, below this path.
    Classes(&'static str),
    /// A jar in this folder, which all modules of an enterprise application or resource adapter see.
    Library(String),
    /// Each nested archive: an application without a folder of libraries.
    Within,
}

impl RuntimeLocation {
    /// Returns the location in an archive of this name. Its entries may refine it.
    pub(super) fn of(name: &str) -> Self {
        let extension = Path::new(name).extension().unwrap_or_default();
        match extension.to_string_lossy().to_ascii_lowercase().as_str() {
            "ear" => Self::Library("lib/".to_owned()),
            "rar" => Self::Library(String::new()),
            "war" => Self::Classes("WEB-INF/classes/"),
            "jmod" => Self::Classes("classes/"),
            _ => Self::Classes(""),
        }
    }

    /// Refines the location for an archive with this entry.
    pub(super) fn by_entry(self, entry: &str) -> Self {
        match self {
            Self::Classes("") if entry.starts_with("WEB-INF/") => Self::Classes("WEB-INF/classes/"),
            Self::Classes("") if entry == APPLICATION => Self::Library("lib/".to_owned()),
            other => other,
        }
    }

    /// Refines the location by an application's description.
    pub(super) fn by_application(self, xml: &[u8]) -> Self {
        match (self, library_folder(xml).as_deref()) {
            (Self::Library(_), Some("")) => Self::Within,
            (Self::Library(_), Some(folder)) => Self::Library(format!("{folder}/")),
            (other, _) => other,
        }
    }

    /// Returns names and bytes of the files to write.
    pub(super) fn files(&self) -> Vec<(String, Vec<u8>)> {
        match self {
            Self::Classes(folder) => {
                let classes = runtime::CLASSES.into_iter();
                let file =
                    |(name, bytes): (&str, &[u8])| (format!("{folder}{name}"), bytes.to_vec());
                classes.map(file).collect()
            }
            Self::Library(folder) => {
                let mut jar = Cursor::new(Vec::new());
                // Writing to memory cannot fail.
                let _ = runtime::write_jar(&mut jar);
                vec![(format!("{folder}{JAR}"), jar.into_inner())]
            }
            Self::Within => Vec::new(),
        }
    }
}

/// Checks for the entry of an embedded runtime.
pub(super) fn is_runtime(entry: &str) -> bool {
    entry.ends_with(runtime::CLASSES[0].0) || entry.rsplit('/').next() == Some(JAR)
}

/// Returns a `module-info` with the runtime's package in its list, or nothing if the list needs no
/// change.
pub(super) fn module_info(bytes: &[u8]) -> Option<Vec<u8>> {
    with_package(bytes, PACKAGE)
}

/// Checks for the name of a `module-info`, of any version of a module.
pub(super) fn is_module_info(entry: &str) -> bool {
    entry.rsplit('/').next() == Some("module-info.class")
}

/// Returns the `library-directory` of an application without its slashes; empty if the application
/// disables it.
fn library_folder(xml: &[u8]) -> Option<String> {
    let xml = std::str::from_utf8(xml).ok()?;
    let mut reader = Reader::from_str(xml);
    let mut within = false;
    let mut folder = String::new();
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) if tag.local_name().as_ref() == "library-directory" => within = true,
            Event::Empty(tag) if tag.local_name().as_ref() == "library-directory" => {
                return Some(String::new());
            }
            Event::Text(text) if within => folder += &text,
            Event::End(_) if within => return Some(folder.trim().trim_matches('/').to_owned()),
            Event::Eof => return None,
            _ => (),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_kind_determines_the_runtime_location() {
        let library = |folder: &str| RuntimeLocation::Library(folder.to_owned());
        for (name, entry, place) in [
            ("a.jar", "a/A.class", RuntimeLocation::Classes("")),
            (
                "a.war",
                "a.txt",
                RuntimeLocation::Classes("WEB-INF/classes/"),
            ),
            (
                "a.zip",
                "WEB-INF/web.xml",
                RuntimeLocation::Classes("WEB-INF/classes/"),
            ),
            ("a.jmod", "bin/x", RuntimeLocation::Classes("classes/")),
            ("a.EAR", "web.war", library("lib/")),
            ("a.zip", APPLICATION, library("lib/")),
            ("a.rar", "META-INF/ra.xml", library("")),
        ] {
            assert_eq!(RuntimeLocation::of(name).by_entry(entry), place, "{name}");
        }
    }

    #[test]
    fn application_descriptor_determines_the_library_folder() {
        let of = |xml: &str| RuntimeLocation::of("a.ear").by_application(xml.as_bytes());
        let library = |folder: &str| RuntimeLocation::Library(folder.to_owned());
        assert_eq!(of("<application/>"), library("lib/"));
        let named = "<j:application xmlns:j='x'><j:library-directory>/APP-INF/lib </j:library-directory></j:application>";
        assert_eq!(of(named), library("APP-INF/lib/"));
        assert_eq!(
            of("<application><library-directory/></application>"),
            RuntimeLocation::Within
        );
        assert_eq!(
            of("<application><library-directory></library-directory>"),
            RuntimeLocation::Within
        );
        assert_eq!(of("no XML <"), library("lib/"));
        let names: Vec<_> = library("x/")
            .files()
            .into_iter()
            .map(|file| file.0)
            .collect();
        assert_eq!(names, ["x/classhook-runtime.jar"]);
    }
}
