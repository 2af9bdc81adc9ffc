//! The declarations of classes inside and outside a patch, and the resolution of references to members.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use jvms::access_flags::{ACC_PRIVATE, ACC_PROTECTED, ACC_PUBLIC, ACC_STATIC};

use crate::model::{Class, Name, Reference};

/// Name and descriptor of a member, and whether it is a field.
pub(super) type Key = (Name, Name, bool);

/// Finds class files of classes outside the patch.
pub trait ClassPath {
    /// Returns the class file that the loader of the patched classes finds, by internal name.
    fn class_file(&self, name: &[u8]) -> Option<Vec<u8>>;
}

/// A class path without a class.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoClassPath;

impl ClassPath for NoClassPath {
    fn class_file(&self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// The declaration of a class.
#[derive(Debug, Clone, Default)]
pub(super) struct Declaration {
    pub superclass: Option<Name>,
    pub interfaces: Vec<Name>,
    /// Flags by member.
    pub members: HashMap<Key, u16>,
}

impl Declaration {
    pub(super) fn of(class: &Class) -> Self {
        let name = |index: u16| class.pool.class_name(index).map(<[u8]>::to_vec);
        let mut members = HashMap::new();
        for (all, is_field) in [(&class.fields, true), (&class.methods, false)] {
            for member in all {
                let (name, descriptor) = class.key(member);
                members.insert((name, descriptor, is_field), member.flags);
            }
        }
        Self {
            superclass: name(class.superclass),
            interfaces: class.interfaces.iter().filter_map(|it| name(*it)).collect(),
            members,
        }
    }

    pub(super) fn supertypes(&self) -> impl Iterator<Item = &Name> {
        self.superclass.iter().chain(&self.interfaces)
    }
}

/// A member, with the class that declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resolved {
    pub owner: Name,
    pub flags: u16,
}

impl Resolved {
    pub(super) fn is_static(&self) -> bool {
        self.flags & ACC_STATIC != 0
    }

    pub(super) fn is_private(&self) -> bool {
        self.flags & ACC_PRIVATE != 0
    }

    pub(super) fn is_protected(&self) -> bool {
        self.flags & ACC_PROTECTED != 0
    }
}

/// Returns the package of an internal name.
pub(super) fn package(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| *byte == b'/');
    end.and_then(|end| name.get(..end)).unwrap_or_default()
}

/// Returns the rank of the access that flags allow: private, package, protected, public.
pub(super) fn access(flags: u16) -> u8 {
    match flags & (ACC_PRIVATE | ACC_PROTECTED | ACC_PUBLIC) {
        ACC_PRIVATE => 0,
        ACC_PROTECTED => 2,
        ACC_PUBLIC => 3,
        _ => 1,
    }
}

/// All declarations. A class of the patch has the members of its loaded and its new version.
pub(super) struct Declarations<'p> {
    path: &'p dyn ClassPath,
    of_patch: HashMap<Name, Rc<Declaration>>,
    others: RefCell<HashMap<Name, Option<Rc<Declaration>>>>,
}

impl<'p> Declarations<'p> {
    pub(super) fn new(path: &'p dyn ClassPath) -> Self {
        Self {
            path,
            of_patch: HashMap::new(),
            others: RefCell::default(),
        }
    }

    /// Adds a class of the patch. Members of the loaded class keep its flags.
    pub(super) fn add(&mut self, new: &Class, old: Option<&Class>) {
        let mut declaration = Declaration::of(new);
        if let Some(old) = old.map(Declaration::of) {
            declaration.members.extend(old.members);
        }
        self.of_patch.insert(new.name(), Rc::new(declaration));
    }

    pub(super) fn class(&self, name: &[u8]) -> Option<Rc<Declaration>> {
        if let Some(found) = self.of_patch.get(name) {
            return Some(Rc::clone(found));
        }
        if let Some(found) = self.others.borrow().get(name) {
            return found.clone();
        }
        let file = self.path.class_file(name);
        let class = file.and_then(|file| Class::read(&file));
        let found = class.map(|class| Rc::new(Declaration::of(&class)));
        self.others
            .borrow_mut()
            .insert(name.to_vec(), found.clone());
        found
    }

    /// Returns the member to which a reference leads (JVMS 5.4.3.2 and 5.4.3.3).
    pub(super) fn resolve(&self, reference: &Reference, is_field: bool) -> Option<Resolved> {
        let key = (
            reference.name.clone(),
            reference.descriptor.clone(),
            is_field,
        );
        self.find(&reference.owner, &key)
    }

    /// Returns the member of a class or of its supertypes.
    pub(super) fn find(&self, owner: &[u8], key: &Key) -> Option<Resolved> {
        let mut seen = HashSet::new();
        let mut open = vec![owner.to_vec()];
        while let Some(name) = open.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let Some(class) = self.class(&name) else {
                continue;
            };
            if let Some(flags) = class.members.get(key) {
                return Some(Resolved {
                    owner: name,
                    flags: *flags,
                });
            }
            // The superclass is visited first.
            open.extend(class.interfaces.iter().rev().cloned());
            open.extend(class.superclass.clone());
        }
        None
    }

    /// Returns the supertypes of a class, itself included. The flag is false if one has no class file.
    pub(super) fn supertypes(&self, name: &[u8]) -> (HashSet<Name>, bool) {
        let (mut seen, mut complete) = (HashSet::new(), true);
        let mut open = vec![name.to_vec()];
        while let Some(name) = open.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            match self.class(&name) {
                Some(class) => open.extend(class.supertypes().cloned()),
                None => complete = false,
            }
        }
        (seen, complete)
    }
}
