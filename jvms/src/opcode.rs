//! Instruction set of the Java virtual machine (JVMS 6.5).
//!
//! One table lists number, mnemonic, operand form and effect on the operand stack. Decoder, printer, encoder and stack
//! arithmetic derive from it.
#![cfg_attr(
    not(test),
    expect(
        clippy::indexing_slicing,
        reason = "tables of 256 entries, indexed with a byte or made by the compiler"
    )
)]

/// The operands that follow an opcode in the code array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// An unassigned opcode.
    Unassigned,
    /// No operand.
    None,
    /// No operand; pushes this `int`.
    Const(i8),
    /// No operand; accesses this local variable.
    Slot(u8),
    /// A signed byte.
    Byte,
    /// A signed short.
    Short,
    /// A local variable index: one byte, or two after `wide`.
    Local,
    /// A constant pool index of one byte (`ldc`).
    Pool1,
    /// A constant pool index of two bytes.
    Pool2,
    /// A constant pool index of a field reference; the descriptor determines the stack effect.
    Field,
    /// A constant pool index of a method reference; the descriptor determines the stack effect.
    Method,
    /// `invokeinterface`: pool index, count, zero.
    Interface,
    /// `invokedynamic`: pool index, two zeros.
    Dynamic,
    /// A signed 16-bit branch offset.
    Branch,
    /// A signed 32-bit branch offset.
    BranchWide,
    /// `iinc`: local variable and signed delta.
    Iinc,
    /// `newarray`: the element type.
    NewArray,
    /// `multianewarray`: pool index and number of dimensions.
    MultiNewArray,
    /// Padding, default, low, high and branch offsets.
    TableSwitch,
    /// Padding, default, count and pairs.
    LookupSwitch,
    /// A prefix that widens the operands of the next instruction.
    Wide,
}

impl Form {
    const fn length(self) -> u8 {
        match self {
            Form::Unassigned | Form::TableSwitch | Form::LookupSwitch | Form::Wide => 0,
            Form::None | Form::Const(_) | Form::Slot(_) => 1,
            Form::Byte | Form::Local | Form::Pool1 | Form::NewArray => 2,
            Form::Short | Form::Pool2 | Form::Field | Form::Method | Form::Branch | Form::Iinc => 3,
            Form::MultiNewArray => 4,
            Form::Interface | Form::Dynamic | Form::BranchWide => 5,
        }
    }
}

