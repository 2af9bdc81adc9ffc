//! Code that the Kotlin compiler and its plugins generate, in classes annotated with `kotlin.Metadata`.

pub(super) mod accessor;
pub(super) mod compose;
pub(super) mod coroutine;
pub(super) mod default_argument;
pub(super) mod enum_entries;
pub(super) mod exhaustive_when;
pub(super) mod exposed;
pub(super) mod inlined;
pub(super) mod interface_delegate;
pub(super) mod lateinit;
pub(super) mod not_null;
pub(super) mod overload;
pub(super) mod safe_call;
pub(super) mod serializable;
pub(super) mod static_delegate;
pub(super) mod string_when;
pub(super) mod tail_call;
pub(super) mod unsafe_cast;
pub(super) mod value_class;
pub(super) mod without_lines;

/// The class of functions that compiled Kotlin calls for null checks.
const INTRINSICS: &str = "kotlin/jvm/internal/Intrinsics";
