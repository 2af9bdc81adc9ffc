//! Where control enters and leaves the body of a method.

use crate::class::{Code, Method};
use crate::index::Bci;
use ::edits::Location;
use jvms::{names, opcode};

/// The entries and exits of a method's body.
#[derive(Debug, Clone, Default)]
pub(crate) struct Boundaries {
    /// The calls of another constructor on `this`. Behind them begins the body of a constructor.
    constructed: Vec<Bci>,
    /// The returns.
    returns: Vec<Bci>,
    /// The `athrow` instructions.
    throws: Vec<Bci>,
}

impl Boundaries {
    /// Reads the boundaries of a method; none for a method whose code cannot be read.
    pub(crate) fn of(method: &Method<'_, '_>) -> Self {
        let mut found = Self::default();
        if let Ok(Some(code)) = method.code() {
            found.read(method, &code);
        }
        found
    }

    fn read(&mut self, method: &Method<'_, '_>, code: &Code<'_, '_>) {
        let pool = method.class().pool();
        let constructor = method.is_constructor();
        // Compilers nest each `new` with the call of its constructor.
        let mut unfinished = 0_usize;
        for found in code.instructions().map_while(Result::ok) {
            match found.opcode {
                opcode::ATHROW => self.throws.push(found.bci),
                code if opcode::is_return(code) => self.returns.push(found.bci),
                opcode::NEW => unfinished = unfinished.saturating_add(1),
                opcode::INVOKESPECIAL if constructor => {
                    let member = found.pool_index().and_then(|index| pool.member_ref(index));
                    if member.is_some_and(|member| member.name == names::INIT) {
                        match unfinished.checked_sub(1) {
                            Some(left) => unfinished = left,
                            None => self.constructed.push(found.bci),
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Checks whether code at this location runs while control leaves the body or an instruction in it. At such a
    /// location the code of inner layers runs first, elsewhere that of outer layers.
    pub(crate) fn leads_out(&self, location: Location) -> bool {
        match location {
            Location::Entry | Location::At(_) => false,
            Location::Before(bci) => self.is_return(location) || self.throws.contains(&bci),
            Location::FallThrough(_) => !self.is_entry(location),
            Location::Jump { .. } | Location::Unwind => true,
        }
    }

    /// Checks for a location at which the body begins.
    pub(crate) fn is_entry(&self, location: Location) -> bool {
        match location {
            Location::Entry => true,
            Location::FallThrough(bci) => self.constructed.contains(&bci),
            _ => false,
        }
    }

    /// Checks for the location before a return.
    pub(crate) fn is_return(&self, location: Location) -> bool {
        matches!(location, Location::Before(bci) if self.returns.binary_search(&bci).is_ok())
    }

    /// Returns the locations at which the body of a constructor begins.
    pub(crate) fn constructed(&self) -> impl Iterator<Item = Location> {
        self.constructed.iter().copied().map(Location::FallThrough)
    }

    /// Returns the locations before the returns.
    pub(crate) fn returns(&self) -> impl Iterator<Item = Location> {
        self.returns.iter().copied().map(Location::Before)
    }
}
