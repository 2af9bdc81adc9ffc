//! A trial of the JVM's compilers: do they remove hit probes?
//!
//! A hit probe reads an element of a `@Stable` array. A compiler may treat a nonzero element as a constant, and then
//! removes the probe. No flag says so for every JVM, so a small class tries it.

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::process::{Command, Output};

use local_files::temporary;
use ristretto_classfile::attributes::{Annotation, ArrayType, Attribute, Instruction};
use ristretto_classfile::{
    BaseType, ClassAccessFlags, ClassFile, ConstantPool, Field, FieldAccessFlags, FieldType,
    Method, MethodAccessFlags, Version,
};

use crate::Finding;
use crate::first_message::first_message;

const CLASS: &str = "ClasshookTrial";
/// The annotation of JDK 8, and that of later ones. Each JVM ignores the other.
const STABLE: [&str; 2] = [
    "Ljava/lang/invoke/Stable;",
    "Ljdk/internal/vm/annotation/Stable;",
];
/// Calls of the method, so that the JVM compiles it with its last compiler.
const CALLS: i32 = 200_000;
/// Exit status of a JVM whose compiled code reads the cleared element.
const READ_AGAIN: i32 = 20;
/// Exit status of a JVM whose compiled code contains the former element, which is [`ELEMENT`].
const REMOVED: i32 = READ_AGAIN + ELEMENT as i32;
const ELEMENT: i8 = 11;

/// Starts a JVM that compiles a read, clears the element and reads again.
pub(crate) fn of_compilers(java: &OsStr) -> Finding {
    const COST: &str = "coverage stores each hit here: equal results, more running time";
    let tried = run(java).map(|ran| (ran.status.code(), ran));
    let found = match tried {
        Ok((Some(REMOVED), _)) => {
            return Finding::good("probes", "the JVM's compilers remove probes that were hit");
        }
        Ok((Some(READ_AGAIN), _)) => "the JVM keeps probes that were hit".to_owned(),
        Ok((_, ran)) => format!("the trial failed: {}", first_message(&ran)),
        Err(error) => format!("the trial failed: {error}"),
    };
    Finding::absent("probes", found, COST)
}

fn run(java: &OsStr) -> Result<Output, Box<dyn Error>> {
    let folder = temporary::usual_folder()?;
    fs::write(folder.path().join(format!("{CLASS}.class")), class_file()?)?;
    let mut path = std::ffi::OsString::from("-Xbootclasspath/a:");
    path.push(folder.path());
    let mut command = Command::new(java);
    // Only classes of the boot loader may have stable fields. The program waits for each compilation.
    Ok(command.arg("-Xbatch").arg(path).arg(CLASS).output()?)
}

