//! A running plugin: one store and one instance, which transforms one class at a time.

use std::collections::BTreeSet;
use std::time::Duration;

use errors::codes;
use plan_rules::{PlanRequest, Transformation};
use plugin_code::MAX_MEMORY;
use wasmtime::component::Resource;
use wasmtime::{Engine, Store, Trap, WasmBacktrace};

use crate::bindings::{TransformPlugin, TransformPluginPre};
use crate::class::{Call, TransformedClass};
use crate::plugin_failure::PluginFailure;
use crate::store_data::{MAX_HANDLES, StoreData, StoreSettings};

/// An instance is replaced after this number of classes …
const MAX_CLASSES: u32 = 5_000;
/// … or after its memory has grown by this number of bytes.
const MAX_GROWTH: usize = 16 << 20;

/// Maximum number of selectors of one plugin, and their maximum total size in bytes.
const MAX_SELECTORS: usize = 4_096;
const MAX_SELECTOR_BYTES: usize = 256 << 10;
/// Minimum number of frames in a stack that is reported as endless recursion.
const DEEP: usize = 20;
/// Maximum length of a source line that a plugin names, in bytes.
const MAX_SOURCE_LINE: usize = 256;

/// A configured instance.
pub struct Instance {
    store: Store<StoreData>,
    plugin: TransformPlugin,
    classes: u32,
    first_memory: usize,
    trapped: bool,
    time: Duration,
}

impl Instance {
    /// Creates and configures an instance. Also returns the plugin's selectors.
    pub fn new(
        pre: &TransformPluginPre<StoreData>,
        config: &str,
        settings: &StoreSettings,
    ) -> Result<(Self, Vec<String>), PluginFailure> {
        let mut store = new_store(pre.engine(), settings);
        let plugin = pre
            .instantiate(&mut store)
            .map_err(|error| explain(&error, store.data_mut()))?;
        let configured = plugin
            .classhook_plugin_transformer()
            .call_configure(&mut store, config);
        let selectors = match configured {
            Err(error) => return Err(explain(&error, store.data_mut())),
            Ok(selectors) => expect_configured(selectors)?,
        };
        store.data_mut().flush();
        let time = store.data().time();
        let first_memory = store.data().memory();
        Ok((
            Self {
                store,
                plugin,
                classes: 0,
                first_memory,
                trapped: false,
                time,
            },
            selectors,
        ))
    }

    /// Runs the plugin on one class; the new request reuses the memory of an earlier one.
    pub fn transform(
        &mut self,
        class: TransformedClass,
        memory: PlanRequest,
    ) -> (Option<TransformedClass>, Result<PlanRequest, PluginFailure>) {
        let call = Call::new(class, memory);
        begin(&mut self.store, Some(call));
        let transformer = self.plugin.classhook_plugin_transformer();
        let called = transformer.call_transform(
            &mut self.store,
            Resource::new_borrow(0),
            Resource::new_borrow(0),
        );
        let state = self.store.data_mut();
        let result = match called {
            Ok(Ok(())) => Ok(()),
            Ok(Err(text)) => Err(gave_up(text, state)),
            Err(error) => {
                self.trapped = true;
                Err(explain(&error, state))
            }
        };
        state.flush();
        self.time += state.time();
        match state.call.take().map(Call::finish) {
            Some((class, request)) => (Some(class), result.map(|()| request)),
            None => (
                None,
                Err(PluginFailure::new(
                    codes::H0305,
                    "the class was lost".to_owned(),
                )),
            ),
        }
    }

    /// Returns the CPU time since the last call of this function, with the creation of the
    /// instance.
    pub fn take_time(&mut self) -> Duration {
        std::mem::take(&mut self.time)
    }

    /// Returns whether the plugin logged anything in its last call.
    pub fn has_logged(&self) -> bool {
        self.store.data().has_logged()
    }

    /// Returns whether the instance may get another class.
    pub fn is_good(&self) -> bool {
        let grown = self.store.data().memory().saturating_sub(self.first_memory);
        !self.trapped && self.classes < MAX_CLASSES && grown <= MAX_GROWTH
    }
}

/// Creates a store with the limits of plugins, ready for its first call.
pub fn new_store(engine: &Engine, settings: &StoreSettings) -> Store<StoreData> {
    let state = StoreData::new(settings.clone());
    let mut store = Store::new(engine, state);
    store.limiter(|state| state);
    store.set_hostcall_fuel(MAX_MEMORY);
    store.set_max_component_handles(MAX_HANDLES);
    store.epoch_deadline_callback(|mut store| Ok(store.data_mut().tick()));
    begin(&mut store, None);
    store
}

/// Checks the result of `configure`: the plugin must accept its configuration.
pub fn expect_configured(
    answer: Result<Vec<String>, String>,
) -> Result<Vec<String>, PluginFailure> {
    expect_few(answer.map_err(|text| PluginFailure::new(codes::H0111, text))?)
}

