//! Can a class be edited so?

use std::collections::{HashMap, HashSet};

use thiserror::Error;

use crate::class::{Attributes, ClassFile, Method};
use crate::edits::{ClassEdit, Constant, NativeWrapper, NewField, NewMethod, Target};
use crate::error::ReadError;
use crate::index::MethodIndex;
use crate::limits::{MAX_SHAPE_BYTES, STATIC_INTERFACE_METHODS_SINCE};
use crate::schema::SchemaBreak;
use crate::snippet::{
    SnippetError, is_field, is_internal, is_method, is_unqualified, parameter_slots,
};
use crate::utf8;

/// Why the structure of a class is not changed. All of its class edits are then
/// left out, and the class is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The constant pool has no room.
    #[error("the constant pool has no room for the entries that the class edits need")]
    PoolFull,
    /// A text is longer than 65,535 bytes.
    #[error("a text of {length} bytes does not fit a constant pool, which allows 65535")]
    NameTooLong {
        /// Its length in modified UTF-8.
        length: u64,
    },
    /// What is added is too long in all.
    #[error("class edits hold at most {MAX_SHAPE_BYTES} bytes of attributes")]
    TooLong,
    /// More members, interfaces, attributes or annotations than a `u2` counts.
    #[error("the class would have more than 65535 {what}")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
    },
    /// Annotations nested deeper than 64 levels.
    #[error("an annotation is nested deeper than 64 levels")]
    TooDeep,
    /// The class cannot be read where it has to be.
    #[error("the class cannot be read: {0}")]
    Unreadable(#[from] ReadError),
    /// The class has fewer methods.
    #[error("method {method} does not exist: the class has {count}")]
    NoSuchMethod {
        /// The index asked for.
        method: MethodIndex,
        /// How many methods there are.
        count: u32,
    },
    /// The class has no such field.
    #[error("the class has no field {name}:{descriptor}")]
    NoSuchField {
        /// Its name.
        name: String,
        /// Its descriptor.
        descriptor: String,
    },
    /// A name or descriptor that no class file may hold (JVMS 4.2, 4.3).
    #[error("expected a {expected}, found `{found}`")]
    BadName {
        /// What it should be.
        expected: &'static str,
        /// What it is, cut off where it is long.
        found: String,
    },
    /// Flags that the JVM does not take (JVMS 4.5, 4.6).
    #[error("{member} cannot have the flags {flags:#06x}: {reason}")]
    BadFlags {
        /// Which member.
        member: String,
        /// Its flags.
        flags: u16,
        /// What is wrong with them.
        reason: &'static str,
    },
    /// There would be two.
    #[error("the class would have {what} twice")]
    Twice {
        /// Which member, interface, attribute or annotation; or what is renamed.
        what: String,
    },
    /// The edit does not suit what it is meant for.
    #[error("{what}: {reason}")]
    DoesNotSuit {
        /// Which edit.
        what: String,
        /// Why not.
        reason: &'static str,
    },
    /// A body does not fit its method.
    #[error("the body of {method} does not fit: {error}")]
    Body {
        /// Name and descriptor.
        method: String,
        /// Why not.
        error: SnippetError,
    },
    /// The code of an added method is too long.
    #[error("the body of {method} would be {length} bytes long, and 65535 are allowed")]
    BodyTooLarge {
        /// Name and descriptor.
        method: String,
        /// Its length.
        length: u32,
    },
    /// A loaded class cannot be changed so.
    #[error("a class that is loaded cannot be changed so: {0}")]
    Loaded(SchemaBreak),
}

impl Refusal {
    pub(crate) fn no_method(class: &ClassFile<'_>, method: MethodIndex) -> Self {
        let count = class.records().len() as u32;
        Refusal::NoSuchMethod { method, count }
    }
}

const PUBLIC: u16 = 0x0001;
const PRIVATE: u16 = 0x0002;
const PROTECTED: u16 = 0x0004;
const STATIC: u16 = 0x0008;
const FINAL: u16 = 0x0010;
const SYNCHRONIZED: u16 = 0x0020;
const VOLATILE: u16 = 0x0040;
const NATIVE: u16 = 0x0100;
const INTERFACE: u16 = 0x0200;
const ABSTRACT: u16 = 0x0400;
const STRICT: u16 = 0x0800;
const SYNTHETIC: u16 = 0x1000;

