//! Writes the class between program and advice: a static method for each method of the advice, which catches its
//! exceptions.
//!
//! ```text
//! static void exit1(Object self, long argument, int call) {
//!     Object[] state = AdviceGuard.pop(call);
//!     if (state != null)
//!         try {
//!             SlowSql.end((Shop) self, argument, AdviceGuard.bits(state));
//!             AdviceGuard.end(state);
//!         } catch (Throwable thrown) {
//!             AdviceGuard.failed(thrown, "SlowSql.end (SlowSql.java:9)", 1);
//!         }
//! }
//! ```
//!
//! References arrive as `Object`, and the casts are within the guarded code: a plugin knows no class hierarchy.

use jvms::descriptor::{BaseType, FieldType};
use jvms::opcode;

use crate::api;
use crate::model::{AdviceClass, Binding, Effect, Hook, Value, When};
use crate::settings::{Constant, Initial};
use crate::writer::{Assembler, ClassWriter, Code};

const OBJECT: &str = "Ljava/lang/Object;";
const STATE: &str = "[Ljava/lang/Object;";
const THROWABLE: &str = "Ljava/lang/Throwable;";
const OF_CALL: &str = "(Lio/github/classhook/advice/Call;)V";
const CALL_FAILED: &str =
    "(Lio/github/classhook/advice/Call;Ljava/lang/Throwable;Ljava/lang/String;I)Ljava/lang/Object;";

/// Returns the name of the guard's method for the hook with this number.
#[must_use]
pub fn method_name(hook: &Hook, number: usize) -> String {
    let when = match hook.when {
        When::Entry => "entry",
        When::Exit => "exit",
        When::BeforeCall => "before",
        When::AfterCall => "after",
        When::Around => "around",
    };
    format!("{when}{number}")
}

/// Returns the name of the guard's class.
#[must_use]
pub fn class_name(advice: &AdviceClass) -> String {
    let simple = advice.name.rsplit('/').next().unwrap_or_default();
    format!("{}Calls${simple}", api::PACKAGE)
}

/// Returns the types of the values that the program gives to the guard, in order.
pub fn given(hook: &Hook) -> impl Iterator<Item = &Binding> {
    let given = |binding: &&Binding| {
        let is_own = matches!(
            binding.value,
            Value::FromEntry(_) | Value::Loader | Value::Call
        );
        !is_own
    };
    hook.bindings.iter().filter(given)
}

/// Returns the descriptor of the value that the hook replaces. It comes first, and the method returns it if the advice
/// fails.
#[must_use]
pub fn original(hook: &Hook) -> Option<&str> {
    let result = hook.result.as_deref()?;
    Some(match hook.effect {
        Effect::Thrown => THROWABLE,
        Effect::Returned if hook.on_throw => THROWABLE,
        Effect::Argument(_) | Effect::Operand(_) | Effect::Returned => in_guard(result),
        Effect::None | Effect::Keep | Effect::Call | Effect::SkipIfTrue | Effect::SkipIfNotNull => {
            return None;
        }
    })
}

/// Returns the descriptor of the result of the guard's method.
#[must_use]
pub fn returned(hook: &Hook) -> &str {
    match (hook.effect, hook.result.as_deref()) {
        (Effect::Thrown, _) => THROWABLE,
        (Effect::Call, _) => OBJECT,
        (Effect::None | Effect::Keep, _) | (_, None) => "V",
        (_, Some(result)) => in_guard(result),
    }
}

/// References are objects in the guard.
fn in_guard(descriptor: &str) -> &str {
    if descriptor.starts_with(['L', '[']) {
        OBJECT
    } else {
        descriptor
    }
}

/// Checks whether the hook gives a value to another one, or reads such a value.
#[must_use]
pub fn is_keyed(hook: &Hook) -> bool {
    match hook.when {
        When::Entry => hook.effect == Effect::Keep,
        When::Exit => hook.reads_entry(),
        When::BeforeCall | When::AfterCall | When::Around => false,
    }
}

/// Returns the descriptor of the guard's method. The number of the call comes last, if the hook belongs to a pair. A call
/// that advice is around comes first, as an object.
#[must_use]
pub fn descriptor(hook: &Hook) -> String {
    let mut text = String::from("(");
    text.extend((hook.effect == Effect::Call).then_some(OBJECT));
    text.extend(original(hook));
    text.extend(given(hook).map(|binding| in_guard(&binding.descriptor)));
    if is_keyed(hook) {
        text.push('I');
    }
    text.push(')');
    text + returned(hook)
}

