//! Native methods as spans: wrapped when their class is loaded, and plain again after the trace.

use crate::support::command::{LATE, await_changed, classhook, json};
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::{EndedServant, Servant};
use e2e_tests::{javac, native, scratch, workspace};
use probes::events::{BoundaryKind, Outcome, Trace};
use std::path::{Path, PathBuf};

/// The program and its library.
struct Program {
    classes: PathBuf,
    library: PathBuf,
}

fn source(name: &str) -> PathBuf {
    workspace::test_file(&format!("java/natives/{name}"))
}

impl Program {
    fn make(jdk: &Jdk, folder: &Path) -> Self {
        let classes = javac::compile(
            jdk,
            &[&source("NativeCalls.java")],
            folder,
            &["--release", "11"],
        );
        let library = native::library(jdk, &source("native_calls.c"), folder);
        Self { classes, library }
    }

    fn start(&self, jdk: &Jdk, agent: Option<&str>) -> Servant {
        let java = Java::new(jdk).options(&["-Xverify:all"]).options(&LATE);
        let java = java.class_path(&[&self.classes]);
        let java = match agent {
            Some(options) => java.agent(Some(options)),
            None => java,
        };
        Servant::of(&java.main("NativeCalls").argument(&self.library))
    }
}

/// Writes the agent's options that trace the program and a class of the JDK.
fn configuration(folder: &Path, mode: &str) -> String {
    let file = folder.join("trace.toml");
    let capture = match mode {
        "events" => "capture = [\"arguments\", \"returned\", \"thrown\"]",
        _ => "",
    };
    let text = format!(
        "[agent]\noutput = {:?}\n[[plugin]]\nuse = \"trace\"\ngrant = [\"probes\", \"boot\", \"natives\"]\n\
         [plugin.config]\nmethods = [\"NativeCalls.*\", \"!NativeCalls.main*\", \"!NativeCalls.deflate\", \"java.util.zip.Deflater.*\"]\n\
         mode = {mode:?}\nskip = [\"constructors\", \"static-initialisers\"]\n{capture}\n",
        folder.join("out")
    );
    std::fs::write(&file, text).expect("written");
    format!("config={}", file.display())
}

#[track_caller]
fn traces(folder: &Path) -> Vec<Trace> {
    let mut files = javac::files_with_extension(folder, "events");
    files.sort_by_key(|file| {
        std::fs::metadata(file)
            .and_then(|file| file.modified())
            .ok()
    });
    let read = |file: &PathBuf| Trace::read(file).expect("a readable event file");
    files.iter().map(read).collect()
}

/// Returns `>name argument…`, `<name value` and `!name class` of the calls in class `NativeCalls`, in order.
fn story(trace: &Trace) -> Vec<String> {
    let main = trace.threads.values().find(|thread| thread.name == "main");
    let events = trace.events(main.expect("the main thread").id);
    let lines = events.iter().filter_map(|event| {
        let span = &trace.spans[&event.call.span];
        if span.class != "NativeCalls" {
            return None;
        }
        let values = |returned: bool| -> String {
            let captures = event.call.captures.iter();
            let wanted = captures.filter(|capture| {
                matches!(capture.source, probes::events::CaptureSource::Returned) == returned
            });
            wanted
                .map(|capture| format!(" {}", capture.value))
                .collect()
        };
        Some(match (event.kind, &event.call.outcome) {
            (BoundaryKind::Enter, _) => format!(">{}{}", span.method, values(false)),
            (BoundaryKind::Exit, Outcome::Threw(class)) => {
                format!("!{} {}", span.method, class.as_deref().unwrap_or("?"))
            }
            (BoundaryKind::Exit, _) => format!("<{}{}", span.method, values(true)),
        })
    });
    lines.collect()
}

/// Returns the expected [`story`] of one round.
fn expected() -> Vec<String> {
    let mut lines = vec![">round".to_owned()];
    for depth in (1..=3).rev() {
        lines.extend([format!(">up {depth}"), format!(">back {depth}")]);
    }
    lines.extend([">up 0".to_owned(), "<up 0".to_owned()]);
    for depth in 1..=3 {
        lines.extend([format!("<back {}", depth - 1), format!("<up {depth}")]);
    }
    for i in 0..100_i32 {
        lines.extend([format!(">twice {i}"), format!("<twice {}", 2 * i)]);
        lines.extend([format!(">plus {i} \"text\""), format!("<plus {}", i + 2)]);
        lines.extend([format!(">locked {i}"), format!("<locked {}", -i)]);
        if i % 10 == 0 {
            lines.extend([
                ">fails".to_owned(),
                "!fails java/lang/IllegalStateException".to_owned(),
            ]);
        }
    }
    lines.extend([
        ">missing".to_owned(),
        "!missing java/lang/UnsatisfiedLinkError".to_owned(),
        format!("<round {ROUND:?}"),
    ]);
    lines
}

/// The output of a round: 3 from the nested calls, 10 errors, one missing, and the sum of 2 i + (i + 2) - i.
const ROUND: &str = "sum 10114";

