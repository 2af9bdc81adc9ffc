//! Counts HTTP requests by caller, and times the callers.

use classhook_sdk::edit::Member;
use classhook_sdk::prelude::*;

/// The methods of the JDK that send a request, or wait for its answer.
const REQUESTS: [(&str, &[&str]); 4] = [
    ("java/net/http/HttpClient", &["send", "sendAsync"]),
    ("java/net/URL", &["getContent", "openStream"]),
    ("java/net/URLConnection", &CONNECTION),
    ("java/net/HttpURLConnection", &CONNECTION),
];
const CONNECTION: [&str; 4] = [
    "connect",
    "getInputStream",
    "getOutputStream",
    "getResponseCode",
];

/// Requests by caller.
const CALLS: Table = Table {
    name: "calls",
    columns: &[
        ("caller", ColumnKind::Method),
        ("line", ColumnKind::Line),
        ("calls", ColumnKind::Method),
    ],
};

/// Times of the callers.
const TIMES: Table = Table {
    name: "times",
    columns: &[("caller", ColumnKind::Method)],
};

/// Counts requests and times their callers.
pub struct HttpCalls;

impl Transformer for HttpCalls {
    type Config = NoSettings;

    fn new(_: NoSettings) -> Result<Self> {
        Ok(Self)
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        for method in class.methods().filter(Method::has_code) {
            let calls = method.calls(is_request)?;
            let caller = method.full_name();
            for call in &calls {
                let line = call.line.to_string();
                let row = CALLS.row(&[&caller, &line, &call.target.name]);
                plan.count(&method.before(&[call.bci]), &row)?;
            }
            if !calls.is_empty() {
                let row = TIMES.row(&[&caller]);
                plan.span(&method, &Capture::default().sum_up(), &row)?;
            }
        }
        Ok(())
    }
}

fn is_request(target: &Member) -> bool {
    let name = target.name.as_str();
    REQUESTS
        .iter()
        .any(|(owner, names)| target.owner == *owner && names.contains(&name))
}

classhook_sdk::export!(HttpCalls);
