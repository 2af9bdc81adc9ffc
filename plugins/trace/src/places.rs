//! Events at lines that are reached, and at instructions that write a field.

use std::collections::BTreeMap;

use classhook_sdk::opcode::{PUTFIELD, PUTSTATIC};
use classhook_sdk::pattern::{FieldPattern, Pattern};
use classhook_sdk::prelude::*;
use classhook_sdk::wit;

/// Extensions of source files, which distinguish them from methods.
const SOURCES: [&str; 8] = ["java", "kt", "kts", "scala", "groovy", "clj", "aj", "jsp"];
/// The superclass without fields.
const OBJECT: &str = "java/lang/Object";

/// A line: `Orders.java:120`, `com/acme/Orders.java:120`, `com.acme.Orders.total:120`.
pub struct Line {
    text: String,
    of: Of,
    number: u16,
}

/// The code to which a line belongs.
enum Of {
    /// A source file, with the folder in front of it.
    File {
        folder: String,
        name: String,
    },
    Methods(Pattern),
}

impl Line {
    /// Parses a line.
    ///
    /// # Errors
    /// If the text does not denote a line.
    pub fn parse(text: &str) -> Result<Self> {
        let unlike = || {
            format!(
                "`{text}` is not a line; expected FILE:LINE or CLASS.METHOD:LINE, such as `Orders.java:120`"
            )
        };
        let (of, number) = text.rsplit_once(':').ok_or_else(unlike)?;
        let number: u16 = number.parse().map_err(|_| unlike())?;
        if number == 0 || of.is_empty() {
            return Err(unlike().into());
        }
        let (folder, name) = of.rsplit_once('/').unwrap_or(("", of));
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        let of = match ending {
            Some(ending) if SOURCES.contains(&ending) => Of::File {
                folder: folder.to_owned(),
                name: name.to_owned(),
            },
            _ => Of::Methods(Pattern::parse(of).map_err(|error| error.to_string())?),
        };
        let text = text.to_owned();
        Ok(Self { text, of, number })
    }

    /// Returns selectors of the classes that may contain the line.
    pub fn selectors(&self) -> Vec<String> {
        match &self.of {
            Of::File { name, .. } => vec![format!("source:{name}")],
            Of::Methods(methods) => methods.selectors.clone(),
        }
    }

    /// Checks whether a class may contain the line: it is compiled from the file, in the package of
    /// the folder.
    fn is_in_class(&self, class: &Class<'_>) -> bool {
        let name = class.name();
        match &self.of {
            Of::Methods(methods) => methods.matches_class(&name),
            Of::File { folder, name: file } => {
                let package = name.rsplit_once('/').map_or("", |(package, _)| package);
                class.source_file().as_deref() == Some(file) && is_folder_of(folder, package)
            }
        }
    }

    fn is_in_method(&self, method: &Method<'_>) -> bool {
        match &self.of {
            Of::File { .. } => true,
            Of::Methods(methods) => methods.matches_method(method.name(), method.descriptor()),
        }
    }
}

