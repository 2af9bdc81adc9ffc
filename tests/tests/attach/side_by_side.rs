//! Effects of one command on a JVM while another is at work in it.

use crate::support::command::{LATE, assert_no_agent, attach, await_changed, classhook, json};
use e2e_tests::java::Java;
use e2e_tests::servant::Servant;
use e2e_tests::{javac, jdks, scratch, workspace};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Returns how often the JVM redefined each class by itself, from its log.
fn redefined(log: &Path) -> BTreeMap<String, usize> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let names = text.lines().filter_map(|line| {
        let (_, name) = line.split_once("redefined name=")?;
        name.split(',').next()
    });
    names.fold(BTreeMap::new(), |mut times, name| {
        *times.entry(name.to_owned()).or_default() += 1;
        times
    })
}

/// Classes that another plugin has changed stay as they are, and the agent retransforms a class only for edits.
#[test]
fn classes_are_retransformed_only_to_get_and_to_lose_edits() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let log = folder.path().join("redefined");
        let option = format!("-Xlog:redefine+class+load=info:file={}", log.display());
        let mut servant = Servant::start(&jdk, &[&option, LATE[0]]);
        let pid = servant.pid().to_string();
        servant.ask("steps a"); // loads their class
        let traced = |methods: &str, output: &str| {
            let output = folder.path().join(output);
            let output = output.to_string_lossy();
            let words = ["trace", &pid, "--methods", methods, "--for", "100ms"];
            match output.ends_with("guest") {
                true => classhook(&words).assert_success(),
                false => classhook(&[&words[..], &["-o", &output]].concat()).assert_success(),
            };
        };
        let times = |expected: &[(&str, usize)]| {
            let expected = expected
                .iter()
                .map(|(name, times)| ((*name).to_owned(), *times));
            assert_eq!(redefined(&log), expected.collect(), "{jdk}");
        };
        // One trace, and another of other methods: each class is changed and restored.
        traced("Servant.step", "one");
        times(&[("Servant", 2)]);
        traced("Servant$Steps.*", "two");
        times(&[("Servant", 2), ("Servant$Steps", 2)]);
        assert_no_agent(&pid);
        // Beside coverage of another class, and of the same class.
        let output = folder.path().join("covered");
        let output = output.to_string_lossy();
        let words = ["attach", &pid, "--output", &output, "--select", "Servant"];
        classhook(&words).assert_success();
        await_changed(&pid, 1);
        times(&[("Servant", 3), ("Servant$Steps", 2)]);
        traced("Servant$Steps.*", "guest");
        times(&[("Servant", 3), ("Servant$Steps", 4)]);
        traced("Servant.step", "guest");
        times(&[("Servant", 5), ("Servant$Steps", 4)]);
        classhook(&["off", &pid]).assert_success();
        times(&[("Servant", 6), ("Servant$Steps", 4)]);
        assert_eq!(servant.end().code, Some(0));
    }
}

/// A plugin that a command has disabled stays so when another plugin comes for a while.
#[test]
fn disabled_plugin_stays_disabled_while_another_visits() {
    let folder = scratch();
    let mut servant = Servant::start(&jdks::newest(), &LATE);
    let pid = servant.pid().to_string();
    servant.ask("steps a"); // loads their class
    attach(&servant, folder.path(), &[]).assert_success();
    await_changed(&pid, 2);
    classhook(&["disable", &pid, "coverage"]).assert_success();
    let words = [
        "trace",
        &pid,
        "--methods",
        "Servant$Steps.*",
        "--for",
        "100ms",
    ];
    classhook(&words).assert_success();
    let plugins = &json(&["status", &pid])["plugins"];
    let all = plugins.as_array().expect("a list");
    assert_eq!(all.len(), 1, "the trace has left: {plugins}");
    assert_eq!(
        (&all[0]["name"], &all[0]["state"], &all[0]["changed"]),
        (&"coverage".into(), &"off".into(), &0.into())
    );
    assert_eq!(servant.end().code, Some(0));
}

