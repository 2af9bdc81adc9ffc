//! Restrictions on a new version of a loaded class: the rules of redefinition and retransformation (JVM TI, Redefine
//! Classes; HotSpot compares the same parts).
//!
//! Code, constants, line numbers, annotations and other attributes may change. Fields, methods, supertypes, modifiers
//! and the lists of related classes may not.

use std::collections::HashMap;
use std::fmt;

use jvms::access_flags::{ACC_NATIVE, Declaration, mask};

use crate::class::{ClassFile, Method};
use crate::cursor::{Cursor, u16_at, u16s};
use crate::index::PoolIndex;
use jvms::modified_utf8::Utf8;

/// A rule, named by its JVM TI error. The errors 60 to 62, 65 and 68 (format, circularity, verification, type state,
/// version) are missing, because only the JVM can detect them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SchemaRule {
    /// 63: no method may be added.
    MethodAdded,
    /// 64: no field may be added, removed, moved or changed.
    SchemaChanged,
    /// 66: superclass and direct superinterfaces stay, in order.
    HierarchyChanged,
    /// 67: no method may be removed.
    MethodDeleted,
    /// 69: the class keeps its name.
    NamesDontMatch,
    /// 70: the class keeps its modifiers.
    ClassModifiersChanged,
    /// 71: methods keep their modifiers, `native` excepted.
    MethodModifiersChanged,
    /// 72: nest host and members, record components and permitted subclasses stay.
    ClassAttributeChanged,
}

impl SchemaRule {
    /// Returns the number of its JVM TI error.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            SchemaRule::MethodAdded => 63,
            SchemaRule::SchemaChanged => 64,
            SchemaRule::HierarchyChanged => 66,
            SchemaRule::MethodDeleted => 67,
            SchemaRule::NamesDontMatch => 69,
            SchemaRule::ClassModifiersChanged => 70,
            SchemaRule::MethodModifiersChanged => 71,
            SchemaRule::ClassAttributeChanged => 72,
        }
    }

    /// Returns the name of its JVM TI error.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SchemaRule::MethodAdded => "JVMTI_ERROR_UNSUPPORTED_REDEFINITION_METHOD_ADDED",
            SchemaRule::SchemaChanged => "JVMTI_ERROR_UNSUPPORTED_REDEFINITION_SCHEMA_CHANGED",
            SchemaRule::HierarchyChanged => {
                "JVMTI_ERROR_UNSUPPORTED_REDEFINITION_HIERARCHY_CHANGED"
            }
            SchemaRule::MethodDeleted => "JVMTI_ERROR_UNSUPPORTED_REDEFINITION_METHOD_DELETED",
            SchemaRule::NamesDontMatch => "JVMTI_ERROR_NAMES_DONT_MATCH",
            SchemaRule::ClassModifiersChanged => {
                "JVMTI_ERROR_UNSUPPORTED_REDEFINITION_CLASS_MODIFIERS_CHANGED"
            }
            SchemaRule::MethodModifiersChanged => {
                "JVMTI_ERROR_UNSUPPORTED_REDEFINITION_METHOD_MODIFIERS_CHANGED"
            }
            SchemaRule::ClassAttributeChanged => {
                "JVMTI_ERROR_UNSUPPORTED_REDEFINITION_CLASS_ATTRIBUTE_CHANGED"
            }
        }
    }
}

/// Formats as `NAME (NUMBER)`.
impl fmt::Display for SchemaRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.number())
    }
}

/// A broken rule and the part of the class that breaks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaBreak {
    /// The rule.
    pub rule: SchemaRule,
    /// The part of the class: `field count:I`, `method run()V`, `superclass`, `NestMembers` …
    pub part: String,
    /// The change: `was added`, `was removed`, `changed from … to …`.
    pub change: String,
}

impl fmt::Display for SchemaBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.part, self.change, self.rule)
    }
}

