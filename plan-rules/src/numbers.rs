//! Packed numbers of the plugin interface (`sdk/wit/plugin.wit`).

use rewriter::{ClassFile, Code, Line, Method, MethodIndex, ReadError};

/// A list of code below this many numbers continues with the next method.
const LIST: usize = 1 << 14;
/// A list of raw code below this many bytes continues with the next method.
const RAW_LIST: usize = 1 << 16;
/// The next start when no method is left.
const END: u64 = 1 << 16;

/// Packs a `line`.
#[must_use]
pub fn line(line: Line) -> u32 {
    u32::from(line.bci.0) | u32::from(line.number) << 16
}

/// Packs the `instruction`s of a method; empty if it has no code.
///
/// # Errors
/// The code cannot be decoded.
pub fn instructions(method: &Method<'_, '_>) -> Result<Vec<u64>, ReadError> {
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

/// Answers `class-view.code`.
///
/// # Errors
/// Names the method that cannot be decoded.
pub fn code(class: &ClassFile<'_>, start: u32) -> Result<Vec<u64>, (MethodIndex, ReadError)> {
    list(class, start, LIST)
}

fn list(
    class: &ClassFile<'_>,
    start: u32,
    length: usize,
) -> Result<Vec<u64>, (MethodIndex, ReadError)> {
    let mut all = Vec::with_capacity(class.bytes().len().min(length) + 1);
    let (mut next, mut targets) = (END, Vec::new());
    all.push(next);
    for method in class.methods().skip(start as usize) {
        let index = method.index();
        if all.len() > length {
            next = u64::from(index.0);
            break;
        }
        if let Ok(Some(code)) = method.code() {
            push_code(index, &code, &mut all, &mut targets).map_err(|error| (index, error))?;
        }
    }
    all[0] = next;
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

/// Answers `class-view.raw-code`.
#[must_use]
pub fn raw_code(class: &ClassFile<'_>, start: u32) -> Vec<u8> {
    raw_list(class, start, RAW_LIST)
}

fn raw_list(class: &ClassFile<'_>, start: u32, length: usize) -> Vec<u8> {
    // A method takes no more bytes in the list than in the class file.
    let mut all = Vec::with_capacity(4 + class.bytes().len().min(2 * length));
    let mut next = END as u32;
    all.extend(next.to_be_bytes());
    for method in class.methods().skip(start as usize) {
        if all.len() > 4 + length {
            next = u32::from(method.index().0);
            break;
        }
        if let Ok(Some(code)) = method.code() {
            push_raw_code(method.index(), &code, &mut all);
        }
    }
    all[..4].copy_from_slice(&next.to_be_bytes());
    all
}

fn push_raw_code(index: MethodIndex, code: &Code<'_, '_>, all: &mut Vec<u8>) {
    let lines = code.line_rows().map(<[_]>::len).sum::<usize>() as u32;
    let (bytes, handlers) = (code.bytes(), code.exception_rows());
    all.extend(index.0.to_be_bytes());
    all.extend((handlers.len() as u16).to_be_bytes());
    all.extend((bytes.len() as u32).to_be_bytes());
    all.extend(lines.to_be_bytes());
    all.extend_from_slice(bytes);
    for rows in code.line_rows() {
        all.extend_from_slice(rows.as_flattened());
    }
    all.extend_from_slice(handlers.as_flattened());
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: &[u8] = include_bytes!("../../host/tests/fixtures/Shapes.class");

    #[test]
    fn partial_lists_equal_the_whole_one() {
        let class = ClassFile::read(SHAPES).expect("a class");
        let whole = code(&class, 0).expect("decoded");
        assert_eq!(whole[0], END);
        let (mut start, mut parts, mut lists) = (0, vec![END], 0);
        while u64::from(start) < END {
            let part = list(&class, start, 1).expect("decoded");
            parts.extend_from_slice(&part[1..]);
            start = part[0] as u32;
            lists += 1;
        }
        assert_eq!(parts, whole);
        assert!(lists >= class.methods().filter(Method::has_code).count());
        assert_eq!(code(&class, u32::MAX), Ok(vec![END]));
    }

    #[test]
    fn raw_code_comes_in_parts() {
        let class = ClassFile::read(SHAPES).expect("a class");
        let whole = raw_code(&class, 0);
        let number = |list: &[u8]| u32::from_be_bytes([list[0], list[1], list[2], list[3]]);
        let end = END as u32;
        assert_eq!(number(&whole), end);
        let (mut start, mut parts, mut lists) = (0, Vec::new(), 0);
        while start < end {
            let part = raw_list(&class, start, 1);
            parts.extend_from_slice(&part[4..]);
            start = number(&part);
            lists += 1;
        }
        assert_eq!(parts, whole[4..]);
        assert!(lists >= class.methods().filter(Method::has_code).count());
        assert_eq!(raw_code(&class, u32::MAX), end.to_be_bytes());
    }
}
