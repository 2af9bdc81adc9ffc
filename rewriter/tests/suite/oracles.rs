//! Other readers of class files agree with our views and output. Their own panics are ignored, and they read only
//! output of classes that they could read before.

use std::panic::catch_unwind;

use cafebabe::attributes::AttributeData;
use rewriter::{ClassFile, Scratch, splice};

use crate::exercise;
use crate::fixtures::{ALL, STORAGE};

fn spliced(bytes: &[u8]) -> Vec<u8> {
    let class = ClassFile::read(bytes).unwrap();
    let mut out = Vec::new();
    let plan = exercise::plan(&class, |_| true);
    let report = splice(&class, &plan, &STORAGE, &mut Scratch::default(), &mut out).unwrap();
    assert_eq!(report.skipped, []);
    out
}

/// Name, descriptor, bytes of code and number of handlers of each method.
type Methods = Vec<(String, String, usize, usize)>;

fn by_cafebabe(bytes: &[u8]) -> Option<Methods> {
    let read = || {
        let class = cafebabe::parse_class(bytes).ok()?;
        let methods = class.methods.iter().map(|method| {
            let code = method
                .attributes
                .iter()
                .find_map(|attribute| match &attribute.data {
                    AttributeData::Code(code) => {
                        Some((code.code.len(), code.exception_table.len()))
                    }
                    _ => None,
                });
            let (length, handlers) = code.unwrap_or_default();
            (
                method.name.to_string(),
                method.descriptor.to_string(),
                length,
                handlers,
            )
        });
        Some(methods.collect())
    };
    catch_unwind(read).ok().flatten()
}

fn by_us(bytes: &[u8]) -> Methods {
    let class = ClassFile::read(bytes).unwrap();
    let methods = class.methods().map(|method| {
        let code = method.code().unwrap();
        let (length, handlers) = code
            .map(|code| (code.bytes().len(), code.exception_table().len()))
            .unwrap_or_default();
        (
            method.name().to_string(),
            method.descriptor().to_string(),
            length,
            handlers,
        )
    });
    methods.collect()
}

fn ristretto_accepts(bytes: &[u8]) -> bool {
    let read = || {
        ristretto_classfile::ClassFile::from_slice(bytes).is_ok_and(|class| class.verify().is_ok())
    };
    catch_unwind(read).unwrap_or(false)
}

#[test]
fn cafebabe_reads_the_same_methods_before_and_after() {
    let mut compared = 0;
    for (name, bytes) in ALL {
        let Some(theirs) = by_cafebabe(bytes) else {
            continue;
        };
        assert_eq!(theirs, by_us(bytes), "{name}");
        let out = spliced(bytes);
        let after = by_cafebabe(&out).unwrap_or_else(|| panic!("{name} spliced is refused"));
        assert_eq!(after, by_us(&out), "{name} spliced");
        compared += 1;
    }
    assert!(compared >= ALL.len() - 2);
}

#[test]
fn ristretto_accepts_what_it_accepted_before() {
    let mut compared = 0;
    for (name, bytes) in ALL {
        if ristretto_accepts(bytes) {
            assert!(ristretto_accepts(&spliced(bytes)), "{name}");
            compared += 1;
        }
    }
    assert!(compared >= ALL.len() - 2);
}