/// Defines opcodes: number, constant, mnemonic, operand form, slots popped, slots pushed.
macro_rules! opcodes {
    ($($code:literal $constant:ident $name:literal $form:ident $(($argument:literal))? $pop:literal $push:literal;)*) => {
        $(#[doc = concat!("`", $name, "`, ", $code, ".")] pub const $constant: u8 = $code;)*

        /// Operand form by opcode.
        static FORMS: [Form; 256] = {
            let mut table = [Form::Unassigned; 256];
            $(table[$code] = Form::$form $(($argument))?;)*
            table
        };
        static NAMES: [&str; 256] = {
            let mut table = [""; 256];
            $(table[$code] = $name;)*
            table
        };
        /// Slots popped and pushed; the effect of a descriptor is not included.
        static EFFECTS: [(u8, u8); 256] = {
            let mut table = [(0, 0); 256];
            $(table[$code] = ($pop, $push);)*
            table
        };
    };
}

opcodes! {
    0 NOP "nop" None 0 0;
    1 ACONST_NULL "aconst_null" None 0 1;
    2 ICONST_M1 "iconst_m1" Const(-1) 0 1;
    3 ICONST_0 "iconst_0" Const(0) 0 1;
    4 ICONST_1 "iconst_1" Const(1) 0 1;
    5 ICONST_2 "iconst_2" Const(2) 0 1;
    6 ICONST_3 "iconst_3" Const(3) 0 1;
    7 ICONST_4 "iconst_4" Const(4) 0 1;
    8 ICONST_5 "iconst_5" Const(5) 0 1;
    9 LCONST_0 "lconst_0" None 0 2;
    10 LCONST_1 "lconst_1" None 0 2;
    11 FCONST_0 "fconst_0" None 0 1;
    12 FCONST_1 "fconst_1" None 0 1;
    13 FCONST_2 "fconst_2" None 0 1;
    14 DCONST_0 "dconst_0" None 0 2;
    15 DCONST_1 "dconst_1" None 0 2;
    16 BIPUSH "bipush" Byte 0 1;
    17 SIPUSH "sipush" Short 0 1;
    18 LDC "ldc" Pool1 0 1;
    19 LDC_W "ldc_w" Pool2 0 1;
    20 LDC2_W "ldc2_w" Pool2 0 2;
    21 ILOAD "iload" Local 0 1;
    22 LLOAD "lload" Local 0 2;
    23 FLOAD "fload" Local 0 1;
    24 DLOAD "dload" Local 0 2;
    25 ALOAD "aload" Local 0 1;
    26 ILOAD_0 "iload_0" Slot(0) 0 1;
    27 ILOAD_1 "iload_1" Slot(1) 0 1;
    28 ILOAD_2 "iload_2" Slot(2) 0 1;
    29 ILOAD_3 "iload_3" Slot(3) 0 1;
    30 LLOAD_0 "lload_0" Slot(0) 0 2;
    31 LLOAD_1 "lload_1" Slot(1) 0 2;
    32 LLOAD_2 "lload_2" Slot(2) 0 2;
    33 LLOAD_3 "lload_3" Slot(3) 0 2;
    34 FLOAD_0 "fload_0" Slot(0) 0 1;
    35 FLOAD_1 "fload_1" Slot(1) 0 1;
    36 FLOAD_2 "fload_2" Slot(2) 0 1;
    37 FLOAD_3 "fload_3" Slot(3) 0 1;
    38 DLOAD_0 "dload_0" Slot(0) 0 2;
    39 DLOAD_1 "dload_1" Slot(1) 0 2;
    40 DLOAD_2 "dload_2" Slot(2) 0 2;
    41 DLOAD_3 "dload_3" Slot(3) 0 2;
    42 ALOAD_0 "aload_0" Slot(0) 0 1;
    43 ALOAD_1 "aload_1" Slot(1) 0 1;
    44 ALOAD_2 "aload_2" Slot(2) 0 1;
    45 ALOAD_3 "aload_3" Slot(3) 0 1;
    46 IALOAD "iaload" None 2 1;
    47 LALOAD "laload" None 2 2;
    48 FALOAD "faload" None 2 1;
    49 DALOAD "daload" None 2 2;
    50 AALOAD "aaload" None 2 1;
    51 BALOAD "baload" None 2 1;
    52 CALOAD "caload" None 2 1;
    53 SALOAD "saload" None 2 1;
    54 ISTORE "istore" Local 1 0;
    55 LSTORE "lstore" Local 2 0;
    56 FSTORE "fstore" Local 1 0;
    57 DSTORE "dstore" Local 2 0;
    58 ASTORE "astore" Local 1 0;
    59 ISTORE_0 "istore_0" Slot(0) 1 0;
    60 ISTORE_1 "istore_1" Slot(1) 1 0;
    61 ISTORE_2 "istore_2" Slot(2) 1 0;
    62 ISTORE_3 "istore_3" Slot(3) 1 0;
    63 LSTORE_0 "lstore_0" Slot(0) 2 0;
    64 LSTORE_1 "lstore_1" Slot(1) 2 0;
    65 LSTORE_2 "lstore_2" Slot(2) 2 0;
    66 LSTORE_3 "lstore_3" Slot(3) 2 0;
    67 FSTORE_0 "fstore_0" Slot(0) 1 0;
    68 FSTORE_1 "fstore_1" Slot(1) 1 0;
    69 FSTORE_2 "fstore_2" Slot(2) 1 0;
    70 FSTORE_3 "fstore_3" Slot(3) 1 0;
    71 DSTORE_0 "dstore_0" Slot(0) 2 0;
    72 DSTORE_1 "dstore_1" Slot(1) 2 0;
    73 DSTORE_2 "dstore_2" Slot(2) 2 0;
    74 DSTORE_3 "dstore_3" Slot(3) 2 0;
    75 ASTORE_0 "astore_0" Slot(0) 1 0;
    76 ASTORE_1 "astore_1" Slot(1) 1 0;
    77 ASTORE_2 "astore_2" Slot(2) 1 0;
    78 ASTORE_3 "astore_3" Slot(3) 1 0;
    79 IASTORE "iastore" None 3 0;
    80 LASTORE "lastore" None 4 0;
    81 FASTORE "fastore" None 3 0;
    82 DASTORE "dastore" None 4 0;
    83 AASTORE "aastore" None 3 0;
    84 BASTORE "bastore" None 3 0;
    85 CASTORE "castore" None 3 0;
    86 SASTORE "sastore" None 3 0;
    87 POP "pop" None 1 0;
    88 POP2 "pop2" None 2 0;
    89 DUP "dup" None 1 2;
    90 DUP_X1 "dup_x1" None 2 3;
    91 DUP_X2 "dup_x2" None 3 4;
    92 DUP2 "dup2" None 2 4;
    93 DUP2_X1 "dup2_x1" None 3 5;
    94 DUP2_X2 "dup2_x2" None 4 6;
    95 SWAP "swap" None 2 2;
    96 IADD "iadd" None 2 1;
    97 LADD "ladd" None 4 2;
    98 FADD "fadd" None 2 1;
    99 DADD "dadd" None 4 2;
    100 ISUB "isub" None 2 1;
    101 LSUB "lsub" None 4 2;
    102 FSUB "fsub" None 2 1;
    103 DSUB "dsub" None 4 2;
    104 IMUL "imul" None 2 1;
    105 LMUL "lmul" None 4 2;
    106 FMUL "fmul" None 2 1;
    107 DMUL "dmul" None 4 2;
    108 IDIV "idiv" None 2 1;
    109 LDIV "ldiv" None 4 2;
    110 FDIV "fdiv" None 2 1;
    111 DDIV "ddiv" None 4 2;
    112 IREM "irem" None 2 1;
    113 LREM "lrem" None 4 2;
    114 FREM "frem" None 2 1;
    115 DREM "drem" None 4 2;
    116 INEG "ineg" None 1 1;
    117 LNEG "lneg" None 2 2;
    118 FNEG "fneg" None 1 1;
    119 DNEG "dneg" None 2 2;
    120 ISHL "ishl" None 2 1;
    121 LSHL "lshl" None 3 2;
    122 ISHR "ishr" None 2 1;
    123 LSHR "lshr" None 3 2;
    124 IUSHR "iushr" None 2 1;
    125 LUSHR "lushr" None 3 2;
    126 IAND "iand" None 2 1;
    127 LAND "land" None 4 2;
    128 IOR "ior" None 2 1;
    129 LOR "lor" None 4 2;
    130 IXOR "ixor" None 2 1;
    131 LXOR "lxor" None 4 2;
    132 IINC "iinc" Iinc 0 0;
    133 I2L "i2l" None 1 2;
    134 I2F "i2f" None 1 1;
    135 I2D "i2d" None 1 2;
    136 L2I "l2i" None 2 1;
    137 L2F "l2f" None 2 1;
    138 L2D "l2d" None 2 2;
    139 F2I "f2i" None 1 1;
    140 F2L "f2l" None 1 2;
    141 F2D "f2d" None 1 2;
    142 D2I "d2i" None 2 1;
    143 D2L "d2l" None 2 2;
    144 D2F "d2f" None 2 1;
    145 I2B "i2b" None 1 1;
    146 I2C "i2c" None 1 1;
    147 I2S "i2s" None 1 1;
    148 LCMP "lcmp" None 4 1;
    149 FCMPL "fcmpl" None 2 1;
    150 FCMPG "fcmpg" None 2 1;
    151 DCMPL "dcmpl" None 4 1;
    152 DCMPG "dcmpg" None 4 1;
    153 IFEQ "ifeq" Branch 1 0;
    154 IFNE "ifne" Branch 1 0;
    155 IFLT "iflt" Branch 1 0;
    156 IFGE "ifge" Branch 1 0;
    157 IFGT "ifgt" Branch 1 0;
    158 IFLE "ifle" Branch 1 0;
    159 IF_ICMPEQ "if_icmpeq" Branch 2 0;
    160 IF_ICMPNE "if_icmpne" Branch 2 0;
    161 IF_ICMPLT "if_icmplt" Branch 2 0;
    162 IF_ICMPGE "if_icmpge" Branch 2 0;
    163 IF_ICMPGT "if_icmpgt" Branch 2 0;
    164 IF_ICMPLE "if_icmple" Branch 2 0;
    165 IF_ACMPEQ "if_acmpeq" Branch 2 0;
    166 IF_ACMPNE "if_acmpne" Branch 2 0;
    167 GOTO "goto" Branch 0 0;
    168 JSR "jsr" Branch 0 1;
    169 RET "ret" Local 0 0;
    170 TABLESWITCH "tableswitch" TableSwitch 1 0;
    171 LOOKUPSWITCH "lookupswitch" LookupSwitch 1 0;
    172 IRETURN "ireturn" None 1 0;
    173 LRETURN "lreturn" None 2 0;
    174 FRETURN "freturn" None 1 0;
    175 DRETURN "dreturn" None 2 0;
    176 ARETURN "areturn" None 1 0;
    177 RETURN "return" None 0 0;
    178 GETSTATIC "getstatic" Field 0 0;
    179 PUTSTATIC "putstatic" Field 0 0;
    180 GETFIELD "getfield" Field 1 0;
    181 PUTFIELD "putfield" Field 1 0;
    182 INVOKEVIRTUAL "invokevirtual" Method 1 0;
    183 INVOKESPECIAL "invokespecial" Method 1 0;
    184 INVOKESTATIC "invokestatic" Method 0 0;
    185 INVOKEINTERFACE "invokeinterface" Interface 1 0;
    186 INVOKEDYNAMIC "invokedynamic" Dynamic 0 0;
    187 NEW "new" Pool2 0 1;
    188 NEWARRAY "newarray" NewArray 1 1;
    189 ANEWARRAY "anewarray" Pool2 1 1;
    190 ARRAYLENGTH "arraylength" None 1 1;
    191 ATHROW "athrow" None 1 0;
    192 CHECKCAST "checkcast" Pool2 1 1;
    193 INSTANCEOF "instanceof" Pool2 1 1;
    194 MONITORENTER "monitorenter" None 1 0;
    195 MONITOREXIT "monitorexit" None 1 0;
    196 WIDE "wide" Wide 0 0;
    197 MULTIANEWARRAY "multianewarray" MultiNewArray 0 1;
    198 IFNULL "ifnull" Branch 1 0;
    199 IFNONNULL "ifnonnull" Branch 1 0;
    200 GOTO_W "goto_w" BranchWide 0 0;
    201 JSR_W "jsr_w" BranchWide 0 1;
}

static LENGTHS: [u8; 256] = {
    let mut table = [0; 256];
    let mut code = 0;
    while code < 256 {
        table[code] = FORMS[code].length();
        code += 1;
    }
    table
};

/// Flag in [`step`] for opcodes that a walk must inspect: branches, switches, `wide` and unassigned opcodes.
pub const SPECIAL: u8 = 0x80;

static STEPS: [u8; 256] = {
    let mut table = [SPECIAL; 256];
    let mut code = 0;
    while code < 256 {
        if !matches!(FORMS[code], Form::Branch | Form::BranchWide) && LENGTHS[code] != 0 {
            table[code] = LENGTHS[code];
        }
        code += 1;
    }
    table
};

static GENERAL_FORMS: [u8; 256] = {
    let mut table = [0; 256];
    let mut code = 0;
    while code < 256 {
        table[code] = match code as u8 {
            short @ ILOAD_0..=ALOAD_3 => ILOAD + (short - ILOAD_0) / 4,
            short @ ISTORE_0..=ASTORE_3 => ISTORE + (short - ISTORE_0) / 4,
            other => other,
        };
        code += 1;
    }
    table
};

/// Returns the operand form of `opcode`.
#[must_use]
#[inline]
pub fn form(opcode: u8) -> Form {
    FORMS[usize::from(opcode)]
}

/// Returns the mnemonic (JVMS 6.5); `None` for an unassigned opcode.
#[must_use]
pub fn mnemonic(opcode: u8) -> Option<&'static str> {
    Some(NAMES[usize::from(opcode)]).filter(|name| !name.is_empty())
}

