//! The methods whose code differs.

use std::collections::HashMap;

use crate::content::{code, own_names};
use crate::fitting::numbered::{Key, key};
use rewriter::ClassFile;

/// Returns names and descriptors of the methods of both classes whose code differs; debugging tables are ignored.
#[must_use]
pub fn changed_methods(old: &ClassFile<'_>, new: &ClassFile<'_>) -> Vec<(String, String)> {
    let mut now: HashMap<Key, String> = new
        .methods()
        .map(|method| (key(&method), code(&method, &own_names)))
        .collect();
    old.methods()
        .filter_map(|method| {
            let key = key(&method);
            let content = now.remove(&key)?;
            (content != code(&method, &own_names)).then_some(key)
        })
        .collect()
}
