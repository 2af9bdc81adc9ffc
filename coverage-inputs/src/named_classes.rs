//! Finds classes that the command line names: a file, `JAR!com.acme.Foo`, or a name in `--in`.

use std::path::Path;

use errors::{Error, codes};
use globs::Glob;
use rewriter::ClassFile;

use crate::class_files::{self, Loader, LocatedClass};

/// Finds the named classes, in the order of the names.
///
/// # Errors
/// If a location cannot be read, or a name matches nothing (`H0631`).
pub fn find(names: &[String], within: &[String]) -> Result<Vec<LocatedClass>, Error> {
    let mut all = Vec::new();
    for name in names {
        let found = match name.rsplit_once('!') {
            Some((place, class)) => matching(&[place.to_owned()], class)?,
            None if Path::new(name).is_file() => matching(std::slice::from_ref(name), "**")?,
            None if within.is_empty() => return Err(nowhere(name)),
            None => matching(within, name)?,
        };
        all.extend(found);
    }
    Ok(all)
}

fn nowhere(name: &str) -> Error {
    Error::mistake(codes::H0631, format!("there is no file {name}"))
        .with(
            "expected",
            "FILE.class, JAR!com.acme.Foo, or a name with --in JAR|FOLDER|jrt:MODULE",
        )
        .with("help", "name the location of the class with --in")
}

fn matching(places: &[String], class: &str) -> Result<Vec<LocatedClass>, Error> {
    let wanted = pattern(class)?;
    let mut kept = Vec::new();
    for place in places {
        class_files::read(place, &Loader::newest(), &mut |batch| {
            kept.extend(batch.into_iter().filter(|found| is(&wanted, found, class)));
            Ok(())
        })?;
    }
    if kept.is_empty() {
        return Err(Error::mistake(
            codes::H0631,
            format!("there is no class {class} in {}", places.join(", ")),
        )
        .with(
            "expected",
            "a name such as com.acme.Foo, or a pattern such as com.acme.**",
        ));
    }
    Ok(kept)
}

/// Matches a class. An unreadable class matches only the pattern for everything, so that it is
/// reported.
fn is(wanted: &Glob, found: &LocatedClass, class: &str) -> bool {
    match ClassFile::read(&found.bytes) {
        Ok(read) => wanted.matches(read.this_class().as_bytes()),
        Err(_) => class == "**",
    }
}

fn pattern(class: &str) -> Result<Glob, Error> {
    Glob::parse_class(class).map_err(|problem| {
        Error::mistake(
            codes::H0631,
            format!("`{class}` is no class name: it {problem}"),
        )
        .with(
            "expected",
            "a name such as com.acme.Foo, or a pattern such as com.acme.**",
        )
    })
}
