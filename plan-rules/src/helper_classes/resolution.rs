//! Resolution of members of helper classes (JVMS 5.4.3.2 to 5.4.3.4, 5.4.4).

use std::collections::{BTreeSet, HashMap};

use jvms::access_flags::{ACC_ABSTRACT, ACC_FINAL, ACC_PRIVATE, ACC_STATIC};
use jvms::modified_utf8::Utf8;
use rewriter::{ClassFile, MemberRef};

const OBJECT: &str = "java/lang/Object";
/// First version with `NestHost` and `NestMembers` (JVMS table 4.7-A).
const NESTS_SINCE: u16 = 55;
/// First version in which only initializers may set final fields of their own class (JVMS 6.5.putfield, since Java 9).
const FINAL_FIELDS_SINCE: u16 = 53;

/// The methods of `java/lang/Object`; true for those that interfaces have as well (JVMS 5.4.3.4).
const OBJECT_METHODS: [(&str, &str, bool); 11] = [
    ("getClass", "()Ljava/lang/Class;", true),
    ("hashCode", "()I", true),
    ("equals", "(Ljava/lang/Object;)Z", true),
    ("toString", "()Ljava/lang/String;", true),
    ("notify", "()V", true),
    ("notifyAll", "()V", true),
    ("wait", "()V", true),
    ("wait", "(J)V", true),
    ("wait", "(JI)V", true),
    ("clone", "()Ljava/lang/Object;", false),
    ("finalize", "()V", false),
];

/// The use of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    GetStatic,
    GetField,
    PutStatic,
    PutField,
    InvokeStatic,
    InvokeSpecial,
    /// `invokevirtual` or `invokeinterface`.
    Invoke,
}

impl Use {
    fn is_static(self) -> bool {
        matches!(self, Self::GetStatic | Self::PutStatic | Self::InvokeStatic)
    }

    fn stores(self) -> bool {
        matches!(self, Self::PutStatic | Self::PutField)
    }

    /// Returns the name of the method that may set a final field.
    pub(super) fn initializer(self) -> &'static str {
        match self.is_static() {
            true => "<clinit>",
            false => "<init>",
        }
    }
}

/// The reason why a use cannot be linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    NoMethod,
    NoField,
    Static,
    NotStatic,
    Interface,
    NoInterface,
    Private,
    Final,
    Abstract,
    NoInstances,
}

impl Problem {
    /// Returns the fault, with the error that the JVM would throw.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::NoMethod => "which has no such method (NoSuchMethodError)",
            Self::NoField => "which has no such field (NoSuchFieldError)",
            Self::Static => "where it is static (IncompatibleClassChangeError)",
            Self::NotStatic => "where it is not static (IncompatibleClassChangeError)",
            Self::Interface => "which is an interface (IncompatibleClassChangeError)",
            Self::NoInterface => "which is no interface (IncompatibleClassChangeError)",
            Self::Private => "where it is private (IllegalAccessError)",
            Self::Final => "where it is final (IllegalAccessError)",
            Self::Abstract => "where it is abstract (AbstractMethodError)",
            Self::NoInstances => "which is abstract (InstantiationError)",
        }
    }
}

/// The result of resolution.
enum Resolution {
    /// A member with these flags, and the number of the class that declares it.
    Declared(usize, u16),
    /// An instance method of `java/lang/Object`.
    OfObject,
    /// Possibly a member of another class of `java/`.
    Elsewhere,
    None,
}

/// Name and descriptor.
type Key<'a> = (&'a [u8], &'a [u8]);

/// A helper class for resolution; other helper classes are indices.
struct Helper<'h, 'a> {
    class: &'h ClassFile<'a>,
    /// Access flags by name and descriptor.
    methods: HashMap<Key<'a>, u16>,
    fields: HashMap<Key<'a>, u16>,
    superclass: Option<usize>,
    /// Its own superinterfaces, in order; `None` for those outside the helper classes.
    interfaces: Vec<Option<usize>>,
    /// All superclasses and superinterfaces among the helper classes.
    supertypes: Vec<usize>,
    /// True if it has further supertypes other than `java/lang/Object`.
    unknown: bool,
    /// True if one of these is a superclass. Static methods are inherited only from superclasses.
    unknown_superclass: bool,
}

impl Helper<'_, '_> {
    fn is_interface(&self) -> bool {
        self.class.is_interface()
    }
}

/// Helper classes that can use one another.
pub(super) struct HelperSet<'h, 'a> {
    helpers: Vec<Helper<'h, 'a>>,
    numbers: HashMap<&'a [u8], usize>,
}

