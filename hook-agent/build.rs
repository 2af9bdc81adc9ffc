//! Builds the class that holds the probe arrays, `java/lang/$Classhook`, as a template.
//!
//! The agent defines any number of siblings (`java/lang/$Classhook1` …) that differ only in their
//! name, so the class file is cut at the name: `helper_head.bin` ends before the `length` of the
//! `CONSTANT_Utf8_info` that holds it, `helper_tail.bin` begins after its last byte.

use ristretto_classfile::attributes::{ArrayType, Attribute, Instruction};
use ristretto_classfile::{
    BaseType, ClassAccessFlags, ClassFile, ConstantPool, Field, FieldAccessFlags, FieldType,
    Method, MethodAccessFlags, Version,
};
use std::error::Error;
use std::path::Path;

/// Stands for the name; long enough not to occur by chance.
const PLACEHOLDER: &str = "java/lang/$Classhook-placeholder";
/// `probes::ARRAY_LENGTH`; a test of the crate compares the two.
const ARRAY_LENGTH: i32 = 32_768;
const FIELD: &str = "hits";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let out = std::env::var("OUT_DIR")?;
    let bytes = helper_class()?;
    let at = bytes
        .windows(PLACEHOLDER.len())
        .position(|window| window == PLACEHOLDER.as_bytes())
        .ok_or("the helper class does not hold its own name")?;
    let head = bytes.get(..at - 2).ok_or("the name has no length")?;
    let tail = bytes
        .get(at + PLACEHOLDER.len()..)
        .ok_or("nothing follows the name")?;
    std::fs::write(Path::new(&out).join("helper_head.bin"), head)?;
    std::fs::write(Path::new(&out).join("helper_tail.bin"), tail)?;
    Ok(())
}

/// `public final synthetic class … { public static final byte[] hits = new byte[32768]; }`,
/// class-file version 52, so that every JVM from 8 on reads it.
fn helper_class() -> Result<Vec<u8>, Box<dyn Error>> {
    let mut pool = ConstantPool::new();
    let this_class = pool.add_class(PLACEHOLDER)?;
    let super_class = pool.add_class("java/lang/Object")?;
    let hits = pool.add_field_ref(this_class, FIELD, "[B")?;
    let length = u8::try_from(pool.add_integer(ARRAY_LENGTH)?)?;
    let field = Field {
        access_flags: FieldAccessFlags::PUBLIC
            | FieldAccessFlags::STATIC
            | FieldAccessFlags::FINAL
            | FieldAccessFlags::SYNTHETIC,
        name_index: pool.add_utf8(FIELD)?,
        descriptor_index: pool.add_utf8("[B")?,
        field_type: FieldType::Array(Box::new(FieldType::Base(BaseType::Byte))),
        attributes: Vec::new(),
    };
    let initializer = Method {
        access_flags: MethodAccessFlags::STATIC,
        name_index: pool.add_utf8("<clinit>")?,
        descriptor_index: pool.add_utf8("()V")?,
        attributes: vec![Attribute::Code {
            name_index: pool.add_utf8("Code")?,
            max_stack: 1,
            max_locals: 0,
            code: vec![
                Instruction::Ldc(length),               // Stack: I
                Instruction::Newarray(ArrayType::Byte), // Stack: [B
                Instruction::Putstatic(hits),           // Stack: -
                Instruction::Return,
            ],
            exception_table: Vec::new(),
            attributes: Vec::new(),
        }],
    };
    let class = ClassFile {
        version: Version::Java8 { minor: 0 },
        constant_pool: pool,
        access_flags: ClassAccessFlags::PUBLIC
            | ClassAccessFlags::FINAL
            | ClassAccessFlags::SUPER
            | ClassAccessFlags::SYNTHETIC,
        this_class,
        super_class,
        interfaces: Vec::new(),
        fields: vec![field],
        methods: vec![initializer],
        attributes: Vec::new(),
        code_source_url: None,
    };
    class.verify()?;
    let mut bytes = Vec::new();
    class.to_bytes(&mut bytes)?;
    Ok(bytes)
}
