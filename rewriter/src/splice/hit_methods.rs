//! Methods added to a class to write its hits (`ProbeStorage::ClassMethods`).

use crate::class::ClassFile;
use crate::limits::MAX_SHORT_INDEX;
use crate::pool::PoolWriter;
use crate::splice::class_array::{Fetch, INTERFACE_METHODS_SINCE, Member, NAME, method_of};
use jvms::opcode;

/// Pool entries of each method: name, name and type, method reference.
pub(super) const POOL_ENTRIES: u16 = 3;
/// Number of probes per method.
const PROBES: u32 = 256;

/// The methods that write the hits of one class; their pool entries are consecutive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HitMethods {
    /// The numbers of the first and the last one.
    numbers: (u8, u8),
    /// Pool index of the first one's name.
    name: u16,
    descriptor: u16,
    code: u16,
    /// The instructions that push the array.
    fetch: Fetch,
}

impl HitMethods {
    /// Adds the pool entries of the methods numbered `first` to `last`. `None` if the class cannot have them, or the
    /// pool is full.
    pub(super) fn prepare(
        class: &ClassFile<'_>,
        fetch: Fetch,
        numbers: (u8, u8),
        pool: &mut PoolWriter,
    ) -> Option<Self> {
        let interface = class.is_interface();
        if interface && class.major_version() < INTERFACE_METHODS_SINCE {
            return None;
        }
        let prefix = unused_prefix(class, numbers);
        let descriptor = pool.utf8(b"(I)V")?;
        let code = pool.utf8(b"Code")?;
        let this = class.this_class_index().0;
        let mut first = None;
        for number in numbers.0..=numbers.1 {
            let name = pool.utf8(format!("{prefix}{number}").as_bytes())?;
            match interface {
                true => pool.interface_method_of(this, name, descriptor)?,
                false => pool.method_of(this, name, descriptor)?,
            };
            first = first.or(Some(name));
        }
        let methods = Self {
            numbers,
            name: first?,
            descriptor,
            code,
            fetch,
        };
        // The count includes a method that returns the array.
        let all = class.records().len() + 1 + usize::from(methods.count());
        u16::try_from(all).ok().map(|_| methods)
    }

    /// Returns the number of methods.
    pub(super) fn count(&self) -> u16 {
        u16::from(self.numbers.1 - self.numbers.0) + 1
    }

    /// Returns the pool index of the first one; each further one is [`POOL_ENTRIES`] higher.
    pub(super) fn first(&self) -> u16 {
        self.name + POOL_ENTRIES - 1
    }

    /// Writes all methods.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for number in self.numbers.0..=self.numbers.1 {
            let at = u16::from(number - self.numbers.0);
            let method = Member {
                name: self.name + at * POOL_ENTRIES,
                descriptor: self.descriptor,
            };
            method_of(method, self.code, out, |out| self.body(number, out));
        }
    }

    /// Writes the contents of `Code` for one method.
    fn body(&self, number: u8, out: &mut Vec<u8>) {
        let middle = u32::from(number) * PROBES + PROBES / 2;
        let [m0, m1] = (middle as u16).to_be_bytes();
        out.extend_from_slice(&[0, 3, 0, 1]); // max_stack, max_locals
        let length_at = out.len();
        out.extend_from_slice(&[0; 4]);
        let start = out.len();
        let (key, fetch) = self.fetch.code();
        out.extend_from_slice(key.as_ref().map_or(&[], |key| &key[..]));
        out.extend_from_slice(&fetch); // array
        out.push(opcode::ILOAD_0); // array, low
        out.extend_from_slice(&[opcode::SIPUSH, m0, m1]); // array, low, middle
        out.push(opcode::IADD); // array, index
        if middle > MAX_SHORT_INDEX {
            out.push(opcode::I2C); // array, index
        }
        out.push(opcode::ICONST_1); // array, index, 1
        out.push(opcode::BASTORE); //
        out.push(opcode::RETURN);
        let length = (out.len() - start) as u32;
        crate::bytes::write_at(out, length_at, &length.to_be_bytes());
        out.extend_from_slice(&[0, 0, 0, 0]); // exceptions, attributes
    }
}

/// Returns a prefix for names with these numbers that are not in the pool, so no member has them.
fn unused_prefix(class: &ClassFile<'_>, (first, last): (u8, u8)) -> String {
    let mut prefix = format!("{NAME}$");
    while (first..=last).any(|number| class.pool().holds(format!("{prefix}{number}").as_bytes())) {
        prefix.push('_');
    }
    prefix
}
