//! Requests and their answers.
//!
//! To add a request, add a variant of [`Request`], a struct for its answer, and a handler in the agent.

use crate::classes::{ClassLoader, Details, LoadedMethod, Plan};
use crate::patch::{PatchRequest, Rollback};
use errors::{Error, codes};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Version of the protocol; both ends must speak the same.
///
/// It changes when an existing request or answer changes its meaning. New requests and new fields do not change it: an
/// agent refuses requests that it does not know, and readers skip fields that they do not know.
pub const PROTOCOL: u32 = 1;

/// The message of the refusal `H0704` by an agent that is leaving and answers no more requests.
pub const LEAVING: &str = "the agent is leaving the JVM";

/// The plugin name of an agent that was loaded for a single request. No plugin has this name.
pub const NO_PLUGIN: &str = "none";

/// The prefix of the holder names of commands that record events of the JVM; an id of the command follows.
const RECORDING: &str = "jvm-events:";

/// The holder name of the command with this id, which records events of the JVM. It is released when the command is
/// gone. No plugin has this name.
#[must_use]
pub fn recording(id: &str) -> String {
    format!("{RECORDING}{id}")
}

/// Checks whether a name is the holder name of a command that records events of the JVM.
#[must_use]
pub fn is_recording(name: &str) -> bool {
    name.starts_with(RECORDING)
}

/// Longest request, in bytes.
pub const REQUEST_LIMIT: usize = 32 << 20;
/// Longest answer, in bytes.
pub const ANSWER_LIMIT: usize = 64 << 20;

/// A request of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case")]
pub enum Request {
    /// Report the state of the agent; answered by [`Status`].
    Status,
    /// Write all recorded data to the snapshot; answered by [`Dump`].
    Dump,
    /// Write all recorded data to the snapshot and clear the hits in one step; answered by [`Dump`]. Up to the length
    /// in the answer, the snapshot holds exactly the hits that are in no later snapshot.
    DumpAndReset,
    /// Clear the hits; answered by [`Reset`].
    Reset {
        /// The plugin whose probes are cleared; `None` for all.
        plugin: Option<String>,
    },
    /// Mark the start or end of a test; answered by [`Test`]. Hits between the two belong to the test.
    Test {
        /// The name of the test.
        name: String,
        /// True at the end of the test.
        ends: bool,
    },
    /// Let a plugin change classes, loaded ones and those loaded from now on; answered by [`Change`].
    Enable {
        /// The name of the plugin.
        plugin: String,
        /// Its configuration (see the agent's options), if the plugin is new or is to be configured again.
        options: Option<String>,
        /// A folder of compiled plugins (the agent's option `cache`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cache: Option<PathBuf>,
        /// A session in which the plugin records beside its other sessions; `None` for the agent's own session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionRequest>,
        /// Most bytes of metaspace that the change may take (the agent's option `metaspace`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metaspace: Option<u64>,
    },
    /// Remove a plugin's edits from all classes; answered by [`Change`].
    Disable {
        /// The name of the plugin.
        plugin: String,
    },
    /// Replace the configuration; answered by [`Change`].
    Reload {
        /// The agent's options. The output folder and the control socket stay as they are.
        options: String,
        /// Most bytes of metaspace that the change may take (the agent's option `metaspace`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metaspace: Option<u64>,
    },
    /// List loaded classes; answered by [`Classes`].
    Classes {
        /// Only classes whose name matches: `com.acme.**`.
        filter: Option<String>,
        /// Only classes that a plugin has changed.
        changed: bool,
        /// Number of classes to skip.
        skip: usize,
        /// Largest number of classes in the answer.
        limit: usize,
        /// The details of each class in the answer.
        #[serde(default)]
        details: Details,
    },
    /// Find a field in objects of loaded classes; answered by [`Field`].
    Field {
        /// The name of the class, with dots.
        class: String,
        /// The name of the field.
        name: String,
    },
    /// Replace the class files of loaded classes; answered by [`crate::patch::Patched`].
    Patch(PatchRequest),
    /// Roll patches back; answered by [`crate::patch::Patched`].
    Rollback {
        /// The patches to roll back.
        which: Rollback,
    },
    /// List the patches in force; answered by [`crate::patch::Patches`].
    Patches,
    /// Return the class files of classes, loaded or not; answered by a list of [`crate::patch::ClassBytes`]. Classes
    /// that no loader has or finds are left out.
    ClassFiles {
        /// The names of the classes, with dots.
        classes: Vec<String>,
        /// Only classes of this loader.
        loader: Option<String>,
    },
    /// Record events of the JVM; answered by [`JvmEventsFile`].
    RecordJvmEvents {
        /// The subscription, in the syntax of the agent's option `jvm-events`.
        subscription: String,
        /// The holder name whose release ends the recording.
        #[serde(default)]
        holder: Option<String>,
    },
    /// End the recording and complete its file; answered by null.
    EndJvmEvents,
    /// Find the reference paths that keep the instances of a class alive; answered by [`HeapPaths`].
    HeapPaths {
        /// The name of the class as in Java: `com.acme.Order`, `byte[]`.
        class: String,
        /// Longest pause of the program in milliseconds, for all passes together. The first pass is always made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_ms: Option<u64>,
    },
    /// Carry out [`Request::Release`] when this connection ends; answered by null.
    Lease {
        /// The plugin to release; `None` returns the lease.
        plugin: Option<String>,
        /// Time in milliseconds after which the plugin is released even if the connection is open, once the client is
        /// stopped or hangs. A client that waits for a core keeps the lease.
        ms: Option<u64>,
        /// The command that takes the lease. Its `plugin` is ignored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holder: Option<Holder>,
    },
    /// Remove a plugin's edits from all classes; answered by [`Released`]. The agent leaves if it was loaded for this
    /// plugin and has had no other request since.
    Release {
        /// The name of the plugin.
        plugin: String,
    },
    /// Stop the change of classes that is under way, after the current batch of classes; answered by null.
    Cancel,
    /// Undo everything and leave; answered by [`Off`].
    Off,
}