/// Attributes that stand alone (JVMS 4.7), and those that the rewriter writes.
const ONCE: [&str; 18] = [
    "AnnotationDefault",
    "ConstantValue",
    "EnclosingMethod",
    "Exceptions",
    "InnerClasses",
    "MethodParameters",
    "NestHost",
    "NestMembers",
    "PermittedSubclasses",
    "Record",
    "RuntimeInvisibleAnnotations",
    "RuntimeInvisibleParameterAnnotations",
    "RuntimeVisibleAnnotations",
    "RuntimeVisibleParameterAnnotations",
    "Signature",
    "SourceDebugExtension",
    "SourceFile",
    "RuntimeVisibleTypeAnnotations",
];
const OURS: [&str; 3] = ["BootstrapMethods", "Code", "StackMapTable"];

/// Longest name shown in an error.
const SHOWN: usize = 80;

fn bad(expected: &'static str, found: &str) -> Refusal {
    let found = found.chars().take(SHOWN).collect();
    Refusal::BadName { expected, found }
}

/// Name and descriptor in modified UTF-8.
type Key = (Vec<u8>, Vec<u8>);

/// Checks class edits one after another. One that is refused leaves traces, so
/// that another may be refused with it; none is taken that does not suit.
#[derive(Debug)]
pub(crate) struct ClassChecker<'c, 'a> {
    class: &'c ClassFile<'a>,
    fields: HashSet<Key>,
    methods: HashSet<Key>,
    interfaces: HashSet<Vec<u8>>,
    attributes: HashSet<(Target, String)>,
    annotations: HashSet<(Target, String)>,
    /// Methods with a new body or wrapper.
    taken: HashSet<MethodIndex>,
    types: HashMap<String, String>,
    members: HashMap<(String, String, String), String>,
    bytes: usize,
}

/// Checks all of them.
pub(crate) fn validate(class: &ClassFile<'_>, edits: &[ClassEdit]) -> Result<(), Refusal> {
    let mut checker = ClassChecker::new(class);
    edits.iter().try_for_each(|edit| checker.check(edit))
}

impl<'c, 'a> ClassChecker<'c, 'a> {
    pub(crate) fn new(class: &'c ClassFile<'a>) -> Self {
        let key = |name: utf8::Utf8<'_>, descriptor: utf8::Utf8<'_>| {
            (name.as_bytes().to_vec(), descriptor.as_bytes().to_vec())
        };
        ClassChecker {
            class,
            fields: class
                .fields()
                .map(|field| key(field.name(), field.descriptor()))
                .collect(),
            methods: class
                .methods()
                .map(|method| key(method.name(), method.descriptor()))
                .collect(),
            interfaces: class
                .interfaces()
                .map(|name| name.as_bytes().to_vec())
                .collect(),
            attributes: HashSet::new(),
            annotations: HashSet::new(),
            taken: HashSet::new(),
            types: HashMap::new(),
            members: HashMap::new(),
            bytes: 0,
        }
    }

    /// One more edit.
    pub(crate) fn check(&mut self, edit: &ClassEdit) -> Result<(), Refusal> {
        match edit {
            ClassEdit::AddField(field) => self.field(field),
            ClassEdit::AddMethod(method) => self.method(method),
            ClassEdit::AddInterface(name) => self.interface(name),
            ClassEdit::AddAnnotation {
                target, annotation, ..
            } => {
                self.target(target)?;
                if !is_class_descriptor(&annotation.descriptor) {
                    let expected = "class descriptor, La/B;";
                    return Err(bad(expected, &annotation.descriptor));
                }
                self.annotation(target, &annotation.descriptor)
            }
            ClassEdit::AddAttribute {
                target,
                name,
                bytes,
            } => self.attribute(target, name, bytes.len()),
            ClassEdit::RenameMember { member, to } => {
                let key = (
                    member.owner.clone(),
                    member.name.clone(),
                    member.descriptor.clone(),
                );
                self.rename_member(key, to)
            }
            ClassEdit::RenameType { from, to } => self.rename_type(from, to),
            ClassEdit::WrapNative(wrapper) => self.native(wrapper),
            ClassEdit::ReplaceBody { method, .. } => {
                let found = self.find(*method)?;
                let name = heading(&found);
                if !found.has_code() {
                    let reason = "an abstract or native method has no body to replace";
                    let what = format!("replacing the body of {name}");
                    return Err(Refusal::DoesNotSuit { what, reason });
                }
                self.take(*method, &name)
            }
        }
    }