/// Checks that the selectors are few enough to be matched against each loaded class.
fn expect_few(selectors: Vec<String>) -> Result<Vec<String>, PluginFailure> {
    let (count, bytes) = (
        selectors.len(),
        selectors.iter().map(String::len).sum::<usize>(),
    );
    if count <= MAX_SELECTORS && bytes <= MAX_SELECTOR_BYTES {
        return Ok(selectors);
    }
    let cause = format!(
        "expected at most {MAX_SELECTORS} selectors of {MAX_SELECTOR_BYTES} bytes in all, found {count} of {bytes}"
    );
    Err(PluginFailure::new(codes::H0315, cause))
}

fn begin(store: &mut Store<StoreData>, call: Option<Call>) {
    store.data_mut().begin(call);
    store.set_epoch_deadline(1);
}

/// The failure of a plugin that returned an error. If the error quotes a rejected request, that
/// request is the cause.
fn gave_up(text: String, state: &StoreData) -> PluginFailure {
    let transformation = state.call.as_ref().map(|call| &call.transformation);
    let method = transformation.and_then(last_method);
    let refused = transformation
        .and_then(Transformation::refused)
        .filter(|refused| text.contains(&refused.message));
    match refused {
        None => PluginFailure {
            method,
            ..PluginFailure::new(codes::H0316, format!("it returned an error: {text}"))
        },
        Some(refused) => PluginFailure {
            help: refused.help.map(str::to_owned),
            method,
            bci: refused.bci,
            source: source_line(&text, &refused.message),
            ..PluginFailure::new(refused.code, refused.message.clone())
        },
    }
}

/// Returns the line of the plugin's source in an error that quotes a rejected request: the SDK for Rust adds
/// ` (src/lib.rs:42)` behind the message.
fn source_line(text: &str, message: &str) -> Option<String> {
    let (_, behind) = text.split_once(message)?;
    let line = behind.strip_prefix(" (")?.split_once(')')?.0;
    let (_, number) = line.rsplit_once(':')?;
    let is_line = line.len() <= MAX_SOURCE_LINE && number.parse::<u32>().is_ok();
    is_line.then(|| line.to_owned())
}

/// Returns the name and descriptor of the last method that the plugin accessed.
fn last_method(transformation: &Transformation) -> Option<String> {
    transformation.method_name(transformation.last_method()?)
}

/// Returns the function in which a call failed, if it has a name.
fn place(error: &wasmtime::Error) -> String {
    let backtrace = error.downcast_ref::<WasmBacktrace>();
    let innermost = backtrace.and_then(|found| found.frames().first());
    let name = innermost.and_then(|frame| frame.func_name());
    name.map_or_else(String::new, |name| format!(" in {name}"))
}

/// Checks whether a call failed in endless recursion: a few functions fill the reported upper part
/// of the stack.
fn is_recursion(error: &wasmtime::Error) -> bool {
    let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() else {
        return false;
    };
    let frames = backtrace.frames();
    let functions: BTreeSet<u32> = frames.iter().map(|frame| frame.func_index()).collect();
    frames.len() >= DEEP && functions.len() * 2 <= frames.len()
}

/// Explains a limit that wasmtime enforces, recognized by its message.
fn too_much(cause: &str) -> Option<String> {
    if cause.contains("fuel allocated for hostcalls has been exhausted") {
        let most = MAX_MEMORY >> 20;
        return Some(format!("it passed more than {most} MiB at once"));
    }
    let handles = cause.contains("handle limit exceeded");
    handles.then(|| format!("it held more than {MAX_HANDLES} handles at once"))
}

/// Explains a trap.
pub fn explain(error: &wasmtime::Error, state: &mut StoreData) -> PluginFailure {
    let panic = state.last_error.take();
    let trap = error.downcast_ref::<Trap>();
    let (code, cause, help) = if state.out_of_time {
        (
            codes::H0312,
            format!(
                "it used more than {} ms of CPU time",
                state.deadline.as_millis()
            ),
            "look for an endless loop, or for too much work per class",
        )
    } else if state.out_of_memory {
        (
            codes::H0313,
            format!("it requested more than {} MiB of memory", MAX_MEMORY >> 20),
            "reduce its memory use, or select fewer classes",
        )
    } else if matches!(trap, Some(Trap::StackOverflow)) {
        (
            codes::H0314,
            "its stack is full: probably endless recursion".to_owned(),
            "look for a function that calls itself",
        )
    } else if let Some(text) = panic {
        (codes::H0311, text, "")
    } else if matches!(trap, Some(Trap::MemoryOutOfBounds)) && is_recursion(error) {
        let cause = "it accessed memory out of bounds: probably endless recursion (a Rust plugin's stack ends at address 0)";
        (
            codes::H0314,
            cause.to_owned(),
            "look for a function that calls itself",
        )
    } else {
        let cause = trap.map_or_else(|| error.root_cause().to_string(), ToString::to_string);
        match too_much(&cause) {
            Some(cause) => (
                codes::H0313,
                cause,
                "reduce its memory use, or select fewer classes",
            ),
            None => (
                codes::H0311,
                format!("it trapped: {cause}{}", place(error)),
                "",
            ),
        }
    };
    let call = state.call.as_ref();
    PluginFailure {
        help: (!help.is_empty()).then(|| help.to_owned()),
        method: call.and_then(|call| last_method(&call.transformation)),
        ..PluginFailure::new(code, cause)
    }
}
