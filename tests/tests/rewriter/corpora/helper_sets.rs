//! Classes of whole packages as helper classes: a compiler emitted them together, so none may be refused.

use std::collections::{BTreeMap, BTreeSet};

use e2e_tests::corpus::{self, Class};
use e2e_tests::{artifacts, jdks, rotation};
use plan_rules::{HelperError, place_helpers};
use rayon::prelude::*;
use rewriter::ClassFile;

use super::VERIFIER;

/// Number of nightly runs after which every package had its turn.
const PARTS: usize = 40;

/// Classes of one compilation: those of the JDK by javac, others by kotlinc, scalac, ecj and javac.
const JARS: [&str; 6] = [
    "kotlin-stdlib",
    "kotlinx-coroutines",
    "scala-library",
    "ecj",
    "h2",
    "rhino",
];

#[test]
fn classes_of_one_package_can_use_one_another_as_helpers() {
    let jdk = jdks::main_two()
        .into_iter()
        .find(|jdk| jdk.feature == VERIFIER);
    let mut sources = Vec::new();
    if let Some(jdk) = jdk {
        sources.push(corpus::in_folder(&corpus::jdk_classes(&jdk)));
    }
    sources.extend(
        artifacts::paths(&JARS)
            .iter()
            .map(|jar| corpus::in_jar(jar)),
    );
    let mut packages = BTreeMap::<_, Vec<&Class>>::new();
    for (source, classes) in sources.iter().enumerate() {
        for class in classes {
            let package = class
                .name
                .rsplit_once('/')
                .map_or("", |(package, _)| package);
            packages.entry((source, package)).or_default().push(class);
        }
    }
    let in_turn = |(_, package): &(usize, &str)| {
        rotation::everything() || rotation::turn(package, PARTS) == 0
    };
    // Constants belong to the JVM's own `String`, and calls to its own `MethodHandle`; no helper may replace these.
    packages.retain(|package, _| in_turn(package) && !package.1.contains("java/lang"));
    let placed: Vec<(usize, Vec<String>)> = packages.par_iter().map(|(_, it)| place(it)).collect();
    let refused: Vec<&String> = placed.iter().flat_map(|(_, refused)| refused).collect();
    let count: usize = placed.iter().map(|(count, _)| count).sum();
    println!(
        "{count} classes of {} packages are helper classes",
        packages.len()
    );
    assert!(
        refused.is_empty(),
        "{} of {count}: {refused:#?}",
        refused.len()
    );
    let least = if rotation::everything() { 15_000 } else { 20 };
    assert!(count > least, "only {count} classes to try");
}

/// Returns the number of classes of a package that can be helpers together, and the wrongly refused ones.
fn place(classes: &[&Class]) -> (usize, Vec<String>) {
    let read = classes.iter().filter_map(|class| {
        let file = ClassFile::read(&class.bytes).ok()?;
        let has_frames = file.major_version() >= 51 && !class.name.ends_with("-info.class");
        has_frames.then(|| (file.this_class().to_string(), file))
    });
    let mut given: BTreeMap<String, ClassFile<'_>> = read.collect();
    let mut refused = Vec::new();
    loop {
        let order = closed(&mut given);
        let files = order.iter().map(|name| given[name].bytes().to_vec());
        match place_helpers("a/User", &files.collect::<Vec<_>>()) {
            Ok(_) => return (order.len(), refused),
            // Compilers name nested classes that they do not emit.
            Err(HelperError::Nested { name, .. }) => drop(given.remove(&name)),
            Err(error) => {
                refused.push(error.to_string());
                let named = order
                    .iter()
                    .find(|name| error.to_string().contains(&format!("class {name} ")));
                match named {
                    Some(name) => drop(given.remove(name)),
                    None => return (order.len(), refused),
                }
            }
        }
    }
}

/// Removes classes whose supertypes or nest are incomplete. Returns the rest, each behind its supertypes.
fn closed(given: &mut BTreeMap<String, ClassFile<'_>>) -> Vec<String> {
    loop {
        let mut order = Vec::new();
        let mut placed = BTreeSet::new();
        loop {
            let before = order.len();
            for (name, class) in &*given {
                let supertypes = class.super_class().into_iter().chain(class.interfaces());
                let mut supertypes = supertypes.map(|it| it.to_string());
                let is_placed = |it: String| it.starts_with("java/") || placed.contains(&it);
                if !placed.contains(name) && supertypes.all(is_placed) {
                    placed.insert(name.clone());
                    order.push(name.clone());
                }
            }
            if order.len() == before {
                break;
            }
        }
        let is_whole = |class: &ClassFile<'_>| {
            let nest = class.nest_host().into_iter().chain(class.nest_members());
            let mut nest = nest.map(|it| it.to_string());
            nest.all(|it| placed.contains(&it))
        };
        let count = given.len();
        given.retain(|name, class| placed.contains(name) && is_whole(class));
        if given.len() == count {
            return order;
        }
    }
}
