//! Helper classes: their references have the new names, and classes that the JVM would reject are refused.

use jvms::opcode::*;
use plan_rules::{
    HELPER_PREFIX, HelperClass, HelperError, check_helper_uses, is_helper_class, place_helpers,
};
use rewriter::{
    Assemble, ClassFile, EditPlan, InsertionPoint, Location, Member, MethodIndex, ProbeStorage,
    Scratch, Snippet, splice,
};

const STORAGE: ProbeStorage<'static> = ProbeStorage::SharedArray {
    owner: "java/lang/$Classhook",
    field: "hits",
};
const SHAPES: &[u8] = include_bytes!("../../rewriter/tests/fixtures/release25/Shapes.class");

/// A class with a nested one; both call private members of the other. `Tally` has a method reference.
const TALLY: &[u8] = include_bytes!("../../tests/plugins/requests/helpers/Tally.class");
const STEP: &[u8] = include_bytes!("../../tests/plugins/requests/helpers/Tally$Step.class");

/// Classes with members of all kinds, each after its supertypes.
const KIT: [&[u8]; 4] = [
    include_bytes!("../../rewriter/tests/fixtures/release11/Part.class"),
    include_bytes!("../../rewriter/tests/fixtures/release11/Kit.class"),
    include_bytes!("../../rewriter/tests/fixtures/release11/Kit$Piece.class"),
    include_bytes!("../../rewriter/tests/fixtures/release11/Worker.class"),
];

/// Classes that inherit members in several ways, each after its supertypes.
const INHERITED: [&[u8]; 10] = [
    include_bytes!("../../rewriter/tests/fixtures/release11/Plain.class"),
    include_bytes!("../../rewriter/tests/fixtures/release11/Acting.class"),
    include_bytes!("../../rewriter/tests/fixtures/release11/Base.class"),
    include_bytes!("../../rewriter/tests/fixtures/release11/Actor.class"),
    include_bytes!("../../rewriter/tests/fixtures/release11/Sized.class"),
    include_bytes!("../../rewriter/tests/fixtures/release11/Chunk.class"),
    include_bytes!("../../rewriter/tests/fixtures/release11/Longer.class"),
    include_bytes!("../../rewriter/tests/fixtures/release11/Named.class"),
    include_bytes!("../../rewriter/tests/fixtures/release11/Parent.class"),
    include_bytes!("../../rewriter/tests/fixtures/release11/Child.class"),
];

fn place(user: &str, files: &[&[u8]]) -> Result<Vec<HelperClass>, HelperError> {
    let files: Vec<Vec<u8>> = files.iter().map(|file| file.to_vec()).collect();
    place_helpers(user, &files)
}

/// Returns every name of a class, and every descriptor, in a constant pool.
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
fn names_combine_package_and_content() {
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
fn invalid_helper_classes_are_refused_with_the_cause() {
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
        "the class Tally$Step is given twice"
    );
    let text = b"java/lang/Object";
    let at = STEP
        .windows(text.len())
        .position(|found| found == text)
        .expect("its superclass");
    let mut other = STEP.to_vec();
    other[at] = b'J';
    assert!(refused(&[&other]).ends_with("found Java/lang/Object"));
    // aload_0, dup, getfield: an int in place of an object.
    let at = STEP
        .windows(3)
        .position(|code| code == [0x2a, 0x59, 0xb4])
        .expect("an increment");
    let mut other = STEP.to_vec();
    other[at] = 0x03;
    assert!(
        refused(&[&other]).starts_with("the JVM would reject the class Tally$Step"),
        "{}",
        refused(&[&other])
    );
}

