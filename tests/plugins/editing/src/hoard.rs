//! Fills the host's memory with handles that are never dropped.

use classhook_sdk::bindings::classhook::plugin::structure;
use classhook_sdk::prelude::*;

/// Hoards the resources of this name: `annotations`, `views`, or `slowly` for one annotation per
/// class.
pub fn hoard(what: &str, class: &Class<'_>) -> Result {
    match what {
        "annotations" => loop {
            annotation();
        },
        "slowly" => annotation(),
        "views" => loop {
            class.methods_with_code().for_each(std::mem::forget);
        },
        _ => return Err(format!("there is nothing called `{what}` to hoard").into()),
    }
    Ok(())
}

fn annotation() {
    let kind = format!("L{};", "x".repeat(1_000_000));
    std::mem::forget(structure::Annotation::new(&kind));
}
