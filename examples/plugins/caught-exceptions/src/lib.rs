//! Counts the exceptions that each `catch` catches, which often go unnoticed.

use classhook_sdk::prelude::*;

/// Caught exceptions by type and handler.
const CAUGHT: Table = Table {
    name: "caught",
    columns: &[
        ("exception", ColumnKind::Class),
        ("method", ColumnKind::Method),
        ("line", ColumnKind::Line),
    ],
};

/// Counts at exception handlers.
pub struct CaughtExceptions;

impl Transformer for CaughtExceptions {
    type Config = NoSettings;

    fn new(_: NoSettings) -> Result<Self> {
        Ok(Self)
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        for method in class.methods().filter(Method::has_code) {
            for (target, exceptions) in catches(&method.handlers()) {
                let line = method.line_at(target).to_string();
                let row = CAUGHT.row(&[&exceptions, &method.full_name(), &line]);
                plan.count(&method.before(&[target]), &row)?;
            }
        }
        Ok(())
    }
}

/// Returns each handler once with the classes that it catches. A handler of every exception is a
/// `finally`.
fn catches(handlers: &[Handler]) -> Vec<(u16, String)> {
    let mut all: Vec<(u16, String)> = Vec::new();
    for handler in handlers {
        let Some(caught) = &handler.catch_type else {
            continue;
        };
        let caught = caught.replace('/', ".");
        match all.iter_mut().find(|(target, _)| *target == handler.target) {
            None => all.push((handler.target, caught)),
            Some((_, names)) if names.split(" | ").any(|name| name == caught) => {}
            Some((_, names)) => *names += &format!(" | {caught}"),
        }
    }
    all
}

classhook_sdk::export!(CaughtExceptions);
