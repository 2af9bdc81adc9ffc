//! Descriptors of fields and methods (JVMS 4.3).
//!
//! ```text
//! FieldType:        BaseType | L ClassName ; | [ FieldType
//! MethodDescriptor: ( FieldType* ) FieldType | ( FieldType* ) V
//! ```
//!
//! `parse` accepts any class name, as a JVM does for classes that it loads without verification.
//! `checked` accepts only class names of JVMS 4.2.1, as a JVM that verifies does.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use crate::modified_utf8::Utf8;
use crate::names::{internal_ends, is_internal};
use crate::opcode::{
    ALOAD, ARETURN, ASTORE, DLOAD, DRETURN, DSTORE, FLOAD, FRETURN, FSTORE, ILOAD, IRETURN, ISTORE,
    LLOAD, LRETURN, LSTORE,
};

/// Maximum number of dimensions of an array type (JVMS 4.3.2).
pub const MAX_DIMENSIONS: usize = 255;
/// Maximum number of local variable slots of a method's arguments, `this` included (JVMS 4.3.3).
pub const MAX_ARGUMENT_SLOTS: u32 = 255;

/// A primitive type (JVMS table 4.3-A).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BaseType {
    /// `Z`.
    Boolean,
    /// `B`.
    Byte,
    /// `C`.
    Char,
    /// `S`.
    Short,
    /// `I`.
    Int,
    /// `J`.
    Long,
    /// `F`.
    Float,
    /// `D`.
    Double,
}

impl BaseType {
    /// Returns the type for a letter of table 4.3-A.
    #[must_use]
    #[inline]
    pub const fn of(letter: u8) -> Option<Self> {
        Some(match letter {
            b'Z' => Self::Boolean,
            b'B' => Self::Byte,
            b'C' => Self::Char,
            b'S' => Self::Short,
            b'I' => Self::Int,
            b'J' => Self::Long,
            b'F' => Self::Float,
            b'D' => Self::Double,
            _ => return None,
        })
    }

    /// Returns the element type for an operand of `newarray` (JVMS table 6.5.newarray-A).
    #[must_use]
    pub const fn of_array(operand: u8) -> Option<Self> {
        Some(match operand {
            4 => Self::Boolean,
            5 => Self::Char,
            6 => Self::Float,
            7 => Self::Double,
            8 => Self::Byte,
            9 => Self::Short,
            10 => Self::Int,
            11 => Self::Long,
            _ => return None,
        })
    }

    /// Returns the internal name of the class whose objects hold values of the type.
    #[must_use]
    pub const fn wrapper(self) -> &'static str {
        match self {
            Self::Boolean => "java/lang/Boolean",
            Self::Byte => "java/lang/Byte",
            Self::Char => "java/lang/Character",
            Self::Short => "java/lang/Short",
            Self::Int => "java/lang/Integer",
            Self::Long => "java/lang/Long",
            Self::Float => "java/lang/Float",
            Self::Double => "java/lang/Double",
        }
    }

    /// Returns the letter of the type in descriptors.
    #[must_use]
    pub const fn letter(self) -> u8 {
        let [letter] = *self.descriptor();
        letter
    }

    /// Returns the field descriptor of the type.
    #[must_use]
    pub const fn descriptor(self) -> &'static [u8; 1] {
        match self {
            Self::Boolean => b"Z",
            Self::Byte => b"B",
            Self::Char => b"C",
            Self::Short => b"S",
            Self::Int => b"I",
            Self::Long => b"J",
            Self::Float => b"F",
            Self::Double => b"D",
        }
    }

    /// Returns the keyword of the type in Java.
    #[must_use]
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Byte => "byte",
            Self::Char => "char",
            Self::Short => "short",
            Self::Int => "int",
            Self::Long => "long",
            Self::Float => "float",
            Self::Double => "double",
        }
    }

    /// Checks whether the type is an `int` on the operand stack (JVMS table 2.11.1-B).
    #[must_use]
    pub const fn is_int(self) -> bool {
        !matches!(self, Self::Long | Self::Float | Self::Double)
    }
}

