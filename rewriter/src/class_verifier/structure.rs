//! Checks a class file as the JVM does, as far as one class file allows (JVMS 4.8, 4.9): constants, attributes and
//! code.

use crate::class::{ClassFile, Code, Field, Instruction, Method, Switch};
use crate::class_verifier::attributes::{check_attributes, is_constant_of};
use crate::class_verifier::debug_tables::check_debug_tables;
use crate::class_verifier::error::{
    Checked, CodeFault, ReplacementError, expect, expect_flags, heading, shown,
};
use crate::class_verifier::types::check_types;
use crate::cursor::u16_at;
use crate::index::PoolIndex;
use crate::limits::{FRAMES_REQUIRED_SINCE, LDC_CLASS_SINCE, STATIC_INTERFACE_METHODS_SINCE};
use crate::pool::ConstantPool;
use crate::self_check::check_names;
use crate::structure::check_duplicates;
use crate::typing::Hierarchy;
use jvms::access_flags::{ACC_ABSTRACT, ACC_NATIVE, ACC_STATIC, Declaration};
use jvms::constant_tag::{
    CLASS, DOUBLE, DYNAMIC, FIELD_REF, FLOAT, INTEGER, INTERFACE_METHOD_REF, INVOKE_DYNAMIC, LONG,
    METHOD_HANDLE, METHOD_REF, METHOD_TYPE, NAME_AND_TYPE, STRING, UTF8,
};
use jvms::flag_rules::Flags;
use jvms::modified_utf8::{self, Utf8};
use jvms::names::CLINIT;
use jvms::opcode::*;

/// First versions of constants (JVMS table 4.4-B).
const HANDLES_SINCE: u16 = 51;
const DYNAMIC_SINCE: u16 = 55;
/// The minor version of preview features, and the first major version with it (JVMS 4.1).
const PREVIEW: u16 = u16::MAX;
const PREVIEW_SINCE: u16 = 56;
/// The first version of class files (JVMS table 4.1-A); a JVM refuses a lower one.
pub(super) const OLDEST: u16 = 45;
const OBJECT: &str = "java/lang/Object";

/// Checks that a class is valid.
pub(super) fn verify_class(class: &ClassFile<'_>) -> Checked {
    header(class)?;
    let bootstraps = bootstraps(class)?;
    let mut indices = (1..class.pool().count()).map(PoolIndex);
    indices.try_for_each(|index| constant(class, index, bootstraps))?;
    check_names(class).map_err(ReplacementError::Name)?;
    check_duplicates(class).map_err(ReplacementError::Structure)?;
    check_attributes(class, class.attributes(), &|| "the class".to_owned())?;
    for field in class.fields() {
        let name = || format!("field {}", field.name());
        let descriptor = field.descriptor().as_bytes();
        expect(!descriptor.starts_with(b"("), name, "a field descriptor")?;
        check_attributes(class, field.attributes(), &name)?;
        expect_flags(flags_of_field(class, &field), name)?;
        let mut values = field
            .attributes()
            .filter(|found| found.name == "ConstantValue");
        let fits = values.all(|value| is_constant_of(class.pool(), &value, descriptor));
        expect(fits, name, "a constant of the field's type")?;
    }
    class
        .methods()
        .try_for_each(|method| self::method(class, &method))
}

/// Checks version, flags and supertypes (JVMS 4.1).
fn header(class: &ClassFile<'_>) -> Checked {
    let part = || "the class's header".to_owned();
    let (major, minor) = (class.major_version(), class.minor_version());
    let version = major < PREVIEW_SINCE || minor == 0 || minor == PREVIEW;
    expect(
        version && major >= OLDEST,
        part,
        "a version of class files: 45 and up, and of 56 and up with the minor version 0 or 65535",
    )?;
    let flags = Flags {
        declaration: Declaration::Class,
        bits: class.access_flags(),
        major,
        in_interface: false,
        name: b"",
    };
    expect_flags(flags, || "the class".to_owned())?;
    let count = (class.fields_start() - (class.pool().end() + 8)) / 2;
    let names = class.interfaces().count() == count;
    let parents = match class.super_class() {
        Some(_) => class.this_class() != OBJECT,
        None => class.this_class() == OBJECT && count == 0,
    };
    expect(names && parents, part, "names of classes")?;
    let this = class.this_class();
    let other = |name: Utf8<'_>| name != this && !name.as_bytes().starts_with(b"[");
    let mut supertypes = class.super_class().into_iter().chain(class.interfaces());
    expect(
        supertypes.all(other) && !this.as_bytes().starts_with(b"["),
        part,
        "other classes than arrays and itself as supertypes",
    )?;
    let superclass = class.super_class().unwrap_or_default();
    let mut interfaces = class.interfaces();
    expect(
        !Hierarchy::is_interface(superclass.as_bytes())
            && !interfaces.any(|name| Hierarchy::is_class(name.as_bytes())),
        part,
        "a class as superclass, and interfaces as superinterfaces",
    )?;
    let of_object = class.super_class().is_none_or(|name| name == OBJECT);
    expect(
        !class.is_interface() || of_object,
        part,
        "java/lang/Object as superclass of an interface",
    )
}

