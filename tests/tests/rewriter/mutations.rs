//! Class files that the whole-class check accepts are accepted by every JVM: classes are changed at random, and the JVM
//! judges each one that passes.
//!
//! A run takes 30,000 changed classes. `CLASSHOOK_ROTATION=all` takes a million, and a nightly run other ones each day.

use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, rotation, scratch, workspace};
use rayon::prelude::*;
use rewriter::{ClassFile, check_soundness};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Numbers of changed classes.
const IN_PART: usize = 30_000;
const ALL: usize = 1_000_000;
/// Number of changed classes that one generator makes.
const PER_SEED: usize = 10_000;
/// Time for a JVM to judge all of them on a slow machine.
const LIMIT: Duration = Duration::from_secs(1_800);

/// Sources that every release compiles, and the compiled classes of release 25.
const OLD: [&str; 3] = ["Older", "Kit", "Inherited"];

#[test]
fn changed_classes_that_pass_the_check_are_linked_by_every_jvm() {
    let folder = scratch();
    let fixtures = workspace::root().join("rewriter/tests/fixtures");
    let sources = OLD.map(|name| fixtures.join(format!("{name}.java")));
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    let options = ["-g", "--release", "8"];
    let old = javac::compile(
        &jdks::newest(),
        &sources,
        &folder.path().join("old"),
        &options,
    );
    let mut jvms = jdks::all().to_vec();
    jvms.extend(jdks::eight());
    judged_by_all(folder.path(), &old, &jvms);
    let new = folder.path().join("new");
    javac::copy(&fixtures.join("release25"), &new);
    javac::copy(&old, &new);
    jvms.retain(|jdk| jdk.feature >= 25);
    judged_by_all(folder.path(), &new, &jvms);
}

/// Changes the classes of this folder, and expects that these JVMs link those that pass the check.
fn judged_by_all(scratch: &Path, classes: &Path, jvms: &[Jdk]) {
    let judge = workspace::test_file("java/mutations/Judge.java");
    let options = ["--release", "8"];
    let program = javac::compile(&jdks::newest(), &[&judge], &scratch.join("judge"), &options);
    let originals: Vec<Original> = javac::files_with_extension(classes, "class")
        .iter()
        .map(|file| Original::read(file))
        .collect();
    let accepted = accepted(&originals);
    let file = scratch.join("accepted");
    let with_lengths = accepted.iter().flat_map(|class| {
        let length = u32::try_from(class.len()).expect("a small class");
        [length.to_be_bytes().as_slice(), class].concat()
    });
    std::fs::write(&file, with_lengths.collect::<Vec<u8>>())
        .expect("the test's folder is writable");
    for jdk in jvms {
        let java = Java::new(jdk)
            .option("-Xverify:all")
            .class_path(&[&program]);
        let java = java.main("Judge").argument(classes).argument(&file);
        let run = java.limit(LIMIT).run();
        run.assert_success();
        let refused: Vec<&str> = run
            .stdout
            .lines()
            .filter(|line| line.starts_with("refused"))
            .collect();
        assert!(refused.is_empty(), "{jdk} refuses {refused:#?}");
        let judged = format!("judged {}", accepted.len());
        assert!(run.stdout.contains(&judged), "{}", run.report());
    }
}

/// Returns the changed classes of this run that pass the check.
fn accepted(originals: &[Original]) -> Vec<Vec<u8>> {
    let count = if rotation::everything() { ALL } else { IN_PART };
    let first = rotation::turn("mutations", usize::MAX);
    let seeds = (0..count / PER_SEED).into_par_iter();
    let accepted: Vec<Vec<u8>> = seeds
        .flat_map_iter(|seed| {
            let mut random = Random::new(first.wrapping_add(seed) as u64);
            (0..PER_SEED).filter_map(move |_| {
                let original = random.of(originals);
                let changed = original.changed(&mut random);
                let passes = changed != original.bytes && check_soundness(&changed).is_ok();
                (passes && !has_percent(&changed)).then_some(changed)
            })
        })
        .collect();
    let least = count / 50;
    assert!(accepted.len() > least, "only {} passed", accepted.len());
    accepted
}

/// Checks for a percent sign in the name of the class. HotSpot 25 takes such a name for a format of its own message, and
/// crashes, if a sealed class does not permit the class.
fn has_percent(class: &[u8]) -> bool {
    let class = ClassFile::read(class).expect("a class file");
    class.this_class().as_bytes().contains(&b'%')
}

/// A class file, and the parts of it that are changed with the same probability.
struct Original {
    bytes: Vec<u8>,
    parts: Vec<Range<usize>>,
    constants: u16,
}

impl Original {
    fn read(file: &Path) -> Self {
        let bytes = std::fs::read(file).expect("a class file");
        assert_eq!(check_soundness(&bytes), Ok(()), "{}", file.display());
        let class = ClassFile::read(&bytes).expect("a class file");
        let at = |part: &[u8]| {
            let start = part.as_ptr() as usize - bytes.as_ptr() as usize;
            start..start + part.len()
        };
        let header = class.pool().end();
        let header_end = header + 8 + 2 * class.interfaces().count();
        let mut parts = vec![0..bytes.len(), 10..header, header..header_end];
        parts.extend(class.attributes().map(|found| at(found.bytes)));
        for field in class.fields() {
            parts.extend(field.attributes().map(|found| at(found.bytes)));
        }
        for method in class.methods() {
            for found in method.attributes() {
                // With the method's flags, name and descriptor.
                let Range { start, end } = at(found.bytes);
                parts.push(start.saturating_sub(14)..end);
            }
            let code = method.code().expect("readable code");
            if let Some(code) = code {
                parts.push(at(code.bytes()));
                parts.extend(code.attributes().map(|found| at(found.bytes)));
            }
        }
        parts.retain(|part| !part.is_empty());
        let constants = class.pool().count();
        Original {
            parts,
            constants,
            bytes,
        }
    }

    /// Returns the class with one or two changes.
    fn changed(&self, random: &mut Random) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for _ in 0..1 + random.below(4) / 3 {
            self.change(&mut bytes, random);
        }
        bytes
    }

    fn change(&self, bytes: &mut [u8], random: &mut Random) {
        let part = random.of(&self.parts).clone();
        let mut place = || part.start + random.below(part.len());
        let (at, other) = (place(), place());
        let item = |bytes: &[u8], at: usize| {
            let two = bytes.get(at..at + 2).map(|two| [two[0], two[1]]);
            two.map_or(0, u16::from_be_bytes)
        };
        let new = match random.below(9) {
            0 => return bytes[at] = random.below(256) as u8,
            1 => return bytes[at] = random.below(16) as u8,
            2 => return bytes[at] ^= 1 << random.below(8),
            3 => {
                let length = random.below(10).min(part.end - at.max(other));
                return bytes.copy_within(other..other + length, at);
            }
            4 => 1 + random.below(usize::from(self.constants)) as u16,
            5 => item(bytes, at).wrapping_add(1),
            6 => item(bytes, at).wrapping_sub(1),
            7 => *random.of(&[0, 1, 2, 0x7fff, 0x8000, 0xffff]),
            _ => item(bytes, other),
        };
        if let Some(two) = bytes.get_mut(at..at + 2) {
            two.copy_from_slice(&new.to_be_bytes());
        }
    }
}

/// A generator of random numbers (xorshift), the same on every machine.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}
