//! Executable files of commands.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Returns the executable file of a command, as a shell finds it.
#[must_use]
pub fn find_program(name: &OsStr) -> Option<PathBuf> {
    which(name, std::env::var_os("PATH").as_deref())
}

/// Finds the executable file of this name in the folders of `search`.
fn which(name: &OsStr, search: Option<&OsStr>) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|path| is_executable(path));
    }
    std::env::split_paths(search?)
        .map(|folder| folder.join(name))
        .find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executable(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn command_is_searched_as_a_shell_does() {
        let root = tempfile::tempdir().unwrap();
        let tool = root.path().join("second/tool");
        executable(&tool);
        std::fs::create_dir_all(root.path().join("first/tool")).unwrap(); // a folder is no command
        let search =
            std::env::join_paths([root.path().join("first"), root.path().join("second")]).unwrap();
        assert_eq!(which("tool".as_ref(), Some(&search)), Some(tool));
        assert_eq!(which("other".as_ref(), Some(&search)), None);
    }
}
