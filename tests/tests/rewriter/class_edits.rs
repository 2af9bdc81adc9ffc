//! Every kind of class edit, run by real JVMs with `-Xverify:all`.

use crate::support::edited::{Edited, find, member, summing};
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, native, scratch, workspace};
use jvms::access_flags::{ACC_FINAL, ACC_PRIVATE, ACC_PUBLIC, ACC_STATIC};
use jvms::opcode;
use rewriter::{
    Annotation, Assemble, Bci, CallTarget, Change, ClassEdit, Constant, EditPlan, ElementValue,
    InsertionPoint, Location, Member, MethodIndex, NewField, NewMethod, PlanBuilder, PlanError,
    PrefixedNative, Snippet, StructureError, Target, schema,
};
use std::path::{Path, PathBuf};

fn source(name: &str) -> PathBuf {
    workspace::test_file("java/edits").join(name)
}

fn verified(jdk: &Jdk, classes: &Path, main: &str) -> String {
    let java = Java::new(jdk).option("-Xverify:all").class_path(&[classes]);
    let run = java.main(main).run();
    run.assert_success();
    run.stdout
}

fn element(name: &str, value: ElementValue) -> (String, ElementValue) {
    (name.to_owned(), value)
}

fn mark(target: Target) -> ClassEdit {
    let state = ElementValue::Enum {
        descriptor: "Ljava/lang/Thread$State;".to_owned(),
        constant: "BLOCKED".to_owned(),
    };
    let types = ["I", "[[J", "Ljava/util/List;"].map(|name| ElementValue::Class(name.to_owned()));
    ClassEdit::AddAnnotation {
        target,
        visible: true,
        annotation: Annotation {
            descriptor: "LMembers$Marked;".to_owned(),
            elements: vec![
                element("text", ElementValue::String("é😀".to_owned())),
                element("number", ElementValue::Long(-7)),
                element("types", ElementValue::Array(types.to_vec())),
                element("state", state),
            ],
        },
    }
}

/// `argument < 0 ? -argument : argument`
fn absolute() -> Snippet {
    let mut body = Snippet::new();
    let positive = body.new_label();
    body.load_argument(0).unwrap();
    body.jump(opcode::IFGE, positive).unwrap();
    body.load_argument(0).unwrap();
    body.op(opcode::INEG, 0).unwrap();
    body.op(opcode::IRETURN, 0).unwrap();
    body.place(positive).unwrap();
    body.load_argument(0).unwrap();
    body.op(opcode::IRETURN, 0).unwrap();
    body
}

fn static_field(name: &str, descriptor: &str, value: Constant) -> ClassEdit {
    ClassEdit::AddField(NewField {
        flags: ACC_PUBLIC | ACC_STATIC | ACC_FINAL,
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
        value: Some(value),
    })
}

