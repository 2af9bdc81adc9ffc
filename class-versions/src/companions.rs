//! Companions: classes that hold the members that a JVM cannot add to a loaded class.
//!
//! A JVM replaces the bodies of a loaded class and nothing else. So a member that the new version adds moves to a
//! companion, an ordinary class beside the loaded one, in the same loader and package. An instance method becomes a
//! static one with the receiver as its first argument. References of all classes of the patch are redirected. Each
//! redirected instruction has the length of the former one, so no frame and no jump moves.
//!
//! A companion may use the private members of its class through accessors: static methods of its own whose
//! `invokedynamic` is linked with the rights of the class (`java/lang/$ClasshookCompanions`).
//!
//! Members that the new version removes stay. Their bodies move to a *former* companion, since they refer to constants
//! of the former class file.
//!
//! | module | holds |
//! |---|---|
//! | `declarations` | members of classes, and the resolution of references |
//! | `move_plan` | the differences of two versions, and reasons against a patch |
//! | `initialisers` | static initialisers, cut into statements |
//! | `frames` | stack map frames of initialisers |
//! | `redirection` | the references of a class file, redirected |
//! | `code` | generated code |

mod code;
mod declarations;
mod frames;
mod initialisers;
mod move_plan;
mod redirection;

use std::collections::{BTreeSet, HashMap, HashSet};

use jvms::access_flags::{
    ACC_ABSTRACT, ACC_BRIDGE, ACC_FINAL, ACC_INTERFACE, ACC_NATIVE, ACC_PRIVATE, ACC_PROTECTED,
    ACC_PUBLIC, ACC_STATIC, ACC_STRICT, ACC_SUPER, ACC_SYNTHETIC, ACC_VARARGS,
};
use jvms::opcode;
use rewriter::ClassFile;
use rewriter::limits::FRAMES_SINCE;

pub use declarations::{ClassPath, NoClassPath};

use crate::companion::Companion;
use crate::companions::code::{forward, with_receiver};
use crate::companions::declarations::Declarations;
use crate::companions::initialisers::{Statement, is_of, select, statements};
use crate::companions::move_plan::Differences;
use crate::companions::redirection::{Context, Kind, Move, Redirection};
use crate::model::{Attribute, Class, Code, Member, Name, shown, shown_class};

/// A class of a patch: its new class file and the one that decides on its members.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Version<'p> {
    /// The new class file.
    pub new: &'p [u8],
    /// The loaded class, or the class file that a loader would find; absent for a new class.
    pub old: Option<&'p [u8]>,
    /// True if no loader has the class or finds it.
    pub is_new: bool,
}

/// A class file that the JVM accepts in place of the loaded class.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fit {
    /// The class file; absent if it needs no change or is refused.
    pub bytes: Option<Vec<u8>>,
    /// The classes that it needs.
    pub companions: Vec<Companion>,
    /// Messages about moved members.
    pub remarks: Vec<String>,
    /// Reasons why the class cannot be patched.
    pub refused: Vec<String>,
    /// Other classes of the patch whose companions it uses.
    pub needs: Vec<Name>,
}

/// Attributes that the JVM compares with those of the loaded class.
const COMPARED: [&str; 4] = ["NestHost", "NestMembers", "PermittedSubclasses", "Record"];

/// Attributes of a class that a companion keeps.
const KEPT: [&str; 4] = [
    "SourceFile",
    "SourceDebugExtension",
    "BootstrapMethods",
    "InnerClasses",
];

/// The oldest class-file version with `invokedynamic`.
const DYNAMIC_SINCE: u16 = 51;