/// Returns the stack slots popped and pushed by `opcode` (`long` and `double` take two). The effect of the descriptor
/// in its pool entry is not included.
#[must_use]
pub fn stack_effect(opcode: u8) -> (u8, u8) {
    EFFECTS[usize::from(opcode)]
}

/// Returns the length of the instruction, opcode included. 0 if it depends on more than the opcode, or the opcode is
/// unassigned.
#[must_use]
#[inline]
pub const fn length(opcode: u8) -> u8 {
    LENGTHS[opcode as usize]
}

/// Returns the length of the instruction, or [`SPECIAL`].
#[must_use]
#[inline]
pub fn step(opcode: u8) -> u8 {
    STEPS[usize::from(opcode)]
}

/// Returns the general form: `iload` for `iload_0` and the like, other opcodes unchanged.
#[must_use]
#[inline]
pub fn general_form(opcode: u8) -> u8 {
    GENERAL_FORMS[usize::from(opcode)]
}

/// Checks for a conditional branch (`if…`, `ifnull`, `ifnonnull`).
#[must_use]
#[inline]
pub fn is_conditional(opcode: u8) -> bool {
    matches!(opcode, IFEQ..=IF_ACMPNE | IFNULL | IFNONNULL)
}

/// Checks for a conditional branch, `goto` or `jsr`.
#[must_use]
#[inline]
pub fn is_branch(opcode: u8) -> bool {
    matches!(form(opcode), Form::Branch | Form::BranchWide)
}

