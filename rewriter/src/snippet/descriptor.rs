//! Descriptors (JVMS 4.3).

/// A type as a descriptor names it. Names of classes are without `L` and `;`;
/// arrays are whole descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind<'d> {
    /// `boolean`, `byte`, `char`, `short` and `int`, by their letter.
    Int(u8),
    Float,
    Long,
    Double,
    Class(&'d [u8]),
    Array(&'d [u8]),
    Void,
}

impl Kind<'_> {
    /// Slots of local variables or of the operand stack.
    pub(crate) fn slots(&self) -> u32 {
        match self {
            Kind::Void => 0,
            Kind::Long | Kind::Double => 2,
            _ => 1,
        }
    }
}

/// The type at the front of `descriptor`, and what follows it.
pub(crate) fn first(descriptor: &[u8]) -> Option<(Kind<'_>, &[u8])> {
    let (letter, rest) = descriptor.split_first()?;
    Some(match letter {
        b'B' | b'C' | b'S' | b'Z' | b'I' => (Kind::Int(*letter), rest),
        b'F' => (Kind::Float, rest),
        b'J' => (Kind::Long, rest),
        b'D' => (Kind::Double, rest),
        b'V' => (Kind::Void, rest),
        b'L' => {
            let end = rest.iter().position(|byte| *byte == b';')?;
            let (name, rest) = rest.split_at_checked(end)?;
            (Kind::Class(name), rest.get(1..)?)
        }
        b'[' => {
            let dimensions = descriptor
                .iter()
                .position(|byte| *byte != b'[')
                .filter(|dimensions| *dimensions <= 255)?;
            let (element, rest) = first_element(descriptor.get(dimensions..)?)?;
            let length = dimensions.wrapping_add(element);
            (Kind::Array(descriptor.get(..length)?), rest)
        }
        _ => return None,
    })
}

/// The type that a whole field descriptor names.
pub(crate) fn field_kind(descriptor: &[u8]) -> Option<Kind<'_>> {
    match first(descriptor)? {
        (Kind::Void, _) => None,
        (kind, []) => Some(kind),
        _ => None,
    }
}

/// The type at the front of `descriptor`.
pub(crate) fn first_kind(descriptor: &[u8]) -> Option<Kind<'_>> {
    first(descriptor).map(|(kind, _)| kind)
}

/// Length of an array's element type, and what follows it.
fn first_element(descriptor: &[u8]) -> Option<(usize, &[u8])> {
    match descriptor.first()? {
        b'[' | b'V' => None,
        _ => {
            let (_, rest) = first(descriptor)?;
            Some((descriptor.len().wrapping_sub(rest.len()), rest))
        }
    }
}

/// The parameters of a method descriptor, as far as it is one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameters<'d>(&'d [u8]);

impl<'d> Parameters<'d> {
    pub(crate) fn of(descriptor: &'d [u8]) -> Self {
        Parameters(descriptor.get(1..).unwrap_or_default())
    }
}

impl<'d> Iterator for Parameters<'d> {
    type Item = Kind<'d>;

    fn next(&mut self) -> Option<Kind<'d>> {
        match first(self.0)? {
            (Kind::Void, _) => None,
            (kind, rest) => {
                self.0 = rest;
                Some(kind)
            }
        }
    }
}

/// Slots of all parameters.
pub(crate) fn parameter_slots(descriptor: &[u8]) -> u32 {
    Parameters::of(descriptor)
        .map(|kind| kind.slots())
        .fold(0, u32::wrapping_add)
}

/// What a method returns; none when `descriptor` is no method descriptor.
pub(crate) fn return_type(descriptor: &[u8]) -> Option<Kind<'_>> {
    let end = descriptor.iter().rposition(|byte| *byte == b')')?;
    match first(descriptor.get(end.wrapping_add(1)..)?)? {
        (kind, []) => Some(kind),
        _ => None,
    }
}

/// True for a whole method descriptor.
pub(crate) fn is_method(descriptor: &[u8]) -> bool {
    let Some((b'(', mut rest)) = descriptor.split_first() else {
        return false;
    };
    while rest.first() != Some(&b')') {
        match first(rest) {
            Some((kind, after)) if kind != Kind::Void => rest = after,
            _ => return false,
        }
    }
    matches!(first(rest.get(1..).unwrap_or_default()), Some((_, [])))
}

/// True for a whole field descriptor.
pub(crate) fn is_field(descriptor: &[u8]) -> bool {
    matches!(first(descriptor), Some((kind, [])) if kind != Kind::Void)
}
