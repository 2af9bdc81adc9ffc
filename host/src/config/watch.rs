//! The condition for recorded calls, and the values to show.

use conditions::limits::MAX_LEVELS;
use conditions::{About, Condition, Mistake, Watch};
use globs::FieldPattern;

use errors::{Error, codes};

/// The unparsed settings of a watch.
#[derive(Debug, Default)]
pub(super) struct WatchTexts {
    pub when: Option<String>,
    pub show: Option<String>,
    pub calls: Option<u64>,
    pub per_second: Option<u32>,
    pub about: Option<String>,
    pub depth: Option<u8>,
}

impl WatchTexts {
    /// Parses the settings. Returns `None` if there are none.
    pub fn parse(&self) -> Result<Option<Watch>, Error> {
        if self.when.is_none()
            && self.show.is_none()
            && self.calls.is_none()
            && self.per_second.is_none()
            && self.about.is_none()
            && self.depth.is_none()
        {
            return Ok(None);
        }
        if let Some(found) = self.depth.filter(|depth| *depth > MAX_LEVELS) {
            let expected = format!("a number from 0 to {MAX_LEVELS}");
            let error = Error::mistake(codes::H0105, "objects cannot be shown to this depth");
            return Err(error
                .with("expected", expected)
                .with("found", found.to_string()));
        }
        let (about, writes) = about(self.about.as_deref())?;
        let when = self.when.as_deref();
        let when = when.map(|when| Condition::parse_about(when, about));
        let when = when.transpose();
        let watch = Watch {
            when: when.map_err(|mistake| wrong("when", &mistake))?,
            show: Vec::new(),
            calls: self.calls,
            per_second: self.per_second,
            about,
            writes,
            depth: self.depth.unwrap_or(0),
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

/// Parses the subject of condition and list, with the fields if the subject is writes.
fn about(text: Option<&str>) -> Result<(About, Vec<String>), Error> {
    let unlike = |found: &str| {
        Error::mistake(codes::H0105, "`about` has an invalid value")
            .with(
                "expected",
                "calls, places, or writes:CLASS.FIELD;CLASS.FIELD",
            )
            .with("found", found)
    };
    match text {
        None | Some("calls") => Ok((About::Calls, Vec::new())),
        Some("places") => Ok((About::Places, Vec::new())),
        Some(text) => {
            let fields = text.strip_prefix("writes:").ok_or_else(|| unlike(text))?;
            let fields = fields.split(';').map(str::trim).map(|field| {
                let parsed = FieldPattern::parse(field);
                parsed.map(|_| field.to_owned()).ok_or_else(|| unlike(text))
            });
            Ok((About::Writes, fields.collect::<Result<_, _>>()?))
        }
    }
}

/// The error for a condition or list with a syntax error.
fn wrong(key: &str, mistake: &Mistake) -> Error {
    let what = match key {
        "when" => "the condition cannot be read",
        _ => "the list of values cannot be read",
    };
    let error = Error::mistake(codes::H0115, what)
        .with("expected", mistake.expected())
        .with("found", mistake.found());
    let place = mistake.excerpt().to_string();
    let error = place
        .lines()
        .fold(error, |error, line| error.with("at", line));
    match mistake.help() {
        Some(help) => error.with("help", help),
        None => error,
    }
}
