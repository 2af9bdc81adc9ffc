//! The plugins of a project: components stored by digest, `classhook.lock` and `classhook.toml`.
//!
//! The lock lists plugins and their origins (`host::config::lock`), and `classhook.toml` holds the
//! grants. A command that changes them holds a system lock, so that two commands do not overwrite
//! each other's changes.

pub mod fetcher;
pub mod settings_file;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use errors::Error;
use host::config::lock::{LOCK, Lock, LockedPlugin, STORE, is_digest};
use host::plugin_file::PluginFile;
use local_files::atomic;
use local_files::temporary;
use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use crate::store::settings_file::SettingsFile;

/// Lock file of the command that changes the store.
const HELD: &str = ".held";

/// The store of a project.
#[derive(Debug)]
pub struct Store {
    project: PathBuf,
    folder: PathBuf,
}

/// The store, locked against other commands.
#[derive(Debug)]
pub struct HeldStore<'a> {
    store: &'a Store,
    _held: File,
    /// The locked plugins.
    pub lock: Lock,
}

impl Store {
    /// Opens the store of the project in a folder, and creates it if missing. A store behind a symbolic link is refused:
    /// a command that removes plugins would delete files of another folder.
    ///
    /// # Errors
    /// If it is a link, or cannot be created (`H0620`).
    pub fn open(project: &Path) -> Result<Self, Error> {
        let folder = project.join(STORE);
        let own = folder.ancestors().take_while(|path| *path != project);
        if let Some(link) = own.into_iter().find(|path| path.is_symlink()) {
            let cause = io::Error::other(
                "it is a symbolic link, and the store of plugins is a folder of the project",
            );
            return Err(Error::unwritable(link, &cause));
        }
        fs::create_dir_all(&folder).map_err(|error| Error::unwritable(&folder, &error))?;
        Ok(Self {
            project: project.to_owned(),
            folder,
        })
    }

    /// Creates a folder for downloads.
    ///
    /// # Errors
    /// If it cannot be created (`H0620`).
    pub fn incoming(&self) -> Result<TempDir, Error> {
        temporary::folder(&self.folder).map_err(|error| Error::unwritable(&self.folder, &error))
    }

    /// Locks the store. Waits for other commands that change it.
    ///
    /// # Errors
    /// If the store cannot be locked (`H0620`), or `classhook.lock` is damaged (`H0118`).
    pub fn hold(&self) -> Result<HeldStore<'_>, Error> {
        let path = self.folder.join(HELD);
        let held = File::options().create(true).append(true).open(&path);
        let held = held.and_then(|file| {
            flock(&file, FlockOperation::LockExclusive)?;
            Ok(file)
        });
        Ok(HeldStore {
            _held: held.map_err(|error| Error::unwritable(&path, &error))?,
            lock: Lock::load(&self.project)?,
            store: self,
        })
    }
}

impl HeldStore<'_> {
    /// Stores a component under its digest, by moving the file `from`.
    ///
    /// # Errors
    /// If it cannot be written (`H0620`).
    pub fn keep(&self, from: &Path, plugin: &LockedPlugin) -> Result<(), Error> {
        let path = plugin.file(&self.store.project);
        let folder = path.parent().unwrap_or(&path);
        let kept = fs::create_dir_all(folder).and_then(|()| fs::rename(from, &path));
        kept.map_err(|error| Error::unwritable(&path, &error))
    }

    /// Adds or replaces a plugin: its component, the lock and `classhook.toml`, or none of them
    /// after a failure.
    ///
    /// # Errors
    /// If a file cannot be written (`H0620`).
    pub fn take(
        &mut self,
        from: &Path,
        plugin: LockedPlugin,
        settings: &SettingsFile,
    ) -> Result<(), Error> {
        let former = self.lock.clone();
        let taken = self.keep(from, &plugin);
        let taken = taken.and_then(|()| self.lock(plugin));
        let taken = taken.and_then(|()| settings.write());
        if taken.is_ok() || self.lock == former || self.write(former).is_ok() {
            self.sweep();
        }
        taken
    }

    /// Adds a plugin to the lock, or replaces the one of this name.
    fn lock(&mut self, plugin: LockedPlugin) -> Result<(), Error> {
        let mut lock = self.lock.clone();
        lock.plugins.retain(|it| it.name != plugin.name);
        lock.plugins.push(plugin);
        lock.plugins.sort_by(|one, other| one.name.cmp(&other.name));
        self.write(lock)
    }

    /// Removes plugins from the lock.
    ///
    /// # Errors
    /// If the lock cannot be written (`H0620`).
    pub fn unlock(&mut self, names: &[String]) -> Result<(), Error> {
        let mut lock = self.lock.clone();
        lock.plugins.retain(|plugin| !names.contains(&plugin.name));
        self.write(lock)
    }

    fn write(&mut self, lock: Lock) -> Result<(), Error> {
        let text = lock.text();
        let path = self.store.project.join(LOCK);
        atomic::file(&path, &|out| out.write_all(text.as_bytes()))?;
        self.lock = lock;
        Ok(())
    }

    /// Removes the components that are no longer locked. Follows no link.
    pub fn sweep(&self) {
        let is_locked = |digest: &str| self.lock.plugins.iter().any(|it| it.digest == digest);
        for entry in fs::read_dir(&self.store.folder)
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name();
            let digest = name.to_str().filter(|name| is_digest(name));
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && digest.is_some_and(|digest| !is_locked(digest)) {
                let _ = fs::remove_dir_all(entry.path()); // a failure is harmless
            }
        }
    }
}

