//! `classhook.lock`: the plugins that were added to a project, each with its source and digest.
//!
//! The components are in `.classhook/plugins/DIGEST/NAME.wasm` in the same folder. A component at
//! such a path is loaded only if it has this digest, even if the lock does not name it.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::regular_file;
use errors::{Error, codes};

/// The name of the file, which is in the folder of `classhook.toml`.
pub const LOCK: &str = "classhook.lock";
/// The folder of the components, relative to the same folder.
pub const STORE: &str = ".classhook/plugins";
/// Maximum length of a plugin's name.
pub const MAX_NAME: usize = 64;
/// Maximum size of the file in bytes.
const MAX_LOCK: u64 = 1 << 20;
/// The version of the file format.
const VERSION: i64 = 1;

/// The content of a `classhook.lock`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    /// The plugins, sorted by name.
    pub plugins: Vec<LockedPlugin>,
}

/// A plugin that was added to a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockedPlugin {
    /// The name in `classhook.toml`.
    pub name: String,
    /// The version, if the component or its registry states one.
    pub version: Option<String>,
    /// The source: a file, a URL, or a reference in a registry.
    pub source: String,
    /// SHA-256 of the component in lower-case hex. In the file, `sha256:` precedes it.
    pub digest: String,
    /// Length of the component in bytes.
    pub size: u64,
    /// The grants that it needs.
    pub capabilities: Vec<String>,
}

impl Lock {
    /// Reads the file in a folder. A missing file is an empty lock.
    ///
    /// # Errors
    /// If the file cannot be read, or this command did not write it (`H0118`).
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(LOCK);
        let text = regular_file::open(&path, MAX_LOCK)
            .and_then(|(mut file, found)| regular_file::read(&mut file, found.len(), MAX_LOCK));
        let text = match text {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            text => text.map_err(|error| damaged(&path, &error.to_string()))?,
        };
        let text = String::from_utf8(text).map_err(|error| damaged(&path, &error.to_string()))?;
        parse(&text).map_err(|cause| damaged(&path, &cause))
    }

    /// Finds the plugin with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&LockedPlugin> {
        self.plugins.iter().find(|plugin| plugin.name == name)
    }

    /// The file's text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text =
            format!("# Written by `classhook plugin add`; do not edit.\nversion = {VERSION}\n");
        for plugin in &self.plugins {
            let version = plugin.version.as_deref();
            let version = version.map(|version| format!("version = {}\n", quoted(version)));
            let capabilities: Vec<_> = plugin.capabilities.iter().map(|it| quoted(it)).collect();
            let _ = write!(
                text,
                "\n[[plugin]]\nname = {}\n{}source = {}\ndigest = \"sha256:{}\"\nsize = {}\ncapabilities = [{}]\n",
                quoted(&plugin.name),
                version.unwrap_or_default(),
                quoted(&plugin.source),
                plugin.digest,
                plugin.size,
                capabilities.join(", "),
            ); // a String never fails
        }
        text
    }
}

impl LockedPlugin {
    /// The path of the component, whether or not the file exists.
    #[must_use]
    pub fn file(&self, folder: &Path) -> PathBuf {
        let store = folder.join(STORE).join(&self.digest);
        store.join(format!("{}.wasm", self.name))
    }
}

/// Checks whether a plugin of this name can be stored as a file.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    (1..=MAX_NAME).contains(&name.len())
        && !name.starts_with(['.', '-'])
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// Returns the digest in the path of a stored component.
pub(crate) fn digest_of(path: &Path) -> Option<&str> {
    let folder = path.parent()?;
    let digest = folder.file_name().and_then(OsStr::to_str)?;
    let is_kept = folder.parent()?.ends_with(STORE) && is_digest(digest);
    is_kept.then_some(digest)
}

/// Checks whether a text is a SHA-256 in lower-case hex.
#[must_use]
pub fn is_digest(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == 64 && text.bytes().all(is_digit)
}

fn parse(text: &str) -> Result<Lock, String> {
    let file: Table = text
        .parse()
        .map_err(|error: toml::de::Error| error.to_string())?;
    match file.get("version").and_then(Value::as_integer) {
        Some(VERSION) => {}
        Some(other) => return Err(format!("version {other}")),
        None => return Err("no version".to_owned()),
    }
    let mut lock = Lock::default();
    let plugins = file.get("plugin").and_then(Value::as_array);
    for (index, plugin) in plugins.into_iter().flatten().enumerate() {
        let plugin = plugin.as_table().and_then(read);
        let plugin = plugin.ok_or_else(|| {
            let number = index + 1;
            format!("no name, source, digest, size and capabilities in the plugin number {number}")
        })?;
        if !is_name(&plugin.name) {
            return Err(format!("a plugin `{}`", plugin.name));
        }
        if !is_digest(&plugin.digest) {
            return Err(format!("no digest of the plugin `{}`", plugin.name));
        }
        if lock.find(&plugin.name).is_some() {
            return Err(format!("the plugin `{}` twice", plugin.name));
        }
        lock.plugins.push(plugin);
    }
    Ok(lock)
}