/// Writes the class file.
#[must_use]
pub fn write(advice: &AdviceClass, initial: &[Initial]) -> Vec<u8> {
    let mut class = ClassWriter::default();
    for (number, hook) in advice.hooks.iter().enumerate() {
        let body = Body::new(&mut class, advice, hook, number);
        let code = match hook.when {
            When::Around => body.around(),
            _ => body.finish(),
        };
        class.add(&method_name(hook, number), &descriptor(hook), &code);
    }
    if !initial.is_empty() {
        let code = initialiser(&mut class, &advice.name, initial);
        class.add("<clinit>", "()V", &code);
    }
    class.finish(&class_name(advice))
}

fn initialiser(class: &mut ClassWriter, owner: &str, initial: &[Initial]) -> Code {
    let mut code = Assembler::new(class);
    for value in initial {
        let class = &mut code.class;
        let (wide, index) = match &value.value {
            Constant::Int(value) => (false, class.int(*value)),
            Constant::Float(value) => (false, class.float(*value)),
            Constant::Long(value) => (true, class.long(*value)),
            Constant::Double(value) => (true, class.double(*value)),
            Constant::Text(value) => (false, class.string(value)),
        };
        let field = class.field(owner, &value.field, &value.descriptor);
        let load = if wide { opcode::LDC2_W } else { opcode::LDC_W };
        code.with_index(load, index);
        code.with_index(opcode::PUTSTATIC, field);
    }
    code.op(opcode::RETURN);
    Code {
        max_stack: 2,
        bytes: code.bytes,
        ..Code::default()
    }
}

struct Body<'a> {
    code: Assembler<'a>,
    advice: &'a AdviceClass,
    hook: &'a Hook,
    number: usize,
    frames: Vec<(u16, bool)>,
}

impl<'a> Body<'a> {
    fn new(
        class: &'a mut ClassWriter,
        advice: &'a AdviceClass,
        hook: &'a Hook,
        number: usize,
    ) -> Self {
        Self {
            code: Assembler::new(class),
            advice,
            hook,
            number,
            frames: Vec::new(),
        }
    }

    fn guard(&mut self, name: &str, descriptor: &str) {
        self.code.invoke(api::GUARD_NAME, name, descriptor);
    }

    fn finish(mut self) -> Code {
        let is_keyed = is_keyed(self.hook);
        let given: u16 = given(self.hook).map(Binding::slots).sum();
        let slots = original(self.hook).map_or(0, slots_of) + given;
        let state = slots + u16::from(is_keyed);
        if is_keyed {
            self.code.local(opcode::ILOAD, slots);
            let name = match self.hook.when {
                When::Entry if self.advice.givers().count() > 1 => "join",
                When::Entry => "push",
                _ => "pop",
            };
            self.guard(name, &format!("(I){STATE}"));
        } else {
            self.guard("enter", &format!("(){STATE}"));
        }
        self.code.op(opcode::DUP);
        self.code.local(opcode::ASTORE, state);
        let skip = self.code.branch(opcode::IFNULL);
        let start = self.code.here();
        self.call(state);
        self.code.local(opcode::ALOAD, state);
        self.guard("end", &format!("({STATE})V"));
        let end = self.code.here();
        self.return_new(state + 1);
        let caught = self.code.here();
        self.caught();
        self.code.land(skip);
        let skipped = self.code.here();
        self.return_original();
        Code {
            max_stack: slots + 6,
            max_locals: state + 3,
            handler: Some([start, end, caught]),
            frames: [self.frames, vec![(caught, true), (skipped, false)]].concat(),
            bytes: self.code.bytes,
        }
    }

    /// Writes a method that runs in place of a call. The advice runs the call by its first argument.
    fn around(mut self) -> Code {
        let given: u16 = given(self.hook).map(Binding::slots).sum();
        let kept = given + 1;
        let start = self.code.here();
        self.load_call();
        self.code.invoke(api::CALL_NAME, "start", OF_CALL);
        self.call(0);
        let result = self.hook.result.clone();
        match result.as_deref().map(|it| FieldType::parse(it.as_bytes())) {
            None => self.code.op(opcode::ACONST_NULL),
            Some(Ok(FieldType::Base(base))) => {
                let owner = base.wrapper();
                let descriptor = format!("({})L{owner};", char::from(base.letter()));
                self.code.invoke(owner, "valueOf", &descriptor);
            }
            Some(_) => {}
        }
        self.code.local(opcode::ASTORE, kept);
        self.load_call();
        self.code.invoke(api::CALL_NAME, "end", OF_CALL);
        let end = self.code.here();
        self.code.local(opcode::ALOAD, kept);
        self.code.op(opcode::ARETURN);
        let caught = self.code.here();
        self.code.local(opcode::ASTORE, kept);
        self.load_call();
        if self.hook.rethrow {
            self.code.invoke(api::CALL_NAME, "end", OF_CALL);
            self.code.local(opcode::ALOAD, kept);
            self.code.op(opcode::ATHROW);
        } else {
            self.code.local(opcode::ALOAD, kept);
            self.push_name();
            self.code.invoke(api::CALL_NAME, "failed", CALL_FAILED);
            self.code.op(opcode::ARETURN);
        }
        Code {
            max_stack: given + 8,
            max_locals: kept + 1,
            handler: Some([start, end, caught]),
            frames: vec![(caught, true)],
            bytes: self.code.bytes,
        }
    }

