//! Where a class came from, and selectors over that.

use globs::Glob;

/// Where a class came from, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeLocation<'a> {
    /// From no known folder or archive: its `CodeSource` has no location.
    None,
    /// There is one, which has not been read: selectors over locations let the class through.
    Unread,
    /// A folder or an archive, as [`path`] writes it.
    At(&'a str),
}

/// The path of a location as selectors see it: a URL without `file:`, `jar:` and escapes, the path of an archive within
/// another behind that of the other, without `/` at the end. What has another scheme keeps it.
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

/// The text of a URL's path: `%20` is a space.
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

/// The glob of `location:GLOB`: it covers a folder or archive, and what lies in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocationGlob {
    itself: Glob,
    within: Glob,
}

impl LocationGlob {
    /// One that begins neither with `/` nor with a `**` may begin within any folder.
    pub(crate) fn new(text: &str) -> Self {
        let path = path(text.strip_prefix("./").unwrap_or(text));
        let is_anchored = path.starts_with('/') || path.starts_with("**") || path.contains(":/");
        let path = if is_anchored {
            path
        } else {
            format!("**/{path}")
        };
        Self {
            itself: Glob::of_path(&path),
            within: Glob::of_path(&format!("{}/**", path.trim_end_matches('/'))),
        }
    }

    pub(crate) fn covers(&self, path: &str) -> bool {
        self.itself.matches(path) || self.within.matches(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_seen_as_paths() {
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
