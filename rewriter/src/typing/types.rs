//! Verification types.

use std::fmt;

use jvms::descriptor::{BaseType, FieldType};
use jvms::modified_utf8::Utf8;
use jvms::opcode;

/// A class or array type. Equality ignores `index`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Class<'t> {
    /// Internal name of the class, or of an array's element class; a letter for
    /// a primitive element.
    pub(crate) name: &'t [u8],
    pub(crate) dimensions: u8,
    pub(crate) primitive: bool,
    /// Its index in the original pool; 0 if unknown.
    pub(crate) index: u16,
}

impl PartialEq for Class<'_> {
    fn eq(&self, other: &Self) -> bool {
        let same = |class: &Self| (class.dimensions, class.primitive);
        same(self) == same(other) && self.name == other.name
    }
}

impl Eq for Class<'_> {}

impl<'t> Class<'t> {
    pub(crate) const OBJECT: Class<'static> = Class::plain(b"java/lang/Object");
    pub(crate) const THROWABLE: Class<'static> = Class::plain(b"java/lang/Throwable");

    pub(crate) const fn plain(name: &'t [u8]) -> Self {
        Class {
            name,
            dimensions: 0,
            primitive: false,
            index: 0,
        }
    }

    /// Creates the array type of `newarray` with this operand.
    pub(crate) fn of_primitives(operand: i32) -> Class<'static> {
        let base = u8::try_from(operand).ok().and_then(BaseType::of_array);
        Class {
            name: base.unwrap_or(BaseType::Long).descriptor(),
            dimensions: 1,
            primitive: true,
            index: 0,
        }
    }

    /// Creates the type with this index of the original pool.
    pub(crate) fn indexed(name: &'t [u8], index: u16) -> Self {
        Class {
            index,
            ..Class::named(name)
        }
    }

    /// Creates the type from an internal name or array descriptor, as in `CONSTANT_Class`.
    pub(crate) fn named(name: &'t [u8]) -> Self {
        let dimensions = name.iter().take_while(|byte| **byte == b'[').count();
        if dimensions == 0 {
            return Class::plain(name);
        }
        let element = name.get(dimensions..).unwrap_or_default();
        let (name, primitive) = match element {
            [b'L', class @ .., b';'] => (class, false),
            _ => (element, true),
        };
        Class {
            name,
            dimensions: u8::try_from(dimensions).unwrap_or(u8::MAX),
            primitive,
            index: 0,
        }
    }

    pub(crate) fn is_array(&self) -> bool {
        self.dimensions > 0
    }

    /// Returns the array of this type; `None` beyond 255 dimensions.
    pub(crate) fn array(self) -> Option<Self> {
        let dimensions = self.dimensions.checked_add(1)?;
        Some(self.with(dimensions))
    }

    fn with(self, dimensions: u8) -> Self {
        Class {
            dimensions,
            index: 0,
            ..self
        }
    }

    /// Returns the element type of an array; `None` for a class.
    pub(crate) fn element(self) -> Option<Type<'t>> {
        let dimensions = self.dimensions.checked_sub(1)?;
        if dimensions > 0 || !self.primitive {
            return Some(Type::Object(self.with(dimensions)));
        }
        Some(match self.name {
            b"J" => Type::Long,
            b"F" => Type::Float,
            b"D" => Type::Double,
            _ => Type::Int,
        })
    }

    /// Appends the name as in `CONSTANT_Class`.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend(std::iter::repeat_n(b'[', usize::from(self.dimensions)));
        if self.is_array() && !self.primitive {
            out.push(b'L');
            out.extend_from_slice(self.name);
            out.push(b';');
        } else {
            out.extend_from_slice(self.name);
        }
    }
}

/// The origin of an uninitialized object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The `new` at this bci of the original code.
    Method(u32),
    /// This operation of the snippet.
    Snippet(u32),
    /// The `new` at this position of the new code.
    Position(u32),
}

/// One verification type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type<'t> {
    Top,
    Int,
    Float,
    Long,
    Double,
    Null,
    UninitializedThis,
    Uninitialized(Origin),
    Object(Class<'t>),
}

impl<'t> Type<'t> {
    /// Returns the type of a value with this descriptor.
    pub(crate) fn of(found: FieldType<'t>) -> Self {
        match found {
            FieldType::Base(BaseType::Float) => Type::Float,
            FieldType::Base(BaseType::Long) => Type::Long,
            FieldType::Base(BaseType::Double) => Type::Double,
            FieldType::Base(_) => Type::Int,
            FieldType::Class(name) => Type::Object(Class::plain(name)),
            FieldType::Array(descriptor) => Type::Object(Class::named(descriptor)),
        }
    }

    /// Returns the object type of this internal name.
    pub(crate) fn object(name: &'t [u8]) -> Self {
        Type::Object(Class::named(name))
    }

    /// Returns the instruction that loads such a value from a local variable.
    pub(crate) fn load_opcode(&self) -> u8 {
        match self {
            Type::Int => opcode::ILOAD,
            Type::Long => opcode::LLOAD,
            Type::Float => opcode::FLOAD,
            Type::Double => opcode::DLOAD,
            _ => opcode::ALOAD,
        }
    }

    /// Returns the instruction that stores such a value to a local variable.
    pub(crate) fn store_opcode(&self) -> u8 {
        const DISTANCE: u8 = opcode::ISTORE - opcode::ILOAD;
        self.load_opcode() + DISTANCE
    }

    pub(crate) fn slots(&self) -> u32 {
        if matches!(self, Type::Long | Type::Double) {
            2
        } else {
            1
        }
    }

    /// Checks for a type that `astore` accepts.
    pub(crate) fn is_reference(&self) -> bool {
        matches!(
            self,
            Type::Null | Type::UninitializedThis | Type::Uninitialized(_) | Type::Object(_)
        )
    }

    pub(crate) fn is_uninitialized(&self) -> bool {
        matches!(self, Type::UninitializedThis | Type::Uninitialized(_))
    }
}

impl fmt::Display for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Top => f.write_str("no usable value"),
            Type::Int => f.write_str("int"),
            Type::Float => f.write_str("float"),
            Type::Long => f.write_str("long"),
            Type::Double => f.write_str("double"),
            Type::Null => f.write_str("null"),
            Type::UninitializedThis => f.write_str("this before super()"),
            Type::Uninitialized(_) => f.write_str("an object before its constructor"),
            Type::Object(class) => {
                let mut name = Vec::new();
                class.write(&mut name);
                f.write_str(&Utf8::new(&name).to_str_lossless())
            }
        }
    }
}
