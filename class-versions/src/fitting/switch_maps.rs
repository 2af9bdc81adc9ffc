//! The numbers of enum constants in switches: `$SwitchMap$…` (javac) and `$EnumSwitchMapping$…` (Kotlin).
//!
//! A compiler numbers the constants of a switch and keeps the numbers by ordinal in an array of a synthetic class. The
//! initializer of that class fills the array. The loaded class is not initialized again, and former code still reads
//! its array. So the loaded class stays, and the new code reads a companion: the new class under another name.

use std::collections::BTreeMap;

use crate::companion::Companion;
use crate::fitting::changed::changed_methods;
use crate::fitting::fitted::{Fitted, Pair};
use crate::fitting::numbered::key;
use jvms::opcode;
use rewriter::{ClassEdit, ClassFile, Instruction, MemberRef, redirect_fields, rename_class};

/// The names of such fields.
const NAMES: [&str; 2] = ["$SwitchMap$", "$EnumSwitchMapping$"];

/// An enum constant: internal name of the enum, and name of the constant.
type Constant = (String, String);
/// The numbers of constants.
type Numbers = BTreeMap<Constant, i32>;
/// The numbers in each array, by the name of its field.
type Maps = BTreeMap<String, Numbers>;

/// Checks whether a class has the numbers of enum constants in switches.
#[must_use]
pub fn has_switch_map(class: &ClassFile<'_>) -> bool {
    let mut fields = class.fields();
    fields.any(|field| is_map(&field.name().to_str_lossless()))
}

/// Returns the switch-map fields whose numbers differ.
pub(super) fn changed_fields(old: &ClassFile<'_>, new: &ClassFile<'_>) -> Vec<String> {
    let (old, new) = (maps(old), maps(new));
    let changed = old
        .iter()
        .filter(|(field, numbers)| new.get(*field) != Some(numbers));
    changed.map(|(field, _)| field.clone()).collect()
}

