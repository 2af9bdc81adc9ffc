//! Names of access flags.

use std::fmt::{self, Display, Formatter};

use jvms::access_flags::{self, Declaration};

/// The flags of a declaration as number and names, lowest bit first.
pub(super) struct Flags(pub(super) Declaration, pub(super) u16);

impl Display for Flags {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Flags(declaration, bits) = *self;
        write!(f, "(0x{bits:04x})")?;
        let set = access_flags::of(declaration).filter(|flag| bits & flag.bit != 0);
        for (index, flag) in set.enumerate() {
            write!(f, "{}{}", if index == 0 { " " } else { ", " }, flag.name)?;
        }
        Ok(())
    }
}
