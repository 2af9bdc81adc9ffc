//! Output that is wrong on purpose, as a fault of the splice would make it: the self-check refuses all of it.

use jvms::opcode as op;
use rewriter::{
    Attribute, Bci, CheckScratch, ClassFile, EditPlan, Location, Method, MethodIndex, PoolIndex,
    Scratch, check_splice, splice,
};

use crate::fixtures::{ALL, SHAPES, STORAGE, hits};
use crate::program::class_with;
use crate::{busy, edited, exercise, snippets};

const TOP: u8 = 0;
const OBJECT: u8 = 7;
const UNINITIALIZED: u8 = 8;

/// One frame of the table.
#[derive(Debug, Clone, PartialEq)]
struct Frame {
    tag: u8,
    delta: u16,
    /// Types of local variables and stack; one list if the frame has only one of them.
    types: Vec<Vec<(u8, u16)>>,
}

struct Bytes<'b>(&'b [u8]);

impl Bytes<'_> {
    fn u1(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap();
        self.0 = rest;
        *first
    }

    fn u2(&mut self) -> u16 {
        u16::from(self.u1()) << 8 | u16::from(self.u1())
    }

    fn types(&mut self, count: u16) -> Vec<(u8, u16)> {
        let mut one = || match self.u1() {
            tag @ (OBJECT | UNINITIALIZED) => (tag, self.u2()),
            tag => (tag, 0),
        };
        (0..count).map(|_| one()).collect()
    }
}

/// Reads the frames, those with a short delta in their long form.
fn read(table: &[u8]) -> Vec<Frame> {
    let mut bytes = Bytes(table);
    let one = |bytes: &mut Bytes<'_>| {
        let (tag, delta) = match bytes.u1() {
            tag @ 0..=63 => (251, u16::from(tag)),
            tag @ 64..=127 => (247, u16::from(tag) - 64),
            tag => (tag, bytes.u2()),
        };
        let types = match tag {
            247 => vec![bytes.types(1)],
            252..=254 => vec![bytes.types(u16::from(tag) - 251)],
            255 => (0..2)
                .map(|_| {
                    let count = bytes.u2();
                    bytes.types(count)
                })
                .collect(),
            _ => Vec::new(),
        };
        Frame { tag, delta, types }
    };
    (0..bytes.u2()).map(|_| one(&mut bytes)).collect()
}

fn written(frames: &[Frame]) -> Vec<u8> {
    let mut bytes = (frames.len() as u16).to_be_bytes().to_vec();
    for frame in frames {
        bytes.push(frame.tag);
        bytes.extend(frame.delta.to_be_bytes());
        for types in &frame.types {
            if frame.tag == 255 {
                bytes.extend((types.len() as u16).to_be_bytes());
            }
            for (tag, value) in types {
                bytes.push(*tag);
                if matches!(*tag, OBJECT | UNINITIALIZED) {
                    bytes.extend(value.to_be_bytes());
                }
            }
        }
    }
    bytes
}

fn frames_of<'a>(method: &Method<'_, 'a>) -> Option<Attribute<'a>> {
    let code = method.code().unwrap()?;
    code.attributes()
        .find(|found| found.name == "StackMapTable")
}

/// Returns the offset of the attribute's contents in the class.
fn offset(class: &[u8], attribute: &Attribute<'_>) -> usize {
    attribute.bytes.as_ptr() as usize - class.as_ptr() as usize
}

/// Returns the class with this table in the method.
fn with(class: &[u8], method: &Method<'_, '_>, table: &[u8]) -> Vec<u8> {
    let (code, frames) = (method.code_attribute().unwrap(), frames_of(method).unwrap());
    let (start, end) = (
        offset(class, &frames),
        offset(class, &frames) + frames.bytes.len(),
    );
    let code_length = code.bytes.len() - frames.bytes.len() + table.len();
    let mut bytes = class[..start].to_vec();
    bytes[start - 4..].copy_from_slice(&(table.len() as u32).to_be_bytes());
    let at = offset(class, &code) - 4;
    bytes[at..at + 4].copy_from_slice(&(code_length as u32).to_be_bytes());
    bytes.extend(table);
    bytes.extend(&class[end..]);
    bytes
}