    /// Loads the call that the advice is around.
    fn load_call(&mut self) {
        self.code.local(opcode::ALOAD, 0);
        let index = self.code.class.class(api::CALL_NAME);
        self.code.with_index(opcode::CHECKCAST, index);
    }

    /// Returns the value in a local variable, if the method has a result.
    fn return_new(&mut self, slot: u16) {
        match returned(self.hook) {
            "V" => self.code.op(opcode::RETURN),
            descriptor => {
                let found = FieldType::parse(descriptor.as_bytes()).ok();
                self.code.local(load_opcode(found), slot);
                if self.hook.effect == Effect::Thrown {
                    // Without an exception in its place, the original one stays.
                    self.code.op(opcode::DUP);
                    let is_new = self.code.branch(opcode::IFNONNULL);
                    self.code.op(opcode::POP);
                    self.code.local(opcode::ALOAD, 0);
                    self.code.land(is_new);
                    self.frames.push((self.code.here(), true));
                }
                self.code.op(return_opcode(found));
            }
        }
    }

    /// Returns as if there was no advice.
    fn return_original(&mut self) {
        let is_thrown = self.hook.effect == Effect::Returned && self.hook.on_throw;
        match self.hook.effect {
            Effect::None | Effect::Keep | Effect::Call => self.code.op(opcode::RETURN),
            Effect::SkipIfTrue => {
                self.code.op(opcode::ICONST_0);
                self.code.op(opcode::IRETURN);
            }
            Effect::SkipIfNotNull => {
                self.code.op(opcode::ACONST_NULL);
                self.code.op(opcode::ARETURN);
            }
            _ if is_thrown => {
                self.code.local(opcode::ALOAD, 0);
                self.code.op(opcode::ATHROW);
            }
            Effect::Argument(_) | Effect::Operand(_) | Effect::Returned | Effect::Thrown => {
                let original = original(self.hook).unwrap_or(OBJECT);
                let found = FieldType::parse(original.as_bytes()).ok();
                self.code.local(load_opcode(found), 0);
                self.code.op(return_opcode(found));
            }
        }
    }

    /// Calls the advice, and keeps its result for the exit, or for the program behind the state.
    fn call(&mut self, state: u16) {
        let hook = self.hook;
        if hook.effect == Effect::Keep {
            self.code.local(opcode::ALOAD, state);
        }
        let mut slot = match hook.effect {
            Effect::Call => 1,
            _ => original(hook).map_or(0, slots_of),
        };
        for binding in &hook.bindings {
            let field = FieldType::parse(binding.descriptor.as_bytes()).ok();
            match &binding.value {
                Value::FromEntry(name) => {
                    self.code.local(opcode::ALOAD, state);
                    self.load_from_entry(field, name);
                    continue;
                }
                Value::Loader => {
                    self.guard("loader", "()Ljava/lang/ClassLoader;");
                    continue;
                }
                Value::Call => {
                    self.load_call();
                    continue;
                }
                _ => {}
            }
            self.code.local(load_opcode(field), slot);
            slot += binding.slots();
            self.cast(field);
        }
        let owner = self.advice.name.clone();
        self.code.invoke(&owner, &hook.method, &hook.descriptor);
        if hook.effect == Effect::Keep {
            self.keep();
        } else if returned(hook) != "V" && hook.effect != Effect::Call {
            let found = FieldType::parse(returned(hook).as_bytes()).ok();
            if hook.effect == Effect::Thrown {
                self.cast(found);
            }
            self.code.local(store_opcode(found), state + 1);
        }
    }

    /// Returns the index of a method among those that give values to the exit. A single such method needs no index.
    fn place(&self, name: &str) -> Option<i32> {
        let mut givers = self.advice.givers();
        let several = self.advice.givers().count() > 1;
        let place = givers.position(|hook| hook.method == name)?;
        i32::try_from(place).ok().filter(|_| several)
    }

