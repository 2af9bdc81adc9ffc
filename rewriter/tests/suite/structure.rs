//! Edits of a class's structure.

use std::fmt::Write as _;

use jvms::opcode;
use rewriter::{
    Annotation, Assemble, CheckScratch, ClassEdit, ClassFile, Constant, EditPlan, ElementValue,
    MethodIndex, NewField, PlanBuilder, PlanError, PoolIndex, PrefixedNative, Scratch, Snippet,
    SpliceReport, StructureError, Target, check_splice, splice,
};

use crate::class_builder;
use crate::fixtures::{ALL, SHAPES, STORAGE};
use crate::program::class_with;
use crate::samples::{member, summing};

/// Returns the class after `plan`; the output has passed the self-check.
fn spliced(bytes: &[u8], plan: &EditPlan) -> (Vec<u8>, SpliceReport) {
    let class = ClassFile::read(bytes).unwrap();
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    let report = splice(&class, plan, &STORAGE, &mut scratch, &mut out).unwrap();
    check_splice(&class, plan, &STORAGE, &out, &mut CheckScratch::default()).unwrap();
    (out, report)
}

fn edited(bytes: &[u8], edits: &[ClassEdit]) -> Vec<u8> {
    let mut plan = EditPlan::new();
    for edit in edits {
        plan.edit_class(edit.clone()).unwrap();
    }
    let (out, report) = spliced(bytes, &plan);
    assert_eq!(report.refused, None);
    assert_eq!(report.class_edits as usize, edits.len());
    out
}

fn refusal(bytes: &[u8], edits: &[ClassEdit]) -> StructureError {
    let mut plan = EditPlan::new();
    for edit in edits {
        plan.edit_class(edit.clone()).unwrap();
    }
    let (out, report) = spliced(bytes, &plan);
    assert_eq!(out, bytes, "the class is left as it is");
    report.refused.unwrap()
}

fn text(bytes: &[u8]) -> String {
    let mut text = String::new();
    class_text::class(&ClassFile::read(bytes).unwrap(), &mut text).unwrap();
    text
}

fn field(name: &str, descriptor: &str, value: Option<Constant>) -> ClassEdit {
    ClassEdit::AddField(NewField {
        flags: 0x0019,
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
        value,
    })
}

fn annotation(target: Target, visible: bool) -> ClassEdit {
    let element = |name: &str, value| (name.to_owned(), value);
    ClassEdit::AddAnnotation {
        target,
        visible,
        annotation: Annotation {
            descriptor: "Lsample/Marked;".to_owned(),
            elements: vec![
                element("text", ElementValue::String("é\0😀".to_owned())),
                element("number", ElementValue::Long(-1)),
                element(
                    "many",
                    ElementValue::Array(vec![
                        ElementValue::Class("[I".to_owned()),
                        ElementValue::Enum {
                            descriptor: "Lsample/E;".to_owned(),
                            constant: "ONE".to_owned(),
                        },
                    ]),
                ),
            ],
        },
    }
}

