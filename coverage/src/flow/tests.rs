use jvms::opcode::{ATHROW, GOTO, IFEQ, INVOKESTATIC, JSR, RETURN, TABLESWITCH};

use super::*;

fn plain(bci: u16) -> FlowInstruction {
    FlowInstruction {
        bci,
        opcode: 0,
        target: 0,
    }
}

fn op(bci: u16, opcode: u8) -> FlowInstruction {
    FlowInstruction {
        bci,
        opcode,
        target: 0,
    }
}

fn jump(bci: u16, opcode: u8, target: u16) -> FlowInstruction {
    FlowInstruction {
        bci,
        opcode,
        target,
    }
}

fn check(method: &FlowMethod<'_>, expect: &[Placement]) {
    assert_eq!(place_probes(method).expect("no subroutine"), expect);
}

#[test]
fn straight_line_has_one_probe_at_its_return() {
    let instructions = [plain(0), op(1, RETURN)];
    check(
        &FlowMethod {
            instructions: &instructions,
            ..Default::default()
        },
        &[Placement::Before(1)],
    );
}

#[test]
fn diamond_has_probes_where_ways_meet() {
    // if (x) { nop } nop; return
    let instructions = [
        plain(0),
        jump(1, IFEQ, 5),
        plain(4),
        plain(5),
        op(6, RETURN),
    ];
    check(
        &FlowMethod {
            instructions: &instructions,
            ..Default::default()
        },
        &[
            Placement::Jump {
                source: 1,
                target: 5,
            },
            Placement::FallThrough(4),
            Placement::Before(6),
        ],
    );
}

#[test]
fn jump_to_the_first_instruction_finds_a_multitarget() {
    let instructions = [plain(0), jump(1, GOTO, 0)];
    check(
        &FlowMethod {
            instructions: &instructions,
            ..Default::default()
        },
        &[Placement::Jump {
            source: 1,
            target: 0,
        }],
    );
}

#[test]
fn line_with_a_call_gets_a_probe_in_front_unless_it_is_the_first() {
    let instructions = [
        op(0, INVOKESTATIC),
        plain(3),
        op(4, INVOKESTATIC),
        op(7, RETURN),
    ];
    let lines = [
        FlowLine { bci: 4, number: 2 },
        FlowLine { bci: 0, number: 1 },
    ];
    check(
        &FlowMethod {
            instructions: &instructions,
            lines: &lines,
            ..Default::default()
        },
        &[Placement::FallThrough(3), Placement::Before(7)],
    );
}

#[test]
fn line_zero_does_not_start_a_line() {
    let instructions = [plain(0), op(1, INVOKESTATIC), op(4, RETURN)];
    let lines = [
        FlowLine { bci: 0, number: 5 },
        FlowLine { bci: 1, number: 0 },
    ];
    check(
        &FlowMethod {
            instructions: &instructions,
            lines: &lines,
            ..Default::default()
        },
        &[Placement::Before(4)],
    );
}

#[test]
fn try_start_that_is_fallen_into_is_a_multitarget() {
    let instructions = [plain(0), plain(1), op(2, RETURN), op(3, ATHROW)];
    let handlers = [FlowHandler {
        start: 1,
        target: 3,
    }];
    check(
        &FlowMethod {
            instructions: &instructions,
            handlers: &handlers,
            ..Default::default()
        },
        &[
            Placement::FallThrough(0),
            Placement::Before(2),
            Placement::Before(3),
        ],
    );
}

#[test]
fn switch_counts_each_label_once_and_puts_the_default_first() {
    // Both 20 (from two switches) and 30 (fallen into) are multitargets; 40 is not.
    let instructions = [
        op(0, TABLESWITCH),
        op(10, TABLESWITCH),
        plain(20),
        plain(30),
        op(31, RETURN),
        op(40, RETURN),
    ];
    let switch_targets = [30, 20, 20, 10, 20, 40, 40];
    check(
        &FlowMethod {
            instructions: &instructions,
            switch_targets: &switch_targets,
            switch_lengths: &[4, 3],
            ..Default::default()
        },
        &[
            Placement::Jump {
                source: 0,
                target: 30,
            },
            Placement::Jump {
                source: 0,
                target: 20,
            },
            Placement::Jump {
                source: 10,
                target: 20,
            },
            Placement::FallThrough(20),
            Placement::Before(31),
            Placement::Before(40),
        ],
    );
}

#[test]
fn subroutines_are_refused() {
    let instructions = [jump(0, JSR, 4), op(3, RETURN), op(4, 169)];
    assert_eq!(
        place_probes(&FlowMethod {
            instructions: &instructions,
            ..Default::default()
        }),
        Err(Subroutine {
            bci: 0,
            opcode: JSR
        })
    );
}

#[test]
fn targets_outside_the_code_are_not_looked_at() {
    let instructions = [jump(0, GOTO, 9999)];
    check(
        &FlowMethod {
            instructions: &instructions,
            ..Default::default()
        },
        &[],
    );
}
