//! Counts allocations by site; the report sums them up by type.

use std::collections::BTreeMap;

use classhook_sdk::prelude::*;

/// Allocations by type and site.
pub const ALLOCATED: Table = Table {
    name: "allocated",
    columns: &[
        ("what", ColumnKind::Class),
        ("method", ColumnKind::Method),
        ("line", ColumnKind::Line),
    ],
};

/// Allocations and sites by type.
const TYPES: Table = Table {
    name: "types",
    columns: &[
        ("what", ColumnKind::Class),
        ("sites", ColumnKind::Integer),
        ("allocated", ColumnKind::Integer),
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
                let row = ALLOCATED.row(&[&what, &method.full_name(), &line]);
                plan.count(&method.before(&[found.bci]), &row)?;
            }
        }
        Ok(())
    }
}

impl Reporter for Allocations {
    fn report(&self, recorded: &Recorded<'_>, report: &mut Report<'_>) -> Result {
        let mut types: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for mut row in recorded.sums(&ALLOCATED) {
            let (sites, allocated) = types.entry(row.cells.swap_remove(0)).or_default();
            *sites += 1;
            *allocated += row.count;
        }
        let rows = types
            .into_iter()
            .map(|(what, (sites, allocated))| [what, sites.to_string(), allocated.to_string()]);
        report.add(&TYPES, rows)
    }
}

classhook_sdk::export!(Allocations, reporter);
