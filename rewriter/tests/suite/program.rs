//! Programs of jumps: generated at random, assembled, and run with and without probes. A list decides the branches, so
//! that both runs decide alike; the operand stack is not modelled.

use jvms::opcode as op;

#[derive(Debug, Clone)]
pub enum Op {
    /// This many `nop`s.
    Nops(usize),
    If(usize),
    Goto(usize),
    Table(Vec<usize>),
    Lookup(Vec<usize>),
    Return,
}

/// Returns the size of an operation at `at`; a `goto` may be wide.
fn size(operation: &Op, at: usize) -> usize {
    let padding = 3 - at % 4;
    match operation {
        Op::Nops(count) => *count,
        Op::If(_) => 3,
        Op::Goto(_) => 5,
        Op::Table(targets) => 1 + padding + 12 + 4 * (targets.len() - 1),
        Op::Lookup(targets) => 1 + padding + 8 + 8 * (targets.len() - 1),
        Op::Return => 1,
    }
}

/// Returns the code array. A branch out of the 16-bit range becomes `nop`s.
pub fn assemble(program: &[Op]) -> Vec<u8> {
    let mut starts = Vec::new();
    let mut at = 0;
    for operation in program {
        starts.push(at);
        at += size(operation, at);
    }
    let mut code = Vec::new();
    for (operation, start) in program.iter().zip(&starts) {
        let to = |target: &usize| starts[*target] as i32 - *start as i32;
        match operation {
            Op::Nops(count) => code.extend(std::iter::repeat_n(op::NOP, *count)),
            Op::Return => code.push(op::RETURN),
            Op::If(target) => match i16::try_from(to(target)) {
                Ok(distance) => {
                    code.push(op::IFEQ);
                    code.extend(distance.to_be_bytes());
                }
                Err(_) => code.extend([op::NOP; 3]),
            },
            Op::Goto(target) => match i16::try_from(to(target) - 2) {
                Ok(distance) => {
                    code.extend([op::NOP, op::NOP, op::GOTO]);
                    code.extend(distance.to_be_bytes());
                }
                Err(_) => {
                    code.push(op::GOTO_W);
                    code.extend(to(target).to_be_bytes());
                }
            },
            Op::Table(targets) | Op::Lookup(targets) => {
                let table = matches!(operation, Op::Table(_));
                code.push(if table {
                    op::TABLESWITCH
                } else {
                    op::LOOKUPSWITCH
                });
                code.resize(code.len().next_multiple_of(4), 0);
                code.extend(to(&targets[0]).to_be_bytes());
                let keys = targets.len() as i32 - 1;
                if table {
                    code.extend(1_i32.to_be_bytes());
                }
                code.extend(keys.to_be_bytes());
                for (key, target) in targets[1..].iter().enumerate() {
                    if !table {
                        code.extend((key as i32 * 10).to_be_bytes());
                    }
                    code.extend(to(target).to_be_bytes());
                }
            }
        }
    }
    code
}

/// Returns a class with one static method `m()V` of this code, and no frames.
pub fn class(code: &[u8]) -> Vec<u8> {
    let mut attributes = Vec::new();
    attributes.extend(0_u16.to_be_bytes());
    class_with(49, code, &[], &[], &attributes)
}

