//! Maps old names to new ones, in every form of name in class files.

use std::collections::HashMap;

use crate::edits::ClassEdit;
use crate::limits::MAX_ELEMENT_DEPTH;
use crate::snippet::Member;
use jvms::modified_utf8;

/// Name and descriptor.
type Key = (Vec<u8>, Vec<u8>);

/// The renames.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Types by internal name.
    types: HashMap<Vec<u8>, Vec<u8>>,
    /// New names by owner, then by name and descriptor.
    members: HashMap<Vec<u8>, HashMap<Key, Vec<u8>>>,
}

/// The use of a text in the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    /// Internal name or array descriptor, of a `CONSTANT_Class`.
    Class,
    /// Descriptor or signature (JVMS 4.3, 4.7.9.1).
    Signature,
}

impl Names {
    /// Collects the renaming edits.
    pub(crate) fn of(edits: &[ClassEdit]) -> Self {
        let mut names = Names::default();
        for edit in edits {
            match edit {
                ClassEdit::RenameType { from, to } => {
                    names
                        .types
                        .insert(modified_utf8::encode(from), modified_utf8::encode(to));
                }
                ClassEdit::RenameMember { member, to } => {
                    let key = (
                        modified_utf8::encode(&member.name),
                        modified_utf8::encode(&member.descriptor),
                    );
                    let owner = names.members.entry(modified_utf8::encode(&member.owner));
                    owner.or_default().insert(key, modified_utf8::encode(to));
                }
                _ => {}
            }
        }
        names
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.types.is_empty() && self.members.is_empty()
    }

    pub(crate) fn renames_members(&self) -> bool {
        !self.members.is_empty()
    }

    /// Returns the new name of a member, if it is renamed.
    pub(crate) fn member(&self, owner: &[u8], name: &[u8], descriptor: &[u8]) -> Option<&[u8]> {
        let members = self.members.get(owner)?;
        // The map's key owns its texts; few owners reach this point.
        let key = (name.to_vec(), descriptor.to_vec());
        members.get(&key).map(Vec::as_slice)
    }

    /// Returns the new name of a member of `owner` with this name and any descriptor, because annotations name members
    /// without descriptor.
    pub(crate) fn member_by_name(&self, owner: &[u8], name: &[u8]) -> Option<&[u8]> {
        let members = self.members.get(owner)?;
        let mut found = members.iter().filter(|((old, _), _)| old == name);
        found.next().map(|(_, new)| new.as_slice())
    }

    /// Returns the new form of a text, if it changes.
    pub(crate) fn text(&self, role: Role, old: &[u8]) -> Option<Vec<u8>> {
        if self.types.is_empty() {
            return None;
        }
        let new = match role {
            Role::Class if old.first() != Some(&b'[') => self.types.get(old).cloned()?,
            _ => self.signature(old)?,
        };
        (new != old).then_some(new)
    }

    /// Checks whether a member or member class is renamed from `old` to `new`.
    pub(crate) fn renames_to(&self, old: &[u8], new: &[u8]) -> bool {
        let members = self.members.values().flatten();
        let mut members = members.map(|((from, _), to)| (from.as_slice(), to.as_slice()));
        let simple = || {
            self.types
                .keys()
                .any(|class| class.ends_with(old) && self.simple(class) == Some(new))
        };
        members.any(|pair| pair == (old, new)) || simple()
    }

    /// Returns a name in its new form.
    pub(crate) fn string(&self, role: Role, old: &str) -> String {
        match self.text(role, &modified_utf8::encode(old)) {
            Some(new) => modified_utf8::Utf8::new(&new)
                .to_str_lossless()
                .into_owned(),
            None => old.to_owned(),
        }
    }

    /// Returns a member's names in their new forms.
    pub(crate) fn member_name(&self, old: &Member) -> Member {
        let owner = modified_utf8::encode(&old.owner);
        let name = modified_utf8::encode(&old.name);
        let descriptor = modified_utf8::encode(&old.descriptor);
        let new = self.member(&owner, &name, &descriptor);
        let new = new.map(|new| modified_utf8::Utf8::new(new).to_str_lossless().into_owned());
        Member {
            owner: self.string(Role::Class, &old.owner),
            name: new.unwrap_or_else(|| old.name.clone()),
            descriptor: self.string(Role::Signature, &old.descriptor),
            interface: old.interface,
        }
    }

