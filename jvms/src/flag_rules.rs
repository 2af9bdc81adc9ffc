//! Combinations of access flags that a JVM refuses (JVMS 4.1, 4.5, 4.6, 4.7.6), as one table.
//!
//! ```
//! use jvms::access_flags::{ACC_ABSTRACT, ACC_FINAL, Declaration};
//! use jvms::flag_rules::Flags;
//!
//! let class = Flags { declaration: Declaration::Class, bits: ACC_ABSTRACT | ACC_FINAL, major: 61, in_interface: false, name: b"" };
//! assert_eq!(class.check(), Err("an abstract class or interface is not final"));
//! ```

use crate::access_flags::{
    ACC_ABSTRACT, ACC_ANNOTATION, ACC_BRIDGE, ACC_ENUM, ACC_FINAL, ACC_INTERFACE, ACC_MODULE,
    ACC_NATIVE, ACC_PRIVATE, ACC_PROTECTED, ACC_PUBLIC, ACC_STATIC, ACC_STRICT, ACC_SUPER,
    ACC_SYNCHRONIZED, ACC_TRANSIENT, ACC_VOLATILE, Declaration,
};
use crate::names::{CLINIT, INIT};

/// The access flags of a declaration, with what decides on their rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags<'n> {
    /// The declaration that carries them.
    pub declaration: Declaration,
    /// The flags.
    pub bits: u16,
    /// The major version of the class file.
    pub major: u16,
    /// True for members of an interface.
    pub in_interface: bool,
    /// The name of a method; not read for other declarations.
    pub name: &'n [u8],
}

/// The declarations to which a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// A class file's own flags, or those of a row of `InnerClasses`.
    Class,
    /// Fields of interfaces.
    InterfaceField,
    /// Fields of classes.
    ClassField,
    /// Methods of interfaces, `<clinit>` excepted.
    InterfaceMethod,
    /// Methods of classes, `<init>` and `<clinit>` excepted.
    ClassMethod,
    /// `<init>`.
    Constructor,
    /// `<clinit>`.
    Initializer,
}

/// One rule: a declaration whose flags in `mask` are `given` has the flags `set`, and does not have those of `clear`.
struct Rule {
    of: Of,
    /// First version of class files with the rule.
    since: u16,
    /// First version without it.
    before: u16,
    mask: u16,
    given: u16,
    set: u16,
    clear: u16,
    text: &'static str,
}

/// First versions of class files with another rule: those of Java 5, 6, 7, 8, 9 and 17.
const JAVA_5: u16 = 49;
const JAVA_6: u16 = 50;
const JAVA_7: u16 = 51;
const JAVA_8: u16 = 52;
const JAVA_9: u16 = 53;
const JAVA_17: u16 = 61;
const ALWAYS: u16 = 0;
const NEVER: u16 = u16::MAX;

const ONE_ACCESS: &str = "at most one of public, private and protected";
const OLD_INTERFACE: &str = "before version 52 methods of an interface are public and abstract";

/// Makes a row: `declaration, versions, flags that are set or clear => flags that must be set or clear, text`.
macro_rules! rules {
    ($($of:ident $since:ident..$before:ident ($mask:expr, $given:expr) => ($set:expr, $clear:expr) $text:expr;)*) => {
        const RULES: &[Rule] = &[$(Rule {
            of: Of::$of,
            since: $since,
            before: $before,
            mask: $mask,
            given: $given,
            set: $set,
            clear: $clear,
            text: $text,
        }),*];
    };
}