    fn push_int(&mut self, value: i32) {
        let value = self.code.class.int(value);
        self.code.with_index(opcode::LDC_W, value);
    }

    /// Keeps the value on the stack for the exit.
    fn keep(&mut self) {
        let result = self.hook.result.as_deref();
        let result = result.and_then(|it| FieldType::parse(it.as_bytes()).ok());
        let place = self.place(&self.hook.method);
        if let Some(FieldType::Base(base)) = result {
            self.pack(base);
            if place.is_none() {
                self.guard("keep", &format!("({STATE}J)V"));
                return;
            }
            self.code
                .invoke("java/lang/Long", "valueOf", "(J)Ljava/lang/Long;");
        }
        match place {
            Some(place) => {
                self.push_int(place);
                self.guard("keep", &format!("({STATE}{OBJECT}I)V"));
            }
            None => self.guard("keep", &format!("({STATE}{OBJECT})V")),
        }
    }

    /// Casts a reference to the type that the advice expects.
    fn cast(&mut self, to: Option<FieldType<'_>>) {
        let name = match to {
            Some(FieldType::Class(name)) if name != b"java/lang/Object" => name,
            Some(FieldType::Array(descriptor)) => descriptor,
            _ => return,
        };
        let name = jvms::modified_utf8::Utf8::new(name).to_str_lossless();
        let index = self.code.class.class(&name);
        self.code.with_index(opcode::CHECKCAST, index);
    }

    fn load_from_entry(&mut self, to: Option<FieldType<'_>>, name: &str) {
        let place = self.place(name);
        if let Some(place) = place {
            self.push_int(place);
            self.guard("value", &format!("({STATE}I){OBJECT}"));
        }
        let Some(FieldType::Base(base)) = to else {
            if place.is_none() {
                self.guard("value", &format!("({STATE}){OBJECT}"));
            }
            self.cast(to);
            return;
        };
        match place {
            Some(_) => self.guard("bits", &format!("({OBJECT})J")),
            None => self.guard("bits", &format!("({STATE})J")),
        }
        match base {
            BaseType::Long => {}
            BaseType::Double => self
                .code
                .invoke("java/lang/Double", "longBitsToDouble", "(J)D"),
            BaseType::Float => {
                self.code.op(opcode::L2I);
                self.code
                    .invoke("java/lang/Float", "intBitsToFloat", "(I)F");
            }
            _ => self.code.op(opcode::L2I),
        }
    }

    fn pack(&mut self, base: BaseType) {
        match base {
            BaseType::Long => {}
            BaseType::Double => self
                .code
                .invoke("java/lang/Double", "doubleToRawLongBits", "(D)J"),
            BaseType::Float => {
                self.code
                    .invoke("java/lang/Float", "floatToRawIntBits", "(F)I");
                self.code.op(opcode::I2L);
            }
            _ => self.code.op(opcode::I2L),
        }
    }

    /// Pushes the name of the advice and its number.
    fn push_name(&mut self) {
        let text = format!("{} ({})", self.hook.called(self.advice), self.hook.at);
        let text = self.code.class.string(&text);
        self.code.with_index(opcode::LDC_W, text);
        self.push_int(i32::try_from(self.number).unwrap_or_default());
    }

    /// The stack holds the exception of the advice.
    fn caught(&mut self) {
        if self.hook.rethrow {
            self.code.op(opcode::DUP);
            self.guard("passed", "(Ljava/lang/Throwable;)V");
            self.code.op(opcode::ATHROW);
            return;
        }
        self.push_name();
        self.guard("failed", "(Ljava/lang/Throwable;Ljava/lang/String;I)V");
        self.return_original();
    }
}

fn load_opcode(found: Option<FieldType<'_>>) -> u8 {
    found.map_or(opcode::ALOAD, FieldType::load_opcode)
}

fn store_opcode(found: Option<FieldType<'_>>) -> u8 {
    found.map_or(opcode::ASTORE, FieldType::store_opcode)
}

fn return_opcode(found: Option<FieldType<'_>>) -> u8 {
    found.map_or(opcode::ARETURN, FieldType::return_opcode)
}

