//! Loaders that define nothing.
#![allow(dead_code, reason = "each test file uses its part")]

use std::cell::RefCell;

use host::HelperLoader;
use plan_rules::HelperClass;

/// A loader that records the names of the classes to define.
#[derive(Default)]
pub struct Noting(pub RefCell<Vec<String>>);

impl HelperLoader for Noting {
    fn define(&self, helper: &HelperClass) -> Result<(), String> {
        self.0.borrow_mut().push(helper.name.clone());
        Ok(())
    }
}

/// A loader that has every class, or fails with this cause.
pub struct Answering(pub Result<(), &'static str>);

impl HelperLoader for Answering {
    fn define(&self, _: &HelperClass) -> Result<(), String> {
        self.0.map_err(str::to_owned)
    }
}
