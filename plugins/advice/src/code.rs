//! Generates the calls of the guard.

use classhook_sdk::access_flags::{ACC_PRIVATE, ACC_STATIC};
use classhook_sdk::descriptor::{BaseType, FieldType, MethodDescriptor};
use classhook_sdk::edit::{Assemble, Member, Snippet};
use classhook_sdk::prelude::*;
use classhook_sdk::wit::FieldSummary;
use classhook_sdk::{names, opcode};

use crate::settings::{Binding, Effect, Hook, Value};

/// A place in a method at which advice runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Before the first instruction.
    Entry,
    /// Before the return instructions; the stack holds the result.
    Return,
    /// Where an exception leaves the method; the stack holds it.
    Throw,
    /// At an instruction.
    Within,
}

/// The advised method.
#[derive(Clone)]
pub struct Advised<'m, 'c> {
    pub method: &'m Method<'c>,
    pub descriptor: MethodDescriptor<'m>,
    /// Internal name of its class.
    pub class: &'m str,
    /// The fields of its class.
    pub fields: &'m [FieldSummary],
    /// The methods of its class that have code.
    methods: &'m [&'m Method<'c>],
}

impl Binding {
    /// The type that the advice expects.
    pub fn expected(&self) -> std::result::Result<FieldType<'_>, Misfit> {
        let expected = &self.r#type;
        FieldType::parse(expected.as_bytes()).map_err(|_| format!("`{expected}` is no type"))
    }
}

impl Hook {
    /// The type of the advice's own result.
    pub fn result(&self) -> std::result::Result<FieldType<'_>, Misfit> {
        let result = self.result.as_deref().unwrap_or_default();
        FieldType::parse(result.as_bytes()).map_err(|_| format!("`{result}` is no type"))
    }
}

/// The reason why a method of the advice cannot run in a method.
pub type Misfit = String;

/// The type of `Object`, which takes every value.
pub const OBJECT: FieldType<'static> = FieldType::Class(b"java/lang/Object");
/// The snippet's local variable for the result or exception.
const KEPT: i32 = 0;
/// The snippet's local variable for the value with which a body is skipped, behind a wide one.
const SKIPPED: i32 = 2;
const THROWABLE: FieldType<'static> = FieldType::Class(b"java/lang/Throwable");

impl<'m, 'c> Advised<'m, 'c> {
    /// Creates the advised method. Returns `None` for a malformed descriptor.
    pub fn new(
        method: &'m Method<'c>,
        class: &'m str,
        (fields, methods): (&'m [FieldSummary], &'m [&'m Method<'c>]),
    ) -> Option<Self> {
        Some(Self {
            method,
            descriptor: MethodDescriptor::parse(method.descriptor().as_bytes()).ok()?,
            class,
            fields,
            methods,
        })
    }
}

impl Advised<'_, '_> {
    /// The method as in Java: `com.acme.Shop.find(java.lang.String,int)`.
    pub fn text(&self) -> String {
        let types = self.descriptor.parameters();
        let types: Vec<String> = types.map(|found| found.to_java(names::binary)).collect();
        let class = names::binary(self.class);
        format!("{class}.{}({})", self.method.name(), types.join(","))
    }

