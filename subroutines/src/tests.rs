use jvms::opcode::{
    ACONST_NULL, ASTORE_0, ASTORE_1, GOTO, GOTO_W, ICONST_0, IFEQ, JSR, JSR_W, LOOKUPSWITCH, NOP,
    POP, RET, RETURN, TABLESWITCH, WIDE,
};

use super::inline as inline_class;
use rewriter::ClassFile;

/// Contents of a table of the code.
struct Tables<'t> {
    handlers: &'t [[u8; 8]],
    lines: &'t [[u8; 4]],
    variables: &'t [[u8; 10]],
}

const NO_TABLES: Tables<'_> = Tables {
    handlers: &[],
    lines: &[],
    variables: &[],
};

fn counted<const N: usize>(rows: &[[u8; N]]) -> Vec<u8> {
    let mut bytes = (rows.len() as u16).to_be_bytes().to_vec();
    rows.iter().for_each(|row| bytes.extend(row));
    bytes
}

/// Creates a class with one method `()V` of this code.
fn class(major: u8, code: &[u8], tables: &Tables<'_>) -> Vec<u8> {
    let mut class = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, major, 0, 9, 7, 0, 2];
    let texts = [
        "A",
        "m",
        "()V",
        "Code",
        "LineNumberTable",
        "LocalVariableTable",
        "Other",
    ];
    for text in texts {
        class.extend([1, 0, text.len() as u8]);
        class.extend(text.as_bytes());
    }
    class.extend([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    let mut contents = vec![0, 2, 0, 4];
    contents.extend((code.len() as u32).to_be_bytes());
    contents.extend(code);
    contents.extend(counted(tables.handlers));
    let attributes = [
        (8, vec![1, 2, 3]),
        (6, counted(tables.lines)),
        (7, counted(tables.variables)),
    ];
    contents.extend([0, attributes.len() as u8]);
    for (name, rows) in attributes {
        contents.extend([0, name]);
        contents.extend((rows.len() as u32).to_be_bytes());
        contents.extend(rows);
    }
    class.extend([0, 8, 0, 3, 0, 4, 0, 1, 0, 5]);
    class.extend((contents.len() as u32).to_be_bytes());
    class.extend(contents);
    class.extend([0, 0]);
    class
}

/// Code, handlers, lines and local variables of the method after inlining.
type InlinedMethod = (Vec<u8>, Vec<[u8; 8]>, Vec<(u16, u16)>, Vec<(u16, u16)>);

fn inline(code: &[u8], tables: &Tables<'_>) -> Option<InlinedMethod> {
    let class = class(49, code, tables);
    let inlined = inline_class(&ClassFile::read(&class).unwrap())?;
    let inlined = ClassFile::read(&inlined).unwrap();
    let method = inlined.methods().next().unwrap();
    let code = method.code().unwrap().unwrap();
    assert!(code.attributes().all(|found| found.name != "Other"));
    let lines = code.lines().map(|line| (line.bci.0, line.number));
    let variables = code.local_variables().map(|it| (it.start.0, it.length));
    Some((
        code.bytes().to_vec(),
        code.exception_rows().to_vec(),
        lines.collect(),
        variables.collect(),
    ))
}

/// Returns the replacement of a call, with the distance from its end to its target.
fn call(distance: u8) -> [u8; 6] {
    [ACONST_NULL, GOTO_W, 0, 0, 0, distance + 5]
}

/// Returns the replacement of a return, with the distance back from its start.
fn back(distance: u8) -> [u8; 5] {
    [GOTO_W, 0xff, 0xff, 0xff, distance.wrapping_neg()]
}

fn code_of(code: &[u8]) -> Option<Vec<u8>> {
    inline(code, &NO_TABLES).map(|(code, ..)| code)
}

#[test]
fn each_call_gets_a_copy_after_the_method() {
    // 0: jsr 7; 3: jsr_w 7 …
    let code = [JSR, 0, 9, JSR_W, 0, 0, 0, 6, RETURN, ASTORE_0, NOP, RET, 0];
    let calls = [&call(7)[..], &call(8), &[RETURN]].concat();
    let copies = [&[ASTORE_0, NOP][..], &back(9), &[ASTORE_0, NOP], &back(10)].concat();
    assert_eq!(code_of(&code).unwrap(), [calls, copies].concat());
}

#[test]
fn code_without_a_call_and_newer_classes_stay_unchanged() {
    assert_eq!(code_of(&[NOP, RETURN]), None);
    // The byte of a `jsr` as the operand of another instruction.
    assert_eq!(code_of(&[WIDE, RET, 0, 0xa8, RETURN]), None);
    let newer = class(51, &[JSR, 0, 4, RETURN, ASTORE_0, RET, 0], &NO_TABLES);
    assert_eq!(inline_class(&ClassFile::read(&newer).unwrap()), None);
}

#[test]
fn nested_subroutines_are_copied_breadth_first_without_unreachable_code() {
    // 0: jsr 5; 3: return; 4: nop; 5: astore_0; 6: jsr 11; 9: ret 0; 11: astore_1; 12: ret 1
    let code = [
        JSR, 0, 5, RETURN, NOP, ASTORE_0, JSR, 0, 5, RET, 0, ASTORE_1, RET, 1,
    ];
    let expected = [
        [&call(1)[..], &[RETURN, ASTORE_0], &call(5), &back(8)].concat(),
        [&[ASTORE_1][..], &back(6)].concat(),
    ];
    assert_eq!(code_of(&code).unwrap(), expected.concat());
}

#[test]
fn recursive_and_endless_subroutines_stay_unchanged() {
    let itself = [JSR, 0, 4, RETURN, ASTORE_0, JSR, 0xff, 0xff, RET, 0];
    assert_eq!(code_of(&itself), None);
    assert_eq!(code_of(&[JSR, 0, 5, RET, 0, ASTORE_0, RET, 0]), None);
    assert_eq!(code_of(&[JSR, 0, 4, NOP, ASTORE_0, RET, 0]), None);
}

#[test]
fn shared_instructions_belong_to_the_outer_code() {
    // The subroutine branches into the method: 0: jsr 5; 3: nop; 4: return; 5: pop; 6: goto 4
    let code = [JSR, 0, 5, NOP, RETURN, POP, GOTO, 0xff, 0xfe];
    let expected = [&call(2)[..], &[NOP, RETURN, POP, GOTO, 0xff, 0xfe]].concat();
    assert_eq!(code_of(&code).unwrap(), expected);
    // The subroutine falls into the method: 0: jsr 6; 3: goto 7; 6: pop; 7: return
    assert_eq!(code_of(&[JSR, 0, 6, GOTO, 0, 4, POP, RETURN]), None);
}

#[test]
fn switches_move_with_their_padding() {
    for opcode in [TABLESWITCH, LOOKUPSWITCH] {
        // 0: jsr 4; 3: return; 4: astore_0; 5: iconst_0; 6: switch to 24 and 25; then ret 0 with a nop before it
        let mut code = vec![JSR, 0, 4, RETURN, ASTORE_0, ICONST_0, opcode, 0];
        code.extend(20_i32.to_be_bytes());
        match opcode {
            TABLESWITCH => code.extend([0, 0, 0, 7, 0, 0, 0, 7]),
            _ => code.extend([0, 0, 0, 1, 0, 0, 0, 7]),
        }
        code.extend(19_i32.to_be_bytes());
        code.extend([NOP, NOP, RET, 0]);
        code[11] -= 1;
        code[23] -= 1;
        let found = code_of(&code).unwrap();
        let mut expected = call(1).to_vec();
        expected.extend([RETURN, ASTORE_0, ICONST_0, opcode, 0, 0]);
        expected.extend(&code[8..24]);
        expected[15] += 1;
        expected[27] += 1;
        expected.extend([NOP, NOP]);
        expected.extend(back(24));
        assert_eq!(found, expected, "{opcode}");
    }
}

#[test]
fn tables_cover_each_copy() {
    // 0: jsr 8; 3: jsr 8; 6: nop; 7: return; 8: astore_0; 9: nop; 10: ret 0; 12: pop; 13: return
    let code = [
        JSR, 0, 8, JSR, 0, 5, NOP, RETURN, ASTORE_0, NOP, RET, 0, POP, RETURN,
    ];
    let tables = Tables {
        handlers: &[[0, 9, 0, 10, 0, 12, 0, 0]],
        lines: &[[0, 0, 0, 1], [0, 8, 0, 5], [0, 9, 0, 6], [0, 9, 0, 7]],
        variables: &[
            [0, 9, 0, 3, 0, 3, 0, 4, 0, 0],
            [0, 0, 0, 6, 0, 3, 0, 4, 0, 1],
        ],
    };
    let (code, handlers, lines, variables) = inline(&code, &tables).unwrap();
    let copy = [ASTORE_0, NOP, GOTO_W];
    assert_eq!((&code[14..17], &code[23..26]), (&copy[..], &copy[..]));
    let handler = |start, target| [0, start, 0, start + 1, 0, target, 0, 0];
    assert_eq!(handlers, [handler(15, 21), handler(24, 30)]);
    let expected = [(0, 1), (14, 5), (15, 6), (15, 7), (23, 5), (24, 6), (24, 7)];
    assert_eq!(lines, expected);
    assert_eq!(variables, [(0, 12), (15, 6), (24, 6)]);
}

#[test]
fn copies_beyond_the_limit_are_not_made() {
    // Eight subroutines, each of which calls the next one eight times, and the last has a nop.
    let mut code = vec![JSR, 0, 4, RETURN];
    for level in 0..8_u8 {
        code.push(ASTORE_0 + level % 4);
        for call in 0..8 {
            let distance = 3 * (8 - call) + 2;
            code.extend([JSR, 0, distance]);
        }
        code.extend([RET, level]);
    }
    code.extend([ASTORE_0, RET, 0]);
    assert_eq!(code_of(&code), None);
    // 0: iconst_0; 1: ifeq 32768, as far as it goes; 4: jsr 32769; …; 32768: return; astore_0; ret 0
    let mut code = vec![ICONST_0, IFEQ, 0x7f, 0xff, JSR, 0x7f, 0xfd];
    code.resize(32_768, NOP);
    code.extend([RETURN, ASTORE_0, RET, 0]);
    assert_eq!(code_of(&code), None);
}