fn read(table: &Table) -> Option<LockedPlugin> {
    let text = |key: &str| Some(table.get(key)?.as_str()?.to_owned());
    let capabilities = table.get("capabilities")?.as_array()?.iter();
    let capabilities = capabilities.map(|it| it.as_str().map(str::to_owned));
    Some(LockedPlugin {
        name: text("name")?,
        version: text("version"),
        source: text("source")?,
        digest: text("digest")?.strip_prefix("sha256:")?.to_owned(),
        size: table.get("size")?.as_integer()?.try_into().ok()?,
        capabilities: capabilities.collect::<Option<_>>()?,
    })
}

/// Quotes a text as a TOML string.
#[must_use]
pub fn quoted(text: &str) -> String {
    // A JSON string is a TOML string, except for DEL, which JSON does not escape.
    let text = serde_json::Value::from(text).to_string();
    text.replace('\u{7f}', "\\u007f")
}

fn damaged(path: &Path, found: &str) -> Error {
    let message = format!("{} cannot be read", path.display());
    Error::mistake(codes::H0118, message)
        .with("expected", format!("the format of `classhook plugin add`, version {VERSION}"))
        .with("found", found)
        .with("help", "take the file from your version control, or remove it and add the plugins again; a newer version needs a newer classhook")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, PluginConfig};

    fn locked(name: &str) -> LockedPlugin {
        LockedPlugin {
            name: name.to_owned(),
            version: Some("1.2 \"x\"\n".to_owned()),
            source: "https://example.com/a%20b.wasm?\\\u{1b}\u{7f}".to_owned(),
            digest: "ab".repeat(32),
            size: 1234,
            capabilities: vec!["probes".to_owned(), "rewrite".to_owned()],
        }
    }

    #[test]
    fn lock_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Lock::load(folder.path()).unwrap(), Lock::default());
        let mut other = locked("b");
        other.version = None;
        other.capabilities.clear();
        let lock = Lock {
            plugins: vec![locked("a"), other],
        };
        std::fs::write(folder.path().join(LOCK), lock.text()).unwrap();
        assert_eq!(Lock::load(folder.path()).unwrap(), lock);
    }

    #[test]
    fn damaged_lock_is_refused_with_its_cause() {
        let folder = tempfile::tempdir().unwrap();
        let good = Lock {
            plugins: vec![locked("a")],
        };
        let good = good.text();
        let twice = good.clone() + good.split_once("\n\n").unwrap().1;
        for (text, cause) in [
            (good.replace("version = 1\n", "version = 2\n"), "version 2"),
            (good.replace("\"a\"", "\"../../a\""), "`../../a`"),
            (good.replace("sha256:", ""), "number 1"),
            (good.replace("abab", "AB"), "no digest"),
            (good.replace("size", "sise"), "number 1"),
            (good[..good.len() - 4].to_owned(), "capabilities"),
            (twice, "twice"),
            ("\0".to_owned(), "TOML parse error"),
            (String::new(), "no version"),
        ] {
            std::fs::write(folder.path().join(LOCK), &text).unwrap();
            let error = Lock::load(folder.path()).unwrap_err();
            assert_eq!(error.code(), "H0118");
            let shown = error.to_string();
            assert!(shown.contains(cause), "{shown}");
        }
        std::fs::remove_file(folder.path().join(LOCK)).unwrap();
        std::fs::create_dir(folder.path().join(LOCK)).unwrap();
        let error = Lock::load(folder.path()).unwrap_err().to_string();
        assert!(error.contains("a folder"), "{error}");
    }

    #[test]
    fn stored_component_has_the_digest_of_its_path() {
        let path = locked("a").file(Path::new("/p"));
        assert_eq!(digest_of(&path), Some(&*"ab".repeat(32)));
        let plugin = PluginConfig::file(path.clone());
        assert_eq!(plugin.digest, Some("ab".repeat(32)));
        let elsewhere = Path::new("/p/plugins").join("ab".repeat(32)).join("a.wasm");
        assert_eq!(digest_of(&elsewhere), None);
        assert_eq!(digest_of(&path.with_file_name("../a.wasm")), None);
    }

    #[test]
    fn name_in_classhook_toml_is_looked_up_in_the_lock_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let toml = folder.path().join("classhook.toml");
        std::fs::write(&toml, "[[plugin]]\nuse = \"a\"\n").unwrap();
        let error = Config::load(&toml).unwrap_err();
        assert_eq!(error.code(), "H0105");
        assert!(
            error.to_string().contains("classhook plugin add"),
            "{error}"
        );
        let lock = Lock {
            plugins: vec![locked("a")],
        };
        std::fs::write(folder.path().join(LOCK), lock.text()).unwrap();
        let config = Config::load(&toml).unwrap();
        let path = lock.plugins[0].file(folder.path());
        assert_eq!(config.plugins, [PluginConfig::file(path)]);
        let pinned = format!(
            "[[plugin]]\nuse = \"a\"\ndigest = \"sha256:{}\"\n",
            "cd".repeat(32)
        );
        std::fs::write(&toml, pinned).unwrap();
        assert_eq!(Config::load(&toml).unwrap_err().code(), "H0109");
    }
}
