//! The names of objects and references on paths.

use super::super::methods::Methods;
use super::objects::{PathRoot, each_object, node, tag};
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::{MethodId, ReferenceKind, StackFrame};
use crate::ffi::refs::LocalRef;
use crate::names::{class_name, decode};
use jvm_events::path_kinds::Step;
use jvm_events::paths::{Node, Path, Reference};
use jvms::names::binary;
use std::collections::HashMap;

/// Longest chain of superclasses and interfaces that is followed.
const MOST_CLASSES: usize = 1_000;

/// The fields of classes, in the order of JVM TI (jvmtiHeapReferenceInfoField): those of all interfaces, then those of
/// the superclasses from `Object` on, then the class's own.
#[derive(Default)]
pub(super) struct Fields(HashMap<(Vec<u8>, u32), ClassFields>);

struct ClassFields {
    /// The index of the first field in `names`.
    first: usize,
    names: Vec<String>,
}

impl Fields {
    /// The index of the field of this name. If several classes have one, that of the topmost.
    pub fn index(&mut self, jvm: Jvm<'_>, class: &LocalRef<'_>, name: &str) -> Option<i32> {
        let class = self.of(jvm, class)?;
        let at = class.names.iter().position(|found| found == name)?;
        i32::try_from(class.first + at).ok()
    }

    fn name(&mut self, jvm: Jvm<'_>, class: &LocalRef<'_>, index: i32) -> Option<String> {
        let class = self.of(jvm, class)?;
        let at = usize::try_from(index).ok()?.checked_sub(class.first)?;
        class.names.get(at).cloned()
    }

    fn of(&mut self, jvm: Jvm<'_>, class: &LocalRef<'_>) -> Option<&ClassFields> {
        let signature = jvm.jvmti.class_signature(class).ok()?;
        let key = (signature, jvm.jvmti.identity_hash(class)?);
        Some(
            self.0
                .entry(key)
                .or_insert_with(|| ClassFields::read(jvm, class)),
        )
    }
}

impl ClassFields {
    fn read(jvm: Jvm<'_>, class: &LocalRef<'_>) -> Self {
        let Jvm { jvmti, local, .. } = jvm;
        let mut chain = Vec::new();
        let mut above = local.superclass(class);
        while let Some(found) = above {
            above = local.superclass(&found);
            chain.push(found);
        }
        let mut interfaces = Vec::new();
        for one in chain.iter().chain([class]) {
            add_interfaces(jvm, one, &mut interfaces);
        }
        let fields = |class: &LocalRef<'_>| jvmti.class_fields(class).unwrap_or_default();
        let name = |class: &LocalRef<'_>, field| {
            let name = jvmti.field_name(class, field);
            name.map_or_else(|_| String::new(), |(name, _)| decode(&name))
        };
        let mut names = Vec::new();
        for class in chain.iter().rev().chain([class]) {
            names.extend(fields(class).into_iter().map(|field| name(class, field)));
        }
        Self {
            first: interfaces.iter().map(|one| fields(one).len()).sum(),
            names,
        }
    }
}

/// Adds the interfaces of a class and their superinterfaces, without duplicates.
fn add_interfaces<'a>(jvm: Jvm<'a>, class: &LocalRef<'_>, to: &mut Vec<LocalRef<'a>>) {
    let mut next = to.len();
    let mut direct = jvm.jvmti.interfaces(jvm.local, class);
    loop {
        for found in direct.unwrap_or_default() {
            let is_there = |known: &LocalRef<'_>| jvm.local.is_same_object(known, &found);
            if to.len() < MOST_CLASSES && !to.iter().any(is_there) {
                to.push(found);
            }
        }
        let Some(one) = to.get(next) else { return };
        direct = jvm.jvmti.interfaces(jvm.local, one);
        next += 1;
    }
}

/// The names of the objects and references on paths.
#[derive(Default)]
pub(super) struct Names {
    objects: HashMap<Node, Object>,
    /// Names of fields, by the object or class that has them.
    fields: HashMap<(Node, ReferenceKind), String>,
}

struct Object {
    /// The name of its class.
    class: String,
    /// The class it represents, if it is a `java.lang.Class`.
    itself: Option<String>,
}