/// Does the same as [`class`] with a version, an exception table, texts for the pool (from index 8 on) and the
/// attributes of `Code` with their count.
pub fn class_with(
    version: u16,
    code: &[u8],
    handlers: &[[u16; 3]],
    texts: &[&str],
    attributes: &[u8],
) -> Vec<u8> {
    let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0];
    bytes.extend(version.to_be_bytes());
    bytes.extend((8 + texts.len() as u16).to_be_bytes());
    let utf8 = |text: &str, bytes: &mut Vec<u8>| {
        bytes.push(1);
        bytes.extend((text.len() as u16).to_be_bytes());
        bytes.extend(text.as_bytes());
    };
    utf8("T", &mut bytes);
    bytes.extend([7, 0, 1]);
    utf8("java/lang/Object", &mut bytes);
    bytes.extend([7, 0, 3]);
    utf8("m", &mut bytes);
    utf8("()V", &mut bytes);
    utf8("Code", &mut bytes);
    texts.iter().for_each(|text| utf8(text, &mut bytes));
    bytes.extend([0, 0x21, 0, 2, 0, 4, 0, 0, 0, 0, 0, 1]);
    bytes.extend([0, 9, 0, 5, 0, 6, 0, 1, 0, 7]);
    let length = 12 + code.len() + 8 * handlers.len() + attributes.len() - 2;
    bytes.extend((length as u32).to_be_bytes());
    bytes.extend([0, 2, 0, 9]);
    bytes.extend((code.len() as u32).to_be_bytes());
    bytes.extend(code);
    bytes.extend((handlers.len() as u16).to_be_bytes());
    for entry in handlers {
        entry
            .iter()
            .for_each(|item| bytes.extend(item.to_be_bytes()));
        bytes.extend([0, 0]);
    }
    bytes.extend(attributes);
    bytes.extend([0, 0]);
    bytes
}

/// A step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Control reaches the instruction at this bci.
    At(usize),
    /// Control continues after the instruction at this bci.
    Through(usize),
    /// A jump from here to there.
    Jump(usize, usize),
    /// This array element is written.
    Probe(u16),
    Return,
}

fn distance(code: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(code[at..at + 4].try_into().unwrap())
}

/// Returns the targets of the switch at `at`, the default first.
fn targets(code: &[u8], at: usize) -> Vec<usize> {
    let base = (at / 4 + 1) * 4;
    let target = |operand: usize| (at as i32 + distance(code, operand)) as usize;
    let mut found = vec![target(base)];
    if code[at] == op::TABLESWITCH {
        let count = distance(code, base + 8) - distance(code, base + 4) + 1;
        found.extend((0..count as usize).map(|index| target(base + 12 + 4 * index)));
    } else {
        let count = distance(code, base + 4) as usize;
        found.extend((0..count).map(|index| target(base + 12 + 8 * index)));
    }
    found
}

/// Runs `code` with the decisions of `decisions`. Ends without further decisions, at a return, or after `limit`
/// instructions.
pub fn run(code: &[u8], decisions: &[u8], limit: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut decisions = decisions.iter();
    let (mut at, mut index) = (0, 0);
    for _ in 0..limit {
        steps.push(Step::At(at));
        let short = || i16::from_be_bytes([code[at + 1], code[at + 2]]);
        let (length, target) = match code[at] {
            op::RETURN => {
                steps.push(Step::Return);
                break;
            }
            op::GOTO => (3, Some((at as i32 + i32::from(short())) as usize)),
            op::GOTO_W => (5, Some((at as i32 + distance(code, at + 1)) as usize)),
            // The program has only `ifeq`, so its inverse jumps when `ifeq` falls through.
            op::IFEQ | op::IFNE => match decisions.next() {
                None => break,
                Some(decision) if (decision % 2 == 1) == (code[at] == op::IFEQ) => {
                    (3, Some((at as i32 + i32::from(short())) as usize))
                }
                Some(_) => (3, None),
            },
            op::TABLESWITCH | op::LOOKUPSWITCH => match decisions.next() {
                None => break,
                Some(decision) => {
                    let targets = targets(code, at);
                    (1, Some(targets[usize::from(*decision) % targets.len()]))
                }
            },
            op::GETSTATIC => (3, None),
            op::SIPUSH => {
                index = short() as u16;
                (3, None)
            }
            op::BASTORE | op::LASTORE => {
                steps.push(Step::Probe(index));
                (1, None)
            }
            op::NOP | op::ICONST_1 | op::DUP2 | op::LALOAD | op::LCONST_1 | op::LADD => (1, None),
            other => panic!("opcode {other} at {at}"),
        };
        match target {
            Some(target) => {
                steps.push(Step::Jump(at, target));
                at = target;
            }
            None => {
                steps.push(Step::Through(at));
                at += length;
            }
        }
    }
    steps
}
