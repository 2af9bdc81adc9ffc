//! Plugins that the agent does not contain: compiled once, by a separate program, within limits, and without harm to
//! the program.

use crate::support::agent::{java, snapshot};
use crate::support::command::LATE;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks;
use e2e_tests::patience::PATIENCE;
use e2e_tests::servant::Servant;
use e2e_tests::workspace::{agent_library, classhook, target};
use e2e_tests::{javac, scratch};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The message about a compilation.
const LINE: &str = "classhook: compiling the plugin `coverage`";

/// The part that only the agent prints.
const WAITS: &str = "before a JVM starts";

/// Returns the options for the plugin `coverage` as a file.
fn options(folder: &Path) -> String {
    let plugin = target("bundled/coverage.wasm");
    let output = folder.join("out");
    format!(
        "plugin={},grant=probes,output={}",
        plugin.display(),
        output.display()
    )
}

/// Returns `Life` in a JVM with a cache of its own.
fn life(java: &Java, cache: &Path) -> Java {
    let java = java.clone().variable("XDG_CACHE_HOME", cache);
    java.main("Life").argument("end")
}

#[track_caller]
fn assert_ran(run: &Run, lines: usize) {
    run.assert_success();
    assert_eq!(run.stdout, "started 2\nended\n", "{}", run.report());
    let said = run.stderr.matches(LINE).count();
    assert_eq!(said, lines, "{}", run.report());
}

#[track_caller]
fn assert_recorded(folder: &Path) {
    let classes = snapshot(&folder.join("out")).classes;
    assert!(classes.iter().any(|class| class.name == "Life"));
}

#[test]
fn plugin_is_compiled_once_and_the_first_jvm_reports_its_wait() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let cache = folder.path().join("cache");
        let program = java(&jdk).agent(Some(&options(folder.path())));
        assert_ran(&life(&program, &cache).run(), 1);
        assert_recorded(folder.path());
        assert_ran(&life(&program, &cache).run(), 0);
        let silent = scratch();
        let program = java(&jdk).agent(Some(&format!("{},log=error", options(silent.path()))));
        assert_ran(&life(&program, &silent.path().join("cache")).run(), 0);
        assert_recorded(silent.path());
    }
}

#[test]
fn home_that_cannot_be_written_costs_each_jvm_the_compilation() {
    let folder = scratch();
    let program = java(&jdks::newest())
        .agent(Some(&options(folder.path())))
        .variable("HOME", "/proc")
        .variable("XDG_CACHE_HOME", "")
        .main("Life")
        .argument("end");
    assert_ran(&program.run(), 1);
    assert_recorded(folder.path());
    assert_ran(&program.run(), 1);
}

