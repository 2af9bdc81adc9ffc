//! Random conditions and calls.

use conditions::{
    Comparison, Condition, Function, Literal, Operand, Path, Root, Show, Step, Test, Value, Watch,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::simulated_call::{Owned, SimulatedCall};

const WORDS: [&str; 7] = ["", "a", "ab", "aab", "b\"\\\n", "é*", "java.io.IOException"];

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(&WORDS[..]).prop_map(str::to_owned)
}

fn number() -> impl Strategy<Value = Literal> {
    prop_oneof![
        (-3..4_i64).prop_map(Literal::Integer),
        (-6..7_i32).prop_map(|half| Literal::Float(f64::from(half) / 2.0)),
        prop::sample::select(vec![0_u16, 10, 39, 97, 0xD800]).prop_map(Literal::Char),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        prop::sample::select(vec!["a", "b$1", "contains"])
            .prop_map(|name| Step::Field(name.to_owned())),
        (0..3_u32).prop_map(Step::Element),
        Just(Step::Length),
    ]
}

fn root() -> impl Strategy<Value = Root> {
    prop_oneof![
        (0..3_u8).prop_map(Root::Argument),
        Just(Root::Returned),
        Just(Root::This),
        Just(Root::Thrown),
    ]
}

pub fn path() -> impl Strategy<Value = Path> {
    (root(), vec(step(), 0..3), any::<bool>()).prop_map(|(root, mut steps, class)| {
        if class || (root == Root::Thrown && steps.is_empty()) {
            steps.push(Step::Class);
        }
        Path { root, steps }
    })
}

fn is_text(path: &Path) -> bool {
    path.steps.last() == Some(&Step::Class)
}

fn anything() -> impl Strategy<Value = Value> {
    path()
        .prop_filter("of any kind", |path| !is_text(path))
        .prop_map(Value::Path)
}

fn text_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Thread),
        path().prop_filter("a class", is_text).prop_map(Value::Path),
        anything(),
    ]
}

fn text_operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        3 => word().prop_map(|text| Operand::Literal(Literal::Text(text))),
        1 => text_value().prop_map(Operand::Value),
    ]
}

fn number_operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        number().prop_map(Operand::Literal),
        Just(Operand::Value(Value::Depth)),
        Just(Operand::Value(Value::Arguments)),
        anything().prop_map(Operand::Value),
    ]
}

fn duration_operand() -> impl Strategy<Value = Operand> {
    let nanos = prop::sample::select(vec![0_u64, 1, 999, 1_000, 1_500_000, 2_000_000_000]);
    prop_oneof![
        nanos.prop_map(|nanos| Operand::Literal(Literal::Duration(nanos))),
        Just(Operand::Value(Value::Duration)),
    ]
}

fn truth_operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        any::<bool>().prop_map(|truth| Operand::Literal(Literal::Truth(truth))),
        Just(Operand::Value(Value::Threw)),
        anything().prop_map(Operand::Value),
    ]
}

fn comparison() -> impl Strategy<Value = Comparison> {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    prop::sample::select(vec![
        Equal,
        NotEqual,
        Less,
        LessOrEqual,
        Greater,
        GreaterOrEqual,
    ])
}

fn equality() -> impl Strategy<Value = Comparison> {
    prop::sample::select(vec![Comparison::Equal, Comparison::NotEqual])
}

fn test() -> impl Strategy<Value = Test> {
    use Function::{Contains, EndsWith, Matches, StartsWith};
    let function = prop::sample::select(vec![Contains, StartsWith, EndsWith, Matches]);
    let compared = |(left, comparison, right)| Test::Compare(left, comparison, right);
    prop_oneof![
        Just(Test::Holds(Value::Threw)),
        anything().prop_map(Test::Holds),
        (number_operand(), comparison(), number_operand()).prop_map(compared),
        (duration_operand(), comparison(), duration_operand()).prop_map(compared),
        (text_operand(), equality(), text_operand()).prop_map(compared),
        (truth_operand(), equality(), truth_operand()).prop_map(compared),
        (anything(), equality()).prop_map(|(value, comparison)| Test::Compare(
            Operand::Value(value),
            comparison,
            Operand::Literal(Literal::Null)
        )),
        (text_value(), function, text_operand())
            .prop_map(|(of, function, what)| Test::Text(of, function, what)),
    ]
}

pub fn condition() -> impl Strategy<Value = Condition> {
    let tests = test().prop_map(Condition::Test);
    tests.prop_recursive(5, 24, 3, |part| {
        prop_oneof![
            vec(part.clone(), 2..4).prop_map(Condition::All),
            vec(part.clone(), 2..4).prop_map(Condition::Any),
            part.prop_map(|part| Condition::Not(Box::new(part))),
        ]
    })
}

pub fn show() -> impl Strategy<Value = Show> {
    prop_oneof![
        Just(Show::Arguments),
        (1..=100_u8).prop_map(Show::Stack),
        path().prop_map(Show::Value),
    ]
}

fn owned() -> impl Strategy<Value = Owned> {
    prop_oneof![
        Just(Owned::Missing),
        Just(Owned::Null),
        Just(Owned::Object),
        any::<bool>().prop_map(Owned::Truth),
        (-3..4_i64).prop_map(Owned::Integer),
        prop::sample::select(vec![0.0, 0.5, -1.0, 2.0, f64::NAN, f64::INFINITY])
            .prop_map(Owned::Float),
        (word(), 0..3_u32).prop_map(|(text, more)| Owned::Text(
            text.clone(),
            text.encode_utf16().count() as u32 + more
        )),
    ]
}

/// Generates a call that has values for the slots of the watch.
pub fn call(watch: &Watch) -> impl Strategy<Value = SimulatedCall> + use<> {
    let paths: Vec<Path> = conditions::Program::of(watch)
        .slots()
        .iter()
        .map(|slot| slot.path.clone())
        .collect();
    let count = paths.len();
    let durations = prop::sample::select(vec![0_u64, 1, 999, 1_000, 1_500_000, 5_000_000_000]);
    let values = vec(owned(), count..=count);
    let thread = prop::option::of(word());
    (durations, any::<bool>(), 0..4_u64, 0..4_u64, thread, values).prop_map(
        move |(duration, threw, depth, arguments, thread, values)| SimulatedCall {
            duration,
            threw,
            depth,
            arguments,
            thread,
            values: paths.iter().cloned().zip(values).collect(),
        },
    )
}
