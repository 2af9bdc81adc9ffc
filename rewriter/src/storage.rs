//! The storage of probes.

use jvms::modified_utf8::Utf8;

/// Maximum digits of the number of a method that writes hits.
const MOST_DIGITS: usize = 3;

/// The storage of a plan's probes, which determines the code of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbeStorage<'a> {
    /// Hits in a static `byte[]` field of another class: `getstatic owner.field:[B; sipush probe; iconst_1; bastore`,
    /// with `i2c` after `sipush` in a method with a probe above 32,767.
    SharedArray {
        /// Internal name of the class.
        owner: &'a str,
        /// Name of its `static final byte[]`.
        field: &'a str,
    },
    /// The same array, written by methods of its class, one for 256 probes each: `bipush low; invokestatic
    /// owner.hit2(I)V` for probe 2 × 256 + 128 + `low`.
    ///
    /// A hit takes five bytes instead of eight. Use it for JVMs whose compilers remove the call after the first hit,
    /// and for methods that would otherwise be too long.
    SharedMethods {
        /// Internal name of the class.
        owner: &'a str,
        /// Name of its `static final byte[]`.
        field: &'a str,
        /// The common first part of its methods' names; the number of the method follows.
        method: &'a str,
    },
    /// Hits in the class's own `byte[]`, which the class `runtime` returns at the first hit. Use it for classes that
    /// are instrumented before they run.
    ///
    /// `runtime` has two static methods, both called `array`: a bootstrap method `(MethodHandles.Lookup, String, Class,
    /// String key)byte[]` and `(String key)byte[]`. The access of a class to its array depends on the class's version:
    ///
    /// | version | array | added to the class |
    /// |---|---|---|
    /// | 55 and up | `ldc_w` of a dynamic constant (JVMS 4.4.10) | an entry of `BootstrapMethods` |
    /// | below, class | `invokestatic` of its own method | a `private static transient` field, a `private static` method |
    /// | 52 to 54, interface | `invokestatic` of its own method | a `private static` method |
    /// | below 52, interface | `ldc_w` of the key, `invokestatic runtime.array` | nothing |
    ///
    /// The added members are synthetic, and do not affect a computed `serialVersionUID` (Java Object Serialization
    /// Specification 4.6).
    ClassArray {
        /// Internal name of the class that returns arrays.
        runtime: &'a str,
        /// The argument of the call: identifies the class and the length of its array.
        key: Utf8<'a>,
    },
    /// The same array, written by `private static` methods added to the class, as in `SharedMethods`. Interfaces below
    /// version 52 cannot have such methods.
    ///
    /// For classes with methods that would otherwise be too long.
    ClassMethods {
        /// Internal name of the class that returns arrays.
        runtime: &'a str,
        /// The argument of the call: identifies the class and the length of its array.
        key: Utf8<'a>,
    },
}

impl ProbeStorage<'_> {
    /// Returns the lengths of all names, which must fit into the constant pool.
    pub(crate) fn name_lengths(&self) -> [usize; 2] {
        match self {
            ProbeStorage::SharedArray { owner, field } => [owner.len(), field.len()],
            ProbeStorage::SharedMethods { owner, method, .. } => {
                [owner.len(), method.len() + MOST_DIGITS]
            }
            ProbeStorage::ClassArray { runtime, key }
            | ProbeStorage::ClassMethods { runtime, key } => [runtime.len(), key.as_bytes().len()],
        }
    }
}
