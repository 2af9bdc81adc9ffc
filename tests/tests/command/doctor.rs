//! `classhook doctor`, `classhook completions` and `classhook man-pages`.

use crate::support::command::classhook as command;
use e2e_tests::java::{Java, Run};
use e2e_tests::servant::{self, Servant};
use e2e_tests::workspace::{agent_library, classhook};
use e2e_tests::{caches, jdks, scratch};

/// Returns `classhook doctor` without environment variables that change its result.
fn doctor() -> Java {
    Java::program(classhook())
        .variable("CLASSHOOK_AGENT", agent_library())
        .variable("JAVA_TOOL_OPTIONS", "")
        .argument("doctor")
}

fn lines<'a>(run: &'a Run, what: &str) -> Vec<&'a str> {
    let of = |line: &&str| line.split_whitespace().nth(1) == Some(what);
    run.stdout.lines().filter(of).collect()
}

#[test]
fn programs_of_tests_leave_the_cache_of_the_user_alone() {
    let run = doctor().run();
    let cache = caches::home().join("classhook");
    let [line] = lines(&run, "cache")[..] else {
        panic!("{}", run.report());
    };
    let expected = format!("{} can be written to", cache.display());
    assert!(line.contains(&expected), "{}", run.report());
    assert!(
        cache.starts_with(e2e_tests::workspace::root()),
        "{}",
        cache.display()
    );
}

#[test]
fn doctor_starts_every_jdk_with_the_agent() {
    for jdk in jdks::all() {
        let run = doctor().argument("--java").argument(jdk.tool("java")).run();
        run.assert_success();
        let [java] = lines(&run, "java")[..] else {
            panic!("{}", run.report());
        };
        let version = format!("version \"{}", jdk.feature);
        assert!(java.starts_with("good"), "{}", run.report());
        assert!(java.contains(&version), "{jdk}: {java}");
        assert!(java.ends_with("starts with the agent, which records"));
        let [probes] = lines(&run, "probes")[..] else {
            panic!("{}", run.report());
        };
        assert!(probes.starts_with("good"), "{jdk}: {probes}");
    }
}

/// The interpreter compiles nothing, and a flag forbids it to the compilers.
#[test]
fn jvm_that_keeps_probes_is_seen_by_trying() {
    let flag = "-XX:+UnlockDiagnosticVMOptions -XX:-FoldStableValues";
    for (jdk, options) in jdks::all().iter().zip([flag, "-Xint"].iter().cycle()) {
        let run = doctor()
            .variable("JAVA_TOOL_OPTIONS", options)
            .argument("--java")
            .argument(jdk.tool("java"))
            .run();
        let probes = lines(&run, "probes").concat();
        assert!(probes.starts_with("absent"), "{jdk}: {}", run.report());
        assert!(probes.contains("keeps probes"), "{jdk}: {probes}");
    }
}

#[test]
fn missing_and_conflicting_parts_are_reported_with_a_remedy() {
    let java = jdks::newest().tool("java");
    let missing = doctor()
        .variable("CLASSHOOK_AGENT", "/nowhere/libclasshook.so")
        .variable("XDG_CACHE_HOME", "/proc")
        .argument("--java")
        .argument(&java)
        .run();
    missing.assert_exit(3).assert_stderr("error[H0637]");
    for (what, found) in [
        ("agent", "H0601"),
        ("java", "H0601"),
        ("cache", "no folder that belongs"),
    ] {
        let line = lines(&missing, what).concat();
        assert!(line.starts_with("bad"), "{}", missing.report());
        assert!(line.contains(found), "{}", missing.report());
    }
    assert!(missing.stdout.contains("set XDG_CACHE_HOME"));

    let twice = format!("-agentpath:{}", agent_library().display());
    let twice = doctor().variable("JAVA_TOOL_OPTIONS", twice).run();
    twice.assert_exit(3);
    assert!(lines(&twice, "options").concat().starts_with("bad"));

    // The JVM refuses its own options without the agent's part, and says why.
    let refuses = doctor()
        .variable("JAVA_TOOL_OPTIONS", "-XX:NoSuchFlag=1")
        .argument("--java")
        .argument(&java)
        .run();
    refuses.assert_exit(3);
    let line = lines(&refuses, "java").concat();
    assert!(
        line.contains("without the agent: Unrecognized VM option 'NoSuchFlag=1'"),
        "{line}"
    );

    let no_java = doctor().arguments(&["--java", "/nowhere/java"]).run();
    no_java.assert_exit(3);
    assert!(lines(&no_java, "java").concat().contains("H0602"));
}