rules! {
    Class JAVA_6..NEVER (ACC_INTERFACE, ACC_INTERFACE) => (ACC_ABSTRACT, 0) "an interface is abstract";
    Class ALWAYS..NEVER (ACC_INTERFACE, ACC_INTERFACE) => (0, ACC_FINAL) "an interface is not final";
    Class ALWAYS..NEVER (ACC_ABSTRACT, ACC_ABSTRACT) => (0, ACC_FINAL) "an abstract class or interface is not final";
    Class JAVA_5..NEVER (ACC_INTERFACE, ACC_INTERFACE) => (0, ACC_SUPER | ACC_ENUM) "an interface has neither ACC_SUPER nor ACC_ENUM";
    Class JAVA_5..NEVER (ACC_INTERFACE, 0) => (0, ACC_ANNOTATION) "an annotation is an interface";
    Class JAVA_9..NEVER (0, 0) => (0, ACC_MODULE) "a class is no module";

    InterfaceField ALWAYS..NEVER (0, 0) => (ACC_PUBLIC | ACC_STATIC | ACC_FINAL, ACC_PRIVATE | ACC_PROTECTED | ACC_VOLATILE | ACC_TRANSIENT) "fields of an interface are public, static and final";
    InterfaceField JAVA_5..NEVER (0, 0) => (0, ACC_ENUM) "fields of an interface are public, static and final";
    ClassField ALWAYS..NEVER (ACC_PUBLIC, ACC_PUBLIC) => (0, ACC_PRIVATE | ACC_PROTECTED) ONE_ACCESS;
    ClassField ALWAYS..NEVER (ACC_PRIVATE, ACC_PRIVATE) => (0, ACC_PROTECTED) ONE_ACCESS;
    ClassField ALWAYS..NEVER (ACC_FINAL, ACC_FINAL) => (0, ACC_VOLATILE) "a field is final or volatile, not both";

    Initializer JAVA_7..NEVER (0, 0) => (ACC_STATIC, 0) "a class initializer is static";

    Constructor ALWAYS..NEVER (ACC_PUBLIC, ACC_PUBLIC) => (0, ACC_PRIVATE | ACC_PROTECTED) ONE_ACCESS;
    Constructor ALWAYS..NEVER (ACC_PRIVATE, ACC_PRIVATE) => (0, ACC_PROTECTED) ONE_ACCESS;
    Constructor ALWAYS..NEVER (0, 0) => (0, ACC_STATIC | ACC_FINAL | ACC_SYNCHRONIZED | ACC_NATIVE | ACC_ABSTRACT) "a constructor has access flags only";
    Constructor JAVA_5..NEVER (0, 0) => (0, ACC_BRIDGE) "a constructor has access flags only";

    ClassMethod ALWAYS..NEVER (ACC_PUBLIC, ACC_PUBLIC) => (0, ACC_PRIVATE | ACC_PROTECTED) ONE_ACCESS;
    ClassMethod ALWAYS..NEVER (ACC_PRIVATE, ACC_PRIVATE) => (0, ACC_PROTECTED) ONE_ACCESS;
    ClassMethod ALWAYS..NEVER (ACC_ABSTRACT, ACC_ABSTRACT) => (0, ACC_FINAL | ACC_NATIVE | ACC_PRIVATE | ACC_STATIC) "an abstract method is not final, native, private or static";
    ClassMethod JAVA_5..NEVER (ACC_ABSTRACT, ACC_ABSTRACT) => (0, ACC_SYNCHRONIZED) "an abstract method is not synchronized";
    ClassMethod JAVA_5..JAVA_17 (ACC_ABSTRACT, ACC_ABSTRACT) => (0, ACC_STRICT) "an abstract method is not strictfp";

    InterfaceMethod ALWAYS..JAVA_8 (0, 0) => (ACC_PUBLIC | ACC_ABSTRACT, ACC_STATIC | ACC_FINAL | ACC_NATIVE) OLD_INTERFACE;
    InterfaceMethod JAVA_5..JAVA_8 (0, 0) => (0, ACC_PRIVATE | ACC_PROTECTED | ACC_SYNCHRONIZED | ACC_STRICT) OLD_INTERFACE;
    InterfaceMethod JAVA_8..NEVER (0, 0) => (0, ACC_PROTECTED | ACC_FINAL | ACC_SYNCHRONIZED | ACC_NATIVE) "a method of an interface is not protected, final, synchronized or native";
    InterfaceMethod JAVA_8..NEVER (ACC_PUBLIC, ACC_PUBLIC) => (0, ACC_PRIVATE) "a method of an interface is public or private";
    InterfaceMethod JAVA_8..NEVER (ACC_PUBLIC, 0) => (ACC_PRIVATE, 0) "a method of an interface is public or private";
    InterfaceMethod JAVA_8..NEVER (ACC_ABSTRACT, ACC_ABSTRACT) => (0, ACC_PRIVATE | ACC_STATIC) "an abstract method is not private or static";
    InterfaceMethod JAVA_8..JAVA_17 (ACC_ABSTRACT, ACC_ABSTRACT) => (0, ACC_STRICT) "an abstract method is not strictfp";
}