#[test]
fn two_jvms_compile_the_same_plugin_at_once() {
    let folder = scratch();
    let cache = folder.path().join("cache");
    let run = |name: &str| {
        let folder = folder.path().join(name);
        let program = java(&jdks::newest()).agent(Some(&options(&folder)));
        life(&program, &cache).run()
    };
    std::thread::scope(|scope| {
        let both = ["one", "two"].map(|name| (name, scope.spawn(move || run(name))));
        for (name, running) in both {
            let run = running.join().expect("a run");
            run.assert_success();
            assert_recorded(&folder.path().join(name));
        }
    });
    assert_ran(&run("three"), 0);
    let left = std::fs::read_dir(cache.join("classhook")).expect("the cache");
    let mut left: Vec<_> = left.map(|entry| entry.expect("an entry").path()).collect();
    left.retain(|path| path.extension().is_some_and(|extension| extension == "tmp"));
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[test]
fn agent_without_the_compiler_names_the_remedy_and_finds_compiled_code() {
    let folder = scratch();
    let cache = folder.path().join("cache");
    let library = folder.path().join("libclasshook.so");
    std::fs::copy(agent_library(), &library).expect("a copy");
    let agent = format!(
        "-agentpath:{}={}",
        library.display(),
        options(folder.path())
    );
    let program = java(&jdks::newest())
        .option(agent)
        .variable("PATH", "/nowhere");
    let run = life(&program, &cache).run();
    assert_ran(&run, 1);
    run.assert_stderr("error[H0116]")
        .assert_stderr("/nowhere/classhook")
        .assert_stderr("compile-plugin")
        .assert_stderr("the JVM goes on without Classhook");
    let compiled = Java::program(classhook())
        .variable("XDG_CACHE_HOME", &cache)
        .argument("compile-plugin")
        .argument(target("bundled/coverage.wasm"));
    let first = compiled.run();
    first.assert_success().assert_stderr(LINE);
    assert!(first.stdout.starts_with("compiled: "), "{}", first.report());
    let second = compiled.run();
    assert!(
        second.stdout.starts_with("was compiled before: "),
        "{}",
        second.report()
    );
    assert_ran(&life(&program, &cache).run(), 0);
    assert_recorded(folder.path());
}

#[test]
fn command_that_starts_a_jvm_compiles_before() {
    let folder = scratch();
    let plugin = target("bundled/coverage.wasm");
    let java = jdks::newest().tool("java");
    let run = |cache: &str| {
        let program = Java::program(classhook()).variable("XDG_CACHE_HOME", cache);
        let words = ["run", "--grant", "probes", "--output"];
        let program = program.variable("HOME", "/proc").arguments(&words);
        let program = program
            .argument(folder.path().join("out"))
            .argument("--plugin");
        let program = program
            .argument(&plugin)
            .argument("--")
            .argument(&java)
            .argument("-cp");
        let classes = crate::support::agent::classes();
        program
            .argument(classes)
            .argument("Life")
            .argument("end")
            .run()
    };
    let cache = folder.path().join("cache");
    let cache = cache.to_str().expect("a path that is text");
    // Without a cache, the JVM finds the code in a temporary folder.
    for (cache, lines) in [(cache, 1), (cache, 0), ("", 1)] {
        let run = run(cache);
        assert_ran(&run, lines);
        assert!(!run.stderr.contains(WAITS), "{}", run.report());
    }
}

#[test]
fn command_that_attaches_compiles_before_with_any_cache_of_the_jvm() {
    let folder = scratch();
    let plugin = target("bundled/coverage.wasm");
    let plugin = plugin.to_str().expect("a path that is text");
    let jdk = jdks::newest();
    let program = e2e_tests::servant::java(&jdk, &LATE).variable("XDG_CACHE_HOME", "/proc");
    let servant = Servant::of(&program);
    let pid = servant.pid().to_string();
    let run = |words: &[&str], cache: &Path| {
        Java::program(classhook())
            .variable("CLASSHOOK_AGENT", agent_library())
            .variable("XDG_CACHE_HOME", cache)
            .arguments(words)
            .run()
    };
    let output = folder.path().join("out");
    let output = output.to_str().expect("a path that is text");
    let select = ["--select", "Servant*"];
    let attach = ["attach", &pid, "--plugin", "none", "--output", output];
    let settings = [&["--grant", "probes"][..], &select].concat();
    run(&attach, folder.path()).assert_success();
    let enable = [&["enable", &pid, plugin][..], &settings].concat();
    let enabled = run(&enable, &folder.path().join("one"));
    enabled.assert_success().assert_stderr(LINE);
    let reload = [&["reload", &pid, "--plugin", plugin][..], &settings].concat();
    let reloaded = run(&reload, &folder.path().join("two"));
    reloaded.assert_success().assert_stderr(LINE);
    run(&["off", &pid], folder.path()).assert_success();
    let attach = ["attach", &pid, "--plugin", plugin, "--output", output];
    let attached = run(&[&attach[..], &settings].concat(), Path::new("/proc"));
    attached.assert_success().assert_stderr(LINE);
    let left = servant.end();
    assert!(!left.stderr.contains("compiling"), "{}", left.stderr);
}

/// Returns a component with one function that takes long to compile: many loops, and a use of every local behind them.
fn bomb() -> Vec<u8> {
    const LOCALS: usize = 4_000;
    const LOOPS: usize = 2_000;
    let mut body = vec![1];
    number(LOCALS, &mut body);
    body.push(0x7f);
    for index in 0..LOOPS {
        body.extend([0x03, 0x40, 0x20]); // loop, local.get
        number(index, &mut body);
        body.extend([0x0d, 0, 0x0b]); // br_if 0, end
    }
    for index in 0..LOCALS {
        body.push(0x20); // local.get
        number(index, &mut body);
        body.extend([0x24, 0]); // global.set 0
    }
    body.push(0x0b);
    let mut code = vec![1];
    number(body.len(), &mut code);
    code.extend(body);
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    section(1, &[1, 0x60, 0, 0], &mut module);
    section(3, &[1, 0], &mut module);
    section(6, &[1, 0x7f, 1, 0x41, 0, 0x0b], &mut module);
    section(10, &code, &mut module);
    let mut component = b"\0asm\x0d\0\x01\0".to_vec();
    section(1, &module, &mut component);
    component
}

fn section(id: u8, body: &[u8], out: &mut Vec<u8>) {
    out.push(id);
    number(body.len(), out);
    out.extend(body);
}

/// Writes LEB128.
fn number(mut value: usize, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Returns the compiler under lower limits than its own, which it keeps.
fn limited(folder: &Path, limit: &str) -> PathBuf {
    let script = folder.join("limited");
    let text = format!(
        "#!/bin/sh\nulimit {limit}\nexec {} \"$@\"\n",
        classhook().display()
    );
    std::fs::write(&script, text).expect("written");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).expect("a script");
    script
}

#[test]
fn component_that_takes_long_to_compile_is_stopped_by_the_limits() {
    let folder = scratch();
    let plugin = folder.path().join("bomb.wasm");
    std::fs::write(&plugin, bomb()).expect("written");
    for (limit, cause) in [
        ("-t 1", "it exceeded the limit of CPU time"),
        ("-v 100000", "it ran out of memory"),
    ] {
        let compiler = limited(folder.path(), limit);
        let options = format!(
            "plugin={},compiler={}",
            plugin.display(),
            compiler.display()
        );
        let program = java(&jdks::newest()).agent(Some(&options));
        let cache = folder.path().join(limit);
        for tries in [1, 0] {
            let run = life(&program, &cache).run();
            assert_ran(&run, 0);
            run.assert_stderr("error[H0117]")
                .assert_stderr(cause)
                .assert_stderr("the JVM goes on without Classhook");
            let said = run.stderr.matches("compiling the plugin `bomb`").count();
            assert_eq!(said, tries, "{}", run.report());
        }
    }
    // The child process of the command keeps the limits of its parent.
    let limited = limited(folder.path(), "-t 1");
    let again = Java::program(limited)
        .variable("XDG_CACHE_HOME", folder.path().join("-t 1"))
        .argument("compile-plugin")
        .argument(&plugin)
        .run();
    again
        .assert_exit(2)
        .assert_stderr("compiling the plugin `bomb`")
        .assert_stderr("error[H0117]");
}

#[test]
fn component_with_too_many_locals_is_refused_by_the_command() {
    let folder = scratch();
    let plugin = folder.path().join("locals.wasm");
    let mut code = vec![1, 6, 1];
    number(50_000, &mut code);
    code.extend([0x7f, 0x0b]);
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    section(1, &[1, 0x60, 0, 0], &mut module);
    section(3, &[1, 0], &mut module);
    section(10, &code, &mut module);
    let mut component = b"\0asm\x0d\0\x01\0".to_vec();
    section(1, &module, &mut component);
    std::fs::write(&plugin, component).expect("written");
    let output = folder.path().join("out");
    let run = Java::program(classhook())
        .variable("XDG_CACHE_HOME", folder.path())
        .arguments(&["run", "--output"])
        .argument(&output)
        .argument("--plugin")
        .argument(&plugin)
        .arguments(&["--", "java", "-version"])
        .run();
    run.assert_exit(2)
        .assert_stderr("error[H0117]")
        .assert_stderr("50000 locals in a function")
        .assert_stderr("at most 10000");
    assert!(!output.exists(), "nothing was started");
}

/// Processes inherit a JVM's open files and sockets.
#[test]
fn compiler_process_closes_inherited_files() {
    let script = format!(
        "exec 9>&1 >/dev/null; exec {} child-process compile",
        classhook().display()
    );
    let mut child = std::process::Command::new("sh")
        .args(["-c", &script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut inherited = child.stdout.take().expect("a pipe");
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let ended = std::io::Read::read_to_end(&mut inherited, &mut Vec::new());
        let _ = tell.send(ended.is_ok());
    });
    // The compiler waits for a component, which does not come.
    let closed = told.recv_timeout(PATIENCE);
    assert!(
        child.try_wait().expect("our own child").is_none(),
        "it waits"
    );
    child.kill().expect("our own child");
    child.wait().expect("an end");
    assert_eq!(closed, Ok(true), "the pipe is still open");
}

/// The same holds if another program is in its place.
#[test]
fn program_that_is_no_compiler_is_named() {
    let folder = scratch();
    let options = format!("{},compiler=/bin/echo", options(folder.path()));
    let program = java(&jdks::newest()).agent(Some(&options));
    let run = life(&program, &folder.path().join("cache")).run();
    assert_ran(&run, 1);
    run.assert_stderr("error[H0116]").assert_stderr("/bin/echo");
}

#[test]
fn pipes_in_the_cache_are_no_code() {
    let folder = scratch();
    let cache = folder.path().join("cache");
    let program = java(&jdks::newest()).agent(Some(&options(folder.path())));
    assert_ran(&life(&program, &cache).run(), 1);
    let code = javac::files_with_extension(&cache.join("classhook"), "code");
    assert_eq!(code.len(), 1, "{code:?}");
    std::fs::remove_file(&code[0]).expect("removed");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &code[0], mode).expect("a pipe");
    assert_ran(&life(&program, &cache).run(), 1);
    assert_ran(&life(&program, &cache).run(), 0);
}
