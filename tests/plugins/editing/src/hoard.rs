//! Fills the host's memory with handles that are never dropped.

use classhook_sdk::prelude::*;

/// Hoards `views` of methods: all at once without end, or `slowly` those of one class.
pub fn hoard(what: &str, class: &Class<'_>) -> Result {
    let views = || class.methods_with_code().for_each(std::mem::forget);
    match what {
        "views" => loop {
            views();
        },
        "slowly" => views(),
        _ => return Err(format!("there is nothing called `{what}` to hoard").into()),
    }
    Ok(())
}
