//! JaCoCo's protocol over TCP: its command line connects to our agent, and our command to its agent.

use crate::support::command::{classhook, hits, json};
use control::jacoco::{Command, ask};
use e2e_tests::java::Java;
use e2e_tests::jdks;
use e2e_tests::servant::{self, Servant};
use e2e_tests::{artifacts, javac, scratch, tools};
use jacoco_files::Execution;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;

/// Returns the number of hit probes of `Servant$Steps` in a file, which shows which of the methods `a` to `d` were
/// called.
fn steps(file: &Path) -> usize {
    let execution = Execution::read(file);
    let steps = execution.0.iter();
    let steps = steps.filter(|(key, _)| key.name == "Servant$Steps");
    steps
        .flat_map(|(_, probes)| probes)
        .filter(|hit| **hit)
        .count()
}

/// Dumps the JVM at this address with JaCoCo's command line, and returns the number of hit probes.
fn dumped_by_jacoco(address: SocketAddr, file: &Path, more: &[&str]) -> usize {
    let command_line = artifacts::path("jacoco-cli");
    let command_line = command_line.to_str().expect("a path of text");
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    let file_name = file.to_str().expect("a path of text");
    let words = [
        "dump",
        "--address",
        &host,
        "--port",
        &port,
        "--destfile",
        file_name,
    ];
    let ended = tools::run(&jdks::newest(), command_line, &[&words[..], more].concat());
    assert_eq!(ended.code, 0, "{}", ended.text);
    steps(file)
}

/// Returns the address at which the agent in a JVM offers JaCoCo's protocol.
fn address_of(servant: &Servant) -> SocketAddr {
    let status = json(&["status", &servant.pid().to_string()]);
    let address = status["jacoco_tcp"].as_str().expect("an address");
    address.parse().expect("an address")
}

#[test]
fn jacocos_command_line_dumps_and_resets_our_agent_beside_hostile_clients() {
    let (folder, jdk) = (scratch(), jdks::newest());
    let options = format!(
        "output={},select=Servant*,jacoco-tcp=0",
        folder.path().display()
    );
    let mut servant = Servant::of(&servant::java(&jdk, &[]).agent(Some(&options)));
    let address = address_of(&servant);
    let mut garbage = TcpStream::connect(address).expect("it listens");
    garbage
        .write_all(b"GET / HTTP/1.1\r\n\r\n")
        .expect("it listens");
    let idle = TcpStream::connect(address).expect("it listens");
    let file = |name: &str| folder.path().join(name);

    servant.ask("steps ab");
    let two = dumped_by_jacoco(address, &file("1.exec"), &[]);
    servant.ask("steps c");
    let three = dumped_by_jacoco(address, &file("2.exec"), &["--reset"]);
    assert!(0 < two && two < three, "{two} {three}");
    assert_eq!(dumped_by_jacoco(address, &file("3.exec"), &[]), 0);
    servant.ask("steps c");
    let one = dumped_by_jacoco(address, &file("4.exec"), &[]);
    assert!(0 < one && one < two, "{one} {two}");

    // Like a second JVM of a build, which gets the same options.
    let taken = format!("output={},jacoco-tcp={address}", folder.path().display());
    let second = Java::new(&jdk).agent(Some(&taken)).option("-version").run();
    let told = second.stderr.matches("warning[H0416]").count();
    second.assert_success();
    assert_eq!(told, 1, "{}", second.report());

    let mut last = TcpStream::connect(address).expect("it listens");
    last.write_all(&control::jacoco::HEADER)
        .expect("it listens");
    last.read_exact(&mut [0; 5]).expect("the header");
    let snapshot = json(&["dump", &servant.pid().to_string()]);
    let snapshot = Path::new(snapshot["snapshot"].as_str().expect("a path")).to_owned();
    assert_eq!(servant.end().code, Some(0));
    let mut told = control::jacoco::HEADER.to_vec();
    last.read_to_end(&mut told).expect("what was executed");
    assert_eq!(told.pop(), Some(0x20));
    std::fs::write(file("5.exec"), told).expect("a writable folder");
    assert_eq!(steps(&file("5.exec")), one);
    assert_eq!(hits(&snapshot, "Servant$Steps").0, one);
    drop(idle);
}

