//! Builds the probe classes, which the agent defines in the JVM (`java/lang/$Classhook` and its siblings), as
//! templates.
//!
//! The agent defines any number of siblings (`java/lang/$Classhook1` …) that differ only in their name, so a class file
//! is cut at the name: `….head` ends before the `length` of the `CONSTANT_Utf8_info` with the name, `….tail` begins
//! after its last byte.
//!
//! For musl it also compiles the functions that an agent for every C library carries itself.

use ristretto_classfile::attributes::{
    Annotation, ArrayType, Attribute, ExceptionTableEntry, Instruction, StackFrame,
    VerificationType,
};
use ristretto_classfile::{
    BaseType, ClassAccessFlags, ClassFile, ConstantPool, Field, FieldAccessFlags, FieldType,
    Method, MethodAccessFlags, Version,
};
use std::error::Error;
use std::path::Path;

/// The placeholder for the name; long enough not to occur by chance.
const PLACEHOLDER: &str = "java/lang/$Classhook-placeholder";
/// `probes::ARRAY_LENGTH`; a test of the crate compares the two.
const ARRAY_LENGTH: i32 = 65_536;
/// `probes::COUNTS_LENGTH`; the same test compares them.
const COUNTS_LENGTH: i32 = 32_768;

/// Number of probes that each method `hit0`, `hit1`, … serves (`rewriter::ProbeStorage::SharedMethods`).
const PROBES_OF_A_METHOD: i32 = 256;

/// The annotations that make nonzero elements of an array constants for the compilers: that of JDK 8, and that of later
/// ones.
const STABLE: [&str; 2] = [
    "Ljava/lang/invoke/Stable;",
    "Ljdk/internal/vm/annotation/Stable;",
];

/// Methods of the first class for the instrumented code. Each calls the native method of the same name with the suffix
/// `0`, and adds Java's id of the thread as the last argument.
const CALLS: [(&str, &str); 10] = [
    ("enter", "I"),
    ("exit", "I"),
    ("begin", "Ljava/lang/Object;I"),
    ("proceed", "Ljava/lang/Object;I"),
    ("finish", "Ljava/lang/Object;I"),
    ("resumed", "Ljava/lang/Object;Ljava/lang/Object;I"),
    ("event", "I"),
    ("fail", "Ljava/lang/Throwable;I"),
    ("number", "JII"),
    ("object", OBJECT),
];

/// An object, the spec of its capture, and the span.
const OBJECT: &str = "Ljava/lang/Object;II";

/// The source of thread ids in a JVM.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ThreadIds {
    /// `Thread.threadId`, which is final (Java 19); virtual threads have it too.
    Final,
    /// No source: without virtual threads, the native thread is identification enough.
    None,
}

/// The functions of an agent for every C library.
const PORTABLE: &str = "portable/functions.c";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={PORTABLE}");
    if std::env::var("CARGO_CFG_TARGET_ENV")? == "musl" {
        link_portable_functions()?;
    }
    write(
        "hits",
        &ProbeClass::new(("hits", "[B", ArrayType::Byte), None)?.bytes()?,
    )?;
    write(
        "counts",
        &ProbeClass::new(("counts", "[J", ArrayType::Long), None)?.bytes()?,
    )?;
    for (name, ids) in [
        ("first", ThreadIds::None),
        ("first_with_ids", ThreadIds::Final),
    ] {
        write(
            name,
            &ProbeClass::new(("hits", "[B", ArrayType::Byte), Some(ids))?.bytes()?,
        )?;
    }
    Ok(())
}

/// Links the functions as object files: in an archive, they would yield to those of the C library.
fn link_portable_functions() -> Result<(), Box<dyn Error>> {
    for object in cc::Build::new()
        .file(PORTABLE)
        .try_compile_intermediates()?
    {
        println!("cargo:rustc-link-arg-cdylib={}", object.display());
    }
    Ok(())
}

