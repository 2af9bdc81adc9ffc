//! Jars and other zip archives, read with limits.

use std::borrow::Cow;
use std::io::{Read, Seek};

use errors::{Error, codes};
use zip::ZipArchive;

/// Length limit of an entry, in bytes: far above any class file or jar within a jar.
pub const MAX_ENTRY_LENGTH: u64 = 1 << 30;

/// Depth limit for jars within jars: a jar in a war in an ear has depth 2.
pub const MAX_DEPTH: usize = 4;

/// Checks by its name whether a file is an archive of classes.
pub fn has_archive_name(name: &str) -> bool {
    let extension = name
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| {
        matches!(
            extension.as_str(),
            "jar" | "war" | "ear" | "zip" | "jmod" | "rar"
        )
    })
}

pub(super) fn open<R: Read + Seek>(origin: &str, reader: R) -> Result<ZipArchive<R>, Error> {
    ZipArchive::new(reader).map_err(|error| damaged(origin, error.to_string()))
}

fn damaged(origin: &str, found: String) -> Error {
    Error::mistake(codes::H0613, format!("cannot read the archive {origin}"))
        .with("found", found)
        .with("help", "build or download it again, or leave it out")
}

/// Reads the content of one entry.
pub fn read_entry<R: Read + Seek>(
    origin: &str,
    archive: &mut ZipArchive<R>,
    name: &str,
) -> Result<Vec<u8>, Error> {
    let entry = archive
        .by_name(name)
        .map_err(|error| damaged(&format!("{origin}!/{name}"), error.to_string()))?;
    let mut bytes = Vec::new();
    let mut limited = entry.take(MAX_ENTRY_LENGTH + 1);
    limited
        .read_to_end(&mut bytes)
        .map_err(|error| damaged(&format!("{origin}!/{name}"), error.to_string()))?;
    if bytes.len() as u64 > MAX_ENTRY_LENGTH {
        return Err(damaged(
            &format!("{origin}!/{name}"),
            format!("more than {MAX_ENTRY_LENGTH} bytes in one entry"),
        ));
    }
    Ok(bytes)
}

/// Returns the text of an archive's manifest, empty if it has none.
pub fn manifest<R: Read + Seek>(
    origin: &str,
    archive: &mut ZipArchive<R>,
) -> Result<String, Error> {
    const MANIFEST: &str = "META-INF/MANIFEST.MF";
    if archive.index_for_name(MANIFEST).is_none() {
        return Ok(String::new());
    }
    let bytes = read_entry(origin, archive, MANIFEST)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns a value of a manifest's main section. A line that begins with a blank continues the line
/// before it (JAR file specification).
pub fn main_attribute(manifest: &str, key: &str) -> Option<String> {
    let unfolded = manifest.replace("\r\n", "\n").replace("\n ", "");
    let main = unfolded.lines().take_while(|line| !line.is_empty());
    let mut values = main.filter_map(|line| line.split_once(':'));
    let found = values.find(|(found, _)| found.eq_ignore_ascii_case(key));
    found.map(|(_, value)| value.trim().to_owned())
}

/// Names of an archive's files, in the order of its directory.
pub struct Entries(std::vec::IntoIter<String>);

impl Entries {
    /// Returns the names in an archive.
    pub fn of<R: Read + Seek>(archive: &ZipArchive<R>) -> Self {
        let names = (0..archive.len()).filter_map(|index| archive.name_for_index(index)?.ok());
        Self(
            names
                .filter(|name| !name.ends_with('/'))
                .map(Cow::into_owned)
                .collect::<Vec<_>>()
                .into_iter(),
        )
    }
}

impl Iterator for Entries {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.0.next()
    }
}