impl Request {
    /// Checks whether [`Request::Cancel`] can stop the request between two batches of classes. A request that restores
    /// classes always runs to its end.
    #[must_use]
    pub fn can_be_cancelled(&self) -> bool {
        matches!(self, Self::Enable { .. } | Self::Reload { .. })
    }
}

/// The agent's state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Version of the agent.
    pub version: String,
    /// The process id, in the process's own pid namespace.
    pub pid: u32,
    /// The name and version of the JVM.
    pub jvm: String,
    /// Milliseconds since the start of the agent.
    pub uptime_ms: u64,
    /// The snapshot file, as the JVM's process sees it.
    pub snapshot: String,
    /// The address of the server for JaCoCo's tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jacoco_tcp: Option<String>,
    /// The id of the run; empty if the user gave no id.
    pub run: String,
    /// The plugins, in the order of their edits.
    pub plugins: Vec<Plugin>,
    /// The numbers of classes.
    pub classes: ClassCounts,
    /// Number of probe arrays in the JVM, of 32,768 bytes each.
    pub arrays: u16,
    /// The code that records hits.
    pub hits: Hits,
    /// The first failures.
    pub failures: Vec<Failure>,
    /// Number of classes that failed beyond these.
    pub more_failures: u64,
    /// Failures of the agent itself, not of a class.
    pub own_failures: u64,
    /// Native methods with a wrapper, which stays until the JVM ends.
    pub natives: Vec<String>,
    /// Classes that keep structural edits of plugins (added or renamed members) until the JVM ends.
    pub structures: Vec<String>,
    /// The progress of the change of classes that is under way.
    pub progress: Option<Progress>,
    /// The first methods that were left unchanged within changed classes, with the reasons.
    pub left_alone: Vec<MethodRemark>,
    /// Number of such methods beyond these.
    pub more_left_alone: u64,
    /// The last notes of plugins on methods that they left unchanged.
    pub notes: Vec<String>,
    /// The counters of the plan cache; `None` if it is off.
    pub plan_cache: Option<PlanCache>,
    /// The commands that use the agent, each with the plugin that is released when the command ends.
    pub holders: Vec<Holder>,
    /// The last change of loaded classes that was refused for lack of metaspace.
    pub shortage: Option<Shortage>,
}

/// A command that uses the agent, as it describes itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Holder {
    /// The plugin that is released when the command ends.
    pub plugin: String,
    /// Its process id.
    pub pid: u32,
    /// The name of its user, or the user's number if the user has no name.
    pub user: String,
    /// Its start, in milliseconds since 1970.
    pub since_ms: u64,
    /// Its command line; arguments with spaces are in quotes.
    pub command: String,
}

/// A change of loaded classes that needs more metaspace than is free. No class was changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shortage {
    /// Number of classes of the change.
    pub classes: usize,
    /// Estimated need of the change, in bytes.
    pub needed: u64,
    /// Bytes that the change may take.
    pub available: u64,
}

