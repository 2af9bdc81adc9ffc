//! Descriptions of class files from a compiler and from an attacker.

#[path = "support/command.rs"]
mod support;

use class_description::{Arena, DescribeError, describe};
use coverage::class::{ClassDescription, CodeDescription, Constant, Operand};
use support::Compiled;

const SHAPES: &str = "package a;
@Deprecated
class Shapes<T> implements Runnable {
    public void run() {}
    int sum(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += 1000;
        }
        return sum;
    }
    String name(int key) {
        switch (key) {
            case 1: return \"one\";
            case 3: return \"three\";
            default: return \"other\" + key;
        }
    }
    @Deprecated
    long risky(Object o) {
        try {
            return ((long[]) o)[0];
        } catch (ClassCastException e) {
            return 7L;
        }
    }
}
";

fn shapes() -> Vec<u8> {
    let compiled = Compiled::new(&[("a/Shapes.java", SHAPES)]);
    compiled.class("a/Shapes")
}

fn code<'c>(class: &ClassDescription<'c>, name: &str) -> &'c CodeDescription<'c> {
    let method = class.methods.iter().find(|method| method.name == name);
    method.unwrap().code.as_ref().unwrap()
}

fn operands<'c>(code: &CodeDescription<'c>) -> Vec<Operand<'c>> {
    let instructions = code.instructions.iter();
    instructions
        .map(|instruction| instruction.operand)
        .collect()
}

#[test]
fn class_and_methods_are_named() {
    let (bytes, arena) = (shapes(), Arena::new());
    let class = describe(&bytes, &arena).unwrap();
    assert_eq!(
        (class.name, class.super_name),
        ("a/Shapes", Some("java/lang/Object"))
    );
    assert_eq!(class.interfaces, ["java/lang/Runnable"]);
    assert_eq!(class.source_file, Some("Shapes.java"));
    assert_eq!(class.annotations, ["Ljava/lang/Deprecated;"]);
    assert!(class.signature.unwrap().starts_with("<T:"));
    let methods: Vec<_> = class
        .methods
        .iter()
        .map(|method| format!("{}{}", method.name, method.descriptor))
        .collect();
    assert_eq!(
        methods,
        [
            "<init>()V",
            "run()V",
            "sum(I)I",
            "name(I)Ljava/lang/String;",
            "risky(Ljava/lang/Object;)J"
        ]
    );
    assert_eq!(class.methods[4].annotations, ["Ljava/lang/Deprecated;"]);
}

#[test]
fn loop_has_its_jumps_increments_lines_and_variables() {
    let (bytes, arena) = (shapes(), Arena::new());
    let class = describe(&bytes, &arena).unwrap();
    let sum = code(&class, "sum");
    assert!(operands(sum).contains(&Operand::Iinc { local: 3, delta: 1 }));
    assert!(
        operands(sum).contains(&Operand::Iinc {
            local: 2,
            delta: 1000
        }),
        "a wide one"
    );
    let targets = operands(sum)
        .into_iter()
        .filter(|operand| matches!(operand, Operand::Target(_)));
    assert_eq!(targets.count(), 2);
    assert_eq!(sum.lines.first().unwrap().number, 6);
    let ranges = sum.local_variables.iter();
    let mut ranges: Vec<_> = ranges.map(|range| (range.start, range.length)).collect();
    ranges.sort_unstable();
    let [this, n, (2, of_sum), (4, of_i)] = ranges[..] else {
        panic!("{ranges:?}");
    };
    let end = sum.instructions.last().unwrap().bci + 1;
    assert_eq!((this, n), ((0, end), (0, end)));
    assert!(
        2 + of_sum == end && 4 + of_i < end - 1,
        "i ends with its loop: {ranges:?}"
    );
}

