//! The methods that requests refer to.

use classhook_sdk::prelude::*;

/// Returns the entries of all methods with code.
pub fn entries(class: &Class<'_>) -> Vec<InsertionPoint> {
    class
        .methods_with_code()
        .map(|method| method.entry())
        .collect()
}

/// Returns the method with a call: `iconst_1`, `invokestatic` at bci 1, `ireturn` at bci 4.
pub fn caller<'a>(class: &Class<'a>) -> Result<Method<'a>> {
    let mut methods = class.methods();
    let found = methods.find(|method| method.name() == "both");
    Ok(found.ok_or("the class has no method `both`")?)
}
