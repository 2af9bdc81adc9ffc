//! Where probes are kept.

use crate::arithmetic::Exact;
use jvms::modified_utf8::Utf8;

/// Digits of the number of a method that writes hits.
const MOST_DIGITS: usize = 3;

/// Where the probes of a plan are stored, and so what code writes to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbeStorage<'a> {
    /// Hits in a static `byte[]` field of another class:
    /// `getstatic owner.field:[B; sipush probe; iconst_1; bastore`, with `i2c` behind
    /// `sipush` in a method with a probe above 32,767.
    SharedArray {
        /// Internal name of the class.
        owner: &'a str,
        /// Name of its `static final byte[]`.
        field: &'a str,
    },
    /// The same array, which methods of its class write to, one for 256 probes each:
    /// `bipush low; invokestatic owner.hit2(I)V` for probe 2 × 256 + 128 + `low`.
    ///
    /// A hit takes five bytes instead of eight. Use it for JVMs whose compilers remove the
    /// call once the probe was hit, and for methods that would be too long otherwise.
    SharedMethods {
        /// Internal name of the class.
        owner: &'a str,
        /// Name of its `static final byte[]`.
        field: &'a str,
        /// What the names of its methods begin with; the number of the method follows.
        method: &'a str,
    },
    /// Hits in a `byte[]` of the class's own, which the class `runtime` hands out
    /// when the first probe is hit; for classes that are instrumented before they
    /// run.
    ///
    /// `runtime` has two static methods, both called `array`: a bootstrap method
    /// `(MethodHandles.Lookup, String, Class, String key)byte[]` and
    /// `(String key)byte[]`. How a class reaches its array depends on its version:
    ///
    /// | version | array | added to the class |
    /// |---|---|---|
    /// | 55 and up | `ldc_w` of a dynamic constant (JVMS 4.4.10) | an entry of `BootstrapMethods` |
    /// | below, class | `invokestatic` of its own method | a `private static transient` field, a `private static` method |
    /// | 52 to 54, interface | `invokestatic` of its own method | a `private static` method |
    /// | below 52, interface | `ldc_w` of the key, `invokestatic runtime.array` | nothing |
    ///
    /// What is added is synthetic, and does not count for a computed
    /// `serialVersionUID` (Java Object Serialization Specification 4.6).
    ClassArray {
        /// Internal name of the class that hands out arrays.
        runtime: &'a str,
        /// What it is asked with: tells the class, and how long its array is.
        key: Utf8<'a>,
    },
    /// The same, and hits call `private static` methods that the class gets, as those of
    /// `SharedMethods` do; interfaces below version 52 cannot have any.
    ///
    /// For classes with methods that would be too long otherwise.
    ClassMethods {
        /// Internal name of the class that hands out arrays.
        runtime: &'a str,
        /// What it is asked with: tells the class, and how long its array is.
        key: Utf8<'a>,
    },
}

impl ProbeStorage<'_> {
    /// The lengths of all names, which have to fit the constant pool.
    pub(crate) fn name_lengths(&self) -> [usize; 2] {
        match self {
            ProbeStorage::SharedArray { owner, field } => [owner.len(), field.len()],
            ProbeStorage::SharedMethods { owner, method, .. } => {
                [owner.len(), method.len().plus(MOST_DIGITS)]
            }
            ProbeStorage::ClassArray { runtime, key }
            | ProbeStorage::ClassMethods { runtime, key } => [runtime.len(), key.as_bytes().len()],
        }
    }
}
