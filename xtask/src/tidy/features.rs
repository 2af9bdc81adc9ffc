//! Checks that wasmtime is compiled twice and no more often: with the compiler for the command, without for the agent.
//! The generators and macros of the build are compiled once.
//!
//! Cargo unites the features of the packages of one command. Another selection of packages may mean other features of
//! some small shared crate, and then wasmtime is compiled again, which takes minutes. So the crates below wasmtime must
//! have the same features in each selection, and so must agent and command in the build of their tests.

use super::finding::Finding;
use crate::workspace::{Workspace, output_of};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};

/// A title, and the arguments for cargo.
type Selection = (&'static str, &'static [&'static str]);

/// Everything, with the compiler.
const WHOLE: &[&str] = &["--workspace"];

/// The compiler of plugins, which is built first: it compiles the bundled plugins for the host.
const COMPILER: Selection = (
    "-p plugin-compiler",
    &["-p", "plugin-compiler", "-e", "normal,build"],
);

/// The command, with the compiler, and its tests.
const COMMAND: [Selection; 2] = [
    ("-p cli", &["-p", "cli", "-e", "normal,build"]),
    (
        "tests of plugin-compiler, cli and e2e-tests",
        &["-p", "plugin-compiler", "-p", "cli", "-p", "e2e-tests"],
    ),
];

/// The agent, without the compiler, and its tests.
const AGENT: [Selection; 2] = [
    ("-p hook-agent", &["-p", "hook-agent", "-e", "normal,build"]),
    (
        "tests of plugin-code, host and hook-agent",
        &["-p", "plugin-code", "-p", "host", "-p", "hook-agent"],
    ),
];

/// The plugins that users get, for WebAssembly. Their macros are built for this machine, as those of the other builds.
const PLUGINS: Selection = (
    "the bundled plugins",
    &[
        "--target",
        "wasm32-unknown-unknown",
        "-p",
        "plugin-coverage",
        "-p",
        "plugin-patch",
        "-p",
        "plugin-trace",
        "-e",
        "normal,build",
    ],
);

/// The tasks, which build all others.
const TASKS: Selection = ("-p xtask", &["-p", "xtask", "-e", "normal,build"]);

/// Crates of macros and generators. They and the crates below them take minutes, and several builds need them.
const GENERATORS: [&str; 5] = [
    "wit-component v",
    "syn v2",
    "syn v3",
    "serde_derive v",
    "ristretto_classfile v",
];

/// The crates that are built once with the compiler and once without.
const TWICE: [&str; 8] = [
    "bumpalo",
    "gimli",
    "object",
    "once_cell",
    "pulley-interpreter",
    "wasmtime",
    "wasmtime-environ",
    "wasmtime-internal-unwinder",
];

/// The crate whose build takes minutes.
const WASMTIME: &str = "wasmtime v";

/// A crate of wasmtime's compiler.
const CODE_GENERATOR: &str = "cranelift-codegen";

/// The feature sets of each package below wasmtime; more than one if it is built more than once.
type Features = BTreeMap<String, BTreeSet<String>>;

/// Compares the selections with each other and with the whole workspace.
pub fn check(workspace: &Workspace, findings: &mut Vec<Finding>) -> Result<()> {
    let whole = features(workspace, WHOLE, WASMTIME)?;
    for (title, arguments) in [COMPILER, COMMAND[0]] {
        let found = features(workspace, arguments, WASMTIME)?;
        let packages = found.keys();
        let differences = packages.filter_map(|package| difference(package, title, &found, &whole));
        findings.extend(differences.map(|what| Finding::new("cli/Cargo.toml", what)));
    }
    check_agent(workspace, findings, &whole)?;
    check_generators(workspace, findings)?;
    for (root, [(_, product), (title, tests)]) in [("cli v", COMMAND), ("hook-agent v", AGENT)] {
        let product = features(workspace, product, root)?;
        let tests = features(workspace, tests, root)?;
        let packages = product.keys();
        let differences =
            packages.filter_map(|package| difference(package, title, &tests, &product));
        findings.extend(differences.map(|what| Finding::new("cli/Cargo.toml", what)));
    }
    Ok(())
}

/// Checks that the agent shares all packages with the command, except those that are built twice, and that it has no
/// compiler.
fn check_agent(workspace: &Workspace, findings: &mut Vec<Finding>, whole: &Features) -> Result<()> {
    let (title, arguments) = AGENT[0];
    let agent = features(workspace, arguments, WASMTIME)?;
    let own = agent.keys().filter(|package| !is_one_of(package, &TWICE));
    let own = own.filter(|package| {
        let whole = whole.get(*package);
        !whole.is_some_and(|whole| agent[*package].is_subset(whole))
    });
    let differences = own.filter_map(|package| difference(package, title, &agent, whole));
    findings.extend(differences.map(|what| Finding::new("plugin-code/Cargo.toml", what)));
    let mut packages = agent.keys();
    if packages.any(|package| is_one_of(package, &[CODE_GENERATOR])) {
        let what = "the agent is built with the compiler of plugins".to_owned();
        findings.push(Finding::new("host/Cargo.toml", what));
    }
    Ok(())
}

/// Checks that each generator is built with the same features in each build of a demo, and so are the crates below it.
fn check_generators(workspace: &Workspace, findings: &mut Vec<Finding>) -> Result<()> {
    let mut known = Features::new();
    for (title, arguments) in [TASKS, PLUGINS, COMPILER, COMMAND[0], AGENT[0]] {
        for root in GENERATORS {
            for (package, lists) in features(workspace, arguments, root)? {
                let expected = known
                    .entry(package.clone())
                    .or_insert_with(|| lists.clone());
                // A plugin has some of these crates for WebAssembly, too, with fewer features.
                let is_same =
                    *expected == lists || (title == PLUGINS.0 && lists.is_superset(expected));
                if !is_same {
                    let found = Features::from([(package.clone(), lists)]);
                    let what = difference(&package, title, &found, &known);
                    findings.extend(what.map(|what| Finding::new("plugin-code/Cargo.toml", what)));
                }
            }
        }
    }
    Ok(())
}

/// Checks whether a `name version` has one of these names.
fn is_one_of(package: &str, names: &[&str]) -> bool {
    package
        .split(' ')
        .next()
        .is_some_and(|name| names.contains(&name))
}

fn difference(package: &str, title: &str, these: &Features, whole: &Features) -> Option<String> {
    let (these, whole) = (these.get(package), whole.get(package));
    if these == whole {
        return None;
    }
    let list = |features: Option<&BTreeSet<String>>| {
        let features = features.into_iter().flatten().cloned();
        features.collect::<Vec<_>>().join(" and ")
    };
    Some(format!(
        "{package} has the features {} with {title}, and {} else: it is compiled again, and with it perhaps wasmtime or the command",
        list(these),
        list(whole)
    ))
}

/// Returns the features of a crate and its dependencies when cargo builds these packages.
fn features(workspace: &Workspace, selection: &[&str], root: &str) -> Result<Features> {
    let mut command = workspace.cargo(["tree", "--prefix", "depth", "-f", "|{p}|{f}"]);
    let listing = output_of(command.args(selection))?;
    let tree = Tree::read(&listing);
    let mut features = Features::new();
    for node in tree.below(root) {
        if let Some((package, list)) = node.split_once('|') {
            features
                .entry(package_of(package))
                .or_default()
                .insert(list.to_owned());
        }
    }
    Ok(features)
}

/// The packages with their features and dependencies.
#[derive(Default)]
struct Tree<'t> {
    children: BTreeMap<&'t str, BTreeSet<&'t str>>,
}

impl<'t> Tree<'t> {
    /// Parses `depth|package|features` lines. Cargo prints a package in full once, and afterwards only its name with
    /// `(*)`.
    fn read(listing: &'t str) -> Self {
        let mut tree = Self::default();
        let mut path: Vec<&str> = Vec::new();
        for line in listing.lines() {
            let Some((depth, node)) = line.split_once('|') else {
                continue;
            };
            let node = node.trim_end_matches("(*)").trim_end();
            path.truncate(depth.parse().unwrap_or(0));
            if let Some(parent) = path.last() {
                tree.children.entry(parent).or_default().insert(node);
            }
            path.push(node);
        }
        tree
    }

    /// Returns the first node with this prefix, and everything below it.
    fn below(&self, root: &str) -> BTreeSet<&'t str> {
        let mut open: Vec<&str> = self
            .children
            .keys()
            .copied()
            .filter(|node| node.starts_with(root))
            .collect();
        let mut found = BTreeSet::new();
        while let Some(node) = open.pop() {
            if found.insert(node) {
                open.extend(self.children.get(node).into_iter().flatten());
            }
        }
        found
    }
}

