//! Replacement class files: valid ones pass, and those that the JVM would reject are refused.

use jvms::opcode as op;
use rewriter::{
    CheckScratch, ClassEdit, ClassFile, EditPlan, NewField, ReplacementError, Scratch, Target,
    check_replacement, check_splice, splice,
};

use crate::fixtures::{ALL, SHAPES, STORAGE};
use crate::samples::summing;

/// Returns the class with a further attribute, so that it is another file of the same class.
fn other_file(bytes: &[u8]) -> Vec<u8> {
    let class = ClassFile::read(bytes).unwrap();
    let mut plan = EditPlan::new();
    let edit = ClassEdit::AddAttribute {
        target: Target::Class,
        name: "com.acme.Other".to_owned(),
        bytes: vec![1, 2, 3],
    };
    plan.edit_class(edit).unwrap();
    let mut out = Vec::new();
    splice(&class, &plan, &STORAGE, &mut Scratch::default(), &mut out).unwrap();
    check_splice(&class, &plan, &STORAGE, &out, &mut CheckScratch::default()).unwrap();
    out
}

fn replace(original: &[u8], bytes: &[u8]) -> Result<(), ReplacementError> {
    check_replacement(&ClassFile::read(original).unwrap(), bytes)
}

#[test]
fn another_file_of_the_same_class_can_replace_it() {
    for (name, bytes) in ALL {
        assert_eq!(replace(bytes, bytes), Ok(()), "{name}");
        assert_eq!(replace(bytes, &other_file(bytes)), Ok(()), "{name}");
    }
}

/// Returns the offset of a method's code array in the class file.
fn code_of(bytes: &[u8], name: &str) -> usize {
    let class = ClassFile::read(bytes).unwrap();
    let method = class.methods().find(|it| it.name() == name).unwrap();
    let code = method.code().unwrap().unwrap().bytes();
    code.as_ptr() as usize - bytes.as_ptr() as usize
}

fn patched(at: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = other_file(SHAPES);
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

fn with(edit: ClassEdit) -> Vec<u8> {
    let class = ClassFile::read(SHAPES).unwrap();
    let mut plan = EditPlan::new();
    plan.edit_class(edit).unwrap();
    let mut out = Vec::new();
    splice(&class, &plan, &STORAGE, &mut Scratch::default(), &mut out).unwrap();
    out
}

#[track_caller]
fn refused(bytes: &[u8], text: &str) {
    let told = replace(SHAPES, bytes).unwrap_err().to_string();
    assert!(told.contains(text), "expected {text:?}, found {told:?}");
}

#[test]
fn invalid_class_files_are_refused() {
    refused(b"", "not a class file");
    refused(b"nothing of the kind", "not a class file");
    for end in (0..SHAPES.len()).step_by(97) {
        refused(&SHAPES[..end], "not a class file");
    }
    let longer = [SHAPES, &[0]].concat();
    refused(&longer, "not a class file");
}

#[test]
fn another_shape_or_version_is_refused() {
    let (_, circle) = ALL
        .iter()
        .find(|(name, _)| *name == "Shapes$Circle")
        .unwrap();
    refused(circle, "the name of the class, Shapes, found Shapes$Circle");
    refused(
        &patched(7, &[70]),
        "the version of the class, 45.0 to 69.0, found 70.0",
    );
    assert_eq!(replace(SHAPES, &patched(7, &[68])), Ok(()));
    refused(&patched(4, &[0xff, 0xff]), "the version");
    refused(&patched(6, &[0, 44]), "45.0 to 69.0, found 44.0");
    refused(
        &with(ClassEdit::AddInterface("java/lang/Runnable".to_owned())),
        "the interfaces",
    );
    let field = NewField {
        flags: 0,
        name: "more".to_owned(),
        descriptor: "I".to_owned(),
        value: None,
    };
    refused(&with(ClassEdit::AddField(field)), "the fields");
    refused(&with(summing("more")), "the methods");
}

#[test]
fn code_that_the_verifier_would_refuse_is_refused() {
    // iinc 1 -1; iload_1; ifgt -4; iload_1; ireturn
    let start = code_of(&other_file(SHAPES), "loopAtStart");
    assert_eq!(other_file(SHAPES)[start..start + 2], [op::IINC, 1]);
    let code = |at: usize, new: &[u8]| patched(start + at, new);
    refused(&code(1, &[200]), "loopAtStart(I)I at bci 0");
    refused(&code(1, &[0]), "types fit in loopAtStart(I)I at bci 0");
    refused(
        &code(3, &[op::LLOAD_1]),
        "a local variable within max_locals",
    );
    refused(&code(3, &[op::ALOAD_0]), "types fit");
    refused(&code(3, &[op::NOP]), "types fit");
    refused(&code(5, &[0, 100]), "a branch to an instruction");
    refused(&code(5, &[0xff, 0xfd]), "a branch to an instruction");
    refused(&code(8, &[op::ARETURN]), "types fit");
    refused(&code(8, &[op::RETURN]), "types fit");
    refused(&code(8, &[op::NOP]), "ends with a return");
    refused(&code(8, &[0xfe]), "decoded");
    // max_stack and max_locals precede the length.
    refused(&patched(start - 8, &[0, 0]), "max_stack");
    refused(
        &patched(start - 6, &[0, 1]),
        "local variables for all arguments",
    );
}

#[test]
fn constants_and_attributes_that_the_jvm_would_refuse_are_refused() {
    let bytes = other_file(SHAPES);
    let find = |text: &[u8]| {
        let mut windows = bytes.windows(text.len());
        windows.position(|window| window == text).unwrap()
    };
    refused(&patched(find(b"isEmpty"), b"is;mpty"), "name of a member");
    let owner = find(b"java/lang/StringBuilder");
    refused(&patched(owner, b"java.lang"), "expected a valid class");
    refused(&patched(find(b"small"), &[0xff]), "a sound constant");
    let name = find(b"StackMapTable");
    refused(&patched(name, b"StackMapTablf"), "types that fit");
    let lines = find(b"LineNumberTable");
    assert_eq!(replace(SHAPES, &patched(lines, b"LineNumberTablf")), Ok(()));
    let source = find(b"SourceFile");
    refused(&patched(source, b"Deprecated"), "contents that follow JVMS");
}

#[test]
fn malformed_replacements_never_panic() {
    let (sound, mut passed) = (other_file(SHAPES), 0);
    for at in 0..sound.len() {
        for bit in [0x01, 0x80] {
            let mut bytes = sound.clone();
            bytes[at] ^= bit;
            passed += usize::from(replace(SHAPES, &bytes).is_ok());
        }
    }
    // Texts of strings, lines and the like may differ.
    assert!(
        passed > 100 && passed < sound.len(),
        "{passed} of {}",
        2 * sound.len()
    );
}
