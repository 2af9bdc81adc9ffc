//! Requests, and the answer that belongs to each.
//!
//! To add a request: a case of [`Request`], a struct for its answer, and a handler in the agent.

use crate::classes::{ClassLoader, Details, LoadedMethod, Plan};
use crate::patch::{PatchRequest, Rollback};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Version of the protocol; both ends must speak the same.
///
/// It changes when a request or an answer that exists changes its meaning. New requests and new
/// fields do not change it: an agent refuses what it does not know, and readers skip what they do not.
pub const PROTOCOL: u32 = 1;

/// The message of a refusal (`H0704`) by an agent that leaves: it answers nobody any more.
pub const LEAVING: &str = "the agent is leaving the JVM";

/// The plugin for which an agent comes that is loaded for a request alone: there is no plugin of this name.
pub const NO_PLUGIN: &str = "none";

/// The begin of the names under which commands record the JVM's own events; what follows is unique to the command.
const OBSERVATION: &str = "observe:";

/// The name that is released when the command of this id, which records the JVM's own events, is gone. There is no plugin
/// of this name.
#[must_use]
pub fn observation(id: &str) -> String {
    format!("{OBSERVATION}{id}")
}

/// Checks whether a name is that of a command that records the JVM's own events.
#[must_use]
pub fn is_observation(name: &str) -> bool {
    name.starts_with(OBSERVATION)
}

/// Longest request, in bytes.
pub const REQUEST_LIMIT: usize = 32 << 20;
/// Longest answer, in bytes.
pub const ANSWER_LIMIT: usize = 64 << 20;

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case")]
pub enum Request {
    /// How the agent is; answered by [`Status`].
    Status,
    /// Write everything recorded so far to the snapshot; answered by [`Dump`].
    Dump,
    /// The same, and what was hit is forgotten in the same moment: the snapshot holds, up to the length that the answer
    /// names, each hit that is in no later one; answered by [`Dump`].
    DumpAndReset,
    /// Forget what was hit; answered by [`Reset`].
    Reset {
        /// Only the probes of this plugin; without one, all.
        plugin: Option<String>,
    },
    /// A test begins, or ends: what is hit meanwhile belongs to it; answered by [`Test`].
    Test {
        /// What it is called.
        name: String,
        /// Whether it ends.
        ends: bool,
    },
    /// Let a plugin change classes, from now on and those that are loaded; answered by [`Change`].
    Enable {
        /// Its name.
        plugin: String,
        /// How to configure it (see the agent's options), if it is new or is to be configured again.
        options: Option<String>,
        /// A folder of compiled plugins (the agent's option `cache`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cache: Option<PathBuf>,
        /// A session in which the plugin records beside others of its kind; without one, it is the agent's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionRequest>,
        /// Most bytes of metaspace that the change may take (the agent's option `metaspace`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metaspace: Option<u64>,
    },
    /// Take a plugin's edits out of all classes; answered by [`Change`].
    Disable {
        /// Its name.
        plugin: String,
    },
    /// Another configuration in place of the present one; answered by [`Change`].
    Reload {
        /// The agent's options; where it records to and whether it is controlled stay as they are.
        options: String,
        /// Most bytes of metaspace that the change may take (the agent's option `metaspace`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metaspace: Option<u64>,
    },
    /// Loaded classes; answered by [`Classes`].
    Classes {
        /// Only those whose name matches: `com.acme.**`.
        filter: Option<String>,
        /// Only those that a plugin has changed.
        changed: bool,
        /// How many of them to skip.
        skip: usize,
        /// How many to list at most.
        limit: usize,
        /// What to tell of each that is listed.
        #[serde(default)]
        details: Details,
    },
    /// A field in objects of loaded classes; answered by [`Field`].
    Field {
        /// The class, with dots.
        class: String,
        /// The field.
        name: String,
    },
    /// Put other class files in the place of loaded classes; answered by [`crate::patch::Patched`].
    Patch(PatchRequest),
    /// Take patches back; answered by [`crate::patch::Patched`].
    Rollback {
        /// Which.
        which: Rollback,
    },
    /// The patches in force; answered by [`crate::patch::Patches`].
    Patches,
    /// The class files of classes, loaded or not; answered by a list of [`crate::patch::ClassBytes`], without those
    /// that no loader has or finds.
    ClassFiles {
        /// Their names, with dots.
        classes: Vec<String>,
        /// Only those of this loader.
        loader: Option<String>,
    },
    /// Record the JVM's own events; answered by [`Observation`].
    Observe {
        /// What is recorded, as the agent's option `observe`.
        subscription: String,
        /// The name whose release ends it.
        #[serde(default)]
        holder: Option<String>,
    },
    /// End that, and complete the file; answered by null.
    EndObservation,
    /// Find what holds the instances of a class; answered by [`HeapPaths`].
    HeapPaths {
        /// Its name as in Java: `com.acme.Order`, `byte[]`.
        class: String,
        /// Longest pause of the program in milliseconds, all passes together. The first pass is always made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_ms: Option<u64>,
    },
    /// Let [`Request::Release`] be carried out when this connection ends; answered by null.
    Lease {
        /// The plugin to be released; without one, the lease is given back.
        plugin: Option<String>,
        /// After so many milliseconds it is released although the connection is there.
        ms: Option<u64>,
        /// The command that takes the lease; its `plugin` does not count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holder: Option<Holder>,
    },
    /// Take a plugin's edits out of all classes, and leave if the agent was loaded for this plugin alone and has
    /// been asked for nothing else since; answered by [`Released`].
    Release {
        /// Its name.
        plugin: String,
    },
    /// Stop the change of classes that is under way, as soon as the batch that the JVM has is done; answered by null.
    Cancel,
    /// Undo everything and leave; answered by [`Off`].
    Off,
}

