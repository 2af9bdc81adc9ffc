use jvms::access_flags::ACC_SYNTHETIC;
use jvms::opcode;

use super::*;
use crate::analysis::{analyze, analyze_as};
use crate::class::{CodeDescription, Handler, Instruction, Line, MemberRef, Operand};
use crate::model::Counter;

/// Parses one instruction per line, `name operand…`; its bci is ten times its line number. A number after a jump is
/// the number of an instruction, and a preceding `line N` sets the line of the next instruction.
fn code(text: &str) -> CodeDescription<'_> {
    let (mut lines, mut instructions) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split(' ').collect();
        let bci = instructions.len() as u16 * 10;
        match words.as_slice() {
            ["line", number] => lines.push(Line {
                bci,
                number: number.parse().expect("a line"),
            }),
            [name, operands @ ..] => instructions.push(instruction(bci, name, operands)),
            [] => {}
        }
    }
    CodeDescription {
        instructions: instructions.leak(),
        lines: lines.leak(),
        ..CodeDescription::default()
    }
}

fn instruction<'a>(bci: u16, name: &str, operands: &[&'a str]) -> Instruction<'a> {
    let number = |index: usize| operands[index].parse::<u16>().expect("a number");
    let member = || {
        Operand::Member(Box::leak(Box::new(MemberRef {
            owner: operands[0],
            name: operands[1],
            descriptor: operands[2],
            interface: false,
        })))
    };
    let operand = match name {
        "iload" | "aload" | "istore" | "astore" => Operand::Local(number(0)),
        "aload_0" => Operand::Local(0),
        "ifeq" | "ifne" | "ifnull" | "goto" => Operand::Target(10 * number(0)),
        "lookupswitch" => Operand::Switch {
            default: 10 * number(0),
            cases: (1..operands.len())
                .map(|case| (case as i32, 10 * number(case)))
                .collect::<Vec<_>>()
                .leak(),
        },
        "getstatic" | "putstatic" | "invokevirtual" | "invokespecial" | "invokestatic" => member(),
        "new" => Operand::Type(operands[0]),
        _ => Operand::None,
    };
    let opcode = (0..=u8::MAX).find(|code| opcode::mnemonic(*code) == Some(name));
    Instruction {
        bci,
        opcode: opcode.expect("an instruction"),
        operand,
    }
}

/// Creates a handler; start, end and target are numbers of instructions.
fn handler(start: u16, end: u16, target: u16, catch_type: Option<&str>) -> Handler<'_> {
    Handler {
        start: 10 * start,
        end: 10 * end,
        target: 10 * target,
        catch_type,
    }
}

fn method<'a>(
    name: &'a str,
    descriptor: &'a str,
    access_flags: u16,
    code: CodeDescription<'a>,
) -> MethodDescription<'a> {
    MethodDescription {
        name,
        descriptor,
        access_flags,
        code: Some(code),
        ..Default::default()
    }
}

fn class<'a>(super_name: &'a str, method: MethodDescription<'a>) -> ClassDescription<'a> {
    ClassDescription {
        name: "p/C",
        super_name: Some(super_name),
        methods: vec![method].leak(),
        ..Default::default()
    }
}

/// Returns the class with these annotations on its method.
fn annotated<'a>(class: ClassDescription<'a>, annotations: &'a [&'a str]) -> ClassDescription<'a> {
    let method = MethodDescription {
        annotations,
        ..class.methods[0]
    };
    ClassDescription {
        methods: vec![method].leak(),
        ..class
    }
}

fn run(code: CodeDescription<'_>) -> ClassDescription<'_> {
    class("java/lang/Object", method("run", "()V", 0, code))
}

/// Checks that exactly these filters apply, and that this many instructions and branches are left.
fn check(class: &ClassDescription<'_>, filters: &[&str], instructions: u32, branches: u32) {
    let found: Vec<_> = findings(class)
        .iter()
        .map(|finding| finding.filter.name)
        .collect();
    assert_eq!(found, filters);
    let counters = analyze(class, None)
        .expect("no probes fit every class")
        .counters;
    assert_eq!(
        counters.instruction,
        Counter::new(instructions, 0),
        "instructions"
    );
    assert_eq!(counters.branch, Counter::new(branches, 0), "branches");
}

#[test]
fn every_filter_has_a_unique_name_and_a_description() {
    let all = || ALL.iter().chain(OF_SOURCE);
    let mut names: Vec<_> = all().map(|filter| filter.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all().count());
    assert!(all().all(|filter| filter.doc.ends_with('.')));
}

#[test]
fn document_names_every_filter_and_no_other() {
    let document = include_str!("../../FILTERS.md");
    let rows = ALL
        .iter()
        .chain(OF_SOURCE)
        .map(|filter| (filter.name, filter.doc));
    let rows: Vec<_> = rows
        .map(|(name, doc)| format!("| `{name}` | {doc} |"))
        .collect();
    let found: Vec<_> = document
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    assert_eq!(found, rows);
}

#[test]
fn access_flags_leave_out_whole_methods() {
    let plain = || code("nop\nreturn");
    check(&run(plain()), &[], 2, 0);
    check(
        &class("x/Y", method("run", "()V", 0x40, plain())),
        &["bridge"],
        0,
        0,
    );
    check(
        &class("x/Y", method("access$000", "()V", ACC_SYNTHETIC, plain())),
        &["synthetic"],
        0,
        0,
    );
    check(
        &class("x/Y", method("lambda$run$0", "()V", ACC_SYNTHETIC, plain())),
        &[],
        2,
        0,
    );
    let mut synthetic = run(plain());
    synthetic.access_flags = ACC_SYNTHETIC;
    check(&synthetic, &["synthetic-class"], 0, 0);
}

/// A method of a Kotlin class that fills in default arguments; its line starts at the return.
fn overload(leave: &str) -> ClassDescription<'static> {
    let text =
        format!("aload_0\niconst_1\naconst_null\ninvokestatic p/C f$default (I)V\nline 3\n{leave}");
    let mut class = class("java/lang/Object", method("f", "()V", 0, code(text.leak())));
    class.annotations = &["Lkotlin/Metadata;"];
    class.source_file = Some("C.kt");
    class
}

