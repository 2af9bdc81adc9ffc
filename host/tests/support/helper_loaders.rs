//! Loaders that define nothing.

use host::HelperLoader;
use rewriter::HelperClass;

/// A loader that has every class, or answers with this cause.
pub struct Answering(pub Result<(), &'static str>);

impl HelperLoader for Answering {
    fn define(&self, _: &HelperClass) -> Result<(), String> {
        self.0.map_err(str::to_owned)
    }
}