/// The counters of the plan cache, summed over all plugins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanCache {
    /// Lookups that found a plan: the plugin did not see the class.
    pub hits: u64,
    /// Lookups that found no plan.
    pub misses: u64,
    /// Damaged files and plans in the cache; they are made again.
    pub damaged: u64,
    /// Plans that could not be stored, for example because the disk is full.
    pub unwritten: u64,
}

/// The progress of a change of loaded classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Number of classes that the JVM has redefined.
    pub done: usize,
    /// Number of all classes of the change that are known so far.
    pub total: usize,
}

impl Shortage {
    /// The answer to the request for the change.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        let Self {
            classes,
            needed,
            available,
        } = self;
        let kib = |bytes: u64| bytes.div_ceil(1 << 10);
        let message = format!(
            "the metaspace may not suffice for changing {classes} classes, so no class is changed"
        );
        Refusal::new(codes::H0711, message)
            .with("expected", format!("{} KiB, as estimated from the class files", kib(*needed)))
            .with("found", format!("{} KiB, three quarters of what is free", kib(*available)))
            .with(
                "help",
                "select fewer classes (--select), raise -XX:MaxMetaspaceSize, or change them anyway (--ignore-metaspace)",
            )
    }
}

/// A remark on one method.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MethodRemark {
    /// The class, by its internal name.
    pub class: String,
    /// Name and descriptor of the method.
    pub method: String,
    /// The text of the remark.
    pub text: String,
}

/// A plugin of the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Plugin {
    /// The name of the plugin.
    pub name: String,
    /// The state of the plugin.
    pub state: PluginState,
    /// Number of classes that hold edits of the plugin now.
    pub changed: usize,
    /// The user's selection; empty for the default selection.
    pub select: Vec<String>,
    /// The classes that its rules or patterns name, if the plugin has seen no class of that name.
    pub unmatched: Vec<String>,
}

/// The state of a plugin: only an active plugin sees classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PluginState {
    /// Active.
    #[default]
    On,
    /// Disabled by a command.
    Off,
    /// Switched off after repeated failures.
    Failed,
}

/// HotSpot's treatment of methods that became longer than its limit for compilation (8,000 bytes by default).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HugeMethods {
    /// HotSpot interprets them.
    #[default]
    Interpreted,
    /// HotSpot compiles them, because the JVM was started with `-XX:-DontCompileHugeMethods`.
    Compiled,
    /// HotSpot compiles them, because the agent has cleared the flag `DontCompileHugeMethods`.
    CompiledByUs,
}

/// The code that records hits in classes that are instrumented from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "by", content = "because")]
pub enum Hits {
    /// Calls, which the compilers remove once a probe was hit.
    #[default]
    Calls,
    /// Stores, for this reason.
    Stores(String),
}

/// Numbers of classes since the start of the agent. Each class counts once, however often it is changed or
/// retransformed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassCounts {
    /// Classes loaded since, or loaded before and selected by a plugin.
    pub seen: u64,
    /// Classes selected by a plugin.
    pub selected: u64,
    /// Changed classes.
    pub changed: u64,
    /// Classes left unchanged after a failure.
    pub failed: u64,
    /// Methods left unchanged within changed classes.
    pub skipped_methods: u64,
    /// Methods that became longer than HotSpot's limit for compilation.
    pub huge_methods: u64,
    /// HotSpot's treatment of these methods.
    pub huge_methods_are: HugeMethods,
    /// Time spent on the selected classes in microseconds, summed over threads.
    pub time_us: u64,
    /// The part of this time that the self-check took.
    pub check_time_us: u64,
}

/// A class that was left unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    /// The stable code of the error.
    pub code: String,
    /// The class, by its internal name.
    pub class: String,
    /// The plugin that caused the failure; empty if no plugin did.
    pub plugin: String,
    /// The cause, as text.
    pub cause: String,
}

/// The place of the snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dump {
    /// The file, as the JVM's process sees it.
    pub snapshot: String,
    /// The length in bytes of the data recorded up to now; the file may grow.
    pub length: u64,
    /// The numbers of classes up to now.
    pub classes: ClassCounts,
}

/// A recording of events of the JVM.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JvmEventsFile {
    /// The file, as the JVM's process sees it.
    pub file: String,
}

/// The reference paths that keep instances of a class alive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeapPaths {
    /// Number of instances that were examined.
    pub instances: u64,
    /// True if the class has more instances.
    pub more: bool,
    /// Number of instances without a known path.
    pub without_path: u64,
    /// True if a limit of memory, path length or time ended the search.
    pub cut: bool,
    /// True if the search ended because another pass would have exceeded the longest pause.
    pub out_of_time: bool,
    /// Number of passes through the heap.
    pub passes: u32,
    /// Total pause of the program, in milliseconds.
    pub still_ms: u64,
    /// The paths, those of most instances first.
    pub paths: Vec<HeapPath>,
}

