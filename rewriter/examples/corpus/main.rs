//! Splices every class of a folder and prints a summary.
//!
//! ```text
//! cargo run --release -p classhook-rewriter --example corpus -- CLASSES [OUTPUT] [--plan KIND] [--passes N]
//! ```
//!
//! The kinds of edits are those of `plans.rs`; the default is `all`. `check_splice` checks the output. With a folder,
//! the example writes the output there.

mod plans;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plans::STORAGE;
use rewriter::{CheckScratch, ClassFile, Scratch, Tables, check_splice, splice};

struct Options {
    classes: PathBuf,
    output: Option<PathBuf>,
    plan: String,
    passes: u32,
}

#[derive(Default)]
struct Totals {
    classes: u64,
    bytes: u64,
    grown: u64,
    unreadable: u64,
    /// Number of classes whose plan was refused.
    refused: u64,
    methods: u64,
    edits: u64,
    warnings: u64,
    check_failures: u64,
    skipped: BTreeMap<String, u64>,
    read: Duration,
    splice: Duration,
    check: Duration,
    fingerprint: Duration,
}

fn options() -> Options {
    let mut free = Vec::new();
    let (mut plan, mut passes) = ("all".to_owned(), 1);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--plan" => {
                plan = arguments
                    .next()
                    .filter(|plan| plans::kinds().any(|kind| kind == plan))
                    .unwrap_or_else(|| {
                        let kinds: Vec<_> = plans::kinds().collect();
                        panic!("expected one of {kinds:?} after --plan")
                    });
            }
            "--passes" => {
                let count = arguments.next().expect("a number after --passes");
                passes = count.parse().expect("a number after --passes");
            }
            _ => free.push(PathBuf::from(argument)),
        }
    }
    let mut free = free.into_iter();
    let classes = free.next().expect("a folder of classes");
    Options {
        classes,
        output: free.next(),
        plan,
        passes,
    }
}

fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder)
        .expect("a readable folder")
        .flatten()
    {
        let path = entry.path();
        if path.is_dir() {
            find(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "class")
        {
            found.push(path);
        }
    }
}

fn main() {
    let options = options();
    let mut files = Vec::new();
    find(&options.classes, &mut files);
    files.sort();
    let inputs: Vec<Vec<u8>> = files
        .iter()
        .map(|file| std::fs::read(file).expect("a readable class"))
        .collect();
    let mut best: Option<Totals> = None;
    for pass in 0..options.passes {
        let output = options.output.as_deref().filter(|_| pass == 0);
        let totals = run(&options, &files, &inputs, output);
        if best.as_ref().is_none_or(|best| totals.splice < best.splice) {
            best = Some(totals);
        }
    }
    if let Some(totals) = best {
        print(&options, &totals);
        if totals.check_failures > 0 {
            std::process::exit(1);
        }
    }
}

fn run(options: &Options, files: &[PathBuf], inputs: &[Vec<u8>], output: Option<&Path>) -> Totals {
    let mut totals = Totals::default();
    let mut check_scratch = CheckScratch::default();
    let (mut scratch, mut out, mut tables) = (Scratch::default(), Vec::new(), Tables::default());
    for (file, bytes) in files.iter().zip(inputs) {
        totals.classes += 1;
        totals.bytes += bytes.len() as u64;
        let start = Instant::now();
        let read = ClassFile::read_with(bytes, std::mem::take(&mut tables));
        totals.read += start.elapsed();
        let Ok(class) = read else {
            totals.unreadable += 1;
            continue;
        };
        let plan = match plans::plan(&class, &options.plan) {
            Ok(plan) => plan,
            Err(error) => {
                totals.refused += 1;
                eprintln!("{}: {error}", file.display());
                tables = class.into_tables();
                continue;
            }
        };
        let start = Instant::now();
        std::hint::black_box(fingerprint::of(bytes));
        totals.fingerprint += start.elapsed();
        let start = Instant::now();
        let report =
            splice(&class, &plan, &STORAGE, &mut scratch, &mut out).expect("a plan for this class");
        totals.splice += start.elapsed();
        let start = Instant::now();
        if let Err(error) = check_splice(&class, &plan, &STORAGE, &out, &mut check_scratch) {
            totals.check_failures += 1;
            eprintln!("{}: {error}", file.display());
        }
        totals.check += start.elapsed();
        totals.grown += out.len() as u64;
        totals.methods += u64::from(report.rewritten);
        totals.edits += u64::from(report.edits);
        totals.warnings += report.warnings.len() as u64;
        for (method, reason) in &report.skipped {
            eprintln!("{} method {method}: {reason}", file.display());
            let kind = format!("{reason:?}");
            let kind = kind.split([' ', '(']).next().unwrap_or_default().to_owned();
            *totals.skipped.entry(kind).or_default() += 1;
        }
        tables = class.into_tables();
        if let Some(folder) = output {
            let path = folder.join(
                file.strip_prefix(&options.classes)
                    .expect("a file of the folder"),
            );
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
            std::fs::write(path, &out).expect("a writable folder");
        }
    }
    totals
}

fn print(options: &Options, totals: &Totals) {
    let each = |time: Duration| time.as_nanos() as f64 / 1e3 / totals.classes.max(1) as f64;
    println!(
        "plan {}: {} classes, {} bytes -> {}",
        options.plan, totals.classes, totals.bytes, totals.grown
    );
    println!(
        "methods {}  edits {}  warnings {}  unreadable {}  refused {}  check failures {}",
        totals.methods,
        totals.edits,
        totals.warnings,
        totals.unreadable,
        totals.refused,
        totals.check_failures
    );
    println!(
        "us/class: read {:.2}  splice {:.2}  check {:.2}  fingerprint {:.2}",
        each(totals.read),
        each(totals.splice),
        each(totals.check),
        each(totals.fingerprint)
    );
    for (reason, count) in &totals.skipped {
        println!("skipped {count}: {reason}");
    }
}
