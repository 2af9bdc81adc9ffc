//! A class file as plain values, the input of the analysis.
//!
//! Readers of class files fill these structures; this crate contains none. Texts and slices may borrow from the class
//! file or from another place. Names are internal names and descriptors (JVMS 4.2, 4.3), bcis are indices into the
//! `code` array (JVMS 4.7.3).

use jvms::access_flags::ACC_MODULE;

/// One class file (JVMS 4.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClassDescription<'a> {
    /// CRC-64 of the class file: JaCoCo's class id.
    pub id: u64,
    /// Internal name, e.g. `java/util/List`.
    pub name: &'a str,
    /// Internal name of the super class; `None` for `java/lang/Object` and modules.
    pub super_name: Option<&'a str>,
    /// Internal names of the direct super interfaces.
    pub interfaces: &'a [&'a str],
    /// `access_flags` (JVMS table 4.1-B); a `Synthetic` attribute (JVMS 4.7.8) also sets ACC_SYNTHETIC.
    pub access_flags: u16,
    /// `major_version`.
    pub major_version: u16,
    /// The `Signature` attribute (JVMS 4.7.9).
    pub signature: Option<&'a str>,
    /// The `SourceFile` attribute (JVMS 4.7.10).
    pub source_file: Option<&'a str>,
    /// The `SourceDebugExtension` attribute (JVMS 4.7.11).
    pub source_debug_extension: Option<&'a str>,
    /// Descriptors of the annotations of the class, visible at run time or not.
    pub annotations: &'a [&'a str],
    /// Names of the attributes of the class.
    pub attributes: &'a [&'a str],
    /// The methods, in class file order.
    pub methods: &'a [MethodDescription<'a>],
}

impl ClassDescription<'_> {
    /// Checks for the annotation of the Kotlin compiler.
    pub(crate) fn is_kotlin(&self) -> bool {
        let mut annotations = self.annotations.iter();
        annotations.any(|annotation| *annotation == "Lkotlin/Metadata;")
    }

    /// Checks whether this is a `module-info` or `package-info`, which reports leave out.
    #[must_use]
    pub fn is_module_or_package(&self) -> bool {
        self.access_flags & ACC_MODULE != 0 || self.name.ends_with("/package-info")
    }
}

/// One `method_info` (JVMS 4.6).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MethodDescription<'a> {
    /// Unqualified name, e.g. `<init>`.
    pub name: &'a str,
    /// Method descriptor (JVMS 4.3.3).
    pub descriptor: &'a str,
    /// The `Signature` attribute (JVMS 4.7.9).
    pub signature: Option<&'a str>,
    /// `access_flags` (JVMS table 4.6-A); a `Synthetic` attribute (JVMS 4.7.8) also sets ACC_SYNTHETIC.
    pub access_flags: u16,
    /// Descriptors of the annotations of the method, visible at run time or not.
    pub annotations: &'a [&'a str],
    /// Descriptors of the annotations that are invisible at run time (JVMS 4.7.17).
    pub invisible_annotations: &'a [&'a str],
    /// The `Code` attribute; `None` for abstract and native methods.
    pub code: Option<CodeDescription<'a>>,
}

/// A `Code` attribute (JVMS 4.7.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CodeDescription<'a> {
    /// The instructions, ordered by bci.
    pub instructions: &'a [Instruction<'a>],
    /// The exception table, in order.
    pub handlers: &'a [Handler<'a>],
    /// All `LineNumberTable` entries (JVMS 4.7.12), in order.
    pub lines: &'a [Line],
    /// The ranges of the `LocalVariableTable` (JVMS 4.7.13), in order.
    pub local_variables: &'a [VariableRange],
    /// The bcis of the frames of the `StackMapTable` (JVMS 4.7.4).
    pub frames: &'a [u16],
}

/// An entry of the exception table (JVMS 4.7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler<'a> {
    /// First bci of the range.
    pub start: u16,
    /// First bci after the range.
    pub end: u16,
    /// First bci of the handler.
    pub target: u16,
    /// Internal name of the caught class; `None` catches all.
    pub catch_type: Option<&'a str>,
}

/// An entry of a `LineNumberTable` (JVMS 4.7.12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// First bci of the line.
    pub bci: u16,
    /// Line number in the source file.
    pub number: u16,
}

/// The range of an entry of a `LocalVariableTable` (JVMS 4.7.13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VariableRange {
    /// First bci at which the variable has a value.
    pub start: u16,
    /// Length of the range in bytes of code.
    pub length: u16,
}

/// One instruction (JVMS 6.5).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instruction<'a> {
    /// Index of the instruction in the code array.
    pub bci: u16,
    /// Opcode; that of the inner instruction for a `wide`.
    pub opcode: u8,
    /// The operand after the opcode.
    pub operand: Operand<'a>,
}

impl Eq for Instruction<'_> {}

/// The operand of an [`Instruction`], with constant pool entries resolved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operand<'a> {
    /// No operand, or one that the opcode implies, except a local variable.
    None,
    /// `bipush`, `sipush`, `newarray`.
    Int(i32),
    /// A local variable, also of short forms such as `aload_0`.
    Local(u16),
    /// `iinc`.
    Iinc {
        /// Index of the local variable.
        local: u16,
        /// The increment.
        delta: i16,
    },
    /// The bci of a jump's target.
    Target(u16),
    /// `tableswitch` and `lookupswitch`.
    Switch {
        /// Bci of the default target.
        default: u16,
        /// Key and target bci of each case, ordered by key, including the defaults that fill a `tableswitch`.
        cases: &'a [(i32, u16)],
    },
    /// A field or method; instructions share one value for each constant pool entry.
    Member(&'a MemberRef<'a>),
    /// `invokedynamic`.
    Dynamic(&'a Dynamic<'a>),
    /// The internal name or array descriptor of `new`, `anewarray`, `checkcast`, `instanceof`, `multianewarray`.
    Type(&'a str),
    /// `ldc`, `ldc_w`, `ldc2_w`.
    Constant(Constant<'a>),
}

/// A field or method reference (JVMS 4.4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemberRef<'a> {
    /// Internal name of the class, or an array descriptor.
    pub owner: &'a str,
    /// Name of the member.
    pub name: &'a str,
    /// Its descriptor.
    pub descriptor: &'a str,
    /// `true` for an `InterfaceMethodref`.
    pub interface: bool,
}

/// A dynamically computed call site or constant (JVMS 4.4.10).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dynamic<'a> {
    /// Name of the call site or constant.
    pub name: &'a str,
    /// Its descriptor.
    pub descriptor: &'a str,
    /// The bootstrap method.
    pub bootstrap: MemberRef<'a>,
    /// The static arguments of the bootstrap method.
    pub arguments: &'a [Constant<'a>],
}

/// A loadable constant (JVMS table 4.4-C).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Constant<'a> {
    /// `CONSTANT_Integer`.
    Int(i32),
    /// `CONSTANT_Long`.
    Long(i64),
    /// `CONSTANT_Float`.
    Float(f32),
    /// `CONSTANT_Double`.
    Double(f64),
    /// `CONSTANT_String`.
    String(&'a str),
    /// `CONSTANT_Class`: an internal name or array descriptor.
    Class(&'a str),
    /// `CONSTANT_MethodType`: a method descriptor.
    MethodType(&'a str),
    /// `CONSTANT_MethodHandle`.
    MethodHandle {
        /// `reference_kind` (JVMS table 5.4.3.5-A).
        kind: u8,
        /// The field or method.
        member: &'a MemberRef<'a>,
    },
    /// `CONSTANT_Dynamic`.
    Dynamic(&'a Dynamic<'a>),
}
