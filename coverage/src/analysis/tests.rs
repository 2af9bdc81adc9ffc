use jvms::opcode::{GOTO, IDIV, IFEQ, IFNULL, INVOKESTATIC, JSR, NOP, POP, RETURN, TABLESWITCH};

use super::*;
use crate::class::{Instruction, Line, Operand};
use crate::model::{Counter, Outcome};

fn op(bci: u16, opcode: u8) -> Instruction<'static> {
    Instruction {
        bci,
        opcode,
        operand: Operand::None,
    }
}

fn jump(bci: u16, opcode: u8, target: u16) -> Instruction<'static> {
    Instruction {
        bci,
        opcode,
        operand: Operand::Target(target),
    }
}

fn switch(bci: u16, default: u16, cases: &[u16]) -> Instruction<'static> {
    let cases: Vec<_> = (0..).zip(cases.iter().copied()).collect();
    Instruction {
        bci,
        opcode: TABLESWITCH,
        operand: Operand::Switch {
            default,
            cases: cases.leak(),
        },
    }
}

fn class(
    instructions: Vec<Instruction<'static>>,
    lines: &[(u16, u16)],
) -> ClassDescription<'static> {
    let lines = lines.iter().map(|&(bci, number)| Line { bci, number });
    let code = CodeDescription {
        instructions: instructions.leak(),
        lines: lines.collect::<Vec<_>>().leak(),
        ..Default::default()
    };
    let method = MethodDescription {
        name: "run",
        descriptor: "()V",
        code: Some(code),
        ..Default::default()
    };
    ClassDescription {
        name: "p/C",
        id: 7,
        methods: vec![method].leak(),
        ..Default::default()
    }
}

/// Compares the counters of instructions and branches, and each line as `line:covered/all`.
fn check(
    class: &ClassDescription<'_>,
    probes: &[u8],
    instructions: (u32, u32),
    branches: (u32, u32),
    lines: &str,
) {
    let probes: Vec<bool> = probes.iter().map(|&probe| probe != 0).collect();
    assert_eq!(probe_count(class), probes.len());
    let coverage = analyze_as(Counting::Jacoco, class, Some(&probes), &[]);
    let coverage = coverage.expect("the number of probes is right");
    let method = &coverage.methods[0];
    assert_eq!(
        method.counters.instruction,
        Counter::new(instructions.0, instructions.1),
        "instructions"
    );
    assert_eq!(
        method.counters.branch,
        Counter::new(branches.0, branches.1),
        "branches"
    );
    let found: Vec<_> = method
        .lines
        .iter()
        .map(|(number, line)| {
            format!(
                "{number}:{}/{}",
                line.instructions.covered,
                line.instructions.total()
            )
        })
        .collect();
    assert_eq!(found.join(" "), lines);
}

fn diamond() -> ClassDescription<'static> {
    let code = vec![
        op(0, NOP),
        jump(1, IFEQ, 5),
        op(4, NOP),
        op(5, NOP),
        op(6, RETURN),
    ];
    class(code, &[(0, 1), (4, 2), (5, 3)])
}

#[test]
fn without_probes_all_is_missed() {
    let coverage = analyze(&diamond(), None).expect("no probes fit every class");
    assert_eq!(coverage.counters.instruction, Counter::new(5, 0));
    assert_eq!(coverage.counters.branch, Counter::new(2, 0));
    assert_eq!(coverage.counters.class, Counter::new(1, 0));
}

#[test]
fn probe_on_a_jump_covers_its_predecessors() {
    check(&diamond(), &[1, 0, 0], (3, 2), (1, 1), "1:2/2 2:0/1 3:0/2");
}

#[test]
fn probe_at_the_join_covers_the_path_that_falls_through() {
    check(&diamond(), &[0, 1, 1], (0, 5), (1, 1), "1:2/2 2:1/1 3:2/2");
}

#[test]
fn probe_of_the_return_does_not_cover_code_before_the_join() {
    check(&diamond(), &[0, 0, 1], (3, 2), (2, 0), "1:0/2 2:0/1 3:2/2");
}

#[test]
fn hits_on_both_paths_cover_both_branches() {
    check(&diamond(), &[1, 1, 1], (0, 5), (0, 2), "1:2/2 2:1/1 3:2/2");
}

#[test]
fn jump_without_a_probe_is_covered_through_its_target() {
    // Only the instruction at bci 1 jumps to 5.
    let code = vec![op(0, NOP), jump(1, IFEQ, 5), op(4, RETURN), op(5, RETURN)];
    check(&class(code, &[]), &[0, 1], (1, 3), (1, 1), "");
}