/// A reference path that several instances share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeapPath {
    /// Number of instances.
    pub instances: u64,
    /// The steps from the root to one of the instances.
    pub steps: Vec<String>,
}

/// The outcome of a reset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reset {
    /// Number of probes whose hits were cleared.
    pub probes: usize,
}

/// The outcome of a mark for a test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Test {
    /// The tests that are under way.
    pub under_way: Vec<String>,
}

/// A recording that ends with the command that starts it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionRequest {
    /// Its unique id, for a lease and for [`Request::Release`].
    pub id: String,
    /// The folder of the event file, as the JVM sees it; `None` for the agent's own.
    pub output: Option<PathBuf>,
}

/// A session that has begun.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// The name of the session's plugin in the agent.
    pub plugin: String,
    /// The event file, as the JVM's process sees it.
    pub file: String,
}

/// The effect of a change of plugins on loaded classes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    /// Number of retransformed classes.
    pub retransformed: usize,
    /// Classes that the JVM did not retransform, and the first classes on which a plugin failed.
    pub failed: Vec<Failure>,
    /// Number of further classes on which a plugin failed.
    pub more_failed: u64,
    /// The plugins after the change.
    pub plugins: Vec<Plugin>,
    /// The requested session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
}

/// A field in objects of a loaded class and of its subclasses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Field {
    /// Number of loaded classes of this name, one for each loader.
    pub classes: usize,
    /// True for an interface or an abstract class, whose objects are of other classes.
    pub is_abstract: bool,
    /// The descriptors of the field in these classes; empty if no class has the field.
    pub types: BTreeSet<String>,
    /// The names of all instance fields of the classes of this name.
    pub fields: BTreeSet<String>,
}

/// A page of the list of loaded classes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Classes {
    /// Number of all classes.
    pub total: usize,
    /// The requested classes, in order of their names.
    pub classes: Vec<Class>,
}

/// A class.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Class {
    /// The name of the class, with dots.
    pub name: String,
    /// `boot`, `platform`, `app` or the loader's class with its identity: `com.acme.Loader@1b6d3586`.
    pub loader: String,
    /// The plugins whose edits the class holds.
    pub changed_by: Vec<String>,
    /// The location of its code source, else `jrt:/` and its module; empty if neither is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Its loader and the loader's parents, the bootstrap loader last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaders: Option<Vec<ClassLoader>>,
    /// Its methods in the JVM's order, then former methods that are only on stacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<LoadedMethod>>,
    /// The class as text, with the edits of plugins and patches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
}

/// The state of the JVM after the agent has left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Off {
    /// Number of restored classes.
    pub restored: usize,
    /// Classes that the JVM did not restore, with the reasons.
    pub failed: Vec<Failure>,
    /// The complete snapshot.
    pub snapshot: String,
    /// Native methods that keep their wrapper, which has no effect any more.
    pub natives: Vec<String>,
    /// Classes that keep structural edits of plugins (added or renamed members) until the JVM ends.
    pub structures: Vec<String>,
}

/// The outcome of a release.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Released {
    /// True if the agent stays, because it has other work.
    pub stays: bool,
    /// Classes that the JVM did not restore, with the reasons.
    pub failed: Vec<Failure>,
}

/// The reason why the agent refuses a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Refusal {
    /// The stable code of the error.
    pub code: String,
    /// The message.
    pub message: String,
    /// Labelled lines below the message, such as `expected`, `found` and `help`.
    pub notes: Vec<(String, String)>,
}

impl Refusal {
    /// A refusal with a code and a message.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            notes: Vec::new(),
        }
    }

    /// Adds a labelled line.
    #[must_use]
    pub fn with(mut self, label: &str, text: impl Into<String>) -> Self {
        self.notes.push((label.to_owned(), text.into()));
        self
    }
}

impl From<&Error> for Refusal {
    /// An agent answers a request with its error.
    fn from(error: &Error) -> Self {
        let refusal = Self::new(error.code(), error.message());
        let notes = error.notes();
        notes.fold(refusal, |refusal, (label, text)| refusal.with(label, text))
    }
}

impl From<Refusal> for Error {
    /// An agent refuses a request of the user.
    fn from(refusal: Refusal) -> Self {
        let error = Self::mistake(refusal.code, refusal.message);
        let notes = refusal.notes.into_iter();
        notes.fold(error, |error, (label, text)| error.with(label, text))
    }
}

