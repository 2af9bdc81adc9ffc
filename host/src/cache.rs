//! Precompiled code: of the bundled plugins from inside the agent, of others from a private cache.
//!
//! Loading precompiled code runs it as native code, so it is taken from two
//! places only: the agent's own binary, and files that this user's agent wrote
//! and sealed. The folder must belong to this user alone, and each file must
//! carry the keyed digest of its contents; the key lies beside them, readable
//! by this user alone. Anything else is compiled again.
#![allow(
    unsafe_code,
    reason = "deserializing precompiled code is unsafe by nature"
)]

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::bundled::Bundled;

const KEY_BYTES: usize = 32;
const SEAL_BYTES: usize = 32;

/// A folder of sealed code.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    key: [u8; KEY_BYTES],
}

/// Loads the code of a bundled plugin; none if another engine made it.
pub fn load_bundled(engine: &Engine, plugin: &Bundled) -> Option<Component> {
    let code = plugin.code()?;
    // SAFETY: the bytes are part of this very binary, written at build time by `precompile` with
    // the same engine; wasmtime itself refuses other versions and settings.
    unsafe { Component::deserialize(engine, &code) }.ok()
}

/// The lower-case hex of a SHA-256.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Cache {
    /// The user's cache: `$XDG_CACHE_HOME/classhook`, or `~/.cache/classhook`; none where there is no such place.
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

    /// Opens or makes a private folder.
    ///
    /// # Errors
    /// When it cannot be made, or belongs or is open to anybody else.
    pub fn open(folder: &Path) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        private(&fs::symlink_metadata(folder)?, 0o700)?;
        let key = read_key(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            key,
        })
    }

    /// The component, from the cache if it is there, else compiled and put there.
    ///
    /// # Errors
    /// When the component cannot be compiled; trouble with the cache is no error.
    pub fn load(&self, engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Component> {
        let file = self.folder.join(format!(
            "{}-{:016x}.code",
            sha256_hex(wasm),
            engine_hash(engine)
        ));
        if let Some(component) = self.read(engine, &file) {
            return Ok(component);
        }
        let component = Component::new(engine, wasm)?;
        if let Ok(code) = component.serialize() {
            // A full disk or a lost race costs only the next start its compilation.
            let _ = self.write(&file, &code);
        }
        Ok(component)
    }

    fn read(&self, engine: &Engine, file: &Path) -> Option<Component> {
        let mut opened = File::open(file).ok()?;
        private(&opened.metadata().ok()?, 0o600).ok()?;
        let mut bytes = Vec::new();
        opened.read_to_end(&mut bytes).ok()?;
        let (seal, code) = bytes.split_first_chunk::<SEAL_BYTES>()?;
        if *seal != self.seal(file, code) {
            return None;
        }
        // SAFETY: the seal says that an agent of this user wrote these bytes under this name,
        // which holds the plugin's digest and the engine's version and settings.
        unsafe { Component::deserialize(engine, code) }.ok()
    }

    fn write(&self, file: &Path, code: &[u8]) -> io::Result<()> {
        let temporary = temporary(&self.folder);
        let result = create_private(&temporary).and_then(|mut opened| {
            opened.write_all(&self.seal(file, code))?;
            opened.write_all(code)?;
            fs::rename(&temporary, file)
        });
        if result.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        result
    }

    /// A digest that only who has the key can make, over name and contents.
    fn seal(&self, file: &Path, code: &[u8]) -> [u8; SEAL_BYTES] {
        let name = file.file_name().unwrap_or_default().as_encoded_bytes();
        let inner = Sha256::new()
            .chain_update(self.key)
            .chain_update((name.len() as u64).to_le_bytes());
        let inner = inner.chain_update(name).chain_update(code).finalize();
        Sha256::new()
            .chain_update(self.key)
            .chain_update(inner)
            .finalize()
            .into()
    }
}

/// Version and settings of the engine and of this crate.
fn engine_hash(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    hasher.finish()
}

/// Checks that something belongs to this user and nobody else may touch it.
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

/// The folder's key; made with the first use, by whoever comes first.
fn read_key(folder: &Path) -> io::Result<[u8; KEY_BYTES]> {
    let path = folder.join("key");
    if !path.exists() {
        let temporary = temporary(folder);
        let mut key = [0; KEY_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        let written = create_private(&temporary).and_then(|mut file| file.write_all(&key));
        let linked = written.and_then(|()| match fs::hard_link(&temporary, &path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        });
        let _ = fs::remove_file(&temporary);
        linked?;
    }
    let mut file = File::open(&path)?;
    private(&file.metadata()?, 0o600)?;
    let mut key = [0; KEY_BYTES];
    file.read_exact(&mut key)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// The smallest component.
    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    fn code_file(folder: &Path) -> PathBuf {
        let mut files = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        files
            .find(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "code")
            })
            .unwrap()
    }

    #[test]
    fn code_is_found_again_and_nothing_else_is_believed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("cache");
        let engine = crate::engine::new().unwrap();
        let cache = Cache::open(&folder).unwrap();
        cache.load(&engine, EMPTY).unwrap();
        let file = code_file(&folder);
        assert!(cache.read(&engine, &file).is_some());
        assert!(
            Cache::open(&folder).unwrap().read(&engine, &file).is_some(),
            "the key is found again"
        );

        let sealed = fs::read(&file).unwrap();
        let mut forged = sealed.clone();
        *forged.last_mut().unwrap() ^= 1;
        fs::write(&file, &forged).unwrap();
        assert!(cache.read(&engine, &file).is_none(), "changed code");

        let renamed = folder.join("other.code");
        fs::write(&file, &sealed).unwrap();
        fs::rename(&file, &renamed).unwrap();
        assert!(
            cache.read(&engine, &renamed).is_none(),
            "code of another plugin"
        );
    }

    #[test]
    fn a_folder_open_to_others_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(
            Cache::open(folder.path()).unwrap_err().kind(),
            io::ErrorKind::PermissionDenied
        );
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        Cache::open(folder.path()).unwrap();
        fs::set_permissions(folder.path().join("key"), fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(
            Cache::open(folder.path()).unwrap_err().kind(),
            io::ErrorKind::PermissionDenied
        );
    }
}
