//! The trait that a plugin implements.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::class::Class;
use crate::error::Result;
use crate::plan::Plan;

/// A plugin that runs while classes load.
///
/// There are several instances, in parallel and without memory of one another.
/// `transform` takes `&self`: the same class, configuration and plugin must
/// give the same plan, whichever classes came before.
pub trait Transformer: Sized + 'static {
    /// The plugin's table in `classhook.toml`. With [`derive(Config)`](crate::config::Config) the user hears of misspelled
    /// keys.
    type Config: DeserializeOwned;

    /// An instance.
    ///
    /// # Errors
    /// If the configuration makes no sense; the text is shown to the user and the agent does not start.
    fn new(config: Self::Config) -> Result<Self>;

    /// Selectors of the classes this plugin is for, such as `!com.acme.gen.**`;
    /// none means every class that the user selects.
    fn select(&self) -> Vec<String> {
        Vec::new()
    }

    /// Looks at one class and asks for edits.
    ///
    /// # Errors
    /// Ends the work on this class, which is then loaded unchanged.
    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result;
}

/// The [configuration](Transformer::Config) of a plugin that has nothing to set; a key in it is an error.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoSettings {}