/// Returns the rules that a replacement of `loaded` by `new` would break, in the order of the JVM's checks. The JVM
/// reports only the first one, and checks methods in an order of its own.
#[must_use]
pub fn compare(loaded: &ClassFile<'_>, new: &ClassFile<'_>) -> Vec<SchemaBreak> {
    let mut breaks = Breaks::default();
    breaks.text(
        SchemaRule::NamesDontMatch,
        "class name",
        Some(loaded.this_class()),
        Some(new.this_class()),
    );
    breaks.text(
        SchemaRule::HierarchyChanged,
        "superclass",
        loaded.super_class(),
        new.super_class(),
    );
    let interfaces = |class: &ClassFile<'_>| names(class.interfaces());
    breaks.list(
        SchemaRule::HierarchyChanged,
        "list of direct superinterfaces",
        Some(interfaces(loaded)),
        Some(interfaces(new)),
    );
    attributes(loaded, new, &mut breaks);
    breaks.flags(
        SchemaRule::ClassModifiersChanged,
        "class",
        loaded.access_flags(),
        new.access_flags(),
    );
    fields(loaded, new, &mut breaks);
    methods(loaded, new, &mut breaks);
    breaks.found
}

#[derive(Default)]
struct Breaks {
    found: Vec<SchemaBreak>,
}

impl Breaks {
    fn add(&mut self, rule: SchemaRule, part: &str, change: impl Into<String>) {
        self.found.push(SchemaBreak {
            rule,
            part: part.to_owned(),
            change: change.into(),
        });
    }

    fn text(&mut self, rule: SchemaRule, part: &str, old: Option<Utf8<'_>>, new: Option<Utf8<'_>>) {
        match (old, new) {
            (Some(old), Some(new)) if old != new => {
                self.add(rule, part, format!("changed from {old} to {new}"));
            }
            (Some(_), None) => self.add(rule, part, "was removed"),
            (None, Some(_)) => self.add(rule, part, "was added"),
            _ => {}
        }
    }

    fn list(
        &mut self,
        rule: SchemaRule,
        part: &str,
        old: Option<Vec<String>>,
        new: Option<Vec<String>>,
    ) {
        let joined = |list: &[String]| format!("[{}]", list.join(", "));
        match (old, new) {
            (Some(old), Some(new)) if old != new => {
                let change = format!("changed from {} to {}", joined(&old), joined(&new));
                self.add(rule, part, change);
            }
            (Some(_), None) => self.add(rule, part, "was removed"),
            (None, Some(_)) => self.add(rule, part, "was added"),
            _ => {}
        }
    }

    fn flags(&mut self, rule: SchemaRule, part: &str, old: u16, new: u16) {
        if old != new {
            let change = format!("modifiers changed from {old:#06x} to {new:#06x}");
            self.add(rule, part, change);
        }
    }
}

fn names<'a>(found: impl Iterator<Item = Utf8<'a>>) -> Vec<String> {
    found
        .map(|name| name.to_str_lossless().into_owned())
        .collect()
}

/// Compares nest, record and sealed hierarchy (JVMS 4.7.28 to 4.7.31).
fn attributes(loaded: &ClassFile<'_>, new: &ClassFile<'_>, breaks: &mut Breaks) {
    let rule = SchemaRule::ClassAttributeChanged;
    let host = |class: &ClassFile<'_>| {
        let found = class.attribute("NestHost")?;
        Some(vec![class_at(class, u16_at(found.bytes, 0)?)])
    };
    breaks.list(rule, "NestHost", host(loaded), host(new));
    let members = |class: &ClassFile<'_>| class_list(class, "NestMembers");
    breaks.list(rule, "NestMembers", members(loaded), members(new));
    breaks.list(rule, "Record", components(loaded), components(new));
    let permitted = |class: &ClassFile<'_>| class_list(class, "PermittedSubclasses");
    breaks.list(
        rule,
        "PermittedSubclasses",
        permitted(loaded),
        permitted(new),
    );
}

fn class_at(class: &ClassFile<'_>, index: u16) -> String {
    let name = class.pool().class_name(PoolIndex(index));
    name.unwrap_or_default().to_str_lossless().into_owned()
}

