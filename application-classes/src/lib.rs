//! The application in a running JVM: the classes that a command changes by default.
//!
//! The application is everything but the JDK, the libraries of the class path, and servers with
//! their libraries. Classes of child loaders belong to it, such as those of web applications,
//! wherever they are loaded from.
//!
//! ```no_run
//! let jvm = attach::Attachment::open(4711)?;
//! let selectors = application_classes::selectors(&jvm)?;
//! assert!(selectors.contains("!location:jrt:/java.*"));
//! # Ok::<(), errors::Error>(())
//! ```
//!
//! The properties of a JVM can also come from elsewhere:
//!
//! ```
//! use application_classes::{JvmProperties, of};
//!
//! let properties = "java.class.path=/shop/classes\nsun.java.command=shop.Main\nuser.dir=/shop\n";
//! let selectors = of(&JvmProperties::new(properties, Vec::new()), &|path| path.into());
//! assert!(selectors.contains("!location:BOOT-INF/lib"), "{selectors}");
//! ```
#![forbid(unsafe_code)]

mod class_path;
mod jvm_properties;

use attach::Attachment;
use errors::Error;
pub use jvm_properties::JvmProperties;

/// Limit on the bytes of the selectors: before JDK 24 an agent takes 1,023 bytes of options when it
/// attaches.
const MOST: usize = 600;
/// Selectors that exclude classes of no application: the JDK, and libraries within archives of
/// Spring Boot and the web.
const NEVER: &str = "!location:jrt:/java.*;!location:jrt:/jdk.*;!location:BOOT-INF/lib;\
                     !location:WEB-INF/lib;!location:WEB-INF/lib-provided;!org.springframework.boot.loader.**";

/// Returns the selectors for the application, separated by `;`.
///
/// # Errors
/// If the JVM does not answer (`H05xx`).
pub fn selectors(jvm: &Attachment) -> Result<String, Error> {
    let properties = jvm.properties().map_err(Error::from)?;
    let process = jvm.process();
    let described = JvmProperties::new(&properties, process.command_line());
    let in_root = |path: &str| process.path_in_root(path);
    Ok(of(&described, &in_root))
}

/// As [`selectors`], for a described JVM. `in_root` turns the JVM's paths into ours.
#[must_use]
pub fn of(jvm: &JvmProperties, in_root: &dyn Fn(&str) -> std::path::PathBuf) -> String {
    let found = class_path::of(jvm, in_root);
    let mut parts = vec![NEVER.to_owned()];
    parts.extend(found.packages.iter().map(|package| format!("{package}.**")));
    let left_out = found
        .left_out
        .iter()
        .map(|place| format!("!location:{place}"));
    parts.extend(left_out);
    let exact = parts.join(";");
    if exact.len() <= MOST {
        return exact;
    }
    // Too many libraries to name: the selectors name the application instead.
    let named = match &found.organisation {
        Some(organisation) => vec![format!("{organisation}.**")],
        None => found
            .own
            .iter()
            .map(|place| format!("location:{place}"))
            .collect(),
    };
    let mut short = NEVER.to_owned();
    for part in named {
        if short.len() + part.len() < MOST {
            short = format!("{short};{part}");
        }
    }
    short
}

#[cfg(test)]
mod tests;
