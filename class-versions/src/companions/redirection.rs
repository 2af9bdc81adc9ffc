//! The references of a class file, redirected to moved members and accessors.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use jvms::access_flags::{ACC_PUBLIC, ACC_STATIC, ACC_SYNTHETIC};
use jvms::constant_tag;
use jvms::opcode;

use crate::companions::code::{forward, with_receiver};
use crate::companions::declarations::{Declarations, Key, Resolved, package};
use crate::model::{Attribute, Class, Code, Member, Name, Reference, shown, shown_class};

/// The class whose bootstrap method links accessors, and the method.
const LINKER: &[u8] = b"java/lang/$ClasshookCompanions";
const LINK: &[u8] = b"link";
const LINK_DESCRIPTOR: &[u8] = b"(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;ILjava/lang/Class;Ljava/lang/Class;)Ljava/lang/invoke/CallSite;";

/// `REF_invokeStatic` (JVMS table 5.4.3.5-A).
const REF_INVOKE_STATIC: u8 = 6;

/// The opcodes of the kinds of method handles, from 1 on.
const KINDS: [u8; 9] = [
    opcode::GETFIELD,
    opcode::GETSTATIC,
    opcode::PUTFIELD,
    opcode::PUTSTATIC,
    opcode::INVOKEVIRTUAL,
    opcode::INVOKESTATIC,
    opcode::INVOKESPECIAL,
    opcode::NEW,
    opcode::INVOKEINTERFACE,
];

/// Methods that look at the class of their caller, or need its private members: they would find the companion.
const CALLER_SENSITIVE: [(&str, &str); 5] = [
    ("java/lang/invoke/MethodHandles", "lookup"),
    (
        "java/util/concurrent/atomic/AtomicIntegerFieldUpdater",
        "newUpdater",
    ),
    (
        "java/util/concurrent/atomic/AtomicLongFieldUpdater",
        "newUpdater",
    ),
    (
        "java/util/concurrent/atomic/AtomicReferenceFieldUpdater",
        "newUpdater",
    ),
    ("java/lang/StackWalker", "getCallerClass"),
];

/// The new place of a moved member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Move {
    pub owner: Name,
    pub name: Name,
    pub descriptor: Name,
}

/// The kind of a class file with references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A loaded class.
    Patched,
    /// The companion with added members.
    Moved,
    /// The companion with removed members. Its code refers to the loaded class.
    Former,
    /// A new class.
    New,
}

/// The class file whose references are redirected.
#[derive(Debug, Clone)]
pub(super) struct Context {
    kind: Kind,
    /// The class for which the code was compiled.
    class: Name,
    /// The class file that holds the code, or its accessors.
    holder: Name,
}

impl Context {
    pub(super) fn new(kind: Kind, class: &[u8], holder: &[u8]) -> Self {
        Self {
            kind,
            class: class.to_vec(),
            holder: holder.to_vec(),
        }
    }
}

/// An access with the rights of another class.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Access {
    /// The kind of the method handle (JVMS table 5.4.3.5-A).
    kind: u8,
    reference: Reference,
    /// The class whose rights it needs.
    host: Name,
}

impl Access {
    /// Returns the descriptor of the accessor.
    fn descriptor(&self) -> Name {
        let Reference {
            owner, descriptor, ..
        } = &self.reference;
        match self.kind {
            1 => with_receiver(owner, &[b"()", descriptor.as_slice()].concat()),
            2 => [b"()", descriptor.as_slice()].concat(),
            3 => with_receiver(owner, &[b"(", descriptor.as_slice(), b")V"].concat()),
            4 => [b"(", descriptor.as_slice(), b")V"].concat(),
            REF_INVOKE_STATIC => descriptor.clone(),
            7 => with_receiver(&self.host, descriptor),
            _ => with_receiver(owner, descriptor),
        }
    }

