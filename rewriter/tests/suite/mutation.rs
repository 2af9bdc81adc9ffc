//! Malformed classes never panic and never overflow a small stack, and spliced output passes its check.

use jvms::opcode;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rewriter::{
    Assemble, CheckScratch, ClassFile, EditPlan, InsertionPoint, Location, Scratch, check_splice,
    splice,
};

use crate::{exercise, fixtures, generated, random};

#[derive(Debug, Clone)]
enum Damage {
    Set(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Repeat(prop::sample::Index, u8),
    Remove(prop::sample::Index, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        8 => (at(), prop_oneof![any::<u8>(), Just(0), Just(255), 0_u8..16]).prop_map(|(at, byte)| Damage::Set(at, byte)),
        1 => at().prop_map(Damage::Cut),
        1 => (at(), any::<u8>()).prop_map(|(at, count)| Damage::Repeat(at, count)),
        1 => (at(), any::<u8>()).prop_map(|(at, count)| Damage::Remove(at, count)),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    match damage {
        Damage::Set(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Damage::Repeat(at, count) => {
            let at = at.index(bytes.len());
            let end = (at + usize::from(*count)).min(bytes.len());
            let piece = bytes[at..end].to_vec();
            bytes.splice(at..at, piece);
        }
        Damage::Remove(at, count) => {
            let at = at.index(bytes.len());
            let end = (at + usize::from(*count)).min(bytes.len());
            bytes.drain(at..end);
        }
    }
}

/// Runs `work` on a stack of 128 KiB.
fn on_a_small_stack(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(128 * 1024)
            .spawn_scoped(scope, work);
        thread.unwrap().join().unwrap();
    });
}

fn exercise_all(bytes: &[u8]) {
    on_a_small_stack(|| {
        exercise::read(bytes);
        exercise::splice_everything(bytes);
        exercise::round_trip(bytes);
        insert_everywhere(bytes);
    });
}

/// Inserts unchecked snippets at every location; the output must pass the check.
fn insert_everywhere(bytes: &[u8]) {
    let Ok(class) = ClassFile::read(bytes) else {
        return;
    };
    let mut plan = EditPlan::new();
    for method in class.methods() {
        let Ok(Some(code)) = method.code() else {
            continue;
        };
        let mut places = exercise::places(&code);
        places.push(Location::Unwind);
        for (number, place) in places.into_iter().enumerate() {
            let site = InsertionPoint {
                method: method.index(),
                location: place,
            };
            let mut snippet = random::snippet((bytes.len() + number) as u64, 20);
            if number % 7 == 0 {
                snippet.load_argument(number as u8 % 3).unwrap();
                snippet.op(opcode::POP, 0).unwrap();
            }
            plan.insert(site, snippet).unwrap();
        }
    }
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    if splice(&class, &plan, &fixtures::STORAGE, &mut scratch, &mut out).is_ok() {
        check_splice(
            &class,
            &plan,
            &fixtures::STORAGE,
            &out,
            &mut CheckScratch::default(),
        )
        .unwrap();
    }
}

/// Returns `PROPTEST_CASES`, or a default for daily runs.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(384)
}

/// Uses the same cases in every run, unless `PROPTEST_RNG_SEED` is set. Fuzz targets and `PROPTEST_CASES` search for
/// new ones.
fn config() -> ProptestConfig {
    let chosen = ProptestConfig::default();
    let seed = match chosen.rng_seed {
        RngSeed::Random => RngSeed::Fixed(26),
        fixed => fixed,
    };
    ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        rng_seed: seed,
        ..chosen
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn malformed_classes_never_panic(
        which in 0..fixtures::ALL.len(),
        damages in prop::collection::vec(damage(), 1..6),
    ) {
        let mut bytes = fixtures::ALL[which].1.to_vec();
        damages.iter().for_each(|damage| apply(&mut bytes, damage));
        exercise_all(&bytes);
    }

    #[test]
    fn random_bytes_never_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let head = [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52];
        let length = bytes.len().min(8);
        bytes[..length].copy_from_slice(&head[..length]);
        exercise_all(&bytes);
    }

    #[test]
    fn generated_plans_are_applied_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        on_a_small_stack(|| assert_ne!(edit_all(&bytes), u32::MAX));
    }

    #[test]
    fn generated_plans_never_panic_on_malformed_classes(
        choices in prop::collection::vec(any::<u8>(), 160),
        which in 0..fixtures::ALL.len(),
        damages in prop::collection::vec(damage(), 1..3),
    ) {
        let mut bytes = fixtures::ALL[which].1.to_vec();
        damages.iter().for_each(|damage| apply(&mut bytes, damage));
        bytes.splice(0..0, choices);
        on_a_small_stack(|| assert_ne!(edit_all(&bytes), u32::MAX));
    }
}