impl Request {
    /// Whether [`Request::Cancel`] stops it between two batches of classes: what restores classes goes on to its end.
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
    /// The process, as it calls itself.
    pub pid: u32,
    /// The JVM's name and version.
    pub jvm: String,
    /// Milliseconds since the agent began to work.
    pub uptime_ms: u64,
    /// The snapshot file, as the JVM's process sees it.
    pub snapshot: String,
    /// Where JaCoCo's tools can ask what was executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jacoco_tcp: Option<String>,
    /// Id of the run, empty if none was given.
    pub run: String,
    /// The plugins, in the order in which their edits are made.
    pub plugins: Vec<Plugin>,
    /// What became of classes.
    pub classes: ClassCounts,
    /// Arrays defined in the JVM for probes, of 32,768 bytes each.
    pub arrays: u16,
    /// The code that records hits.
    pub hits: Hits,
    /// The first failures.
    pub failures: Vec<Failure>,
    /// Failures of the agent itself, not of a class.
    pub own_failures: u64,
    /// Native methods that have a method in front of them, which stays for as long as the JVM runs.
    pub natives: Vec<String>,
    /// Classes that keep what plugins added to them, or renamed in them, until the JVM ends.
    pub structures: Vec<String>,
    /// The change of classes that is under way.
    pub progress: Option<Progress>,
    /// Methods that were left as they are within changed classes: the first of them, and why.
    pub left_alone: Vec<MethodRemark>,
    /// The last notes of plugins on methods that they left as they are.
    pub notes: Vec<String>,
    /// What came of the plan cache; none if it is off.
    pub plan_cache: Option<PlanCache>,
    /// The commands that are at work in the JVM, each with the plugin that ends with it.
    pub holders: Vec<Holder>,
    /// The last change of loaded classes that was not made, for want of metaspace.
    pub shortage: Option<Shortage>,
}

/// A command that is at work in a JVM, as it describes itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Holder {
    /// The plugin that is released when the command ends.
    pub plugin: String,
    /// Its process.
    pub pid: u32,
    /// The name of its user, or the number of one without a name.
    pub user: String,
    /// Its start, in milliseconds since 1970.
    pub since_ms: u64,
    /// Its command line, arguments with spaces in quotes.
    pub command: String,
}

/// A change of loaded classes that needs more metaspace than there is, so that no class was changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shortage {
    /// The classes to be changed.
    pub classes: usize,
    /// Estimated bytes that the change takes.
    pub needed: u64,
    /// Bytes that it may take.
    pub available: u64,
}

/// How often it was known from the plan cache what a plugin asks for in a class, all plugins together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanCache {
    /// Known, so that the plugin was not asked.
    pub hits: u64,
    /// Not known, so that it was.
    pub misses: u64,
    /// Files and plans in the cache that were no longer what was stored; they are made anew.
    pub damaged: u64,
    /// Plans that no cache took, as on a full disk.
    pub unwritten: u64,
}

/// How far a change of the loaded classes is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Classes that the JVM has taken.
    pub done: usize,
    /// All classes of the change, as far as known.
    pub total: usize,
}