    /// Returns the current internal name for an old one.
    pub(crate) fn class<'n>(&'n self, old: &'n [u8]) -> &'n [u8] {
        self.types.get(old).map_or(old, Vec::as_slice)
    }

    /// Returns the new simple name of a member class (JVMS 4.7.6): the part of its new name after the last `$` (or
    /// `/`), without the digits of a local class.
    pub(crate) fn simple<'n>(&'n self, class: &[u8]) -> Option<&'n [u8]> {
        let new = self.types.get(class)?;
        let behind = |mark: u8| new.iter().rposition(|byte| *byte == mark);
        let at = behind(b'$').or_else(|| behind(b'/'));
        let name = at.map_or(new.as_slice(), |at| new.get(at + 1..).unwrap_or_default());
        let digits = name.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let named = name.get(digits..).filter(|rest| !rest.is_empty());
        named.or(Some(name)).filter(|name| !name.is_empty())
    }

    /// Returns a descriptor or signature with new names; `None` if it is malformed.
    fn signature(&self, old: &[u8]) -> Option<Vec<u8>> {
        let mut reader = Reader {
            names: self,
            rest: old,
            out: Vec::with_capacity(old.len()),
        };
        if reader.rest.first() == Some(&b'<') {
            reader.parameters()?;
        }
        while let Some(first) = reader.rest.first() {
            match first {
                b'(' | b')' | b'^' => reader.copy(1)?,
                _ => reader.one_type(0)?,
            }
        }
        Some(reader.out)
    }
}

/// Copies a signature with new names.
struct Reader<'n, 't> {
    names: &'n Names,
    rest: &'t [u8],
    out: Vec<u8>,
}

