//! Rules as code.

use classhook_sdk::snippet::{Label, Member, Snippet};

use crate::rule::{Action, Constant, Rule};

/// Opcodes (JVMS 6.5).
mod op {
    pub const LCONST_0: u8 = 0x09;
    pub const LLOAD: u8 = 0x16;
    pub const LSTORE: u8 = 0x37;
    pub const POP: u8 = 0x57;
    pub const POP2: u8 = 0x58;
    pub const DUP: u8 = 0x59;
    pub const LADD: u8 = 0x61;
    pub const LSUB: u8 = 0x65;
    pub const LCMP: u8 = 0x94;
    pub const DCMPG: u8 = 0x98;
    pub const IFEQ: u8 = 0x99;
    pub const IFGE: u8 = 0x9c;
    pub const IFLE: u8 = 0x9e;
    pub const IRETURN: u8 = 0xac;
    pub const LRETURN: u8 = 0xad;
    pub const FRETURN: u8 = 0xae;
    pub const DRETURN: u8 = 0xaf;
    pub const ARETURN: u8 = 0xb0;
    pub const RETURN: u8 = 0xb1;
    pub const GETSTATIC: u8 = 0xb2;
    pub const INVOKEVIRTUAL: u8 = 0xb6;
    pub const INVOKESPECIAL: u8 = 0xb7;
    pub const INVOKESTATIC: u8 = 0xb8;
    pub const NEW: u8 = 0xbb;
    pub const ATHROW: u8 = 0xbf;
    pub const CHECKCAST: u8 = 0xc0;
}

/// What is on the stack where a rule takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stack {
    /// Nothing that the code may touch.
    Nothing,
    /// The value that the method is about to return; nothing in a `void` method.
    Returned,
    /// The exception that leaves the method.
    Thrown,
}

/// Why a rule cannot take effect in a method.
pub type Misfit = String;

/// The code of a rule for a method that returns a value of this type (a descriptor).
///
/// # Errors
/// When the constant to return is of another type.
pub fn code(rule: &Rule, stack: Stack, returned: &str) -> Result<Snippet, Misfit> {
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
            code.invoke(op::INVOKESTATIC, method.clone());
        }
        Action::Delay(milliseconds) => delay(&mut code, *milliseconds),
    }
    if let Some(end) = end {
        code.place(end);
    }
    Ok(code)
}

/// Goes to `end` unless chance wants otherwise.
fn chance(code: &mut Snippet, probability: f64, end: Label) {
    const RANDOM: &str = "java/util/concurrent/ThreadLocalRandom";
    let current = Member::of_class(RANDOM, "current", &format!("()L{RANDOM};"));
    code.invoke(op::INVOKESTATIC, current)
        .invoke(
            op::INVOKEVIRTUAL,
            Member::of_class(RANDOM, "nextDouble", "()D"),
        )
        .push_double(probability)
        .op(op::DCMPG, 0)
        .jump(op::IFGE, end);
}

/// Before a return instruction the value takes the place of the one that is there; elsewhere the method returns.
fn leave_with(
    code: &mut Snippet,
    value: Option<&Constant>,
    stack: Stack,
    returned: &str,
) -> Result<(), Misfit> {
    if stack == Stack::Returned {
        match returned {
            "V" => {}
            "J" | "D" => drop(code.op(op::POP2, 0)),
            _ => drop(code.op(op::POP, 0)),
        }
    }
    push(code, value, returned)?;
    if stack != Stack::Returned {
        code.op(return_opcode(returned), 0);
    }
    Ok(())
}

fn return_opcode(returned: &str) -> u8 {
    match returned {
        "V" => op::RETURN,
        "Z" | "B" | "C" | "S" | "I" => op::IRETURN,
        "J" => op::LRETURN,
        "F" => op::FRETURN,
        "D" => op::DRETURN,
        _ => op::ARETURN,
    }
}