#[test]
fn reflection_sees_added_members() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = javac::compile(&jdk, &[&source("Members.java")], folder.path(), &[]);
        let mut plain = Edited::read(&classes.join("Members$Plain.class"));
        let class = plain.class();
        let kept = Target::Field {
            name: "kept".to_owned(),
            descriptor: "I".to_owned(),
        };
        let replaced = find(&class, "replaced").index();
        let mut plan = PlanBuilder::new(&class);
        for edit in [
            static_field("number", "J", Constant::Long(1 << 40)),
            static_field("half", "D", Constant::Double(0.5)),
            static_field(
                "words",
                "Ljava/lang/String;",
                Constant::Text("w😀".to_owned()),
            ),
            ClassEdit::AddInterface("java/io/Serializable".to_owned()),
            mark(Target::Class),
            mark(kept),
            mark(Target::Method(find(&class, "old").index())),
            summing("summed"),
            ClassEdit::ReplaceBody {
                method: replaced,
                body: absolute(),
            },
        ] {
            plan.edit_class(edit).unwrap();
        }
        plain.write(plan.finish());
        let expected = "\
int Members$Plain.kept = - é😀 -7 [int, class [[J, interface java.util.List] BLOCKED
public static final long Members$Plain.number = 1099511627776 unmarked
public static final double Members$Plain.half = 0.5 unmarked
public static final java.lang.String Members$Plain.words = w😀 unmarked
int Members$Plain.old() é😀 -7 [int, class [[J, interface java.util.List] BLOCKED
static int Members$Plain.replaced(int) unmarked
public static long Members$Plain.summed(long,int) unmarked
[interface java.io.Serializable]
é😀 -7 [int, class [[J, interface java.util.List] BLOCKED
15
4 4
1
";
        let java = Java::new(&jdk).options(&[
            "-Xverify:all",
            "-Dfile.encoding=UTF-8",
            "-Dstdout.encoding=UTF-8",
        ]);
        let run = java.class_path(&[&classes]).main("Members").run();
        run.assert_success();
        assert_eq!(run.stdout, expected, "JDK {}", jdk.version);
    }
}

#[test]
fn renamed_types_and_methods_work_in_all_classes_of_a_program() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let sources = ["Shape.java", "Kind.java", "Main.java"].map(|name| source("app").join(name));
        let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
        let classes = javac::compile(&jdk, &sources, folder.path(), &["--release", "17"]);
        let before = verified(&jdk, &classes, "app.Main");
        let files = javac::files_with_extension(&classes, "class");
        let mut edits: Vec<ClassEdit> = files
            .iter()
            .map(|file| {
                let name = file.strip_prefix(&classes).unwrap().with_extension("");
                let from = name.to_str().unwrap().to_owned();
                ClassEdit::RenameType {
                    to: from.replacen("app/", "moved/away/", 1),
                    from,
                }
            })
            .collect();
        for (owner, name, descriptor, to) in [
            ("app/Shape", "area", "()D", "surface"),
            ("app/Shape$Round", "area", "()D", "surface"),
            ("app/Shape$Square", "area", "()D", "surface"),
            ("app/Shape$Measure", "of", "(Lapp/Shape;)D", "measured"),
            (
                "app/Shape$Square",
                "size",
                "Lapp/Shape$Square$Size;",
                "extent",
            ),
            ("app/Kind", "size", "()Lapp/Shape$Square$Size;", "extent"),
        ] {
            edits.push(ClassEdit::RenameMember {
                member: member(owner, name, descriptor),
                to: to.to_owned(),
            });
        }
        let moved = folder.path().join("moved");
        for file in &files {
            let mut edited = Edited::read(file);
            let mut plan = EditPlan::new();
            for edit in &edits {
                plan.edit_class(edit.clone()).unwrap();
            }
            let name = file.strip_prefix(classes.join("app")).unwrap();
            edited.write_to(plan, &moved.join("moved/away").join(name));
        }
        let after = verified(&jdk, &moved, "moved.away.Main");
        let expected = before.replace("app.", "moved.away.");
        assert_eq!(after, expected, "JDK {}", jdk.version);
        assert!(
            after.contains("app/Shape true"),
            "strings keep what they say: {after}"
        );
    }
}

fn hook(name: &str, descriptor: &str) -> Member {
    member("Calls$Hooks", name, descriptor)
}

fn to_hook(name: &str, descriptor: &str) -> Change {
    Change::Call(CallTarget {
        opcode: opcode::INVOKESTATIC,
        method: hook(name, descriptor),
    })
}

/// Passes operands, duration and result of a call to a hook, and leaves the result as it is.
fn measured() -> Change {
    let mut code = Snippet::new();
    let now = member("java/lang/System", "nanoTime", "()J");
    code.invoke(opcode::INVOKESTATIC, now.clone()).unwrap();
    code.op(opcode::LSTORE, 0).unwrap();
    code.proceed().unwrap();
    code.op(opcode::ASTORE, 2).unwrap();
    code.load_operand(0).unwrap();
    code.load_operand(1).unwrap();
    code.invoke(opcode::INVOKESTATIC, now).unwrap();
    code.op(opcode::LLOAD, 0).unwrap();
    code.op(opcode::LSUB, 0).unwrap();
    code.op(opcode::ALOAD, 2).unwrap();
    let target = hook("measured", "(LCalls$Base;JJLjava/lang/String;)V");
    code.invoke(opcode::INVOKESTATIC, target).unwrap();
    code.op(opcode::ALOAD, 2).unwrap();
    Change::Around(code)
}