/// Returns the JVM's error for an instruction with this operand in a class of the same package, if there is one.
fn refused_use(opcode: u8, owner: &str, member: &str, interface: bool) -> Option<String> {
    let helpers = place("Shapes", &[&KIT[..], &INHERITED].concat()).expect("sound classes");
    let suffix = format!("${owner}");
    let owner = helpers.iter().find(|it| it.name.ends_with(&suffix));
    let owner = owner.expect("a helper class").name.clone();
    let code = code_with(opcode, owner, member, interface);
    let mut plan = EditPlan::new();
    let point = InsertionPoint {
        method: MethodIndex(1),
        location: Location::Entry,
    };
    plan.insert(point, code).unwrap();
    let class = ClassFile::read(SHAPES).unwrap();
    let mut out = Vec::new();
    let report = splice(&class, &plan, &STORAGE, &mut Scratch::default(), &mut out).unwrap();
    assert_eq!(report.skipped, []);
    let made = ClassFile::read(&out).unwrap();
    assert_eq!(check_helper_uses(&made, &[]), Ok(()));
    let refused = check_helper_uses(&made, &helpers).err()?;
    Some(refused.to_string())
}

/// Returns code with this instruction and its operands on the stack. A member is its name and descriptor.
fn code_with(opcode: u8, owner: String, member: &str, interface: bool) -> Snippet {
    let mut code = Snippet::new();
    if opcode == NEW {
        code.with_type(opcode, &owner).unwrap();
        code.op(POP, 0).unwrap();
        return code;
    }
    let (name, descriptor) = member.split_once(' ').expect("a member");
    if !matches!(opcode, GETSTATIC | PUTSTATIC | INVOKESTATIC) {
        code.push_null().unwrap();
    }
    if matches!(opcode, PUTSTATIC | PUTFIELD) {
        match descriptor {
            "I" => code.push_int(1).unwrap(),
            _ => code.push_null().unwrap(),
        }
    }
    let target = Member {
        owner,
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
        interface,
    };
    match opcode {
        GETSTATIC..=PUTFIELD => code.field(opcode, target).unwrap(),
        _ => code.invoke(opcode, target).unwrap(),
    }
    if !matches!(opcode, PUTSTATIC | PUTFIELD) && !descriptor.ends_with('V') {
        code.op(POP, 0).unwrap();
    }
    code
}

#[test]
fn members_of_helper_classes_can_be_used() {
    for (opcode, owner, member, interface) in [
        (NEW, "Kit$Piece", "", false),
        (GETSTATIC, "Kit", "total I", false),
        (GETSTATIC, "Kit$Piece", "total I", false),
        (PUTSTATIC, "Kit$Piece", "total I", false),
        (GETSTATIC, "Kit", "WEIGHT Ljava/lang/Object;", false),
        (GETFIELD, "Kit$Piece", "fixed I", false),
        (PUTFIELD, "Kit", "own I", false),
        (INVOKESTATIC, "Kit$Piece", "reset ()V", false),
        (INVOKESTATIC, "Part", "made ()V", true),
        (INVOKEVIRTUAL, "Kit$Piece", "each ()V", false),
        (INVOKEVIRTUAL, "Kit", "open ()V", false),
        // Of an interface, of `Object`, and of an unknown class.
        (INVOKEVIRTUAL, "Kit$Piece", "part ()V", false),
        (INVOKEVIRTUAL, "Kit", "hashCode ()I", false),
        (INVOKEINTERFACE, "Part", "hashCode ()I", true),
        (INVOKEVIRTUAL, "Worker", "start ()V", false),
        (GETSTATIC, "Worker", "MAX_PRIORITY I", false),
        (INVOKEVIRTUAL, "Actor", "act ()V", false),
        (INVOKEVIRTUAL, "Longer", "available ()I", false),
        (GETSTATIC, "Child", "SAME Ljava/lang/Object;", false),
        (PUTSTATIC, "Parent", "SAME Ljava/lang/Object;", false),
    ] {
        let refused = refused_use(opcode, owner, member, interface);
        assert_eq!(
            refused,
            None,
            "{} {owner} {member}",
            mnemonic(opcode).unwrap()
        );
    }
}