impl<'t> Reader<'_, 't> {
    fn take(&mut self, count: usize) -> Option<&'t [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn copy(&mut self, count: usize) -> Option<()> {
        let taken = self.take(count)?;
        self.out.extend_from_slice(taken);
        Some(())
    }

    fn next_is(&self, byte: u8) -> bool {
        self.rest.first() == Some(&byte)
    }

    /// Copies through the next `end`.
    fn copy_through(&mut self, end: u8) -> Option<()> {
        let at = self.rest.iter().position(|byte| *byte == end)?;
        self.copy(at + 1)
    }

    /// Copies `<T:Bound:Bound…>` before a signature.
    fn parameters(&mut self) -> Option<()> {
        self.copy(1)?;
        while !self.next_is(b'>') {
            self.copy_through(b':')?;
            // The class bound is optional.
            if !self.next_is(b':') && !self.next_is(b'>') {
                self.one_type(0)?;
            }
            while self.next_is(b':') {
                self.copy(1)?;
                self.one_type(0)?;
            }
        }
        self.copy(1)
    }

    fn one_type(&mut self, depth: u32) -> Option<()> {
        if depth >= MAX_ELEMENT_DEPTH {
            return None;
        }
        while self.next_is(b'[') {
            self.copy(1)?;
        }
        match self.rest.first()? {
            b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b'V' => self.copy(1),
            b'T' => self.copy_through(b';'),
            b'L' => {
                self.copy(1)?;
                self.class(depth + 1)
            }
            _ => None,
        }
    }

    /// Copies a class with type arguments and member classes, through its `;`.
    fn class(&mut self, depth: u32) -> Option<()> {
        let mut old: Vec<u8> = Vec::new();
        loop {
            let end = self
                .rest
                .iter()
                .position(|byte| matches!(byte, b';' | b'<' | b'.'))?;
            let name = self.take(end)?;
            let new = if old.is_empty() {
                old.extend_from_slice(name);
                self.names.class(&old)
            } else {
                let outer = self.names.class(&old).to_vec();
                old.push(b'$');
                old.extend_from_slice(name);
                let new = self.names.class(&old);
                let inner = new
                    .strip_prefix(outer.as_slice())
                    .and_then(|rest| rest.strip_prefix(b"$"));
                inner.or_else(|| self.names.simple(&old)).unwrap_or(name)
            };
            self.out.extend_from_slice(new);
            if self.next_is(b'<') {
                self.arguments(depth)?;
            }
            let mark = *self.rest.first()?;
            self.copy(1)?;
            match mark {
                b'.' => {}
                b';' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Copies `<…>` of a class.
    fn arguments(&mut self, depth: u32) -> Option<()> {
        self.copy(1)?;
        while !self.next_is(b'>') {
            match self.rest.first()? {
                b'*' => self.copy(1)?,
                b'+' | b'-' => {
                    self.copy(1)?;
                    self.one_type(depth)?;
                }
                _ => self.one_type(depth)?,
            }
        }
        self.copy(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(pairs: &[(&str, &str)]) -> Names {
        let edits: Vec<_> = pairs
            .iter()
            .map(|(from, to)| ClassEdit::RenameType {
                from: (*from).to_owned(),
                to: (*to).to_owned(),
            })
            .collect();
        Names::of(&edits)
    }

    fn signature(names: &Names, old: &str) -> Option<String> {
        let new = names.text(Role::Signature, old.as_bytes())?;
        Some(String::from_utf8(new).unwrap())
    }

    #[test]
    fn only_whole_names_are_replaced() {
        let names = names(&[("a/B", "x/Y")]);
        let cases = [
            ("La/B;", Some("Lx/Y;")),
            ("(I[La/B;J)La/B;", Some("(I[Lx/Y;J)Lx/Y;")),
            ("La/BB;", None),
            ("Laa/B;", None),
            ("(J)V", None),
            ("TaB;", None),
            ("not a signature", None),
        ];
        for (old, new) in cases {
            assert_eq!(signature(&names, old).as_deref(), new, "{old}");
        }
        let class = |old: &str| names.text(Role::Class, old.as_bytes());
        assert_eq!(class("a/B"), Some(b"x/Y".to_vec()));
        assert_eq!(class("[[La/B;"), Some(b"[[Lx/Y;".to_vec()));
        assert_eq!(class("La/B;"), None);
    }

    #[test]
    fn generic_signatures_are_renamed() {
        let names = names(&[("a/L", "x/LongerName"), ("a/L$In", "x/LongerName$Out")]);
        let cases = [
            // a type parameter called La, with a bound
            (
                "<La:La/L;B::La/L;>La/L<TLa;>;",
                "<La:Lx/LongerName;B::Lx/LongerName;>Lx/LongerName<TLa;>;",
            ),
            (
                "Ljava/util/Map<-[La/L;*+La/L;>;",
                "Ljava/util/Map<-[Lx/LongerName;*+Lx/LongerName;>;",
            ),
            (
                "La/L<TT;>.In<La/L;>;",
                "Lx/LongerName<TT;>.Out<Lx/LongerName;>;",
            ),
            (
                "<T:Ljava/lang/Object;>(TT;)La/L;^La/L;^TT;",
                "<T:Ljava/lang/Object;>(TT;)Lx/LongerName;^Lx/LongerName;^TT;",
            ),
        ];
        for (old, new) in cases {
            assert_eq!(signature(&names, old).as_deref(), Some(new), "{old}");
        }
    }

    #[test]
    fn endless_nesting_stays_unchanged() {
        let names = names(&[("a/B", "x/Y")]);
        let deep = "La/B<".repeat(5_000);
        assert_eq!(signature(&names, &deep), None);
    }

    #[test]
    fn simple_names_are_those_of_the_compiler() {
        let names = names(&[("a/B$C", "x/Y$Z"), ("a/B$1L", "x/Y$2M"), ("a/B$D", "x/Q")]);
        let simple = |old: &str| names.simple(old.as_bytes()).map(<[u8]>::to_vec);
        assert_eq!(simple("a/B$C"), Some(b"Z".to_vec()));
        assert_eq!(simple("a/B$1L"), Some(b"M".to_vec()));
        assert_eq!(simple("a/B$D"), Some(b"Q".to_vec()));
        assert_eq!(simple("a/Other"), None);
    }
}
