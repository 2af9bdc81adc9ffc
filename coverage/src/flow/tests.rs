use jvms::opcode::{
    ACONST_NULL, ATHROW, GOTO, GOTO_W, ICONST_0, IFEQ, IINC, ILOAD, INVOKESTATIC, JSR,
    LOOKUPSWITCH, NOP, RET, RETURN, SIPUSH, TABLESWITCH, WIDE,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn check(method: &FlowMethod<'_>, expect: &[Placement]) {
    assert_eq!(
        Flow::new().place(method).expect("a method with probes"),
        expect
    );
}

fn jump(source: u16, target: u16) -> Placement {
    Placement::Jump { source, target }
}

/// Returns an entry of the table.
fn line(bci: u8, number: u8) -> [u8; 4] {
    [0, bci, 0, number]
}

#[test]
fn straight_line_has_one_probe_at_its_return() {
    check(
        &FlowMethod {
            code: &[NOP, RETURN],
            ..Default::default()
        },
        &[Placement::Before(1)],
    );
}

#[test]
fn diamond_has_probes_at_its_join() {
    // if (x) { nop } nop; return
    check(
        &FlowMethod {
            code: &[ICONST_0, IFEQ, 0, 4, NOP, NOP, RETURN],
            ..Default::default()
        },
        &[jump(1, 5), Placement::FallThrough(4), Placement::Before(6)],
    );
}

#[test]
fn jump_to_the_first_instruction_finds_a_multitarget() {
    check(
        &FlowMethod {
            code: &[NOP, GOTO, 0xFF, 0xFF],
            ..Default::default()
        },
        &[jump(1, 0)],
    );
}

#[test]
fn line_with_a_call_has_a_probe_before_it_unless_it_is_the_first() {
    let call = [INVOKESTATIC, 0, 1];
    let code = [&call[..], &[NOP], &call, &[RETURN]].concat();
    check(
        &FlowMethod {
            code: &code,
            lines: &[line(4, 2), line(0, 1)],
            ..Default::default()
        },
        &[Placement::FallThrough(3), Placement::Before(7)],
    );
}

#[test]
fn line_zero_does_not_start_a_line() {
    check(
        &FlowMethod {
            code: &[NOP, INVOKESTATIC, 0, 1, RETURN],
            lines: &[line(0, 5), line(1, 0)],
            ..Default::default()
        },
        &[Placement::Before(4)],
    );
}

#[test]
fn try_start_reached_by_falling_through_is_a_multitarget() {
    check(
        &FlowMethod {
            code: &[NOP, NOP, RETURN, ATHROW],
            handlers: &[[0, 1, 0, 2, 0, 3, 0, 0]],
            ..Default::default()
        },
        &[
            Placement::FallThrough(0),
            Placement::Before(2),
            Placement::Before(3),
        ],
    );
}

/// Encodes a `tableswitch` at a multiple of four, with relative targets: default and cases.
fn table_switch(targets: &[i32]) -> Vec<u8> {
    let high = targets.len() as i32 - 2;
    let mut code = vec![TABLESWITCH, 0, 0, 0];
    let items = [targets[0], 0, high];
    let items = items.iter().chain(&targets[1..]);
    code.extend(items.flat_map(|item| item.to_be_bytes()));
    code
}

#[test]
fn switch_counts_each_label_once_and_puts_the_default_first() {
    // Both 61 (from two switches) and 62 (by falling through) are multitargets; 64 is not.
    let mut code = table_switch(&[62, 61, 61, 28]);
    assert_eq!(code.len(), 28);
    code.extend(table_switch(&[61 - 28, 64 - 28, 64 - 28]));
    code.resize(61, NOP);
    code.extend([NOP, NOP, RETURN, RETURN]);
    check(
        &FlowMethod {
            code: &code,
            ..Default::default()
        },
        &[
            jump(0, 62),
            jump(0, 61),
            jump(28, 61),
            Placement::FallThrough(60),
            Placement::FallThrough(61),
            Placement::Before(63),
            Placement::Before(64),
        ],
    );
}

#[test]
fn subroutines_are_refused() {
    let place = |code| {
        let method = FlowMethod {
            code,
            ..Default::default()
        };
        Flow::new().place(&method).map(<[_]>::to_vec)
    };
    let found = |bci, opcode| Err(Unplaced::Subroutine(Subroutine { bci, opcode }));
    assert_eq!(place(&[JSR, 0, 4, RETURN, RET, 0]), found(0, JSR));
    assert_eq!(place(&[NOP, WIDE, RET, 0, 0]), found(1, RET));
}

#[test]
fn invalid_instruction_is_refused() {
    for (code, bci, opcode) in [
        (&[NOP, 202][..], 1, 202),
        (&[NOP, SIPUSH, 1], 1, SIPUSH),
        (&[GOTO, 0], 0, GOTO),
        (&[NOP, NOP, TABLESWITCH], 2, TABLESWITCH),
        (&[WIDE], 0, WIDE),
    ] {
        let method = FlowMethod {
            code,
            ..Default::default()
        };
        let expected = Unplaced::NoInstruction { bci, opcode };
        assert_eq!(Flow::new().place(&method), Err(expected), "{code:?}");
    }
}

#[test]
fn targets_outside_the_code_are_ignored() {
    check(
        &FlowMethod {
            code: &[GOTO, 0x27, 0x0F],
            ..Default::default()
        },
        &[],
    );
}

/// An instruction before its bci is known; targets are indices of instructions.
#[derive(Debug, Clone)]
enum UnplacedInstruction {
    Plain(Vec<u8>),
    Jump(u8, prop::sample::Index),
    Wide(prop::sample::Index),
    Switch(bool, Vec<prop::sample::Index>),
}

fn made() -> impl Strategy<Value = UnplacedInstruction> {
    let plain = prop::sample::select(vec![
        vec![NOP],
        vec![ACONST_NULL],
        vec![SIPUSH, 0, 1],
        vec![WIDE, ILOAD, 1, 0],
        vec![WIDE, IINC, 1, 0, 0, 1],
        vec![INVOKESTATIC, 0, 1],
        vec![RETURN],
        vec![ATHROW],
    ]);
    let target = any::<prop::sample::Index>;
    prop_oneof![
        8 => plain.prop_map(UnplacedInstruction::Plain),
        3 => (prop::sample::select(vec![IFEQ, GOTO]), target())
            .prop_map(|(opcode, target)| UnplacedInstruction::Jump(opcode, target)),
        1 => target().prop_map(UnplacedInstruction::Wide),
        1 => (any::<bool>(), vec(target(), 2..6)).prop_map(|(table, targets)| UnplacedInstruction::Switch(table, targets)),
    ]
}

/// An instruction at its bci.
#[derive(Debug, Clone)]
struct PlacedInstruction {
    bci: u16,
    opcode: u8,
    kind: InstructionKind,
    targets: Vec<u16>,
}

/// Returns the code array and its instructions.
fn assemble(made: &[UnplacedInstruction]) -> (Vec<u8>, Vec<PlacedInstruction>) {
    let mut starts = vec![0_usize];
    for made in made {
        let at = *starts.last().expect("the first");
        let length = match made {
            UnplacedInstruction::Plain(bytes) => bytes.len(),
            UnplacedInstruction::Jump(..) => 3,
            UnplacedInstruction::Wide(_) => 5,
            UnplacedInstruction::Switch(true, targets) => (at | 3) + 1 - at + 8 + 4 * targets.len(),
            UnplacedInstruction::Switch(false, targets) => (at | 3) + 1 - at + 8 * targets.len(),
        };
        starts.push(at + length);
    }
    let (mut code, mut placed) = (Vec::new(), Vec::new());
    for (made, at) in made.iter().zip(&starts) {
        let target = |index: &prop::sample::Index| starts[index.index(starts.len() - 1)];
        let distance = |index| (target(index) as i32 - *at as i32).to_be_bytes();
        let mut targets = Vec::new();
        match made {
            UnplacedInstruction::Plain(bytes) => code.extend(bytes),
            UnplacedInstruction::Jump(opcode, index) => {
                code.push(*opcode);
                code.extend(&distance(index)[2..]);
                targets.push(target(index) as u16);
            }
            UnplacedInstruction::Wide(index) => {
                code.push(GOTO_W);
                code.extend(distance(index));
                targets.push(target(index) as u16);
            }
            UnplacedInstruction::Switch(table, indices) => {
                code.push(if *table { TABLESWITCH } else { LOOKUPSWITCH });
                code.resize((at | 3) + 1, 0);
                code.extend(distance(&indices[0]));
                let cases = &indices[1..];
                match table {
                    true => code.extend(
                        [0_i32, cases.len() as i32 - 1]
                            .map(i32::to_be_bytes)
                            .concat(),
                    ),
                    false => code.extend((cases.len() as i32).to_be_bytes()),
                }
                for (key, case) in (0_i32..).zip(cases) {
                    if !*table {
                        code.extend(key.to_be_bytes());
                    }
                    code.extend(distance(case));
                }
                targets.extend(indices.iter().map(|index| target(index) as u16));
            }
        }
        let opcode = match code[*at] {
            WIDE => code[at + 1],
            opcode => opcode,
        };
        placed.push(PlacedInstruction {
            bci: *at as u16,
            opcode,
            kind: InstructionKind::of(opcode),
            targets,
        });
    }
    (code, placed)
}

/// Computes the probes label by label from the definitions in the table of this module.
fn by_definition(placed: &[PlacedInstruction], method: &FlowMethod<'_>) -> Vec<Placement> {
    let number = |high: u8, low: u8| u16::from_be_bytes([high, low]);
    let once = |targets: &[u16]| {
        let mut once: Vec<u16> = Vec::new();
        for target in targets {
            if !once.contains(target) {
                once.push(*target);
            }
        }
        once
    };
    // A `goto_w` back to the end of `aconst_null` and `goto_w` returns from a subroutine, to a separate label.
    let is_call =
        |pair: &[PlacedInstruction]| pair[0].opcode == ACONST_NULL && pair[1].opcode == GOTO_W;
    let called = |bci: u16| {
        let mut three = placed.windows(3);
        three.any(|three| three[2].bci == bci && is_call(&three[..2]))
            && placed.iter().any(|at| at.bci == bci)
    };
    let label = |at: &PlacedInstruction, target: u16| {
        let is_return = at.opcode == GOTO_W && target <= at.bci && called(target);
        (target, is_return)
    };
    let targets = |(bci, is_return): (u16, bool)| {
        let jumps = placed.iter().flat_map(|at| {
            let targets = once(&at.targets);
            targets.into_iter().map(|target| label(at, target))
        });
        let handlers = method.handlers.iter();
        let handlers = handlers.flat_map(|row| [number(row[0], row[1]), number(row[4], row[5])]);
        let others = handlers.chain([0]).map(|target| (target, false));
        jumps
            .chain(others)
            .filter(|target| *target == (bci, is_return))
            .count()
    };
    let successor = |bci: u16| {
        placed
            .windows(2)
            .any(|pair| pair[1].bci == bci && pair[0].kind.falls_through())
    };
    let multitarget = |label: (u16, bool)| {
        targets(label) > 1 || (targets(label) == 1 && !label.1 && successor(label.0))
    };
    let starts_line = |bci: u16| {
        method
            .lines
            .iter()
            .any(|row| number(row[0], row[1]) == bci && row[2..] != [0, 0])
    };
    let invocation_line = |index: usize| {
        let rest = &placed[index + 1..];
        let end = rest
            .iter()
            .position(|at| starts_line(at.bci))
            .unwrap_or(rest.len());
        starts_line(placed[index].bci)
            && placed[index..index + 1 + end]
                .iter()
                .any(|at| at.kind == InstructionKind::Invoke)
    };
    let mut probes = Vec::new();
    for (index, at) in placed.iter().enumerate() {
        if successor(at.bci) && (multitarget((at.bci, false)) || invocation_line(index)) {
            probes.push(Placement::FallThrough(placed[index - 1].bci));
        }
        if at.kind == InstructionKind::Exit {
            probes.push(Placement::Before(at.bci));
        }
        let reached = once(&at.targets)
            .into_iter()
            .filter(|target| multitarget(label(at, *target)));
        probes.extend(reached.map(|target| jump(at.bci, target)));
    }
    probes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn probes_match_their_definition(
        made in vec(made(), 1..24),
        lines in vec((any::<prop::sample::Index>(), 0..3_u8), 0..8),
        handlers in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..3),
    ) {
        let (code, placed) = assemble(&made);
        let bci = |index: prop::sample::Index| placed[index.index(placed.len())].bci.to_be_bytes();
        let lines: Vec<_> = lines
            .into_iter()
            .map(|(at, number)| [bci(at)[0], bci(at)[1], 0, number])
            .collect();
        let handlers: Vec<_> = handlers
            .into_iter()
            .map(|(start, at)| {
                let (start, at) = (bci(start), bci(at));
                [start[0], start[1], 0, 0, at[0], at[1], 0, 0]
            })
            .collect();
        let method = FlowMethod { code: &code, lines: &lines, handlers: &handlers };
        let found = Flow::new().place(&method).expect("it can be decoded").to_vec();
        prop_assert_eq!(found, by_definition(&placed, &method));
    }
}