/// Returns `name version`, without the source and cargo's marks.
fn package_of(line: &str) -> String {
    line.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(features: &str) -> Features {
        Features::from([(
            "memchr v2.8.3".to_owned(),
            BTreeSet::from([features.to_owned()]),
        )])
    }

    #[test]
    fn other_features_with_another_selection_are_found() {
        let what = difference("memchr v2.8.3", "-p host", &of("std"), &of("alloc,std"));
        assert!(what.is_some_and(|what| what.contains("features std with -p host, and alloc,std")));
        assert!(difference("memchr v2.8.3", "-p host", &of("std"), &of("std")).is_none());
    }

    #[test]
    fn only_dependencies_of_the_root_count() {
        let tree = Tree::read(
            "0|app v1|\n1|log v1|std\n2|cfg v1|\n1|wasmtime v48|\n2|log v1|std (*)\n1|other v1|\n",
        );
        let below: Vec<&str> = tree.below("wasmtime v").into_iter().collect();
        assert_eq!(below, ["cfg v1|", "log v1|std", "wasmtime v48|"]);
    }

    #[test]
    fn package_without_its_source() {
        assert_eq!(package_of("memchr v2.8.3 (*)"), "memchr v2.8.3");
        assert_eq!(
            package_of("serde_derive v1.0.229 (proc-macro)"),
            "serde_derive v1.0.229"
        );
    }
}
