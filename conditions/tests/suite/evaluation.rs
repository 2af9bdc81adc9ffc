//! Evaluation of programs for calls.

use conditions::{Condition, Path, Program, Root, Step, Verdict, Watch};
use proptest::prelude::*;

use crate::simulated_call::{Owned, Seen, SimulatedCall, argument, path, text};
use crate::{generated, naive};

fn program(condition: &str) -> Program {
    let when = Condition::parse(condition).unwrap_or_else(|error| panic!("{error}"));
    Program::of(&Watch {
        when: Some(when),
        ..Watch::default()
    })
}

fn says(condition: &str, call: &SimulatedCall) -> Verdict {
    let program = program(condition);
    program.evaluate(&Seen(call, &program))
}

fn watched() -> impl Strategy<Value = (Watch, SimulatedCall)> {
    let watch = generated::condition().prop_map(|condition| Watch {
        when: Some(condition),
        ..Watch::default()
    });
    watch.prop_flat_map(|watch| (Just(watch.clone()), generated::call(&watch)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn program_agrees_with_direct_evaluation((watch, call) in watched()) {
        let program = Program::of(&watch);
        let condition = watch.when.expect("one");
        let found = program.evaluate(&Seen(&call, &program));
        prop_assert_eq!(found, naive::verdict(&condition, &call), "{}", condition);
    }
}

#[test]
fn condition_of_the_manual_is_evaluated() {
    let condition = "duration > 100ms && arg[0] == \"x\" || threw";
    let slow = SimulatedCall {
        duration: 100_000_001,
        ..SimulatedCall::default()
    };
    let slow = slow.with(argument(0, &[]), text("x"));
    assert_eq!(says(condition, &slow), Verdict::Matches);
    let other = slow.clone().with(argument(0, &[]), text("y"));
    assert_eq!(says(condition, &other), Verdict::Fails);
    let fast = SimulatedCall {
        duration: 100_000_000,
        ..slow
    };
    assert_eq!(says(condition, &fast), Verdict::Fails);
    let thrown = SimulatedCall {
        threw: true,
        ..fast
    };
    assert_eq!(says(condition, &thrown), Verdict::Matches);
}

#[test]
fn missing_value_makes_its_comparison_false_and_undecided() {
    let call = SimulatedCall::default();
    for condition in [
        "arg[7] == 1",
        "arg[7] != 1",
        "arg[7] == null",
        "this.a.b",
        "returned.contains(\"x\")",
        "arg[0] == arg[1]",
    ] {
        assert_eq!(says(condition, &call), Verdict::Undecided, "{condition}");
    }
    assert_eq!(says("!(arg[7] == 1)", &call), Verdict::Matches);
    assert_eq!(says("arg[7] == 1 || depth == 0", &call), Verdict::Matches);
    // The value was not requested when the program was compiled.
    assert_eq!(says("depth == 1 && arg[7] == 1", &call), Verdict::Fails);
    let number = call.with(argument(0, &[]), Owned::Integer(1));
    assert_eq!(says("arg[0] == \"1\"", &number), Verdict::Undecided);
}

#[test]
fn absent_result_or_exception_stays_decided() {
    let mut call = SimulatedCall::default().with(path(Root::Returned, &[]), Owned::Integer(1));
    assert_eq!(says("thrown == \"a.B\"", &call), Verdict::Fails);
    assert_eq!(says("returned == 1", &call), Verdict::Matches);
    call.threw = true;
    assert_eq!(says("returned == 1", &call), Verdict::Fails);
    let class = Path {
        root: Root::Thrown,
        steps: vec![Step::Class],
    };
    let call = call.with(class, text("java.io.IOException"));
    assert_eq!(
        says("thrown == \"java.io.IOException\"", &call),
        Verdict::Matches
    );
    assert_eq!(says("thrown.matches(\"java.*\")", &call), Verdict::Matches);
}

#[test]
fn integers_are_compared_with_floats_without_rounding() {
    let call = SimulatedCall::default().with(argument(0, &[]), Owned::Integer(i64::MAX));
    assert_eq!(
        says("arg[0] == 9223372036854775807", &call),
        Verdict::Matches
    );
    assert_eq!(
        says("arg[0] < 9.223372036854775807e18", &call),
        Verdict::Matches
    );
    let call = SimulatedCall::default().with(argument(0, &[]), Owned::Integer((1 << 53) + 1));
    assert_eq!(says("arg[0] > 9007199254740992.0", &call), Verdict::Matches);
    let call = SimulatedCall::default().with(argument(0, &[]), Owned::Float(f64::NAN));
    assert_eq!(
        says("arg[0] != 1 && !(arg[0] < 1)", &call),
        Verdict::Matches
    );
}

#[test]
fn program_lists_its_slots() {
    let when = Condition::parse("this.a == 1 && arg[1].b == \"x\" || this.a == 2").expect("right");
    let watch = Watch {
        when: Some(when),
        ..Watch::default()
    };
    let watch = watch.showing("arg, this.c, stack(3), stack(7), arg[1].b");
    let program = Program::of(&watch.expect("right"));
    let slots: Vec<(String, bool)> = program
        .slots()
        .iter()
        .map(|slot| (slot.path.to_string(), slot.is_compared))
        .collect();
    let expected = [("this.a", true), ("arg[1].b", true), ("this.c", false)];
    assert_eq!(
        slots,
        expected.map(|(path, compared)| (path.to_owned(), compared))
    );
    let of_this: Vec<u8> = program
        .slots_of(Root::This)
        .map(|(number, _)| number)
        .collect();
    assert_eq!(of_this, [0, 2]);
    assert_eq!(
        (program.stack(), program.shows_arguments()),
        (Some(7), true)
    );
    assert!(program.reads(Root::Argument(1)) && !program.reads(Root::Argument(0)));
}

#[test]
fn evaluation_allocates_nothing() {
    let program = program("duration > 1ms && this.a.contains(\"x\") && thread != \"y\"");
    let call = SimulatedCall {
        duration: 2_000_000,
        ..SimulatedCall::default()
    };
    let seen = Seen(&call, &program);
    let counted = allocation_counter::measure(|| {
        assert_eq!(program.evaluate(&seen), Verdict::Undecided);
    });
    assert_eq!(counted.count_total, 0);
}
