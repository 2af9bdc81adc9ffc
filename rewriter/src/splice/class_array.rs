//! Access of a class to its own probe array (`ProbeStorage::ClassArray`).

use crate::bytes::{copy, write_at};
use crate::class::ClassFile;
use crate::cursor::u16_at;
use crate::limits::FRAMES_SINCE;
use crate::pool::PoolWriter;
use crate::stack_map::{FrameKind, VerificationType, item};
use jvms::access_flags::{ACC_PRIVATE, ACC_STATIC, ACC_SYNTHETIC, ACC_TRANSIENT};
use jvms::modified_utf8::Utf8;
use jvms::opcode;

/// First version with `CONSTANT_Dynamic` (JVMS table 4.4-B).
const DYNAMIC_CONSTANTS_SINCE: u16 = 55;
/// First version with private methods in interfaces (JVMS 4.6).
pub(super) const INTERFACE_METHODS_SINCE: u16 = 52;

/// `private static synthetic` (JVMS table 4.6-A).
const METHOD_FLAGS: u16 = ACC_PRIVATE | ACC_STATIC | ACC_SYNTHETIC;

/// `private static transient synthetic` (JVMS table 4.5-A).
pub(super) const FIELD_FLAGS: u16 = ACC_PRIVATE | ACC_STATIC | ACC_TRANSIENT | ACC_SYNTHETIC;

/// Kind of a method handle that calls a static method (JVMS table 5.4.3.5-A).
const INVOKE_STATIC: u8 = 6;

/// Name of the runtime class's methods.
const ARRAY: &str = "array";
const BOOTSTRAP: &str = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;Ljava/lang/String;)[B";
const DIRECT: &str = "(Ljava/lang/String;)[B";
/// Name of the dynamic constant, or of field and method in versions without it.
pub(super) const NAME: &str = "$classhook";
const HITS: &str = "[B";
const GETTER: &str = "()[B";

/// The instructions that push the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fetch {
    /// `getstatic`.
    Field(u16),
    /// `ldc_w`.
    Constant(u16),
    /// `invokestatic`.
    Method(u16),
    /// `ldc_w` and `invokestatic`.
    Call { key: u16, method: u16 },
}

impl Fetch {
    /// Returns the last instruction, and the one before it.
    pub(crate) fn code(self) -> (Option<[u8; 3]>, [u8; 3]) {
        match self {
            Fetch::Field(index) => (None, encoded(opcode::GETSTATIC, index)),
            Fetch::Constant(index) => (None, encoded(opcode::LDC_W, index)),
            Fetch::Method(index) => (None, encoded(opcode::INVOKESTATIC, index)),
            Fetch::Call { key, method } => (
                Some(encoded(opcode::LDC_W, key)),
                encoded(opcode::INVOKESTATIC, method),
            ),
        }
    }
}

#[inline]
fn encoded(opcode: u8, index: u16) -> [u8; 3] {
    let [high, low] = index.to_be_bytes();
    [opcode, high, low]
}

fn instruction(opcode: u8, index: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&encoded(opcode, index));
}

/// The access of a class to its array, by pool index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// An entry of `BootstrapMethods`, with the attribute's name index if it is new.
    Bootstrap {
        attribute: Option<u16>,
        handle: u16,
        key: u16,
    },
    /// A method, and a field unless the class is an interface.
    Members {
        code: u16,
        method: Member,
        field: Option<Cache>,
        key: u16,
        call: u16,
    },
}

/// Name and descriptor of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(super) name: u16,
    pub(super) descriptor: u16,
}

/// The field that caches the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cache {
    pub(super) member: Member,
    reference: u16,
    /// `StackMapTable` and the class `[B`, if the version has frames.
    frame: Option<(u16, u16)>,
}

