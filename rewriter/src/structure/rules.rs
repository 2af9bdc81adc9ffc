//! Rules for edits of a class.

use std::collections::{HashMap, HashSet};

use crate::class::{Attributes, ClassFile, Method};
use crate::edits::{
    ClassEdit, Constant, NewField, NewMethod, PrefixedNative, StructureError, Target,
};
use crate::index::MethodIndex;
use crate::limits::{MAX_STRUCTURE_BYTES, ODD_NAMES_SINCE};
use crate::structure::name_syntax::{annotation_names, bad, method_name};
use jvms::access_flags::{ACC_ABSTRACT, ACC_NATIVE, ACC_STATIC, ACC_STRICT_INIT, Declaration};
use jvms::descriptor::{FieldType, MAX_ARGUMENT_SLOTS, MethodDescriptor};
use jvms::flag_rules::Flags;
use jvms::modified_utf8;
use jvms::names::{CLINIT, INIT, is_called_by_name, is_identifier, is_internal, is_unqualified};

/// Attributes that may occur only once (JVMS 4.7), and those that the rewriter writes.
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

/// Name and descriptor in modified UTF-8.
type Key = (Vec<u8>, Vec<u8>);

/// Checks class edits one after another. A refused edit leaves traces, which may cause later refusals, but never a
/// wrong acceptance.
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

/// Checks all class edits.
pub(crate) fn validate(class: &ClassFile<'_>, edits: &[ClassEdit]) -> Result<(), StructureError> {
    let mut checker = ClassChecker::new(class);
    edits.iter().try_for_each(|edit| checker.check(edit))
}

