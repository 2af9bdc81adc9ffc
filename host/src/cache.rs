//! Loads the machine code of plugins: bundled code from the agent, other code from a private cache
//! or a compiler. The same folder holds the stored plans of classes (`plan_store`).
//!
//! Loaded code runs natively, so it has only three sources: the agent's own binary, a compiler
//! process that this process started, and files that processes of this user sealed. The folder must
//! belong to this user and must be closed to others. Each file must carry a keyed digest of its
//! content. The key is in the same folder and readable only by this user. A file that fails a check
//! is compiled again.
//!
//! The folder has a size limit; the least recently used files are removed first.
#![allow(
    unsafe_code,
    reason = "deserializing precompiled code is unsafe by nature"
)]

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::bundled::Bundled;
use crate::compiled_code::Code;
use crate::regular_file;
use plugin_code::limits::MAX_CODE;
use plugin_code::sha256_hex;

const KEY_BYTES: usize = 32;
const SEAL_BYTES: usize = 32;
/// Maximum number of bytes in a folder.
pub const MAX_CACHE: u64 = 512 << 20;
/// Maximum number of files in a folder, because each write scans them.
const MAX_FILES: usize = 1_024;
/// Age at which a temporary file counts as abandoned by its process.
const ABANDONED: Duration = Duration::from_secs(3600);
/// The extension of files with machine code.
const EXTENSION: &str = "code";
/// The extension of files with the reason why a plugin was not compiled.
const REFUSED: &str = "refused";
/// Maximum size of such a file in bytes.
const MAX_REFUSAL: u64 = 1 << 16;
/// The extension of files with plans.
const PLANS: &str = "plans";
/// Number of hex digits of the limits' digest in the name of such a file.
const LIMITS_DIGITS: usize = 16;

/// A folder of sealed files.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    key: [u8; KEY_BYTES],
    /// Maximum number of bytes to keep.
    limit: u64,
    /// Maximum number of files to keep.
    most_files: usize,
}

/// Loads the code of a bundled plugin. Returns `None` if another engine compiled it.
pub fn load_bundled(engine: &Engine, plugin: &Bundled) -> Option<Component> {
    let code = plugin.code()?;
    // SAFETY: the bytes are part of this binary, compiled at build time by the same engine;
    // wasmtime itself rejects other versions and settings.
    unsafe { Component::deserialize(engine, &code) }.ok()
}

/// Loads code fresh from a compiler.
///
/// # Errors
/// If another engine compiled the code.
pub(crate) fn load_compiled(engine: &Engine, code: &Code) -> wasmtime::Result<Component> {
    // SAFETY: the bytes come from the compiler in this process, or in a compiler process that this
    // process started; wasmtime itself rejects other versions and settings.
    unsafe { Component::deserialize(engine, code.bytes()) }
}

impl Cache {
    /// Opens the user's cache: `$XDG_CACHE_HOME/classhook`, or `~/.cache/classhook`. Returns `None`
    /// if neither is usable.
    pub fn of_user() -> Option<Self> {
        let absolute = |name| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let base = absolute("XDG_CACHE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
        Self::open(&base.join("classhook")).ok()
    }

    /// Opens or creates a private folder. Removes read permissions of others from an existing
    /// folder of this user.
    ///
    /// # Errors
    /// If the folder cannot be created, belongs to another user, or is writable by others.
    pub fn open(folder: &Path) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        make_private(folder)?;
        make_key(folder)?;
        Self::existing(folder)
    }

    /// Opens an existing private folder.
    ///
    /// # Errors
    /// If the folder does not exist, belongs to another user, or is open to others.
    pub fn existing(folder: &Path) -> io::Result<Self> {
        private(&fs::symlink_metadata(folder)?, 0o700)?;
        let key = read_key(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            key,
            limit: MAX_CACHE,
            most_files: MAX_FILES,
        })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Loads the code of the component with this digest. Returns `None` if the cache lacks it or
    /// the file fails a check.
    pub(crate) fn find(&self, engine: &Engine, digest: &str) -> Option<Component> {
        self.read(engine, &self.file_of(digest))
    }

    /// Stores the code of the component with this digest, and makes room for it.
    pub(crate) fn keep(&self, digest: &str, code: &Code) -> io::Result<()> {
        self.write(&self.file_of(digest), code.bytes())
    }

    /// The file name contains this crate's version; wasmtime rejects code of another engine of the
    /// same version.
    fn file_of(&self, digest: &str) -> PathBuf {
        let version = env!("CARGO_PKG_VERSION");
        self.folder.join(format!("{digest}-{version}.{EXTENSION}"))
    }

