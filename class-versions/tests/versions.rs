//! Comparison of class files by content, and fitted patches.

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../rewriter/tests/suite/fixtures.rs"]
mod fixtures;

use class_versions::fitting::{Pair, changed_methods, fit, ineffective, returns_from};
use class_versions::{NoClassPath, content};
use rewriter::{Annotation, ClassEdit, ClassFile, EditPlan, Scratch, Target, splice};

use fixtures::{ALL, STORAGE};

fn read(bytes: &[u8]) -> ClassFile<'_> {
    ClassFile::read(bytes).unwrap()
}

/// Returns the class with an annotation that reflection sees.
fn annotated(bytes: &[u8]) -> Vec<u8> {
    let class = read(bytes);
    let mut plan = EditPlan::new();
    let edit = ClassEdit::AddAnnotation {
        target: Target::Class,
        visible: true,
        annotation: Annotation {
            descriptor: "La/Mark;".to_owned(),
            elements: Vec::new(),
        },
    };
    plan.edit_class(edit).unwrap();
    let mut out = Vec::new();
    splice(&class, &plan, &STORAGE, &mut Scratch::default(), &mut out).unwrap();
    out
}

#[test]
fn content_ignores_method_order_but_not_annotations() {
    for (name, bytes) in ALL {
        let ordered = content::in_order(&read(bytes));
        assert_eq!(ordered.len(), bytes.len(), "{name}");
        assert!(content::is_same(&read(&ordered), &read(bytes)), "{name}");
        assert_eq!(content::in_order(&read(&ordered)), ordered, "{name}");
        let other = annotated(bytes);
        assert!(!content::is_same(&read(&other), &read(bytes)), "{name}");
    }
}

#[test]
fn unchanged_class_is_fitted_unchanged() {
    for (name, bytes) in ALL {
        let pair = Pair {
            new: bytes,
            old: Some(bytes),
            original: Some(bytes),
            is_new: false,
        };
        let fitted = fit(&[pair], &NoClassPath).remove(0);
        assert_eq!(fitted.bytes, *bytes, "{name}");
        assert!(
            fitted.remarks.is_empty() && fitted.confused.is_empty(),
            "{name}"
        );
        assert_eq!(
            ineffective(&read(bytes), &read(bytes), true, false),
            [""; 0],
            "{name}"
        );
        assert_eq!(changed_methods(&read(bytes), &read(bytes)), [], "{name}");
    }
}

/// Malformed classes are read to the end.
#[test]
fn malformed_classes_are_compared_without_panic() {
    for (_, bytes) in ALL {
        for at in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 0x55;
            let Ok(class) = ClassFile::read(&damaged) else {
                continue;
            };
            let _ = content::is_same(&class, &read(bytes));
            let _ = content::is_reconstituted(&class, &read(bytes));
            let _ = ineffective(&read(bytes), &class, true, false);
            let pair = Pair {
                new: &damaged,
                old: Some(bytes),
                original: Some(bytes),
                is_new: false,
            };
            let _ = fit(&[pair], &NoClassPath);
            for method in class.methods() {
                let _ = returns_from(&method, 0);
            }
        }
    }
}