    fn is_interface(&self) -> bool {
        self.class.access_flags() & INTERFACE != 0
    }

    fn find(&self, method: MethodIndex) -> Result<Method<'c, 'a>, Refusal> {
        let found = self.class.method(method);
        found.ok_or_else(|| Refusal::no_method(self.class, method))
    }

    /// A method gets one new body at most.
    fn take(&mut self, method: MethodIndex, name: &str) -> Result<(), Refusal> {
        if self.taken.insert(method) {
            return Ok(());
        }
        let what = format!("a new body of {name}");
        Err(Refusal::Twice { what })
    }

    fn field(&mut self, field: &NewField) -> Result<(), Refusal> {
        let NewField {
            flags,
            name,
            descriptor,
            value,
        } = field;
        let key = (utf8::encode(name), utf8::encode(descriptor));
        if !is_unqualified(&key.0) {
            return Err(bad("field name", name));
        }
        if !is_field(&key.1) {
            return Err(bad("field descriptor", descriptor));
        }
        let member = format!("field {name}:{descriptor}");
        if let Err(reason) = field_flags(*flags, self.is_interface()) {
            let flags = *flags;
            return Err(Refusal::BadFlags {
                member,
                flags,
                reason,
            });
        }
        let fits = value.as_ref().is_none_or(|value| match value {
            Constant::Int(_) => matches!(descriptor.as_str(), "I" | "Z" | "B" | "C" | "S"),
            Constant::Long(_) => descriptor == "J",
            Constant::Float(_) => descriptor == "F",
            Constant::Double(_) => descriptor == "D",
            Constant::String(_) => descriptor == "Ljava/lang/String;",
        });
        if !fits || value.is_some() && flags & STATIC == 0 {
            let reason = "its constant does not suit: a static field takes one of its own type";
            let what = member;
            return Err(Refusal::DoesNotSuit { what, reason });
        }
        if !self.fields.insert(key) {
            return Err(Refusal::Twice { what: member });
        }
        Ok(())
    }

    fn method(&mut self, method: &NewMethod) -> Result<(), Refusal> {
        let NewMethod {
            flags,
            name,
            descriptor,
            body,
        } = method;
        let key = (utf8::encode(name), utf8::encode(descriptor));
        method_name(&key.0, name, descriptor)?;
        if !is_method(&key.1) {
            return Err(bad("method descriptor", descriptor));
        }
        let receiver = u32::from(flags & STATIC == 0);
        if parameter_slots(&key.1).wrapping_add(receiver) > 255 {
            let expected = "method descriptor of at most 255 argument slots";
            return Err(bad(expected, descriptor));
        }
        let member = format!("method {name}{descriptor}");
        let new_style = self.class.major_version() >= STATIC_INTERFACE_METHODS_SINCE;
        let checked = method_flags(*flags, name, self.is_interface(), new_style);
        let bodiless = flags & (ABSTRACT | NATIVE) != 0;
        let checked = checked.and(match (bodiless, body.is_some()) {
            (true, true) => Err("an abstract or native method has no body"),
            (false, false) => Err("a method that is neither abstract nor native needs a body"),
            _ => Ok(()),
        });
        if let Err(reason) = checked {
            let flags = *flags;
            return Err(Refusal::BadFlags {
                member,
                flags,
                reason,
            });
        }
        if !self.methods.insert(key) {
            return Err(Refusal::Twice { what: member });
        }
        Ok(())
    }

    fn interface(&mut self, name: &str) -> Result<(), Refusal> {
        let key = utf8::encode(name);
        if !is_internal(&key) {
            return Err(bad("internal name, a/B", name));
        }
        if self.class.this_class().as_bytes() == key {
            let what = format!("interface {name}");
            let reason = "a class cannot be its own interface";
            return Err(Refusal::DoesNotSuit { what, reason });
        }
        if !self.interfaces.insert(key) {
            let what = format!("interface {name}");
            return Err(Refusal::Twice { what });
        }
        Ok(())
    }

