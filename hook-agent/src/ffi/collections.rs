//! The collections and maps of the JDK, read through their fields without calls.
//!
//! No lock is taken: a collection that changes meanwhile yields old or new elements, within the limit of steps for one
//! value.

use super::layouts::{Layout, MapPart, PROPERTIES_OF_8};
use super::reader::{Objects, Reader};
use super::refs::LocalRef;
use super::values::{FieldValue, element};
use probes::spans::{JvmValue, Shape};

/// Most wrappers around a collection.
const MOST_WRAPPERS: usize = 8;
/// The class of the object that collections store in place of `null`.
const MASK: &[u8] = b"Ljava/lang/Object;";
/// The same in an `EnumMap`.
const MASK_OF_ENUMS: &[u8] = b"Ljava/util/EnumMap$1;";

/// A collection or map: the object with the elements, and its layout.
pub(super) struct Collection<'a> {
    object: Option<LocalRef<'a>>,
    layout: Layout,
}

/// An element, or a key with its value.
pub(super) struct Item<'a> {
    pub first: FieldValue<'a>,
    pub value: Option<FieldValue<'a>>,
}

/// Receives items until it returns false.
type Visit<'v, 'a> = &'v mut dyn FnMut(Item<'a>) -> bool;

/// `None` ends a walk early: the visitor has stopped, a field is absent, or all steps are used.
type Walked = Option<()>;

impl<'a> Collection<'a> {
    /// Finds the collection within its wrappers. Returns `None` for an object that is no collection of the JDK, or has
    /// unknown fields.
    pub fn of(reader: Reader<'a>, object: &LocalRef<'_>) -> Option<Self> {
        let mut found = Self {
            object: None,
            layout: reader.layout(object)?,
        };
        for _ in 0..MOST_WRAPPERS {
            let at = found.object.as_ref().unwrap_or(object);
            let next = match found.layout {
                Layout::Of(name) if reader.has_field(at, name) => reader.object_in(at, name)?,
                Layout::Of(_) => {
                    found.layout = PROPERTIES_OF_8;
                    continue;
                }
                Layout::Keys(name) | Layout::Values(name) | Layout::Entries(name) => {
                    let map = reader.object_in(at, name)?;
                    let inner = Self::of(reader, &map)?;
                    return Some(Self {
                        layout: inner.layout.part(found.layout)?,
                        object: Some(inner.object.unwrap_or(map)),
                    });
                }
                layout => {
                    let is_known = layout
                        .main_field()
                        .is_none_or(|name| reader.has_field(at, name));
                    return is_known.then_some(found);
                }
            };
            found.layout = reader.layout(&next)?;
            found.object = Some(next);
        }
        None
    }

    /// The kind of its contents.
    pub fn shape(&self) -> Shape {
        self.layout.shape()
    }

    /// The number of its elements, if fields contain it.
    pub fn size(&self, reader: Reader<'a>, object: &LocalRef<'_>) -> Option<u64> {
        let of = self.object.as_ref().unwrap_or(object);
        let length = |array| Some(reader.objects_in(of, array).map_or(0, |it| it.length));
        match self.layout {
            Layout::Array { array, size: None } => length(array),
            Layout::Pairs {
                array, size: None, ..
            } => Some(length(array)? / 2),
            Layout::Deque => deque(reader, of).map(|(_, _, count)| count),
            Layout::Concurrent { .. } => counted(reader, of),
            Layout::Entry { .. } => Some(1),
            Layout::Nothing => Some(0),
            Layout::Bits => Some(reader.long_in(of, "elements")?.count_ones().into()),
            layout => {
                let name = layout.size_field()?;
                match reader.reached_in(of, name)? {
                    // An `AtomicInteger` of a queue.
                    FieldValue::Object(counter) => reader.index_in(&counter?, "value"),
                    FieldValue::Value(_) => reader.index_in(of, name),
                }
            }
        }
    }

    /// Passes the items from this index on to the visitor, in the order of iteration, until it stops or the steps are
    /// used up. Returns true if every item was passed.
    pub fn visit(
        &self,
        reader: Reader<'a>,
        object: &LocalRef<'_>,
        from: u64,
        steps: &mut u32,
        visit: Visit<'_, 'a>,
    ) -> bool {
        let of = self.object.as_ref().unwrap_or(object);
        let mut walk = Walk {
            reader,
            steps,
            visit,
            taken: self.layout.taken(),
            skipped: from,
        };
        walk.layout(of, self.layout).is_some()
    }
}

/// The array of an `ArrayDeque`, the index of its first element, and the number of elements.
fn deque<'a>(reader: Reader<'a>, of: &LocalRef<'_>) -> Option<(Objects<'a>, u64, u64)> {
    let array = reader.objects_in(of, "elements")?;
    let (head, tail) = (reader.index_in(of, "head")?, reader.index_in(of, "tail")?);
    let length = array.length.max(1);
    Some((array, head, (tail + length).saturating_sub(head) % length))
}