/// Makes new class files that the JVM accepts for the loaded classes: members that it cannot add move to companions.
pub(crate) fn fit(versions: &[Version<'_>], path: &dyn ClassPath) -> Vec<Fit> {
    let mut fits: Vec<Fit> = versions.iter().map(|_| Fit::default()).collect();
    let mut builder = Builder::new(versions, path);
    if builder.has_nothing_to_do() {
        return fits;
    }
    builder.plan(versions);
    for (index, version) in versions.iter().enumerate() {
        if let Some(fit) = fits.get_mut(index) {
            builder.build(version, fit);
        }
    }
    builder.finish(versions, &mut fits);
    fits
}

/// A class of the patch, taken apart.
struct Parts {
    new: Class,
    old: Option<Class>,
    is_new: bool,
    differences: Differences,
}

impl Parts {
    /// Checks whether the JVM compares an attribute that differs.
    fn has_other_attributes(&self) -> bool {
        let Some(old) = &self.old else { return false };
        let text = |class: &Class, name: &str| {
            let mut out = Vec::new();
            class.write_attribute(name, &mut out);
            out
        };
        COMPARED
            .iter()
            .any(|name| text(old, name) != text(&self.new, name))
    }

    /// Checks whether an earlier patch has defined the class: it is in no nest, other than its new version.
    fn is_nestless(&self) -> bool {
        let has = |class: &Class| class.attribute("NestHost").is_some();
        self.old.as_ref().is_some_and(|old| !has(old)) && has(&self.new)
    }

    fn has_other_declarations(&self) -> bool {
        let Some(old) = &self.old else { return false };
        let list = |class: &Class| {
            let fields = class.fields.iter().map(|it| (class.key(it), it.flags));
            let mut methods: Vec<_> = class
                .methods
                .iter()
                .map(|it| (class.key(it), it.flags))
                .collect();
            methods.sort_unstable();
            (class.flags, fields.collect::<Vec<_>>(), methods)
        };
        list(old) != list(&self.new)
    }
}

/// Class files that are being written, by name of the class that they belong to.
struct Builder<'p> {
    parts: HashMap<Name, Parts>,
    redirection: Redirection<'p>,
    suffix: String,
    /// Companions by the name of their class.
    companions: HashMap<Name, Class>,
    former: HashMap<Name, Class>,
    /// Class files with redirected references, by name.
    written: HashMap<Name, Class>,
}