fn flags_of_field(class: &ClassFile<'_>, field: &Field<'_, '_>) -> Flags<'static> {
    Flags {
        declaration: Declaration::Field,
        bits: field.access_flags(),
        major: class.major_version(),
        in_interface: class.is_interface(),
        name: b"",
    }
}

/// Returns the number of bootstrap methods; each must be a method handle with loadable constants.
fn bootstraps(class: &ClassFile<'_>) -> Result<usize, ReplacementError> {
    let Some(table) = class.bootstrap_table() else {
        return Ok(0);
    };
    let count = class.bootstrap_methods().count();
    let bytes: usize = class
        .bootstrap_methods()
        .map(|it| it.arguments().len() * 2 + 4)
        .sum();
    let whole =
        u16_at(table.bytes, 0).map(usize::from) == Some(count) && bytes + 2 == table.bytes.len();
    let pool = class.pool();
    let constants = class.bootstrap_methods().all(|found| {
        pool.tag(found.method_handle) == Some(METHOD_HANDLE)
            && found
                .arguments()
                .all(|index| pool.constant(index).is_some())
    });
    expect(
        whole && constants,
        || "BootstrapMethods".to_owned(),
        "method handles with constants",
    )?;
    Ok(count)
}

/// Checks that an entry of the pool refers to entries of the right kinds.
fn constant(class: &ClassFile<'_>, index: PoolIndex, bootstraps: usize) -> Checked {
    let (pool, major) = (class.pool(), class.major_version());
    let Some(tag) = pool.tag(index) else {
        return Ok(()); // the second half of a long or double
    };
    let member = |method: bool| {
        pool.member_ref(index).is_some_and(|found| {
            let constructs = found.name.as_bytes().starts_with(b"<");
            found.descriptor.as_bytes().starts_with(b"(") == method
                && (!constructs
                    || found.name == "<init>"
                        && !found.interface
                        && found.descriptor.as_bytes().ends_with(b")V"))
        })
    };
    let dynamic = || {
        pool.dynamic(index).filter(|found| {
            usize::from(found.bootstrap) < bootstraps && !found.name.as_bytes().starts_with(b"<")
        })
    };
    let sound = match tag {
        UTF8 => pool
            .utf8(index)
            .is_some_and(|text| modified_utf8::validate(text.as_bytes()).is_ok()),
        INTEGER | FLOAT | LONG | DOUBLE => true,
        CLASS => pool.class_name(index).is_some(),
        STRING => pool.string(index).is_some(),
        FIELD_REF => member(false),
        METHOD_REF | INTERFACE_METHOD_REF => member(true),
        NAME_AND_TYPE => pool.name_and_type(index).is_some(),
        METHOD_HANDLE => major >= HANDLES_SINCE && is_handle(pool, index, major),
        METHOD_TYPE => major >= HANDLES_SINCE && pool.method_type(index).is_some(),
        DYNAMIC => {
            major >= DYNAMIC_SINCE
                && dynamic().is_some_and(|it| !it.descriptor.as_bytes().starts_with(b"("))
        }
        INVOKE_DYNAMIC => {
            major >= HANDLES_SINCE
                && dynamic().is_some_and(|it| it.descriptor.as_bytes().starts_with(b"("))
        }
        _ => false,
    };
    expect(
        sound,
        || format!("constant {}", index.0),
        "a sound constant",
    )
}

/// Checks a `CONSTANT_MethodHandle` (JVMS 4.4.8).
fn is_handle(pool: &ConstantPool<'_>, index: PoolIndex, major: u16) -> bool {
    pool.method_handle(index).is_some_and(|found| {
        let constructor = found.member.name == "<init>";
        let method = found.member.descriptor.as_bytes().starts_with(b"(");
        let interface = found.member.interface;
        let either = !interface || major >= STATIC_INTERFACE_METHODS_SINCE;
        match found.kind {
            1..=4 => !method,
            5 => method && !interface && !constructor,
            6 | 7 => method && either && !constructor,
            8 => method && !interface && constructor,
            9 => method && interface,
            _ => false,
        }
    })
}

fn method(class: &ClassFile<'_>, method: &Method<'_, '_>) -> Checked {
    let name = || format!("method {}", heading(method));
    let descriptor = method.descriptor().as_bytes();
    expect(descriptor.starts_with(b"("), name, "a method descriptor")?;
    check_attributes(class, method.attributes(), &name)?;
    let flags = Flags {
        declaration: Declaration::Method,
        bits: method.access_flags(),
        major: class.major_version(),
        in_interface: class.is_interface(),
        name: method.name().as_bytes(),
    };
    expect_flags(flags, name)?;
    let bodiless =
        method.access_flags() & (ACC_ABSTRACT | ACC_NATIVE) != 0 && method.name() != CLINIT;
    let code = method.code().map_err(ReplacementError::Unreadable)?;
    expect(
        code.is_none() == bodiless,
        name,
        "code, unless it is abstract or native",
    )?;
    let Some(code) = code else { return Ok(()) };
    check_attributes(class, code.attributes(), &|| {
        format!("the code of {}", name())
    })?;
    let arguments = argument_slots(method);
    expect(
        u32::from(code.max_locals()) >= arguments,
        name,
        "local variables for all arguments",
    )?;
    let starts = CheckedCode { class, code: &code }
        .instructions()
        .map_err(|(bci, expected)| wrong(method, bci, expected))?;
    check_debug_tables(class.pool(), &code, &starts)
        .map_err(|expected| wrong(method, 0, expected))?;
    check_types(class, method, &code, &starts)
        .map_err(|(bci, expected)| wrong(method, bci, expected))
}

/// Returns the slots of the receiver and all parameters.
fn argument_slots(method: &Method<'_, '_>) -> u32 {
    let receiver = u32::from(method.access_flags() & ACC_STATIC == 0);
    jvms::descriptor::Parameters::of(method.descriptor().as_bytes()).slots() + receiver
}

fn wrong(method: &Method<'_, '_>, bci: u32, expected: &'static str) -> ReplacementError {
    let method = shown(&heading(method));
    ReplacementError::Code {
        method,
        bci,
        expected,
    }
}

struct CheckedCode<'m, 'c, 'a> {
    class: &'m ClassFile<'a>,
    code: &'m Code<'c, 'a>,
}

