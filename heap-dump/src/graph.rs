//! The objects of a heap and the references between them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::Path;

use jvms::names::binary;

use crate::dominators::Edges;
use crate::records::{self, Class, Id, Names, OBJECT, Root, Thing, Type, number, width, wrong};

/// Upper limit of addresses with compressed references: 32 GiB.
const COMPRESSED: Id = 1 << 35;
/// The class whose field `referent` does not keep its object alive.
const REFERENCE: &str = "java/lang/ref/Reference";

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A class.
    Class,
    /// An instance, or an array of references, of this class.
    Of(Id),
    /// An array of primitives.
    Values(Type),
}

/// A heap. Nodes are numbered in file order; the node after the last one is the root of all roots.
#[derive(Debug)]
pub struct Heap {
    /// Names of classes, fields and texts.
    pub names: Names,
    classes: HashMap<Id, Class>,
    /// Ids and nodes, sorted by id.
    nodes: Vec<(Id, u32)>,
    /// Ids by node.
    ids: Vec<Id>,
    /// Kinds by node.
    pub kinds: Vec<Kind>,
    /// Offsets in the file, by node.
    places: Vec<u64>,
    /// Shallow sizes in bytes, by node.
    pub sizes: Vec<u32>,
    /// Roots, by the nodes that they hold.
    pub roots: HashMap<u32, Root>,
    /// References. Those of the root of all lead to all roots.
    pub edges: Edges,
    /// Set if the file has its end record.
    pub whole: bool,
}

