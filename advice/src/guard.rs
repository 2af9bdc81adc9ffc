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
use crate::model::{AdviceClass, Binding, Hook, Value, When};
use crate::settings::{Constant, Initial};
use crate::writer::{ClassWriter, Code};

const OBJECT: &str = "Ljava/lang/Object;";
const STATE: &str = "[Ljava/lang/Object;";

/// Returns the name of the guard's method for the hook with this number.
#[must_use]
pub fn method_name(hook: &Hook, number: usize) -> String {
    let when = match hook.when {
        When::Entry => "entry",
        When::Exit => "exit",
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
    let given = |binding: &&Binding| binding.value != Value::FromEntry;
    hook.bindings.iter().filter(given)
}

/// Checks whether the hook gives a value to another one, or reads such a value.
#[must_use]
pub fn is_keyed(hook: &Hook) -> bool {
    match hook.when {
        When::Entry => hook.result.is_some(),
        When::Exit => hook.reads_entry(),
    }
}

/// Returns the descriptor of the guard's method. The number of the call comes last, if the hook belongs to a pair.
#[must_use]
pub fn descriptor(hook: &Hook) -> String {
    let mut text = String::from("(");
    for binding in given(hook) {
        text.push_str(match binding.is_primitive() {
            true => &binding.descriptor,
            false => OBJECT,
        });
    }
    if is_keyed(hook) {
        text.push('I');
    }
    text + ")V"
}

/// Writes the class file.
#[must_use]
pub fn write(advice: &AdviceClass, initial: &[Initial]) -> Vec<u8> {
    let mut class = ClassWriter::default();
    for (number, hook) in advice.hooks.iter().enumerate() {
        let code = Body::new(&mut class, advice, hook, number).code();
        class.add(&method_name(hook, number), &descriptor(hook), &code);
    }
    if !initial.is_empty() {
        let code = initialiser(&mut class, &advice.name, initial);
        class.add("<clinit>", "()V", &code);
    }
    class.finish(&class_name(advice))
}

fn initialiser(class: &mut ClassWriter, owner: &str, initial: &[Initial]) -> Code {
    let mut code = Code {
        max_stack: 2,
        ..Code::default()
    };
    for value in initial {
        let (wide, index) = match &value.value {
            Constant::Int(value) => (false, class.int(*value)),
            Constant::Float(value) => (false, class.float(*value)),
            Constant::Long(value) => (true, class.long(*value)),
            Constant::Double(value) => (true, class.double(*value)),
            Constant::Text(value) => (false, class.string(value)),
        };
        let load = if wide { opcode::LDC2_W } else { opcode::LDC_W };
        with_index(&mut code.bytes, load, index);
        let field = class.field(owner, &value.field, &value.descriptor);
        with_index(&mut code.bytes, opcode::PUTSTATIC, field);
    }
    code.bytes.push(opcode::RETURN);
    code
}

fn with_index(bytes: &mut Vec<u8>, opcode: u8, index: u16) {
    bytes.push(opcode);
    bytes.extend(index.to_be_bytes());
}

struct Body<'a> {
    class: &'a mut ClassWriter,
    advice: &'a AdviceClass,
    hook: &'a Hook,
    number: usize,
    bytes: Vec<u8>,
}

impl<'a> Body<'a> {
    fn new(
        class: &'a mut ClassWriter,
        advice: &'a AdviceClass,
        hook: &'a Hook,
        number: usize,
    ) -> Self {
        Self {
            class,
            advice,
            hook,
            number,
            bytes: Vec::new(),
        }
    }

    fn guard(&mut self, name: &str, descriptor: &str) {
        self.invoke(api::GUARD_NAME, name, descriptor);
    }

    fn invoke(&mut self, owner: &str, name: &str, descriptor: &str) {
        let index = self.class.method(owner, name, descriptor);
        with_index(&mut self.bytes, opcode::INVOKESTATIC, index);
    }

    fn op(&mut self, opcode: u8) {
        self.bytes.push(opcode);
    }

    /// Loads or stores a local variable. There are at most 256 slots.
    fn local(&mut self, opcode: u8, slot: u16) {
        self.bytes.push(opcode::WIDE);
        with_index(&mut self.bytes, opcode, slot);
    }

    fn here(&self) -> u16 {
        u16::try_from(self.bytes.len()).unwrap_or(u16::MAX)
    }

    /// Appends a branch whose target is set later.
    fn branch(&mut self, opcode: u8) -> usize {
        self.bytes.push(opcode);
        self.bytes.extend([0, 0]);
        self.bytes.len() - 3
    }

    fn land(&mut self, branch: usize) {
        let distance = self.here() - u16::try_from(branch).unwrap_or(u16::MAX);
        for (place, byte) in self
            .bytes
            .iter_mut()
            .skip(branch + 1)
            .zip(distance.to_be_bytes())
        {
            *place = byte;
        }
    }

