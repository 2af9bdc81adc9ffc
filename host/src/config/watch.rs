//! Which calls are kept, and what is shown of them.

use conditions::{Condition, Mistake, Watch};

use crate::error::HostError;

/// Conditions and lists as they were written.
#[derive(Debug, Default)]
pub(super) struct WatchTexts {
    pub when: Option<String>,
    pub show: Option<String>,
    pub calls: Option<u64>,
    pub per_second: Option<u32>,
}

impl WatchTexts {
    /// What they ask for; none if they ask for nothing.
    pub fn parse(&self) -> Result<Option<Watch>, HostError> {
        if self.when.is_none()
            && self.show.is_none()
            && self.calls.is_none()
            && self.per_second.is_none()
        {
            return Ok(None);
        }
        let when = self.when.as_deref().map(Condition::parse).transpose();
        let watch = Watch {
            when: when.map_err(|mistake| wrong("when", &mistake))?,
            show: Vec::new(),
            calls: self.calls,
            per_second: self.per_second,
        };
        match &self.show {
            None => Ok(Some(watch)),
            Some(list) => {
                let watch = watch.showing(list);
                watch.map(Some).map_err(|mistake| wrong("show", &mistake))
            }
        }
    }
}

/// A condition or list that cannot be read.
fn wrong(key: &str, mistake: &Mistake) -> HostError {
    let what = match key {
        "when" => "the condition cannot be read",
        _ => "the list of what is shown cannot be read",
    };
    let error = HostError::new("H0115", what)
        .with("expected", mistake.expected())
        .with("found", mistake.found());
    let place = mistake.place().to_string();
    let error = place
        .lines()
        .fold(error, |error, line| error.with("at", line));
    match mistake.help() {
        Some(help) => error.with("help", help),
        None => error,
    }
}