fn push(code: &mut Snippet, value: Option<&Constant>, returned: &str) -> Result<(), Misfit> {
    use Constant::{Boolean, Integer, Number, Text};
    match (returned, value) {
        ("V", None) => {}
        ("Z" | "B" | "C" | "S" | "I", None) => drop(code.push_int(0)),
        ("J", None) => drop(code.push_long(0)),
        ("F", None) => drop(code.push_float(0.0)),
        ("D", None) => drop(code.push_double(0.0)),
        (_, None) => drop(code.push_null()),
        ("Z", Some(Boolean(value))) => drop(code.push_int(i32::from(*value))),
        ("B", Some(Integer(value))) => drop(code.push_int(fit::<i8>(*value, "byte")?.into())),
        ("S", Some(Integer(value))) => drop(code.push_int(fit::<i16>(*value, "short")?.into())),
        ("C", Some(Integer(value))) => drop(code.push_int(fit::<u16>(*value, "char")?.into())),
        ("I", Some(Integer(value))) => drop(code.push_int(fit::<i32>(*value, "int")?)),
        ("C", Some(Text(text))) => drop(code.push_int(only_char(text)?.into())),
        ("J", Some(Integer(value))) => drop(code.push_long(*value)),
        ("F", Some(Integer(value))) => drop(code.push_float(*value as f32)),
        ("F", Some(Number(value))) => drop(code.push_float(*value as f32)),
        ("D", Some(Integer(value))) => drop(code.push_double(*value as f64)),
        ("D", Some(Number(value))) => drop(code.push_double(*value)),
        (
            "Ljava/lang/String;" | "Ljava/lang/Object;" | "Ljava/lang/CharSequence;",
            Some(Text(text)),
        ) => drop(code.push_string(text)),
        (_, Some(value)) => {
            return Err(format!(
                "expected a constant of the method's type {}, found {value}",
                readable(returned)
            ));
        }
    }
    Ok(())
}

fn fit<T: TryFrom<i64>>(value: i64, name: &str) -> Result<T, Misfit> {
    T::try_from(value)
        .map_err(|_| format!("expected a constant of the method's type {name}, found {value}"))
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

/// A type descriptor for people.
fn readable(descriptor: &str) -> String {
    let element = descriptor.trim_start_matches('[');
    let name = match element {
        "V" => "void",
        "Z" => "boolean",
        "B" => "byte",
        "C" => "char",
        "S" => "short",
        "I" => "int",
        "J" => "long",
        "F" => "float",
        "D" => "double",
        _ => element.trim_start_matches('L').trim_end_matches(';'),
    };
    let arrays = descriptor.len() - element.len();
    format!("{}{}", name.replace('/', "."), "[]".repeat(arrays))
}

fn throw(code: &mut Snippet, class: &str, message: Option<&str>) {
    code.with_type(op::NEW, class).op(op::DUP, 0);
    let descriptor = match message {
        Some(message) => {
            code.push_string(message);
            "(Ljava/lang/String;)V"
        }
        None => "()V",
    };
    // Who extends whom is not known here; the cast says that the class is one that can be thrown.
    code.invoke(
        op::INVOKESPECIAL,
        Member::of_class(class, "<init>", descriptor),
    )
    .with_type(op::CHECKCAST, "java/lang/Throwable")
    .op(op::ATHROW, 0);
}

/// `System.err`, because it needs no configuration, cannot throw, and never waits for the application's own locks.
fn log(code: &mut Snippet, text: &str) {
    let err = Member::of_class("java/lang/System", "err", "Ljava/io/PrintStream;");
    let println = Member::of_class("java/io/PrintStream", "println", "(Ljava/lang/String;)V");
    code.field(op::GETSTATIC, err)
        .push_string(text)
        .invoke(op::INVOKEVIRTUAL, println);
}

/// `LockSupport.parkNanos` until the time is over or the thread is interrupted, which it stays: `Thread.sleep`
/// would throw into a method that knows of no such exception.
fn delay(code: &mut Snippet, milliseconds: u64) {
    const DEADLINE: i32 = 0;
    const LEFT: i32 = 2;
    let nanos = i64::try_from(milliseconds.saturating_mul(1_000_000)).unwrap_or(i64::MAX);
    let now = || Member::of_class("java/lang/System", "nanoTime", "()J");
    let thread = |name, descriptor| Member::of_class("java/lang/Thread", name, descriptor);
    let (again, over) = (code.new_label(), code.new_label());
    code.invoke(op::INVOKESTATIC, now())
        .push_long(nanos)
        .op(op::LADD, 0)
        .op(op::LSTORE, DEADLINE)
        .op(op::LCONST_0, 0)
        .op(op::LSTORE, LEFT)
        .place(again)
        .op(op::LLOAD, DEADLINE)
        .invoke(op::INVOKESTATIC, now())
        .op(op::LSUB, 0)
        .op(op::LSTORE, LEFT)
        .op(op::LLOAD, LEFT)
        .op(op::LCONST_0, 0)
        .op(op::LCMP, 0)
        .jump(op::IFLE, over)
        .op(op::LLOAD, LEFT)
        .invoke(
            op::INVOKESTATIC,
            Member::of_class(
                "java/util/concurrent/locks/LockSupport",
                "parkNanos",
                "(J)V",
            ),
        )
        .invoke(
            op::INVOKESTATIC,
            thread("currentThread", "()Ljava/lang/Thread;"),
        )
        .invoke(op::INVOKEVIRTUAL, thread("isInterrupted", "()Z"))
        .jump(op::IFEQ, again)
        .place(over);
}
