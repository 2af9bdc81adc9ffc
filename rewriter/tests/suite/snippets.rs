//! Snippets: the generated code, and the refusals with their reasons.

use jvms::descriptor::MethodDescriptor;
use jvms::opcode as op;
use proptest::prelude::*;
use rewriter::{
    Assemble, Bci, CheckScratch, ClassFile, EditPlan, InsertionPoint, Location, Method,
    MethodIndex, PlanBuilder, PlanError, Scratch, Snippet, SnippetError, check_splice, splice,
};

use crate::fixtures::{ALL, SHAPES, STORAGE};
use crate::program::{Op, assemble, class};
use crate::{busy, exercise, random};

/// Splices and checks; returns the mnemonics of the method's new code.
fn spliced(class: &ClassFile<'_>, site: InsertionPoint, snippet: Snippet) -> Vec<String> {
    let mut plan = PlanBuilder::new(class);
    plan.insert(site, snippet).unwrap();
    let plan = plan.finish();
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    let report = splice(class, &plan, &STORAGE, &mut scratch, &mut out).unwrap();
    assert_eq!(report.skipped, []);
    check_splice(class, &plan, &STORAGE, &out, &mut CheckScratch::default()).unwrap();
    let after = ClassFile::read(&out).unwrap();
    let method = after.method(site.method).unwrap();
    let code = method.code().unwrap().unwrap();
    let shown = code.instructions().flatten().map(|found| {
        let pool = found.pool_index();
        let member = pool.and_then(|index| after.pool().member_ref(index));
        let name = member.map(|member| format!(" {}", member.name));
        let local = found.local().map(|local| format!(" {local}"));
        let constant = pool.and_then(|index| after.pool().constant(index));
        let constant = constant.map(|constant| format!(" {constant:?}"));
        let number = found.immediate().map(|number| format!(" {number}"));
        let rest = name.or(local).or(constant).or(number).unwrap_or_default();
        format!("{}{rest}", found.mnemonic())
    });
    shown.collect()
}

#[test]
fn constants_take_their_shortest_form() {
    let class = ClassFile::read(SHAPES).unwrap();
    let mut snippet = Snippet::new();
    for value in [-1, 5, 6, -128, 128, -32_768, 32_768] {
        snippet.push_int(value).unwrap();
        snippet.op(op::POP, 0).unwrap();
    }
    for value in [0.0, 2.0, -0.0, f32::NAN] {
        snippet.push_float(value).unwrap();
        snippet.op(op::POP, 0).unwrap();
    }
    for value in [1, 2] {
        snippet.push_long(value).unwrap();
        snippet.op(op::POP2, 0).unwrap();
    }
    for value in [1.0, -0.0] {
        snippet.push_double(value).unwrap();
        snippet.op(op::POP2, 0).unwrap();
    }
    snippet.push_string("a\0é€😀").unwrap();
    snippet.op(op::POP, 0).unwrap();
    let site = InsertionPoint {
        method: MethodIndex(1),
        location: Location::Entry,
    };
    let shown = spliced(&class, site, snippet);
    let pushed: Vec<&str> = shown[..32].iter().step_by(2).map(String::as_str).collect();
    let expected = [
        "iconst_m1 -1",
        "iconst_5 5",
        "bipush 6",
        "bipush -128",
        "sipush 128",
        "sipush -32768",
        "ldc_w Integer(32768)",
        "fconst_0",
        "fconst_2",
        "ldc_w Float(-0.0)",
        "ldc_w Float(NaN)",
        "lconst_1",
        "ldc2_w Long(2)",
        "dconst_1",
        "ldc2_w Double(-0.0)",
        "ldc_w String(\"a\\0é€😀\")",
    ];
    assert_eq!(pushed, expected);
}

#[test]
fn mismatched_types_are_named() {
    let class = ClassFile::read(SHAPES).unwrap();
    let method = class
        .methods()
        .find(|method| method.is_static() && method.has_code());
    let method = method.unwrap().index();
    let site = |place| InsertionPoint {
        method,
        location: place,
    };
    let mut plan = PlanBuilder::new(&class);
    let mut wrong = Snippet::new();
    wrong.push_int(1).unwrap();
    wrong.push_long(2).unwrap();
    wrong.op(op::IADD, 0).unwrap();
    let error = plan.insert(site(Location::Entry), wrong).unwrap_err();
    let said = "operation 2 (iadd): expected int, found long";
    assert_eq!(
        error.to_string(),
        format!("{}: {said}", site(Location::Entry))
    );
    let mut left = Snippet::new();
    left.push_int(1).unwrap();
    let error = plan.insert(site(Location::Entry), left).unwrap_err();
    let PlanError::Snippet { error, .. } = error else {
        panic!("{error}")
    };
    let expected = SnippetError::Mismatch {
        at: 1,
        mnemonic: "end",
        expected: "[] on the stack".into(),
        found: "[int] on the stack".into(),
    };
    assert_eq!(error, expected);
    let mut this = Snippet::new();
    this.load_this().unwrap();
    this.op(op::POP, 0).unwrap();
    let error = plan
        .insert(site(Location::Before(Bci(0))), this)
        .unwrap_err();
    assert!(error.to_string().contains("static"), "{error}");
}

