//! The needs of an ELF file, as `readelf` prints them.

use crate::workspace::output_of;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Functions of which glibc keeps older ones for old programs, and whose older ones do for the agent: an agent without a
/// C library's name gets the oldest.
const OLD_ONES_DO: [&str; 5] = [
    // Both moved from another library of glibc, unchanged.
    "clock_gettime",
    "clock_nanosleep",
    // The older one also allows that the regions overlap.
    "memcpy",
    // The older one runs a text without `#!` with the shell.
    "posix_spawnp",
    // The older one is not of glibc's first version, and so hidden.
    "sched_getaffinity",
];
/// The oldest glibc. Versions after it are of functions that moved to another library, unchanged: the agent must run
/// with the older ones anyway.
const OLDEST: u32 = 17;

/// The table of needed libraries, the program headers and the versions of symbols.
pub fn dynamic(file: &Path) -> Result<String> {
    output_of(
        Command::new("readelf")
            .args(["--wide", "--dynamic", "--program-headers", "--version-info"])
            .arg(file),
    )
}

/// Faults of an agent for every C library: it must name no library and no version.
pub fn faults_of_agent(readelf: &str) -> Vec<String> {
    let named = readelf
        .lines()
        .filter(|line| line.contains("(NEEDED)") || line.contains("  Name: "));
    named
        .map(|line| {
            format!(
                "expected an agent that names no library and no version, found: {}",
                line.trim()
            )
        })
        .collect()
}

/// Faults of a static command: it must need no library and no dynamic linker.
pub fn faults_of_command(readelf: &str) -> Vec<String> {
    let named = readelf
        .lines()
        .filter(|line| line.contains("(NEEDED)") || line.contains(" INTERP "));
    named
        .map(|line| format!("expected a static command, found: {}", line.trim()))
        .collect()
}

/// Finds functions that the agent calls and that this machine's glibc also has in an older version. Other C libraries
/// have one version of each.
pub fn old_functions(agent: &Path) -> Result<Vec<String>> {
    let undefined = undefined(&symbols(agent)?);
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let paths = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5));
    let library = paths.into_iter().find(|path| path.ends_with("/libc.so.6"));
    let Some(library) = library else {
        return Ok(Vec::new());
    };
    let several = with_several_versions(&symbols(Path::new(library))?);
    let found = undefined
        .intersection(&several)
        .filter(|name| !OLD_ONES_DO.contains(&name.as_str()));
    Ok(found
        .map(|name| format!("the agent calls `{name}`, of which glibc keeps an older one for old programs, and would get that; see hook-agent/portable/functions.c"))
        .collect())
}

fn symbols(file: &Path) -> Result<String> {
    output_of(
        Command::new("readelf")
            .args(["--wide", "--dyn-syms"])
            .arg(file),
    )
}

/// The names of the symbols that a library needs.
fn undefined(readelf: &str) -> BTreeSet<String> {
    let names = readelf
        .lines()
        .filter_map(|line| match fields(line)?.as_slice() {
            [.., "UND", name] => Some((*name).to_owned()),
            _ => None,
        });
    names.collect()
}

/// The names of functions with more than one version in the oldest glibc, such as `realpath@GLIBC_2.2.5` and
/// `realpath@@GLIBC_2.3`.
fn with_several_versions(readelf: &str) -> BTreeSet<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for fields in readelf.lines().filter_map(fields) {
        if let Some((name, version)) = fields.last().and_then(|name| name.split_once('@')) {
            let version = version.trim_start_matches('@');
            let minor = version.strip_prefix("GLIBC_2.").unwrap_or_default();
            let minor = minor.split('.').next().and_then(|minor| minor.parse().ok());
            if minor.is_none_or(|minor: u32| minor > OLDEST) {
                continue;
            }
            versions.entry(name).or_default().insert(version);
        }
    }
    versions.retain(|_, versions| versions.len() > 1);
    versions.into_keys().map(str::to_owned).collect()
}

/// The columns of a symbol: number, value, size, type, binding, visibility, section and name.
fn fields(line: &str) -> Option<Vec<&str>> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let is_symbol = fields.len() >= 8 && fields[0].trim_end_matches(':').parse::<u32>().is_ok();
    is_symbol.then_some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_and_version_in_an_agent_are_faults() {
        let needed = " 0x01 (NEEDED)             Shared library: [libc.so]";
        let version = "  0x0010:   Name: GLIBC_2.34  Flags: none  Version: 2";
        let text = format!("{needed}\n  LOAD 0x0\n{version}\n");
        assert_eq!(faults_of_agent(&text).len(), 2);
        assert_eq!(faults_of_agent("  LOAD 0x0\n"), Vec::<String>::new());
    }

    #[test]
    fn dynamic_command_is_a_fault() {
        let text = "  INTERP  0x000318 0x318\n 0x01 (NEEDED)  Shared library: [libc.so]\n";
        assert_eq!(faults_of_command(text).len(), 2);
        assert!(faults_of_command("  LOAD  0x0\n").is_empty());
    }

    #[test]
    fn functions_with_older_versions_are_found() {
        let libc = "    10: 0000000000045a30  1106 FUNC    GLOBAL DEFAULT   15 realpath@GLIBC_2.2.5\n    \
                    11: 0000000000045a40  1106 FUNC    GLOBAL DEFAULT   15 realpath@@GLIBC_2.3\n    \
                    12: 0000000000045a50    10 FUNC    WEAK   DEFAULT   15 read@@GLIBC_2.2.5\n    \
                    13: 0000000000045a60    10 FUNC    GLOBAL DEFAULT   15 dlsym@GLIBC_2.2.5\n    \
                    14: 0000000000045a60    10 FUNC    GLOBAL DEFAULT   15 dlsym@@GLIBC_2.34\n";
        let found = with_several_versions(libc);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["realpath"]);
        let agent = "     1: 0000000000000000     0 NOTYPE  GLOBAL DEFAULT  UND realpath\n     \
                     2: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND read\n     \
                     3: 0000000000000010     5 FUNC    GLOBAL DEFAULT   12 Agent_OnLoad\n";
        let found = undefined(agent);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["read", "realpath"]);
    }
}
