//! Undoes class edits; the rest must be the original class.

use crate::class::{Attribute, Attributes, ClassFile};
use crate::cursor::u16_at;
use crate::edits::{ClassEdit, Target};
use crate::index::{MethodIndex, PoolIndex};
use crate::plan::EditPlan;
use jvms::access_flags::ACC_NATIVE;
use jvms::constant_tag;

use crate::self_check::error::SelfCheckError;
use crate::self_check::new_names;
use crate::structure::{Names, NewStructure, Role, check_duplicates, extended, rename, rest};

fn expect(holds: bool, expected: &'static str) -> Result<(), SelfCheckError> {
    if holds {
        return Ok(());
    }
    Err(SelfCheckError::ClassEdits { expected })
}

/// Checks that `after` is `before` with the additions of `edits`.
pub(super) fn members(
    before: &ClassFile<'_>,
    after: &ClassFile<'_>,
    edits: &[ClassEdit],
) -> Result<(), SelfCheckError> {
    let (old, new) = (before.bytes(), after.bytes());
    let (end, new_end) = (before.pool().end(), after.pool().end());
    expect(old.get(..8) == new.get(..8), "the same version")?;
    expect(
        old.get(10..end) == new.get(10..end),
        "the old constant pool",
    )?;
    let header = |bytes: &[u8], at: usize| bytes.get(at..at + 6).map(<[u8]>::to_vec);
    expect(header(old, end) == header(new, new_end), "the same header")?;
    interfaces(before, after, edits)?;
    fields(before, after, edits)?;
    methods(before, after, edits)?;
    let gained = Gained::of(edits, &Target::Class);
    gained.check(before.attributes(), after.attributes())
}

fn interfaces(
    before: &ClassFile<'_>,
    after: &ClassFile<'_>,
    edits: &[ClassEdit],
) -> Result<(), SelfCheckError> {
    let mut found = after.interfaces();
    for wanted in before.interfaces() {
        expect(found.next() == Some(wanted), "the old interfaces")?;
    }
    for edit in edits {
        if let ClassEdit::AddInterface(name) = edit {
            let next = found.next().unwrap_or_default();
            expect(
                next.to_str_lossless() == name.as_str(),
                "the added interfaces",
            )?;
        }
    }
    expect(found.next().is_none(), "no other interface")
}

fn fields(
    before: &ClassFile<'_>,
    after: &ClassFile<'_>,
    edits: &[ClassEdit],
) -> Result<(), SelfCheckError> {
    let mut found = after.fields();
    for wanted in before.fields() {
        let next = found.next();
        let next = next.ok_or(SelfCheckError::ClassEdits {
            expected: "the old fields",
        })?;
        let same = wanted.bytes().get(..6) == next.bytes().get(..6);
        expect(same, "the old fields")?;
        let target = Target::Field {
            name: wanted.name().to_str_lossless().into_owned(),
            descriptor: wanted.descriptor().to_str_lossless().into_owned(),
        };
        Gained::of(edits, &target).check(wanted.attributes(), next.attributes())?;
    }
    for edit in edits {
        if let ClassEdit::AddField(field) = edit {
            let same = found.next().is_some_and(|next| {
                next.name().to_str_lossless() == field.name.as_str()
                    && next.descriptor().to_str_lossless() == field.descriptor.as_str()
                    && next.access_flags() == field.flags
                    && next.attributes().count() == usize::from(field.value.is_some())
            });
            expect(same, "the added fields")?;
        }
    }
    expect(found.next().is_none(), "no other field")
}

