//! Classes that a plugin brings: their new names stand everywhere, and what the JVM would refuse does not pass.

use rewriter::{
    ClassFile, HELPER_PREFIX, HelperClass, HelperError, is_helper_class, place_helpers,
};

/// A class with a nested one, which call one another's private members; `Tally` has a method reference.
const TALLY: &[u8] = include_bytes!("../../../tests/plugins/requests/helpers/Tally.class");
const STEP: &[u8] = include_bytes!("../../../tests/plugins/requests/helpers/Tally$Step.class");

fn place(user: &str, files: &[&[u8]]) -> Result<Vec<HelperClass>, HelperError> {
    let files: Vec<Vec<u8>> = files.iter().map(|file| file.to_vec()).collect();
    place_helpers(user, &files)
}

/// Every name of a class, and every descriptor, in a constant pool.
fn names(class: &ClassFile<'_>) -> Vec<String> {
    let pool = class.pool();
    let indices = (1..pool.count()).map(rewriter::PoolIndex);
    let texts = indices.flat_map(|index| {
        let member = pool.member_ref(index).map(|found| found.descriptor);
        [pool.class_name(index), member].into_iter().flatten()
    });
    texts.map(|text| text.to_string()).collect()
}

#[test]
fn names_are_those_of_the_package_and_of_what_the_classes_are() {
    for (user, package) in [("com/acme/Main", "com/acme/"), ("Main", "")] {
        let placed = place(user, &[TALLY, STEP]).expect("sound classes");
        let [tally, step] = placed.as_slice() else {
            panic!("{placed:?}");
        };
        let prefix = format!("{package}{HELPER_PREFIX}");
        for (helper, simple) in [(tally, "$Tally"), (step, "$Tally$Step")] {
            assert!(
                helper.name.starts_with(&prefix) && helper.name.ends_with(simple),
                "{helper:?}"
            );
            assert!(is_helper_class(helper.name.as_bytes()));
            let class = ClassFile::read(&helper.bytes).expect("a class");
            assert_eq!(class.this_class().to_string(), helper.name);
            let names = names(&class);
            let old = |name: &&String| {
                ["Tally", "Tally$Step"].contains(&name.as_str()) || name.contains("LTally")
            };
            assert_eq!(names.iter().find(old), None, "{names:?}");
        }
        let nest = ClassFile::read(&step.bytes)
            .expect("a class")
            .nest_host()
            .map(|it| it.to_string());
        assert_eq!(nest.as_ref(), Some(&tally.name));
        assert_eq!(place(user, &[TALLY, STEP]), Ok(placed.clone()));
    }
    let alone = place("Main", &[STEP]).expect("sound");
    let both = place("Main", &[TALLY, STEP]).expect("sound");
    assert_ne!(
        alone.first().map(|it| &it.name),
        both.get(1).map(|it| &it.name)
    );
    assert!(!is_helper_class(b"com/acme/Main$Classhook$1"));
    assert!(!is_helper_class(b"com/$Classhook$1/Main"));
}

fn refused(files: &[&[u8]]) -> String {
    place("com/acme/Main", files)
        .expect_err("refused")
        .to_string()
}

#[test]
fn what_the_jvm_would_refuse_is_refused_with_its_cause() {
    let version = |major: u8| [&STEP[..6], &[0, major], &STEP[8..]].concat();
    assert!(refused(&[STEP, b"text"]).starts_with("class file 1 cannot be read"));
    assert!(refused(&[&STEP[..STEP.len() - 1]]).starts_with("class file 0 cannot be read"));
    assert!(refused(&[&version(50)]).ends_with("found version 50"));
    assert!(
        place("Main", &[&version(99)]).is_ok(),
        "some JVM may know it"
    );
    assert_eq!(
        refused(&[STEP, STEP]),
        "the class Tally$Step is there twice"
    );
    let text = b"java/lang/Object";
    let at = STEP
        .windows(text.len())
        .position(|found| found == text)
        .expect("its superclass");
    let mut other = STEP.to_vec();
    other[at] = b'J';
    assert!(refused(&[&other]).ends_with("found Java/lang/Object"));
    // aload_0, dup, getfield: an int where an object is needed.
    let at = STEP
        .windows(3)
        .position(|code| code == [0x2a, 0x59, 0xb4])
        .expect("an increment");
    let mut other = STEP.to_vec();
    other[at] = 0x03;
    assert!(
        refused(&[&other]).starts_with("the class Tally$Step is not sound"),
        "{}",
        refused(&[&other])
    );
}

#[test]
fn damaged_classes_never_panic() {
    for at in 0..TALLY.len() {
        for bit in [0x01, 0x80] {
            let mut damaged = TALLY.to_vec();
            damaged[at] ^= bit;
            let _ = place("com/acme/Main", &[&damaged, STEP]);
        }
    }
}
