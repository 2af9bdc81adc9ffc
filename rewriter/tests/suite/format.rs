//! The format checks of a JVM, each with a class that breaks one (JVMS 4.1 to 4.9). `tests/tests/rewriter/mutations.rs` has
//! JVMs judge classes that break them at random.

use jvms::access_flags::{
    ACC_ABSTRACT, ACC_FINAL, ACC_INTERFACE, ACC_PRIVATE, ACC_PUBLIC, ACC_SUPER, ACC_VOLATILE,
};
use jvms::opcode as op;
use rewriter::{Attribute, ClassFile, check_soundness};

use crate::fixtures::{ALL, SHAPES};

/// Expects that the class with `new` at `offset` is refused with a message that contains `text`.
#[track_caller]
fn refused(class: &[u8], offset: usize, new: &[u8], text: &str) {
    let mut bytes = class.to_vec();
    bytes[offset..offset + new.len()].copy_from_slice(new);
    let found = check_soundness(&bytes).expect_err(text).to_string();
    assert!(found.contains(text), "expected {text:?}, found {found:?}");
}

fn fixture(name: &str) -> &'static [u8] {
    let found = ALL.iter().find(|(found, _)| *found == name);
    found.expect("a fixture").1
}

fn read(bytes: &[u8]) -> ClassFile<'_> {
    ClassFile::read(bytes).expect("a class")
}

fn attribute<'a>(bytes: &'a [u8], name: &str) -> Attribute<'a> {
    read(bytes).attribute(name).expect("an attribute")
}

/// Returns an attribute of the code of a method.
fn of_code<'a>(bytes: &'a [u8], method: &str, name: &str) -> Attribute<'a> {
    let class = read(bytes);
    let mut methods = class.methods();
    let method = methods.find(|it| it.name() == method).expect("a method");
    let code = method.code().expect("readable").expect("code");
    code.attributes().named(name).expect("an attribute")
}

fn item(bytes: &[u8], at: usize) -> [u8; 2] {
    [bytes[at], bytes[at + 1]]
}

#[test]
fn header_that_a_jvm_would_refuse_is_refused() {
    let at = read(SHAPES).pool().end();
    let flags = |bits: u16| bits.to_be_bytes();
    refused(
        SHAPES,
        at,
        &flags(ACC_FINAL | ACC_ABSTRACT | ACC_SUPER),
        "is not final",
    );
    refused(
        SHAPES,
        at,
        &flags(ACC_INTERFACE),
        "an interface is abstract",
    );
    let interface = ACC_INTERFACE | ACC_ABSTRACT;
    refused(
        SHAPES,
        at,
        &flags(interface),
        "java/lang/Object as superclass",
    );
    refused(SHAPES, at + 4, &item(SHAPES, at + 2), "as supertypes");
    refused(SHAPES, at + 4, &[0, 0], "names of classes");
    refused(SHAPES, 4, &[0, 1], "a version of class files");
    refused(SHAPES, 6, &[0, 44], "a version of class files");
}

#[test]
fn members_that_a_jvm_would_refuse_are_refused() {
    let class = read(SHAPES);
    let field = class.pool().end() + 8 + 2 * class.interfaces().count() + 2;
    refused(
        SHAPES,
        field,
        &(ACC_PUBLIC | ACC_PRIVATE).to_be_bytes(),
        "at most one of",
    );
    refused(
        SHAPES,
        field,
        &(ACC_FINAL | ACC_VOLATILE).to_be_bytes(),
        "not both",
    );
    let method = class.methods_start();
    refused(
        SHAPES,
        method,
        &ACC_FINAL.to_be_bytes(),
        "a constructor has",
    );
    refused(SHAPES, method + 4, &item(SHAPES, field + 4), "descriptor");
}

#[test]
fn inner_classes_that_a_jvm_would_refuse_are_refused() {
    let found = attribute(SHAPES, "InnerClasses");
    let row = found.offset as usize + 2;
    refused(SHAPES, row + 2, &item(SHAPES, row), "InnerClasses");
    refused(
        SHAPES,
        row + 6,
        &(ACC_FINAL | ACC_ABSTRACT).to_be_bytes(),
        "InnerClasses",
    );
    let first = SHAPES[row..row + 8].to_vec();
    refused(SHAPES, row + 8, &first, "InnerClasses");
}

#[test]
fn local_variables_that_a_jvm_would_refuse_are_refused() {
    let found = of_code(SHAPES, "tables", "LocalVariableTable");
    let class = read(SHAPES);
    let rows = || (found.offset as usize + 2..).step_by(10);
    let descriptor = |row: usize| {
        let index = u16::from_be_bytes(item(SHAPES, row + 6));
        class
            .pool()
            .utf8(rewriter::PoolIndex(index))
            .expect("a descriptor")
    };
    let wide = rows()
        .find(|row| descriptor(*row) == "D")
        .expect("a double");
    let first = rows().next().expect("a row");
    let not_named = "names and descriptors of its local variables";
    let not_within = "local variables within its code";
    refused(SHAPES, first + 6, &item(SHAPES, first + 4), not_named);
    refused(SHAPES, first + 2, &[0, 2], not_within);
    let slots = u16::from_be_bytes(item(SHAPES, wide + 8)) + 1;
    refused(SHAPES, wide + 8, &slots.to_be_bytes(), not_within);
}

#[test]
fn switches_that_a_jvm_would_refuse_are_refused() {
    let class = read(SHAPES);
    let mut methods = class.methods();
    let method = methods.find(|it| it.name() == "tables").expect("a method");
    let code = method.code().expect("readable").expect("code");
    let start = code.bytes().as_ptr() as usize - SHAPES.as_ptr() as usize;
    let mut all = code
        .instructions()
        .map(|found| found.expect("an instruction"));
    let found = all.find(|found| found.opcode == op::LOOKUPSWITCH);
    let found = found.expect("a lookupswitch");
    let at = usize::from(found.bci.0);
    let operands = start + (at | 3) + 1;
    // Keys follow the default and the number of pairs.
    let key = operands + 8;
    refused(
        SHAPES,
        key,
        &i32::MAX.to_be_bytes(),
        "keys of a switch in order",
    );
    refused(
        SHAPES,
        key + 4,
        &[0x7f, 0, 0, 0],
        "a branch to an instruction",
    );
    refused(
        SHAPES,
        operands,
        &[0x7f, 0, 0, 0],
        "a branch to an instruction",
    );
}

#[test]
fn records_that_a_jvm_would_refuse_are_refused() {
    let circle = fixture("Shapes$Circle");
    let found = attribute(circle, "Record");
    let component = found.offset as usize + 2;
    refused(circle, component - 2, &[0, 0], "Record");
    refused(circle, component + 2, &item(circle, component), "Record");
}
