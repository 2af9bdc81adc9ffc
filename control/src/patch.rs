//! Hot patches: requests, and the outcome for each class.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// New class files for loaded classes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PatchRequest {
    /// Class files, in base64.
    pub classes: Vec<ClassBytes>,
    /// Restricts the patch to classes of this loader: `app`, `com.acme.Loader`, `com.acme.Loader@1b6d3586`.
    pub loader: Option<String>,
    /// The user's note, stored with the patch.
    pub note: String,
    /// Only check: report the outcome without changing a class.
    pub check: bool,
    /// Let the JVM decide, even if a class file has another structure than the loaded class.
    pub force: bool,
    /// Patch the classes that can be patched. Without it, one refused class refuses the whole patch.
    pub partial: bool,
    /// The folder of the log, as the JVM sees it. It is used if the agent was loaded for a command and its output
    /// folder goes with that command. The first change of a JVM decides.
    pub log: Option<PathBuf>,
    /// The frames of virtual threads in methods of these classes. JVM TI does not list virtual threads, so the client
    /// takes them from the JVM's own dump of threads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub virtual_frames: Vec<VirtualFrames>,
    /// Most bytes of metaspace that the patch may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metaspace: Option<u64>,
}

/// The virtual threads with a frame at one place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct VirtualFrames {
    /// The name of the class, with dots.
    pub class: String,
    /// The name of the method, without its descriptor.
    pub method: String,
    /// The line of the frame, if the class file has lines.
    pub line: Option<u16>,
    /// Numbers and names of the first threads: `#22 "worker"`.
    pub threads: Vec<String>,
    /// The number of threads.
    pub count: usize,
}

/// A class file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClassBytes(#[serde(with = "base64_text")] pub Vec<u8>);

/// The patches to roll back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rollback {
    /// The newest patch.
    Last,
    /// The patch with this id.
    Id(u32),
    /// Every patch.
    All,
}

/// The outcome of a patch, of its check, or of its rollback.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Patched {
    /// The ids of the patches that were applied or rolled back; empty if nothing was changed.
    pub ids: Vec<u32>,
    /// The outcome for each class in each loader that has it.
    pub classes: Vec<ClassOutcome>,
    /// The JVM compiles with C1 alone, so calls through reflection and method handles may keep the former code.
    pub quick_compiler: bool,
    /// The path of the log of the change, as the JVM sees it; empty if nothing was changed.
    pub log: String,
}

/// The outcome for one class in one loader.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassOutcome {
    /// The name of the class, with dots.
    pub class: String,
    /// Its loader: `boot`, `platform`, `app`, `com.acme.Loader@1b6d3586`; empty if no loader has it yet.
    pub loader: String,
    /// The state of the class after the request.
    pub state: ClassState,
    /// The rules that the new class file breaks, if it cannot be patched.
    pub broken: Vec<BrokenRule>,
    /// SHA-256 of the class file before, in hexadecimal: the JVM's own class file, or that of the patch below.
    pub before: String,
    /// SHA-256 of the class file after.
    pub after: String,
    /// Remarks for the user: names that were kept, threads that still execute former code.
    pub remarks: Vec<String>,
    /// Parts of a forced patch that have no effect in this class.
    pub without_effect: Vec<String>,
}

/// The state of a class after a patch, a check or a rollback.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassState {
    /// Not changed, because another class was refused.
    #[default]
    Unchanged,
    /// Not changed: the class has this class file already.
    Same,
    /// Patched: the new code runs from the next call on.
    Patched,
    /// Not loaded yet: the new class file is used when the class is loaded.
    Waiting,
    /// Can be patched (the answer to a check).
    Possible,
    /// Cannot be patched.
    Refused,
    /// Rolled back: the code from before the patch runs.
    RolledBack,
    /// Neither loaded nor found: no loader has a class file of that name.
    Absent,
    /// Not loaded, and no patch waits for the class any more.
    Withdrawn,
    /// New: the patch defined the class in the loaders of the classes that use it.
    Defined,
}

/// A rule of JVM TI that a new class file breaks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BrokenRule {
    /// The JVM's error, `JVMTI_ERROR_…`; empty if the rule is Classhook's.
    pub name: String,
    /// The number of the JVM's error; 0 if the rule is Classhook's.
    pub number: i32,
    /// The difference that breaks the rule, as text.
    pub text: String,
    /// True if the JVM itself refused the class file.
    pub by_jvm: bool,
    /// True if a forced patch ignores the rule.
    pub forcible: bool,
}

/// The patches in force.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Patches {
    /// Oldest first; for each class the newest counts.
    pub patches: Vec<Patch>,
    /// The path of the log of every change, as the JVM's process sees it. Empty before the first change, if the agent
    /// was loaded for a command.
    pub log: String,
}

/// A patch in force.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Patch {
    /// Its id.
    pub id: u32,
    /// The user's note.
    pub note: String,
    /// The time of the patch, in milliseconds since 1970.
    pub time_ms: u64,
    /// The id of the user who applied the patch.
    pub uid: u32,
    /// The patched classes.
    pub classes: Vec<PatchClass>,
}

/// A class of a patch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PatchClass {
    /// The name of the class, with dots.
    pub class: String,
    /// SHA-256 of the class file, in hexadecimal.
    pub digest: String,
    /// True if the class was not loaded at the time of the patch.
    pub waited: bool,
    /// True if a newer patch covers the class in each of its loaders.
    pub covered: bool,
    /// The state in each loader that has the class. One entry without a loader while the class is not loaded; empty
    /// once it is unloaded.
    pub states: Vec<LoaderState>,
}

/// The state of a patched class in one loader.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoaderState {
    /// The loader, as [`ClassOutcome::loader`] names it; empty while no loader has the class.
    pub loader: String,
    /// The state of the new code in the class.
    pub state: PatchState,
    /// The reason of a refusal, else empty.
    pub why: String,
}

/// The state of a patch in a class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PatchState {
    /// No loader has loaded the class yet.
    #[default]
    Waiting,
    /// The class has the new code.
    Applied,
    /// The class was loaded with its own code.
    Refused,
}

/// Bytes as base64.
mod base64_text {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        STANDARD
            .decode(text.as_bytes())
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_files_are_sent_as_base64() {
        let request = PatchRequest {
            classes: vec![ClassBytes(vec![0xca, 0xfe, 0, 10])],
            ..PatchRequest::default()
        };
        let text = serde_json::to_string(&request).unwrap();
        assert!(text.contains(r#""yv4ACg==""#), "{text}");
        assert_eq!(
            serde_json::from_str::<PatchRequest>(&text).unwrap(),
            request
        );
        assert!(serde_json::from_str::<ClassBytes>(r#""no!""#).is_err());
    }
}
