//! Where views and plans come from: the WIT interface in WebAssembly, the rewriter in native tests.
//!
//! Plugins use [`crate::Class`] and [`crate::Plan`] instead.

use crate::capture::Capture;
use crate::edit::Edit;
use crate::wit::{
    Failure, Handler, Instruction, Jump, Line, MemberRef, MethodSummary, Place, ProbeId, Site,
};

/// The resource `class-view`; see `wit/plugin.wit` for each method.
#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "documented in wit/plugin.wit"
)]
pub trait ClassSource {
    fn name(&self) -> String;
    fn super_name(&self) -> Option<String>;
    fn interfaces(&self) -> Vec<String>;
    fn access_flags(&self) -> u16;
    fn major_version(&self) -> u16;
    fn source_file(&self) -> Option<String>;
    fn loader(&self) -> String;
    fn fingerprint(&self) -> Option<u64>;
    fn retransforming(&self) -> bool;
    fn annotations(&self) -> Vec<String>;
    fn methods(&self) -> Vec<MethodSummary>;
    fn methods_with_code(&self) -> Vec<u16>;
    fn code(&self, start: u32) -> Result<Vec<u64>, Failure>;
    fn sites(&self, at: &[Place]) -> Result<Vec<Site>, Failure>;
    fn method(&self, index: u16) -> Option<Box<dyn MethodSource + '_>>;
}

/// The resource `method-view`; see `wit/plugin.wit` for each method.
#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "documented in wit/plugin.wit"
)]
pub trait MethodSource {
    fn annotations(&self) -> Vec<String>;
    fn instructions(&self) -> Result<Vec<Instruction>, Failure>;
    fn lines(&self) -> Vec<Line>;
    fn handlers(&self) -> Vec<Handler>;
    fn switch_targets(&self, at: u16) -> Vec<u16>;
    fn member(&self, pool_index: u16) -> Option<MemberRef>;
    fn entry(&self) -> Site;
    fn returns(&self) -> Vec<Site>;
    fn before(&self, at: &[u16]) -> Result<Vec<Site>, Failure>;
    fn fall_throughs(&self, at: &[u16]) -> Result<Vec<Site>, Failure>;
    fn jumps(&self, at: &[Jump]) -> Result<Vec<Site>, Failure>;
    fn unwind(&self) -> Site;
    fn at(&self, at: &[u16]) -> Result<Vec<Site>, Failure>;
}

/// The resource `plan`; see `wit/plugin.wit` for each method.
#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "documented in wit/plugin.wit"
)]
pub trait PlanSink {
    fn hit(&self, at: &[Site], tag: &[u8]) -> Result<Vec<ProbeId>, Failure>;
    fn count(&self, at: &[Site], tag: &[u8]) -> Result<Vec<ProbeId>, Failure>;
    fn span(&self, method: u16, capture: &Capture, tag: &[u8]) -> Result<ProbeId, Failure>;
    fn note(&self, at: Site, text: &str);
    /// Where code that is inserted goes.
    fn code_sink(&self) -> CodeSink<'_>;
}

/// The functions of `rewrite` and `structure`, all of which take a plan. They are no methods of [`PlanSink`]: what a
/// plugin imports is what its code can reach, and every method of a trait object can be reached.
pub enum CodeSink<'a> {
    /// The host, asked only by plugins that change something.
    Host(&'a crate::bindings::classhook::plugin::probes::Plan),
    /// The test kit.
    Native(&'a dyn NativeCode),
}

/// Changing what a class does and is, outside of WebAssembly.
pub trait NativeCode {
    /// Records the edit.
    ///
    /// # Errors
    /// When it does not suit the class.
    fn edit(&self, edit: &Edit<'_>) -> Result<(), Failure>;
}
