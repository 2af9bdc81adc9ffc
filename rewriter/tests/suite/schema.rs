//! Restrictions on new versions of a loaded class.

use rewriter::ClassFile;
use rewriter::schema::compare;

use crate::class_builder::{ClassBuilder, Listed, class};
use crate::fixtures;

/// Returns the rules that this change of the sample class would break, one line each.
fn broken(change: impl Fn(&mut ClassBuilder)) -> Vec<String> {
    let (before, mut after) = (class().bytes(), class());
    change(&mut after);
    let after = after.bytes();
    let read = |bytes| ClassFile::read(bytes).unwrap();
    compare(&read(&before), &read(&after))
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// A change, and the broken rules.
type Case<'c> = (&'c dyn Fn(&mut ClassBuilder), String);

fn unsupported(name: &str) -> String {
    format!("JVMTI_ERROR_UNSUPPORTED_REDEFINITION_{name}")
}

#[test]
fn same_class_breaks_no_rule() {
    assert!(broken(|_| ()).is_empty());
    for (name, bytes) in fixtures::ALL {
        let class = ClassFile::read(bytes).unwrap();
        assert_eq!(compare(&class, &class), [], "{name}");
    }
}

#[test]
fn changes_that_the_jvm_allows_break_no_rule() {
    let none: [String; 0] = [];
    // a method that is no longer native, methods in another order
    assert_eq!(broken(|class| class.methods[1].0 = 1), none);
    assert_eq!(broken(|class| class.methods.reverse()), none);
    // the order of nest members, other attributes
    let members = Listed::Classes(vec!["sample/N", "sample/M"]);
    assert_eq!(
        broken(|class| class.attributes[1].1 = members.clone()),
        none
    );
    assert_eq!(
        broken(|class| class.attributes.push(("Other", Listed::One("x")))),
        none
    );
}

// listing: one rule after another
#[test]
fn every_broken_rule_is_named_with_its_member() {
    let cases: [Case<'_>; 14] = [
        (
            &|class| class.name = "sample/B",
            "class name changed from sample/A to sample/B: JVMTI_ERROR_NAMES_DONT_MATCH (69)"
                .into(),
        ),
        (
            &|class| class.parent = "sample/P",
            format!(
                "superclass changed from java/lang/Object to sample/P: {} (66)",
                unsupported("HIERARCHY_CHANGED")
            ),
        ),
        (
            &|class| class.interfaces.reverse(),
            format!(
                "list of direct superinterfaces changed from [sample/I, sample/J] to [sample/J, sample/I]: {} (66)",
                unsupported("HIERARCHY_CHANGED")
            ),
        ),
        (
            &|class| drop(class.attributes.remove(0)),
            format!(
                "NestHost was removed: {} (72)",
                unsupported("CLASS_ATTRIBUTE_CHANGED")
            ),
        ),
        (
            &|class| class.attributes[1].1 = Listed::Classes(vec!["sample/M"]),
            format!(
                "NestMembers changed from [sample/M, sample/N] to [sample/M]: {} (72)",
                unsupported("CLASS_ATTRIBUTE_CHANGED")
            ),
        ),
        (
            &|class| {
                class.attributes[2].1 =
                    Listed::Components(vec![("first", "I", None), ("list", "LL;", None)])
            },
            format!(
                "Record changed from [first:I, list:LL;<TT;>] to [first:I, list:LL;]: {} (72)",
                unsupported("CLASS_ATTRIBUTE_CHANGED")
            ),
        ),
        (
            &|class| drop(class.attributes.pop()),
            format!(
                "PermittedSubclasses was removed: {} (72)",
                unsupported("CLASS_ATTRIBUTE_CHANGED")
            ),
        ),
        (
            &|class| class.flags = 0x31,
            format!(
                "class modifiers changed from 0x0021 to 0x0031: {} (70)",
                unsupported("CLASS_MODIFIERS_CHANGED")
            ),
        ),
        (
            &|class| class.fields.push((1, "third", "I")),
            format!(
                "field third:I was added: {} (64)",
                unsupported("SCHEMA_CHANGED")
            ),
        ),
        (
            &|class| class.fields.truncate(1),
            format!(
                "field second:J was removed: {} (64)",
                unsupported("SCHEMA_CHANGED")
            ),
        ),
        (
            &|class| class.fields.reverse(),
            format!(
                "field first:I was moved; field second:J has its position: {} (64)",
                unsupported("SCHEMA_CHANGED")
            ),
        ),
        (
            &|class| class.methods.push((0x1A, "more", "()V")),
            format!(
                "method more()V was added: {} (63)",
                unsupported("METHOD_ADDED")
            ),
        ),
        (
            &|class| class.methods.retain(|method| method.1 != "run"),
            format!(
                "method run()V was removed: {} (67)",
                unsupported("METHOD_DELETED")
            ),
        ),
        (
            &|class| class.methods[0].0 = 0x21,
            format!(
                "method run()V modifiers changed from 0x0001 to 0x0021: {} (71)",
                unsupported("METHOD_MODIFIERS_CHANGED")
            ),
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(broken(change), [expected]);
    }
}

#[test]
fn all_broken_rules_are_reported() {
    let found = broken(|class| {
        class.flags = 0x31;
        class.fields[0].2 = "F";
        class.methods[0].2 = "()I";
    });
    let numbers: Vec<_> = found
        .iter()
        .map(|line| line.rsplit('(').next().unwrap())
        .collect();
    assert_eq!(numbers, ["70)", "64)", "64)", "67)", "63)"], "{found:#?}");
}
