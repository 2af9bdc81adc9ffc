//! The class file that a plugin hands over in place of the class.

use std::borrow::Cow;

use errors::codes;
use rewriter::ClassFile;

use crate::plugin_failure::PluginFailure;
use crate::requests::PlannedClass;
use crate::structural_edits::with_prefixed_natives;

/// The class file that the plan of a class is spliced into.
pub(super) struct Base<'b> {
    /// The class file.
    pub(super) bytes: Cow<'b, [u8]>,
    /// The plugin that hands it over, if any.
    pub(super) by: Option<&'b str>,
}

/// Returns the class file of the plugin that replaces the class `bytes`, or these.
///
/// # Errors
/// If the class files of plugins conflict, or do not fit the class. With `checks`, the code of the
/// class file is checked too.
pub(super) fn replace<'b>(
    planned: &'b PlannedClass,
    bytes: &'b [u8],
    checks: bool,
) -> Result<Base<'b>, PluginFailure> {
    let Some((by, replacement)) = planned.replacement()? else {
        let bytes = Cow::Borrowed(bytes);
        return Ok(Base { bytes, by: None });
    };
    let failure = |error: &dyn std::fmt::Display| {
        let cause = format!("its class file cannot replace the class: {error}");
        PluginFailure::new(codes::H0317, cause).by(by)
    };
    let original = planned.class.class();
    if checks {
        // Plans from the cache were checked by another process.
        rewriter::check_replacement(original, replacement).map_err(|error| failure(&error))?;
    }
    let mut replaced = Cow::Borrowed(replacement);
    if original.bytes() != bytes {
        replaced = with_prefixed_natives(replacement, bytes);
        let both =
            ClassFile::read(bytes).and_then(|there| Ok((there, ClassFile::read(&replaced)?)));
        let (there, class) = both.map_err(|error| failure(&error))?;
        rewriter::check_shape(&there, &class).map_err(|error| failure(&error))?;
    }
    Ok(Base {
        bytes: replaced,
        by: Some(by),
    })
}
