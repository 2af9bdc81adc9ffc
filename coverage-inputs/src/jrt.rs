//! Reads the JDK's own classes, `jrt:MODULE`, from `lib/modules` with the JDK's `jimage`.

use std::path::{Path, PathBuf};
use std::process::Command;

use errors::{Error, codes};
use tempfile::TempDir;

/// Returns the module of `jrt:MODULE` or of the URL `jrt:/MODULE`. It is empty for `jrt:`, which
/// means all modules.
///
/// Returns nothing for other locations.
///
/// # Errors
/// `H0614` for an impossible module name.
pub(super) fn module(place: &str) -> Result<Option<&str>, Error> {
    let Some(module) = place.strip_prefix("jrt:") else {
        return Ok(None);
    };
    let module = module.strip_prefix('/').unwrap_or(module);
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || char == '_')
    };
    match module.is_empty() || module.split('.').all(is_part) {
        true => Ok(Some(module)),
        false => Err(
            Error::mistake(codes::H0614, format!("`jrt:{module}` names no module")).with(
                "expected",
                "jrt:MODULE, for example jrt:java.sql; jrt: is the whole JDK",
            ),
        ),
    }
}

/// Extracts the classes of one module of the JDK at `java_home` to a temporary folder; an empty
/// `module` means all modules. `JAVA_HOME` replaces an unknown `java_home`, or one without
/// `jimage`.
pub(super) fn extract(module: &str, java_home: Option<&Path>) -> Result<TempDir, Error> {
    let from_environment = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let homes: Vec<PathBuf> = java_home
        .map(Path::to_owned)
        .into_iter()
        .chain(from_environment)
        .collect();
    let Some(home) = homes.iter().find(|home| home.join("bin/jimage").is_file()) else {
        return Err(no_jimage(module, &homes));
    };
    let folder =
        tempfile::tempdir().map_err(|error| Error::unwritable(&std::env::temp_dir(), &error))?;
    run_jimage(home, module, folder.path())?;
    if !folder.path().join(module).is_dir() {
        return Err(Error::mistake(
            codes::H0614,
            format!("the JDK at {} has no module {module}", home.display()),
        )
        .with("help", "`java --list-modules` lists its modules"));
    }
    Ok(folder)
}

fn run_jimage(home: &Path, module: &str, folder: &Path) -> Result<(), Error> {
    let failed = |found: String| {
        Error::mistake(
            codes::H0614,
            format!(
                "cannot extract the module {module} from the JDK at {}",
                home.display()
            ),
        )
        .with("found", found)
        .with(
            "help",
            "try another JDK of the same version by setting JAVA_HOME",
        )
    };
    let output = Command::new(home.join("bin/jimage"))
        .args([
            "extract",
            "--include",
            &format!("regex:/{}/.*\\.class", pattern(module)),
        ])
        .arg("--dir")
        .arg(folder)
        .arg(home.join("lib/modules"))
        .env_remove("JAVA_TOOL_OPTIONS") // without the agent
        .output()
        .map_err(|error| failed(error.to_string()))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        )),
    }
}

/// Returns the regular expression for the folder of a module in an image.
fn pattern(module: &str) -> String {
    match module {
        "" => "[^/]+".to_owned(),
        module => module.replace('.', "\\."),
    }
}

fn no_jimage(module: &str, homes: &[PathBuf]) -> Error {
    let mut problem = Error::mistake(
        codes::H0614,
        format!("cannot read jrt:{module}: no JDK with `jimage` is known"),
    );
    for home in homes {
        problem = problem.with("looked", home.join("bin/jimage").display().to_string());
    }
    problem.with(
        "help",
        "set JAVA_HOME to the JDK that ran the program (a JRE has no jimage)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_name_is_checked_before_anything_runs() {
        for name in ["java.base/..", "a b", "$(x)", "a..b", "."] {
            let error = module(&format!("jrt:{name}")).unwrap_err();
            assert!(error.to_string().contains("names no module"), "{error}");
        }
        assert_eq!(module("jrt:java.sql").unwrap(), Some("java.sql"));
        assert_eq!(module("jrt:/java.sql").unwrap(), Some("java.sql"));
        assert_eq!(module("jrt:").unwrap(), Some(""));
        assert_eq!(module("classes").unwrap(), None);
    }
}
