//! Hot patches: what is asked for, and what came of each class.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// New classes for those that are loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PatchRequest {
    /// Class files, in base 64.
    pub classes: Vec<ClassBytes>,
    /// Only the classes of these loaders: `app`, `com.acme.Loader`, `com.acme.Loader@1b6d3586`.
    pub loader: Option<String>,
    /// What to keep beside the patch.
    pub note: String,
    /// Only say what would come of it.
    pub check: bool,
    /// Ask the JVM even if a class has another structure.
    pub force: bool,
    /// Patch what can be patched, instead of nothing if anything cannot.
    pub partial: bool,
    /// The folder of the log, as the JVM sees it, if the agent's own output folder goes with the command that the
    /// agent came for. The first change of a JVM decides.
    pub log: Option<PathBuf>,
}

/// A class file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClassBytes(#[serde(with = "base64_text")] pub Vec<u8>);

/// Which patches are taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rollback {
    /// The newest.
    Last,
    /// This one.
    Id(u32),
    /// Every one.
    All,
}

/// What came of a patch, its check, or its rollback.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Patched {
    /// The patches that came or went; empty if nothing was changed.
    pub ids: Vec<u32>,
    /// Each class in each loader that has it.
    pub classes: Vec<ClassOutcome>,
    /// The JVM compiles with C1 alone, and calls through reflection and method handles may go on in former code.
    pub quick_compiler: bool,
    /// Where the change is logged, as the JVM sees the file; empty if nothing was changed.
    pub log: String,
}

/// What came of one class in one loader.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassOutcome {
    /// Its name, with dots.
    pub class: String,
    /// Its loader: `boot`, `platform`, `app`, `com.acme.Loader@1b6d3586`; empty if no loader has it yet.
    pub loader: String,
    /// What became of it.
    pub state: ClassState,
    /// Why not, if it cannot be patched.
    pub broken: Vec<BrokenRule>,
    /// SHA-256 of the class file before, in hexadecimal: as the JVM has it, or of the patch below.
    pub before: String,
    /// SHA-256 of the class file after.
    pub after: String,
    /// What there is to know of it besides: names that were kept, threads that go on in former code.
    pub remarks: Vec<String>,
    /// Parts of a forced patch that have no effect in it.
    pub without_effect: Vec<String>,
}

/// What became of a class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassState {
    /// Nothing: something else was refused.
    #[default]
    Unchanged,
    /// Nothing: it is what was to take its place.
    Same,
    /// It runs the new code from the next call on.
    Patched,
    /// It is not loaded; the new code is used when it is.
    Waiting,
    /// It can be patched (the answer to a check).
    Possible,
    /// It cannot be patched.
    Refused,
    /// It runs the code that it ran before the patch.
    RolledBack,
    /// Neither loaded nor found: no loader has a class file of that name.
    Absent,
    /// It was not loaded, and no patch waits for it any more.
    Withdrawn,
}

/// A rule of JVM TI that a new class breaks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BrokenRule {
    /// The JVM's error, `JVMTI_ERROR_…`, or empty if it is not the JVM's rule.
    pub name: String,
    /// Its number; 0 if it is not the JVM's rule.
    pub number: i32,
    /// What is broken, as text.
    pub text: String,
    /// The JVM itself said so.
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
    /// The log file of every change, as the JVM's process sees it; empty before the first of an agent that came for a
    /// command.
    pub log: String,
}

/// A patch in force.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Patch {
    /// Its number.
    pub id: u32,
    /// What was said about it.
    pub note: String,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// Who asked for it.
    pub uid: u32,
    /// Its classes.
    pub classes: Vec<PatchClass>,
}

/// A class of a patch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PatchClass {
    /// Its name, with dots.
    pub class: String,
    /// SHA-256 of the class file, in hexadecimal.
    pub digest: String,
    /// It was not loaded when it was patched.
    pub waited: bool,
    /// A newer patch covers it in each of its loaders.
    pub covered: bool,
    /// Its state in each loader that has it; one of no loader while it waits, none once it is unloaded.
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
    /// The reason of a refusal; else empty.
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

/// Bytes as base 64.
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
    fn class_files_travel_as_text() {
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