    /// A number that identifies the method: the guard finds the value of the entry by it.
    fn number(&self) -> i32 {
        let parts = [self.class, self.method.name(), self.method.descriptor()];
        let bytes = parts.into_iter().flat_map(str::bytes);
        let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193) // FNV-1a
        });
        hash.cast_signed()
    }

    /// Generates the begin of a call at whose entry several methods give values.
    pub fn open_call(&self, guard: &str) -> Snippet {
        self.call_with_number(guard, "open")
    }

    /// Checks for a private method of the class.
    pub fn is_private(&self, target: &Member) -> bool {
        let mut methods = self.methods.iter();
        methods.any(|method| {
            let is_it = method.name() == target.name && method.descriptor() == target.descriptor;
            is_it && method.access_flags() & ACC_PRIVATE != 0
        })
    }

    fn is_static(&self) -> bool {
        self.method.access_flags() & ACC_STATIC != 0
    }

    /// Generates the end of a call whose value no advice reads.
    pub fn drop_call(&self, guard: &str) -> Snippet {
        self.call_with_number(guard, "drop")
    }

    /// Generates a call of a method of the guard that takes the number of the advised method.
    fn call_with_number(&self, guard: &str, name: &str) -> Snippet {
        let mut code = Snippet::new();
        code.push_int(self.number());
        code.invoke(opcode::INVOKESTATIC, Member::of_class(guard, name, "(I)V"));
        code
    }

    /// Generates the call of `calls`, the class between program and advice.
    ///
    /// # Errors
    /// If a value does not exist at this end, or is of another type.
    pub fn call(
        &self,
        hook: &Hook,
        end: End,
        calls: &str,
        line: u16,
    ) -> std::result::Result<Snippet, Misfit> {
        let mut code = Snippet::new();
        self.expect_effect(hook, end)?;
        let kept = match end {
            End::Entry | End::Within => None,
            End::Return => self.descriptor.return_type(),
            End::Throw => Some(THROWABLE),
        };
        let replaces = matches!(hook.effect, Effect::Returned | Effect::Thrown);
        let kept = kept.filter(|_| {
            let mut values = hook.values.iter();
            let reads = values.any(|binding| {
                matches!(
                    (binding.value, end),
                    (Value::Returned, End::Return) | (Value::Thrown, End::Throw)
                )
            });
            reads || replaces
        });
        if let Some(kept) = kept {
            let dup = match kept.slots() {
                2 => opcode::DUP2,
                _ => opcode::DUP,
            };
            if !replaces {
                code.op(dup, 0);
            }
            code.op(family(kept, opcode::ISTORE), KEPT);
            if replaces {
                code.op(family(kept, opcode::ILOAD), KEPT);
                box_for(&mut code, hook.result()?, kept);
            }
        }
        if hook.effect == Effect::Argument {
            let found = self.parameter("@ReplaceArgument", hook.position)?;
            code.load_argument(hook.position);
            box_for(&mut code, hook.result()?, found);
        }
        if end != End::Entry {
            self.expect_unassigned(hook)?;
        }
        for binding in &hook.values {
            self.push(&mut code, binding, binding.expected()?, end, line)?;
        }
        if hook.keyed {
            code.push_int(self.number());
        }
        let target = Member::of_class(calls, &hook.call, &hook.descriptor);
        code.invoke(opcode::INVOKESTATIC, target);
        self.use_result(&mut code, hook, end)?;
        Ok(code)
    }

    /// Generates the use of the result of a method of the guard, except for a skipped body.
    fn use_result(
        &self,
        code: &mut Snippet,
        hook: &Hook,
        end: End,
    ) -> std::result::Result<(), Misfit> {
        match (hook.effect, end) {
            (Effect::Argument, _) => {
                let found = self.parameter("@ReplaceArgument", hook.position)?;
                convert(code, hook.result()?, found);
                code.store_argument(hook.position);
            }
            (Effect::Returned, End::Throw) => {
                self.end_with(code, hook.result()?);
            }
            (Effect::Returned, _) => {
                if let Some(found) = self.descriptor.return_type() {
                    convert(code, hook.result()?, found);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns from the method with the value on the stack, which has the type `from`.
    fn end_with(&self, code: &mut Snippet, from: FieldType<'_>) {
        match self.descriptor.return_type() {
            Some(found) => {
                convert(code, from, found);
                code.op(family(found, opcode::IRETURN), 0);
            }
            None => {
                let pop = match from.slots() {
                    2 => opcode::POP2,
                    _ => opcode::POP,
                };
                code.op(pop, 0).op(opcode::RETURN, 0);
            }
        }
    }

    /// Generates the end of a call whose body is skipped, behind the call of the guard in `code`.
    /// `ends` are the calls of advice at the end.
    ///
    /// # Errors
    /// If the result of the advice cannot be that of the method.
    pub fn skip(
        &self,
        code: &mut Snippet,
        hook: &Hook,
        ends: &[Snippet],
    ) -> std::result::Result<(), Misfit> {
        let goes_on = code.new_label();
        let returned = self.descriptor.return_type();
        if hook.effect == Effect::SkipIfTrue {
            code.jump(opcode::IFEQ, goes_on);
            if let Some(found) = returned {
                push_nothing(code, found);
            }
        } else {
            code.op(opcode::ASTORE, SKIPPED)
                .op(opcode::ALOAD, SKIPPED)
                .jump(opcode::IFNULL, goes_on);
            if let Some(found) = returned {
                code.op(opcode::ALOAD, SKIPPED);
                convert(code, hook.result()?, found);
            }
        }
        for end in ends {
            for instruction in end.instructions() {
                code.add(instruction.clone());
            }
        }
        let end = returned.map_or(opcode::RETURN, |found| family(found, opcode::IRETURN));
        code.op(end, 0).place(goes_on);
        Ok(())
    }

    /// Checks that the method can use the result of the advice.
    fn expect_effect(&self, hook: &Hook, end: End) -> std::result::Result<(), Misfit> {
        let returned = self.descriptor.return_type();
        let is_constructor = self.method.name().starts_with('<');
        match (hook.effect, end) {
            (Effect::None | Effect::Thrown, _) => Ok(()),
            (Effect::Argument, _) => {
                let found = self.parameter("@ReplaceArgument", hook.position)?;
                expect_result("@ReplaceArgument", hook.result()?, found, ("method", false))
            }
            (Effect::Returned, End::Return) if returned.is_none() => {
                Err("@ReplaceReturned: the method returns nothing".to_owned())
            }
            (Effect::Operand | Effect::Call, _) => Ok(()),
            (Effect::Returned, End::Throw) | (Effect::SkipIfTrue | Effect::SkipIfNotNull, _)
                if is_constructor =>
            {
                Err("a constructor or static initializer runs to its end".to_owned())
            }
            (Effect::SkipIfTrue, _) => Ok(()),
            (Effect::Returned | Effect::SkipIfNotNull, _) => match returned {
                Some(found) => {
                    let boxes = hook.effect == Effect::SkipIfNotNull;
                    expect_result("the result", hook.result()?, found, ("method", boxes))
                }
                None => Ok(()),
            },
        }
    }

    /// Returns the type of a parameter.
    pub fn parameter(
        &self,
        what: &str,
        position: u8,
    ) -> std::result::Result<FieldType<'_>, Misfit> {
        let found = self.descriptor.parameters().nth(position.into());
        found.ok_or_else(|| {
            let count = self.descriptor.parameters().count();
            let has = match count {
                1 => "1 parameter".to_owned(),
                count => format!("{count} parameters"),
            };
            format!("{what}({position}): the method has {has}")
        })
    }

    /// Checks that the method does not assign the variables whose values the advice gets at the
    /// exit.
    pub fn expect_unassigned(&self, hook: &Hook) -> std::result::Result<(), Misfit> {
        let all = self
            .method
            .instructions()
            .map_err(|refused| refused.message)?;
        let assigned: Vec<(u16, u16)> = all.iter().filter_map(assigned).collect();
        let is_assigned = |slot: u16, slots: u16| {
            let mut stores = assigned.iter();
            stores.any(|(at, wide)| at < &(slot + slots) && slot < at + wide)
        };
        let receiver = u16::from(!self.is_static());
        for binding in &hook.values {
            let mut slot = receiver;
            for (position, found) in (0..=u8::MAX).zip(self.descriptor.parameters()) {
                let is_meant = match binding.value {
                    Value::AllArguments => true,
                    Value::Argument => binding.argument == position,
                    _ => false,
                };
                if is_meant && is_assigned(slot, found.slots()) {
                    return Err(format!(
                        "the method assigns argument {position}, so only a method with @OnEntry gets it"
                    ));
                }
                slot += found.slots();
            }
            let reads_this = match binding.value {
                Value::This => true,
                Value::Field => !self.is_static_field(&binding.name),
                _ => false,
            };
            if reads_this && receiver == 1 && is_assigned(0, 1) {
                return Err("the method stores to the variable of `this`".to_owned());
            }
        }
        Ok(())
    }

    /// Pushes a value for the advice.
    ///
    /// # Errors
    /// If it does not exist at this end, or is of another type.
    pub fn push(
        &self,
        code: &mut Snippet,
        binding: &Binding,
        expected: FieldType<'_>,
        end: End,
        line: u16,
    ) -> std::result::Result<(), Misfit> {
        match binding.value {
            Value::This => self.push_this(code, expected, end),
            Value::Argument => self.push_argument(code, binding.argument, expected),
            Value::AllArguments => {
                self.push_all(code);
                Ok(())
            }
            Value::Method => {
                code.push_string(&self.text());
                Ok(())
            }
            Value::Thrown => {
                match end {
                    End::Throw => drop(code.op(opcode::ALOAD, KEPT)),
                    _ => drop(code.push_null()),
                }
                Ok(())
            }
            Value::Returned => self.push_returned(code, expected, end),
            Value::Field => self.push_field(code, &binding.name, expected, end),
            Value::Line => {
                code.push_int(line.into());
                box_for(code, expected, FieldType::Base(BaseType::Int));
                Ok(())
            }
            Value::Operand | Value::Called => Err("there is no call".to_owned()),
        }
    }

    fn is_static_field(&self, name: &str) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|field| field.name == name && field.access_flags & ACC_STATIC != 0)
    }

    fn push_field(
        &self,
        code: &mut Snippet,
        name: &str,
        expected: FieldType<'_>,
        end: End,
    ) -> std::result::Result<(), Misfit> {
        let Some(field) = self.fields.iter().find(|field| field.name == name) else {
            let known: Vec<&str> = self
                .fields
                .iter()
                .map(|field| field.name.as_str())
                .collect();
            let known = match known.is_empty() {
                true => "none".to_owned(),
                false => known.join(", "),
            };
            return Err(format!(
                "@Field(\"{name}\"): {} declares no such field; it has {known}",
                names::binary(self.class)
            ));
        };
        let found = FieldType::parse(field.descriptor.as_bytes())
            .map_err(|_| format!("`{}` is no type", field.descriptor))?;
        expect(&format!("@Field(\"{name}\")"), expected, found)?;
        let member = Member::of_class(self.class, name, &field.descriptor);
        if field.access_flags & ACC_STATIC != 0 {
            code.field(opcode::GETSTATIC, member);
        } else if self.is_static() {
            return Err(format!(
                "@Field(\"{name}\") has no value in a static method: the field is one of objects"
            ));
        } else {
            match (self.method.name() == names::INIT, end) {
                (true, End::Entry) => {
                    return Err(format!(
                        "@Field(\"{name}\") has no value at the entry of a constructor: the object is not initialized yet"
                    ));
                }
                (true, End::Throw) => {
                    push_nothing(code, expected);
                    return Ok(());
                }
                _ => {}
            }
            code.load_this().field(opcode::GETFIELD, member);
        }
        box_for(code, expected, found);
        Ok(())
    }

    fn push_this(
        &self,
        code: &mut Snippet,
        expected: FieldType<'_>,
        end: End,
    ) -> std::result::Result<(), Misfit> {
        if self.is_static() {
            return Err("@This has no value in a static method".to_owned());
        }
        if self.method.name() == names::INIT {
            match end {
                End::Entry => {
                    let text = "@This has no value at the entry of a constructor: the object is not initialized yet";
                    return Err(text.to_owned());
                }
                End::Throw => {
                    code.push_null();
                    return Ok(());
                }
                End::Return | End::Within => {}
            }
        }
        let this = FieldType::Class(self.class.as_bytes());
        expect("@This", expected, this)?;
        code.load_this();
        Ok(())
    }

    fn push_argument(
        &self,
        code: &mut Snippet,
        position: u8,
        expected: FieldType<'_>,
    ) -> std::result::Result<(), Misfit> {
        let what = format!("@Argument({position})");
        let found = self.parameter("@Argument", position)?;
        expect(&what, expected, found)?;
        code.load_argument(position);
        box_for(code, expected, found);
        Ok(())
    }

    fn push_all(&self, code: &mut Snippet) {
        let types: Vec<FieldType<'_>> = self.descriptor.parameters().collect();
        code.push_int(i32::try_from(types.len()).unwrap_or_default())
            .with_type(opcode::ANEWARRAY, "java/lang/Object");
        for (position, found) in (0..=u8::MAX).zip(types) {
            code.op(opcode::DUP, 0)
                .push_int(position.into())
                .load_argument(position);
            box_for(code, OBJECT, found);
            code.op(opcode::AASTORE, 0);
        }
    }

    fn push_returned(
        &self,
        code: &mut Snippet,
        expected: FieldType<'_>,
        end: End,
    ) -> std::result::Result<(), Misfit> {
        let returned = self.descriptor.return_type();
        match returned {
            Some(found) => expect("@Returned", expected, found)?,
            None if expected.is_reference() => {}
            None => return Err("@Returned: the method returns nothing".to_owned()),
        }
        match returned.filter(|_| end == End::Return) {
            Some(found) => {
                code.op(family(found, opcode::ILOAD), KEPT);
                box_for(code, expected, found);
            }
            None => push_nothing(code, expected),
        }
        Ok(())
    }
}

