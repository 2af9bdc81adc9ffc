//! Generates the code of rules.

use classhook_sdk::descriptor::{BaseType, FieldType};
use classhook_sdk::edit::{Assemble, Label, Member, Snippet};
use classhook_sdk::{names, opcode};

use crate::rule::{Action, Constant, Rule};

/// The operand stack at the place of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stack {
    /// No value for the code.
    Nothing,
    /// The value that the method returns; empty in a `void` method.
    Returned,
    /// The exception that leaves the method.
    Thrown,
}

/// The reason why a rule cannot be applied to a method.
pub type Misfit = String;

/// Generates the code of a rule for a method with this return type; `None` is `void`.
///
/// # Errors
/// If the constant to return is of another type.
pub fn code(rule: &Rule, stack: Stack, returned: Option<FieldType<'_>>) -> Result<Snippet, Misfit> {
    let mut code = Snippet::new();
    let end = (rule.probability < 1.0).then(|| code.new_label());
    if let Some(end) = end {
        chance(&mut code, rule.probability, end);
    }
    match &rule.action {
        Action::Return(value) => {
            leave_with(&mut code, value.as_ref(), stack, returned)?;
        }
        Action::Throw(class, message) => throw(&mut code, class, message.as_deref()),
        Action::Log(text) => log(&mut code, text),
        Action::Call(method) => {
            code.invoke(opcode::INVOKESTATIC, method.clone());
        }
        Action::Delay(milliseconds) => delay(&mut code, *milliseconds),
    }
    if let Some(end) = end {
        code.place(end);
    }
    Ok(code)
}

/// Jumps to `end` with the probability that the rule is not applied.
fn chance(code: &mut Snippet, probability: f64, end: Label) {
    const RANDOM: &str = "java/util/concurrent/ThreadLocalRandom";
    let current = Member::of_class(RANDOM, "current", &format!("()L{RANDOM};"));
    code.invoke(opcode::INVOKESTATIC, current)
        .invoke(
            opcode::INVOKEVIRTUAL,
            Member::of_class(RANDOM, "nextDouble", "()D"),
        )
        .push_double(probability)
        .op(opcode::DCMPG, 0)
        .jump(opcode::IFGE, end);
}

/// Replaces the value on the stack before a return instruction; at other places, returns from the
/// method.
fn leave_with(
    code: &mut Snippet,
    value: Option<&Constant>,
    stack: Stack,
    returned: Option<FieldType<'_>>,
) -> Result<(), Misfit> {
    if stack == Stack::Returned {
        match returned.map(FieldType::slots) {
            None => {}
            Some(2) => drop(code.op(opcode::POP2, 0)),
            Some(_) => drop(code.op(opcode::POP, 0)),
        }
    }
    push(code, value, returned)?;
    if stack != Stack::Returned {
        let code_of = returned.map_or(opcode::RETURN, FieldType::return_opcode);
        code.op(code_of, 0);
    }
    Ok(())
}

fn push(
    code: &mut Snippet,
    value: Option<&Constant>,
    returned: Option<FieldType<'_>>,
) -> Result<(), Misfit> {
    match (returned, value) {
        (None, None) => {}
        (Some(FieldType::Base(base)), None) => push_zero(code, base),
        (Some(_), None) => drop(code.push_null()),
        (Some(FieldType::Base(base)), Some(value)) => push_base(code, value, base)?,
        (
            Some(FieldType::Class(
                b"java/lang/String" | b"java/lang/Object" | b"java/lang/CharSequence",
            )),
            Some(Constant::Text(text)),
        ) => drop(code.push_string(text)),
        (_, Some(value)) => return Err(misfit(value, returned)),
    }
    Ok(())
}

fn push_zero(code: &mut Snippet, base: BaseType) {
    match base {
        BaseType::Long => drop(code.push_long(0)),
        BaseType::Float => drop(code.push_float(0.0)),
        BaseType::Double => drop(code.push_double(0.0)),
        _ => drop(code.push_int(0)),
    }
}

fn push_base(code: &mut Snippet, value: &Constant, base: BaseType) -> Result<(), Misfit> {
    use BaseType::{Boolean, Byte, Char, Double, Float, Int, Long, Short};
    match (base, value) {
        (Boolean, Constant::Boolean(value)) => drop(code.push_int(i32::from(*value))),
        (Byte, Constant::Integer(value)) => drop(code.push_int(fit::<i8>(*value, base)?.into())),
        (Short, Constant::Integer(value)) => drop(code.push_int(fit::<i16>(*value, base)?.into())),
        (Char, Constant::Integer(value)) => drop(code.push_int(fit::<u16>(*value, base)?.into())),
        (Int, Constant::Integer(value)) => drop(code.push_int(fit::<i32>(*value, base)?)),
        (Char, Constant::Text(text)) => drop(code.push_int(only_char(text)?.into())),
        (Long, Constant::Integer(value)) => drop(code.push_long(*value)),
        (Float, Constant::Integer(value)) => drop(code.push_float(*value as f32)),
        (Float, Constant::Number(value)) => drop(code.push_float(*value as f32)),
        (Double, Constant::Integer(value)) => drop(code.push_double(*value as f64)),
        (Double, Constant::Number(value)) => drop(code.push_double(*value)),
        _ => return Err(misfit(value, Some(FieldType::Base(base)))),
    }
    Ok(())
}

