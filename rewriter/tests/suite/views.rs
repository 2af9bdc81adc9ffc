//! Views of a class compiled from known source.

use jvms::opcode;
use rewriter::{ClassFile, ClassHeader, LoadableConstant, Method, PoolIndex, ReadError, Tables};

use crate::fixtures::{ALL, SHAPES};
use crate::program::{Op, assemble, class_with};

fn shapes() -> ClassFile<'static> {
    ClassFile::read(SHAPES).unwrap()
}

fn method<'c>(class: &'c ClassFile<'static>, name: &str) -> Method<'c, 'static> {
    class
        .methods()
        .find(|method| method.name() == name)
        .unwrap()
}

#[test]
fn header_ends_after_the_name() {
    let header = ClassHeader::read(SHAPES).unwrap();
    assert_eq!(header.this_class(), "Shapes");
    let at = header.access_flags_offset();
    let flags = [SHAPES[at], SHAPES[at + 1]];
    assert_eq!(u16::from_be_bytes(flags), shapes().access_flags());
    let name = |length| ClassHeader::read(&SHAPES[..length]).map(|found| found.this_class());
    assert!((0..at + 4).all(|length| name(length).is_err()));
    assert_eq!(name(at + 4).unwrap(), "Shapes");
}

#[test]
fn class_header() {
    let class = shapes();
    assert_eq!(class.this_class(), "Shapes");
    assert_eq!(class.super_class().unwrap(), "java/lang/Exception");
    assert_eq!((class.major_version(), class.minor_version()), (69, 0));
    assert_eq!(class.source_file().unwrap(), "Shapes.java");
    assert_eq!(class.interfaces().count(), 0);
    let annotations: Vec<String> = class.annotations().map(|found| found.to_string()).collect();
    assert_eq!(annotations, ["LShapes$Mark;"]);
    assert!(
        class
            .attributes()
            .any(|attribute| attribute.name == "InnerClasses")
    );
    let circle = ClassFile::read(ALL[1].1).unwrap();
    assert!(
        circle
            .attributes()
            .any(|attribute| attribute.name == "Record")
    );
    assert_eq!(circle.interfaces().next().unwrap(), "Shapes$Figure");
    let older = ClassFile::read(ALL[5].1).unwrap();
    assert_eq!(
        older.signature().unwrap(),
        "<T:Ljava/lang/Object;>Ljava/lang/Object;Ljava/lang/Iterable<TT;>;"
    );
}

#[test]
fn local_variables_and_lines() {
    let class = shapes();
    let code = method(&class, "loopAtStart").code().unwrap().unwrap();
    let names: Vec<String> = code
        .local_variables()
        .map(|found| found.name.to_string())
        .collect();
    assert_eq!(names, ["this", "n"]);
    let lines: Vec<(u16, u16)> = code.lines().map(|line| (line.bci.0, line.number)).collect();
    let source: Vec<&str> = include_str!("../fixtures/Shapes.java").lines().collect();
    assert!(source[usize::from(lines[0].1) - 1].contains("n--"));
    assert_eq!(lines[0].0, 0);
}

#[test]
fn switches_show_keys_and_targets() {
    let class = shapes();
    let code = method(&class, "tables").code().unwrap().unwrap();
    let switches: Vec<_> = code
        .instructions()
        .flatten()
        .filter_map(|instruction| instruction.switch())
        .collect();
    let keys = |index: usize| {
        switches[index]
            .cases()
            .map(|(key, _)| key)
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(0), [1, 2, 3, 4, 5]);
    assert_eq!(keys(1), [-1_000, 7, 1_000_000]);
    assert_eq!(switches[1].len(), 3);
    assert!(
        switches[0]
            .targets()
            .all(|target| usize::from(target) < code.bytes().len())
    );
}

#[test]
fn handlers_have_their_caught_types() {
    let class = shapes();
    let code = method(&class, "attempts").code().unwrap().unwrap();
    let caught: Vec<String> = code
        .exception_table()
        .filter_map(|handler| class.pool().class_name(handler.catch_type))
        .map(|name| name.to_string())
        .collect();
    assert!(
        caught
            .iter()
            .any(|name| name == "java/lang/NumberFormatException")
    );
    assert!(
        code.exception_table()
            .any(|handler| handler.catch_type.0 == 0)
    );
}

#[test]
fn call_sites_have_their_bootstrap_method() {
    let class = shapes();
    let code = method(&class, "concatenated").code().unwrap().unwrap();
    let site = code
        .instructions()
        .flatten()
        .find(|instruction| instruction.opcode == opcode::INVOKEDYNAMIC)
        .and_then(|instruction| class.pool().dynamic(instruction.pool_index()?))
        .unwrap();
    assert_eq!(site.name, "makeConcatWithConstants");
    let bootstrap = class
        .bootstrap_methods()
        .nth(usize::from(site.bootstrap))
        .unwrap();
    let handle = class.pool().method_handle(bootstrap.method_handle).unwrap();
    assert_eq!(handle.member.owner, "java/lang/invoke/StringConcatFactory");
    let recipe = bootstrap
        .arguments()
        .next()
        .and_then(|index| class.pool().constant(index))
        .unwrap();
    assert!(matches!(recipe, LoadableConstant::String(text) if text == "v=\u{1}\u{1}"));
}

