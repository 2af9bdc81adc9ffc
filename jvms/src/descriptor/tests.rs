use super::*;
use crate::names;

const INT: FieldType<'_> = FieldType::Base(BaseType::Int);

#[test]
fn every_base_type_is_itself() {
    let mut letters = Vec::new();
    for letter in 0..=u8::MAX {
        let Some(base) = BaseType::of(letter) else {
            assert!(FieldType::parse(&[letter]).is_err(), "{letter}");
            continue;
        };
        assert_eq!(base.letter(), letter);
        let descriptor = [letter];
        let found = FieldType::parse(&descriptor);
        assert_eq!(found, Ok(FieldType::Base(base)));
        assert_eq!(
            found.map(FieldType::slots),
            Ok(1 + u16::from(b"JD".contains(&letter)))
        );
        letters.push(letter);
    }
    assert_eq!(letters, b"BCDFIJSZ");
}

#[test]
fn fields() {
    assert_eq!(FieldType::parse(b"La/B;"), Ok(FieldType::Class(b"a/B")));
    assert_eq!(FieldType::parse(b"[[J"), Ok(FieldType::Array(b"[[J")));
    assert_eq!(FieldType::parse(b"[La/B;"), Ok(FieldType::Array(b"[La/B;")));
    assert_eq!(FieldType::Array(b"[[J").slots(), 1);
    assert_eq!(FieldType::Array(b"[[I").element(), (2, INT));
    assert_eq!(FieldType::Array(b"[La/B;").class_name(), Some(&b"a/B"[..]));
    assert_eq!(FieldType::Array(b"[I").class_name(), None);
    assert!(FieldType::Class(b"a/B").is_reference() && !INT.is_reference());
}

/// Class names may hold letters that have a meaning in descriptors.
#[test]
fn odd_class_names_are_parsed() {
    for name in [
        "I",
        "V",
        "(I)V",
        ")",
        "a)b",
        "a b",
        "a-b/<c>",
        "é/😀",
        "L",
        "package-info",
    ] {
        let field = format!("L{name};");
        let found = FieldType::parse(field.as_bytes());
        assert_eq!(found, Ok(FieldType::Class(name.as_bytes())), "{name}");
        let method = format!("([L{name};JL{name};)L{name};");
        let found = MethodDescriptor::parse(method.as_bytes()).unwrap();
        assert_eq!(found.parameters().count(), 3, "{name}");
        assert_eq!(found.return_type(), Some(FieldType::Class(name.as_bytes())));
        assert_eq!(MethodDescriptor::checked(method.as_bytes()), Ok(found));
        assert!(is_class_or_array(name.as_bytes()) && is_class_or_array(b"[I"));
    }
}

/// A JVM accepts these names only for classes that it does not verify.
#[test]
fn invalid_class_names_are_reported_with_their_offset() {
    for (name, at) in [("", 0), ("/", 0), ("a.B", 1), ("[I", 0), ("a//b", 2)] {
        for (before, after) in [("L", ";"), ("[[L", ";"), ("(I[L", ";J)V"), ("(I)L", ";")] {
            let descriptor = format!("{before}{name}{after}");
            let bytes = descriptor.as_bytes();
            let refused = if before.starts_with('(') {
                assert!(MethodDescriptor::parse(bytes).is_ok(), "{descriptor}");
                MethodDescriptor::checked(bytes).unwrap_err()
            } else {
                assert!(FieldType::parse(bytes).is_ok(), "{descriptor}");
                FieldType::checked(bytes).unwrap_err()
            };
            assert_eq!(refused.offset, before.len() + at, "{descriptor}: {refused}");
            assert!(!is_class_or_array(bytes), "{descriptor}");
        }
    }
    let refused = MethodDescriptor::checked(b"()L;").unwrap_err().to_string();
    let expected = "expected a class's name in internal form, a/B, at 3, found ;";
    assert_eq!(refused, expected);
    assert!(!is_class_or_array(b"La/B;") && !is_class_or_array(b""));
}