/// Makes the call only for numbers up to 5; otherwise the result is a constant.
fn limited() -> Change {
    let mut code = Snippet::new();
    let (above, end) = (code.new_label(), code.new_label());
    code.load_operand(1).unwrap();
    code.push_long(5).unwrap();
    code.op(opcode::LCMP, 0).unwrap();
    code.jump(opcode::IFGT, above).unwrap();
    code.proceed().unwrap();
    code.jump(opcode::GOTO, end).unwrap();
    code.place(above).unwrap();
    code.push_string("too much").unwrap();
    code.place(end).unwrap();
    Change::Around(code)
}

/// Records a word before the instruction, and one after it has completed.
fn between(before: &str, after: &str) -> Change {
    let mut code = Snippet::new();
    let target = hook("around", "(Ljava/lang/String;)V");
    code.push_string(before).unwrap();
    code.invoke(opcode::INVOKESTATIC, target.clone()).unwrap();
    code.proceed().unwrap();
    code.push_string(after).unwrap();
    code.invoke(opcode::INVOKESTATIC, target).unwrap();
    Change::Around(code)
}

fn around(when: &str) -> Snippet {
    let mut snippet = Snippet::new();
    snippet.push_string(when).unwrap();
    let target = hook("around", "(Ljava/lang/String;)V");
    snippet.invoke(opcode::INVOKESTATIC, target).unwrap();
    snippet
}

#[test]
fn redirected_removed_and_wrapped_instructions_follow_the_plan() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = javac::compile(&jdk, &[&source("Calls.java")], folder.path(), &[]);
        let mut calls = Edited::read(&classes.join("Calls.class"));
        let class = calls.class();
        let mut plan = PlanBuilder::new(&class);
        let virtual_call = opcode::INVOKEVIRTUAL;
        let field = |opcode, name: &str, descriptor: &str| Change::Field {
            opcode,
            field: hook(name, descriptor),
        };
        let text = Constant::Text("nothing said".to_owned());
        for (method, instruction, change) in [
            (
                "call",
                virtual_call,
                to_hook("said", "(LCalls$Base;J)Ljava/lang/String;"),
            ),
            ("removed", virtual_call, Change::Remove(None)),
            ("instead", virtual_call, Change::Remove(Some(text))),
            ("readStatic", opcode::GETSTATIC, to_hook("read", "()I")),
            (
                "readOther",
                opcode::GETSTATIC,
                field(opcode::GETSTATIC, "other", "I"),
            ),
            (
                "readOwn",
                opcode::GETFIELD,
                field(opcode::GETSTATIC, "lone", "J"),
            ),
            (
                "writeOwn",
                opcode::PUTFIELD,
                to_hook("wrote", "(Ljava/lang/Object;J)V"),
            ),
            (
                "writeLone",
                opcode::PUTFIELD,
                field(opcode::PUTSTATIC, "lone", "J"),
            ),
            (
                "allocated",
                opcode::NEW,
                Change::New {
                    class: "Calls$Sub".to_owned(),
                    cast: true,
                },
            ),
            (
                "built",
                opcode::NEW,
                Change::Factory(hook("made", "(Ljava/lang/String;Z)Ljava/lang/Object;")),
            ),
            ("measured", virtual_call, measured()),
            ("limited", virtual_call, limited()),
            ("locked", opcode::MONITORENTER, between("wait", "got")),
            ("locked", opcode::MONITOREXIT, between("leave", "left")),
            ("locked", opcode::MULTIANEWARRAY, between("make", "made")),
        ] {
            let (index, bci) = calls.first(method, instruction);
            plan.change(index, bci, change).unwrap();
        }
        let (index, bci) = calls.first("wrapped", virtual_call);
        plan.wrap(index, bci, around("before"), around("after"))
            .unwrap();
        calls.write(plan.finish());
        let expected = "\
hooked x
null
nothing said
30 10
20
2 8
SUB A sub b SUB C
base x 6
base x 7
it is base x 2, it is too much
held true2
[said 3, read, wrote 7 true, made c true, before, after, measured x 7 true base x 7, wait, got, make, made, leave, left]
";
        assert_eq!(
            verified(&jdk, &classes, "Calls"),
            expected,
            "JDK {}",
            jdk.version
        );
    }
}