/// A full disk, and a program of another version: both exist, and neither is good.
#[test]
fn existing_parts_that_do_not_work_are_not_called_good() {
    let folder = scratch();
    let script = "mount -t tmpfs -o size=256k none \"$FOLDER\"; cd \"$FOLDER\"; exec \"$@\"";
    let full = Java::program("/usr/bin/unshare".into())
        .options(&[
            "--user",
            "--map-root-user",
            "--mount",
            "/bin/sh",
            "-ec",
            script,
            "sh",
        ])
        .option(classhook())
        .variable("FOLDER", folder.path())
        .variable("CLASSHOOK_AGENT", agent_library())
        .variable("XDG_CACHE_HOME", folder.path())
        .variable("JAVA_TOOL_OPTIONS", "")
        .arguments(&["doctor", "--java"])
        .argument(jdks::newest().tool("java"))
        .run();
    full.assert_exit(3).assert_stderr("error[H0637]");
    for what in ["cache", "output"] {
        let line = lines(&full, what).concat();
        assert!(line.starts_with("bad"), "{}", full.report());
        assert!(line.contains("No space left"), "{}", full.report());
    }

    let own = doctor()
        .argument("--java")
        .argument(jdks::newest().tool("java"))
        .run();
    let compiler = lines(&own, "compiler").concat();
    assert!(compiler.starts_with("good"), "{}", own.report());
}

#[test]
fn jvm_that_refuses_agents_is_distinguished_from_others() {
    let jdk = jdks::newest();
    let servant = Servant::start(&jdk, &[]);
    let pid = servant.pid().to_string();
    let open = command(&["doctor", &pid]);
    open.assert_success();
    assert!(lines(&open, "agent").concat().contains("none yet"));
    assert!(!open.stdout.contains("bad"), "{}", open.report());
    servant.end();

    let options =
        "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:0";
    let variable = ("JAVA_TOOL_OPTIONS", "-XX:-EnableDynamicAgentLoading");
    let servant = Servant::of(&servant::java(&jdk, &[options]).variable(variable.0, variable.1));
    let pid = servant.pid().to_string();
    let shut = command(&["doctor", &pid, "--json"]);
    shut.assert_exit(3).assert_stderr("error[H0637]");
    let findings: Vec<serde_json::Value> = serde_json::from_str(&shut.stdout).expect("JSON");
    let found = |state: &str| {
        let mut of = findings.iter().filter(|one| one["state"] == state);
        of.next().expect("a finding")["found"].to_string()
    };
    assert!(found("bad").contains("-XX:-EnableDynamicAgentLoading (in JAVA_TOOL_OPTIONS)"));
    assert!(found("absent").contains("jdwp"), "{}", shut.stdout);
    servant.end();

    command(&["doctor", "2147483647"])
        .assert_exit(2)
        .assert_stderr("H0501");
}

#[test]
fn bash_completes_commands_and_options_and_each_command_has_a_manual_page() {
    let folder = scratch();
    let script = folder.path().join("classhook.bash");
    let made = command(&["completions", "bash"]);
    made.assert_success();
    std::fs::write(&script, &made.stdout).expect("the test's folder is writable");
    let completed = |words: &str| {
        let (before, word) = words.rsplit_once(' ').expect("several words");
        let last = before.split(' ').count();
        let shell = format!(
            "source '{}'; COMP_WORDS=({words}); COMP_CWORD={last}; \
             _classhook_or_command classhook '{word}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display(),
            before.rsplit(' ').next().unwrap_or_default(),
        );
        let bash = Java::program("/bin/bash".into());
        let run = bash.arguments(&["-c", &shell]).run();
        run.assert_success();
        run.stdout
    };
    assert_eq!(completed("classhook cov"), "coverage\n");
    assert_eq!(completed("classhook report --car"), "--carry-over\n");
    assert_eq!(completed("classhook gua"), "\n", "what is hidden stays so");
    assert_eq!(completed("classhook profile 1 --heap d"), "dump=\n");
    let commands = completed("classhook profile --gc -- bas");
    assert!(commands.lines().any(|line| line == "bash"), "{commands}");
    for (shell, behind_dashes) in [
        ("zsh", "behind `--`:_normal"),
        ("fish", "-n __fish_classhook_behind_dashes"),
    ] {
        let made = command(&["completions", shell]);
        made.assert_success();
        for word in ["coverage", "carry-over", "rollback", "dump=", behind_dashes] {
            assert!(made.stdout.contains(word), "{shell}: {word}");
        }
    }
    command(&["man-pages", &folder.path().join("man").to_string_lossy()]).assert_success();
    let page = |name: &str| std::fs::read_to_string(folder.path().join("man").join(name));
    let report = page("classhook-report.1").expect("a page for each command");
    assert!(report.contains("carry\\-over"), "{report}");
    assert!(page("classhook-guard.1").is_err() && page("classhook-man-pages.1").is_err());
    command(&["completions", "tcsh"])
        .assert_exit(2)
        .assert_stderr("bash, zsh, fish");
}
