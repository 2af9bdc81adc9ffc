//! What [`crate::export!`] calls: the plugin's side of a call from the host.

use std::panic::PanicHookInfo;
use std::sync::Once;

use crate::bindings::classhook::plugin::{class_file, host, plans};
use crate::class::Class;
use crate::error::Error;
use crate::imports::HostRecorded;
use crate::plan::Plan;
use crate::reporter::{Recorded, Report, Reporter};
use crate::transformer::Transformer;

/// Makes a [`Transformer`] the plugin that this crate exports; with `, reporter` behind it one that is a
/// [`crate::Reporter`], too. Does nothing
/// outside WebAssembly, so the same crate can be tested natively.
#[macro_export]
macro_rules! export {
    ($transformer:ty) => {
        $crate::export!(@component $transformer, {});
    };
    ($transformer:ty, reporter) => {
        $crate::export!(@component $transformer, {
            impl $crate::reporting::exports::classhook::plugin::reporter::Guest for Component {
                fn report() -> ::std::result::Result<(), ::std::string::String> {
                    INSTANCE.with(|cell| $crate::guest::report(cell.get()))
                }
            }

            $crate::reporting::export_report_plugin!(Component with_types_in $crate::reporting);
        });
    };
    (@component $transformer:ty, { $($reporter:tt)* }) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            struct Component;

            ::std::thread_local! {
                static INSTANCE: ::std::cell::OnceCell<$transformer> = const { ::std::cell::OnceCell::new() };
            }

            impl $crate::bindings::exports::classhook::plugin::transformer::Guest for Component {
                fn configure(config: ::std::string::String) -> ::std::result::Result<::std::vec::Vec<::std::string::String>, ::std::string::String> {
                    let instance = $crate::guest::configure::<$transformer>(&config)?;
                    let selectors = $crate::Transformer::select(&instance);
                    INSTANCE.with(|cell| cell.set(instance)).map_err(|_| "configured twice")?;
                    ::std::result::Result::Ok(selectors)
                }

                fn transform(
                    of: &$crate::bindings::classhook::plugin::class_file::ClassView,
                    to: &$crate::bindings::classhook::plugin::plans::Plan,
                ) -> ::std::result::Result<(), ::std::string::String> {
                    INSTANCE.with(|cell| $crate::guest::transform(cell.get(), of, to))
                }
            }

            $crate::bindings::export_transform_plugin!(Component with_types_in $crate::bindings);
            $($reporter)*
        };
    };
}

/// Installs the panic hook and makes an instance from the configuration as JSON.
///
/// # Errors
/// The text for the user when the configuration does not fit.
pub fn configure<T: Transformer>(config: &str) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| std::panic::set_hook(Box::new(|info| host::log(0, &panic_text(info)))));
    parse::<T>(config).map_err(|error| error.to_string())
}

/// An instance from a configuration as JSON. What is wrong with a value begins with its path: `rule[1].what: …`.
///
/// # Errors
/// When the configuration does not fit [`Transformer::Config`], or [`Transformer::new`] refuses it.
pub fn parse<T: Transformer>(config: &str) -> Result<T, Error> {
    let mut json = serde_json::Deserializer::from_str(config);
    let config = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (path, text) = (error.path().to_string(), without_position(error.inner()));
        Error::Message(match path.as_str() {
            "." => text,
            path => format!("{path}: {text}"),
        })
    })?;
    T::new(config)
}

/// The text of an error without its place in the JSON, which the user never sees.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).to_owned()
}

/// Runs one class through a configured instance.
///
/// # Errors
/// The text of the plugin's error.
pub fn transform<T: Transformer>(
    instance: Option<&T>,
    of: &class_file::ClassView,
    to: &plans::Plan,
) -> Result<(), String> {
    let instance = instance.ok_or("transform was called before configure")?;
    instance
        .transform(&Class::new(of), &mut Plan::new(to))
        .map_err(|error| error.to_string())
}

/// Has a configured instance compute its tables.
///
/// # Errors
/// The text of the plugin's error.
pub fn report<T: Reporter>(instance: Option<&T>) -> Result<(), String> {
    let instance = instance.ok_or("report was called before configure")?;
    let (recorded, mut report) = (Recorded::new(&HostRecorded), Report::new(&HostRecorded));
    let reported = instance.report(&recorded, &mut report);
    reported.map_err(|error| error.to_string())
}

/// `panicked at src/lib.rs:42:9: text`, whatever kind of text the panic carried.
fn panic_text(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("(a value that is no text)");
    match info.location() {
        Some(at) => format!("panicked at {at}: {text}"),
        None => format!("panicked: {text}"),
    }
}
