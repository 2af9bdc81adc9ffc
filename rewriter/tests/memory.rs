//! Reading and splicing a class takes little memory and stack, even if the class has false counts.

#[expect(dead_code, reason = "shared with the suite")]
#[path = "suite/exercise.rs"]
mod exercise;
#[expect(dead_code, reason = "shared with the suite")]
#[path = "suite/fixtures.rs"]
mod fixtures;
#[expect(dead_code, reason = "shared with the suite")]
#[path = "suite/program.rs"]
mod program;

use program::{Op, assemble, class, class_with};
use rewriter::{CheckScratch, ClassFile, Scratch, check_splice, splice};

const STACK: usize = 128 * 1024;

/// Maximum bytes held at a time for an input of this length.
fn bound(input: usize) -> u64 {
    16 * input as u64 + (1 << 20)
}

/// Returns the peak memory of `work`, on a small stack.
fn peak(work: impl FnOnce() + Send) -> u64 {
    std::thread::scope(|scope| {
        let measured = || allocation_counter::measure(work).bytes_max;
        let thread = std::thread::Builder::new().stack_size(STACK);
        thread
            .spawn_scoped(scope, measured)
            .unwrap()
            .join()
            .unwrap()
    })
}

/// Reads all of a class, then splices every location and un-splices it.
fn assert_bounded(name: &str, bytes: &[u8]) {
    let read = peak(|| assert_ne!(exercise::read(bytes), usize::MAX));
    assert!(
        read <= bound(bytes.len()),
        "{name}: reading took {read} bytes"
    );
    let Ok(class) = ClassFile::read(bytes) else {
        return;
    };
    let plan = exercise::plan(&class, |_| true);
    let input = bytes.len() + size_of_val(plan.edits());
    let spliced = peak(|| {
        let mut check_scratch = CheckScratch::default();
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        if splice(&class, &plan, &fixtures::STORAGE, &mut scratch, &mut out).is_ok() {
            let checked = check_splice(&class, &plan, &fixtures::STORAGE, &out, &mut check_scratch);
            assert!(checked.is_ok(), "{name}: {checked:?}");
        }
    });
    assert!(
        spliced <= bound(input),
        "{name}: splicing took {spliced} bytes for {input}"
    );
}

/// Replaces every count of two bytes by 65,535.
#[test]
fn false_counts_take_no_memory() {
    for (name, bytes) in fixtures::ALL {
        for at in (0..bytes.len() - 1).step_by(5) {
            let mut lying = bytes.to_vec();
            lying[at..at + 2].fill(0xFF);
            let read = peak(|| assert_ne!(exercise::read(&lying), usize::MAX));
            assert!(read <= bound(lying.len()), "{name} at {at}: {read} bytes");
        }
    }
}

#[test]
fn whole_classes_take_little_memory() {
    for (name, bytes) in fixtures::ALL {
        assert_bounded(name, bytes);
    }
}

#[test]
fn longest_method_takes_little_memory() {
    assert_bounded("nops", &class(&assemble(&[Op::Nops(65_000), Op::Return])));
    let gotos: Vec<Op> = (1..=20_000).map(Op::If).chain([Op::Return]).collect();
    assert_bounded("branches", &class(&assemble(&gotos)));
}

#[test]
fn full_pool_and_exception_table_take_little_memory() {
    let texts = vec!["x"; 65_000];
    let code = assemble(&[Op::Return]);
    assert_bounded("pool", &class_with(49, &code, &[], &texts, &[0, 0]));
    let handlers = vec![[0, 1, 0]; 65_000];
    assert_bounded("handlers", &class_with(49, &code, &handlers, &[], &[0, 0]));
}