/// A request as it is sent.
#[derive(Serialize, Deserialize)]
struct RequestLine<R> {
    protocol: u32,
    #[serde(flatten)]
    request: R,
}

/// The name of the request, read before its fields.
#[derive(Deserialize)]
struct RequestName {
    request: String,
}

/// An answer as it is sent: either `ok` or `error`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct AnswerLine {
    pub protocol: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Refusal>,
}

impl AnswerLine {
    pub fn new(outcome: Result<Value, Refusal>) -> Self {
        let (ok, error) = match outcome {
            Ok(value) => (Some(value), None),
            Err(refusal) => (None, Some(refusal)),
        };
        Self {
            protocol: PROTOCOL,
            ok,
            error,
        }
    }
}

/// Writes a request as a line.
pub(crate) fn write_request(request: &Request) -> serde_json::Result<Vec<u8>> {
    line(&RequestLine {
        protocol: PROTOCOL,
        request,
    })
}

/// Writes a value as a line of JSON.
pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads the request of a line, or returns the refusal to answer with.
pub(crate) fn read_request(line: &[u8]) -> Result<Request, Refusal> {
    let garbage = |error: serde_json::Error| {
        Refusal::new(codes::H0705, "the line is no request")
            .with("expected", "one line of JSON with `protocol` and `request`")
            .with("found", error.to_string())
    };
    let head: RequestLine<RequestName> = serde_json::from_slice(line).map_err(garbage)?;
    if head.protocol != PROTOCOL {
        return Err(other_protocol(head.protocol));
    }
    serde_json::from_slice::<RequestLine<Request>>(line)
        .map(|call| call.request)
        .map_err(|error| {
            let name = head.request.request;
            Refusal::new(codes::H0702, format!("the agent does not know the request `{name}`"))
                .with("found", error.to_string())
                .with("help", "command and agent are of different versions; use the command that came with the agent")
        })
}

/// The refusal for a request in another version of the protocol.
pub(crate) fn other_protocol(found: u32) -> Refusal {
    Refusal::new(
        codes::H0703,
        "command and agent use different versions of the protocol",
    )
    .with("expected", format!("version {PROTOCOL}"))
    .with("found", format!("version {found}"))
    .with(
        "help",
        "use the command that came with the agent; a restarted JVM gets the agent of this command",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(request: &Request) -> Request {
        let line = write_request(request).unwrap();
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        read_request(&line).unwrap()
    }

    #[test]
    fn requests_are_read_as_they_were_written() {
        let all = [
            Request::Status,
            Request::Dump,
            Request::Reset { plugin: None },
            Request::Enable {
                plugin: "coverage".into(),
                options: Some("select=a\nb".into()),
                cache: Some("/tmp/code".into()),
                session: Some(SessionRequest {
                    id: "7-8".into(),
                    output: None,
                }),
                metaspace: Some(1 << 20),
            },
            Request::Classes {
                filter: Some("com.**".into()),
                changed: true,
                skip: 3,
                limit: 7,
                details: Details {
                    plan: true,
                    ..Details::default()
                },
            },
            Request::Patch(PatchRequest {
                classes: vec![crate::patch::ClassBytes(vec![0xca, 0xfe])],
                note: "a\nb".into(),
                ..PatchRequest::default()
            }),
            Request::Rollback {
                which: Rollback::Id(3),
            },
            Request::Patches,
            Request::Off,
        ];
        for request in all {
            assert_eq!(round_trip(&request), request);
        }
    }

    #[test]
    fn malformed_requests_have_different_codes() {
        let code = |line: &str| read_request(line.as_bytes()).unwrap_err().code;
        assert_eq!(code("\0\u{1}garbage"), "H0705");
        assert_eq!(code("[]"), "H0705");
        assert_eq!(code(r#"{"protocol":1}"#), "H0705");
        assert_eq!(code(r#"{"protocol":1,"request":"fly"}"#), "H0702");
        assert_eq!(code(r#"{"protocol":1,"request":"enable"}"#), "H0702");
        assert_eq!(code(r#"{"protocol":2,"request":"status"}"#), "H0703");
    }

    #[test]
    fn fields_of_a_newer_version_are_skipped_and_missing_ones_are_empty() {
        let status: Status = serde_json::from_str(r#"{"pid":7,"mood":"good"}"#).unwrap();
        assert_eq!((status.pid, status.version.as_str()), (7, ""));
    }
}
