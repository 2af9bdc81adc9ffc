//! Stack effects of instructions without operands.

use jvms::opcode::*;

/// Returns the types popped, the deepest first, and pushed: `I`, `J`, `F`, `D`, and `A` for a reference. `None` for
/// instructions that need more than a table.
pub(super) fn effect(opcode: u8) -> Option<(&'static [u8], &'static [u8])> {
    let found: (&str, &str) = match opcode {
        NOP => ("", ""),
        ICONST_M1..=ICONST_5 => ("", "I"),
        LCONST_0 | LCONST_1 => ("", "J"),
        FCONST_0..=FCONST_2 => ("", "F"),
        DCONST_0 | DCONST_1 => ("", "D"),
        IADD | ISUB | IMUL | IDIV | IREM | ISHL | ISHR | IUSHR | IAND | IOR | IXOR => ("II", "I"),
        LADD | LSUB | LMUL | LDIV | LREM | LAND | LOR | LXOR => ("JJ", "J"),
        LSHL | LSHR | LUSHR => ("JI", "J"),
        FADD | FSUB | FMUL | FDIV | FREM => ("FF", "F"),
        DADD | DSUB | DMUL | DDIV | DREM => ("DD", "D"),
        INEG | I2B | I2C | I2S => ("I", "I"),
        LNEG => ("J", "J"),
        FNEG => ("F", "F"),
        DNEG => ("D", "D"),
        I2L => ("I", "J"),
        I2F => ("I", "F"),
        I2D => ("I", "D"),
        L2I => ("J", "I"),
        L2F => ("J", "F"),
        L2D => ("J", "D"),
        F2I => ("F", "I"),
        F2L => ("F", "J"),
        F2D => ("F", "D"),
        D2I => ("D", "I"),
        D2L => ("D", "J"),
        D2F => ("D", "F"),
        LCMP => ("JJ", "I"),
        FCMPL | FCMPG => ("FF", "I"),
        DCMPL | DCMPG => ("DD", "I"),
        IFEQ..=IFLE | TABLESWITCH | LOOKUPSWITCH | IRETURN => ("I", ""),
        IF_ICMPEQ..=IF_ICMPLE => ("II", ""),
        IF_ACMPEQ | IF_ACMPNE => ("AA", ""),
        IFNULL | IFNONNULL | MONITORENTER | MONITOREXIT => ("A", ""),
        GOTO | GOTO_W | RETURN => ("", ""),
        LRETURN => ("J", ""),
        FRETURN => ("F", ""),
        DRETURN => ("D", ""),
        _ => return None,
    };
    Some((found.0.as_bytes(), found.1.as_bytes()))
}