/// Writes a class file in two parts.
fn write(name: &str, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    let out = std::env::var("OUT_DIR")?;
    let at = bytes
        .windows(PLACEHOLDER.len())
        .position(|window| window == PLACEHOLDER.as_bytes())
        .ok_or("the probe class does not hold its own name")?;
    let head = bytes.get(..at - 2).ok_or("the name has no length")?;
    let tail = bytes
        .get(at + PLACEHOLDER.len()..)
        .ok_or("nothing follows the name")?;
    std::fs::write(Path::new(&out).join(format!("{name}.head")), head)?;
    std::fs::write(Path::new(&out).join(format!("{name}.tail")), tail)?;
    Ok(())
}

/// The code of a method.
struct Body {
    max_stack: u16,
    max_locals: u16,
    code: Vec<Instruction>,
    handlers: Vec<ExceptionTableEntry>,
    attributes: Vec<Attribute>,
}

impl Body {
    fn new(max_stack: u16, max_locals: u16, code: Vec<Instruction>) -> Self {
        Self {
            max_stack,
            max_locals,
            code,
            handlers: Vec::new(),
            attributes: Vec::new(),
        }
    }
}

/// A probe class while it is built.
struct ProbeClass {
    pool: ConstantPool<'static>,
    this_class: u16,
    fields: Vec<Field>,
    methods: Vec<Method>,
}

impl ProbeClass {
    /// A class with `public static final T[] name = new T[length]`, and with the methods `calls` of the first class.
    fn new(
        (name, descriptor, element): (&str, &str, ArrayType),
        calls: Option<ThreadIds>,
    ) -> Result<Self, Box<dyn Error>> {
        let mut pool = ConstantPool::new();
        let this_class = pool.add_class(PLACEHOLDER)?;
        let mut class = Self {
            pool,
            this_class,
            fields: Vec::new(),
            methods: Vec::new(),
        };
        let is_of_hits = element == ArrayType::Byte;
        let array = class.array(name, descriptor, element)?;
        if is_of_hits {
            class.hits(array)?;
        }
        if let Some(ids) = calls {
            class.unwound()?;
            for (name, parameters) in CALLS {
                class.call(name, parameters, ids)?;
            }
        }
        Ok(class)
    }

    fn array(
        &mut self,
        name: &str,
        descriptor: &str,
        element: ArrayType,
    ) -> Result<u16, Box<dyn Error>> {
        let array = self.pool.add_field_ref(self.this_class, name, descriptor)?;
        let (base, length) = match element {
            ArrayType::Byte => (BaseType::Byte, ARRAY_LENGTH),
            _ => (BaseType::Long, COUNTS_LENGTH),
        };
        let length = u8::try_from(self.pool.add_integer(length)?)?;
        let attributes = match element {
            ArrayType::Byte => vec![self.stable()?],
            _ => Vec::new(),
        };
        self.fields.push(Field {
            access_flags: FieldAccessFlags::PUBLIC
                | FieldAccessFlags::STATIC
                | FieldAccessFlags::FINAL
                | FieldAccessFlags::SYNTHETIC,
            name_index: self.pool.add_utf8(name)?,
            descriptor_index: self.pool.add_utf8(descriptor)?,
            field_type: FieldType::Array(Box::new(FieldType::Base(base))),
            attributes,
        });
        let code = vec![
            Instruction::Ldc(length),       // Stack: I
            Instruction::Newarray(element), // Stack: [
            Instruction::Putstatic(array),  // Stack: -
            Instruction::Return,
        ];
        self.method(
            "<clinit>",
            "()V",
            MethodAccessFlags::STATIC,
            Some(Body::new(1, 0, code)),
        )?;
        Ok(array)
    }

    /// The annotations that make HotSpot's compilers treat nonzero elements as constants: that of JDK 8, and that of
    /// later ones. Each JVM ignores the other.
    fn stable(&mut self) -> Result<Attribute, Box<dyn Error>> {
        let mut annotations = Vec::new();
        for name in STABLE {
            annotations.push(Annotation {
                type_index: self.pool.add_utf8(name)?,
                elements: Vec::new(),
            });
        }
        Ok(Attribute::RuntimeVisibleAnnotations {
            name_index: self.pool.add_utf8("RuntimeVisibleAnnotations")?,
            annotations,
        })
    }