    /// What is there at `target`.
    fn target(&self, target: &Target) -> Result<Attributes<'c, 'a>, Refusal> {
        match target {
            Target::Class => Ok(self.class.attributes()),
            Target::Method(method) => Ok(self.find(*method)?.attributes()),
            Target::Field { name, descriptor } => {
                let key = (utf8::encode(name), utf8::encode(descriptor));
                let mut fields = self.class.fields();
                let found = fields.find(|field| {
                    field.name().as_bytes() == key.0 && field.descriptor().as_bytes() == key.1
                });
                let missing = || Refusal::NoSuchField {
                    name: name.clone(),
                    descriptor: descriptor.clone(),
                };
                Ok(found.ok_or_else(missing)?.attributes())
            }
        }
    }

    /// The JVM's reflection takes an annotation once per place.
    fn annotation(&mut self, target: &Target, descriptor: &str) -> Result<(), Refusal> {
        let key = utf8::encode(descriptor);
        let there = match target {
            Target::Class => self
                .class
                .annotations()
                .any(|found| found.as_bytes() == key),
            Target::Method(method) => {
                let found = self.find(*method)?;
                found.annotations().any(|found| found.as_bytes() == key)
            }
            Target::Field { name, descriptor } => {
                let wanted = (utf8::encode(name), utf8::encode(descriptor));
                self.class
                    .fields()
                    .filter(|field| field.name().as_bytes() == wanted.0)
                    .filter(|field| field.descriptor().as_bytes() == wanted.1)
                    .any(|field| field.annotations().any(|found| found.as_bytes() == key))
            }
        };
        let added = (target.clone(), descriptor.to_owned());
        if there || !self.annotations.insert(added) {
            let what = format!("annotation {descriptor} on {target}");
            return Err(Refusal::Twice { what });
        }
        Ok(())
    }

    fn attribute(&mut self, target: &Target, name: &str, length: usize) -> Result<(), Refusal> {
        let mut there = self.target(target)?;
        let what = || format!("attribute {name} of {target}");
        if name.is_empty() || OURS.contains(&name) {
            let reason = "it is written by the rewriter alone";
            let what = what();
            return Err(Refusal::DoesNotSuit { what, reason });
        }
        let key = (target.clone(), name.to_owned());
        let again = there.any(|found| found.name == name) || !self.attributes.insert(key);
        if again && ONCE.contains(&name) {
            return Err(Refusal::Twice { what: what() });
        }
        self.bytes = self.bytes.saturating_add(length);
        if self.bytes > MAX_SHAPE_BYTES {
            return Err(Refusal::TooLong);
        }
        Ok(())
    }

    fn rename_type(&mut self, from: &str, to: &str) -> Result<(), Refusal> {
        for name in [from, to] {
            if !is_internal(&utf8::encode(name)) {
                return Err(bad("internal name, a/B", name));
            }
        }
        let known = self.types.entry(from.to_owned());
        if known.or_insert_with(|| to.to_owned()) != to {
            let what = format!("a new name of type {from}");
            return Err(Refusal::Twice { what });
        }
        Ok(())
    }

    fn rename_member(&mut self, key: (String, String, String), to: &str) -> Result<(), Refusal> {
        let (owner, name, descriptor) = &key;
        let is_method = is_method(&utf8::encode(descriptor));
        if !is_method && !is_field(&utf8::encode(descriptor)) {
            return Err(bad("descriptor", descriptor));
        }
        if name.is_empty() || name.starts_with('<') {
            return Err(bad(
                "name of a field or of a method that is called by name",
                name,
            ));
        }
        if is_method {
            method_name(&utf8::encode(to), to, descriptor)?;
        } else if !is_unqualified(&utf8::encode(to)) {
            return Err(bad("field name", to));
        }
        if to.starts_with('<') {
            return Err(bad("name of a method that is called by name", to));
        }
        if self.class.this_class().as_bytes() == utf8::encode(owner) {
            let members = if is_method {
                &mut self.methods
            } else {
                &mut self.fields
            };
            let old = (utf8::encode(name), utf8::encode(descriptor));
            let new = (utf8::encode(to), old.1.clone());
            if members.remove(&old) && !members.insert(new) {
                let what = format!("member {to}:{descriptor}");
                return Err(Refusal::Twice { what });
            }
        }
        let what = format!("a new name of {owner}.{name}:{descriptor}");
        if self.members.entry(key).or_insert_with(|| to.to_owned()) != to {
            return Err(Refusal::Twice { what });
        }
        Ok(())
    }

