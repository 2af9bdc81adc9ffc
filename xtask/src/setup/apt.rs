//! Debian packages, unpacked without being installed: private package lists, the machine's own mirror.

use crate::workspace::{in_path, output_of, say};
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Suites that may have a package, newest first.
const SUITES: [&str; 5] = ["trixie-backports", "sid", "forky", "trixie", "bookworm"];

/// Returns the library source of this Rust release, from Debian's `rust-src`.
pub fn library_source(release: &str, scratch: &Path) -> Result<PathBuf> {
    let apt = Apt::new(scratch)?;
    say(format!(
        "looking for the library source of Rust {release} in Debian's package lists"
    ));
    let trouble = apt.update();
    let version = apt
        .versions("rust-src")?
        .into_iter()
        .find(|version| {
            version.starts_with(&format!("{release}+"))
                || version.starts_with(&format!("{release}-"))
        })
        .with_context(|| {
            format!(
                "expected rust-src {release} in one of {}{trouble}",
                SUITES.join(", ")
            )
        })?;
    let unpacked = scratch.join("rust-src");
    apt.unpack(&format!("rust-src={version}"), &unpacked)?;
    let sources = unpacked.join("usr/src");
    let library = std::fs::read_dir(&sources)?
        .filter_map(Result::ok)
        .map(|entry| entry.path().join("library"))
        .find(|library| library.join("sysroot/Cargo.toml").is_file());
    library.with_context(|| format!("expected a folder `library` below {}", sources.display()))
}

/// apt with lists and a cache of its own. Only the mirror's address comes from the system.
pub struct Apt {
    folder: PathBuf,
}

impl Apt {
    pub fn new(scratch: &Path) -> Result<Self> {
        Self::of(&SUITES, scratch)
    }

    /// apt with these suites alone, since reading all lists takes a while.
    pub fn of(suites: &[&str], scratch: &Path) -> Result<Self> {
        if in_path("apt-get").is_none() || in_path("dpkg-deb").is_none() {
            bail!("there is no apt-get here to look for Debian packages with");
        }
        let folder = scratch.join("apt");
        for below in ["lists/partial", "cache/archives/partial", "state", "debs"] {
            std::fs::create_dir_all(folder.join(below))?;
        }
        let mirror = mirror()?;
        let mut sources = String::new();
        for suite in suites {
            writeln!(sources, "deb [signed-by={KEYRING}] {mirror} {suite} main")?;
        }
        std::fs::write(folder.join("sources.list"), sources)?;
        std::fs::write(folder.join("apt.conf"), configuration(&folder)?)?;
        Ok(Self { folder })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("APT_CONFIG", self.folder.join("apt.conf"))
            .current_dir(self.folder.join("debs"));
        command
    }

    /// Updates the package lists and returns the output. A missing suite must not stop the others, so errors are only
    /// printed.
    pub fn update(&self) -> String {
        match output_of(self.command("apt-get").args(["-q", "update"])) {
            Ok(_) => String::new(),
            Err(error) => format!(" ({error:#})"),
        }
    }

    fn versions(&self, package: &str) -> Result<Vec<String>> {
        let listing = output_of(self.command("apt-cache").args(["madison", package]))?;
        Ok(listing
            .lines()
            .filter_map(|line| line.split('|').nth(1))
            .map(|version| version.trim().to_owned())
            .collect())
    }

    /// Unpacks a package, named with `=VERSION` or `/SUITE` if needed.
    pub fn unpack(&self, package: &str, into: &Path) -> Result<()> {
        output_of(self.command("apt-get").args(["-q", "download", package]))?;
        for entry in std::fs::read_dir(self.folder.join("debs"))? {
            let deb = entry?.path();
            output_of(Command::new("dpkg-deb").arg("-x").arg(&deb).arg(into))?;
            std::fs::remove_file(&deb)?;
        }
        Ok(())
    }
}

fn configuration(folder: &Path) -> Result<String> {
    let system = output_of(Command::new("apt-config").arg("dump"))?;
    let mut text: String = system
        .lines()
        .filter(|line| line.starts_with("Acquire::") && !line.starts_with("Acquire::Languages"))
        .flat_map(|line| [line, "\n"])
        .collect();
    for name in [
        "Etc::parts",
        "Etc::main",
        "Etc::sourceparts",
        "Etc::preferences",
        "Etc::preferencesparts",
    ] {
        writeln!(text, "Dir::{name} \"/dev/null\";")?;
    }
    for (name, below) in [
        ("Etc::sourcelist", "sources.list"),
        ("State::lists", "lists"),
        ("Cache", "cache"),
        ("Log", "state"),
    ] {
        writeln!(text, "Dir::{name} \"{}\";", folder.join(below).display())?;
    }
    text.push_str(
        "APT::Sandbox::User \"root\";\nAcquire::Languages \"none\";\nAcquire::Retries \"2\";\n",
    );
    Ok(text)
}

/// Returns the Debian mirror of the machine.
fn mirror() -> Result<String> {
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    if let Ok(entries) = std::fs::read_dir("/etc/apt/sources.list.d") {
        files.extend(entries.filter_map(Result::ok).map(|entry| entry.path()));
    }
    files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(|line| {
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .map(|word| word.trim_end_matches('/').to_owned())
        .find(|word| word.starts_with("http") && word.ends_with("/debian"))
        .context("expected a Debian mirror in /etc/apt, found none")
}
