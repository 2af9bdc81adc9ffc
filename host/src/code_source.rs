//! The code source of a class, and selectors on it.

use std::path::{Path, PathBuf};

use globs::Glob;

/// The code source of a class (`java.security.CodeSource`), if known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeSource<'a> {
    /// The class comes from no known folder or archive: its `CodeSource` has no location.
    None,
    /// The location has not been read yet. Selectors on locations accept the class for now.
    Unread,
    /// A folder or an archive, in the form of [`path`].
    At(&'a str),
    /// A folder or an archive whose path goes through symbolic links.
    Linked {
        /// The path that the class loader uses.
        through: &'a str,
        /// The path with symbolic links resolved ([`resolved`]).
        to: &'a str,
    },
}

impl<'a> CodeSource<'a> {
    /// Returns the paths of the location, if known.
    pub(crate) fn paths(self) -> Option<[&'a str; 2]> {
        match self {
            Self::None | Self::Unread => None,
            Self::At(path) => Some([path, path]),
            Self::Linked { through, to } => Some([through, to]),
        }
    }
}

/// Resolves symbolic links in the path of a location. Returns `None` if it has no links. Keeps the
/// part within an archive.
#[must_use]
pub fn resolved(location: &str) -> Option<String> {
    if !location.starts_with('/') {
        return None;
    }
    let without_links = without_links(Path::new(location))?;
    let text = without_links.to_str()?;
    (text != location).then(|| text.to_owned())
}

/// Resolves the existing part of a path.
fn without_links(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|there| {
        let found = there.canonicalize().ok()?;
        let rest = path.strip_prefix(there).ok()?;
        Some(if rest.as_os_str().is_empty() {
            found
        } else {
            found.join(rest)
        })
    })
}

/// Returns the path of a location in the form that selectors match. Removes `file:`, `jar:`,
/// escapes and a trailing `/`; appends the path of a nested archive to that of the outer one.
/// Another scheme is kept.
#[must_use]
pub fn path(location: &str) -> String {
    let mut rest = location;
    while let Some(inner) = ["jar:", "nested:"]
        .iter()
        .find_map(|scheme| rest.strip_prefix(scheme))
    {
        rest = inner;
    }
    let is_url = rest.len() < location.len() || rest.starts_with("file:");
    rest = rest.strip_prefix("file:").unwrap_or(rest);
    let decoded = match is_url {
        true => unescaped(rest),
        false => rest.to_owned(),
    };
    let path = decoded.replace("!/", "/").replace("/!", "/");
    let path = match path.strip_prefix("//") {
        Some(path) => format!("/{}", path.trim_start_matches('/')),
        None => path,
    };
    let end = path.trim_end_matches('/').len();
    match path.get(..end) {
        Some("") | None => path,
        Some(trimmed) => trimmed.to_owned(),
    }
}