fn slots_of(descriptor: &str) -> u16 {
    match descriptor {
        "J" | "D" => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Recorded;

    fn hook(when: When, types: &[&str], result: Option<&str>, rethrow: bool) -> Hook {
        let reads = |number: usize| when == When::Exit && number == 0;
        let bindings = types.iter().enumerate().map(|(number, found)| Binding {
            value: match reads(number) {
                true => Value::FromEntry("own".to_owned()),
                false => Value::Argument(number as u8),
            },
            descriptor: (*found).to_owned(),
        });
        Hook {
            when,
            calls: Vec::new(),
            method: "own".to_owned(),
            descriptor: format!("({}){}", types.concat(), result.unwrap_or("V")),
            result: result.map(str::to_owned),
            effect: match result {
                Some(_) => Effect::Keep,
                None => Effect::None,
            },
            at: "Own.java:3".to_owned(),
            bindings: bindings.collect(),
            rethrow,
            on_return: true,
            on_throw: true,
        }
    }

    /// A value that the guard has itself.
    fn of_guard(value: Value, class: &str) -> Binding {
        Binding {
            value,
            descriptor: format!("L{class};"),
        }
    }

    fn expect_accepted(hooks: Vec<Hook>, initial: &[Initial]) {
        let advice = AdviceClass {
            name: "own/Own".to_owned(),
            at: "Own.java:1".to_owned(),
            patterns: Vec::new(),
            hooks,
            settings: Vec::new(),
            recorded: Recorded::default(),
            classes: Vec::new(),
        };
        let class = write(&advice, initial);
        rewriter::check_soundness(&class).unwrap();
        let read = rewriter::ClassFile::read(&class).unwrap();
        assert_eq!(read.this_class(), "io/github/classhook/advice/Calls$Own");
        assert_eq!(read.methods().count(), advice.hooks.len() + 1);
    }

    #[test]
    fn the_jvm_accepts_calls_with_values_of_each_type() {
        let all = [
            "Z",
            "B",
            "C",
            "S",
            "I",
            "J",
            "F",
            "D",
            "Ljava/lang/Object;",
            "Ljava/lang/String;",
            "[J",
            "[Lown/A;",
        ];
        let mut hooks = vec![hook(When::Entry, &[], None, false)];
        for found in all {
            hooks.push(hook(When::Entry, &all, Some(found), false));
            hooks.push(hook(When::Exit, &[&[found], &all[..]].concat(), None, true));
        }
        hooks.push(hook(When::Entry, &["J"; 120], None, false));
        let effects = [
            (When::Entry, Effect::Argument(0)),
            (When::Exit, Effect::Returned),
            (When::Exit, Effect::Thrown),
            (When::Entry, Effect::SkipIfTrue),
            (When::Entry, Effect::SkipIfNotNull),
        ];
        for (when, effect) in effects {
            for found in all {
                let fits = match effect {
                    Effect::Thrown | Effect::SkipIfNotNull => found.starts_with('L'),
                    Effect::SkipIfTrue => found == "Z",
                    _ => true,
                };
                for on_throw in [true, false] {
                    let hook = hook(when, &["J", "I"], Some(found), on_throw);
                    hooks.extend(fits.then_some(Hook {
                        effect,
                        on_throw,
                        ..hook
                    }));
                }
            }
        }
        for (found, rethrow) in all.into_iter().flat_map(|it| [(it, true), (it, false)]) {
            let mut around = hook(When::Around, &all, Some(found), rethrow);
            around.effect = Effect::Call;
            around
                .bindings
                .insert(3, of_guard(Value::Call, api::CALL_NAME));
            around
                .bindings
                .push(of_guard(Value::Loader, "java/lang/ClassLoader"));
            let types = around.bindings.iter().map(|it| it.descriptor.as_str());
            around.descriptor = format!("({}){found}", types.collect::<String>());
            hooks.push(around);
            let mut before = hook(When::BeforeCall, &["D", "I"], Some(found), rethrow);
            before.effect = Effect::Operand(1);
            hooks.push(before);
        }
        let mut nothing = hook(When::Around, &["J"], None, false);
        nothing.effect = Effect::Call;
        hooks.push(nothing);
        let initial = [
            ("I", Constant::Int(1)),
            ("J", Constant::Long(1)),
            ("F", Constant::Float(1.0)),
            ("D", Constant::Double(1.0)),
            ("Ljava/lang/String;", Constant::Text("é".to_owned())),
        ];
        let initial = initial.map(|(descriptor, value)| Initial {
            field: "field".to_owned(),
            descriptor: descriptor.to_owned(),
            value,
        });
        expect_accepted(hooks, &initial);
        for found in all {
            let giver = hook(When::Entry, &all, Some(found), false);
            let reader = hook(When::Exit, &[&[found], &all[..]].concat(), None, true);
            expect_accepted(vec![giver, reader], &initial);
        }
    }
}