/// Adds the pool entries; `None` if the pool or a table is full.
pub(crate) fn prepare(
    class: &ClassFile<'_>,
    runtime: &str,
    key: Utf8<'_>,
    pool: &mut PoolWriter,
) -> Option<(Fetch, Option<Access>)> {
    let interface = class.is_interface();
    let version = class.major_version();
    if version >= DYNAMIC_CONSTANTS_SINCE {
        return constant(class, runtime, key, pool);
    }
    let call = pool.method(runtime, ARRAY, DIRECT)?;
    let key = pool.string(key.as_bytes())?;
    if interface && version < INTERFACE_METHODS_SINCE {
        return Some((Fetch::Call { key, method: call }, None));
    }
    room_for_members(class)?;
    let this = class.this_class_index().0;
    let name = unused_name(class);
    let name = pool.utf8(name.as_bytes())?;
    let method = Member {
        name,
        descriptor: pool.utf8(GETTER.as_bytes())?,
    };
    let fetch = match interface {
        true => pool.interface_method_of(this, method.name, method.descriptor)?,
        false => pool.method_of(this, method.name, method.descriptor)?,
    };
    let field = match interface {
        true => None,
        false => Some(cache(this, name, version, pool)?),
    };
    let code = pool.utf8(b"Code")?;
    let added = Access::Members {
        code,
        method,
        field,
        key,
        call,
    };
    Some((Fetch::Method(fetch), Some(added)))
}

fn constant(
    class: &ClassFile<'_>,
    runtime: &str,
    key: Utf8<'_>,
    pool: &mut PoolWriter,
) -> Option<(Fetch, Option<Access>)> {
    let target = pool.method(runtime, ARRAY, BOOTSTRAP)?;
    let handle = pool.method_handle(INVOKE_STATIC, target)?;
    let key = pool.string(key.as_bytes())?;
    let (present, number) = match class.bootstrap_table() {
        Some(table) => (true, u16_at(table.bytes, 0)?),
        None => (false, 0),
    };
    number.checked_add(1)?;
    let attribute = match present {
        true => None,
        false => {
            u16_at(class.bytes(), class.attributes_start())?.checked_add(1)?;
            Some(pool.utf8(b"BootstrapMethods")?)
        }
    };
    let name = pool.utf8(NAME.as_bytes())?;
    let descriptor = pool.utf8(HITS.as_bytes())?;
    let dynamic = pool.dynamic(number, name, descriptor)?;
    let added = Access::Bootstrap {
        attribute,
        handle,
        key,
    };
    Some((Fetch::Constant(dynamic), Some(added)))
}

fn cache(this: u16, name: u16, version: u16, pool: &mut PoolWriter) -> Option<Cache> {
    let descriptor = pool.utf8(HITS.as_bytes())?;
    let reference = pool.field_of(this, name, descriptor)?;
    let frame = match version >= FRAMES_SINCE {
        true => Some((pool.utf8(b"StackMapTable")?, pool.class(HITS.as_bytes())?)),
        false => None,
    };
    let member = Member { name, descriptor };
    Some(Cache {
        member,
        reference,
        frame,
    })
}

/// Checks that one more field and one more method fit into their counts.
fn room_for_members(class: &ClassFile<'_>) -> Option<()> {
    u16_at(class.bytes(), class.fields_start())?.checked_add(1)?;
    u16::try_from(class.records().len()).ok()?.checked_add(1)?;
    Some(())
}

/// Returns a name that is not in the pool, so no member of the class has it.
fn unused_name(class: &ClassFile<'_>) -> String {
    let mut name = NAME.to_owned();
    while class.pool().holds(name.as_bytes()) {
        name.push('_');
    }
    name
}

/// Writes a method; `contents` writes the contents of `Code`, and `code` is the index of that name.
pub(super) fn method_of(
    method: Member,
    code: u16,
    out: &mut Vec<u8>,
    contents: impl FnOnce(&mut Vec<u8>),
) {
    member_head(METHOD_FLAGS, method, out);
    out.extend_from_slice(&[0, 1]); // attributes
    out.extend_from_slice(&code.to_be_bytes());
    let length_at = out.len();
    out.extend_from_slice(&[0; 4]);
    contents(out);
    let length = (out.len() - length_at - 4) as u32;
    write_at(out, length_at, &length.to_be_bytes());
}