impl<'c, 'a> ClassChecker<'c, 'a> {
    pub(crate) fn new(class: &'c ClassFile<'a>) -> Self {
        let key = |name: modified_utf8::Utf8<'_>, descriptor: modified_utf8::Utf8<'_>| {
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

    /// Checks one more edit.
    pub(crate) fn check(&mut self, edit: &ClassEdit) -> Result<(), StructureError> {
        match edit {
            ClassEdit::AddField(field) => self.field(field),
            ClassEdit::AddMethod(method) => self.method(method),
            ClassEdit::AddInterface(name) => self.interface(name),
            ClassEdit::AddAnnotation {
                target, annotation, ..
            } => {
                self.target(target)?;
                annotation_names(annotation, 0)?;
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
            ClassEdit::PrefixNative(wrapper) => self.native(wrapper),
            ClassEdit::ReplaceBody { method, .. } => {
                let found = self.find(*method)?;
                let name = heading(&found);
                if !found.has_code() {
                    return unsuited(
                        format!("replacing the body of {name}"),
                        "an abstract or native method has no body to replace",
                    );
                }
                self.take(*method, &name)
            }
        }
    }

    fn find(&self, method: MethodIndex) -> Result<Method<'c, 'a>, StructureError> {
        let found = self.class.method(method);
        found.ok_or_else(|| StructureError::no_method(self.class, method))
    }

    /// Checks that a method gets at most one new body.
    fn take(&mut self, method: MethodIndex, name: &str) -> Result<(), StructureError> {
        if self.taken.insert(method) {
            return Ok(());
        }
        let what = format!("a new body of {name}");
        Err(StructureError::Twice { what })
    }

    /// Returns the flags of a new member, for the check of their rules.
    fn flags<'n>(&self, declaration: Declaration, bits: u16, name: &'n [u8]) -> Flags<'n> {
        Flags {
            declaration,
            bits,
            major: self.class.major_version(),
            in_interface: self.class.is_interface(),
            name,
        }
    }

    fn field(&mut self, field: &NewField) -> Result<(), StructureError> {
        let NewField {
            flags,
            name,
            descriptor,
            value,
        } = field;
        let key = encoded(name, descriptor);
        if !is_unqualified(&key.0) {
            return Err(bad("field name", name));
        }
        if FieldType::checked(&key.1).is_err() {
            return Err(bad("field descriptor", descriptor));
        }
        self.expect_identifier(name)?;
        let member = format!("field {name}:{descriptor}");
        let found = self.flags(Declaration::Field, *flags, &key.0);
        if let Err(reason) = found.check() {
            return bad_flags(member, *flags, reason);
        }
        if flags & ACC_STRICT_INIT != 0 {
            let reason = "each constructor would have to assign a strict field";
            return bad_flags(member, *flags, reason);
        }
        let fits = value.as_ref().is_none_or(|value| match value {
            Constant::Integer(_) => matches!(descriptor.as_str(), "I" | "Z" | "B" | "C" | "S"),
            Constant::Long(_) => descriptor == "J",
            Constant::Float(_) => descriptor == "F",
            Constant::Double(_) => descriptor == "D",
            Constant::Text(_) => descriptor == "Ljava/lang/String;",
        });
        if !fits || value.is_some() && flags & ACC_STATIC == 0 {
            let reason = "its constant does not suit: a static field takes one of its own type";
            let what = member;
            return Err(StructureError::DoesNotSuit { what, reason });
        }
        if !self.fields.insert(key) {
            return twice(member);
        }
        Ok(())
    }

    fn method(&mut self, method: &NewMethod) -> Result<(), StructureError> {
        let NewMethod {
            flags,
            name,
            descriptor,
            body,
        } = method;
        let key = encoded(name, descriptor);
        method_name(&key.0, name, descriptor)?;
        let Ok(found) = MethodDescriptor::checked(&key.1) else {
            return Err(bad("method descriptor", descriptor));
        };
        if ![INIT, CLINIT].contains(&name.as_str()) {
            self.expect_identifier(name)?;
        }
        if found.argument_slots(flags & ACC_STATIC == 0) > MAX_ARGUMENT_SLOTS {
            let expected = "method descriptor of at most 255 argument slots";
            return Err(bad(expected, descriptor));
        }
        let member = format!("method {name}{descriptor}");
        let checked = self.flags(Declaration::Method, *flags, &key.0).check();
        let bodiless = flags & (ACC_ABSTRACT | ACC_NATIVE) != 0;
        let checked = checked.and(match (bodiless, body.is_some()) {
            (true, true) => Err("an abstract or native method has no body"),
            (false, false) => Err("a method that is neither abstract nor native needs a body"),
            _ => Ok(()),
        });
        if let Err(reason) = checked {
            return bad_flags(member, *flags, reason);
        }
        if !self.methods.insert(key) {
            return twice(member);
        }
        Ok(())
    }

    /// Checks a type name in class files before version 49, which require Java identifiers.
    fn expect_identifiers(&self, name: &str) -> Result<(), StructureError> {
        name.split('/')
            .try_for_each(|part| self.expect_identifier(part))
    }

    /// Checks a member name in class files before version 49, which require Java identifiers.
    fn expect_identifier(&self, name: &str) -> Result<(), StructureError> {
        if self.class.major_version() >= ODD_NAMES_SINCE || is_identifier(name) {
            return Ok(());
        }
        let expected = "identifier of Java, which class files before version 49 need for names";
        Err(bad(expected, name))
    }

    fn interface(&mut self, name: &str) -> Result<(), StructureError> {
        let key = modified_utf8::encode(name);
        if !is_internal(&key) {
            return Err(bad("internal name, a/B", name));
        }
        self.expect_identifiers(name)?;
        if self.class.this_class().as_bytes() == key {
            return unsuited(
                format!("interface {name}"),
                "a class cannot be its own interface",
            );
        }
        if !self.interfaces.insert(key) {
            return twice(format!("interface {name}"));
        }
        Ok(())
    }

    /// Returns the attributes at `target`.
    fn target(&self, target: &Target) -> Result<Attributes<'c, 'a>, StructureError> {
        match target {
            Target::Class => Ok(self.class.attributes()),
            Target::Method(method) => Ok(self.find(*method)?.attributes()),
            Target::Field { name, descriptor } => {
                let key = encoded(name, descriptor);
                let mut fields = self.class.fields();
                let found = fields.find(|field| {
                    field.name().as_bytes() == key.0 && field.descriptor().as_bytes() == key.1
                });
                let missing = || StructureError::NoSuchField {
                    name: name.clone(),
                    descriptor: descriptor.clone(),
                };
                Ok(found.ok_or_else(missing)?.attributes())
            }
        }
    }

    /// Checks that `target` gets each annotation type once, because reflection accepts no duplicates.
    fn annotation(&mut self, target: &Target, descriptor: &str) -> Result<(), StructureError> {
        let key = modified_utf8::encode(descriptor);
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
                let wanted = encoded(name, descriptor);
                self.class
                    .fields()
                    .filter(|field| field.name().as_bytes() == wanted.0)
                    .filter(|field| field.descriptor().as_bytes() == wanted.1)
                    .any(|field| field.annotations().any(|found| found.as_bytes() == key))
            }
        };
        let added = (target.clone(), descriptor.to_owned());
        if there || !self.annotations.insert(added) {
            return twice(format!("annotation {descriptor} on {target}"));
        }
        Ok(())
    }

    fn attribute(
        &mut self,
        target: &Target,
        name: &str,
        length: usize,
    ) -> Result<(), StructureError> {
        let mut there = self.target(target)?;
        let what = || format!("attribute {name} of {target}");
        if name.is_empty() || OURS.contains(&name) {
            let reason = "only the rewriter writes it";
            let what = what();
            return Err(StructureError::DoesNotSuit { what, reason });
        }
        let key = (target.clone(), name.to_owned());
        let again = there.any(|found| found.name == name) || !self.attributes.insert(key);
        if again && ONCE.contains(&name) {
            return Err(StructureError::Twice { what: what() });
        }
        self.bytes = self.bytes.saturating_add(length);
        if self.bytes > MAX_STRUCTURE_BYTES {
            return Err(StructureError::TooLong);
        }
        Ok(())
    }

    fn rename_type(&mut self, from: &str, to: &str) -> Result<(), StructureError> {
        for name in [from, to] {
            if !is_internal(&modified_utf8::encode(name)) {
                return Err(bad("internal name, a/B", name));
            }
        }
        self.expect_identifiers(to)?;
        let parent = |name: &[u8]| {
            let superclass = self.class.super_class();
            superclass.is_some_and(|found| found.as_bytes() == name)
                || self.interfaces.contains(name)
        };
        if self.class.this_class() == to && parent(&modified_utf8::encode(from)) {
            return unsuited(
                format!("a new name of type {from}"),
                "a class cannot extend or implement itself",
            );
        }
        let known = self.types.entry(from.to_owned());
        if known.or_insert_with(|| to.to_owned()) != to {
            return twice(format!("a new name of type {from}"));
        }
        Ok(())
    }

    fn rename_member(
        &mut self,
        key: (String, String, String),
        to: &str,
    ) -> Result<(), StructureError> {
        let (owner, name, descriptor) = &key;
        let encoded = modified_utf8::encode(descriptor);
        let is_method = MethodDescriptor::checked(&encoded).is_ok();
        if !is_method && FieldType::checked(&encoded).is_err() {
            return Err(bad("descriptor", descriptor));
        }
        if name.is_empty() || name.starts_with('<') {
            return Err(bad(
                "name of a field or of a method that is called by name",
                name,
            ));
        }
        if is_method {
            method_name(&modified_utf8::encode(to), to, descriptor)?;
        } else if !is_unqualified(&modified_utf8::encode(to)) {
            return Err(bad("field name", to));
        }
        if to.starts_with('<') {
            return Err(bad("name of a method that is called by name", to));
        }
        self.expect_identifier(to)?;
        if self.class.this_class().as_bytes() == modified_utf8::encode(owner) {
            let members = if is_method {
                &mut self.methods
            } else {
                &mut self.fields
            };
            let old = self::encoded(name, descriptor);
            let new = (modified_utf8::encode(to), old.1.clone());
            if members.remove(&old) && !members.insert(new) {
                return twice(format!("member {to}:{descriptor}"));
            }
        }
        let what = format!("a new name of {owner}.{name}:{descriptor}");
        if self.members.entry(key).or_insert_with(|| to.to_owned()) != to {
            return Err(StructureError::Twice { what });
        }
        Ok(())
    }

    fn native(&mut self, wrapper: &PrefixedNative) -> Result<(), StructureError> {
        let found = self.find(wrapper.method)?;
        let name = heading(&found);
        if found.access_flags() & ACC_NATIVE == 0 {
            return unsuited(format!("wrapping {name}"), "the method is not native");
        }
        let prefix = modified_utf8::encode(&wrapper.prefix);
        if !is_called_by_name(&prefix) {
            return Err(bad("prefix of a method name", &wrapper.prefix));
        }
        let mut renamed = prefix;
        renamed.extend_from_slice(found.name().as_bytes());
        let key = (renamed, found.descriptor().as_bytes().to_vec());
        if !self.methods.insert(key) {
            return twice(format!("method {}{name}", wrapper.prefix));
        }
        self.take(wrapper.method, &name)
    }
}

fn encoded(name: &str, descriptor: &str) -> Key {
    let [name, descriptor] = [name, descriptor].map(modified_utf8::encode);
    (name, descriptor)
}

fn twice(what: String) -> Result<(), StructureError> {
    Err(StructureError::Twice { what })
}

fn unsuited(what: String, reason: &'static str) -> Result<(), StructureError> {
    Err(StructureError::DoesNotSuit { what, reason })
}

fn bad_flags(member: String, flags: u16, reason: &'static str) -> Result<(), StructureError> {
    Err(StructureError::BadFlags {
        member,
        flags,
        reason,
    })
}

/// Returns name and descriptor for display.
pub(crate) fn heading(method: &Method<'_, '_>) -> String {
    format!("{}{}", method.name(), method.descriptor())
}