#[test]
fn our_command_dumps_and_resets_jacocos_agent() {
    let (folder, jdk) = (scratch(), jdks::newest());
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    let port = port.expect("a free port").port();
    let agent = artifacts::path("jacoco-agent");
    let option = format!(
        "-javaagent:{}=output=tcpserver,port={port},includes=Servant*",
        agent.display()
    );
    let mut servant = Servant::start(&jdk, &[&option]);
    let address = format!("localhost:{port}");
    let dump = |name: &str, more: &[&str]| {
        let file = folder.path().join(name);
        let words = ["dump", &address, "--to", file.to_str().expect("text")];
        let run = classhook(&[&words[..], more].concat());
        run.assert_success().assert_stderr("with executed code");
        steps(&file)
    };
    servant.ask("steps ab");
    let two = dump("1.exec", &[]);
    assert_eq!(dump("2.exec", &["--reset"]), two);
    servant.ask("steps a");
    let one = dump("3.exec", &[]);
    assert!(0 < one && one < two, "{one} {two}");
    assert_eq!(servant.end().code, Some(0));
    for (words, code, part) in [
        (
            &["dump", &address, "--to", "x.exec"][..],
            "error[H0517]",
            "no process listens",
        ),
        (&["dump", &address], "error[H0514]", "--to jacoco.exec"),
    ] {
        classhook(words)
            .assert_exit(2)
            .assert_stderr(code)
            .assert_stderr(part);
    }
}

/// Compiles a program that takes a thousand branches of the class `Steps` in each pass, each once. Code of `Once`
/// behind its printed line belongs to this pass or to the next.
fn program() -> String {
    let mut cases = String::new();
    for case in 0..1_000 {
        writeln!(cases, "case {case}: return {case};").expect("memory");
    }
    format!(
        "class Steps {{
            static int step(int step) {{ switch (step) {{ {cases} default: return -1; }} }}
        }}
        class Once {{
            public static void main(String[] args) throws Exception {{
                System.out.println(\"up\");
                while (true) {{
                    int read = System.in.read();
                    if (read < 0) {{ return; }}
                    if (read != '\\n') {{ continue; }}
                    for (int step = 0; step < 1000; step++) {{
                        Steps.step(step);
                        for (long until = System.nanoTime() + 10_000; System.nanoTime() < until; ) {{ }}
                    }}
                    System.out.println(\"done\");
                }}
            }}
        }}"
    )
}

#[test]
fn hits_during_a_dump_with_reset_are_in_this_dump_or_the_next() {
    let (folder, jdk) = (scratch(), jdks::newest());
    let source = folder.path().join("Once.java");
    std::fs::write(&source, program()).expect("a writable folder");
    let classes = javac::compile(&jdk, &[&source], folder.path(), &[]);
    let options = format!("output={},jacoco-tcp=0", folder.path().display());
    let java = Java::new(&jdk).class_path(&[&classes]).main("Once");
    let mut running = Servant::of(&java.agent(Some(&options)));
    let address = address_of(&running);
    let take = |all: &mut Vec<bool>| {
        let command = Command {
            dump: true,
            reset: true,
        };
        let file = folder.path().join("part.exec");
        std::fs::write(&file, ask(address, command).expect("an answer")).expect("writable");
        for (class, probes) in &Execution::read(&file).0 {
            if class.name == "Steps" {
                all.resize(probes.len(), false);
                let both = all.iter_mut().zip(probes);
                both.for_each(|(all, new)| *all |= new);
            }
        }
    };
    let (mut passes, mut dumps) = (Vec::new(), 0);
    // On a busy machine, a pass has fewer dumps.
    while passes.len() < 8 || dumps < 50 && passes.len() < 200 {
        let mut all = Vec::new();
        let done = std::thread::scope(|scope| {
            let pass = scope.spawn(|| running.ask("go"));
            while !pass.is_finished() {
                take(&mut all);
                dumps += 1;
            }
            pass.join()
        });
        assert_eq!(done.expect("no panic"), "done");
        take(&mut all);
        passes.push(all.iter().filter(|hit| **hit).count());
    }
    assert!(dumps >= 50, "{dumps}");
    assert!(passes.iter().all(|hits| *hits == 1_000), "{passes:?}");
    assert_eq!(running.end().code, Some(0));
}
