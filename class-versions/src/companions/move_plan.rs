//! The members of a new class that a loaded class cannot take, and the reasons against moving them.

use std::collections::{HashMap, HashSet};

use jvms::access_flags::{
    ACC_ABSTRACT, ACC_ANNOTATION, ACC_ENUM, ACC_FINAL, ACC_INTERFACE, ACC_NATIVE, ACC_PRIVATE,
    ACC_STATIC, ACC_SYNCHRONIZED, ACC_VOLATILE,
};
use rewriter::ClassFile;

use crate::companions::declarations::{Declarations, Key, access};
use crate::model::{Class, Member, Name, shown};

/// Annotations of added methods that no framework looks for.
const HARMLESS: [&str; 3] = [
    "Ljava/lang/Deprecated;",
    "Ljava/lang/SafeVarargs;",
    "Ljava/lang/FunctionalInterface;",
];

/// Members that serialization finds by name.
const SERIALIZATION: [&str; 7] = [
    "readObject",
    "writeObject",
    "readObjectNoData",
    "readResolve",
    "writeReplace",
    "serialVersionUID",
    "$deserializeLambda$",
];

/// The differences between a loaded class and its new version that need more than new bodies.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// Methods to move, with the flags of the new class.
    pub added_methods: Vec<(Name, Name, u16)>,
    /// Static fields to move.
    pub added_fields: Vec<(Name, Name, u16)>,
    /// Methods that only the loaded class has.
    pub removed_methods: Vec<(Name, Name, u16)>,
    /// Fields that only the loaded class has.
    pub removed_fields: Vec<(Name, Name)>,
    /// Members with more access than in the loaded class.
    pub exposed: HashSet<Key>,
    /// A static initialiser was added.
    pub added_initialiser: bool,
    /// Fields that are no longer final.
    pub no_longer_final: HashSet<Key>,
    /// Reasons why the class cannot be patched.
    pub refused: Vec<String>,
}

impl Differences {
    /// Compares the two versions of a class.
    pub(super) fn of(old: &Class, new: &Class) -> Self {
        let mut found = Self::default();
        let class_kind = ACC_ABSTRACT | ACC_INTERFACE | ACC_ENUM | ACC_ANNOTATION;
        if (old.flags ^ new.flags) & class_kind != 0 {
            found.refuse("it became abstract or concrete, or another kind of class");
        }
        found.fields(old, new);
        found.methods(old, new);
        found
    }

    fn refuse(&mut self, reason: impl Into<String>) {
        self.refused.push(reason.into());
    }

    fn fields(&mut self, old: &Class, new: &Class) {
        let was = flags(old, &old.fields);
        let is = flags(new, &new.fields);
        for (key, flags) in listed(new, &new.fields) {
            let name = shown(&key.0);
            match was.get(&key).copied() {
                None if flags & ACC_ENUM != 0 => {
                    self.refuse(format!(
                        "the enum constant {name} was added: values and ordinals are made once"
                    ));
                }
                None if is_serialization(&name) => {
                    self.refuse(format!(
                        "{name} was added, which serialization reads by reflection"
                    ));
                }
                None if flags & ACC_STATIC == 0 => {
                    self.refuse(format!("the instance field {name} was added"));
                }
                None => self.added_fields.push((key.0, key.1, flags)),
                Some(before) => {
                    let (gone, came) = (before & !flags, flags & !before);
                    if (before ^ flags) & ACC_STATIC != 0 {
                        self.refuse(format!("the field {name} became static or no longer is"));
                    }
                    if came & ACC_VOLATILE != 0 {
                        self.refuse(format!(
                            "the field {name} became volatile, and the JVM keeps it as it is"
                        ));
                    }
                    let key = (key.0, key.1, true);
                    if gone & ACC_FINAL != 0 {
                        self.no_longer_final.insert(key.clone());
                    }
                    if access(before) < access(flags) {
                        self.exposed.insert(key);
                    }
                }
            }
        }
        let gone = listed(old, &old.fields).into_iter();
        let gone = gone.filter(|(key, _)| !is.contains_key(key));
        self.removed_fields = gone.map(|(key, _)| key).collect();
    }

    fn methods(&mut self, old: &Class, new: &Class) {
        let was = flags(old, &old.methods);
        let is = flags(new, &new.methods);
        for (key, flags) in listed(new, &new.methods) {
            let name = shown(&key.0);
            let text = format!("{name}{}", shown(&key.1));
            match was.get(&key).copied() {
                None if name == "<clinit>" => self.added_initialiser = true,
                None => self.added_method(key, flags, &text),
                Some(before) if (before ^ flags) & ACC_STATIC != 0 => {
                    self.removed_methods
                        .push((key.0.clone(), key.1.clone(), before));
                    self.added_method(key, flags, &text);
                }
                Some(before) => {
                    if (before ^ flags) & ACC_ABSTRACT != 0 {
                        self.refuse(format!("the method {text} became abstract or concrete"));
                    }
                    if flags & !before & ACC_SYNCHRONIZED != 0 {
                        self.refuse(format!(
                            "the method {text} became synchronized, and the JVM keeps it as it is"
                        ));
                    }
                    if access(before) < access(flags) {
                        self.exposed.insert((key.0, key.1, false));
                    }
                }
            }
        }
        for (key, flags) in listed(old, &old.methods) {
            if !is.contains_key(&key) {
                self.removed_methods.push((key.0, key.1, flags));
            }
        }
    }

