//! Times the methods of JDBC drivers that run statements, and counts who calls them.

use classhook_sdk::access_flags::ACC_PUBLIC;
use classhook_sdk::prelude::*;
use classhook_sdk::wit::MemberRef;

/// The interfaces of JDBC whose methods `execute…` run statements.
const STATEMENTS: [&str; 3] = [
    "java/sql/Statement",
    "java/sql/PreparedStatement",
    "java/sql/CallableStatement",
];

/// How long the drivers' methods take.
const TIMES: Table = Table {
    name: "times",
    columns: &[("driver", Kind::Class), ("method", Kind::Method)],
};

/// Who calls JDBC, and how often.
const CALLERS: Table = Table {
    name: "callers",
    columns: &[
        ("caller", Kind::Method),
        ("line", Kind::Line),
        ("calls", Kind::Method),
    ],
};

/// Times and counts.
pub struct SqlTimer;

impl Transformer for SqlTimer {
    type Config = NoSettings;

    fn new(_: NoSettings) -> Result<Self> {
        Ok(Self)
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let name = class.dotted_name();
        let interfaces = class.interfaces();
        let is_driver = interfaces
            .iter()
            .any(|name| STATEMENTS.contains(&name.as_str()));
        for method in class.methods().filter(Method::has_code) {
            let is_public = method.access_flags() & ACC_PUBLIC != 0;
            if is_driver && is_public && method.name().starts_with("execute") {
                let row = plan.row(&TIMES, &[&name, method.name()])?;
                plan.span(&method, &Capture::default().sum_up(), &row)?;
            }
            for call in method.calls(runs_a_statement)? {
                let line = call.line.to_string();
                let cells = [&method.full_name(), &line, &call.target.name];
                let row = plan.row(&CALLERS, &cells.map(String::as_str))?;
                plan.count(&method.before(&[call.bci])?, &row)?;
            }
        }
        Ok(())
    }
}

fn runs_a_statement(target: &MemberRef) -> bool {
    STATEMENTS.contains(&target.owner.as_str()) && target.name.starts_with("execute")
}

classhook_sdk::export!(SqlTimer);