fn methods(
    before: &ClassFile<'_>,
    after: &ClassFile<'_>,
    edits: &[ClassEdit],
) -> Result<(), SelfCheckError> {
    let mut found = after.methods();
    for wanted in before.methods() {
        let next = found.next();
        let next = next.ok_or(SelfCheckError::ClassEdits {
            expected: "the old methods",
        })?;
        let prefix = prefix(edits, wanted.index());
        let name = format!("{}{}", prefix.unwrap_or_default(), wanted.name());
        let same = wanted.access_flags() == next.access_flags()
            && wanted.descriptor() == next.descriptor()
            && (prefix.is_some() || wanted.bytes().get(2..4) == next.bytes().get(2..4))
            && next.name().to_str_lossless() == name;
        expect(same, "the old methods")?;
        let gained = Gained::of(edits, &Target::Method(wanted.index()));
        gained.check(wanted.attributes(), next.attributes())?;
    }
    for edit in edits {
        let same = match edit {
            ClassEdit::AddMethod(method) => found.next().is_some_and(|next| {
                next.name().to_str_lossless() == method.name.as_str()
                    && next.descriptor().to_str_lossless() == method.descriptor.as_str()
                    && next.access_flags() == method.flags
                    && next.has_code() == method.body.is_some()
            }),
            ClassEdit::PrefixNative(wrapper) => {
                let native = before.method(wrapper.method);
                native.zip(found.next()).is_some_and(|(native, next)| {
                    next.name() == native.name()
                        && next.descriptor() == native.descriptor()
                        && next.access_flags() == native.access_flags() & !ACC_NATIVE
                        && next.has_code()
                })
            }
            _ => true,
        };
        expect(same, "the added methods")?;
    }
    expect(found.next().is_none(), "no other method")
}

/// Returns the prefix of a native method.
fn prefix(edits: &[ClassEdit], method: MethodIndex) -> Option<&str> {
    edits.iter().find_map(|edit| match edit {
        ClassEdit::PrefixNative(wrapper) if wrapper.method == method => {
            Some(wrapper.prefix.as_str())
        }
        _ => None,
    })
}

/// The additions to one attribute table.
#[derive(Default)]
struct Gained<'e> {
    /// Number of annotations: visible, invisible.
    annotations: [u16; 2],
    attributes: Vec<(&'e str, &'e [u8])>,
    code: bool,
}

impl<'e> Gained<'e> {
    fn of(edits: &'e [ClassEdit], wanted: &Target) -> Self {
        let mut gained = Gained::default();
        for edit in edits {
            match edit {
                ClassEdit::AddAnnotation {
                    target, visible, ..
                } if target == wanted => {
                    let [shown, hidden] = &mut gained.annotations;
                    let count = if *visible { shown } else { hidden };
                    *count += 1;
                }
                ClassEdit::AddAttribute {
                    target,
                    name,
                    bytes,
                } if target == wanted => gained.attributes.push((name, bytes)),
                ClassEdit::ReplaceBody { method, .. } => {
                    gained.code |= Target::Method(*method) == *wanted;
                }
                _ => {}
            }
        }
        gained
    }

    fn annotations_of(&mut self, name: &[u8]) -> u16 {
        let [shown, hidden] = &mut self.annotations;
        match name {
            b"RuntimeVisibleAnnotations" => std::mem::take(shown),
            b"RuntimeInvisibleAnnotations" => std::mem::take(hidden),
            _ => 0,
        }
    }

    fn check(
        mut self,
        before: Attributes<'_, '_>,
        mut after: Attributes<'_, '_>,
    ) -> Result<(), SelfCheckError> {
        for wanted in before {
            let found = after.next().filter(|found| found.name == wanted.name);
            let found = found.ok_or(SelfCheckError::ClassEdits {
                expected: "the old attributes",
            })?;
            let more = self.annotations_of(wanted.name.as_bytes());
            let same = if more > 0 {
                longer(&wanted, &found, more)
            } else if wanted.name == "Code" && self.code {
                true // typed and assembled for this class alone: there is nothing old in it
            } else {
                wanted.bytes == found.bytes
            };
            expect(same, "the old attributes")?;
        }
        for (name, bytes) in std::mem::take(&mut self.attributes) {
            let found = after.next();
            let same = found
                .is_some_and(|found| found.name.to_str_lossless() == name && found.bytes == bytes);
            expect(same, "the added attributes")?;
        }
        for found in after {
            let more = self.annotations_of(found.name.as_bytes());
            let same = more > 0 && u16_at(found.bytes, 0) == Some(more);
            expect(same, "the added annotations and nothing else")?;
        }
        expect(self.annotations == [0, 0], "the added annotations")
    }
}

