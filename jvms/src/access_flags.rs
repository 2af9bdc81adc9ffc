//! Access flags, and the declarations that may carry each (JVMS 4.1, 4.5, 4.6, 4.7.6, 4.7.24).
//!
//! The meaning of a bit depends on the declaration: `0x0020` is [`ACC_SUPER`] of a class and [`ACC_SYNCHRONIZED`] of a
//! method.

/// A declaration that carries access flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declaration {
    /// A class, interface or module by its own `access_flags` (table 4.1-B).
    Class,
    /// A row of the `InnerClasses` attribute (table 4.7.6-A).
    InnerClass,
    /// A field (table 4.5-A).
    Field,
    /// A method (table 4.6-A).
    Method,
    /// A row of the `MethodParameters` attribute (4.7.24).
    Parameter,
}

/// One bit and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// The bit.
    pub bit: u16,
    /// The specification's name, `ACC_PUBLIC`.
    pub name: &'static str,
}

/// Each flag with the declarations that may carry it, lowest bit first.
macro_rules! flags {
    ($($bit:literal $name:ident $($declaration:ident)+;)*) => {
        $(#[doc = concat!("`", stringify!($name), "`, ", stringify!($bit), ".")]
        pub const $name: u16 = $bit;)*

        const TABLE: &[(Flag, &[Declaration])] = &[$((
            Flag { bit: $bit, name: stringify!($name) },
            &[$(Declaration::$declaration),+],
        )),*];
    };
}

flags! {
    0x0001 ACC_PUBLIC Class InnerClass Field Method;
    0x0002 ACC_PRIVATE InnerClass Field Method;
    0x0004 ACC_PROTECTED InnerClass Field Method;
    0x0008 ACC_STATIC InnerClass Field Method;
    0x0010 ACC_FINAL Class InnerClass Field Method Parameter;
    0x0020 ACC_SUPER Class;
    0x0020 ACC_SYNCHRONIZED Method;
    0x0040 ACC_VOLATILE Field;
    0x0040 ACC_BRIDGE Method;
    0x0080 ACC_TRANSIENT Field;
    0x0080 ACC_VARARGS Method;
    0x0100 ACC_NATIVE Method;
    0x0200 ACC_INTERFACE Class InnerClass;
    0x0400 ACC_ABSTRACT Class InnerClass Method;
    0x0800 ACC_STRICT Method;
    0x0800 ACC_STRICT_INIT Field;
    0x1000 ACC_SYNTHETIC Class InnerClass Field Method Parameter;
    0x2000 ACC_ANNOTATION Class InnerClass;
    0x4000 ACC_ENUM Class InnerClass Field;
    0x8000 ACC_MODULE Class;
    0x8000 ACC_MANDATED Parameter;
}

/// Returns the flags that `declaration` may carry, lowest bit first.
pub fn of(declaration: Declaration) -> impl Iterator<Item = Flag> {
    let rows = TABLE.iter();
    rows.filter(move |(_, declarations)| declarations.contains(&declaration))
        .map(|(flag, _)| *flag)
}

/// Returns the flags that `declaration` may carry as one mask.
#[must_use]
pub fn mask(declaration: Declaration) -> u16 {
    of(declaration).fold(0, |bits, flag| bits | flag.bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are the tables of the specification.
    #[test]
    fn masks_are_those_of_the_tables() {
        assert_eq!(mask(Declaration::Class), 0xF631);
        assert_eq!(mask(Declaration::InnerClass), 0x761F);
        assert_eq!(mask(Declaration::Field), 0x58DF);
        assert_eq!(mask(Declaration::Method), 0x1DFF);
        assert_eq!(mask(Declaration::Parameter), 0x9010);
    }

    #[test]
    fn a_bit_has_one_name_in_one_declaration() {
        for declaration in [
            Declaration::Class,
            Declaration::InnerClass,
            Declaration::Field,
            Declaration::Method,
            Declaration::Parameter,
        ] {
            let bits: Vec<u16> = of(declaration).map(|flag| flag.bit).collect();
            assert!(bits.is_sorted_by(|a, b| a < b), "{declaration:?}");
            assert!(bits.iter().all(|bit| bit.is_power_of_two()));
        }
        let name = |declaration| {
            of(declaration)
                .find(|flag| flag.bit == 0x40)
                .map(|it| it.name)
        };
        assert_eq!(name(Declaration::Field), Some("ACC_VOLATILE"));
        assert_eq!(name(Declaration::Method), Some("ACC_BRIDGE"));
        assert_eq!(name(Declaration::Class), None);
    }
}
