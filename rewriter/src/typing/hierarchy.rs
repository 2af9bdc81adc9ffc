//! Known subclass relations; no class is loaded to find them.

use crate::class::ClassFile;
use crate::typing::types::{Class, Type};

/// The supertypes in the class file, and stable ones of `java.base`.
#[derive(Debug, Clone)]
pub(crate) struct Hierarchy<'t> {
    pub(crate) this: &'t [u8],
    superclass: &'t [u8],
    interfaces: Vec<&'t [u8]>,
}

/// Superclasses other than `Object`. Names without a package are those of `java/lang`.
const PARENTS: &[(&str, &str)] = &[
    ("ArithmeticException", "RuntimeException"),
    (
        "ArrayIndexOutOfBoundsException",
        "IndexOutOfBoundsException",
    ),
    ("ArrayStoreException", "RuntimeException"),
    ("AssertionError", "Error"),
    ("Byte", "Number"),
    ("ClassCastException", "RuntimeException"),
    ("ClassNotFoundException", "ReflectiveOperationException"),
    ("CloneNotSupportedException", "Exception"),
    ("Double", "Number"),
    ("Error", "Throwable"),
    ("Exception", "Throwable"),
    ("Float", "Number"),
    ("IllegalArgumentException", "RuntimeException"),
    ("IllegalStateException", "RuntimeException"),
    ("IndexOutOfBoundsException", "RuntimeException"),
    ("Integer", "Number"),
    ("InterruptedException", "Exception"),
    ("LinkageError", "Error"),
    ("Long", "Number"),
    ("NegativeArraySizeException", "RuntimeException"),
    ("NullPointerException", "RuntimeException"),
    ("NumberFormatException", "IllegalArgumentException"),
    ("OutOfMemoryError", "VirtualMachineError"),
    ("ReflectiveOperationException", "Exception"),
    ("RuntimeException", "Exception"),
    ("SecurityException", "RuntimeException"),
    ("Short", "Number"),
    ("StackOverflowError", "VirtualMachineError"),
    ("UnsupportedOperationException", "RuntimeException"),
    ("VirtualMachineError", "Error"),
    ("java/io/IOException", "Exception"),
    ("java/io/UncheckedIOException", "RuntimeException"),
];

/// Interfaces: to the verifier every class implements them (JVMS 4.10.1.2).
const INTERFACES: &[&str] = &[
    "java/io/Closeable",
    "java/io/Serializable",
    "java/lang/Appendable",
    "java/lang/AutoCloseable",
    "java/lang/CharSequence",
    "java/lang/Cloneable",
    "java/lang/Comparable",
    "java/lang/Iterable",
    "java/lang/Runnable",
    "java/util/Collection",
    "java/util/Iterator",
    "java/util/List",
    "java/util/Map",
    "java/util/Set",
];

/// Final classes below `Object` that code often uses.
const FINAL: &[&[u8]] = &[
    b"java/lang/Boolean",
    b"java/lang/Character",
    b"java/lang/Class",
    b"java/lang/Math",
    b"java/lang/String",
    b"java/lang/StringBuffer",
    b"java/lang/StringBuilder",
    b"java/lang/System",
    b"java/lang/invoke/MethodType",
];

const MOST_STEPS: usize = 16;

/// Returns the name of a class in [`PARENTS`].
fn listed(name: &[u8]) -> Option<&[u8]> {
    let simple = name.strip_prefix(b"java/lang/");
    simple.or_else(|| name.starts_with(b"java/io/").then_some(name))
}

fn parent(listed: &[u8]) -> Option<&'static [u8]> {
    let found = PARENTS.binary_search_by(|(class, _)| class.as_bytes().cmp(listed));
    let (_, parent) = PARENTS.get(found.ok()?)?;
    Some(parent.as_bytes())
}

impl<'t> Hierarchy<'t> {
    pub(crate) fn of(class: &ClassFile<'t>) -> Self {
        Hierarchy {
            this: class.this_class().as_bytes(),
            superclass: class.super_class().unwrap_or_default().as_bytes(),
            interfaces: class.interfaces().map(|name| name.as_bytes()).collect(),
        }
    }

    /// Checks for a class whose superclasses are known.
    pub(crate) fn is_class(name: &[u8]) -> bool {
        let is_listed =
            listed(name).is_some_and(|name| parent(name).is_some() || name == b"Throwable");
        name == Class::OBJECT.name || is_listed || FINAL.contains(&name)
    }

    /// Checks for a known interface.
    pub(crate) fn is_interface(name: &[u8]) -> bool {
        INTERFACES
            .binary_search_by(|known| known.as_bytes().cmp(name))
            .is_ok()
    }

    pub(crate) fn is_superclass(&self, name: &[u8]) -> bool {
        self.superclass == name
    }

    /// Checks whether the class file has `name` as superclass or superinterface.
    pub(crate) fn is_parent(&self, name: &[u8]) -> bool {
        self.superclass == name || self.interfaces.contains(&name)
    }

    /// Checks whether `found` is known to be assignable to `wanted`.
    pub(crate) fn fits(&self, found: Type<'_>, wanted: Type<'_>) -> bool {
        match (found, wanted) {
            (_, Type::Top) => true,
            (Type::Null, Type::Object(_)) => true,
            (Type::Object(found), Type::Object(wanted)) => self.is_a(found, wanted),
            (found, wanted) => found == wanted,
        }
    }

