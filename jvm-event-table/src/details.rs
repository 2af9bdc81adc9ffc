//! Events with their fields, and the numbers in which they reach a plugin.

/// The meaning of a value that is an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    /// The id of a method, or 0.
    Method,
    /// The id of a text, or 0.
    Text,
}

/// A field of an event, as one of its values.
trait Field: Sized {
    fn of(value: u64) -> Self;
    fn value(self) -> u64;
}

impl Field for u64 {
    fn of(value: u64) -> Self {
        value
    }
    fn value(self) -> u64 {
        self
    }
}

impl Field for u32 {
    fn of(value: u64) -> Self {
        value as u32 // values of this field have 32 bits
    }
    fn value(self) -> u64 {
        u64::from(self)
    }
}

impl Field for u16 {
    fn of(value: u64) -> Self {
        value as u16 // values of this field have 16 bits
    }
    fn value(self) -> u64 {
        u64::from(self)
    }
}

impl Field for bool {
    fn of(value: u64) -> Self {
        value == 1
    }
    fn value(self) -> u64 {
        u64::from(self)
    }
}

macro_rules! details {
    (
        kinds { $(
            #[$kind_doc:meta]
            $kind:ident $function:ident {
                text: $text:literal,
                details: $details:literal,
                events: $events:tt, optional: $optional:tt,
                capabilities: $capabilities:tt,
                filter: $filter:tt,
                types: { $($types:tt)* }
            }
        )+ }
        recordings $recordings:tt
        answers { $($answers:tt)* }
    ) => {
        types! { $($($types)*)+ $($answers)* }
    };
}

macro_rules! types {
    ($(
        $(#[$doc:meta])+
        $number:literal $name:ident $({ $( $(#[$field_doc:meta])+ $field:ident: $type:ty = $at:literal ),+ })?
        [$($id:ident $id_at:literal),*];
    )+) => {
        /// An event with its fields.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum EventDetails {
            $(
                $(#[$doc])+
                $name $({ $( $(#[$field_doc])+ $field: $type ),+ })?,
            )+
            /// A type of event that this version does not know, by its number.
            Other(u16),
        }

        impl EventDetails {
            /// Reads the fields of an event from its number and its two values.
            #[must_use]
            pub fn new(number: u16, values: [u64; 2]) -> Self {
                match number {
                    $( $number => Self::$name $({ $( $field: Field::of(values[$at]) ),+ })?, )+
                    other => Self::Other(other),
                }
            }

            /// The number of the type, as plugins get it.
            #[must_use]
            pub fn number(self) -> u16 {
                match self {
                    $( Self::$name { .. } => $number, )+
                    Self::Other(number) => number,
                }
            }

            /// The two values, as plugins get them, with 0 in place of ids.
            #[must_use]
            pub fn values(self) -> [u64; 2] {
                match self {
                    $( Self::$name $({ $($field),+ })? => {
                        let values: &[(usize, u64)] = &[$( $( ($at, Field::value($field)) ),+ )?];
                        at_places(values)
                    } )+
                    Self::Other(_) => [0; 2],
                }
            }

            /// The values that are ids. Only the first value is ever that of a method.
            #[must_use]
            pub fn ids(self) -> [Option<Id>; 2] {
                match self {
                    $( Self::$name { .. } => {
                        let ids: &[(usize, Id)] = &[$( ($id_at, Id::$id) ),*];
                        let at = |place| ids.iter().find(|(at, _)| *at == place).map(|(_, id)| *id);
                        [at(0), at(1)]
                    } )+
                    Self::Other(_) => [None; 2],
                }
            }
        }

        #[cfg(test)]
        const NUMBERS: &[u16] = &[$($number),+];
    };
}

impl EventDetails {
    /// Checks whether the first value is the id of a method.
    #[must_use]
    pub fn has_method(self) -> bool {
        self.ids()[0] == Some(Id::Method)
    }
}

fn at_places(given: &[(usize, u64)]) -> [u64; 2] {
    let mut values = [0; 2];
    for (at, value) in given {
        values[*at] = *value;
    }
    values
}

crate::jvm_event_table!(details);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_is_found_by_its_number() {
        for number in NUMBERS {
            let details = EventDetails::new(*number, [1, 1]);
            assert_eq!(details.number(), *number);
            let of_values = EventDetails::new(*number, details.values());
            assert_eq!(of_values, details);
            let mut others = NUMBERS.iter().filter(|other| *other == number);
            assert!(others.next().is_some() && others.next().is_none());
        }
        assert_eq!(EventDetails::new(999, [1, 2]), EventDetails::Other(999));
    }

    #[test]
    fn a_value_is_a_field_or_an_id() {
        for number in NUMBERS {
            let details = EventDetails::new(*number, [1, 1]);
            for (value, id) in details.values().into_iter().zip(details.ids()) {
                assert!(value == 0 || id.is_none(), "{details:?}");
            }
        }
    }

    #[test]
    fn numbers_of_released_types_stay() {
        let numbers = [
            (EventDetails::Sample { cpu: 7 }, 1, [7, 0]),
            (EventDetails::Exception { line: 7 }, 5, [0, 7]),
            (EventDetails::ThreadEnded { is_virtual: true }, 8, [1, 0]),
            (EventDetails::Exhausted { flags: 3 }, 13, [3, 0]),
            (EventDetails::ClassUnloaded, 17, [0, 0]),
            (EventDetails::Held { instances: 2 }, 28, [2, 0]),
        ];
        for (details, number, values) in numbers {
            assert_eq!((details.number(), details.values()), (number, values));
        }
        assert_eq!(EventDetails::Property.ids(), [Some(Id::Text); 2]);
        assert_eq!(EventDetails::CodeGone.ids(), [Some(Id::Method), None]);
    }
}
