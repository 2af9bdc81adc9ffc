//! A real server under load: attached to, traced, patched two hundred times, rolled back and detached, without a failed
//! request.
//!
//! A run uses one JDK, a nightly run another one each day.

use crate::support::command::channel;
use control::patch::{ClassBytes, PatchRequest, Patched, Rollback};
use control::{Client, Request};
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{artifacts, javac, scratch, time_line, workspace};
use rewriter::{Annotation, ClassEdit, ClassFile, EditPlan, ProbeStorage, Scratch, Target, splice};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout};

/// Number of patches of the program's own handler; others patch all of Jetty's server.
const HANDLER_PATCHES: usize = 190;
const JAR_PATCHES: usize = 10;
/// Number of the first patches, made during a trace.
const TRACED: usize = 20;

/// A server whose clients send requests without pause.
struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Server {
    /// Reads until a line begins with this text.
    #[track_caller]
    fn await_line(&mut self, beginning: &str) {
        loop {
            let mut line = String::new();
            let read = self.out.read_line(&mut line).expect("output");
            assert!(read > 0, "the server ended");
            assert!(!line.starts_with("failed"), "a request failed: {line}");
            if line.starts_with(beginning) {
                return;
            }
        }
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid")
    }

    #[track_caller]
    fn classhook(&self, folder: &Path, command: &str, arguments: &[&str]) {
        let run = Java::program(workspace::classhook())
            .folder(folder)
            .argument(command)
            .argument(self.child.id().to_string())
            .arguments(arguments)
            .run();
        run.assert_success();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn compile(jdk: &Jdk, folder: &Path, jars: &[PathBuf], word: &str) -> PathBuf {
    let text = std::fs::read_to_string(workspace::test_file("java/server/Server.java"));
    let text = text
        .expect("readable")
        .replace("\"original ", &format!("\"{word} "));
    let folder = folder.join(word);
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("Server.java");
    std::fs::write(&file, text).expect("written");
    let jars = std::env::join_paths(jars).expect("no colon in a path");
    let jars = jars.to_str().expect("text");
    javac::compile(jdk, &[&file], &folder, &["--release", "17", "-cp", jars])
}

/// The output files of the trace, with their options.
const OUTPUTS: [(&str, &str); 4] = [
    ("--flame-graph", "flame.svg"),
    ("--folded", "folded.txt"),
    ("--perfetto", "trace.json"),
    ("--json-lines", "calls.jsonl"),
];

/// `classhook trace`, until it is interrupted.
struct Tracing {
    child: Child,
    told: BufReader<ChildStderr>,
}

impl Tracing {
    /// Traces the handler and the class of Jetty that calls it.
    fn begin(server: &Server, folder: &Path) -> Self {
        let outputs = OUTPUTS.map(|(option, file)| [option, file]).concat();
        let methods = ["Server$Greeter.*", "org.eclipse.jetty.server.Server.handle"];
        let mut child = Java::program(workspace::classhook())
            .folder(folder)
            .argument("trace")
            .argument(server.pid().to_string())
            .arguments(&methods.map(|method| ["--methods", method]).concat())
            .arguments(&["--capture", "arguments,returned"])
            .arguments(&outputs)
            .spawn();
        let mut told = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        told.read_line(&mut line).expect("text");
        assert!(line.contains("tracing"), "{line}");
        Self { child, told }
    }

    /// Interrupts it as Ctrl-C does, and checks all its output files.
    fn end(mut self, folder: &Path) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::INT).expect("it runs");
        let (mut table, mut told) = (String::new(), String::new());
        let mut out = self.child.stdout.take().expect("a pipe");
        out.read_to_string(&mut table).expect("text");
        self.told.read_to_string(&mut told).expect("text");
        assert!(self.child.wait().expect("an end").success(), "{told}");
        for method in [
            "Server$Greeter.greeting",
            "Server$Greeter.handle",
            "jetty.server.Server.handle",
        ] {
            assert!(table.contains(method), "{method} in\n{table}\n{told}");
        }
        let [flame, folded, perfetto, lines] = OUTPUTS.map(|(_, file)| {
            std::fs::read_to_string(folder.join(file)).unwrap_or_else(|error| {
                panic!("{file}: {error}\n{told}");
            })
        });
        assert!(flame.contains("</svg>") && flame.contains("Server$Greeter.greeting"));
        let nested =
            "org.eclipse.jetty.server.Server.handle;Server$Greeter.handle;Server$Greeter.greeting ";
        assert!(folded.contains(nested), "{folded}");
        let time_line = time_line::read(&perfetto).expect("a time line");
        let deep = |calls: &Vec<time_line::Slice>| calls.iter().any(|call| call.depth == 2);
        assert!(time_line.values().any(deep), "{time_line:?}");
        for word in ["one", "two"] {
            let returned = format!("\"returned\":\"{word} 7\"");
            assert!(lines.contains(&returned), "the patched code is traced, too");
        }
    }
}

