//! The methods that a compiler has numbered: `lambda$run$0`, `access$100`, `run$lambda$0` (Kotlin), `$anonfun$run$1`
//! (Scala).

use std::cell::RefCell;
use std::collections::HashMap;

use crate::content::code;
use jvms::access_flags::{ACC_BRIDGE, ACC_PRIVATE, ACC_STATIC, ACC_SYNTHETIC};
use jvms::modified_utf8::Utf8;
use rewriter::{ClassFile, MemberRef, Method};

/// Maximum depth of numbered methods that call one another.
const DEEPEST: usize = 64;

/// Name and descriptor of a method.
pub(super) type Key = (String, String);

/// A numbered method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Numbered {
    /// Its current name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Its name without numbers; it includes the name of the enclosing method.
    pub stem: String,
    /// Its code, with a hash in place of each numbered method.
    pub content: String,
}

impl Numbered {
    pub(super) fn key(&self) -> Key {
        (self.name.clone(), self.descriptor.clone())
    }

    /// Checks whether it gives other classes access to a member (javac before release 11).
    pub(super) fn is_accessor(&self) -> bool {
        self.name.starts_with("access$")
    }
}

/// Returns the numbered methods of a class in the order of their numbers.
pub(super) fn all(class: &ClassFile<'_>) -> Vec<Numbered> {
    let contents = Contents::of(class);
    let mut found: Vec<Numbered> = contents
        .methods
        .iter()
        .map(|((name, descriptor), method)| Numbered {
            name: name.clone(),
            descriptor: descriptor.clone(),
            stem: stem(name),
            content: contents.content(method),
        })
        .collect();
    found.sort_by_cached_key(|method| (method.stem.clone(), numbers(&method.name), method.key()));
    found
}

pub(super) fn key(method: &Method<'_, '_>) -> Key {
    let text = |text: Utf8<'_>| text.to_str_lossless().into_owned();
    (text(method.name()), text(method.descriptor()))
}

fn is_numbered(method: &Method<'_, '_>) -> bool {
    let flags = method.access_flags();
    let name = method.name();
    flags & ACC_SYNTHETIC != 0
        && flags & ACC_BRIDGE == 0
        && flags & (ACC_PRIVATE | ACC_STATIC) != 0
        && name.as_bytes().contains(&b'$')
        && name.as_bytes().last().is_some_and(u8::is_ascii_digit)
}

/// Returns the name without the numbers between `$`.
fn stem(name: &str) -> String {
    let is_text = |part: &&str| part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = name.split('$').filter(is_text).collect();
    parts.join("$")
}

fn numbers(name: &str) -> Vec<u64> {
    name.split('$')
        .filter_map(|part| part.parse().ok())
        .collect()
}

/// The code of the methods of a class, with a hash in place of each numbered method.
pub(super) struct Contents<'c, 'a> {
    class: &'c ClassFile<'a>,
    /// The numbered methods.
    methods: HashMap<Key, Method<'c, 'a>>,
    /// The hashes computed so far.
    sums: RefCell<HashMap<Key, u64>>,
    /// The numbered methods whose code is being written; their calls may form a cycle.
    open: RefCell<Vec<Key>>,
}

impl<'c, 'a> Contents<'c, 'a> {
    pub(super) fn of(class: &'c ClassFile<'a>) -> Self {
        let methods = class.methods().filter(is_numbered);
        Self {
            class,
            methods: methods.map(|method| (key(&method), method)).collect(),
            sums: RefCell::default(),
            open: RefCell::default(),
        }
    }

    /// Returns the code of a method of the class.
    pub(super) fn content(&self, method: &Method<'_, '_>) -> String {
        let naming = |member: &MemberRef<'_>| {
            if member.owner != self.class.this_class() {
                return None;
            }
            let key = (
                member.name.to_str_lossless().into_owned(),
                member.descriptor.to_str_lossless().into_owned(),
            );
            let called = self.methods.get(&key)?;
            let sum = self.sum(&key, called);
            Some(format!("numbered {} {sum:x}", key.1))
        };
        code(method, &naming)
    }

    /// Returns the hash of a numbered method's code. 0 for a method that is being written, or beyond the maximum depth.
    fn sum(&self, key: &Key, method: &Method<'_, '_>) -> u64 {
        if let Some(sum) = self.sums.borrow().get(key) {
            return *sum;
        }
        if self.open.borrow().len() >= DEEPEST || self.open.borrow().contains(key) {
            return 0;
        }
        self.open.borrow_mut().push(key.clone());
        let sum = fingerprint::of(self.content(method).as_bytes());
        self.open.borrow_mut().pop();
        self.sums.borrow_mut().insert(key.clone(), sum);
        sum
    }
}