#[test]
fn errors_name_the_offset() {
    let field = |text: &str| FieldType::parse(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(field(""), "expected a type at 0, found the end");
    assert_eq!(field("V"), "expected a type at 0, found V");
    assert_eq!(field("II"), "expected the end at 1, found I");
    assert_eq!(field("La/B"), "expected ; at 4, found the end");
    assert_eq!(
        field("[V"),
        "expected the type of an array's elements at 1, found V"
    );
    assert_eq!(
        field("[["),
        "expected the type of an array's elements at 2, found the end"
    );
    assert_eq!(field("[La"), "expected ; at 3, found the end");
    assert_eq!(field("\n"), "expected a type at 0, found \\n");

    let method = |text: &str| {
        MethodDescriptor::parse(text.as_bytes())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(method(""), "expected ( at 0, found the end");
    assert_eq!(method("I"), "expected ( at 0, found I");
    assert_eq!(
        method("("),
        "expected a parameter's type or ) at 1, found the end"
    );
    assert_eq!(
        method("(V)V"),
        "expected a parameter's type or ) at 1, found V"
    );
    assert_eq!(method("(IL)V"), "expected ; at 5, found the end");
    assert_eq!(
        method("(I)"),
        "expected the type returned or V at 3, found the end"
    );
    assert_eq!(method("(I)VV"), "expected the end at 4, found V");
    assert_eq!(
        method("()[V"),
        "expected the type of an array's elements at 3, found V"
    );
}

#[test]
fn arrays_have_at_most_255_dimensions() {
    let array = |dimensions| [vec![b'['; dimensions], b"La/B;".to_vec()].concat();
    let longest = array(255);
    assert_eq!(FieldType::parse(&longest), Ok(FieldType::Array(&longest)));
    let (dimensions, element) = FieldType::Array(&longest).element();
    assert_eq!((dimensions, element), (255, FieldType::Class(b"a/B")));
    let error = FieldType::parse(&array(256)).unwrap_err();
    assert_eq!(error.offset, 255);
    assert!(
        MethodDescriptor::parse(&[b"(".to_vec(), array(256), b")V".to_vec()].concat()).is_err()
    );
}

#[test]
fn methods() {
    let found = MethodDescriptor::parse(b"(IJ[[DLa/B;)[I").unwrap();
    let expected = [
        INT,
        FieldType::Base(BaseType::Long),
        FieldType::Array(b"[[D"),
        FieldType::Class(b"a/B"),
    ];
    assert_eq!(found.parameters().collect::<Vec<_>>(), expected);
    assert_eq!(found.return_type(), Some(FieldType::Array(b"[I")));
    assert_eq!(found.parameter_slots(), 5);
    assert_eq!(
        (found.argument_slots(false), found.argument_slots(true)),
        (5, 6)
    );
    let found = MethodDescriptor::parse(b"(I[[JLjava/lang/String;[La/B;Z)[La/B;").unwrap();
    let expected = [
        INT,
        FieldType::Array(b"[[J"),
        FieldType::Class(b"java/lang/String"),
        FieldType::Array(b"[La/B;"),
        FieldType::Base(BaseType::Boolean),
    ];
    assert_eq!(found.parameters().collect::<Vec<_>>(), expected);
    assert_eq!(found.return_type(), Some(FieldType::Array(b"[La/B;")));
    let none = MethodDescriptor::parse(b"()V").unwrap();
    assert_eq!((none.parameter_slots(), none.return_type()), (0, None));
    assert_eq!(none.parameters().next(), None);
}

#[test]
fn parameters_end_at_the_first_malformed_one() {
    let count = |text: &str| Parameters::of(text.as_bytes()).count();
    for (descriptor, expected) in [
        ("(IJ)", 2),
        ("(ILa", 1),
        ("(I[)V", 1),
        ("(IVI)V", 1),
        ("(Lno/end", 0),
        ("(", 0),
        (")", 0),
        ("", 0),
        ("I", 0),
    ] {
        assert_eq!(count(descriptor), expected, "{descriptor}");
    }
}

#[test]
fn parameters_have_their_offsets() {
    let mut parameters = Parameters::of(b"(I[[La/B;Lc/D;J)V");
    let mut offsets = vec![parameters.offset()];
    while parameters.next().is_some() {
        offsets.push(parameters.offset());
    }
    assert_eq!(offsets, [1, 2, 9, 14, 15]);
}

#[test]
fn types_are_formatted_as_in_java() {
    let java = |text: &'static str| {
        let found = FieldType::parse(text.as_bytes()).unwrap();
        found.to_java(names::binary)
    };
    assert_eq!(java("I"), "int");
    assert_eq!(java("[[Z"), "boolean[][]");
    assert_eq!(java("[Ljava/util/Map$Entry;"), "java.util.Map$Entry[]");
    assert_eq!(java("Lé;"), "é");
}

#[test]
fn each_type_has_instructions_of_its_own_family() {
    for (descriptors, expected) in [
        ("ZBCSI", [ILOAD, ISTORE, IRETURN]),
        ("J", [LLOAD, LSTORE, LRETURN]),
        ("F", [FLOAD, FSTORE, FRETURN]),
        ("D", [DLOAD, DSTORE, DRETURN]),
        ("[I", [ALOAD, ASTORE, ARETURN]),
    ] {
        let parts = match descriptors.starts_with('[') {
            true => vec![descriptors],
            false => descriptors.split("").filter(|it| !it.is_empty()).collect(),
        };
        for part in parts {
            let found = FieldType::parse(part.as_bytes()).unwrap();
            let all = [
                found.load_opcode(),
                found.store_opcode(),
                found.return_opcode(),
            ];
            assert_eq!(all, expected, "{part}");
        }
    }
}