/// Returns variants of the table with one fault each: a type that is weaker or different, a shifted, missing or
/// additional frame.
fn wrong_ones(class: &ClassFile<'_>, frames: &[Frame], others: &[u16]) -> Vec<Vec<Frame>> {
    let mut all = Vec::new();
    for at in 0..frames.len() {
        let mut change = |change: &dyn Fn(&mut Vec<Frame>)| {
            let mut wrong = frames.to_vec();
            change(&mut wrong);
            all.push(wrong);
        };
        let parts = &frames[at].types;
        let places = parts.iter().enumerate();
        let places = places.flat_map(|(part, types)| (0..types.len()).map(move |at| (part, at)));
        for (part, place) in places {
            let here = parts[part][place];
            let plain = [TOP, 1, 2, 5].map(|tag| (tag, 0));
            let objects = others.iter().map(|class| (OBJECT, *class));
            let name = |found: (u8, u16)| class.pool().class_name(PoolIndex(found.1));
            let other = |found: &(u8, u16)| (found.0, name(*found)) != (here.0, name(here));
            for other in plain.into_iter().chain(objects).filter(other) {
                change(&|wrong| wrong[at].types[part][place] = other);
            }
        }
        change(&|wrong| {
            wrong[at].delta += 1;
            if let Some(next) = wrong.get_mut(at + 1) {
                next.delta = next.delta.wrapping_sub(1);
            }
        });
        change(&|wrong| {
            let gone = wrong.remove(at);
            if let Some(next) = wrong.get_mut(at) {
                next.delta += gone.delta + 1;
            }
        });
        if frames[at].delta > 0 {
            change(&|wrong| {
                wrong[at].delta -= 1;
                let (tag, delta, types) = (252, 0, vec![vec![(5, 0)]]);
                wrong.insert(at, Frame { tag, delta, types });
            });
        }
    }
    all
}

/// Returns the pool index of the class for each of these names.
fn classes(class: &ClassFile<'_>, names: &[&str]) -> Vec<u16> {
    let index = |name: &&str| {
        let mut all = (1..class.pool().count()).map(PoolIndex);
        all.find(|index| {
            class
                .pool()
                .class_name(*index)
                .is_some_and(|found| found == **name)
        })
    };
    let found = names.iter().filter_map(index);
    found.map(|index| index.0).collect()
}

/// Returns the number of refused tables, for all methods with added frames.
fn refused(bytes: &[u8], plan: &EditPlan) -> usize {
    let class = ClassFile::read(bytes).unwrap();
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    splice(&class, plan, &STORAGE, &mut scratch, &mut out).unwrap();
    let mut check = CheckScratch::default();
    let mut verdict = |out: &[u8]| check_splice(&class, plan, &STORAGE, out, &mut check);
    verdict(&out).unwrap();
    let after = ClassFile::read(&out).unwrap();
    let others = classes(&after, &["java/lang/Integer", "java/lang/Object"]);
    let mut count = 0;
    for (method, old) in after.methods().zip(class.methods()) {
        let frames = frames_of(&method).map(|found| read(found.bytes));
        let had = frames_of(&old).map_or(0, |found| read(found.bytes).len());
        let Some(frames) = frames.filter(|found| found.len() > had) else {
            continue;
        };
        let same = with(&out, &method, &written(&frames));
        assert_eq!(verdict(&same), Ok(()), "{}: in another form", method.name());
        for wrong in wrong_ones(&after, &frames, &others) {
            let damaged = with(&out, &method, &written(&wrong));
            if verdict(&damaged).is_ok() {
                let pairs = frames.iter().zip(&wrong);
                let differ: Vec<_> = pairs.filter(|(one, other)| one != other).collect();
                panic!("{}: {differ:?} passes", method.name());
            }
            count += 1;
        }
    }
    count
}

#[test]
fn wrong_frames_of_snippets_are_refused() {
    let mut count = 0;
    for (_, bytes) in ALL.iter().filter(|(_, bytes)| bytes.len() < 1_050) {
        let class = ClassFile::read(bytes).unwrap();
        for features in [busy::LOOP | busy::ARGUMENTS, busy::OBJECTS | busy::STACK] {
            let plan = snippets::busy_plan(&class, features);
            count += refused(bytes, &plan);
        }
    }
    assert!(count > 1_000, "{count}");
}

#[test]
fn wrong_frames_of_code_around_instructions_are_refused() {
    let mut count = 0;
    for (_, bytes) in ALL.iter().filter(|(_, bytes)| bytes.len() < 3_000) {
        let plan = edited::plan(&ClassFile::read(bytes).unwrap(), "surrounded").unwrap();
        count += refused(bytes, &plan);
    }
    assert!(count > 300, "{count}");
}