    /// Returns the found and the expected value for a plugin that exceeded one of these limits.
    pub(crate) fn refusal(&self, digest: &str, limits: &str) -> Option<(String, String)> {
        let file = self.refusal_file(digest, limits);
        let bytes = self.read_sealed(&file, MAX_REFUSAL).ok()??;
        serde_json::from_slice(bytes.get(SEAL_BYTES..)?).ok()
    }

    /// Stores the found and the expected value for a plugin that exceeded one of these limits.
    ///
    /// # Errors
    /// If the folder is not writable.
    pub(crate) fn refuse(
        &self,
        digest: &str,
        limits: &str,
        cause: &(String, String),
    ) -> io::Result<()> {
        let file = self.refusal_file(digest, limits);
        self.write(&file, &serde_json::to_vec(cause)?)
    }

    /// Opens a file of plans for reading, and returns its length in bytes.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if the file does not exist. Another kind if it is not private,
    /// or no regular file of at most `most` bytes.
    pub(crate) fn plans(&self, name: &str, most: u64) -> io::Result<(File, u64)> {
        let (opened, metadata) = regular_file::open(&self.plans_file(name), most)?;
        private(&metadata, 0o600)?;
        let _ = opened.set_modified(SystemTime::now()); // on failure, the file counts as older
        Ok((opened, metadata.len()))
    }

    /// Replaces the file of plans with this name.
    ///
    /// # Errors
    /// Those of `write`, or if the folder is not writable.
    pub(crate) fn replace_plans(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.replace(&self.plans_file(name), write)
    }

    /// Removes a file of plans, if it exists.
    pub(crate) fn remove_plans(&self, name: &str) {
        let _ = fs::remove_file(self.plans_file(name)); // a remaining file is only searched again
    }

    /// Derives a secret of this cache for plans under this name. All processes of this user derive
    /// the same secret, and no one else can.
    pub(crate) fn secret(&self, name: &str, purpose: &str) -> [u8; SEAL_BYTES] {
        // The seal of a file that never exists.
        self.seal(Path::new(&format!("{name}.{purpose}")), b"")
    }

    fn plans_file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{PLANS}"))
    }

    fn refusal_file(&self, digest: &str, limits: &str) -> PathBuf {
        let version = env!("CARGO_PKG_VERSION");
        let limits = sha256_hex(limits.as_bytes());
        let limits = limits.get(..LIMITS_DIGITS).unwrap_or_default();
        self.folder
            .join(format!("{digest}-{version}-{limits}.{REFUSED}"))
    }

    /// Reads the seal and content of a file. Returns `None` if the seal does not match the content.
    fn read_sealed(&self, file: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
        let most = most + SEAL_BYTES as u64;
        let (mut opened, metadata) = regular_file::open(file, most)?;
        private(&metadata, 0o600)?;
        let bytes = regular_file::read(&mut opened, metadata.len(), most)?;
        let Some((seal, content)) = bytes.split_first_chunk::<SEAL_BYTES>() else {
            return Ok(None);
        };
        if *seal != self.seal(file, content) {
            return Ok(None);
        }
        let _ = opened.set_modified(SystemTime::now()); // on failure, the file counts as older
        Ok(Some(bytes))
    }

    fn read(&self, engine: &Engine, file: &Path) -> Option<Component> {
        let bytes = self.read_sealed(file, MAX_CODE).ok()??;
        let code = bytes.get(SEAL_BYTES..)?;
        // SAFETY: the seal proves that a process of this user wrote these bytes under this name,
        // which contains the plugin's digest; wasmtime itself rejects other versions and settings.
        unsafe { Component::deserialize(engine, code) }.ok()
    }

    /// Removes the least recently used files until the rest is within the limits, and removes
    /// abandoned files. A file that another process removed first is no error.
    fn make_room(&self, kept: &Path) {
        let mut files = self.files();
        files.sort_unstable_by_key(|(used, _, _)| *used);
        let mut total: u64 = files.iter().map(|(_, length, _)| length).sum();
        let mut count = files.len();
        for (used, length, file) in files {
            let extension = file.extension().unwrap_or_default();
            let abandoned = extension == "tmp" && used.elapsed().is_ok_and(|age| age > ABANDONED);
            let too_much = total > self.limit || count > self.most_files;
            if abandoned || (too_much && extension != "tmp" && file != kept) {
                let _ = fs::remove_file(&file);
                total -= length;
                count -= 1;
            }
        }
    }

    /// Returns the time of last use, the length and the path of each sealed or temporary file.
    fn files(&self) -> Vec<(SystemTime, u64, PathBuf)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let ours = |path: &Path| {
            let extension = path.extension().and_then(OsStr::to_str);
            matches!(extension, Some(EXTENSION | REFUSED | PLANS | "tmp"))
        };
        let files = entries.filter(|entry| ours(&entry.path()));
        let file = |entry: fs::DirEntry| {
            let metadata = entry.metadata().ok()?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        };
        files.filter_map(file).collect()
    }

    /// Writes or replaces a sealed file, and makes room for it.
    fn write(&self, file: &Path, content: &[u8]) -> io::Result<()> {
        self.replace(file, |opened| {
            opened.write_all(&self.seal(file, content))?;
            opened.write_all(content)
        })
    }

    /// Writes or replaces a file, and makes room for it.
    fn replace(
        &self,
        file: &Path,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<()> {
        let temporary = temporary(&self.folder);
        let result = create_private(&temporary).and_then(|opened| {
            let mut opened = BufWriter::new(opened);
            write(&mut opened)?;
            opened.flush()?;
            fs::rename(&temporary, file)
        });
        match result {
            Ok(()) => self.make_room(file),
            Err(_) => drop(fs::remove_file(&temporary)),
        }
        result
    }

    /// Computes the keyed digest of a file's name and content.
    fn seal(&self, file: &Path, content: &[u8]) -> [u8; SEAL_BYTES] {
        let name = file.file_name().unwrap_or_default().as_encoded_bytes();
        let inner = Sha256::new()
            .chain_update(self.key)
            .chain_update((name.len() as u64).to_le_bytes());
        let inner = inner.chain_update(name).chain_update(content).finalize();
        Sha256::new()
            .chain_update(self.key)
            .chain_update(inner)
            .finalize()
            .into()
    }
}

