//! Checks a class file as the JVM does, as far as one class file allows (JVMS 4.8, 4.9): constants, attributes and
//! code.

use std::collections::HashSet;

use crate::class::{Attribute, Attributes, ClassFile, Code, Instruction, Method};
use crate::class_verifier::error::{CodeFault, ReplacementError, heading, shown};
use crate::class_verifier::types::check_types;
use crate::cursor::{u16_at, u16s};
use crate::index::PoolIndex;
use crate::limits::{FRAMES_REQUIRED_SINCE, LDC_CLASS_SINCE, STATIC_INTERFACE_METHODS_SINCE};
use crate::pool::ConstantPool;
use crate::self_check::check_names;
use jvms::access_flags::{ACC_ABSTRACT, ACC_NATIVE, ACC_STATIC};
use jvms::constant_tag::{
    CLASS, DOUBLE, DYNAMIC, FIELD_REF, FLOAT, INTEGER, INTERFACE_METHOD_REF, INVOKE_DYNAMIC, LONG,
    METHOD_HANDLE, METHOD_REF, METHOD_TYPE, NAME_AND_TYPE, STRING, UTF8,
};
use jvms::modified_utf8;
use jvms::opcode::*;

/// First versions of constants (JVMS table 4.4-B).
const HANDLES_SINCE: u16 = 51;
const DYNAMIC_SINCE: u16 = 55;
const DEBUG_TABLES: [&str; 2] = ["LocalVariableTable", "LocalVariableTypeTable"];

type Checked = Result<(), ReplacementError>;

/// Fails with the part and the expectation unless `holds`.
fn expect(holds: bool, part: impl FnOnce() -> String, expected: &'static str) -> Checked {
    match holds {
        true => Ok(()),
        false => Err(ReplacementError::Unsound {
            part: shown(&part()),
            expected,
        }),
    }
}