/// The number of entries of a `ConcurrentHashMap`, the sum of several counters.
fn counted(reader: Reader<'_>, of: &LocalRef<'_>) -> Option<u64> {
    let mut sum = reader.long_in(of, "baseCount")?.cast_signed();
    if let Some(cells) = reader.objects_in(of, "counterCells") {
        for index in 0..cells.length {
            let cell = cells.at(reader, index).flatten();
            let value = cell.and_then(|cell| reader.long_in(&cell, "value"));
            sum = sum.wrapping_add(value.unwrap_or(0).cast_signed());
        }
    }
    u64::try_from(sum).ok()
}

/// Passes the items of one collection, one after the other.
struct Walk<'w, 'a> {
    reader: Reader<'a>,
    steps: &'w mut u32,
    visit: Visit<'w, 'a>,
    taken: MapPart,
    /// Number of items that are skipped before the first.
    skipped: u64,
}

impl<'a> Walk<'_, 'a> {
    /// Uses up one step.
    fn step(&mut self) -> Walked {
        *self.steps = self.steps.checked_sub(1)?;
        Some(())
    }

    fn give(&mut self, first: FieldValue<'a>, value: Option<FieldValue<'a>>) -> Walked {
        if self.skipped > 0 {
            self.skipped -= 1;
            return Some(());
        }
        (self.visit)(Item { first, value }).then_some(())
    }

    fn entry(&mut self, key: FieldValue<'a>, value: FieldValue<'a>) -> Walked {
        match self.taken {
            MapPart::Entries => self.give(key, Some(value)),
            MapPart::Keys => self.give(key, None),
            MapPart::Values => self.give(value, None),
        }
    }

    /// Passes the entry of a node.
    fn node(&mut self, node: &LocalRef<'_>, key: &str, value: &str) -> Walked {
        let key = self.reader.reached_in(node, key)?;
        self.entry(key, self.reader.reached_in(node, value)?)
    }

    fn layout(&mut self, of: &LocalRef<'_>, layout: Layout) -> Walked {
        let reader = self.reader;
        match layout {
            Layout::Array { array, size } => {
                let array = reader.objects_in(of, array)?;
                let count = match size {
                    Some(size) => reader.index_in(of, size)?,
                    None => array.length,
                };
                self.range(&array, 0, count)
            }
            Layout::Part {
                of: roots,
                from,
                size,
            } => {
                let root = roots.iter().find_map(|root| reader.object_in(of, root))?;
                let (from, count) = (reader.index_in(of, from)?, reader.index_in(of, size)?);
                self.sublist(&root, from, count)
            }
            Layout::Ring { array, first, size } => {
                let array = reader.objects_in(of, array)?;
                let (first, count) = (reader.index_in(of, first)?, reader.index_in(of, size)?);
                self.range(&array, first, count)
            }
            Layout::Deque => {
                let (array, head, count) = deque(reader, of)?;
                self.range(&array, head, count)
            }
            Layout::Fields(names) => self.fields(of, names),
            Layout::Nothing => Some(()),
            Layout::Entry { key, value } => self.node(of, key, value),
            Layout::Same { element, size } => {
                for _ in 0..reader.index_in(of, size)? {
                    self.step()?;
                    let found = reader.reached_in(of, element)?;
                    self.give(found, None)?;
                }
                Some(())
            }
            Layout::Optional { value, is_present } => {
                let is_there = match is_present {
                    Some(name) => reader.reached_in(of, name)?.is_true(),
                    None => reader.object_in(of, value).is_some(),
                };
                match is_there {
                    true => self.give(reader.reached_in(of, value)?, None),
                    false => Some(()),
                }
            }
            Layout::Nodes {
                first, skips_null, ..
            } => self.nodes(reader.object_in(of, first), skips_null),
            Layout::Table { key, .. } => self.table(of, key),
            Layout::Concurrent { .. } => self.concurrent(of),
            Layout::Linked { .. } => {
                let mut node = reader.object_in(of, "head");
                while let Some(at) = node {
                    self.step()?;
                    self.node(&at, "key", "value")?;
                    node = reader.object_in(&at, "after");
                }
                Some(())
            }
            Layout::Tree { .. } => self.tree(reader.object_in(of, "root")),
            Layout::Skip { .. } => self.skip_list(of),
            Layout::Pairs { array, .. } => self.pairs(&reader.objects_in(of, array)?),
            Layout::Sparse { array, .. } => {
                let array = reader.objects_in(of, array)?;
                for index in 0..array.length {
                    self.step()?;
                    if let Some(found) = array.at(reader, index)? {
                        self.give(FieldValue::Object(Some(found)), None)?;
                    }
                }
                Some(())
            }
            Layout::Enums { .. } => self.enums(of),
            Layout::Bits => {
                let universe = reader.objects_in(of, "universe")?;
                self.bits(&universe, 0, reader.long_in(of, "elements")?)
            }
            Layout::Words => self.words(of),
            Layout::Of(_) | Layout::Keys(_) | Layout::Values(_) | Layout::Entries(_) => None,
        }
    }

    /// The elements of a circular array from an index on. Skipped elements use up no step.
    fn range(&mut self, array: &Objects<'a>, first: u64, count: u64) -> Walked {
        for index in std::mem::take(&mut self.skipped)..count {
            self.step()?;
            // The array may have been replaced by a shorter one.
            let index = (first + index).checked_rem(array.length)?;
            let found = array.at(self.reader, index)?;
            self.give(FieldValue::Object(found), None)?;
        }
        Some(())
    }

    fn fields(&mut self, of: &LocalRef<'_>, names: &[&str]) -> Walked {
        for (index, name) in names.iter().enumerate() {
            let found = self.reader.object_in(of, name);
            let is_none = match &found {
                Some(found) => self.reader.is_of(found, MASK),
                None => true,
            };
            if index == 0 || !is_none {
                self.give(FieldValue::Object(found), None)?;
            }
        }
        Some(())
    }

    /// A sublist of a list.
    fn sublist(&mut self, root: &LocalRef<'_>, from: u64, count: u64) -> Walked {
        let reader = self.reader;
        let collection = Collection::of(reader, root)?;
        let of = collection.object.as_ref().unwrap_or(root);
        match collection.layout {
            Layout::Array { array, .. } => {
                let array = reader.objects_in(of, array)?;
                self.range(&array, from, count.min(array.length.checked_sub(from)?))
            }
            Layout::Fields(names) => {
                let names = names.get(usize::try_from(from).ok()?..)?;
                let count = usize::try_from(count).ok()?.min(names.len());
                self.fields(of, names.get(..count)?)
            }
            _ => None,
        }
    }

    fn nodes(&mut self, first: Option<LocalRef<'a>>, skips_null: bool) -> Walked {
        let reader = self.reader;
        let mut node = first;
        while let Some(at) = node {
            self.step()?;
            let found = reader.object_in(&at, "item");
            if found.is_some() || !skips_null {
                self.give(FieldValue::Object(found), None)?;
            }
            node = reader.object_in(&at, "next");
            // A node that was removed from a queue refers to itself.
            let is_out = |next: &LocalRef<'_>| reader.local.is_same_object(next, &at);
            if node.as_ref().is_some_and(is_out) {
                return None;
            }
        }
        Some(())
    }

    /// The bins of a hash table. A `Hashtable` and a `WeakHashMap` iterate over theirs from the last to the first.
    fn table(&mut self, of: &LocalRef<'_>, key: &str) -> Walked {
        let reader = self.reader;
        let Some(table) = reader.objects_in(of, "table") else {
            return Some(()); // no entry was ever added
        };
        let is_weak = key == "referent";
        let is_reversed = is_weak || reader.has_field(of, "count");
        for index in 0..table.length {
            self.step()?;
            let index = match is_reversed {
                true => table.length - 1 - index,
                false => index,
            };
            let mut node = table.at(reader, index)?;
            while let Some(at) = node {
                self.step()?;
                match is_weak {
                    false => self.node(&at, key, "value")?,
                    true => {
                        // The key may have been collected meanwhile.
                        if let Some(found) = reader.object_in(&at, key) {
                            let value = reader.reached_in(&at, "value")?;
                            self.entry(reader.unmasked(Some(found), MASK), value)?;
                        }
                    }
                }
                node = reader.object_in(&at, "next");
            }
        }
        Some(())
    }

    /// The bins of a `ConcurrentHashMap`: lists, trees, and those that were moved to the next table already.
    fn concurrent(&mut self, of: &LocalRef<'_>) -> Walked {
        let reader = self.reader;
        let Some(table) = reader.objects_in(of, "table") else {
            return Some(());
        };
        for index in 0..table.length {
            self.step()?;
            let Some(node) = table.at(reader, index)? else {
                continue;
            };
            if !reader.has_field(&node, "nextTable") {
                self.bin(node)?;
                continue;
            }
            let next = reader.objects_in(&node, "nextTable")?;
            for index in [index, index + table.length] {
                match next.at(reader, index)? {
                    Some(node) if !reader.has_field(&node, "nextTable") => self.bin(node)?,
                    _ => {}
                }
            }
        }
        Some(())
    }

    fn bin(&mut self, node: LocalRef<'a>) -> Walked {
        let reader = self.reader;
        let is_tree = reader.has_field(&node, "first");
        let mut node = match is_tree {
            true => reader.object_in(&node, "first"),
            false => Some(node),
        };
        while let Some(at) = node {
            self.step()?;
            // A node without a key only reserves its bin.
            if let Some(key) = reader.object_in(&at, "key") {
                let value = reader.reached_in(&at, "val")?;
                self.entry(FieldValue::Object(Some(key)), value)?;
            }
            node = reader.object_in(&at, "next");
        }
        Some(())
    }

    /// The nodes of a search tree in their order, found through their parents.
    fn tree(&mut self, root: Option<LocalRef<'a>>) -> Walked {
        let mut node = match root {
            None => return Some(()),
            Some(root) => Some(self.leftmost(root)?),
        };
        while let Some(at) = node {
            self.node(&at, "key", "value")?;
            node = match self.reader.object_in(&at, "right") {
                Some(right) => Some(self.leftmost(right)?),
                None => self.above(at)?,
            };
        }
        Some(())
    }

    fn leftmost(&mut self, mut node: LocalRef<'a>) -> Option<LocalRef<'a>> {
        self.step()?;
        while let Some(left) = self.reader.object_in(&node, "left") {
            self.step()?;
            node = left;
        }
        Some(node)
    }

    /// The nearest ancestor whose left subtree contains this node.
    #[expect(
        clippy::option_option,
        reason = "no such node and no steps left are different results"
    )]
    fn above(&mut self, mut node: LocalRef<'a>) -> Option<Option<LocalRef<'a>>> {
        let reader = self.reader;
        loop {
            self.step()?;
            let Some(parent) = reader.object_in(&node, "parent") else {
                return Some(None);
            };
            let right = reader.object_in(&parent, "right");
            if !right.is_some_and(|right| reader.local.is_same_object(&right, &node)) {
                return Some(Some(parent));
            }
            node = parent;
        }
    }

    /// The lowest level of a skip list. Its first node has no key, nor has one that marks its neighbour as deleted.
    fn skip_list(&mut self, of: &LocalRef<'_>) -> Walked {
        let reader = self.reader;
        let Some(head) = reader.object_in(of, "head") else {
            return Some(());
        };
        let mut node = reader.object_in(&head, "node");
        while let Some(at) = node {
            self.step()?;
            let value = reader.object_in(&at, "val");
            let value = value.or_else(|| reader.object_in(&at, "value")); // in release 8
            if let (Some(key), Some(value)) = (reader.object_in(&at, "key"), value) {
                self.entry(
                    FieldValue::Object(Some(key)),
                    FieldValue::Object(Some(value)),
                )?;
            }
            node = reader.object_in(&at, "next");
        }
        Some(())
    }

    /// Alternating keys and values in one array.
    fn pairs(&mut self, array: &Objects<'a>) -> Walked {
        let reader = self.reader;
        for index in (0..array.length).step_by(2) {
            self.step()?;
            if let Some(key) = array.at(reader, index)? {
                let value = FieldValue::Object(array.at(reader, index + 1)?);
                self.entry(reader.unmasked(Some(key), MASK), value)?;
            }
        }
        Some(())
    }

    fn enums(&mut self, of: &LocalRef<'_>) -> Walked {
        let reader = self.reader;
        let keys = reader.objects_in(of, "keyUniverse")?;
        let values = reader.objects_in(of, "vals")?;
        for index in 0..keys.length {
            self.step()?;
            if let Some(value) = values.at(reader, index)? {
                let key = FieldValue::Object(keys.at(reader, index)?);
                self.entry(key, reader.unmasked(Some(value), MASK_OF_ENUMS))?;
            }
        }
        Some(())
    }

    /// The constants of an enum whose bits are set.
    fn bits(&mut self, universe: &Objects<'a>, from: u64, mut bits: u64) -> Walked {
        while bits != 0 {
            self.step()?;
            let index = from + u64::from(bits.trailing_zeros());
            let found = universe.at(self.reader, index)?;
            self.give(FieldValue::Object(found), None)?;
            bits &= bits - 1;
        }
        Some(())
    }

    fn words(&mut self, of: &LocalRef<'_>) -> Walked {
        let reader = self.reader;
        let universe = reader.objects_in(of, "universe")?;
        let words = reader.object_in(of, "elements")?;
        let length = u32::try_from(reader.local.array_length(&words)).ok()?;
        for index in 0..length {
            let found = element(reader.jvmti, reader.local, &words, index)?;
            let FieldValue::Value(JvmValue::Number(_, bits)) = found else {
                return None;
            };
            self.bits(&universe, u64::from(index) * 64, bits)?;
        }
        Some(())
    }
}
