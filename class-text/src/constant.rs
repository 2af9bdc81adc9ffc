//! Pool entries as text, in the form of `javap`. Dynamic constants are not expanded in one another, so no class can
//! cause recursion.

use std::fmt::{self, Display, Formatter};

use crate::name::Name;
use jvms::constant_tag;
use jvms::modified_utf8::Utf8;
use rewriter::{ClassFile, Dynamic, LoadableConstant, MemberRef, MethodHandle, PoolIndex, Text};

/// The entry at `.1` in its class: kind and value.
pub(super) struct Entry<'c, 'a>(pub(super) &'c ClassFile<'a>, pub(super) PoolIndex);

impl Display for Entry<'_, '_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Entry(class, index) = *self;
        let pool = class.pool();
        let kind = pool.tag(index);
        if let Some(member) = pool.member_ref(index) {
            let kind = match kind {
                Some(constant_tag::FIELD_REF) => "Field",
                Some(constant_tag::INTERFACE_METHOD_REF) => "InterfaceMethod",
                _ => "Method",
            };
            write!(f, "{kind} ")?;
            if member.owner == class.this_class() {
                return name_and_type(member.name, member.descriptor, f);
            }
            return self::member(&member, f);
        }
        if let Some(found) = pool.dynamic(index) {
            let kind = match kind {
                Some(constant_tag::DYNAMIC) => "Dynamic",
                _ => "InvokeDynamic",
            };
            write!(f, "{kind} ")?;
            return dynamic(&found, f);
        }
        match (pool.constant(index), kind) {
            (Some(value), _) => constant(&value, f),
            (None, Some(kind)) => write!(f, "(unusable entry, tag {kind})"),
            (None, None) => f.write_str("(no such entry)"),
        }
    }
}

/// Writes a loadable constant with its kind.
fn constant(value: &LoadableConstant<'_>, f: &mut Formatter<'_>) -> fmt::Result {
    match value {
        LoadableConstant::Integer(value) => write!(f, "int {value}"),
        LoadableConstant::Float(value) => number("float", &format!("{value:?}"), 'f', f),
        LoadableConstant::Long(value) => write!(f, "long {value}l"),
        LoadableConstant::Double(value) => number("double", &format!("{value:?}"), 'd', f),
        LoadableConstant::String(text) => write!(f, "String {}", Text(*text)),
        LoadableConstant::Class(name) => write!(f, "class {}", Name(*name)),
        LoadableConstant::MethodHandle(value) => {
            f.write_str("MethodHandle ")?;
            handle(value, f)
        }
        LoadableConstant::MethodType(text) => write!(f, "MethodType {}", Text(*text)),
        LoadableConstant::Dynamic(value) => {
            f.write_str("Dynamic ")?;
            dynamic(value, f)
        }
        other => write!(f, "{other:?}"),
    }
}

/// Writes a number; infinity is spelt as in Java.
fn number(kind: &str, value: &str, suffix: char, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "{kind} {}{suffix}", value.replace("inf", "Infinity"))
}

fn member(member: &MemberRef<'_>, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "{}.", Name(member.owner))?;
    name_and_type(member.name, member.descriptor, f)
}

fn name_and_type(name: Utf8<'_>, descriptor: Utf8<'_>, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "{}:{}", Name(name), Text(descriptor))
}

fn dynamic(value: &Dynamic<'_>, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "#{}:", value.bootstrap)?;
    name_and_type(value.name, value.descriptor, f)
}

fn handle(value: &MethodHandle<'_>, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str(match value.kind {
        1 => "REF_getField",
        2 => "REF_getStatic",
        3 => "REF_putField",
        4 => "REF_putStatic",
        5 => "REF_invokeVirtual",
        6 => "REF_invokeStatic",
        7 => "REF_invokeSpecial",
        8 => "REF_newInvokeSpecial",
        9 => "REF_invokeInterface",
        _ => "REF_unknown",
    })?;
    f.write_str(" ")?;
    member(&value.member, f)
}
