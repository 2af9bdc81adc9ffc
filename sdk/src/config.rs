//! Settings of a plugin.

/// Makes a struct with named fields the [settings](crate::Transformer::Config) of a plugin.
///
/// A key that is no field is refused: the user reads which file and line it stands in, and the nearest of the keys that
/// there are. A field has to be given unless it is an `Option` or has a default, `#[config(default)]` for that of its type
/// or `#[config(default = VALUE)]`.
///
/// ```
/// use classhook_sdk::prelude::*;
///
/// #[derive(Config)]
/// struct Settings {
///     /// Which methods.
///     #[config(default)]
///     methods: Vec<String>,
///     /// Longest text that is kept.
///     #[config(default = 80)]
///     limit: u32,
///     title: Option<String>,
///     table: String,
/// }
///
/// let settings: Settings = serde_json::from_str(r#"{"table": "calls"}"#)?;
/// assert!(settings.methods.is_empty() && settings.title.is_none());
/// assert_eq!((settings.limit, settings.table.as_str()), (80, "calls"));
///
/// let refused = serde_json::from_str::<Settings>(r#"{"tabel": "calls"}"#).err().unwrap();
/// assert!(refused.to_string().starts_with("unknown field `tabel`, expected one of `methods`, `limit`, `title`, `table`"));
/// let refused = serde_json::from_str::<Settings>("{}").err().unwrap();
/// assert!(refused.to_string().starts_with("missing field `table`"));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Anything else is an error of the compiler:
///
/// ```compile_fail
/// use classhook_sdk::prelude::*;
///
/// #[derive(Config)]
/// struct Settings(u32);
/// ```
///
/// ```compile_fail
/// use classhook_sdk::prelude::*;
///
/// #[derive(Config)]
/// struct Settings {
///     #[config(defualt = 80)]
///     limit: u32,
/// }
/// ```
pub use classhook_sdk_macros::Config;
#[doc(hidden)]
pub use serde;