impl<'h, 'a> HelperSet<'h, 'a> {
    /// Creates the set; each class must follow its supertypes.
    pub(super) fn new(classes: impl IntoIterator<Item = &'h ClassFile<'a>>) -> Self {
        let (helpers, numbers) = (Vec::new(), HashMap::new());
        let mut set = Self { helpers, numbers };
        for class in classes {
            let helper = set.helper(class);
            let number = set.helpers.len();
            set.numbers.insert(class.this_class().as_bytes(), number);
            set.helpers.push(helper);
        }
        set
    }

    fn helper(&self, class: &'h ClassFile<'a>) -> Helper<'h, 'a> {
        let (mut supertypes, mut unknown) = (BTreeSet::new(), false);
        let direct = class.super_class().into_iter().chain(class.interfaces());
        for name in direct.filter(|name| *name != OBJECT) {
            let Some((number, found)) = self.find(name) else {
                unknown = true;
                continue;
            };
            if supertypes.insert(number) {
                supertypes.extend(&found.supertypes);
                unknown |= found.unknown;
            }
        }
        let named = class.super_class().filter(|name| *name != OBJECT);
        let superclass = named.and_then(|name| self.find(name));
        let unknown_superclass = match superclass {
            Some((_, found)) => found.unknown_superclass,
            None => named.is_some(),
        };
        let interfaces = class.interfaces().map(|name| Some(self.find(name)?.0));
        let methods = class.methods().map(|found| {
            let key = (found.name().as_bytes(), found.descriptor().as_bytes());
            (key, found.access_flags())
        });
        let fields = class.fields().map(|found| {
            let key = (found.name().as_bytes(), found.descriptor().as_bytes());
            (key, found.access_flags())
        });
        Helper {
            class,
            methods: methods.collect(),
            fields: fields.collect(),
            superclass: superclass.map(|(number, _)| number),
            interfaces: interfaces.collect(),
            supertypes: supertypes.into_iter().collect(),
            unknown,
            unknown_superclass,
        }
    }

    fn find(&self, name: Utf8<'_>) -> Option<(usize, &Helper<'h, 'a>)> {
        let number = *self.numbers.get(name.as_bytes())?;
        Some((number, self.helpers.get(number)?))
    }

    /// Checks that `new` can instantiate a class, if it is in this set.
    pub(super) fn instance_of(&self, name: Utf8<'_>) -> Result<(), Problem> {
        match self.find(name) {
            Some((_, found)) if found.class.access_flags() & ACC_ABSTRACT != 0 => {
                Err(Problem::NoInstances)
            }
            _ => Ok(()),
        }
    }

    /// Checks that `user` can use a member in this way, if its class is in this set. `initializer` marks code of the
    /// method that may set final fields.
    pub(super) fn member(
        &self,
        user: &ClassFile<'_>,
        member: &MemberRef<'_>,
        wanted: Use,
        initializer: bool,
    ) -> Result<(), Problem> {
        let Some((number, owner)) = self.find(member.owner) else {
            return Ok(());
        };
        let is_method = member.descriptor.as_bytes().starts_with(b"(");
        let found = match is_method {
            true if owner.is_interface() && !member.interface => return Err(Problem::Interface),
            true if !owner.is_interface() && member.interface => return Err(Problem::NoInterface),
            true => self.method(number, owner, member),
            false => self.field((number, owner), member, &mut BTreeSet::new()),
        };
        let (number, flags) = match found {
            Resolution::Declared(number, flags) => (number, flags),
            Resolution::OfObject if wanted.is_static() => return Err(Problem::NotStatic),
            Resolution::Elsewhere
                if is_method && wanted.is_static() && !owner.unknown_superclass =>
            {
                return Err(Problem::NoMethod);
            }
            Resolution::OfObject | Resolution::Elsewhere => return Ok(()),
            Resolution::None if is_method => return Err(Problem::NoMethod),
            Resolution::None => return Err(Problem::NoField),
        };
        let declaring = self.helpers.get(number).map_or(owner.class, |it| it.class);
        let own = declaring.this_class() == user.this_class();
        if flags & ACC_PRIVATE != 0 && !own && !self.are_nestmates(declaring, user) {
            return Err(Problem::Private);
        }
        match (flags & ACC_STATIC != 0, wanted.is_static()) {
            (true, false) => return Err(Problem::Static),
            (false, true) => return Err(Problem::NotStatic),
            _ => {}
        }
        let may_set = own && (initializer || user.major_version() < FINAL_FIELDS_SINCE);
        if wanted.stores() && flags & ACC_FINAL != 0 && !may_set {
            return Err(Problem::Final);
        }
        if wanted == Use::InvokeSpecial && flags & ACC_ABSTRACT != 0 {
            return Err(Problem::Abstract);
        }
        Ok(())
    }

