//! Access flags that members may have (JVMS 4.5, 4.6).

use jvms::access_flags::{
    ACC_ABSTRACT, ACC_FINAL, ACC_NATIVE, ACC_PRIVATE, ACC_PROTECTED, ACC_PUBLIC, ACC_STATIC,
    ACC_STRICT, ACC_SYNCHRONIZED, ACC_SYNTHETIC, ACC_VOLATILE,
};

fn one_access(flags: u16) -> bool {
    (flags & (ACC_PUBLIC | ACC_PRIVATE | ACC_PROTECTED)).count_ones() <= 1
}

/// Checks the flags of a field (JVMS 4.5).
pub(super) fn field_flags(flags: u16, interface: bool) -> Result<(), &'static str> {
    if interface {
        let rest = flags & !ACC_SYNTHETIC;
        if rest != ACC_PUBLIC | ACC_STATIC | ACC_FINAL {
            return Err("fields of an interface are public, static and final");
        }
    }
    if !one_access(flags) {
        return Err("at most one of public, private and protected");
    }
    if flags & (ACC_FINAL | ACC_VOLATILE) == ACC_FINAL | ACC_VOLATILE {
        return Err("a field is final or volatile, not both");
    }
    Ok(())
}

/// Checks the flags of a method (JVMS 4.6).
pub(super) fn method_flags(
    flags: u16,
    name: &str,
    interface: bool,
    new_style: bool,
) -> Result<(), &'static str> {
    if name == "<clinit>" {
        return if flags & ACC_STATIC == 0 {
            Err("a class initializer is static")
        } else {
            Ok(())
        };
    }
    if !one_access(flags) {
        return Err("at most one of public, private and protected");
    }
    if name == "<init>" {
        if interface {
            return Err("an interface has no constructor");
        }
        if flags & (ACC_STATIC | ACC_FINAL | ACC_SYNCHRONIZED | ACC_NATIVE | ACC_ABSTRACT) != 0 {
            return Err("a constructor has access flags only");
        }
    }
    let with_abstract =
        ACC_FINAL | ACC_NATIVE | ACC_PRIVATE | ACC_STATIC | ACC_STRICT | ACC_SYNCHRONIZED;
    if flags & ACC_ABSTRACT != 0 && flags & with_abstract != 0 {
        return Err("an abstract method cannot be final, native, private, static or synchronized");
    }
    if interface {
        if flags & (ACC_PROTECTED | ACC_FINAL | ACC_SYNCHRONIZED | ACC_NATIVE) != 0 {
            return Err(
                "a method of an interface cannot be protected, final, synchronized or native",
            );
        }
        if new_style && flags & (ACC_PUBLIC | ACC_PRIVATE) == 0 {
            return Err("a method of an interface is public or private");
        }
        if !new_style && flags & (ACC_PUBLIC | ACC_ABSTRACT) != ACC_PUBLIC | ACC_ABSTRACT {
            return Err("before version 52 methods of an interface are public and abstract");
        }
    }
    Ok(())
}
