//! The fields in which the collections and maps of the JDK store their elements, in releases 8 to 25.
//!
//! A class has the layout of its nearest superclass in this table, so classes that extend a collection are read like
//! it.

use probes::spans::Shape;

/// The fields of a class that lead to its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// An array. `size` is the field with the number of elements, if the array may be longer.
    Array {
        array: &'static str,
        size: Option<&'static str>,
    },
    /// A part of the list that one of these fields contains.
    Part {
        of: &'static [&'static str],
        from: &'static str,
        size: &'static str,
    },
    /// A circular array.
    Ring {
        array: &'static str,
        first: &'static str,
        size: &'static str,
    },
    /// `ArrayDeque`.
    Deque,
    /// One field for each element. After the first, `null` and a plain `Object` mean no element.
    Fields(&'static [&'static str]),
    /// A map without entries.
    Nothing,
    /// One key and its value.
    Entry {
        key: &'static str,
        value: &'static str,
    },
    /// One element, repeated.
    Same {
        element: &'static str,
        size: &'static str,
    },
    /// A value, and the field that is true if the value is present, unless the value shows that itself.
    Optional {
        value: &'static str,
        is_present: Option<&'static str>,
    },
    /// Linked nodes with the fields `item` and `next`; `first` is the field with the first node.
    Nodes {
        first: &'static str,
        size: Option<&'static str>,
        /// True if a node with `null` is no element.
        skips_null: bool,
    },
    /// A hash table of nodes, in `table`; `key` is the field with the key of a node.
    Table {
        key: &'static str,
        size: &'static str,
        taken: MapPart,
    },
    /// `ConcurrentHashMap`.
    Concurrent { taken: MapPart },
    /// `LinkedHashMap`.
    Linked { size: &'static str, taken: MapPart },
    /// `TreeMap`.
    Tree { size: &'static str, taken: MapPart },
    /// `ConcurrentSkipListMap`.
    Skip { taken: MapPart },
    /// An array of alternating keys and values.
    Pairs {
        array: &'static str,
        size: Option<&'static str>,
        taken: MapPart,
    },
    /// An array in which `null` is no element.
    Sparse {
        array: &'static str,
        size: &'static str,
    },
    /// `EnumMap`.
    Enums { size: &'static str, taken: MapPart },
    /// An `EnumSet` of at most 64 constants.
    Bits,
    /// Another `EnumSet`.
    Words,
    /// A field with another collection, which contains the elements.
    Of(&'static str),
    /// A field with a map, whose keys are the elements.
    Keys(&'static str),
    /// A field with a map, whose values are the elements.
    Values(&'static str),
    /// A field with a map, whose entries are the elements.
    Entries(&'static str),
}

/// The part of a map's entries that a view contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MapPart {
    Entries,
    Keys,
    Values,
}

const ALL: MapPart = MapPart::Entries;

impl Layout {
    /// The parts that an object of this layout has.
    pub fn shape(self) -> Shape {
        match self {
            Self::Entry { .. } | Self::Nothing => Shape::Entries,
            layout if layout.is_map() && layout.taken() == MapPart::Entries => Shape::Entries,
            _ => Shape::Elements,
        }
    }

    /// Checks whether it is a map, or a view of one.
    fn is_map(self) -> bool {
        matches!(
            self,
            Self::Table { .. }
                | Self::Concurrent { .. }
                | Self::Linked { .. }
                | Self::Tree { .. }
                | Self::Skip { .. }
                | Self::Pairs { .. }
                | Self::Enums { .. }
        )
    }

    /// The part of the entries that it contains.
    pub fn taken(self) -> MapPart {
        match self {
            Self::Table { taken, .. }
            | Self::Concurrent { taken }
            | Self::Linked { taken, .. }
            | Self::Tree { taken, .. }
            | Self::Skip { taken }
            | Self::Pairs { taken, .. }
            | Self::Enums { taken, .. } => taken,
            _ => MapPart::Entries,
        }
    }

    /// The layout of a view, from that of its map. Returns `None` if this is no map.
    pub fn part(mut self, view: Self) -> Option<Self> {
        let wanted = match view {
            Self::Keys(_) => MapPart::Keys,
            Self::Values(_) => MapPart::Values,
            _ => MapPart::Entries,
        };
        match &mut self {
            Self::Table { taken, .. }
            | Self::Concurrent { taken }
            | Self::Linked { taken, .. }
            | Self::Tree { taken, .. }
            | Self::Skip { taken }
            | Self::Pairs { taken, .. }
            | Self::Enums { taken, .. } => *taken = wanted,
            Self::Entry { key, value } => {
                return Some(match wanted {
                    MapPart::Keys => Self::Fields(first_of(key)?),
                    MapPart::Values => Self::Fields(first_of(value)?),
                    MapPart::Entries => self,
                });
            }
            Self::Nothing if wanted != MapPart::Entries => return Some(Self::Fields(&[])),
            Self::Nothing => {}
            _ => return None,
        }
        Some(self)
    }

    /// The field that an object of this layout has in every known release.
    pub fn main_field(self) -> Option<&'static str> {
        Some(match self {
            Self::Array { array, .. } | Self::Pairs { array, .. } | Self::Sparse { array, .. } => {
                array
            }
            Self::Ring { array, .. } => array,
            Self::Part { size, .. } | Self::Same { size, .. } => size,
            Self::Deque | Self::Bits | Self::Words => "elements",
            Self::Fields(names) => names.first()?,
            Self::Entry { key, .. } => key,
            Self::Optional { value, .. } => value,
            Self::Nodes { first, .. } => first,
            Self::Table { .. } | Self::Concurrent { .. } => "table",
            Self::Linked { .. } | Self::Skip { .. } => "head",
            Self::Tree { .. } => "root",
            Self::Enums { .. } => "vals",
            Self::Nothing | Self::Of(_) | Self::Keys(_) | Self::Values(_) | Self::Entries(_) => {
                return None;
            }
        })
    }

    /// The field with the number of elements, if there is one.
    pub fn size_field(self) -> Option<&'static str> {
        match self {
            Self::Array { size, .. } | Self::Pairs { size, .. } | Self::Nodes { size, .. } => size,
            Self::Part { size, .. }
            | Self::Ring { size, .. }
            | Self::Same { size, .. }
            | Self::Table { size, .. }
            | Self::Linked { size, .. }
            | Self::Tree { size, .. }
            | Self::Sparse { size, .. }
            | Self::Enums { size, .. } => Some(size),
            _ => None,
        }
    }

    /// The layout of a class by its internal name.
    pub fn index_of(class: &[u8]) -> Option<u8> {
        let found = LAYOUTS
            .iter()
            .position(|(name, _)| name.as_bytes() == class);
        found.and_then(|index| u8::try_from(index).ok())
    }

    /// The layout with this index.
    pub fn at(index: u8) -> Option<Self> {
        LAYOUTS.get(usize::from(index)).map(|(_, layout)| *layout)
    }
}

/// A list with this field alone.
fn first_of(field: &str) -> Option<&'static [&'static str]> {
    const SINGLE: [&[&str]; 5] = [&["k0"], &["v0"], &["k"], &["v"], &["key"]];
    SINGLE
        .into_iter()
        .find(|names| names.first() == Some(&field))
}

const fn array(array: &'static str, size: Option<&'static str>) -> Layout {
    Layout::Array { array, size }
}

const fn nodes(first: &'static str, size: Option<&'static str>, skips_null: bool) -> Layout {
    Layout::Nodes {
        first,
        size,
        skips_null,
    }
}

const fn table(key: &'static str, size: &'static str) -> Layout {
    Layout::Table {
        key,
        size,
        taken: ALL,
    }
}

const fn optional(is_present: Option<&'static str>) -> Layout {
    Layout::Optional {
        value: "value",
        is_present,
    }
}

const fn entry(key: &'static str, value: &'static str) -> Layout {
    Layout::Entry { key, value }
}

/// `Properties` stores its entries itself in release 8, and in a map later.
pub(super) const PROPERTIES_OF_8: Layout = table("key", "count");

/// The layouts by the names of classes.
const LAYOUTS: &[(&str, Layout)] = &[
    ("java/util/ArrayList", array("elementData", Some("size"))),
    ("java/util/Arrays$ArrayList", array("a", None)),
    (
        "java/util/Vector",
        array("elementData", Some("elementCount")),
    ),
    (
        "java/util/concurrent/CopyOnWriteArrayList",
        array("array", None),
    ),
    ("java/util/PriorityQueue", array("queue", Some("size"))),
    (
        "java/util/concurrent/PriorityBlockingQueue",
        array("queue", Some("size")),
    ),
    (
        "java/util/ImmutableCollections$ListN",
        array("elements", None),
    ),
    (
        "java/util/ImmutableCollections$List12",
        Layout::Fields(&["e0", "e1"]),
    ),
    (
        "java/util/ImmutableCollections$Set12",
        Layout::Fields(&["e0", "e1"]),
    ),
    (
        "java/util/ImmutableCollections$SetN",
        Layout::Sparse {
            array: "elements",
            size: "size",
        },
    ),
    ("java/util/ImmutableCollections$Map1", entry("k0", "v0")),
    (
        "java/util/ImmutableCollections$MapN",
        Layout::Pairs {
            array: "table",
            size: Some("size"),
            taken: ALL,
        },
    ),
    (
        "java/util/ImmutableCollections$SubList",
        Layout::Part {
            of: &["root"],
            from: "offset",
            size: "size",
        },
    ),
    (
        "java/util/ArrayList$SubList",
        Layout::Part {
            of: &["root", "this$0"],
            from: "offset",
            size: "size",
        },
    ),
    (
        "java/util/AbstractList$SubList",
        Layout::Part {
            of: &["root"],
            from: "offset",
            size: "size",
        },
    ),
    (
        "java/util/SubList",
        Layout::Part {
            of: &["l"],
            from: "offset",
            size: "size",
        },
    ),
    ("java/util/LinkedList", nodes("first", Some("size"), false)),
    (
        "java/util/concurrent/LinkedBlockingQueue",
        nodes("head", Some("count"), true),
    ),
    (
        "java/util/concurrent/LinkedBlockingDeque",
        nodes("first", Some("count"), true),
    ),
    (
        "java/util/concurrent/ConcurrentLinkedQueue",
        nodes("head", None, true),
    ),
    (
        "java/util/concurrent/ConcurrentLinkedDeque",
        nodes("head", None, true),
    ),
    ("java/util/ArrayDeque", Layout::Deque),
    (
        "java/util/concurrent/ArrayBlockingQueue",
        Layout::Ring {
            array: "items",
            first: "takeIndex",
            size: "count",
        },
    ),
    ("java/util/concurrent/DelayQueue", Layout::Of("q")),
    ("java/util/concurrent/CopyOnWriteArraySet", Layout::Of("al")),
    // Maps; a `LinkedHashMap` is a `HashMap`, too.
    (
        "java/util/LinkedHashMap",
        Layout::Linked {
            size: "size",
            taken: ALL,
        },
    ),
    ("java/util/HashMap", table("key", "size")),
    ("java/util/Hashtable", table("key", "count")),
    ("java/util/Properties", Layout::Of("map")),
    ("java/util/WeakHashMap", table("referent", "size")),
    (
        "java/util/concurrent/ConcurrentHashMap",
        Layout::Concurrent { taken: ALL },
    ),
    (
        "java/util/TreeMap",
        Layout::Tree {
            size: "size",
            taken: ALL,
        },
    ),
    (
        "java/util/concurrent/ConcurrentSkipListMap",
        Layout::Skip { taken: ALL },
    ),
    (
        "java/util/IdentityHashMap",
        Layout::Pairs {
            array: "table",
            size: Some("size"),
            taken: ALL,
        },
    ),
    (
        "java/util/EnumMap",
        Layout::Enums {
            size: "size",
            taken: ALL,
        },
    ),
    ("java/util/jar/Attributes", Layout::Of("map")),
    // Sets.
    ("java/util/HashSet", Layout::Keys("map")),
    ("java/util/TreeSet", Layout::Keys("m")),
    (
        "java/util/concurrent/ConcurrentSkipListSet",
        Layout::Keys("m"),
    ),
    ("java/util/Collections$SetFromMap", Layout::Keys("m")),
    ("java/util/RegularEnumSet", Layout::Bits),
    ("java/util/JumboEnumSet", Layout::Words),
    // Views.
    ("java/util/HashMap$KeySet", Layout::Keys("this$0")),
    ("java/util/HashMap$Values", Layout::Values("this$0")),
    ("java/util/HashMap$EntrySet", Layout::Entries("this$0")),
    (
        "java/util/LinkedHashMap$LinkedKeySet",
        Layout::Keys("this$0"),
    ),
    (
        "java/util/LinkedHashMap$LinkedValues",
        Layout::Values("this$0"),
    ),
    (
        "java/util/LinkedHashMap$LinkedEntrySet",
        Layout::Entries("this$0"),
    ),
    ("java/util/TreeMap$KeySet", Layout::Keys("m")),
    ("java/util/TreeMap$Values", Layout::Values("this$0")),
    ("java/util/TreeMap$EntrySet", Layout::Entries("this$0")),
    ("java/util/Hashtable$KeySet", Layout::Keys("this$0")),
    (
        "java/util/Hashtable$ValueCollection",
        Layout::Values("this$0"),
    ),
    ("java/util/Hashtable$EntrySet", Layout::Entries("this$0")),
    ("java/util/WeakHashMap$KeySet", Layout::Keys("this$0")),
    ("java/util/WeakHashMap$Values", Layout::Values("this$0")),
    ("java/util/WeakHashMap$EntrySet", Layout::Entries("this$0")),
    ("java/util/IdentityHashMap$KeySet", Layout::Keys("this$0")),
    ("java/util/IdentityHashMap$Values", Layout::Values("this$0")),
    (
        "java/util/IdentityHashMap$EntrySet",
        Layout::Entries("this$0"),
    ),
    ("java/util/EnumMap$KeySet", Layout::Keys("this$0")),
    ("java/util/EnumMap$Values", Layout::Values("this$0")),
    ("java/util/EnumMap$EntrySet", Layout::Entries("this$0")),
    (
        "java/util/concurrent/ConcurrentHashMap$KeySetView",
        Layout::Keys("map"),
    ),
    (
        "java/util/concurrent/ConcurrentHashMap$ValuesView",
        Layout::Values("map"),
    ),
    (
        "java/util/concurrent/ConcurrentHashMap$EntrySetView",
        Layout::Entries("map"),
    ),
    (
        "java/util/concurrent/ConcurrentSkipListMap$KeySet",
        Layout::Keys("m"),
    ),
    (
        "java/util/concurrent/ConcurrentSkipListMap$Values",
        Layout::Values("m"),
    ),
    (
        "java/util/concurrent/ConcurrentSkipListMap$EntrySet",
        Layout::Entries("m"),
    ),
    // Single entries.
    ("java/util/HashMap$Node", entry("key", "value")),
    ("java/util/TreeMap$Entry", entry("key", "value")),
    ("java/util/Hashtable$Entry", entry("key", "value")),
    ("java/util/KeyValueHolder", entry("key", "value")),
    ("java/util/AbstractMap$SimpleEntry", entry("key", "value")),
    (
        "java/util/AbstractMap$SimpleImmutableEntry",
        entry("key", "value"),
    ),
    (
        "java/util/concurrent/ConcurrentHashMap$MapEntry",
        entry("key", "val"),
    ),
    // Wrappers: those of lists and sets are below those of collections.
    (
        "java/util/Collections$UnmodifiableCollection",
        Layout::Of("c"),
    ),
    (
        "java/util/Collections$SynchronizedCollection",
        Layout::Of("c"),
    ),
    ("java/util/Collections$CheckedCollection", Layout::Of("c")),
    ("java/util/Collections$UnmodifiableMap", Layout::Of("m")),
    ("java/util/Collections$SynchronizedMap", Layout::Of("m")),
    ("java/util/Collections$CheckedMap", Layout::Of("m")),
    (
        "java/util/Collections$SingletonList",
        Layout::Fields(&["element"]),
    ),
    (
        "java/util/Collections$SingletonSet",
        Layout::Fields(&["element"]),
    ),
    ("java/util/Collections$SingletonMap", entry("k", "v")),
    ("java/util/Collections$EmptyList", Layout::Fields(&[])),
    ("java/util/Collections$EmptySet", Layout::Fields(&[])),
    ("java/util/Collections$EmptyMap", Layout::Nothing),
    (
        "java/util/Collections$CopiesList",
        Layout::Same {
            element: "element",
            size: "n",
        },
    ),
    ("java/util/Optional", optional(None)),
    ("java/util/OptionalInt", optional(Some("isPresent"))),
    ("java/util/OptionalLong", optional(Some("isPresent"))),
    ("java/util/OptionalDouble", optional(Some("isPresent"))),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_have_one_byte_indices_and_unique_names() {
        assert!(
            LAYOUTS.len() < 200,
            "kinds of values are numbers of one byte"
        );
        for (index, (name, layout)) in LAYOUTS.iter().enumerate() {
            let found = Layout::index_of(name.as_bytes()).and_then(Layout::at);
            assert_eq!(found, Some(*layout), "{name}");
            assert!(
                LAYOUTS[..index].iter().all(|(other, _)| other != name),
                "{name}"
            );
        }
    }
}
