//! A real server under load: attached to, patched two hundred times, rolled back and left, with no failed request.

use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{artifacts, javac, scratch, workspace};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout};

/// Patches of the program's own handler, and of all of Jetty's server.
const HANDLER_PATCHES: usize = 190;
const JAR_PATCHES: usize = 10;

/// A server whose clients never stop asking.
struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Server {
    /// Reads until a line begins so.
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

#[test]
fn server_under_load_is_patched_two_hundred_times_without_a_failed_request() {
    let jars = artifacts::paths(&[
        "jetty-server",
        "jetty-http",
        "jetty-io",
        "jetty-util",
        "slf4j-api",
    ]);
    for jdk in jdks::full()
        .into_iter()
        .filter(|jdk| [17, 25].contains(&jdk.feature))
    {
        let folder = scratch();
        let words = ["one", "two"].map(|word| {
            let classes = compile(&jdk, folder.path(), &jars, word);
            classes
                .join("Server$Greeter.class")
                .to_string_lossy()
                .into_owned()
        });
        let mut class_path = vec![compile(&jdk, folder.path(), &jars, "original")];
        class_path.extend(jars.iter().cloned());
        let mut child = Java::new(&jdk)
            .option("-XX:+EnableDynamicAgentLoading")
            .class_path(&class_path)
            .main("Server")
            .spawn();
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut server = Server { child, out };
        server.await_line("serving");
        server.await_line("greeting original");
        server.await_line("served");
        for (number, word) in (0..HANDLER_PATCHES).zip(words.iter().cycle()) {
            server.classhook(folder.path(), "patch", &[word]);
            match number {
                0 => server.await_line("greeting one"),
                1 => server.await_line("greeting two"),
                _ => {}
            }
            if number % 2 == 1 {
                server.classhook(folder.path(), "rollback", &[]);
            }
        }
        let server_jar = jars[0].to_str().expect("text");
        for _ in 0..JAR_PATCHES {
            server.classhook(folder.path(), "patch", &[server_jar]);
            server.classhook(folder.path(), "rollback", &[]);
        }
        server.await_line("served");
        server.classhook(folder.path(), "rollback", &["--all"]);
        server.classhook(folder.path(), "off", &[]);
        server.await_line("served");
        server.await_line("served");
    }
}