/// The type of a field, parameter or variable (JVMS 4.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldType<'d> {
    /// A primitive type.
    Base(BaseType),
    /// A class by its name in internal form, `java/lang/String`.
    Class(&'d [u8]),
    /// An array by its whole descriptor, `[[I`.
    Array(&'d [u8]),
}

impl FieldType<'_> {
    /// Chooses from a family of instructions: that for `int`, `long`, `float`, `double`, or a reference.
    const fn of_family(self, [int, long, float, double, reference]: [u8; 5]) -> u8 {
        match self {
            Self::Base(BaseType::Long) => long,
            Self::Base(BaseType::Float) => float,
            Self::Base(BaseType::Double) => double,
            Self::Base(_) => int,
            Self::Class(_) | Self::Array(_) => reference,
        }
    }

    /// Returns the instruction that loads a value of the type from a local variable.
    #[must_use]
    pub const fn load_opcode(self) -> u8 {
        self.of_family([ILOAD, LLOAD, FLOAD, DLOAD, ALOAD])
    }

    /// Returns the instruction that stores a value of the type to a local variable.
    #[must_use]
    pub const fn store_opcode(self) -> u8 {
        self.of_family([ISTORE, LSTORE, FSTORE, DSTORE, ASTORE])
    }

    /// Returns the instruction that returns a value of the type.
    #[must_use]
    pub const fn return_opcode(self) -> u8 {
        self.of_family([IRETURN, LRETURN, FRETURN, DRETURN, ARETURN])
    }
}

impl<'d> FieldType<'d> {
    /// Parses a field descriptor; class names are not checked.
    ///
    /// # Errors
    /// The bytes are not a field descriptor.
    pub fn parse(descriptor: &'d [u8]) -> Result<Self, DescriptorError> {
        let mut reader = Reader::at(descriptor, 0);
        let found = reader.field_type()?;
        reader.end()?;
        Ok(found)
    }

    /// Parses a field descriptor and checks its class name (JVMS 4.2.1, 4.3.2).
    ///
    /// # Errors
    /// The bytes are not a field descriptor, or the class name is invalid.
    pub fn checked(descriptor: &'d [u8]) -> Result<Self, DescriptorError> {
        let found = Self::parse(descriptor)?;
        found.expect_name(descriptor, 0)?;
        Ok(found)
    }

    /// Checks the class name of this type, which begins at `offset` of `descriptor`.
    fn expect_name(self, descriptor: &[u8], offset: usize) -> Result<(), DescriptorError> {
        let Some(end) = self.class_name().and_then(internal_ends) else {
            return Ok(());
        };
        let offset = [offset, self.element().0, 1, end]
            .into_iter()
            .fold(0, usize::saturating_add);
        Err(DescriptorError {
            offset,
            expected: "a class's name in internal form, a/B,",
            found: descriptor.get(offset).copied(),
        })
    }

    /// Returns the slots of a value in local variables and on the operand stack: 1 or 2 (JVMS 2.6.1, 2.6.2).
    #[must_use]
    #[inline]
    pub const fn slots(self) -> u16 {
        match self {
            Self::Base(BaseType::Long | BaseType::Double) => 2,
            _ => 1,
        }
    }

    /// Checks whether a value of this type is a reference.
    #[must_use]
    pub const fn is_reference(self) -> bool {
        !matches!(self, Self::Base(_))
    }

    /// Returns the number of array dimensions and the element type; 0 and the type itself if it is no array.
    #[must_use]
    pub fn element(self) -> (usize, Self) {
        let Self::Array(descriptor) = self else {
            return (0, self);
        };
        let dimensions = dimensions(descriptor);
        let element = descriptor.get(dimensions..).unwrap_or_default();
        (dimensions, Self::parse(element).unwrap_or(self))
    }

    /// Returns the name in a `CONSTANT_Class`: a class's internal name, or an array's descriptor.
    #[must_use]
    pub fn class_name(self) -> Option<&'d [u8]> {
        match self.element() {
            (_, Self::Class(name)) => Some(name),
            _ => None,
        }
    }

    /// Formats the type as in Java source, such as `int[][]`; `class` formats the internal name of a class.
    #[must_use]
    pub fn to_java(self, class: impl FnOnce(&str) -> String) -> String {
        let (dimensions, element) = self.element();
        let name = match element {
            Self::Base(base) => Cow::Borrowed(base.keyword()),
            Self::Class(name) | Self::Array(name) => {
                Cow::Owned(class(&Utf8::new(name).to_str_lossless()))
            }
        };
        format!("{name}{}", "[]".repeat(dimensions))
    }
}