/// Checks that a class is valid.
pub(super) fn verify_class(class: &ClassFile<'_>) -> Checked {
    let interfaces = (class.fields_start() - (class.pool().end() + 8)) / 2;
    let named = class.interfaces().count() == interfaces && class.super_class().is_some()
        || class.this_class() == "java/lang/Object";
    expect(
        named,
        || "the class's header".to_owned(),
        "names of classes",
    )?;
    let bootstraps = bootstraps(class)?;
    let mut indices = (1..class.pool().count()).map(PoolIndex);
    indices.try_for_each(|index| constant(class, index, bootstraps))?;
    check_names(class).map_err(ReplacementError::Name)?;
    attributes(class, class.attributes(), &|| "the class".to_owned())?;
    for field in class.fields() {
        let name = || format!("field {}", field.name());
        attributes(class, field.attributes(), &name)?;
        let mut values = field
            .attributes()
            .filter(|found| found.name == "ConstantValue");
        let fits =
            values.all(|value| is_constant_of(class.pool(), &value, field.descriptor().as_bytes()));
        expect(fits, name, "a constant of the field's type")?;
    }
    class
        .methods()
        .try_for_each(|method| self::method(class, &method))
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
        pool.dynamic(index)
            .filter(|found| usize::from(found.bootstrap) < bootstraps)
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

/// Checks length and references of the attributes that the JVM reads.
fn attributes(class: &ClassFile<'_>, all: Attributes<'_, '_>, of: &dyn Fn() -> String) -> Checked {
    let pool = class.pool();
    let is_class = |index| pool.class_name(PoolIndex(index)).is_some();
    let is_text = |index| pool.utf8(PoolIndex(index)).is_some();
    let mut seen = HashSet::new();
    for found in all {
        let part = || format!("{} of {}", found.name, of());
        expect(
            !found.name.as_bytes().is_empty(),
            part,
            "an attribute's name",
        )?;
        let repeated =
            found.name == "LineNumberTable" || DEBUG_TABLES.iter().any(|name| found.name == *name);
        expect(
            repeated || seen.insert(found.name.as_bytes()),
            part,
            "one attribute of its name",
        )?;
        let bytes = found.bytes;
        let rows = |header: usize, size: usize| {
            let count = match header {
                1 => bytes.first().map(|count| usize::from(*count)),
                _ => u16_at(bytes, 0).map(usize::from),
            };
            count.is_some_and(|count| count * size + header == bytes.len())
        };
        let table = || bytes.get(2..).unwrap_or_default();
        let sound = match found.name.as_bytes() {
            b"SourceFile" | b"Signature" => {
                bytes.len() == 2 && u16_at(bytes, 0).is_some_and(is_text)
            }
            b"NestHost" => bytes.len() == 2 && u16_at(bytes, 0).is_some_and(is_class),
            b"NestMembers" | b"PermittedSubclasses" | b"Exceptions" => {
                rows(2, 2) && u16s(table()).all(is_class)
            }
            b"InnerClasses" => {
                rows(2, 8)
                    && table().chunks_exact(8).all(|row| {
                        let item = |at| u16_at(row, at);
                        item(0).is_some_and(is_class)
                            && item(2).is_some_and(|outer| outer == 0 || is_class(outer))
                            && item(4).is_some_and(|name| name == 0 || is_text(name))
                    })
            }
            b"EnclosingMethod" => {
                let method = u16_at(bytes, 2);
                bytes.len() == 4
                    && u16_at(bytes, 0).is_some_and(is_class)
                    && method
                        .is_some_and(|it| it == 0 || pool.name_and_type(PoolIndex(it)).is_some())
            }
            b"MethodParameters" => rows(1, 4),
            b"Synthetic" | b"Deprecated" => bytes.is_empty(),
            b"Record" => class.record_components().is_some(),
            _ => true,
        };
        expect(sound, part, "contents that follow JVMS 4.7")?;
    }
    Ok(())
}

/// Checks a `ConstantValue` (JVMS 4.7.2).
fn is_constant_of(pool: &ConstantPool<'_>, value: &Attribute<'_>, descriptor: &[u8]) -> bool {
    let tag = u16_at(value.bytes, 0).and_then(|index| pool.tag(PoolIndex(index)));
    let wanted = match descriptor {
        b"I" | b"S" | b"C" | b"B" | b"Z" => INTEGER,
        b"J" => LONG,
        b"F" => FLOAT,
        b"D" => DOUBLE,
        b"Ljava/lang/String;" => STRING,
        _ => return false,
    };
    value.bytes.len() == 2 && tag == Some(wanted)
}

fn method(class: &ClassFile<'_>, method: &Method<'_, '_>) -> Checked {
    let name = || format!("method {}", heading(method));
    attributes(class, method.attributes(), &name)?;
    let bodiless = method.access_flags() & (ACC_ABSTRACT | ACC_NATIVE) != 0;
    let code = method.code().map_err(ReplacementError::Unreadable)?;
    expect(
        code.is_none() == bodiless,
        name,
        "code, unless it is abstract or native",
    )?;
    let Some(code) = code else { return Ok(()) };
    attributes(class, code.attributes(), &|| {
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
    debug_tables(&code).map_err(|expected| wrong(method, 0, expected))?;
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

/// Checks lines and local variables: within the code, no variable twice, and types only of existing variables.
fn debug_tables(code: &Code<'_, '_>) -> Result<(), &'static str> {
    let length = code.bytes().len();
    let mut variables = HashSet::new();
    for found in code.attributes() {
        let rows = |size: usize| {
            let count = u16_at(found.bytes, 0).map(usize::from);
            count.is_some_and(|count| count * size + 2 == found.bytes.len())
        };
        if found.name == "LineNumberTable" {
            let mut lines = code_rows(&found, 4).map(|row| u16_at(row, 0));
            let within = lines.all(|start| start.is_some_and(|start| usize::from(start) < length));
            if !rows(4) || !within {
                return Err("lines of its instructions");
            }
        } else if DEBUG_TABLES.iter().any(|name| found.name == *name) && !rows(10) {
            return Err("a table of its local variables");
        }
    }
    let [own, types] = DEBUG_TABLES;
    for found in code.attributes().filter(|found| found.name == own) {
        for row in code_rows(&found, 10) {
            let fits = is_within(row, length, code.max_locals());
            if !fits || !variables.insert(key(row)) {
                return Err("local variables within its code, each once");
            }
        }
    }
    let mut typed = HashSet::new();
    for found in code.attributes().filter(|found| found.name == types) {
        for row in code_rows(&found, 10) {
            let fits = is_within(row, length, code.max_locals()) && variables.contains(&key(row));
            if !fits || !typed.insert(key(row)) {
                return Err("types of its local variables, each once");
            }
        }
    }
    Ok(())
}

fn code_rows<'a>(found: &Attribute<'a>, size: usize) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    found.bytes.get(2..).unwrap_or_default().chunks_exact(size)
}

/// Returns start, length, name and slot, which identify a variable.
fn key(row: &[u8]) -> [Option<u16>; 4] {
    [0, 2, 4, 8].map(|at| u16_at(row, at))
}

fn is_within(row: &[u8], length: usize, slots: u16) -> bool {
    let item = |at| u16_at(row, at).map_or(usize::MAX, usize::from);
    let (start, end) = (item(0), item(0).saturating_add(item(2)));
    start < length && end <= length && item(8) < usize::from(slots)
}