/// Appends a word to `SEEN`; the value on the stack stays.
fn saw(what: &str) -> Snippet {
    let mut snippet = Snippet::new();
    snippet.push_string(what).unwrap();
    let target = member("Natives", "saw", "(Ljava/lang/String;)V");
    snippet.invoke(opcode::INVOKESTATIC, target).unwrap();
    snippet
}

/// Builds the agent's jar, and the folder of classes that it hands over.
fn agent(jdk: &Jdk, folder: &Path) -> (PathBuf, PathBuf) {
    let classes = javac::compile(jdk, &[&source("Agent.java")], &folder.join("agent"), &[]);
    let manifest =
        "Premain-Class: Agent\nCan-Redefine-Classes: true\nCan-Set-Native-Method-Prefix: true\n";
    let jar = javac::jar(jdk, &classes, ".", manifest, &folder.join("agent.jar"));
    let given = folder.join("given");
    std::fs::create_dir_all(&given).unwrap();
    (jar, given)
}

#[test]
fn wrapped_natives_are_found_under_their_prefix() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = javac::compile(&jdk, &[&source("Natives.java")], folder.path(), &[]);
        let library = native::library(&jdk, &source("natives.c"), folder.path());
        let (jar, given) = agent(&jdk, folder.path());
        let mut natives = Edited::read(&classes.join("Natives.class"));
        let class = natives.class();
        let mut plan = PlanBuilder::new(&class);
        let seen = [
            ("twice", "in", None),
            ("plus", "into", Some("out")),
            ("missing", "within", None),
        ];
        for (name, ..) in seen {
            let prefixed = PrefixedNative {
                method: find(&class, name).index(),
                prefix: "$$wrapped$$".to_owned(),
            };
            plan.edit_class(ClassEdit::PrefixNative(prefixed)).unwrap();
        }
        let file = given.join("Natives.class");
        natives.write_to(plan.finish(), &file);
        // The methods in front of the native ones are ordinary methods.
        let mut prefixed = Edited::read(&file);
        let class = prefixed.class();
        let mut plan = PlanBuilder::new(&class);
        for (name, entry, exit) in seen {
            let found = find(&class, name);
            let code = found.code().unwrap().unwrap();
            let exits = code.returns().map(Location::Before).zip(exit);
            let all = [(Location::Entry, entry), (Location::Unwind, "unwound")];
            for (location, text) in all.into_iter().chain(exits) {
                let method = found.index();
                plan.insert(InsertionPoint { method, location }, saw(text))
                    .unwrap();
            }
        }
        prefixed.write(plan.finish());
        let option = format!("-javaagent:{}={}", jar.display(), given.display());
        let java = Java::new(&jdk)
            .options(&["-Xverify:all", &option])
            .class_path(&[&classes]);
        let run = java.main("Natives").argument(&library).run();
        run.assert_success();
        assert_eq!(
            run.stdout, "42\n42\nno such native\nin into out within unwound \ntrue\ntrue\ntrue\n",
            "JDK {}",
            jdk.version
        );
    }
}

/// A version of the loaded class, and the JVM TI error that refuses it.
type Version = (&'static str, Vec<ClassEdit>, Option<u16>);

fn versions(answer: MethodIndex) -> Vec<Version> {
    let mut body = Snippet::new();
    body.push_int(2).unwrap();
    body.op(opcode::IRETURN, 0).unwrap();
    let mut added = summing("summed");
    if let ClassEdit::AddMethod(NewMethod { flags, .. }) = &mut added {
        *flags = ACC_PRIVATE | ACC_STATIC;
    }
    let visible = ClassEdit::AddAnnotation {
        target: Target::Class,
        visible: true,
        annotation: Annotation {
            descriptor: "Ljava/lang/Deprecated;".to_owned(),
            elements: Vec::new(),
        },
    };
    let rename_type = |from: &str| ClassEdit::RenameType {
        from: from.to_owned(),
        to: format!("{from}s"),
    };
    let replace = ClassEdit::ReplaceBody {
        method: answer,
        body,
    };
    let renamed = ClassEdit::RenameMember {
        member: member("Redefining$Loaded", "answer", "()I"),
        to: "answered".to_owned(),
    };
    let field = static_field("more", "I", Constant::Integer(1));
    vec![
        ("a", vec![added], Some(63)),
        ("b", vec![field], Some(64)),
        (
            "c",
            vec![ClassEdit::AddInterface("java/io/Serializable".to_owned())],
            Some(66),
        ),
        ("d", vec![renamed], Some(67)),
        ("e", vec![rename_type("Redefining$Loaded")], Some(69)),
        ("f", vec![rename_type("Redefining")], Some(72)),
        ("g", vec![visible, replace], None),
    ]
}

/// Returns the message of `java.lang.instrument` for a JVM TI error.
fn words(number: u16) -> &'static str {
    match number {
        63 => "attempted to add a method",
        64 => "attempted to change the schema (add/remove fields)",
        66 => "attempted to change superclass or interfaces",
        67 => "attempted to delete a method",
        69 => "class names don't match",
        _ => "attempted to change the class NestHost",
    }
}

