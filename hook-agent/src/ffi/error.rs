//! `jvmtiError` and the meaning of each code (JVM TI, Error Reference).

use std::fmt;

/// A JVM TI error code. Any `i32` is valid, because newer JVMs may return codes that are not listed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct JvmtiError(pub i32);

impl JvmtiError {
    pub const NOT_AVAILABLE: JvmtiError = JvmtiError(98);
    pub const THREAD_NOT_ALIVE: JvmtiError = JvmtiError(15);
    pub const OUT_OF_MEMORY: JvmtiError = JvmtiError(110);
    pub const INVALID_CLASS_FORMAT: JvmtiError = JvmtiError(60);
    pub const UNSUPPORTED_VERSION: JvmtiError = JvmtiError(68);
    pub const MUST_POSSESS_CAPABILITY: JvmtiError = JvmtiError(99);
    pub const UNMODIFIABLE_CLASS: JvmtiError = JvmtiError(79);

    /// `Ok` for `JVMTI_ERROR_NONE`.
    pub fn check(code: i32) -> Result<(), JvmtiError> {
        if code == 0 {
            Ok(())
        } else {
            Err(JvmtiError(code))
        }
    }

    /// `JVMTI_ERROR_…`.
    pub fn name(self) -> String {
        self.known().map_or_else(
            || format!("JVM TI error {}", self.0),
            |(_, name, _)| format!("JVMTI_ERROR_{name}"),
        )
    }

    /// Its meaning, for users.
    pub fn description(self) -> &'static str {
        self.known().map_or("unknown error", |(.., text)| text)
    }

    fn known(self) -> Option<&'static (i32, &'static str, &'static str)> {
        NAMES.iter().find(|(code, ..)| *code == self.0)
    }
}

impl fmt::Display for JvmtiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.known() {
            Some((code, name, text)) => write!(f, "JVMTI_ERROR_{name} ({code}: {text})"),
            None => write!(f, "JVM TI error {}", self.0),
        }
    }
}

impl std::error::Error for JvmtiError {}

/// Number, name without `JVMTI_ERROR_`, and the meaning for users.
const NAMES: &[(i32, &str, &str)] = &[
    (10, "INVALID_THREAD", "not a thread"),
    (11, "INVALID_THREAD_GROUP", "not a thread group"),
    (12, "INVALID_PRIORITY", "priority out of range"),
    (13, "THREAD_NOT_SUSPENDED", "the thread was not suspended"),
    (14, "THREAD_SUSPENDED", "the thread is suspended already"),
    (
        15,
        "THREAD_NOT_ALIVE",
        "the thread has not started or has ended",
    ),
    (20, "INVALID_OBJECT", "not an object"),
    (21, "INVALID_CLASS", "not a class"),
    (22, "CLASS_NOT_PREPARED", "the class is not prepared yet"),
    (23, "INVALID_METHODID", "not a method"),
    (24, "INVALID_LOCATION", "not a location in the method"),
    (25, "INVALID_FIELDID", "not a field"),
    (26, "INVALID_MODULE", "not a module"),
    (31, "NO_MORE_FRAMES", "no such stack frame"),
    (32, "OPAQUE_FRAME", "the frame gives no information"),
    (34, "TYPE_MISMATCH", "the variable has another type"),
    (35, "INVALID_SLOT", "no such variable"),
    (40, "DUPLICATE", "set already"),
    (41, "NOT_FOUND", "not found"),
    (50, "INVALID_MONITOR", "not a raw monitor"),
    (
        51,
        "NOT_MONITOR_OWNER",
        "the thread does not own the monitor",
    ),
    (52, "INTERRUPT", "the call was interrupted"),
    (
        60,
        "INVALID_CLASS_FORMAT",
        "the new class file is malformed",
    ),
    (
        61,
        "CIRCULAR_CLASS_DEFINITION",
        "the class would be its own superclass",
    ),
    (
        62,
        "FAILS_VERIFICATION",
        "the new class file fails verification",
    ),
    (
        63,
        "UNSUPPORTED_REDEFINITION_METHOD_ADDED",
        "a method was added",
    ),
    (
        64,
        "UNSUPPORTED_REDEFINITION_SCHEMA_CHANGED",
        "a field was added, removed or changed",
    ),
    (
        65,
        "INVALID_TYPESTATE",
        "the thread state has been modified",
    ),
    (
        66,
        "UNSUPPORTED_REDEFINITION_HIERARCHY_CHANGED",
        "the superclass or an interface changed",
    ),
    (
        67,
        "UNSUPPORTED_REDEFINITION_METHOD_DELETED",
        "a method was removed",
    ),
    (
        68,
        "UNSUPPORTED_VERSION",
        "the JVM does not support this class-file version",
    ),
    (
        69,
        "NAMES_DONT_MATCH",
        "the new class file has another name",
    ),
    (
        70,
        "UNSUPPORTED_REDEFINITION_CLASS_MODIFIERS_CHANGED",
        "the class's modifiers changed",
    ),
    (
        71,
        "UNSUPPORTED_REDEFINITION_METHOD_MODIFIERS_CHANGED",
        "a method's modifiers changed",
    ),
    (
        72,
        "UNSUPPORTED_REDEFINITION_CLASS_ATTRIBUTE_CHANGED",
        "a nest, record or sealed-class attribute changed",
    ),
    (73, "UNSUPPORTED_OPERATION", "not supported by this JVM"),
    (
        79,
        "UNMODIFIABLE_CLASS",
        "the JVM does not allow changes of this class",
    ),
    (
        80,
        "UNMODIFIABLE_MODULE",
        "the JVM does not allow changes of this module",
    ),
    (98, "NOT_AVAILABLE", "this JVM does not offer it now"),
    (
        99,
        "MUST_POSSESS_CAPABILITY",
        "the agent lacks the capability",
    ),
    (100, "NULL_POINTER", "a pointer was null"),
    (101, "ABSENT_INFORMATION", "the information is not there"),
    (102, "INVALID_EVENT_TYPE", "not an event"),
    (103, "ILLEGAL_ARGUMENT", "an argument was out of range"),
    (104, "NATIVE_METHOD", "not possible for a native method"),
    (
        106,
        "CLASS_LOADER_UNSUPPORTED",
        "the class loader cannot do it",
    ),
    (110, "OUT_OF_MEMORY", "no memory left"),
    (111, "ACCESS_DENIED", "the JVM forbids it"),
    (112, "WRONG_PHASE", "not possible in this phase of the JVM"),
    (113, "INTERNAL", "internal error of the JVM"),
    (
        115,
        "UNATTACHED_THREAD",
        "the thread is not attached to the JVM",
    ),
    (116, "INVALID_ENVIRONMENT", "the JVM TI environment is gone"),
];
