//! `classhook classes` with details of a class.

use crate::support::command::{LATE, attach, classhook, json};
use e2e_tests::jdks;
use e2e_tests::scratch;
use e2e_tests::servant::{self, Servant};
use serde_json::Value;

const STEPS: &str = "Servant$Steps";

/// Returns the only class of this name, with these details.
#[track_caller]
fn class(pid: &str, name: &str, details: &[&str]) -> Value {
    let answer = json(&[&["classes", pid, name], details].concat());
    assert_eq!(answer["total"], 1, "{answer:#}");
    answer["classes"][0].clone()
}

/// Returns the number of frames in former code, by method name.
fn former_frames(class: &Value) -> Vec<(String, u64)> {
    let methods = class["methods"].as_array().expect("a list").iter();
    let count = |method: &Value| {
        let name = method["name"].as_str()?.to_owned();
        Some((name, method["former_frames"].as_u64()?))
    };
    methods.filter_map(count).collect()
}

#[test]
fn source_loaders_methods_and_plan_of_a_class_are_shown() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut servant = Servant::start(&jdk, &LATE);
        servant.ask("steps a");
        let pid = servant.pid().to_string();
        attach(&servant, folder.path(), &[]).assert_success();
        let counts = json(&["status", &pid])["classes"]["changed"].clone();
        let all = ["--source", "--loader", "--methods", "--plan"];
        let steps = class(&pid, STEPS, &all);
        let source = steps["source"].as_str().expect("a text");
        let folder = servant::classes().to_string_lossy();
        assert!(
            source.starts_with("file:/") && source.contains(&*folder),
            "{source}"
        );
        let loaders = steps["loaders"].as_array().expect("a list");
        let named: Vec<&str> = loaders
            .iter()
            .filter_map(|it| it["name"].as_str())
            .collect();
        assert_eq!(named, ["app", "platform", ""], "{jdk}");
        assert_eq!(
            loaders[0]["class"],
            "jdk.internal.loader.ClassLoaders$AppClassLoader"
        );
        assert!(!loaders[0]["hash"].as_str().expect("a text").is_empty());
        assert_eq!(loaders[2]["class"], "boot");
        let mut methods: Vec<String> = former_frames(&steps)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        methods.sort();
        assert_eq!(methods, ["<init>", "a", "b", "c", "d"], "{jdk}");
        let plan = &steps["plan"];
        assert_eq!(plan["cause"], "");
        let text = plan["text"].as_str().expect("a text");
        assert!(text.contains("+ coverage: hit 0"), "{text}");
        let strings = class(&pid, "java.lang.String", &["--source", "--loader"]);
        assert_eq!(strings["source"], "jrt:/java.base");
        assert_eq!(strings["loaders"].as_array().map(Vec::len), Some(1));
        assert_eq!(strings["methods"], Value::Null);
        let run = classhook(&["classes", &pid, STEPS, "--loader", "--methods", "--plan"]);
        run.assert_success();
        for part in [
            "  loader   jdk.",
            " \"app\"\n  parent   ",
            "  method   static a()\n",
        ] {
            assert!(run.stdout.contains(part), "{part:?}\n{}", run.report());
        }
        // A listing of classes is no work of the agent on a class.
        assert_eq!(json(&["status", &pid])["classes"]["changed"], counts);
        assert_eq!(servant.ask("steps b"), "sum 2");
        assert_eq!(servant.end().code, Some(0));
    }
}

#[test]
fn frames_that_run_former_code_are_counted() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut servant = Servant::start(&jdk, &LATE);
        servant.ask("spin");
        let pid = servant.pid().to_string();
        attach(&servant, folder.path(), &[]).assert_success();
        let count = |servant: &str| former_frames(&class(&pid, servant, &["--methods"]));
        let found = count("Servant");
        let of = |wanted: &str| {
            let found = found.iter().filter(|(name, _)| name.starts_with(wanted));
            found.map(|(_, count)| count).sum::<u64>()
        };
        // The loops of both have run since before the agent was loaded.
        assert_eq!(
            (of("main"), of("lambda$spin"), of("steps")),
            (1, 1, 0),
            "{found:?}"
        );
        classhook(&["classes", &pid, "Servant", "--methods"]).assert_success();
        assert_eq!(servant.ask("rest"), "resting");
        let found = count("Servant");
        assert!(
            found
                .iter()
                .all(|(name, count)| *count == u64::from(name == "main")),
            "{found:?}"
        );
        assert_eq!(servant.end().code, Some(0), "{jdk}");
    }
}