/// Keeps the numbers of loaded classes, and adds companions for the new code.
pub(super) fn keep(pairs: &[Pair<'_>], fitted: &mut [Fitted]) {
    for index in 0..pairs.len() {
        keep_of(index, pairs, fitted);
    }
    let mut names: Vec<String> = pairs.iter().filter_map(|pair| name_of(pair.new)).collect();
    let companions = fitted.iter().flat_map(|it| &it.companions);
    names.extend(companions.map(|companion| companion.name.clone()));
    for (pair, fitted) in pairs.iter().zip(fitted) {
        let found = read_elsewhere(pair, &fitted.bytes, &names);
        fitted.confused.extend(found);
    }
}

fn name_of(bytes: &[u8]) -> Option<String> {
    let class = ClassFile::read(bytes).ok()?;
    Some(class.this_class().to_str_lossless().into_owned())
}

/// Reports switches of changed methods over arrays of classes outside the patch, because the new code may assume other
/// numbers.
fn read_elsewhere(pair: &Pair<'_>, bytes: &[u8], in_patch: &[String]) -> Vec<String> {
    let old = pair.old.and_then(|old| ClassFile::read(old).ok());
    let (Some(old), Ok(new)) = (old, ClassFile::read(bytes)) else {
        return Vec::new();
    };
    let changed = changed_methods(&old, &new);
    let changed = new
        .methods()
        .filter(|method| changed.contains(&key(method)));
    let mut found: Vec<String> = changed
        .filter_map(|method| method.code().ok().flatten())
        .flat_map(|code| {
            let instructions = code.instructions().map_while(Result::ok);
            let reads = instructions.filter(|found| found.opcode == opcode::GETSTATIC);
            let members = reads.filter_map(|found| new.pool().member_ref(found.pool_index()?));
            members
                .filter(|member| is_map(&member.name.to_str_lossless()))
                .map(|member| (member.owner.to_str_lossless().into_owned(), member.name))
                .filter(|(owner, _)| !in_patch.contains(owner))
                .map(|(owner, name)| {
                    let owner = jvms::names::binary(&owner);
                    format!("a switch reads {name} of {owner}, whose numbers may differ: patch {owner}, too")
                })
                .collect::<Vec<_>>()
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Keeps the numbers of the class at `index`. `None` if they are the same, or a companion is impossible; the
/// initializer then appears as a change without effect.
fn keep_of(index: usize, pairs: &[Pair<'_>], fitted: &mut [Fitted]) -> Option<()> {
    let old = pairs.get(index)?.old?;
    let new = fitted.get(index)?.bytes.clone();
    let new = ClassFile::read(&new).ok()?;
    let is_same = maps(&ClassFile::read(old).ok()?) == maps(&new);
    if is_same || maps(&new).is_empty() || !has_only_maps(&new) {
        return None;
    }
    let holder = new.this_class().to_str_lossless().into_owned();
    let companion = companion(&new, &holder)?;
    let mut redirected = Vec::new();
    for (at, (pair, other)) in pairs.iter().zip(fitted.iter()).enumerate() {
        let class = ClassFile::read(&other.bytes).ok()?;
        let bytes = redirect_fields(&class, &holder, &companion.name)?;
        if at != index && bytes != other.bytes {
            // A class that is not loaded yet may load later without a companion.
            pair.old?;
            redirected.push((at, bytes));
        }
    }
    for (at, bytes) in redirected {
        fitted.get_mut(at)?.bytes = bytes;
    }
    let own = fitted.get_mut(index)?;
    own.bytes = old.to_vec();
    let remark = "keeps its numbers; the switches of the patch use a class of their own";
    own.remarks.push(remark.to_owned());
    own.companions.push(companion);
    Some(())
}

/// Returns the new class under another name, derived from its content.
fn companion(new: &ClassFile<'_>, holder: &str) -> Option<Companion> {
    let name = format!("{holder}$patched${:016x}", fingerprint::of(new.bytes()));
    let edit = ClassEdit::RenameType {
        from: holder.to_owned(),
        to: name.clone(),
    };
    let bytes = rename_class(new, &[edit]).ok()?;
    Some(Companion { name, bytes })
}

/// Checks whether a class has only switch maps, so that the loaded one can stay.
fn has_only_maps(class: &ClassFile<'_>) -> bool {
    class
        .fields()
        .all(|field| is_map(&field.name().to_str_lossless()))
        && class.methods().all(|method| method.name() == "<clinit>")
}

fn is_map(field: &str) -> bool {
    NAMES.iter().any(|name| field.starts_with(name))
}

/// Returns the switch maps filled by the initializer of a class.
fn maps(class: &ClassFile<'_>) -> Maps {
    let mut reader = Reader::default();
    let mut methods = class.methods();
    let found = methods.find(|method| method.name() == "<clinit>");
    if let Some(Ok(Some(code))) = found.map(|method| method.code()) {
        for instruction in code.instructions().map_while(Result::ok) {
            let member = instruction
                .pool_index()
                .and_then(|index| class.pool().member_ref(index));
            reader.step(class, &instruction, member);
        }
    }
    let mut maps = reader.maps;
    maps.retain(|field, _| is_map(field));
    maps
}

/// Follows an initializer and records the entries of its arrays.
#[derive(Default)]
struct Reader {
    maps: Maps,
    /// The field of the current array; empty while the array is in a local variable.
    field: String,
    constant: Option<Constant>,
    number: i32,
}

impl Reader {
    fn step(
        &mut self,
        class: &ClassFile<'_>,
        instruction: &Instruction<'_>,
        member: Option<MemberRef<'_>>,
    ) {
        let text = |text: jvms::modified_utf8::Utf8<'_>| text.to_str_lossless().into_owned();
        let is_array = |member: &MemberRef<'_>| {
            member.owner == class.this_class() && member.descriptor == "[I"
        };
        match (instruction.opcode, member) {
            (opcode::NEWARRAY, _) => self.field.clear(),
            (opcode::GETSTATIC, Some(member)) if is_array(&member) => {
                self.field = text(member.name);
            }
            (opcode::PUTSTATIC, Some(member)) if is_array(&member) => {
                self.field = text(member.name);
                let filled = self.maps.remove("").unwrap_or_default();
                self.maps
                    .entry(self.field.clone())
                    .or_default()
                    .extend(filled);
            }
            (opcode::GETSTATIC, Some(member)) => {
                self.constant = Some((text(member.owner), text(member.name)));
            }
            (opcode::IASTORE, _) => {
                if let Some(constant) = self.constant.take() {
                    let numbers = self.maps.entry(self.field.clone()).or_default();
                    numbers.insert(constant, self.number);
                }
            }
            _ => {
                if let Some(number) = instruction.immediate() {
                    self.number = number;
                }
            }
        }
    }
}