    fn native(&mut self, wrapper: &NativeWrapper) -> Result<(), Refusal> {
        let found = self.find(wrapper.method)?;
        let name = heading(&found);
        if found.access_flags() & NATIVE == 0 {
            let what = format!("wrapping {name}");
            let reason = "the method is not native";
            return Err(Refusal::DoesNotSuit { what, reason });
        }
        let prefix = utf8::encode(&wrapper.prefix);
        if !is_unqualified(&prefix) || prefix.iter().any(|byte| matches!(byte, b'<' | b'>')) {
            return Err(bad("prefix of a method name", &wrapper.prefix));
        }
        let mut renamed = prefix;
        renamed.extend_from_slice(found.name().as_bytes());
        let key = (renamed, found.descriptor().as_bytes().to_vec());
        if !self.methods.insert(key) {
            let what = format!("method {}{name}", wrapper.prefix);
            return Err(Refusal::Twice { what });
        }
        self.take(wrapper.method, &name)
    }
}

/// Name and descriptor for people.
pub(crate) fn heading(method: &Method<'_, '_>) -> String {
    format!("{}{}", method.name(), method.descriptor())
}

fn is_class_descriptor(text: &str) -> bool {
    let bytes = utf8::encode(text);
    bytes.first() == Some(&b'L') && is_field(&bytes)
}

fn method_name(bytes: &[u8], name: &str, descriptor: &str) -> Result<(), Refusal> {
    let special = match name {
        "<init>" => return void(name, descriptor),
        "<clinit>" if descriptor == "()V" => return Ok(()),
        _ => bytes.iter().any(|byte| matches!(byte, b'<' | b'>')),
    };
    if special || !is_unqualified(bytes) {
        return Err(bad("method name", name));
    }
    Ok(())
}

fn void(name: &str, descriptor: &str) -> Result<(), Refusal> {
    if descriptor.ends_with(")V") {
        return Ok(());
    }
    Err(bad(
        "descriptor of a constructor, (…)V",
        &format!("{name}{descriptor}"),
    ))
}

fn one_access(flags: u16) -> bool {
    (flags & (PUBLIC | PRIVATE | PROTECTED)).count_ones() <= 1
}

/// JVMS 4.5.
fn field_flags(flags: u16, interface: bool) -> Result<(), &'static str> {
    if interface {
        let rest = flags & !SYNTHETIC;
        if rest != PUBLIC | STATIC | FINAL {
            return Err("fields of an interface are public, static and final");
        }
    }
    if !one_access(flags) {
        return Err("at most one of public, private and protected");
    }
    if flags & (FINAL | VOLATILE) == FINAL | VOLATILE {
        return Err("a field is final or volatile, not both");
    }
    Ok(())
}

/// JVMS 4.6.
fn method_flags(
    flags: u16,
    name: &str,
    interface: bool,
    new_style: bool,
) -> Result<(), &'static str> {
    if name == "<clinit>" {
        return if flags & STATIC == 0 {
            Err("a class initializer is static")
        } else {
            Ok(())
        };
    }
    if !one_access(flags) {
        return Err("at most one of public, private and protected");
    }
    if name == "<init>" {
        if interface {
            return Err("an interface has no constructor");
        }
        if flags & (STATIC | FINAL | SYNCHRONIZED | NATIVE | ABSTRACT) != 0 {
            return Err("a constructor has access flags only");
        }
    }
    let with_abstract = FINAL | NATIVE | PRIVATE | STATIC | STRICT | SYNCHRONIZED;
    if flags & ABSTRACT != 0 && flags & with_abstract != 0 {
        return Err("an abstract method cannot be final, native, private, static or synchronized");
    }
    if interface {
        if flags & (PROTECTED | FINAL | SYNCHRONIZED | NATIVE) != 0 {
            return Err(
                "a method of an interface cannot be protected, final, synchronized or native",
            );
        }
        if new_style && flags & (PUBLIC | PRIVATE) == 0 {
            return Err("a method of an interface is public or private");
        }
        if !new_style && flags & (PUBLIC | ABSTRACT) != PUBLIC | ABSTRACT {
            return Err("before version 52 methods of an interface are public and abstract");
        }
    }
    Ok(())
}