#[test]
fn the_jvm_and_the_builder_refuse_the_same_edits_of_a_loaded_class() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = javac::compile(
            &jdk,
            &[&source("Redefining.java"), &source("Agent.java")],
            folder.path(),
            &[],
        );
        let (jar, given) = agent(&jdk, folder.path());
        let offered = folder.path().join("offered");
        let mut loaded = Edited::read(&classes.join("Redefining$Loaded.class"));
        let class = loaded.class();
        let mut broken_rules = Vec::new();
        let versions = versions(find(&class, "answer").index());
        for (name, edits, error) in &versions {
            let mut builder = PlanBuilder::new(&class).retransforming();
            let refused = edits
                .iter()
                .try_for_each(|edit| builder.edit_class(edit.clone()));
            let number = match refused {
                Err(PlanError::Class(StructureError::Loaded(found))) => Some(found.rule.number()),
                other => other.map(|()| None).unwrap(),
            };
            assert_eq!(number, *error, "{name}");
            let mut plan = EditPlan::new();
            edits
                .iter()
                .for_each(|edit| plan.edit_class(edit.clone()).unwrap());
            let bytes = loaded.write_to(plan, &offered.join(name));
            let broken = schema::compare(&class, &rewriter::ClassFile::read(&bytes).unwrap());
            let rules: Vec<u16> = broken.iter().map(|found| found.rule.number()).collect();
            assert_eq!(rules.first(), error.as_ref(), "{name}");
            broken_rules.push(rules);
        }
        let option = format!("-javaagent:{}={}", jar.display(), given.display());
        let java = Java::new(&jdk)
            .options(&["-Xverify:all", &option])
            .class_path(&[&classes]);
        let run = java.main("Redefining").argument(&offered).run();
        run.assert_success();
        let mut lines = run.stdout.lines();
        assert_eq!(lines.next(), Some("at first 1"));
        for (((name, ..), rules), line) in versions.iter().zip(&broken_rules).zip(lines) {
            let answer = if rules.is_empty() { "2" } else { "1" };
            assert!(line.starts_with(name) && line.ends_with(answer), "{line}");
            let taken = rules.is_empty() && line.contains("taken [@java.lang.Deprecated");
            let refused = rules.iter().any(|rule| line.contains(words(*rule)));
            assert!(taken || refused, "JDK {}: {line}", jdk.version);
        }
    }
}

#[test]
fn unsuitable_class_edit_leaves_the_class_unchanged() {
    let jdk = jdks::newest();
    let folder = scratch();
    let classes = javac::compile(&jdk, &[&source("Calls.java")], folder.path(), &[]);
    let mut calls = Edited::read(&classes.join("Calls.class"));
    let before = verified(&jdk, &classes, "Calls");
    let mut plan = EditPlan::new();
    plan.edit_class(static_field("fine", "I", Constant::Integer(1)))
        .unwrap();
    plan.edit_class(static_field("shared", "I", Constant::Integer(1)))
        .unwrap();
    let (method, bci) = calls.first("call", opcode::INVOKEVIRTUAL);
    plan.change(method, bci, Change::Remove(None)).unwrap();
    assert_eq!(
        calls.refused(&plan).as_deref(),
        Some("the class would have field shared:I twice")
    );
    assert_eq!(bci, Bci(4));
    assert_eq!(verified(&jdk, &classes, "Calls"), before);
}
