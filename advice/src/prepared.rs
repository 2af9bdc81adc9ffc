//! The configuration of the bundled plugin `advice`, as JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use crate::api;
use crate::guard;
use crate::model::{AdviceClass, Effect, Hook, Value, When};
use crate::probed_rows::ProbedRows;
use crate::settings::Initial;

/// Returns the configuration for these classes, each with the initial values of its settings.
#[must_use]
pub fn configuration(advice: &[AdviceClass], initial: &[Vec<Initial>]) -> Json {
    let none = Vec::new();
    let classes = advice.iter().enumerate();
    let classes: Vec<Json> = classes
        .map(|(number, advice)| class(advice, initial.get(number).unwrap_or(&none)))
        .collect();
    json!({ "advice": classes })
}

fn class(advice: &AdviceClass, initial: &[Initial]) -> Json {
    let guard = guard::write(advice, initial);
    let rows = ProbedRows::of(advice);
    let (probes, rows) = (
        rows.as_ref().map(ProbedRows::probes),
        rows.map(|it| it.write()),
    );
    let events = api::EVENTS.iter().map(|(_, bytes)| *bytes);
    let events = events.filter(|_| rows.is_some());
    let files = advice.classes.iter().map(Vec::as_slice).chain(events);
    let files = files.chain(rows.as_deref());
    let call = api::CALL.iter().map(|(_, bytes)| *bytes);
    let files = files.chain(call.filter(|_| advice.is_around_calls()));
    let files = files.chain([api::GUARD, guard.as_slice()]);
    let files: Vec<String> = files.map(|bytes| STANDARD.encode(bytes)).collect();
    let hooks = advice.hooks.iter().enumerate();
    let hooks: Vec<Json> = hooks
        .map(|(number, hook)| hook_of(advice, hook, number))
        .collect();
    json!({
        "name": advice.name.replace('/', "."),
        "at": advice.at,
        "methods": advice.patterns,
        "classes": files, // the last two are the guard and its calls; the class `Call` is before them
        "opens": advice.givers().count() > 1,
        "hooks": hooks,
        "probes": probes,
    })
}

fn hook_of(advice: &AdviceClass, hook: &Hook, number: usize) -> Json {
    let values = guard::given(hook);
    let values: Vec<Json> = values
        .map(|binding| {
            let value = &binding.value;
            json!({
                "value": name(value),
                "argument": position(value),
                "name": match value {
                    Value::Field(name) => name.as_str(),
                    _ => "",
                },
                "type": binding.descriptor,
            })
        })
        .collect();
    json!({
        "name": hook.called(advice),
        "at": hook.at,
        "when": match hook.when {
            When::Entry => "entry",
            When::Exit => "exit",
            When::BeforeCall => "before-call",
            When::AfterCall => "after-call",
            When::Around => "around",
        },
        "calls": hook.calls,
        "on-return": hook.on_return,
        "on-throw": hook.on_throw,
        "call": guard::method_name(hook, number),
        "descriptor": guard::descriptor(hook),
        "keyed": guard::is_keyed(hook),
        "reads": reads(advice, hook),
        "effect": effect(hook.effect),
        "position": match hook.effect {
            Effect::Argument(position) | Effect::Operand(position) => position,
            _ => 0,
        },
        "result": hook.result,
        "values": values,
    })
}

/// Returns the names of the methods whose values it gets from the entry.
fn reads(advice: &AdviceClass, hook: &Hook) -> Vec<String> {
    let read = |giver: &&Hook| {
        let mut bindings = hook.bindings.iter();
        bindings.any(|it| matches!(&it.value, Value::FromEntry(name) if *name == giver.method))
    };
    let givers = advice.givers().filter(read);
    givers.map(|giver| giver.called(advice)).collect()
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::None | Effect::Keep => "none", // the guard keeps the value
        Effect::SkipIfTrue => "skip-if-true",
        Effect::SkipIfNotNull => "skip-if-not-null",
        Effect::Argument(_) => "argument",
        Effect::Operand(_) => "operand",
        Effect::Call => "call",
        Effect::Returned => "returned",
        Effect::Thrown => "thrown",
    }
}

fn name(value: &Value) -> &'static str {
    match value {
        Value::This => "this",
        Value::Argument(_) => "argument",
        Value::AllArguments => "all-arguments",
        Value::Returned => "returned",
        Value::Thrown => "thrown",
        Value::Method => "method",
        Value::Field(_) => "field",
        Value::Line => "line",
        Value::Operand(_) => "operand",
        Value::Called => "called",
        Value::FromEntry(_) | Value::Loader | Value::Call => "", // the guard has it
    }
}

fn position(value: &Value) -> u8 {
    match value {
        Value::Argument(position) | Value::Operand(position) => *position,
        _ => 0,
    }
}