    /// Resolves a method (JVMS 5.4.3.3, 5.4.3.4): the class and its superclasses, then all their interfaces.
    fn method(&self, number: usize, owner: &Helper<'_, '_>, member: &MemberRef<'_>) -> Resolution {
        let key = (member.name.as_bytes(), member.descriptor.as_bytes());
        if let Some(flags) = owner.methods.get(&key) {
            return Resolution::Declared(number, *flags);
        }
        if member.name == "<init>" {
            return Resolution::None;
        }
        let mut at = owner.superclass;
        while let Some((number, superclass)) = at.and_then(|it| Some((it, self.helpers.get(it)?))) {
            if let Some(flags) = superclass.methods.get(&key) {
                return Resolution::Declared(number, *flags);
            }
            at = superclass.superclass;
        }
        if is_of_object(member) {
            return Resolution::OfObject;
        }
        if owner.unknown_superclass {
            // A class of `java/` precedes all interfaces.
            return Resolution::Elsewhere;
        }
        match self.inherited_from_interface(owner, &key) {
            Some((_, flags)) if owner.unknown && flags & ACC_ABSTRACT != 0 => Resolution::Elsewhere,
            Some((number, flags)) => Resolution::Declared(number, flags),
            None if owner.unknown => Resolution::Elsewhere,
            None => Resolution::None,
        }
    }

    /// Returns the maximally-specific superinterface method that is not abstract, if there is exactly one, else any
    /// (JVMS 5.4.3.3).
    fn inherited_from_interface(
        &self,
        owner: &Helper<'_, '_>,
        key: &Key<'_>,
    ) -> Option<(usize, u16)> {
        let declared = |number: usize| {
            let found = self.helpers.get(number)?;
            let flags = *found.methods.get(key)?;
            let inherited = found.is_interface() && flags & (ACC_PRIVATE | ACC_STATIC) == 0;
            inherited.then_some((number, flags))
        };
        let all = || owner.supertypes.iter().filter_map(|it| declared(*it));
        let is_overridden = |number: usize| {
            let mut others = all().filter_map(|(other, _)| self.helpers.get(other));
            others.any(|other| other.supertypes.contains(&number))
        };
        let specific = all().filter(|(number, _)| !is_overridden(*number));
        let mut with_code = specific.filter(|(_, flags)| flags & ACC_ABSTRACT == 0);
        match (with_code.next(), with_code.next()) {
            (Some(alone), None) => Some(alone),
            _ => all().next_back(),
        }
    }

    /// Resolves a field (JVMS 5.4.3.2): the class, its superinterfaces in order with theirs, then its superclass in the
    /// same way. The classes in `seen` were searched.
    fn field(
        &self,
        (number, owner): (usize, &Helper<'_, '_>),
        member: &MemberRef<'_>,
        seen: &mut BTreeSet<usize>,
    ) -> Resolution {
        let key = (member.name.as_bytes(), member.descriptor.as_bytes());
        if let Some(flags) = owner.fields.get(&key) {
            return Resolution::Declared(number, *flags);
        }
        let superclass = match owner.superclass {
            None if owner.unknown_superclass => Some(None),
            superclass => superclass.map(Some),
        };
        for supertype in owner.interfaces.iter().copied().chain(superclass) {
            let found = supertype.and_then(|number| Some((number, self.helpers.get(number)?)));
            let Some((number, supertype)) = found else {
                // A class of `java/` may have the field.
                return Resolution::Elsewhere;
            };
            if seen.insert(number) {
                match self.field((number, supertype), member, seen) {
                    Resolution::None => {}
                    found => return found,
                }
            }
        }
        Resolution::None
    }

    /// Checks whether two classes have the same nest host, which must list both (JVMS 5.4.4).
    fn are_nestmates(&self, one: &ClassFile<'_>, other: &ClassFile<'_>) -> bool {
        self.nest_host(one) == self.nest_host(other)
    }

    fn nest_host(&self, class: &ClassFile<'_>) -> String {
        let named = class.nest_host().filter(|_| has_nests(class));
        let host = named.and_then(|name| self.find(name)).filter(|(_, host)| {
            let mut members = host.class.nest_members();
            has_nests(host.class) && members.any(|name| name == class.this_class())
        });
        let host = host.map_or(class.this_class(), |(_, host)| host.class.this_class());
        host.to_string()
    }
}

fn has_nests(class: &ClassFile<'_>) -> bool {
    class.major_version() >= NESTS_SINCE
}

fn is_of_object(member: &MemberRef<'_>) -> bool {
    OBJECT_METHODS
        .iter()
        .any(|(name, descriptor, of_interfaces)| {
            let there = *of_interfaces || !member.interface;
            there && member.name == *name && member.descriptor == *descriptor
        })
}