/// The parameter and return types of a method (JVMS 4.3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MethodDescriptor<'d> {
    descriptor: &'d [u8],
    return_type: Option<FieldType<'d>>,
}

impl<'d> MethodDescriptor<'d> {
    /// Parses a method descriptor; class names are not checked.
    ///
    /// # Errors
    /// The bytes are not a method descriptor.
    pub fn parse(descriptor: &'d [u8]) -> Result<Self, DescriptorError> {
        let mut reader = Reader::at(descriptor, 0);
        reader.letter(b'(', "(")?;
        while reader.rest.first() != Some(&b')') {
            reader.expected = "a parameter's type or )";
            reader.field_type()?;
        }
        reader.letter(b')', ")")?;
        reader.expected = "the type returned or V";
        let return_type = match reader.rest {
            [b'V', ..] => reader.letter(b'V', "V").map(|()| None)?,
            _ => Some(reader.field_type()?),
        };
        reader.end()?;
        Ok(Self {
            descriptor,
            return_type,
        })
    }

    /// Parses a method descriptor and checks its class names (JVMS 4.2.1, 4.3.3).
    ///
    /// # Errors
    /// The bytes are not a method descriptor, or a class name is invalid.
    pub fn checked(descriptor: &'d [u8]) -> Result<Self, DescriptorError> {
        let found = Self::parse(descriptor)?;
        let mut parameters = found.parameters();
        let mut offset = parameters.offset();
        while let Some(parameter) = parameters.next() {
            parameter.expect_name(descriptor, offset)?;
            offset = parameters.offset();
        }
        if let Some(returned) = found.return_type {
            returned.expect_name(descriptor, offset.saturating_add(1))?;
        }
        Ok(found)
    }

    /// Returns the parameter types, in order.
    #[must_use]
    pub fn parameters(&self) -> Parameters<'d> {
        Parameters::of(self.descriptor)
    }

    /// Returns the return type; `None` for `void`.
    #[must_use]
    pub fn return_type(&self) -> Option<FieldType<'d>> {
        self.return_type
    }

    /// Returns the local variable slots of the parameters, without `this`.
    #[must_use]
    pub fn parameter_slots(&self) -> u32 {
        self.parameters().slots()
    }

    /// Returns the local variable slots of the arguments: the parameters, and `this` if there is a receiver.
    #[must_use]
    pub fn argument_slots(&self, receiver: bool) -> u32 {
        self.parameter_slots().saturating_add(u32::from(receiver))
    }
}

/// Checks whether a `CONSTANT_Class` may hold this name: an internal class name or an array descriptor (JVMS 4.4.1).
#[must_use]
pub fn is_class_or_array(name: &[u8]) -> bool {
    match name.first() {
        Some(b'[') => FieldType::checked(name).is_ok(),
        _ => is_internal(name),
    }
}

/// Iterates over the parameter types of a method descriptor; ends at the first malformed one.
#[derive(Debug, Clone)]
pub struct Parameters<'d>(Reader<'d>);

impl<'d> Parameters<'d> {
    /// Iterates over the parameters of an unchecked `descriptor`.
    #[must_use]
    #[inline]
    pub fn of(descriptor: &'d [u8]) -> Self {
        match descriptor {
            [b'(', ..] => Parameters(Reader::at(descriptor, 1)),
            _ => Parameters(Reader::at(&[], 0)),
        }
    }

    /// Returns the offset of the next parameter type in the descriptor.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// Returns the local variable slots of the remaining parameters.
    #[must_use]
    pub fn slots(self) -> u32 {
        self.map(|found| u32::from(found.slots()))
            .fold(0, u32::saturating_add)
    }
}

impl<'d> Iterator for Parameters<'d> {
    type Item = FieldType<'d>;

    #[inline]
    fn next(&mut self) -> Option<FieldType<'d>> {
        self.0.field_type().ok()
    }
}

/// A malformed descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescriptorError {
    /// Offset of the fault in the descriptor.
    pub offset: usize,
    /// The syntax expected at this offset.
    pub expected: &'static str,
    /// The byte at this offset; `None` at the end.
    pub found: Option<u8>,
}

