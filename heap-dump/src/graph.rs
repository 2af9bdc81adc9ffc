//! The objects of a heap and the references between them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::Path;

use jvms::names::binary;

use crate::dominators::Edges;
use crate::records::{
    self, Class, HeapRecord, Id, Names, OBJECT, Root, Type, number, width, wrong,
};

/// Upper limit of addresses with compressed references: 32 GiB.
const COMPRESSED: Id = 1 << 35;
/// The class whose field `referent` does not keep its object alive.
const REFERENCE: &str = "java/lang/ref/Reference";

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// A class.
    Class,
    /// An instance, or an array of references, of this class.
    Instance(Id),
    /// An array of primitives.
    Primitives(Type),
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
    pub kinds: Vec<NodeKind>,
    /// Offsets in the file, by node.
    offsets: Vec<u64>,
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
        let mut heap = Self::read_objects(&mut BufReader::with_capacity(1 << 20, &file))?;
        file.seek(SeekFrom::Start(0))?;
        heap.read_references(&mut BufReader::with_capacity(1 << 20, &file))?;
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
    fn read_objects(from: &mut impl io::BufRead) -> io::Result<Self> {
        let mut classes = HashMap::new();
        let (mut ids, mut kinds, mut offsets, mut lengths) = (vec![], vec![], vec![], vec![]);
        let mut roots: Vec<(Root, Id)> = Vec::new();
        let (names, whole) = records::read(from, &mut |_, offset, record| {
            let (id, kind, length) = match record {
                HeapRecord::Root(root, id) => {
                    roots.push((root, id));
                    return Ok(());
                }
                HeapRecord::Class(id, class) => {
                    classes.insert(id, class);
                    (id, NodeKind::Class, 0)
                }
                HeapRecord::Instance(id, class, _) => (id, NodeKind::Instance(class), 0),
                HeapRecord::Objects(id, class, elements) => {
                    (id, NodeKind::Instance(class), elements.len())
                }
                HeapRecord::Values(id, of, count) => {
                    let bytes = (count as usize).saturating_mul(width(of, 8)?);
                    (id, NodeKind::Primitives(of), bytes)
                }
            };
            ids.push(id);
            kinds.push(kind);
            offsets.push(offset);
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
            offsets,
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
                NodeKind::Class => 64, // the mirror alone; the JVM's metadata is elsewhere
                NodeKind::Primitives(_) => header + 4 + length,
                NodeKind::Instance(_) if *length > 0 => {
                    header + 4 + length / self.names.id * reference
                }
                NodeKind::Instance(class) => *instances.entry(*class).or_insert_with(|| {
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
            Some((class.superclass, self.classes.get(&class.superclass)?))
        });
        chain.take(1000) // ends a circle in a damaged file
    }

    fn read_references(&mut self, from: &mut impl io::BufRead) -> io::Result<()> {
        let mut edges = Edges {
            starts: vec![0],
            targets: Vec::new(),
        };
        let heap = &*self;
        records::read(from, &mut |_, _, record| {
            if matches!(record, HeapRecord::Root(..)) {
                return Ok(());
            }
            heap.each_reference(&record, &mut |_, id| edges.targets.extend(heap.node(id)));
            edges.starts.push(edges.targets.len());
            Ok(())
        })?;
        edges.targets.extend(self.roots.keys());
        edges.starts.push(edges.targets.len());
        if edges.starts.len() != self.kinds.len() + 2 {
            return Err(wrong("the file changed while it was read"));
        }
        self.edges = edges;
        Ok(())
    }

    /// Passes each reference of a record to `take`, with its name.
    fn each_reference(&self, record: &HeapRecord<'_>, take: &mut impl FnMut(ReferenceName, Id)) {
        match record {
            HeapRecord::Root(..) | HeapRecord::Values(..) => {}
            HeapRecord::Class(_, class) => {
                take(ReferenceName::Superclass, class.superclass);
                take(ReferenceName::Loader, class.loader);
                for (name, value) in &class.statics {
                    take(ReferenceName::Static(*name), *value);
                }
            }
            HeapRecord::Objects(_, class, elements) => {
                take(ReferenceName::Class, *class);
                for (index, id) in elements.chunks_exact(self.names.id).enumerate() {
                    take(ReferenceName::Element(index), number(id));
                }
            }
            HeapRecord::Instance(_, class, fields) => {
                take(ReferenceName::Class, *class);
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
                            take(ReferenceName::Field(*name), number(value));
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
            Some(NodeKind::Primitives(of)) => {
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
            Some(NodeKind::Class) => {
                let id = self.ids.get(node as usize).copied().unwrap_or(0);
                format!("class {}", of_class(self.internal(id)))
            }
            Some(NodeKind::Instance(class)) => of_class(self.internal(*class)),
        }
    }

    /// The name of the first reference from one node to another, if there is one.
    ///
    /// # Errors
    /// If the file cannot be read again.
    pub fn reference(&self, path: &Path, from: u32, to: u32) -> io::Result<Option<String>> {
        let Some(offset) = self.offsets.get(from as usize) else {
            return Ok(None);
        };
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(*offset))?;
        let wanted = self.ids.get(to as usize).copied();
        let mut found = None;
        records::read_one(
            &mut BufReader::new(file),
            &self.names,
            &mut |_, _, record| {
                self.each_reference(&record, &mut |name, id| {
                    if Some(id) == wanted && found.is_none() {
                        found = Some(match name {
                            ReferenceName::Field(name) => format!("field {}", self.text(name)),
                            ReferenceName::Static(name) => format!("static {}", self.text(name)),
                            ReferenceName::Element(index) => format!("element {index}"),
                            ReferenceName::Class => "its class".to_owned(),
                            ReferenceName::Superclass => "its superclass".to_owned(),
                            ReferenceName::Loader => "its loader".to_owned(),
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
enum ReferenceName {
    Field(Id),
    Static(Id),
    Element(usize),
    Class,
    Superclass,
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
