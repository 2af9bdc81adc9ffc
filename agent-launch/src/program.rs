//! The kind of a command: `java`, another tool of a JDK, or any other program.

use std::env::consts::ARCH;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use errors::{Error, codes};
use local_files::programs::find_program;

/// The oldest Java that the agent works in.
const OLDEST_JAVA: u32 = 8;

/// The way in which a command takes the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    /// The `java` launcher: `-agentpath:…` is an option of its own.
    Java,
    /// Another tool of a JDK (`javac`, `javadoc`, `jshell` …): JVM options go behind `-J`.
    JdkTool,
    /// Any other program: the JVMs that it starts read `JAVA_TOOL_OPTIONS`.
    Other,
}

/// Finds the command as a shell would, and returns its kind.
pub(crate) fn find(name: &OsStr) -> Result<Program, Error> {
    let path = find_program(name).ok_or_else(|| not_found(name))?;
    let program = kind(&path);
    if program != Program::Other
        && let Some(home) = java_home(&path)
    {
        check_jdk(&home)?;
    }
    Ok(program)
}

fn not_found(name: &OsStr) -> Error {
    Error::mistake(
        codes::H0602,
        format!("cannot find the command {}", name.display()),
    )
    .with("expected", "an executable file, or the name of one in PATH")
    .with(
        "help",
        "check its spelling; what follows `--` is run without a shell",
    )
}

fn kind(path: &Path) -> Program {
    if path.file_name() == Some("java".as_ref()) {
        return Program::Java;
    }
    match java_home(path) {
        Some(_) => Program::JdkTool,
        None => Program::Other,
    }
}

/// Returns the JDK with the command in its `bin`, links followed.
fn java_home(path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    let bin = real.parent().filter(|folder| folder.ends_with("bin"))?;
    let home = bin.parent()?;
    let is_jdk = bin.join("java").is_file()
        && (home.join("lib/modules").is_file() || home.join("release").is_file());
    is_jdk.then(|| home.to_owned())
}

/// Refuses a JDK that the agent does not support, by its `release` file.
fn check_jdk(home: &Path) -> Result<(), Error> {
    let Ok(release) = std::fs::read_to_string(home.join("release")) else {
        return Ok(()); // an unknown JDK is accepted
    };
    let refused = |expected: String, found: String| {
        Error::mistake(codes::H0604, format!("the agent does not work in the JDK at {}", home.display()))
            .with("expected", expected)
            .with("found", found)
            .with("help", "run the program with another JDK, for example by its full path: -- /path/to/jdk/bin/java …")
    };
    if let Some(version) = property(&release, "JAVA_VERSION")
        && feature(version).is_some_and(|feature| feature < OLDEST_JAVA)
    {
        return Err(refused(
            format!("Java {OLDEST_JAVA} or newer"),
            format!("Java {version}"),
        ));
    }
    match property(&release, "OS_ARCH") {
        Some(other) if !is_this_processor(other) => Err(refused(
            format!("a JDK for {ARCH}"),
            format!("one for {other}"),
        )),
        _ => Ok(()),
    }
}

/// Checks whether a JDK's name of a processor is that of this build: builders of JDKs have two names for each.
fn is_this_processor(name: &str) -> bool {
    match name {
        "amd64" => ARCH == "x86_64",
        "arm64" => ARCH == "aarch64",
        other => other == ARCH,
    }
}

/// Returns the value of `KEY="value"`.
fn property<'a>(release: &'a str, key: &str) -> Option<&'a str> {
    let line = release
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
    Some(line.trim().trim_matches('"'))
}

/// Parses 8 from `1.8.0_402`, 17 from `17.0.10`, 25 from `25`.
fn feature(version: &str) -> Option<u32> {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit());
    match numbers.next()?.parse().ok()? {
        1 => numbers.next()?.parse().ok(),
        feature => Some(feature),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn executable(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn jdk(root: &Path, release: &str) {
        for tool in ["java", "javac", "jshell"] {
            executable(&root.join("bin").join(tool));
        }
        std::fs::write(root.join("release"), release).unwrap();
    }

    #[test]
    fn tools_of_a_jdk_are_distinguished_from_other_commands() {
        let root = tempfile::tempdir().unwrap();
        jdk(
            &root.path().join("jdk"),
            &format!("JAVA_VERSION=\"17.0.1\"\nOS_ARCH=\"{ARCH}\"\n"),
        );
        executable(&root.path().join("usr/bin/mvn"));
        let link = root.path().join("usr/bin/javac");
        std::os::unix::fs::symlink(root.path().join("jdk/bin/javac"), &link).unwrap();
        let kind_of = |path: &str| find(root.path().join(path).as_os_str()).unwrap();
        assert_eq!(kind_of("jdk/bin/java"), Program::Java);
        assert_eq!(kind_of("jdk/bin/jshell"), Program::JdkTool);
        assert_eq!(kind_of("usr/bin/javac"), Program::JdkTool);
        assert_eq!(kind_of("usr/bin/mvn"), Program::Other);
    }

    #[test]
    fn unsupported_jdk_is_refused_with_help() {
        for (release, found) in [
            ("JAVA_VERSION=\"1.7.0_80\"", "Java 1.7.0_80"),
            ("OS_ARCH=\"riscv64\"", "riscv64"),
        ] {
            let root = tempfile::tempdir().unwrap();
            jdk(root.path(), release);
            let error = find(root.path().join("bin/java").as_os_str()).unwrap_err();
            assert!(error.to_string().contains(found), "{error}");
            assert!(error.to_string().contains("error[H0604]"), "{error}");
        }
    }

    #[test]
    fn processor_has_two_names_in_jdks() {
        let known = ["x86_64", "amd64", "aarch64", "arm64"].map(is_this_processor);
        let is_intel = ARCH == "x86_64";
        assert_eq!(known, [is_intel, is_intel, !is_intel, !is_intel]);
    }

    #[test]
    fn feature_release_of_a_version() {
        let features = ["1.8.0_402", "11", "17.0.10+7", "26-ea"].map(feature);
        assert_eq!(features, [Some(8), Some(11), Some(17), Some(26)]);
    }
}
