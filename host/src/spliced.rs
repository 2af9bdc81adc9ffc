//! The result of the edits of one class.

use std::time::Duration;

use errors::codes;
use rewriter::limits::MAX_CODE_LENGTH;
use rewriter::{MethodIndex, SkipReason, SpliceReport, Warning};

use crate::plugin_failure::PluginFailure;
use crate::requests::PlannedClass;
use crate::structural_edits::StructuralEdits;

/// A class with the results of its plugins.
pub(crate) struct SplicedClass {
    /// The requests of its plugins.
    pub(crate) planned: PlannedClass,
    /// The result and the new bytes, which are empty if the class is unchanged.
    pub(crate) spliced: Result<(Spliced, Vec<u8>), PluginFailure>,
    /// The structural edits for the load-time hook, and the class file with these alone.
    pub(crate) structural: Option<(StructuralEdits, Vec<u8>)>,
}

impl SplicedClass {
    /// Returns whether its edits are valid and refer to helper classes that must be defined.
    pub(crate) fn needs_helpers(&self) -> bool {
        self.spliced.is_ok() && self.planned.needs_helpers()
    }
}

/// The result of the edits of one class, by methods of the class that the plugins saw.
#[derive(Debug, Default)]
pub(crate) struct Spliced {
    /// Methods left unchanged, with the reason.
    pub(crate) skipped: Vec<(MethodIndex, String)>,
    /// Methods without the edits of one plugin, with the reason.
    pub(crate) partly: Vec<(MethodIndex, String)>,
    /// Skipped methods that may fit with fewer or shorter probes, with the bytes that they exceed
    /// the limit by; 0 if a limit of branches or frames is exceeded.
    pub(crate) oversized: Vec<(MethodIndex, u32)>,
    /// A branch of some method was inverted to reach its target; shorter probes may avoid it.
    inverted: bool,
    /// Methods that are now longer than HotSpot compiles, with their lengths.
    pub(crate) huge: Vec<(MethodIndex, String)>,
    /// The duration of the self-check.
    pub(crate) check_time: Duration,
    /// `true` if calls record hits.
    pub(crate) hits_call: bool,
}

impl Spliced {
    /// Creates the result of a splice.
    ///
    /// # Errors
    /// If the edits of the class itself cannot be applied.
    pub(crate) fn new(
        report: SpliceReport,
        hits_call: bool,
        check_time: Duration,
    ) -> Result<Self, PluginFailure> {
        if let Some(refusal) = report.refused {
            return Err(PluginFailure::new(codes::H0308, refusal.to_string()));
        }
        let excess = |reason: &SkipReason| match reason {
            SkipReason::MethodTooLarge { length } => {
                Some(length.saturating_sub(MAX_CODE_LENGTH as u32))
            }
            SkipReason::OutOfReach { .. } | SkipReason::FramesTooLarge => Some(0),
            _ => None,
        };
        let oversized = report.skipped.iter();
        let oversized = oversized.filter_map(|(method, reason)| Some((*method, excess(reason)?)));
        let mut warnings = report.warnings.iter();
        Ok(Self {
            oversized: oversized.collect(),
            inverted: warnings.any(|warning| matches!(warning, Warning::InvertedBranch { .. })),
            partly: Vec::new(),
            skipped: (report.skipped.into_iter())
                .map(|(method, reason)| (method, reason.to_string()))
                .collect(),
            huge: report.warnings.into_iter().filter_map(huge).collect(),
            check_time,
            hits_call,
        })
    }

    /// Returns whether shorter probes may help a method or a branch.
    pub(crate) fn is_too_long(&self) -> bool {
        self.inverted || !self.oversized.is_empty()
    }

    /// Returns whether it contains no remarks and no check time.
    pub(crate) fn is_empty(&self) -> bool {
        self.skipped.is_empty()
            && self.partly.is_empty()
            && self.huge.is_empty()
            && self.check_time.is_zero()
    }

    /// Maps to a class with other method indices; drops methods without an index.
    pub(crate) fn renumbered(self, index: impl Fn(MethodIndex) -> Option<MethodIndex>) -> Self {
        let all = |methods: Vec<(MethodIndex, String)>| {
            methods
                .into_iter()
                .filter_map(|(method, text)| Some((index(method)?, text)))
                .collect()
        };
        let oversized = self.oversized.into_iter();
        Self {
            oversized: oversized
                .filter_map(|(method, excess)| Some((index(method)?, excess)))
                .collect(),
            skipped: all(self.skipped),
            partly: all(self.partly),
            huge: all(self.huge),
            inverted: self.inverted,
            check_time: self.check_time,
            hits_call: self.hits_call,
        }
    }
}

/// Returns the method that became too long, with a text about its lengths.
fn huge(warning: Warning) -> Option<(MethodIndex, String)> {
    match warning {
        Warning::HugeMethod {
            method,
            before,
            after,
        } => Some((
            method,
            format!(
                "it grew from {before} to {after} bytes; HotSpot compiles no method of more than 8,000"
            ),
        )),
        _ => None,
    }
}