    /// Checks whether `found` may be assignable to `wanted`: unless the opposite is known.
    pub(crate) fn may_fit(&self, found: Class<'_>, wanted: Class<'_>) -> bool {
        let deeper = found.dimensions.min(wanted.dimensions);
        let element = |class: Class<'_>| class.dimensions == deeper && !class.primitive;
        let of_classes = element(found) && element(wanted);
        self.is_a(found, wanted) || of_classes && !self.is_known(found.name, wanted.name)
    }

    /// Checks whether the relation of two classes is known: `wanted` is no interface, and all superclasses of `found` are
    /// known.
    fn is_known(&self, found: &[u8], wanted: &[u8]) -> bool {
        let first = if found == self.this {
            self.superclass
        } else {
            found
        };
        Self::is_class(wanted) && Self::is_class(first)
    }

    fn is_a(&self, found: Class<'_>, wanted: Class<'_>) -> bool {
        if found == wanted || wanted == Class::OBJECT {
            return true;
        }
        if !found.is_array() && !wanted.is_array() {
            return self.extends(found.name, wanted.name);
        }
        match (found.element(), wanted.element()) {
            (Some(Type::Object(found)), Some(Type::Object(wanted))) => {
                // One level at a time: arrays of arrays are no deeper than 255.
                let deeper = found.dimensions.min(wanted.dimensions);
                let strip = |class: Class<'_>| class.dimensions - deeper;
                let (found, wanted) = (
                    Class {
                        dimensions: strip(found),
                        ..found
                    },
                    Class {
                        dimensions: strip(wanted),
                        ..wanted
                    },
                );
                found == wanted
                    || self.is_array_of_anything(found, wanted)
                    || !found.is_array()
                        && !wanted.is_array()
                        && !found.primitive
                        && !wanted.primitive
                        && self.extends(found.name, wanted.name)
            }
            (Some(_), None) => {
                matches!(
                    wanted.name,
                    b"java/lang/Cloneable" | b"java/io/Serializable"
                )
            }
            _ => false,
        }
    }

    /// Checks for an array in place of `Object`, `Cloneable` or `Serializable`.
    fn is_array_of_anything(&self, found: Class<'_>, wanted: Class<'_>) -> bool {
        let known: [&[u8]; 2] = [b"java/lang/Cloneable", b"java/io/Serializable"];
        let reference = found.is_array() || !found.primitive;
        !wanted.is_array()
            && (wanted == Class::OBJECT && reference
                || found.is_array() && known.contains(&wanted.name))
    }

    fn extends(&self, found: &[u8], wanted: &[u8]) -> bool {
        if found == wanted || wanted == Class::OBJECT.name || Self::is_interface(wanted) {
            return true;
        }
        if found == self.this {
            return self.is_parent(wanted) || inherits(self.superclass, wanted);
        }
        inherits(found, wanted)
    }
}

/// Follows the known superclasses.
fn inherits(found: &[u8], wanted: &[u8]) -> bool {
    let (Some(found), Some(wanted)) = (listed(found), listed(wanted)) else {
        return false;
    };
    let parents = std::iter::successors(parent(found), |name| parent(name));
    parents.take(MOST_STEPS).any(|name| name == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(PARENTS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(INTERFACES.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn known_relations() {
        let known = Hierarchy {
            this: b"a/B",
            superclass: b"java/lang/IllegalStateException",
            interfaces: vec![b"a/I"],
        };
        let fits = |found: &'static [u8], wanted: &'static [u8]| {
            known.fits(Type::object(found), Type::object(wanted))
        };
        let yes: [(&[u8], &[u8]); 12] = [
            (b"java/io/IOException", b"java/lang/Throwable"),
            (b"a/B", b"java/lang/Throwable"),
            (b"a/B", b"a/I"),
            (b"x/Y", b"java/lang/Runnable"),
            (b"[I", b"java/lang/Cloneable"),
            (b"[[I", b"[Ljava/lang/Object;"),
            (b"[[I", b"[Ljava/lang/Cloneable;"),
            (b"[La/B;", b"[Ljava/lang/Exception;"),
            (b"[La/B;", b"[Ljava/lang/Runnable;"),
            (b"[[La/B;", b"[[La/I;"),
            (b"[[[La/B;", b"[[Ljava/lang/Object;"),
            (b"java/lang/Integer", b"java/lang/Number"),
        ];
        yes.into_iter()
            .for_each(|(a, b)| assert!(fits(a, b), "{}", Type::object(a)));
        let no: [(&[u8], &[u8]); 9] = [
            (b"ArithmeticException", b"java/lang/RuntimeException"),
            (b"x/Y", b"a/I"),
            (b"[I", b"java/lang/Runnable"),
            (b"[I", b"[J"),
            (b"[I", b"[Ljava/lang/Object;"),
            (b"java/lang/Object", b"a/B"),
            (b"[La/B;", b"[[La/B;"),
            (b"[[I", b"[Ljava/lang/Runnable;"),
            (b"java/lang/Throwable", b"java/lang/Exception"),
        ];
        no.into_iter().for_each(|(a, b)| {
            assert!(!fits(a, b), "{} is a {}", Type::object(a), Type::object(b))
        });
        assert!(known.fits(Type::Null, Type::object(b"[I")));
        assert!(!known.fits(Type::Int, Type::Float));
    }
}