impl Names {
    pub fn read(jvm: Jvm<'_>, paths: &[Path<PathRoot, ReferenceKind>]) -> Self {
        let mut names = Self::default();
        let mut asked: HashMap<Node, Vec<ReferenceKind>> = HashMap::new();
        for path in paths {
            asked.entry(path.first).or_default();
            for reference in &path.references {
                asked.entry(reference.to).or_default();
                asked
                    .entry(reference.from)
                    .or_default()
                    .push(reference.kind);
            }
        }
        let tags: Vec<i64> = asked.keys().map(|node| tag(*node)).collect();
        let mut fields = Fields::default();
        // Objects that were collected meanwhile have no name.
        let _ = each_object(jvm, &tags, |jvm, tag, object| {
            let Some(node) = node(tag) else { return };
            jvm.with_frame(64, |jvm| {
                let kinds = asked.get(&node).map_or(&[][..], Vec::as_slice);
                names.object(jvm, node, object, kinds, &mut fields);
            });
        });
        names
    }

    fn object(
        &mut self,
        jvm: Jvm<'_>,
        node: Node,
        object: &LocalRef<'_>,
        kinds: &[ReferenceKind],
        fields: &mut Fields,
    ) {
        let Some(class) = jvm.local.object_class(object) else {
            return;
        };
        let signature = jvm.jvmti.class_signature(&class).unwrap_or_default();
        let is_class = signature == b"Ljava/lang/Class;";
        let itself = is_class.then(|| jvm.jvmti.class_signature(object).unwrap_or_default());
        for kind in kinds {
            let name = match kind {
                ReferenceKind::Field(index) => fields.name(jvm, &class, *index),
                ReferenceKind::StaticField(index) => fields.name(jvm, object, *index),
                _ => None,
            };
            if let Some(name) = name {
                self.fields.insert((node, *kind), name);
            }
        }
        let object = Object {
            class: class_name(&signature),
            itself: itself.map(|signature| class_name(&signature)),
        };
        self.objects.insert(node, object);
    }

    /// The name of an object's class.
    pub fn class(&self, node: Node) -> String {
        let object = self.objects.get(&node);
        object.map_or_else(|| "?".to_owned(), |object| object.class.clone())
    }

    /// The class that an object represents.
    pub fn of_class(&self, node: Node) -> String {
        let object = self.objects.get(&node);
        let itself = object.and_then(|object| object.itself.clone());
        itself.unwrap_or_else(|| self.class(node))
    }

    /// A reference, with the class of its holder.
    pub fn step(&self, reference: &Reference<ReferenceKind>) -> Step {
        let from = reference.from;
        let holder = match reference.kind {
            ReferenceKind::StaticField(_)
            | ReferenceKind::ConstantPool
            | ReferenceKind::OfClass => {
                format!("the class {}", self.of_class(from))
            }
            _ => self.class(from),
        };
        Step {
            holder,
            kind: self.reference(reference, false),
            text: self.reference(reference, true),
        }
    }

    /// The text of a reference. An array index is shown only if `shows_index`.
    fn reference(&self, reference: &Reference<ReferenceKind>, shows_index: bool) -> String {
        let from = reference.from;
        let field = |index: i32| {
            let name = self.fields.get(&(from, reference.kind));
            name.cloned().unwrap_or_else(|| format!("(field {index})"))
        };
        match reference.kind {
            ReferenceKind::Field(index) => format!("{}.{}", self.class(from), field(index)),
            ReferenceKind::StaticField(index) => {
                format!("static {}.{}", self.of_class(from), field(index))
            }
            ReferenceKind::Element(index) => {
                let index = match shows_index {
                    true => format!("[{index}]"),
                    false => "[…]".to_owned(),
                };
                self.class(from).replacen("[]", &index, 1)
            }
            ReferenceKind::Class => format!("{}, whose class it is", self.class(from)),
            ReferenceKind::ConstantPool => format!("constant of {}", self.of_class(from)),
            ReferenceKind::OfClass => format!("the class {}", self.of_class(from)),
            ReferenceKind::Other => self.class(from),
        }
    }
}

/// A position in the source: `com.acme.Main.run(Main.java:7)`.
pub(super) fn place(
    jvm: Jvm<'_>,
    methods: &mut Methods,
    method: Option<MethodId>,
    location: i64,
) -> Option<String> {
    let frame = methods.frame(
        jvm,
        StackFrame {
            method: method?,
            location,
        },
    );
    let name = format!("{}.{}", binary(&frame.class), frame.method);
    Some(match frame.line {
        line if line > 0 => format!("{name}({}:{line})", frame.file),
        _ => name,
    })
}