#[test]
fn overload_is_left_out_except_its_return_of_a_value() {
    let nothing = overload("return");
    check(&nothing, &["kotlin-without-lines", "kotlin-overload"], 0, 0);
    let value = annotated(overload("areturn"), &["Lkotlin/jvm/JvmOverloads;"]);
    check(&value, &["kotlin-without-lines"], 1, 0);
}

#[test]
fn synthetic_methods_of_kotlin_are_kept() {
    let mut class = class(
        "x/Y",
        method("run$default", "()V", ACC_SYNTHETIC, code("nop\nreturn")),
    );
    class.annotations = &["Lkotlin/Metadata;"];
    check(&class, &[], 2, 0);
}

#[test]
fn only_the_simple_name_of_an_annotation_counts() {
    for (annotation, filters, left) in [
        ("Lp/MyGenerated;", &["annotation-generated"] as &[&str], 0),
        ("Lp/Outer$GeneratedCode;", &["annotation-generated"], 0),
        ("Lp/Generated/Other;", &[], 2),
        ("Lp/generated;", &[], 2),
    ] {
        let annotations = [annotation];
        let class = annotated(run(code("nop\nreturn")), &annotations);
        check(&class, filters, left, 0);
    }
}

#[test]
fn constructors_with_code_are_kept() {
    let empty = "aload_0\ninvokespecial x/Y <init> ()V\nreturn";
    let private = |code| class("x/Y", method("<init>", "()V", 2, code));
    check(&private(code(empty)), &["private-empty-constructor"], 0, 0);
    check(
        &private(code(&empty.replace("return", "nop\nreturn"))),
        &[],
        4,
        0,
    );
    check(
        &class("x/Y", method("<init>", "()V", 1, code(empty))),
        &[],
        3,
        0,
    );
    let enumeration = "aload_0\naload 1\niload 2\ninvokespecial java/lang/Enum <init> (Ljava/lang/String;I)V\nreturn";
    let of_enum =
        |name, descriptor, code| class("java/lang/Enum", method(name, descriptor, 2, code));
    check(
        &of_enum("<init>", "(Ljava/lang/String;I)V", code(enumeration)),
        &["enum-empty-constructor"],
        0,
        0,
    );
    check(
        &of_enum("values", "()[Lp/C;", code("nop\nreturn")),
        &["enum-methods"],
        0,
        0,
    );
    check(
        &of_enum("values", "()[Lp/D;", code("nop\nreturn")),
        &[],
        2,
        0,
    );
}

#[test]
fn test_of_the_assertion_status_is_left_out_and_the_condition_kept() {
    check(
        &run(code(
            "nop\ngetstatic p/C $assertionsDisabled Z\nifne 4\nnop\nreturn",
        )),
        &["assert"],
        4,
        0,
    );
    check(
        &run(code(
            "nop\ngetstatic p/D $assertionsDisabled Z\nifne 4\nnop\nreturn",
        )),
        &[],
        5,
        2,
    );
}

#[test]
fn handler_of_a_synchronized_block_is_left_out() {
    let mut text = code(
        "nop\naload 1\nmonitorexit\ngoto 9\nastore 2\naload 1\nmonitorexit\naload 2\nathrow\nreturn",
    );
    text.handlers = vec![handler(0, 3, 4, None), handler(4, 7, 4, None)].leak();
    check(&run(text), &["synchronized"], 5, 0);
}