/// Returns the slot and the number of slots that an instruction assigns.
fn assigned(instruction: &Instruction) -> Option<(u16, u16)> {
    let Instruction {
        opcode, operand, ..
    } = instruction;
    let (family, slot) = match *opcode {
        opcode::ISTORE..=opcode::ASTORE => (opcode - opcode::ISTORE, *operand),
        opcode::ISTORE_0..=opcode::ASTORE_3 => {
            let short = opcode - opcode::ISTORE_0;
            (short / 4, i32::from(short % 4))
        }
        opcode::IINC => (0, *operand),
        _ => return None,
    };
    let slots = if matches!(family, 1 | 3) { 2 } else { 1 };
    Some((u16::try_from(slot).ok()?, slots))
}

/// Checks that a value of the type `found` may be one of the type `expected`. A plugin knows no
/// class hierarchy, so the guard casts what is not certain.
pub fn expect(
    what: &str,
    expected: FieldType<'_>,
    found: FieldType<'_>,
) -> std::result::Result<(), Misfit> {
    let fits = match (expected, found) {
        (OBJECT, _) => true,
        (FieldType::Base(_), _) | (_, FieldType::Base(_)) => expected == found,
        (_, OBJECT) => false,
        (one, other) => one == other || !(is_final(one) || is_array(one) != is_array(other)),
    };
    match fits {
        true => Ok(()),
        false => Err(format!(
            "{what} has the type {}, and the value {}",
            expected.to_java(names::binary),
            found.to_java(names::binary)
        )),
    }
}

