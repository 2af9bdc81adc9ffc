//! Plugins from the network, with coded errors.

use std::path::Path;

use errors::{Error, codes};

/// Returns a remark about a source that a third party may have replaced.
#[must_use]
pub fn remark(source: &str) -> Option<String> {
    source.starts_with("http://").then(|| {
        format!(
            "{} is not encrypted: a third party may have replaced the component; compare its digest",
            escape::line(source)
        )
    })
}

/// Fetches a component of at most `most` bytes into the new file `to`. Returns the version that its registry names.
///
/// With a digest a registry is asked for this component alone.
///
/// # Errors
/// If it cannot be fetched (`H0693`).
pub fn fetch(
    source: &str,
    to: &Path,
    most: u64,
    digest: Option<&str>,
) -> Result<Option<String>, Error> {
    plugin_fetcher::fetch(source, to, most, digest).map_err(|failure| {
        let problem = Error::mistake(codes::H0693, format!("{source} cannot be fetched"));
        let problem = problem.with("found", failure.found);
        let expected = failure.expected.map(|text| ("expected", text));
        let help = failure.help.map(|text| ("help", text));
        let notes = expected.into_iter().chain(help);
        notes.fold(problem, |problem, (label, text)| problem.with(label, text))
    })
}