pub(super) fn member_head(flags: u16, member: Member, out: &mut Vec<u8>) {
    for item in [flags, member.name, member.descriptor] {
        out.extend_from_slice(&item.to_be_bytes());
    }
}

/// Writes the contents of `Code` for the method that returns the array.
pub(super) fn getter(key: u16, call: u16, field: Option<Cache>, out: &mut Vec<u8>) {
    let ask = |out: &mut Vec<u8>| {
        instruction(opcode::LDC_W, key, out); // key
        instruction(opcode::INVOKESTATIC, call, out); // array
    };
    let Some(field) = field else {
        out.extend_from_slice(&[0, 1, 0, 0]); // max_stack, max_locals
        out.extend_from_slice(&7_u32.to_be_bytes());
        ask(out);
        out.push(opcode::ARETURN);
        return out.extend_from_slice(&[0, 0, 0, 0]); // exceptions, attributes
    };
    const KNOWN: u8 = 18;
    out.extend_from_slice(&[0, 2, 0, 0]); // max_stack, max_locals
    out.extend_from_slice(&(u32::from(KNOWN) + 1).to_be_bytes());
    instruction(opcode::GETSTATIC, field.reference, out); // array or null
    out.push(opcode::DUP); // array or null, array or null
    instruction(opcode::IFNONNULL, u16::from(KNOWN) - 4, out); // array or null
    out.push(opcode::POP); //
    ask(out); // array
    out.push(opcode::DUP); // array, array
    instruction(opcode::PUTSTATIC, field.reference, out); // array
    out.push(opcode::ARETURN);
    out.extend_from_slice(&[0, 0]); // exceptions
    match field.frame {
        None => out.extend_from_slice(&[0, 0]),
        Some((table, array)) => {
            out.extend_from_slice(&[0, 1]);
            out.extend_from_slice(&table.to_be_bytes());
            out.extend_from_slice(&6_u32.to_be_bytes());
            out.extend_from_slice(&[0, 1]); // number_of_entries
            FrameKind::SameLocals1StackItem.write(u16::from(KNOWN), out);
            let array = VerificationType {
                tag: item::OBJECT,
                value: array,
            };
            array.write(out);
        }
    }
}

/// Writes the class's attributes with one more bootstrap method.
pub(super) fn bootstrap(
    class: &ClassFile<'_>,
    attribute: Option<u16>,
    handle: u16,
    key: u16,
    out: &mut Vec<u8>,
) {
    let bytes = class.bytes();
    let start = class.attributes_start();
    let entry = |out: &mut Vec<u8>| {
        for item in [handle, 1, key] {
            out.extend_from_slice(&item.to_be_bytes());
        }
    };
    match (attribute, class.bootstrap_table()) {
        (None, Some(table)) => {
            let contents = table.offset as usize;
            let end = contents + table.bytes.len();
            let length = table.bytes.len() as u32 + 6;
            let count = u16_at(table.bytes, 0).unwrap_or_default() + 1;
            copy(bytes, start, contents - 4, out);
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(&count.to_be_bytes());
            copy(bytes, contents + 2, end, out);
            entry(out);
            copy(bytes, end, bytes.len(), out);
        }
        (name, _) => {
            let count = u16_at(bytes, start).unwrap_or_default() + 1;
            out.extend_from_slice(&count.to_be_bytes());
            copy(bytes, start + 2, bytes.len(), out);
            out.extend_from_slice(&name.unwrap_or_default().to_be_bytes());
            out.extend_from_slice(&8_u32.to_be_bytes());
            out.extend_from_slice(&[0, 1]); // num_bootstrap_methods
            entry(out);
        }
    }
}