/// The command shows its recording, and names the command that ended it.
#[test]
fn visit_whose_plugin_is_disabled_ends_with_its_recording() {
    let jdk = jdks::newest();
    let folder = scratch();
    let mut servant = Servant::start(&jdk, &LATE);
    let pid = servant.pid().to_string();
    servant.ask("spin");
    let trace = ["trace", &pid, "--methods", "Servant$Steps.*"];
    let coverage = ["coverage", &pid, "--select", "Servant$Steps"];
    for (plugin, words, shown) in [
        ("trace", &trace[..], "Servant$Steps.d"),
        ("coverage", &coverage[..], "Servant$Steps"),
    ] {
        let output = folder.path().join(plugin);
        let mut child = Java::program(workspace::classhook())
            .variable("CLASSHOOK_AGENT", workspace::agent_library())
            .arguments(words)
            .arguments(&["-o", &output.to_string_lossy()])
            .spawn();
        let mut told = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        while !line.contains("; Ctrl-C ends it") {
            line.clear();
            assert!(
                told.read_line(&mut line).expect("text") > 0,
                "no visit begins"
            );
        }
        servant.ask("spun");
        classhook(&["disable", &pid, plugin]).assert_success();
        let run = child.wait_with_output().expect("an end");
        let out = String::from_utf8_lossy(&run.stdout);
        let told = std::io::read_to_string(told).expect("text");
        assert_eq!(run.status.code(), Some(3), "{out}{told}");
        assert!(out.contains(shown), "{out}{told}");
        let says = format!("warning[H0656]: the plugin {plugin} was disabled in {pid}");
        assert!(told.contains(&says), "{told}");
        assert!(!told.contains("H0650"), "{told}");
        assert_no_agent(&pid);
    }
    servant.ask("rest");
    assert_eq!(servant.end().code, Some(0));
}

/// One of several simultaneous commands loads the agent, and the others find it.
#[test]
fn simultaneous_commands_share_one_agent() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut servant = Servant::start(&jdk, &LATE);
        servant.ask("spin");
        let pid = servant.pid().to_string();
        let path = ["profile", &pid, "--heap", "path=java.lang.Thread"];
        std::thread::scope(|scope| {
            let ask = || {
                let run = classhook(&path);
                run.assert_success();
                assert!(run.stdout.contains("java.lang.Thread"), "{}", run.report());
            };
            let asked: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            let watched = scope.spawn(|| {
                classhook(&["watch", &pid, "Servant$Steps.d", "--limit", "1"]).assert_success();
            });
            asked.into_iter().chain([watched]).for_each(|one| {
                one.join().expect("no command failed");
            });
        });
        let output = folder.path().to_string_lossy();
        let words = ["attach", &pid, "--select", "Servant*", "-o", &output];
        let runs = std::thread::scope(|scope| {
            let attach = || scope.spawn(|| classhook(&words));
            [attach(), attach(), attach()].map(|run| run.join().expect("an end"))
        });
        let codes = runs.each_ref().map(|run| run.status.code());
        assert!(codes.contains(&Some(0)), "{}", runs[0].report());
        for run in runs.iter().filter(|run| !run.status.success()) {
            run.assert_exit(2).assert_stderr("leave --output out"); // one was first
        }
        classhook(&["off", &pid]).assert_success();
        assert_no_agent(&pid);
        servant.ask("rest");
        assert_eq!(servant.end().code, Some(0), "{jdk}");
    }
}

/// The arrays of another build may be shorter than the probes of this one need.
#[test]
fn arrays_of_another_build_of_the_agent_are_not_taken_over() {
    for jdk in jdks::full() {
        let folder = scratch();
        let sources = folder.path().join("sources");
        let source = sources.join("java/lang/$Classhook.java");
        std::fs::create_dir_all(sources.join("java/lang")).expect("writable");
        let text = "package java.lang;\npublic class $Classhook { static byte[] hits = new byte[32768]; }\n";
        std::fs::write(&source, text).expect("writable");
        let module = |folder: &Path| format!("--patch-module=java.base={}", folder.display());
        let options = ["-implicit:none", &module(&sources)];
        let classes = javac::compile(&jdk, &[&source], folder.path(), &options);
        let mut servant = Servant::start(&jdk, &[&module(&classes), LATE[0]]);
        let pid = servant.pid().to_string();
        let first = servant.ask("load java.lang.$Classhook");
        assert_eq!(first, "java.lang.$Classhook");
        let steps = servant.ask("steps a");
        let output = folder.path().join("covered");
        let refused = classhook(&["attach", &pid, "--output", &output.to_string_lossy()]);
        refused.assert_exit(2).assert_stderr("error[H0508]");
        refused.assert_stderr(
            "warning[H0403]: another copy of the agent was loaded in this JVM before",
        );
        assert_eq!(servant.ask("steps a"), steps, "{jdk}");
        assert_eq!(servant.end().code, Some(0), "{jdk}");
    }
}