impl CheckedCode<'_, '_, '_> {
    /// Checks instructions and their operands; returns the instruction starts.
    fn instructions(&self) -> Result<Vec<bool>, CodeFault> {
        let length = self.code.bytes().len();
        let mut starts = vec![false; length];
        for found in self.code.instructions() {
            let found = found.map_err(|_| (0, "instructions that can be decoded"))?;
            if let Some(start) = starts.get_mut(usize::from(found.bci.0)) {
                *start = true;
            }
        }
        let begins = |at: u32| starts.get(at as usize).copied().unwrap_or(false);
        for found in self.code.instructions().map_while(Result::ok) {
            let at = u32::from(found.bci.0);
            let leads = !is_branch(found.opcode) || found.branch_target().is_some();
            if !leads || !found.targets().all(|target| begins(target.0.into())) {
                return Err((at, "a branch to an instruction"));
            }
            if let Some(switch) = found.switch() {
                self.switch(&found, switch)
                    .map_err(|expected| (at, expected))?;
            }
            self.operands(&found).map_err(|expected| (at, expected))?;
        }
        for row in self.code.exception_table() {
            let end = u32::from(row.end);
            let sound = u32::from(row.start.0) < end
                && begins(row.start.0.into())
                && (begins(end) || end as usize == length)
                && begins(row.handler.0.into())
                && (row.catch_type.0 == 0
                    || self.class.pool().class_name(row.catch_type).is_some());
            if !sound {
                return Err((row.start.0.into(), "a valid exception handler"));
            }
        }
        Ok(starts)
    }

    /// Checks targets, order of keys and padding of a switch (JVMS 4.9.1, 6.5.lookupswitch).
    fn switch(&self, found: &Instruction<'_>, switch: Switch<'_>) -> Result<(), &'static str> {
        let expect = |holds: bool, expected| if holds { Ok(()) } else { Err(expected) };
        let whole =
            switch.default_target().is_some() && switch.cases().all(|(_, target)| target.is_some());
        expect(whole, "a branch to an instruction")?;
        let keys = switch.cases().map(|(key, _)| key);
        expect(keys.is_sorted_by(|a, b| a < b), "keys of a switch in order")?;
        let padding = found.bytes().get(1..).unwrap_or_default();
        let bytes = 3 - usize::from(found.bci.0) % 4;
        let zero = padding.iter().take(bytes).all(|byte| *byte == 0);
        let old = self.class.major_version() < FRAMES_REQUIRED_SINCE;
        expect(zero || !old, "zeros before the operands of a switch")
    }

    /// Checks the kinds of constants and local variables in operands.
    fn operands(&self, found: &Instruction<'_>) -> Result<(), &'static str> {
        let expect = |holds: bool, expected| if holds { Ok(()) } else { Err(expected) };
        let (pool, major) = (self.class.pool(), self.class.major_version());
        if let Some(slot) = found.local() {
            let wide = matches!(found.opcode, LLOAD | LSTORE | DLOAD | DSTORE | LLOAD_0..=LLOAD_3 | DLOAD_0..=DLOAD_3 | LSTORE_0..=LSTORE_3 | DSTORE_0..=DSTORE_3);
            let end = u32::from(slot) + u32::from(wide);
            expect(
                end < u32::from(self.code.max_locals()),
                "a local variable within max_locals",
            )?;
        }
        let old = is_subroutine_call(found.opcode) || found.opcode == RET;
        expect(
            !old || major < FRAMES_REQUIRED_SINCE,
            "no jsr or ret in this version",
        )?;
        if found.opcode == NEWARRAY {
            let kind = found.immediate().unwrap_or(0);
            expect((4..=11).contains(&kind), "a type of newarray")?;
        }
        let Some(index) = found.pool_index() else {
            return Ok(());
        };
        let tag = pool.tag(index).unwrap_or(0);
        let name = || {
            pool.member_ref(index)
                .map(|found| found.name.as_bytes())
                .unwrap_or_default()
        };
        let class = || pool.class_name(index).unwrap_or_default();
        let zeros = |from: usize| {
            found
                .bytes()
                .get(from..)
                .is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
        };
        let is_array = || class().as_bytes().starts_with(b"[");
        let sound = match found.opcode {
            LDC | LDC_W => is_loadable(tag, major) && !is_wide(pool, index),
            LDC2_W => matches!(tag, LONG | DOUBLE) || tag == DYNAMIC && is_wide(pool, index),
            GETSTATIC..=PUTFIELD => tag == FIELD_REF,
            INVOKEVIRTUAL => tag == METHOD_REF && name() != b"<init>",
            INVOKESPECIAL | INVOKESTATIC => {
                let interface =
                    tag == INTERFACE_METHOD_REF && major >= STATIC_INTERFACE_METHODS_SINCE;
                (tag == METHOD_REF || interface)
                    && (found.opcode == INVOKESPECIAL || name() != b"<init>")
            }
            INVOKEINTERFACE => {
                let slots = pool.member_ref(index).map(|it| {
                    jvms::descriptor::Parameters::of(it.descriptor.as_bytes()).slots() + 1
                });
                tag == INTERFACE_METHOD_REF
                    && slots == found.bytes().get(3).map(|count| u32::from(*count))
                    && zeros(4)
            }
            INVOKEDYNAMIC => tag == INVOKE_DYNAMIC && zeros(3),
            NEW => tag == CLASS && !is_array(),
            MULTIANEWARRAY => {
                let dimensions = class()
                    .as_bytes()
                    .iter()
                    .take_while(|byte| **byte == b'[')
                    .count();
                let wanted = found.bytes().get(3).map_or(0, |count| usize::from(*count));
                tag == CLASS && wanted > 0 && wanted <= dimensions
            }
            _ => tag == CLASS,
        };
        expect(sound, "a constant that suits the instruction")
    }
}

/// Checks for a constant of two slots.
fn is_wide(pool: &ConstantPool<'_>, index: PoolIndex) -> bool {
    let computed = pool.dynamic(index).map(|found| found.descriptor.as_bytes());
    matches!(computed, Some(b"J" | b"D"))
}

/// Checks whether a constant is loadable (JVMS table 4.4-C).
fn is_loadable(tag: u8, major: u16) -> bool {
    match tag {
        INTEGER | FLOAT | STRING => true,
        CLASS => major >= LDC_CLASS_SINCE,
        METHOD_HANDLE | METHOD_TYPE => major >= HANDLES_SINCE,
        DYNAMIC => major >= DYNAMIC_SINCE,
        _ => false,
    }
}