#[test]
fn switch_constant_and_call_site_are_resolved() {
    let (bytes, arena) = (shapes(), Arena::new());
    let class = describe(&bytes, &arena).unwrap();
    let name = code(&class, "name");
    let Some(Operand::Switch { cases, .. }) = operands(name)
        .into_iter()
        .find(|operand| matches!(operand, Operand::Switch { .. }))
    else {
        panic!("no switch in {name:?}");
    };
    assert_eq!(cases.first().unwrap().0, 1);
    assert!(operands(name).contains(&Operand::Constant(Constant::String("three"))));
    let Some(Operand::Dynamic(dynamic)) = operands(name)
        .into_iter()
        .find(|operand| matches!(operand, Operand::Dynamic(_)))
    else {
        panic!("no call site in {name:?}");
    };
    assert_eq!(
        dynamic.bootstrap.owner,
        "java/lang/invoke/StringConcatFactory"
    );
    assert_eq!(dynamic.arguments, [Constant::String("other\u{1}")]);
}

#[test]
fn handler_cast_and_long_constant_are_resolved() {
    let (bytes, arena) = (shapes(), Arena::new());
    let class = describe(&bytes, &arena).unwrap();
    let risky = code(&class, "risky");
    assert_eq!(
        risky.handlers[0].catch_type,
        Some("java/lang/ClassCastException")
    );
    assert!(operands(risky).contains(&Operand::Type("[J")));
    assert!(operands(risky).contains(&Operand::Constant(Constant::Long(7))));
}

/// Returns a class with one method of this code. Constant pool entry 7 is a string that repeats the three bytes `text`,
/// entry 9 a class name.
fn class_with_code(text: [u8; 3], code: &[u8]) -> Vec<u8> {
    let text_entry = |text: &[u8]| [&[1][..], &(text.len() as u16).to_be_bytes(), text].concat();
    let utf8 = |text: &str| text_entry(text.as_bytes());
    let pool = [
        utf8("A"),
        vec![7, 0, 1],
        utf8("m"),
        utf8("()V"),
        utf8("Code"),
        text_entry(&text.repeat(65_535 / 3)),
        vec![8, 0, 6],
        utf8("java/lang/Object"),
        vec![7, 0, 8],
    ];
    let attribute = [
        &[0, 9, 0, 9][..],
        &(code.len() as u32).to_be_bytes(),
        code,
        &[0, 0, 0, 0],
    ]
    .concat();
    [
        &[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 49, 0, 10][..],
        &pool.concat(),
        &[
            0, 0x21, 0, 2, 0, 9, 0, 0, 0, 0, 0, 1, 0, 9, 0, 3, 0, 4, 0, 1, 0, 5,
        ],
        &(attribute.len() as u32).to_be_bytes(),
        &attribute,
        &[0, 0],
    ]
    .concat()
}

#[test]
fn constant_named_over_and_over_does_not_fill_the_memory() {
    let ldc_pop = [0x12, 7, 0x57].repeat(20_000);
    // Half a character of two, which a Rust string has to escape.
    let surrogate = [0xED, 0xA0, 0x80];
    assert_eq!(
        describe(&class_with_code(surrogate, &ldc_pop), &Arena::new()),
        Err(DescribeError::TooLarge)
    );
    assert!(
        describe(
            &class_with_code(surrogate, &[0x12, 7, 0x57, 0xB1]),
            &Arena::new()
        )
        .is_ok()
    );
    // Text without escapes is not copied.
    assert!(describe(&class_with_code(*b"xyz", &ldc_pop), &Arena::new()).is_ok());
}

#[test]
fn wrong_operand_is_named_with_method_and_bci() {
    let error = describe(
        &class_with_code(*b"xyz", &[0x00, 0xBB, 0, 7, 0xB1]),
        &Arena::new(),
    )
    .unwrap_err(); // new, of a string
    assert_eq!(
        error.to_string(),
        "the instruction at bci 1 of m()V has no constant of the right kind as its operand"
    );
    let error = describe(
        &class_with_code(*b"xyz", &[0xA7, 0x80, 0, 0xB1]),
        &Arena::new(),
    )
    .unwrap_err(); // goto, before the code
    assert!(
        error.to_string().contains("no bci within the code"),
        "{error}"
    );
    assert!(
        describe(b"not a class", &Arena::new())
            .unwrap_err()
            .to_string()
            .contains("CAFEBABE")
    );
}
