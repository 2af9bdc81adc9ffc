//! Settings of a plugin.

/// Makes a struct with named fields the [settings](crate::Transformer::Config) of a plugin.
///
/// An unknown key is an error. Its message names the file, the line and the closest known key. A
/// field is mandatory unless it is an `Option` or has a default: `#[config(default)]` for the
/// default of its type, or `#[config(default = VALUE)]`.
///
/// ```
/// use classhook_sdk::prelude::*;
///
/// #[derive(Config)]
/// struct Settings {
///     /// The methods to record.
///     #[config(default)]
///     methods: Vec<String>,
///     /// Maximum length of a text in bytes.
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
/// Any other struct or attribute is a compile-time error:
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