#[test]
fn operands_of_wide_and_narrow_forms() {
    let code = [
        opcode::WIDE,
        opcode::IINC,
        1,
        2,
        0xFF,
        0xFE,
        opcode::IINC,
        3,
        0x80,
        opcode::WIDE,
        opcode::ALOAD,
        1,
        0,
        opcode::RETURN,
    ];
    let bytes = crate::program::class(&code);
    let class = ClassFile::read(&bytes).unwrap();
    let body = class.methods().next().unwrap().code().unwrap().unwrap();
    let shown: Vec<_> = body
        .instructions()
        .flatten()
        .map(|found| {
            (
                found.mnemonic(),
                found.wide,
                found.local(),
                found.immediate(),
            )
        })
        .collect();
    let expected = [
        ("iinc", true, Some(258), Some(-2)),
        ("iinc", false, Some(3), Some(-128)),
        ("aload", true, Some(256), None),
        ("return", false, None, None),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn unknown_opcode_is_an_error_with_its_offset() {
    let bytes = crate::program::class(&[opcode::NOP, 203, opcode::RETURN]);
    let class = ClassFile::read(&bytes).unwrap();
    let body = class.methods().next().unwrap().code().unwrap().unwrap();
    let error = body.instructions().find_map(Result::err).unwrap();
    assert!(matches!(
        error,
        ReadError::UnknownOpcode {
            bci: 1,
            opcode: 203,
            ..
        }
    ));
    assert_eq!(body.instructions().count(), 2);
}

#[test]
fn truncated_class_or_trailing_bytes_are_refused() {
    for length in 0..SHAPES.len() {
        assert!(ClassFile::read(&SHAPES[..length]).is_err(), "{length}");
    }
    let mut longer = SHAPES.to_vec();
    longer.push(0);
    assert!(matches!(
        ClassFile::read(&longer),
        Err(ReadError::TrailingBytes { count: 1, .. })
    ));
    assert!(matches!(
        ClassFile::read(b"PK\x03\x04"),
        Err(ReadError::NotAClassFile { found: 0x504B_0304 })
    ));
}

#[test]
fn long_in_the_last_entry_of_the_pool_is_refused() {
    let code = assemble(&[Op::Return]);
    let of = |texts: &[&str]| {
        let mut bytes = class_with(49, &code, &[], texts, &[0, 0]);
        let text = bytes.windows(6).position(|text| text == b"a long").unwrap();
        // As long as the text: a tag and eight bytes.
        bytes[text - 3] = 5;
        ClassFile::read(&bytes).map(|class| class.pool().count())
    };
    assert_eq!(
        of(&["a long"]),
        Err(ReadError::WideConstantAtEnd {
            index: 8,
            offset: 56
        })
    );
}

#[test]
fn reused_tables_change_nothing() {
    let mut tables = Tables::default();
    for (name, bytes) in ALL {
        let class = ClassFile::read_with(bytes, tables).unwrap();
        let fresh = ClassFile::read(bytes).unwrap();
        assert_eq!(class.methods().len(), fresh.methods().len(), "{name}");
        assert_eq!(class.pool().count(), fresh.pool().count(), "{name}");
        tables = class.into_tables();
    }
}

#[test]
fn unknown_newer_version_is_read() {
    let mut bytes = SHAPES.to_vec();
    bytes[6..8].copy_from_slice(&999_u16.to_be_bytes());
    assert_eq!(ClassFile::read(&bytes).unwrap().major_version(), 999);
    assert!(crate::exercise::splice_everything(&bytes) > 10);
}

/// Otherwise a class that every JVM rejects could become valid when the pool grows.
#[test]
fn superclass_and_interfaces_must_refer_to_classes() {
    let class = class_with(49, &assemble(&[Op::Return]), &[], &[], &[0, 0]);
    let read = ClassFile::read(&class).unwrap();
    let (parent, pool) = (read.super_class().unwrap(), read.pool());
    let index = (1..pool.count()).find(|index| pool.class_name(PoolIndex(*index)) == Some(parent));
    let index = index.unwrap().to_be_bytes();
    // The superclass, and no interfaces, fields, and one method.
    let places = [index[0], index[1], 0, 0, 0, 0, 0, 1];
    let at = class.windows(8).position(|found| found == places).unwrap();
    let refused = |bytes: &[u8], structure| {
        let found = ClassFile::read(bytes).err();
        assert!(
            matches!(found, Some(ReadError::BadPoolIndex { structure: of, .. }) if of == structure),
            "{found:?}"
        );
    };
    let mut child = class.clone();
    child[at..at + 2].copy_from_slice(&pool.count().to_be_bytes());
    refused(&child, "super_class");
    let mut implementing = class.clone();
    implementing[at + 3] = 1;
    implementing.splice(at + 4..at + 4, pool.count().to_be_bytes());
    refused(&implementing, "interfaces");
}