#[test]
fn parameters_are_assigned_at_the_entry_alone() {
    let mut assigned = 0;
    for (_, bytes) in ALL {
        let class = ClassFile::read(bytes).unwrap();
        for method in class.methods().filter(Method::has_code) {
            let descriptor = method.descriptor().as_bytes();
            let parameters = MethodDescriptor::parse(descriptor).unwrap().parameters();
            let site = |location| InsertionPoint {
                method: method.index(),
                location,
            };
            for (index, found) in (0..).zip(parameters) {
                let mut same = Snippet::new();
                same.load_argument(index).unwrap();
                same.store_argument(index).unwrap();
                let shown = spliced(&class, site(Location::Entry), same.clone());
                let [load, store, ..] = shown.as_slice() else {
                    panic!("{shown:?}");
                };
                assert_eq!(load.replace("load", "store"), *store);
                let mut plan = PlanBuilder::new(&class);
                let late = plan.insert(site(Location::Before(Bci(0))), same);
                assert!(late.is_err(), "{}", method.name());
                if !found.is_reference() {
                    let mut wrong = Snippet::new();
                    wrong.push_null().unwrap();
                    wrong.store_argument(index).unwrap();
                    let refused = plan.insert(site(Location::Entry), wrong).unwrap_err();
                    let told = refused.to_string();
                    assert!(told.contains("store argument"), "{told}");
                }
                assigned += 1;
            }
        }
    }
    assert!(assigned > 20, "{assigned}");
}

/// Returns a plan with busy snippets at all locations of all methods.
pub fn busy_plan(class: &ClassFile<'_>, features: u32) -> EditPlan {
    let mut plan = PlanBuilder::new(class);
    for method in class.methods() {
        let Ok(Some(code)) = method.code() else {
            continue;
        };
        let mut places = exercise::places(&code);
        places.push(Location::Unwind);
        for place in places {
            let site = InsertionPoint {
                method: method.index(),
                location: place,
            };
            assert!(
                busy::insert(&mut plan, class, site, features),
                "{site} of {}",
                method.name()
            );
        }
    }
    plan.finish()
}

#[test]
fn busy_snippets_fit_every_location() {
    for (name, bytes) in ALL {
        let class = ClassFile::read(bytes).unwrap();
        for features in [
            busy::CONSTANTS,
            busy::STACK,
            busy::OBJECTS | busy::LEAVE,
            busy::ALL,
        ] {
            let plan = busy_plan(&class, features);
            let (mut scratch, mut out) = (Scratch::default(), Vec::new());
            let report = splice(&class, &plan, &STORAGE, &mut scratch, &mut out).unwrap();
            assert_eq!(report.skipped, [], "{name}");
            check_splice(&class, &plan, &STORAGE, &out, &mut CheckScratch::default()).unwrap();
        }
    }
}

#[test]
fn check_finds_every_changed_byte_of_a_method_with_snippets() {
    let class = ClassFile::read(SHAPES).unwrap();
    let method = class.methods().find(|method| method.name() == "tables");
    let method = method.unwrap().index();
    let mut plan = PlanBuilder::new(&class);
    for place in [Location::Entry, Location::Unwind, Location::Before(Bci(0))] {
        let site = InsertionPoint {
            method,
            location: place,
        };
        assert!(busy::insert(&mut plan, &class, site, busy::ALL));
    }
    let plan = plan.finish();
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    splice(&class, &plan, &STORAGE, &mut scratch, &mut out).unwrap();
    check_splice(&class, &plan, &STORAGE, &out, &mut CheckScratch::default()).unwrap();
    let after = ClassFile::read(&out).unwrap();
    let code = after.method(method).unwrap().code_attribute().unwrap();
    let start = code.bytes.as_ptr() as usize - out.as_ptr() as usize;
    // Only the depth of the operand stack may grow.
    for at in (start..start + code.bytes.len()).skip(2) {
        let mut changed = out.clone();
        changed[at] ^= 0x11;
        assert!(
            check_splice(
                &class,
                &plan,
                &STORAGE,
                &changed,
                &mut CheckScratch::default()
            )
            .is_err(),
            "byte {}",
            at - start
        );
    }
}