/// Returns the names in a list of classes, whose order does not matter. An empty list counts as absent.
fn class_list(class: &ClassFile<'_>, name: &str) -> Option<Vec<String>> {
    let found = class.attribute(name)?;
    let indices = found.bytes.get(2..).unwrap_or_default();
    let mut names: Vec<_> = u16s(indices).map(|index| class_at(class, index)).collect();
    names.sort_unstable();
    (!names.is_empty()).then_some(names)
}

/// Returns the components of a record as `name:descriptor` or `name:descriptor<signature>`.
fn components(class: &ClassFile<'_>) -> Option<Vec<String>> {
    let found = class.attribute("Record")?;
    let mut cursor = Cursor::new(found.bytes, found.offset);
    let count = cursor.u2("Record").ok()?;
    let text = |index| class.pool().utf8(PoolIndex(index)).unwrap_or_default();
    let mut read = || -> Option<String> {
        let name = text(cursor.u2("record_component_info").ok()?);
        let descriptor = text(cursor.u2("record_component_info").ok()?);
        let mut component = format!("{name}:{descriptor}");
        for _ in 0..cursor.u2("record_component_info").ok()? {
            let attribute = text(cursor.u2("attribute_info").ok()?);
            let length = cursor.u4("attribute_info").ok()?;
            let bytes = cursor.take(length as usize, "attribute_info").ok()?;
            if attribute == "Signature" {
                let signature = text(u16_at(bytes, 0)?);
                component.push_str(&format!("<{signature}>"));
            }
        }
        Some(component)
    };
    Some(
        std::iter::from_fn(&mut read)
            .take(usize::from(count))
            .collect(),
    )
}

/// Compares fields in order, because the order determines their layout in objects.
fn fields(loaded: &ClassFile<'_>, new: &ClassFile<'_>, breaks: &mut Breaks) {
    let rule = SchemaRule::SchemaChanged;
    type Key<'a> = (Utf8<'a>, Utf8<'a>);
    // The JVM ignores other bits.
    let modifiers = mask(Declaration::Field);
    let list = |class: &ClassFile<'_>| -> Vec<(String, u16)> {
        let name = |(name, descriptor): Key<'_>| format!("field {name}:{descriptor}");
        class
            .fields()
            .map(|field| {
                let flags = field.access_flags() & modifiers;
                (name((field.name(), field.descriptor())), flags)
            })
            .collect()
    };
    let (old, new) = (list(loaded), list(new));
    let places =
        |list: &[(String, u16)]| -> HashMap<String, u16> { list.iter().cloned().collect() };
    let (in_old, in_new) = (places(&old), places(&new));
    let before = breaks.found.len();
    for (name, flags) in &old {
        match in_new.get(name) {
            None => breaks.add(rule, name, "was removed"),
            Some(found) => breaks.flags(rule, name, *flags, *found),
        }
    }
    for (name, _) in new.iter().filter(|(name, _)| !in_old.contains_key(name)) {
        breaks.add(rule, name, "was added");
    }
    if breaks.found.len() == before {
        let moved = old.iter().zip(&new).find(|(old, new)| old != new);
        if let Some(((was, _), (is, _))) = moved {
            breaks.add(rule, was, format!("was moved; {is} has its position"));
        }
    }
}

fn methods(loaded: &ClassFile<'_>, new: &ClassFile<'_>, breaks: &mut Breaks) {
    let key = |method: &Method<'_, '_>| format!("method {}{}", method.name(), method.descriptor());
    // A method may gain or lose `native`; the JVM ignores other bits.
    let modifiers = mask(Declaration::Method) & !ACC_NATIVE;
    let flags = |method: &Method<'_, '_>| method.access_flags() & modifiers;
    let mut added: HashMap<String, u16> = new
        .methods()
        .map(|method| (key(&method), flags(&method)))
        .collect();
    for method in loaded.methods() {
        let name = key(&method);
        match added.remove(&name) {
            None => breaks.add(SchemaRule::MethodDeleted, &name, "was removed"),
            Some(found) => breaks.flags(
                SchemaRule::MethodModifiersChanged,
                &name,
                flags(&method),
                found,
            ),
        }
    }
    for name in new.methods().map(|method| key(&method)) {
        if added.contains_key(&name) {
            breaks.add(SchemaRule::MethodAdded, &name, "was added");
        }
    }
}
