//! Detects exception handlers that ignore their exception.

use jvms::instruction::{length_at, switch_layout};
use jvms::opcode::{
    ALOAD, ASTORE, DSTORE, GOTO, GOTO_W, IINC, ISTORE, JSR, JSR_W, LSTORE, POP, RET, WIDE,
    falls_through, general_form, is_conditional, is_switch,
};

/// Checks whether the handler at `handler` drops its exception. Such a handler pops the exception,
/// or stores it in a local variable that no reachable code reads. Returns `false` for code that
/// cannot be decoded.
#[must_use]
pub fn swallows(code: &[u8], handler: usize) -> bool {
    match local(code, handler) {
        Some((ASTORE, slot)) => {
            let next = length_at(code, handler).and_then(|length| handler.checked_add(length));
            next.is_some_and(|next| is_read(code, next, slot) == Some(false))
        }
        _ => code.get(handler) == Some(&POP),
    }
}

/// Returns the general opcode and the slot of an instruction that accesses a local variable.
fn local(code: &[u8], at: usize) -> Option<(u8, usize)> {
    let opcode = *code.get(at)?;
    if opcode == WIDE {
        let slot = code.get(at.checked_add(2)?..)?.first_chunk()?;
        return Some((
            *code.get(at.checked_add(1)?)?,
            u16::from_be_bytes(*slot).into(),
        ));
    }
    let general = general_form(opcode);
    if general != opcode {
        // The short forms come in groups of four for each type (JVMS 6.5).
        let first = (0..=opcode).find(|one| *one != general && general_form(*one) == general)?;
        return Some((general, usize::from(opcode.checked_sub(first)?)));
    }
    let takes = matches!(opcode, IINC | RET) || is_store(opcode) || is_load(opcode);
    let slot = code.get(at.checked_add(1)?).copied();
    slot.filter(|_| takes).map(|slot| (opcode, slot.into()))
}

fn is_store(opcode: u8) -> bool {
    (ISTORE..=ASTORE).contains(&opcode)
}

fn is_load(opcode: u8) -> bool {
    (jvms::opcode::ILOAD..=ALOAD).contains(&opcode)
}

/// Checks whether some path from `begin` reads a slot before it overwrites the slot. Returns `None`
/// for code that cannot be decoded.
fn is_read(code: &[u8], begin: usize, slot: usize) -> Option<bool> {
    let mut seen = vec![false; code.len()];
    let mut ways = vec![begin];
    while let Some(at) = ways.pop() {
        if std::mem::replace(seen.get_mut(at)?, true) {
            continue;
        }
        let opcode = *code.get(at)?;
        match local(code, at) {
            Some((ALOAD, read)) if read == slot => return Some(true),
            Some((RET, _)) => return None,
            Some((LSTORE | DSTORE, written))
                if (written..=written.checked_add(1)?).contains(&slot) =>
            {
                continue;
            }
            Some((store, written)) if is_store(store) && written == slot => continue,
            _ => {}
        }
        if matches!(opcode, JSR | JSR_W) {
            return None; // a subroutine may read it
        }
        let length = length_at(code, at)?;
        if is_switch(opcode) {
            for distance in switch_layout(code, at)?.distances() {
                ways.push(target(code, at, distance, 4)?);
            }
        } else if is_conditional(opcode) || opcode == GOTO {
            ways.push(target(code, at, at.checked_add(1)?, 2)?);
        } else if opcode == GOTO_W {
            ways.push(target(code, at, at.checked_add(1)?, 4)?);
        }
        if falls_through(opcode) {
            ways.push(at.checked_add(length)?);
        }
    }
    Some(false)
}

/// The target of a jump whose offset of 2 or 4 bytes is at `distance`.
fn target(code: &[u8], at: usize, distance: usize, bytes: usize) -> Option<usize> {
    let distance = match bytes {
        2 => i16::from_be_bytes(*code.get(distance..)?.first_chunk()?).into(),
        _ => i32::from_be_bytes(*code.get(distance..)?.first_chunk()?),
    };
    at.checked_add_signed(isize::try_from(distance).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvms::opcode::{ATHROW, IFNULL, ILOAD, INVOKEVIRTUAL, NOP, RETURN};

    /// Opcodes of the short forms, such as `astore_1` and `aload_1`.
    const ASTORE_1: u8 = 76;
    const ALOAD_1: u8 = 43;
    const LSTORE_0: u8 = 63;
    const ALOAD_2: u8 = 44;

    #[test]
    fn exception_that_no_path_reads_is_swallowed() {
        for (code, swallowed) in [
            (&[POP, RETURN][..], true),
            (&[ASTORE_1, RETURN], true),
            (&[ASTORE, 1, ALOAD_2, POP, RETURN], true),
            (&[ASTORE_1, ALOAD_1, ATHROW], false),
            (&[ASTORE_1, ALOAD, 1, INVOKEVIRTUAL, 0, 1, RETURN], false),
            (&[ASTORE_1, WIDE, ALOAD, 0, 1, ATHROW], false),
            (&[WIDE, ASTORE, 1, 4, WIDE, ALOAD, 1, 4, ATHROW], false),
            (&[WIDE, ASTORE, 1, 4, ALOAD, 4, ATHROW], true),
            (&[INVOKEVIRTUAL, 0, 1, RETURN], false),
            (&[ATHROW], false),
            // one of two paths reads it
            (
                &[ASTORE_1, ALOAD_2, IFNULL, 0, 5, ALOAD_1, ATHROW, RETURN],
                false,
            ),
            // an instruction that takes two slots overwrites it first
            (&[ASTORE_1, ALOAD_2, ASTORE_1, ALOAD_1, ATHROW], true),
            (&[ASTORE_1, LSTORE_0, ALOAD_1, ATHROW], true),
            // an infinite loop
            (&[ASTORE_1, GOTO, 0, 0], true),
            // an instruction of another type does not read it
            (&[ASTORE_1, ILOAD, 1, RETURN], true),
            // invalid code, or a jump out of the code
            (&[ASTORE_1, GOTO, 0, 99], false),
            (&[ASTORE_1, NOP], false),
            (&[ASTORE], false),
            (&[], false),
        ] {
            assert_eq!(swallows(code, 0), swallowed, "{code:?}");
        }
        assert!(!swallows(&[POP], usize::MAX));
    }
}
