//! The places of the edits, and the members of the program that replace others.

use classhook_sdk::edit::Member;
use classhook_sdk::opcode::{GETSTATIC, NEW};
use classhook_sdk::prelude::*;

/// A member of the test program.
pub fn program(name: &str, descriptor: &str) -> Member {
    Member::of_class("Changed", name, descriptor)
}

/// Returns the sites of instructions that access a member of this name.
pub fn instructions(method: &Method<'_>, name: &str) -> Result<Vec<InsertionPoint>> {
    let all = method.instructions()?;
    let named = all.iter().filter(|it| {
        let index = u16::try_from(it.operand).unwrap_or(0);
        (GETSTATIC..NEW).contains(&it.opcode)
            && method
                .member(index)
                .is_some_and(|member| member.name == name)
    });
    Ok(method.at(&named.map(|it| it.bci).collect::<Vec<_>>()))
}

/// Returns the sites of `new` instructions.
pub fn allocations(method: &Method<'_>) -> Result<Vec<InsertionPoint>> {
    let all = method.instructions()?;
    let new = all.iter().filter(|it| it.opcode == NEW);
    Ok(method.at(&new.map(|it| it.bci).collect::<Vec<_>>()))
}