#[test]
fn cases_with_one_target_are_one_branch() {
    let code = vec![
        op(0, NOP),
        switch(1, 40, &[20, 20, 40]),
        op(20, RETURN),
        op(40, RETURN),
    ];
    check(&class(code, &[]), &[1, 0], (1, 3), (1, 1), "");
}

#[test]
fn branches_beyond_sixty_four_are_counted() {
    let targets: Vec<u16> = (1000..1100).collect();
    let mut code = vec![op(0, NOP), switch(1, 999, &targets), op(999, RETURN)];
    code.extend(targets.iter().map(|&bci| op(bci, RETURN)));
    let probes: Vec<u8> = (0..101).map(|probe| u8::from(probe >= 50)).collect();
    check(&class(code, &[]), &probes, (50, 53), (50, 51), "");
}

#[test]
fn loop_without_an_end_is_covered_by_its_jump() {
    let code = vec![op(0, NOP), op(1, NOP), jump(2, GOTO, 1)];
    check(&class(code, &[]), &[1, 1], (0, 3), (0, 0), "");
}

#[test]
fn another_number_of_probes_is_an_error() {
    let error = analyze(&diamond(), Some(&[true; 4])).expect_err("there are three");
    assert_eq!(
        error,
        AnalysisError::ProbeCount {
            class: "p/C".into(),
            id: 7,
            expected: 3,
            found: 4
        }
    );
    assert!(
        error
            .to_string()
            .contains("expected 3 probes in class p/C (id 0000000000000007), found 4")
    );
}

#[test]
fn methods_with_subroutines_are_left_out_and_can_be_listed() {
    let class = class(vec![jump(0, JSR, 4), op(3, RETURN), op(4, NOP)], &[]);
    let coverage = analyze(&class, Some(&[])).expect("there are no probes");
    assert!(coverage.methods.is_empty());
    let left_out: Vec<_> = unmeasured(&class)
        .map(|(method, subroutine)| (method.name, subroutine))
        .collect();
    assert_eq!(
        left_out,
        [(
            "run",
            Subroutine {
                bci: 0,
                opcode: JSR
            }
        )]
    );
}

#[test]
fn probes_are_counted_through_all_methods() {
    let mut class = diamond();
    class.methods = [class.methods, class.methods].concat().leak();
    assert_eq!(probe_count(&class), 6);
}

/// A class with three lines; the second one has a call that may throw. JaCoCo's probes follow the call.
fn dividing() -> ClassDescription<'static> {
    let code = vec![
        op(0, NOP),
        op(1, NOP),
        op(2, IDIV),
        op(3, POP),
        op(4, NOP),
        op(5, RETURN),
    ];
    class(code, &[(0, 1), (1, 2), (4, 3)])
}

fn line_statuses(class: &ClassDescription<'_>, probes: &[bool], lines: &[bool]) -> String {
    let coverage = analyze_with_lines(class, Some(probes), lines).expect("the numbers fit");
    let found = coverage.methods[0].lines.iter().map(|(number, line)| {
        let Counter { missed, covered } = line.instructions;
        format!("{number}:{covered}/{}", covered + missed)
    });
    found.collect::<Vec<_>>().join(" ")
}

#[test]
fn line_that_ended_with_an_exception_is_covered_up_to_the_throw() {
    let class = dividing();
    assert_eq!(probe_count(&class), 1);
    let of = |probe, lines: &[bool]| line_statuses(&class, &[probe], lines);
    assert_eq!(of(false, &[]), "1:0/1 2:0/3 3:0/2");
    assert_eq!(of(false, &[true, true, false]), "1:1/1 2:2/3 3:0/2");
    // The code before the line was executed, too.
    assert_eq!(of(false, &[false, true, false]), "1:1/1 2:2/3 3:0/2");
    // The first line itself threw, or an asynchronous exception ended it: the rest is covered as far as is known.
    assert_eq!(of(false, &[true, false, false]), "1:1/1 2:2/3 3:0/2");
    assert_eq!(of(true, &[true; 3]), "1:1/1 2:3/3 3:2/2");
    assert_eq!(of(true, &[false; 3]), "1:1/1 2:3/3 3:2/2");
}

#[test]
fn started_line_after_a_branch_shows_the_taken_branch() {
    // Without probes after them, the started lines of both ways show the branch.
    let counters = |lines: &[bool]| {
        let coverage = analyze_with_lines(&diamond(), Some(&[false; 3]), lines).expect("they fit");
        (coverage.counters.instruction, coverage.counters.branch)
    };
    assert_eq!(counters(&[]), (Counter::new(5, 0), Counter::new(2, 0)));
    let begun = counters(&[true, false, false]);
    assert_eq!(begun, (Counter::new(3, 2), Counter::new(2, 0)));
    let fell_through = counters(&[true, true, false]);
    // Only up to the next probe.
    assert_eq!(fell_through, (Counter::new(2, 3), Counter::new(1, 1)));
}

