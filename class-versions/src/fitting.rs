//! Fits the class files of a patch to the loaded classes.
//!
//! Compilers number items that have no name in the source: lambdas, accessors, enum constants in a switch. After a
//! small change of the source, such a number may mean another item. References that the program already holds would
//! then lead to the wrong item. So this module keeps the numbers of the loaded classes for items with the same content.
//!
//! | module | holds |
//! |---|---|
//! | `numbered` | the methods that a compiler has numbered |
//! | `pairing` | pairs of numbered methods in two versions of a class |
//! | `switch_maps` | the numbers of enum constants in switches |
//! | `ineffective` | changes without effect in a loaded class |
//! | `changed` | the methods whose code differs |
//! | `anonymous` | local and anonymous classes that were renumbered |
//! | `endless` | frames that never return |

mod anonymous;
mod changed;
mod endless;
mod fitted;
mod ineffective;
mod numbered;
mod pairing;
mod switch_maps;

pub use crate::companion::Companion;
pub use changed::changed_methods;
pub use endless::returns_from;
pub use fitted::{Fitted, Pair};
pub use ineffective::ineffective;
pub use switch_maps::has_switch_map;

use pairing::Pairing;

use crate::companions::{self, ClassPath, Version};
use rewriter::{ClassEdit, ClassFile, rename_class};

/// Fits class files to the loaded classes. A class file that cannot be read stays unchanged. `path` finds the class
/// files of classes outside the patch.
#[must_use]
pub fn fit(pairs: &[Pair<'_>], path: &dyn ClassPath) -> Vec<Fitted> {
    let mut fitted: Vec<Fitted> = pairs
        .iter()
        .map(|pair| Fitted {
            bytes: pair.new.to_vec(),
            ..Fitted::default()
        })
        .collect();
    keep_names(pairs, &mut fitted);
    switch_maps::keep(pairs, &mut fitted);
    anonymous::find(pairs, &mut fitted);
    move_members(pairs, path, &mut fitted);
    fitted
}

/// Moves the members that the loaded classes cannot take to companions.
fn move_members(pairs: &[Pair<'_>], path: &dyn ClassPath, fitted: &mut [Fitted]) {
    let versions: Vec<Version<'_>> = pairs
        .iter()
        .zip(fitted.iter())
        .map(|(pair, fitted)| Version {
            new: &fitted.bytes,
            old: pair.original,
            is_new: pair.is_new,
        })
        .collect();
    let fits = companions::fit(&versions, path);
    for (fit, fitted) in fits.into_iter().zip(fitted) {
        if let Some(bytes) = fit.bytes {
            fitted.bytes = bytes;
        }
        fitted.companions.extend(fit.companions);
        fitted.remarks.extend(fit.remarks);
        fitted.refused.extend(fit.refused);
        fitted.needs.extend(fit.needs);
    }
}

/// Gives numbered methods the names of the loaded class, in all class files of the patch.
fn keep_names(pairs: &[Pair<'_>], fitted: &mut [Fitted]) {
    let mut edits: Vec<ClassEdit> = Vec::new();
    for (pair, fitted) in pairs.iter().zip(fitted.iter_mut()) {
        let Some(old) = pair.old.and_then(|old| ClassFile::read(old).ok()) else {
            continue;
        };
        let Ok(new) = ClassFile::read(pair.new) else {
            continue;
        };
        let pairing = Pairing::of(&old, &new);
        fitted.remarks.extend(pairing.remarks());
        edits.extend(pairing.renames());
    }
    if edits.is_empty() {
        return;
    }
    for (pair, fitted) in pairs.iter().zip(fitted) {
        let renamed = ClassFile::read(pair.new).ok();
        let renamed = renamed.and_then(|class| rename_class(&class, &edits).ok());
        if let Some(bytes) = renamed {
            fitted.bytes = bytes;
        }
    }
}