impl Heap {
    /// Reads a file, in two passes.
    ///
    /// # Errors
    /// If the file is no heap dump, or is damaged.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut heap = Self::things(&mut BufReader::with_capacity(1 << 20, &file))?;
        file.seek(SeekFrom::Start(0))?;
        heap.refer(&mut BufReader::with_capacity(1 << 20, &file))?;
        Ok(heap)
    }

    /// The node of the root of all roots.
    pub fn root(&self) -> u32 {
        self.kinds.len() as u32
    }

    fn node(&self, id: Id) -> Option<u32> {
        let at = self.nodes.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.nodes.get(at).map(|(_, node)| *node)
    }

    /// First pass: classes, and objects without their references.
    fn things(from: &mut impl io::BufRead) -> io::Result<Self> {
        let mut classes = HashMap::new();
        let (mut ids, mut kinds, mut places, mut lengths) = (vec![], vec![], vec![], vec![]);
        let mut roots: Vec<(Root, Id)> = Vec::new();
        let (names, whole) = records::read(from, &mut |_, place, thing| {
            let (id, kind, length) = match thing {
                Thing::Root(root, id) => {
                    roots.push((root, id));
                    return Ok(());
                }
                Thing::Class(id, class) => {
                    classes.insert(id, class);
                    (id, Kind::Class, 0)
                }
                Thing::Instance(id, class, _) => (id, Kind::Of(class), 0),
                Thing::Objects(id, class, elements) => (id, Kind::Of(class), elements.len()),
                Thing::Values(id, of, count) => {
                    let bytes = (count as usize).saturating_mul(width(of, 8)?);
                    (id, Kind::Values(of), bytes)
                }
            };
            ids.push(id);
            kinds.push(kind);
            places.push(place);
            lengths.push(length);
            match u32::try_from(ids.len()) {
                Ok(u32::MAX) | Err(_) => Err(wrong("there are too many objects")),
                Ok(_) => Ok(()),
            }
        })?;
        let numbered = ids.iter().copied().zip(0..);
        let mut nodes: Vec<(Id, u32)> = numbered.collect();
        nodes.sort_unstable();
        let mut heap = Self {
            names,
            classes,
            nodes,
            ids,
            kinds,
            places,
            sizes: Vec::new(),
            roots: HashMap::new(),
            edges: Edges::default(),
            whole,
        };
        let held = roots.into_iter().rev();
        heap.roots = held
            .filter_map(|(root, id)| Some((heap.node(id)?, root)))
            .collect();
        heap.measure(&lengths);
        Ok(heap)
    }

    /// Sets the shallow sizes, in HotSpot's layout. The width of references follows from the ids: the file lacks it.
    fn measure(&mut self, lengths: &[usize]) {
        let compressed = self.ids.iter().all(|id| *id < COMPRESSED);
        let (reference, header) = if compressed { (4, 12) } else { (8, 16) };
        let mut instances: HashMap<Id, usize> = HashMap::new();
        let sizes = self.kinds.iter().zip(lengths).map(|(kind, length)| {
            let bytes = match kind {
                Kind::Class => 64, // the mirror alone; the JVM's metadata is elsewhere
                Kind::Values(_) => header + 4 + length,
                Kind::Of(_) if *length > 0 => header + 4 + length / self.names.id * reference,
                Kind::Of(class) => *instances.entry(*class).or_insert_with(|| {
                    let fields = self.chain(*class).flat_map(|(_, class)| &class.fields);
                    let widths = fields.map(|(_, of)| width(*of, reference).unwrap_or(0));
                    header + widths.sum::<usize>()
                }),
            };
            u32::try_from(bytes.next_multiple_of(8)).unwrap_or(u32::MAX)
        });
        self.sizes = sizes.collect();
    }

    /// A class and its superclasses.
    fn chain(&self, class: Id) -> impl Iterator<Item = (Id, &Class)> {
        let first = self.classes.get(&class).map(|found| (class, found));
        let chain = std::iter::successors(first, |(_, class)| {
            Some((class.above, self.classes.get(&class.above)?))
        });
        chain.take(1000) // ends a circle in a damaged file
    }

    fn refer(&mut self, from: &mut impl io::BufRead) -> io::Result<()> {
        let mut edges = Edges {
            starts: vec![0],
            targets: Vec::new(),
        };
        let heap = &*self;
        records::read(from, &mut |_, _, thing| {
            if matches!(thing, Thing::Root(..)) {
                return Ok(());
            }
            heap.each_reference(&thing, &mut |_, id| edges.targets.extend(heap.node(id)));
            edges.starts.push(edges.targets.len());
            Ok(())
        })?;
        edges.targets.extend(self.roots.keys());
        edges.starts.push(edges.targets.len());
        if edges.starts.len() != self.kinds.len() + 2 {
            return Err(wrong("it has changed while it was read"));
        }
        self.edges = edges;
        Ok(())
    }

    /// Passes each reference of a record to `take`, with its name.
    fn each_reference(&self, thing: &Thing<'_>, take: &mut impl FnMut(Name, Id)) {
        match thing {
            Thing::Root(..) | Thing::Values(..) => {}
            Thing::Class(_, class) => {
                take(Name::Above, class.above);
                take(Name::Loader, class.loader);
                for (name, value) in &class.statics {
                    take(Name::Static(*name), *value);
                }
            }
            Thing::Objects(_, class, elements) => {
                take(Name::Class, *class);
                for (index, id) in elements.chunks_exact(self.names.id).enumerate() {
                    take(Name::Element(index), number(id));
                }
            }
            Thing::Instance(_, class, fields) => {
                take(Name::Class, *class);
                let mut rest = *fields;
                for (id, class) in self.chain(*class) {
                    let is_reference = self.internal(id) == REFERENCE;
                    for (name, of) in &class.fields {
                        let length = width(*of, self.names.id).unwrap_or(0);
                        let Some((value, behind)) = rest.split_at_checked(length) else {
                            return;
                        };
                        rest = behind;
                        let keeps = !(is_reference && self.text(*name) == "referent");
                        if *of == OBJECT && keeps {
                            take(Name::Field(*name), number(value));
                        }
                    }
                }
            }
        }
    }

    fn text(&self, id: Id) -> &str {
        self.names.texts.get(&id).map_or("", String::as_str)
    }

    fn internal(&self, class: Id) -> &str {
        self.names
            .classes
            .get(&class)
            .map_or("", |name| self.text(*name))
    }

    /// The name of a node: that of its class, as in Java.
    pub fn name(&self, node: u32) -> String {
        match self.kinds.get(node as usize) {
            None => "the roots".to_owned(),
            Some(Kind::Values(of)) => {
                let name = match of {
                    4 => "boolean",
                    5 => "char",
                    6 => "float",
                    7 => "double",
                    8 => "byte",
                    9 => "short",
                    10 => "int",
                    _ => "long",
                };
                format!("{name}[]")
            }
            Some(Kind::Class) => {
                let id = self.ids.get(node as usize).copied().unwrap_or(0);
                format!("class {}", of_class(self.internal(id)))
            }
            Some(Kind::Of(class)) => of_class(self.internal(*class)),
        }
    }

    /// The name of the first reference from one node to another, if there is one.
    ///
    /// # Errors
    /// If the file cannot be read again.
    pub fn reference(&self, path: &Path, from: u32, to: u32) -> io::Result<Option<String>> {
        let Some(place) = self.places.get(from as usize) else {
            return Ok(None);
        };
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(*place))?;
        let wanted = self.ids.get(to as usize).copied();
        let mut found = None;
        records::read_one(
            &mut BufReader::new(file),
            &self.names,
            &mut |_, _, thing| {
                self.each_reference(&thing, &mut |name, id| {
                    if Some(id) == wanted && found.is_none() {
                        found = Some(match name {
                            Name::Field(name) => format!("field {}", self.text(name)),
                            Name::Static(name) => format!("static {}", self.text(name)),
                            Name::Element(index) => format!("element {index}"),
                            Name::Class => "its class".to_owned(),
                            Name::Above => "its superclass".to_owned(),
                            Name::Loader => "its loader".to_owned(),
                        });
                    }
                });
                Ok(())
            },
        )?;
        Ok(found)
    }
}

/// The name of a reference.
#[derive(Debug, Clone, Copy)]
enum Name {
    Field(Id),
    Static(Id),
    Element(usize),
    Class,
    Above,
    Loader,
}

/// The Java name of a class, from its internal name or an array's descriptor.
fn of_class(internal: &str) -> String {
    let element = internal.trim_start_matches('[');
    let depth = internal.len() - element.len();
    let name = match (
        depth,
        element
            .strip_prefix('L')
            .and_then(|it| it.strip_suffix(';')),
    ) {
        (0, _) | (_, None) => element,
        (_, Some(name)) => name,
    };
    let name = match (depth, name) {
        (0, name) => binary(name),
        (_, "Z") => "boolean".into(),
        (_, "B") => "byte".into(),
        (_, "C") => "char".into(),
        (_, "S") => "short".into(),
        (_, "I") => "int".into(),
        (_, "J") => "long".into(),
        (_, "F") => "float".into(),
        (_, "D") => "double".into(),
        (_, name) => binary(name),
    };
    format!("{name}{}", "[]".repeat(depth))
}