#[test]
fn wrong_number_of_lines_is_refused() {
    let error = analyze_with_lines(&dividing(), Some(&[false]), &[true]).unwrap_err();
    let AnalysisError::ProbeCount {
        expected, found, ..
    } = error;
    assert_eq!((expected, found), (3, 1));
}

/// Returns the outcomes of a program's first decision, for falling through and for jumping.
fn outcomes(class: &ClassDescription<'_>) -> Vec<Outcome> {
    let coverage = analyze(class, None).expect("no probes fit every class");
    let (_, branches) = &coverage.methods[0].decisions[0];
    branches
        .iter()
        .map(|branch| branch.outcome.clone())
        .collect()
}

#[test]
fn jump_over_code_is_taken_if_the_condition_is_false() {
    assert_eq!(outcomes(&diamond()), [Outcome::True, Outcome::False]);
}

#[test]
fn loop_with_its_test_at_the_end_repeats_if_the_condition_is_true() {
    let code = vec![
        jump(0, GOTO, 4),
        op(3, NOP),
        jump(4, IFEQ, 3),
        op(7, RETURN),
    ];
    assert_eq!(
        outcomes(&class(code, &[(0, 1)])),
        [Outcome::False, Outcome::True]
    );
}

#[test]
fn jump_back_before_a_return_and_return_in_a_loop_are_ambiguous() {
    let code = vec![op(0, NOP), jump(1, IFEQ, 0), op(4, RETURN)];
    assert_eq!(
        outcomes(&class(code, &[(0, 7)])),
        [Outcome::On, Outcome::Back(7)]
    );
}

#[test]
fn null_checks_of_kotlin_are_named_by_their_value() {
    let code = vec![jump(0, IFNULL, 4), op(3, NOP), op(4, RETURN)];
    let java = class(code, &[(0, 1)]);
    assert_eq!(outcomes(&java), [Outcome::True, Outcome::False]);
    let kotlin = ClassDescription {
        annotations: &["Lkotlin/Metadata;"],
        ..java
    };
    assert_eq!(outcomes(&kotlin), [Outcome::NotNull, Outcome::Null]);
}

#[test]
fn endless_expressions_are_followed_up_to_a_limit() {
    let conditions = |count: u16| {
        let jumps = (0..count).map(|at| jump(at * 3, IFEQ, at * 3 + 6));
        let mut code: Vec<_> = jumps.collect();
        code.extend([
            op(count * 3, NOP),
            op(count * 3 + 1, NOP),
            op(count * 3 + 3, NOP),
        ]);
        code.push(op(count * 3 + 4, RETURN));
        class(code, &[(0, 1)])
    };
    assert_eq!(outcomes(&conditions(5_000)).len(), 2);
}

/// Three calls on lines of their own, before a return that is far behind.
fn calls(last: u16) -> ClassDescription<'static> {
    let call = |bci| Instruction {
        bci,
        opcode: INVOKESTATIC,
        operand: Operand::None,
    };
    let code = vec![call(0), call(3), call(6), op(last, RETURN)];
    class(code, &[(0, 1), (3, 2), (6, 3), (last, 4)])
}

#[test]
fn later_probe_of_straight_line_code_implies_those_that_a_long_method_may_lack() {
    let all = "1:1/1 2:1/1 3:1/1 4:1/1";
    check(&calls(40_000), &[0, 0, 1], (0, 4), (0, 0), all);
    let until_two = "1:1/1 2:1/1 3:0/1 4:0/1";
    check(&calls(40_000), &[0, 1, 0], (2, 2), (0, 0), until_two);
    // Shorter methods have all their probes.
    let last_two = "1:0/1 2:0/1 3:1/1 4:1/1";
    check(&calls(9), &[0, 0, 1], (2, 2), (0, 0), last_two);
}

#[test]
fn branches_and_their_targets_end_straight_line_code() {
    let call = |bci| op(bci, INVOKESTATIC);
    let lines = [(0, 1), (3, 2), (6, 3), (9, 4), (12, 5)];
    let with = |third| {
        class(
            vec![call(0), call(3), third, call(9), op(12, RETURN)],
            &lines,
        )
    };
    let pairs = |third| implied_probes(&with(third));
    assert_eq!(pairs(call(6)), [(0, 1), (1, 2), (2, 3)]);
    // A conditional branch forward, and loops back to the second and to the first line: the first
    // probe is not implied, since the branch may lead elsewhere.
    for target in [12, 3, 0] {
        assert_eq!(pairs(jump(6, IFEQ, target)), [(2, 3)], "{target}");
    }
}