impl Shortage {
    /// The answer to a request for the change.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        let Self {
            classes,
            needed,
            available,
        } = self;
        let kib = |bytes: u64| bytes.div_ceil(1 << 10);
        let message = format!(
            "the metaspace may not suffice for changing {classes} classes; none is changed"
        );
        Refusal::new("H0711", message)
            .with("expected", format!("{} KiB, as estimated from the class files", kib(*needed)))
            .with("found", format!("{} KiB, three quarters of what is free", kib(*available)))
            .with(
                "help",
                "--select takes fewer classes, -XX:MaxMetaspaceSize gives room; --ignore-metaspace changes them anyway",
            )
    }
}

/// What is worth saying about one method.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MethodRemark {
    /// The class, by its internal name.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// What, in words.
    pub text: String,
}

/// A plugin of the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Plugin {
    /// Its name.
    pub name: String,
    /// Whether it sees classes.
    pub state: PluginState,
    /// Classes that hold edits of it now.
    pub changed: usize,
    /// What the user selected; empty for the default selection.
    pub select: Vec<String>,
    /// The classes that its rules or patterns name and of which it was shown none so far.
    pub unmatched: Vec<String>,
}

/// Whether a plugin sees classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PluginState {
    /// It does.
    #[default]
    On,
    /// Somebody disabled it.
    Off,
    /// It failed repeatedly and was switched off.
    Failed,
}

/// What HotSpot does with methods that became longer than it compiles by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HugeMethods {
    /// It interprets them.
    #[default]
    Interpreted,
    /// It compiles them, because the JVM was started with `-XX:-DontCompileHugeMethods`.
    Compiled,
    /// It compiles them, because the agent has cleared the flag `DontCompileHugeMethods`.
    CompiledByUs,
}

/// The code that records hits in classes that are instrumented from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "by", content = "because")]
pub enum Hits {
    /// By calls, which the compilers remove once a probe was hit.
    #[default]
    Calls,
    /// By stores, for this cause.
    Stores(String),
}

/// Classes in numbers, since the agent began to work; each counts once, however often it is changed or retransformed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassCounts {
    /// Loaded since, or loaded before and wanted by a plugin.
    pub seen: u64,
    /// Wanted by a plugin.
    pub selected: u64,
    /// Changed.
    pub changed: u64,
    /// Left unchanged after a failure.
    pub failed: u64,
    /// Methods left alone within changed classes.
    pub skipped_methods: u64,
    /// Methods that became longer than HotSpot compiles.
    pub huge_methods: u64,
    /// What HotSpot does with them.
    pub huge_methods_are: HugeMethods,
    /// Time on the selected classes in microseconds, summed over threads.
    pub time_us: u64,
    /// The part of it that the self-check took.
    pub check_time_us: u64,
}

/// A class that was left unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    /// Stable code.
    pub code: String,
    /// The class, by its internal name.
    pub class: String,
    /// The plugin; empty if none is to blame.
    pub plugin: String,
    /// What happened.
    pub cause: String,
}

/// Where the snapshot is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dump {
    /// The file, as the JVM's process sees it.
    pub snapshot: String,
    /// Its bytes that hold what was recorded up to now; more may follow.
    pub length: u64,
    /// What became of classes up to now.
    pub classes: ClassCounts,
}

/// A recording of the JVM's own events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Observation {
    /// The file, as the JVM's process sees it.
    pub file: String,
}

/// What holds instances of a class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeapPaths {
    /// Instances that were looked at.
    pub instances: u64,
    /// Whether there are others.
    pub more: bool,
    /// Instances for which no path was found.
    pub without_path: u64,
    /// Whether the search ended before it was through, for its limits of memory, length and time.
    pub cut: bool,
    /// Whether the search ended because another pass would have exceeded the longest pause.
    pub out_of_time: bool,
    /// How often the heap was gone through.
    pub passes: u32,
    /// How long the program stood still for it, in milliseconds.
    pub still_ms: u64,
    /// The paths, those of most instances first.
    pub paths: Vec<HeapPath>,
}

/// How instances are held.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeapPath {
    /// How many are.
    pub instances: u64,
    /// From the root to one of them.
    pub steps: Vec<String>,
}

/// What was forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reset {
    /// Probes whose hits were cleared.
    pub probes: usize,
}

/// A test that began or ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Test {
    /// The tests that are under way now.
    pub under_way: Vec<String>,
}

/// A recording that ends with the command that asks for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionRequest {
    /// Its unique id, for a lease and for [`Request::Release`].
    pub id: String,
    /// The folder of the event file, as the JVM sees it; without one, the agent's own.
    pub output: Option<PathBuf>,
}

/// A session that has begun.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// The name of its plugin among those of the agent.
    pub plugin: String,
    /// Its event file, as the JVM's process sees it.
    pub file: String,
}

