//! Edits shared by several tests, including those in real JVMs.

#![allow(dead_code, reason = "each test file uses its part")]

use jvms::opcode;
use rewriter::{Assemble, ClassEdit, Member, NewMethod, Snippet};

/// Returns a member's names.
pub fn member(owner: &str, name: &str, descriptor: &str) -> Member {
    Member {
        owner: owner.to_owned(),
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
        interface: false,
    }
}

/// Adds `public static long NAME(long addend, int times)`: a product, added up in a loop, so that it needs frames.
pub fn summing(name: &str) -> ClassEdit {
    let mut body = Snippet::new();
    let (again, done) = (body.new_label(), body.new_label());
    body.push_long(0).unwrap();
    body.op(opcode::LSTORE, 0).unwrap();
    body.load_argument(1).unwrap();
    body.op(opcode::ISTORE, 2).unwrap();
    body.place(again).unwrap();
    body.op(opcode::ILOAD, 2).unwrap();
    body.jump(opcode::IFLE, done).unwrap();
    body.op(opcode::LLOAD, 0).unwrap();
    body.load_argument(0).unwrap();
    body.op(opcode::LADD, 0).unwrap();
    body.op(opcode::LSTORE, 0).unwrap();
    body.increment(2, -1).unwrap();
    body.jump(opcode::GOTO, again).unwrap();
    body.place(done).unwrap();
    body.op(opcode::LLOAD, 0).unwrap();
    body.op(opcode::LRETURN, 0).unwrap();
    ClassEdit::AddMethod(NewMethod {
        flags: 0x0009,
        name: name.to_owned(),
        descriptor: "(JI)J".to_owned(),
        body: Some(body),
    })
}