impl Flags<'_> {
    /// Checks the flags by the rules of their declaration.
    ///
    /// # Errors
    /// The rule that they break, as a sentence without a full stop.
    pub fn check(&self) -> Result<(), &'static str> {
        let Some(of) = self.of() else {
            return Ok(());
        };
        if of == Of::Constructor && self.in_interface {
            return Err("an interface has no constructor");
        }
        let mut rules = RULES.iter().filter(|rule| rule.of == of);
        rules.try_for_each(|rule| match self.follows(rule) {
            true => Ok(()),
            false => Err(rule.text),
        })
    }

    fn of(&self) -> Option<Of> {
        Some(match (self.declaration, self.in_interface) {
            (Declaration::Class | Declaration::InnerClass, _) => Of::Class,
            (Declaration::Field, true) => Of::InterfaceField,
            (Declaration::Field, false) => Of::ClassField,
            (Declaration::Method, _) if self.name == CLINIT.as_bytes() => Of::Initializer,
            (Declaration::Method, _) if self.name == INIT.as_bytes() => Of::Constructor,
            (Declaration::Method, true) => Of::InterfaceMethod,
            (Declaration::Method, false) => Of::ClassMethod,
            (Declaration::Parameter, _) => return None,
        })
    }

    fn follows(&self, rule: &Rule) -> bool {
        let applies =
            (rule.since..rule.before).contains(&self.major) && self.bits & rule.mask == rule.given;
        !applies || self.bits & rule.set == rule.set && self.bits & rule.clear == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(declaration: Declaration, bits: u16, major: u16) -> Result<(), &'static str> {
        let flags = Flags {
            declaration,
            bits,
            major,
            in_interface: false,
            name: b"name",
        };
        flags.check()
    }

    fn in_interface(bits: u16, major: u16, name: &[u8]) -> bool {
        let flags = Flags {
            declaration: Declaration::Method,
            bits,
            major,
            in_interface: true,
            name,
        };
        flags.check().is_ok()
    }

    #[test]
    fn flags_of_a_class_that_exclude_one_another_are_refused() {
        use Declaration::{Class, InnerClass};
        for declaration in [Class, InnerClass] {
            assert!(check(declaration, ACC_INTERFACE | ACC_ABSTRACT, 61).is_ok());
            assert!(check(declaration, ACC_INTERFACE, 61).is_err());
            assert!(check(declaration, ACC_INTERFACE, 49).is_ok());
            assert!(check(declaration, ACC_ABSTRACT | ACC_FINAL, 45).is_err());
            assert!(check(declaration, ACC_ANNOTATION, 61).is_err());
            assert!(check(declaration, ACC_ANNOTATION, 48).is_ok());
            assert!(check(declaration, ACC_MODULE, 53).is_err());
        }
    }

    #[test]
    fn flags_of_members_that_exclude_one_another_are_refused() {
        use Declaration::{Field, Method, Parameter};
        for declaration in [Field, Method] {
            assert!(check(declaration, ACC_PUBLIC | ACC_PRIVATE, 61).is_err());
            assert!(check(declaration, ACC_PRIVATE | ACC_PROTECTED, 61).is_err());
            assert!(check(declaration, ACC_STATIC | ACC_FINAL, 61).is_ok());
        }
        assert!(check(Field, ACC_FINAL | ACC_VOLATILE, 61).is_err());
        assert!(check(Method, ACC_ABSTRACT | ACC_STRICT, 60).is_err());
        assert!(check(Method, ACC_ABSTRACT | ACC_STRICT, 61).is_ok());
        assert!(check(Method, ACC_ABSTRACT | ACC_SYNCHRONIZED, 48).is_ok());
        assert!(check(Parameter, u16::MAX, 61).is_ok());
    }

    #[test]
    fn methods_of_interfaces_depend_on_the_version() {
        assert!(in_interface(ACC_PUBLIC | ACC_ABSTRACT, 48, b"name"));
        assert!(!in_interface(ACC_PUBLIC | ACC_STATIC, 51, b"name"));
        assert!(in_interface(ACC_PUBLIC | ACC_STATIC, 52, b"name"));
        assert!(in_interface(ACC_PRIVATE, 52, b"name"));
        assert!(!in_interface(0, 52, b"name"));
        assert!(!in_interface(ACC_PUBLIC, 61, b"<init>"));
        assert!(in_interface(ACC_STATIC, 61, b"<clinit>"));
        assert!(!in_interface(0, 61, b"<clinit>"));
    }
}