fn misfit(value: &Constant, returned: Option<FieldType<'_>>) -> Misfit {
    let name = returned.map_or_else(|| "void".to_owned(), |found| found.to_java(names::binary));
    format!("expected a constant of the method's type {name}, found {value}")
}

fn fit<T: TryFrom<i64>>(value: i64, base: BaseType) -> Result<T, Misfit> {
    T::try_from(value).map_err(|_| misfit(&Constant::Integer(value), Some(FieldType::Base(base))))
}

fn only_char(text: &str) -> Result<u16, Misfit> {
    let mut units = text.encode_utf16();
    match (units.next(), units.next()) {
        (Some(unit), None) => Ok(unit),
        _ => Err(format!("expected one character, found \"{text}\"")),
    }
}

impl std::fmt::Display for Constant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Constant::Boolean(value) => value.fmt(f),
            Constant::Integer(value) => value.fmt(f),
            Constant::Number(value) => value.fmt(f),
            Constant::Text(text) => write!(f, "\"{text}\""),
        }
    }
}

fn throw(code: &mut Snippet, class: &str, message: Option<&str>) {
    code.with_type(opcode::NEW, class).op(opcode::DUP, 0);
    let descriptor = match message {
        Some(message) => {
            code.push_string(message);
            "(Ljava/lang/String;)V"
        }
        None => "()V",
    };
    // The class hierarchy is unknown here; the cast proves to the verifier that the class is
    // throwable.
    code.invoke(
        opcode::INVOKESPECIAL,
        Member::of_class(class, names::INIT, descriptor),
    )
    .with_type(opcode::CHECKCAST, "java/lang/Throwable")
    .op(opcode::ATHROW, 0);
}

/// Prints to `System.err`, which needs no configuration, cannot throw, and does not wait for locks
/// of the application.
fn log(code: &mut Snippet, text: &str) {
    let err = Member::of_class("java/lang/System", "err", "Ljava/io/PrintStream;");
    let println = Member::of_class("java/io/PrintStream", "println", "(Ljava/lang/String;)V");
    code.field(opcode::GETSTATIC, err)
        .push_string(text)
        .invoke(opcode::INVOKEVIRTUAL, println);
}

/// Calls `LockSupport.parkNanos` until the time is over or the thread is interrupted; the interrupt
/// status is kept. `Thread.sleep` would throw an exception that the method does not expect.
fn delay(code: &mut Snippet, milliseconds: u64) {
    const DEADLINE: i32 = 0;
    const LEFT: i32 = 2;
    let nanos = i64::try_from(milliseconds.saturating_mul(1_000_000)).unwrap_or(i64::MAX);
    let now = || Member::of_class("java/lang/System", "nanoTime", "()J");
    let thread = |name, descriptor| Member::of_class("java/lang/Thread", name, descriptor);
    let (again, over) = (code.new_label(), code.new_label());
    code.invoke(opcode::INVOKESTATIC, now())
        .push_long(nanos)
        .op(opcode::LADD, 0)
        .op(opcode::LSTORE, DEADLINE)
        .op(opcode::LCONST_0, 0)
        .op(opcode::LSTORE, LEFT)
        .place(again)
        .op(opcode::LLOAD, DEADLINE)
        .invoke(opcode::INVOKESTATIC, now())
        .op(opcode::LSUB, 0)
        .op(opcode::LSTORE, LEFT)
        .op(opcode::LLOAD, LEFT)
        .op(opcode::LCONST_0, 0)
        .op(opcode::LCMP, 0)
        .jump(opcode::IFLE, over)
        .op(opcode::LLOAD, LEFT)
        .invoke(
            opcode::INVOKESTATIC,
            Member::of_class(
                "java/util/concurrent/locks/LockSupport",
                "parkNanos",
                "(J)V",
            ),
        )
        .invoke(
            opcode::INVOKESTATIC,
            thread("currentThread", "()Ljava/lang/Thread;"),
        )
        .invoke(opcode::INVOKEVIRTUAL, thread("isInterrupted", "()Z"))
        .jump(opcode::IFEQ, again)
        .place(over);
}