/// Checks that a file or folder belongs to this user, and that others have no permissions beyond
/// `allowed`.
fn private(metadata: &fs::Metadata, allowed: u32) -> io::Result<()> {
    let ours = metadata.uid() == rustix::process::geteuid().as_raw();
    if ours && metadata.mode() & 0o777 & !allowed == 0 && !metadata.is_symlink() {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        "not private to this user",
    ))
}

/// Removes the permissions of others from a folder, if these did not include writing.
fn make_private(folder: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(folder)?;
    if private(&metadata, 0o755).is_ok() && private(&metadata, 0o700).is_err() {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

fn temporary(folder: &Path) -> PathBuf {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let nanos = std::time::UNIX_EPOCH
        .elapsed()
        .map_or(0, |time| time.as_nanos());
    folder.join(format!(".{}-{nanos:x}-{number}.tmp", std::process::id()))
}

/// Creates the folder's key on first use. If several processes do, the first one wins.
fn make_key(folder: &Path) -> io::Result<()> {
    let path = folder.join("key");
    if path.exists() {
        return Ok(());
    }
    private(&fs::symlink_metadata(folder)?, 0o700)?;
    let temporary = temporary(folder);
    let mut key = [0; KEY_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    let written = create_private(&temporary).and_then(|mut file| file.write_all(&key));
    let linked = written.and_then(|()| match fs::hard_link(&temporary, &path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    });
    let _ = fs::remove_file(&temporary);
    linked
}

fn read_key(folder: &Path) -> io::Result<[u8; KEY_BYTES]> {
    let (mut file, metadata) = regular_file::open(&folder.join("key"), KEY_BYTES as u64)?;
    private(&metadata, 0o600)?;
    let mut key = [0; KEY_BYTES];
    file.read_exact(&mut key)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of a component.
    const DIGEST: &str = "0123";

    /// The code of some component.
    fn code() -> Code {
        let plugin = crate::bundled::find("patch").expect("run `cargo xtask build` first");
        Code(plugin.code().unwrap())
    }

    fn private_folder() -> tempfile::TempDir {
        let mut builder = tempfile::Builder::new();
        let private = fs::Permissions::from_mode(0o700);
        builder.permissions(private).tempdir().unwrap()
    }

    #[test]
    fn code_is_found_again_and_any_change_is_rejected() {
        let folder = private_folder();
        let folder = folder.path().join("cache");
        let engine = crate::engine::new().unwrap();
        let cache = Cache::open(&folder).unwrap();
        cache.keep(DIGEST, &code()).unwrap();
        assert!(cache.find(&engine, DIGEST).is_some());
        let again = Cache::existing(&folder).unwrap();
        assert!(
            again.find(&engine, DIGEST).is_some(),
            "the key is found again"
        );

        let file = cache.file_of(DIGEST);
        let sealed = fs::read(&file).unwrap();
        let mut forged = sealed.clone();
        *forged.last_mut().unwrap() ^= 1;
        fs::write(&file, &forged).unwrap();
        assert!(cache.find(&engine, DIGEST).is_none(), "changed code");
        fs::write(&file, &sealed).unwrap();
        fs::rename(&file, cache.file_of("4567")).unwrap();
        let other = cache.find(&engine, "4567");
        assert!(other.is_none(), "code of another plugin");
    }

    #[test]
    fn pipes_and_endless_files_are_not_read_as_code() {
        let folder = private_folder();
        let engine = crate::engine::new().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let file = cache.file_of(DIGEST);
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &file, mode).unwrap();
        assert!(cache.find(&engine, DIGEST).is_none());
        cache.keep(DIGEST, &code()).unwrap();
        assert!(cache.find(&engine, DIGEST).is_some(), "it takes the place");
        File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_len(1 << 40)
            .unwrap();
        assert!(cache.find(&engine, DIGEST).is_none());
        let key = folder.path().join("key");
        fs::remove_file(&key).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &key, mode).unwrap();
        Cache::open(folder.path()).unwrap_err();
    }

    #[test]
    fn refusals_are_those_of_a_digest_and_limits_and_sealed() {
        let folder = private_folder();
        let cache = Cache::open(folder.path()).unwrap();
        let cause = ("9 functions".to_owned(), "at most 8".to_owned());
        cache.refuse(DIGEST, "few", &cause).unwrap();
        assert_eq!(cache.refusal(DIGEST, "few"), Some(cause));
        assert_eq!(cache.refusal(DIGEST, "more"), None);
        assert_eq!(cache.refusal("4567", "few"), None);
        let file = cache.refusal_file(DIGEST, "few");
        let mut bytes = fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&file, bytes).unwrap();
        assert_eq!(cache.refusal(DIGEST, "few"), None);
    }

    #[test]
    fn least_recently_used_code_is_removed() {
        let folder = private_folder();
        let engine = crate::engine::new().unwrap();
        let mut cache = Cache::open(folder.path()).unwrap();
        let code = code();
        let old = |name: &Path, hours: u64| {
            let time = SystemTime::now() - Duration::from_secs(hours * 3600);
            File::open(name).unwrap().set_modified(time).unwrap();
        };
        for (digest, hours) in [("a", 4), ("b", 3), ("c", 2)] {
            cache.keep(digest, &code).unwrap();
            old(&cache.file_of(digest), hours);
        }
        let (left, begun) = (temporary(folder.path()), temporary(folder.path()));
        fs::write(&left, "").unwrap();
        old(&left, 2);
        fs::write(&begun, "").unwrap();
        assert!(cache.find(&engine, "a").is_some(), "and is used now");
        let length = cache.file_of("a").metadata().unwrap().len();
        cache.limit = 3 * length;
        cache.keep("d", &code).unwrap();
        let there = ["a", "b", "c", "d"].map(|digest| cache.file_of(digest).exists());
        assert_eq!(there, [true, false, true, true]);
        assert!(!left.exists() && begun.exists());
        cache.limit = MAX_CACHE;
        cache.most_files = 3; // one is temporary
        old(&cache.file_of("c"), 2);
        cache.keep("f", &code).unwrap();
        let there = ["a", "c", "d", "f"].map(|digest| cache.file_of(digest).exists());
        assert_eq!(there.map(usize::from).iter().sum::<usize>(), 2);
        assert!(there[3] && !there[1]);
        cache.limit = 0;
        cache.keep("e", &code).unwrap();
        assert!(cache.find(&engine, "e").is_some() && !cache.file_of("a").exists());
    }

    #[test]
    fn a_folder_that_others_may_read_becomes_private() {
        let folder = private_folder();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Cache::existing(folder.path()).unwrap_err();
        Cache::open(folder.path()).unwrap();
        let mode = fs::metadata(folder.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_folder_that_others_may_change_is_refused() {
        let folder = private_folder();
        let denied = || Cache::open(folder.path()).unwrap_err().kind();
        let set = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode));
        for open_to_others in [0o775, 0o757, 0o702] {
            set(open_to_others).unwrap();
            assert_eq!(denied(), io::ErrorKind::PermissionDenied);
        }
        set(0o700).unwrap();
        Cache::existing(folder.path()).unwrap_err();
        Cache::open(folder.path()).unwrap();
        fs::set_permissions(folder.path().join("key"), fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(denied(), io::ErrorKind::PermissionDenied);
    }
}