// listing: one use that cannot be linked after another
#[test]
fn missing_members_are_named_with_the_error_of_the_jvm() {
    for (opcode, owner, member, interface, expected) in [
        (NEW, "Kit", "", false, "InstantiationError"),
        (NEW, "Part", "", false, "InstantiationError"),
        (GETSTATIC, "Kit", "total S", false, "NoSuchFieldError"),
        (
            GETSTATIC,
            "Kit",
            "own I",
            false,
            "IncompatibleClassChangeError",
        ),
        (
            GETFIELD,
            "Kit$Piece",
            "total I",
            false,
            "IncompatibleClassChangeError",
        ),
        (GETSTATIC, "Kit", "hidden I", false, "IllegalAccessError"),
        (
            PUTSTATIC,
            "Kit",
            "FIRST Ljava/lang/Object;",
            false,
            "IllegalAccessError",
        ),
        (PUTFIELD, "Kit", "fixed I", false, "IllegalAccessError"),
        // The field of the interface, which is final.
        (
            PUTSTATIC,
            "Child",
            "SAME Ljava/lang/Object;",
            false,
            "IllegalAccessError",
        ),
        (
            INVOKESTATIC,
            "Kit",
            "restart ()V",
            false,
            "NoSuchMethodError",
        ),
        (INVOKESTATIC, "Kit", "reset ()I", false, "NoSuchMethodError"),
        (
            INVOKESTATIC,
            "Kit",
            "each ()V",
            false,
            "IncompatibleClassChangeError",
        ),
        (
            INVOKEVIRTUAL,
            "Kit",
            "reset ()V",
            false,
            "IncompatibleClassChangeError",
        ),
        (
            INVOKESTATIC,
            "Kit",
            "secret ()V",
            false,
            "IllegalAccessError",
        ),
        // Static methods of interfaces are not inherited.
        (INVOKESTATIC, "Kit", "made ()V", false, "NoSuchMethodError"),
        (
            INVOKEVIRTUAL,
            "Part",
            "part ()V",
            false,
            "IncompatibleClassChangeError",
        ),
        (
            INVOKEINTERFACE,
            "Kit",
            "part ()V",
            true,
            "IncompatibleClassChangeError",
        ),
        (
            INVOKEINTERFACE,
            "Part",
            "finalize ()V",
            true,
            "NoSuchMethodError",
        ),
        (
            INVOKESTATIC,
            "Kit",
            "hashCode ()I",
            false,
            "IncompatibleClassChangeError",
        ),
    ] {
        let refused = refused_use(opcode, owner, member, interface);
        let refused = refused.unwrap_or_else(|| panic!("{owner} {member} is taken"));
        assert!(refused.contains(expected), "{refused}");
    }
    let refused = refused_use(INVOKESTATIC, "Kit", "restart ()V", false).expect("refused");
    assert!(
        refused.starts_with("invokestatic in loopAtStart(I)I at bci 0 uses the method restart()V of its helper class $Classhook$"),
        "{refused}"
    );
}

/// Returns a class file with a text replaced by another of the same length.
fn with_text(bytes: &[u8], old: &str, new: &str) -> Vec<u8> {
    let found = |at: &[u8]| at == old.as_bytes();
    let at = bytes.windows(old.len()).position(found).expect("the text");
    let mut other = bytes.to_vec();
    other[at..at + old.len()].copy_from_slice(new.as_bytes());
    other
}

#[test]
fn helper_classes_need_the_members_that_they_use() {
    let [part, kit, piece, _] = KIT;
    assert_eq!(
        refused(&[part, kit]),
        "the class Kit needs its nested class Kit$Piece: give its class file, too"
    );
    for (old, new, expected) in [
        // A private field, and methods by an instruction and by a method handle.
        (
            "hidden",
            "hidder",
            "Kit$Piece cannot be linked: getstatic in open()V at bci 0 uses the field hidden I of its helper class com/acme/$Classhook$",
        ),
        (
            "secret",
            "decret",
            "which has no such method (NoSuchMethodError)",
        ),
        (
            "each",
            "teach".get(..4).expect("ASCII"),
            "uses the method each()V",
        ),
        (
            "NestMembers",
            "NestMembexs",
            "where it is private (IllegalAccessError)",
        ),
    ] {
        let kit = with_text(kit, old, new);
        let found = refused(&[part, &kit, piece]);
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn malformed_classes_never_panic() {
    for at in 0..TALLY.len() {
        for bit in [0x01, 0x80] {
            let mut damaged = TALLY.to_vec();
            damaged[at] ^= bit;
            let _ = place("com/acme/Main", &[&damaged, STEP]);
        }
    }
}