/// Reads the classes of a jar, or one class.
fn class_files(path: &Path) -> Vec<ClassBytes> {
    let bytes = std::fs::read(path).expect("readable");
    if path
        .extension()
        .is_some_and(|extension| extension == "class")
    {
        return vec![ClassBytes(bytes)];
    }
    let mut jar = zip::ZipArchive::new(std::io::Cursor::new(bytes)).expect("a jar");
    let names = jar
        .file_names()
        .map(|name| name.expect("a name").into_owned());
    let names: Vec<String> = names.collect();
    let classes = names.iter().filter(|name| {
        name.ends_with(".class") && !name.contains("module-info") && !name.starts_with("META-INF")
    });
    let mut read = |name: &String| {
        let mut bytes = Vec::new();
        let mut entry = jar.by_name(name).expect("it is there");
        entry.read_to_end(&mut bytes).expect("readable");
        ClassBytes(bytes)
    };
    classes.map(&mut read).map(marked).collect()
}

/// Adds an annotation to the class, since an unchanged class is not replaced.
fn marked(ClassBytes(bytes): ClassBytes) -> ClassBytes {
    let class = ClassFile::read(&bytes).expect("a class");
    let mut plan = EditPlan::new();
    let mark = ClassEdit::AddAnnotation {
        target: Target::Class,
        visible: true,
        annotation: Annotation {
            descriptor: "Lpatched/Mark;".to_owned(),
            elements: Vec::new(),
        },
    };
    plan.edit_class(mark).expect("room");
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    let storage = ProbeStorage::SharedArray {
        owner: "none",
        field: "none",
    };
    splice(&class, &plan, &storage, &mut scratch, &mut out).expect("an annotation fits");
    ClassBytes(out)
}

#[track_caller]
fn patch(agent: &mut Client, classes: &[ClassBytes]) {
    let request = Request::Patch(PatchRequest {
        classes: classes.to_vec(),
        ..PatchRequest::default()
    });
    let patched: Patched = agent.ask_for(&request).expect("an answer");
    assert_eq!(patched.ids.len(), 1, "{:?}", patched.classes);
}

#[track_caller]
fn roll_back(agent: &mut Client) {
    let which = Rollback::Last;
    let gone: Patched = agent
        .ask_for(&Request::Rollback { which })
        .expect("an answer");
    assert_eq!(gone.ids.len(), 1);
}

/// The program, and the Jetty server that it runs on.
struct Program {
    class_path: Vec<PathBuf>,
    /// Two other versions of the handler.
    handlers: [PathBuf; 2],
    server_jar: PathBuf,
}

impl Program {
    fn compile(jdk: &Jdk, folder: &Path) -> Self {
        let jars = artifacts::paths(&[
            "jetty-server",
            "jetty-http",
            "jetty-io",
            "jetty-util",
            "slf4j-api",
        ]);
        let handlers = ["one", "two"]
            .map(|word| compile(jdk, folder, &jars, word).join("Server$Greeter.class"));
        let mut class_path = vec![compile(jdk, folder, &jars, "original")];
        class_path.extend(jars.iter().cloned());
        Self {
            class_path,
            handlers,
            server_jar: jars[0].clone(),
        }
    }

    fn serve(&self, jdk: &Jdk) -> Server {
        let mut child = Java::new(jdk)
            .all_compilers()
            .option("-XX:+EnableDynamicAgentLoading")
            .class_path(&self.class_path)
            .main("Server")
            .spawn();
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut server = Server { child, out };
        server.await_line("serving");
        server.await_line("greeting original");
        server.await_line("served");
        server
    }
}

/// Patches the handler, each time with other code than it runs. Some steps roll two patches back.
fn patch_handler(agent: &mut Client, handlers: &[Vec<ClassBytes>; 2], numbers: Range<usize>) {
    for number in numbers {
        patch(agent, &handlers[number % 2]);
        if number % 10 == 0 {
            roll_back(agent);
            roll_back(agent);
        }
    }
}

#[test]
fn server_under_load_is_traced_and_patched_two_hundred_times_without_a_failed_request() {
    for jdk in jdks::main_in_turn("server") {
        let folder = scratch();
        let program = Program::compile(&jdk, folder.path());
        let mut server = program.serve(&jdk);
        let first = program.handlers[0].to_string_lossy();
        server.classhook(folder.path(), "patch", &[&first]);
        server.await_line("greeting one");
        let mut agent = channel(server.pid());
        let handlers = program.handlers.each_ref().map(|path| class_files(path));
        let jar = class_files(&program.server_jar);

        let tracing = Tracing::begin(&server, folder.path());
        server.await_line("served");
        patch_handler(&mut agent, &handlers, 1..TRACED);
        server.await_line("greeting two");
        patch(&mut agent, &jar);
        roll_back(&mut agent);
        server.await_line("served");
        tracing.end(folder.path());

        patch_handler(&mut agent, &handlers, TRACED..HANDLER_PATCHES);
        for _ in 2..JAR_PATCHES {
            patch(&mut agent, &jar);
            roll_back(&mut agent);
        }
        let jar = program.server_jar.to_string_lossy();
        server.classhook(folder.path(), "patch", &[&jar]);
        server.await_line("served");
        server.classhook(folder.path(), "rollback", &["--all"]);
        server.classhook(folder.path(), "off", &[]);
        server.await_line("served");
        server.await_line("served");
    }
}