/// Inserts random snippets at some locations of a class. Accepted ones are spliced and pass the check. Returns the
/// numbers of accepted and refused ones.
fn random_snippets(bytes: &[u8], seed: u64, length: usize) -> (u32, u32) {
    let class = ClassFile::read(bytes).unwrap();
    let mut plan = PlanBuilder::new(&class);
    let (mut accepted, mut refused) = (0, 0);
    let mut random = random::Random::new(seed);
    for method in class.methods() {
        let Ok(Some(code)) = method.code() else {
            continue;
        };
        let mut places = exercise::places(&code);
        places.push(Location::Unwind);
        for place in places {
            if random.below(4) > 0 {
                continue;
            }
            let site = InsertionPoint {
                method: method.index(),
                location: place,
            };
            let snippet = random::snippet(random.below(1 << 30) as u64, length);
            match plan.insert(site, snippet) {
                Ok(()) => accepted += 1,
                Err(_) => refused += 1,
            }
        }
    }
    let plan = plan.finish();
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    let report = splice(&class, &plan, &STORAGE, &mut scratch, &mut out).unwrap();
    assert_eq!(report.skipped, []);
    check_splice(&class, &plan, &STORAGE, &out, &mut CheckScratch::default()).unwrap();
    (accepted, refused)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_snippets_are_refused_or_spliced(which in 0..ALL.len(), seed in any::<u64>(), length in 1_usize..120) {
        random_snippets(ALL[which].1, seed, length);
    }
}

#[test]
fn most_random_snippets_are_accepted_and_some_are_not() {
    let counts = (0..20).map(|seed| random_snippets(SHAPES, seed, 40));
    let (accepted, refused) = counts.fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
    assert!(
        accepted > refused && refused > 0,
        "{accepted} accepted, {refused} refused"
    );
}

/// Creates `if` and `goto` to this many labels, alternating.
fn with_labels(count: usize) -> Snippet {
    let mut code = Snippet::new();
    for number in 0..count {
        let label = code.new_label();
        if number % 2 == 0 {
            code.push_int(0).unwrap();
            code.jump(op::IFEQ, label).unwrap();
        } else {
            code.jump(op::GOTO, label).unwrap();
        }
        code.place(label).unwrap();
    }
    code
}

/// Inserts code with this many labels at random locations of every method, and checks the output.
fn splice_labels(bytes: &[u8], count: usize, random: &mut random::Random) -> u32 {
    let class = ClassFile::read(bytes).unwrap();
    let mut plan = PlanBuilder::new(&class);
    for method in class.methods() {
        let Ok(Some(code)) = method.code() else {
            continue;
        };
        let mut places = exercise::places(&code);
        places.push(Location::Unwind);
        let room = 65_000_usize.saturating_sub(code.bytes().len());
        let most = (room / (4 * count)).min(places.len());
        for _ in 0..random.below(most + 1) {
            let location = places.swap_remove(random.below(places.len()));
            let method = method.index();
            let _ = plan.insert(InsertionPoint { method, location }, with_labels(count));
        }
    }
    let plan = plan.finish();
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    let report = splice(&class, &plan, &STORAGE, &mut scratch, &mut out).unwrap();
    let checked = check_splice(&class, &plan, &STORAGE, &out, &mut CheckScratch::default());
    assert_eq!(checked, Ok(()), "{count} labels: {:?}", report.skipped);
    report.rewritten
}

/// Code with many labels makes a method too long for short jumps, so that trampolines lie inside it.
#[test]
fn snippets_with_many_labels_pass_the_self_check() {
    let (mut spliced, mut random) = (0, random::Random::new(7));
    for count in [40, 100, 350, 700, 1_300] {
        for (_, bytes) in ALL {
            spliced += splice_labels(bytes, count, &mut random);
        }
        for _ in 0..25 {
            let length = 4 + random.below(12);
            let mut ops: Vec<Op> = (1..length)
                .map(|_| match random.below(5) {
                    0 => Op::Nops(1 + random.below(20)),
                    1 | 2 => Op::If(random.below(length)),
                    3 => Op::Goto(random.below(length)),
                    _ => Op::Table(vec![random.below(length), random.below(length)]),
                })
                .collect();
            ops.push(Op::Return);
            spliced += splice_labels(&class(&assemble(&ops)), count, &mut random);
        }
    }
    assert!(spliced > 150, "{spliced}");
}
