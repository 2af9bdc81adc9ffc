//! The functions that [`crate::export!`] calls: the plugin's side of calls from the host.

use serde::de::DeserializeOwned;
use std::panic::PanicHookInfo;
use std::sync::Once;

use crate::bindings::classhook::plugin::{class_file, host, plans};
use crate::class::Class;
use crate::error::Error;
pub use crate::imports::HostNames;
use crate::imports::HostRecorded;
use crate::observer::{Batch, Observer, Subscriptions};
use crate::plan::Plan;
use crate::reporter::{Recorded, Report, Reporter};
use crate::transformer::Transformer;

/// Exports a [`Transformer`] as the plugin of this crate. Outside WebAssembly it has no effect, so
/// the same crate can be tested natively.
///
/// | arguments | the plugin |
/// |---|---|
/// | `TYPE` | transforms classes |
/// | `TYPE, reporter` | is also a [`crate::Reporter`] |
/// | `TYPE, observer: TYPE` | also observes with an [`Observer`] |
/// | `TYPE, reporter, observer: TYPE` | does all three |
/// | `observer: TYPE` | observes, and sees no class |
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
    ($transformer:ty, reporter, observer: $observer:ty) => {
        $crate::export!($transformer, reporter);
        $crate::export!(@observer $observer);
    };
    ($transformer:ty, observer: $observer:ty) => {
        $crate::export!(@component $transformer, {});
        $crate::export!(@observer $observer);
    };
    (observer: $observer:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            struct Component;

            impl $crate::bindings::exports::classhook::plugin::transformer::Guest for Component {
                fn configure(config: ::std::string::String) -> ::std::result::Result<::std::vec::Vec<::std::string::String>, ::std::string::String> {
                    $crate::guest::no_classes::<$observer>(&config)
                }

                fn transform(
                    _: &$crate::bindings::classhook::plugin::class_file::ClassView,
                    _: &$crate::bindings::classhook::plugin::plans::Plan,
                ) -> ::std::result::Result<(), ::std::string::String> {
                    ::std::result::Result::Ok(())
                }
            }

            $crate::bindings::export_transform_plugin!(Component with_types_in $crate::bindings);
        };
        $crate::export!(@observer $observer);
    };
    (@observer $observer:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            struct Component;

            ::std::thread_local! {
                static OBSERVER: ::std::cell::RefCell<::std::option::Option<$observer>> = const { ::std::cell::RefCell::new(::std::option::Option::None) };
            }

            impl $crate::observing::exports::classhook::plugin::observer::Guest for Component {
                fn configure(config: ::std::string::String) -> ::std::result::Result<(), ::std::string::String> {
                    let observer = $crate::guest::observer::<$observer>(&config)?;
                    OBSERVER.with_borrow_mut(|cell| *cell = ::std::option::Option::Some(observer));
                    ::std::result::Result::Ok(())
                }

                fn on_events(generation: u32, events: ::std::vec::Vec<u64>, lost: u64) -> ::std::result::Result<(), ::std::string::String> {
                    OBSERVER.with_borrow_mut(|cell| $crate::guest::events(cell.as_mut(), generation, &events, lost))
                }

                fn on_results(_: ::std::string::String) -> ::std::result::Result<(), ::std::string::String> {
                    OBSERVER.with_borrow_mut(|cell| $crate::guest::results(cell.as_mut()))
                }
            }

            $crate::observing::export_observer_plugin!(Component with_types_in $crate::observing);
        };
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

/// Installs the panic hook and creates an instance from the configuration as JSON.
///
/// # Errors
/// A text for the user if the configuration is invalid.
pub fn configure<T: Transformer>(config: &str) -> Result<T, String> {
    log_panics();
    parse::<T>(config).map_err(|error| error.to_string())
}

/// Installs a hook that logs the text of a panic, so that the host can report it.
fn log_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            host::log(host::Level::Error, &panic_text(info))
        }))
    });
}

/// Creates an instance from a configuration as JSON. An error in a value begins with its path:
/// `rule[1].what: …`.
///
/// # Errors
/// If the configuration does not fit [`Transformer::Config`], or [`Transformer::new`] rejects it.
pub fn parse<T: Transformer>(config: &str) -> Result<T, Error> {
    T::new(settings(config)?)
}

/// Creates an observer from a configuration as JSON.
///
/// # Errors
/// If the configuration does not fit [`Observer::Config`], or [`Observer::new`] rejects it.
pub fn parse_observer<T: Observer>(config: &str) -> Result<T, Error> {
    T::new(settings(config)?)
}

fn settings<C: DeserializeOwned>(config: &str) -> Result<C, Error> {
    let mut json = serde_json::Deserializer::from_str(config);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (path, text) = (error.path().to_string(), without_position(error.inner()));
        Error::Message(match path.as_str() {
            "." => text,
            path => format!("{path}: {text}"),
        })
    })
}

/// Returns the text of an error without its position in the JSON, which the user never sees.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).to_owned()
}

/// Runs a configured instance on one class.
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

/// Creates an observer from its configuration as JSON, and runs its subscriptions.
///
/// # Errors
/// Those of [`parse_observer`], and if a subscription is rejected.
pub fn observer<T: Observer>(config: &str) -> Result<T, String> {
    log_panics();
    let subscribed = |observer: T| {
        observer.subscribe(&mut Subscriptions::host())?;
        Ok(observer)
    };
    let observer = parse_observer::<T>(config).and_then(subscribed);
    observer.map_err(|error| error.to_string())
}

/// Checks the configuration of a plugin that only observes, and returns a selector that selects no
/// class.
///
/// # Errors
/// Those of [`parse_observer`].
pub fn no_classes<T: Observer>(config: &str) -> Result<Vec<String>, String> {
    log_panics();
    let observer = parse_observer::<T>(config).map_err(|error| error.to_string())?;
    drop(observer);
    Ok(vec!["!**".to_owned()])
}

/// Passes events to a configured observer.
///
/// # Errors
/// The text of the plugin's error.
pub fn events<T: Observer>(
    observer: Option<&mut T>,
    generation: u32,
    words: &[u64],
    lost: u64,
) -> Result<(), String> {
    let observer = observer.ok_or("events arrived before configure")?;
    let batch = Batch::new(generation, words, lost, &HostNames);
    observer.observe(&batch).map_err(|error| error.to_string())
}

/// Runs the report of a configured observer.
///
/// # Errors
/// The text of the plugin's error.
pub fn results<T: Observer>(observer: Option<&mut T>) -> Result<(), String> {
    let observer = observer.ok_or("tables were requested before configure")?;
    let reported = observer.report(&mut Report::new(&HostRecorded));
    reported.map_err(|error| error.to_string())
}

/// Runs the report of a configured instance.
///
/// # Errors
/// The text of the plugin's error.
pub fn report<T: Reporter>(instance: Option<&T>) -> Result<(), String> {
    let instance = instance.ok_or("report was called before configure")?;
    let (recorded, mut report) = (Recorded::new(&HostRecorded), Report::new(&HostRecorded));
    let reported = instance.report(&recorded, &mut report);
    reported.map_err(|error| error.to_string())
}

/// Formats `panicked at src/lib.rs:42:9: text`, whatever the type of the panic's payload.
fn panic_text(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("(a value that is not a text)");
    match info.location() {
        Some(at) => format!("panicked at {at}: {text}"),
        None => format!("panicked: {text}"),
    }
}