#[test]
fn copies_of_a_finally_block_are_counted_once_and_covered_together() {
    // The block is the single `ldc`, at 1 and at 4.
    let mut text = code("nop\nldc\ngoto 7\nastore 1\nldc\naload 1\nathrow\nreturn");
    text.handlers = vec![handler(0, 1, 3, None)].leak();
    let class = run(text);
    check(&class, &["finally"], 3, 0);
    // The probes are the throw and the return.
    let thrown = analyze(&class, Some(&[true, false])).expect("two probes");
    assert_eq!(thrown.counters.instruction, Counter::new(2, 1));
}

#[test]
fn switch_on_strings_of_javac_keeps_the_second_switch() {
    let text = "iconst_m1\nistore 2\naload 1\ninvokevirtual java/lang/String hashCode ()I\nlookupswitch 11 5
        aload 1\nldc\ninvokevirtual java/lang/String equals (Ljava/lang/Object;)Z\nifeq 11\niconst_0\nistore 2
        iload 2\nlookupswitch 14 13\nreturn\nreturn";
    check(&run(code(text)), &["string-switch-javac"], 4 + 4, 2);
    let other_variable = text.replace("istore 2\n        iload 2", "istore 3\n        iload 3");
    check(&run(code(&other_variable)), &[], 15, 6);
}

#[test]
fn switch_on_strings_of_other_compilers_becomes_one_switch() {
    let text =
        "aload 1\nastore 2\naload 2\ninvokevirtual java/lang/String hashCode ()I\nlookupswitch 10 5
        aload 2\nldc\ninvokevirtual java/lang/String equals (Ljava/lang/Object;)Z\nifne 11\ngoto 10
        return\nreturn";
    check(&run(code(text)), &["string-switch"], 4, 2);
}

#[test]
fn impossible_default_is_no_branch_unless_it_is_on_another_line() {
    let text = "line 1\nlookupswitch 2 1 1 8\nreturn\nnew java/lang/MatchException\ndup\naconst_null
        aconst_null\ninvokespecial java/lang/MatchException <init> (Ljava/lang/String;Ljava/lang/Throwable;)V\nathrow\nreturn";
    check(&run(code(text)), &["exhaustive-switch"], 3, 2);
    let written = text.replace("new java", "line 2\nnew java");
    check(&run(code(&written)), &[], 9, 3);
}

#[test]
fn closing_of_a_resource_by_javac_8_is_left_out() {
    let suppress = "invokevirtual java/lang/Throwable addSuppressed (Ljava/lang/Throwable;)V";
    let close = |at: u16, t: u16, end: u16| {
        format!(
            "aload 2\nifnull {end}\naload 3\nifnull {}\naload 2\ninvokevirtual x/R close ()V\ngoto {end}
            astore {t}\naload 3\naload {t}\n{suppress}\ngoto {end}\naload 2\ninvokevirtual x/R close ()V",
            at + 12
        )
    };
    let text = format!(
        "nop\n{}\ngoto 38\nastore 4\naload 4\nastore 3\naload 4\nathrow\nastore 5\n{}\naload 5\nathrow\nreturn",
        close(1, 6, 38),
        close(22, 7, 36),
    );
    let mut text = code(text.leak());
    text.handlers = vec![
        handler(0, 1, 16, Some("java/lang/Throwable")),
        handler(0, 1, 21, None),
        handler(16, 22, 21, None),
    ]
    .leak();
    check(&run(text), &["try-with-resources-javac", "finally"], 2, 0);
}

/// Code that matches a record and tests its component with a jump to this instruction.
fn record_pattern(jump: &str) -> ClassDescription<'static> {
    let text = format!(
        "aload_0\ninstanceof\nifeq 9\naload_0\ninvokevirtual p/R c ()Ljava/lang/Object;\nastore 2\naload 2\n\
         instanceof\n{jump}\niconst_0\nireturn\nastore 1\nnew java/lang/MatchException\ndup\naload 1\n\
         invokevirtual java/lang/Throwable toString ()Ljava/lang/String;\naload 1\n\
         invokespecial java/lang/MatchException <init> (Ljava/lang/String;Ljava/lang/Throwable;)V\nathrow"
    );
    let handlers = vec![handler(4, 5, 11, Some("java/lang/Throwable"))];
    run(CodeDescription {
        handlers: handlers.leak(),
        ..code(text.leak())
    })
}

#[test]
fn record_pattern_has_two_branches_where_the_source_counts() {
    let class = record_pattern("ifeq 9");
    let counters = |counting| analyze_as(counting, &class, None, &[]).expect("it has no probes");
    let all = counters(Counting::Jacoco).counters;
    let of_source = counters(Counting::Source).counters;
    assert_eq!(all.branch, Counter::new(4, 0));
    assert_eq!(of_source.branch, Counter::new(2, 0));
    assert_eq!(all.instruction.total() - of_source.instruction.total(), 3);
}

#[test]
fn endless_test_of_a_component_terminates() {
    let class = record_pattern("ifne 3");
    let coverage = analyze_as(Counting::Source, &class, None, &[]).expect("it has no probes");
    assert_eq!(coverage.counters.branch, Counter::new(2, 0));
}
