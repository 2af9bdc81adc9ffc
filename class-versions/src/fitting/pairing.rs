//! Pairs of numbered methods in two versions of a class.
//!
//! Methods of the same content are a pair. A remaining loaded method and a remaining new one between the same
//! neighbours count as one edited method. The rest was removed or added. An added method with the name of a loaded one
//! gets another name, because references of the program to the loaded one would lead to it.

use std::collections::{HashMap, HashSet};

use crate::fitting::numbered::{self, Numbered};
use rewriter::{ClassEdit, ClassFile, Member};

/// The numbered methods of a loaded class and of its new version, paired.
pub(super) struct Pairing {
    owner: String,
    old: Vec<Numbered>,
    new: Vec<Numbered>,
    /// For each new method, the index of the loaded one.
    paired: Vec<Option<usize>>,
}

impl Pairing {
    pub(super) fn of(old: &ClassFile<'_>, new: &ClassFile<'_>) -> Self {
        let mut pairing = Self {
            owner: new.this_class().to_str_lossless().into_owned(),
            paired: Vec::new(),
            old: numbered::all(old),
            new: numbered::all(new),
        };
        pairing.paired = vec![None; pairing.new.len()];
        pairing.pair(|old, new| old.name == new.name && old.content == new.content);
        pairing.pair(|old, new| old.stem == new.stem && old.content == new.content);
        pairing.pair(|old, new| old.content == new.content);
        pairing.pair_edited();
        pairing
    }

    fn free_old(&self) -> Vec<usize> {
        let taken: HashSet<usize> = self.paired.iter().flatten().copied().collect();
        let all = 0..self.old.len();
        all.filter(|index| !taken.contains(index)).collect()
    }

    fn free_new(&self) -> Vec<usize> {
        let all = (0..).zip(&self.paired);
        all.filter_map(|(index, pair)| pair.is_none().then_some(index))
            .collect()
    }

    fn set(&mut self, new: usize, old: usize) {
        if let Some(pair) = self.paired.get_mut(new) {
            *pair = Some(old);
        }
    }

    /// Pairs methods of the same descriptor, in order, for which `same` holds.
    fn pair(&mut self, same: impl Fn(&Numbered, &Numbered) -> bool) {
        let mut free = self.free_old();
        for index in self.free_new() {
            let Some(new) = self.new.get(index) else {
                continue;
            };
            let found = free.iter().position(|old| {
                let old = self.old.get(*old);
                old.is_some_and(|old| old.descriptor == new.descriptor && same(old, new))
            });
            if let Some(at) = found {
                let old = free.remove(at);
                self.set(index, old);
            }
        }
    }

    /// Pairs the rest between the same neighbours, if both sides have equally many.
    fn pair_edited(&mut self) {
        let mut gaps: HashMap<Gap, (Vec<usize>, Vec<usize>)> = HashMap::new();
        let partners: HashMap<usize, usize> = (0..)
            .zip(&self.paired)
            .filter_map(|(new, old)| Some(((*old)?, new)))
            .collect();
        for old in self.free_old() {
            let known = |index: usize| partners.contains_key(&index).then_some(index);
            if let Some(gap) = gap(&self.old, old, &known) {
                gaps.entry(gap).or_default().0.push(old);
            }
        }
        for new in self.free_new() {
            let known = |index: usize| self.paired.get(index).copied().flatten();
            if let Some(gap) = gap(&self.new, new, &known) {
                gaps.entry(gap).or_default().1.push(new);
            }
        }
        for (gone, come) in gaps.into_values() {
            let alike = gone.len() == come.len()
                && gone
                    .iter()
                    .zip(&come)
                    .all(|(old, new)| self.are_alike(*old, *new));
            if alike {
                for (old, new) in gone.into_iter().zip(come) {
                    self.set(new, old);
                }
            }
        }
    }

    fn are_alike(&self, old: usize, new: usize) -> bool {
        match (self.old.get(old), self.new.get(new)) {
            (Some(old), Some(new)) => {
                // Nested classes that are not in the patch use an accessor by its number.
                old.descriptor == new.descriptor && !old.is_accessor() && !new.is_accessor()
            }
            _ => false,
        }
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, &Numbered, &Numbered)> {
        (0..).zip(&self.paired).filter_map(|(new, old)| {
            let old = self.old.get((*old)?)?;
            Some((new, old, self.new.get(new)?))
        })
    }

    /// Returns the edits that give new methods the names of the loaded ones.
    pub(super) fn renames(&self) -> impl Iterator<Item = ClassEdit> {
        let renamed = self.pairs().filter(|(_, old, new)| old.name != new.name);
        let renamed = renamed.map(|(_, old, new)| (new, old.name.clone()));
        let taken: HashSet<numbered::Key> = self.old.iter().map(Numbered::key).collect();
        let added = self.free_new().into_iter();
        let added = added.filter_map(|index| self.new.get(index));
        let added = added.filter(move |new| taken.contains(&new.key()));
        let added = added.map(|new| (new, format!("{}$added", new.name)));
        renamed
            .chain(added)
            .map(|(new, to)| ClassEdit::RenameMember {
                member: Member {
                    owner: self.owner.clone(),
                    name: new.name.clone(),
                    descriptor: new.descriptor.clone(),
                    interface: false,
                },
                to,
            })
    }

    /// Returns messages about the kept names.
    pub(super) fn remarks(&self) -> Vec<String> {
        let renamed = self.pairs().filter(|(_, old, new)| old.name != new.name);
        renamed
            .map(|(_, old, new)| {
                format!("{} is named {}, as in the loaded class", new.name, old.name)
            })
            .collect()
    }
}

/// The stem of a method, and the loaded counterparts of its nearest paired neighbours.
type Gap = (String, Option<usize>, Option<usize>);

/// Returns the gap around the method at `index`; `known` returns a neighbour's loaded counterpart.
fn gap(all: &[Numbered], index: usize, known: &dyn Fn(usize) -> Option<usize>) -> Option<Gap> {
    let stem = &all.get(index)?.stem;
    let of_stem = |at: &usize| all.get(*at).is_some_and(|method| method.stem == *stem);
    let before = (0..index).rev().take_while(of_stem).find_map(known);
    let after = (index.saturating_add(1)..all.len())
        .take_while(of_stem)
        .find_map(known);
    Some((stem.clone(), before, after))
}
