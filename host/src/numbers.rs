//! What travels as plain numbers (`wit/plugin.wit`).

use rewriter::{Bci, ClassFile, Code, Line, Method, MethodIndex, Place, ReadError, Site};

/// A list of code goes on with another method while it is shorter.
const LIST: usize = 1 << 14;
/// Where to go on when nothing is left.
const END: u64 = 1 << 16;

/// A `line`.
pub(crate) fn line(line: Line) -> u32 {
    u32::from(line.bci.0) | u32::from(line.number) << 16
}

/// The `instruction`s of a method; none if it has no code.
pub(crate) fn instructions(method: &Method<'_, '_>) -> Result<Vec<u64>, ReadError> {
    let Some(code) = method.code()? else {
        return Ok(Vec::new());
    };
    let mut all = Vec::with_capacity(code.bytes().len() / 2 + 1);
    push_instructions(&code, &mut all, &mut Vec::new())?;
    Ok(all)
}

/// Appends the `instruction`s, and the targets of the switches to `targets`.
fn push_instructions(
    code: &Code<'_, '_>,
    all: &mut Vec<u64>,
    targets: &mut Vec<u64>,
) -> Result<(), ReadError> {
    code.visit_instructions(|instruction| {
        let operand = u64::from(instruction.operand().cast_unsigned());
        let opcode = u64::from(instruction.opcode);
        all.push(u64::from(instruction.bci.0) | opcode << 16 | operand << 32);
        if let Some(switch) = instruction.switch() {
            targets.extend(switch.targets().map(|target| u64::from(target.0)));
        }
    })
}

/// What `class-view.code` answers; the method that cannot be decoded, if there is one.
pub(crate) fn code(
    class: &ClassFile<'_>,
    start: u32,
) -> Result<Vec<u64>, (MethodIndex, ReadError)> {
    let mut all = Vec::with_capacity(class.bytes().len().min(LIST) + 1);
    all.push(END);
    let mut targets = Vec::new();
    for method in class.methods().skip(start as usize) {
        let index = method.index();
        if all.len() > LIST {
            all[0] = u64::from(index.0);
            break;
        }
        let Ok(Some(code)) = method.code() else {
            continue;
        };
        push_code(index, &code, &mut all, &mut targets).map_err(|error| (index, error))?;
    }
    Ok(all)
}

fn push_code(
    index: MethodIndex,
    code: &Code<'_, '_>,
    all: &mut Vec<u64>,
    targets: &mut Vec<u64>,
) -> Result<(), ReadError> {
    targets.clear();
    let head = all.len();
    all.extend([0; 2]);
    push_instructions(code, all, targets)?;
    let instructions = all.len() - head - 2;
    all.extend(code.lines().map(|entry| u64::from(line(entry))));
    let lines = all.len() - head - 2 - instructions;
    all.extend_from_slice(targets);
    let handlers = code.exception_table();
    all[head + 1] = targets.len() as u64 | (handlers.len() as u64) << 32;
    all.extend(handlers.map(|handler| {
        u64::from(handler.start.0)
            | u64::from(handler.end) << 16
            | u64::from(handler.handler.0) << 32
    }));
    all[head] = u64::from(index.0) | (instructions as u64) << 16 | (lines as u64) << 32;
    Ok(())
}

/// The site that a `place` names; none for a kind that there is not.
pub(crate) fn place(number: u64) -> Option<Site> {
    let bci = Bci((number >> 16) as u16);
    let place = match number >> 48 {
        0 => Place::Entry,
        1 => Place::Before(bci),
        2 => Place::FallThrough(bci),
        3 => Place::Jump {
            source: bci,
            target: Bci((number >> 32) as u16),
        },
        4 => Place::Unwind,
        5 => Place::At(bci),
        _ => return None,
    };
    Some(Site {
        method: MethodIndex(number as u16),
        place,
    })
}
