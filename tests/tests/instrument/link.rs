//! The agent linked into a launcher: the JVM finds `Agent_OnLoad_classhook` in the process and loads no library.

use crate::support::agent::{classes, hits, snapshot, snapshots};
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{scratch, workspace};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The launcher, linked with `libclasshook.a` and this JDK's `libjvm`.
fn launcher(jdk: &Jdk, folder: &Path) -> PathBuf {
    let server = jdk.home.join("lib/server");
    let program = folder.join("launcher");
    let mut cc = Command::new("cc");
    cc.arg("-o")
        .arg(&program)
        .arg(workspace::test_file("native/launcher.c"));
    for include in ["include", "include/linux"] {
        cc.arg("-I").arg(jdk.home.join(include));
    }
    // -u pulls the agent out of the archive, -rdynamic lets the JVM find its symbols
    cc.args([
        "-rdynamic",
        "-Wl,-u,Agent_OnLoad_classhook,-u,Agent_OnUnload_classhook",
    ])
    .arg(workspace::agent_library().with_extension("a"))
    .arg("-L")
    .arg(&server)
    .arg("-ljvm")
    .arg(format!("-Wl,-rpath,{}", server.display()))
    .args(["-lpthread", "-ldl", "-lm", "-lgcc_s"]);
    let output = cc.output().expect("cc is installed");
    assert!(
        output.status.success(),
        "{cc:?}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    program
}

fn run(launcher: &Path, agents: &[String]) -> e2e_tests::java::Run {
    Java::program(launcher.to_path_buf())
        .option(format!("-Djava.class.path={}", classes().display()))
        .options(agents)
        .option("--")
        .arguments(&["Life", "end"])
        .run()
}

#[test]
fn agent_linked_into_a_launcher_records() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let launcher = launcher(&jdk, folder.path());
        let output = folder.path().join("out");
        let run = run(
            &launcher,
            &[format!("-agentlib:classhook=output={}", output.display())],
        );
        run.assert_success();
        assert_eq!(run.stdout, "started 2\nended\n", "{}", run.report());
        let snapshot = snapshot(&output);
        assert!(snapshot.complete);
        assert!(hits(&snapshot, "Life").0 > 0);
    }
}

/// The JVM prohibits a dynamic agent of the same name; its path leads to the linked one.
#[test]
fn linked_agent_replaces_a_library_of_its_name() {
    let jdk = jdks::newest();
    let folder = scratch();
    let launcher = launcher(&jdk, folder.path());
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    let library = workspace::agent_library();
    let run = run(
        &launcher,
        &[
            format!("-agentlib:classhook=output={}", first.display()),
            format!(
                "-agentpath:{}=output={}",
                library.display(),
                second.display()
            ),
        ],
    );
    run.assert_success().assert_stderr("H0403");
    assert!(hits(&snapshot(&first), "Life").0 > 0);
    assert!(snapshots(&second).is_empty(), "one image, one agent");
}