/// What a change of plugins did to the classes that are loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    /// Classes retransformed.
    pub retransformed: usize,
    /// Classes that the JVM did not let be retransformed, and the first of those that a plugin failed on.
    pub failed: Vec<Failure>,
    /// The plugins now.
    pub plugins: Vec<Plugin>,
    /// The session that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
}

/// A field in objects of a loaded class, and of those below it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Field {
    /// Loaded classes of this name: one for each loader.
    pub classes: usize,
    /// True for an interface or an abstract class, whose objects are of other classes.
    pub is_abstract: bool,
    /// The descriptors that the field has in any of the classes; empty if none has it.
    pub types: BTreeSet<String>,
    /// The names of all instance fields of the classes of this name.
    pub fields: BTreeSet<String>,
}

/// A part of the classes that are loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Classes {
    /// How many there are in all.
    pub total: usize,
    /// Those asked for, in order of their names.
    pub classes: Vec<Class>,
}

/// A class.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Class {
    /// Its name, with dots.
    pub name: String,
    /// `boot`, `platform`, `app` or its loader's class with its identity: `com.acme.Loader@1b6d3586`.
    pub loader: String,
    /// The plugins whose edits it holds.
    pub changed_by: Vec<String>,
    /// Where it was loaded from: the location of its code source, else `jrt:/` and its module; empty if neither is
    /// known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Its loader, and the parents of that, the bootstrap loader last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaders: Option<Vec<ClassLoader>>,
    /// Its methods, in the JVM's order; behind them those that only frames still have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<LoadedMethod>>,
    /// What it consists of, and what plugins and patches did to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
}

/// What is left when the agent is gone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Off {
    /// Classes that are again as they were.
    pub restored: usize,
    /// Classes that the JVM did not let be restored, and why.
    pub failed: Vec<Failure>,
    /// The snapshot, complete.
    pub snapshot: String,
    /// Native methods that keep the method in front of them, which does nothing any more.
    pub natives: Vec<String>,
    /// Classes that keep what plugins added to them, or renamed in them, until the JVM ends.
    pub structures: Vec<String>,
}

/// What became of a plugin that was released.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Released {
    /// Whether the agent stays, for what else it was asked for.
    pub stays: bool,
    /// Classes that the JVM did not let be restored, and why.
    pub failed: Vec<Failure>,
}

/// Why the agent does not do what it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Refusal {
    /// Stable code.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// Labelled lines below it, such as `expected`, `found` and `help`.
    pub notes: Vec<(String, String)>,
}

impl Refusal {
    /// With a stable code and one line.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            notes: Vec::new(),
        }
    }

    /// The same with one more labelled line.
    #[must_use]
    pub fn with(mut self, label: &str, text: impl Into<String>) -> Self {
        self.notes.push((label.to_owned(), text.into()));
        self
    }
}

/// A request on its way.
#[derive(Serialize, Deserialize)]
struct Call<R> {
    protocol: u32,
    #[serde(flatten)]
    request: R,
}

/// What is read of a request first.
#[derive(Deserialize)]
struct Head {
    request: String,
}

/// An answer on its way: one of the two.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Said {
    pub protocol: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Refusal>,
}

impl Said {
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

/// A request as a line.
pub(crate) fn write_request(request: &Request) -> serde_json::Result<Vec<u8>> {
    line(&Call {
        protocol: PROTOCOL,
        request,
    })
}

/// Something as a line.
pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The request of a line, or what to answer instead.
pub(crate) fn read_request(line: &[u8]) -> Result<Request, Refusal> {
    let garbage = |error: serde_json::Error| {
        Refusal::new("H0705", "this is no request")
            .with("expected", "one line of JSON with `protocol` and `request`")
            .with("found", error.to_string())
    };
    let head: Call<Head> = serde_json::from_slice(line).map_err(garbage)?;
    if head.protocol != PROTOCOL {
        return Err(other_protocol(head.protocol));
    }
    serde_json::from_slice::<Call<Request>>(line)
        .map(|call| call.request)
        .map_err(|error| {
            let name = head.request.request;
            Refusal::new("H0702", format!("the agent does not understand the request `{name}`"))
                .with("found", error.to_string())
                .with("help", "command and agent are of different versions; use the command that came with the agent")
        })
}

/// Somebody speaks another version.
pub(crate) fn other_protocol(found: u32) -> Refusal {
    Refusal::new("H0703", "command and agent speak different versions of the protocol")
        .with("expected", format!("version {PROTOCOL}"))
        .with("found", format!("version {found}"))
        .with("help", "use the command that came with the agent; a JVM that is started anew gets the agent of this command")
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
    fn lines_that_are_no_request_are_told_apart() {
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