/// Checks whether `found` is `wanted` with further annotations after it.
fn longer(wanted: &Attribute<'_>, found: &Attribute<'_>, more: u16) -> bool {
    let counts = u16_at(wanted.bytes, 0).zip(u16_at(found.bytes, 0));
    let old = wanted.bytes.get(2..).unwrap_or_default();
    counts.is_some_and(|(old, new)| old.checked_add(more) == Some(new))
        && found.bytes.get(2..).is_some_and(|new| new.starts_with(old))
}

/// Checks that `after` is `before` with new names at exactly these offsets of `before`.
pub(super) fn names(
    before: &ClassFile<'_>,
    after: &ClassFile<'_>,
    names: &Names,
    places: &[usize],
) -> Result<(), SelfCheckError> {
    let (old, new) = (before.bytes(), after.bytes());
    let end = before.pool().end();
    let grown = after.pool().end().checked_sub(end);
    let grown = grown.ok_or(SelfCheckError::ClassEdits {
        expected: "the old constant pool",
    })?;
    let same_length = old.len() + grown == new.len();
    expect(same_length, "names replaced in place")?;
    let mut copied = 0_usize;
    let moved = |at: usize| if at < end { at } else { at + grown };
    let mut sorted = places.to_vec();
    sorted.push(8);
    sorted.sort_unstable();
    sorted.dedup();
    for place in sorted.into_iter().chain([old.len()]) {
        let same = if copied < end && place > end {
            old.get(copied..end) == new.get(copied..end)
                && old.get(end..place) == new.get(moved(end)..moved(place))
        } else {
            old.get(copied..place) == new.get(moved(copied)..moved(place).max(moved(copied)))
        };
        expect(same, "nothing but names changed")?;
        copied = place + 2;
        if place != 8 && place < old.len() {
            let item = |bytes: &[u8], at: usize| PoolIndex(u16_at(bytes, at).unwrap_or_default());
            let pair = (item(old, place), item(new, moved(place)));
            expect(
                renamed(before, after, names, pair),
                "the new form of the old name",
            )?;
        }
    }
    Ok(())
}

/// Checks whether one pool entry is the renamed form of the other.
fn renamed(
    before: &ClassFile<'_>,
    after: &ClassFile<'_>,
    names: &Names,
    (old, new): (PoolIndex, PoolIndex),
) -> bool {
    if let (Some(old), Some(new)) = (before.pool().utf8(old), after.pool().utf8(new)) {
        let (old, new) = (old.as_bytes(), new.as_bytes());
        let text = |role| names.text(role, old).as_deref() == Some(new);
        return text(Role::Class) || text(Role::Signature) || names.renames_to(old, new);
    }
    if after.pool().tag(new) != Some(constant_tag::NAME_AND_TYPE) {
        return false;
    }
    let old = before.pool().name_and_type(old);
    let new = after.pool().name_and_type(new);
    let Some((old, new)) = old.zip(new) else {
        return false;
    };
    let descriptor = names.text(Role::Signature, old.1.as_bytes());
    let descriptor = descriptor.as_deref().unwrap_or(old.1.as_bytes());
    descriptor == new.1.as_bytes() && names.renames_to(old.0.as_bytes(), new.0.as_bytes())
}

/// Does the same, and checks each step by undoing it.
pub(crate) fn checked(
    class: &ClassFile<'_>,
    plan: &EditPlan,
) -> Result<NewStructure, SelfCheckError> {
    let edits = plan.class_edits();
    let refused = SelfCheckError::ClassRefused;
    let bytes = extended(class, edits).map_err(refused)?;
    let extended = ClassFile::read(&bytes)?;
    members(class, &extended, edits)?;
    new_names::pool(class, &extended)?;
    new_names::members(class, &extended)?;
    let names = Names::of(edits);
    if names.is_empty() {
        let bytes = bytes.clone();
        return Ok(rest(plan, &names, bytes));
    }
    let (bytes, places) = rename(&extended, &names).map_err(refused)?;
    let renamed = ClassFile::read(&bytes)?;
    self::names(&extended, &renamed, &names, &places)?;
    check_duplicates(&renamed).map_err(refused)?;
    new_names::pool(&extended, &renamed)?;
    new_names::members(&extended, &renamed)?;
    Ok(rest(plan, &names, bytes))
}