#[test]
fn only_the_added_members_change() {
    for (name, bytes) in ALL {
        let class = ClassFile::read(bytes).unwrap();
        let interface = class.access_flags() & 0x0200 != 0;
        let mut edits = vec![
            field("added", "I", Some(Constant::Integer(7))),
            field(
                "words",
                "Ljava/lang/String;",
                Some(Constant::Text("w".to_owned())),
            ),
            ClassEdit::AddInterface("java/io/Serializable".to_owned()),
            annotation(Target::Class, true),
            annotation(Target::Class, false),
            ClassEdit::AddAttribute {
                target: Target::Class,
                name: "sample.Note".to_owned(),
                bytes: vec![1, 2, 3],
            },
        ];
        // An element has one annotation of each type, whether visible or not.
        edits.remove(4);
        if !interface || class.major_version() >= 52 {
            edits.push(summing("summed"));
        }
        for method in class.methods() {
            edits.push(annotation(Target::Method(method.index()), true));
        }
        for field in class.fields() {
            edits.push(annotation(
                Target::Field {
                    name: field.name().to_string(),
                    descriptor: field.descriptor().to_string(),
                },
                false,
            ));
        }
        let out = edited(bytes, &edits);
        let after = ClassFile::read(&out).unwrap();
        let fields: Vec<_> = after
            .fields()
            .map(|field| field.name().to_string())
            .collect();
        assert!(
            fields.ends_with(&["added".to_owned(), "words".to_owned()]),
            "{name}"
        );
        assert_eq!(after.interfaces().last().unwrap(), "java/io/Serializable");
        assert_eq!(after.annotations().last().unwrap(), "Lsample/Marked;");
        assert_eq!(
            after
                .attributes()
                .filter(|found| found.name == "sample.Note")
                .count(),
            1
        );
        for (before, after) in class.methods().zip(after.methods()) {
            assert_eq!(
                before.annotations().count() + 1,
                after.annotations().count()
            );
            assert_eq!(
                before.code_attribute().map(|code| code.bytes),
                after.code_attribute().map(|code| code.bytes)
            );
        }
    }
}

#[test]
fn a_type_keeps_its_name_in_strings_that_share_the_text() {
    // A string constant `Shapes` and the class Shapes have one text.
    let renamed = edited(
        SHAPES,
        &[
            ClassEdit::RenameType {
                from: "Shapes".to_owned(),
                to: "other/Forms".to_owned(),
            },
            ClassEdit::RenameType {
                from: "Shapes$Circle".to_owned(),
                to: "other/Forms$Disc".to_owned(),
            },
        ],
    );
    let class = ClassFile::read(&renamed).unwrap();
    assert_eq!(class.this_class(), "other/Forms");
    let before = ClassFile::read(SHAPES).unwrap();
    let strings = |class: &ClassFile<'_>| -> Vec<String> {
        (1..before.pool().count())
            .filter_map(|index| class.pool().string(rewriter::PoolIndex(index)))
            .map(|text| text.to_string())
            .collect()
    };
    assert_eq!(strings(&before), strings(&class));
    let names = text(&renamed);
    for line in names.lines().filter(|line| !line.contains("String ")) {
        let old = |name: &str| {
            line.match_indices(name).any(|(at, _)| {
                let end = line[at + name.len()..].chars().next();
                !line[..at].ends_with("SourceFile: \"")
                    && !end.is_some_and(|c| c == '$' || c == '.' || c.is_alphanumeric())
            })
        };
        assert!(!old("Shapes$Circle"), "{line}");
        assert!(
            !line.contains("Shapes;") && !line.contains("class Shapes "),
            "{line}"
        );
    }
    assert!(names.contains("Disc"), "{names}");
}