impl fmt::Display for DescriptorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DescriptorError {
            offset, expected, ..
        } = self;
        write!(f, "expected {expected} at {offset}, found ")?;
        match self.found {
            Some(byte) => write!(f, "{}", byte.escape_ascii()),
            None => f.write_str("the end"),
        }
    }
}

impl Error for DescriptorError {}

/// Reads a descriptor from front to back.
#[derive(Debug, Clone)]
struct Reader<'d> {
    rest: &'d [u8],
    /// Offset of `rest` in the descriptor.
    offset: usize,
    /// The expectation in an error at `offset`.
    expected: &'static str,
}

impl<'d> Reader<'d> {
    #[inline]
    fn at(descriptor: &'d [u8], offset: usize) -> Self {
        Reader {
            rest: descriptor.get(offset..).unwrap_or_default(),
            offset,
            expected: "a type",
        }
    }

    #[cold]
    fn error(&self, ahead: usize, expected: &'static str) -> DescriptorError {
        DescriptorError {
            offset: self.offset.saturating_add(ahead),
            expected,
            found: self.rest.get(ahead).copied(),
        }
    }

    /// Consumes the next `length` bytes.
    #[inline]
    fn take(&mut self, length: usize) -> Result<&'d [u8], DescriptorError> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return Err(self.error(self.rest.len(), self.expected));
        };
        self.rest = rest;
        self.offset = self.offset.saturating_add(length);
        Ok(taken)
    }

    fn letter(&mut self, letter: u8, expected: &'static str) -> Result<(), DescriptorError> {
        if self.rest.first() != Some(&letter) {
            return Err(self.error(0, expected));
        }
        self.take(1).map(drop)
    }

    fn end(&self) -> Result<(), DescriptorError> {
        match self.rest {
            [] => Ok(()),
            _ => Err(self.error(0, "the end")),
        }
    }

    #[inline]
    fn field_type(&mut self) -> Result<FieldType<'d>, DescriptorError> {
        match self.rest {
            [b'L', ..] => {
                let length = self.class_length(0)?;
                match self.take(length)? {
                    [b'L', name @ .., b';'] => Ok(FieldType::Class(name)),
                    _ => Err(self.error(0, self.expected)),
                }
            }
            [b'[', ..] => {
                let length = self.array_length()?;
                self.take(length).map(FieldType::Array)
            }
            [letter, ..] => {
                let base = BaseType::of(*letter).ok_or_else(|| self.error(0, self.expected))?;
                self.take(1)?;
                Ok(FieldType::Base(base))
            }
            [] => Err(self.error(0, self.expected)),
        }
    }

    /// Returns the length of the class type at `ahead`, from `L` to `;`.
    #[inline]
    fn class_length(&self, ahead: usize) -> Result<usize, DescriptorError> {
        let found = self.rest.get(ahead..).unwrap_or_default();
        found
            .iter()
            .position(|byte| *byte == b';')
            .map(|end| end.saturating_add(1))
            .ok_or_else(|| self.error(self.rest.len(), ";"))
    }

    fn array_length(&self) -> Result<usize, DescriptorError> {
        let dimensions = dimensions(self.rest);
        if dimensions > MAX_DIMENSIONS {
            return Err(self.error(MAX_DIMENSIONS, "at most 255 dimensions"));
        }
        let element = match self.rest.get(dimensions) {
            Some(b'L') => self.class_length(dimensions)?,
            Some(letter) if BaseType::of(*letter).is_some() => 1,
            _ => return Err(self.error(dimensions, "the type of an array's elements")),
        };
        Ok(dimensions.saturating_add(element))
    }
}

fn dimensions(descriptor: &[u8]) -> usize {
    let brackets = descriptor.iter().take_while(|byte| **byte == b'[');
    brackets.count()
}

/// Returns the return type of a method descriptor without parsing its parameters; absent for `void`.
#[must_use]
pub fn return_type(descriptor: &[u8]) -> Option<FieldType<'_>> {
    let parameters = descriptor.iter().rposition(|byte| *byte == b')')?;
    let (_, [_, result @ ..]) = descriptor.split_at_checked(parameters)? else {
        return None;
    };
    FieldType::parse(result).ok()
}

#[cfg(test)]
mod tests;
