//! Counts what is allocated, by the site that does it.

use classhook_sdk::prelude::*;

/// What is allocated, and where.
const ALLOCATED: Table = Table {
    name: "allocated",
    columns: &[
        ("what", Kind::Class),
        ("method", Kind::Method),
        ("line", Kind::Line),
    ],
};

/// Counts at the instructions that allocate.
pub struct Allocations;

impl Transformer for Allocations {
    type Config = NoSettings;

    fn new(_: NoSettings) -> Result<Self> {
        Ok(Self)
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        for method in class.methods().filter(Method::has_code) {
            for found in method.allocations(|_| true)? {
                let (what, line) = (found.java_name(), found.line.to_string());
                let row = plan.row(&ALLOCATED, &[&what, &method.full_name(), &line])?;
                plan.count(&method.before(&[found.bci])?, &row)?;
            }
        }
        Ok(())
    }
}

classhook_sdk::export!(Allocations);