/// Checks whether sources of a package may be in a folder: one path ends with the other. The
/// default package matches any folder.
fn is_folder_of(folder: &str, package: &str) -> bool {
    let ends = |of: &str, with: &str| {
        let rest = of.strip_suffix(with);
        with.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    ends(folder, package) || ends(package, folder)
}

/// Requests events at the start of a line's code; adds a note with the closest lines if the class
/// has no code for it.
pub fn at_lines(lines: &[Line], event: &Event, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let is_nested = class.name().contains('$');
    for line in lines.iter().filter(|line| line.is_in_class(class)) {
        let (mut sites, mut known, mut entry) = (Vec::new(), Vec::new(), None);
        for method in class.methods().filter(Method::has_code) {
            if !line.is_in_method(&method) {
                continue;
            }
            let mut table = method.lines();
            table.sort_by_key(|row| row.bci);
            sites.extend(method.before(&begins(&table, line.number)));
            known.extend(table.iter().map(|row| row.number));
            entry.get_or_insert_with(|| method.entry());
        }
        match entry {
            Some(entry) if sites.is_empty() => {
                // The line may belong to another class of the file.
                let is_near = known.iter().any(|known| *known < line.number)
                    && known.iter().any(|known| *known > line.number);
                if is_near || !is_nested {
                    plan.note(entry, &line.nearest(&known));
                }
            }
            _ => drop(plan.event(&sites, event, b"")?),
        }
    }
    Ok(())
}

/// Returns the start of each piece of code of a line: each run of rows with its number.
fn begins(table: &[wit::Line], number: u16) -> Vec<u16> {
    let before = [None]
        .into_iter()
        .chain(table.iter().map(|row| Some(row.number)));
    let rows = table.iter().zip(before);
    let begins = rows.filter(|(row, before)| row.number == number && *before != Some(number));
    begins.map(|(row, _)| row.bci).collect()
}

impl Line {
    /// Describes the closest lines with code.
    fn nearest(&self, known: &[u16]) -> String {
        let below = known.iter().filter(|number| **number < self.number).max();
        let above = known.iter().filter(|number| **number > self.number).min();
        let text = &self.text;
        match (below, above) {
            (None, None) => {
                format!("{text} has no code: the class file has no line numbers; compile with -g")
            }
            (Some(one), None) | (None, Some(one)) => {
                format!("{text} has no code here; the nearest line with code is {one}")
            }
            (Some(one), Some(other)) => {
                format!(
                    "{text} has no code here; the nearest lines with code are {one} and {other}"
                )
            }
        }
    }
}

/// Requests an event at each instruction that may write one of the fields. An instruction may name
/// a subclass of the declaring class. So only impossible instructions are left out; the others are
/// checked at run time.
pub fn at_writes(
    fields: &[FieldPattern],
    event: &Event,
    class: &Class<'_>,
    plan: &mut Plan<'_>,
) -> Result {
    let name = class.name();
    let mut found: BTreeMap<u16, Vec<u16>> = BTreeMap::new();
    for field in fields {
        for write in class.field_accesses(&format!("**.{}", field.field()))? {
            let target = &write.target;
            let may_be = field.is_of(&target.owner)
                || target.owner != name
                || inherits(class, &target.name, &target.descriptor);
            if matches!(write.opcode, PUTFIELD | PUTSTATIC) && may_be {
                found
                    .entry(write.method().0)
                    .or_default()
                    .push(write.bci().0);
            }
        }
    }
    let mut sites = Vec::new();
    for method in class.methods() {
        if let Some(mut bcis) = found.remove(&method.index()) {
            bcis.sort_unstable();
            bcis.dedup();
            sites.extend(method.at(&bcis));
        }
    }
    if !sites.is_empty() {
        plan.event(&sites, event, b"")?;
    }
    Ok(())
}

/// Checks whether a field that a class accesses as its own may belong to a superclass.
fn inherits(class: &Class<'_>, name: &str, descriptor: &str) -> bool {
    let has_fields = class.super_name().is_some_and(|name| name != OBJECT);
    let is_own = |field: &wit::FieldSummary| field.name == name && field.descriptor == descriptor;
    has_fields && !class.fields().iter().any(is_own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_matches_a_package_if_one_ends_with_the_other() {
        let package = "com/acme/shop";
        for folder in [
            "",
            "shop",
            "acme/shop",
            package,
            "src/main/java/com/acme/shop",
            "/a/com/acme/shop",
        ] {
            assert!(is_folder_of(folder, package), "{folder}");
        }
        for folder in ["com/acme", "hop", "com/acme/shop/orders", "mycom/acme/shop"] {
            assert!(!is_folder_of(folder, package), "{folder}");
        }
        assert!(is_folder_of("src/main/java", ""));
        assert!(is_folder_of("", ""));
    }
}
