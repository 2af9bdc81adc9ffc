//! The trait that a plugin implements.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::class::Class;
use crate::error::Result;
use crate::plan::Plan;

/// A plugin that runs while classes are loaded.
///
/// Several instances run in parallel and share no state. `transform` takes `&self`: the same class,
/// configuration and plugin must give the same plan, whatever classes came before.
pub trait Transformer: Sized + 'static {
    /// The plugin's table in `classhook.toml`. With [`derive(Config)`](crate::config::Config), a
    /// misspelled key is reported to the user.
    type Config: DeserializeOwned;

    /// Creates an instance.
    ///
    /// # Errors
    /// If the configuration is invalid; the user sees the text, and the agent does not start.
    fn new(config: Self::Config) -> Result<Self>;

    /// Returns selectors of the classes that this plugin handles, such as `!com.acme.gen.**`. An
    /// empty list means every class that the user selects.
    fn select(&self) -> Vec<String> {
        Vec::new()
    }

    /// Requests the edits of one class.
    ///
    /// # Errors
    /// If the plugin gives up on this class, which is then loaded unchanged.
    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result;
}

/// The [configuration](Transformer::Config) of a plugin without settings; any key in it is an
/// error.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoSettings {}