    /// `public static int unwound`, which instrumented code increments when an exception leaves a call.
    fn unwound(&mut self) -> Result<(), Box<dyn Error>> {
        self.fields.push(Field {
            access_flags: FieldAccessFlags::PUBLIC
                | FieldAccessFlags::STATIC
                | FieldAccessFlags::SYNTHETIC,
            name_index: self.pool.add_utf8("unwound")?,
            descriptor_index: self.pool.add_utf8("I")?,
            field_type: FieldType::Base(BaseType::Int),
            attributes: Vec::new(),
        });
        Ok(())
    }

    /// `public static void hit2(int low) { int index = low + 640; if (hits[index] == 0) hits[index] = 1; }`, where
    /// `low` is -128 to 127, and the other methods of this kind.
    fn hits(&mut self, array: u16) -> Result<(), Box<dyn Error>> {
        for number in 0..ARRAY_LENGTH / PROBES_OF_A_METHOD {
            let middle = number * PROBES_OF_A_METHOD + PROBES_OF_A_METHOD / 2;
            // Two bytes without a sign: `sipush` may read them as a negative number, which `i2c` corrects.
            let [high, low] = u16::try_from(middle)?.to_be_bytes();
            let mut code = vec![
                Instruction::Iload_0,                                 // Stack: low
                Instruction::Sipush(i16::from_be_bytes([high, low])), // Stack: low, middle
                Instruction::Iadd,                                    // Stack: index
            ];
            if i16::try_from(middle).is_err() {
                code.push(Instruction::I2c); // Stack: index
            }
            let end = u8::try_from(code.len() + 9)?;
            code.extend([
                Instruction::Istore_0,         // Stack: -
                Instruction::Getstatic(array), // Stack: array
                Instruction::Iload_0,          // Stack: array, index
                Instruction::Baload,           // Stack: hit
                Instruction::Ifne(end.into()), // Stack: -
                Instruction::Getstatic(array), // Stack: array
                Instruction::Iload_0,          // Stack: array, index
                Instruction::Iconst_1,         // Stack: array, index, 1
                Instruction::Bastore,          // Stack: -
                Instruction::Return,
            ]);
            let flags = MethodAccessFlags::PUBLIC | MethodAccessFlags::STATIC;
            let name = format!("hit{number}");
            let mut body = Body::new(3, 1, code);
            body.attributes.push(Attribute::StackMapTable {
                name_index: self.pool.add_utf8("StackMapTable")?,
                frames: vec![StackFrame::SameFrame { frame_type: end }],
            });
            self.method(&name, "(I)V", flags, Some(body))?;
        }
        Ok(())
    }

    /// `public static void name(…) { name0(…, Thread.currentThread().threadId()); }`.
    ///
    /// For an object, `1` is added to the spec of the capture if it is a `String`: compiled code knows that for free,
    /// and a native method would have to check.
    fn call(&mut self, name: &str, parameters: &str, ids: ThreadIds) -> Result<(), Box<dyn Error>> {
        let native = (format!("{name}0"), format!("({parameters}J)V"));
        self.native(&native.0, &native.1)?;
        let target = self
            .pool
            .add_method_ref(self.this_class, &native.0, &native.1)?;
        let mut code = Vec::new();
        let mut slots = 0_u8;
        for kind in parameters.chars().filter(|kind| "JIL".contains(*kind)) {
            // The class names in `CALLS` contain none of these letters except the `L` at their start.
            code.push(match kind {
                'J' => Instruction::Lload(slots),
                'I' => Instruction::Iload(slots),
                _ => Instruction::Aload(slots),
            });
            slots += if kind == 'J' { 2 } else { 1 };
            if parameters == OBJECT && slots == 2 {
                let text = self.pool.add_class("java/lang/String")?;
                code.extend([
                    Instruction::Aload(0),         // Stack: object, spec, object
                    Instruction::Instanceof(text), // Stack: object, spec, 0 or 1
                    Instruction::Iadd,             // Stack: object, spec
                ]);
            }
        }
        if ids == ThreadIds::Final {
            let thread = self.pool.add_class("java/lang/Thread")?;
            let current = ("currentThread", "()Ljava/lang/Thread;");
            let current = self.pool.add_method_ref(thread, current.0, current.1)?;
            let id = self.pool.add_method_ref(thread, "threadId", "()J")?;
            code.extend([
                Instruction::Invokestatic(current),
                Instruction::Invokevirtual(id),
            ]);
        } else {
            code.push(Instruction::Lconst_0);
        }
        code.extend([Instruction::Invokestatic(target), Instruction::Return]);
        let mut body = Body::new(u16::from(slots) + 2, u16::from(slots), code);
        if ["enter", "begin", "proceed"].contains(&name) {
            self.fail_on_return(&mut body, slots - 1)?;
        }
        let flags = MethodAccessFlags::PUBLIC | MethodAccessFlags::STATIC;
        let descriptor = format!("({parameters})V");
        self.method(name, &descriptor, flags, Some(body))
    }