/// Checks that a result of the advice may be a value of the type `found`. The program casts a result
/// whose class decides at run time.
pub fn expect_result(
    what: &str,
    result: FieldType<'_>,
    found: FieldType<'_>,
    (of, boxes): (&str, bool),
) -> std::result::Result<(), Misfit> {
    let fits = match (result, found) {
        (OBJECT, _) => true,
        (FieldType::Class(name), FieldType::Base(base)) if boxes => {
            name == base.wrapper().as_bytes()
        }
        (FieldType::Base(_), _) | (_, FieldType::Base(_)) => result == found,
        (_, OBJECT) => true,
        (one, other) => {
            one == other || !(is_final(one) || is_final(other) || is_array(one) != is_array(other))
        }
    };
    match fits {
        true => Ok(()),
        false => Err(format!(
            "{what} of the advice has the type {}, and that of the {of} {}",
            result.to_java(names::binary),
            found.to_java(names::binary)
        )),
    }
}

fn is_array(found: FieldType<'_>) -> bool {
    matches!(found, FieldType::Array(_))
}

/// Checks for a type without subtypes.
fn is_final(found: FieldType<'_>) -> bool {
    match found.element().1 {
        FieldType::Base(_) => true,
        FieldType::Class(name) => matches!(
            name,
            b"java/lang/String"
                | b"java/lang/Class"
                | b"java/lang/Boolean"
                | b"java/lang/Byte"
                | b"java/lang/Character"
                | b"java/lang/Short"
                | b"java/lang/Integer"
                | b"java/lang/Long"
                | b"java/lang/Float"
                | b"java/lang/Double"
        ),
        FieldType::Array(_) => false,
    }
}