/// Returns a class of version 52 whose only method branches over 32,700 bytes, with a value below the condition and one
/// in a local variable. The hits make the distance longer.
fn far_branch() -> (Vec<u8>, EditPlan) {
    let head = [op::ICONST_1, op::ISTORE_1, op::ICONST_2, op::ICONST_0];
    let mut code = head.to_vec();
    let target = 4 + 3 + 32_700 + 2_u16;
    code.extend([op::IFEQ, ((target - 4) >> 8) as u8, (target - 4) as u8]);
    code.resize(usize::from(target) - 2, op::NOP);
    code.extend([op::POP, op::RETURN, op::POP, op::RETURN]);
    let [high, low] = target.to_be_bytes();
    // A full frame: no type and an int in the local variables, an int on the stack.
    let frame = [255, high, low, 0, 2, TOP, 1, 0, 1, 1];
    let table = [&[0, 1][..], &frame].concat();
    let attribute = [&[0, 1, 0, 8, 0, 0, 0, table.len() as u8][..], &table].concat();
    let bytes = class_with(52, &code, &[], &["StackMapTable"], &attribute);
    let places: Vec<_> = (0..20).map(|at| Location::Before(Bci(7 + at))).collect();
    let places = [places, vec![Location::FallThrough(Bci(4))]].concat();
    (bytes, hits(MethodIndex(0), &places))
}

#[test]
fn wrong_frames_and_distances_of_inverted_branches_are_refused() {
    let (bytes, plan) = far_branch();
    assert!(refused(&bytes, &plan) > 20);
    let class = ClassFile::read(&bytes).unwrap();
    let mut out = Vec::new();
    let report = splice(&class, &plan, &STORAGE, &mut Scratch::default(), &mut out);
    assert_eq!(report.unwrap().rewritten, 1);
    let after = ClassFile::read(&out).unwrap();
    let (start, code) = code_of(&after, "m");
    assert_eq!(code[4..8], [op::IFNE, 0, 8, op::GOTO_W]);
    for at in start + 4..start + 12 {
        let mut wrong = out.clone();
        wrong[at] ^= 1;
        let mut scratch = CheckScratch::default();
        assert!(check_splice(&class, &plan, &STORAGE, &wrong, &mut scratch).is_err());
    }
}

/// Returns the offset of this method's code in the class, and its code.
fn code_of(class: &ClassFile<'_>, name: &str) -> (usize, Vec<u8>) {
    let method = class.methods().find(|method| method.name() == name);
    let method = method.unwrap();
    let start = offset(class.bytes(), &method.code_attribute().unwrap()) + 8;
    (start, method.code().unwrap().unwrap().bytes().to_vec())
}

/// Uses only hits, on the fast path and on the general one.
#[test]
fn wrong_jumps_ranges_and_padding_are_refused() {
    let class = ClassFile::read(SHAPES).unwrap();
    let plan = exercise::plan(&class, |number| number % 2 == 0);
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    splice(&class, &plan, &STORAGE, &mut scratch, &mut out).unwrap();
    let after = ClassFile::read(&out).unwrap();
    let (mut jumps, mut paddings, mut handlers) = (0, 0, 0);
    let mut ways = [CheckScratch::default(), CheckScratch::general()];
    let mut refuses = |at: usize, by: u8| {
        let mut wrong = out.clone();
        wrong[at] = wrong[at].wrapping_add(by);
        for scratch in &mut ways {
            assert!(check_splice(&class, &plan, &STORAGE, &wrong, scratch).is_err());
        }
    };
    for method in after.methods().filter(|method| method.has_code()) {
        let (start, code) = code_of(&after, &method.name().to_str_lossless());
        let read = method.code().unwrap().unwrap();
        for found in read.instructions().map(Result::unwrap) {
            let at = start + usize::from(found.bci.0);
            if found.branch_target().is_some() {
                for by in [1, 3, 255] {
                    refuses(at + 2, by);
                }
                jumps += 1;
            }
            if let Some(switch) = found.switch() {
                let body = (usize::from(found.bci.0) | 3) + 1 - usize::from(found.bci.0);
                (1..body).for_each(|padding| refuses(at + padding, 1));
                paddings += body - 1;
                let table = found.opcode == op::TABLESWITCH;
                let (first, stride) = if table { (12, 4) } else { (12, 8) };
                (0..switch.len())
                    .for_each(|case| refuses(at + body + first + case * stride + 3, 1));
                refuses(at + body + 3, 1);
                jumps += switch.len() + 1;
            }
        }
        for row in 0..read.exception_table().len() {
            let row = start + code.len() + 2 + row * 8;
            // Start, end, handler and type.
            for at in [1, 3, 5, 7] {
                refuses(row + at, 1);
                refuses(row + at, 255);
            }
            handlers += 1;
        }
    }
    assert!(
        jumps > 20 && paddings > 0 && handlers > 0,
        "{jumps} {paddings} {handlers}"
    );
}