    /// Adds the accessor to a class.
    pub(super) fn add_to(&self, class: &mut Class, name: &[u8]) -> Option<()> {
        let descriptor = self.descriptor();
        let link = class.pool.method(LINKER, LINK, LINK_DESCRIPTOR)?;
        let handle = class.pool.method_handle(REF_INVOKE_STATIC, link)?;
        let arguments = [
            class.pool.integer(i32::from(self.kind))?,
            class.pool.class(&self.reference.owner)?,
            class.pool.class(&self.host)?,
        ];
        let bootstrap = class.add_bootstrap_method(handle, &arguments)?;
        let member = &self.reference.name;
        let [high, low] = class
            .pool
            .invoke_dynamic(bootstrap, member, &descriptor)?
            .to_be_bytes();
        let code = forward(&descriptor, &[opcode::INVOKEDYNAMIC, high, low, 0, 0])?;
        let attribute = Attribute {
            name: class.pool.text(b"Code")?,
            bytes: code.write()?,
        };
        class.methods.push(Member {
            flags: ACC_PUBLIC | ACC_STATIC | ACC_SYNTHETIC,
            name: class.pool.text(name)?,
            descriptor: class.pool.text(&descriptor)?,
            attributes: vec![attribute],
        });
        Some(())
    }
}

/// The target of a reference.
enum Target {
    Keep,
    To(Move),
}

/// Moved members, and the references found so far that need more than a redirection.
pub(super) struct Redirection<'p> {
    pub declarations: Declarations<'p>,
    /// The new places of moved members.
    pub moves: HashMap<(Name, Key), Move>,
    /// Members with more access than the loaded class gives, with the companion of their class.
    pub exposed: HashMap<(Name, Key), Name>,
    /// Fields that are final in the loaded class alone.
    pub finals: HashSet<(Name, Key)>,
    pub new_classes: HashSet<Name>,
    /// Loaded classes that an earlier patch has defined: they are in no nest.
    pub nestless: HashSet<Name>,
    /// Private members of new classes that other classes use.
    pub relaxed: HashSet<(Name, Key)>,
    /// Names of accessors by the class file that holds them.
    pub accessors: BTreeMap<Name, BTreeMap<Access, Name>>,
}

impl<'p> Redirection<'p> {
    pub(super) fn new(declarations: Declarations<'p>) -> Self {
        Self {
            declarations,
            moves: HashMap::new(),
            exposed: HashMap::new(),
            finals: HashSet::new(),
            new_classes: HashSet::new(),
            nestless: HashSet::new(),
            relaxed: HashSet::new(),
            accessors: BTreeMap::new(),
        }
    }

    /// Redirects the references of all methods of a class. `needs` gets the classes whose companions it uses.
    pub(super) fn redirect(
        &mut self,
        class: &mut Class,
        context: &Context,
        needs: &mut BTreeSet<Name>,
    ) -> Result<(), String> {
        let mut bootstraps: BTreeSet<u16> = BTreeSet::new();
        let mut handles: BTreeSet<u16> = BTreeSet::new();
        for index in 0..class.methods.len() {
            let Some(mut code) = class.methods.get(index).and_then(|found| class.code(found))
            else {
                continue;
            };
            let is_initialiser = class.methods.get(index).is_some_and(|found| {
                class
                    .pool
                    .utf8(found.name)
                    .is_some_and(|name| name.starts_with(b"<"))
            });
            let before = code.code.clone();
            let scan = Scan {
                context,
                is_initialiser,
                bootstraps: &mut bootstraps,
                handles: &mut handles,
            };
            self.redirect_code(class, &mut code, scan, needs)?;
            if code.code != before {
                let bytes = code.write().ok_or("its code cannot be written")?;
                class
                    .set_code(index, bytes)
                    .ok_or("its code cannot be written")?;
            }
        }
        let mut seen = BTreeSet::new();
        while let Some(number) = bootstraps.pop_first() {
            if !seen.insert(number) {
                continue;
            }
            for used in class.bootstrap_method(Some(number)).into_iter().flatten() {
                match class.pool.tag(used) {
                    Some(constant_tag::METHOD_HANDLE) => {
                        handles.insert(used);
                    }
                    Some(constant_tag::DYNAMIC) => bootstraps.extend(class.pool.bootstrap(used)),
                    _ => {}
                }
            }
        }
        for handle in handles {
            self.redirect_handle(class, handle, context, needs)?;
        }
        Ok(())
    }

