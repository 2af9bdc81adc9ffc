//! Probes in the class that takes the rows of an advice apart. It is one of the helper classes.

use classhook_sdk::edit::{Row, Tag};
use classhook_sdk::prelude::*;

use crate::settings::Probes;

/// Selects that class in each package.
pub const SELECTOR: &str = "**$Classhook$*$ProbedRows";

/// The beginning of the simple name of a helper class.
const HELPER: &str = "$Classhook$";
const OWN_NAME: &str = "$ProbedRows";

/// Maximum length of a text in a row.
const MAX_TEXT: u32 = 1_024;

/// Counts by name.
const COUNTS: Table = Table {
    name: "counts",
    columns: &[("name", ColumnKind::Text)],
};

/// Checks whether an internal name is that of a class that takes rows apart.
pub fn is_row_class(name: &str) -> bool {
    let simple = name.rsplit('/').next().unwrap_or_default();
    simple.starts_with(HELPER) && simple.ends_with(OWN_NAME)
}

/// Adds the probes of one advice, if the class is its own: that of another one has other methods.
pub fn add(probes: &Probes, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    for method in class.methods().filter(Method::has_code) {
        let mut tables = probes.tables.iter();
        if let Some(table) = tables.find(|it| it.method == method.name()) {
            let columns = (0..=u8::MAX).zip(&table.columns);
            let row = columns.fold(Event::default().limit(MAX_TEXT), |event, (at, name)| {
                event.argument(name, at)
            });
            let key = Tag::Row(Row {
                table: table.table.clone(),
                columns: Vec::new(),
                cells: Vec::new(),
            });
            plan.event(&[method.entry()], &row, key)?;
        }
        let mut counts = probes.counts.iter();
        if let Some(count) = counts.find(|it| it.method == method.name()) {
            plan.count(&[method.entry()], COUNTS.row(&[&count.name]))?;
        }
    }
    Ok(())
}
