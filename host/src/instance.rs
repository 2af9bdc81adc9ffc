//! A plugin at work: one store, one instance, one class at a time.

use plan_rules::{PlanRequest, Transformation};
use wasmtime::component::Resource;
use wasmtime::{Store, Trap};

use crate::bindings::{TransformPlugin, TransformPluginPre};
use crate::class::{Call, TransformedClass};
use crate::config::LogLevel;
use crate::state::{DEADLINE, MAX_MEMORY, State};

/// An instance is given up after so many classes …
const MAX_CLASSES: u32 = 5_000;
/// … or when its memory has grown by so many bytes.
const MAX_GROWTH: usize = 16 << 20;

/// What a failed call is told as.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Stable code, `H03xx`.
    pub code: &'static str,
    /// In words.
    pub cause: String,
    /// What to do, where something is known.
    pub help: Option<String>,
    /// Method and bci in question.
    pub method: Option<rewriter::MethodIndex>,
    /// The bci that the plugin's request was about.
    pub bci: Option<u16>,
}

/// A configured instance.
pub struct Instance {
    store: Store<State>,
    plugin: TransformPlugin,
    classes: u32,
    first_memory: usize,
    trapped: bool,
}

impl Instance {
    /// Instantiates and configures; gives the plugin's selectors too.
    pub fn new(
        pre: &TransformPluginPre<State>,
        name: &str,
        config: &str,
        level: LogLevel,
    ) -> Result<(Self, Vec<String>), Fault> {
        let mut store = Store::new(pre.engine(), State::new(name, level));
        store.limiter(|state| state);
        store.epoch_deadline_callback(|mut store| Ok(store.data_mut().tick()));
        begin(&mut store, None);
        let plugin = pre
            .instantiate(&mut store)
            .map_err(|error| explain(&error, store.data_mut()))?;
        let configured = plugin
            .classhook_plugin_transformer()
            .call_configure(&mut store, config);
        let selectors = match configured {
            Err(error) => return Err(explain(&error, store.data_mut())),
            Ok(Err(text)) => return Err(Fault::new("H0111", text)),
            Ok(Ok(selectors)) => selectors,
        };
        store.data_mut().flush();
        let first_memory = store.data().memory;
        Ok((
            Self {
                store,
                plugin,
                classes: 0,
                first_memory,
                trapped: false,
            },
            selectors,
        ))
    }

    /// Runs one class through the plugin.
    pub fn transform(
        &mut self,
        class: TransformedClass,
    ) -> (Option<TransformedClass>, Result<PlanRequest, Fault>) {
        self.classes += 1;
        begin(&mut self.store, Some(Call::new(class)));
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
        match state.call.take().map(Call::finish) {
            Some((class, request)) => (Some(class), result.map(|()| request)),
            None => (
                None,
                Err(Fault::new("H0305", "the class was lost".to_owned())),
            ),
        }
    }

    /// Whether the instance may see another class.
    pub fn is_good(&self) -> bool {
        let grown = self.store.data().memory.saturating_sub(self.first_memory);
        !self.trapped && self.classes < MAX_CLASSES && grown <= MAX_GROWTH
    }
}

fn begin(store: &mut Store<State>, call: Option<Call>) {
    store.data_mut().begin(call);
    store.set_epoch_deadline(1);
}

impl Fault {
    /// Without place and help.
    pub fn new(code: &'static str, cause: String) -> Self {
        Self {
            code,
            cause,
            help: None,
            method: None,
            bci: None,
        }
    }
}

/// The plugin returned an error; if it gave up over a refusal, that is the cause.
fn gave_up(text: String, state: &State) -> Fault {
    let transformation = state.call.as_ref().map(|call| &call.transformation);
    let method = transformation.and_then(Transformation::last_method);
    let refused = transformation
        .and_then(Transformation::refused)
        .filter(|refused| text.contains(&refused.message));
    match refused {
        None => Fault {
            method,
            ..Fault::new("H0316", format!("it returned an error: {text}"))
        },
        Some(refused) => Fault {
            code: refused.code,
            cause: refused.message.clone(),
            help: refused.help.map(str::to_owned),
            method,
            bci: refused.bci,
        },
    }
}

/// Says what a trap means.
fn explain(error: &wasmtime::Error, state: &mut State) -> Fault {
    let panic = state.last_error.take();
    let trap = error.downcast_ref::<Trap>();
    let (code, cause, help) = if state.out_of_time {
        (
            "H0312",
            format!("it used more than {} ms of CPU time", DEADLINE.as_millis()),
            "look for a loop that does not end",
        )
    } else if state.out_of_memory {
        (
            "H0313",
            format!("it asked for more than {} MiB of memory", MAX_MEMORY >> 20),
            "keep less, or look at fewer classes",
        )
    } else if matches!(trap, Some(Trap::StackOverflow)) {
        (
            "H0314",
            "its stack is full: probably endless recursion".to_owned(),
            "look for a function that calls itself",
        )
    } else if let Some(text) = panic {
        ("H0311", text, "")
    } else if matches!(trap, Some(Trap::MemoryOutOfBounds)) {
        let cause = "it accessed memory out of bounds: probably endless recursion (a Rust plugin's stack ends at address 0)";
        (
            "H0314",
            cause.to_owned(),
            "look for a function that calls itself",
        )
    } else {
        let cause = trap.map_or_else(|| error.root_cause().to_string(), ToString::to_string);
        ("H0311", format!("it trapped: {cause}"), "")
    };
    let help = (!help.is_empty()).then(|| help.to_owned());
    let bci = None;
    Fault {
        code,
        cause,
        help,
        method: state
            .call
            .as_ref()
            .and_then(|call| call.transformation.last_method()),
        bci,
    }
}
