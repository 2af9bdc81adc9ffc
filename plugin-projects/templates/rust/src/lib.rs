//! Counts the calls of methods.

use classhook_sdk::pattern::Pattern;
use classhook_sdk::prelude::*;

/// The plugin's table for `classhook plugin run` and `classhook report`: a row for each method.
const CALLS: Table = Table {
    name: "calls",
    columns: &[("class", ColumnKind::Class), ("method", ColumnKind::Method)],
};

/// The plugin's settings.
#[derive(Config)]
pub struct Settings {
    /// Selects methods: `com.acme.**`, `com.acme.Store.find*`; all without it.
    #[config(default)]
    methods: Vec<String>,
}

/// Counts the calls of the methods that match.
pub struct MyPlugin {
    methods: Vec<Pattern>,
}

impl Transformer for MyPlugin {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        let patterns = settings.methods.iter().map(|text| Pattern::parse(text));
        let methods = patterns.collect::<std::result::Result<_, _>>();
        let methods = methods.map_err(|error| error.to_string())?;
        Ok(Self { methods })
    }

    /// Selects the classes that the host shows to the plugin.
    fn select(&self) -> Vec<String> {
        let patterns = self.methods.iter();
        patterns
            .flat_map(|pattern| pattern.selectors.clone())
            .collect()
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let name = class.name();
        for method in class.methods().filter(|method| method.has_code()) {
            if self.wants(&name, method.name(), method.descriptor()) {
                let row = CALLS.row(&[&class.dotted_name(), method.name()]);
                plan.count(&[method.entry()], &row)?;
            }
        }
        Ok(())
    }
}

impl MyPlugin {
    fn wants(&self, class: &str, method: &str, descriptor: &str) -> bool {
        let matches = |pattern: &Pattern| {
            pattern.matches_class(class) && pattern.matches_method(method, descriptor)
        };
        self.methods.is_empty() || self.methods.iter().any(matches)
    }
}

classhook_sdk::export!(MyPlugin);
