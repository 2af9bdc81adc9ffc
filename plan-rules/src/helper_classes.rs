//! Classes of a plugin in the package of the class that uses them.

mod resolution;
mod uses;

use std::collections::HashSet;

use thiserror::Error;

use crate::helper_classes::resolution::HelperSet;
use jvms::access_flags::ACC_MODULE;
use rewriter::limits::FRAMES_REQUIRED_SINCE;
use rewriter::{
    ClassEdit, ClassFile, ReadError, ReplacementError, StructureError, check_soundness,
    rename_class,
};
use stored::impl_stored;

use uses::check_uses;
pub use uses::{HelperUseError, UsePlace};

/// The first characters of every helper class's simple name.
pub const HELPER_PREFIX: &str = "$Classhook$";

/// The beginning of the own name of a helper class that may have probes. Plugins see it whose selectors contain
/// [`HELPER_PREFIX`].
pub const PROBED_PREFIX: &str = "Probed";

/// Digits of the checksum in the name of a helper class.
const CHECKSUM_DIGITS: usize = 16;

/// A helper class, ready to be defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelperClass {
    /// Internal name (JVMS 4.2.1).
    pub name: String,
    /// The class file.
    pub bytes: Vec<u8>,
}

impl_stored!(struct HelperClass { name, bytes });

/// The reason why classes cannot be helpers. Class files are numbered from 0 in their given order.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HelperError {
    /// It is not a class file.
    #[error("class file {number} cannot be read: {cause}")]
    Unreadable {
        /// Number of the class file.
        number: usize,
        /// The fault.
        cause: ReadError,
    },
    /// A module, or a class of a version that is verified without stack map frames.
    #[error(
        "expected a class of version {FRAMES_REQUIRED_SINCE} or newer as class file {number}, found {found}"
    )]
    Kind {
        /// Number of the class file.
        number: usize,
        /// The kind or version found.
        found: String,
    },
    /// Two classes have one name.
    #[error("the class {name} is given twice")]
    Twice {
        /// Its name.
        name: String,
    },
    /// A supertype that may be missing, or may be the class that is being loaded.
    #[error(
        "expected a supertype in `java/`, or a helper class before it, of {name}, found {found}"
    )]
    Supertype {
        /// The class.
        name: String,
        /// Its superclass or interface.
        found: String,
    },
    /// The class refers to a nested class of its own that is missing.
    #[error("the class {name} needs its nested class {nested}: give its class file, too")]
    Nested {
        /// The class.
        name: String,
        /// The nested class.
        nested: String,
    },
    /// The class uses a member that another helper class does not have.
    #[error("the class {name} cannot be linked: {cause}")]
    Unlinkable {
        /// The class.
        name: String,
        /// The faulty use.
        cause: Box<HelperUseError>,
    },
    /// The class cannot be renamed.
    #[error("the class {name} cannot be renamed: {cause}")]
    Name {
        /// The class.
        name: String,
        /// The fault.
        cause: StructureError,
    },
    /// The JVM would reject the class.
    #[error("the JVM would reject the class {name}: {cause}")]
    Unsound {
        /// The class.
        name: String,
        /// The fault.
        cause: Box<ReplacementError>,
    },
}

/// Checks whether an internal name is that of a helper class.
#[must_use]
pub fn is_helper_class(name: &[u8]) -> bool {
    let simple = name.rsplit(|byte| *byte == b'/').next();
    simple.is_some_and(|simple| simple.starts_with(HELPER_PREFIX.as_bytes()))
}

/// Checks whether an internal name is that of a helper class that may have probes.
#[must_use]
pub fn is_probed_helper(name: &[u8]) -> bool {
    let simple = name.rsplit(|byte| *byte == b'/').next();
    let placed = simple.and_then(|simple| simple.strip_prefix(HELPER_PREFIX.as_bytes()));
    let own = placed.and_then(|placed| placed.get(CHECKSUM_DIGITS + 1..));
    own.is_some_and(|own| own.starts_with(PROBED_PREFIX.as_bytes()))
}

