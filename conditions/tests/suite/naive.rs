//! Conditions evaluated directly, as a reference.

use conditions::{
    Comparison, Condition, Function, Literal, Operand, Path, Root, Test, Value, Verdict,
};

use crate::simulated_call::{Owned, SimulatedCall};

/// Returns the verdict; undecided if one of the executed tests was.
pub fn verdict(condition: &Condition, call: &SimulatedCall) -> Verdict {
    let mut unknown = false;
    match (holds(condition, call, &mut unknown), unknown) {
        (true, _) => Verdict::Matches,
        (false, false) => Verdict::Fails,
        (false, true) => Verdict::Undecided,
    }
}

fn holds(condition: &Condition, call: &SimulatedCall, unknown: &mut bool) -> bool {
    match condition {
        Condition::All(parts) => parts.iter().all(|part| holds(part, call, unknown)),
        Condition::Any(parts) => parts.iter().any(|part| holds(part, call, unknown)),
        Condition::Not(part) => !holds(part, call, unknown),
        Condition::Test(test) => {
            let answer = answer(test, call);
            *unknown |= answer.is_none();
            answer == Some(true)
        }
    }
}

/// A value, if the call has one.
enum Known {
    Absent,
    Nanos(u64),
    Other(Owned),
}

fn value(value: &Value, call: &SimulatedCall) -> Known {
    let text = |text: &String| crate::simulated_call::text(text);
    Known::Other(match value {
        Value::Duration => return Known::Nanos(call.duration),
        Value::Threw => Owned::Truth(call.threw),
        Value::Thread => call.thread.as_ref().map_or(Owned::Missing, text),
        Value::Depth => Owned::Integer(call.depth as i64),
        Value::Arguments => Owned::Integer(call.arguments as i64),
        Value::Path(path) if is_absent(path, call) => return Known::Absent,
        Value::Path(path) => call.value(path),
    })
}

fn is_absent(path: &Path, call: &SimulatedCall) -> bool {
    match path.root {
        Root::Returned => call.threw,
        Root::Thrown => !call.threw,
        _ => false,
    }
}

fn operand(operand: &Operand, call: &SimulatedCall) -> Known {
    let literal = match operand {
        Operand::Value(it) => return value(it, call),
        Operand::Literal(literal) => literal,
    };
    Known::Other(match literal {
        Literal::Null => Owned::Null,
        Literal::Truth(value) => Owned::Truth(*value),
        Literal::Integer(value) => Owned::Integer(*value),
        Literal::Float(value) => Owned::Float(*value),
        Literal::Char(unit) => Owned::Integer((*unit).into()),
        Literal::Text(text) => crate::simulated_call::text(text),
        Literal::Duration(nanos) => return Known::Nanos(*nanos),
    })
}

fn answer(test: &Test, call: &SimulatedCall) -> Option<bool> {
    match test {
        Test::Holds(it) => match value(it, call) {
            Known::Absent => Some(false),
            Known::Other(Owned::Truth(it)) => Some(it),
            _ => None,
        },
        Test::Compare(left, comparison, right) => {
            let (left, right) = match (operand(left, call), operand(right, call)) {
                (Known::Absent, _) | (_, Known::Absent) => return Some(false),
                (Known::Nanos(left), Known::Nanos(right)) => {
                    return Some(numbers(left.into(), *comparison, right.into()));
                }
                (Known::Other(left), Known::Other(right)) => (left, right),
                _ => return None,
            };
            compare(&left, *comparison, &right)
        }
        Test::Text(of, function, what) => match (value(of, call), operand(what, call)) {
            (Known::Absent | Known::Other(Owned::Null), _)
            | (_, Known::Absent | Known::Other(Owned::Null)) => Some(false),
            (Known::Other(Owned::Text(of, length)), Known::Other(Owned::Text(what, wanted))) => {
                text((&of, length), *function, (&what, wanted))
            }
            _ => None,
        },
    }
}

fn numbers(left: i128, comparison: Comparison, right: i128) -> bool {
    match comparison {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        Comparison::Less => left < right,
        Comparison::LessOrEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterOrEqual => left >= right,
    }
}

fn floats(left: f64, comparison: Comparison, right: f64) -> bool {
    match comparison {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        Comparison::Less => left < right,
        Comparison::LessOrEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterOrEqual => left >= right,
    }
}

fn compare(left: &Owned, comparison: Comparison, right: &Owned) -> Option<bool> {
    use Comparison::{Equal, NotEqual};
    let equality = |same: bool| match comparison {
        Equal => Some(same),
        NotEqual => Some(!same),
        _ => None,
    };
    match (left, right) {
        (Owned::Missing, _) | (_, Owned::Missing) => None,
        (Owned::Null, Owned::Null) => equality(true).or(Some(false)),
        (Owned::Null, _) | (_, Owned::Null) => equality(false).or(Some(false)),
        (Owned::Truth(left), Owned::Truth(right)) => equality(left == right),
        (Owned::Text(left, length), Owned::Text(right, other)) => {
            let cut = is_cut(left, *length) || is_cut(right, *other);
            // Both lengths are known, but the program compares only the texts.
            let differs = match (is_cut(left, *length), is_cut(right, *other)) {
                (true, true) => false,
                (true, false) => !(right.starts_with(left.as_str()) && right.len() > left.len()),
                (false, true) => !(left.starts_with(right.as_str()) && left.len() > right.len()),
                (false, false) => left != right,
            };
            match (cut, differs) {
                (true, false) => None,
                (_, differs) => equality(!differs),
            }
        }
        (Owned::Integer(left), Owned::Integer(right)) => {
            Some(numbers((*left).into(), comparison, (*right).into()))
        }
        (Owned::Float(left), Owned::Float(right)) => Some(floats(*left, comparison, *right)),
        // The generated numbers are small enough.
        (Owned::Integer(left), Owned::Float(right)) => {
            Some(floats(*left as f64, comparison, *right))
        }
        (Owned::Float(left), Owned::Integer(right)) => {
            Some(floats(*left, comparison, *right as f64))
        }
        _ => None,
    }
}

fn is_cut(text: &str, length: u32) -> bool {
    text.encode_utf16().count() < length as usize
}

fn text(of: (&str, u32), function: Function, what: (&str, u32)) -> Option<bool> {
    if is_cut(what.0, what.1) {
        return None;
    }
    let (known, wanted) = (of.0, what.0);
    if !is_cut(of.0, of.1) {
        return Some(match function {
            Function::Contains => known.contains(wanted),
            Function::StartsWith => known.starts_with(wanted),
            Function::EndsWith => known.ends_with(wanted),
            Function::Matches => {
                let (known, wanted): (Vec<char>, Vec<char>) =
                    (known.chars().collect(), wanted.chars().collect());
                matches(&known, &wanted)
            }
        });
    }
    match function {
        Function::Contains => known.contains(wanted).then_some(true),
        Function::StartsWith if known.len() >= wanted.len() => Some(known.starts_with(wanted)),
        Function::StartsWith => (!wanted.starts_with(known)).then_some(false),
        _ => None,
    }
}

fn matches(text: &[char], pattern: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('*', rest)) => (0..=text.len()).any(|from| matches(&text[from..], rest)),
        Some((wanted, rest)) => text.split_first().is_some_and(|(first, text)| {
            (*wanted == '?' || wanted == first) && matches(text, rest)
        }),
    }
}
