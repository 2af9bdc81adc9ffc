//! The traits behind views and plans: the WIT interface implements them in WebAssembly, the
//! rewriter in native tests.
//!
//! Plugins use [`crate::Class`] and [`crate::Plan`] instead.

use crate::filter::Filter;
use crate::table::Table;
use crate::wit::{
    Component, DynamicFound, Enclosing, FieldSummary, Found, FoundAnnotation, Handler, InnerClass,
    Instruction, Line, MethodInfo, MethodSummary, Parameter, RecordedEvent, RecordedTable, Sum,
};
use edits::{Capture, Edit, Element, Event, InsertionPoint, InstructionKind, Member, Refusal, Tag};

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
    fn code(&self, start: u32) -> Result<Vec<u64>, Refusal>;
    fn raw_code(&self, start: u32) -> Vec<u8>;
    fn method(&self, index: u16) -> Option<Box<dyn MethodSource + '_>>;
    /// Returns the implementation of rarely used functions.
    fn side(&self) -> ClassSide<'_>;
}

/// The implementation of functions that are no methods of [`ClassSource`]; [`Side`] has the reason.
pub enum ClassSide<'a> {
    /// The host; each function of its interfaces is called from one place only.
    Host(&'a crate::bindings::classhook::plugin::class_file::ClassView),
    /// The test kit.
    Native(&'a dyn NativeClass),
}

/// The interfaces `declarations`, `queries` and `raw` outside of WebAssembly; see `wit/plugin.wit`
/// for each method.
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
    fn annotation_default(&self, method: u16) -> Vec<Element>;
    fn parameters(&self, method: u16) -> Vec<Parameter>;
    fn find(
        &self,
        kind: InstructionKind,
        method: Option<u16>,
        pattern: &str,
    ) -> Result<Vec<Found>, Refusal>;
    fn dynamic_calls(
        &self,
        method: Option<u16>,
        pattern: &str,
    ) -> Result<Vec<DynamicFound>, Refusal>;
    fn loops(&self, method: u16) -> Result<Vec<InsertionPoint>, Refusal>;
}

/// The resource `method-view`; see `wit/plugin.wit` for each method.
#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "documented in wit/plugin.wit"
)]
pub trait MethodSource {
    fn annotations(&self) -> Vec<String>;
    fn instructions(&self) -> Result<Vec<Instruction>, Refusal>;
    fn lines(&self) -> Vec<Line>;
    fn handlers(&self) -> Vec<Handler>;
    fn switch_targets(&self, at: u16) -> Vec<u16>;
    fn member(&self, pool_index: u16) -> Option<Member>;
    fn type_name(&self, pool_index: u16) -> Option<String>;
    fn returns(&self) -> Vec<InsertionPoint>;
}

/// The resource `plan`.
pub trait PlanSink {
    /// Adds a note for the user.
    fn note(&self, at: InsertionPoint, text: &str);
    /// Returns the implementation of requests.
    fn side(&self) -> Side<'_>;
}

/// The implementation of requests. A function that needs a grant is no method of [`PlanSink`]. A
/// plugin imports all functions that its code can reach, and every method of a trait object counts
/// as reachable.
pub enum Side<'a> {
    /// The host; each function of its interfaces is called from one place only.
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
    fn hit(&self, at: &[InsertionPoint], tag: Tag) -> Result<u32, Refusal>;
    fn count(&self, at: &[InsertionPoint], tag: Tag) -> Result<u32, Refusal>;
    fn span(&self, method: u16, capture: &Capture, tag: Tag) -> Result<u32, Refusal>;
    fn event(&self, at: &[InsertionPoint], event: &Event, tag: Tag) -> Result<u32, Refusal>;
    fn helpers(&self, class_files: &[Vec<u8>]) -> Result<Vec<String>, Refusal>;
    /// Adds an edit.
    fn edit(&self, edit: Edit) -> Result<(), Refusal>;
}

/// The source of recorded rows and the target of computed ones; see the interface `recorded` in
/// `wit/plugin.wit`.
#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "documented in wit/plugin.wit"
)]
pub trait RecordedSource {
    fn tables(&self) -> Vec<RecordedTable>;
    fn sums(&self, table: u32, start: u32) -> Vec<Sum>;
    fn events(&self, table: u32, start: u32) -> Vec<RecordedEvent>;
    fn quantiles(&self, table: u32, rows: &[u32], of: &[f64]) -> Result<Vec<u64>, Refusal>;
    fn add_rows(&self, table: &Table, rows: &[Vec<String>]) -> Result<(), Refusal>;
}

/// The names and stacks behind the numbers of events; see the interface `jvm-events` in
/// `wit/plugin.wit`.
#[allow(missing_docs, reason = "documented in wit/plugin.wit")]
pub trait EventNames {
    fn name(&self, id: u32) -> Option<String>;
    fn frames(&self, stack: u32) -> Vec<u64>;
    fn method(&self, id: u32) -> Option<MethodInfo>;
}

/// The target of requests to the JVM outside of WebAssembly.
pub trait RequestSink {
    /// Receives a call of the function `name` of `jvm-requests`, with its arguments.
    ///
    /// # Errors
    /// If the request is rejected.
    fn ask(&self, name: &str, arguments: &[u64]) -> Result<(), Refusal>;
}

/// The target of subscriptions outside of WebAssembly.
pub trait SubscriptionSink {
    /// Receives a call of the function `name` of `jvm-events`.
    ///
    /// # Errors
    /// If the subscription is rejected.
    fn subscribe(&self, name: &str, filter: &Filter) -> Result<(), Refusal>;
}