/// Builds the class:
///
/// ```java
/// @Stable private static final byte[] hits = {11};
/// static int hit() { return hits[0]; }
/// public static void main(String[] arguments) {
///     for (int i = 0; i < 200_000; i++) hit();
///     hits[0] = 0;
///     System.exit(hit() + 20);
/// }
/// ```
///
/// Its version is 49, so it needs no stack map frames.
fn class_file() -> ristretto_classfile::Result<Vec<u8>> {
    let mut pool = ConstantPool::new();
    let this_class = pool.add_class(CLASS)?;
    let super_class = pool.add_class("java/lang/Object")?;
    let system = pool.add_class("java/lang/System")?;
    let hits = pool.add_field_ref(this_class, "hits", "[B")?;
    let hit = pool.add_method_ref(this_class, "hit", "()I")?;
    let exit = pool.add_method_ref(system, "exit", "(I)V")?;
    let calls = pool.add_integer(CALLS)?;
    let initializer = vec![
        Instruction::Iconst_1,                  // Stack: 1
        Instruction::Newarray(ArrayType::Byte), // Stack: hits
        Instruction::Dup,                       // Stack: hits, hits
        Instruction::Iconst_0,                  // Stack: hits, hits, 0
        Instruction::Bipush(ELEMENT),           // Stack: hits, hits, 0, 11
        Instruction::Bastore,                   // Stack: hits
        Instruction::Putstatic(hits),           // Stack: -
        Instruction::Return,
    ];
    let read = vec![
        Instruction::Getstatic(hits), // Stack: hits
        Instruction::Iconst_0,        // Stack: hits, 0
        Instruction::Baload,          // Stack: hit
        Instruction::Ireturn,
    ];
    let main = vec![
        Instruction::Iconst_0,           // Stack: 0
        Instruction::Istore_1,           // Stack: -
        Instruction::Iload_1,            // Stack: i
        Instruction::Ldc_w(calls),       // Stack: i, calls
        Instruction::If_icmpge(9),       // Stack: -
        Instruction::Invokestatic(hit),  // Stack: hit
        Instruction::Pop,                // Stack: -
        Instruction::Iinc(1, 1),         // Stack: -
        Instruction::Goto(2),            // Stack: -
        Instruction::Getstatic(hits),    // Stack: hits
        Instruction::Iconst_0,           // Stack: hits, 0
        Instruction::Iconst_0,           // Stack: hits, 0, 0
        Instruction::Bastore,            // Stack: -
        Instruction::Invokestatic(hit),  // Stack: hit
        Instruction::Bipush(20),         // Stack: hit, 20
        Instruction::Iadd,               // Stack: status
        Instruction::Invokestatic(exit), // Stack: -
        Instruction::Return,
    ];
    let mut annotations = Vec::new();
    for name in STABLE {
        annotations.push(Annotation {
            type_index: pool.add_utf8(name)?,
            elements: Vec::new(),
        });
    }
    let field = Field {
        access_flags: FieldAccessFlags::PRIVATE
            | FieldAccessFlags::STATIC
            | FieldAccessFlags::FINAL,
        name_index: pool.add_utf8("hits")?,
        descriptor_index: pool.add_utf8("[B")?,
        field_type: FieldType::Array(Box::new(FieldType::Base(BaseType::Byte))),
        attributes: vec![Attribute::RuntimeVisibleAnnotations {
            name_index: pool.add_utf8("RuntimeVisibleAnnotations")?,
            annotations,
        }],
    };
    let methods = vec![
        method(&mut pool, ("<clinit>", "()V"), (4, 0), initializer)?,
        method(&mut pool, ("hit", "()I"), (2, 0), read)?,
        method(&mut pool, ("main", "([Ljava/lang/String;)V"), (3, 2), main)?,
    ];
    let class = ClassFile {
        version: Version::Java5 { minor: 0 },
        constant_pool: pool,
        access_flags: ClassAccessFlags::PUBLIC | ClassAccessFlags::FINAL | ClassAccessFlags::SUPER,
        this_class,
        super_class,
        interfaces: Vec::new(),
        fields: vec![field],
        methods,
        attributes: Vec::new(),
        code_source_url: None,
    };
    let mut bytes = Vec::new();
    class.to_bytes(&mut bytes)?;
    Ok(bytes)
}

/// Builds a public static method from its name and descriptor, its largest stack and number of locals, and its code.
fn method(
    pool: &mut ConstantPool<'static>,
    (name, descriptor): (&str, &str),
    (max_stack, max_locals): (u16, u16),
    code: Vec<Instruction>,
) -> ristretto_classfile::Result<Method> {
    Ok(Method {
        access_flags: MethodAccessFlags::PUBLIC | MethodAccessFlags::STATIC,
        name_index: pool.add_utf8(name)?,
        descriptor_index: pool.add_utf8(descriptor)?,
        attributes: vec![Attribute::Code {
            name_index: pool.add_utf8("Code")?,
            max_stack,
            max_locals,
            code,
            exception_table: Vec::new(),
            attributes: Vec::new(),
        }],
    })
}
