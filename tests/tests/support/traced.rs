//! Generated programs under trace: their own log and the trace, converted to the same lines.

#![allow(dead_code, reason = "each test file uses its part")]

use e2e_tests::java::Java;
use e2e_tests::jdks::Jdk;
use e2e_tests::{javac, traced, workspace};
use probes::events::{BoundaryKind, Call, CaptureSource, Outcome, Trace, Value};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The traced methods of a generated program.
pub const SETTINGS: &str = r#"{"methods":["Traced.m?","Traced.m1?","Traced$C?.<init>"],"capture":["arguments","returned","thrown"]}"#;

/// A compiled program.
pub struct Program {
    pub classes: PathBuf,
    /// Path of the program's log.
    pub log: PathBuf,
}

impl Program {
    /// Compiles the program of a seed.
    pub fn compile(jdk: &Jdk, seed: u64, folder: &Path) -> Self {
        let source = folder.join("Traced.java");
        std::fs::write(&source, traced::source(seed)).expect("the test's folder is writable");
        let base = workspace::test_file("java/trace/TracedBase.java");
        let classes = javac::compile(jdk, &[&base, &source], folder, &["--release", "17"]);
        Self {
            classes,
            log: folder.join("log.txt"),
        }
    }
}

/// Returns `java` with a program's classes, full verification and JNI checks.
pub fn java(jdk: &Jdk, program: &Program) -> Java {
    Java::new(jdk)
        .all_compilers()
        .options(&["-Xverify:all", "-Xcheck:jni"])
        .class_path(&[&program.classes])
}

/// Returns the agent's options.
pub fn options(output: &Path) -> String {
    let settings = SETTINGS.replace(',', "\\,");
    format!(
        "plugin=trace,output={},on-error=strict,settings={settings}",
        output.display()
    )
}

/// Reads the only event file in a folder.
#[track_caller]
pub fn trace_of(folder: &Path) -> Trace {
    let files = javac::files_with_extension(folder, "events");
    assert_eq!(
        files.len(),
        1,
        "event files in {}: {files:?}",
        folder.display()
    );
    Trace::read(&files[0]).expect("a readable event file")
}

/// One event of one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// `E`ntry, e`X`it, or `F`ailure.
    pub kind: char,
    /// Number of the call.
    pub call: i64,
    /// `m3`, or `C1` for its constructor.
    pub name: String,
    /// The depth at an entry, the result at an exit, the class at a failure.
    pub what: String,
    /// The mark at that moment; only the log has it.
    pub mark: Option<u32>,
}

/// Returns the log, by thread.
pub fn logged(file: &Path) -> Vec<Vec<Line>> {
    let text = std::fs::read_to_string(file).expect("the program wrote its log");
    let mut threads = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["T", _] => threads.push(Vec::new()),
            [kind, call, name, mark, what] => {
                let thread: &mut Vec<Line> = threads.last_mut().expect("a thread first");
                thread.push(Line {
                    kind: kind.chars().next().expect("a letter"),
                    call: call.parse().expect("a number"),
                    name: name.to_owned(),
                    what: what.to_owned(),
                    mark: mark.parse().ok(),
                });
            }
            _ => panic!("expected five words in the log, found {line:?}"),
        }
    }
    threads
}

/// Removes the marks, which no trace has, and sorts threads by their first call.
pub fn sorted(mut threads: Vec<Vec<Line>>) -> Vec<Vec<Line>> {
    threads
        .iter_mut()
        .flatten()
        .for_each(|line| line.mark = None);
    threads.retain(|lines| !lines.is_empty());
    threads.sort_by_key(|lines| lines[0].call);
    threads
}

/// Returns the trace, by thread.
pub fn recorded(trace: &Trace) -> Vec<Vec<Line>> {
    let names: HashMap<u32, String> = trace
        .spans
        .values()
        .map(|span| (span.id, name(span)))
        .collect();
    let by_thread = trace.calls.chunk_by(|one, next| one.thread == next.thread);
    let threads = by_thread.map(|calls| {
        let events = trace.events(calls[0].thread).into_iter();
        events
            .map(|event| line(event.kind, event.call, &names))
            .collect()
    });
    threads.collect()
}

fn name(span: &probes::events::SpanInfo) -> String {
    match (span.method.as_str(), span.class.strip_prefix("Traced$")) {
        ("<init>", Some(class)) => class.to_owned(),
        (method, _) => method.to_owned(),
    }
}

fn line(kind: BoundaryKind, call: &Call, names: &HashMap<u32, String>) -> Line {
    let values = || {
        call.captures
            .iter()
            .filter(|capture| capture.source != CaptureSource::Returned)
    };
    let number = values().find_map(|capture| match capture.value {
        Value::Long(number) => Some(number),
        _ => None,
    });
    let depth = values().find_map(|capture| match capture.value {
        Value::Int(depth) => Some(depth),
        _ => None,
    });
    let returned = call
        .captures
        .iter()
        .find(|capture| capture.source == CaptureSource::Returned);
    let (kind, what) = match (kind, &call.outcome) {
        (BoundaryKind::Enter, _) => (
            'E',
            depth.map(|depth| depth.to_string()).unwrap_or_default(),
        ),
        (BoundaryKind::Exit, Outcome::Threw(class)) => {
            ('F', class.as_deref().unwrap_or("?").to_owned())
        }
        (BoundaryKind::Exit, _) => (
            'X',
            returned
                .map(|capture| capture.value.to_string())
                .unwrap_or_default(),
        ),
    };
    Line {
        kind,
        call: number.unwrap_or(-1),
        name: names.get(&call.span).cloned().unwrap_or_default(),
        what,
        mark: None,
    }
}