#[test]
fn renaming_there_and_back_restores_the_content() {
    let types: Vec<(String, String)> = ALL
        .iter()
        .map(|(name, _)| {
            (
                (*name).to_owned(),
                format!("deep/er/{}x", name.replace('$', "Y$Z")),
            )
        })
        .chain([
            ("java/lang/String".to_owned(), "x/Text".to_owned()),
            ("java/util/List".to_owned(), "java/util/Row".to_owned()),
        ])
        .collect();
    let edits = |back: bool| -> Vec<ClassEdit> {
        let one = |(from, to): &(String, String)| match back {
            false => (from.clone(), to.clone()),
            true => (to.clone(), from.clone()),
        };
        types
            .iter()
            .map(one)
            .map(|(from, to)| ClassEdit::RenameType { from, to })
            .collect()
    };
    for (name, bytes) in ALL {
        let there = edited(bytes, &edits(false));
        let back = edited(&there, &edits(true));
        let (before, after) = (text(bytes), text(&back));
        let pool = |line: &&str| !line.contains("constant pool: ");
        let lines = |text: &str| {
            text.lines()
                .filter(pool)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(lines(&before), lines(&after), "{name}");
        assert_ne!(text(&there), before, "{name}");
    }
}

/// Some obfuscators write arbitrary text there, which other entries may share.
#[test]
fn a_simple_name_that_is_no_part_of_its_class_name_stays() {
    let bytes = ALL.iter().find(|(name, _)| *name == "Shapes$Colour");
    let (_, whole) = bytes.unwrap();
    let class = ClassFile::read(whole).unwrap();
    let all = class.attributes().find(|it| it.name == "InnerClasses");
    let rows = all.unwrap().bytes;
    let name = rows.as_ptr() as usize - whole.as_ptr() as usize + 6;
    let text = (1..class.pool().count()).find(|index| {
        let text = class.pool().utf8(PoolIndex(*index));
        text.is_some_and(|text| text == "values")
    });
    let mut bytes = whole.to_vec();
    bytes[name..name + 2].copy_from_slice(&text.unwrap().to_be_bytes());
    let renamed = ClassEdit::RenameType {
        from: "Shapes$Colour".to_owned(),
        to: "Shapes$Hue".to_owned(),
    };
    let after = edited(&bytes, &[renamed]);
    let end = ClassFile::read(&after)
        .unwrap()
        .attributes()
        .find(|it| it.name == "InnerClasses");
    assert_eq!(end.unwrap().bytes[6..8], text.unwrap().to_be_bytes());
}

#[test]
fn renamed_members_are_renamed_in_all_references() {
    let class = ClassFile::read(SHAPES).unwrap();
    let found = class
        .methods()
        .find(|method| !method.name().to_string().starts_with('<') && method.has_code())
        .unwrap();
    let (name, descriptor) = (found.name().to_string(), found.descriptor().to_string());
    let out = edited(
        SHAPES,
        &[ClassEdit::RenameMember {
            member: member("Shapes", &name, &descriptor),
            to: "renamed".to_owned(),
        }],
    );
    let after = ClassFile::read(&out).unwrap();
    assert_eq!(after.method(found.index()).unwrap().name(), "renamed");
    for index in 1..after.pool().count() {
        if let Some(found) = after.pool().member_ref(rewriter::PoolIndex(index)) {
            let old = found.owner == "Shapes"
                && found.name == name.as_str()
                && found.descriptor == descriptor.as_str();
            assert!(!old, "{found:?}");
        }
    }
}

fn far() -> PrefixedNative {
    PrefixedNative {
        method: MethodIndex(1),
        prefix: "$$wrapped$$".to_owned(),
    }
}

#[test]
fn a_native_method_gets_a_wrapper_with_its_name() {
    let bytes = class_builder::class().bytes();
    let out = edited(&bytes, &[ClassEdit::PrefixNative(far())]);
    let class = ClassFile::read(&out).unwrap();
    let methods: Vec<_> = class
        .methods()
        .map(|method| (method.name().to_string(), method.access_flags()))
        .collect();
    let expected = [("run", 0x0001), ("$$wrapped$$far", 0x0101), ("far", 0x0001)];
    assert_eq!(
        methods,
        expected.map(|(name, flags)| (name.to_owned(), flags))
    );
    let listing = text(&out);
    assert!(listing.contains("invokespecial"), "{listing}");
}

#[test]
fn a_body_is_replaced_and_its_method_stays() {
    let class = ClassFile::read(SHAPES).unwrap();
    let found = class
        .methods()
        .find(|method| method.name() == "<clinit>" || method.name() == "main")
        .unwrap();
    let mut body = Snippet::new();
    body.op(opcode::RETURN, 0).unwrap();
    let method = found.index();
    let out = edited(SHAPES, &[ClassEdit::ReplaceBody { method, body }]);
    let after = ClassFile::read(&out).unwrap();
    let code = after.method(method).unwrap().code().unwrap().unwrap();
    let last = *code.bytes().last().unwrap();
    assert_eq!((last, code.lines().count()), (opcode::RETURN, 0));
}

// listing: one refusal after another
#[test]
fn invalid_structure_is_refused_with_the_reason() {
    let bytes = class_builder::class().bytes();
    let mut no_body = summing("f");
    if let ClassEdit::AddMethod(method) = &mut no_body {
        method.body = None;
    }
    let mut lasting = String::new();
    let cases: Vec<(Vec<ClassEdit>, &str)> = vec![
        (
            vec![field("first", "I", None)],
            "the class would have field first:I twice",
        ),
        (
            vec![field("a", "I", None), field("a", "I", None)],
            "the class would have field a:I twice",
        ),
        (
            vec![field("a;b", "I", None)],
            "expected a field name, found `a;b`",
        ),
        (
            vec![field("a", "V", None)],
            "expected a field descriptor, found `V`",
        ),
        (
            vec![field("a", "J", Some(Constant::Integer(1)))],
            "field a:J: its constant does not suit: a static field takes one of its own type",
        ),
        (
            vec![no_body],
            "method f(JI)J cannot have the flags 0x0009: a method that is neither abstract nor native needs a body",
        ),
        (
            vec![ClassEdit::AddInterface("sample/I".to_owned())],
            "the class would have interface sample/I twice",
        ),
        (
            vec![ClassEdit::AddAttribute {
                target: Target::Class,
                name: "NestHost".to_owned(),
                bytes: vec![0, 1],
            }],
            "the class would have attribute NestHost of class twice",
        ),
        (
            vec![ClassEdit::AddAttribute {
                target: Target::Method(MethodIndex(0)),
                name: "Code".to_owned(),
                bytes: Vec::new(),
            }],
            "attribute Code of method 0: only the rewriter writes it",
        ),
        (
            vec![annotation(Target::Method(MethodIndex(9)), true)],
            "method 9 does not exist: the class has 2",
        ),
        (
            vec![ClassEdit::PrefixNative(PrefixedNative {
                method: MethodIndex(0),
                ..far()
            })],
            "wrapping run()V: the method is not native",
        ),
        (
            vec![
                ClassEdit::RenameMember {
                    member: member("sample/A", "first", "I"),
                    to: "second".to_owned(),
                },
                ClassEdit::RenameMember {
                    member: member("sample/A", "first", "I"),
                    to: "third".to_owned(),
                },
            ],
            "the class would have a new name of sample/A.first:I twice",
        ),
        (
            vec![ClassEdit::RenameType {
                from: "a.b".to_owned(),
                to: "c".to_owned(),
            }],
            "expected a internal name, a/B, found `a.b`",
        ),
    ];
    for (edits, expected) in cases {
        let found = refusal(&bytes, &edits).to_string();
        if found != expected {
            writeln!(lasting, "{found}\n  instead of {expected}").unwrap();
        }
    }
    assert_eq!(lasting, "");
}

#[test]
fn a_full_pool_refuses_all_class_edits_together() {
    let mut full = class_builder::class();
    for _ in 0..65_400 {
        full.fields.truncate(0);
        full.interfaces.push("i");
        if full.interfaces.len() == 32_750 {
            break;
        }
    }
    full.interfaces.sort_unstable();
    let bytes = full.bytes();
    let edits: Vec<_> = (0..40)
        .map(|at| field(&format!("f{at}"), "I", None))
        .collect();
    assert_eq!(refusal(&bytes, &edits), StructureError::PoolFull);
}

#[test]
fn a_loaded_class_is_changed_only_as_the_jvm_allows() {
    let bytes = class_builder::class().bytes();
    let class = ClassFile::read(&bytes).unwrap();
    let mut plan = PlanBuilder::new(&class).retransforming();
    let mut body = Snippet::new();
    body.op(opcode::RETURN, 0).unwrap();
    let fine = [
        annotation(Target::Class, true),
        annotation(Target::Method(MethodIndex(0)), false),
        ClassEdit::AddAttribute {
            target: Target::Method(MethodIndex(0)),
            name: "sample.Note".to_owned(),
            bytes: Vec::new(),
        },
        ClassEdit::ReplaceBody {
            method: MethodIndex(0),
            body,
        },
        ClassEdit::RenameType {
            from: "java/lang/Void".to_owned(),
            to: "x/Y".to_owned(),
        },
    ];
    for edit in fine {
        plan.edit_class(edit).unwrap();
    }
    let refused = [
        (field("f", "I", None), 64),
        (summing("m"), 63),
        (ClassEdit::AddInterface("x/I".to_owned()), 66),
        (ClassEdit::PrefixNative(far()), 63),
        (
            ClassEdit::RenameType {
                from: "sample/A".to_owned(),
                to: "x/A".to_owned(),
            },
            69,
        ),
        (
            ClassEdit::RenameType {
                from: "sample/M".to_owned(),
                to: "x/M".to_owned(),
            },
            72,
        ),
        (
            ClassEdit::RenameMember {
                member: member("sample/A", "run", "()V"),
                to: "ran".to_owned(),
            },
            67,
        ),
    ];
    for (edit, number) in refused {
        let words = format!("{edit}");
        match plan.edit_class(edit) {
            Err(PlanError::Class(StructureError::Loaded(found))) => {
                assert_eq!(found.rule.number(), number, "{words}: {found}");
            }
            other => panic!("{words}: {other:?}"),
        }
    }
    assert_eq!(plan.finish().class_edits().len(), 5);
}

#[test]
fn class_edits_transfer_to_another_form_of_the_class() {
    let (one, mut other) = (class_builder::class().bytes(), class_builder::class());
    other.methods.reverse();
    let other = other.bytes();
    let (from, to) = (
        ClassFile::read(&one).unwrap(),
        ClassFile::read(&other).unwrap(),
    );
    let mut body = Snippet::new();
    body.op(opcode::RETURN, 0).unwrap();
    let replace = |method: u16, body: &Snippet| ClassEdit::ReplaceBody {
        method: MethodIndex(method),
        body: body.clone(),
    };
    let mut plan = EditPlan::new();
    plan.edit_class(replace(0, &body)).unwrap();
    plan.edit_class(ClassEdit::PrefixNative(far())).unwrap();
    plan.edit_class(field("f", "I", None)).unwrap();
    let (carried, refused) = class_versions::transfer(&plan, &from, &to);
    assert_eq!(refused, []);
    let mut wrapper = far();
    wrapper.method = MethodIndex(0);
    let expected = [
        replace(1, &body),
        ClassEdit::PrefixNative(wrapper),
        field("f", "I", None),
    ];
    assert_eq!(carried.class_edits(), expected);
}

#[test]
fn plans_of_every_kind_pass_the_self_check() {
    for (name, bytes) in ALL {
        let class = ClassFile::read(bytes).unwrap();
        for kind in crate::edited::KINDS {
            let plan = crate::edited::plan(&class, kind).unwrap();
            let (_, report) = spliced(bytes, &plan);
            assert_eq!(
                (report.refused, report.skipped),
                (None, Vec::new()),
                "{name} {kind}"
            );
        }
    }
}

/// Class files before version 49 use Java identifiers in class names.
#[test]
fn renamed_types_follow_the_rules_of_the_version() {
    let edits = |name: &str| {
        [
            ClassEdit::AddInterface(name.to_owned()),
            ClassEdit::RenameType {
                from: "a/B".to_owned(),
                to: name.to_owned(),
            },
        ]
    };
    let old = class_with(48, &[opcode::RETURN], &[], &[], &[0, 0]);
    let new = class_with(49, &[opcode::RETURN], &[], &[], &[0, 0]);
    for edit in edits("a/<odd>") {
        let refused = refusal(&old, std::slice::from_ref(&edit));
        assert!(refused.to_string().contains("identifier"), "{refused}");
        edited(&new, &[edit]);
    }
    for edit in edits("a/Even") {
        edited(&old, &[edit]);
    }
}