#[test]
fn native_methods_are_traced_exactly_and_plain_when_the_agent_has_left() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let program = Program::make(&jdk, folder.path());
        let mut running = program.start(&jdk, Some(&configuration(folder.path(), "events")));
        let pid = running.pid().to_string();
        assert_eq!(running.ask("round"), ROUND);
        assert_eq!(running.ask("deflate"), "deflated true");
        let listed = |answer: &serde_json::Value| -> Vec<String> {
            let natives = answer["natives"].as_array().expect("a list");
            natives
                .iter()
                .map(|name| name.as_str().expect("text").to_owned())
                .collect()
        };
        let wrapped = listed(&json(&["status", &pid]));
        for name in ["NativeCalls.late(I)I", "NativeCalls.twice(I)I"] {
            assert!(wrapped.iter().any(|there| there == name), "{wrapped:?}");
        }
        assert!(
            wrapped
                .iter()
                .any(|name| name.starts_with("java.util.zip.Deflater.init("))
        );
        assert!(!wrapped.iter().any(|name| name.contains("initIDs")));
        assert_eq!(listed(&json(&["off", &pid])), wrapped);
        assert_eq!(running.ask("round"), ROUND);
        assert_eq!(running.ask("late"), "late 21");
        let trace = traces(&folder.path().join("out")).remove(0);
        assert_eq!(story(&trace), expected(), "on {jdk}");
        let of_jdk: Vec<&str> = trace
            .calls
            .iter()
            .map(|call| &trace.spans[&call.span])
            .filter(|span| span.class == "java/util/zip/Deflater")
            .map(|span| span.method.as_str())
            .collect();
        for native in ["init", "deflateBytesBytes", "end"] {
            assert!(of_jdk.contains(&native), "{of_jdk:?} on {jdk}");
        }
        assert_eq!(running.end().code, Some(0));
    }
}

#[test]
fn second_trace_reuses_the_wrappers_and_shows_only_its_own_methods() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let program = Program::make(&jdk, folder.path());
        let mut running = program.start(&jdk, Some(&configuration(folder.path(), "aggregate")));
        let pid = running.pid().to_string();
        running.ask("round");
        classhook(&["off", &pid]).assert_success();
        let output = folder.path().join("second");
        let attached = classhook(&[
            "attach",
            &pid,
            "--plugin",
            "trace",
            "--select",
            "NativeCalls",
            "--plugin-settings",
            "{\"methods\":[\"NativeCalls.twice\"]}",
            "--output",
            &output.to_string_lossy(),
        ]);
        attached.assert_success();
        assert_eq!(running.ask("round"), ROUND);
        classhook(&["off", &pid]).assert_success();
        let trace = traces(&output).remove(0);
        let spans: Vec<&str> = trace
            .spans
            .values()
            .map(|span| span.method.as_str())
            .collect();
        assert_eq!(spans, ["twice"], "on {jdk}");
        assert_eq!(trace.calls.len(), 100);
        assert!(trace.aggregates.values().all(|sums| sums.count == 100));
    }
}

#[test]
fn a_patch_keeps_the_wrappers_of_its_class() {
    let jdk = jdks::release(17).expect("the JDK that the tests need");
    let folder = scratch();
    let program = Program::make(&jdk, folder.path());
    let text = std::fs::read_to_string(source("NativeCalls.java")).expect("the source");
    let other = folder.path().join("other");
    std::fs::create_dir(&other).expect("a folder");
    let file = other.join("NativeCalls.java");
    std::fs::write(&file, text.replace("1 + back", "101 + back")).expect("written");
    let other = javac::compile(&jdk, &[&file], &other, &["--release", "11"]);
    let mut running = program.start(&jdk, Some(&configuration(folder.path(), "aggregate")));
    let pid = running.pid().to_string();
    running.ask("round");
    let class = other.join("NativeCalls.class");
    classhook(&["patch", &pid, &class.to_string_lossy()]).assert_success();
    assert_eq!(running.ask("round"), "sum 10414");
    classhook(&["rollback", &pid]).assert_success();
    assert_eq!(running.ask("round"), ROUND);
    assert_eq!(running.ask("late"), "late 21");
    classhook(&["off", &pid]).assert_success();
    let trace = traces(&folder.path().join("out")).remove(0);
    let twice = trace
        .spans
        .values()
        .find(|span| span.method == "twice")
        .expect("a span");
    assert_eq!(trace.aggregates[&twice.id].count, 300);
}

#[test]
fn native_methods_of_loaded_classes_stay_unchanged_with_a_reason() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let program = Program::make(&jdk, folder.path());
        let mut running = program.start(&jdk, None);
        let pid = running.pid().to_string();
        running.ask("round");
        let output = folder.path().join("out");
        let attached = classhook(&[
            "attach",
            &pid,
            "--plugin",
            "trace",
            "--select",
            "NativeCalls",
            "--output",
            &output.to_string_lossy(),
        ]);
        attached.assert_success();
        await_changed(&pid, 1);
        assert_eq!(running.ask("round"), ROUND);
        assert_eq!(
            json(&["status", &pid])["natives"].as_array().map(Vec::len),
            Some(0)
        );
        classhook(&["off", &pid]).assert_success();
        let trace = traces(&output).remove(0);
        let called: Vec<&str> = trace
            .spans
            .values()
            .map(|span| span.method.as_str())
            .collect();
        assert!(
            called.contains(&"up") && !called.contains(&"twice"),
            "{called:?}"
        );
        let EndedServant { stderr, .. } = running.end();
        assert!(
            stderr.contains("a native method is traced from the load of its class on"),
            "{stderr}"
        );
    }
}
