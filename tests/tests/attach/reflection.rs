//! Results of a program's reflection on its own classes while they are changed, and afterwards.

use crate::support::command::{LATE, classhook};
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use std::path::Path;

/// Starts a service that is compiled with the names of its parameters.
fn service(jdk: &Jdk, folder: &Path) -> Servant {
    let source = workspace::test_file("java/attach/Service.java");
    let options = ["--release", "8", "-parameters"];
    let classes = javac::compile(&jdks::newest(), &[&source], folder, &options);
    let java = match jdk.feature {
        8 => Java::new(jdk),
        _ => Java::new(jdk).options(&LATE),
    };
    Servant::of(&java.class_path(&[classes]).main("Service"))
}

/// Up to release 20, the JVM drops these names from a retransformed class.
#[test]
fn names_of_parameters_stay_while_a_loaded_class_is_changed_and_afterwards() {
    let mut releases = jdks::main_two();
    releases.extend(jdks::eight());
    for jdk in releases {
        let folder = scratch();
        let mut service = service(&jdk, folder.path());
        let pid = service.pid().to_string();
        let before = service.ask("names");
        assert_eq!(before, "total int count;", "{jdk}");
        let output = folder.path().join("out");
        let output = output.to_string_lossy();
        let attach = ["attach", &pid, "--select", "Service*", "-o", &output];
        classhook(&attach).assert_success();
        assert_eq!(service.ask("names"), before, "while {jdk} is measured");
        classhook(&["reset", &pid]).assert_success();
        assert_eq!(service.ask("names"), before, "{jdk} after a reset");
        classhook(&["off", &pid]).assert_success();
        assert_eq!(service.ask("names"), before, "{jdk} without the agent");
        let words = ["trace", &pid, "--methods", "Service$Order.*", "--for", "1s"];
        classhook(&words).assert_success();
        assert_eq!(service.ask("names"), before, "{jdk} after a trace");
        assert_eq!(service.end().code, Some(0), "{jdk}");
    }
}