/// Converts `iload` or `istore` to the instruction for values of a type.
pub fn family(found: FieldType<'_>, of_int: u8) -> u8 {
    let offset = match found {
        FieldType::Base(BaseType::Long) => 1,
        FieldType::Base(BaseType::Float) => 2,
        FieldType::Base(BaseType::Double) => 3,
        FieldType::Base(_) => 0,
        FieldType::Class(_) | FieldType::Array(_) => 4,
    };
    of_int + offset
}

/// Converts a primitive value on the stack to an object, if the advice expects `Object`.
pub fn box_for(code: &mut Snippet, expected: FieldType<'_>, found: FieldType<'_>) {
    let FieldType::Base(base) = found else {
        return;
    };
    if !expected.is_reference() {
        return;
    }
    let owner = base.wrapper();
    let descriptor = format!("({})L{owner};", char::from(base.letter()));
    let value_of = Member::of_class(owner, "valueOf", &descriptor);
    code.invoke(opcode::INVOKESTATIC, value_of);
}

/// Converts a result of the advice on the stack to a type of the method. References are objects.
pub fn convert(code: &mut Snippet, from: FieldType<'_>, to: FieldType<'_>) {
    if !from.is_reference() {
        return;
    }
    match to {
        OBJECT => {}
        FieldType::Base(base) => {
            let owner = base.wrapper();
            code.with_type(opcode::CHECKCAST, owner);
            let name = format!("{}Value", to.to_java(names::binary));
            let descriptor = format!("(){}", char::from(base.letter()));
            let value = Member::of_class(owner, &name, &descriptor);
            code.invoke(opcode::INVOKEVIRTUAL, value);
        }
        FieldType::Class(name) | FieldType::Array(name) => {
            code.with_type(opcode::CHECKCAST, &String::from_utf8_lossy(name));
        }
    }
}

pub fn push_nothing(code: &mut Snippet, expected: FieldType<'_>) {
    match expected {
        FieldType::Base(BaseType::Long) => drop(code.push_long(0)),
        FieldType::Base(BaseType::Float) => drop(code.push_float(0.0)),
        FieldType::Base(BaseType::Double) => drop(code.push_double(0.0)),
        FieldType::Base(_) => drop(code.push_int(0)),
        FieldType::Class(_) | FieldType::Array(_) => drop(code.push_null()),
    }
}