    /// A handler for the last instruction, at which an asynchronous exception may arrive (`Thread.stop`): the call has
    /// begun by then, but its own handler does not cover this instruction. The parameter `span` is the slot of the last
    /// parameter, the span.
    fn fail_on_return(&mut self, body: &mut Body, span: u8) -> Result<(), Box<dyn Error>> {
        let handler = u16::try_from(body.code.len())?;
        let fail = ("fail", "(Ljava/lang/Throwable;I)V");
        let fail = self.pool.add_method_ref(self.this_class, fail.0, fail.1)?;
        body.code.extend([
            Instruction::Dup,                // Stack: throwable, throwable
            Instruction::Iload(span),        // Stack: throwable, throwable, span
            Instruction::Invokestatic(fail), // Stack: throwable
            Instruction::Athrow,
        ]);
        body.handlers.push(ExceptionTableEntry {
            range_pc: handler - 1..handler,
            handler_pc: handler,
            catch_type: 0,
        });
        let throwable = self.pool.add_class("java/lang/Throwable")?;
        body.attributes.push(Attribute::StackMapTable {
            name_index: self.pool.add_utf8("StackMapTable")?,
            frames: vec![StackFrame::SameLocals1StackItemFrame {
                frame_type: 64 + u8::try_from(handler)?,
                stack: vec![VerificationType::Object {
                    cpool_index: throwable,
                }],
            }],
        });
        Ok(())
    }

    fn native(&mut self, name: &str, descriptor: &str) -> Result<(), Box<dyn Error>> {
        let flags = MethodAccessFlags::STATIC | MethodAccessFlags::NATIVE;
        self.method(name, descriptor, flags, None)
    }

    fn method(
        &mut self,
        name: &str,
        descriptor: &str,
        access_flags: MethodAccessFlags,
        body: Option<Body>,
    ) -> Result<(), Box<dyn Error>> {
        let mut attributes = Vec::new();
        if let Some(body) = body {
            attributes.push(Attribute::Code {
                name_index: self.pool.add_utf8("Code")?,
                max_stack: body.max_stack,
                max_locals: body.max_locals,
                code: body.code,
                exception_table: body.handlers,
                attributes: body.attributes,
            });
        }
        self.methods.push(Method {
            access_flags,
            name_index: self.pool.add_utf8(name)?,
            descriptor_index: self.pool.add_utf8(descriptor)?,
            attributes,
        });
        Ok(())
    }

    /// The class file, version 52, so that every JVM from 8 on reads it.
    fn bytes(mut self) -> Result<Vec<u8>, Box<dyn Error>> {
        let super_class = self.pool.add_class("java/lang/Object")?;
        let class = ClassFile {
            version: Version::Java8 { minor: 0 },
            constant_pool: self.pool,
            access_flags: ClassAccessFlags::PUBLIC
                | ClassAccessFlags::FINAL
                | ClassAccessFlags::SUPER
                | ClassAccessFlags::SYNTHETIC,
            this_class: self.this_class,
            super_class,
            interfaces: Vec::new(),
            fields: self.fields,
            methods: self.methods,
            attributes: Vec::new(),
            code_source_url: None,
        };
        class.verify()?;
        let mut bytes = Vec::new();
        class.to_bytes(&mut bytes)?;
        Ok(bytes)
    }
}