fn edit_all(bytes: &[u8]) -> u32 {
    generated::snippets(bytes) + generated::edits(bytes) + generated::merge(bytes)
}

/// Inputs found by fuzzing, by target and fault.
#[test]
fn former_failures_stay_fixed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/inputs");
    let mut tried = 0;
    for target in std::fs::read_dir(folder).unwrap() {
        let target = target.unwrap();
        let name = target.file_name();
        let run: fn(&[u8]) -> u32 = match name.to_str().unwrap() {
            "read" => |bytes| exercise::read(bytes) as u32,
            "splice" => exercise::splice_everything,
            "round_trip" => exercise::round_trip,
            "snippets" => generated::snippets,
            "edits" => generated::edits,
            "merge" => generated::merge,
            other => panic!("{other} is no target"),
        };
        for input in std::fs::read_dir(target.path()).unwrap() {
            let bytes = std::fs::read(input.unwrap().path()).unwrap();
            on_a_small_stack(|| assert_ne!(run(&bytes), u32::MAX));
            tried += 1;
        }
    }
    assert!(tried > 0);
}

/// Guards against tests whose plans are all refused.
#[test]
fn most_generated_plans_have_edits_that_apply() {
    let applied = (0..100_u8).filter(|seed| edit_all(&[*seed; 3]) > 5).count();
    assert!(applied > 60, "{applied} of 100");
}

/// Mutates every byte of the output: the fast path of the check finds the same faults as the general one.
#[test]
fn fast_path_and_general_check_agree() {
    let (mut short, mut general) = (CheckScratch::default(), CheckScratch::general());
    let mut wrong = 0;
    for (name, bytes) in fixtures::ALL {
        let class = ClassFile::read(bytes).unwrap();
        let plan = exercise::plan(&class, |number| number % 3 != 0);
        let mut out = Vec::new();
        let storage = &fixtures::STORAGE;
        splice(&class, &plan, storage, &mut Scratch::default(), &mut out).unwrap();
        for at in 0..out.len() {
            let before = out[at];
            for other in [before ^ 1, before.wrapping_add(8), !before] {
                out[at] = other;
                let verdict = check_splice(&class, &plan, storage, &out, &mut short);
                let expected = check_splice(&class, &plan, storage, &out, &mut general);
                assert_eq!(verdict, expected, "{name} at {at}");
                wrong += u32::from(verdict.is_err());
            }
            out[at] = before;
        }
    }
    assert!(wrong > 10_000, "{wrong}");
}

#[test]
fn fixtures_are_spliced_at_every_location() {
    for (name, bytes) in fixtures::ALL {
        let class = rewriter::ClassFile::read(bytes).unwrap();
        let methods = class.methods().filter(|method| method.has_code()).count();
        assert_eq!(
            exercise::splice_everything(bytes) as usize,
            methods,
            "{name}"
        );
        assert!(exercise::read(bytes) > 0);
    }
}

#[test]
fn annotations_nested_twenty_thousand_deep_need_no_stack() {
    let code = crate::program::assemble(&[crate::program::Op::Return]);
    let mut annotation = vec![0, 1, 0x43, 0, 0, 0, 0, 8, 0, 1, 0, 8];
    annotation.extend([b'[', 0, 1].repeat(20_000));
    annotation.extend([b'B', 0, 8]);
    let mut attributes = vec![0, 1, 0, 8];
    attributes.extend((annotation.len() as u32).to_be_bytes());
    attributes.extend(annotation);
    let texts = ["RuntimeVisibleTypeAnnotations"];
    let bytes = crate::program::class_with(52, &code, &[], &texts, &attributes);
    exercise_all(&bytes);
    assert_eq!(
        exercise::splice_everything(&bytes),
        0,
        "the method is left alone"
    );
}