/// Copies a component file of bounded size.
///
/// # Errors
/// If the file cannot be read (`H0106`, `H0117`) or written (`H0620`).
pub fn copy(name: &str, from: &Path, to: &Path) -> Result<(), Error> {
    let file = PluginFile::open(name, from)?;
    let written = File::create(to).and_then(|mut to| to.write_all(&file.wasm));
    written.map_err(|error| Error::unwritable(to, &error))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn plugin(digest: &str) -> LockedPlugin {
        LockedPlugin {
            name: "a".to_owned(),
            version: None,
            source: "a.wasm".to_owned(),
            digest: digest.repeat(64),
            size: 1,
            capabilities: Vec::new(),
        }
    }

    /// An attacker's repository may contain links to other folders: a digest, or the store itself.
    #[test]
    fn no_link_is_followed_when_plugins_are_removed() {
        let (project, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [one, two] = ["1", "2"].map(|digit| digit.repeat(64));
        for name in [&one, &two] {
            fs::create_dir(other.path().join(name)).unwrap();
        }
        let store = Store::open(project.path()).unwrap();
        let link = project.path().join(STORE).join(&one);
        symlink(other.path().join(&one), &link).unwrap();
        let unlisted = project.path().join(STORE).join(&two);
        fs::create_dir(&unlisted).unwrap();
        let foreign = project.path().join(STORE).join("z".repeat(64));
        fs::create_dir(&foreign).unwrap();
        store.hold().unwrap().sweep();
        assert!(other.path().join(&one).is_dir() && foreign.is_dir());
        assert!(!unlisted.exists());

        fs::remove_dir_all(project.path().join(STORE)).unwrap();
        symlink(other.path(), project.path().join(STORE)).unwrap();
        let refused = Store::open(project.path()).unwrap_err();
        assert!(refused.to_string().contains("symbolic link"), "{refused}");
        fs::remove_file(project.path().join(STORE)).unwrap();
        fs::remove_dir(project.path().join(".classhook")).unwrap();
        symlink(other.path(), project.path().join(".classhook")).unwrap();
        assert_eq!(Store::open(project.path()).unwrap_err().code(), "H0620");
        assert!(other.path().join(&two).is_dir());
    }

    #[test]
    fn failed_addition_of_a_plugin_leaves_nothing() {
        let project = tempfile::tempdir().unwrap();
        let store = Store::open(project.path()).unwrap();
        let take = |digest: &str, settings: &SettingsFile| {
            let component = project.path().join("new.wasm");
            fs::write(&component, digest).unwrap();
            let mut held = store.hold().unwrap();
            held.take(&component, plugin(digest), settings)
        };
        let settings = SettingsFile::open(project.path()).unwrap();
        take("1", &settings).unwrap();
        let unwritable = settings.with("a", &["boot".to_owned()]).unwrap();
        fs::create_dir(project.path().join("classhook.toml")).unwrap();
        assert_eq!(take("2", &unwritable).unwrap_err().code(), "H0620");

        let first = plugin("1");
        assert_eq!(
            store.hold().unwrap().lock.plugins,
            std::slice::from_ref(&first)
        );
        assert_eq!(fs::read(first.file(project.path())).unwrap(), b"1");
        let second = plugin("2").file(project.path());
        assert!(!second.exists());
    }
}