/// Decodes the escapes in a URL's path, such as `%20`.
fn unescaped(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let escaped = (*first == b'%')
            .then(|| behind.split_at_checked(2))
            .flatten()
            .and_then(|(digits, behind)| {
                let digits = std::str::from_utf8(digits).ok()?;
                Some((u8::from_str_radix(digits, 16).ok()?, behind))
            });
        let (byte, behind) = escaped.unwrap_or((*first, behind));
        bytes.push(byte);
        rest = behind;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The glob of `location:GLOB`. It covers a folder or archive with all of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocationGlob {
    globs: Vec<Glob>,
}

impl LocationGlob {
    /// Parses the glob. A glob that begins neither with `/` nor with `**` may match below any
    /// folder. A glob with symbolic links also covers their targets.
    pub(crate) fn new(text: &str) -> Self {
        let path = path(text.strip_prefix("./").unwrap_or(text));
        let linked = linked(&path);
        let is_anchored = path.starts_with('/') || path.starts_with("**") || path.contains(":/");
        let path = if is_anchored {
            path
        } else {
            format!("**/{path}")
        };
        let both = |path: String| {
            let within = format!("{}/**", path.trim_end_matches('/'));
            [Glob::of_path(&path), Glob::of_path(&within)]
        };
        let paths = [path].into_iter().chain(linked);
        Self {
            globs: paths.flat_map(both).collect(),
        }
    }

    pub(crate) fn covers(&self, path: &str) -> bool {
        self.globs.iter().any(|glob| glob.matches(path))
    }
}

/// Returns the glob with symbolic links resolved. Returns `None` if the folders in front of its
/// first wildcard do not exist or have no links.
fn linked(glob: &str) -> Option<String> {
    let literal = match glob.find(['*', '?']) {
        None => glob,
        Some(wildcard) => glob.get(..wildcard)?.rsplit_once('/')?.0,
    };
    let folder = std::env::current_dir().ok()?.join(literal);
    if literal.is_empty() || !folder.exists() {
        return None;
    }
    let rest = glob.get(literal.len()..)?;
    Some(format!("{}{rest}", resolved(folder.to_str()?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_match_as_paths() {
        for (url, expected) in [
            (
                "file:/w/my%20app/target/classes/",
                "/w/my app/target/classes",
            ),
            ("file:///lib/a.jar", "/lib/a.jar"),
            (
                "jar:file:/b.jar!/BOOT-INF/lib/a.jar!/",
                "/b.jar/BOOT-INF/lib/a.jar",
            ),
            (
                "jar:nested:/b.jar/!BOOT-INF/classes/!/",
                "/b.jar/BOOT-INF/classes",
            ),
            ("file:/100%/caf%C3%A9", "/100%/café"),
            ("jrt:/java.sql", "jrt:/java.sql"),
            ("/as%20typed/", "/as%20typed"),
            ("/", "/"),
        ] {
            assert_eq!(path(url), expected, "{url}");
        }
    }

    #[test]
    fn glob_covers_the_targets_of_links() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("releases/7/lib")).unwrap();
        std::os::unix::fs::symlink("releases/7", real.join("current")).unwrap();
        let at = |path: &str| format!("{}/{path}", real.display());
        for glob in ["current/lib", "current", "current/l*", "current/lib/*.jar"] {
            let glob = LocationGlob::new(&at(glob));
            assert!(glob.covers(&at("releases/7/lib/a.jar")), "{glob:?}");
            assert!(glob.covers(&at("current/lib/a.jar")), "{glob:?}");
            assert!(!glob.covers(&at("releases/6/lib/a.jar")), "{glob:?}");
        }
        assert_eq!(
            resolved(&at("current/a.jar/BOOT-INF/classes")),
            Some(at("releases/7/a.jar/BOOT-INF/classes"))
        );
        assert_eq!(resolved(&at("releases/7")), None);
        assert_eq!(resolved("jrt:/java.base"), None);
    }

    #[test]
    fn a_glob_covers_a_folder_and_what_is_in_it() {
        for (glob, location, expected) in [
            ("target/classes", "/w/core/target/classes", true),
            ("./target/classes/", "/w/core/target/classes", true),
            ("target/classes", "/w/core/target/test-classes", false),
            ("target/classes", "/w/mytarget/classes", false),
            ("/w", "/w/lib/a.jar", true),
            ("/w", "/ww/lib/a.jar", false),
            ("/w/*", "/w/lib/a.jar", true),
            ("*.jar", "/w/lib/a.jar", true),
            ("junit-*.jar", "/m2/junit/4.13/junit-4.13.jar", true),
            ("**/lib/**", "/w/lib/a.jar", true),
            ("file:/w/my%20lib", "/w/my lib/a.jar", true),
            ("jrt:/java.sql", "jrt:/java.sql", true),
            ("/", "/w", true),
        ] {
            assert_eq!(
                LocationGlob::new(glob).covers(location),
                expected,
                "{glob} on {location}"
            );
        }
    }
}