    fn code(mut self) -> Code {
        let is_keyed = is_keyed(self.hook);
        let given: Vec<_> = given(self.hook).collect();
        let slots: u16 = given.iter().map(|binding| binding.slots()).sum();
        let state = slots + u16::from(is_keyed);
        if is_keyed {
            self.local(opcode::ILOAD, slots);
            let name = match self.hook.when {
                When::Entry => "push",
                When::Exit => "pop",
            };
            self.guard(name, &format!("(I){STATE}"));
        } else {
            self.guard("enter", &format!("(){STATE}"));
        }
        self.op(opcode::DUP);
        self.local(opcode::ASTORE, state);
        let skip = self.branch(opcode::IFNULL);
        let start = self.here();
        self.call(state);
        self.local(opcode::ALOAD, state);
        self.guard("end", &format!("({STATE})V"));
        let end = self.here();
        self.op(opcode::RETURN);
        let caught = self.here();
        self.caught();
        self.land(skip);
        let skipped = self.here();
        self.op(opcode::RETURN);
        Code {
            max_stack: slots + 6,
            max_locals: state + 1,
            handler: Some([start, end, caught]),
            frames: vec![(caught, true), (skipped, false)],
            bytes: self.bytes,
        }
    }

    /// Calls the advice, and keeps its result for the exit.
    fn call(&mut self, state: u16) {
        let hook = self.hook;
        if hook.result.is_some() {
            self.local(opcode::ALOAD, state);
        }
        let mut slot = 0;
        for binding in &hook.bindings {
            let field = FieldType::parse(binding.descriptor.as_bytes()).ok();
            if binding.value == Value::FromEntry {
                self.local(opcode::ALOAD, state);
                self.load_from_entry(field);
                continue;
            }
            self.local(load_opcode(field), slot);
            slot += binding.slots();
            self.cast(field);
        }
        let owner = self.advice.name.clone();
        self.invoke(&owner, &hook.method, &hook.descriptor);
        let result = hook.result.as_deref();
        let result = result.and_then(|it| FieldType::parse(it.as_bytes()).ok());
        match result {
            Some(FieldType::Base(base)) => {
                self.pack(base);
                self.guard("keep", &format!("({STATE}J)V"));
            }
            Some(_) => self.guard("keep", &format!("({STATE}{OBJECT})V")),
            None => {}
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
        let index = self.class.class(&name);
        with_index(&mut self.bytes, opcode::CHECKCAST, index);
    }

    fn load_from_entry(&mut self, to: Option<FieldType<'_>>) {
        let Some(FieldType::Base(base)) = to else {
            self.guard("value", &format!("({STATE}){OBJECT}"));
            self.cast(to);
            return;
        };
        self.guard("bits", &format!("({STATE})J"));
        match base {
            BaseType::Long => {}
            BaseType::Double => self.invoke("java/lang/Double", "longBitsToDouble", "(J)D"),
            BaseType::Float => {
                self.op(opcode::L2I);
                self.invoke("java/lang/Float", "intBitsToFloat", "(I)F");
            }
            _ => self.op(opcode::L2I),
        }
    }

    fn pack(&mut self, base: BaseType) {
        match base {
            BaseType::Long => {}
            BaseType::Double => self.invoke("java/lang/Double", "doubleToRawLongBits", "(D)J"),
            BaseType::Float => {
                self.invoke("java/lang/Float", "floatToRawIntBits", "(F)I");
                self.op(opcode::I2L);
            }
            _ => self.op(opcode::I2L),
        }
    }

    /// The stack holds the exception of the advice.
    fn caught(&mut self) {
        if self.hook.rethrow {
            self.op(opcode::DUP);
            self.guard("passed", "(Ljava/lang/Throwable;)V");
            self.op(opcode::ATHROW);
            return;
        }
        let text = format!("{} ({})", self.hook.called(self.advice), self.hook.at);
        let text = self.class.string(&text);
        with_index(&mut self.bytes, opcode::LDC_W, text);
        let number = self
            .class
            .int(i32::try_from(self.number).unwrap_or_default());
        with_index(&mut self.bytes, opcode::LDC_W, number);
        self.guard("failed", "(Ljava/lang/Throwable;Ljava/lang/String;I)V");
        self.op(opcode::RETURN);
    }
}

fn load_opcode(found: Option<FieldType<'_>>) -> u8 {
    match found {
        Some(FieldType::Base(BaseType::Long)) => opcode::LLOAD,
        Some(FieldType::Base(BaseType::Float)) => opcode::FLOAD,
        Some(FieldType::Base(BaseType::Double)) => opcode::DLOAD,
        Some(FieldType::Base(_)) => opcode::ILOAD,
        _ => opcode::ALOAD,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(when: When, types: &[&str], result: Option<&str>, rethrow: bool) -> Hook {
        let reads = |number: usize| when == When::Exit && number == 0;
        let bindings = types.iter().enumerate().map(|(number, found)| Binding {
            value: match reads(number) {
                true => Value::FromEntry,
                false => Value::Argument(number as u8),
            },
            descriptor: (*found).to_owned(),
        });
        Hook {
            when,
            method: "own".to_owned(),
            descriptor: format!("({}){}", types.concat(), result.unwrap_or("V")),
            result: result.map(str::to_owned),
            at: "Own.java:3".to_owned(),
            bindings: bindings.collect(),
            rethrow,
            on_return: true,
            on_throw: true,
        }
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
        let advice = AdviceClass {
            name: "own/Own".to_owned(),
            at: "Own.java:1".to_owned(),
            patterns: Vec::new(),
            hooks,
            settings: Vec::new(),
            classes: Vec::new(),
        };
        let class = write(&advice, &initial);
        rewriter::check_soundness(&class).unwrap();
        let read = rewriter::ClassFile::read(&class).unwrap();
        assert_eq!(read.this_class(), "io/github/classhook/advice/Calls$Own");
        assert_eq!(read.methods().count(), advice.hooks.len() + 1);
    }
}