    fn redirect_code(
        &mut self,
        class: &mut Class,
        code: &mut Code,
        scan: Scan<'_>,
        needs: &mut BTreeSet<Name>,
    ) -> Result<(), String> {
        let starts = code.starts().ok_or("its code cannot be read")?;
        for at in starts {
            let found = code.opcode(at);
            match found {
                opcode::LDC => note_constant(
                    class,
                    code.code
                        .get(at.saturating_add(1))
                        .map(|index| u16::from(*index)),
                    scan.bootstraps,
                    scan.handles,
                ),
                opcode::LDC_W | opcode::LDC2_W => {
                    note_constant(class, code.operand(at), scan.bootstraps, scan.handles)
                }
                opcode::INVOKEDYNAMIC => {
                    let index = code.operand(at);
                    scan.bootstraps
                        .extend(index.and_then(|index| class.pool.bootstrap(index)));
                }
                opcode::GETSTATIC..=opcode::INVOKEINTERFACE => {
                    let reference = code
                        .operand(at)
                        .and_then(|index| class.pool.reference(index));
                    let Some(reference) = reference else { continue };
                    self.check_caller(scan.context, &reference)?;
                    self.check_final(scan.context, scan.is_initialiser, found, &reference)?;
                    let Target::To(to) = self.target(scan.context, found, &reference, needs)?
                    else {
                        continue;
                    };
                    let is_field = is_field_access(found) && !to.descriptor.starts_with(b"(");
                    let index = match is_field {
                        true => class.pool.field(&to.owner, &to.name, &to.descriptor),
                        false => class.pool.method(&to.owner, &to.name, &to.descriptor),
                    };
                    let [high, low] = index.ok_or("its constant pool is full")?.to_be_bytes();
                    match (is_field, found) {
                        (true, _) => code.overwrite(at, &[found, high, low]),
                        (false, opcode::INVOKEINTERFACE) => {
                            code.overwrite(
                                at,
                                &[opcode::INVOKESTATIC, high, low, opcode::NOP, opcode::NOP],
                            );
                        }
                        (false, _) => code.overwrite(at, &[opcode::INVOKESTATIC, high, low]),
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn redirect_handle(
        &mut self,
        class: &mut Class,
        index: u16,
        context: &Context,
        needs: &mut BTreeSet<Name>,
    ) -> Result<(), String> {
        let Some((kind, reference)) = class.pool.handle(index) else {
            return Ok(());
        };
        let Some(reference) = class.pool.reference(reference) else {
            return Ok(());
        };
        let place = usize::from(kind).checked_sub(1);
        let Some(opcode) = place.and_then(|place| KINDS.get(place)) else {
            return Ok(());
        };
        let Target::To(to) = self.target(context, *opcode, &reference, needs)? else {
            return Ok(());
        };
        let is_field = !to.descriptor.starts_with(b"(");
        let (kind, member) = match is_field {
            true => (kind, class.pool.field(&to.owner, &to.name, &to.descriptor)),
            false => (
                REF_INVOKE_STATIC,
                class.pool.method(&to.owner, &to.name, &to.descriptor),
            ),
        };
        class
            .pool
            .set_handle(index, kind, member.ok_or("its constant pool is full")?);
        Ok(())
    }

    /// Refuses moved code that asks for its caller.
    fn check_caller(&self, context: &Context, reference: &Reference) -> Result<(), String> {
        if context.kind != Kind::Moved {
            return Ok(());
        }
        let (owner, name) = (shown(&reference.owner), shown(&reference.name));
        if CALLER_SENSITIVE.contains(&(owner.as_str(), name.as_str())) {
            let owner = shown_class(&reference.owner);
            return Err(format!(
                "an added member calls {owner}.{name}, which would act for the companion and not for the class"
            ));
        }
        Ok(())
    }

    /// Refuses the assignment of a field that is final in the loaded class.
    fn check_final(
        &self,
        context: &Context,
        is_initialiser: bool,
        opcode: u8,
        reference: &Reference,
    ) -> Result<(), String> {
        let is_write = matches!(opcode, opcode::PUTFIELD | opcode::PUTSTATIC);
        let in_own = is_initialiser && context.kind == Kind::Patched;
        if !is_write || in_own || self.finals.is_empty() {
            return Ok(());
        }
        let Some(found) = self.declarations.resolve(reference, true) else {
            return Ok(());
        };
        if self.finals.contains(&(found.owner, key(reference, true))) {
            let name = shown(&reference.name);
            return Err(format!(
                "the field {name} is assigned, and is final in the loaded class"
            ));
        }
        Ok(())
    }

    fn target(
        &mut self,
        context: &Context,
        opcode: u8,
        reference: &Reference,
        needs: &mut BTreeSet<Name>,
    ) -> Result<Target, String> {
        if reference.owner.starts_with(b"[") {
            return Ok(Target::Keep);
        }
        if reference.name == b"<init>" {
            return self.constructor(context, reference);
        }
        let is_field = is_field_access(opcode);
        let key = key(reference, is_field);
        let resolved = self.declarations.resolve(reference, is_field);
        if let Some(found) = &resolved {
            let place = (found.owner.clone(), key.clone());
            if context.kind != Kind::Former
                && let Some(moved) = self.moves.get(&place)
            {
                needs.insert(found.owner.clone());
                return Ok(Target::To(moved.clone()));
            }
            if found.owner != context.class
                && context.kind != Kind::Former
                && let Some(holder) = self.exposed.get(&place).cloned()
            {
                needs.insert(found.owner.clone());
                let kind = call_kind(opcode, reference);
                return Ok(self.accessor(&holder, kind, reference, &found.owner));
            }
            if found.is_private() && self.new_classes.contains(&found.owner) {
                if found.owner != context.holder {
                    self.relaxed.insert(place);
                }
                return Ok(Target::Keep);
            }
        }
        Ok(match context.kind {
            Kind::Patched => match resolved {
                Some(found)
                    if found.is_private()
                        && found.owner != context.class
                        && self.nestless.contains(&found.owner) =>
                {
                    let kind = call_kind(opcode, reference);
                    self.accessor(&context.holder, kind, reference, &found.owner)
                }
                _ => Target::Keep,
            },
            Kind::New => match resolved {
                Some(found) if found.is_private() && found.owner != context.class => {
                    let kind = call_kind(opcode, reference);
                    self.accessor(&context.holder, kind, reference, &found.owner)
                }
                _ => Target::Keep,
            },
            Kind::Moved | Kind::Former => {
                self.target_in_companion(context, opcode, reference, resolved)
            }
        })
    }

    /// Returns the target of a reference in a companion, which is neither in the nest of its class nor a subclass.
    fn target_in_companion(
        &mut self,
        context: &Context,
        opcode: u8,
        reference: &Reference,
        resolved: Option<Resolved>,
    ) -> Target {
        let is_above = || {
            reference.owner == context.class
                || self
                    .declarations
                    .supertypes(&context.class)
                    .0
                    .contains(&reference.owner)
        };
        let kind = call_kind(opcode, reference);
        match resolved {
            Some(found) if found.is_private() => {
                self.accessor(&context.holder, kind, reference, &found.owner)
            }
            // super.method(): the method of the superclass, whatever overrides it.
            found if opcode == opcode::INVOKESPECIAL => {
                let is_own = found.is_some_and(|found| found.owner == context.class);
                let kind = if is_own { kind } else { 7 };
                self.accessor(&context.holder, kind, reference, &context.class)
            }
            Some(found)
                if found.is_protected() && package(&found.owner) != package(&context.class) =>
            {
                match is_above() || !found.is_static() {
                    true => self.accessor(&context.holder, kind, reference, &context.class),
                    false => Target::Keep,
                }
            }
            None if is_above() => self.accessor(&context.holder, kind, reference, &context.class),
            _ => Target::Keep,
        }
    }

    /// Constructors are called on objects that are not initialised, so no accessor can call them.
    fn constructor(&mut self, context: &Context, reference: &Reference) -> Result<Target, String> {
        let key = key(reference, false);
        let class = self.declarations.class(&reference.owner);
        let flags = class.and_then(|class| class.members.get(&key).copied());
        let place = (reference.owner.clone(), key);
        let is_private = flags.is_some_and(|flags| flags & jvms::access_flags::ACC_PRIVATE != 0);
        if is_private && self.new_classes.contains(&reference.owner) {
            if reference.owner != context.holder {
                self.relaxed.insert(place);
            }
            return Ok(Target::Keep);
        }
        let name = shown_class(&reference.owner);
        if self.exposed.contains_key(&place) && reference.owner != context.class {
            return Err(format!(
                "it calls a constructor of {name} that has less access in the loaded class"
            ));
        }
        let is_own = reference.owner == context.class;
        let is_in_nest = context.kind == Kind::Patched && !self.nestless.contains(&reference.owner)
            || is_own && matches!(context.kind, Kind::Patched | Kind::New);
        if is_private && !is_in_nest {
            return Err(format!(
                "it calls a private constructor of {name} from outside"
            ));
        }
        Ok(Target::Keep)
    }

    /// Returns the accessor in a class file, and creates it if necessary.
    fn accessor(&mut self, holder: &[u8], kind: u8, reference: &Reference, host: &[u8]) -> Target {
        let access = Access {
            kind,
            reference: reference.clone(),
            host: host.to_vec(),
        };
        let descriptor = access.descriptor();
        let of_holder = self.accessors.entry(holder.to_vec()).or_default();
        let number = of_holder.len();
        let name = of_holder.entry(access).or_insert_with(|| {
            let member = shown(&reference.name);
            format!("access$patched${number}${member}").into_bytes()
        });
        Target::To(Move {
            owner: holder.to_vec(),
            name: name.clone(),
            descriptor,
        })
    }
}

/// The state of one walk through the code of a class.
struct Scan<'s> {
    context: &'s Context,
    is_initialiser: bool,
    /// Bootstrap methods that the code uses.
    bootstraps: &'s mut BTreeSet<u16>,
    /// Method handles that the code loads.
    handles: &'s mut BTreeSet<u16>,
}

fn note_constant(
    class: &Class,
    index: Option<u16>,
    bootstraps: &mut BTreeSet<u16>,
    handles: &mut BTreeSet<u16>,
) {
    let Some(index) = index else { return };
    match class.pool.tag(index) {
        Some(constant_tag::METHOD_HANDLE) => {
            handles.insert(index);
        }
        Some(constant_tag::DYNAMIC) => bootstraps.extend(class.pool.bootstrap(index)),
        _ => {}
    }
}

fn key(reference: &Reference, is_field: bool) -> Key {
    (
        reference.name.clone(),
        reference.descriptor.clone(),
        is_field,
    )
}

fn is_field_access(opcode: u8) -> bool {
    (opcode::GETSTATIC..=opcode::PUTFIELD).contains(&opcode)
}

/// Returns the kind of method handle for an access. A private method is found as a virtual one.
fn call_kind(opcode: u8, reference: &Reference) -> u8 {
    match opcode {
        opcode::GETFIELD => 1,
        opcode::GETSTATIC => 2,
        opcode::PUTFIELD => 3,
        opcode::PUTSTATIC => 4,
        opcode::INVOKESTATIC => REF_INVOKE_STATIC,
        _ if reference.interface => 9,
        _ => 5,
    }
}