impl<'p> Builder<'p> {
    fn new(versions: &[Version<'_>], path: &'p dyn ClassPath) -> Self {
        let mut parts = HashMap::new();
        let mut contents = Vec::new();
        for version in versions {
            let old = version.old.and_then(Class::read);
            contents.extend_from_slice(version.new);
            contents.extend_from_slice(version.old.unwrap_or_default());
            let Some(new) = Class::read(version.new) else {
                continue;
            };
            let differences = old
                .as_ref()
                .map(|old| Differences::of(old, &new))
                .unwrap_or_default();
            let found = Parts {
                old,
                is_new: version.is_new,
                differences,
                new,
            };
            parts.insert(found.new.name(), found);
        }
        Self {
            parts,
            redirection: Redirection::new(Declarations::new(path)),
            suffix: format!("{:016x}", fingerprint::of(&contents)),
            companions: HashMap::new(),
            former: HashMap::new(),
            written: HashMap::new(),
        }
    }

    fn has_nothing_to_do(&self) -> bool {
        self.parts.values().all(|parts| {
            !parts.is_new && !parts.has_other_declarations() && !parts.has_other_attributes()
        })
    }

    fn companion_name(&self, class: &[u8]) -> Name {
        [class, b"$patched$", self.suffix.as_bytes()].concat()
    }

    fn former_name(&self, class: &[u8]) -> Name {
        [class, b"$former$", self.suffix.as_bytes()].concat()
    }

    /// Finds out which members move, in all classes.
    fn plan(&mut self, versions: &[Version<'_>]) {
        for parts in self.parts.values() {
            let declarations = &mut self.redirection.declarations;
            declarations.add(&parts.new, parts.old.as_ref());
        }
        let names: HashMap<Name, Class> = self
            .parts
            .iter()
            .map(|(name, parts)| (name.clone(), parts.new.clone()))
            .collect();
        for version in versions {
            let Ok(file) = ClassFile::read(version.new) else {
                continue;
            };
            let name = file.this_class().as_bytes().to_vec();
            let Some(parts) = self.parts.get_mut(&name) else {
                continue;
            };
            if parts.is_new {
                self.redirection.new_classes.insert(name.clone());
            } else if parts.is_nestless() {
                self.redirection.nestless.insert(name.clone());
            }
            let declarations = &self.redirection.declarations;
            parts
                .differences
                .check_overrides(&name, declarations, &names);
            parts.differences.check_annotations(&file);
        }
        let names: Vec<Name> = self.parts.keys().cloned().collect();
        for name in names {
            self.plan_moves(&name);
        }
    }

    fn plan_moves(&mut self, name: &[u8]) {
        let companion = self.companion_name(name);
        let Some(parts) = self.parts.get(name) else {
            return;
        };
        let mut taken: HashSet<(Name, Name)> = HashSet::new();
        for (method, descriptor, flags) in &parts.differences.added_methods {
            let moved = match flags & ACC_STATIC {
                0 => with_receiver(name, descriptor),
                _ => descriptor.clone(),
            };
            let mut called = method.clone();
            while !taken.insert((called.clone(), moved.clone())) {
                called.push(b'$');
            }
            let key = (method.clone(), descriptor.clone(), false);
            let target = Move {
                owner: companion.clone(),
                name: called,
                descriptor: moved,
            };
            self.redirection.moves.insert((name.to_vec(), key), target);
        }
        for (field, descriptor, _) in &parts.differences.added_fields {
            let key = (field.clone(), descriptor.clone(), true);
            let target = Move {
                owner: companion.clone(),
                name: field.clone(),
                descriptor: descriptor.clone(),
            };
            self.redirection.moves.insert((name.to_vec(), key), target);
        }
        for key in &parts.differences.exposed {
            let exposed = (name.to_vec(), key.clone());
            self.redirection.exposed.insert(exposed, companion.clone());
        }
        for key in &parts.differences.no_longer_final {
            self.redirection.finals.insert((name.to_vec(), key.clone()));
        }
    }

    /// Redirects the references of a class, and fills its companions.
    fn build(&mut self, version: &Version<'_>, fit: &mut Fit) {
        let Some(name) = Class::read(version.new).map(|class| class.name()) else {
            return;
        };
        let Some(parts) = self.parts.remove(&name) else {
            return;
        };
        fit.refused
            .extend(parts.differences.refused.iter().cloned());
        if fit.refused.is_empty() {
            let mut needs = BTreeSet::new();
            match self.build_class(&name, &parts, &mut needs) {
                Ok(()) => {
                    needs.remove(&name);
                    fit.needs = needs.into_iter().collect();
                    fit.remarks = self.remarks(&name, &parts);
                }
                Err(reason) => fit.refused.push(reason),
            }
        }
        self.parts.insert(name, parts);
    }

    fn remarks(&self, name: &[u8], parts: &Parts) -> Vec<String> {
        let differences = &parts.differences;
        let fields = differences
            .added_fields
            .iter()
            .map(|(name, _, _)| shown(name));
        let added = differences.added_methods.iter();
        let added =
            added.map(|(name, descriptor, _)| format!("{}{}", shown(name), shown(descriptor)));
        let moved: Vec<String> = fields.chain(added).collect();
        let removed = differences.removed_methods.iter();
        let removed =
            removed.map(|(name, descriptor, _)| format!("{}{}", shown(name), shown(descriptor)));
        let fields = differences
            .removed_fields
            .iter()
            .map(|(name, _)| shown(name));
        let stay: Vec<String> = fields.chain(removed).collect();
        let mut remarks = Vec::new();
        if !moved.is_empty() {
            let companion = shown_class(&self.companion_name(name));
            remarks.push(format!("{companion} has the added {}", moved.join(", ")));
        }
        if !stay.is_empty() {
            remarks.push(format!(
                "{} stays, though the new class does not have it",
                stay.join(", ")
            ));
        }
        remarks
    }

    fn build_class(
        &mut self,
        name: &[u8],
        parts: &Parts,
        needs: &mut BTreeSet<Name>,
    ) -> Result<(), String> {
        let mut class = parts.new.clone();
        let Some(old) = &parts.old else {
            let kind = match parts.is_new {
                true => Kind::New,
                false => Kind::Patched,
            };
            let context = Context::new(kind, name, name);
            self.redirection.redirect(&mut class, &context, needs)?;
            self.written.insert(name.to_vec(), class);
            return Ok(());
        };
        let initialiser = self.companion_initialiser(parts, &mut class)?;
        self.fill_companion(name, parts, initialiser, needs)?;
        self.fill_former(name, parts, old, needs)?;
        let added = |list: &[(Name, Name, u16)]| -> HashSet<(Name, Name)> {
            list.iter()
                .map(|(name, descriptor, _)| (name.clone(), descriptor.clone()))
                .collect()
        };
        let moved = added(&parts.differences.added_methods);
        let pool = class.pool.clone();
        let key = |member: &Member| {
            let text = |index| pool.utf8(index).unwrap_or_default().to_vec();
            (text(member.name), text(member.descriptor))
        };
        class.methods.retain(|method| !moved.contains(&key(method)));
        let kind = match self.redirection.nestless.contains(name) {
            true => Kind::New,
            false => Kind::Patched,
        };
        let context = Context::new(kind, name, &self.companion_name(name));
        self.redirection.redirect(&mut class, &context, needs)?;
        class.keep_structure(old).ok_or_else(pool_full)?;
        for (method, descriptor, flags) in &parts.differences.removed_methods {
            let stub = self.stub(name, &mut class, method, descriptor, *flags);
            class.methods.push(stub.ok_or_else(pool_full)?);
        }
        self.written.insert(name.to_vec(), class);
        Ok(())
    }

    /// Removes from a class the statements of its initialiser that assign added fields, and returns the code that the
    /// companion executes instead.
    fn companion_initialiser(
        &self,
        parts: &Parts,
        class: &mut Class,
    ) -> Result<Option<Code>, String> {
        let differences = &parts.differences;
        let found = class
            .methods
            .iter()
            .position(|method| class.pool.is(method.name, "<clinit>"));
        let Some(index) = found else { return Ok(None) };
        if differences.added_fields.is_empty() && !differences.added_initialiser {
            return Ok(None);
        }
        let added: HashSet<(Name, Name)> = differences
            .added_fields
            .iter()
            .map(|(name, descriptor, _)| (name.clone(), descriptor.clone()))
            .collect();
        let is_added = is_of(&added);
        let method = class.methods.get(index).ok_or_else(pool_full)?;
        let code = class
            .code(method)
            .ok_or("its static initialiser cannot be read")?;
        let split = statements(class, &code);
        let split = split.ok_or("its static initialiser cannot be divided into statements")?;
        let is_moved =
            |found: &Statement| found.uses(&is_added) && !found.writes(|field| !is_added(field));
        let rest: Vec<&Statement> = split.iter().filter(|found| !is_moved(found)).collect();
        if rest.iter().any(|found| found.uses(&is_added)) {
            return Err(
                "a statement of the static initialiser uses an added field together with others"
                    .to_owned(),
            );
        }
        let is_end = |found: &Statement| found.text == [opcode::RETURN];
        if differences.added_initialiser && !rest.iter().all(|found| is_end(found)) {
            return Err(
                "a static initialiser was added, and does not run in a loaded class".to_owned(),
            );
        }
        let moved = select(class, &code, &split, &|found| {
            is_moved(found) || is_end(found)
        });
        let left = select(class, &code, &split, &|found| !is_moved(found));
        let (moved, left) = moved
            .zip(left)
            .ok_or("its static initialiser cannot be divided")?;
        let has_moved = split.iter().any(is_moved);
        if differences.added_initialiser {
            class.methods.remove(index);
        } else if has_moved {
            let bytes = left.write().ok_or_else(pool_full)?;
            class.set_code(index, bytes).ok_or_else(pool_full)?;
        }
        Ok(has_moved.then_some(moved))
    }

    fn fill_companion(
        &mut self,
        name: &[u8],
        parts: &Parts,
        initialiser: Option<Code>,
        needs: &mut BTreeSet<Name>,
    ) -> Result<(), String> {
        let differences = &parts.differences;
        if differences.added_methods.is_empty() && differences.added_fields.is_empty() {
            return Ok(());
        }
        let flags: HashMap<(Name, Name), u16> = differences
            .added_methods
            .iter()
            .map(|(name, descriptor, flags)| ((name.clone(), descriptor.clone()), *flags))
            .collect();
        let mut class = parts.new.clone();
        let fields: HashSet<(Name, Name)> = differences
            .added_fields
            .iter()
            .map(|(name, descriptor, _)| (name.clone(), descriptor.clone()))
            .collect();
        let all = std::mem::take(&mut class.fields);
        class.fields = all
            .into_iter()
            .filter(|field| fields.contains(&class.key(field)))
            .collect();
        for field in &mut class.fields {
            field.flags = field.flags & !(ACC_PRIVATE | ACC_PROTECTED) | ACC_PUBLIC;
        }
        let all = std::mem::take(&mut class.methods);
        for mut method in all {
            let key = class.key(&method);
            if let Some(flags) = flags.get(&key) {
                let moved = (name.to_vec(), (key.0, key.1, false));
                let Some(target) = self.redirection.moves.get(&moved) else {
                    continue;
                };
                class
                    .move_method(&mut method, *flags, target)
                    .ok_or_else(pool_full)?;
                class.methods.push(method);
            } else if class.pool.is(method.name, "<clinit>")
                && let Some(code) = &initialiser
            {
                method.flags = ACC_STATIC;
                class.methods.push(method);
                let index = class.methods.len().saturating_sub(1);
                let bytes = code.write().ok_or_else(pool_full)?;
                class.set_code(index, bytes).ok_or_else(pool_full)?;
            }
        }
        let companion = self.companion_name(name);
        self.make_companion(&mut class, (Kind::Moved, name, &companion), needs)?;
        self.companions.insert(name.to_vec(), class);
        Ok(())
    }

    /// Makes a class with moved members a companion of `of`, and redirects its references.
    fn make_companion(
        &mut self,
        class: &mut Class,
        (kind, of, name): (Kind, &[u8], &[u8]),
        needs: &mut BTreeSet<Name>,
    ) -> Result<(), String> {
        class.become_companion(name).ok_or_else(pool_full)?;
        let context = Context::new(kind, of, name);
        self.redirection.redirect(class, &context, needs)
    }

    /// Moves the bodies of removed methods.
    fn fill_former(
        &mut self,
        name: &[u8],
        parts: &Parts,
        old: &Class,
        needs: &mut BTreeSet<Name>,
    ) -> Result<(), String> {
        let removed: HashMap<(Name, Name), u16> = parts
            .differences
            .removed_methods
            .iter()
            .filter(|(name, _, flags)| has_body(name, *flags))
            .map(|(name, descriptor, flags)| ((name.clone(), descriptor.clone()), *flags))
            .collect();
        if removed.is_empty() {
            return Ok(());
        }
        let former = self.former_name(name);
        let mut class = old.clone();
        class.fields.clear();
        let all = std::mem::take(&mut class.methods);
        for mut method in all {
            let key = class.key(&method);
            let Some(flags) = removed.get(&key) else {
                continue;
            };
            let target = former_method(name, &former, &key, *flags);
            class
                .move_method(&mut method, *flags, &target)
                .ok_or_else(pool_full)?;
            class.methods.push(method);
        }
        self.make_companion(&mut class, (Kind::Former, name, &former), needs)?;
        self.former.insert(name.to_vec(), class);
        Ok(())
    }

    /// Returns a removed method whose body is in the former companion.
    fn stub(
        &self,
        name: &[u8],
        class: &mut Class,
        method: &[u8],
        descriptor: &[u8],
        flags: u16,
    ) -> Option<Member> {
        let key = (method.to_vec(), descriptor.to_vec());
        let code = if has_body(method, flags) {
            let target = former_method(name, &self.former_name(name), &key, flags);
            let index = class
                .pool
                .method(&target.owner, &target.name, &target.descriptor)?;
            let [high, low] = index.to_be_bytes();
            Some(forward(
                &target.descriptor,
                &[opcode::INVOKESTATIC, high, low],
            )?)
        } else if method == b"<clinit>" {
            Some(forward(b"()V", &[])?)
        } else if method == b"<init>" {
            Some(class.missing_constructor(&with_receiver(name, descriptor))?)
        } else {
            None
        };
        let mut attributes = Vec::new();
        if let Some(code) = code {
            attributes.push(Attribute {
                name: class.pool.text(b"Code")?,
                bytes: code.write()?,
            });
        }
        Some(Member {
            flags,
            name: class.pool.text(method)?,
            descriptor: class.pool.text(descriptor)?,
            attributes,
        })
    }

    /// Adds the accessors, and writes all class files.
    fn finish(&mut self, versions: &[Version<'_>], fits: &mut [Fit]) {
        // A companion without moved members may have accessors.
        let exposed: Vec<Name> = self.parts.keys().cloned().collect();
        for name in exposed {
            let companion = self.companion_name(&name);
            if !self.companions.contains_key(&name)
                && self.redirection.accessors.contains_key(&companion)
                && let Some(class) = self.empty_companion(&name, &companion)
            {
                self.companions.insert(name, class);
            }
        }
        for (version, fit) in versions.iter().zip(fits.iter_mut()) {
            let Some(name) = Class::read(version.new).map(|class| class.name()) else {
                continue;
            };
            if !fit.refused.is_empty() {
                continue;
            }
            match self.files(&name) {
                Ok((bytes, companions)) => {
                    fit.bytes = bytes.filter(|bytes| bytes != version.new);
                    fit.companions = companions;
                }
                Err(reason) => fit.refused.push(reason),
            }
        }
    }

    fn empty_companion(&self, name: &[u8], companion: &[u8]) -> Option<Class> {
        let mut class = self.parts.get(name)?.new.clone();
        class.fields.clear();
        class.methods.clear();
        class.become_companion(companion)?;
        Some(class)
    }

    fn files(&mut self, name: &[u8]) -> Result<(Option<Vec<u8>>, Vec<Companion>), String> {
        let mut companions = Vec::new();
        let all = [self.companions.remove(name), self.former.remove(name)];
        for mut class in all.into_iter().flatten() {
            self.add_accessors(&mut class)?;
            companions.push(Companion {
                name: shown(&class.name()),
                bytes: class.write().ok_or_else(pool_full)?,
            });
        }
        let Some(mut class) = self.written.remove(name) else {
            return Ok((None, companions));
        };
        if self.redirection.new_classes.contains(name) {
            self.add_accessors(&mut class)?;
            self.relax(&mut class);
        }
        Ok((Some(class.write().ok_or_else(pool_full)?), companions))
    }

    /// Opens the private members of a new class that others use: it is in no nest.
    fn relax(&self, class: &mut Class) {
        let name = class.name();
        let pool = class.pool.clone();
        let text = |index| pool.utf8(index).unwrap_or_default().to_vec();
        let opened = match class.flags & ACC_INTERFACE {
            0 => 0,
            _ => ACC_PUBLIC,
        };
        let lists = [(&mut class.fields, true), (&mut class.methods, false)];
        for (members, is_field) in lists {
            for member in members {
                let key = (text(member.name), text(member.descriptor), is_field);
                if self.redirection.relaxed.contains(&(name.clone(), key)) {
                    member.flags &= !ACC_PRIVATE;
                    // A method of an interface is private or public (JVMS 4.6).
                    member.flags |= opened;
                }
            }
        }
        class.attributes.retain(|found| {
            !pool.is(found.name, "NestHost") && !pool.is(found.name, "NestMembers")
        });
    }

    fn add_accessors(&mut self, class: &mut Class) -> Result<(), String> {
        let Some(accessors) = self.redirection.accessors.get(&class.name()) else {
            return Ok(());
        };
        if class.flags & ACC_INTERFACE != 0 {
            return Err("an added interface uses private members of other classes".to_owned());
        }
        if class.version.1 < FRAMES_SINCE {
            return Err("its class file is older than Java 6, and the companion needs invokedynamic to reach private members".to_owned());
        }
        if class.version.1 < DYNAMIC_SINCE {
            class.version = (0, DYNAMIC_SINCE);
        }
        let accessors: Vec<_> = accessors
            .iter()
            .map(|(access, name)| (access.clone(), name.clone()))
            .collect();
        for (access, name) in accessors {
            access.add_to(class, &name).ok_or_else(pool_full)?;
        }
        Ok(())
    }
}

fn pool_full() -> String {
    "the constant pool of the patched class would be too large".to_owned()
}

/// Checks whether a removed method has a body that can move.
fn has_body(name: &[u8], flags: u16) -> bool {
    !name.starts_with(b"<") && flags & (ACC_ABSTRACT | ACC_NATIVE) == 0
}

/// Returns the place of a removed method's body.
fn former_method(name: &[u8], former: &[u8], key: &(Name, Name), flags: u16) -> Move {
    let is_static = flags & ACC_STATIC != 0;
    Move {
        owner: former.to_vec(),
        // An instance method must not become the twin of a static one.
        name: match is_static {
            true => key.0.clone(),
            false => [key.0.as_slice(), b"$"].concat(),
        },
        descriptor: match is_static {
            true => key.1.clone(),
            false => with_receiver(name, &key.1),
        },
    }
}

impl Class {
    /// Makes a method a static one under its new name.
    fn move_method(&mut self, method: &mut Member, flags: u16, target: &Move) -> Option<()> {
        method.name = self.pool.text(&target.name)?;
        method.descriptor = self.pool.text(&target.descriptor)?;
        method.flags = flags & (ACC_VARARGS | ACC_STRICT | ACC_SYNTHETIC) & !ACC_BRIDGE
            | ACC_PUBLIC
            | ACC_STATIC;
        let pool = &self.pool;
        method
            .attributes
            .retain(|found| pool.is(found.name, "Code") || pool.is(found.name, "Exceptions"));
        Some(())
    }

    /// Makes the class a companion of this name.
    fn become_companion(&mut self, name: &[u8]) -> Option<()> {
        self.this = self.pool.class(name)?;
        self.superclass = self.pool.class(b"java/lang/Object")?;
        self.interfaces.clear();
        self.flags = ACC_PUBLIC | ACC_FINAL | ACC_SUPER | ACC_SYNTHETIC;
        self.keep_attributes(&KEPT);
        Some(())
    }

    /// Gives a class the flags, fields, members' flags and compared attributes of the loaded class.
    fn keep_structure(&mut self, old: &Class) -> Option<()> {
        self.flags = old.flags;
        let mut fields: HashMap<(Name, Name), Member> = std::mem::take(&mut self.fields)
            .into_iter()
            .map(|field| (self.key(&field), field))
            .collect();
        for known in &old.fields {
            let key = old.key(known);
            let mut field = match fields.remove(&key) {
                Some(field) => field,
                None => Member {
                    flags: 0,
                    name: self.pool.text(&key.0)?,
                    descriptor: self.pool.text(&key.1)?,
                    attributes: Vec::new(),
                },
            };
            field.flags = known.flags;
            self.fields.push(field);
        }
        let flags: HashMap<(Name, Name), u16> = old
            .methods
            .iter()
            .map(|method| (old.key(method), method.flags))
            .collect();
        let keys: Vec<(Name, Name)> = self.methods.iter().map(|method| self.key(method)).collect();
        for (method, key) in self.methods.iter_mut().zip(keys) {
            if let Some(flags) = flags.get(&key) {
                // A method may gain or lose `native`.
                method.flags = flags & !ACC_NATIVE | method.flags & ACC_NATIVE;
            }
        }
        for name in COMPARED {
            self.copy_attribute(old, name)?;
        }
        Some(())
    }

    /// Replaces an attribute by that of another class. If the other class lacks it, the attribute is removed.
    fn copy_attribute(&mut self, from: &Class, name: &str) -> Option<()> {
        let text = |class: &Class| {
            let mut out = Vec::new();
            class.write_attribute(name, &mut out);
            out
        };
        if text(self) == text(from) {
            return Some(());
        }
        let pool = &self.pool;
        let place = self
            .attributes
            .iter()
            .position(|found| pool.is(found.name, name));
        if let Some(place) = place {
            self.attributes.remove(place);
        }
        if let Some(bytes) = from.attribute(name) {
            let bytes = self.transfer(from, name, bytes)?;
            let name = self.pool.text(name.as_bytes())?;
            self.attributes.push(Attribute { name, bytes });
        }
        Some(())
    }

    /// Returns the code of a constructor that the new class does not have.
    fn missing_constructor(&mut self, descriptor: &[u8]) -> Option<Code> {
        let error = b"java/lang/NoSuchMethodError";
        let class = self.pool.class(error)?.to_be_bytes();
        let constructor = self.pool.method(error, b"<init>", b"()V")?.to_be_bytes();
        let mut code = forward(descriptor, &[])?;
        code.code = vec![
            opcode::NEW,
            class[0],
            class[1],
            opcode::DUP,
            opcode::INVOKESPECIAL,
            constructor[0],
            constructor[1],
            opcode::ATHROW,
        ];
        code.max_stack = 2;
        Some(code)
    }
}