    fn added_method(&mut self, key: (Name, Name), flags: u16, text: &str) {
        let name = shown(&key.0);
        if name == "<init>" {
            self.refuse(format!("the constructor {text} was added"));
        } else if is_serialization(&name) {
            self.refuse(format!(
                "{text} was added, which serialization finds by reflection"
            ));
        } else if flags & (ACC_ABSTRACT | ACC_NATIVE) != 0 {
            self.refuse(format!(
                "the method {text} was added, which is abstract or native"
            ));
        } else if flags & ACC_SYNCHRONIZED != 0 {
            self.refuse(format!("the synchronized method {text} was added"));
        } else {
            self.added_methods.push((key.0, key.1, flags));
        }
    }

    /// Adds the reasons against moving an instance method: other code would call it through the class.
    pub(super) fn check_overrides(
        &mut self,
        name: &[u8],
        declarations: &Declarations<'_>,
        of_patch: &HashMap<Name, Class>,
    ) {
        let (mut supertypes, complete) = declarations.supertypes(name);
        supertypes.remove(name);
        let virtual_ones: Vec<(Name, Name)> = self
            .added_methods
            .iter()
            .filter(|(_, _, flags)| flags & (ACC_STATIC | ACC_PRIVATE) == 0)
            .map(|(name, descriptor, _)| (name.clone(), descriptor.clone()))
            .collect();
        if !virtual_ones.is_empty() && !complete {
            self.refuse(
                "an instance method was added, and a supertype has no class file to compare with",
            );
        }
        for (method, descriptor) in virtual_ones {
            let key = (method.clone(), descriptor.clone(), false);
            let text = format!("{}{}", shown(&method), shown(&descriptor));
            let mut above: Vec<&Name> = supertypes
                .iter()
                .filter(|class| {
                    let class = declarations.class(class);
                    let flags = class.and_then(|class| class.members.get(&key).copied());
                    flags.is_some_and(|flags| flags & (ACC_STATIC | ACC_PRIVATE) == 0)
                })
                .collect();
            above.sort_unstable();
            if let Some(class) = above.first() {
                let class = crate::model::shown_class(class);
                self.refuse(format!("the method {text} was added, which overrides that of {class}: the JVM would not call it"));
            }
            let mut below: Vec<&Name> = of_patch
                .iter()
                .filter(|(other, class)| {
                    other.as_slice() != name
                        && flags(class, &class.methods)
                            .contains_key(&(method.clone(), descriptor.clone()))
                        && declarations.supertypes(other).0.contains(name)
                })
                .map(|(other, _)| other)
                .collect();
            below.sort_unstable();
            if let Some(class) = below.first() {
                let class = crate::model::shown_class(class);
                self.refuse(format!(
                    "the method {text} was added, which {class} overrides"
                ));
            }
        }
    }

    /// Adds the reasons against moving methods that frameworks find by their annotations.
    pub(super) fn check_annotations(&mut self, new: &ClassFile<'_>) {
        for method in new.methods() {
            let key = (
                method.name().as_bytes().to_vec(),
                method.descriptor().as_bytes().to_vec(),
            );
            let is_added =
                |(name, descriptor, _): &(Name, Name, u16)| *name == key.0 && *descriptor == key.1;
            if !self.added_methods.iter().any(is_added) {
                continue;
            }
            let unseen: Vec<_> = method.invisible_annotations().collect();
            let mut seen = method.annotations().filter(|found| !unseen.contains(found));
            let wanted = seen.find(|found| !HARMLESS.iter().any(|known| *found == *known));
            if let Some(found) = wanted {
                let text = format!(
                    "the method {} was added with the annotation {found}, which is read by reflection",
                    method.name(),
                );
                self.refuse(text);
            }
        }
    }
}

fn is_serialization(name: &str) -> bool {
    SERIALIZATION.contains(&name)
}

fn listed(class: &Class, members: &[Member]) -> Vec<((Name, Name), u16)> {
    let item = |member: &Member| (class.key(member), member.flags);
    members.iter().map(item).collect()
}

fn flags(class: &Class, members: &[Member]) -> HashMap<(Name, Name), u16> {
    listed(class, members).into_iter().collect()
}
