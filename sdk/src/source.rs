//! Where views and plans come from: the WIT interface in WebAssembly, the rewriter in native tests.
//!
//! Plugins use [`crate::Class`] and [`crate::Plan`] instead.

use crate::capture::Capture;
use crate::edit::Edit;
use crate::event::Event;
use crate::filter::Filter;
use crate::table::Table;
use crate::wit::{
    Component, DeclaredElement, DynamicFound, Enclosing, Failure, FieldSummary, Found,
    FoundAnnotation, Handler, InnerClass, Instruction, Jump, Line, MemberRef, MethodInfo,
    MethodSummary, Parameter, Place, ProbeId, RecordedEvent, RecordedTable, Site, Sum,
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
    fn fields(&self) -> Vec<FieldSummary>;
    fn attribute(&self, name: &str) -> Option<Vec<u8>>;
    fn pool_text(&self, pool_index: u16) -> Option<String>;
    fn methods(&self) -> Vec<MethodSummary>;
    fn methods_with_code(&self) -> Vec<u16>;
    fn code(&self, start: u32) -> Result<Vec<u64>, Failure>;
    fn raw_code(&self, start: u32) -> Vec<u8>;
    fn sites(&self, at: &[Place]) -> Result<Vec<Site>, Failure>;
    fn method(&self, index: u16) -> Option<Box<dyn MethodSource + '_>>;
    /// Who answers what few plugins ask.
    fn side(&self) -> ClassSide<'_>;
}

/// Who answers questions that are no methods of [`ClassSource`], for the same reason as with [`Side`].
pub enum ClassSide<'a> {
    /// The host, in whose interfaces each function is called from one place.
    Host(&'a crate::bindings::classhook::plugin::class_file::ClassView),
    /// The test kit.
    Native(&'a dyn NativeClass),
}

/// The interfaces `declarations` and `queries`, and what `raw` says, outside of WebAssembly; see `wit/plugin.wit` for each method.
#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "documented in wit/plugin.wit"
)]
pub trait NativeClass {
    fn bytes(&self) -> Vec<u8>;
    fn annotations(&self, kinds: &[String]) -> Vec<FoundAnnotation>;
    fn inner_classes(&self) -> Vec<InnerClass>;
    fn enclosing_method(&self) -> Option<Enclosing>;
    fn components(&self) -> Option<Vec<Component>>;
    fn listed_classes(&self, attribute: &str, method: Option<u16>) -> Vec<String>;
    fn annotation_default(&self, method: u16) -> Vec<DeclaredElement>;
    fn parameters(&self, method: u16) -> Vec<Parameter>;
    fn find(&self, kind: &str, method: Option<u16>, pattern: &str) -> Result<Vec<Found>, Failure>;
    fn dynamic_calls(
        &self,
        method: Option<u16>,
        pattern: &str,
    ) -> Result<Vec<DynamicFound>, Failure>;
    fn loops(&self, method: u16) -> Result<Vec<Jump>, Failure>;
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
    fn type_name(&self, pool_index: u16) -> Option<String>;
    fn entry(&self) -> Site;
    fn returns(&self) -> Vec<Site>;
    fn before(&self, at: &[u16]) -> Result<Vec<Site>, Failure>;
    fn fall_throughs(&self, at: &[u16]) -> Result<Vec<Site>, Failure>;
    fn jumps(&self, at: &[Jump]) -> Result<Vec<Site>, Failure>;
    fn unwind(&self) -> Site;
    fn at(&self, at: &[u16]) -> Result<Vec<Site>, Failure>;
}

/// The resource `plan`.
pub trait PlanSink {
    /// A line for people.
    fn note(&self, at: Site, text: &str);
    /// Where requests go.
    fn side(&self) -> Side<'_>;
}

/// Where requests go. What asks for a capability is no method of [`PlanSink`]: what a plugin imports is what its code
/// can reach, and every method of a trait object can be reached.
pub enum Side<'a> {
    /// The host, in whose interfaces each function is called from one place.
    Host(&'a crate::bindings::classhook::plugin::plans::Plan),
    /// The test kit.
    Native(&'a dyn NativePlan),
}

/// A plan outside of WebAssembly; see `wit/plugin.wit` for each method.
#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "documented in wit/plugin.wit"
)]
pub trait NativePlan {
    fn hit(&self, at: &[Site], tag: &[u8]) -> Result<Vec<ProbeId>, Failure>;
    fn hit_places(&self, at: &[Place], tag: &[u8]) -> Result<ProbeId, Failure>;
    fn count(&self, at: &[Site], tag: &[u8]) -> Result<Vec<ProbeId>, Failure>;
    fn span(&self, method: u16, capture: &Capture, tag: &[u8]) -> Result<ProbeId, Failure>;
    fn event(&self, at: &[Site], event: &Event, tag: &[u8]) -> Result<Vec<ProbeId>, Failure>;
    fn row(&self, table: &Table, cells: &[&str]) -> Result<Vec<u8>, Failure>;
    fn helpers(&self, class_files: &[Vec<u8>]) -> Result<Vec<String>, Failure>;
    /// Changes what a class does or is.
    fn edit(&self, edit: &Edit<'_>) -> Result<(), Failure>;
}

/// Where recorded rows come from and computed ones go; see the interface `recorded` in `wit/plugin.wit`.
#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "documented in wit/plugin.wit"
)]
pub trait RecordedSource {
    fn tables(&self) -> Vec<RecordedTable>;
    fn sums(&self, table: u32, start: u32) -> Vec<Sum>;
    fn events(&self, table: u32, start: u32) -> Vec<RecordedEvent>;
    fn quantiles(&self, table: u32, rows: &[u32], of: &[f64]) -> Result<Vec<u64>, Failure>;
    fn add_rows(&self, table: &Table, rows: &[Vec<String>]) -> Result<(), Failure>;
}

/// What the numbers of events lead to; see the interface `jvm-events` in `wit/plugin.wit`.
#[allow(missing_docs, reason = "documented in wit/plugin.wit")]
pub trait EventNames {
    fn name(&self, id: u32) -> Option<String>;
    fn frames(&self, stack: u32) -> Vec<u64>;
    fn method(&self, id: u32) -> Option<MethodInfo>;
}

/// Where requests to the JVM go outside of WebAssembly.
pub trait RequestSink {
    /// A call of the function `name` of `jvm-requests`, with its arguments.
    ///
    /// # Errors
    /// If it is refused.
    fn ask(&self, name: &str, arguments: &[u64]) -> Result<(), Failure>;
}

/// Where subscriptions go outside of WebAssembly.
pub trait SubscriptionSink {
    /// A subscription to what the function `name` of `jvm-events` stands for.
    ///
    /// # Errors
    /// If it is refused.
    fn subscribe(&self, name: &str, filter: &Filter) -> Result<(), Failure>;
}