/// Moves classes into the package of `user` (an internal name), under names with a checksum of all of them. References
/// among these classes use the new names.
///
/// # Errors
/// The JVM would reject a class, as far as these class files show.
/// A supertype is neither in `java/` nor an earlier one of the classes, or a nested class is missing.
pub fn place_helpers(user: &str, files: &[Vec<u8>]) -> Result<Vec<HelperClass>, HelperError> {
    let mut classes = Vec::with_capacity(files.len());
    let mut all = Vec::new();
    for (number, bytes) in files.iter().enumerate() {
        let class = ClassFile::read(bytes);
        let class = class.map_err(|cause| HelperError::Unreadable { number, cause })?;
        expect_class(&class, number)?;
        all.extend_from_slice(bytes);
        classes.push(class);
    }
    let package = user.rfind('/').map_or("", |end| &user[..=end]);
    let prefix = format!("{package}{HELPER_PREFIX}{:016x}$", fingerprint::of(&all));
    let mut known = HashSet::new();
    let mut renames = Vec::with_capacity(classes.len());
    for class in &classes {
        let name = name_of(class);
        expect_supertypes(class, &name, &known)?;
        let simple = name.rsplit('/').next().unwrap_or_default();
        let to = format!("{prefix}{simple}");
        if !known.insert(name.clone()) || renames.iter().any(|(_, placed)| *placed == to) {
            return Err(HelperError::Twice { name });
        }
        renames.push((name, to));
    }
    for class in &classes {
        expect_nested(class, &known)?;
    }
    let edits: Vec<_> = renames.iter().cloned().map(of_type).collect();
    let placed = classes.iter().zip(renames);
    let placed = placed.map(|(class, (name, to))| placed_class(class, &edits, name, to));
    let placed: Vec<_> = placed.collect::<Result<_, _>>()?;
    expect_linkable(&placed, &classes)?;
    Ok(placed)
}

/// Checks that helper classes have the members that the code of a class uses. Members that may be inherited from
/// `java/` (other than `java/lang/Object`) count as present.
///
/// # Errors
/// The first use that the JVM would not link.
pub fn check_helper_uses(
    class: &ClassFile<'_>,
    helpers: &[HelperClass],
) -> Result<(), HelperUseError> {
    // Each class file was read before.
    let read = helpers
        .iter()
        .filter_map(|helper| ClassFile::read(&helper.bytes).ok());
    let classes: Vec<_> = read.collect();
    check_uses(class, &HelperSet::new(&classes))
}

/// Checks nested classes. A missing one would keep its original name, under which no loader finds it.
fn expect_nested(class: &ClassFile<'_>, given: &HashSet<String>) -> Result<(), HelperError> {
    let name = name_of(class);
    for found in class.pool().class_names() {
        let nested = found.to_str_lossless();
        let is_nested = nested
            .strip_prefix(&*name)
            .is_some_and(|rest| rest.starts_with('$'));
        if is_nested && !given.contains(&*nested) {
            let nested = nested.into_owned();
            return Err(HelperError::Nested { name, nested });
        }
    }
    Ok(())
}

/// Checks the members that the classes use of one another.
fn expect_linkable(placed: &[HelperClass], files: &[ClassFile<'_>]) -> Result<(), HelperError> {
    let read = placed
        .iter()
        .filter_map(|helper| ClassFile::read(&helper.bytes).ok());
    let classes: Vec<_> = read.collect();
    let set = HelperSet::new(&classes);
    for (class, file) in classes.iter().zip(files) {
        check_uses(class, &set).map_err(|cause| HelperError::Unlinkable {
            name: name_of(file),
            cause: Box::new(cause),
        })?;
    }
    Ok(())
}

fn of_type((from, to): (String, String)) -> ClassEdit {
    ClassEdit::RenameType { from, to }
}

fn name_of(class: &ClassFile<'_>) -> String {
    class.this_class().to_str_lossless().into_owned()
}

fn expect_class(class: &ClassFile<'_>, number: usize) -> Result<(), HelperError> {
    let found = if class.access_flags() & ACC_MODULE != 0 {
        "a module".to_owned()
    } else if class.major_version() < FRAMES_REQUIRED_SINCE {
        format!("version {}", class.major_version())
    } else {
        return Ok(());
    };
    Err(HelperError::Kind { number, found })
}

/// Checks supertypes. The JVM asks the loader for them while it defines a class.
fn expect_supertypes(
    class: &ClassFile<'_>,
    name: &str,
    before: &HashSet<String>,
) -> Result<(), HelperError> {
    let supertypes = class.super_class().into_iter().chain(class.interfaces());
    for supertype in supertypes {
        let found = supertype.to_str_lossless();
        if !found.starts_with("java/") && !before.contains(&*found) {
            return Err(HelperError::Supertype {
                name: name.to_owned(),
                found: found.into_owned(),
            });
        }
    }
    Ok(())
}

fn placed_class(
    class: &ClassFile<'_>,
    renames: &[ClassEdit],
    name: String,
    to: String,
) -> Result<HelperClass, HelperError> {
    let renamed = rename_class(class, renames);
    let bytes = renamed.map_err(|cause| HelperError::Name {
        name: name.clone(),
        cause,
    })?;
    match expect_sound(&bytes, &to) {
        Ok(()) => Ok(HelperClass { name: to, bytes }),
        Err(cause) => Err(HelperError::Unsound {
            name,
            cause: Box::new(cause),
        }),
    }
}

fn expect_sound(bytes: &[u8], name: &str) -> Result<(), ReplacementError> {
    let class = ClassFile::read(bytes)?;
    let found = name_of(&class);
    if found != name {
        return Err(ReplacementError::Differs {
            what: "the name",
            expected: name.to_owned(),
            found,
        });
    }
    check_soundness(bytes)
}
