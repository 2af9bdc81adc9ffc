//! The receiver's files.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::OFlags;

use crate::frame::LONGEST_NAME;
use crate::source::{EXTENSIONS, check_of};

/// The folder of received files.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// Largest size of one file, in bytes.
    most: u64,
    /// Names of the files that senders have open now.
    busy: Mutex<HashSet<String>>,
}

impl Store {
    /// Creates the folder if it does not exist.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn new(folder: &Path, most: u64) -> Result<Self, String> {
        let unmade = |error| format!("{} cannot be made: {error}", folder.display());
        fs::create_dir_all(folder).map_err(unmade)?;
        Ok(Self {
            folder: folder.to_owned(),
            most,
            busy: Mutex::default(),
        })
    }

    fn busy<T>(&self, body: impl FnOnce(&mut HashSet<String>) -> T) -> T {
        body(&mut self.busy.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens the file of a name for one sender, with the content that it has so far.
    ///
    /// # Errors
    /// The reason for the refusal.
    pub fn open(self: &Arc<Self>, name: &str) -> Result<Received, String> {
        check_name(name)?;
        if !self.busy(|busy| busy.insert(name.to_owned())) {
            return Err(format!("{name} is being received from somebody else"));
        }
        let path = self.folder.join(name);
        let mut received = Received {
            store: Arc::clone(self),
            name: name.to_owned(),
            beside: path.with_added_extension("new"),
            path,
            file: None,
            is_beside: false,
            length: 0,
        };
        let opened = received.reopen();
        opened.map_err(|error| received.unwritten(&error))?;
        Ok(received)
    }
}

/// Checks that a name is a plain file name with the extension of a recording.
fn check_name(name: &str) -> Result<(), String> {
    let is_plain = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_known = EXTENSIONS.contains(&extension);
    match is_plain && is_known && !name.starts_with('.') && name.len() <= LONGEST_NAME {
        true => Ok(()),
        false => Err("expected the plain name of a recording".to_owned()),
    }
}

/// A file that is being received.
#[derive(Debug)]
pub struct Received {
    store: Arc<Store>,
    name: String,
    path: PathBuf,
    /// Path of the new content until it replaces the former.
    beside: PathBuf,
    file: Option<File>,
    is_beside: bool,
    length: u64,
}

impl Received {
    /// The file name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// CRC-32 of the content.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn check(&self) -> Result<u32, String> {
        let check = match &self.file {
            Some(file) => check_of(file, self.length),
            None => Ok(0),
        };
        check.map_err(|error| self.unwritten(&error))
    }

    /// Begins the file anew, beside the former content.
    ///
    /// # Errors
    /// If the new file cannot be created.
    pub fn restart(&mut self) -> Result<(), String> {
        let made = open_private(&self.beside, true);
        self.file = Some(made.map_err(|error| self.unwritten(&error))?);
        (self.is_beside, self.length) = (true, 0);
        Ok(())
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// If the write fails, or the file would exceed the limit.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), String> {
        let length = self.length + bytes.len() as u64;
        if length > self.store.most {
            let most = self.store.most;
            return Err(format!("{} would have more than {most} bytes", self.name));
        }
        let Some(file) = &mut self.file else {
            return Err("expected a file that has begun".to_owned());
        };
        let written = file.write_all(bytes);
        if let Err(error) = written {
            let _ = file.set_len(self.length); // keeps the content before this write
            return Err(self.unwritten(&error));
        }
        self.length = length;
        Ok(())
    }

    /// Marks the content as equal to the sender's: a file written beside the former replaces it.
    ///
    /// # Errors
    /// If the file cannot be renamed.
    pub fn is_current(&mut self) -> Result<(), String> {
        if self.is_beside {
            let moved = fs::rename(&self.beside, &self.path);
            moved.map_err(|error| self.unwritten(&error))?;
            self.is_beside = false;
        }
        Ok(())
    }

    /// Completes the file: it is synced to disk when this returns.
    ///
    /// # Errors
    /// If the rename or the sync fails.
    pub fn complete(&mut self) -> Result<(), String> {
        self.is_current()?;
        let synced = self.file.as_ref().map_or(Ok(()), File::sync_all);
        synced.map_err(|error| self.unwritten(&error))
    }

    fn reopen(&mut self) -> io::Result<()> {
        if self.path.symlink_metadata().is_err() {
            return Ok(());
        }
        let file = open_private(&self.path, false)?;
        self.length = file.metadata()?.len();
        self.file = Some(file);
        Ok(())
    }

    fn unwritten(&self, error: &io::Error) -> String {
        format!("{} cannot be written: {error}", self.name)
    }
}

/// Opens a file for appending, with mode 0600.
fn open_private(path: &Path, anew: bool) -> io::Result<File> {
    if anew {
        let _ = fs::remove_file(path);
    }
    let flags = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    options
        .read(true)
        .append(true)
        .mode(0o600)
        .custom_flags(flags);
    options.create_new(anew).open(path)
}

impl Drop for Received {
    fn drop(&mut self) {
        if self.is_beside {
            let _ = fs::remove_file(&self.beside); // incomplete; the former content is untouched
        }
        self.store.busy(|busy| busy.remove(&self.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["a-1.events", "classhook-7-8-f.2.jvm-events", "x.tables"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in [
            "",
            "a",
            "../a.events",
            "/a.events",
            ".events",
            "a b.events",
            "a.so",
            "é.events",
        ] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn half_of_a_new_file_leaves_the_former() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::new(folder.path(), 10).unwrap());
        let mut first = store.open("a.jvm-events").unwrap();
        assert!(
            store
                .open("a.jvm-events")
                .unwrap_err()
                .contains("somebody else")
        );
        first.restart().unwrap();
        first.append(b"former").unwrap();
        first.complete().unwrap();
        first.restart().unwrap();
        first.append(b"half").unwrap();
        assert!(
            first
                .append(b"too long")
                .unwrap_err()
                .contains("more than 10")
        );
        drop(first);
        let again = store.open("a.jvm-events").unwrap();
        assert_eq!(again.length(), 6);
        assert_eq!(again.check().unwrap(), crc32fast::hash(b"former"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn link_to_elsewhere_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other");
        fs::write(&other, "kept").unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join("a.events")).unwrap();
        let store = Arc::new(Store::new(folder.path(), 10).unwrap());
        assert!(store.open("a.events").is_err());
        assert_eq!(fs::read(&other).unwrap(), b"kept");
    }
}