/// Checks for `jsr` or `jsr_w`, which call a subroutine.
#[must_use]
#[inline]
pub fn is_subroutine_call(opcode: u8) -> bool {
    matches!(opcode, JSR | JSR_W)
}

/// Returns the conditional branch with the opposite condition; other opcodes unchanged.
#[must_use]
#[inline]
pub fn inverse(opcode: u8) -> u8 {
    match opcode {
        // Opposite conditions are pairs; the first of a pair is odd.
        IFEQ..=IF_ACMPNE if opcode & 1 == 1 => opcode.wrapping_add(1),
        IFEQ..=IF_ACMPNE => opcode.wrapping_sub(1),
        IFNULL | IFNONNULL => opcode ^ 1,
        _ => opcode,
    }
}

/// Checks for one of the six return instructions.
#[must_use]
#[inline]
pub fn is_return(opcode: u8) -> bool {
    matches!(opcode, IRETURN..=RETURN)
}

/// Checks for `tableswitch` or `lookupswitch`.
#[must_use]
#[inline]
pub fn is_switch(opcode: u8) -> bool {
    matches!(opcode, TABLESWITCH | LOOKUPSWITCH)
}

/// Checks whether control can pass from the instruction to the next one. A `jsr` counts as completing when its
/// subroutine returns.
#[must_use]
#[inline]
pub fn falls_through(opcode: u8) -> bool {
    !matches!(opcode, GOTO | GOTO_W | RET | ATHROW | TABLESWITCH..=RETURN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditional_branches_have_an_inverse() {
        for (one, other) in [
            (IFEQ, IFNE),
            (IFLT, IFGE),
            (IFGT, IFLE),
            (IF_ICMPEQ, IF_ICMPNE),
            (IF_ICMPLT, IF_ICMPGE),
            (IF_ICMPGT, IF_ICMPLE),
            (IF_ACMPEQ, IF_ACMPNE),
            (IFNULL, IFNONNULL),
        ] {
            assert_eq!((inverse(one), inverse(other)), (other, one));
        }
        assert_eq!(inverse(GOTO), GOTO);
    }

    /// The table holds a selection of 6.5, and the ends of its runs.
    #[test]
    fn table_agrees_with_the_specification() {
        assert_eq!(mnemonic(GOTO), Some("goto"));
        assert_eq!(
            (IF_ACMPNE, IFNONNULL, GETSTATIC, LXOR, JSR_W),
            (166, 199, 178, 131, 201)
        );
        assert_eq!((form(ALOAD_3), length(INVOKEINTERFACE)), (Form::Slot(3), 5));
        assert_eq!(mnemonic(202), None);
        assert_eq!(stack_effect(DUP2_X2), (4, 6));
        assert!(falls_through(IFEQ) && !falls_through(ARETURN) && !falls_through(GOTO));
        assert!(is_conditional(IFNULL) && !is_conditional(GOTO));
    }

    #[test]
    fn opcodes_are_assigned_without_gaps() {
        for opcode in 0..=u8::MAX {
            let assigned = opcode <= JSR_W;
            assert_eq!(mnemonic(opcode).is_some(), assigned, "{opcode}");
            assert_eq!(form(opcode) != Form::Unassigned, assigned, "{opcode}");
            let open = !assigned || matches!(opcode, TABLESWITCH | LOOKUPSWITCH | WIDE);
            assert_eq!(length(opcode) == 0, open, "{opcode}");
            let special = open || matches!(form(opcode), Form::Branch | Form::BranchWide);
            assert_eq!(step(opcode) == SPECIAL, special, "{opcode}");
        }
    }

    /// `iload_2` is `iload` of local variable 2, in name, effect and operand.
    #[test]
    fn short_forms_agree_with_general_forms() {
        for opcode in 0..=JSR_W {
            let general = general_form(opcode);
            let Form::Slot(slot) = form(opcode) else {
                assert_eq!(general, opcode);
                continue;
            };
            let name = mnemonic(general).unwrap();
            assert_eq!(mnemonic(opcode), Some(format!("{name}_{slot}").as_str()));
            assert_eq!(stack_effect(opcode), stack_effect(general));
            assert_eq!(form(general), Form::Local);
        }
    }
}
