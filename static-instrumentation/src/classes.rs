//! Instruments one class file.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use class_selection::filter::location_of;
use errors::{Error, Warning, codes};
use host::{ClassRequest, CodeSource, Pipeline, class_array};
use jvms::access_flags::ACC_MODULE;
use rewriter::ClassFile;

use super::Record;
use super::baseline::KeptClass;

/// Instruments classes. All threads share it.
pub struct Instrumenter {
    pipeline: Pipeline,
    keep: bool,
    interrupted: Arc<AtomicBool>,
}

/// New bytes of a class file or archive; empty if it stays unchanged.
pub type Replacement = Option<Vec<u8>>;

impl Instrumenter {
    /// Creates an instrumenter with these plugins. `keep` stores originals, and `interrupted` stops
    /// the work.
    #[must_use]
    pub fn new(pipeline: Pipeline, keep: bool, interrupted: Arc<AtomicBool>) -> Self {
        Self {
            pipeline,
            keep,
            interrupted,
        }
    }

    /// Returns the plugins.
    #[must_use]
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Checks for an interruption.
    ///
    /// # Errors
    /// If the command was interrupted (`H0645`).
    pub fn go_on(&self) -> Result<(), Error> {
        match self.interrupted.load(Ordering::Relaxed) {
            true => Err(Error::interrupted()),
            false => Ok(()),
        }
    }

    /// Instruments one class file.
    ///
    /// # Errors
    /// If the command was interrupted.
    pub fn class(
        &self,
        origin: &str,
        bytes: &[u8],
        record: &mut Record,
    ) -> Result<Replacement, Error> {
        self.go_on()?;
        let tally = &mut record.tally;
        let class = match ClassFile::read(bytes) {
            Ok(class) if class.access_flags() & ACC_MODULE != 0 => {
                tally.others += 1;
                return Ok(None);
            }
            Ok(class) => class,
            Err(error) => {
                tally.classes += 1;
                tally.unreadable += 1;
                record.warnings.push(unreadable(origin, &error.to_string()));
                return Ok(None);
            }
        };
        tally.classes += 1;
        if class_array::is_instrumented(&class) {
            tally.already += 1;
            record.warnings.push(already(origin));
            return Ok(None);
        }
        let name = class.this_class();
        let place = self.pipeline.needs_location().then(|| location_of(origin));
        let mut request = ClassRequest::of_file(name.as_bytes(), bytes);
        if let Some(place) = &place {
            request.location = CodeSource::At(place);
        }
        let (mut probes, mut out) = (Vec::new(), Vec::new());
        if !self
            .pipeline
            .wants(request.name, request.loader, request.location)
        {
            return Ok(None);
        }
        let (outcome, requested) = self.pipeline.instrument(&request, &mut probes, &mut out);
        tally.failed += u64::from(!outcome.failures().is_empty());
        let failures = outcome.failures().iter();
        record
            .warnings
            .extend(failures.map(|failure| failed(origin, failure)));
        for left_alone in requested.left_alone {
            record.leave_alone(&name.to_str_lossless(), left_alone, &requested.plugins);
        }
        for partly in requested.partly {
            record.leave_partly_alone(&name.to_str_lossless(), partly);
        }
        if !outcome.is_changed() {
            return Ok(None);
        }
        record.tally.instrumented += 1;
        record.helpers = requested.helpers;
        if self.keep {
            let name = name.to_str_lossless();
            record.kept.push(KeptClass::new(&name, probes, bytes));
        }
        Ok(Some(out))
    }
}

/// Returns the warning about an unreadable class file, entry or archive, which is copied unchanged.
pub(super) fn unreadable(origin: &str, found: &str) -> Warning {
    Warning::new(
        codes::H0641,
        format!("{origin} cannot be read and stays unchanged"),
    )
    .with("found", found)
    .with("help", "build or download it again")
}

fn already(origin: &str) -> Warning {
    Warning::new(
        codes::H0642,
        format!("{origin} is instrumented already and stays unchanged"),
    )
    .with("expected", "the compiler's class file")
    .with("help", "instrument the original files, not the output")
}

fn failed(origin: &str, failure: &host::PluginFailure) -> Warning {
    let who = match failure.plugin.as_str() {
        "" => String::new(),
        plugin => format!("plugin `{plugin}` failed: "),
    };
    let what = if failure.changed {
        "has only the edits of the other plugins"
    } else {
        "stays unchanged"
    };
    let message = format!("{who}{origin} {what}");
    let notes = [
        ("at", failure.method.as_ref()),
        ("cause", Some(&failure.cause)),
        ("help", failure.help.as_ref()),
    ];
    let notes = notes
        .into_iter()
        .filter_map(|(label, text)| Some((label, text?)));
    notes.fold(
        Warning::new(failure.code, message),
        |warning, (label, text)| warning.with(label, text.clone()),
    )
}
